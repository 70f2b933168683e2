"""Accelerations of an open tree in a time proportional to its size, for trees of any length: three
sweeps over its bodies.

    outward   positions, velocities, and what each body resists with,  I Ż + p  about its reference point (`recursion`)
    inward    the same of each body with all that hangs on it (`articulated`)
    outward   accelerations

Forces act on p between the first two. Each sweep is a few maps, carried out in turn, whose kernels
depend on the kinds of joints only; derivatives are swept along (`stages/forward`).
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...stages.plan import Plan
from ..equations import Equations
from .recursion_sources import Given, SolvedStart
from .recursion_writer import RecursionWriter
from .recursive_tree import RecursiveTree


class RecursionPasses:
    """Rates of an open tree, and the state at the end of a step, as plans."""

    def __init__(self, equations: Equations):
        self._tree = RecursiveTree(equations)

    def rates(self, directions: np.ndarray | None) -> Plan:
        """(q and q̇[, their derivatives], α, ρ, t) → q, q̇, q̈, λ and residuals[, derivatives]."""
        return RecursionWriter(self._tree, "rates", Given(drifted=False)).forward(directions)

    def end(self, directions: np.ndarray | None) -> Plan:
        """The same from positions and velocities that have drifted: Euler parameters are given unit
        length.
        """
        return RecursionWriter(self._tree, "step", Given(drifted=True)).forward(directions)

    def start(
        self, directions: np.ndarray | None, moving: ca.Function, tangent: ca.Function | None
    ) -> Plan:
        """The same from q and q̇ that `moving`, a function of (guess, positions, multipliers, α, ρ,
        t), yields, and `tangent` their derivatives.

        Its arguments are those of `moving`, and where there are derivatives also those of the
        guess, before α; nothing depends on them.
        """
        return RecursionWriter(self._tree, "start", SolvedStart(moving, tangent)).forward(
            directions
        )

    def rates_pullback(self, objectives: int) -> Plan:
        """(q and q̇, costate of the whole state, α, ρ, t) → costates of q and q̇, and of ρ; a
        column an objective.
        """
        return RecursionWriter(self._tree, "rates_pullback", Given(drifted=False)).backward(
            objectives
        )

    def end_pullback(self, objectives: int) -> Plan:
        """The same for `end`."""
        return RecursionWriter(self._tree, "step_pullback", Given(drifted=True)).backward(
            objectives
        )

    def start_pullback(self, objectives: int, moving: ca.Function, pullback: ca.Function) -> Plan:
        """The same for `start`; `pullback` yields ρ̄ from the arguments of `moving` and a costate
        of q and q̇.
        """
        source = SolvedStart(moving, pullback=pullback)
        return RecursionWriter(self._tree, "start_pullback", source).backward(objectives)
