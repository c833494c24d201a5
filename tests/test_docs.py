"""Code blocks of the documents run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = [
    pytest.param(block, id=f"{path.relative_to(ROOT)}:{k}")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    for k, block in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(), flags=re.DOTALL))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_code_blocks_run(block: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "block", "exec"), {"__name__": "block"})


def test_the_example_of_the_readme_finds_the_truth(monkeypatch, tmp_path) -> None:
    """1.596 is four times the mean of a positive half of a normal; the interval is at 95 %, the seed fixed."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(BLOCKS[0].values[0], "README", "exec"), names)  # type: ignore[arg-type]
    row = names["result"].estimates.row(0, named=True)
    assert row["low"] < 1.596 < row["high"]
