"""A problem as a function of JAX: values and derivatives by callbacks, with rules for every kind of
differentiation.

    ψ(x)              custom_jvp    ψ̇ = J ẋ
    J(x)              custom_jvp    J̇ = H ẋ
    ẋ ↦ H ẋ, W ↦ Σ Hᵢ Wᵢ            each the transpose of the other, by one callback

Forward and reverse differentiation, and each composed with the other, follow. `vmap` adds leading
dimensions to the arguments of a callback, which `Function` treats as a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..analyses.function import Function
from ..core.errors import ModelError
from .jax_linear import LinearMap

X64 = 'call jax.config.update("jax_enable_x64", True) when the program starts'


class JaxFunction:
    """Objectives as a function of the parameters for JAX: ψ = f(x), with `jax.jit`, `jax.vmap`,
    `jax.jvp`, `jax.vjp`, `jax.grad`, `jax.jacobian`, `jax.hessian`.

    Args:
        function: the same function in NumPy, which the callbacks call.
    """

    def __init__(self, function: Function):
        self.function = function
        """The same function in NumPy."""
        self._value = _differentiable(function)

    def __call__(self, x: Any) -> jax.Array:
        """Objectives at the end of the run.

        Args:
            x: (…, parameter), float64.

        Returns:
            ψ, (…, objective), float64.

        Raises:
            ModelError: for other numbers than those of double precision, and for other shapes.
        """
        return self._value(self._checked(x))

    def _checked(self, x: Any) -> jax.Array:
        if not jax.config.jax_enable_x64:
            problem = "JAX computes in single precision, and a mechanism needs double precision"
            raise ModelError(problem, element="jax", remedy=X64)
        array, names = jnp.asarray(x), self.function.parameters
        if array.dtype != jnp.float64:
            problem = f"has elements of type {array.dtype}, and a mechanism needs float64"
            raise ModelError(
                problem, element="jax", field="x", remedy="convert it: x.astype('float64')"
            )
        if array.ndim == 0 or array.shape[-1] != len(names):
            problem = (
                f"has the shape {array.shape}; its last axis must have {len(names)} values:"
                f" {', '.join(names)}"
            )
            raise ModelError(problem, element="jax", field="x")
        return array

    def __repr__(self) -> str:
        return f"<JAX: {self.function!r}>"


def _differentiable(function: Function) -> Callable[[jax.Array], jax.Array]:
    """ψ(x) with its rules."""
    m, n = len(function.objectives), len(function.parameters)

    def called(compute: Callable[..., Any], shapes: Any, *arguments: jax.Array) -> Any:
        # the last argument has the full batch shape; x may have dimensions of size 1 there, so that
        # rows
        # with equal x share their steps
        batch = arguments[-1].shape[: arguments[0].ndim - 1]
        of = [jax.ShapeDtypeStruct((*batch, *shape), jnp.float64) for shape in shapes]
        return jax.pure_callback(
            lambda *a: compute(*map(np.asarray, a)),
            of[0] if len(of) == 1 else tuple(of),
            *arguments,
            vmap_method="expand_dims",
        )

    @jax.custom_jvp
    def value(x: jax.Array) -> jax.Array:
        return called(function.value, [(m,)], x)

    @jax.custom_jvp
    def first(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return called(function.value_and_jacobian, [(m,), (m, n)], x)

    def along(x: jax.Array, dx: jax.Array) -> jax.Array:
        return called(function.hessian_product, [(m, n)], x, dx)

    def contracted(x: jax.Array, W: jax.Array) -> jax.Array:
        return called(function.hessian_contraction, [(n,)], x, W)

    curvature = LinearMap(along, contracted, _no_third, _no_third, (1, 1, 2))

    @value.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        values, J = first(x)
        return values, _product(J, dx)

    @first.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        values, J = first(x)
        return (values, J), (_product(J, dx), curvature(x, dx))

    return value


def _times(J: jax.Array, dx: jax.Array) -> jax.Array:
    return jnp.einsum("...ij,...j->...i", J, dx)


def _transposed_times(J: jax.Array, w: jax.Array) -> jax.Array:
    """Jᵀ w. A weight of zero excludes a failed row, whose derivatives are NaN."""
    w = w[..., None]
    return (w * jnp.where((w == 0) & jnp.isnan(J), 0.0, J)).sum(axis=-2)


def _outer(w: jax.Array, dx: jax.Array) -> jax.Array:
    return w[..., :, None] * dx[..., None, :]


def _plain(w: jax.Array, J: jax.Array) -> jax.Array:
    return jnp.einsum("...ij,...i->...j", J, w)


_weighted = LinearMap(lambda w, J: _transposed_times(J, w), _outer, _plain, _outer, (1, 2, 1))
"""Jᵀ w as a linear map of J"""
_product = LinearMap(_times, _transposed_times, _times, lambda J, w: _weighted(w, J), (2, 1, 1))
"""J ẋ"""


def _no_third(*_: object) -> Any:
    raise ModelError(
        "third derivatives are not available", element="jax", remedy="differentiate twice at most"
    )
