"""Functions of the state at stored times for many sets of parameter values, run as vectors of
samples: y(x, t) and ∂y/∂x, from which likelihoods, bands and experiments are computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..analyses.simulation import Simulation
from ..backends.sampler import Sampler
from ..core.errors import VarimechError
from ..model.state import State
from ..model.user_functions import column_of
from ..sensitivity.objective import Objective, StateFunction
from ..solving.ensemble_runs import sample, sampler_for
from ..solving.solver import Solver
from ..solving.task import Task


@dataclass(frozen=True, eq=False)
class OutputSamples:
    """Outputs of some runs."""

    values: np.ndarray
    """(row, time, output); NaN where a run failed."""
    derivatives: np.ndarray | None
    """(row, time, output, parameter)"""
    failures: Mapping[int, VarimechError]
    """Row → the error that its run failed with."""


@dataclass(eq=False)
class OutputRuns:
    """Runs of a simulation for rows of values of some parameters, with outputs at its stored times.

    Outputs are the components of the functions, one function after the other.
    """

    simulation: Simulation
    names: tuple[str, ...]
    """Parameters that vary."""
    functions: Mapping[str, tuple[StateFunction, int]]
    """Name → function of the state, and the number of its components."""
    runs: int
    """Expected number of runs, which decides whether compilation pays."""
    differentiated: bool = True

    @property
    def time(self) -> np.ndarray:
        """Stored times, s."""
        return self._prepared[1].schedule.stored_times

    def at(self, rows: np.ndarray) -> OutputSamples:
        """Compute outputs for rows of parameter values, (row, parameter)."""
        solver, task, sampler = self._prepared
        whole = np.tile(self.simulation.ρ, (len(rows), 1))
        whole[:, self._indices] = rows
        samples, failures = sample(solver, task, sampler, whole)
        values, derivatives = samples.values, samples.gradients
        for row in failures:
            values[row] = np.nan
            if derivatives is not None:
                derivatives[row] = np.nan
        return OutputSamples(values, derivatives, failures)

    @cached_property
    def _indices(self) -> list[int]:
        return self.simulation.solvers.data.parameter_set.indices(self.names)

    @cached_property
    def _prepared(self) -> tuple[Solver, Task, Sampler | None]:
        objectives = {
            f"{name}[{c}]": Objective(final=component(function, c, name) if count > 1 else function)
            for name, (function, count) in self.functions.items()
            for c in range(count)
        }
        labelled = [(name, function) for name, (function, _) in self.functions.items()]
        s = self.simulation.counting(labelled)
        s = replace(s, options={**s.options, "progress": False})
        solver = s.solver(objectives)
        indices = self._indices if self.differentiated else None
        task = Task(s.schedule, objectives, indices, s.backend, False)
        return solver, task, sampler_for(solver, task, self.runs)


def component(function: StateFunction, c: int, name: str) -> StateFunction:
    """One component of a vector-valued function of the state."""

    def one(state: State) -> object:
        return column_of(function, state, f"output {name!r}")[c]

    return one
