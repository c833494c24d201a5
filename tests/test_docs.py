"""The documents do what they say: their blocks run as they stand, and what they show is what comes of it."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_group

from repbm.cli._main import app
from tests.pages import Reader, alike, blocks, check

ROOT = Path(__file__).parent.parent
LONG = ("examples.md", "extending.md", "scaling.md")
"""Pages that simulate patients, fit everything in many ways, or start processes and a cluster: they take half of the
time of all pages."""
DOCS = [
    pytest.param(page, marks=pytest.mark.slow, id=page.name) if page.name in LONG else pytest.param(page, id=page.name)
    for page in sorted((ROOT / "docs").glob("*.md"))
]
ROOMS = re.findall(r"automodule:: (\S+)", (ROOT / "docs" / "python-api.md").read_text("utf-8"))
README = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("page", DOCS)
def test_a_page_does_what_it_says(page: Path, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Reader().read(page)


@pytest.mark.parametrize("block", README)
def test_code_blocks_of_the_readme_run(block: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "block", "exec"), {"__name__": "block"})


def test_the_example_of_the_readme_finds_the_truth(monkeypatch, tmp_path) -> None:
    """1.596 is four times the mean of a positive half of a normal; the interval is at 95 %, the seed fixed."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(README[0], "README", "exec"), names)
    row = names["result"].estimates.row(0, named=True)
    assert row["low"] < 1.596 < row["high"]


ELSEWHERE = {
    "--open": "opens a browser",
    "--pdf": "needs Chromium",
    "--ray-address": "needs a cluster",
    "--trust-pickle": "runs what a file says",
    "--ask": "asks at a terminal",
}
"""Options that no block can show, and why."""


@pytest.mark.parametrize("command", ["doctor", "evaluate", "init", "value"])
def test_every_option_stands_in_a_block_that_runs(command: str) -> None:
    run = [
        words
        for page in (ROOT / "docs").glob("*.md")
        for block in blocks(page)
        if block.tag == "console"
        for line in re.findall(r"^\$ (.*)", block.body.replace("\\\n", ""), flags=re.MULTILINE)
        if (words := shlex.split(line))[:2] == ["repbm", command]
    ]
    options = {name for option in get_group(app).commands[command].params for name in option.opts if "--" in name}
    missing = options - {word for words in run for word in words} - set(ELSEWHERE)
    assert not missing


def page_of(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text, "utf-8")
    return page


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("```bash\nrepbm --version\n```\n", "neither run nor listed"),
        ("```\nrepbm --version\n```\n", "neither run nor listed"),
        ("```console\n$ repbm evaluate no.csv --policy no.csv\n```\n", "exit code 2"),
        ("```console\n$ repbm --version\n$ echo $?\n2\n```\n", "exit code 0"),
        ("```console\n$ repbm --version\nrepbm is new\n```\n", "but it says"),
        ("```console\n$ pip install repbm\n```\n", "no program of the pages"),
        ("```python\nprint(1)\n```\n\n```output\n2\n```\n", "but it says"),
        ("```python\nprint(1)\nprint(2)\n```\n\n```output\n1\n```\n", "says more"),
    ],
)
def test_a_page_that_does_not_is_found_out(text: str, fault: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match=fault):
        Reader().read(page_of(tmp_path, text))


def test_a_block_with_a_caption_is_a_file(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "```{code-block} text\n:caption: some.csv\n\na,b\n1,2\n```\n\n```console\n$ cat some.csv\na,b\n...\n```\n"
    Reader().read(page_of(tmp_path, text))
    assert (tmp_path / "some.csv").read_text() == "a,b\n1,2\n"


def test_shown_numbers_may_differ_a_little_and_words_not_at_all() -> None:
    assert alike("│ wis │ -5.051 │", "┃ wis   ┃  -5.06 ┃")
    assert not alike("wis -5.051", "wis -5.4")
    assert not alike("wis 5 to 6", "wis 5 or 6")
    check(["first", "...", "last 1.00"], "first\nsecond\nthird\nlast 1.01\n", "here")


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="the extra docs is not installed")
def test_the_site_builds_without_a_warning(tmp_path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(ROOT / "docs"), str(tmp_path / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "--refits" in (tmp_path / "html" / "command-line.html").read_text("utf-8")
    page = (tmp_path / "html" / "python-api.html").read_text("utf-8")
    described = set(re.findall(r'id="repbm(?:\.\w+)*\.(\w+)"', page))
    for room in ROOMS:
        assert set(importlib.import_module(room).__all__) - {"__version__"} <= described, room
