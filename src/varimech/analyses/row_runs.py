"""Runs of one simulation at rows of parameter values: values, first and second derivatives of
objectives at the end of the run, and the reason of failure for each row that failed.

A single row is executed as by `gradient` and `hessian_product`; several rows are one call of
compiled code in threads, or on a GPU.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..backends.batch import Gpu
from ..backends.cuda import USE_THREADS, gpu_for
from ..backends.sampler import Sampler, Samples
from ..core.errors import ModelError, VarimechError, all_or_nothing
from ..core.interrupts import workers
from ..schemes import RunOptions
from ..sensitivity.finite_difference import RELATIVE_STEPS
from ..sensitivity.objective import Objective
from ..sensitivity.smoothness import check_gradients
from ..solving.ensemble_runs import rerun_failed, rerun_individually, run_many, sampler_for
from ..solving.second_order import check_second_order
from ..solving.second_order_samples import ProductSampler, in_threads, product_sampler
from ..solving.solver import Solver
from ..solving.task import Task
from .gradients import faster_method, gradient
from .hessians import MEMORY, faster_backward, second_derivatives
from .simulation import Simulation

Failures = dict[int, VarimechError]
"""Row → error of its run."""


@dataclass(eq=False)
class RowRuns:
    """Runs of a simulation at rows of values of the parameters at `indices`; other parameters keep
    their values in the simulation.
    """

    simulation: Simulation
    objectives: Mapping[str, Objective]
    indices: list[int]
    method: str = "auto"
    """Method of first derivatives: "direct", "adjoint", or "auto", the faster one."""
    threads: int | None = None
    """Number of simultaneous runs; one for each core if not given."""
    on_gpu: bool = False
    """Whether several rows are computed by a GPU."""
    _differentiable: Solver | None = field(default=None, init=False)
    """Solver whose objectives have passed the check for derivatives."""
    _programs: dict[bool, tuple[Sampler, Gpu]] = field(default_factory=dict, init=False)
    """GPU programs of runs without and with derivatives."""
    _kernels: dict[Sampler, Gpu] = field(default_factory=dict, init=False)
    """GPU kernels of runs with second derivatives."""
    _on_gpu_for: tuple[Solver, ProductSampler | None] | None = field(default=None, init=False)
    """Solver to which the kernels belong, and its sampler of Hessian-vector products."""

    @property
    def _threads(self) -> int:
        return self.threads or os.cpu_count() or 1

    @cached_property
    def _quiet(self) -> Simulation:
        """The simulation without progress bars, storing nothing between start and end."""
        s = self.simulation
        options: RunOptions = {**s.options, "progress": False}
        return replace(s, options=options, schedule=s.schedule.last_only())

    def values(self, points: np.ndarray) -> tuple[np.ndarray, Failures]:
        """Compute ψ, (row, objective), NaN where a run failed, and the errors of failed runs."""
        values, _, failures = self._run(points, None)
        return values, failures

    def first(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, Failures]:
        """Compute ψ, (row, objective), ∂ψ/∂x, (row, objective, parameter), and errors of failed
        runs.
        """
        self._check_gradients()
        if len(points) == 1:
            return self._single_gradient(points[0])
        values, gradients, failures = self._run(points, self.indices)
        assert gradients is not None
        return values, gradients, failures

    def second(self, points: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, Failures]:
        """Compute Hessians times a direction for each row, ∂²ψ/∂x² d, (row, objective, parameter).

        Rows with the same parameter values share the run that chooses the steps.
        """
        self._check_gradients()
        check_second_order(self.simulation.scheme)
        along, done = self._products(points, directions)
        places: dict[bytes, list[int]] = {}
        for k in np.flatnonzero(~done).tolist():
            places.setdefault(points[k].tobytes(), []).append(k)
        groups = list(places.values())
        failures: Failures = {}

        def computed(rows: list[int]) -> None:
            try:
                along[rows] = self._along(points[rows[0]], directions[rows])
            except VarimechError as error:
                failures.update(dict.fromkeys(rows, error))

        if groups:
            computed(groups[0])  # the first one compiles the code that the others share
        if len(groups) > 1:
            with workers(self._threads) as (pool, _):
                list(pool.map(computed, groups[1:]))
        return along, failures

    def _products(
        self, points: np.ndarray, directions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute Hessian-vector products of the rows that can be computed together; return them,
        and which rows were computed.
        """
        along = np.full((len(points), len(self.objectives), len(self.indices)), np.nan)
        done = np.zeros(len(points), dtype=bool)
        if len(points) < 2 or (sampler := self._second_order(len(points))) is None:
            return along, done
        whole = np.zeros((len(points), self.simulation.ρ.size))
        whole[:, self.indices] = directions

        def execute(runs: Sampler, rows: np.ndarray) -> Samples:
            if not self.on_gpu:
                return in_threads(runs, rows, self._threads)
            if runs not in self._kernels:
                self._kernels[runs] = gpu_for(runs)
            return runs.by(self._kernels[runs], rows)

        return sampler(self._rows(points), whole, execute)

    def _second_order(self, rows: int) -> ProductSampler | None:
        """Return the sampler of Hessian-vector products of `rows` rows; the kernels of a GPU are
        built once.
        """
        s = self._quiet
        solver = s.solver(self.objectives)
        if self._on_gpu_for is not None and self._on_gpu_for[0] is solver:
            return self._on_gpu_for[1]
        backward = faster_backward(len(self.objectives), len(self.indices))
        by = "adjoint" if backward else "direct"
        task = Task(s.schedule, self.objectives, self.indices, s.backend, False, by)
        if not self.on_gpu:
            return product_sampler(solver, task, rows)
        # for one run: a GPU needs no code for the CPU
        sampler = product_sampler(solver, replace(task, backend="auto"), 1)
        self._on_gpu_for = solver, sampler
        self._kernels.clear()
        return sampler

    def at(self, point: np.ndarray) -> Simulation:
        """Return the simulation at a point.

        Raises:
            ModelError: for values that parameters cannot have.
        """
        return self._quiet.at_row(self._rows(point[None])[0])

    def _check_gradients(self) -> None:
        """Refuse objectives that have no derivatives at any parameter values."""
        solver = self.simulation.solver(self.objectives)
        if self._differentiable is not solver:
            check_gradients(solver.equations, self.objectives)
            self._differentiable = solver

    def _along(self, point: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Compute derivatives of ∂ψ/∂x along directions, (direction, objective, parameter)."""
        s = self.at(point)
        whole = np.zeros((len(directions), s.ρ.size))
        whole[:, self.indices] = directions
        backward = faster_backward(len(self.objectives), len(self.indices))
        runs = second_derivatives(s, self.objectives, self.indices, list(whole), backward, MEMORY)
        return np.stack([d.gradients_along[-1] for d in runs.along])

    @all_or_nothing()
    def _single_gradient(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, Failures]:
        try:
            s = self.at(point)
            g = gradient(s, self.objectives, self.indices, self.method, RELATIVE_STEPS, MEMORY)
        except VarimechError as error:
            values = np.full((1, len(self.objectives)), np.nan)
            return values, np.full((*values.shape, len(self.indices)), np.nan), {0: error}
        return g.final_values[None], g.final_gradient[None], {}

    def _run(
        self, points: np.ndarray, indices: list[int] | None
    ) -> tuple[np.ndarray, np.ndarray | None, Failures]:
        s, rows = self._quiet, self._rows(points)
        solver = s.solver(self.objectives)
        method = "direct"
        if indices is not None:
            method = self.method
            if method == "auto":
                sizes = len(self.objectives), len(indices)
                on_gpu = s.schedule if self.on_gpu else None
                method = faster_method(solver, *sizes, on_gpu=on_gpu)
        if not len(rows):
            none = np.zeros((0, len(self.objectives)))
            return none, None if indices is None else np.zeros((*none.shape, len(indices))), {}
        task = Task(s.schedule, self.objectives, indices, s.backend, False, method)
        if len(rows) == 1:  # a batch would start with additional runs
            alone = rerun_individually(solver, task, rows[0])
            if isinstance(alone, VarimechError):
                return np.full((1, len(self.objectives)), np.nan), None, {0: alone}
            return alone.objectives[-1:], None, {}
        if self.on_gpu:
            sampler, gpu = self._program(task)
            samples = sampler.by(gpu, rows)
            left = np.flatnonzero(~samples.done).tolist()
            failures = rerun_failed(solver, task, samples, rows, left)
        else:
            samples, failures, _ = run_many(solver, task, rows, self._threads)
        values, failed = samples.values[:, -1], list(failures)
        values[failed] = np.nan
        if samples.gradients is None:
            return values, None, failures
        gradients = samples.gradients[:, -1]
        gradients[failed] = np.nan
        return values, gradients, failures

    def _program(self, task: Task) -> tuple[Sampler, Gpu]:
        """Return the GPU program of values, or of values and derivatives; each kernel is built
        once.
        """
        differentiated = task.indices is not None
        if differentiated in self._programs:
            return self._programs[differentiated]
        task = replace(task, backend="auto")  # a GPU needs no compiled code for the CPU
        sampler = sampler_for(self._quiet.solver(self.objectives), task, 1)
        if sampler is None:
            raise ModelError(
                "executor 'cuda': this mechanism has no compiled program that assembles its own"
                " initial state, as a GPU needs it",
                remedy=USE_THREADS,
            )
        self._programs[differentiated] = sampler, gpu_for(sampler)
        return self._programs[differentiated]

    def _rows(self, points: np.ndarray) -> np.ndarray:
        """Complete rows to values of all parameters."""
        rows = np.tile(self.simulation.ρ, (len(points), 1))
        rows[:, self.indices] = points
        return rows
