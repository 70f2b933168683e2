"""A linear map of JAX with a given transpose:

    y = A(r) t,      transpose  t̄ = A(r)ᵀ ȳ

JAX cannot transpose callbacks, and its own `linear_call` has no rule for `vmap`. Here, both maps
treat leading dimensions of r and t as a batch, so `vmap` adds one more of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

Map = Callable[[Any, Any], Any]
"""Function of two arrays with the same number of leading dimensions, which its result has, too."""

_linear = Primitive("varimech_linear")


@dataclass(frozen=True)
class LinearMap:
    """A map A(r) of t, with all rules that JAX requires."""

    forward: Map
    """(r, t) ↦ A(r) t"""
    backward: Map
    """(r, ȳ) ↦ A(r)ᵀ ȳ"""
    derivative: Map
    """(ṙ, t) ↦ Ȧ t, linear in ṙ; it raises an error if the map has no derivative."""
    derivative_backward: Map
    """(ṙ, ȳ) ↦ Ȧᵀ ȳ"""
    axes: tuple[int, int, int]
    """Numbers of axes of r, t and y other than leading dimensions."""

    @property
    def transposed(self) -> LinearMap:
        """The map A(r)ᵀ."""
        r, t, y = self.axes
        return LinearMap(
            self.backward, self.forward, self.derivative_backward, self.derivative, (r, y, t)
        )

    def __call__(self, r: Any, t: Any) -> Any:
        """A(r) t.

        Args:
            r: argument on which the map depends.
            t: argument in which the map is linear.

        Returns:
            The image of t.
        """
        # a leading dimension of size 1 belongs to all rows of r; because it is broadcast here, JAX
        # sums
        # the results of the transpose over them
        at_r, at_t = r.ndim - self.axes[0], t.ndim - self.axes[1]
        batch = jnp.broadcast_shapes(r.shape[:at_r], t.shape[:at_t])
        return _linear.bind(r, jnp.broadcast_to(t, (*batch, *t.shape[at_t:])), of=self)


def _executed(r: Any, t: Any, *, of: LinearMap) -> Any:
    return of.forward(r, t)


def _described(r: Any, t: Any, *, of: LinearMap) -> Any:
    shapes = (jax.ShapeDtypeStruct(each.shape, each.dtype) for each in (r, t))
    y = jax.eval_shape(of.forward, *shapes)
    return jax.core.ShapedArray(y.shape, y.dtype)


def _differentiated(primals: Any, tangents: Any, *, of: LinearMap) -> Any:
    (r, t), (dr, dt) = primals, tangents
    changes = []
    if not isinstance(dr, ad.Zero):
        changes.append(of.derivative(dr, t))
    if not isinstance(dt, ad.Zero):
        changes.append(of(r, dt))
    return of(r, t), sum(changes[1:], changes[0])


def _transposed(y: Any, r: Any, t: Any, *, of: LinearMap) -> Any:
    return None, ad.Zero(t.aval) if isinstance(y, ad.Zero) else of.transposed(r, y)


def _batched(arguments: Any, axes: Any, *, of: LinearMap) -> Any:
    r, t = (
        jnp.expand_dims(each, 0) if axis is None else jnp.moveaxis(each, axis, 0)
        for each, axis in zip(arguments, axes, strict=True)
    )
    return of(r, t), 0


_linear.def_impl(_executed)
_linear.def_abstract_eval(_described)
ad.primitive_jvps[_linear] = _differentiated
ad.primitive_transposes[_linear] = _transposed
batching.primitive_batchers[_linear] = _batched
mlir.register_lowering(_linear, mlir.lower_fun(_executed, multiple_results=False))
