"""Whatever we write as JSON, any reader understands."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import repbm
from repbm.core import as_json
from repbm.evaluation import evaluate
from repbm.report import report
from tests.test_bad_input import GOOD, zeros

SOURCE = Path(repbm.__file__).parent


def strict(text: str) -> Any:
    """NaN and the infinities are no JSON, though Python reads them."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)


def test_numbers_that_are_none_become_null() -> None:
    content = {"a": [math.nan, (math.inf, 1.5)], 2: {"b": -math.inf}}
    for indent in (None, 2):
        assert strict(as_json(content, indent)) == {"a": [None, [None, 1.5]], "2": {"b": None}}


@pytest.mark.parametrize("episodes", [1, 2])
def test_results_of_very_short_logs_are_json(tmp_path: Path, episodes: int) -> None:
    found = evaluate(GOOD[: 2 * episodes], zeros)
    found.write(tmp_path)
    for name in ("run.json", "details.json"):
        strict((tmp_path / name).read_text())
    for script in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', report(found).html(), re.DOTALL):
        strict(script)


def test_json_is_written_in_one_place() -> None:
    """Elsewhere only hashes are made of it."""
    written = re.compile(r"json\.dumps?\(")
    names = sorted(str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if written.search(path.read_text()))
    assert names == ["core/_json.py", "experiments/_experiment.py"]
