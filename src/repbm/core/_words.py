"""All words of reports and of the doctor, in one file, so that they can be translated."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any


@lru_cache(maxsize=1)
def all_words() -> Mapping[str, Any]:
    """The file of words, section by section."""
    return tomllib.loads((files("repbm.core") / "words.toml").read_text("utf-8"))


def say(section: str, key: str, **given: Any) -> str:
    """A sentence, with what is given put into it."""
    return all_words()[section][key].format(**given)


def otherwise(others: Sequence[tuple[str, str, str]]) -> str:
    """That these say otherwise than an answer; name, family and value of each. Empty where nobody does."""
    if not others:
        return ""
    known = all_words()["methods"]
    told = [
        say("disagreement", "each" if family in known else "own", method=known.get(family, ""), name=name, value=value)
        for name, family, value in others
    ]
    return say("disagreement", "one" if len(told) == 1 else "several", list=", ".join(told))
