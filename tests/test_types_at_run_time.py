"""What the arithmetic is given is checked: in the first calls of a test, and now and then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from beartype import beartype
from jaxtyping import Float, TypeCheckError

from repbm.critics._ridge_choice import RidgeChoice
from repbm.data import annuity
from tests.types_at_run_time import ALWAYS, jaxtyped, next_test


def found(call: Callable[[], object]) -> list[bool]:
    """Whether what is wrong is found, in one call after the other."""

    def once() -> bool:
        try:
            call()
        except TypeCheckError:
            return True
        return False

    return [once() for _ in range(4 * ALWAYS)]


FIRST = [k <= ALWAYS or k in (8, 16) for k in range(1, 17)]


def test_wrong_shapes_are_found_in_first_calls_and_now_and_then() -> None:
    wrong = np.ones((2, 2))
    assert found(lambda: annuity(1.0, wrong)) == FIRST
    next_test()
    with pytest.raises(TypeCheckError):
        annuity(1.0, wrong)
    np.testing.assert_array_equal(annuity(1.0, np.array([0, 1])), [0, 1])


def test_wrong_fields_are_found_when_the_first_objects_of_a_class_are_made() -> None:
    wrong = cast("Any", np.ones(2))
    assert found(lambda: RidgeChoice(wrong, (np.arange(2),), (1.0,))) == FIRST
    assert RidgeChoice(np.ones((2, 2, 2)), (np.arange(2),), (1.0,)).penalties == (1.0,)


def test_functions_in_functions_are_counted_as_one() -> None:
    def call() -> object:
        def inner(x: Float[np.ndarray, " rows"]) -> None: ...

        return jaxtyped(typechecker=beartype)(inner)(np.ones((2, 2)))

    assert found(call) == FIRST
