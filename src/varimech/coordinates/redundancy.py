"""Reactions that rigid-body mechanics does not determine: joints that share a load, and functions
of the state that depend on how they share it.

Multipliers of all joints and drivers that balance each other on every body span the null space of
Jᵀ (`reactions`): self-stress, any amount of which may be added. A function f of the state is unique
if  f_μ Z = 0  for a basis Z of that null space; and if  f_λ Y = 0  for a basis Y of the null space
of Φ_qᵀ, where it uses the multipliers λ of the equations themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..core.errors import VarimechWarning
from ..core.symbols import SX
from ..model.state import State
from ..model.user_functions import column_of
from .least_norm import RANK, dependencies
from .linear import DENSE

if TYPE_CHECKING:
    from .equations import Equations

SHARE = 1e-6
"""Share of a load, or of a function's dependence on loads, below which it counts as rounding: null
spaces are accurate to about 1e-9.
"""
REMEMBERED = 64
"""Number of functions whose results are cached."""
Sampled = tuple[np.ndarray, np.ndarray, np.ndarray]
"""States, one per row, their times, and the values of the parameters."""
LOADS = {"reaction": "force", "reaction_torque": "torque", "effort": "effort"}
"""Outputs of a run → kind of load."""


class RedundantReactionWarning(VarimechWarning):
    """A reaction, or a result that depends on one, is not unique: constraints are redundant."""


@dataclass(frozen=True)
class RedundantReactions:
    """Loads that rigid-body mechanics does not determine, at some positions of a mechanism."""

    mechanism: str
    redundant: int
    """Number of redundant constraints (joint and driver equations that follow from others)."""
    groups: tuple[dict[str, dict[str, str]], ...]
    """For each set of joints and drivers that share a load: name → "force", "torque" or "effort" →
    components, such as "x, y".
    """
    length: float
    """ℓ (m), the length that makes torques comparable with forces."""

    def __bool__(self) -> bool:
        return bool(self.groups)

    def components(self, kind: str, name: str) -> str:
        """Return the components of an output of a joint or driver that are not unique."""
        return next(
            (group[name].get(LOADS[kind], "") for group in self.groups if name in group), ""
        )

    @property
    def members(self) -> str:
        """The joints and drivers that share loads, with the components that are not unique."""
        return "; ".join(
            " and ".join(_described(name, parts) for name, parts in group.items())
            for group in self.groups
        )

    def __str__(self) -> str:
        if not self.groups:
            return f"mechanism {self.mechanism!r}: all reactions are unique"
        several = self.redundant != 1
        return (
            f"mechanism {self.mechanism!r} has {self.redundant} redundant"
            f" constraint{'s' if several else ''}: these share loads, and their reactions are not"
            f" unique: {self.members}. Reported are the ones with the smallest sum of force² and"
            f" (torque/ℓ)², ℓ = {self.length:.4g} m; for unique ones replace joints by such that"
            " constrain less, or let a spring carry the load"
        )


class Redundancy:
    """Redundant constraints of a mechanism, at any of its states."""

    def __init__(self, equations: Equations):
        self._equations = equations
        self._examined: dict[tuple[Any, ...], bool] = {}

    def shared(self, states: np.ndarray, times: np.ndarray, ρ: np.ndarray) -> RedundantReactions:
        """Determine the loads that are shared at any of the given states (one per row)."""
        e = self._equations
        if not e.model.joints and not e.model.drivers:
            return RedundantReactions(e.model.name, 0, (), 1.0)
        blocks, labels = self._labels
        marked, tied = np.zeros(len(labels), dtype=bool), np.eye(len(blocks), dtype=bool)
        every = [self._stresses(x, t, ρ)[1] for x, t in zip(states, times, strict=True)]
        count = min(Q.shape[1] for Q in every)
        # singular positions have more redundant constraints
        for Q in (Q for Q in every if Q.shape[1] == count):
            marked |= np.linalg.norm(Q, axis=1) > SHARE
            P = np.abs(Q @ Q.T) > SHARE
            tied |= np.array(
                [[P[np.ix_(a, b)].any() for b in blocks.values()] for a in blocks.values()],
                dtype=bool,
            )
        names = list(blocks)
        loaded = [k for k, rows in enumerate(blocks.values()) if marked[rows].any()]
        groups = []
        while loaded:
            group = {loaded[0]}
            while (more := {k for k in loaded if tied[k][list(group)].any()} | group) != group:
                group = more
            loaded = [k for k in loaded if k not in group]
            groups.append(
                {
                    names[k]: _named([labels[r] for r in blocks[names[k]] if marked[r]])
                    for k in sorted(group)
                }
            )
        length = float(ca.Function("length", [e.ρ], [e.reactions.length])(ρ))
        return RedundantReactions(e.model.name, count, tuple(groups), length)

    def concerns(
        self, functions: Iterable[Callable[[State], Any]], at: Callable[[], Sampled]
    ) -> bool:
        """Whether functions of the state depend on how loads are shared at any of the sampled
        states; each set of functions is examined once.
        """
        key = tuple(functions)
        if key not in self._examined:
            if len(self._examined) >= REMEMBERED:
                self._examined.clear()
            self._examined[key] = any(self._depends(f, *at()) for f in key)
        return self._examined[key]

    def _depends(
        self, function: Callable[[State], Any], states: np.ndarray, times: np.ndarray, ρ: np.ndarray
    ) -> bool:
        if not self._any(states, times, ρ):
            return False
        e, used = self._equations, []

        def free() -> Any:
            used.append(True)
            return e.reactions.of_any_multipliers

        value = column_of(function, e.state_with(free), "a function of the state")
        μ = ca.vertcat(*e.reactions.symbols.values()) if used else SX(0, 1)
        f = [ca.densify(ca.jacobian(value, x)) for x in (μ, e.λ)]
        if not any(ca.sparsify(x).nnz() for x in f):
            return False
        jacobians = ca.Function("jacobians", [μ, e.packed, e.ρ, e.t], f)
        at = list(zip(states, times, strict=True))
        multipliers = [self._stresses(x, t, ρ)[2] if used else np.zeros(0) for x, t in at]
        parts = [
            [np.array(part) for part in jacobians(y, x, ρ, t)]
            for y, (x, t) in zip(multipliers, at, strict=True)
        ]
        for k, null in enumerate(
            (lambda x, t: self._stresses(x, t, ρ)[0], lambda x, t: self._null(x, t, ρ))
        ):
            if any(part[k].any() for part in parts) and _along(
                [part[k] for part in parts], [null(x, t) for x, t in at]
            ):
                return True
        return False

    def _any(self, states: np.ndarray, times: np.ndarray, ρ: np.ndarray) -> bool:
        """Whether any load is shared. The functions have been called with the state before: if none
        has used reactions, these are not needed.
        """
        at = list(zip(states, times, strict=True))
        stressed = "reactions" in vars(self._equations) and all(
            self._stresses(x, t, ρ)[0].size for x, t in at
        )
        return stressed or all(self._null(x, t, ρ).size for x, t in at)

    @cached_property
    def _functions(self) -> ca.Function:
        """Function (state, ρ, t) → scaled J, strengths, loads of unit multipliers, μ."""
        e, reactions = self._equations, self._equations.reactions
        loads = ca.vertcat(*[x for name in reactions.symbols for x in reactions.loads(name)])
        unit = ca.jacobian(loads, ca.vertcat(*reactions.symbols.values()))
        outputs = [reactions.balance.scaled, reactions.balance.strengths, unit, reactions.values]
        return ca.Function("loads", [e.packed, e.ρ, e.t], [ca.densify(x) for x in outputs])

    def _stresses(
        self, x: np.ndarray, t: float, ρ: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a basis of self-stress at a state, in multipliers and in loads of joints
        (orthonormal), and the reported multipliers.
        """
        J, strengths, loads, μ = (np.array(part) for part in self._functions(x, ρ, t))
        independent, dependent, C = dependencies(J)
        Z = np.zeros((J.shape[0], len(dependent)))
        Z[dependent, range(len(dependent))], Z[independent] = 1.0, -C
        Z = Z / np.sqrt(strengths + 1e-30)
        Z[strengths.ravel() == 0] = 0.0  # equations that depend on nothing carry no load
        U, σ, Vt = np.linalg.svd(loads @ Z, full_matrices=False)
        held = σ > SHARE * max(float(σ.max(initial=0.0)), SHARE)
        return Z @ (Vt[held].T / σ[held]), U[:, held], μ.ravel()

    def _null(self, x: np.ndarray, t: float, ρ: np.ndarray) -> np.ndarray:
        """Return a basis of the null space of Φ_qᵀ, with Ψ_q̇ for velocity constraints."""
        Φ_q = np.array(self._jacobian(x, ρ, t))
        sizes = np.linalg.norm(Φ_q, axis=1, keepdims=True)
        scaled = Φ_q / np.where(sizes > 0, sizes, 1.0)
        if max(scaled.shape) <= DENSE and _is_regular(scaled):
            return np.zeros((len(scaled), 0))
        independent, dependent, C = dependencies(scaled)
        Y = np.zeros((len(scaled), len(dependent)))
        Y[dependent, range(len(dependent))], Y[independent] = 1.0, -C
        return np.asarray(Y / np.where(sizes > 0, sizes, 1.0))

    @cached_property
    def _jacobian(self) -> ca.Function:
        e = self._equations
        return ca.Function("jacobian", [e.packed, e.ρ, e.t], [ca.densify(e.force_directions)])

    @cached_property
    def _labels(self) -> tuple[dict[str, list[int]], list[tuple[str, str]]]:
        """Rows of loads by joint or driver, and (kind, component) of each row."""
        blocks: dict[str, list[int]] = {}
        labels: list[tuple[str, str]] = []
        for name in self._equations.reactions.symbols:
            begin, joint = len(labels), name in self._equations.model.joints
            for kind, part in zip(
                ("force", "torque"), self._equations.reactions.loads(name), strict=True
            ):
                count = part.numel()
                labels += [
                    (kind if joint else "effort", c)
                    for c in ("xyz"[:count] if joint and count > 1 else [""] * count)
                ]
            blocks[name] = list(range(begin, len(labels)))
        return blocks, labels


