"""The table of who is in the log, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repbm.core import number
from repbm.report._scale import Shown
from repbm.report._words import Words

if TYPE_CHECKING:
    from repbm.evaluation import Characteristic, Cohort


def cohort_table(found: Cohort, shown: Shown, words: Words) -> dict[str, Any]:
    """Arms, and rows of cells: what individuals are like, what is missing, what they earned."""
    arms = found.arms
    rows = [{"name": words.plain("cohort_individuals"), "cells": [f"{arm.individuals:,}" for arm in arms]}]
    told: set[str] = set()
    for row in found.rows:
        name = row.name if row.level is None else words.plain("cohort_level", name=row.name, level=row.level)
        cells = [_cell(row, place, arm.individuals) for place, arm in enumerate(arms)]
        rows.append({"name": name, "cells": cells})
        if any(row.missing) and row.name not in told:
            shares = [_share(count, arm.individuals) for count, arm in zip(row.missing, arms, strict=True)]
            rows.append({"name": words.plain("cohort_missing", name=row.name), "cells": shares})
            told.add(row.name)
    rows.append({"name": words.plain("cohort_length"), "cells": [number(arm.mean_length) for arm in arms]})
    earned = shown.title if shown.name else words.plain("cohort_return")
    rows.append({"name": earned, "cells": [shown.value(arm.mean_return) for arm in arms]})
    return {"arms": arms, "rows": rows}


def _cell(row: Characteristic, place: int, individuals: int) -> str:
    cell = row.cells[place]
    if not cell:
        return "–"
    if row.level is not None:
        return _share(cell[0], individuals)
    low, middle, high = (f"{x:.4g}" for x in cell)
    return f"{middle} ({low} to {high})"


def _share(count: float, individuals: int) -> str:
    share = f"{count / max(individuals, 1):.0%}"
    return f"{count:,.0f} ({'<1%' if share == '0%' and count else share})"
