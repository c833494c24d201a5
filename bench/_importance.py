"""Ten million steps: the eight importance-sampling forms against reading the same columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from bench._measure import measured
from bench._sheet import Sheet

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


def importance_page(sheet: Sheet, folder: Path, episodes: int = 100_000, longest: int = 200, repeats: int = 5) -> None:
    """Eight forms and diagnostics of a log that fits into memory, against reading all of its columns."""
    path = folder / "importance.parquet"
    log_of(path, episodes, longest)
    frame = pl.read_parquet(path)
    size = frame.estimated_size()
    sheet.say(f"{len(frame):,} rows, {episodes:,} episodes, {size / 2**20:,.0f} MiB of columns")
    del frame
    reading = measured(
        "import polars as pl",
        f"pl.scan_parquet({str(path)!r}).group_by('episode').agg(pl.all().sum()).collect()",
        repeats=repeats,
    )
    ours = measured(
        "from repbm import evaluate",
        f"result = evaluate({str(path)!r}, 'column:policy_action')",
        said="result.estimates['value'].to_list()",
        repeats=repeats,
    )
    sheet.say(f"polars reads and sums in {reading.seconds:.2f} s; eight forms and diagnostics in {ours.seconds:.2f} s")
    sheet.figure("time over reading", ours.seconds / reading.seconds, 3)
    sheet.figure("peak memory over the columns", ours.peak / size, 3)
    needed = measured(
        "import polars as pl",
        f"pl.scan_parquet({str(path)!r}).select({_NEEDED}).group_by('episode').agg(pl.all().sum()).collect()",
        repeats=repeats,
    )
    sheet.figure("time over reading only the columns that this answer needs", ours.seconds / needed.seconds)


def doctor_page(sheet: Sheet, folder: Path, episodes: int = 100_000, longest: int = 200, repeats: int = 5) -> None:
    """The doctor reads every column and looks at all of it."""
    path = folder / "doctor.parquet"
    log_of(path, episodes, longest)
    reading = measured("import polars as pl", f"pl.read_parquet({str(path)!r})", repeats=repeats)
    ours = measured(
        "from repbm.doctor import examine\nfrom repbm.logs import read_log",
        f"found = examine(read_log({str(path)!r}))",
        said="[finding.line for finding in found.findings]",
        repeats=repeats,
    )
    sheet.say(f"polars reads in {reading.seconds:.2f} s; the doctor takes {ours.seconds:.2f} s")
    sheet.figure("doctor over reading", ours.seconds / reading.seconds, 5)
