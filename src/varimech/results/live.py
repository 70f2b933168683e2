"""Measures of a finished run, evaluated from its stored states when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ..backends.program import Trajectory
from ..coordinates.equations import Equations
from ..model.measures import Turn
from ..model.start import HeldMeasure
from ..sensitivity.direct import parameter_seeds
from ..symbols import SX


@dataclass(frozen=True)
class LiveRun:
    """A trajectory together with the equations it solves."""

    equations: Equations
    trajectory: Trajectory
    parameters: np.ndarray
    indices: list[int]
    """Positions of the parameters it was differentiated for."""

    @property
    def parameter_names(self) -> list[str]:
        """Names of those parameters."""
        names = list(self.equations.model.numbers.parameters)
        return [names[k] for k in self.indices]

    def at_rows(self, rows: np.ndarray) -> LiveRun:
        """The same at some of its stored times only."""
        T = self.trajectory
        S = None if T.sensitivities is None else T.sensitivities[rows]
        return replace(self, trajectory=replace(T, time=T.time[rows], states=T.states[rows], sensitivities=S))

    def held_angle(self, name: str) -> float | None:
        """The angle of a body or joint that the start gives, if it does."""
        model = self.equations.model
        for hold in model.start_conditions.holds if model.start_conditions else ():
            if isinstance(hold, HeldMeasure) and isinstance(hold.measure, Turn) and hold.label == f"angle of {name!r}":
                return float(model.numbers.evaluate(hold.at, self.parameters).item())
        return None

    def evaluate(self, expression: SX) -> np.ndarray:
        """An expression of the state at all stored times: (time, component)."""
        e, T = self.equations, self.trajectory
        state = e.packed
        function = ca.Function("measure", [state, e.ρ, e.t], [ca.densify(ca.vec(expression))])
        return np.array(function(T.states.T, self.parameters, T.time[None, :])).T

    def derivative(self, expression: SX) -> np.ndarray:
        """Its derivatives with respect to the parameters at all stored times: (time, component, parameter)."""
        e, T, p = self.equations, self.trajectory, len(self.indices)
        assert T.sensitivities is not None
        state = e.packed
        S = SX.sym("S", state.numel(), p)
        u, u_ = ca.vertcat(state, e.ρ), ca.vertcat(S, parameter_seeds(e.ρ.numel(), self.indices))
        slope = ca.densify(ca.jtimes(ca.vec(expression), u, u_))
        function = ca.Function("slope", [state, S, e.ρ, e.t], [slope])
        count, size = T.time.size, slope.shape[0]
        columns = T.sensitivities.transpose(1, 0, 2).reshape(state.numel(), count * p)
        values = np.array(function(T.states.T, columns, self.parameters, T.time[None, :]))
        return values.reshape(size, count, p).transpose(1, 0, 2)
