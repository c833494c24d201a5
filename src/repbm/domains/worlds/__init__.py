"""Families of small worlds with a known truth, for measuring how far answers, intervals and verdicts can be trusted."""

from repbm.domains.worlds._development import DEVELOPMENT
from repbm.domains.worlds._world import Families, Family, World

__all__ = ["DEVELOPMENT", "Families", "Family", "World", "families"]


def families() -> Families:
    """Every family, by its name."""
    return {**DEVELOPMENT}
