"""Damaged files, and what the program makes of them: `python -m tests.damage KIND,... FOLDER FIRST COUNT`.

Every damage has a number. The program must give a valid result, or one line, exit code 2 and nothing written. It runs
as it does for users: without the checks of types that tests have.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from repbm.cli import main

Seed = np.random.Generator

ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**30,
    0.5,
    "x",
    "",
    [],
    [1],
    {},
    {"value": 3},
    {"array": "x"},
    {"part": "Model"},
)
"""What may stand where something else is expected."""
CELLS = (
    "",
    "NA",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e38",
    "-1",
    "0.5",
    "9223372036854775808",
    "true",
    "=1",
    '"',
    "é",
    "\x00",
    "1,2",
)
EPISODES = 30


def prepare(folder: Path) -> None:
    """A log, a policy, a decision table, individuals, a model and a result, to be damaged."""
    generator = np.random.default_rng(0)
    steps = 3 * EPISODES
    log = pl.DataFrame(
        {
            "episode": np.repeat(np.arange(EPISODES), 3),
            "step": np.tile([0, 1, 2], EPISODES),
            "obs_age": generator.normal(size=steps).round(3),
            "obs_sex": generator.integers(0, 2, steps),
            "action": generator.integers(0, 2, steps),
            "reward": generator.normal(size=steps).round(3),
            "terminated": np.tile([False, False, True], EPISODES),
            "behavior_prob": np.full(steps, 0.5),
        }
    )
    log.write_csv(folder / "log.csv")
    log.write_parquet(folder / "log.parquet")
    (folder / "p.py").write_text("def act(x):\n    return (x[:, 0] > 0).astype(int)\n")
    (folder / "rules.csv").write_text("age,action\n> 0.5,1\n<= 0.5,0\n")
    log.group_by("episode", maintain_order=True).first().head(3).write_csv(folder / "people.csv")
    np.savez(folder / "net.npz", w0=np.ones((2, 2)), b0=np.zeros(2), head="softmax")
    words = f"evaluate {folder}/log.csv --policy {folder}/p.py:act --estimator am --estimator wis"
    assert said(*words.split(), "--save-model", folder / "model.npz", "--out", folder / "result")[0] == 0


def said(*words: str | Path) -> tuple[int, str, str]:
    """The exit code of the program, and what it prints."""
    sys.argv = ["repbm", *map(str, words)]
    printed, error, code = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO(), 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(error):
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
    printed.seek(0)
    return code, printed.read(), error.getvalue()


def pick(generator: Seed, choices: Any) -> Any:
    return choices[generator.integers(len(choices))]


def bytes_changed(content: bytes, generator: Seed) -> bytes:
    """A few bytes replaced, a piece cut out or doubled, or the end cut off."""
    changed = bytearray(content)
    at = int(generator.integers(len(changed)))
    length = int(generator.integers(1, 40))
    match generator.integers(4):
        case 0:
            for place in generator.integers(0, len(changed), length):
                changed[place] = int(generator.integers(256))
        case 1:
            del changed[at : at + length]
        case 2:
            changed[at:at] = changed[at : at + length]
        case _:
            del changed[at:]
    return bytes(changed)


def cells_changed(text: str, generator: Seed) -> str:
    """Some cells replaced, rows shuffled, doubled or dropped, a column dropped, doubled or renamed."""
    rows = [list(row) for row in csv.reader(io.StringIO(text))]
    width = len(rows[0])
    column = int(generator.integers(width))
    match generator.integers(6):
        case 0:
            for _ in range(generator.integers(1, 4)):
                rows[generator.integers(len(rows))][generator.integers(width)] = pick(generator, CELLS)
        case 1:
            word = pick(generator, CELLS)
            rows[1:] = [[*row[:column], word, *row[column + 1 :]] for row in rows[1:]]
        case 2:
            rows = [[*row[:column], *row[column + 1 :]] for row in rows]
        case 3:
            rows = [[*row, row[column]] for row in rows]
        case 4:
            rows[0][column] = pick(generator, [*rows[0], *CELLS])
        case _:
            rows[1:] = [rows[k] for k in generator.integers(1, len(rows), generator.integers(0, len(rows)))]
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue()


def tree_changed(content: Any, generator: Seed) -> Any:
    """One value of a JSON document replaced or left out."""
    content = json.loads(json.dumps(content))
    holder, key = pick(generator, list(_places(content)))
    if isinstance(holder, dict) and generator.random() < 0.2:
        del holder[key]
    else:
        holder[key] = pick(generator, ODD)
    return content


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, inner in list(items):
        yield node, key
        yield from _places(inner)


def array_changed(array: np.ndarray, generator: Seed) -> np.ndarray:
    number = array if array.dtype.kind in "biuf" else np.zeros(array.shape)
    return pick(
        generator,
        [
            np.asarray(array, dtype=str),
            array[..., None],
            number.ravel()[:0],
            np.asarray(5.0),
            np.zeros((3, 3, 3)),
            np.full(array.shape, np.nan),
            np.full(array.shape, 1e300),
            -number.astype(float),
        ],
    )


def store_model(path: Path, description: Any, arrays: dict[str, np.ndarray]) -> Path:
    text = description if isinstance(description, str) else json.dumps(description)
    np.savez(path, **{"description": np.asarray(text), **arrays})  # pyright: ignore[reportArgumentType]
    return path


def ask_model(folder: Path, path: Path) -> tuple[int, str, str]:
    given = ("--individuals", folder / "people.csv", "--policy", f"{folder}/p.py:act", "--rollouts", "2")
    return said("value", path, *given)


# What is wrong with the answer to a damage: None if nothing is.


def table(folder: Path, generator: Seed) -> str | None:
    """A log, as CSV or Parquet."""
    if generator.random() < 0.3:
        path = folder / "damaged.parquet"
        path.write_bytes(bytes_changed((folder / "log.parquet").read_bytes(), generator))
    else:
        path, text = folder / "damaged.csv", (folder / "log.csv").read_text()
        if generator.random() < 0.7:
            path.write_text(cells_changed(text, generator))
        else:
            path.write_bytes(bytes_changed(text.encode(), generator))
    return evaluated(folder, path, f"{folder}/p.py:act")


def policy(folder: Path, generator: Seed) -> str | None:
    """A decision table, or the weights of a network."""
    if generator.random() < 0.5:
        path = folder / "damaged-rules.csv"
        path.write_text(cells_changed((folder / "rules.csv").read_text(), generator))
    else:
        path, arrays = folder / "damaged-net.npz", dict(np.load(folder / "net.npz"))
        name = pick(generator, sorted(arrays))
        np.savez(path, **arrays | {name: array_changed(arrays[name], generator)})  # pyright: ignore[reportArgumentType]
        if generator.random() < 0.3:
            path.write_bytes(bytes_changed(path.read_bytes(), generator))
    return evaluated(folder, folder / "log.csv", str(path))


def evaluated(folder: Path, log: Path, policy: str) -> str | None:
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    code, printed, error = said("evaluate", log, "--policy", policy, "--estimator", "wis", "--out", out)
    if code == 0:
        for name in ("run.json", "details.json"):
            json.loads((out / name).read_text(), parse_constant=_refuse)
        values = pl.read_csv(out / "estimates.csv")["value"].cast(pl.Float64)
        told = all(line.startswith(("warning: ", "problem: ", "note: ")) for line in error.splitlines())
        return None if told and values.drop_nulls().is_finite().all() else printed + error
    return f"{list(out.iterdir())}" if out.exists() else refused(code, printed, error)


def model(folder: Path, generator: Seed) -> str | None:
    """A fitted model: its description, or one of its arrays."""
    arrays = dict(np.load(folder / "model.npz"))
    description = json.loads(str(arrays.pop("description")))
    if generator.random() < 0.6:
        description = tree_changed(description, generator)
    else:
        name = pick(generator, sorted(arrays))
        arrays[name] = array_changed(arrays[name], generator)
        if generator.random() < 0.2:
            del arrays[name]
    code, printed, error = ask_model(folder, store_model(folder / "damaged.npz", description, arrays))
    if code:
        return refused(code, printed, error)
    rows = [line.split(",") for line in printed.splitlines()]
    fine = rows[0] == ["individual", "value", "left_range"] and all(np.isfinite(float(row[1])) for row in rows[1:])
    return None if fine else printed


def result(folder: Path, generator: Seed) -> str | None:
    """A stored result, of which the page is made again."""
    damaged = folder / "damaged"
    shutil.rmtree(damaged, ignore_errors=True)
    shutil.copytree(folder / "result", damaged)
    name = pick(generator, ["run.json", "details.json", "estimates.csv", "individuals.csv", "episodes.csv"])
    text = (damaged / name).read_text()
    if generator.random() < 0.2:
        (damaged / name).write_bytes(bytes_changed(text.encode(), generator))
    elif name.endswith(".csv"):
        (damaged / name).write_text(cells_changed(text, generator))
    else:
        (damaged / name).write_text(json.dumps(tree_changed(json.loads(text), generator)))
    code, printed, error = said("report", damaged, "--out", folder / "page.html")
    return None if code == 0 else refused(code, printed, error)


def spec(folder: Path, generator: Seed) -> str | None:
    """An experiment; it is only read."""
    from repbm.core import InputError
    from repbm.experiments import load_experiment

    text = (files("repbm.experiments") / "specs" / "cartpole-short.toml").read_text("utf-8")
    lines = text.splitlines()
    path = folder / "damaged.toml"
    if generator.random() < 0.5:
        at = int(generator.integers(len(lines)))
        words = ("[]", "{}", '"x"', "-1", "1e400", "nan", "true", "[[1]]", "1979-05-27", "[" * 2000, "9" * 5000)
        lines[at] = f"{lines[at].partition('=')[0]}= {pick(generator, words)}"
        path.write_text("\n".join(lines))
    else:
        path.write_bytes(bytes_changed(text.encode(), generator))
    try:
        load_experiment(str(path))
    except InputError as fault:
        return None if "\n" not in str(fault) else str(fault)
    return None


def refused(code: int, printed: str, error: str) -> str | None:
    fine = code == 2 and not printed and error.startswith("repbm: ") and error.count("\n") == 1
    return None if fine else f"{code} {printed} {error}"


def _refuse(word: str) -> None:
    raise ValueError(word)


KINDS: dict[str, Callable[[Path, Seed], str | None]] = {
    "table": table,
    "policy": policy,
    "model": model,
    "result": result,
    "spec": spec,
}


def check(kind: str, folder: Path, first: int, count: int) -> None:
    """Print what goes wrong."""
    for number in range(first, first + count):
        try:
            wrong = KINDS[kind](folder, np.random.default_rng(number))
        except BaseException:  # panics of polars are no Exception
            wrong = traceback.format_exc()
        if wrong is not None:
            print(f"{kind} {number}: {wrong}")


if __name__ == "__main__":
    kinds, folder, first, count = sys.argv[1:]
    if not (Path(folder) / "result").exists():
        prepare(Path(folder))
    for kind in kinds.split(","):
        check(kind, Path(folder), int(first), int(count))
