"""Time and peak memory of a piece of code in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_FRAME = """
import json, resource, time
{setup}
began = time.perf_counter()
{body}
seconds = time.perf_counter() - began
used = resource.getrusage(resource.RUSAGE_SELF)
processor = used.ru_utime + used.ru_stime
print(json.dumps({{"seconds": seconds, "processor": processor, "peak": used.ru_maxrss * 1024, "said": {said}}}))
"""


@dataclass(frozen=True)
class Measured:
    seconds: float
    processor: float
    """Seconds of all cores, start-up included."""
    peak: int
    said: object


def measured(
    setup: str, body: str, said: str = "None", repeats: int = 3, environment: Mapping[str, str] | None = None
) -> Measured:
    """The median time over fresh processes, and the largest peak; `setup` is not timed."""
    code = _FRAME.format(setup=setup, body=body, said=said)
    runs = []
    for _ in range(repeats):
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True, env=environment
        )
        runs.append(json.loads(done.stdout.strip().split("\n")[-1]))
    seconds, processor = (sorted(run[name] for run in runs)[len(runs) // 2] for name in ("seconds", "processor"))
    return Measured(seconds, processor, max(run["peak"] for run in runs), runs[0]["said"])


def repeated(action: Callable[[], object], times: int = 1) -> float:
    """Seconds of a run after a first one that is not timed, since code is compiled there; the least of some."""
    action()
    found = []
    for _ in range(times):
        began = time.perf_counter()
        action()
        found.append(time.perf_counter() - began)
    return min(found)


def command(*words: str) -> str:
    """Code that runs the command line in this process, quietly; a failure is an error."""
    return (
        f"import sys\nfrom repbm.cli import main\nsys.argv = {['repbm', *words]!r}\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code"
    )
