"""What most people use needs no compiler: an evaluation and its report. What does says what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BLOCKED = """
import sys
for module in ("jax", "jaxlib", "equinox", "optax", "diffrax"):
    sys.modules[module] = None
"""
NEEDED = "this needs jax; pip install 'repbm[networks]'"


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run it where JAX is not installed."""
    return subprocess.run([sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, cwd=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of the ward of the documents, and a table of decisions."""
    folder = tmp_path_factory.mktemp("ward")
    rows = ["episode,step,score,pain,action,reward,terminated"]
    for episode in range(40):
        score, pain = 1.0 + episode % 5, (episode % 7) / 3
        for step in range(3):
            action = "treat" if (episode + step) % 3 else "wait"
            rows.append(f"{episode},{step},{score},{pain},{action},{-score},{step == 2}".lower())
            score, pain = score + (0.5 if action == "wait" else -0.4), pain * 0.9 + 0.1 * score
    (folder / "log.csv").write_text("\n".join(rows))
    (folder / "rules.csv").write_text("score,action\n>=3,treat\n<3,wait\n")
    return folder


def test_a_default_evaluation_and_its_report(folder: Path) -> None:
    code = """
sys.argv = "repbm evaluate log.csv --policy rules.csv --out result --json".split()
from repbm.cli import main
main()
"""
    done = python(code, folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["policies"]
    assert (folder / "result" / "report.html").stat().st_size > 10_000


def test_every_room_is_loaded_and_what_needs_networks_says_so(folder: Path) -> None:
    code = """
import numpy as np
import repbm
for room in ("cli", "critics", "doctor", "domains", "engines", "evaluation", "experiments", "models", "report"):
    __import__(f"repbm.{room}")
from repbm.critics import FQENetwork
from repbm.experiments import load_experiment
from repbm.models import KINDS, NETWORK, AutoFit, PaperFit
AutoFit()
load_experiment("trust").worker()
for asked in (
    FQENetwork,
    PaperFit,
    lambda: AutoFit(kinds=(*KINDS, NETWORK)),
    lambda: repbm.models.fit_paper,
    lambda: load_experiment("cartpole-short").worker(),
    lambda: load_experiment("balance").worker(),
):
    try:
        asked()
    except repbm.InputError as fault:
        print(fault)
sys.argv = "repbm evaluate log.csv --policy rules.csv --fit paper".split()
repbm.cli.main()
"""
    done = python(code, folder)
    assert done.stdout.splitlines() == [NEEDED] * 6, done.stderr
    assert done.stderr == f"repbm: {NEEDED}\n"
    assert done.returncode == 2
