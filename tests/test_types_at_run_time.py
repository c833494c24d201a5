"""What the arithmetic is given is checked: in the first calls of a test, and now and then."""

from __future__ import annotations

import numpy as np
import pytest
from jaxtyping import TypeCheckError

from repbm.data import annuity
from tests.types_at_run_time import ALWAYS, next_test


def test_wrong_shapes_are_found_in_first_calls_and_now_and_then() -> None:
    wrong = np.ones((2, 2))
    found = []
    for _ in range(4 * ALWAYS):
        try:
            annuity(1.0, wrong)
        except TypeCheckError:
            found.append(True)
        else:
            found.append(False)
    assert found == [k <= ALWAYS or k in (8, 16) for k in range(1, 17)]
    next_test()
    with pytest.raises(TypeCheckError):
        annuity(1.0, wrong)
    np.testing.assert_array_equal(annuity(1.0, np.array([0, 1])), [0, 1])
