"""What the page shows of an answer: figures, who gains, individuals found and compared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from importlib.resources import files
from typing import Any

import numpy as np
import polars as pl

from repbm._version import __version__
from repbm.core import all_words, say
from repbm.doctor import NOT_SUPPORTED
from repbm.policies.adapters import DecisionTable
from repbm.report import Shown, Words, individuals_svg, logged_states, weighty_lines
from repbm.web._forms import TableForm
from repbm.web._session import Answer, Session

_SHOWN = 25
_COMPARED = 6


def page(
    session: Session,
    answer: Answer | None,
    form: TableForm,
    *,
    find: str = "",
    compared: Sequence[str] = (),
    fault: str | None = None,
) -> str:
    """The page as HTML, without any script: nothing that a log or a person writes in it can run."""
    words = Words.read()
    # Whether an outcome is one of 0 and 1 is the same for all policies.
    shown = Shown.of(session.answers[-1].evaluation) if session.answers else Shown(session.outcome.name)
    return _template().render(
        css=_text("repbm.report", "page.css") + _text("repbm.web", "live.css"),
        version=__version__,
        session=session,
        outcome=shown.title,
        unit=shown.unit,
        value=lambda given: shown.value(_finite(given)),
        difference=lambda given: shown.difference(_finite(given)),
        differences=lambda low, high: shown.differences(_finite(low), _finite(high)),
        log=session.study.log,
        data=session.evaluator.log_,
        form=form,
        editable={name: isinstance(policy, DecisionTable) for name, policy in session.policies.items()},
        history=[_line(one, session) for one in reversed(session.answers)],
        answer=None if answer is None else _answer(answer, session),
        people=None if answer is None else _people(answer, find, session),
        compared=_compared(session, answer, compared),
        weighty=weighty_lines(session.examination),
        page_say=words.say,
        say=partial(words.say, section="live"),
        words=all_words()["live"],
        chosen=list(compared),
        find=find,
        fault=fault,
    )


def individuals_of(answer: Answer) -> pl.DataFrame:
    """Everybody in the log, with the state that the episode began in."""
    found = answer.evaluation
    own = found.individuals.filter(source="log").drop("policy", "estimator", "source", "support")
    states = pl.concat([found.episodes.select("logged_return"), logged_states(found)], how="horizontal")
    new = {name: name if name not in own.columns else say("page", "at_first", name=name) for name in states.columns}
    return pl.concat([own, states.rename(new)], how="horizontal") if len(own) else own


def _line(answer: Answer, session: Session) -> dict[str, Any]:
    row = answer.evaluation.estimates.row(0, named=True)
    verdict = answer.evaluation.examination.verdicts[answer.name]
    known = {"number": answer.number, "name": answer.name, "verdict": verdict, "better": _better(row, session)}
    # The table of estimates has the verdict, too, in a word.
    return row | known


def _better(row: dict[str, Any], session: Session) -> str:
    """Better or worse than what is done now, as far as the interval tells."""
    if row["difference_low"] is None:
        return ""
    sign = 1 if session.outcome.better == "more" else -1
    low, high = sorted((sign * row["difference_low"], sign * row["difference_high"]))
    return say("live", "better" if low > 0 else "worse" if high < 0 else "unclear")


def _answer(answer: Answer, session: Session) -> dict[str, Any]:
    made, line = answer.evaluation, _line(answer, session)
    people = made.individuals.filter(source="log")
    known = people.filter(pl.col("value").is_not_null() & pl.col("difference_low").is_not_null())
    sign = 1 if session.outcome.better == "more" else -1
    rises, falls = known["difference_low"] > 0, known["difference_high"] < 0
    verdict = line["verdict"]
    return {
        **line,
        "kind": "yes" if verdict.supported else "no" if verdict.word == NOT_SUPPORTED else "open",
        "gain": int((rises if sign > 0 else falls).sum()),
        "lose": int((falls if sign > 0 else rises).sum()),
        "unclear": int((~rises & ~falls).sum()),
        "refused": len(people) - len(known),
        "everybody": len(people),
        "groups": made.policies[answer.name].groups,
        "chart": individuals_svg(known["value"].to_numpy(), Shown.of(made)) if len(known) else None,
        "table": answer.policy if isinstance(answer.policy, DecisionTable) else None,
    }


def _people(answer: Answer, find: str, session: Session) -> dict[str, Any]:
    """Those whose names or numbers hold what is looked for; without it those with the largest gains."""
    everybody = individuals_of(answer)
    if not len(everybody):
        return {"rows": [], "count": 0, "names": []}
    wanted = find.strip().lower()
    rows = everybody
    if wanted:
        rows = everybody.filter(pl.col("episode").cast(pl.String).str.to_lowercase().str.contains(wanted, literal=True))
    rows = rows.sort("difference", descending=session.outcome.better == "more", nulls_last=True, maintain_order=True)
    states = everybody.columns[everybody.columns.index("logged_return") + 1 :]
    return {"rows": list(rows.head(_SHOWN).iter_rows(named=True)), "count": len(rows), "names": states[:8]}


def _compared(session: Session, answer: Answer | None, chosen: Sequence[str]) -> dict[str, Any] | None:
    """The chosen individuals side by side: where they began, and what each answered policy would bring."""
    if answer is None or not chosen:
        return None
    everybody = individuals_of(answer)
    if not len(everybody):
        return None
    names = everybody["episode"].cast(pl.String)
    places = [int(place) for place in (names == one for one in chosen[:_COMPARED]) for place in place.arg_true()[:1]]
    if not places:
        return None
    rows = [everybody.row(place, named=True) for place in places]
    lines = []
    for one in session.answers:
        own = one.evaluation.individuals.filter(source="log")
        if len(own):
            lines.append(
                (
                    say("live", "under", number=one.number + 1, name=one.name),
                    [own.row(place, named=True) for place in places],
                )
            )
    begun = everybody.columns.index("logged_return") + 1
    return {"rows": rows, "states": everybody.columns[begun:], "policies": lines}


@lru_cache(maxsize=1)
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.filters |= {"number": _number}
    return environment.from_string(_text("repbm.web", "live.html"))


def _number(value: Any) -> str:
    """A number of a state, as short as it is (89, not 89.00), or a text of one."""
    if isinstance(value, str):
        return value
    finite = _finite(value)
    return "-" if finite is None else f"{finite:.5g}"


def _finite(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


@lru_cache(maxsize=4)
def _text(package: str, name: str) -> str:
    return (files(package) / "page" / name).read_text("utf-8")
