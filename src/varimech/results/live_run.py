"""Outputs of a finished run, evaluated from its states at the output times when they are requested.

A run may have stored less: states at the ends of steps only, or no derivatives. It is then repeated
over the same steps when more is requested (`Replay`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import casadi as ca
import numpy as np

from ..backends.trajectory import Trajectory
from ..coordinates.counted_angles import TURN, angle_name
from ..coordinates.equations import Equations
from ..coordinates.redundancy import RedundantReactions, Sampled
from ..core.angles import unwrapped
from ..core.interrupts import deferred_interrupts
from ..core.symbols import SX, symbols_in
from ..model.user_functions import column_of
from ..schemes import Method
from ..sensitivity.direct import parameter_seeds
from ..sensitivity.objective import StateFunction, checked_callable
from .catalog import OUTPUTS
from .output_functions import OutputFunction, kept

SLICE = 4096
"""Number of stored times that are evaluated in one call."""


class Replay(Protocol):
    """A repetition of the same run over the same steps, computed when it is first requested."""

    @property
    def time(self) -> np.ndarray:
        """Output times (s)."""

    @property
    def motion(self) -> Trajectory:
        """States and objectives at the output times."""

    @property
    def derivatives(self) -> Trajectory:
        """States and objectives with their derivatives."""


@dataclass(frozen=True)
class LiveRun:
    """A trajectory together with the equations it solves."""

    equations: Equations
    computed: Trajectory
    """Trajectory that the run itself has stored."""
    parameters: np.ndarray
    indices: list[int]
    """Indices of the parameters with respect to which it was differentiated."""
    method: Method | None = None
    """Method of the run; None if nothing moves."""
    within: tuple[LiveRun, np.ndarray] | None = None
    """The run from which these rows are taken, if they are not all of them; turns are counted over
    all rows.
    """
    replay: Replay | None = None
    """Source of everything that the run has not stored."""

    @property
    def time(self) -> np.ndarray:
        """Output times (s)."""
        if self.within is not None:
            return self.within[0].time[self.within[1]]
        return self.computed.time if self.replay is None else self.replay.time

    @cached_property
    def trajectory(self) -> Trajectory:
        """States at the output times."""
        if self.within is not None:
            return _rows(self.within[0].trajectory, self.within[1])
        return self.computed if self.replay is None else self.replay.motion

    @property
    def differentiated(self) -> bool:
        """Whether there are derivatives at the output times."""
        if self.within is not None:
            return self.within[0].differentiated
        return self.replay is not None or self.computed.sensitivities is not None

    @cached_property
    def derivatives(self) -> Trajectory:
        """States at the output times with their derivatives, if it is `differentiated`."""
        if self.within is not None:
            return _rows(self.within[0].derivatives, self.within[1])
        return self.computed if self.replay is None else self.replay.derivatives

    @property
    def parameter_names(self) -> list[str]:
        """Names of the parameters with respect to which it was differentiated."""
        names = list(self.equations.model.parameter_set.parameters)
        return [names[k] for k in self.indices]

    def at_rows(self, rows: np.ndarray) -> LiveRun:
        """Restrict the run to some of its stored times."""
        return replace(self, within=(self, rows))

    def angles(self, names: Sequence[str]) -> np.ndarray:
        """Angles of bodies or joints without jumps, from the given initial value or else from a
        value in (−π, π]: (time, name).
        """
        if self.within is not None:
            whole, rows = self.within
            return whole.angles(names)[rows]
        e, time = self.equations, self.time
        values = self.evaluate(ca.vertcat(SX(0, 1), *[e.state.angle(name) for name in names]))
        rates = self.evaluate(
            ca.vertcat(SX(0, 1), *[e.state.angular_velocity(name) for name in names])
        )
        counted = [angle_name(e.model, name) for name in names]
        columns = [
            values[:, [k]]
            if counted[k] in e.counted
            else unwrapped(values[:, [k]], rates[:, [k]], time, self._initial_angle(name))
            for k, name in enumerate(names)
        ]
        return np.hstack([np.zeros((time.size, 0)), *columns])

    def _initial_angle(self, name: str) -> float | None:
        """Given initial angle of a body or joint; None if there is none."""
        numbers, initial = self.equations.model.parameter_set, self.equations.given_angles(name)
        return None if initial is None else float(numbers.evaluate(initial, self.parameters).item())

    def turns_in(self, expression: SX) -> tuple[list[SX], list[np.ndarray]]:
        """Symbols for numbers of turns in an expression, as one vector, and their values, (time,
        number); empty if there are none.
        """
        e, own = self.equations, symbols_in(expression)
        asked = {name: n for name, n in e.probe.turns.items() if n.element_hash() in own}
        if not asked:
            return [], []
        plain = self.evaluate(ca.vertcat(*[e.state.angle(name) for name in asked]))
        return [ca.vertcat(*asked.values())], [np.round((self.angles(list(asked)) - plain) / TURN)]

    @cached_property
    def redundant_reactions(self) -> RedundantReactions:
        """Reactions that are not unique because constraints are redundant."""
        return self.equations.redundancy.shared(*self._sampled())

    def depends_on_shares(self, *functions: StateFunction) -> bool:
        """Whether functions of the state depend on the load shares of redundant constraints."""
        return self.equations.redundancy.concerns(functions, self._sampled)

    def _sampled(self) -> Sampled:
        return *self.computed.sampled, self.parameters

    def expression(self, function: StateFunction | str, name: str) -> SX:
        """Evaluate a function of the state in symbols, as a column.

        Raises:
            ModelError: if it is not one, or depends on more than state, time and parameters.
        """
        e, label = self.equations, f"output {name!r}"
        column = column_of(checked_callable(function, "an output"), e.probed_state(e.probe), label)
        e.model.parameter_set.check_symbols(
            column, label, symbols_in(e.packed, e.t, *e.probe.turns.values())
        )
        return column

    def evaluate(self, expression: SX) -> np.ndarray:
        """Evaluate an expression of the state at all stored times: (time, component)."""
        e, T, (symbols, turns) = self.equations, self.trajectory, self.turns_in(expression)
        function = ca.Function(
            "output", [e.ρ, e.packed, e.t, *symbols], [ca.densify(ca.vec(expression))]
        )
        return self._over_time(OutputFunction(function), T.states, T.time, *turns)

    def column(self, kind: str, names: Sequence[str]) -> SX:
        """Outputs of one kind, stacked, in symbols; columns of matrices follow each other."""
        get, state = OUTPUTS[kind].get, self.equations.state
        return ca.vertcat(*[ca.vec(get(state, name)) for name in names])

    def evaluate_named(self, kind: str, names: Sequence[str]) -> np.ndarray:
        """Evaluate outputs of one kind, stacked, at all stored times: (time, component)."""
        return self.evaluate_kept((kind, *names), lambda: self.column(kind, names))

    def evaluate_kept(self, key: object, build: Callable[[], SX]) -> np.ndarray:
        """Evaluate an expression of the state at all stored times, (time, component), with a
        compiled function that later runs of the same equations reuse by its key. It must not depend
        on turns, which only users' functions do.
        """
        e, T = self.equations, self.trajectory

        def function() -> OutputFunction:
            column = ca.densify(ca.vec(build()))
            return OutputFunction(ca.Function("output", [e.ρ, e.packed, e.t], [column]))

        return self._over_time(kept(e, key, function), T.states, T.time)

    def derivative(self, expression: SX) -> np.ndarray:
        """Derivatives of an expression with respect to the parameters at all stored times: (time,
        component, parameter).
        """
        e, T, p = self.equations, self.derivatives, len(self.indices)
        assert T.sensitivities is not None
        state = e.packed
        S = SX.sym("S", p, state.numel())  # transposed, the memory order of the array
        u, u_ = ca.vertcat(state, e.ρ), ca.vertcat(S.T, parameter_seeds(e.ρ.numel(), self.indices))
        derivative, (symbols, turns) = (
            ca.densify(ca.jtimes(ca.vec(expression), u, u_)),
            self.turns_in(expression),
        )
        function = ca.Function("derivative", [e.ρ, state, S, e.t, *symbols], [derivative])
        values = self._over_time(
            OutputFunction(function), T.states, T.sensitivities, T.time, *turns
        )
        return values.reshape(T.time.size, p, derivative.shape[0]).transpose(0, 2, 1)

    @property
    def _parameters_over_time(self) -> np.ndarray:
        return self.computed.parameters_at(self.time, self.parameters)

    def _over_time(self, function: OutputFunction, *of_time: np.ndarray) -> np.ndarray:
        """Evaluate a function of the parameters and of time-dependent arrays at all stored times:
        (time, number).

        CasADi reads and writes the arrays in place, which is many times faster than conversion, but
        swallows Ctrl-C: an interrupt waits for the end of a slice.
        """
        count = self.time.size
        values = np.empty((count, function.size))
        # modes, which only events change, vary with time, too
        varies = self.computed.modes is not None and self.computed.modes.shape[1] > 0
        of_time = (self._parameters_over_time, *of_time) if varies else of_time
        shared = [] if varies else [np.ascontiguousarray(self.parameters, dtype=float)]
        buffer: Any = None
        with deferred_interrupts() as held:
            for begin in range(0, count, SLICE):
                end = min(begin + SLICE, count)
                rows = [np.ascontiguousarray(array[begin:end], dtype=float) for array in of_time]
                if buffer is None or end - begin < SLICE:
                    buffer, evaluate = function.at_times(
                        end - begin, shares_first=not varies
                    ).buffer()
                for k, argument in enumerate((*shared, *rows)):
                    buffer.set_arg(k, argument.data)
                buffer.set_res(0, values[begin:end].data)
                evaluate()
                held.deliver()
        return values


def _rows(trajectory: Trajectory, rows: np.ndarray) -> Trajectory:
    """States, and derivatives if there are any, at some of the stored times."""
    S = trajectory.sensitivities
    return replace(
        trajectory,
        time=trajectory.time[rows],
        states=trajectory.states[rows],
        sensitivities=None if S is None else S[rows],
    )
