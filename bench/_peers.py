"""The same question to another library, where it is installed: fitted Q evaluation of one policy on one log."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np

from bench._logs import POLICY, linear_log
from bench._measure import command, measured
from bench._sheet import Sheet

FRAMEWORKS = Path(__file__).parents[1] / ".venv-frameworks" / "bin" / "python"
"""Made by `make test-frameworks`: d3rlpy wants other versions of what we use."""
_D3RLPY = """
import json, sys, time
import d3rlpy, numpy as np

log = np.load(sys.argv[1])
dataset = d3rlpy.dataset.MDPDataset(log["states"], log["actions"], log["rewards"], log["terminals"])
policy = d3rlpy.algos.DiscreteBCConfig().create(device=False)
policy.build_with_dataset(dataset)
began = time.perf_counter()
judge = d3rlpy.ope.DiscreteFQE(algo=policy, config=d3rlpy.ope.FQEConfig(gamma=1.0), device=False)
steps, quiet = int(sys.argv[2]), d3rlpy.logging.NoopAdapterFactory()
judge.fit(dataset, n_steps=steps, n_steps_per_epoch=steps, show_progress=False, logger_adapter=quiet)
print(json.dumps({"seconds": time.perf_counter() - began}))
"""


def peers_page(sheet: Sheet, folder: Path, steps: int = 20_000, updates: int = 10_000) -> None:
    """Ours evaluates by default (the answer, its interval and the verdict); theirs fits one network, one value.

    The policy that theirs judges is a network of its own that is not trained: the time does not depend on what it does.
    """
    if not FRAMEWORKS.exists():
        sheet.say("d3rlpy is not installed here (`make test-frameworks` installs it): nothing is compared")
        return
    log, rules = folder / "log.parquet", folder / "rules.py"
    frame = linear_log(steps)
    frame.write_parquet(log)
    rules.write_text(POLICY)
    np.savez(
        folder / "log.npz",
        states=frame.select("x0", "x1", "x2", "x3").to_numpy().astype(np.float32),
        actions=frame["action"].to_numpy(),
        rewards=frame["reward"].to_numpy().astype(np.float32),
        terminals=frame["terminated"].to_numpy().astype(np.float32),
    )
    words = [str(FRAMEWORKS), "-c", _D3RLPY, str(folder / "log.npz"), str(updates)]
    theirs = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, cwd=folder)
    seconds = json.loads(theirs.stdout.strip().split("\n")[-1])["seconds"]
    asked = ("evaluate", str(log), "--policy", f"{rules}:policy", "--out", str(folder / "out"), "--quiet")
    ours = measured("", command(*asked, "--estimator", "corrected"), repeats=2)
    sheet.say(
        f"d3rlpy takes {seconds:.1f} s for {updates:,} updates; the answer and its report take {ours.seconds:.1f} s"
    )
    sheet.figure(f"the answer over d3rlpy's FQE of {updates:,} updates", ours.seconds / seconds, 1.0)
