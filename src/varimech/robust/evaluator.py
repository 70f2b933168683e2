"""Evaluation of statistics for optimisation: an `Evaluator` whose scalars and paths are objectives
at the nominal values, statistics over the random parameters, and explicit functions of the design.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..analyses.simulation import Simulation
from ..core.errors import ModelError
from ..optimization.evaluation import MechanismEvaluator, Outcome, Second
from ..optimization.quantities import DesignQuantity, Goal, Path, Peak
from ..results.gradient import Gradient
from ..results.run import Run
from .choice import Chosen, methods_of
from .design_runs import DesignRuns, RunCounts
from .explicit_goal import ExplicitGoal
from .method import StatisticsMethod, StatisticsTask, first_derivatives_only
from .random_design import RandomDesign
from .settings import StatisticsSettings
from .statistic import Random, Statistic


@dataclass(eq=False)
class StatisticsEvaluator:
    """Statistics, objectives at nominal values and explicit functions as functions of a design.

    Implements `optimization.evaluation.Evaluator`. `counts` holds the numbers of runs so far.
    """

    simulation: Simulation
    design: RandomDesign
    scalars: Mapping[str, Goal | DesignQuantity] = field(default_factory=dict)
    paths: Mapping[str, Path | DesignQuantity] = field(default_factory=dict)
    method: str = "auto"
    """Name of the method that computes statistics, one of `method.METHODS`."""
    settings: StatisticsSettings = field(default_factory=StatisticsSettings)
    gradients: str = "auto"
    """Derivative method for objectives at nominal values, as for `Problem.gradient`."""
    counts: RunCounts = field(default_factory=RunCounts)

    def __post_init__(self) -> None:
        every = {**self.scalars, **self.paths}
        self._explicit = {n: q for n, q in every.items() if isinstance(q, ExplicitGoal)}
        self.statistics = {n: q for n, q in every.items() if isinstance(q, Statistic)}
        known = {*self._explicit, *self.statistics}
        for name, q in every.items():
            if isinstance(q, DesignQuantity) and name not in known:
                problem = f"is a {type(q).__name__}, which no evaluator supports"
                raise ModelError(problem, element=f"quantity {name!r}", value=q)
        scalars = {n: q for n, q in self.scalars.items() if not isinstance(q, DesignQuantity)}
        paths = {n: q for n, q in self.paths.items() if not isinstance(q, DesignQuantity)}
        # if only widths vary, all runs are equal; a gradient still needs one parameter
        names = self.design.nominals or self.design.names[:1]
        self.nominal = MechanismEvaluator(self.simulation, names, self.gradients, scalars, paths)
        """Objectives and paths at the nominal values."""

    @property
    def roughness(self) -> float:
        """Relative noise of the runs; see `Evaluator`."""
        return self.nominal.roughness

    @cached_property
    def task(self) -> StatisticsTask:
        """The statistics with the runs that they require."""
        functions: dict[str, Random] = {}
        for name, statistic in self.statistics.items():
            for f in statistic.functions:
                if f not in functions.values():
                    functions[name if name not in functions else f"{name} {len(functions)}"] = f
        runs = DesignRuns(self.simulation, functions, self.design.indices, self.counts)
        return StatisticsTask(runs, self.design, self.statistics)

    @property
    def methods(self) -> list[StatisticsMethod]:
        """Methods that compute the statistics, each one a part of them; selected at the reference
        design.
        """
        return [c.method for c in self._chosen]

    @cached_property
    def _chosen(self) -> list[Chosen]:
        return methods_of(self.task, self.method, self.settings)

    def run(self, x: np.ndarray) -> Outcome:
        """Values and derivatives of all quantities.

        Raises:
            VarimechError: if a run fails, or a statistic cannot be computed.
        """
        x = np.asarray(x, dtype=float)
        variables = self.design.variables
        at_nominal = self._nominal(x)
        time = at_nominal.time
        if any(q.over_time for q in self.statistics.values()):
            time = self.task.runs.time
        results: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for method in self.methods if self.statistics else []:
            for name, v in method.evaluate(x).items():
                results[name] = v.values, v.derivatives[:, : len(variables)]
        by_name = dict(zip(variables, x.tolist(), strict=True))
        for name, goal in self._explicit.items():
            value, derivatives = goal.evaluate(by_name)
            row = [derivatives.get(variable, 0.0) for variable in variables]
            results[name] = np.array([value]), np.array([row], dtype=float)
        for k, name in enumerate(self.nominal.scalars):
            results[name] = at_nominal.values[k : k + 1], at_nominal.derivatives[k : k + 1]
        for k, name in enumerate(self.nominal.paths):
            results[name] = at_nominal.paths[k], at_nominal.path_derivatives[k]
        n, t = len(variables), time.size
        return Outcome(
            np.array([results[name][0][0] for name in self.scalars]),
            np.array([results[name][1][0] for name in self.scalars]).reshape(-1, n),
            time,
            np.array([results[name][0] for name in self.paths]).reshape(-1, t),
            np.array([results[name][1] for name in self.paths]).reshape(-1, t, n),
        )

    def second(self, x: np.ndarray) -> Second:
        """Raise an error: statistics have first derivatives only.

        Raises:
            ModelError: always.
        """
        raise first_derivatives_only("optimize")

    @property
    def reasons(self) -> dict[str, str]:
        """Statistic → reason for the choice of its method; empty if the method was requested."""
        return {n: c.reason for c in self._chosen for n in c.method.task.statistics}

    @property
    def titles(self) -> dict[str, str]:
        """Statistic → title of the method that computes it."""
        return {name: m.title for m in self.methods for name in m.task.statistics}

    def simulate(self, x: np.ndarray, *, finer: int = 1) -> Run:
        """Simulate the motion at the nominal values of a design."""
        return self.nominal.simulate(self._nominal_values(x), finer=finer)

    def gradient(self, x: np.ndarray) -> Gradient:
        """Objectives at the nominal values with their gradient, and the motion."""
        return self.nominal.gradient(self._nominal_values(x))

    def at_instant(self, name: str, goal: Peak, instant: float, x: np.ndarray) -> Gradient:
        """A function of the state at one instant (s), with its gradient."""
        return self.nominal.at_instant(name, goal, instant, self._nominal_values(x))

    def _nominal_values(self, x: np.ndarray) -> np.ndarray:
        """Values of the parameters in which runs of `nominal` differ."""
        count = len(self.design.nominals)
        return np.asarray(x, dtype=float)[:count] if count else self.design.reference[:1]

    def _nominal(self, x: np.ndarray) -> Outcome:
        """Quantities at the nominal values, with zero derivatives for widths."""
        count, n = len(self.design.nominals), len(self.design.variables)
        if not self.nominal.scalars and not self.nominal.paths:
            none = np.zeros((0, 2)), np.zeros((0, 2, n))
            times = np.array([0.0, self.simulation.duration])
            return Outcome(np.zeros(0), np.zeros((0, n)), times, *none)
        self.counts.gradients += 1
        o = self.nominal.run(self._nominal_values(x))
        derivatives = np.zeros((len(o.values), n))
        path_derivatives = np.zeros((*o.paths.shape, n))
        derivatives[:, :count] = o.derivatives[:, :count]
        path_derivatives[:, :, :count] = o.path_derivatives[:, :, :count]
        return Outcome(o.values, derivatives, o.time, o.paths, path_derivatives)
