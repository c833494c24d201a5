"""A study: a log, how it is read, and what is asked of it, in a file that a person can edit."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repbm.core import InputError
from repbm.core._toml import parsed, read_text, value, values
from repbm.evaluation._evaluate import evaluate
from repbm.evaluation._options import Reading
from repbm.evaluation._outcome import Outcome
from repbm.evaluation._result import Evaluation
from repbm.policies.adapters import as_policy

STUDY = ".toml"
"""How the name of a study ends."""
_KINDS: Mapping[str, type] = {
    "log": str,
    "discount": float,
    "horizon": int,
    "ends": str,
    "missing": str,
    "gaps": str,
    "columns": dict,
    "worth": dict,
    "outcome": dict,
    "policies": dict,
}
_ELSEWHERE = re.compile(r"-$|[a-z0-9]+:(?![\\/])")
"""Words that name no file beside the study: standard input, `minari:NAME`, `column:NAME`."""


@dataclass(frozen=True)
class Study:
    """A log, how it is read, and what is asked of it. `repbm init` writes one; all commands that read a log take it."""

    log: str
    reading: Reading = field(default_factory=Reading)
    discount: float = 1.0
    horizon: int | None = None
    outcome: Outcome = field(default_factory=Outcome)
    policies: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path) -> Study:
        """The study in a TOML file; files that it names without a full path stand beside it."""
        path, where = Path(path), str(path)
        given = values(parsed(read_text(path), where), _KINDS, where, needed=("log",))
        tables = {name: given.pop(name, {}) for name in ("columns", "worth", "outcome", "policies")}
        outcome = values(tables["outcome"], dict.fromkeys(("name", "unit", "better"), str), f"{where}, [outcome]")
        policies = {
            name: _beside(path, value(words, str, name, f"{where}, [policies]"))
            for name, words in tables["policies"].items()
        }
        worth = {word: value(one, float, word, f"{where}, [worth]") for word, one in tables["worth"].items()}
        read = {name: given[name] for name in ("ends", "missing", "gaps") if given.get(name)}
        try:
            told = Outcome(**outcome)
        except InputError as fault:
            raise fault.at(f"{where}, [outcome]") from fault
        return cls(
            _beside(path, given["log"]),
            Reading(columns=_columns(tables["columns"], f"{where}, [columns]"), worth=worth, **read),
            given.get("discount", 1.0),
            given.get("horizon"),
            told,
            policies,
        )

    def evaluate(self, policy: Any = None, **options: Any) -> Evaluation:
        """Evaluate its policies, or another; options are those of `evaluate`, and come before what the study says."""
        if policy is None:
            if not self.policies:
                raise InputError("the study names no policy", fix="name one under [policies], or give one")
            policy = {name: as_policy(words) for name, words in self.policies.items()}
        said = {"reading": self.reading, "discount": self.discount, "horizon": self.horizon, "outcome": self.outcome}
        return evaluate(self.log, policy, **said | options)


def _beside(study: Path, words: str) -> str:
    """A path as it is seen from here, if it is one that is not full."""
    if _ELSEWHERE.match(words):
        return words
    return os.path.normpath(study.parent / words)


def _columns(given: Mapping[str, Any], where: str) -> dict[str, str]:
    """Our names to theirs, as `--column` has them; `obs` is a list."""
    found: dict[str, str] = {}
    for ours, theirs in given.items():
        if ours != "obs" or isinstance(theirs, str):
            found[ours] = value(theirs, str, ours, where)
            continue
        names = [value(name, str, ours, where) for name in value(theirs, list, ours, where)]
        found |= {"obs": ",".join(names)} if not any("," in name for name in names) else _one_by_one(names)
    return found


def _one_by_one(names: list[str]) -> dict[str, str]:
    """Names with commas cannot stand in one line."""
    return {f"obs_{name.removeprefix('obs_')}": name for name in names}
