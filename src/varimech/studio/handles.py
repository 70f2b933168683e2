"""Handles: values of parameters that move a point, its path or an objective to a target that a
designer sets.

Gauss–Newton with Levenberg's damping: with the residual r(ρ) and its exact derivative J, a step is

    min |r + J S d|² + μ |d|²    within the bounds,   Δρ = S d,

where S contains the ranges of the parameters; μ falls after a step that reduces |r| and grows after
one that does not. For a path, the residual refers to the point nearest to the target: there r is
perpendicular to the path, and a displacement along the path has no effect to first order, so it is
projected out of J.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..core.errors import ModelError, VarimechError, unknown_name
from ..results.run import Run

if TYPE_CHECKING:
    from .engine import Engine

FIRST_DAMPING = 1e-6
"""Initial μ relative to the largest eigenvalue of (JS)ᵀJS: small, because designs are mostly close.
"""
LONGEST = 0.25
"""Largest change of a parameter in one step, relative to its range: for longer steps the
linearisation is unreliable.
"""
LARGEST_DAMPING = 1e6
"""μ above which steps are too short to justify a run."""
SETTLED = 1e-10
"""Relative decrease of the residual below which a search ends."""
AT_BOUND = 1e-9
"""Distance from a bound, relative to the range, within which a parameter counts as at the bound."""
MOST_TIMES = 6
"""Number of times that are tried for a path that cannot reach the target as a whole."""
LIVE_STEPS, FINAL_STEPS = 3, 40
"""Gauss–Newton steps while a handle is dragged, and after it is released."""


@dataclass(frozen=True)
class Linear:
    """A residual with its derivatives with respect to the selected parameters."""

    residual: np.ndarray
    """(n,), m or the unit of the objective"""
    jacobian: np.ndarray
    """(n, parameter)"""


class Target(Protocol):
    """Target of a handle."""

    def linear(self, engine: Engine, values: Mapping[str, float], over: Sequence[str]) -> Linear:
        """Residual at a design, and its derivatives."""
        ...


@dataclass(frozen=True)
class PointTarget:
    """Target position of a point at a time, or anywhere on its path."""

    point: str
    place: tuple[float, ...]
    """Position (m), with as many components as the mechanism has dimensions."""
    time: float | None = None
    """s; None for the path"""

    def linear(self, engine: Engine, values: Mapping[str, float], over: Sequence[str]) -> Linear:
        """Distance vector from the target to the point, or to the nearest point of its path."""
        run = engine.run_with_derivatives(values)
        if len(self.place) != run.info["dimension"]:
            raise ModelError(f"a place has {run.info['dimension']} components")
        columns = [run.parameter_names.index(name) for name in over]
        path, rates = (f([self.point])[self.point] for f in (run.paths, run.path_rates))
        row, share = (
            _nearest(run.time, path, rates, np.array(self.place))
            if self.time is None
            else _located(run.time, self.time)
        )
        two = _two_rows(run, row)
        derivatives = two.path_derivatives([self.point])[self.point][:, :, columns]
        rate_derivatives = _rate_derivatives(two, self.point)[:, :, columns]
        place, rate = _between(two.time, path[row : row + 2], rates[row : row + 2], share)
        J, _ = _between(two.time, derivatives, rate_derivatives, share)
        r = place - np.array(self.place)
        ends = row + share in (0.0, float(run.time.size - 1))
        if self.time is None and not ends and (speed := np.linalg.norm(rate)) > 0:
            along = rate / speed
            r, J = r - along * (along @ r), J - np.outer(along, along @ J)
        return Linear(r, J)


@dataclass(frozen=True)
class BodyTarget:
    """Target positions of several points at a time, for a bar that is dragged as a whole."""

    parts: tuple[PointTarget, ...]

    def linear(self, engine: Engine, values: Mapping[str, float], over: Sequence[str]) -> Linear:
        """Distance vectors of all points from their targets."""
        each = [part.linear(engine, values, over) for part in self.parts]
        return Linear(
            np.concatenate([e.residual for e in each]), np.vstack([e.jacobian for e in each])
        )


@dataclass(frozen=True)
class ObjectiveTarget:
    """Target value of an objective."""

    name: str
    value: float

    def linear(self, engine: Engine, values: Mapping[str, float], over: Sequence[str]) -> Linear:
        """Difference between the objective and its target."""
        gradient = engine.gradient(values)
        if self.name not in gradient.objective_names:
            raise unknown_name("objective", self.name, gradient.objective_names)
        row = list(gradient.objective_names).index(self.name)
        columns = [gradient.parameter_names.index(name) for name in over]
        left = float(gradient.final_values[row]) - self.value
        return Linear(np.array([left]), np.asarray(gradient.final_gradient)[[row]][:, columns])


@dataclass(frozen=True)
class Reached:
    """Result of a handle."""

    values: dict[str, float]
    distance: float
    """Remaining distance, in m or the unit of the objective."""
    at_bounds: tuple[str, ...]
    """Parameters at their bounds."""
    steps: int


def pulled(
    engine: Engine,
    values: Mapping[str, float],
    target: Target,
    over: Sequence[str] | None = None,
    *,
    steps: int = FINAL_STEPS,
    goal: float = 0.0,
) -> Reached:
    """Move a handle as close to its target as possible.

    Args:
        engine: the mechanism.
        values: initial values of parameters that differ from the nominal ones.
        target: the target of the handle.
        over: parameters that may change; all with derivatives if not given.
        steps: largest number of Gauss–Newton steps.
        goal: distance at which to stop.

    Raises:
        ModelError: for an unknown parameter or point, or if no parameter may change.
    """
    names, low, high, x = _space(engine, values, over)
    scale = high - low
    linear = target.linear(engine, values, names)
    damping, done = FIRST_DAMPING, 0
    while done < steps and damping < LARGEST_DAMPING and np.linalg.norm(linear.residual) > goal:
        done += 1
        least = np.maximum((low - x) / scale, -LONGEST)
        most = np.minimum((high - x) / scale, LONGEST)
        ahead = np.clip(x + scale * _step(linear, scale, least, most, damping), low, high)
        tried = _tried(engine, {**values, **_named(names, ahead)}, target, names)
        before = np.linalg.norm(linear.residual)
        after = np.inf if tried is None else np.linalg.norm(tried.residual)
        if tried is None or after >= before:
            damping *= 100
            continue
        x, linear, damping = ahead, tried, max(damping / 100, FIRST_DAMPING**2)
        if before - after <= SETTLED * before:
            break
    bound = np.minimum(x - low, high - x) <= AT_BOUND * scale
    return Reached(
        {**values, **_named(names, x)},
        float(np.linalg.norm(linear.residual)),
        tuple(name for name, at in zip(names, bound, strict=True) if at),
        done,
    )


def brought(
    engine: Engine,
    values: Mapping[str, float],
    target: Target,
    over: Sequence[str] | None = None,
    *,
    goal: float,
) -> Reached:
    """Call `pulled` until the goal is reached or no progress is made.

    The nearest point of a path jumps from one part of it to another, where a search may get stuck.
    The point is then pulled to the target at single times, starting with those at which it comes
    closest.
    """
    best = pulled(engine, values, target, over, goal=goal)
    if not isinstance(target, PointTarget) or target.time is not None:
        return best
    for time in _close_times(engine.run_with_derivatives(values), target):
        if best.distance <= goal:
            break
        single = PointTarget(target.point, target.place, time)
        reached = pulled(engine, values, single, over, goal=goal)
        best = min(best, reached, key=lambda r: r.distance)
    return best


def _close_times(run: Run, target: PointTarget) -> list[float]:
    """Times of local minima of the distance of a point from its target, the closest first."""
    away = np.linalg.norm(run.paths([target.point])[target.point] - target.place, axis=1)
    inner = np.flatnonzero((away[1:-1] <= away[:-2]) & (away[1:-1] <= away[2:])) + 1
    rows = sorted([0, *inner.tolist(), away.size - 1], key=lambda row: away[row])
    return [float(run.time[row]) for row in rows[:MOST_TIMES]]


def _space(
    engine: Engine, values: Mapping[str, float], over: Sequence[str] | None
) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Names, bounds and values of the parameters that may change."""
    by_name: dict[str, Any] = {str(p["name"]): p for p in engine.parameters}
    differentiated = [name for name in engine.wrt if over is None or name in over]
    for name in over or ():
        if name not in by_name:
            raise unknown_name("parameter", name, by_name)
    if not differentiated:
        raise ModelError("no parameter may follow the handle", remedy="tick one or more of them")
    low, high = (np.array([by_name[n][end] for n in differentiated]) for end in ("low", "high"))
    x = np.array([values.get(n, by_name[n]["value"]) for n in differentiated])
    return differentiated, np.minimum(low, x), np.maximum(high, x), x


