"""What tells one log from another."""

from __future__ import annotations

import hashlib
from concurrent.futures import Future
from pathlib import Path
from threading import Event, Thread
from weakref import finalize

import numpy as np

from repbm.data import Trajectories
from repbm.logs import Source, files_of, stands_for_files

_BLOCK = 1 << 18
"""So many bytes at a time, always into the same memory: fresh memory takes longer than reading."""


class Fingerprint:
    """SHA-256 of a log's files, taken while other work goes on: of a large log that is a second for every gigabyte.

    It is given up once nobody has this any more. What can be read only once (a pipe) is left alone until it is wanted.
    """

    def __init__(self, source: Path) -> None:
        self._found: Future[str] = Future()
        self._wanted, unwanted = Event(), Event()
        finalize(self, _give_up, self._wanted, unwanted)
        asked = source, self._found, self._wanted, unwanted
        # It must not keep a program alive that ends with an error.
        Thread(target=_take, args=asked, daemon=True, name="repbm-fingerprint").start()

    @classmethod
    def begun(cls, log: Source | Trajectories) -> Fingerprint | None:
        """None where the log is not files."""
        return cls(Path(log)) if isinstance(log, str | Path) and stands_for_files(log) else None

    @property
    def sha256(self) -> str:
        self._wanted.set()
        return self._found.result()


def fingerprint(source: Path | Trajectories) -> str:
    """SHA-256 of a log: of the bytes of its file (or files, in order of name), or of its arrays."""
    if not isinstance(source, Trajectories):
        return Fingerprint(source).sha256
    digest = hashlib.sha256()
    columns = (source.observations, source.actions.codes, source.rewards, source.offsets, source.behavior)
    for array in columns:
        if array is not None:
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _give_up(wanted: Event, unwanted: Event) -> None:
    unwanted.set()
    wanted.set()  # who waits for it sees that there is nothing to do


def _take(source: Path, found: Future[str], wanted: Event, unwanted: Event) -> None:
    try:
        files, digest = files_of(source), hashlib.sha256()
        if not all(file.is_file() for file in files):
            wanted.wait()
        block = memoryview(bytearray(_BLOCK))
        for file in files:
            if unwanted.is_set():
                return
            with file.open("rb", buffering=0) as opened:
                while not unwanted.is_set() and (count := opened.readinto(block)):
                    digest.update(block[:count])
        found.set_result(digest.hexdigest())
    except BaseException as fault:  # whatever it is, it is raised where the result is wanted
        found.set_exception(fault)
