"""One sentence to quote, written from the numbers, and nothing on the page that says the opposite."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from repbm.estimators import Role
from repbm.evaluation import Effect
from repbm.report._scale import Shown
from repbm.report._words import Words

if TYPE_CHECKING:
    from repbm.doctor import Verdict

_LEAVES = re.compile(r"(\d+)% of rollouts leave the range of the log")
_HALF = 0.5


def quote(row: Mapping[str, Any], verdict: Verdict, shown: Shown, words: Words) -> str:
    """What a reader may take away, and no more than the log supports."""
    outcome = shown.name or words.page["outcome_default"]
    unit = f" {shown.unit}" if shown.unit else ""
    given: dict[str, Any] = {
        "episodes": f"{row['episodes']:,}",
        "policy": row["policy"],
        "outcome": outcome,
        "now": shown.value(row["logged_mean"]) + unit,
    }
    if not verdict.supported and verdict.word != "the log cannot tell":
        # One reason is enough to quote; the page has all of them.
        failed = (check.sentence for check in verdict.checks or () if not check.holds)
        return words.plain("quote_no", **given, reason=next(failed, verdict.sentence.partition(": ")[2]))
    if not verdict.supported:
        if row["low"] is None:
            return words.plain("quote_open_unknown", **given)
        return words.plain("quote_open", **given, range=shown.range(row["low"], row["high"]) + unit)
    if row["value"] is None:
        return words.plain("quote_no", **given, reason=row["note"])
    given |= {"value": shown.value(row["value"]) + unit, "level": f"{row['level']:.0%}"}
    if row["low"] is None or row["difference_low"] is None:
        return words.plain("quote_without_interval", **given)
    said = words.plain(
        "quote_answer",
        **given,
        range=shown.range(row["low"], row["high"]),
        difference=shown.in_full(row["difference"]),
        differences=shown.differences(row["difference_low"], row["difference_high"]),
    )
    if verdict.few_behind and row["role"] == Role.CORRECTED:
        said = f"{said} {words.plain('quote_few', effective=verdict.answer_episodes)}"
    if may_be_chance(row):
        return f"{said} {words.plain('quote_chance')}"
    effect = Effect.of(row) if shown.binary else None
    if effect is None or effect.needed is None:
        return said
    kind = "benefit" if shown.is_better(effect.absolute) else "harm"
    needed = {"needed": shown.count(effect.needed), "range": shown.counts(effect.needed_low, effect.needed_high)}
    return f"{said} {words.plain(f'quote_needed_{kind}', **needed)}"


def may_be_chance(row: Mapping[str, Any]) -> bool:
    """Whether the interval of the difference holds zero."""
    return row["difference_low"] is not None and row["difference_low"] <= 0 <= row["difference_high"]


def consistent(note: str, verdict: Verdict) -> str:
    """The note without what the support chart of the same page denies.

    Rollouts "leave the range" as soon as one column does, by however little, as columns of 0 and 1 do; where followers
    of the policy, in the same model, hardly ever meet a state that is far from logged ones, that is no warning.
    """
    if verdict.novelty is None or not len(verdict.novelty):
        return note
    met = float(verdict.novelty[-1])

    def stays(part: str) -> bool:
        found = _LEAVES.fullmatch(part.strip())
        return found is None or met >= _HALF * float(found[1]) / 100

    return "; ".join(part for part in note.split("; ") if stays(part))
