"""Time and peak memory of a piece of code in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

_FRAME = """
import json, resource, time
{setup}
began = time.perf_counter()
{body}
seconds = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({{"seconds": seconds, "peak": peak, "said": {said}}}))
"""


@dataclass(frozen=True)
class Measured:
    seconds: float
    peak: int
    said: object


def measured(setup: str, body: str, said: str = "None", repeats: int = 3) -> Measured:
    """The median time over fresh processes, and the largest peak; `setup` is not timed."""
    code = _FRAME.format(setup=setup, body=body, said=said)
    runs = []
    for _ in range(repeats):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout.strip().split("\n")[-1]))
    seconds = sorted(run["seconds"] for run in runs)[len(runs) // 2]
    return Measured(seconds, max(run["peak"] for run in runs), runs[0]["said"])


def verdict(name: str, ratio: float, limit: float) -> bool:
    """Print one figure against its limit."""
    kept = ratio <= limit
    print(f"  {name}: {ratio:.2f} (at most {limit:g}) {'ok' if kept else 'FALLS SHORT'}", flush=True)
    return kept
