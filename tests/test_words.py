"""Words stand in one file: what is said is there, and nothing is there that nobody says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import repbm
from repbm.core import all_words
from repbm.estimators import ESTIMATORS

ROOMS = Path(repbm.__file__).parent
DOCTOR = ROOMS / "doctor"
TERMINAL = ("_examination.py", "_machine.py", "_page.py", "_tables.py")
"""Of the report: what is for terminals and programs, and the names of settings."""
READ = [
    *(path for path in sorted((ROOMS / "report").glob("*.py")) if path.name not in TERMINAL),
    *sorted((ROOMS / "web").glob("*.py")),
    *sorted((ROOMS / "inference").glob("*.py")),
    *sorted((ROOMS / "estimators").glob("*.py")),
    *(ROOMS / "evaluation" / f"_{name}.py" for name in ("adding", "details", "model_returns", "row_notes", "rows")),
    DOCTOR / "_individual_support.py",
]
"""What writes sentences into pages, charts and tables of results."""
ERRORS = {"InputError", "FailsElsewhere", "PlainTextResponse"}
TECHNICAL = re.compile(
    r"[<{;/]|datum\.|default-src|doubly robust|the log cannot tell|of rollouts leave|sans-serif|did you mean|use one of"
)


def test_the_doctor_says_what_stands_in_the_file_of_words() -> None:
    known = set(all_words()["doctor"])
    sources = "\n".join(path.read_text("utf-8") for path in DOCTOR.glob("*.py"))
    said = set(re.findall(r"""['"]((?:{}))['"]""".format("|".join(sorted(known, key=len, reverse=True))), sources))
    groups = {key for key in known if key.startswith("group_")}  # put together from names of groups
    assert known - groups == said
    asked = set(re.findall(r"""say\(\s*['"]doctor['"], ['"](\w+)['"]""", sources))
    assert asked <= known


def test_no_sentence_of_the_doctor_is_left_in_the_program() -> None:
    """Findings and checks are made of words of the file: of no text that has a blank, but their names."""
    for path in DOCTOR.glob("*.py"):
        code = path.read_text("utf-8")
        for call in re.findall(r"(?:Finding|Check)\((?:[^()]|\([^()]*\))*\)", code):
            texts = [text for text in re.findall(r"\"([^\"]*)\"", call) if " " in text]
            assert len(texts) <= 1, (path.name, texts)


def sentences(path: Path) -> Iterator[str]:
    """Texts of several words in a module that are no docstring, no error and no type."""
    tree = ast.parse(path.read_text("utf-8"))
    left_out: set[int] = set()
    for node in ast.walk(tree):
        named = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ERRORS
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if named or text or isinstance(node, ast.Raise | ast.Assert | ast.Subscript):
            left_out |= {id(each) for each in ast.walk(node)}
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if annotation is not None:
                left_out |= {id(each) for each in ast.walk(annotation)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.value


@pytest.mark.parametrize("path", READ, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_people_read_stands_in_the_file_of_words(path: Path) -> None:
    found = [text for text in sentences(path) if re.search(r"[a-z]{2,} [a-z]{2,}", text) and not TECHNICAL.search(text)]
    assert found == []


@pytest.mark.parametrize("page", ["report/page/page.html", "web/page/live.html"])
def test_pages_have_no_words_of_their_own(page: str) -> None:
    text = (ROOMS / page).read_text("utf-8")
    for part in (r"\{%.*?%\}", r"\{\{.*?\}\}", r"<(?:[^<>\"]|\"[^\"]*\")*>"):
        text = re.sub(part, " ", text, flags=re.DOTALL)
    assert set(re.findall(r"[A-Za-z]{3,}", text)) <= {"repbm"}


def test_every_estimator_is_called_something_within_a_sentence() -> None:
    """Between notes stands a semicolon: there is none in a name."""
    known = all_words()["methods"]
    assert {spec.family for spec in ESTIMATORS.values()} == set(known)
    assert not [name for name in known.values() if ";" in name]


def test_every_word_is_said_somewhere() -> None:
    sources = "\n".join(path.read_text("utf-8") for kind in ("py", "html", "js") for path in ROOMS.rglob(f"*.{kind}"))
    for section in ("chart", "disagreement", "hidden", "live", "notebook", "notes", "spread", "value"):
        for key in all_words()[section]:
            assert re.search(rf"""['"]{key}['"]|words\.{key}\b""", sources), (section, key)
