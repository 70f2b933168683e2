"""The interpreted backend: the loop in Python, each function evaluated by CasADi's virtual machine. Needs no compiler."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .bound import bound
from .columns import all_columns, seeds
from .program import (
    NEGLIGIBLE,
    NO_CONVERGENCE,
    NOT_FINITE,
    OVERWOUND,
    ChainFunctions,
    Inputs,
    Program,
    StartFailure,
    StepFailure,
    Store,
    Trajectory,
)


def run_interpreted(program: Program, inputs: Inputs, progress: Callable[[int], None] | None = None) -> Trajectory:
    """Carry out a program; `progress` is told the number of steps done, now and then.

    Raises:
        StartFailure: if no start is found from the guess.
        StepFailure: if a step fails.
    """
    return _Run(program, inputs).carry_out(progress)


class _Run:
    """The arrays that the functions work on in place, and the bound calls."""

    def __init__(self, program: Program, inputs: Inputs):
        self.program = program
        self.inputs = inputs
        n, o, p, row = program.state_size, program.objective_count, program.parameter_count or 0, program.row_length
        self.count = p
        self.with_tangent = program.parameter_count is not None
        self.state, self.new = np.zeros(n), np.zeros(n)
        self.S, self.S_new = np.zeros((n, row)), np.zeros((n, row))
        self.g, self.w = np.zeros(o), np.zeros(o)
        self.g_, self.w_ = np.zeros((o, p)), np.zeros((o, p))
        self.time, self.penalty = np.zeros(1), np.zeros(program.penalty.numel_out(0))
        ρ_t = [inputs.parameters, self.time]
        settings = [np.array([inputs.step]), self.penalty[: program.step.predict.numel_in(2)], *ρ_t]
        self.step = _ChainCalls(program.step, self.state, self.S, settings, self.new, self.S_new)
        q = program.penalty.numel_in(0)
        self.guess = np.zeros(q)
        self.weigh = bound(program.penalty, [self.guess, *ρ_t], [self.penalty])
        self.twist, self.last_twist = np.zeros(program.twist.numel_out(0)), np.zeros(program.twist.numel_out(0))
        self.watch = bound(program.twist, [self.new[:q], *ρ_t], [self.twist])
        self.measure = bound(program.objectives, [self.new, *ρ_t], [self.g, self.w])
        if program.objective_tangent is not None:
            self.measure_tangent = bound(program.objective_tangent, [self.new, self.S_new, *ρ_t], [self.g_, self.w_])

    def carry_out(self, progress: Callable[[int], None] | None) -> Trajectory:
        i = self.inputs
        ψ, ψ_ = np.zeros_like(self.g), np.zeros_like(self.g_)
        stored = Store(i, self.program)
        worst = self._begin()
        iterations = 0
        stored.take(0.0, self.state, self.S[:, : self.count], ψ + self.w, ψ_ + self.w_)
        for n in range(1, i.steps + 1):
            self.time[0] = n * i.step
            g, g_ = self.g.copy(), self.g_.copy()
            iterations += self._step(n)
            if self.program.step.increments:
                ψ += self.step.increments
                ψ_ += self.step.increment_slopes[:, : self.count]
            else:
                ψ += i.step / 2 * (g + self.g)
                ψ_ += i.step / 2 * (g_ + self.g_)
            np.maximum(worst, self.step.residuals, out=worst)
            if n % i.stride == 0 or n == i.steps:
                stored.take(self.time[0], self.state, self.S[:, : self.count], ψ + self.w, ψ_ + self.w_)
            if progress is not None and n % 64 == 0:
                progress(n)
        return stored.trajectory(worst, iterations)

    def _begin(self) -> np.ndarray:
        """Find or take the start; returns its residuals."""
        i, residuals = self.inputs, np.zeros(3)
        first = i.state if i.guess is None else i.guess
        assert first is not None
        self.guess[:] = first[: self.guess.size]
        self.weigh()
        if i.guess is not None:
            assert self.program.start is not None
            settings = [self.penalty, i.parameters, self.time]
            start = _ChainCalls(self.program.start, self.guess, None, settings, self.new, self.S_new)
            if start.solve(i.max_iterations) is None or not np.isfinite(self.new).all() or not (start.residuals <= 1e-6).all():
                raise StartFailure
            residuals = start.residuals
        else:
            self.new[:] = first
            if i.sensitivities is not None:
                self.S_new[:, : i.sensitivities.shape[1]] = i.sensitivities
        self.watch()
        self._accept()
        return residuals.copy()

    def _step(self, n: int) -> int:
        iterations = self.step.solve(self.inputs.max_iterations)
        if iterations is None:
            raise self._failure(n, NO_CONVERGENCE if np.isfinite(self.step.ratio[0]) else NOT_FINITE)
        if not np.isfinite(self.new).all():
            raise self._failure(n, NOT_FINITE)
        self.last_twist[:] = self.twist
        self.watch()
        if (jumps := np.abs(self.twist - self.last_twist) > np.pi).any():
            raise self._failure(n, OVERWOUND, int(jumps.argmax()))
        self._accept()
        return iterations

    def _failure(self, n: int, reason: str, which: int = 0) -> StepFailure:
        return StepFailure(n, float(self.time[0]), self.state.copy(), self.penalty.copy(), reason, which)

    def _accept(self) -> None:
        """Make the new state the current one, and measure it."""
        self.measure()
        if self.with_tangent:
            self.measure_tangent()
            self.S[:] = self.S_new
        self.state[:] = self.new


class _ChainCalls:
    """A chain bound to arrays: from `state` (and its derivatives S) to `result` (and its derivatives)."""

    def __init__(
        self,
        chain: ChainFunctions,
        state: np.ndarray,
        S: np.ndarray | None,
        settings: list[np.ndarray],
        result: np.ndarray,
        S_new: np.ndarray,
    ):
        x, y = np.zeros(chain.iterate.numel_out(0)), np.zeros(chain.iterate.numel_out(1))
        self.ratio, self.residuals = np.zeros(1), np.zeros(3)
        self.predict = bound(chain.predict, [state, *settings], [x, y])
        self.iterate = bound(chain.iterate, [state, x, y, *settings], [x, y, self.ratio])
        slopes = np.zeros((state.size, S_new.shape[1])) if S is None else S
        arguments, results = [state, x, y], [result, self.residuals]
        count = chain.finish.numel_out(2) if chain.increments else 0
        self.increments, self.increment_slopes = np.zeros(count), np.zeros((count, S_new.shape[1]))
        if chain.increments:
            results.append(self.increments)
        self.tangent: Callable[[], None] | None = None
        if chain.tangent is not None:
            coefficients = np.zeros(chain.tangent.numel_in(0))
            results.append(coefficients)
            every = all_columns(chain.tangent, chain.tangent.numel_in(2), result.size)
            self.tangent = bound(every, [coefficients, slopes, seeds(chain.tangent.numel_in(2))], [S_new, self.increment_slopes])
        elif chain.finish.n_out() == 3 and not chain.increments:
            arguments.append(slopes)
            results.append(S_new)
        self.finish = bound(chain.finish, [*arguments, *settings], results)

    def solve(self, max_iterations: int) -> int | None:
        """Carry it out; returns the number of iterations, None if they did not converge."""
        self.predict()
        last = 0.0
        for k in range(1, max_iterations + 1):
            self.iterate()
            ratio = float(self.ratio[0])
            if ratio <= 1.0 or ratio * ratio * ratio <= NEGLIGIBLE * last * last:
                self.finish()
                if self.tangent is not None:
                    self.tangent()
                return k
            if not ratio <= 1e300:
                return None
            last = ratio
        return None
