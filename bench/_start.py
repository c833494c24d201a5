"""Starting: the command line, and an evaluation on a machine that has compiled nothing yet."""

from __future__ import annotations

import os
from pathlib import Path

from bench._logs import POLICY, linear_log
from bench._measure import command, measured
from bench._sheet import Sheet


def help_page(sheet: Sheet, folder: Path) -> None:
    """How long `repbm --help` takes."""
    run = "subprocess.run([sys.executable, '-c', {!r}], check=True, capture_output=True)"
    ours = measured("import subprocess, sys", run.format(command("--help")), repeats=9)
    base = measured("import subprocess, sys", run.format("import typer, rich"), repeats=9)
    sheet.figure("repbm --help over importing typer and rich", ours.seconds / base.seconds, 3)


def start_page(
    sheet: Sheet, folder: Path, episodes: int = 1000, length: int = 15, first: float = 30.0, second: float = 8.0
) -> None:
    """The whole command, twice: with an empty folder for what is compiled, and with what the first run left there."""
    log, rules = folder / "log.parquet", folder / "rules.py"
    linear_log(episodes * length, length, length).drop("behavior_prob").write_parquet(log)
    rules.write_text(POLICY)
    words = ("evaluate", str(log), "--policy", f"{rules}:policy", "--quiet")
    run = "subprocess.run([sys.executable, '-c', {!r}], check=True)"
    # As a user has it: nothing compiled by JAX, and modules of Python compiled once.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "PYTHONDONTWRITE"))}
    kept["XDG_CACHE_HOME"] = str(folder / "cache")
    cold, warm = (
        measured("import subprocess, sys", run.format(command(*words, "--out", str(folder / name))), "None", 1, kept)
        for name in ("cold", "warm")
    )
    imports = measured("import subprocess, sys", run.format("import polars, altair, sklearn.ensemble"), repeats=3)
    sheet.say(
        f"first run {cold.seconds:.1f} s, second {warm.seconds:.1f} s, imports of libraries {imports.seconds:.1f} s"
    )
    sheet.figure(f"first run / {first:g} s", cold.seconds / first, 1.0)
    sheet.figure(f"second run / {second:g} s", warm.seconds / second, 1.0)
    sheet.figure("second run over importing its libraries", warm.seconds / imports.seconds)
