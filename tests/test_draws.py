"""One draw for every row of probabilities."""

from __future__ import annotations

import numpy as np

from repbm.core import draw, stream


def test_each_row_is_drawn_by_its_own_probabilities() -> None:
    """One number of the generator per row; the column in whose part of [0, 1) it falls."""
    table = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [2.0, 6.0, 0.0]])
    marks = stream(0, "draws").random(4)
    expected = [
        np.searchsorted(np.cumsum(row / row.sum()), mark, side="right") for row, mark in zip(table, marks, strict=True)
    ]
    assert draw(table, stream(0, "draws")).tolist() == expected


def test_frequencies_are_the_probabilities() -> None:
    """Of 20,000 draws a share is off by 5 deviations in one of a million seeds; this one is fixed."""
    row = np.array([0.1, 0.0, 0.6, 0.3])
    found = draw(np.broadcast_to(row, (20_000, 4)), stream(1, "draws"))
    shares = np.bincount(found, minlength=4) / len(found)
    assert shares[1] == 0
    assert (np.abs(shares - row) <= 5 * np.sqrt(row * (1 - row) / len(found))).all()
