"""One formula for NumPy and for JAX: inside compiled code, and outside, where nothing has to be compiled.

JAX is loaded by whoever compiles something; where nobody did, no array is one of its own.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from repbm.core import SideBySide

if TYPE_CHECKING:
    from jax import Array

    AnyArray = Array | np.ndarray
else:
    AnyArray = Any
"""An array of NumPy, or one that JAX traces or holds."""


def module_of(array: Any) -> Any:
    """`numpy` for its arrays, `jax.numpy` for what JAX traces or holds."""
    if isinstance(array, np.ndarray):
        return np
    import jax.numpy as jnp

    return jnp


def sigmoid(scores: Any) -> Any:
    """1 / (1 + exp(-score))."""
    if isinstance(scores, np.ndarray):
        return expit(scores)
    import jax

    return jax.nn.sigmoid(scores)


def by_action(x: Any, coefficients: Any) -> Any:
    """sum_f x[n, f] c[a, f, k] for every row n, action a and output k."""
    if isinstance(x, np.ndarray):
        actions, size, outputs = coefficients.shape
        flat = np.asarray(coefficients).transpose(1, 0, 2).reshape(size, actions * outputs)
        return (x @ flat).reshape(len(x), actions, outputs)
    return module_of(x).einsum("nf,afk->nak", x, coefficients)


def random_integers(source: Any, shape: tuple[int, ...], below: int) -> Any:
    """Whole numbers from 0 to `below` - 1, from NumPy generators or a JAX key."""
    if isinstance(source, (np.random.Generator, SideBySide)):
        return source.integers(0, below, shape)
    import jax

    return jax.random.randint(source, shape, 0, below)


def constant(array: Any) -> Any:
    """The same array, through which no gradient passes."""
    if isinstance(array, np.ndarray):
        return array
    import jax

    return jax.lax.stop_gradient(array)


def in_float64() -> AbstractContextManager[Any]:
    """Parts of one's own may answer with arrays of JAX: in float64, as all else."""
    jax = sys.modules.get("jax")
    return nullcontext() if jax is None else jax.enable_x64(True)
