"""How far a training is, for whoever waits."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float, int, int], None]
"""Told the mean loss of the last epoch, how many epochs are done, and of how many."""
