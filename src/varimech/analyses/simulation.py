"""Specification of a run: model, duration, parameter values and run options, checked once.

Every analysis takes a `Simulation`. Objectives and the parameters to differentiate for are
arguments of the analyses; `varimech.problem.Problem` holds all of them together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from ..core.errors import ModelError
from ..core.schedule import Schedule
from ..schemes import Method, RunOptions, choose
from ..sensitivity.objective import Objective, StateFunction
from .solvers import ModelSolvers

if TYPE_CHECKING:
    from ..solving.solver import Solver

Values = Mapping[str, float | str]
"""Parameter → value in its unit, or a text such as "30 mm"."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """A checked run that has not been executed; create one with `simulation`."""

    solvers: ModelSolvers
    duration: float
    """Duration of the run (s)."""
    given: Values | None
    """Parameter values that differ from the nominal ones, as given by the user."""
    options: RunOptions
    """Run options as given by the user; `scheme` and `schedule` are their resolved values."""
    scheme: Method
    schedule: Schedule
    ρ: np.ndarray
    """Values of all parameters, in the units of the parameters."""
    revision: int
    """Revision of the model that was checked."""

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return self.solvers.data.name

    @property
    def backend(self) -> str:
        """The backend that executes the runs."""
        return self.options.get("backend", "auto")

    @property
    def progress(self) -> bool | None:
        """Whether progress bars are shown; None to show them on a terminal only."""
        return self.options.get("progress")

    def solver(self, objectives: Mapping[str, Objective] | None = None) -> Solver:
        """Return the solver in which angles count the full turns on which objectives depend.

        Raises:
            ModelError: if the model has been changed since the simulation was checked.
        """
        self.check_unchanged("state the problem anew")
        if self.backend == "auto":
            from ..backends.machine import warm_up  # imported late: it loads the backends

            warm_up()
        return self.solvers.of(self.scheme, objectives)

    def check_unchanged(self, remedy: str) -> None:
        """Refuse a model that has changed since it was checked."""
        if self.solvers.data.revision != self.revision:
            problem = f"mechanism {self.name!r} has been changed since"
            raise ModelError(problem, value=self.name, remedy=remedy)

    def at(self, parameters: Values | None) -> Simulation:
        """Return the simulation with other parameter values."""
        ρ = self.solvers.data.parameter_set.values(parameters)
        return replace(self, given=parameters, ρ=ρ)

    def at_row(self, ρ: np.ndarray) -> Simulation:
        """Return the simulation with other values of all parameters, in their order.

        Raises:
            ModelError: for values that parameters cannot have.
        """
        numbers = self.solvers.data.parameter_set
        numbers.check(ρ)
        given = dict(zip(numbers.parameters, ρ.tolist(), strict=False))
        return replace(self, given=given, ρ=ρ)

    def with_options(
        self, *, duration: float | None = None, **changes: Unpack[RunOptions]
    ) -> Simulation:
        """Return the simulation with some run options, or the duration (s), changed."""
        seconds = self.duration if duration is None else duration
        options: RunOptions = {**self.options, **changes}
        scheme, schedule = choose(seconds, **options)
        return replace(self, duration=seconds, options=options, scheme=scheme, schedule=schedule)

    def counting(self, functions: Sequence[tuple[str, StateFunction]]) -> Simulation:
        """Return the simulation in coordinates in which angles count the full turns on which
        labelled functions of the state along the run depend.
        """
        scheme = self.solvers.counting(self.scheme, functions)
        return self.with_options(coordinates=scheme.coordinates) if functions else self


def simulation(
    solvers: ModelSolvers, duration: float, parameters: Values | None, options: RunOptions
) -> Simulation:
    """Check the arguments of the user, and choose the options that are left open.

    Raises:
        ModelError: for options that are unknown or inconsistent, and for values that no
            parameter can have.
    """
    scheme, schedule = choose(duration, **options)
    data = solvers.data
    solvers.check_masses(data.label)
    ρ = data.parameter_set.values(parameters)
    return Simulation(solvers, duration, parameters, options, scheme, schedule, ρ, data.revision)
