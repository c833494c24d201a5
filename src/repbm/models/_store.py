"""Fitted models on disk: one file of plain arrays and a description of what they are. Nothing in it is executed."""

from __future__ import annotations

import dataclasses
import io
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from repbm._version import __version__
from repbm.core import InputError, as_json, reason, write_whole
from repbm.models._model import Model
from repbm.models._question import ModelQuestion
from repbm.models.parts._part import Part, part_name, part_of

FORMAT = 4
"""Raised whenever an older program could misread a newer file."""
_READ = (3, FORMAT)
"""Of format 3 there are models that do not know what single rewards are; everything else is the same."""
_LONGEST = 2**31
"""More steps than anybody waits for."""


def save_model(model: Model, path: str | Path, question: ModelQuestion | None = None) -> None:
    """Write the model, and what it was asked, to one `.npz` file."""
    arrays: dict[str, np.ndarray] = {}
    description = {"format": FORMAT, "version": __version__, "model": _described(model, "model", arrays)}
    if question is not None:
        description["question"] = question.to_dict()
    content = io.BytesIO()
    everything: dict[str, Any] = {"description": as_json(description, indent=None), **arrays}
    np.savez(content, **everything)
    write_whole(Path(path), lambda partial: partial.write_bytes(content.getvalue()))


def load_model(path: str | Path) -> Model:
    """Read a model that `save_model` wrote."""
    return load_asked(path)[0]


def load_asked(path: str | Path) -> tuple[Model, ModelQuestion | None]:
    """The same, with what it was asked; None where the file does not say."""
    where = str(path)
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as file:
            arrays: dict[str, np.ndarray] = {name: file[name] for name in file.files}
        description = json.loads(str(arrays.pop("description")))
    except FileNotFoundError:
        raise InputError("no such file", where=where, fix="check the path", code="file") from None
    except OSError as fault:
        raise InputError(f"cannot be read ({fault.strerror or fault})", where=where, code="file") from fault
    except Exception as fault:  # damaged archives fail in many ways
        raise InputError("this is no model file", where=where, fix="give one that repbm saved") from fault
    if not isinstance(description, dict):
        raise InputError("this is no model file", where=where, fix="give one that repbm saved")
    if description.get("format") not in _READ:
        raise InputError(
            f"the model has format {description.get('format')}, this program reads {' and '.join(map(str, _READ))}",
            where=where,
            fix=f"fit it again, or use the version that wrote it ({description.get('version')})",
        )
    try:
        model = _built(description["model"], arrays)
        asked = ModelQuestion.of(description["question"]) if "question" in description else None
        if asked is not None and asked.horizon >= _LONGEST:
            raise ValueError("its horizon is no number of steps")
        if not isinstance(model, Model):
            raise TypeError(f"it holds a {type(model).__name__}")
        _check(model)
    except InputError as fault:
        raise fault.at(where) from fault
    except Exception as fault:  # whatever stands there in place of a part
        raise InputError(f"the model file is damaged ({reason(fault)})", where=where, fix="save it again") from fault
    return model, asked


def _check(model: Model) -> None:
    """What everybody asks a model about must be of its kind; wrong arrays show when they are used."""
    names, labels, horizon = model.observation_names, model.labels, model.horizon
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
        raise TypeError("its observations have no names")
    if not isinstance(labels, tuple) or not labels or not all(isinstance(label, int | str) for label in labels):
        raise TypeError("its actions are no labels")
    if not isinstance(horizon, int) or not 1 <= horizon < _LONGEST:
        raise TypeError("its horizon is no number of steps")


def _described(part: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
    """The part as JSON, its arrays put aside under their path."""
    if isinstance(part, csr_matrix):
        arrays |= {f"{path}.data": part.data, f"{path}.indices": part.indices, f"{path}.indptr": part.indptr}
        return {"sparse": path, "shape": [int(size) for size in part.shape or ()]}
    if isinstance(part, Part):
        fields = {
            f.name: _described(getattr(part, f.name), f"{path}.{f.name}", arrays) for f in dataclasses.fields(part)
        }
        return {"part": part_name(type(part)), "fields": fields}
    if isinstance(part, tuple | list):
        return {"items": [_described(item, f"{path}.{k}", arrays) for k, item in enumerate(part)]}
    if isinstance(part, float) and not math.isfinite(part):
        return {"number": str(part)}
    if part is None or isinstance(part, bool | int | float | str):
        return {"value": part}
    arrays[path] = np.asarray(part)
    return {"array": path}


def _built(description: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Any:
    if "part" in description:
        fields = {name: _built(inner, arrays) for name, inner in description["fields"].items()}
        return part_of(description["part"])(**fields)
    if "items" in description:
        return tuple(_built(item, arrays) for item in description["items"])
    if "sparse" in description:
        parts = tuple(arrays[f"{description['sparse']}.{name}"] for name in ("data", "indices", "indptr"))
        return csr_matrix(parts, shape=tuple(description["shape"]))
    if "array" in description:
        return arrays[description["array"]]
    if "number" in description:
        return float(description["number"])
    return description["value"]
