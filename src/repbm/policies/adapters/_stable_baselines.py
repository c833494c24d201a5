"""Stable-Baselines3 files: what they hold beside pickles is enough to build the usual policies."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repbm.core import InputError, optional, reason
from repbm.policies.adapters._engine import EnginePolicy
from repbm.policies.adapters._reinforcement import stable_baselines_policy

_CLASSES = {
    "ActorCriticPolicy": "stable_baselines3.common.policies",
    "DQNPolicy": "stable_baselines3.dqn.policies",
}
"""The policies of the name "MlpPolicy": of PPO and A2C, and of DQN."""
_ACTIVATIONS = ("Tanh", "ReLU", "ELU", "LeakyReLU", "GELU", "SiLU", "Sigmoid", "Identity")
_ONLY_FOR_TRAINING = ("optimizer_class", "optimizer_kwargs", "device")


class _NotPlain(Exception):
    """A part that is only there as a pickle."""


@dataclass(frozen=True)
class _Parts:
    """What a policy is built from."""

    kind: Any
    observations: Any
    actions: Any
    options: Mapping[str, Any]


def load_stable_baselines(path: str | Path, trust_pickle: bool = False) -> EnginePolicy:
    """The policy in a file that `model.save(path)` of Stable-Baselines3 wrote.

    Such a file holds its settings twice: as pickles, which run code when they are loaded, and as text. The text is
    enough for "MlpPolicy" of PPO, A2C and DQN on numbers; weights are read as plain arrays. Whatever else needs
    `trust_pickle`.
    """
    where = str(path)
    for module in ("stable_baselines3", "torch"):
        optional(module, "sb3")
    settings, weights = _contents(where)
    if _type_name(settings.get("action_space")) not in ("Discrete", ""):
        kind = _type_name(settings["action_space"])
        raise InputError(
            f"the policy has actions of the kind {kind}", where=where, fix="only discrete actions can be evaluated"
        )
    try:
        parts = _plain(settings)
    except _NotPlain as fault:
        if not trust_pickle:
            raise InputError(
                f"{fault} is stored as a pickle, which can run any code",
                where=where,
                fix="say --trust-pickle if you trust the file, or give the policy as ONNX",
            ) from None
        parts = _unpickled(where)
    try:
        policy = parts.kind(parts.observations, parts.actions, lambda _: 0.0, **parts.options)
        policy.load_state_dict(weights)
    except Exception as fault:  # whatever a policy of the user's own may raise
        raise InputError(f"the policy cannot be built ({reason(fault)})", where=where) from fault
    return stable_baselines_policy(policy.to("cpu"), name=Path(path).stem)


def _contents(where: str) -> tuple[dict[str, Any], Any]:
    """The settings as text, and the weights of the policy."""
    torch = optional("torch", "sb3")
    try:
        with zipfile.ZipFile(where) as archive:
            settings = json.loads(archive.read("data"))
            stored = io.BytesIO(archive.read("policy.pth"))
        if not isinstance(settings, dict):
            raise ValueError("the settings are no table")
        return settings, torch.load(stored, map_location="cpu", weights_only=True)
    except OSError as fault:
        raise InputError(f"cannot be read ({fault.strerror})", where=where, code="file") from fault
    except Exception as fault:  # damaged archives fail in many ways
        raise InputError(
            f"this is no file of Stable-Baselines3 ({reason(fault)})", where=where, fix="save it with model.save(FILE)"
        ) from fault


def _plain(settings: Mapping[str, Any]) -> _Parts:
    spaces = optional("gymnasium.spaces", "sb3")
    described = settings.get("policy_class")
    found = re.match(r"<function (\w+)\.", str(described.get("__init__"))) if isinstance(described, dict) else None
    name = found[1] if found else ""
    if not isinstance(described, dict) or _CLASSES.get(name) != described.get("__module__"):
        raise _NotPlain(f"the policy's class {name}".strip())
    observed, acted = settings.get("observation_space") or {}, settings.get("action_space") or {}
    try:
        if _type_name(observed) == "Discrete":
            observations = spaces.Discrete(int(observed["n"]))
        elif _type_name(observed) == "Box" and str(observed["dtype"]).startswith("float"):
            observations = spaces.Box(-float("inf"), float("inf"), tuple(map(int, observed["_shape"])))
        else:
            raise _NotPlain(f"its space of observations ({_type_name(observed)})")
        actions = spaces.Discrete(int(acted["n"]))
    except (KeyError, TypeError, ValueError) as fault:
        raise _NotPlain(f"its spaces ({fault})") from fault
    kind = getattr(optional(_CLASSES[name], "sb3"), name)
    return _Parts(kind, observations, actions, _options(settings.get("policy_kwargs") or {}))


def _options(described: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of the network, of which activations are stored by name."""
    activations = optional("torch.nn", "sb3")
    options: dict[str, Any] = {}
    for key, value in described.items():
        if key in (":type:", ":serialized:", *_ONLY_FOR_TRAINING):
            continue
        if key == "activation_fn":
            name = str(value).removesuffix("'>").rpartition(".")[2]
            if name not in _ACTIVATIONS:
                raise _NotPlain(f"its activation {value}")
            options[key] = getattr(activations, name)
        elif isinstance(value, str):
            raise _NotPlain(f"its setting {key}")
        else:
            options[key] = value
    return options


def _unpickled(where: str) -> _Parts:
    """The parts as Stable-Baselines3 itself loads them: this runs whatever the file says."""
    storage = optional("stable_baselines3.common.save_util", "sb3")
    try:
        settings, _, _ = storage.load_from_zip_file(where, device="cpu")
        options = {key: value for key, value in settings["policy_kwargs"].items() if key not in _ONLY_FOR_TRAINING}
        return _Parts(settings["policy_class"], settings["observation_space"], settings["action_space"], options)
    except Exception as fault:  # pickles raise anything
        raise InputError(f"its pickles cannot be loaded ({reason(fault)})", where=where) from fault


def _type_name(described: Any) -> str:
    """The class in a description such as "<class 'gymnasium.spaces.box.Box'>"."""
    text = str(described.get(":type:", "")) if isinstance(described, dict) else ""
    return text.removesuffix("'>").rpartition(".")[2]
