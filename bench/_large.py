"""Long logs: a default evaluation of a million steps and of ten, and weights of more steps than fit into memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from bench._measure import measured, verdict

_GIB = 2**30
_POLICY = """
import numpy as np


def policy(states):
    scores = states @ np.array([[0.6, -0.2, 0.1], [0.0, 0.5, -0.3], [0.2, 0.4, 0.0], [0.0, 0.0, 0.3]])
    odds = np.exp(scores)
    return odds / odds.sum(axis=1, keepdims=True)
"""
_FORMS = [f"{soft}{normalized}{kind}" for soft in ("", "soft-") for normalized in ("", "w") for kind in ("is", "pdis")]


def default_page(folder: Path, steps: int = 1_000_000, seconds: float = 60.0, peak: float = 1.5) -> bool:
    """Everything by default, report included, without probabilities: 4 observations, 3 actions."""
    path, rules = folder / f"{steps}.parquet", folder / "rules.py"
    _log(steps).drop("behavior_prob").write_parquet(path)
    rules.write_text(_POLICY)
    print(f"Default evaluation of {steps:,} steps, with its report, after compilation")
    ours = measured(
        "import sys\nfrom repbm.cli import main",
        f"sys.argv = {['repbm', 'evaluate', str(path), '--policy', f'{rules}:policy', '--out', str(folder / 'out')]}\n"
        "sys.argv.append('--quiet')\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code",
        repeats=2,
    )
    quick = verdict(f"time / {seconds:g} s", ours.seconds / seconds, 1.0)
    return verdict(f"peak memory / {peak:g} GiB", ours.peak / (peak * _GIB), 1.0) and quick


def parts_page(folder: Path, copies: int = 10, steps: int = 10_000_000) -> bool:
    """Eight forms and diagnostics of a log that is read in parts, against reading and grouping the same columns."""
    path = folder / "parts"
    path.mkdir()
    log = _log(steps).drop("x0", "x1", "x2", "x3").with_columns(target=pl.col("behavior_prob").clip(upper_bound=0.9))
    count = int(log["episode"][-1]) + 1
    for k in range(copies):
        log.with_columns(pl.col("episode") + k * count).write_parquet(path / f"{k:02}.parquet", row_group_size=1 << 20)
    print(f"Weights of {copies * len(log):,} steps, in parts")
    del log
    reading = measured(
        "import polars as pl",
        f"pl.scan_parquet('{path}/*.parquet').group_by('episode').agg(pl.all().sum()).collect(engine='streaming')",
    )
    ours = measured(
        "from repbm import evaluate\nfrom repbm.evaluation import Reading",
        f"evaluate({str(path)!r}, 'probability:target', estimators={_FORMS}, details=False)",
    )
    print(f"  polars reads and sums in {reading.seconds:.1f} s; eight forms and diagnostics in {ours.seconds:.1f} s")
    quick = verdict("time over reading", ours.seconds / reading.seconds, 2.5)
    return verdict("peak memory / 2 GiB", ours.peak / (2 * _GIB), 1.0) and quick


def _log(steps: int) -> pl.DataFrame:
    """Episodes of 10 to 40 steps in a noisy linear world."""
    generator = np.random.default_rng(0)
    lengths = generator.integers(10, 41, steps // 25)
    starts = np.cumsum(lengths) - lengths
    rows, weights = int(lengths.sum()), generator.normal(size=(4, 3)) / 2
    effects = np.array([[0.2, 0.0, -0.1, 0.0], [0.0, 0.2, 0.0, 0.1], [-0.2, -0.1, 0.0, 0.1]])
    observed, actions = np.empty((rows, 4)), np.empty(rows, dtype=np.int64)
    rewards, known = np.empty(rows), np.empty(rows)
    states = generator.normal(size=(len(lengths), 4))
    for step in range(40):
        own = np.flatnonzero(lengths > step)
        at, now = starts[own] + step, states[own]
        odds = np.exp(now @ weights)
        odds /= odds.sum(axis=1, keepdims=True)
        chosen = (odds.cumsum(axis=1) < generator.random((len(own), 1))).sum(axis=1).clip(0, 2)
        observed[at], actions[at], known[at] = now, chosen, odds[np.arange(len(own)), chosen]
        noise = generator.normal(size=(len(own), 5)) * 0.3
        rewards[at] = 0.3 * now[:, 0] - 0.2 * now[:, 1] ** 2 + 0.2 * (chosen == 1) * now[:, 2] + noise[:, 4]
        states[own] = 0.85 * now + effects[chosen] + noise[:, :4]
    places = np.arange(rows) - np.repeat(starts, lengths)
    return pl.DataFrame(
        {
            "episode": np.repeat(np.arange(len(lengths)), lengths),
            "step": places,
            **{f"x{k}": observed[:, k] for k in range(4)},
            "action": actions,
            "reward": rewards,
            "terminated": places == np.repeat(lengths, lengths) - 1,
            "behavior_prob": known,
        }
    )
