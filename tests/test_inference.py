"""Bounds and differences by hand."""

from __future__ import annotations

import math

import pytest

from repbm.inference import behavior_sensitivity


def test_sensitivity_by_hand() -> None:
    assert behavior_sensitivity(0.0, 100) == 0
    assert behavior_sensitivity(0.5, 1) == pytest.approx(1.0)
    assert behavior_sensitivity(0.1, 10) == pytest.approx(0.9**-10 - 1)
    assert behavior_sensitivity(1.0, 3) == math.inf
    assert behavior_sensitivity(0.9, 10_000) == math.inf
