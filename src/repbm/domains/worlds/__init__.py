"""Families of small worlds with a known truth, for measuring how far answers, intervals and verdicts can be trusted.

Thresholds and choices are made on the development families; figures are told from the exam. An exam whose figures
have been read is one no longer: its families are of development from then on, as first/name, second/name and so on to
seventh/name. Worlds that others know stand beside both: nothing is set on them, and they are told apart.
"""

from repbm.domains.worlds._beside import BESIDE as _BESIDE
from repbm.domains.worlds._development import DEVELOPMENT as _DEVELOPMENT
from repbm.domains.worlds._exam import EXAM
from repbm.domains.worlds._fifth_exam import FIFTH_EXAM
from repbm.domains.worlds._first_exam import FIRST_EXAM
from repbm.domains.worlds._fourth_exam import FOURTH_EXAM
from repbm.domains.worlds._second_exam import SECOND_EXAM
from repbm.domains.worlds._seventh_exam import SEVENTH_EXAM
from repbm.domains.worlds._sixth_exam import SIXTH_EXAM
from repbm.domains.worlds._third_exam import THIRD_EXAM
from repbm.domains.worlds._world import Families, Family, World

__all__ = ["BESIDE", "DEVELOPMENT", "EXAM", "Families", "Family", "World", "families"]

DEVELOPMENT: Families = {
    **_DEVELOPMENT,
    **{f"first/{name}": family for name, family in FIRST_EXAM.items()},
    **{f"second/{name}": family for name, family in SECOND_EXAM.items()},
    **{f"third/{name}": family for name, family in THIRD_EXAM.items()},
    **{f"fourth/{name}": family for name, family in FOURTH_EXAM.items()},
    **{f"fifth/{name}": family for name, family in FIFTH_EXAM.items()},
    **{f"sixth/{name}": family for name, family in SIXTH_EXAM.items()},
    **{f"seventh/{name}": family for name, family in SEVENTH_EXAM.items()},
}

BESIDE: Families = {f"beside/{name}": family for name, family in _BESIDE.items()}


def families() -> Families:
    """Every family, by its name; those of the exam as exam/name."""
    return {**DEVELOPMENT, **{f"exam/{name}": family for name, family in EXAM.items()}, **BESIDE}
