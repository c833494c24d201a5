"""Policies of other frameworks: a known function goes out as a file and comes back as the same policy."""

from __future__ import annotations

import base64
import json
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import onnx
import polars as pl
import pytest
import skops.io
from onnx import TensorProto, numpy_helper
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from repbm.core import InputError
from repbm.evaluation import as_policy, evaluate
from repbm.policies import Answer, EnginePolicy, Policy, classifier_policy, onnx_policy, stable_baselines_policy
from tests.test_bad_input import Program

helper: Any = onnx.helper  # its annotations leave out attributes of nodes and text

GENERATOR = np.random.default_rng(0)
WEIGHTS = GENERATOR.normal(size=(3, 4)).astype(np.float32)
OBSERVATIONS = GENERATOR.normal(size=(200, 3))
LABELS = (0, 1, 2, 3)


def scores(observations: np.ndarray) -> np.ndarray:
    return observations.astype(np.float32) @ WEIGHTS


def softmax(values: np.ndarray) -> np.ndarray:
    odds = np.exp(values - values.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


EXPECTED = scores(OBSERVATIONS).argmax(axis=1)


def small_log(labels: tuple[Any, ...] = LABELS) -> pl.DataFrame:
    """60 episodes of 3 steps with observations a, b, c, and random actions."""
    generator = np.random.default_rng(1)
    n, steps = 60, 3
    observations = generator.normal(size=(n * steps, 3))
    return pl.DataFrame(
        {
            "episode": np.repeat(np.arange(n), steps),
            **{f"obs_{name}": observations[:, k] for k, name in enumerate("abc")},
            "action": [labels[k] for k in np.tile(np.arange(len(labels)), n * steps)[: n * steps]],
            "reward": generator.normal(size=n * steps),
            "terminated": np.tile([False, False, True], n),
            "behavior_prob": np.full(n * steps, 1 / len(labels)),
        }
    )


def acts(policy: Policy, observations: np.ndarray = OBSERVATIONS, labels: tuple[Any, ...] = LABELS) -> np.ndarray:
    """The actions that a deterministic policy takes."""
    assert isinstance(policy, EnginePolicy)
    choices = policy.choices(observations, labels)
    assert choices.deterministic
    return np.asarray(choices.labels)[choices.what]


def refused(build: Callable[[], Any], *words: str) -> None:
    with pytest.raises(InputError) as caught:
        build()
    message = str(caught.value)
    assert "\n" not in message
    assert not [word for word in words if word not in message], message


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(tmp_path, monkeypatch, capfd)


def evaluated(program: Program, policy: str, *options: str, log: pl.DataFrame | None = None) -> pl.DataFrame:
    """The estimates that the command line writes for a policy."""
    path = program.store(small_log() if log is None else log)
    code, _, error = program.run(path, "--policy", policy, "--out", program.out, "--estimator", "wpdis", *options)
    assert (code, error) == (0, "")
    return pl.read_csv(program.out / "estimates.csv")


# ONNX


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
    import onnxruntime

    session = onnxruntime.InferenceSession(linear_onnx(tmp_path / "x.onnx"), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(acts(as_policy(session)), EXPECTED)


@pytest.mark.parametrize("after", [(), ("Softmax",), ("ArgMax",)])
def test_evaluate_onnx_from_the_command_line(program: Program, after: tuple[str, ...]) -> None:
    path = linear_onnx(program.folder / "policy.onnx", *after)
    found = evaluated(program, str(path))
    function = (lambda x: softmax(scores(x))) if after == ("Softmax",) else (lambda x: scores(x).argmax(axis=1))
    expected = evaluate(small_log(), function, estimators=["wpdis"]).estimates
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


# How answers are read


def test_what_rows_of_numbers_are_is_found_once() -> None:
    policy = EnginePolicy(lambda x: x, "mine")
    assert not policy.choices(np.array([[0.25, 0.75], [1.0, 0.0]]), (0, 1)).deterministic
    refused(lambda: policy.choices(np.array([[0.2, 0.9]]), (0, 1)), "policy mine", "sum to 1.1")
    other = EnginePolicy(lambda x: x, "other")
    assert other.choices(np.array([[0.25, 0.75], [-1.0, 2.0]]), (0, 1)).what.tolist() == [1, 1]
    assert other.choices(np.array([[0.75, 0.25]]), (0, 1)).what.tolist() == [0]  # scores they stay
    rounded = EnginePolicy(lambda x: x, "rounded")
    refused(lambda: rounded.choices(np.array([[0.25, 0.75], [0.33, 0.66]]), (0, 1)), "observation 1", "nearly sum to 1")
    told = EnginePolicy(lambda x: x, "told", answer=Answer.SCORES)
    assert told.choices(np.array([[0.25, 0.75]]), (0, 1)).what.tolist() == [1]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([[0.37], [1.0]], ("single number 0.37", "only discrete actions")),
        ([0.5, 1.5], ("single number 0.5",)),
        ([[np.nan, 1.0], [0.0, 1.0]], ("observation 0", "not a finite number")),
        ([1], ("2 observations", "(1,)")),
        ([[[1, 2]], [[1, 2]]], ("2 observations", "(2, 1, 2)")),
        ([["a", "b"], ["a", "b"]], ("rows of", "one number an action")),
        (["go", "stay"], ("'go'", "the log's actions are like 0")),
    ],
)
def test_answers_that_are_none(answer: list, words: tuple[str, ...]) -> None:
    policy = EnginePolicy(lambda x: np.asarray(answer), "mine")
    refused(lambda: policy.choices(np.zeros((2, 1)), (0, 1)), "policy mine", *words)


