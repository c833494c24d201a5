"""Experiments of every kind, by name or from a TOML file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from repbm.core._toml import one_of, parsed, value
from repbm.experiments._balance import balance_of
from repbm.experiments._behavior_error import behavior_error_of
from repbm.experiments._experiment import Experiment
from repbm.experiments._source import source
from repbm.experiments._spec import SPECS, spec_of
from repbm.experiments._tree import tree_of
from repbm.experiments._trust import trust_of

EXPERIMENTS = (*SPECS, "tree", "behavior-error", "balance", "gap", "trust", "trust-development", "trust-beside")
"""The experiments that come with the package."""

_KINDS: dict[str, Callable[[Mapping[str, Any], str, str], Experiment]] = {
    "errors": spec_of,
    "tree": tree_of,
    "behavior-error": behavior_error_of,
    "balance": balance_of,
    "trust": trust_of,
}


def load_experiment(name: str) -> Experiment:
    """The experiment of this name, or the one in this TOML file, of the `kind` given there (default: `errors`)."""
    text, called, where = source(name, EXPERIMENTS)
    given = parsed(text, where)
    kind = value(given.pop("kind", "errors"), str, "kind", where)
    one_of(kind, _KINDS, "kind", where)
    return _KINDS[kind](given, called, where)
