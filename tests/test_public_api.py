"""`import repbm` is enough, and loads nothing before it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import repbm


def alone(code: str) -> None:
    """Run it in a fresh Python."""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_everything_is_listed_and_there() -> None:
    folders = {path.parent.name for path in Path(repbm.__file__).parent.glob("*/__init__.py")}
    assert set(dir(repbm)) == (folders - {"cli"}) | set(repbm.__all__)
    for name in dir(repbm):
        assert getattr(repbm, name) is not None
    with pytest.raises(AttributeError, match="module 'repbm' has no attribute 'estimator'"):
        repbm.estimator  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


def test_it_can_be_run_as_a_module() -> None:
    """Where the program is not on the path."""
    done = subprocess.run([sys.executable, "-m", "repbm", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"repbm {repbm.__version__}"


def test_packages_are_loaded_when_they_are_first_used() -> None:
    alone(
        "import sys, repbm\n"
        "dir(repbm), repbm.__version__\n"
        "assert not {'jax', 'numpy', 'polars'} & set(sys.modules), sorted(sys.modules)\n"
        "assert repbm.estimators.ImportanceSampling().name == 'is'\n"
        "assert not {'jax', 'polars'} & set(sys.modules)\n"
        "assert repbm.read_log is repbm.logs.read_log\n"
        "assert 'polars' in sys.modules and 'jax' not in sys.modules\n"
    )


@pytest.mark.slow
def test_packages_come_in_any_order() -> None:
    """Each is loaded first, in a Python of its own: no one relies on another having been loaded before."""
    for name in ("critics", "doctor", "engines", "experiments", "report"):
        alone(f"import repbm; repbm.{name}")
