"""Damaged model files, and what the program makes of them: `python -m tests.damage FOLDER FIRST COUNT`."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from repbm.cli import main

WORDS = (None, True, -1, 0, 10**30, 0.5, "x", "", [], [1], {}, {"value": 3}, {"array": "nowhere"}, {"part": "Model"})
"""What may stand where something else is expected."""


def store(folder: Path, description: Any, arrays: dict[str, np.ndarray]) -> Path:
    path = folder / "damaged.npz"
    text = description if isinstance(description, str) else json.dumps(description)
    np.savez(path, **{"description": np.asarray(text), **arrays})  # pyright: ignore[reportArgumentType]
    return path


def asked(folder: Path, path: Path) -> tuple[int, str, str]:
    """What `repbm value` says: its exit code, and what it prints."""
    given = ["--individuals", folder / "people.csv", "--policy", f"{folder}/p.py:act", "--rollouts", "2"]
    sys.argv = ["repbm", "value", *map(str, [path, *given])]
    printed, error, code = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO(), 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(error):
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
    printed.seek(0)
    return code, printed.read(), error.getvalue()


def mutated(description: Any, arrays: dict[str, np.ndarray], generator: np.random.Generator) -> tuple[Any, Any]:
    """One thing changed, somewhere in the description or in an array."""
    description, arrays = json.loads(json.dumps(description)), dict(arrays)
    if generator.random() < 0.4:
        name = str(generator.choice(sorted(arrays)))
        array = arrays[name]
        changes = [
            np.asarray(array, dtype=str),
            array[:0],
            array[..., None],
            np.asarray(5.0),
            np.zeros((3, 3, 3)),
            np.full_like(array, np.nan, dtype=float),
            np.full_like(array, 1e300, dtype=float),
            -array.astype(float),
        ]
        arrays[name] = changes[generator.integers(len(changes))]
        if generator.random() < 0.2:
            del arrays[name]
        return description, arrays
    places = list(_places(description))
    holder, key = places[generator.integers(len(places))]
    if isinstance(holder, dict) and generator.random() < 0.2:
        del holder[key]
    else:
        holder[key] = WORDS[generator.integers(len(WORDS))]
    return description, arrays


def _places(node: Any) -> Any:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, inner in list(items):
        yield node, key
        yield from _places(inner)


def complaint(folder: Path, seed: int) -> str | None:
    """What is wrong with the program's answer to the damage of this seed; None if it is fine."""
    arrays = dict(np.load(folder / "model.npz"))
    description = json.loads(str(arrays.pop("description")))
    path = store(folder, *mutated(description, arrays, np.random.default_rng(seed)))
    try:
        code, printed, error = asked(folder, path)
    except Exception:
        return traceback.format_exc()
    if code == 0:
        rows = [line.split(",") for line in printed.splitlines()]
        fine = rows[0] == ["individual", "value", "left_range"] and all(np.isfinite(float(row[1])) for row in rows[1:])
        return None if fine else printed
    fine = code == 2 and not printed and error.startswith("repbm: ") and error.count("\n") == 1
    return None if fine else f"{code} {printed} {error}"


def check(folder: Path, first: int, count: int) -> None:
    for seed in range(first, first + count):
        wrong = complaint(folder, seed)
        if wrong is not None:
            print(f"seed {seed}: {wrong}")


if __name__ == "__main__":
    check(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
