"""Simulators with a known truth."""

from repbm.domains._tabular import TabularWorld

__all__ = ["TabularWorld"]
