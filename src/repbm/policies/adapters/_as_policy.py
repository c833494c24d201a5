"""Whatever users call a policy becomes one here, once."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from repbm.core import InputError, nearest, reason
from repbm.policies import (
    ActionColumn,
    LoggedProbabilityColumn,
    Policy,
    ProbabilityColumns,
    TabularPolicy,
    function_policy,
)
from repbm.policies._manners import prints_aside
from repbm.policies.adapters._classifier import classifier_policy
from repbm.policies.adapters._files import READERS, readable
from repbm.policies.adapters._onnx import onnx_policy
from repbm.policies.adapters._reinforcement import d3rlpy_policy, stable_baselines_policy
from repbm.policies.adapters._torch import torch_policy

_COLUMNS = {
    "column": ActionColumn,
    "probability": LoggedProbabilityColumn,
    "probabilities": lambda names: ProbabilityColumns([name.strip() for name in names.split(",")]),
}


def as_policy(given: Any, *, trust_pickle: bool = False) -> Policy:
    """The policy behind what a user gives: an object, or words. Its `name` is short and says what it is.

    Objects: a policy; a function (see `CallablePolicy` and `NamedPolicy`); an array (see `TabularPolicy`); a fitted
    scikit-learn classifier; a torch module; an onnxruntime session; a Stable-Baselines3 or d3rlpy algorithm.

    Words: `FILE.py:NAME` (a function, or any object above), `FILE.csv` (a decision table), `FILE.npz` (network
    weights), `FILE.onnx` or `FILE.onnx:OUTPUT`, `FILE.pt` (TorchScript), `FILE.zip` (Stable-Baselines3), `FILE.d3`
    (d3rlpy), `FILE.skops`, or with `trust_pickle` `FILE.pkl` and `FILE.joblib` (scikit-learn);
    `column:NAME` (the policy's action in the log), `probability:NAME` (its probability of the logged action),
    `probabilities:NAME,NAME,...` (of every action).
    """
    if isinstance(given, Path):
        given = str(given)
    if isinstance(given, str):
        return _named(given, trust_pickle)
    policy = _of_object(given, None)
    if policy is None:
        raise InputError(
            f"a policy of type {type(given).__name__}",
            fix="give a function on an (n, d) array, a table, a classifier, a torch module or a policy object",
        )
    return policy


def _of_object(given: Any, name: str | None) -> Policy | None:
    """The policy that an object is; None where it is none."""
    if isinstance(given, Policy):
        return given
    if isinstance(given, np.ndarray):
        return TabularPolicy(given)
    # Policies of Stable-Baselines3 are torch modules too, so it is asked about first.
    if _is(given, "stable_baselines3.common.base_class", "BaseAlgorithm") or _is(
        given, "stable_baselines3.common.policies", "BasePolicy"
    ):
        return stable_baselines_policy(given, name=name)
    if _is(given, "d3rlpy.base", "LearnableBase"):
        return d3rlpy_policy(given, name)
    if _is(given, "torch.nn", "Module"):
        return torch_policy(given, name)
    if _is(given, "onnxruntime", "InferenceSession"):
        return onnx_policy(given, name=name)
    if hasattr(given, "predict") and (hasattr(given, "classes_") or not callable(given)):
        return classifier_policy(given, name)
    if callable(given):
        return function_policy(given, name)
    return None


def _is(given: Any, module: str, name: str) -> bool:
    """Whether `given` is an instance of a class in a module, which is loaded if there is any instance of it."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(given, kind)


def _named(words: str, trust_pickle: bool) -> Policy:
    kind, colon, rest = words.partition(":")
    if colon and kind in _COLUMNS:
        return _COLUMNS[kind](rest)
    path, colon, name = words.rpartition(":")
    if colon and path.endswith(".py"):
        return _imported(Path(path), name)
    if words.endswith(".py"):
        raise InputError(f"policy '{words}' names no function", fix=f"say {words}:FUNCTION")
    file = Path(path if colon and path.endswith(".onnx") else words)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise InputError(
            f"policy '{words}' is not understood",
            fix=f"use FILE.py:FUNCTION, a file ending in {', '.join(READERS)}, or "
            "column:NAME, probability:NAME, probabilities:NAME,NAME,...",
        )
    readable(file)
    try:
        with prints_aside():
            found = reader(file, trust_pickle) if file == Path(words) else onnx_policy(file, name)
        policy = _of_object(found, file.stem)
    except InputError as fault:
        raise fault.at(fault.where or words) from fault
    if policy is None:
        raise InputError(f"it holds a {type(found).__name__}, which is no policy", where=words)
    return policy


def _imported(path: Path, name: str) -> Policy:
    """The policy of this name in a Python file; modules beside the file can be imported by it."""
    readable(path, "check the path before the colon")
    spec = importlib.util.spec_from_file_location(f"_repbm_policy_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    # Nothing is to be left in somebody else's folder.
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with prints_aside():
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as fault:
        frames = [f for f in traceback.extract_tb(fault.__traceback__) if Path(f.filename) == path.absolute()]
        line = f":{frames[-1].lineno}" if frames else ""
        raise InputError(f"fails to load with {reason(fault)}", where=f"{path}{line}") from fault
    finally:
        sys.dont_write_bytecode = written
        sys.path.remove(folder)
    public = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
    if name not in vars(module):
        guess = nearest(name, public)
        fix = f"did you mean '{guess}'?" if guess else f"it has {', '.join(public) or 'no function'}"
        raise InputError(f"there is no '{name}' in it", where=str(path), fix=fix)
    policy = _of_object(vars(module)[name], name)
    if policy is None:
        raise InputError(f"'{name}' is not a function, nor any other policy", where=str(path))
    return policy
