"""What a table seems to be, column by column, and why: for a person to confirm or to correct."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from repbm.core import nearest
from repbm.logs._columns import whole
from repbm.logs._files import Part
from repbm.logs._guesses import MEANT, is_identity, less_is_better, meant, names_somebody, suspected, told_later, usual
from repbm.logs._layout import ALIASES, OPTIONAL, REQUIRED, like
from repbm.logs._rewards import known_worth
from repbm.logs._tables import Source, parts_of
from repbm.logs._typed import cleaned, typed

_ORDER = ("episode", "step", *(role for role in (*REQUIRED, *OPTIONAL) if role not in ("episode", "step")))
_YES = ("yes", "true", "1", "y", "t", "died", "dead", "deceased", "discharged", "done")


@dataclass(frozen=True)
class Guess:
    """Which column plays a part, or which word answers a question; None: none. `sure`: nobody needs to be asked."""

    ours: str
    theirs: str | None
    why: str
    sure: bool = True


@dataclass(frozen=True)
class Proposal:
    """How a log could be read."""

    present: tuple[str, ...]
    """The columns that there are."""
    columns: Mapping[str, Guess]
    """By our names, observations apart."""
    observations: tuple[str, ...]
    left_out: tuple[str, ...]
    """Columns that are no observations, since they tell who somebody is, or are known only when all is over."""
    ends: Guess
    worth: Mapping[str, float] = field(default_factory=dict)
    """What words are worth, where rewards are words that are known."""
    less: bool = False
    """Whether less of the rewards sounds better: deaths, costs."""

    @property
    def named_so(self) -> bool:
        """Whether observations have names that begin with obs_."""
        return bool(self.observations) and all(name.startswith("obs_") for name in self.observations)


def propose(source: Source, columns: Mapping[str, str] | None = None, ends: str | None = None) -> Proposal:
    """Look at a log, and say what each of its columns may be; what `columns` and `ends` say is taken as it is."""
    part, said = parts_of(source)[0], dict(columns or {})
    present = [name for name in part.schema if not name.startswith("next_obs_")]
    own = [name for name in said.get("obs", "").split(",") if name] + [
        theirs for ours, theirs in said.items() if ours.startswith("obs_")
    ]
    by_column = [ends.partition("=")[0]] if ends and "=" in ends else []
    found: dict[str, Guess] = {}

    def free() -> list[str]:
        taken = [*said.values(), *(guess.theirs for guess in found.values()), *own, *by_column]
        return [name for name in present if name not in taken]

    for role in _ORDER:
        found[role] = _said(role, said) or _guess(role, present, free(), part)
    end = Guess("ends", ends, "as you said") if ends else _ends(found, free(), part)
    by_column = [end.theirs.partition("=")[0]] if end.theirs and "=" in end.theirs else by_column
    named = [name for name in present if name.startswith("obs_")]
    left = [name for name in free() if told_later(name) or is_identity(name)]
    observations = own or named or [name for name in free() if name not in left]
    reward = found["reward"].theirs if found["reward"].theirs in present else None
    words = {} if reward is None else known_worth(typed(part.read([reward])[reward]))
    less = reward is not None and _less(part, reward, words)
    left = [] if own or named else left
    return Proposal(tuple(part.schema), found, tuple(observations), tuple(left), end, words, less)


def _said(role: str, said: Mapping[str, str]) -> Guess | None:
    return Guess(role, said[role] or None, "as you said") if role in said else None


def _guess(role: str, present: Sequence[str], free: Sequence[str], part: Part) -> Guess:
    """By name alone, from the plainest reason to the boldest."""
    if role in present:
        return Guess(role, role, "it is named so")
    for alias in ALIASES.get(role, ()):
        if alias in present:
            return Guess(role, alias, "another name for it")
    likely = [name for name in usual(role, free) if role != "step" or _orders(part, name)]
    if len(likely) == 1:
        return Guess(role, likely[0], "a usual name for it")
    if likely:
        return Guess(role, likely[0], f"a usual name for it, and so is {' and '.join(likely[1:])}", sure=False)

    def dtype_of(name: str) -> pl.DataType:
        return whole(typed(part.read([name])[name])).dtype

    tried: list[tuple[Callable[[], str | None], str]] = [
        (lambda: meant(role, free) if role in MEANT and role != "terminated" else None, "it often means this"),
        (lambda: nearest(role, like(role, free, dtype_of)), "its name is close"),
        (lambda: suspected(role, free), "its name has a word for it"),
        (lambda: next((name for name in free if names_somebody(name)), None) if role == "episode" else None, "a name"),
    ]
    for look, why in tried:
        name = look()
        if name is not None:
            return Guess(role, name, why, sure=False)
    if role in OPTIONAL:
        return Guess(role, None, "no column sounds like it")
    return Guess(role, None, "no column sounds like it", sure=False)


def _orders(part: Part, name: str) -> bool:
    dtype = whole(typed(part.read([name])[name])).dtype
    return dtype.is_integer() or dtype.is_temporal()


def _ends(found: Mapping[str, Guess], free: Sequence[str], part: Part) -> Guess:
    """How episodes end, where no column is named for it."""
    if found["terminated"].theirs is not None:
        return Guess("ends", None, f"the column {found['terminated'].theirs} says it")
    episode, reward = found["episode"].theirs, found["reward"].theirs
    if episode is None or (episode in part.schema and part.read([episode])[episode].is_unique().all()):
        return Guess("ends", None, "every row is an episode")
    hint = meant("terminated", free)
    if hint is not None:
        values = cleaned(part.read([hint])[hint].cast(pl.String)).drop_nulls().unique().to_list()
        yes = [value for value in values if value.lower().removesuffix(".0") in _YES]
        if len(values) <= 2 and len(yes) == 1:
            return Guess("ends", f"{hint}={yes[0].removesuffix('.0')}", f"{hint} sounds like an end", sure=False)
    if reward is not None and reward in part.schema and typed(part.read([reward])[reward]).null_count():
        return Guess("ends", "terminated", f"{reward} stands in some rows only, as outcomes do in last ones")
    return Guess("ends", None, "nothing says whether the world ended an episode, or only the log", sure=False)


def _less(part: Part, reward: str, words: Mapping[str, float]) -> bool:
    """Whether less is better by its name; not of costs that are negative, or where words say that death is worth 0."""
    if not less_is_better(reward) or any(less_is_better(word) and not worth for word, worth in words.items()):
        return False
    values = typed(part.read([reward])[reward])
    return not values.dtype.is_numeric() or not bool((values < 0).any())
