"""What an experiment is: a log to collect, a policy to evaluate, models to fit, rows to fill."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from repbm.core import InputError, nearest
from repbm.domains import HIV, CartPole, MountainCar, Simulator, benchmark_policy
from repbm.evaluation import as_policy
from repbm.experiments._published import published
from repbm.experiments._rows import ROWS
from repbm.models import PaperPreset
from repbm.policies import ObservationPolicy

SPECS = ("cartpole-long", "cartpole-short", "mountaincar", "hiv")
"""The experiments that come with the package."""

_DOMAINS: dict[str, type[CartPole] | type[MountainCar] | type[HIV]] = {
    "cartpole": CartPole,
    "mountaincar": MountainCar,
    "hiv": HIV,
}


@dataclass(frozen=True)
class Spec:
    """One experiment. `policy` is the name of a benchmark policy, or a file as `repbm evaluate --policy` takes it."""

    name: str
    domain: str
    policy: str
    episodes: int
    epsilon: float
    """The share of uniform draws in the behavior: greedy on the policy otherwise."""
    horizon: int
    discount: float
    rows: tuple[str, ...]
    paper: PaperPreset
    published: str = ""
    """Whose published figures stand beside the rows."""
    relative: bool = False
    """Whether the table, and the published figures, are shares of the true value."""

    def __post_init__(self) -> None:
        _one_of(self.domain, _DOMAINS, "domain", self.name)
        for row in self.rows:
            _one_of(row, ROWS, "row", self.name)
        wrong = {
            "rows": not self.rows or len(set(self.rows)) < len(self.rows),
            "episodes": self.episodes < 2,
            "epsilon": not 0 < self.epsilon <= 1,
            "horizon": self.horizon < 1,
            "discount": not 0 <= self.discount <= 1,
        }
        for key in (key for key, bad in wrong.items() if bad):
            raise InputError(f"{key} = {getattr(self, key)} makes no experiment", where=self.name)
        published(self.published)

    def world(self) -> Simulator:
        return _DOMAINS[self.domain](horizon=self.horizon)

    def evaluated(self) -> ObservationPolicy:
        policy = as_policy(self.policy) if _is_file(self.policy) else benchmark_policy(self.policy)
        if not isinstance(policy, ObservationPolicy):
            raise InputError(f"policy '{self.policy}' cannot act in a simulator", fix="give FILE.npz or FILE.py:NAME")
        return policy


def load_spec(name: str) -> Spec:
    """The experiment of this name, or the one in this TOML file."""
    if name.endswith(".toml"):
        return read_spec(Path(name))
    _one_of(name, SPECS, "experiment")
    text = (files("repbm.experiments") / "specs" / f"{name}.toml").read_text("utf-8")
    return _parsed(text, name, f"{name}.toml")


def read_spec(path: Path) -> Spec:
    """The experiment that a TOML file describes, named like the file."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8 text"
        raise InputError(f"cannot be read ({reason})", where=str(path)) from fault
    return _parsed(text, path.stem, str(path))


def fingerprint(spec: Spec) -> str:
    """SHA-256 of everything that the numbers depend on: the spec, and the file of its policy where it has one."""
    digest = hashlib.sha256(json.dumps(asdict(spec), sort_keys=True).encode())
    if _is_file(spec.policy):
        path, colon, _ = spec.policy.rpartition(":")
        file = Path(path if colon and path.endswith(".py") else spec.policy)
        try:
            digest.update(file.read_bytes())
        except OSError as fault:
            raise InputError(f"cannot be read ({fault.strerror})", where=str(file)) from fault
    return digest.hexdigest()


def _is_file(policy: str) -> bool:
    return any(mark in policy for mark in ".:/\\")


def _parsed(text: str, name: str, where: str) -> Spec:
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise InputError(f"is not TOML ({fault})", where=where) from fault
    kinds = {"domain": str, "policy": str, "episodes": int, "epsilon": float, "horizon": int, "discount": float}
    values = _values(given, kinds | {"rows": list, "paper": dict, "published": str, "relative": bool}, where)
    missing = [key for key in (*kinds, "rows", "paper") if key not in values]
    if missing:
        raise InputError(f"'{missing[0]}' is missing", where=where)
    known = {field.name: tuple if field.default is None else type(field.default) for field in fields(PaperPreset)}
    settings = _values(values.pop("paper"), known | {"input_scales": list}, f"{where}, [paper]")
    if "input_scales" in settings:
        settings["input_scales"] = tuple(_value(one, float, "input_scales", where) for one in settings["input_scales"])
    rows = tuple(_value(row, str, "rows", where) for row in values.pop("rows"))
    return Spec(name=name, rows=rows, paper=PaperPreset(**settings), **values)


def _values(given: Mapping[str, Any], kinds: Mapping[str, type], where: str) -> dict[str, Any]:
    for key in given:
        _one_of(key, kinds, "key", where)
    return {key: _value(value, kinds[key], key, where) for key, value in given.items()}


def _value(value: Any, kind: type, key: str, where: str) -> Any:
    """The value as its kind; whole numbers are numbers too."""
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise InputError(f"{key} = {value!r} is not of type {kind.__name__}", where=where)
    return value


def _one_of(word: str, known: Iterable[str], what: str, where: str | None = None) -> None:
    known = tuple(known)
    if word not in known:
        meant = nearest(word, known)
        fix = f"did you mean '{meant}'?" if meant else f"use one of {', '.join(known)}"
        raise InputError(f"there is no {what} '{word}'", where=where, fix=fix)
