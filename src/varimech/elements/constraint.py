"""Constraint: user-defined equations of positions and time.

    Φ(q, t, ρ) = 0

The forces of the equations are −λ along ∂Φ/∂q; `effort` acts in the direction of increasing Φ.
"""

from __future__ import annotations

import casadi as ca

from ..core.symbols import SX
from ..model.body import Frames
from ..model.equation_element import EquationElement, velocities_of
from ..model.model_data import ModelData
from ..model.state import State


class Equation(EquationElement):
    """Equations of positions, angles and time that every motion satisfies.

    Example: `m.constraint("pulley", lambda s: s.position("A")[1] + 2 * s.position("B")[1] + 3.0)`.
    Define several equations as a list. Angles count turns.
    """

    kind = "constraint"

    def check_equations(self, model: ModelData, tried: SX, state: State) -> None:
        q, _, _ = state.coordinates
        speeds, states = velocities_of(model, state)
        for k, row in enumerate(ca.vertsplit(tried)):
            if ca.depends_on(row, speeds):
                raise self.refuse(
                    k,
                    "depends on velocities",
                    "define it with m.velocity_constraint, or use only positions",
                )
            if ca.depends_on(row, states):
                raise self.refuse(k, "depends on a state", "use positions only")
            if not ca.depends_on(row, q):
                raise self.refuse(
                    k,
                    "does not depend on positions, so no motion can satisfy or violate it",
                    "use positions of moving points, angles, displacements or distances",
                )

    def constraints(self, frames: Frames, state: State) -> SX:
        return self.equations(state)
