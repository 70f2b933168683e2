"""Runs of a mechanism for statistics: columns of values with first and second derivatives, at rows
of parameter values.

A column is an objective at the end of the run, or a function of the state at one stored time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..analyses.hessians import MEMORY, second_derivatives
from ..analyses.row_runs import Failures, RowRuns
from ..analyses.simulation import Simulation
from ..core.errors import VarimechError
from ..optimization.evaluation import smooth
from ..optimization.quantities import Path
from ..schemes import RunOptions
from ..sensitivity.objective import Objective
from ..sensitivity.smoothness import check_gradients
from ..solving.ensemble_runs import run_many
from ..solving.task import Task
from .statistic import Random


@dataclass
class RunCounts:
    """Numbers of runs."""

    values: int = 0
    """Runs without derivatives."""
    gradients: int = 0
    """Runs with first derivatives."""
    products: int = 0
    """Runs with second derivatives along one direction."""

    @property
    def total(self) -> int:
        """Total number of runs."""
        return self.values + self.gradients + self.products

    def __str__(self) -> str:
        parts = [(self.gradients, "with gradients"), (self.products, "with second derivatives")]
        return ", ".join([f"{self.total} runs", *(f"{n} {what}" for n, what in parts if n)])


@dataclass(eq=False)
class DesignRuns:
    """Runs at rows of values of the parameters at `indices`; other parameters have the values of
    the simulation.
    """

    simulation: Simulation
    functions: Mapping[str, Random]
    indices: list[int]
    counts: RunCounts = field(default_factory=RunCounts)

    def __post_init__(self) -> None:
        paths = [
            (f"path {n!r}", f.function) for n, f in self.functions.items() if isinstance(f, Path)
        ]
        silent: RunOptions = {**self.simulation.options, "progress": False}
        s = smooth(replace(self.simulation, options=silent))
        self.simulation = s.counting(paths)
        self._over_time = bool(paths)
        self.objectives = {
            name: f if isinstance(f, Objective) else Objective(final=f.function, unit=f.unit)
            for name, f in self.functions.items()
        }
        self._rows = RowRuns(self.simulation, self.objectives, self.indices)

    @property
    def time(self) -> np.ndarray:
        """Stored times (s)."""
        return self.simulation.schedule.stored_times

    @cached_property
    def columns(self) -> dict[str, slice]:
        """Columns of each function: a single one, or one for each stored time."""
        first, places = 0, {}
        for name, f in self.functions.items():
            size = self.time.size if isinstance(f, Path) else 1
            places[name] = slice(first, first + size)
            first += size
        return places

    @property
    def width(self) -> int:
        """Number of columns."""
        return max((s.stop for s in self.columns.values()), default=0)

    def values(self, rows: np.ndarray) -> np.ndarray:
        """Values at each row, (row, column).

        Raises:
            VarimechError: if a run fails.
        """
        values, failures = self.reachable(rows)
        _check(failures, len(rows))
        return values

    def reachable(self, rows: np.ndarray) -> tuple[np.ndarray, Failures]:
        """Values at each row, NaN where a run fails, and the errors of failed runs."""
        self.counts.values += len(rows)
        if not self._over_time:
            return self._rows.values(rows)
        values, _, failures = self._through_time(rows, differentiate=False)
        return values, failures

    def first(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values, (row, column), and derivatives, (row, column, index).

        Raises:
            VarimechError: if a run fails.
        """
        self.counts.gradients += len(rows)
        if not self._over_time:
            values, J, failures = self._rows.first(rows)
        else:
            values, J, failures = self._through_time(rows, differentiate=True)
        _check(failures, len(rows))
        return values, J

    def second(self, row: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Second derivatives at one row along directions, (direction, column, index).

        Raises:
            VarimechError: if a run fails.
        """
        self.counts.products += len(directions)
        if not self._over_time:
            rows = np.tile(row, (len(directions), 1))
            along, failures = self._rows.second(rows, directions)
            _check(failures, len(rows))
            return along
        s = self._at(row)
        whole = np.zeros((len(directions), s.ρ.size))
        whole[:, self.indices] = directions
        runs = second_derivatives(s, self.objectives, self.indices, list(whole), False, MEMORY)
        return np.stack([self._joined(d.gradients_along[None])[0] for d in runs.along])

    def second_at(self, rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Second derivatives at each row along one direction per row, (row, column, index)."""
        if self._over_time:
            pairs = zip(rows, directions, strict=True)
            return np.concatenate([self.second(r, d[None]) for r, d in pairs])
        self.counts.products += len(rows)
        along, failures = self._rows.second(rows, directions)
        _check(failures, len(rows))
        return along

    def _at(self, row: np.ndarray) -> Simulation:
        s = self.simulation
        ρ = s.ρ.copy()
        ρ[self.indices] = row
        return s.at_row(ρ)

    def _through_time(
        self, rows: np.ndarray, *, differentiate: bool
    ) -> tuple[np.ndarray, np.ndarray, Failures]:
        """Evaluate runs whose values are stored over time."""
        s = self.simulation
        solver = s.solver(self.objectives)
        if differentiate:
            check_gradients(solver.equations, self.objectives)
        indices = self.indices if differentiate else None
        task = Task(s.schedule, self.objectives, indices, s.backend, False)
        whole = np.tile(s.ρ, (len(rows), 1))
        whole[:, self.indices] = rows
        samples, failures, _ = run_many(solver, task, whole, os.cpu_count() or 1)
        values = self._joined(samples.values)
        values[list(failures)] = np.nan
        if samples.gradients is None:
            return values, np.zeros((len(rows), self.width, 0)), failures
        return values, self._joined(samples.gradients), failures

    def _joined(self, over_time: np.ndarray) -> np.ndarray:
        """Arrange arrays (row, time, objective, …) by columns, (row, column, …)."""
        parts = [
            over_time[:, :, k] if isinstance(f, Path) else over_time[:, -1:, k]
            for k, f in enumerate(self.functions.values())
        ]
        return np.concatenate(parts, axis=1)


def _check(failures: Failures, count: int) -> None:
    """Raise the error of a failed run."""
    if not failures:
        return
    first = failures[min(failures)]
    if count == 1:
        raise first
    raise VarimechError(
        f"{len(failures)} of {count} runs of the random parameters failed; the first one:"
        f" {type(first).__name__}: {first}",
        remedy="narrow the tolerances or the bounds of the design",
    ) from first
