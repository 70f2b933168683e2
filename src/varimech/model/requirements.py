"""Conditions that numbers of a model must satisfy for every set of parameter values, evaluated for
one set or for many at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..core.array_modules import NotElementwise, evaluate, module_of
from ..core.coordinate_scales import TINY
from ..core.errors import ModelError
from ..core.symbols import SX


@dataclass(frozen=True)
class Requirement:
    """A condition that a number of the model must satisfy for every set of parameter values."""

    expression: SX
    rule: str
    label: str

    def enforce(self, number: np.ndarray) -> None:
        """Raise `ModelError` if a number, or matrix, violates it."""
        holds, reason = RULES[self.rule]
        if not holds(number):
            value = number.ravel()[0] if number.size == 1 else number
            raise ModelError(reason, label=self.label, value=value)


def _every(holds: Any) -> Any:
    return holds.all(axis=(-2, -1))


def _physical(x: np.ndarray) -> np.ndarray:
    symmetric = _every(np.isclose(x, x.swapaxes(-1, -2), rtol=1e-9, atol=0))
    trace = np.trace(x, axis1=-2, axis2=-1)
    second = trace[..., None, None] / 2 * np.eye(3) - x
    least = np.linalg.eigvalsh(second).min(axis=-1)
    return np.asarray(symmetric & (least >= -1e-9 * np.maximum(trace, TINY)) & (trace >= 0))


def _rotation(x: np.ndarray) -> np.ndarray:
    return _every(np.isclose(x.swapaxes(-1, -2) @ x, np.eye(3), atol=1e-9)) & (np.linalg.det(x) > 0)


RULES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
    "finite": (lambda x: _every(np.isfinite(x)), "is not finite"),
    "rotation": (
        _rotation,
        "is not a rotation matrix (orthonormal, right-handed); see varimech.rotation",
    ),
    "positive": (lambda x: _every(x > 0), "must be positive"),
    "non-zero": (lambda x: _every(x != 0), "must not be zero"),
    "non-negative": (lambda x: _every(x >= 0), "must not be negative"),
    "share": (lambda x: _every((x >= 0) & (x <= 1)), "must be between 0 and 1"),
    "positive share": (
        lambda x: _every((x > 0) & (x <= 1)),
        "must be greater than 0 and at most 1",
    ),
    "inertia": (
        _physical,
        (
            "is an inertia that no body can have (it must be symmetric, each principal moment"
            " non-negative and at most the sum of the other two)"
        ),
    ),
}
"""Rules by name: whether matrices (the last two axes) satisfy the rule, and the text for those that
do not.
"""


class Allowed:
    """Test of sets of parameter values: bounds of parameters and requirements, as data that other
    processes can use.
    """

    def __init__(
        self,
        vector: SX,
        requirements: Sequence[Requirement],
        bounds: Sequence[tuple[float | None, float | None]],
    ):
        self._lower = np.array([-np.inf if low is None else low for low, _ in bounds])
        self._upper = np.array([np.inf if high is None else high for _, high in bounds])
        symbols = {
            symbol.element_hash(): k
            for k, symbol in enumerate(ca.vertsplit(vector) if vector.numel() else [])
        }
        plain = {
            (symbols.get(r.expression.element_hash()) if r.expression.is_scalar() else None, r.rule)
            for r in requirements
        }
        self._plain = sorted((k, rule) for k, rule in plain if k is not None)
        """Requirements on single parameters, which are the majority, and their rules."""
        others = {
            (
                tuple(x.element_hash() for x in ca.vertsplit(ca.vec(ca.densify(r.expression)))),
                r.rule,
            ): r
            for r in requirements
            if not (r.expression.is_scalar() and r.expression.element_hash() in symbols)
        }
        self._rules = [(r.rule, r.expression.shape) for r in others.values()]
        self.others = sorted({f"{r.label}: {r.rule}" for r in others.values()})
        """Requirements on expressions of parameters, as text."""
        self._numbers = ca.Function(
            "requirements",
            [vector],
            [ca.veccat(*[ca.densify(r.expression) for r in others.values()])],
        )

    def rules_of(self, parameter: int) -> list[str]:
        """Rules for a single parameter, by index."""
        return [rule for k, rule in self._plain if k == parameter]

    def on_gpu(self, rows: Any) -> Any:
        """Whether each row of values on a GPU is allowed; computed there.

        Raises:
            NotElementwise: if a requirement can be evaluated on the CPU only.
        """
        if any(shape != (1, 1) for _, shape in self._rules):
            raise NotElementwise("a matrix")
        module = module_of(rows)
        lower, upper = module.asarray(self._lower), module.asarray(self._upper)
        good = ((rows >= lower) & (rows <= upper)).all(axis=1)
        for k, rule in self._plain:
            good &= RULES[rule][0](rows[:, k, None, None])
        numbers = evaluate(self._numbers, list(rows.T)) if self._rules else []
        for number, (rule, _) in zip(numbers, self._rules, strict=True):
            good &= RULES[rule][0](module.asarray(number).reshape(-1, 1, 1))
        return good

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Whether each row of values is allowed."""
        good = ((rows >= self._lower) & (rows <= self._upper)).all(axis=1)
        for k, rule in self._plain:
            good &= RULES[rule][0](rows[:, k, None, None])
        if not self._rules or not len(rows):
            return np.asarray(good)
        numbers, at = self._numbers(rows.T).full().T, 0
        for rule, (height, width) in self._rules:
            matrices = (
                numbers[:, at : at + height * width].reshape(-1, width, height).swapaxes(1, 2)
            )
            good &= RULES[rule][0](matrices)
            at += height * width
        return np.asarray(good)
