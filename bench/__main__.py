"""make bench: all pages, or those named, each in a process of its own; exit code 1 if a figure falls short."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench._document import DOCUMENT, write_document
from bench._pages import PAGES
from bench._recorded import WORSE, Recorded
from bench._sheet import Sheet


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help=f"of {', '.join(PAGES)}; default: all but those on request"
    )
    parser.add_argument("--record", action="store_true", help=f"keep what is found, and write {DOCUMENT.name} from it")
    parser.add_argument("--check", action="store_true", help=f"fail where a ratio is {WORSE} times the recorded one")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args(given)
    unknown = [name for name in asked.pages if name not in PAGES]
    if unknown:
        parser.error(f"there is no page '{unknown[0]}'; there are {', '.join(PAGES)}")
    if asked.into is not None:
        asked.into.write_text(json.dumps(alone(asked.pages[0]).to_dict()), "utf-8")
        return 0
    found = run(asked.pages or [name for name, page in PAGES.items() if not page.on_request])
    recorded = Recorded.read()
    short = [f"{name}: {one.line}" for name, sheet in found.items() for one in sheet.figures if not one.kept]
    worse = recorded.worse(found) if asked.check else []
    if asked.record:
        recorded = recorded.updated(found)
        recorded.write()
        write_document(recorded)
    for line in (*short, *(f"worse than recorded: {line}" for line in worse)):
        print(line, file=sys.stderr)
    failed = [name for name in asked.pages if name not in found]
    return 1 if worse or failed or (short and not asked.check) else 0


def run(names: Iterable[str]) -> dict[str, Sheet]:
    """What pages find, each in a process of its own: peak memory is then its own."""
    found = {}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            into = Path(folder, "sheet.json")
            if subprocess.run([sys.executable, "-m", "bench", name, "--into", str(into)]).returncode == 0:
                found[name] = Sheet.of(json.loads(into.read_text("utf-8")))
            else:
                print(f"{name}: the page failed", file=sys.stderr)
    return found


def alone(name: str) -> Sheet:
    """One page, here."""
    print(PAGES[name].title, flush=True)
    sheet = Sheet()
    with tempfile.TemporaryDirectory() as folder:
        PAGES[name].run(sheet, Path(folder))
    return sheet


if __name__ == "__main__":
    sys.exit(main())
