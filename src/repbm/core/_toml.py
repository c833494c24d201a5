"""Reading TOML: an unknown key or word is an error that names the nearest known one."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, cast

from repbm.core._errors import InputError, nearest, reason

T = TypeVar("T")


def read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8 text"
        raise InputError(f"cannot be read ({why})", where=str(path), code="file") from fault


def parsed(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as fault:
        raise InputError(f"is not TOML that can be read ({reason(fault)})", where=where) from fault


def values(
    given: Mapping[str, Any], kinds: Mapping[str, type], where: str, needed: Iterable[str] = ()
) -> dict[str, Any]:
    """The values of known keys, each of its kind; those that are needed must be there."""
    for key in given:
        one_of(key, kinds, "key", where)
    missing = [key for key in needed if key not in given]
    if missing:
        raise InputError(f"'{missing[0]}' is missing", where=where)
    return {key: value(given[key], kinds[key], key, where) for key in given}


def settings(preset: type[T], given: Mapping[str, Any], where: str) -> T:
    """The preset, a dataclass with a default for everything, that a table describes; a default of None is a list."""
    known = {field.name: list if field.default is None else type(field.default) for field in fields(cast(Any, preset))}
    found = values(given, known, where)
    lists = {key: several(found[key], float, key, where) for key in found if known[key] is list}
    return preset(**found | lists)


def value(given: Any, kind: type, key: str, where: str) -> Any:
    """The value as its kind; whole numbers are numbers too."""
    if kind is float and type(given) is int:
        return float(given)
    if type(given) is not kind:
        raise InputError(f"{key} = {given!r} is not of type {kind.__name__}", where=where)
    return given


def several(given: Iterable[Any], kind: type, key: str, where: str) -> tuple[Any, ...]:
    """The values of a list, each of the same kind."""
    return tuple(value(one, kind, key, where) for one in given)


def one_of(word: str, known: Iterable[str], what: str, where: str | None = None) -> None:
    known = tuple(known)
    if word not in known:
        meant = nearest(word, known)
        fix = f"did you mean '{meant}'?" if meant else f"use one of {', '.join(known)}"
        raise InputError(f"there is no {what} '{word}'", where=where, fix=fix)
