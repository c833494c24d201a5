"""How far answers, intervals and verdicts could be trusted: a table made of stored rows alone."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

LEVELS = (0.8, 0.9, 0.95)
"""The levels of intervals that are stored."""
ANSWER = "answer"
"""The name of the rows of the answer itself."""
WRONG = 3.0
"""An answer that is off by more oracle errors than this, and beyond its interval, is wrong."""
GOOD = 1.0
"""One that is off by no more than this, and not beyond its interval, is good."""
SHOWN = 0.9
"""The level that the table tells of."""
FIFTHS = 5

_COLUMNS: dict[str, Any] = {
    "family": pl.String,
    "episodes": pl.Int64,
    "runs": pl.Int64,
    "undefined": pl.Int64,
    "supported": pl.Float64,
    "rms": pl.Float64,
    "rms_supported": pl.Float64,
    "median": pl.Float64,
    "median_supported": pl.Float64,
    "am_rms": pl.Float64,
    "wdr_rms": pl.Float64,
    "intervals": pl.Float64,
    "coverage": pl.Float64,
    "half_width": pl.Float64,
    "coverage_supported": pl.Float64,
    "half_width_supported": pl.Float64,
    "relative_width": pl.Float64,
    "difference_coverage": pl.Float64,
    "individual_coverage": pl.Float64,
    "lowest_fifth": pl.Float64,
    "outcome_coverage": pl.Float64,
    "gain_coverage": pl.Float64,
    "refused": pl.Float64,
    "wrong": pl.Float64,
    "wrong_supported": pl.Float64,
    "supported_wrong": pl.Float64,
    "good": pl.Float64,
    "good_unsupported": pl.Float64,
    "seconds": pl.Float64,
}


def bound(what: str, level: float) -> str:
    """The name of a column of one level: low_90."""
    return f"{what}_{round(100 * level)}"


def trust_table(rows: pl.DataFrame) -> pl.DataFrame:
    """One line per family and number of episodes; then all of development, of the exam and of what stands beside
    them, with and without the families that nobody can answer.

    Errors and half widths are in oracle errors: what as many episodes of the policy itself would leave open. `rms`
    and `median` (of the error's size) are those of answers, `am_rms` and `wdr_rms` those of AM and WDR beside them.
    `intervals` is the share of answers that have one; coverage and half widths are at 90 %. `relative_width` is the
    half width over that of an oracle that knows the estimator's own root mean square error. `individual_coverage` is
    that of the values of individuals in worlds whose initial states the log shows, `lowest_fifth` the same in the fifth
    of individuals, by true value, where it is lowest, `outcome_coverage` that of outcomes, `gain_coverage` that of
    their differences to what is done now, `refused` the share of individuals without a value. `wrong` is the share of
    answers that are off by more than 3 and not inside a 95 % interval, `wrong_supported` the share of these that were
    called supported, `supported_wrong` the share of supported answers that are wrong; `good` those off by at most 1
    and not outside an interval, `good_unsupported` the share of these that were not called supported.
    """
    lines = [
        _line(str(family), int(episodes), group)
        for (family, episodes), group in rows.group_by("family", "episodes", maintain_order=True)
    ]
    for exam, name in ((False, "development"), (True, "exam"), (None, "beside")):
        kind = rows.filter(pl.col("exam").eq_missing(pl.lit(exam, pl.Boolean)))
        for label, some in ((name, kind), (f"{name}, answerable", kind.filter(pl.col("answerable")))):
            lines += [
                _line(label, int(size), group) for (size,), group in some.group_by("episodes", maintain_order=True)
            ]
    return pl.DataFrame(lines, schema=_COLUMNS)


def _line(family: str, episodes: int, group: pl.DataFrame) -> dict[str, Any]:
    answers = group.filter(pl.col("estimator") == ANSWER)
    known = answers.drop_nulls("error")
    supported = known.filter(pl.col("supported"))
    line = {
        "family": family,
        "episodes": episodes,
        "runs": len(answers),
        "undefined": len(answers) - len(known),
        "supported": _share(answers["supported"].to_numpy()),
        "rms": _rms(known),
        "rms_supported": _rms(supported),
        "median": _median(known),
        "median_supported": _median(supported),
        "am_rms": _rms(group.filter(pl.col("estimator") == "am")),
        "wdr_rms": _rms(group.filter(pl.col("estimator") == "wdr(repbm)")),
        "seconds": float(answers["seconds"].to_numpy().mean()) if len(answers) else None,
    }
    line |= _intervals(known, "") | _intervals(supported, "_supported")
    line.pop("intervals_supported")
    line |= _difference(known) | _individuals(known)
    width, error = line["half_width"], line["rms"]
    line["relative_width"] = width / (NormalDist().inv_cdf(0.5 + SHOWN / 2) * error) if width and error else None
    return line | _verdicts(known)


def _intervals(answers: pl.DataFrame, end: str) -> dict[str, float | None]:
    low, high = bound("low", SHOWN), bound("high", SHOWN)
    having = answers.drop_nulls([low, high])
    inside = having["truth"].is_between(having[low], having[high]).to_numpy()
    widths = ((having[high] - having[low]) / (2 * having["oracle_error"])).to_numpy()
    return {
        f"intervals{end}": len(having) / len(answers) if len(answers) else None,
        f"coverage{end}": _share(inside),
        f"half_width{end}": float(widths.mean()) if len(widths) else None,
    }


def _difference(answers: pl.DataFrame) -> dict[str, float | None]:
    low, high = bound("difference_low", SHOWN), bound("difference_high", SHOWN)
    having = answers.drop_nulls([low, high, "true_difference"])
    return {"difference_coverage": _share(having["true_difference"].is_between(having[low], having[high]).to_numpy())}


def _individuals(answers: pl.DataFrame) -> dict[str, float | None]:
    """Means over answers; values of individuals only where the log shows all of their initial state."""
    seen = answers.filter(~pl.col("hidden").fill_null(False))
    fifths = [mean for k in range(FIFTHS) if (mean := _mean(seen[f"fifth_{k}"])) is not None]
    return {
        "individual_coverage": _mean(seen[bound("individual", SHOWN)]),
        "lowest_fifth": min(fifths, default=None),
        "outcome_coverage": _mean(answers[bound("outcome", SHOWN)]),
        "gain_coverage": _mean(seen[bound("gain", SHOWN)]),
        "refused": _mean(answers["refused"]),
    }


def _mean(numbers: pl.Series) -> float | None:
    known = numbers.drop_nulls().to_numpy()
    return float(known.mean()) if len(known) else None


def _verdicts(answers: pl.DataFrame) -> dict[str, float | None]:
    sizes, supported = np.abs(answers["error"].to_numpy()), answers["supported"].to_numpy().astype(bool)
    low, high = bound("low", max(LEVELS)), bound("high", max(LEVELS))
    inside = answers.select(pl.col("truth").is_between(pl.col(low), pl.col(high)))["truth"]
    # Without an interval nothing holds a wrong answer, and nothing speaks against a good one.
    wrong = (sizes > WRONG) & ~inside.fill_null(False).to_numpy()
    good = (sizes <= GOOD) & inside.fill_null(True).to_numpy()
    return {
        "wrong": _share(wrong),
        "wrong_supported": _share(supported[wrong]),
        "supported_wrong": _share(wrong[supported]),
        "good": _share(good),
        "good_unsupported": _share(~supported[good]),
    }


def _share(which: np.ndarray) -> float | None:
    return float(which.mean()) if len(which) else None


def _rms(rows: pl.DataFrame) -> float | None:
    errors = rows["error"].drop_nulls().to_numpy()
    return float(np.sqrt((errors**2).mean())) if len(errors) else None


def _median(rows: pl.DataFrame) -> float | None:
    errors = rows["error"].drop_nulls().to_numpy()
    return float(np.median(np.abs(errors))) if len(errors) else None
