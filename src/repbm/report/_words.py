"""What estimators do, and what every estimate assumes, in plain words."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Words:
    """The words of the report."""

    estimators: dict[str, str]
    assumptions: tuple[str, ...]

    @classmethod
    def read(cls) -> Words:
        found = tomllib.loads((files("repbm.report") / "page" / "words.toml").read_text("utf-8"))
        return cls(found["estimators"], tuple(found["assumptions"]))

    def meaning(self, family: str, softened: bool) -> str:
        """What an estimator does, in one sentence; empty for one of the user's own."""
        said = self.estimators.get(family, "")
        return f"{said}; the policy mixed with a little chance" if softened and said else said
