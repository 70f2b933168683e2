"""Accelerations of an open tree in a time proportional to its size, for trees of any length: three
passes over its bodies.

    outward   positions, velocities, and the inertial wrench  I Ż + p  of each body about its
              reference point (`recursion`)
    inward    the wrench of each body with all its branches (`articulated`)
    outward   accelerations

Forces act on p between the first two. Each pass consists of a few maps, executed in sequence, whose
kernels depend on the kinds of joints only; derivatives are propagated along (`stages/forward`).
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...stages.plan import Plan
from ..equations import Equations
from .recursion_sources import SolvedStart, StateArgument
from .recursion_writer import RecursionWriter
from .recursive_tree import RecursiveTree


class RecursionPasses:
    """Plans of the rates of an open tree, and of the state at the end of a step."""

    def __init__(self, equations: Equations):
        self._tree = RecursiveTree(equations)

    def rates(self, directions: np.ndarray | None) -> Plan:
        """Build the plan (q and q̇[, their derivatives], α, ρ, t) → q, q̇, q̈, λ and residuals[,
        derivatives].
        """
        return RecursionWriter(self._tree, "rates", StateArgument(drifted=False)).forward(
            directions
        )

    def end(self, directions: np.ndarray | None) -> Plan:
        """Build the plan of `rates` from positions and velocities that have drifted: Euler
        parameters are normalised to unit length.
        """
        return RecursionWriter(self._tree, "step", StateArgument(drifted=True)).forward(directions)

    def start(
        self, directions: np.ndarray | None, moving: ca.Function, tangent: ca.Function | None
    ) -> Plan:
        """Build the plan of `rates` from q and q̇ that `moving`, a function of (guess, positions,
        multipliers, α, ρ, t), returns, and `tangent` their derivatives.

        Its arguments are those of `moving`, and where there are derivatives also those of the
        guess, before α; nothing depends on them.
        """
        return RecursionWriter(self._tree, "start", SolvedStart(moving, tangent)).forward(
            directions
        )

    def rates_pullback(self, objectives: int) -> Plan:
        """Build the plan (q and q̇, costate of the whole state, α, ρ, t) → costates of q and q̇,
        and of ρ; one column per objective.
        """
        return RecursionWriter(self._tree, "rates_pullback", StateArgument(drifted=False)).backward(
            objectives
        )

    def end_pullback(self, objectives: int) -> Plan:
        """Build the pullback of `end`."""
        return RecursionWriter(self._tree, "step_pullback", StateArgument(drifted=True)).backward(
            objectives
        )

    def start_pullback(self, objectives: int, moving: ca.Function, pullback: ca.Function) -> Plan:
        """Build the pullback of `start`; `pullback` returns ρ̄ from the arguments of `moving` and a
        costate of q and q̇.
        """
        source = SolvedStart(moving, pullback=pullback)
        return RecursionWriter(self._tree, "start_pullback", source).backward(objectives)
