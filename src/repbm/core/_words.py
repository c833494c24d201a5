"""All words of reports and of the doctor, in one file, so that they can be translated."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
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
