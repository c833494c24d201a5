"""make bench: all pages, or those named; exit code 1 if a figure falls short."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path


def main() -> int:
    from bench._importance import doctor_page, help_page, page
    from bench._large import default_page, parts_page
    from bench._models import accuracy_page, memory_page
    from bench._paper import balance_page, time_page
    from bench._report import report_page

    with tempfile.TemporaryDirectory() as folder:
        pages = {
            "help": help_page,
            "importance": lambda: page(Path(folder)),
            "doctor": lambda: doctor_page(Path(folder)),
            "million": lambda: default_page(Path(folder)),
            "ten-million": lambda: default_page(Path(folder), 10_000_000, 180.0, 2.0),
            "parts": lambda: parts_page(Path(folder)),
            "accuracy": accuracy_page,
            "memory": memory_page,
            "time": time_page,
            "balance": balance_page,
            "report": lambda: report_page(Path(folder)),
        }
        kept = [pages[name]() for name in sys.argv[1:] or pages]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
