"""Policies in PyTorch: modules from Python, TorchScript from files."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np

from repbm.core import InputError, optional
from repbm.policies.adapters._engine import EnginePolicy


def torch_policy(module: Any, name: str | None = None) -> EnginePolicy:
    """A torch module (or TorchScript) from (n, d) observations to actions, probabilities or scores.

    A copy in evaluation mode is used: dropout is off, and further training changes nothing here. Observations come
    as a tensor of the type and on the device of the module's parameters. `EnginePolicy` says how answers are read.
    """
    torch = optional("torch", "torch")
    module = copy.deepcopy(module).eval()
    weights = next((one for one in module.parameters() if one.is_floating_point()), None)
    kind = torch.float32 if weights is None else weights.dtype
    device = None if weights is None else weights.device
    name = name or str(getattr(module, "original_name", type(module).__name__))

    def run(observations: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            answer = module(torch.as_tensor(observations, dtype=kind, device=device))
        if not isinstance(answer, torch.Tensor):
            raise InputError(
                f"policy {name} returns a {type(answer).__name__} in place of one tensor",
                fix="wrap it in a module that returns the actions, their probabilities or their scores",
            )
        return answer.detach().cpu().numpy()

    return EnginePolicy(run, name)


def torchscript_policy(path: str | Path) -> EnginePolicy:
    """The policy in a TorchScript file, as `torch.jit.script(module).save(path)` writes it.

    No Python code is loaded; still, such a file is a program, to be run only where its maker is trusted.
    """
    torch = optional("torch", "torch")
    try:
        module = torch.jit.load(str(path), map_location="cpu")
    except (RuntimeError, ValueError, OSError) as fault:
        raise InputError(
            "this is no TorchScript file",
            where=str(path),
            fix="save the policy with torch.jit.script(module).save(FILE), or give it as ONNX",
        ) from fault
    return torch_policy(module, Path(path).stem)
