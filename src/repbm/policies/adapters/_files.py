"""Files that hold a policy, each read by the framework that wrote it."""

from __future__ import annotations

import contextlib
import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from repbm.core import InputError, optional, reason
from repbm.policies import NetworkPolicy, Policy
from repbm.policies.adapters._decision_table import DecisionTable
from repbm.policies.adapters._onnx import onnx_policy
from repbm.policies.adapters._reinforcement import d3rlpy_policy
from repbm.policies.adapters._stable_baselines import load_stable_baselines
from repbm.policies.adapters._torch import torchscript_policy

PICKLES = (".pkl", ".pickle", ".joblib")


class _Plain(pickle.Unpickler):
    """Reads texts, bytes and numbers in lists and tables; refuses anything that could run code."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        raise pickle.UnpicklingError(f"it names {module_name}.{global_name}")


def load_d3rlpy(path: Path) -> Policy:
    """The policy in a file that `algorithm.save(path)` of d3rlpy wrote.

    It is a pickle of texts and bytes; one that names anything to be run is refused before d3rlpy opens it.
    """
    where, d3rlpy, torch = str(path), optional("d3rlpy", "d3rlpy"), optional("torch", "d3rlpy")
    try:
        with path.open("rb") as file:
            content = _Plain(file).load()
        if not {"torch", "config", "version"} <= set(content):
            raise ValueError("it holds no weights and settings")
        torch.load(io.BytesIO(content["torch"]), map_location="cpu", weights_only=True)  # nothing but arrays in there
        with contextlib.redirect_stdout(io.StringIO()):  # it logs there
            algorithm = d3rlpy.load_learnable(where, device=False)
    except Exception as fault:  # damaged pickles fail in many ways
        raise InputError(
            f"this is no file of d3rlpy that can be read ({reason(fault)})",
            where=where,
            fix="save it with algorithm.save(FILE)",
        ) from fault
    return d3rlpy_policy(algorithm, path.stem)


def load_skops(path: Path, trust_pickle: bool) -> Any:
    """The object in a skops file: it runs no code, and holds only types that are known to be safe unless trusted."""
    where, skops = str(path), optional("skops.io", "skops")
    try:
        unknown = skops.get_untrusted_types(file=where)
        if not unknown or trust_pickle:
            return skops.load(where, trusted=unknown)
    except Exception as fault:  # damaged archives fail in many ways
        raise InputError(f"this is no skops file that can be read ({reason(fault)})", where=where) from fault
    raise InputError(
        f"it holds the type {unknown[0]}, which can run code of its own",
        where=where,
        fix="say --trust-pickle if you trust the file",
    )


def load_pickle(path: Path, trust_pickle: bool) -> Any:
    """The object in a pickle or joblib file, which runs whatever the file says: only with `trust_pickle`."""
    where = str(path)
    if not trust_pickle:
        raise InputError(
            "a pickle can run any code when it is loaded",
            where=where,
            fix="say --trust-pickle if you trust the file (in Python: give the loaded object), or store it with skops",
        )
    import joblib  # comes with scikit-learn

    try:
        return joblib.load(path)
    except Exception as fault:  # pickles raise anything
        raise InputError(f"the pickle cannot be loaded ({reason(fault)})", where=where) from fault


READERS: dict[str, Callable[[Path, bool], Any]] = {
    ".csv": lambda path, trust: DecisionTable.load(path),
    ".npz": lambda path, trust: NetworkPolicy.load(path),
    ".onnx": lambda path, trust: onnx_policy(path),
    ".pt": lambda path, trust: torchscript_policy(path),
    ".pth": lambda path, trust: torchscript_policy(path),
    ".zip": load_stable_baselines,
    ".d3": lambda path, trust: load_d3rlpy(path),
    ".skops": load_skops,
} | dict.fromkeys(PICKLES, load_pickle)
"""How to read a file, by its ending: to a policy, or to an object that is one to its framework."""


def readable(path: Path, fix: str = "check the path") -> None:
    """Refuse a file that is not there before a framework is loaded for it."""
    try:
        path.open("rb").close()
    except FileNotFoundError:
        raise InputError("no such file", where=str(path), fix=fix, code="file") from None
    except OSError as fault:
        raise InputError(f"cannot be read ({fault.strerror})", where=str(path), code="file") from fault
