"""Parts of models as trees of arrays, for code that JAX compiles."""

from __future__ import annotations

from typing import Any

import jax

from repbm.models.parts._part import Part, array_fields, part_kinds, static_fields

_KNOWN: set[type[Part]] = set()


def known_to_jax() -> None:
    """Tell JAX of every kind of part that is defined by now: models that nothing is compiled for never load it."""
    for kind in part_kinds():
        if kind not in _KNOWN:
            _KNOWN.add(kind)
            _register(kind)


def _register(kind: type[Part]) -> None:
    arrays, statics = array_fields(kind), static_fields(kind)

    def named(part: Part) -> tuple[list[tuple[Any, Any]], tuple[Any, ...]]:
        keys = [(jax.tree_util.GetAttrKey(name), getattr(part, name)) for name in arrays]
        return keys, tuple(getattr(part, name) for name in statics)

    def flat(part: Part) -> tuple[list[Any], tuple[Any, ...]]:
        return [getattr(part, name) for name in arrays], tuple(getattr(part, name) for name in statics)

    def rebuilt(settings: tuple[Any, ...], leaves: Any) -> Part:
        # What JAX puts in place of arrays need not be one: nothing is checked here.
        part = object.__new__(kind)
        for names, values in ((arrays, leaves), (statics, settings)):
            for name, value in zip(names, values, strict=True):
                object.__setattr__(part, name, value)
        return part

    jax.tree_util.register_pytree_with_keys(kind, named, rebuilt, flat)
