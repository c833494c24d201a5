"""Frameworks that are only there if the user installed them."""

from __future__ import annotations

import contextlib
import importlib
import io
from typing import Any

from repbm.core._errors import InputError, reason


def optional(module: str, extra: str) -> Any:
    """A module of the extra `repbm[extra]`, imported now; one line with what to install where it is missing.

    What frameworks print while they are imported (notices of their dependencies) is not shown.
    """
    package = module.partition(".")[0]
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return importlib.import_module(module)
    except ModuleNotFoundError as fault:
        if fault.name is not None and fault.name.partition(".")[0] == package:
            raise InputError(f"this needs {package}", fix=f"pip install 'repbm[{extra}]'") from None
        raise InputError(f"{package} misses {fault.name}", fix=f"pip install 'repbm[{extra}]'") from fault
    except Exception as fault:  # versions that do not fit each other fail in many ways
        raise InputError(
            f"{package} is there but does not load ({reason(fault)})",
            fix=f"pip install --upgrade 'repbm[{extra}]'",
        ) from fault


def needs_networks() -> None:
    """What trains and compiles networks must be there; called before anything that imports it."""
    for module in ("jax", "equinox", "optax"):
        optional(module, "networks")
