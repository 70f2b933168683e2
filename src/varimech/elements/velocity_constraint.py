"""Velocity constraint: equations that are linear in the velocities. They are nonholonomic unless they
follow from equations of positions.

    Ψ = A(q, t, ρ) q̇ + b(q, t, ρ) = 0

The forces of the equations are −λ along ∂Ψ/∂q̇. Each equation constrains the velocities but not the
positions: initial conditions need the same positions as without it, but one speed fewer
(`coordinates/released_rates`).
"""

from __future__ import annotations

import casadi as ca

from ..core.symbols import SX
from ..model.body import Frames
from ..model.equation_element import EquationElement, velocities_of
from ..model.model_data import ModelData
from ..model.state import State


class VelocityEquation(EquationElement):
    """Equations that are linear in the velocities and that every motion satisfies: blades, wheels,
    casters.

    Example: `m.velocity_constraint("blade", lambda s: s.velocity("P")[1] * vm.cos(s.angle("sleigh")) -
    s.velocity("P")[0] * vm.sin(s.angle("sleigh")))`. Define several equations as a list.
    """

    kind = "velocity constraint"

    def check_equations(self, model: ModelData, tried: SX, state: State) -> None:
        speeds, states = velocities_of(model, state)
        for k, row in enumerate(ca.vertsplit(tried)):
            if ca.depends_on(row, states):
                raise self.refuse(
                    k,
                    "depends on a state",
                    "use positions and velocities only",
                )
            if not ca.depends_on(row, speeds):
                raise self.refuse(
                    k,
                    "does not depend on velocities",
                    "define position equations with m.constraint",
                )
            if ca.depends_on(ca.jacobian(row, speeds), speeds):
                raise self.refuse(
                    k,
                    "is not linear in the velocities",
                    "write it as a sum of velocities times functions of positions and time",
                )

    @property
    def velocity_rows(self) -> int:
        return self._count

    def velocity_constraints(self, frames: Frames, state: State) -> SX:
        return self.equations(state)