def test_long_logs_are_asked_in_parts() -> None:
    sizes: list[int] = []

    def engine(observations: np.ndarray) -> np.ndarray:
        sizes.append(len(observations))
        return (observations[:, 0] > 0).astype(np.int64)

    observations = np.random.default_rng(2).normal(size=(70_000, 1))
    choices = EnginePolicy(engine, "mine").choices(observations, (0, 1))
    np.testing.assert_array_equal(np.asarray(choices.labels)[choices.what], observations[:, 0] > 0)
    assert len(sizes) > 1
    assert max(sizes) <= 1 << 15


# Classifiers


def fitted(classifier: Any, labels: tuple[Any, ...] = LABELS) -> Any:
    return classifier.fit(OBSERVATIONS, np.asarray(labels)[EXPECTED])


def test_classifier_objects() -> None:
    model = fitted(make_pipeline(StandardScaler(), LogisticRegression()), ("a", "b", "c", "d"))
    policy = as_policy(model)
    assert isinstance(policy, EnginePolicy)
    assert policy.name == "Pipeline"
    labels = ("d", "c", "b", "a")
    np.testing.assert_allclose(policy.probabilities(OBSERVATIONS, labels), model.predict_proba(OBSERVATIONS)[:, ::-1])
    ridge = fitted(RidgeClassifier())
    np.testing.assert_array_equal(acts(as_policy(ridge)), ridge.predict(OBSERVATIONS))


def test_a_classifier_of_one_class_always_takes_it() -> None:
    policy = as_policy(DecisionTreeClassifier().fit(OBSERVATIONS, np.full(len(OBSERVATIONS), 2)))
    assert isinstance(policy, EnginePolicy)
    np.testing.assert_array_equal(policy.probabilities(OBSERVATIONS, LABELS)[:, 2], 1)


def test_a_classifier_finds_its_columns_by_name() -> None:
    import pandas as pd

    log = small_log()
    frame = pd.DataFrame(OBSERVATIONS, columns=pd.Index(["c", "a", "b"]))
    classifier = DecisionTreeClassifier(random_state=0).fit(frame, EXPECTED)
    right = classifier.predict(log.select(c="obs_c", a="obs_a", b="obs_b").to_pandas())
    found = evaluate(log, classifier, estimators=["wpdis"]).estimates
    expected = evaluate(log.with_columns(pi=right), "column:pi", estimators=["wpdis"]).estimates
    assert found["value"].to_list() == expected["value"].to_list()
    assert found["policy"].to_list() == ["DecisionTreeClassifier"]
    renamed = log.rename({"obs_c": "obs_d"})
    refused(lambda: evaluate(renamed, classifier), "trained on 'c'", "no observation", "--column obs_c=")


def test_objects_that_are_no_classifier() -> None:
    refused(lambda: as_policy(LogisticRegression()), "LogisticRegression", "fitted")
    refused(lambda: as_policy(LinearRegression().fit(OBSERVATIONS, EXPECTED)), "LinearRegression", "classifier")
    many = DecisionTreeClassifier().fit(OBSERVATIONS, np.column_stack([EXPECTED, EXPECTED]))
    refused(lambda: as_policy(many), "several actions")
    refused(lambda: evaluate(small_log().drop("obs_c"), fitted(RidgeClassifier())), "takes 3 observations")


