"""Functions, tasks and results as bytes, on their way to another process; large arrays apart, so that they are shared.

Bytes go from memory to memory. What is written to a file are numbers alone, and nothing is ever unpickled from one.
"""

from __future__ import annotations

import io
import mmap
import pickle
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

from repbm.core import InputError

_ALIGNED = 64


class _Pickler(cloudpickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is np.memmap:
            # As an array: those of other classes would be copied among the bytes.
            return np.asarray(obj).view(np.ndarray).__reduce_ex__(5)
        return super().reducer_override(obj)


def packed(what: Any, buffers: list[pickle.PickleBuffer] | None = None) -> bytes:
    """As bytes; the contents of large arrays are added to `buffers` where that is given."""
    _take_along()
    file = io.BytesIO()
    _Pickler(file, protocol=5, buffer_callback=None if buffers is None else buffers.append).dump(what)
    return file.getvalue()


def packed_job(begin: Any, shared: Any) -> tuple[bytes, list[pickle.PickleBuffer]]:
    """What tasks begin with, and its large arrays; an error for the user where it cannot leave this process."""
    buffers: list[pickle.PickleBuffer] = []
    try:
        return packed((begin, shared), buffers), buffers
    except Exception as fault:
        raise InputError(
            f"a policy, or something else that tasks need, cannot be sent to other processes ({fault})",
            fix="use the engine 'process', or give the policy in another form, such as FILE.py:FUNCTION",
        ) from fault


def unpacked(data: bytes, buffers: Sequence[Any] = ()) -> Any:
    """What `packed` was given by a process of the same run."""
    return pickle.loads(data, buffers=buffers)


def sendable(error: Exception) -> Exception:
    """An error that can be packed: itself, or one that says the same."""
    try:
        unpacked(packed(error))
    except Exception:
        said = RuntimeError(f"{type(error).__name__}: {error}")
        for line in getattr(error, "__notes__", ()):
            said.add_note(line)
        return said
    return error


def write_buffers(path: Path, buffers: Sequence[pickle.PickleBuffer]) -> list[tuple[int, int]]:
    """Write their bytes into one file; where each of them begins and ends."""
    places, end = [], 0
    with path.open("wb") as file:
        for buffer in buffers:
            view = buffer.raw()
            start = -(-end // _ALIGNED) * _ALIGNED
            file.seek(start)
            file.write(view)
            end = start + view.nbytes
            places.append((start, end))
    return places


def mapped_buffers(path: Path, places: Sequence[tuple[int, int]]) -> list[memoryview]:
    """The same bytes, read-only, as pages that all processes share."""
    if not any(end > start for start, end in places):
        return [memoryview(b"") for _ in places]
    with path.open("rb") as file:
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return [view[start:end] for start, end in places]


def _take_along() -> None:
    """Send modules by value which another process could not import: policies in files, and what lies beside these."""
    known = cloudpickle.list_registry_pickle_by_value()
    for name, module in list(sys.modules.items()):
        if name in known or "." in name or name.startswith("__mp_") or name == "__main__":
            continue
        file = getattr(module, "__file__", None)
        if file is not None and file.endswith(".py") and _foreign(name):
            cloudpickle.register_pickle_by_value(module)


_importable: dict[str, bool] = {}


def _foreign(name: str) -> bool:
    """Whether no path leads to a module of this name."""
    if name not in _importable:
        _importable[name] = PathFinder.find_spec(name) is not None
    return not _importable[name]
