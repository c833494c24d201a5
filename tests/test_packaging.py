"""What packages say about this one is what it says about itself."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from repbm import __version__

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_recipe_needs_what_the_package_needs() -> None:
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))
    assert recipe["context"]["version"] == __version__
    assert f">={recipe['context']['python_min']}" == PROJECT["requires-python"]
    wanted = sorted(re.sub(r"\s", "", need) for need in recipe["requirements"]["run"] if not need.startswith("python "))
    assert wanted == sorted(PROJECT["dependencies"])
    assert recipe["build"]["python"]["entry_points"] == [f"repbm = {PROJECT['scripts']['repbm']}"]


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == __version__
    assert cited["license"] == PROJECT["license"]
    assert cited["references"][0]["authors"][0]["family-names"] == "Liu"


def test_the_readme_is_two_screens_and_links_to_what_is_there() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    lines = text.splitlines()
    assert len(lines) <= 100
    assert "pip install repbm" in "\n".join(lines[:20])
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.slow
def test_the_wheel_holds_what_it_needs(tmp_path: Path) -> None:
    """Pages, words, policies and specs are in it, tests and documents are not."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for name in (
        "core/words.toml",
        "report/page/page.html",
        "domains/policies/hiv.npz",
        "experiments/specs/hiv.toml",
        "py.typed",
    ):
        assert f"repbm/{name}" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"repbm"}
