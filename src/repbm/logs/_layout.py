"""Which column of a table plays which part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from repbm.core import InputError, nearest
from repbm.logs._faults import Faults, LogFault
from repbm.logs._guesses import USUAL, is_identity, meant, names_somebody, suspected, told_later, usual

REQUIRED = ("episode", "action", "reward")
OPTIONAL = ("step", "terminated", "truncated", "behavior_prob")
ALIASES = {"behavior_prob": ("pscore", "propensity", "action_prob")}
_SAY_ENDS = (
    "or say how every episode ends: --ends terminated (its world ended it), --ends truncated (the log stopped), "
    "--ends reward (the world ended it if its last reward is not 0) or --ends horizon (if it is not the longest)"
)


@dataclass(frozen=True)
class Layout:
    """The table's own names for our columns; None or empty where the table has none."""

    episode: str | None
    """None: every row is an episode."""
    action: str
    reward: str
    step: str | None
    terminated: str | None
    truncated: str | None
    behavior_prob: str | None
    observations: tuple[str, ...]
    next_observations: tuple[str, ...]
    observation_names: tuple[str, ...]
    kept: tuple[str, ...]
    guessed: tuple[str, ...] = ()
    """Which of our columns were found by usual names; `obs` where all that is left was taken for observations."""
    notes: tuple[str, ...] = ()
    hint: str | None = None
    """A column that may tell how episodes end."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column to read, each once."""
        single = (self.episode, self.action, self.reward, self.step, self.terminated, self.truncated)
        every = (*single, self.behavior_prob, *self.observations, *self.next_observations, *self.kept)
        return tuple(dict.fromkeys(name for name in every if name is not None))


@dataclass(frozen=True)
class Asked:
    """What users say about the columns of their table."""

    renames: Mapping[str, str]
    """Our names to theirs."""
    kept: Sequence[str] = ()
    needs_observations: bool = True
    ends: str | None = None


def layout(
    present: Sequence[str],
    dtype_of: Callable[[str], pl.DataType],
    has_gaps: Callable[[str], bool],
    is_unique: Callable[[str], bool],
    asked: Asked,
    where: str,
    faults: Faults,
) -> Layout | None:
    """Find our columns among those `present`: by name, alias, the user's renames, or the names they usually have.

    What is wrong goes to `faults`, and then there is no layout.
    """
    roles, observations, following = _renamed(present, asked.renames, where, faults)
    for role in (*REQUIRED, *OPTIONAL):
        if role not in roles:
            roles[role] = next((name for name in (role, *ALIASES.get(role, ())) if name in present), None)
    for name in asked.kept:
        faults.tried(lambda name=name: _found(name, present, None, where))
    told = bool(observations)
    if not observations:
        observations = {name: name.removeprefix("obs_") for name in present if name.startswith("obs_")}
    for name in present:
        if name.startswith("next_obs_"):
            following.setdefault(name.removeprefix("next_obs_"), name)
    if not asked.needs_observations:
        observations, following = {}, {}

    by_column = asked.ends.partition("=")[0] if asked.ends and "=" in asked.ends else None

    def free(*but: str) -> list[str]:
        taken = {*roles.values(), *observations, *following.values(), by_column, *but}
        return [name for name in present if name not in taken]

    guessed = _guess(roles, free, dtype_of, asked)
    alone = roles["episode"] is None and _one_row_each(roles, following, free(), asked)
    if alone:
        guessed["episode"] = "every row"
    for role in REQUIRED:
        if roles[role] is None and not (role == "episode" and alone):
            faults.add(_lacking(role, free(), present, where, dtype_of))
    for role in OPTIONAL:
        near = nearest(role, free(*asked.kept))
        if roles[role] is None and role not in asked.renames and near:
            faults.add(
                LogFault(
                    f"column '{near}' looks like '{role}'",
                    where=where,
                    fix=f"say --column {role}={near} if it is, or --column {role}= if it is not",
                    option=f"--column {role}={near}",
                )
            )
    hint = meant("terminated", free())
    left_out: list[str] = []
    if asked.needs_observations and not observations:
        left_out = [name for name in free(*asked.kept) if told_later(name) or is_identity(name)]
        observations = {name: name for name in free(*asked.kept) if name not in left_out}
        if faults.found:
            observations = {}
        elif observations:
            guessed["obs"] = ", ".join(observations)
        else:
            faults.add(InputError("there are no observation columns (obs_*)", where=where, fix="add some"))
    if following and set(following) != set(observations.values()):
        odd = sorted(set(following) ^ set(observations.values()))[0]
        side = "next_obs_" if odd in following else "obs_"
        other = "obs_" if odd in following else "next_obs_"
        faults.add(
            InputError(
                f"there is {side}{odd} but no {other}{odd}",
                where=where,
                fix="give both for every observation, or no next_obs_*",
            )
        )
    if faults.found and not (roles["terminated"] or asked.ends or alone) and "terminated" not in asked.renames:
        episode = roles["episode"] if roles["episode"] in present else _suggested("episode", free(), dtype_of)
        reward = roles["reward"] if roles["reward"] in present else _suggested("reward", free(), dtype_of)
        # An outcome in last rows alone is an end, and so is every row where none has the episode of another.
        if not (reward is not None and has_gaps(reward)) and not (episode is not None and is_unique(episode)):
            faults.add(no_ends(where, hint))
    action, reward = roles["action"], roles["reward"]
    if faults.found or action is None or reward is None:
        return None
    return Layout(
        episode=roles["episode"],
        action=action,
        reward=reward,
        step=roles["step"],
        terminated=roles["terminated"],
        truncated=roles["truncated"],
        behavior_prob=roles["behavior_prob"],
        observations=tuple(observations),
        next_observations=tuple(following[name] for name in observations.values()) if following else (),
        observation_names=tuple(observations.values()),
        kept=tuple(asked.kept),
        guessed=tuple(guessed),
        notes=_notes({**_aliases(roles, asked), **guessed}, left_out, told),
        hint=hint,
    )


