"""What optimisation asks of a mechanism: values and slopes of scalars and paths for a vector of
parameter values, by one run.
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
"""Tolerance of runs where none is given: chosen steps make results rough by about that much, and
line searches feel it.
"""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Scalars and paths of one run, with derivatives."""

    values: np.ndarray
    """(scalar)"""
    slopes: np.ndarray
    """(scalar, parameter)"""
    time: np.ndarray
    paths: np.ndarray
    """(path, time)"""
    path_slopes: np.ndarray
    """(path, time, parameter)"""


@dataclass(frozen=True, eq=False)
class Second:
    """Second derivatives of the same."""

    scalars: np.ndarray
    """(scalar, parameter, parameter)"""
    paths: np.ndarray
    """(path, time, parameter, parameter)"""


class Evaluator(Protocol):
    """The narrow door between optimisers and whatever they optimise."""

    @property
    def roughness(self) -> float:
        """Relative changes of values up to which two neighbouring designs cannot be compared."""
        ...

    def run(self, x: np.ndarray) -> Outcome:
        """Values and slopes; raises VarimechError where there are none."""
        ...

    def second(self, x: np.ndarray) -> Second:
        """Second derivatives; raises VarimechError where there are none."""
        ...


@dataclass
class MechanismEvaluator:
    """Runs of a mechanism as an `Evaluator`."""

    mechanism: TwiceDifferentiable
    names: tuple[str, ...]
    duration: float
    how: RunOptions
    method: str = "auto"
    scalars: Mapping[str, Objective] = field(default_factory=dict)
    paths: Mapping[str, Path] = field(default_factory=dict)
    held: Mapping[str, float] = field(default_factory=dict)
    """Values of other parameters, where they are not nominal."""

    def __post_init__(self) -> None:
        functions = [(f"path {name!r}", path.function) for name, path in self.paths.items()]
        self.how = counting(
            self.mechanism, self.duration, smooth(self.duration, self.how), functions
        )
        self._lean = self.how if self.paths else _ends_only(self.duration, self.how)

    @property
    def roughness(self) -> float:
        """Ten times the tolerance of runs, of which several errors add up; of equal steps, that of
        their iterations.
        """
        _, schedule = choose(self.duration, **self.how)
        return 10 * (schedule.tolerance or SMOOTH)

    @property
    def equations(self) -> Equations:
        """Equations of the mechanism with the method of these runs."""
        method, _ = choose(self.duration, **self.how)
        return self.mechanism._solver(method, self.scalars).equations

    def run(self, x: np.ndarray) -> Outcome:
        """One differentiated run."""
        gradient = self.gradient(x, lean=True)
        shape = len(self.paths), gradient.time.size
        values, slopes = np.zeros(shape), np.zeros((*shape, len(self.names)))
        for k, (name, path) in enumerate(self.paths.items()):
            values[k] = gradient.run.measure(path.function, name=name)
            slopes[k] = gradient.run.measure(path.function, name=name, wrt="all")
        return Outcome(
            gradient.value_history[-1], gradient.gradient_history[-1], gradient.time, values, slopes
        )

    @all_or_nothing()
    def gradient(self, x: np.ndarray, *, lean: bool = False) -> Gradient:
        """Scalars with their gradient; lean ones store no more than optimisation needs."""
        chosen = "direct" if self.paths and self.method == "auto" else self.method
        return self.mechanism.sensitivity(
            self.scalars,
            list(self.names),
            duration=self.duration,
            parameters=self.at(x),
            method=chosen,
            **_silent(self._lean if lean else self.how),
        )

    @all_or_nothing()
    def at_instant(self, name: str, goal: Peak, instant: float, x: np.ndarray) -> Gradient:
        """A function of the state at one instant, with its gradient."""
        how: RunOptions = {**_silent(self.how), "output": None, "every": 1, "ends": None}
        then = {name: Objective(final=goal.function, unit=goal.unit)}
        return self.mechanism.sensitivity(
            then, list(self.names), duration=instant, parameters=self.at(x), **how
        )

    @all_or_nothing()
    def second(self, x: np.ndarray) -> Second:
        """Second derivatives by `Mechanism.hessian`, carried along the motion where paths are
        wanted.
        """
        found = self.mechanism.hessian(
            self.scalars,
            list(self.names),
            duration=self.duration,
            parameters=self.at(x),
            method="forward" if self.paths else "auto",
            **_silent(self._lean),
        )
        shape = found.run.time.size, len(self.names), len(self.names)
        paths = [
            found.measure(path.function, name=name).to_numpy() for name, path in self.paths.items()
        ]
        return Second(np.asarray(found.hessian), np.array(paths).reshape(len(paths), *shape))

    @all_or_nothing()
    def simulate(self, x: np.ndarray, *, finer: int = 1) -> Run:
        """The motion, stored as a user asked for, or so many times as often where
        steps are chosen.
        """
        how = _silent(self.how)
        if finer > 1:
            _, schedule = choose(self.duration, **self.how)
            if schedule.outputs is not None:
                ends, n = schedule.outputs, schedule.outputs.size
                how["output"] = np.interp(
                    np.arange(finer * (n - 1) + 1) / finer, np.arange(n), ends
                )
            else:
                how["every"] = 1
        return self.mechanism.simulate(self.duration, parameters=self.at(x), **how)

    def storing(self, times: np.ndarray) -> MechanismEvaluator | None:
        """The same with results stored at further times; None where steps are equal and there are
        no other results.
        """
        _, schedule = choose(self.duration, **self.how)
        if schedule.outputs is None:
            return None
        return replace(self, how={**self.how, "output": np.union1d(schedule.outputs, times)})

    def at(self, x: np.ndarray) -> dict[str, float]:
        """Parameter values by name."""
        return {
            **self.held,
            **dict(zip(self.names, np.asarray(x, dtype=float).tolist(), strict=True)),
        }


def smooth(duration: float, how: RunOptions) -> RunOptions:
    """The same settings with a tolerance fit for optimisation where none is given."""
    _, schedule = choose(duration, **how)
    return (
        {**how, "tolerance": SMOOTH} if schedule.tolerance and how.get("tolerance") is None else how
    )


def counting(
    mechanism: Solved,
    duration: float,
    how: RunOptions,
    functions: Sequence[tuple[str, StateFunction]],
) -> RunOptions:
    """The same settings in coordinates in which angles count the turns that functions of the state
    along the run depend on.
    """
    return (
        {
            **how,
            "coordinates": mechanism._counting(choose(duration, **how)[0], functions).coordinates,
        }
        if functions
        else how
    )


def _silent(how: RunOptions) -> RunOptions:
    """The same settings without progress bars."""
    return {**how, "progress": False}


def _ends_only(duration: float, how: RunOptions) -> RunOptions:
    """The same settings with nothing stored but beginning and end."""
    _, schedule = choose(duration, **how)
    return (
        {**how, "output": duration}
        if schedule.outputs is not None
        else {**how, "every": schedule.steps}
    )
