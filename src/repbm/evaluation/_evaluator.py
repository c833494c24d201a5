"""Many policies on one log: what they share is fitted once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from repbm.core import Progress, Thresholds
from repbm.data import Trajectories
from repbm.engines import Engine
from repbm.estimators import Estimator, EstimatorSpec
from repbm.evaluation._evaluate import evaluate
from repbm.evaluation._options import Fitting, Question, Reading
from repbm.evaluation._outcome import Outcome
from repbm.evaluation._prepare import prepare
from repbm.evaluation._result import Evaluation
from repbm.evaluation._shared import Shared
from repbm.logs import Source


class PolicyEvaluator(BaseEstimator):
    """Evaluates policies on one log, as `evaluate` does and with the same numbers, in the manner of scikit-learn.

    `PolicyEvaluator(discount=0.9).fit(log).evaluate(policy)`. The options are those of `evaluate`. `fit` reads and
    examines the log, and learns the behavior where the log does not tell it; a model of the log alone is fitted when
    a policy first needs it. All that is kept for the next policy. After `fit`, `log_` is the log, and `examination_`
    what the doctor says of it.
    """

    def __init__(
        self,
        *,
        estimators: Sequence[str | EstimatorSpec | Estimator] | str | None = None,
        discount: float = 1.0,
        horizon: int | None = None,
        level: float = 0.95,
        seed: int = 0,
        reading: Reading = Reading(),  # noqa: B008 - frozen
        fitting: Fitting = Fitting(),  # noqa: B008 - frozen
        thresholds: Thresholds = Thresholds(),  # noqa: B008 - frozen
        outcome: Outcome = Outcome(),  # noqa: B008 - frozen
        details: bool = True,
        engine: Engine | str | None = None,
    ) -> None:
        self.estimators = estimators
        self.discount = discount
        self.horizon = horizon
        self.level = level
        self.seed = seed
        self.reading = reading
        self.fitting = fitting
        self.thresholds = thresholds
        self.outcome = outcome
        self.details = details
        self.engine = engine

    def fit(self, log: Source | Trajectories, y: None = None) -> Self:
        """Read the log, and learn from it what no policy changes."""
        shared = Shared()
        question = Question(
            self.discount,
            self.horizon,
            self.level,
            self.seed,
            self.reading,
            self.fitting,
            self.thresholds,
            outcome=self.outcome,
        )
        self.log_, self.examination_ = prepare(log, question, shared)
        self._source, self._shared = log, shared
        return self

    def evaluate(
        self,
        policy: Any,
        *,
        individuals: Source | None = None,
        threshold: float | Sequence[float] = (),
        details: bool | None = None,
        progress: Progress | None = None,
    ) -> Evaluation:
        """What would happen if we followed this policy, or each of these, instead?"""
        if not hasattr(self, "log_"):
            raise NotFittedError("this PolicyEvaluator has seen no log; call fit(log) first")
        return evaluate(
            self._source,
            policy,
            estimators=self.estimators,
            discount=self.discount,
            horizon=self.horizon,
            level=self.level,
            seed=self.seed,
            reading=self.reading,
            fitting=self.fitting,
            thresholds=self.thresholds,
            individuals=individuals,
            threshold=threshold,
            outcome=self.outcome,
            details=self.details if details is None else details,
            progress=progress,
            engine=self.engine,
            shared=self._shared,
        )
