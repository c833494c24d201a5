"""What a fitted model is made of, as far as files are concerned."""

from __future__ import annotations

from collections.abc import Iterator

import equinox as eqx

from repbm.core import InputError


class Part(eqx.Module):
    """A piece of a fitted model: a frozen dataclass of arrays, plain values and other parts.

    A model is saved as the names and the fields of its parts, and every class that derives from this one is found by
    its name again: one of yours too, as long as the module that defines it is imported.
    """


def part_name(kind: type[Part]) -> str:
    """The name of a class in files; one that is not ours is told apart by its module."""
    own = kind.__module__.partition(".")[0] == "repbm"
    return kind.__name__ if own else f"{kind.__module__}.{kind.__qualname__}"


def part_of(name: str) -> type[Part]:
    """The class of this name; of two that were defined under one name, the later."""
    found = [kind for kind in _derived(Part) if part_name(kind) == name]
    if not found:
        raise InputError(f"the model holds a part '{name}', which is not known here", fix="import its module first")
    return found[-1]


def _derived(kind: type[Part]) -> Iterator[type[Part]]:
    """All classes below; not those that only make an instance of the one above, which has the same name."""
    for child in kind.__subclasses__():
        if child.__qualname__ != kind.__qualname__ or child.__module__ != kind.__module__:
            yield child
            yield from _derived(child)
