"""Classifiers of scikit-learn, and whatever looks like one, as policies."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from repbm.core import InputError
from repbm.policies.adapters._engine import Answer, EnginePolicy


def classifier_policy(classifier: Any, name: str | None = None) -> EnginePolicy:
    """A fitted classifier from observations to actions; its classes are the actions as the log spells them.

    With `predict_proba` the policy draws with these probabilities (for the most probable action alone, see `Greedy`);
    without, it takes what `predict` says. A classifier that was fitted to named columns finds them in the log by name.
    """
    name = name or type(classifier).__name__
    classes = getattr(classifier, "classes_", None)
    if classes is None:
        raise InputError(f"{name} has no classes", fix="give a classifier that is fitted")
    if isinstance(classes, list) or np.ndim(classes) != 1:
        raise InputError(f"{name} predicts several actions at once", fix="give a classifier of one action")
    names = getattr(classifier, "feature_names_in_", None)
    likely = hasattr(classifier, "predict_proba")  # scikit-learn hides it where the settings do not allow it

    def run(observations: Any) -> np.ndarray:
        with warnings.catch_warnings():
            # Columns are put in its order before; names are no part of an array.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return classifier.predict_proba(observations) if likely else classifier.predict(observations)

    return EnginePolicy(
        run,
        name,
        answer=Answer.PROBABILITIES if likely else Answer.ACTION,
        actions=np.asarray(classes).tolist(),
        inputs=getattr(classifier, "n_features_in_", None),
        features=None if names is None else [str(one) for one in names],
    )
