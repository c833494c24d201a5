"""Families of worlds to examine estimates with, written apart from the estimates that they examine."""

from __future__ import annotations

from repbm.domains.worlds._world import Families

EXAM: Families = {}

__all__ = ["EXAM"]
