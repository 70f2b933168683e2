"""Arrays of an interpreted run and the functions of its program, bound to them.

A run keeps its stages (X, G) and their derivatives (X_, G_): stage 0 is the state at the beginning
of a step, stage `last` the one at its end. Chains read (q, v) from Y or a whole state from X[0],
and write their result to `new`; objectives are evaluated at `new`. explicit.c has the same
operations.
"""

from __future__ import annotations

import numpy as np

from ..integrators.runge_kutta import RungeKutta
from .bound import Call, bound
from .chain_calls import AttemptFailure, ChainCalls
from .explicit import ExplicitScheme, Stages, combined
from .failures import NOT_FINITE, StepFailure
from .inputs import Inputs
from .program import ChainFunctions, Function, Program


class Workspace:
    """Arrays and bound functions of one run; a trailing underscore marks derivatives."""

    def __init__(self, program: Program, inputs: Inputs):
        self.program, self.inputs, self.schedule = program, inputs, inputs.schedule
        self.watches = program.watches(inputs.schedule)
        self.chooses = self.watches or bool(inputs.schedule.tolerance)
        modal = program.units is not None or program.passage is not None
        # events set modes, which belong to the run and not to its inputs
        self.parameters = inputs.parameters.copy() if modal else inputs.parameters
        self.directions = program.direction_count or 0
        self.scheme = None if program.scheme is None else self._explicit_scheme(program.scheme)
        self._allocate()
        self.iterations = 0
        self._records = program.adjoint
        self.solved: list[np.ndarray] = []
        """Solutions of iterated chains in the present step, which adjoint programs record."""
        implicit = self.scheme is None
        self.finish = self.bind_chain(
            program.step,
            [self.step, *self.settings] if implicit else self.settings,
            whole_state=implicit,
        )
        self.rates = (
            self.finish if program.rates is None else self.bind_chain(program.rates, self.settings)
        )
        o = program.objectives
        self.integrands = self._bind_objectives(o.integrands, o.integrand_tangent)
        self.finals = self._bind_objectives(o.finals, o.final_tangent)

    def _explicit_scheme(self, scheme: RungeKutta) -> ExplicitScheme:
        floors = self.inputs.sensitivity_floors if self.directions else np.zeros(0)
        return ExplicitScheme(
            scheme,
            self.program.coordinates,
            self.inputs,
            floors,
            self.program.objective_count,
            may_rest=self.program.units is not None,
        )

    def _allocate(self) -> None:
        program, inputs, p = self.program, self.inputs, self.directions
        n, o, row = program.state_size, program.objective_count, program.row_length
        stages, self.last = 2, 1
        if self.scheme is not None:
            t = self.scheme.tables
            stages, self.last = t.stages + 1 + t.extra, t.stages
        self.X, self.X_ = np.zeros((stages, n)), np.zeros((stages, n, row))
        self.G, self.G_ = np.zeros((stages, o)), np.zeros((stages, o, p))
        self.new, self.new_ = np.zeros(n), np.zeros((n, row))
        self.value, self.derivative = np.zeros(o), np.zeros((o, p))
        self.ψ, self.ψ_ = np.zeros(o), np.zeros((o, p))
        q = program.coordinates
        self.Y, self.Y_ = np.zeros(2 * q), np.zeros((2 * q, row))
        self.time, self.step = np.zeros(1), np.array([self.schedule.step])
        self.seeds = program.seeds.copy()
        self.penalty, self.chosen = np.zeros(program.penalty.numel_out(0)), np.zeros(q)
        if inputs.chosen is not None:
            self.chosen[:] = inputs.chosen
        self.bare_settings = [self.penalty, self.parameters, self.time]
        selects = program.jacobian is not None
        self.settings = [self.chosen, *self.bare_settings] if selects else self.bare_settings

    def bind_chain(
        self, chain: ChainFunctions, settings: list[np.ndarray], *, whole_state: bool = False
    ) -> ChainCalls:
        """Bind a chain from (q, v), or from the whole state, to the new state."""
        return ChainCalls(
            chain,
            self.X[0] if whole_state else self.Y,
            self.X_[0] if whole_state else self.Y_,
            settings,
            self.new,
            self.new_,
            self.inputs.max_iterations,
            self.seeds,
        )

    def _bind_objectives(self, function: Function, tangent: Function | None) -> Call:
        """Bind objectives at the new state to `value`, and their derivatives to `derivative`."""
        at = [self.parameters, self.time]
        value = bound(function, [self.new, *at], [self.value])
        if tangent is None:
            return value
        derivative = bound(tangent, [self.new, self.new_, *at], [self.derivative])

        def both() -> None:
            value()
            derivative()

        return both

    @property
    def stages(self) -> Stages:
        """States, their derivatives in all directions (without padding), and integrands at all
        stages.
        """
        return self.X, self.X_[:, :, : self.directions], self.G

    @property
    def explicit(self) -> ExplicitScheme:
        """The explicit scheme, in runs that have one."""
        assert self.scheme is not None
        return self.scheme

    def given_end(self, number: int) -> float:
        """Return the end of a given step."""
        schedule = self.schedule
        return float(schedule.step * number if schedule.ends is None else schedule.ends[number])

    def evaluate(self, chain: ChainCalls, time: float, h: float, weights: np.ndarray) -> None:
        """Evaluate a chain at a combination of stages."""
        self.time[0] = time
        self.Y[:] = combined(self.X, self.program.coordinates, h, weights)
        self.Y_[:] = combined(self.X_, self.program.coordinates, h, weights)
        self.solve(chain)

    def solve(self, chain: ChainCalls) -> None:
        """Evaluate a chain.

        Raises:
            AttemptFailure: if it does not converge, or the new state is not finite.
        """
        self.iterations += chain.solve()
        if self._records:
            self.solved.append(chain.solved(self.program.solved_sizes))
        if not np.isfinite(self.new).all():
            raise AttemptFailure(NOT_FINITE)

    def keep(self, k: int) -> None:
        """Store the new state as stage k, with its integrands."""
        self.integrands()
        self.X[k], self.X_[k], self.G[k], self.G_[k] = (
            self.new,
            self.new_,
            self.value,
            self.derivative,
        )

    def restore(self) -> None:
        """Make the state at the beginning of the step the new one."""
        self.new[:], self.new_[:] = self.X[0], self.X_[0]

    def integrands_at(self, state: np.ndarray, time: float = 0.0) -> np.ndarray:
        """Return the integrands at a state and a time, the initial one by default."""
        kept, start = self.new.copy(), self.time[0]
        self.new[:], self.time[0] = state, time
        self.integrands()
        self.new[:], self.time[0] = kept, start
        return self.value.copy()

    def accelerations_at(self, time: float) -> np.ndarray | None:
        """Return the accelerations at the initial positions and velocities for another time; None
        if the chain has no solution.
        """
        n, start = self.program.coordinates, self.time[0]
        try:
            self.evaluate(self.rates, time, 0.0, np.zeros(0))
        except AttemptFailure:
            return None
        finally:
            self.time[0] = start
        accelerations = self.new[2 * n : 3 * n].copy()
        self.restore()
        return accelerations

    def failure(
        self, step: int, end: float, length: float, reason: str, culprit: int = -1
    ) -> StepFailure:
        """Create the error for a failed step."""
        state, penalty = self.X[0].copy(), self.penalty.copy()
        return StepFailure(step, end, length, state, penalty, reason, culprit)
