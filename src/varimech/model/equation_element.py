"""Common base of constraints that users write: one or several equations, their unit, and the forces
that enforce them.
"""

from __future__ import annotations

import casadi as ca

from ..core.errors import ModelError
from ..core.symbols import SX
from . import fields
from .force import Force
from .model_data import ModelData
from .state import State
from .user_functions import trial_state

UNITS = ("m", "rad", "1")


class EquationElement(Force):
    """Equations that hold along every motion."""

    equations = fields.StateFunction(
        "Expression that must vanish: a function of the state, a string with an expression in t and the"
        " state, or a list of these.",
        size="any",
        positional=True,
    )
    unit = fields.Choice(
        'Unit of the equations: "m" (forces in N), "rad" (torques in N·m) or "1" (J). For equations'
        " between velocities, give the unit of the equations multiplied by s.",
        options=UNITS,
        default="m",
    )

    def prepare(self, model: ModelData) -> None:
        """Count and check the equations."""
        state = trial_state(model, self.label)
        tried = self.equations(state)
        if not tried.numel():
            raise ModelError("has no equation", element=self.label, remedy="return one or more")
        self._count = tried.numel()
        self.check_equations(model, tried, state)

    def check_equations(self, model: ModelData, tried: SX, state: State) -> None:
        """Check the equations with free symbols of the state."""
        raise NotImplementedError

    def effort_names(self) -> dict[str, str]:
        """One name for each equation: `name`, or `name [0]`, `name [1]`, … if there are several."""
        names = [self.name]
        if self._count > 1:
            names = [f"{self.name} [{k}]" for k in range(self._count)]
        return dict.fromkeys(names, self.unit)

    def refuse(self, k: int, problem: str, remedy: str) -> ModelError:
        """Return an error about one of the equations."""
        which = f"equation {k} " if self._count > 1 else ""
        return ModelError(which + problem, element=self.label, remedy=remedy)


def velocities_of(model: ModelData, state: State) -> tuple[SX, SX]:
    """Symbols of the velocities and first-order states of a trial state; inside the equations,
    these are velocities.
    """
    _, v, _ = state.coordinates
    names = [c.name for c in model.own_coordinates if c.order == 1]
    states = ca.vertcat(SX(0, 1), *map(state.state, names))
    hashes = {x.element_hash() for x in ca.vertsplit(states)} if names else set()
    speeds = [x for x in ca.vertsplit(v) if x.element_hash() not in hashes] if v.numel() else []
    return ca.vertcat(SX(0, 1), *speeds), states
