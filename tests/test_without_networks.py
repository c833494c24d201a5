"""What most people use needs no compiler: an evaluation and its report. What does says what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BLOCKED = """
import sys
for module in ("jax", "jaxlib", "equinox", "optax", "diffrax"):
    sys.modules[module] = None
"""
NEEDED = "this needs jax; pip install 'repbm[networks]'"
ASKED = """
import repbm
for room in ("cli", "critics", "doctor", "domains", "engines", "evaluation", "experiments", "models", "report"):
    __import__(f"repbm.{room}")
from repbm.critics import FQENetwork
from repbm.experiments import load_experiment
from repbm.models import KINDS, NETWORK, AutoFit, PaperFit

sys.argv = "repbm evaluate log.csv --policy rules.csv --out result --json".split()
try:
    repbm.cli.main()
except SystemExit as done:
    assert not done.code, done.code
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
        print(fault, file=sys.stderr)
sys.argv = "repbm evaluate log.csv --policy rules.csv --fit paper".split()
repbm.cli.main()
"""


def test_a_default_evaluation_needs_no_networks_and_what_does_says_so(tmp_path: Path) -> None:
    """Every room is loaded, a log becomes a report, and no compiler is there."""
    rows = ["episode,step,score,pain,action,reward,terminated"]
    for episode in range(40):
        score, pain = 1.0 + episode % 5, (episode % 7) / 3
        for step in range(3):
            action = "treat" if (episode + step) % 3 else "wait"
            rows.append(f"{episode},{step},{score},{pain},{action},{-score},{step == 2}".lower())
            score, pain = score + (0.5 if action == "wait" else -0.4), pain * 0.9 + 0.1 * score
    (tmp_path / "log.csv").write_text("\n".join(rows))
    (tmp_path / "rules.csv").write_text("score,action\n>=3,treat\n<3,wait\n")
    done = subprocess.run([sys.executable, "-c", BLOCKED + ASKED], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert json.loads(done.stdout)["policies"]
    assert (tmp_path / "result" / "report.html").stat().st_size > 10_000
    assert done.stderr.splitlines()[-7:] == [NEEDED] * 6 + [f"repbm: {NEEDED}"]
