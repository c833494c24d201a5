"""Files that are damaged, or made to do harm: one clear line, or an answer in numbers."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repbm.core import InputError, as_json
from repbm.models import load_model
from repbm.models._store import _built, _described
from tests.damage import KINDS, ask_model, evaluated, prepare, store_model
from tests.test_bad_input import says


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With files to damage."""
    folder = tmp_path_factory.mktemp("whole")
    prepare(folder)
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
        load_model(store_model(folder / "damaged.npz", description, parts[1]))
    says(str(caught.value), "damaged.npz", "model file")


def test_deep_nesting(folder: Path, parts: Any) -> None:
    description, arrays = parts
    fields = description["model"]["fields"] | {"low": "HERE"}
    text = json.dumps(description | {"model": description["model"] | {"fields": fields}})
    deep = '{"items":[' * 450 + '{"value":1}' + "]}" * 450
    with pytest.raises(InputError, match=r"damaged|no model file"):
        load_model(store_model(folder / "damaged.npz", text.replace('"HERE"', deep), arrays))


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


def test_what_is_damaged_is_answered_or_refused(folder: Path) -> None:
    """Other damages every day."""
    survive(",".join(KINDS), folder, 5 * date.today().toordinal(), 5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_damages(folder: Path, kind: str) -> None:
    survive(kind, folder, 0, 400)


def survive(kind: str, folder: Path, first: int, count: int) -> None:
    """In a process of its own: the tests check types, the program does not."""
    command = [sys.executable, "-m", "tests.damage", kind, str(folder), str(first), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_whole_files_are_answered(folder: Path) -> None:
    for kind in (evaluated(folder, folder / name, f"{folder}/p.py:act") for name in ("log.csv", "log.parquet")):
        assert kind is None
    code, printed, error = ask_model(folder, folder / "model.npz")
    assert (code, error, len(printed.splitlines())) == (0, "", 4)
