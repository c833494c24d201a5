"""Words stand in one file: what is said is there, and nothing is there that nobody says."""

from __future__ import annotations

import re
from pathlib import Path

import repbm
from repbm.core import all_words

DOCTOR = Path(repbm.__file__).parent / "doctor"


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
