"""Evaluation of a mechanism for optimisation: values and derivatives of scalars and paths for a
parameter vector, from one run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from ..analyses.gradients import faster_method, gradient, with_small_motions
from ..analyses.hessians import MEMORY, hessian
from ..analyses.motion import simulate
from ..analyses.simulation import Simulation
from ..analyses.stability import StabilityObjectives
from ..backends.sampler import Sampler
from ..coordinates.equations import Equations
from ..core.errors import ModelError, VarimechError, all_or_nothing
from ..core.messages import Message
from ..results.gradient import Gradient
from ..results.run import Run
from ..sensitivity.finite_difference import RELATIVE_STEPS
from ..sensitivity.objective import Objective
from ..solving.ensemble_runs import sample, sampler_for
from ..solving.solver import Solver
from ..solving.task import Task
from .quantities import Goal, Path, Peak, of_runs, of_small_motions

SMOOTH = 1e-10
"""Default tolerance of runs: adaptive steps add noise of about this size to results, which disturbs
line searches.
"""
MANY = 1000
"""Approximate number of runs of searches from several designs, which decides whether compilation
pays off.
"""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Scalars and paths of one run, with derivatives."""

    values: np.ndarray
    """(scalar)"""
    derivatives: np.ndarray
    """(scalar, parameter)"""
    time: np.ndarray
    paths: np.ndarray
    """(path, time)"""
    path_derivatives: np.ndarray
    """(path, time, parameter)"""


@dataclass(frozen=True, eq=False)
class Second:
    """Second derivatives of scalars and paths."""

    scalars: np.ndarray
    """(scalar, parameter, parameter)"""
    paths: np.ndarray
    """(path, time, parameter, parameter)"""


class Evaluator(Protocol):
    """Interface between optimisers and the system that they optimise."""

    @property
    def roughness(self) -> float:
        """Relative noise of values: neighbouring designs with smaller differences cannot be
        compared.
        """
        ...

    def run(self, x: np.ndarray) -> Outcome:
        """Values and derivatives.

        Raises:
            VarimechError: if the run fails.
        """
        ...

    def second(self, x: np.ndarray) -> Second:
        """Second derivatives.

        Raises:
            VarimechError: if the run fails.
        """
        ...


@runtime_checkable
class RunsOfDesigns(Protocol):
    """An evaluator that also provides the motion of a design."""

    def simulate(self, x: np.ndarray, *, finer: int = 1) -> Run:
        """Simulate the motion, stored as requested, or `finer` times as often for adaptive
        steps.
        """
        ...

    def gradient(self, x: np.ndarray) -> Gradient:
        """Scalars with their gradient, and the whole motion."""
        ...

    def at_instant(self, name: str, goal: Peak, instant: float, x: np.ndarray) -> Gradient:
        """A function of the state at one instant (s), with its gradient."""
        ...


