"""The cache of compiled code: private, and silent when it fails."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from repbm.cli._compilations import keep_compilations

COMPILE = """
import sys
from repbm.cli._compilations import keep_compilations
keep_compilations()
import jax
jax.jit(lambda x: jax.numpy.sin(x) @ x)(jax.numpy.ones((3, 3))).block_until_ready()
print("done")
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("JAX_COMPILATION_CACHE_DIR", "PYTHONWARNINGS", "TF_CPP_MIN_LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    return tmp_path


def kept() -> str | None:
    with warnings.catch_warnings():
        keep_compilations()
    return os.environ.get("JAX_COMPILATION_CACHE_DIR")


def test_the_cache_is_private(home: Path) -> None:
    folder = home / "caches" / "repbm"
    folder.mkdir(parents=True, mode=0o755)
    assert kept() == str(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_without_a_place_nothing_is_kept(home: Path) -> None:
    (home / "caches").write_text("a file")
    assert kept() is None


def test_what_the_user_decided_stays(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "elsewhere")
    assert kept() == "elsewhere"


def test_a_cache_that_fails_is_not_spoken_of(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("no folder")
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(home / "file"))
    done = subprocess.run([sys.executable, "-c", COMPILE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
