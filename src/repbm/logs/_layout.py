"""Which column of a table plays which part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repbm.core import InputError, nearest

REQUIRED = ("episode", "action", "reward")
OPTIONAL = ("step", "terminated", "truncated", "behavior_prob")
ALIASES = {"behavior_prob": ("pscore", "propensity", "action_prob")}
SAY_ENDS = (
    "name yours with --column terminated=THEIRS, or say how every episode ends: "
    "--ends terminated (its world ended it) or --ends truncated (the log stopped)"
)
_USUAL = {
    "episode": (
        "episode_id",
        "trajectory",
        "trajectory_id",
        "patient",
        "patient_id",
        "subject_id",
        "user_id",
    ),
    "action": ("actions", "act", "treatment"),
    "reward": ("rewards", "rew", "outcome"),
    "terminated": ("done", "terminal", "terminals", "dones", "is_terminal"),
    "step": ("t", "time", "timestep"),
}


@dataclass(frozen=True)
class Layout:
    """The table's own names for our columns; None or empty where the table has none."""

    episode: str
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

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column to read, each once."""
        single = (self.episode, self.action, self.reward, self.step, self.terminated, self.truncated)
        every = (*single, self.behavior_prob, *self.observations, *self.next_observations, *self.kept)
        return tuple(dict.fromkeys(name for name in every if name is not None))


def layout(
    present: Sequence[str],
    dtypes_numeric: Mapping[str, bool],
    renames: Mapping[str, str],
    kept: Sequence[str],
    where: str,
    needs_observations: bool = True,
    asks_ends: bool = False,
) -> Layout:
    """Find our columns among those `present`, by name, alias or the user's renames (ours -> theirs).

    `asks_ends`: a column `terminated` is needed, too, though not found here.
    """
    parts: dict[str, str | None] = {}
    observations: dict[str, str] = {}
    following: dict[str, str] = {}
    for ours, theirs in renames.items():
        if ours == "obs":
            names = [name.strip() for name in theirs.split(",") if name.strip()]
            observations |= {_found(name, present, ours, where): name for name in names}
        elif ours in (*REQUIRED, *OPTIONAL):
            parts[ours] = _found(theirs, present, ours, where) if theirs else None
        elif ours.startswith("obs_"):
            observations[_found(theirs, present, ours, where)] = ours.removeprefix("obs_")
        elif ours.startswith("next_obs_"):
            following[ours.removeprefix("next_obs_")] = _found(theirs, present, ours, where)
        else:
            guess = nearest(ours, (*REQUIRED, *OPTIONAL, "obs", "obs_NAME", "next_obs_NAME"))
            raise InputError(
                f"--column {ours}={theirs}: '{ours}' is none of our columns",
                fix=f"did you mean '{guess}'?" if guess else f"ours are {', '.join((*REQUIRED, *OPTIONAL))}, obs",
            )
    for role in (*REQUIRED, *OPTIONAL):
        if role not in parts:
            parts[role] = next((name for name in (role, *ALIASES.get(role, ())) if name in present), None)
    for name in kept:
        _found(name, present, None, where)
    if not observations:
        observations = {name: name.removeprefix("obs_") for name in present if name.startswith("obs_")}
    for name in present:
        if name.startswith("next_obs_"):
            following.setdefault(name.removeprefix("next_obs_"), name)

    if not needs_observations:
        observations, following = {}, {}
    taken = {*parts.values(), *observations, *following.values(), *kept}
    free = [name for name in present if name not in taken]
    for role in REQUIRED:
        if parts[role] is None:
            raise InputError(f"there is no column '{role}'", where=where, fix=_suggestion(role, free, present))
    for role in OPTIONAL:
        guess = nearest(role, free)
        if parts[role] is None and role not in renames and guess:
            raise InputError(
                f"column '{guess}' looks like '{role}'",
                where=where,
                fix=f"say --column {role}={guess} if it is, or --column {role}= if it is not",
            )
    if needs_observations and not observations:
        numeric = [name for name in free if dtypes_numeric.get(name)]
        # Both at once: whoever logs without our names usually logs no ends either.
        ends = "" if parts["terminated"] or not asks_ends else f"; there is no column 'terminated' either: {SAY_ENDS}"
        raise InputError(
            "there are no observation columns (obs_*)",
            where=where,
            fix=(f"name yours, as in --column obs={','.join(numeric)}" if numeric else "add some") + ends,
        )
    if following and set(following) != set(observations.values()):
        odd = sorted(set(following) ^ set(observations.values()))[0]
        side = "next_obs_" if odd in following else "obs_"
        other = "obs_" if odd in following else "next_obs_"
        raise InputError(
            f"there is {side}{odd} but no {other}{odd}",
            where=where,
            fix="give both for every observation, or no next_obs_*",
        )
    required = {role: name for role in REQUIRED if (name := parts[role]) is not None}
    return Layout(
        **required,
        step=parts["step"],
        terminated=parts["terminated"],
        truncated=parts["truncated"],
        behavior_prob=parts["behavior_prob"],
        observations=tuple(observations),
        next_observations=tuple(following[name] for name in observations.values()) if following else (),
        observation_names=tuple(observations.values()),
        kept=tuple(kept),
    )


def _found(theirs: str, present: Sequence[str], ours: str | None, where: str) -> str:
    if theirs in present:
        return theirs
    guess = nearest(theirs, present)
    asked = f" (asked for as '{ours}')" if ours else ""
    listed = ", ".join(present[:12]) + (", ..." if len(present) > 12 else "")
    fix = f"did you mean '{guess}'?" if guess else f"the columns are {listed}"
    raise InputError(f"there is no column '{theirs}'{asked}", where=where, fix=fix)


def _suggestion(role: str, free: Sequence[str], present: Sequence[str]) -> str:
    lowered = {name.lower(): name for name in free}
    usual = (role, *_USUAL.get(role, ()))
    guess = next((lowered[name] for name in usual if name in lowered), None) or nearest(role, free)
    if guess:
        return f"if it is '{guess}', say --column {role}={guess}"
    listed = ", ".join(present[:12]) + (", ..." if len(present) > 12 else "")
    return f"name yours with --column {role}=THEIRS (the columns are {listed})"
