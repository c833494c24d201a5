"""Among all estimates, the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from repbm.doctor import Verdict

_WEIGHTED = ("wdr(repbm)", "dr(repbm)", "wdr(am)", "dr(am)", "magic(repbm)", "wpdis", "wis", "pdis", "is")
_MODELS = ("repbm", "am", "fqe")

Row = Mapping[str, Any]
"""A row of the table of estimates."""


def headline(rows: Sequence[Row], verdict: Verdict) -> int | None:
    """The place of the answer among the rows of one policy; None where none has a value.

    Where importance weights hold (see `Verdict`), the doubly robust estimate: it corrects its model by what was seen,
    and its interval holds. Else the model's. Where neither may answer the model's still stands there, and the verdict
    says what it is worth.
    """
    places = {row["estimator"]: k for k, row in enumerate(rows) if row["value"] is not None}
    order = (*_WEIGHTED, *_MODELS) if verdict.weights else (*_MODELS, *_WEIGHTED)
    return next((places[name] for name in order if name in places), next(iter(places.values()), None))


_DOUBLY_ROBUST = _WEIGHTED[:4]
_ENOUGH = 25.0


def disagreements(rows: Sequence[Row], answer: int, verdict: Verdict) -> list[str]:
    """The estimators that may answer, too, and whose interval, or value, does not go with that of the answer.

    Where weights do not hold to the end, a doubly robust estimate with some effective episodes is heard all the same:
    it corrects the very model that answers.
    """
    heard = tuple(row["estimator"] for row in rows if (row["effective_episodes"] or 0) >= _ENOUGH)
    doubly = tuple(name for name in _DOUBLY_ROBUST if name in heard)
    fine = (_WEIGHTED if verdict.weights else doubly) + (_MODELS if verdict.models else ())
    own = rows[answer]
    return [
        row["estimator"]
        for row in rows
        if row["estimator"] in fine and row is not own and row["value"] is not None and not _agree(own, row)
    ]


def _agree(one: Row, other: Row) -> bool:
    """Whether the interval of either holds the value of the other; where neither has one nothing can be said."""
    known = [(a, b) for a, b in ((one, other), (other, one)) if a["low"] is not None]
    return not known or any(a["low"] <= b["value"] <= a["high"] for a, b in known)
