"""Many policies on one log: the same numbers as one by one, and what they share is made once."""

from __future__ import annotations

from unittest import mock

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from repbm import PolicyEvaluator, evaluate
from repbm.core import InputError
from repbm.evaluation import Evaluation
from tests.test_report import careful, patients

LOG = patients(40, 2).drop("behavior_prob")


def old(observations: np.ndarray) -> np.ndarray:
    return np.where(observations[:, 0] > 70, "wait", "saline")


def same(one: Evaluation, other: Evaluation) -> None:
    for name in ("estimates", "individuals", "diagnostics", "ranking", "episodes"):
        assert_frame_equal(getattr(one, name), getattr(other, name), check_exact=True)
    assert one.examination.to_dict() == other.examination.to_dict()
    assert one.dynamics == other.dynamics
    assert one.run["arguments"] == other.run["arguments"]


@pytest.mark.slow
def test_the_same_numbers_and_one_reading() -> None:
    """Also where the first policy fits more than the second asks for, and where a policy reads a further column."""
    log = LOG.with_columns(chosen=pl.lit("wait"))
    shared = PolicyEvaluator(estimators=["corrected", "am"], details=False)
    with (
        mock.patch("repbm.evaluation._prepare.learn_behavior", side_effect=AssertionError) as again,
        pytest.raises(AssertionError),
    ):
        shared.fit(log)
    assert again.call_count == 1
    shared.fit(log)
    assert shared.log_.behavior is not None
    options = {"estimators": shared.estimators, "details": False}
    with mock.patch("repbm.evaluation._prepare.learn_behavior", side_effect=AssertionError):
        found = [shared.evaluate(policy) for policy in (careful, old)]
    for made, policy in zip(found, (careful, old), strict=True):
        same(made, evaluate(log, policy, **options))
    shared.set_params(estimators=["wis"])
    same(shared.evaluate("column:chosen"), evaluate(log, "column:chosen", estimators=["wis"], details=False))
    assert not shared.evaluate(old).models


def test_the_manner_of_scikit_learn() -> None:
    made = PolicyEvaluator(discount=0.5, seed=3)
    copy = clone(made)
    assert isinstance(copy, PolicyEvaluator)
    assert copy.get_params()["discount"] == 0.5
    assert repr(made) == "PolicyEvaluator(discount=0.5, seed=3)"
    with pytest.raises(NotFittedError, match="call fit"):
        made.evaluate(careful)
    made.set_params(estimators=["wis"], details=False).fit(patients(20, 2))
    made.set_params(discount=0.6)
    with pytest.raises(InputError, match="fit again"):
        made.evaluate(careful)
