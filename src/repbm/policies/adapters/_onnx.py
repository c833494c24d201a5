"""Policies in ONNX files, computed by onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from repbm.core import InputError, nearest, optional, reason
from repbm.policies.adapters._engine import EnginePolicy

_KINDS = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
}
_USUAL = ("probabilities", "output_probability")
"""What converters of classifiers call the output of probabilities."""


def onnx_policy(model: Any, output: str | None = None, name: str | None = None) -> EnginePolicy:
    """The policy in an ONNX file (or in an onnxruntime session): one input of (n, d) observations.

    The output `output` is read; the only one if there is one, and of several the one called `probabilities` or
    `output_probability`. It may hold actions (whole numbers or text), probabilities or scores: `EnginePolicy` says how
    they are told apart.
    """
    if isinstance(model, str | Path):
        name = name or Path(model).stem
        model = _session(str(model))
    run, inputs = _engine(model, output)
    return EnginePolicy(run, name or "onnx", inputs=inputs)


def _session(where: str) -> Any:
    runtime = optional("onnxruntime", "onnx")
    options = runtime.SessionOptions()
    options.log_severity_level = 4  # its faults reach the user as our one line
    try:
        return runtime.InferenceSession(where, options, providers=["CPUExecutionProvider"])
    except Exception as fault:  # onnxruntime has an error class for each kind of damage
        raise InputError(f"this is no ONNX model that can be run ({reason(fault)})", where=where) from fault


def _engine(session: Any, output: str | None) -> tuple[Callable[[np.ndarray], np.ndarray], int | None]:
    """A function on batches, and how many observations it takes, where the model says."""
    taken = session.get_inputs()
    if len(taken) != 1:
        names = ", ".join(one.name for one in taken)
        raise InputError(f"the model takes {len(taken)} inputs ({names})", fix="export it with one, the observations")
    (given,) = taken
    if given.type not in _KINDS or len(given.shape) != 2:
        shape = ", ".join(map(str, given.shape))
        raise InputError(
            f"the model's input '{given.name}' is {given.type} of shape ({shape})",
            fix="export it with one input of numbers, of shape (observations, dimensions)",
        )
    chosen, kind = _output(session.get_outputs(), output), _KINDS[given.type]
    size, inputs = given.shape

    def run(observations: np.ndarray) -> np.ndarray:
        batch = observations.astype(kind)
        if not isinstance(size, int):
            return session.run([chosen], {given.name: batch})[0]
        # Exported for batches of one size: as many of these as it takes, the last one filled up.
        filled = np.concatenate([batch, np.repeat(batch[-1:], -len(batch) % size, axis=0)])
        parts = [
            session.run([chosen], {given.name: filled[start : start + size]})[0]
            for start in range(0, len(filled), size)
        ]
        return np.concatenate([np.reshape(part, (size, -1)) for part in parts])[: len(batch)]

    return run, inputs if isinstance(inputs, int) else None


def _output(outputs: Any, wanted: str | None) -> str:
    """The name of the output to read."""
    names = [one.name for one in outputs]
    if wanted is not None and wanted not in names:
        guess = nearest(wanted, names)
        fix = f"did you mean '{guess}'?" if guess else f"it has {', '.join(names)}"
        raise InputError(f"the model has no output '{wanted}'", fix=fix)
    usual = [name for name in names if name in _USUAL]
    chosen = wanted or (names[0] if len(names) == 1 else usual[0] if len(usual) == 1 else None)
    if chosen is None:
        raise InputError(
            f"the model has {len(names)} outputs ({', '.join(names)})",
            fix=f"say which one: FILE.onnx:{names[0]}",
        )
    kind = next(one.type for one in outputs if one.name == chosen)
    if not kind.startswith("tensor("):
        raise InputError(
            f"the model's output '{chosen}' is {kind}, not an array",
            fix="export it as a tensor (skl2onnx: options={'zipmap': False})",
        )
    return chosen
