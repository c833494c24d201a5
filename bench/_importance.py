"""Ten million steps: the eight importance-sampling forms against reading the same columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from bench._measure import measured, verdict

_NEEDED = ["episode", "step", "action", "reward", "terminated", "behavior_prob", "policy_action"]


def log_of(path: Path, episodes: int, longest: int, seed: int = 0) -> None:
    """A generated log of ragged episodes with 8 observations and a policy column."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(1, longest, episodes)
    rows = int(lengths.sum())
    starts = np.cumsum(lengths) - lengths
    last = np.zeros(rows, dtype=bool)
    last[starts + lengths - 1] = generator.random(episodes) < 0.8
    columns: dict[str, np.ndarray] = {
        "episode": np.repeat(np.arange(episodes), lengths),
        "step": np.arange(rows) - np.repeat(starts, lengths),
    }
    columns |= {f"obs_{k}": generator.normal(size=rows) for k in range(8)}
    policy = generator.integers(0, 3, rows)
    follows = generator.random(rows) < 0.9
    columns |= {
        "action": np.where(follows, policy, (policy + 1) % 3),
        "reward": generator.normal(size=rows),
        "terminated": last,
        "behavior_prob": np.where(follows, 0.9, 0.1),
        "policy_action": policy,
    }
    pl.DataFrame(columns).write_parquet(path)


def page(folder: Path, episodes: int = 100_000, longest: int = 200) -> bool:
    path = folder / "importance.parquet"
    log_of(path, episodes, longest)
    frame = pl.read_parquet(path)
    size = frame.estimated_size()
    print(f"Importance sampling: {len(frame):,} rows, {episodes:,} episodes, {size / 2**20:,.0f} MiB of columns")
    del frame
    reading = measured(
        "import polars as pl",
        f"pl.scan_parquet({str(path)!r}).group_by('episode').agg(pl.all().sum()).collect()",
        repeats=5,
    )
    ours = measured(
        "from repbm import evaluate",
        f"result = evaluate({str(path)!r}, 'column:policy_action')",
        said="result.estimates['value'].to_list()",
        repeats=5,
    )
    print(f"  polars reads and sums in {reading.seconds:.2f} s; eight forms and diagnostics in {ours.seconds:.2f} s")
    quick = verdict("time over reading", ours.seconds / reading.seconds, 3)
    lean = verdict("peak memory over the columns", ours.peak / size, 3)
    needed = measured(
        "import polars as pl",
        f"pl.scan_parquet({str(path)!r}).select({_NEEDED}).group_by('episode').agg(pl.all().sum()).collect()",
        repeats=5,
    )
    print(f"  (over reading only the columns that this answer needs: {ours.seconds / needed.seconds:.2f})")
    return quick and lean


def doctor_page(folder: Path, episodes: int = 100_000, longest: int = 200) -> bool:
    """The doctor reads every column and looks at all of it."""
    path = folder / "doctor.parquet"
    log_of(path, episodes, longest)
    print("Doctor: the same log")
    reading = measured("import polars as pl", f"pl.read_parquet({str(path)!r})", repeats=5)
    ours = measured(
        "from repbm.doctor import examine\nfrom repbm.logs import read_log",
        f"found = examine(read_log({str(path)!r}))",
        said="[finding.line for finding in found.findings]",
        repeats=5,
    )
    print(f"  polars reads in {reading.seconds:.2f} s; the doctor takes {ours.seconds:.2f} s")
    return verdict("doctor over reading", ours.seconds / reading.seconds, 5)


def help_page() -> bool:
    """How long `repbm --help` takes."""
    print("Start-up")
    run = "subprocess.run([sys.executable, '-c', {!r}], check=True, capture_output=True)"
    ours = measured(
        "import subprocess, sys",
        run.format("import sys; sys.argv = ['repbm', '--help']\nfrom repbm.cli import main\nmain()"),
        repeats=9,
    )
    base = measured("import subprocess, sys", run.format("import typer, rich"), repeats=9)
    return verdict("repbm --help over importing typer and rich", ours.seconds / base.seconds, 3)