def no_ends(where: str, hint: str | None) -> LogFault:
    """Nothing says how episodes end; `hint` is a column that may."""
    named = "name yours with --column terminated=THEIRS or --ends COLUMN=VALUE (such as died=yes), "
    if hint:
        named = f"if '{hint}' tells it, say --ends {hint}=VALUE, the value of those that ended, "
    option = f"--ends {hint}=VALUE" if hint else "--ends terminated (or truncated)"
    return LogFault("there is no column 'terminated'", where=where, fix=named + _SAY_ENDS, option=option)


def _renamed(
    present: Sequence[str], renames: Mapping[str, str], where: str, faults: Faults
) -> tuple[dict[str, str | None], dict[str, str], dict[str, str]]:
    """What the user names: our columns, observations (theirs to ours), those after the last step (ours to theirs)."""
    roles: dict[str, str | None] = {}
    observations: dict[str, str] = {}
    following: dict[str, str] = {}
    for ours, theirs in renames.items():
        if ours == "obs":
            names = [name.strip() for name in theirs.split(",") if name.strip()]
            for name in names:
                faults.tried(lambda name=name, ours=ours: _found(name, present, ours, where))
            observations |= {name: name for name in names}
        elif ours in (*REQUIRED, *OPTIONAL):
            if theirs:
                faults.tried(lambda ours=ours, theirs=theirs: _found(theirs, present, ours, where))
            roles[ours] = theirs or None
        elif ours.startswith(("obs_", "next_obs_")):
            faults.tried(lambda ours=ours, theirs=theirs: _found(theirs, present, ours, where))
            if ours.startswith("obs_"):
                observations[theirs] = ours.removeprefix("obs_")
            else:
                following[ours.removeprefix("next_obs_")] = theirs
        else:
            guess = nearest(ours, (*REQUIRED, *OPTIONAL, "obs", "obs_NAME", "next_obs_NAME"))
            raise InputError(
                f"--column {ours}={theirs}: '{ours}' is none of our columns",
                fix=f"did you mean '{guess}'?" if guess else f"ours are {', '.join((*REQUIRED, *OPTIONAL))}, obs",
            )
    return roles, observations, following


