"""Which column of a table that is still to be read plays which part."""

from __future__ import annotations

from repbm.logs._columns import whole
from repbm.logs._faults import Faults
from repbm.logs._files import Part
from repbm.logs._layout import Asked, Layout, layout
from repbm.logs._typed import typed


def layout_of(part: Part, asked: Asked, faults: Faults) -> Layout | None:
    """By names and types; None where that cannot be told, and `faults` say why."""

    def dtype_of(name: str):
        dtype = part.schema[name]
        # What only looks like text, or like numbers with fractions, is looked at closer.
        return whole(typed(part.read([name])[name])).dtype if dtype.is_float() or str(dtype) == "String" else dtype

    def has_gaps(name: str) -> bool:
        return bool(typed(part.read([name])[name]).null_count())

    def is_unique(name: str) -> bool:
        return bool(part.read([name])[name].is_unique().all())

    return layout(list(part.schema), dtype_of, has_gaps, is_unique, asked, part.name, faults)