@dataclass
class MechanismEvaluator:
    """Runs of a mechanism as an `Evaluator`; `simulation` holds the values of parameters that do
    not change.
    """

    simulation: Simulation
    names: tuple[str, ...]
    method: str = "auto"
    scalars: Mapping[str, Goal] = field(default_factory=dict)
    paths: Mapping[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        functions = [(f"path {name!r}", path.function) for name, path in self.paths.items()]
        self.simulation = smooth(self.simulation).counting(functions)
        self._lean = self.simulation if self.paths else _ends_only(self.simulation)
        solvers = self.simulation.solvers
        self._indices = solvers.data.parameter_set.indices(self.names)
        self.of_runs = of_runs(self.scalars)
        self._stability = StabilityObjectives(solvers, of_small_motions(self.scalars))

    @property
    def roughness(self) -> float:
        """Ten times the tolerance of runs, because several errors add up; for equal steps, the
        tolerance is that of their iterations.
        """
        return 10 * (self.simulation.schedule.tolerance or SMOOTH)

    @property
    def equations(self) -> Equations:
        """Equations of the mechanism for the scheme of these runs."""
        return self.simulation.solver(self.of_runs).equations

    def run(self, x: np.ndarray) -> Outcome:
        """Run once with sensitivities, and evaluate small motions; skip the run if no quantity
        needs it.
        """
        small = self._small_motions(x)
        if not self.of_runs and not self.paths:
            none = np.zeros((0, 2)), np.zeros((0, 2, len(self.names)))
            return Outcome(*small, np.array([0.0, self.simulation.duration]), *none)
        gradient = self._gradient(x, lean=True)
        shape = len(self.paths), gradient.time.size
        values, derivatives = np.zeros(shape), np.zeros((*shape, len(self.names)))
        for k, (name, path) in enumerate(self.paths.items()):
            values[k] = gradient.run.measure(path.function, name=name)
            derivatives[k] = gradient.run.measure(path.function, name=name, wrt="all")
        names = [*self.of_runs, *self._stability.objectives]
        order = [names.index(name) for name in self.scalars]
        return Outcome(
            np.concatenate([gradient.final_values, small[0]])[order],
            np.concatenate([gradient.final_gradient, small[1]])[order],
            gradient.time,
            values,
            derivatives,
        )

    @property
    def has_vectors(self) -> bool:
        """Whether many designs can be run in one batch (`run_all`)."""
        return self._sampled is not None

    def run_all(self, designs: Sequence[np.ndarray]) -> list[Outcome | VarimechError]:
        """Return what `run` would return or raise at each design, from batched runs."""
        assert self._sampled is not None
        solver, task, sampler = self._sampled
        refused, places, rows = dict[int, VarimechError](), list[int](), list[np.ndarray]()
        for k, x in enumerate(designs):
            try:
                rows.append(self._lean.at(self.at(x)).ρ)
                places.append(k)
            except VarimechError as error:  # concerns this design only; the others continue
                refused[k] = error
        if not rows:
            return [refused[k] for k in range(len(designs))]
        samples, failures = sample(solver, task, sampler, np.array(rows))
        assert samples.gradients is not None
        order = [list(self.of_runs).index(name) for name in self.scalars]
        times, count = task.schedule.stored_times, task.schedule.stored_count
        none = np.zeros((0, count)), np.zeros((0, count, len(self.names)))
        outcomes: dict[int, Outcome | VarimechError] = {
            place: failures[k]
            if k in failures
            else Outcome(
                samples.values[k, -1, order], samples.gradients[k, -1, order], times, *none
            )
            for k, place in enumerate(places)
        }
        return [refused[k] if k in refused else outcomes[k] for k in range(len(designs))]

    @cached_property
    def _sampled(self) -> tuple[Solver, Task, Sampler] | None:
        """Solver, task and sampler for batched runs; None if quantities need more than the end of a
        run, or runs need individual treatment.
        """
        if self.paths or self._stability.objectives or not self.of_runs:
            return None
        s = self._lean
        solver = s.solver(self.of_runs)
        method = self.method
        if method == "auto":
            method = faster_method(solver, len(self.of_runs), len(self._indices))
        sampled = any(o.samples for o in self.of_runs.values())
        kinks = not s.schedule.tolerance and solver.switches
        if method != "direct" or solver.equations.has_events or sampled or kinks:
            return None
        task = Task(s.schedule, self.of_runs, self._indices, s.backend, False)
        sampler = sampler_for(solver, task, MANY)
        return None if sampler is None or not sampler.native.has_lanes else (solver, task, sampler)

    def _small_motions(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and derivatives of objectives of small motions."""
        return self._stability.evaluate(self.simulation.at(self.at(x)).ρ, self._indices)

    def gradient(self, x: np.ndarray) -> Gradient:
        """Scalars with their gradient, and the whole motion."""
        computed = self._gradient(x)
        if not self._stability.objectives:
            return computed
        return with_small_motions(computed, self._stability.objectives, *self._small_motions(x))

    @all_or_nothing()
    def _gradient(self, x: np.ndarray, *, lean: bool = False) -> Gradient:
        """Compute the scalars of a run; `lean` stores no more than optimisation needs."""
        chosen = "direct" if self.paths and self.method == "auto" else self.method
        s = self._silent(self._lean if lean else self.simulation, x)
        over_time = lean and bool(self.paths)
        options = RELATIVE_STEPS, MEMORY
        return gradient(s, self.of_runs, self._indices, chosen, *options, over_time=over_time)

    @all_or_nothing()
    def at_instant(self, name: str, goal: Peak, instant: float, x: np.ndarray) -> Gradient:
        """A function of the state at one instant (s), with its gradient."""
        until = self.simulation.with_options(duration=instant, output=None, every=1, ends=None)
        then = {name: Objective(final=goal.function, unit=goal.unit)}
        s = self._silent(until, x)
        return gradient(s, then, self._indices, "direct", RELATIVE_STEPS, MEMORY)

    @all_or_nothing()
    def second(self, x: np.ndarray) -> Second:
        """Second derivatives, by the forward method if there are paths.

        Raises:
            ModelError: for objectives of small motions, which have first derivatives only.
        """
        for name in self._stability.objectives:
            raise ModelError(
                f"objective {name!r} is one of small motions, with first derivatives only",
                element="optimize",
                remedy=Message("use {hessian}", hessian="approximate"),
            )
        s, method = self._silent(self._lean, x), "forward" if self.paths else "auto"
        computed = hessian(s, self.of_runs, self._indices, method, MEMORY)
        shape = computed.run.time.size, len(self.names), len(self.names)
        paths = [
            computed.measure(path.function, name=name).to_numpy()
            for name, path in self.paths.items()
        ]
        return Second(np.asarray(computed.hessian), np.array(paths).reshape(len(paths), *shape))

    @all_or_nothing()
    def simulate(self, x: np.ndarray, *, finer: int = 1) -> Run:
        """Simulate the motion, stored as requested, or `finer` times as often for adaptive
        steps.
        """
        s, outputs = self.simulation, self.simulation.schedule.outputs
        if finer > 1 and outputs is not None:
            n = outputs.size
            between = np.arange(finer * (n - 1) + 1) / finer
            s = s.with_options(output=np.interp(between, np.arange(n), outputs))
        elif finer > 1:
            s = s.with_options(every=1)
        return simulate(self._silent(s, x))

    def storing(self, times: np.ndarray) -> MechanismEvaluator | None:
        """Return the evaluator with additional stored times (s); None for equal steps, which do not
        allow them.
        """
        outputs = self.simulation.schedule.outputs
        if outputs is None:
            return None
        often = self.simulation.with_options(output=np.union1d(outputs, times))
        return replace(self, simulation=often)

    def at(self, x: np.ndarray) -> dict[str, float]:
        """Parameter values by name: those of x, and other values that are not nominal."""
        numbers = self.simulation.solvers.data.parameter_set
        held = {
            name: numbers.parameters[name].check(value)
            for name, value in (self.simulation.given or {}).items()
        }
        return {**held, **dict(zip(self.names, np.asarray(x, dtype=float).tolist(), strict=True))}

    def _silent(self, s: Simulation, x: np.ndarray) -> Simulation:
        """The simulation at x, without progress bars."""
        return replace(s.at(self.at(x)), options={**s.options, "progress": False})


def smooth(s: Simulation) -> Simulation:
    """Return the simulation with a tolerance suitable for optimisation if none is given."""
    if s.schedule.tolerance and s.options.get("tolerance") is None:
        return s.with_options(tolerance=SMOOTH)
    return s


def _ends_only(s: Simulation) -> Simulation:
    """Return the simulation with only the initial and the final state stored."""
    if s.schedule.outputs is not None:
        return s.with_options(output=s.duration)
    return s.with_options(every=s.schedule.steps)