def not_unique(names: Iterable[str], shared: str) -> str:
    """Return a sentence about results that depend on shared loads; empty where there are none."""
    listed = ", ".join(names)
    return f"not unique: {listed}. {shared}" if listed else ""


def _along(jacobians: list[np.ndarray], bases: list[np.ndarray]) -> bool:
    """Whether a function depends on multipliers along a null space, at any state except singular
    ones, which have a larger null space.
    """
    least = min(basis.shape[1] for basis in bases)
    pairs = [(f, Z) for f, Z in zip(jacobians, bases, strict=True) if Z.shape[1] == least > 0]
    return any(np.abs(f @ Z).max() > SHARE * np.abs(f).max() * np.abs(Z).max() for f, Z in pairs)


def _named(labels: list[tuple[str, str]]) -> dict[str, str]:
    """Join the components of each kind."""
    return {
        kind: ", ".join(c for k, c in labels if k == kind)
        for kind in dict.fromkeys(k for k, _ in labels)
    }


def _described(name: str, parts: dict[str, str]) -> str:
    return (
        f"{name!r}"
        f" ({', '.join(f'{kind} {components}'.strip() for kind, components in parts.items())})"
    )


def _is_regular(matrix: np.ndarray) -> bool:
    """Whether rows are clearly independent: for most mechanisms this test suffices, which avoids
    importing SciPy's linear algebra.
    """
    if not 0 < len(matrix) <= matrix.shape[1] or not np.isfinite(matrix).all():
        return False
    σ = np.linalg.svd(matrix, compute_uv=False)
    return bool(σ[-1] > 1e4 * RANK * σ[0])  # far above the limit of dependence
