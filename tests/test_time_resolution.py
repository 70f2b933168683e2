"""Interval bounds of expressions, and what they find: nothing between samples is missed."""

import math
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

import varimech as vm
from varimech.solving.explicit_time import ExplicitTime
from varimech.solving.intervals import Tape
from varimech.solving.time_resolution import TimeResolution, resolve

T, P = ca.SX.sym("t"), ca.SX.sym("p", 2)
UNARY: list[Callable[[Any], Any]] = [
    *(
        ca.exp,
        ca.sin,
        ca.cos,
        ca.tan,
        ca.sqrt,
        ca.log,
        ca.tanh,
        ca.sinh,
        ca.cosh,
        ca.atan,
        ca.fabs,
        ca.floor,
        ca.ceil,
        ca.sign,
        ca.erf,
    ),
    *(
        lambda x: -x,
        lambda x: x**2,
        lambda x: x**3,
        lambda x: x**-1,
        lambda x: 2**x,
        ca.asinh,
        ca.log1p,
        ca.expm1,
    ),
]
BINARY: list[Callable[[Any, Any], Any]] = [
    *(
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        ca.fmin,
        ca.fmax,
        ca.atan2,
        ca.fmod,
    ),
    *(
        lambda a, b: ca.if_else(a < b, a, 2),
        lambda a, b: ca.if_else(ca.logic_and(a <= b, a > 0), a, b),
    ),
    lambda a, b: ca.sqrt(a**2 + b**2),
]


def _random_expression(rng: np.random.Generator, depth: int = 3) -> Any:
    if depth == 0:
        return [T, P[0], rng.normal(), T * P[1]][rng.integers(4)]
    if rng.random() < 0.5:
        return UNARY[rng.integers(len(UNARY))](_random_expression(rng, depth - 1))
    return BINARY[rng.integers(len(BINARY))](
        *[_random_expression(rng, depth - 1) for _ in range(2)]
    )


@pytest.mark.parametrize("seed", range(60))
def test_bounds_contain_all_values(seed: int) -> None:
    """CasADi's values at many points lie within the bounds of their interval, wherever nothing on
    the way to them is undefined.
    """
    rng = np.random.default_rng(seed)
    expressions = [ca.SX(_random_expression(rng)) for _ in range(5)]
    tape, values = Tape(T, P, expressions), rng.normal(size=2)
    low = rng.uniform(-3, 3, 30)
    high = low + 10 ** rng.uniform(-4, 1, 30)
    bounds = tape.bounds(low, high, values)
    f = ca.Function("f", [T, P], [ca.vertcat(*expressions)])
    for share in np.linspace(0, 1, 9):
        times = np.minimum(low + share * (high - low), high)
        exact = np.array(f(times[None], values))
        defined = np.logical_and.reduce(
            [np.isfinite(low) for low, _ in tape.bounds(times, times, values)]
        )
        for number, row in zip(tape.outputs, exact, strict=True):
            known = defined & np.isfinite(row)
            value, (least, most) = row[known], [x[known] for x in bounds[number]]
            slack = 1e-9 * (1 + np.abs(value))
            assert (least <= value + slack).all() and (value - slack <= most).all()


def _resolved(
    expression: Any, duration: float = 1.0, values: tuple[float, float] = (0.5, 1e-4)
) -> TimeResolution:
    return resolve(ExplicitTime(Tape(T, P, [ca.SX(expression)]), ["f"]), duration, np.array(values))


@pytest.mark.parametrize("seed", range(20))
def test_every_feature_is_found(seed: int) -> None:
    """Pulses of any width, place and size in the run, beside a slow force a thousand times as
    large: edges to rounding, bells by limits.
    """
    rng = np.random.default_rng(seed)
    duration = 10 ** rng.uniform(-9, 9)
    w, c = 10 ** rng.uniform(-8, -3) * duration, rng.uniform(0.1, 0.9) * duration
    slow = 1e3 * ca.sin(5 * T / duration)
    edges = _resolved(slow + vm.where(c < T, vm.where(c + w > T, 1, 0), 0), duration).edges
    assert edges.shape == (2, 2) and np.abs(edges - [[c], [c + w]]).max() <= 4e-16 * duration
    bell = _resolved(slow + ca.exp(-(((T - c) / w) ** 2)), duration)
    pieces = bell.pieces(0.02 * duration)
    assert pieces is not None
    at = np.searchsorted(pieces.stops, [c - w, c, c + w])
    assert (pieces.limits[at] < 8 * w).all() and (pieces.limits[at] > 0.1 * w).all()
    assert pieces.limits[0] > 1e-3 * duration  # not where nothing happens


def test_slow_functions_ask_for_nothing() -> None:
    for f in (
        T**3 - T,
        ca.sin(30 * T),
        P[0] * T,
        ca.sin(T) ** 2 + ca.cos(T) ** 2,
        ca.exp(-T),
        1 / (1 + T),
    ):
        assert _resolved(f).pieces(0.02) is None


def test_fast_oscillations_have_one_limit() -> None:
    pieces = _resolved(ca.sin(1000 * T)).pieces(0.02)
    assert pieces is not None and pieces.stops.tolist() == [1.0]
    period = 2 * math.pi / 1000
    assert period / 2 < pieces.limits[0] < period


def test_edges_of_every_kind() -> None:
    cases: list[tuple[Any, list[float]]] = [
        (vm.where(T > 0, 1, 0), [0.0]),
        (ca.fmax(T - 0.2, 0), [0.2]),
        (ca.fabs(T - 0.25), [0.25]),
        (ca.floor(4 * T + 0.5), [0.125, 0.375, 0.625, 0.875]),
        (ca.sign(ca.cos(3 * math.pi * T)), [1 / 6, 0.5, 5 / 6]),
        (vm.where((T - 0.3) * (T - 0.7) < 0, 1, 0), [0.3, 0.7]),
        (vm.where(P[0] > T, 0, T - P[0]), [0.5]),
    ]
    for expression, exact in cases:
        computed = _resolved(expression).edges
        assert (
            computed.shape[0] == len(exact) and np.abs(computed.mean(axis=1) - exact).max() < 1e-15
        ), expression


def test_what_is_not_used_does_not_count() -> None:
    """The cosine of a haversine oscillates a hundred thousand times outside of its window, where it
    is not used.
    """
    w = 1e-5
    inside = (1 - ca.cos(2 * math.pi * (T - 0.3) / w)) / w
    computed = _resolved(vm.where(T > 0.3, vm.where(0.3 + w > T, inside, 0), 0))
    assert computed.limits.size < 1000


def test_parameters_that_move_edges_are_known() -> None:
    amplitude = _resolved(P[0] * vm.where(T > 0.3, 1, 0))
    assert amplitude.parameters == frozenset() and amplitude.jumps == ()
    moved = _resolved(vm.where(P[0] < T, 1, 0))
    assert moved.parameters == {0} and [j.parameters for j in moved.jumps] == [{0}]
    kink = _resolved(vm.where(P[0] < T, T - P[0], 0))
    assert kink.parameters == {0} and kink.jumps == ()
    width = _resolved(P[0] * ca.exp(-(((T - 0.3) / P[1]) ** 2)))
    assert width.parameters == {1}
    both = _resolved(P[0] * (vm.where(T > 0.3, 1, 0) + ca.exp(-(((T - 0.6) / 1e-4) ** 2))))
    assert both.parameters == frozenset()
