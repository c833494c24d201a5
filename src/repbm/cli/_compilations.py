"""What JAX compiles is kept in the user's cache; troubles with that are nobody's business."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

_TROUBLES = tuple(f"Error {what} persistent compilation cache" for what in ("reading", "writing"))


def keep_compilations() -> None:
    """Let JAX keep what it compiles, unless the user decided otherwise or there is no place for it."""
    folder = _folder()
    if folder is not None:
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder))
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # what was compiled for another processor is compiled again
    for trouble in _TROUBLES:
        warnings.filterwarnings("ignore", message=trouble)
    told = [*os.environ.get("PYTHONWARNINGS", "").split(","), *(f"ignore:{trouble}" for trouble in _TROUBLES)]
    os.environ["PYTHONWARNINGS"] = ",".join(dict.fromkeys(filter(None, told)))  # for processes side by side


def _folder() -> Path | None:
    """The user's own folder, which nobody else may look into: what is in it is run."""
    try:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = caches / "repbm"
        caches.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)  # refused where it belongs to somebody else
        return folder if os.access(folder, os.W_OK | os.X_OK) else None
    except (OSError, RuntimeError):
        return None
