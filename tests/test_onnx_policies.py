"""Policies in ONNX files: a known function goes out as a file and comes back as the same policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, numpy_helper

from repbm.evaluation import evaluate
from repbm.policies.adapters import EnginePolicy, as_policy, onnx_policy
from tests.adapters import (
    EXPECTED,
    LABELS,
    OBSERVATIONS,
    WEIGHTS,
    acts,
    evaluated,
    refused,
    scores,
    small_log,
    softmax,
)
from tests.test_bad_input import Program

helper: Any = onnx.helper  # its annotations leave out attributes of nodes and text


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(tmp_path, monkeypatch, capfd)


def linear_onnx(path: Path, *after: str, batch: int | str = "batch", kind: int = TensorProto.FLOAT) -> Path:
    """x -> x W, then the operators of `after`; every step of the way is an output but the first."""
    nodes = [helper.make_node("MatMul", ["observations", "weights"], ["scores"])]
    outputs = [helper.make_tensor_value_info("scores", kind, [batch, 4])]
    for operator in after:
        name = {"Softmax": "probabilities", "ArgMax": "actions"}[operator]
        options = {"axis": 1, "keepdims": 0} if operator == "ArgMax" else {"axis": 1}
        nodes.append(helper.make_node(operator, ["scores"], [name], **options))
        if operator == "ArgMax":
            outputs.append(helper.make_tensor_value_info(name, TensorProto.INT64, [batch]))
        else:
            outputs.append(helper.make_tensor_value_info(name, kind, [batch, 4]))
    weights = WEIGHTS.astype(helper.tensor_dtype_to_np_dtype(kind))
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("observations", kind, [batch, 3])],
        outputs[-1:] if len(after) < 2 else outputs[1:],
        [numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


@pytest.mark.parametrize("batch", ["batch", 1, 7])
@pytest.mark.parametrize("after", [(), ("ArgMax",)])
def test_onnx_scores_and_actions(tmp_path: Path, after: tuple[str, ...], batch: int | str) -> None:
    policy = as_policy(linear_onnx(tmp_path / "linear.onnx", *after, batch=batch))
    assert policy.name == "linear"
    np.testing.assert_array_equal(acts(policy), EXPECTED)


def test_onnx_probabilities_and_double_precision(tmp_path: Path) -> None:
    policy = as_policy(str(linear_onnx(tmp_path / "soft.onnx", "Softmax", kind=TensorProto.DOUBLE)))
    assert isinstance(policy, EnginePolicy)
    expected = softmax(OBSERVATIONS @ WEIGHTS.astype(np.float64))
    np.testing.assert_allclose(policy.probabilities(OBSERVATIONS, LABELS), expected, atol=1e-12)


def test_of_several_onnx_outputs_one_is_named(tmp_path: Path) -> None:
    path = linear_onnx(tmp_path / "both.onnx", "ArgMax", "Softmax")
    np.testing.assert_array_equal(acts(as_policy(f"{path}:actions")), EXPECTED)
    usual = as_policy(path)
    assert isinstance(usual, EnginePolicy)
    np.testing.assert_allclose(usual.probabilities(OBSERVATIONS, LABELS), softmax(scores(OBSERVATIONS)), atol=1e-6)
    refused(lambda: as_policy(f"{path}:action"), "both.onnx", "no output 'action'", "did you mean 'actions'?")


def test_an_onnx_session_is_a_policy(tmp_path: Path) -> None:
    session = onnxruntime.InferenceSession(linear_onnx(tmp_path / "x.onnx"), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(acts(as_policy(session)), EXPECTED)


@pytest.mark.parametrize("after", [(), ("Softmax",), ("ArgMax",)])
def test_evaluate_onnx_from_the_command_line(program: Program, after: tuple[str, ...]) -> None:
    path = linear_onnx(program.folder / "policy.onnx", *after)
    found = evaluated(program, str(path))
    function = (lambda x: softmax(scores(x))) if after == ("Softmax",) else (lambda x: scores(x).argmax(axis=1))
    expected = evaluate(small_log(), function, estimators=["wpdis"], details=False).estimates
    np.testing.assert_allclose(found["value"].to_numpy(), expected["value"].to_numpy(), rtol=1e-6)


def test_bad_onnx_files(program: Program) -> None:
    log = program.store(small_log())
    broken = program.write("broken.onnx", b"nothing")
    assert "no ONNX model" in program.refuses(log, policy=str(broken))
    assert "no such file" in program.refuses(log, policy=str(program.folder / "absent.onnx"))
    narrow = program.store(small_log().drop("obs_c"), "narrow.parquet")
    good = linear_onnx(program.folder / "good.onnx")
    assert "takes 3 observations, the log has 2" in program.refuses(narrow, policy=str(good))
    text = program.store(small_log(("a", "b", "c")), "text.parquet")
    assert "returns 4 probabilities a row, but the log has 3" in program.refuses(text, policy=str(good))
    whole = linear_onnx(program.folder / "whole.onnx", "ArgMax")
    assert "the log's actions are like 'a'" in program.refuses(text, policy=str(whole))


def test_onnx_of_a_scikit_learn_label(tmp_path: Path) -> None:
    """An output of text is the action."""
    nodes = [
        helper.make_node("MatMul", ["observations", "weights"], ["scores"]),
        helper.make_node("ArgMax", ["scores"], ["best"], axis=1, keepdims=0),
        helper.make_node("Gather", ["labels", "best"], ["label"]),
    ]
    labels = helper.make_tensor("labels", TensorProto.STRING, [4], [b"a", b"b", b"c", b"d"])
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("observations", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("label", TensorProto.STRING, ["n"])],
        [numpy_helper.from_array(WEIGHTS, "weights"), labels],
    )
    path = tmp_path / "label.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    found = acts(onnx_policy(path), labels=("a", "b", "c", "d"))
    np.testing.assert_array_equal(found, np.asarray(list("abcd"))[EXPECTED])
