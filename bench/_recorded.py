"""The ratios that were recorded, and which of those found now are worse."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench._sheet import Sheet

RECORDED = Path(__file__).parent / "recorded.json"
WORSE = 1.5
"""A ratio so many times the recorded one is a step back, and no chance: runs on one machine differ by less."""
_SMALL = 0.05
"""Below, a ratio is all rounding: twice nothing is nothing."""


@dataclass(frozen=True)
class Recorded:
    """What pages found when they were last recorded, and on what class of machine."""

    machine: Mapping[str, Any]
    pages: Mapping[str, Sheet]

    @classmethod
    def read(cls, path: Path = RECORDED) -> Recorded:
        if not path.exists():
            return cls({}, {})
        stored = json.loads(path.read_text("utf-8"))
        return cls(stored["machine"], {name: Sheet.of(each) for name, each in stored["pages"].items()})

    def updated(self, found: Mapping[str, Sheet]) -> Recorded:
        return Recorded(machine_class(), {**self.pages, **found})

    def write(self, path: Path = RECORDED) -> None:
        pages = {name: sheet.to_dict() for name, sheet in self.pages.items()}
        path.write_text(json.dumps({"machine": dict(self.machine), "pages": pages}, indent=1) + "\n", "utf-8")

    def worse(self, found: Mapping[str, Sheet]) -> list[str]:
        """In words, every figure found that is more than `WORSE` times the recorded one."""
        before = {(page, one.name): one.ratio for page, sheet in self.pages.items() for one in sheet.figures}
        return [
            f"{page}: {one.name}: {one.ratio:.2f}, recorded {before[page, one.name]:.2f}"
            for page, sheet in found.items()
            for one in sheet.figures
            if (page, one.name) in before and one.ratio > WORSE * max(before[page, one.name], _SMALL)
        ]


def machine_class() -> dict[str, Any]:
    """What matters of a machine, without saying which one it is."""
    import jax

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30),
        "processor": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "device": jax.default_backend(),
    }
