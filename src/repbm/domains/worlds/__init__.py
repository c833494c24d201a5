"""Families of small worlds with a known truth, for measuring how far answers, intervals and verdicts can be trusted.

Thresholds and choices are made on the development families; figures are told from the exam.
"""

from repbm.domains.worlds._development import DEVELOPMENT
from repbm.domains.worlds._exam import EXAM
from repbm.domains.worlds._world import Families, Family, World

__all__ = ["DEVELOPMENT", "EXAM", "Families", "Family", "World", "families"]


def families() -> Families:
    """Every family, by its name; those of the exam as exam/name."""
    return {**DEVELOPMENT, **{f"exam/{name}": family for name, family in EXAM.items()}}
