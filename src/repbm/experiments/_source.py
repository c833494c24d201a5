"""Where the text of an experiment stands."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from repbm.core._toml import one_of, read_text


def source(name: str, known: Iterable[str]) -> tuple[str, str, str]:
    """The text of the experiment of this name, or of this TOML file; what it is called, and where it stands."""
    if name.endswith(".toml"):
        path = Path(name)
        return read_text(path), path.stem, str(path)
    one_of(name, known, "experiment")
    file = files("repbm.experiments") / "specs" / f"{name}.toml"
    return file.read_text("utf-8"), name, f"{name}.toml"
