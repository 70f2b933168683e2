"""Derivatives of the five-bar and of chains as a careful user writes them with CasADi, for these
mechanisms alone, in their angles.

The rates are one expression, a step of Runge and Kutta has them four times, written out or called,
whichever was faster, `mapaccum` repeats it, and everything is differentiated by CasADi and
compiled; h and the number of steps are part of the program. CVODES integrates the same rates with
CasADi's own sensitivities.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
from casadi_side import COMPILED, SX, adams, augmented, ca, dop853, five_bar_rates, gradient_of
from derivatives_problem import (
    BY_HAND,
    CHAIN_ANGLE,
    CHAIN_LENGTH,
    CHAIN_STEP,
    CHAIN_STEPS,
    DIRECTION,
    GOALS,
    LADDER,
    TOLERANCES,
    WAYS,
    Chain,
    Engine,
    Way,
    timings,
)
from problem import DURATION, GRAVITY, NOMINAL, START_ANGLES, coarsest, timed

RK4, APPENDED, CVODES = "CasADi, RK4", "CasADi, RK4, sensitivities appended", "CasADi, CVODES"
FINEST = 1e-13
MARGIN = 0.8
START = np.concatenate([START_ANGLES, np.zeros(2)])


def chain_rates(size: int) -> tuple[SX, SX, SX]:
    """The same for a chain of uniform bars, in the angles of its bars; ψ is the squared speed of
    its end, over time.
    """
    angles, rates, ρ = ca.SX.sym("α", size), ca.SX.sym("ω", size), ca.SX.sym("ρ", 2 * size)
    lengths, masses = ρ[:size], ρ[size:]
    point, speed = ca.SX.zeros(2), ca.SX.zeros(2)
    kinetic = potential = ca.SX(0)
    for k in range(size):
        e, n = (
            ca.vertcat(ca.cos(angles[k]), ca.sin(angles[k])),
            ca.vertcat(-ca.sin(angles[k]), ca.cos(angles[k])),
        )
        middle = speed + lengths[k] / 2 * rates[k] * n
        kinetic += masses[k] / 2 * (ca.sumsqr(middle) + lengths[k] ** 2 / 12 * rates[k] ** 2)
        potential += masses[k] * GRAVITY * (point + lengths[k] / 2 * e)[1]
        point, speed = point + lengths[k] * e, speed + lengths[k] * rates[k] * n
    momenta = ca.gradient(kinetic, rates)
    forces = ca.gradient(kinetic - potential, angles) - ca.jtimes(momenta, angles, rates)
    D, L, order = ca.ldl(ca.jacobian(momenta, rates))
    second = ca.ldl_solve(forces, D, L, order)
    return ca.vertcat(angles, rates), ρ, ca.vertcat(rates, second, ca.sumsqr(speed))


def equal_steps(
    system: tuple[SX, SX, SX], start: np.ndarray, steps: int, h: float, *, inlined: bool = False
) -> tuple[Any, Any]:
    """Parameters and ψ at the end, by RK4; a step calls the rates four times, or has them written
    out.
    """
    x, ρ, rate = system
    f = ca.Function("f", [x, ρ], [rate], {"cse": True})
    n, kind = x.numel(), ca.SX if inlined else ca.MX
    z, p, P = kind.sym("z", rate.numel()), kind.sym("p", ρ.numel()), ca.MX.sym("ρ", ρ.numel())
    k1 = f(z[:n], p)
    k2 = f(z[:n] + h / 2 * k1[:n], p)
    k3 = f(z[:n] + h / 2 * k2[:n], p)
    k4 = f(z[:n] + h * k3[:n], p)
    step = ca.Function(
        "step", [z, p], [z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)], {"cse": True} if inlined else {}
    )
    began = ca.DM([*start, *np.zeros(z.numel() - n)])
    return P, step.mapaccum("run", steps)(began, ca.repmat(P, 1, steps))[n:, -1]


def by_cvodes(tolerance: float, options: dict[str, Any]) -> tuple[Any, Any]:
    """Parameters and ψ at the end, by CVODES (Adams, functional iteration)."""
    x, ρ, rate = five_bar_rates()
    system = {"x": x, "p": ρ, "ode": rate[:4], "quad": rate[4:]}
    integrator = adams(system, DURATION, tolerance, **options)
    P = ca.MX.sym("ρ", 5)
    return P, integrator(x0=START, p=P)["qf"]


def appended(system: tuple[SX, SX, SX], steps: int) -> tuple[Any, Any, Any]:
    """Parameters, ψ and ψ' at the end, by RK4, the sensitivities S' = A S + B appended by hand."""
    x, ρ, rate = system
    S = ca.SX.sym("S", 4, 5)
    tangent = ca.jacobian(rate, x) @ S + ca.jacobian(rate, ρ)
    long = ca.vertcat(rate[:4], ca.vec(tangent[:4, :]), rate[4:], ca.vec(tangent[4:, :]))
    P, end = equal_steps(
        (ca.vertcat(x, ca.vec(S)), ρ, long),
        np.concatenate([START, np.zeros(20)]),
        steps,
        DURATION / steps,
    )
    return P, end[:3], ca.reshape(end[3:], 3, 5)


def gradient(P: Any, ψ: Any, scheme: str) -> Any:
    """A row an objective."""
    eye = ca.MX(ca.DM.eye(P.numel() if scheme == "forward" else ψ.numel()))
    return ca.jtimes(ψ, P, eye) if scheme == "forward" else ca.jtimes(ψ, P, eye, True).T


def caller(P: Any, expected: Any, options: dict[str, Any]) -> Callable[..., np.ndarray]:
    """A function of a direction."""
    V = ca.MX.sym("v", 5)
    function = ca.Function("wanted", [P, V], [expected(V)], options)
    return lambda direction=DIRECTION: np.array(function(NOMINAL, direction))


def measure(
    make: Callable[[str, dict[str, Any]], tuple[Any, ...]],
    engine: Engine,
    scheme: str,
    exact: np.ndarray,
    second: bool,
) -> None:
    """Time motion and gradient, and if wanted product and Hessians (a product for each parameter);
    compiled, of CVODES the rates.
    """
    computed, built = engine.ways[scheme], engine.build_seconds
    whole, parts = ({}, COMPILED) if engine.engine == CVODES else (COMPILED, {})

    def build(what: str) -> Callable[..., np.ndarray]:
        P, ψ, *given = make(what, parts)
        if what == "motion":
            return caller(P, lambda V: ψ, whole)
        G = given[0] if given else gradient(P, ψ, scheme)
        return caller(
            P, (lambda V: G) if what == "gradient" else lambda V: ca.jtimes(ca.vec(G), P, V), whole
        )

    calls: dict[str, Callable[..., np.ndarray]] = {}
    for what in ("motion", "gradient", *(["product"] if second else [])):
        seconds, calls[what] = timed(partial(build, what))
        order = "second" if what == "product" else "first"
        built[f"{order}, {scheme}"] = built.get(f"{order}, {scheme}", 0.0) + seconds
    if second:
        calls["Hessians"] = lambda: np.stack(
            [calls["product"](e).reshape(5, 3).T for e in np.eye(5)], axis=1
        )
        computed.hessians = calls["Hessians"]().tolist()
    computed.milliseconds = timings(calls)
    computed.error = float(np.abs(calls["gradient"]() / exact - 1).max())


def interpreted(run: tuple[Any, Any], scheme: str) -> np.ndarray:
    return caller(run[0], lambda V: gradient(*run, scheme), {})()


def by_steps(system: tuple[SX, SX, SX], exact: np.ndarray, goal: float) -> list[Engine]:
    """RK4, differentiated by CasADi and by hand."""

    def run(steps: int, what: str = "product") -> tuple[Any, Any]:
        return equal_steps(system, START, steps, DURATION / steps, inlined=what != "product")

    rk4, by_hand = Engine(RK4, goal), Engine(APPENDED, goal)
    steps, error = coarsest(LADDER, lambda n: interpreted(run(n), "forward"), exact, goal)
    for scheme in WAYS:
        rk4.ways[scheme] = Way(f"{steps:,} steps", error)
        measure(
            lambda what, _: run(steps, what),
            rk4,
            scheme,
            exact,
            goal == GOALS[0] and scheme == "backward",
        )
    by_hand.ways["forward"] = Way(f"{steps:,} steps", error)
    measure(
        lambda what, _: run(steps, what) if what == "motion" else appended(system, steps),
        by_hand,
        "forward",
        exact,
        goal == GOALS[0],
    )
    return [rk4, by_hand]


def to_tolerance(exact: np.ndarray, goal: float) -> Engine:
    """CVODES; compiled rates are rounded differently, and the steps with them, so that the sweep
    leaves a margin.
    """
    computed = Engine(CVODES, goal)

    def add(scheme: str) -> None:
        tolerance, error = coarsest(
            TOLERANCES, lambda t: interpreted(by_cvodes(t, {}), scheme), exact, MARGIN * goal
        )
        computed.ways[scheme] = Way(f"tolerance {tolerance:.1e}", error)
        measure(
            lambda _, options: by_cvodes(tolerance, options), computed, scheme, exact, second=False
        )

    for scheme in WAYS:
        add(scheme)
    return computed


def chain(size: int) -> Chain:
    nominal = np.array([CHAIN_LENGTH / size] * size + [1.0] * size)
    start = np.concatenate([np.full(size, CHAIN_ANGLE), np.zeros(size)])
    system = chain_rates(size)

    def build(what: str) -> Callable[[], Any]:
        P, ψ = equal_steps(system, start, CHAIN_STEPS, CHAIN_STEP, inlined=True)
        return partial(
            ca.Function(
                what, [P], [ψ if what == "motion" else gradient(P, ψ, "backward")], COMPILED
            ),
            nominal,
        )

    computed, calls = Chain(RK4, size), {}
    for what in ("motion", "adjoint"):
        computed.build_seconds[what], calls[what] = timed(partial(build, what))
    computed.milliseconds = timings(calls)
    computed.gradient = np.array(calls["adjoint"]()).ravel().tolist()
    return computed


def main() -> None:
    exact = gradient_of(dop853(augmented(), FINEST))
    system = five_bar_rates()
    engines = [
        engine
        for goal in GOALS
        for engine in (*by_steps(system, exact, goal), to_tolerance(exact, goal))
    ]
    chains = [chain(size) for size in BY_HAND]
    report = {
        "engines": [asdict(e) for e in engines],
        "chains": [asdict(c) for c in chains],
        "versions": {"casadi": ca.__version__},
    }
    print(json.dumps(report | {"gradient": exact.tolist()}))


if __name__ == "__main__":
    main()
