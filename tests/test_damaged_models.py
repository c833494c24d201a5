"""Model files that are damaged, or made to do harm: one clear line, or an answer in numbers."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from repbm.core import InputError, as_json
from repbm.data import Trajectories
from repbm.evaluation import evaluate
from repbm.logs import read_log
from repbm.models import ModelQuestion, load_model
from repbm.models._store import _built, _described
from tests.damage import asked, store
from tests.test_bad_input import says

SIZE = 60


def log() -> Trajectories:
    generator = np.random.default_rng(0)
    return read_log(
        {
            "episode": np.repeat(np.arange(SIZE), 3),
            "obs": generator.normal(size=(3 * SIZE, 2)),
            "action": generator.integers(0, 2, 3 * SIZE),
            "reward": generator.normal(size=3 * SIZE),
            "terminated": np.tile([False, False, True], SIZE),
            "behavior_prob": np.full(3 * SIZE, 0.5),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a model, a policy and individuals."""
    folder = tmp_path_factory.mktemp("model")
    found = evaluate(log(), lambda x: (x[:, 0] > 0).astype(int), estimators=["am"], details=False)
    model = next(iter(found.models.values()))
    asked = ModelQuestion(0.9, model.horizon, 3, f"{folder}/p.py:act", model.observation_names, model.labels)
    model.save(folder / "model.npz", asked)
    (folder / "p.py").write_text("def act(x):\n    return (x[:, 0] > 0).astype(int)\n")
    pl.DataFrame({"individual": ["a", "b"], "obs_0": [0.0, 1.0], "obs_1": [1.0, -1.0]}).write_csv(folder / "people.csv")
    return folder


@pytest.fixture(scope="module")
def parts(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The description in the file, and its arrays."""
    arrays = dict(np.load(folder / "model.npz"))
    return json.loads(str(arrays.pop("description"))), arrays


@pytest.mark.parametrize(
    "description",
    ["[]", "5", "null", "{", '"x"', "[" * 100_000, '{"a":' * 50_000, '{"format": 3}', '{"format": 3, "model": []}'],
    ids=lambda text: text[:20],
)
def test_a_description_of_something_else(folder: Path, parts: Any, description: str) -> None:
    with pytest.raises(InputError) as caught:
        load_model(store(folder, description, parts[1]))
    says(str(caught.value), "damaged.npz", "model file")


def test_deep_nesting(folder: Path, parts: Any) -> None:
    description, arrays = parts
    fields = description["model"]["fields"] | {"low": "HERE"}
    text = json.dumps(description | {"model": description["model"] | {"fields": fields}})
    deep = '{"items":[' * 450 + '{"value":1}' + "]}" * 450
    with pytest.raises(InputError, match=r"damaged|no model file"):
        load_model(store(folder, text.replace('"HERE"', deep), arrays))


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 cut off", b"\x93NUMPY"])
def test_no_archive(folder: Path, content: bytes) -> None:
    path = folder / "damaged.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="no model file"):
        load_model(path)


def test_an_archive_that_is_cut_or_changed(folder: Path) -> None:
    content = (folder / "model.npz").read_bytes()
    for wrong in (content[: len(content) // 2], content[:300] + bytes(50) + content[350:]):
        (folder / "damaged.npz").write_bytes(wrong)
        with pytest.raises(InputError, match="no model file"):
            load_model(folder / "damaged.npz")


@pytest.mark.parametrize("number", [math.inf, -math.inf, 0.1])
def test_numbers_that_are_not_finite_come_back(number: float) -> None:
    assert _built(json.loads(as_json(_described(number, "x", {}))), {}) == number


def survive(folder: Path, first: int, count: int) -> None:
    """In a process of its own: the tests check types, the program does not."""
    command = [sys.executable, "-m", "tests.damage", str(folder), str(first), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_damaged_models_answer_or_are_refused(folder: Path) -> None:
    survive(folder, 40 * date.today().toordinal(), 40)


@pytest.mark.slow
def test_many_damaged_models(folder: Path) -> None:
    survive(folder, 0, 600)


def test_the_good_model_answers(folder: Path) -> None:
    code, printed, error = asked(folder, folder / "model.npz")
    assert (code, error) == (0, "")
    assert len(printed.splitlines()) == 3