def test_skops_file(program: Program) -> None:
    classifier = fitted(LogisticRegression())
    path = program.folder / "clinic.skops"
    skops.io.dump(classifier, path)
    policy = as_policy(path)
    assert isinstance(policy, EnginePolicy)
    assert policy.name == "clinic"
    np.testing.assert_allclose(policy.probabilities(OBSERVATIONS, LABELS), classifier.predict_proba(OBSERVATIONS))
    found = evaluated(program, str(path))
    expected = evaluate(small_log(), classifier, estimators=["wpdis"]).estimates
    np.testing.assert_allclose(found["value"].to_numpy(), expected["value"].to_numpy())


def doubled(values: np.ndarray) -> np.ndarray:
    return 2 * values


def test_a_skops_file_with_foreign_code_needs_trust(program: Program) -> None:
    classifier = fitted(make_pipeline(FunctionTransformer(doubled), LogisticRegression()))
    path, log = program.folder / "odd.skops", program.store(small_log())
    skops.io.dump(classifier, path)
    line = program.refuses(log, policy=str(path))
    assert "tests.test_policy_adapters.doubled" in line
    assert "--trust-pickle" in line
    assert len(evaluated(program, str(path), "--trust-pickle"))
    broken = program.write("broken.skops", b"nothing")
    assert "no skops file" in program.refuses(log, policy=str(broken), out=program.folder / "other")


@pytest.mark.parametrize("ending", ["pkl", "joblib"])
def test_pickles_need_trust(program: Program, ending: str) -> None:
    classifier = fitted(LogisticRegression())
    path, log = program.folder / f"clinic.{ending}", program.store(small_log())
    if ending == "joblib":
        joblib.dump(classifier, path, compress=3)
    else:
        path.write_bytes(pickle.dumps(classifier))
    line = program.refuses(log, policy=str(path))
    assert "can run any code" in line
    assert "--trust-pickle" in line
    found = evaluated(program, str(path), "--trust-pickle")
    expected = evaluate(small_log(), classifier, estimators=["wpdis"]).estimates
    np.testing.assert_allclose(found["value"].to_numpy(), expected["value"].to_numpy())


class Bomb:
    """Leaves a trace if anybody unpickles it."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.trace,))


@pytest.mark.parametrize("ending", ["pkl", "pickle", "joblib"])
def test_a_pickle_is_not_even_opened_without_trust(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"bomb.{ending}"
    path.write_bytes(pickle.dumps(Bomb(tmp_path / "trace")))
    refused(lambda: as_policy(path), "can run any code")
    assert not (tmp_path / "trace").exists()


def test_pickles_that_hold_no_policy(program: Program) -> None:
    log = program.store(small_log())
    number = program.write("number.pkl", pickle.dumps(3))
    assert "holds a int, which is no policy" in program.refuses(log, "--trust-pickle", policy=str(number))
    unfit = program.write("unfit.pkl", pickle.dumps(LogisticRegression()))
    assert "unfit.pkl: unfit has no classes" in program.refuses(log, "--trust-pickle", policy=str(unfit))
    broken = program.write("broken.pkl", b"nothing")
    assert "cannot be loaded" in program.refuses(log, "--trust-pickle", policy=str(broken))


# Python files and names


def test_a_python_file_may_name_any_policy(tmp_path: Path) -> None:
    source = "import numpy as np\nfrom sklearn.tree import DecisionTreeClassifier\n"
    source += "tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])\ntable = np.eye(2)\n"
    source += "def rule(x):\n    return (x[:, 0] > 0.5).astype(int)\n"
    path = tmp_path / "mine.py"
    path.write_text(source)
    for name, kind in (("tree", "EnginePolicy"), ("table", "TabularPolicy"), ("rule", "CallablePolicy")):
        policy: Any = as_policy(f"{path}:{name}")
        assert type(policy).__name__ == kind
        np.testing.assert_array_equal(policy.probabilities(np.array([[0.0], [1.0]]), (0, 1)), np.eye(2))


def test_every_policy_has_a_short_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "small.npz", w0=np.eye(2), b0=np.zeros(2))
    (tmp_path / "rules.csv").write_text("action\n1\n")

    def cautious(x: np.ndarray) -> np.ndarray:
        return np.zeros(len(x))

    names = {
        "cautious": cautious,
        "lambda": lambda x: x,
        "small": tmp_path / "small.npz",
        "rules": tmp_path / "rules.csv",
        "table": np.eye(2),
        "pi": "column:pi",
        "p": "probability:p",
        "p_0 p_1": "probabilities:p_0,p_1",
        "RidgeClassifier": fitted(RidgeClassifier()),
        "mine": classifier_policy(fitted(RidgeClassifier()), "mine"),
    }
    assert [as_policy(given).name for given in names.values()] == list(names)


# What is missing


@pytest.mark.parametrize(
    ("file", "module", "extra"),
    [
        ("x.onnx", "onnxruntime", "onnx"),
        ("x.pt", "torch", "torch"),
        ("x.zip", "stable_baselines3", "sb3"),
        ("x.d3", "d3rlpy", "d3rlpy"),
        ("x.skops", "skops", "skops"),
    ],
)
def test_a_missing_framework_says_what_to_install(
    program: Program, monkeypatch: pytest.MonkeyPatch, file: str, module: str, extra: str
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Absent(module), *sys.meta_path])
    path = program.write(file, b"")
    line = program.refuses(program.store(small_log()), policy=str(path))
    assert line == f"{path}: this needs {module}; pip install 'repbm[{extra}]'"


class Absent:
    """An importer that does not find one package."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, *_: Any) -> None:
        if name.partition(".")[0] == self.package:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)


