"""Worlds that others know, beside those that were made for measuring: neither development nor exam."""

from __future__ import annotations

from repbm.domains.worlds._beside._finite import icu_sepsis
from repbm.domains.worlds._beside._simulated import cartpole, mountaincar
from repbm.domains.worlds._world import Families

BESIDE: Families = {
    "icu-sepsis": icu_sepsis,
    "cartpole": cartpole,
    "mountaincar": mountaincar,
}

__all__ = ["BESIDE"]
