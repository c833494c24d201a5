"""One formula for NumPy and for JAX: inside compiled code, and outside, where nothing has to be compiled."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import expit

from repbm.core import SideBySide


def module_of(array: Any) -> Any:
    """`numpy` for its arrays, `jax.numpy` for what JAX traces or holds."""
    return np if isinstance(array, np.ndarray) else jnp


def sigmoid(scores: Any) -> Any:
    """1 / (1 + exp(-score))."""
    return expit(scores) if isinstance(scores, np.ndarray) else jax.nn.sigmoid(scores)


def by_action(x: Any, coefficients: Any) -> Any:
    """sum_f x[n, f] c[a, f, k] for every row n, action a and output k."""
    if isinstance(x, np.ndarray):
        actions, size, outputs = coefficients.shape
        flat = np.asarray(coefficients).transpose(1, 0, 2).reshape(size, actions * outputs)
        return (x @ flat).reshape(len(x), actions, outputs)
    return jnp.einsum("nf,afk->nak", x, coefficients)


def random_integers(source: Any, shape: tuple[int, ...], below: int) -> Any:
    """Whole numbers from 0 to `below` - 1, from NumPy generators or a JAX key."""
    if isinstance(source, (np.random.Generator, SideBySide)):
        return source.integers(0, below, shape)
    return jax.random.randint(source, shape, 0, below)
