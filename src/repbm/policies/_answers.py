"""What functions and frameworks answer, as choices among the log's actions."""

from __future__ import annotations

import numpy as np

from repbm.core import InputError, Label
from repbm.data import Categorical
from repbm.policies._base import Choices


def coded_actions(
    answer: np.ndarray, labels: tuple[Label, ...], declared: tuple[Label, ...] | None, who: str
) -> Choices:
    """One action an observation, in labels that are of the same kind as the log's."""
    try:
        coded = Categorical.of(answer, declared or ())
    except ValueError as fault:
        raise InputError(
            f"{who} returns {fault}",
            fix="return one action an observation, as the log spells it, or a row of probabilities",
        ) from fault
    foreign = next((x for x in coded.labels if not isinstance(x, tuple({type(y) for y in labels}))), None)
    if foreign is not None:
        raise InputError(
            f"{who} returns the action {foreign!r}, but the log's actions are like {labels[0]!r}",
            fix="return actions as the log spells them",
        )
    return Choices(coded.labels, coded.codes)


def column_labels(
    count: int, labels: tuple[Label, ...], declared: tuple[Label, ...] | None, who: str
) -> tuple[Label, ...]:
    """The actions that `count` columns stand for.

    Those declared; else 0 ... count-1 if the log's actions are whole numbers below count; else the log's actions in
    sorted order.
    """
    if declared is not None:
        if len(declared) != count:
            raise InputError(f"{who} declares {len(declared)} actions but returns {count} probabilities a row")
        return declared
    if all(isinstance(label, int) and 0 <= label < count for label in labels):
        return tuple(range(count))
    if count == len(labels):
        return labels
    raise InputError(
        f"{who} returns {count} probabilities a row, but the log has {len(labels)} actions",
        fix="return one column an action in sorted order, or give a function that has an attribute `actions`",
    )
