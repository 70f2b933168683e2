"""Optimal experiments: the sensors and the excitation that determine parameters most accurately.

Candidates are pairs of a sensor and a setting of the excitation. If there are few choices of a
given number of candidates, all are compared. Otherwise candidates are added one after the other,
each the best addition to those already chosen, and exchanged until no exchange is better. Settings
within bounds are optimised for the best choice by its exact gradient.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypedDict

import numpy as np

from ..analyses.hessians import MEMORY, hessian
from ..analyses.simulation import Simulation
from ..coordinates.equations import Equations
from ..core.errors import ModelError, all_or_nothing, unknown_name
from ..core.messages import Message
from ..core.progress import progress_bar
from ..model.parameter import Parameter
from ..model.user_functions import column_of
from ..optimization.evaluation import smooth
from ..optimization.space import Over, space_of
from .experiment_result import Choice, Experiment
from .fitting import storing_samples
from .information import Criterion
from .output_runs import OutputRuns
from .priors import Prior, Priors, prior_of
from .sensors import Sensor, Sensors, named_sensors

MOST_COMPARED = 20_000
"""Number of choices up to which all are compared: this takes about a second."""
STARTS = 8
"""Number of settings within the bounds from which the best one is taken as the start of a search.
"""
CHANGES = 10
"""Largest number of searches, each with the choice that is best at the result of the previous one.
"""
MOST_LISTED = 50
"""Largest number of choices that a result lists."""

Setting = Mapping[str, float | str]


class ExperimentOptions(TypedDict, total=False):
    """Options of an experiment, with the argument names of `Problem.experiment`."""

    choose: int | None
    settings: Sequence[Setting] | None
    tune: Mapping[str, tuple[float, float]] | None
    criterion: str
    narrow: str | None
    prior: Priors | None


@dataclass(frozen=True, eq=False)
class Candidate:
    """A sensor under a setting, with its information."""

    sensor: str
    setting: Mapping[str, float]
    F: np.ndarray


def experiment(
    s: Simulation,
    sensors: Sensors,
    over: Over,
    *,
    choose: int | None = None,
    settings: Sequence[Setting] | None = None,
    tune: Mapping[str, tuple[float, float]] | None = None,
    criterion: str = "D",
    narrow: str | None = None,
    prior: Priors | None = None,
) -> Experiment:
    """Compare experiments; `Problem.experiment` documents the arguments."""
    began = time.perf_counter()
    named = named_sensors(sensors)
    search = _search(s, named, over, settings, tune, criterion, narrow, prior)
    _check_count(choose, len(named) * max(len(settings or ()), 1))
    tuned: dict[str, float] = {}
    candidates = search.candidates(search.settings)
    ranked = search.ranked(candidates, choose)
    if search.bounds:
        tuned, ranked = search.tuned(choose)
    best = ranked[0]
    if not np.isfinite(best.value):
        raise _undetermined(search, choose)
    return Experiment(
        s.name,
        search.prior.names,
        search.units,
        search.criterion,
        narrow,
        search.prior,
        tuple(ranked[:MOST_LISTED]),
        tuned,
        {n: c.sigma for n, c in named.items()},
        search.runs,
        time.perf_counter() - began,
    )


@dataclass(eq=False)
class _Search:
    """Data from which choices are built and compared."""

    simulation: Simulation
    sensors: Mapping[str, Sensor]
    prior: Prior
    units: tuple[str, ...]
    criterion: Criterion
    settings: list[dict[str, float]]
    bounds: dict[str, tuple[float, float]]
    components: dict[str, int]
    runs: int = 0

    @property
    def precision(self) -> np.ndarray:
        """Precision matrix of the priors."""
        return np.diag(self.prior.widths() ** -2.0)

    @all_or_nothing()
    def candidates(self, settings: Sequence[Mapping[str, float]]) -> list[Candidate]:
        """All sensors under each setting."""
        all_candidates: list[Candidate] = []
        label, shown = f"{self.simulation.name}: experiments", self.simulation.progress
        with progress_bar(label, len(settings), shown) as report:
            for k, setting in enumerate(settings):
                information = self.information(setting)
                all_candidates += [Candidate(n, setting, F) for n, F in information.items()]
                report(k + 1)
        return all_candidates

    def information(self, setting: Mapping[str, float]) -> dict[str, np.ndarray]:
        """Fisher information of each sensor under a setting."""
        runs = self._runs(setting)
        x = self._values(runs.simulation)
        self.runs += 1
        samples = runs.at(x[None])
        for error in samples.failures.values():
            raise error
        assert samples.derivatives is not None
        by_sensor, column = {}, 0
        for name, sensor in self.sensors.items():
            columns = slice(column, column + self.components[name])
            column = columns.stop
            at = np.abs(runs.time[:, None] - sensor.times[None, :]).argmin(axis=0)
            J = samples.derivatives[0][at, columns].reshape(-1, x.size) / sensor.sigma
            by_sensor[name] = J.T @ J
        return by_sensor

    def changes(self, setting: Mapping[str, float]) -> dict[str, np.ndarray]:
        """∂F/∂u of each sensor: (setting, parameter, parameter)."""
        s = self._at(setting)
        s = replace(s, options={**s.options, "progress": False})
        names, p = (*self.prior.names, *self.bounds), len(self.prior.names)
        indices = s.solvers.data.parameter_set.indices(names)
        second = hessian(s, {}, indices, "forward", MEMORY)
        self.runs += len(names)
        by_sensor = {}
        for name, sensor in self.sensors.items():
            at = np.abs(second.run.time[:, None] - sensor.times[None, :]).argmin(axis=0)
            shape = second.run.time.size, self.components[name], len(names)
            J = second.run.measure(sensor.function, name=name, wrt="all").to_numpy()
            J = J.reshape(shape)[at][..., :p] / sensor.sigma
            curved = second.measure(sensor.function, name=name).to_numpy()
            curved = curved.reshape(*shape, len(names))[at][..., :p, p:] / sensor.sigma
            half = np.einsum("tcpu,tcq->upq", curved, J)
            by_sensor[name] = half + np.swapaxes(half, 1, 2)
        return by_sensor

    def ranked(self, candidates: list[Candidate], choose: int | None) -> list[Choice]:
        """Choices, the best first."""
        if choose is None:  # all sensors, under each setting
            each = len(self.sensors)
            groups = [range(k, k + each) for k in range(0, len(candidates), each)]
            chosen = [self._choice(candidates, group) for group in groups]
        elif math.comb(len(candidates), choose) <= MOST_COMPARED:
            groups = combinations(range(len(candidates)), choose)  # type: ignore[assignment]
            chosen = [self._choice(candidates, group) for group in groups]
        else:
            chosen = [self._choice(candidates, self._exchanged(candidates, choose))]
        return sorted(chosen, key=lambda c: -c.value)

    def tuned(self, choose: int | None) -> tuple[dict[str, float], list[Choice]]:
        """The best setting within the bounds, and the choices there."""
        from scipy.optimize import minimize
        from scipy.stats import qmc

        low, high = (np.array([b[k] for b in self.bounds.values()]) for k in (0, 1))

        def setting(z: np.ndarray) -> dict[str, float]:
            x = np.clip(low + z * (high - low), low, high)
            return dict(zip(self.bounds, x.tolist(), strict=True))

        def choices(z: np.ndarray) -> list[Choice]:
            return self.ranked(self.candidates([setting(z)]), choose)

        points = qmc.Halton(len(low), seed=0).random(STARTS)
        starts = [(choices(z), z) for z in points]
        ranked, z = max(starts, key=lambda each: each[0][0].value)
        if not np.isfinite(ranked[0].value):
            return setting(z), ranked
        for _ in range(CHANGES):
            names = {sensor for sensor, _ in ranked[0].members}

            def loss(z: np.ndarray, names: set[str] = names) -> tuple[float, np.ndarray]:
                F = self.precision + sum(self.information(setting(z))[n] for n in sorted(names))
                value = self.criterion.value(F)
                if not np.isfinite(value):
                    return 1e10, np.zeros(z.size)
                changes = sum(self.changes(setting(z))[n] for n in sorted(names))
                derivative = np.einsum("pq,upq->u", self.criterion.gradient(F), changes)
                return -value, -derivative * (high - low)

            z = minimize(loss, z, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * z.size).x
            choices_there = choices(z)
            if {sensor for sensor, _ in choices_there[0].members} == names:
                return setting(z), choices_there
            ranked = choices_there
        return setting(z), ranked

    def _choice(self, candidates: list[Candidate], group: Sequence[int]) -> Choice:
        F = self.precision + sum(candidates[k].F for k in group)
        members = tuple((candidates[k].sensor, candidates[k].setting) for k in group)
        return Choice(members, self.criterion.value(F), F)

    def _exchanged(self, candidates: list[Candidate], choose: int) -> list[int]:
        """A choice that no exchange of a single candidate improves. As long as parameters are
        undetermined, a small multiple of the total information is added to the precision.
        """
        whole = sum((c.F for c in candidates), self.precision)
        small = 1e-6 * np.diag(np.diag(whole)) / len(candidates)

        def value(group: Sequence[int]) -> float:
            return self.criterion.value(
                sum((candidates[k].F for k in group), self.precision + small)
            )

        group: list[int] = []
        for _ in range(choose):
            left = [k for k in range(len(candidates)) if k not in group]
            group.append(max(left, key=lambda k: value([*group, k])))
        best, improved = value(group), True
        while improved:
            improved = False
            for place in range(choose):
                for k in range(len(candidates)):
                    other = [*group[:place], k, *group[place + 1 :]]
                    if k not in group and (new_value := value(other)) > best + 1e-12 * abs(best):
                        group, best, improved = other, new_value, True
        return sorted(group)

    def _at(self, setting: Mapping[str, float]) -> Simulation:
        s = self.simulation
        return s.at({**(s.given or {}), **setting})

    def _runs(self, setting: Mapping[str, float]) -> OutputRuns:
        functions = {n: (c.function, self.components[n]) for n, c in self.sensors.items()}
        return OutputRuns(self._at(setting), self.prior.names, functions, 1)

    def _values(self, s: Simulation) -> np.ndarray:
        return s.ρ[s.solvers.data.parameter_set.indices(self.prior.names)]


def _search(
    s: Simulation,
    sensors: dict[str, Sensor],
    over: Over,
    settings: Sequence[Setting] | None,
    tune: Mapping[str, tuple[float, float]] | None,
    criterion: str,
    narrow: str | None,
    prior: Priors | None,
) -> _Search:
    """Check the arguments before the first run, and prepare the search."""
    parameters = s.solvers.data.parameter_set
    all_parameters = parameters.parameters
    excited = {name for setting in settings or () for name in setting} | set(tune or {})
    for name in excited:
        if name not in all_parameters:
            raise unknown_name("parameter", name, all_parameters)
    if over is None:
        held = excited | set(s.given or {})
        over = [name for name in all_parameters if name not in held]
    space = space_of("experiment", parameters, over, None, None, None)
    if both := sorted(excited & set(space.names)):
        raise ModelError(
            Message("{!r} is a setting of the excitation and in {over}", both[0]),
            element="experiment",
            remedy="leave it out of one of them",
        )
    if settings is not None and tune:
        raise ModelError(
            Message("{settings} are a list to choose from, and {tune} are bounds to search within"),
            element="experiment",
            remedy="give one of the two",
        )
    if settings is not None and not settings:
        raise ModelError("is empty", element="experiment", field="settings", value=settings)
    chosen = [{n: all_parameters[n].check(v) for n, v in each.items()} for each in settings or [{}]]
    bounds = {name: _bounds(all_parameters[name], pair) for name, pair in (tune or {}).items()}
    values = s.ρ[parameters.indices(space.names)]
    sizes = np.where(values == 0, 1.0, np.abs(values))
    judged = _criterion(criterion, narrow, space.names, sizes)
    stored = storing_samples("experiment", smooth(s), [c.times for c in sensors.values()])
    stored = stored.counting([(f"sensor {n!r}", c.function) for n, c in sensors.items()])
    equations = stored.solver({}).equations
    sizes_of = {n: _components(equations, c) for n, c in sensors.items()}
    checked = prior_of(space, all_parameters, prior, "experiment")
    return _Search(stored, sensors, checked, space.units, judged, chosen, bounds, sizes_of)


def _components(e: Equations, sensor: Sensor) -> int:
    column = column_of(sensor.function, e.probed_state(e.probe), f"sensor {sensor.name!r}")
    return int(column.numel())


def _criterion(
    criterion: str, narrow: str | None, names: tuple[str, ...], sizes: np.ndarray
) -> Criterion:
    if criterion not in ("D", "A"):
        raise unknown_name("criterion", criterion, ("D", "A"))
    if narrow is None:
        return Criterion(criterion, sizes)
    if narrow not in names:
        raise unknown_name("parameter to be found", narrow, names)
    return Criterion("one", sizes, names.index(narrow))


def _bounds(p: Parameter, pair: Any) -> tuple[float, float]:
    try:
        low, high = pair
    except (TypeError, ValueError):
        low = high = p.value
    lower, upper = p.check(low), p.check(high)
    if not lower < upper:
        raise ModelError(
            f"{p.name!r} needs a pair (lower, upper)",
            element="experiment",
            field="tune",
            value=pair,
        )
    return lower, upper


def _check_count(choose: int | None, candidates: int) -> None:
    if choose is None:
        return
    if not isinstance(choose, int) or isinstance(choose, bool) or not 1 <= choose <= candidates:
        problem = f"must be a whole number from 1 to the number of candidates, {candidates}"
        raise ModelError(problem, element="experiment", field="choose", value=choose)


def _undetermined(search: _Search, choose: int | None) -> ModelError:
    names = ", ".join(map(repr, search.prior.names))
    which = "the sensors do" if choose is None else f"no choice of {choose} sensors does"
    return ModelError(
        f"{which} not determine {names}",
        element="experiment",
        remedy=Message("add sensors or samples, name fewer parameters in {over}, or give {prior}"),
    )
