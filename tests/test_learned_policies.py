"""Policies of torch, Stable-Baselines3 and d3rlpy; these run where the framework is installed."""

from __future__ import annotations

import base64
import json
import pickle
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repbm.policies.adapters import as_policy, stable_baselines_policy
from tests.adapters import (
    EXPECTED,
    LABELS,
    OBSERVATIONS,
    WEIGHTS,
    Bomb,
    acts,
    evaluated,
    refused,
    scores,
    small_log,
    softmax,
)
from tests.test_bad_input import Program


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(tmp_path, monkeypatch, capfd)


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
