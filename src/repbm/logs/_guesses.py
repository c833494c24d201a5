"""Columns by the names that people usually give them; every guess is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

USUAL: Mapping[str, tuple[str, ...]] = {
    "episode": (
        "episode_id",
        "trajectory",
        "trajectory_id",
        "traj_id",
        "patient",
        "patient_id",
        "patientid",
        "subject",
        "subject_id",
        "user",
        "user_id",
        "customer_id",
        "stay_id",
        "icustay_id",
        "hadm_id",
        "encounter_id",
        "case_id",
        "session",
        "session_id",
        "run",
        "run_id",
        "trip_id",
        "participant_id",
        "person_id",
        "student_id",
        "client_id",
        "account_id",
        "visitor_id",
        "device_id",
    ),
    "step": (
        "t",
        "time",
        "timestep",
        "time_step",
        "tick",
        "day",
        "hour",
        "week",
        "month",
        "visit",
        "round",
        "turn",
        "wave",
        "charttime",
    ),
    "action": ("actions", "act", "treatment", "decision", "arm"),
    "reward": ("rewards", "rew", "outcome", "return", "survived", "survival"),
    "terminated": ("terminal", "terminals", "is_terminal", "done", "dones"),
}
"""Names that mean one thing: taken without asking, if there is just one of them."""

ELSE_USUAL: Mapping[str, tuple[str, ...]] = {
    "action": ("channel", "offer", "variant", "promotion", "intervention"),
    "reward": ("revenue", "profit", "sales", "converted", "conversion", "purchased", "clicked"),
}
"""Names that mean it where no column has a name of the above."""

_DEATHS = ("died", "dead", "death", "deaths", "deceased", "mortality")

MEANT: Mapping[str, tuple[str, ...]] = {
    "action": ("drug", "dose", "therapy", "medication", "given", "treated"),
    "reward": ("benefit", "score", "result", "payoff", "success", "alive", "status"),
    "terminated": ("died", "dead", "death", "deceased", "discharged", "mortality"),
}
"""Names that often mean it: suggested."""

_PARTS: Mapping[str, tuple[str, ...]] = {
    "episode": ("pt", "pat", "pid", "mrn"),
    "action": ("action", "treatment", "decision", "drug", "dose", "therapy", "medication", "given", "treated"),
    "reward": ("outcome", "survival", "survived", "alive", *_DEATHS),
}
"""Words in names that suggest it, as in `vasopressor_given` or `mortality_28d`."""

LATER = (
    *MEANT["terminated"],
    "done",
    "dones",
    "survived",
    "alive",
    "los",
    "length_of_stay",
    "readmitted",
    "truncated",
    "expire_flag",
    "hospital_expire_flag",
)
"""What is known only when all is over: no observation, unless somebody says so."""

_BURDENS = (
    *_DEATHS,
    "cost",
    "costs",
    "los",
    "length_of_stay",
    "readmitted",
    "readmission",
    "readmissions",
    "relapse",
    "relapses",
    "complication",
    "complications",
    "infection",
    "infections",
    "churn",
    "churned",
)
"""Outcomes of which less is better, as a rule."""

_TURNED = (
    "free",
    "saved",
    "saving",
    "savings",
    "averted",
    "avoided",
    "prevented",
    "reduced",
    "reduction",
    "no",
    "not",
    "without",
    "alive",
    "survival",
    "survived",
)
"""Words that turn them around, as in `death_free_days` and `cost_savings`."""

_IDENTITY = (
    "id",
    "episode",
    "patient",
    "subject",
    "user",
    "customer",
    "stay",
    "encounter",
    "case",
    "number",
    "no",
    "nr",
)


def usual(role: str, free: Sequence[str]) -> list[str]:
    """The columns whose names usually mean this, whatever their case."""
    first = [name for name in free if _plain(name) in (role, *USUAL.get(role, ()))]
    return first or [name for name in free if _plain(name) in ELSE_USUAL.get(role, ())]


def meant(role: str, free: Sequence[str]) -> str | None:
    """A column that may be meant."""
    found = usual(role, free) or [name for name in free if _plain(name) in MEANT.get(role, ())]
    return found[0] if found else None


def suspected(role: str, free: Sequence[str]) -> str | None:
    """A column whose name begins or ends with a word for it; an action is named last, as in `study_drug`."""
    words = _PARTS.get(role, ())

    def suggests(name: str) -> bool:
        parts = _plain(name).split("_")
        return parts[-1] in words or (role != "action" and parts[0] in words)

    return next((name for name in free if suggests(name)), None)


def less_is_better(name: str) -> bool:
    """Whether an outcome sounds as if less of it were better: deaths, costs, days in hospital."""
    parts = _plain(name).split("_")
    if any(part in _TURNED for part in parts):
        return False
    return _plain(name) in _BURDENS or parts[0] in _BURDENS or parts[-1] in _BURDENS


def told_later(name: str) -> bool:
    return _plain(name) in LATER


def names_somebody(name: str) -> bool:
    """Whether a column sounds as if it told episodes apart."""
    return any(word in _IDENTITY for word in _plain(name).split("_")) or _plain(name).endswith("id")


def is_identity(name: str) -> bool:
    """Whether a column tells only who it is."""
    return _plain(name).split("_")[-1] in ("id", "nr", "no") or _plain(name) in (
        "name",
        "index",
        "row",
        "unnamed:_0",
        "",
    )


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_").replace(".", "_")
