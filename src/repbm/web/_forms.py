"""Decision tables as forms, and back."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from repbm.core import InputError
from repbm.policies.adapters import DecisionTable

MOST_BYTES = 200_000
_MOST_FIELDS = 5_000
_MOST_COLUMNS = 60


def fields_of(body: bytes) -> dict[str, str]:
    """The fields of a form, each once."""
    if len(body) > MOST_BYTES:
        raise InputError("the form is too large", fix="use fewer rules")
    try:
        return dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except (UnicodeDecodeError, ValueError) as fault:
        raise InputError("this is no form that can be read") from fault


@dataclass(frozen=True)
class TableForm:
    """A decision table as it is typed: not yet, or no longer, one that can be asked."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, table: DecisionTable, name: str) -> TableForm:
        return cls(name, table.header, tuple(_wide(row, len(table.header)) for row in table.cells))

    @classmethod
    def read(cls, fields: Mapping[str, str]) -> TableForm:
        """What a browser sends: `name`, `head-K` and `cell-R-K`; a row without any text is left out."""
        header = []
        while f"head-{len(header)}" in fields and len(header) < _MOST_COLUMNS:
            header.append(fields[f"head-{len(header)}"].strip())
        rows = []
        number = 0
        while any(f"cell-{number}-{k}" in fields for k in range(len(header))):
            row = tuple(fields.get(f"cell-{number}-{k}", "").strip() for k in range(len(header)))
            if any(row):
                rows.append(row)
            number += 1
        return cls(fields.get("name", "").strip()[:100], tuple(header), tuple(rows))

    @property
    def text(self) -> str:
        """As CSV: what `--policy` takes."""
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows((self.header, *self.rows))
        return written.getvalue()

    @property
    def table(self) -> DecisionTable:
        return DecisionTable.of_text(self.text, self.name or "rules")

    def with_row(self) -> TableForm:
        """One more rule, before the last, which is the default."""
        new = (*["*"] * (len(self.header) - 1), "") if self.header else ()
        return TableForm(self.name, self.header, (*self.rows[:-1], new, *self.rows[-1:]))


def _wide(row: tuple[str, ...], width: int) -> tuple[str, ...]:
    return (*row, *[""] * (width - len(row)))[:width]
