"""--save-model: the fitted model as a file."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from repbm.core import InputError, partial_file, writing

if TYPE_CHECKING:
    from repbm.evaluation import Evaluation


def check_model_file(path: Path, policies: int) -> None:
    """Refuse what could not be written, before anything is fitted."""
    if policies != 1:
        fix = "evaluate one policy"
        raise InputError(f"--save-model keeps the model of one policy, and there are {policies}", fix=fix)
    with writing(path):
        if path.is_dir():
            raise InputError("this is a folder", where=str(path), fix="name a file for --save-model")
        if not path.absolute().parent.is_dir():
            raise InputError("there is no such folder", where=str(path.absolute().parent), fix="make it first")
        with partial_file(path.resolve()):
            pass  # it can be written


def save(evaluation: Evaluation, path: Path) -> None:
    """Keep the model fitted for the policy, with what was asked; that of the log alone where there is no other."""
    if not evaluation.models:
        raise InputError("--save-model: no model was fitted", fix="ask for one, such as --estimator repbm")
    from repbm.models import ModelQuestion

    model, asked = next(iter(evaluation.models.values())), evaluation.run["arguments"]
    scale = evaluation.scale
    question = ModelQuestion(
        discount=asked["discount"],
        horizon=model.horizon,
        seed=asked["seed"],
        policy=next(iter(asked["policies"].values())),
        observations=model.observation_names,
        actions=model.labels,
        encoding=evaluation.run["reading"],
        returns=(scale.low, scale.high) if isfinite(scale.low) and isfinite(scale.high) else None,
    )
    model.save(path, question)
