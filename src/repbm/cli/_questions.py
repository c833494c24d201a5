"""Questions to a person at a terminal about a log: an empty answer takes the guess."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import typer

from repbm.cli._study_file import MEANINGS, Answers
from repbm.core import InputError, nearest
from repbm.logs import checked_ends

if TYPE_CHECKING:
    from repbm.logs import Proposal

_T = TypeVar("_T")
_NONE = "-"


def corrected(answers: Answers, proposal: Proposal) -> Answers:
    """What a person makes of a proposal: asked about what is not sure, and about all if something is wrong."""
    unsure = [ours for ours, guess in proposal.columns.items() if not guess.sure]
    answers = _columns(answers, proposal, unsure)
    if not proposal.ends.sure:
        answers = replace(answers, ends=_ends(answers))
    if not typer.confirm("Is all the rest right?", default=True):
        rest = [ours for ours in proposal.columns if ours not in unsure]
        answers = _columns(answers, proposal, rest)
        answers = replace(answers, observations=_observations(answers, proposal), named_so=False, ends=_ends(answers))
    name = typer.prompt("What is the sum of rewards called?", default=answers.outcome["name"] or "outcome")
    unit = typer.prompt("In what is it counted? (- for nothing)", default=_NONE)
    better = _asked("Is more or less of it better?", answers.outcome["better"], _better)
    discount = _asked("What is a reward worth one step later?", "1", _discount)
    return replace(
        answers, outcome={"name": name, "unit": "" if unit == _NONE else unit, "better": better}, discount=discount
    )


def _columns(answers: Answers, proposal: Proposal, wanted: list[str]) -> Answers:
    found, why = dict(answers.columns), dict(answers.why)
    for ours in wanted:
        said = _column(f"{ours}: {MEANINGS[ours]} ({_NONE} for none)", found[ours], proposal)
        if said != found[ours]:
            found[ours], why[ours] = said, "as you said"
    observations = tuple(name for name in answers.observations if name not in found.values())
    return replace(answers, columns=found, why=why, observations=observations)


def _column(question: str, guess: str | None, proposal: Proposal) -> str | None:
    def one(said: str) -> str | None:
        return None if said == _NONE else _present(said, proposal)

    return _asked(question, guess or _NONE, one)


def _observations(answers: Answers, proposal: Proposal) -> tuple[str, ...]:
    def several(said: str) -> tuple[str, ...]:
        return tuple(_present(name.strip(), proposal) for name in said.split(",") if name.strip())

    return _asked("what is known before decisions, separated by commas", ", ".join(answers.observations), several)


def _ends(answers: Answers) -> str | None:
    question = "How do episodes end? terminated, truncated, reward, horizon or COLUMN=VALUE (- if a column says it)"
    return _asked(question, answers.ends or _NONE, lambda said: None if said == _NONE else checked_ends(said))


def _present(name: str, proposal: Proposal) -> str:
    if name in proposal.present:
        return name
    guess = nearest(name, proposal.present)
    fix = f"did you mean '{guess}'?" if guess else f"the columns are {', '.join(proposal.present)}"
    raise InputError(f"there is no column '{name}'", fix=fix)


def _better(said: str) -> str:
    if said not in ("more", "less"):
        raise InputError(f"'{said}'", fix="say more or less")
    return said


def _discount(said: str) -> float:
    try:
        number = float(said)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise InputError(f"a discount of {said}", fix="give a number from 0 to 1")
    return number


def _asked(question: str, default: str, understood: Callable[[str], _T]) -> _T:
    """Ask until the answer is understood."""
    while True:
        try:
            return understood(typer.prompt(question, default=default).strip())
        except InputError as fault:
            typer.echo(f"    {fault}")