def _named(names: Sequence[str], x: np.ndarray) -> dict[str, float]:
    return dict(zip(names, x.tolist(), strict=True))


def _tried(
    engine: Engine, values: Mapping[str, float], target: Target, names: Sequence[str]
) -> Linear | None:
    """Linearise at a design; None if it is invalid, or cannot be assembled or run: a shorter step
    may succeed.
    """
    try:
        return target.linear(engine, values, names)
    except VarimechError:
        return None


def _step(
    linear: Linear, scale: np.ndarray, low: np.ndarray, high: np.ndarray, damping: float
) -> np.ndarray:
    """The damped least-squares step within bounds, in units of the parameter ranges."""
    from scipy.optimize import lsq_linear

    A = linear.jacobian * scale
    root = np.sqrt(damping) * (np.linalg.norm(A, 2) or 1.0)
    rows = np.vstack([A, root * np.eye(scale.size)])
    right = np.concatenate([-linear.residual, np.zeros(scale.size)])
    tiny = np.spacing(1.0)  # the solver requires a non-empty interval between bounds
    return lsq_linear(rows, right, (np.minimum(low, -tiny), np.maximum(high, tiny)), "bvls").x


def _located(times: np.ndarray, time: float) -> tuple[int, float]:
    """Row before a time, and its fraction of the interval to the next row."""
    if times.size < 2:
        return 0, 0.0
    row = int(np.clip(np.searchsorted(times, time, side="right") - 1, 0, times.size - 2))
    share = (time - times[row]) / (times[row + 1] - times[row])
    return row, float(np.clip(share, 0.0, 1.0))


