"""make bench: all pages; exit code 1 if a figure falls short."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench._importance import help_page, page


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        kept = [help_page(), page(Path(folder))]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
