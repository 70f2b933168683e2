"""Hessian-vector products of many samples: runs augmented with their tangent in one direction
(`second_order.py`), which is part of each row, in one call of compiled code or on a GPU.

Where a tolerance chooses the steps, runs with first derivatives choose them for each sample, as
they do for single runs, and runs with second derivatives take the same steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..backends.kept_steps import StepSampler
from ..backends.runner import Runner
from ..backends.sampler import Sampler, Samples, in_slices, joined
from ..backends.sweeps import AdjointSampler
from ..core.interrupts import workers
from .derivative_request import DerivativeRequest
from .ensemble_runs import chunks_of, most_steps, prepared
from .passages import may_pass
from .solver import Solver
from .start_continuation import ANYWHERE
from .task import Task

Execute = Callable[[Sampler, np.ndarray], Samples]
"""Function that executes the runs of a sampler."""


@dataclass(frozen=True)
class OfParameters:
    """A condition on parameters, for rows in which other data follow the parameters."""

    holds: Callable[[np.ndarray], np.ndarray]
    count: int

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return for each row whether the condition holds."""
        return self.holds(rows[:, : self.count])


@dataclass(frozen=True, eq=False)
class ProductSampler:
    """Sampler of Hessian-vector products for rows of parameter values and directions."""

    steps: StepSampler | None
    """Sampler that chooses the steps of each sample; None where they are equal."""
    along: Sampler
    """Sampler of gradients, and their derivatives in a direction."""
    shape: tuple[int, int]
    """Number of objectives and of parameters."""

    def __call__(
        self, rows: np.ndarray, directions: np.ndarray, execute: Execute
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute Hᵢ d for each row, (row, objective, parameter), and which rows succeeded."""
        whole, done = np.hstack([rows, directions]), np.ones(len(rows), dtype=bool)
        if self.steps is not None:
            # several directions may share a point, and its steps
            points, place = np.unique(rows, axis=0, return_inverse=True)
            chosen = execute(self.steps, points)
            place = place.reshape(-1)
            whole, done = np.hstack([whole, chosen.values[place, 0]]), chosen.done[place]
        products = np.full((len(rows), *self.shape), np.nan)
        if done.any():
            samples = execute(self.along, whole[done])
            assert samples.gradients is not None
            products[done] = samples.gradients[:, -1, self.shape[0] :]
            done[done] = samples.done
        products[~done] = np.nan
        return products, done


def product_sampler(solver: Solver, task: Task, runs: int) -> ProductSampler | None:
    """Return the sampler of `runs` runs with second derivatives; None where each has to be run
    individually: where events or jumps may have to be passed, or there is no compiled program that
    computes its own initial state.
    """
    if may_pass(solver.equations, task.objectives):
        return None
    # for an adjoint: the direction that chooses its steps
    directions = solver.derivative_request(task).directions
    common = prepared(solver, task, runs, DerivativeRequest(directions))
    if common is None:
        return None
    schedule, most, steps = task.schedule, task.schedule.steps, None
    if schedule.tolerance:
        if (chosen := most_steps(solver, task)) is None:
            return None
        most, steps = chosen, StepSampler(*common, steps=chosen)
        task = replace(task, schedule=schedule.replayed(np.array([0.0, schedule.duration])))
    along = _along(solver, task, runs, most)
    if along is None:
        return None
    along.given_steps = 0 if steps is None else most + 3
    return ProductSampler(steps, along, (len(task.objectives), len(task.indices or [])))


def _along(solver: Solver, task: Task, runs: int, steps: int) -> Sampler | None:
    """Return the sampler of runs with second derivatives and at most `steps` steps."""
    nominal = solver.model.parameter_set.nominal
    inputs = solver.inputs(task, nominal, guess=solver.nearby.positions)
    runner, augmented_inputs = solver.second_order.prepared(task, inputs)
    if not isinstance(runner, Runner) or runner.program.start is None:
        return None
    if not runner.compiled_for(augmented_inputs, task.backend, runs=runs):
        return None
    count, reach = nominal.size, solver.nearby.reach
    arguments = (
        runner.native,
        augmented_inputs,
        np.concatenate([reach, np.full(count, ANYWHERE)]),
        tuple(
            OfParameters(holds, count)
            for holds in (solver.model.parameter_set.allowed, solver.start.closure)
        ),
        # the motion is that of a run without second derivatives, which has been checked
        (np.inf, np.inf),
        solver.time_plan.shared(task.schedule, task.objectives, nominal),
    )
    if not task.adjoint:
        return Sampler(*arguments)
    return AdjointSampler(*arguments, wrt=task.indices or [], steps=steps)


def in_threads(sampler: Sampler, rows: np.ndarray, threads: int) -> Samples:
    """Execute all runs of a sampler, in threads."""
    chunks = chunks_of(len(rows), threads) or [range(0)]
    with workers(threads) as (pool, stop):
        parts = pool.map(
            lambda chunk: in_slices(sampler, rows[chunk.start : chunk.stop], stop), chunks
        )
        return joined(list(parts))