def _nearest(
    times: np.ndarray, path: np.ndarray, rates: np.ndarray, place: np.ndarray
) -> tuple[int, float]:
    """The nearest point of a path that is cubic between rows: a row, and the fraction of the
    interval to the next one.
    """
    from scipy.optimize import minimize_scalar

    best = int(np.linalg.norm(path - place, axis=1).argmin())
    nearest_point = (np.inf, 0, 0.0)
    for row in range(max(0, best - 1), min(times.size - 1, best + 1)):
        span = slice(row, row + 2)

        def distance(share: float, span: slice = span) -> float:
            at, _ = _between(times[span], path[span], rates[span], share)
            return float(np.linalg.norm(at - place))

        inner = minimize_scalar(distance, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
        nearest_point = min(
            nearest_point, *((distance(s), row, float(s)) for s in (0.0, inner.x, 1.0))
        )
    return nearest_point[1], nearest_point[2]


def _between(
    times: np.ndarray, values: np.ndarray, rates: np.ndarray, share: float
) -> tuple[np.ndarray, np.ndarray]:
    """Values and rates between two rows, by cubic Hermite interpolation."""
    if times.size < 2:
        return values[0], rates[0]
    s, gap = share, times[1] - times[0]
    if gap == 0:
        return values[0], rates[0]
    rise = values[1] - values[0]
    value = (
        values[0]
        + s * s * (3 - 2 * s) * rise
        + gap * (s * (1 - s) ** 2 * rates[0] + s * s * (s - 1) * rates[1])
    )
    rate = (
        6 * s * (1 - s) * rise / gap + (1 - s) * (1 - 3 * s) * rates[0] + s * (3 * s - 2) * rates[1]
    )
    return value, rate


def _two_rows(run: Run, row: int) -> Run:
    return run.at_rows(np.arange(row, min(row + 2, run.time.size)))


def _rate_derivatives(run: Run, point: str) -> np.ndarray:
    """Derivatives of the velocity of a point, (time, component, parameter)."""
    array = run.velocity(point, wrt="all").transpose("time", "component", "parameter")
    return np.asarray(array.to_numpy())
