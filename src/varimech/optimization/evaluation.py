"""Evaluation of a mechanism for optimisation: values and derivatives of scalars and paths for a
parameter vector, from one run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from ..analyses.hessians import TwiceDifferentiable
from ..analyses.solved import Solved
from ..coordinates.equations import Equations
from ..core.errors import all_or_nothing
from ..results.gradient import Gradient
from ..results.run import Run
from ..schemes import RunOptions, choose
from ..sensitivity.objective import Objective, StateFunction
from .quantities import Path, Peak

SMOOTH = 1e-10
"""Default tolerance of runs: adaptive steps make results rough by about this much, which disturbs
line searches.
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
        """Relative differences of values below which two neighbouring designs cannot
        be compared.
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


@dataclass
class MechanismEvaluator:
    """Runs of a mechanism as an `Evaluator`."""

    mechanism: TwiceDifferentiable
    names: tuple[str, ...]
    duration: float
    options: RunOptions
    method: str = "auto"
    scalars: Mapping[str, Objective] = field(default_factory=dict)
    paths: Mapping[str, Path] = field(default_factory=dict)
    held: Mapping[str, float] = field(default_factory=dict)
    """Values of other parameters that differ from their nominal values."""

    def __post_init__(self) -> None:
        functions = [(f"path {name!r}", path.function) for name, path in self.paths.items()]
        self.options = counting(
            self.mechanism, self.duration, smooth(self.duration, self.options), functions
        )
        self._lean = self.options if self.paths else _ends_only(self.duration, self.options)

    @property
    def roughness(self) -> float:
        """Ten times the tolerance of runs, because several errors add up; for equal steps, that of
        their iterations.
        """
        _, schedule = choose(self.duration, **self.options)
        return 10 * (schedule.tolerance or SMOOTH)

    @property
    def equations(self) -> Equations:
        """Equations of the mechanism for the scheme of these runs."""
        method, _ = choose(self.duration, **self.options)
        return self.mechanism._solver(method, self.scalars).equations

    def run(self, x: np.ndarray) -> Outcome:
        """One run with sensitivities."""
        gradient = self.gradient(x, lean=True)
        shape = len(self.paths), gradient.time.size
        values, derivatives = np.zeros(shape), np.zeros((*shape, len(self.names)))
        for k, (name, path) in enumerate(self.paths.items()):
            values[k] = gradient.run.measure(path.function, name=name)
            derivatives[k] = gradient.run.measure(path.function, name=name, wrt="all")
        return Outcome(
            gradient.value_history[-1],
            gradient.gradient_history[-1],
            gradient.time,
            values,
            derivatives,
        )

    @all_or_nothing()
    def gradient(self, x: np.ndarray, *, lean: bool = False) -> Gradient:
        """Scalars with their gradient; `lean` stores no more than optimisation needs."""
        chosen = "direct" if self.paths and self.method == "auto" else self.method
        return self.mechanism.sensitivity(
            self.scalars,
            list(self.names),
            duration=self.duration,
            parameters=self.at(x),
            method=chosen,
            **_silent(self._lean if lean else self.options),
        )

    @all_or_nothing()
    def at_instant(self, name: str, goal: Peak, instant: float, x: np.ndarray) -> Gradient:
        """A function of the state at one instant (s), with its gradient."""
        options: RunOptions = {**_silent(self.options), "output": None, "every": 1, "ends": None}
        then = {name: Objective(final=goal.function, unit=goal.unit)}
        return self.mechanism.sensitivity(
            then, list(self.names), duration=instant, parameters=self.at(x), **options
        )

    @all_or_nothing()
    def second(self, x: np.ndarray) -> Second:
        """Second derivatives by `Mechanism.hessian`, by the forward method if there are paths."""
        hessian = self.mechanism.hessian(
            self.scalars,
            list(self.names),
            duration=self.duration,
            parameters=self.at(x),
            method="forward" if self.paths else "auto",
            **_silent(self._lean),
        )
        shape = hessian.run.time.size, len(self.names), len(self.names)
        paths = [
            hessian.measure(path.function, name=name).to_numpy()
            for name, path in self.paths.items()
        ]
        return Second(np.asarray(hessian.hessian), np.array(paths).reshape(len(paths), *shape))

    @all_or_nothing()
    def simulate(self, x: np.ndarray, *, finer: int = 1) -> Run:
        """The motion, stored as requested, or `finer` times as often for adaptive steps."""
        options = _silent(self.options)
        if finer > 1:
            _, schedule = choose(self.duration, **self.options)
            if schedule.outputs is not None:
                ends, n = schedule.outputs, schedule.outputs.size
                options["output"] = np.interp(
                    np.arange(finer * (n - 1) + 1) / finer, np.arange(n), ends
                )
            else:
                options["every"] = 1
        return self.mechanism.simulate(self.duration, parameters=self.at(x), **options)

    def storing(self, times: np.ndarray) -> MechanismEvaluator | None:
        """The same evaluator with additional stored times (s); None for equal steps, which cannot
        have them.
        """
        _, schedule = choose(self.duration, **self.options)
        if schedule.outputs is None:
            return None
        return replace(
            self, options={**self.options, "output": np.union1d(schedule.outputs, times)}
        )

    def at(self, x: np.ndarray) -> dict[str, float]:
        """Parameter values by name."""
        return {
            **self.held,
            **dict(zip(self.names, np.asarray(x, dtype=float).tolist(), strict=True)),
        }


def smooth(duration: float, options: RunOptions) -> RunOptions:
    """The same options with a tolerance suitable for optimisation if none is given."""
    _, schedule = choose(duration, **options)
    return (
        {**options, "tolerance": SMOOTH}
        if schedule.tolerance and options.get("tolerance") is None
        else options
    )


def counting(
    mechanism: Solved,
    duration: float,
    options: RunOptions,
    functions: Sequence[tuple[str, StateFunction]],
) -> RunOptions:
    """The same options in coordinates whose angles count turns, if functions of the state along the
    run need them.
    """
    return (
        {
            **options,
            "coordinates": mechanism._counting(
                choose(duration, **options)[0], functions
            ).coordinates,
        }
        if functions
        else options
    )


def _silent(options: RunOptions) -> RunOptions:
    """The same options without progress bars."""
    return {**options, "progress": False}


def _ends_only(duration: float, options: RunOptions) -> RunOptions:
    """The same options, storing only the initial and the final state."""
    _, schedule = choose(duration, **options)
    return (
        {**options, "output": duration}
        if schedule.outputs is not None
        else {**options, "every": schedule.steps}
    )
