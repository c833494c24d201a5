"""The program as users start it, in processes of its own: watched, stopped, killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl

PROGRAM = (sys.executable, "-c", "from repbm.cli import main; main()")
_MARK = "REPBM_TEST_COMMAND"
_LONG = 300.0
"""Seconds after which something is wrong."""
RAY_AGENTS = 300.0
"""So many seconds agents of a Ray that was ended look for the rest of it at most before they end."""


class Command:
    """A command that runs; `alive` finds every process that it has started, and those these have started."""

    def __init__(
        self,
        folder: Path,
        *words: str | Path,
        environment: Mapping[str, str] | None = None,
        front: tuple[str, ...] = (),
    ) -> None:
        self._mark = uuid.uuid4().hex
        # As a user has it: one thread of linear algebra here would be another evaluation than with several.
        self.process = subprocess.Popen(
            [*front, *PROGRAM, *map(str, words)],
            cwd=folder,
            env={**os.environ, **(environment or {}), _MARK: self._mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def end(self) -> tuple[int, str, str]:
        """Its exit code, and what it printed."""
        printed, error = self.process.communicate(timeout=_LONG)
        return self.process.returncode, printed, error

    def until(self, seen: Callable[[], bool], seconds: float = _LONG) -> bool:
        """Wait until something is seen, or the command has ended, or the time is over; whether it was seen."""
        limit = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < limit:
            if seen():
                return True
        return seen()

    def kill(self) -> None:
        """At once, and the command alone: what it has started must notice."""
        self.process.kill()
        self.end()

    def interrupt(self) -> None:
        """As Ctrl-C on a terminal: all processes of the group hear of it."""
        os.killpg(self.process.pid, signal.SIGINT)

    def alive(self) -> list[int]:
        """The processes of this command."""
        mark, found = f"{_MARK}={self._mark}".encode(), []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):  # it ended meanwhile, or is nobody's
                    if mark in (entry / "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
        return found

    def gone(self, seconds: float = 60) -> bool:
        """Whether all its processes end within the time."""
        limit = time.monotonic() + seconds
        while self.alive() and time.monotonic() < limit:
            time.sleep(0.05)
        return not self.alive()

    def clean(self) -> None:
        """End what a failed test has left."""
        for process in self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.process.communicate()


@contextlib.contextmanager
def running(
    folder: Path, *words: str | Path, environment: Mapping[str, str] | None = None, front: tuple[str, ...] = ()
) -> Iterator[Command]:
    command = Command(folder, *words, environment=environment, front=front)
    try:
        yield command
    finally:
        command.clean()


def ended(folder: Path, *words: str | Path, environment: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """The exit code of a command that runs to its end, and what it prints."""
    with running(folder, *words, environment=environment) as command:
        return command.end()


EVALUATE = ("--policy", "p.py:act", "--estimator", "wis", "--estimator", "pdis", "--quiet")
REPRODUCE = ("reproduce", "small.toml", "--runs", "6")


def prepare(folder: Path) -> None:
    """Logs first.csv and second.csv, a policy, and an experiment of six short runs, small.toml."""
    generator, episodes = np.random.default_rng(0), 30
    log = pl.DataFrame(
        {
            "episode": np.repeat(np.arange(episodes), 3),
            "step": np.tile([0, 1, 2], episodes),
            "obs_age": generator.normal(size=3 * episodes).round(3),
            "action": generator.integers(0, 2, 3 * episodes),
            "reward": generator.normal(size=3 * episodes).round(3),
            "terminated": np.tile([False, False, True], episodes),
            "behavior_prob": np.full(3 * episodes, 0.5),
        }
    )
    log.write_csv(folder / "first.csv")
    log.with_columns(pl.col("reward") + 1).write_csv(folder / "second.csv")
    (folder / "p.py").write_text("def act(x):\n    return (x[:, 0] > 0).astype(int)\n")
    (folder / "small.toml").write_text(
        'domain = "cartpole"\npolicy = "cartpole-short"\nepisodes = 30\nepsilon = 0.2\nhorizon = 40\ndiscount = 1.0\n'
        'rows = ["is", "wis", "soft-pdis"]\n'
        "[paper]\nalpha = 0.01\nbatch = 64\nepochs = 1\nbatches = 1\ntraining_share = 0.8\n"
    )


def files(folder: Path) -> dict[str, bytes]:
    """What is in a folder, hidden names apart."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found if not is_hidden(path, folder)}


def is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def hidden(folder: Path) -> list[str]:
    """Hidden names in a folder, or none where there is no folder."""
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.name.startswith("."))
    except FileNotFoundError:
        return []
