"""Nonlinear parts of forces, drivers and objectives as functions of time along a motion.

A narrow, fast or abrupt force results from a nonlinear operation in its expression: the bell of a
pulse, the sine of an excitation, the comparison of a switch. Each operation is examined separately
and relative to its own size, however little it contributes to the whole force. Features can be
narrow near zeros and turning points of any function of time alone: exp(−((t − c)/w)²) is centred on
the zero of t − c, whatever w is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..coordinates.equations import Equations
from ..core.gradual import GRADUAL
from ..core.symbols import SX, replayed, symbols_in
from .objective import Objective
from .objective_functions import objective_expressions
from .resolution import Evaluate

MOST_ZEROS = 1000
"""Largest number of zeros of one expression around which samples are clustered; a vibration with
more is resolved by the equidistant samples anyway.
"""
HALVINGS = 60
"""Bisections of the interval of a zero: down to rounding."""


@dataclass(frozen=True)
class NonlinearParts:
    """Expressions, and for each the element or objective to which it belongs."""

    places: tuple[str, ...]
    expressions: SX


def nonlinear_parts(
    e: Equations, objectives: Mapping[str, Objective]
) -> tuple[NonlinearParts, NonlinearParts, SX]:
    """Return the nonlinear parts that depend on time alone, those that also depend on positions or
    velocities, and all expressions of time alone, linear ones included.
    """
    moving, hidden, t = symbols_in(e.q, e.v), symbols_in(e.a, e.λ), symbols_in(e.t)
    timed: dict[int, tuple[str, SX]] = {}
    along: dict[int, tuple[str, SX]] = {}
    every: dict[int, SX] = {}
    for place, stated, driving in _stated(e, objectives):
        for operation, result in _results(stated):
            own, key = symbols_in(result), result.element_hash()
            if not own.isdisjoint(hidden) or own.isdisjoint(t | moving):
                continue
            if own.isdisjoint(moving):
                every[key] = result
                if operation not in GRADUAL:
                    timed[key] = place, result
            elif operation not in GRADUAL and not driving:
                along[key] = place, result
    first, second = (
        NonlinearParts(tuple(p for p, _ in x.values()), _column([r for _, r in x.values()]))
        for x in (timed, along)
    )
    return first, second, _column(list(every.values()))


def _stated(e: Equations, objectives: Mapping[str, Objective]) -> Iterator[tuple[str, SX, bool]]:
    """Yield place, expression, and whether it is a constraint: of a constraint only the part that
    depends on time alone (a driver) is examined.
    """
    for element in e.elements:
        if element.initial is None:
            if element.efforts:
                yield element.name, ca.veccat(*[effort for _, effort in element.efforts]), False
            if element.constraints:
                yield element.name, ca.veccat(*[c.residuals for c in element.constraints]), True
    integrands, _ = objective_expressions(e, objectives)
    for name, integrand in zip(
        objectives, ca.vertsplit(integrands) if objectives else [], strict=True
    ):
        yield name, integrand, False


def _results(stated: SX) -> Iterator[tuple[int, SX]]:
    """Yield every operation of an expression with its result."""
    own = ca.symvar(stated)
    function = ca.Function("stated", own, [ca.densify(stated)])
    for operation, values, _ in replayed(function, own):
        if operation != ca.OP_OUTPUT:
            yield (
                operation,
                SX.unary(operation, *values) if len(values) == 1 else SX.binary(operation, *values),
            )


def _column(expressions: Sequence[SX]) -> SX:
    return ca.vertcat(SX(0, 1), *expressions)


def of_time(e: Equations, ρ: np.ndarray, expressions: SX) -> Evaluate:
    """Return a function that evaluates expressions of time."""
    f = ca.Function("of_time", [e.t, e.ρ], [ca.densify(expressions)])

    def evaluate(times: np.ndarray) -> np.ndarray:
        return np.array(f(times[None, :], ρ)).T

    return evaluate


def along_motion(
    e: Equations, ρ: np.ndarray, expressions: SX, time: np.ndarray, states: np.ndarray
) -> Evaluate:
    """Return a function that evaluates expressions of time, positions and velocities along a stored
    motion, which is interpolated by cubic polynomials.
    """
    from scipy.interpolate import CubicHermiteSpline

    n = e.q.numel()
    f = ca.Function("along", [e.t, e.q, e.v, e.ρ], [ca.densify(expressions)])
    q, v = (
        CubicHermiteSpline(
            time, states[:, k * n : (k + 1) * n], states[:, (k + 1) * n : (k + 2) * n]
        )
        for k in range(2)
    )

    def evaluate(times: np.ndarray) -> np.ndarray:
        return np.array(f(times[None, :], q(times).T, v(times).T, ρ)).T

    return evaluate


def special_times(evaluate: Evaluate, duration: float, count: int) -> np.ndarray:
    """Find zeros and turning points of functions of time, as far as `count` samples resolve them."""
    t = np.linspace(0.0, duration, count + 1)
    values = evaluate(t)
    times = []
    for k in range(values.shape[1]):
        y = values[:, k]
        if not np.isfinite(y).all():
            continue
        signs = np.flatnonzero(np.sign(y[1:]) * np.sign(y[:-1]) < 0)
        if signs.size <= MOST_ZEROS:
            times += [
                _zeros(lambda x, k=k: evaluate(x)[:, k], t[signs], t[signs + 1]),  # type: ignore[misc]
                t[y == 0][:MOST_ZEROS],
            ]
        differences = np.diff(y)
        turns = 1 + np.flatnonzero(differences[1:] * differences[:-1] < 0)
        if turns.size <= MOST_ZEROS:
            left, right = differences[turns - 1], differences[turns]
            # vertex of the parabola through three samples
            times.append(t[turns] + 0.5 * t[1] * (left + right) / (left - right))
    return np.unique(np.concatenate([np.zeros(0), *times]))


def _zeros(f: Evaluate, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Find zeros by bisection, all intervals at once."""
    if not low.size:
        return low
    sign = np.sign(f(low))
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        same = np.sign(f(middle)) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return 0.5 * (low + high)
