"""The interpreted backend: the loop in Python, each function evaluated by CasADi's virtual machine. Needs no compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from .program import Inputs, Program, StepFailure, Store, Trajectory


def run_interpreted(program: Program, inputs: Inputs, progress: Callable[[int], None] | None = None) -> Trajectory:
    """Carry out a program; `progress` is told the number of steps done, now and then."""
    return _Run(program, inputs).carry_out(progress)


class _Run:
    """The arrays that the functions work on in place, and the bound calls."""

    def __init__(self, program: Program, inputs: Inputs):
        self.inputs = inputs
        self.with_tangent = program.tangent is not None
        n_x, n_y = program.iterate.numel_out(0), program.iterate.numel_out(1)
        o, p = program.objective_count, program.parameter_count
        state = self.state = inputs.state.astype(float).copy()
        new = self.new = state.copy()
        S = self.S = np.asfortranarray(inputs.sensitivities if inputs.sensitivities is not None else np.zeros((state.size, 0)))
        S_new = self.S_new = S.copy(order="F")
        work = np.zeros(program.finish.numel_out(1))
        x, y = np.zeros(n_x), np.zeros(n_y)
        self.work = work
        self.ratio, self.residuals = np.zeros(1), np.zeros(program.finish.numel_out(2))
        self.time = np.zeros(1)
        settings = [np.array([inputs.step]), inputs.penalty, inputs.parameters, self.time]
        ρ_t = [inputs.parameters, self.time]
        self.g, self.w = np.zeros(o), np.zeros(o)
        self.g_, self.w_ = np.zeros((o, p), order="F"), np.zeros((o, p), order="F")
        self.predict = _bound(program.predict, [state, *settings], [x, y])
        self.iterate = _bound(program.iterate, [state, x, y, *settings], [x, y, self.ratio])
        self.finish = _bound(program.finish, [state, x, y, *settings], [new, work, self.residuals])
        self.measure = _bound(program.objectives, [new, *ρ_t], [self.g, self.w])
        if program.tangent is not None and program.objective_tangent is not None:
            self.tangent = _bound(program.tangent, [state, S, work, *settings], [S_new])
            self.measure_tangent = _bound(program.objective_tangent, [new, S_new, *ρ_t], [self.g_, self.w_])

    def carry_out(self, progress: Callable[[int], None] | None) -> Trajectory:
        i = self.inputs
        ψ, ψ_ = np.zeros_like(self.g), np.zeros_like(self.g_)
        stored = Store(i, self.g.size, self.S.shape[1] if self.with_tangent else None)
        self._measure()
        stored.take(0.0, self.state, self.S, ψ + self.w, ψ_ + self.w_)
        worst, iterations = np.zeros_like(self.residuals), 0
        for n in range(1, i.steps + 1):
            self.time[0] = n * i.step
            g, g_ = self.g.copy(), self.g_.copy()
            iterations += self._step(n)
            ψ += i.step / 2 * (g + self.g)
            ψ_ += i.step / 2 * (g_ + self.g_)
            np.maximum(worst, self.residuals, out=worst)
            if n % i.stride == 0 or n == i.steps:
                stored.take(self.time[0], self.state, self.S, ψ + self.w, ψ_ + self.w_)
            if progress is not None and n % 64 == 0:
                progress(n)
        return stored.trajectory(worst, iterations)

    def _step(self, n: int) -> int:
        iterations = self._solve(n)
        self.finish()
        if not np.isfinite(self.new).all():
            raise self._failure(n, finite=False)
        if self.with_tangent:
            self.tangent()
            self.S[:] = self.S_new
        self._measure()
        self.state[:] = self.new
        return iterations

    def _solve(self, n: int) -> int:
        self.predict()
        for k in range(1, self.inputs.max_iterations + 1):
            self.iterate()
            if self.ratio[0] <= 1.0:
                return k
            if self.ratio[0] != self.ratio[0] or np.isinf(self.ratio[0]):
                raise self._failure(n, finite=False)
        raise self._failure(n, finite=True)

    def _failure(self, n: int, *, finite: bool) -> StepFailure:
        return StepFailure(n, float(self.time[0]), self.state.copy(), finite=finite)

    def _measure(self) -> None:
        self.measure()
        if self.with_tangent:
            self.measure_tangent()


def _bound(function: ca.Function, arguments: list[np.ndarray], results: list[np.ndarray]) -> Callable[[], None]:
    """A call of the function on fixed arrays (column-major), without copies."""
    buffer: Any
    buffer, call = function.buffer()
    for k, array in enumerate(arguments):
        buffer.set_arg(k, _view(array))
    for k, array in enumerate(results):
        buffer.set_res(k, _view(array))
    # the buffer does not own what it points to
    return _Bound(buffer, call, [*arguments, *results])


class _Bound:
    def __init__(self, buffer: Any, call: Callable[[], None], arrays: list[np.ndarray]):
        self._kept = (buffer, arrays)
        self._call = call

    def __call__(self) -> None:
        self._call()


def _view(array: np.ndarray) -> memoryview:
    flat = array.reshape(-1, order="F")
    if array.size and not np.shares_memory(flat, array):
        raise ValueError("array is not contiguous in column-major order")
    return flat.data
