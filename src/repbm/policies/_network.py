"""A small feed-forward network as a policy, kept in a weights file of plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, Label, reason
from repbm.policies._base import Choices, ObservationPolicy, checked_actions

_ACTIVATIONS = ("tanh", "relu")
_HEADS = ("greedy", "softmax")


class NetworkPolicy(ObservationPolicy):
    """Layers x -> activation(x w_k + b_k), the last one linear with one score an action.

    The head `greedy` takes the action of the highest score, `softmax` draws in proportion to exp(score).
    File format: NumPy's `.npz` with arrays `w0, b0, w1, b1, ...` (w_k of shape inputs x outputs), and optionally
    `activation` (tanh, the default, or relu), `head` (greedy, the default, or softmax) and `actions`, the labels
    of the outputs (default 0, 1, ...). Nothing in the file is executed.
    """

    def __init__(
        self,
        layers: Sequence[tuple[np.ndarray, np.ndarray]],
        activation: str = "tanh",
        head: str = "greedy",
        actions: Sequence[Label] | None = None,
        name: str = "network",
    ) -> None:
        self._name = name
        if activation not in _ACTIVATIONS:
            raise InputError(f"activation '{activation}'", fix=f"use one of {', '.join(_ACTIVATIONS)}")
        if head not in _HEADS:
            raise InputError(f"head '{head}'", fix=f"use one of {', '.join(_HEADS)}")
        self.layers = [(_weights(w, f"w{k}"), _weights(b, f"b{k}")) for k, (w, b) in enumerate(layers)]
        self.activation, self.head = activation, head
        width = None
        for k, (w, b) in enumerate(self.layers):
            if w.ndim != 2 or b.shape != (w.shape[1],) or width not in (None, w.shape[0]):
                raise InputError(f"layer {k} has w of shape {w.shape} and b of shape {b.shape}, which do not fit")
            if not (np.isfinite(w).all() and np.isfinite(b).all()):
                raise InputError(f"layer {k} holds a weight that is not a finite number")
            width = w.shape[1]
        if width is None:
            raise InputError("the network has no layer")
        self.actions: tuple[Label, ...] = checked_actions(range(width) if actions is None else actions, "the network")
        if len(self.actions) != width:
            raise InputError(f"{len(self.actions)} actions for a network of {width} outputs")

    @property
    def name(self) -> str:
        return self._name

    @classmethod
    def load(cls, path: str | Path) -> NetworkPolicy:
        where = str(path)
        try:
            with Path(path).open("rb") as file:
                arrays = dict(np.load(file, allow_pickle=False))
        except FileNotFoundError:
            raise InputError("no such file", where=where, code="file") from None
        except OSError as fault:
            raise InputError(f"cannot be read ({fault.strerror or fault})", where=where, code="file") from fault
        except Exception as fault:  # damaged archives fail in many ways
            raise InputError(f"not a policy weights file ({reason(fault)})", where=where) from fault
        count = sum(name.startswith("w") and name[1:].isdigit() for name in arrays)
        missing = [f"{x}{k}" for k in range(max(count, 1)) for x in "wb" if f"{x}{k}" not in arrays]
        if missing:
            raise InputError(
                f"array {missing[0]} is missing", where=where, fix="store the layers as w0, b0, w1, b1, ..."
            )
        try:
            return cls(
                [(arrays[f"w{k}"], arrays[f"b{k}"]) for k in range(count)],
                activation=str(arrays.get("activation", "tanh")),
                head=str(arrays.get("head", "greedy")),
                actions=checked_actions(arrays["actions"].tolist(), "the network") if "actions" in arrays else None,
                name=Path(path).stem,
            )
        except InputError as fault:
            raise fault.at(where) from fault

    def save(self, path: str | Path) -> None:
        arrays: dict[str, Any] = {}
        for k, (w, b) in enumerate(self.layers):
            arrays |= {f"w{k}": w, f"b{k}": b}
        np.savez(path, activation=self.activation, head=self.head, actions=np.asarray(self.actions), **arrays)

    def scores(self, observations: Float[np.ndarray, "batch dimensions"]) -> Float[np.ndarray, "batch actions"]:
        inputs = self.layers[0][0].shape[0]
        if observations.shape[1] != inputs:
            raise InputError(f"the network takes {inputs} inputs, the log has {observations.shape[1]} observations")
        with np.errstate(over="ignore", invalid="ignore"):
            scores = forward(self.layers, self.activation, observations, np)
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
            raise InputError(f"the network's score of observation {row} is not a finite number")
        return scores

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        unknown = [label for label in labels if label not in self.actions]
        if unknown:
            raise InputError(f"the log has the action {unknown[0]!r}, which the network does not know")
        scores = self.scores(observations)
        if self.head == "greedy":
            return Choices(self.actions, scores.argmax(axis=1))
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return Choices(self.actions, odds / odds.sum(axis=1, keepdims=True))


def _weights(values: np.ndarray, name: str) -> np.ndarray:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} does not hold numbers") from None


def forward(layers: Sequence[tuple[Any, Any]], activation: str, inputs: Any, numpy: Any) -> Any:
    """The scores of a network, in NumPy or in JAX."""
    hidden = inputs
    for w, b in layers[:-1]:
        hidden = hidden @ w + b
        hidden = numpy.tanh(hidden) if activation == "tanh" else numpy.maximum(hidden, 0)
    w, b = layers[-1]
    return hidden @ w + b