def test_importing_repbm_loads_no_framework() -> None:
    code = "import sys, repbm.evaluation, repbm.policies, repbm.logs, repbm.cli\n"
    code += "heavy = 'torch onnxruntime onnx skops stable_baselines3 d3rlpy minari h5py gymnasium'.split()\n"
    code += "print([name for name in heavy if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# Heavy frameworks: these run where they are installed


def test_torch_modules_and_torchscript(program: Program, recwarn: pytest.WarningsRecorder) -> None:
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Dropout(0.9), torch.nn.Linear(3, 4, bias=False))
    with torch.no_grad():
        module[1].weight.copy_(torch.as_tensor(WEIGHTS.T))
    policy = as_policy(module)
    assert policy.name == "Sequential"
    np.testing.assert_array_equal(acts(policy), EXPECTED)
    assert module.training  # the module itself is left as it was
    np.testing.assert_array_equal(acts(as_policy(module.double())), EXPECTED)
    soft: Any = as_policy(torch.nn.Sequential(module, torch.nn.Softmax(dim=1)))
    np.testing.assert_allclose(soft.probabilities(OBSERVATIONS, LABELS), softmax(scores(OBSERVATIONS)), atol=1e-5)
    path = program.folder / "net.pt"
    torch.jit.script(module.float()).save(str(path))
    loaded = as_policy(path)
    assert loaded.name == "net"
    np.testing.assert_array_equal(acts(loaded), EXPECTED)
    assert len(evaluated(program, str(path)))
    torch.save(module.state_dict(), program.folder / "weights.pt")
    log, other = program.store(small_log()), program.folder / "other"
    assert "no TorchScript file" in program.refuses(log, policy=str(program.folder / "weights.pt"), out=other)
    torch.jit.script(torch.nn.Linear(2, 4)).save(str(path))
    assert "policy net fails on 3 observations" in program.refuses(log, policy=str(path), out=other)

    class Pair(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x, x

    refused(lambda: acts(as_policy(Pair())), "returns a tuple")
    refused(lambda: acts(as_policy(torch.nn.Linear(3, 1))), "single number", "only discrete")


@pytest.mark.parametrize("algorithm", ["PPO", "A2C", "DQN"])
def test_stable_baselines(program: Program, algorithm: str) -> None:
    library, torch = pytest.importorskip("stable_baselines3"), pytest.importorskip("torch")
    options = {"policy_kwargs": {"net_arch": [8, 8], "activation_fn": torch.nn.ReLU}} if algorithm == "PPO" else {}
    model = getattr(library, algorithm)("MlpPolicy", "CartPole-v1", device="cpu", seed=0, **options)
    with torch.no_grad():
        for weights in model.policy.parameters():
            weights.normal_(std=0.5)  # untrained networks prefer one action everywhere
    path = program.folder / "agent.zip"
    model.save(path)
    observations = np.random.default_rng(3).normal(size=(300, 4)) * 3
    expected = model.predict(observations.astype(np.float32), deterministic=True)[0]
    assert len(set(expected)) == 2
    for policy in (as_policy(model), as_policy(model.policy), as_policy(path)):
        np.testing.assert_array_equal(acts(policy, observations, (0, 1)), expected)
    assert (as_policy(model).name, as_policy(path).name) == (algorithm, "agent")
    if algorithm != "DQN":
        drawn = stable_baselines_policy(model, deterministic=False).choices(observations, (0, 1))
        np.testing.assert_array_equal(drawn.what.argmax(axis=1), expected)
        assert ((drawn.what > 0.01) & (drawn.what < 0.99)).any()
    else:
        refused(lambda: stable_baselines_policy(model, deterministic=False), "no probabilities")
    log = small_log((0, 1)).with_columns(obs_d=0.5)
    assert len(evaluated(program, str(path), log=log))


def test_stable_baselines_files_that_need_trust(program: Program) -> None:
    library = pytest.importorskip("stable_baselines3")
    log = program.store(small_log((0, 1)).with_columns(obs_d=0.5))
    path, other = program.folder / "own.zip", program.folder / "other"
    extractor = sys.modules["stable_baselines3.common.torch_layers"].FlattenExtractor
    model = library.PPO("MlpPolicy", "CartPole-v1", device="cpu", policy_kwargs={"features_extractor_class": extractor})
    model.save(path)
    line = program.refuses(log, policy=str(path), out=other)
    assert "features_extractor_class is stored as a pickle" in line
    assert "--trust-pickle" in line
    observations = np.random.default_rng(3).normal(size=(50, 4))
    trusted = as_policy(path, trust_pickle=True)
    expected = model.predict(observations.astype(np.float32), deterministic=True)[0]
    np.testing.assert_array_equal(acts(trusted, observations, (0, 1)), expected)
    library.PPO("MlpPolicy", "Pendulum-v1", device="cpu").save(path)
    assert "actions of the kind Box" in program.refuses(log, policy=str(path), out=other)
    assert "no file of Stable-Baselines3" in program.refuses(log, policy=str(program.write("x.zip", b"x")), out=other)


def test_no_pickle_of_a_stable_baselines_file_is_loaded(program: Program) -> None:
    library = pytest.importorskip("stable_baselines3")
    path, armed = program.folder / "plain.zip", program.folder / "armed.zip"
    library.DQN("MlpPolicy", "CartPole-v1", device="cpu").save(path)
    bomb = base64.b64encode(pickle.dumps(Bomb(program.folder / "trace"))).decode()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(armed, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "data":
                settings = json.loads(content)
                for value in settings.values():
                    if isinstance(value, dict) and ":serialized:" in value:
                        value[":serialized:"] = bomb
                content = json.dumps(settings).encode()
            target.writestr(name, content)
    acts(as_policy(armed), np.zeros((3, 4)), (0, 1))
    assert not (program.folder / "trace").exists()


@pytest.mark.filterwarnings("default")
def test_d3rlpy(program: Program) -> None:
    library = pytest.importorskip("d3rlpy")
    for name in ("DQNConfig", "DiscreteBCConfig"):
        algorithm = getattr(library.algos, name)().create(device=False)
        algorithm.create_impl((3,), 4)
        expected = algorithm.predict(OBSERVATIONS.astype(np.float32))
        path = program.folder / "agent.d3"
        algorithm.save(str(path))
        for policy in (as_policy(algorithm), as_policy(path)):
            np.testing.assert_array_equal(acts(policy), expected)
    assert len(evaluated(program, str(path)))
    log, other = program.store(small_log()), program.folder / "other"
    continuous = library.algos.SACConfig().create(device=False)
    continuous.create_impl((3,), 2)
    continuous.save(str(path))
    assert "continuous actions" in program.refuses(log, policy=str(path), out=other)
    refused(lambda: as_policy(library.algos.DQNConfig().create(device=False)), "DQN is not built")
    assert "no file of d3rlpy" in program.refuses(log, policy=str(program.write("x.d3", b"x")), out=other)
    armed = program.write("armed.d3", pickle.dumps(Bomb(program.folder / "trace")))
    assert "no file of d3rlpy" in program.refuses(log, policy=str(armed), out=other)
    assert not (program.folder / "trace").exists()


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
