"""Families of small worlds with a known truth, for measuring how far answers, intervals and verdicts can be trusted."""

from repbm.domains.worlds._world import Families, Family, World

__all__ = ["Families", "Family", "World"]
