"""What a fitted model is made of, as far as files are concerned."""

from __future__ import annotations

import dataclasses
from abc import ABC
from collections.abc import Iterator
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from repbm.core import InputError

_STATIC = "static"


def static(**given: Any) -> Any:
    """A field that is no array: it decides which code is compiled, and is never cast."""
    return dataclasses.field(metadata={_STATIC: True}, **given)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(static, dataclasses.field))
@dataclasses.dataclass(frozen=True, eq=False)
class Part(ABC):  # noqa: B024 - parts have nothing in common but that they are parts
    """A piece of a fitted model: a frozen dataclass of arrays, plain values and other parts.

    A model is saved as the names and the fields of its parts, and every class that derives from this one is found by
    its name again: one of yours too, as long as the module that defines it is imported.
    """

    def __init_subclass__(cls) -> None:
        dataclasses.dataclass(frozen=True, eq=False)(cls)


def array_fields(kind: type[Part]) -> list[str]:
    """The names of the fields that hold arrays, or parts that do."""
    return [field.name for field in dataclasses.fields(kind) if not field.metadata.get(_STATIC)]


def static_fields(kind: type[Part]) -> list[str]:
    """The names of all others."""
    return [field.name for field in dataclasses.fields(kind) if field.metadata.get(_STATIC)]


PartLike = TypeVar("PartLike", bound=Part)


def cast(part: PartLike, dtype: type[np.floating]) -> PartLike:
    """The same part with all its numbers in this precision; what stands in two places of it is still one array."""
    return _cast(part, dtype, {})


def _cast(value: Any, dtype: type[np.floating], done: dict[int, Any]) -> Any:
    if isinstance(value, Part):
        names = array_fields(type(value))
        return dataclasses.replace(value, **{name: _cast(getattr(value, name), dtype, done) for name in names})
    if isinstance(value, tuple | list):
        return type(value)(_cast(item, dtype, done) for item in value)
    kind = getattr(value, "dtype", np.asarray(value).dtype if isinstance(value, float) else None)
    if kind is None or not np.issubdtype(kind, np.inexact):
        return value
    return done.setdefault(id(value), np.asarray(value, dtype))


def one_and_the_same(one: Any, other: Any) -> bool:
    """Whether two parts, or what stands in them, are made of the very same arrays: then they say the same."""
    if isinstance(one, Part):
        kind = type(one)
        return (
            type(other) is kind
            and all(getattr(one, name) == getattr(other, name) for name in static_fields(kind))
            and all(one_and_the_same(getattr(one, name), getattr(other, name)) for name in array_fields(kind))
        )
    if isinstance(one, tuple | list):
        return type(other) is type(one) and len(other) == len(one) and all(map(one_and_the_same, one, other))
    return one is other


def part_name(kind: type[Part]) -> str:
    """The name of a class in files; one that is not ours is told apart by its module."""
    own = kind.__module__.partition(".")[0] == "repbm"
    return kind.__name__ if own else f"{kind.__module__}.{kind.__qualname__}"


def part_of(name: str) -> type[Part]:
    """The class of this name; of two that were defined under one name, the later."""
    found = [kind for kind in part_kinds() if part_name(kind) == name]
    if not found:
        raise InputError(f"the model holds a part '{name}', which is not known here", fix="import its module first")
    return found[-1]


def part_kinds(kind: type[Part] = Part) -> Iterator[type[Part]]:
    """All classes of parts that are defined so far."""
    for child in kind.__subclasses__():
        yield child
        yield from part_kinds(child)