def _guess(
    roles: dict[str, str | None],
    free: Callable[[], list[str]],
    dtype_of: Callable[[str], pl.DataType],
    asked: Asked,
) -> dict[str, str]:
    """Fill in columns by their usual names, where there is just one of them; says which."""
    guessed: dict[str, str] = {}
    for role in USUAL:
        if roles[role] is not None or role in asked.renames or (role == "terminated" and asked.ends is not None):
            continue
        found = usual(role, free())
        if role == "step":
            found = [name for name in found if dtype_of(name).is_integer() or dtype_of(name).is_temporal()]
        if len(found) == 1:
            roles[role] = guessed[role] = found[0]
    return guessed


def _one_row_each(
    roles: Mapping[str, str | None], following: Mapping[str, str], free: Sequence[str], asked: Asked
) -> bool:
    """Whether nothing hints at episodes of several rows, or the user says that there are none."""
    if "episode" in asked.renames:
        return not asked.renames["episode"]
    hints = (roles["step"], roles["terminated"], roles["truncated"], asked.ends)
    lacking = [role for role in ("action", "reward") if roles[role] is None]
    # Of a complete table a part of a name is no hint: `pt` may be a patient, or a laboratory value.
    somebody = nearest("episode", free) or (suspected("episode", free) if lacking else None)
    # What has no columns for all that is lacking, and one to observe, is no such table.
    enough = not lacking or len(free) > len(lacking)
    return enough and not (any(hints) or following or somebody or any(names_somebody(name) for name in free))


def _aliases(roles: Mapping[str, str | None], asked: Asked) -> dict[str, str]:
    """Columns that were found under another of our names."""
    found = {
        role: roles[role] for role, others in ALIASES.items() if role not in asked.renames and roles[role] in others
    }
    return {role: name for role, name in found.items() if name}


def _notes(guessed: Mapping[str, str], left_out: Sequence[str], told: bool) -> tuple[str, ...]:
    notes = []
    if guessed:
        words = [f"{theirs} as {'observations' if ours == 'obs' else ours}" for ours, theirs in guessed.items()]
        notes.append(f"taken by their names: {'; '.join(words)} (otherwise: --column ours=theirs)")
    if left_out and not told:
        notes.append(
            f"left out, since not known before decisions: {', '.join(left_out)} (to use them: --column obs=...)"
        )
    return tuple(notes)


def _found(theirs: str, present: Sequence[str], ours: str | None, where: str) -> str:
    if theirs in present:
        return theirs
    guess = nearest(theirs, present)
    asked = f" (asked for as '{ours}')" if ours else ""
    fix = f"did you mean '{guess}'?" if guess else f"the columns are {_listed(present)}"
    raise InputError(f"there is no column '{theirs}'{asked}", where=where, fix=fix)


def _suggested(role: str, free: Sequence[str], dtype_of: Callable[[str], pl.DataType]) -> str | None:
    """The column that may play this part; never taken without a word."""
    guess = meant(role, free) or nearest(role, like(role, free, dtype_of)) or suspected(role, free)
    if role == "episode":
        guess = guess or next((name for name in free if names_somebody(name)), None)
    return guess


def like(role: str, free: Sequence[str], dtype_of: Callable[[str], pl.DataType]) -> list[str]:
    """The columns whose names may only be misspelled: a reward is no text (`ward` is close to it)."""
    return [name for name in free if role != "reward" or dtype_of(name) != pl.String]


def _lacking(
    role: str, free: Sequence[str], present: Sequence[str], where: str, dtype_of: Callable[[str], pl.DataType]
) -> InputError:
    several, guess = usual(role, free), _suggested(role, free, dtype_of)
    fix = f"name yours with --column {role}=THEIRS (the columns are {_listed(present)})"
    if guess:
        fix = f"if it is '{guess}', say --column {role}={guess}"
    if len(several) > 1:
        fix = f"it may be {' or '.join(several)}: say --column {role}={guess}"
    option = f"--column {role}={guess or 'THEIRS'}"
    return LogFault(f"there is no column '{role}'", where=where, fix=fix, option=option)


def _listed(present: Sequence[str]) -> str:
    return ", ".join(present[:12]) + (", ..." if len(present) > 12 else "")
