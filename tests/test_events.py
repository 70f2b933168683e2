"""Stated events, modes and resets; values at events, their times, and extrema of objectives: against
closed forms, whose derivatives are complex steps of them, by all derivative methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from both_backends import both_backends

import varimech as vm

G = 9.81
TINY = 1e-30
X, V = "displacement('g')", "displacement_rate('g')"
Closed = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def exact(closed: Closed, values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Values and derivatives of closed forms, by complex steps."""
    psi = np.array([complex(x).real for x in closed(values).values()])
    columns = [
        [complex(x).imag / TINY for x in closed({**values, name: value + TINY * 1j}).values()]
        for name, value in values.items()
    ]
    return psi, np.array(columns).T


def check(g: vm.Gradient, closed: Closed, rtol: float) -> None:
    """Against closed forms by name; objectives are those of the gradient."""
    values = {
        p: float(g.run.info["parameters"][p]) for p in map(str, g.dataset["parameter"].values)
    }
    psi, derivatives = exact(closed, values)
    rows = [list(closed(values)).index(str(name)) for name in g.dataset["objective"].values]
    psi, derivatives = psi[rows], derivatives[rows]
    np.testing.assert_allclose(g.final_values, psi, rtol=rtol, atol=rtol)
    scale = np.abs(derivatives).max()
    np.testing.assert_allclose(g.final_gradient, derivatives, rtol=rtol, atol=rtol * scale)


# --- a block that a motor pushes until it is at p, and that is thrown back at 1 m

BANG_T = 1.5


def bang(hit: Any = None) -> vm.Mechanism:
    m = vm.Mechanism("bang", dimension=2)
    p, F = m.parameter("p", 0.5), m.parameter("F", 2.0)
    e = m.parameter("e", 0.7)
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=1.0, points={"C": (0, 0)})
    m.prismatic("g", "ground.O", "b.C", axis=(1, 0))
    m.mode("motor", initial=1)
    m.force("push", "b.C", lambda s: (F * s.mode("motor"), 0))
    m.event("off", lambda s: s.displacement("g") - p, direction="rising", do={"motor": 0})
    reset = hit or {"g": lambda s: -e * s.displacement_rate("g")}
    m.event("hit", lambda s: s.displacement("g") - 1.0, direction="rising", do=reset)
    m.start(displacement={"g": 0.0}, speed={"g": 0.0})
    return m


BANG = {
    "x": vm.final(X),
    "∫x": vm.integral(X),
    "off": vm.time_of("off"),
    "hit": vm.time_of("hit"),
    "speed": vm.at("hit", V),
    "work": vm.at("off", lambda s: s.energy),
    "furthest": vm.peak(X),
    "slowest": vm.lowest(V),
    "speeds": vm.range(V),
    "push": vm.peak("acceleration('b.C')[0]"),
    "sum": 2.0 * vm.time_of("off") - vm.peak(X) + vm.final(X),
}


def bang_exact(v: Mapping[str, Any]) -> dict[str, Any]:
    p, F, e = v["p"], v["F"], v["e"]
    speed = (2 * F * p) ** 0.5
    t1 = speed / F
    t2 = t1 + (1 - p) / speed
    rest = BANG_T - t2
    x = 1 - e * speed * rest
    integral = F * t1**3 / 6 + (t2 - t1) * (1 + p) / 2 + rest * (1 + x) / 2
    return {
        "x": x,
        "∫x": integral,
        "off": t1,
        "hit": t2,
        "speed": speed,
        "work": F * p,
        "furthest": 1.0,
        "slowest": -e * speed,
        "speeds": (1 + e) * speed,
        "push": F,
        "sum": 2 * t1 - 1 + x,
    }


METHODS: dict[str, tuple[dict[str, Any], float]] = {
    "direct": ({"method": "direct"}, 1e-9),
    "adjoint": ({"method": "adjoint"}, 1e-9),
    "differences": ({"method": "finite-difference", "relative_steps": (1e-5, 1e-6)}, 1e-6),
}
OTHERS: dict[str, dict[str, Any]] = {
    "order 5": {"integrator": "dopri5"},
    "natural": {"coordinates": "natural"},
    "rtdyn0": {"coordinates": "rtdyn0"},
    "rtdyn1": {"coordinates": "rtdyn1"},
}
by_methods = pytest.mark.parametrize(("options", "rtol"), METHODS.values(), ids=METHODS.keys())
by_others = pytest.mark.parametrize("options", OTHERS.values(), ids=OTHERS.keys())


@both_backends
@by_methods
def test_a_motor_that_is_switched_off(options: dict[str, Any], rtol: float, backend: str) -> None:
    g = bang().sensitivity(BANG, duration=BANG_T, backend=backend, **options)
    check(g, bang_exact, rtol)
    now = bang_exact({"p": 0.5, "F": 2.0, "e": 0.7})
    assert [(e.name, e.what) for e in g.run.events] == [("off", "event"), ("hit", "event")]
    np.testing.assert_allclose(g.run.events.times, [now["off"], now["hit"]], rtol=1e-12)
    before, after = g.run.events["hit"][0].before, g.run.events["hit"][0].after
    np.testing.assert_allclose([before, after], [now["speed"], now["slowest"]], rtol=1e-12)


@by_others
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_the_motor_in_other_coordinates(options: dict[str, Any], method: str) -> None:
    g = bang().sensitivity(
        BANG, duration=BANG_T, method=method, backend="interpreted", tolerance=1e-10, **options
    )
    check(g, bang_exact, 1e-8)


# --- a ball that is thrown upwards and bounces

BALL_T = 1.9
NOMINAL = {"h": 1.0, "u": 1.0, "e": 0.7}


def ball() -> vm.Mechanism:
    m = vm.Mechanism("ball", gravity=(0, -G))
    h, u, e = m.parameter("h", 1.0), m.parameter("u", 1.0), m.parameter("e", 0.7)
    m.ground_point("O", (0, 0))
    m.body("b", mass=2.0, inertia=1.0, points={"C": (0, 0)})
    m.prismatic("g", "ground.O", "b.C", axis=(0, 1))
    m.stop("floor", X, lower=0.0, restitution=e)
    m.start(displacement={"g": h}, speed={"g": u})
    return m


BALL = {
    "first": vm.time_of("floor"),
    "second": vm.time_of("floor", occurrence=2),
    "third": vm.time_of("floor", occurrence=3),
    "last": vm.time_of("floor", occurrence=0),
    "speed": vm.at("floor", V, occurrence=2),
    "last speed": vm.at("floor", V, occurrence=0),
    "fastest up": vm.peak(V),
    "fastest down": vm.lowest(V),
    "end": vm.peak("t"),
    "begin": vm.lowest("t"),
}
REVERSED = {
    "top": vm.peak(X),
    "bottom": vm.lowest(X),
    "stroke": vm.range(X),
    "turned": vm.peak(f"2.5*t - {X}"),
}
"""Extrema of what an impact reverses."""


def ball_exact(v: Mapping[str, Any], T: float = BALL_T) -> dict[str, Any]:
    h, u, e = v["h"], v["u"], v["e"]
    v1 = (u * u + 2 * G * h) ** 0.5
    t1 = (u + v1) / G
    t2 = t1 + 2 * e * v1 / G
    t3 = t2 + 2 * e * e * v1 / G
    y = ball_height(v, T)
    assert t3.real < T < (t3 + 2 * e**3 * v1 / G).real
    return {
        "first": t1,
        "second": t2,
        "third": t3,
        "last": t3,
        "speed": -e * v1,
        "last speed": -e * e * v1,
        "fastest up": e * v1,
        "fastest down": -v1,
        "end": T,
        "begin": 0.0,
        "top": h + u * u / (2 * G),
        "bottom": 0.0 * h,
        "stroke": h + u * u / (2 * G),
        "turned": max(2.5 * t3, 2.5 * T - y, key=lambda z: z.real),
    }


def ball_height(v: Mapping[str, Any], t: float) -> Any:
    """Its height after at most three impacts."""
    h, u, e = v["h"], v["u"], v["e"]
    v1 = (u * u + 2 * G * h) ** 0.5
    start, y, speed = 0.0 * h, h, u
    for k in range(3):
        hit = start + (speed + (speed * speed + 2 * G * y) ** 0.5) / G
        if hit.real > t:
            break
        start, y, speed = hit, 0.0 * h, e ** (k + 1) * v1
    return y + speed * (t - start) - G * (t - start) ** 2 / 2


@both_backends
@by_methods
def test_a_bouncing_ball(options: dict[str, Any], rtol: float, backend: str) -> None:
    g = ball().sensitivity(BALL, duration=BALL_T, backend=backend, **options)
    check(g, ball_exact, rtol)
    assert [e.what for e in g.run.events] == ["impact"] * 3


@by_methods
def test_extrema_of_a_height(options: dict[str, Any], rtol: float) -> None:
    g = ball().sensitivity(REVERSED, duration=BALL_T, backend="interpreted", **options)
    check(g, ball_exact, rtol)


@by_others
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_the_ball_in_other_coordinates(options: dict[str, Any], method: str) -> None:
    g = ball().sensitivity(
        BALL, duration=BALL_T, method=method, backend="interpreted", tolerance=1e-10, **options
    )
    check(g, ball_exact, 1e-8)


@by_methods
def test_an_event_that_ends_the_run(options: dict[str, Any], rtol: float) -> None:
    m = vm.Mechanism("fall", gravity=(0, -G))
    h, m0 = m.parameter("h", 0.9), m.parameter("m", 2.0)
    m.ground_point("O", (0, 0))
    m.body("b", mass=m0, inertia=1.0, points={"C": (0, 0)})
    m.prismatic("g", "ground.O", "b.C", axis=(0, 1))
    m.event("floor", X, do="stop")
    m.start(displacement={"g": h})
    goals = {
        "t": vm.final("t"),
        "v": vm.final(V),
        "I": vm.integral(X),
        "peak": vm.peak(f"-{V}"),
        "T": vm.time_of("floor"),
    }

    def closed(v: Mapping[str, Any]) -> dict[str, Any]:
        t = (2 * v["h"] / G) ** 0.5 + 0.0 * v["m"]
        return {"t": t, "v": -G * t, "I": v["h"] * t * 2 / 3, "peak": G * t, "T": t}

    for T in (2.0, 20.0):
        g = m.sensitivity(goals, duration=T, backend="interpreted", **options)
        check(g, closed, rtol)
        assert g.run.time[-1] == pytest.approx(math.sqrt(1.8 / G), rel=1e-12)
        assert len(g.run.events) == 1


# --- a pendulum, by energy

GOALS = {
    "lowest ω": vm.lowest("angular_velocity('rod')"),
    "R": vm.peak("norm(reaction('O'))"),
    "α": vm.peak("angular_acceleration('rod')"),
    "a": vm.lowest("acceleration('P')[0]"),
    "width": vm.range("position('P')[0]"),
}


def pendulum(stop: bool = False) -> vm.Mechanism:
    """Released at rest at a₀ above the horizontal on the right."""
    m = vm.Mechanism("pendulum", gravity=(0, -G))
    L, a0 = m.parameter("L", 1.2), m.parameter("a0", 0.5)
    m.ground_point("O", (0, 0))
    m.body("rod", mass=1.5, com=(L / 2, 0), inertia=0.1, points={"O": (0, 0), "P": (L, 0)})
    m.revolute("O")
    if stop:
        m.stop("wall", "angle('rod')", lower=m.parameter("a1", -1.0), restitution=0.5)
    m.start(angle={"O": a0})
    return m


def pendulum_exact(v: Mapping[str, Any]) -> dict[str, Any]:
    L, a0, mass = v["L"], v["a0"], 1.5
    inertia = 0.1 + mass * L * L / 4
    ω2 = mass * G * L * (1 + np.sin(a0)) / inertia
    α = mass * G * L / 2 / inertia

    # acceleration of P along x, −L (α sin θ + ω² cos θ) with θ from the energy: least where its
    # derivative by θ vanishes
    def along(θ: Any) -> Any:
        rate, c = -α * np.cos(θ), mass * G * L / inertia
        return -L * (rate * np.sin(θ) + c * (np.sin(a0) - np.sin(θ)) * np.cos(θ))

    # 1.5 sin 2θ/… : −L (−α s c + 2 α (s₀ − s) c) = −L α c (2 s₀ − 3 s); d/dθ: 2 s₀ s = 3 (s² − c²)
    s0 = np.sin(a0)
    s = (s0 - (s0 * s0 + 18) ** 0.5) / 6
    return {
        "lowest ω": -(ω2**0.5),
        "turn": -math.pi - a0,
        "start": a0,
        "moved": -math.pi - 2 * a0,
        "R": mass * (G + ω2 * L / 2),
        "α": α,
        "a": along(np.arcsin(s)),
        "width": 2 * L,
    }


@pytest.mark.parametrize(
    ("options", "rtol", "backend"),
    [
        pytest.param(
            *METHODS[method],
            backend,
            id=f"{method}-{backend}",
            marks=pytest.mark.slow if (method, backend) == ("differences", "interpreted") else (),
        )
        for method in METHODS
        for backend in ("interpreted", "native")
    ],
)
def test_extrema_of_a_pendulum(options: dict[str, Any], rtol: float, backend: str) -> None:
    """Inside the run, at its start, and of quantities that depend on accelerations."""
    g = pendulum().sensitivity(GOALS, duration=1.45, backend=backend, tolerance=1e-11, **options)
    check(g, pendulum_exact, 10 * rtol)


TURNS = {
    "turn": vm.lowest("angle('rod')"),
    "start": vm.peak("angle('rod')"),
    "moved": -1.0 * vm.range("angle('rod')"),
}


@by_methods
def test_angles_at_which_a_pendulum_turns(options: dict[str, Any], rtol: float) -> None:
    """Released below the horizontal; the end of the swing is inside the run."""
    g = pendulum().sensitivity(
        TURNS,
        duration=1.2,
        backend="interpreted",
        tolerance=1e-11,
        parameters={"a0": -0.5},
        **options,
    )
    check(g, pendulum_exact, 10 * rtol)


def test_extrema_count_turns() -> None:
    """From 0.5 rad over −π to −π − 0.5."""
    g = pendulum().sensitivity(TURNS, duration=1.45, tolerance=1e-11, backend="interpreted")
    check(g, pendulum_exact, 1e-8)


def test_the_highest_place_of_a_ball_that_comes_to_rest() -> None:
    g = ball().sensitivity({"top": vm.peak(X)}, duration=1.0, parameters={"e": 0.0})
    np.testing.assert_allclose(g.final_values, [1.0 + 1 / (2 * G)], rtol=1e-9)
    np.testing.assert_allclose(g.final_gradient, [[1.0, 1 / G, 0.0]], atol=1e-9)


AT_IMPACT = {
    "R": vm.peak("norm(reaction('O'))"),
    "a": vm.peak("norm(acceleration('P'))"),
    "ω": vm.lowest("angular_velocity('rod')"),
    "after": vm.peak("angular_velocity('rod')"),
    "R at": vm.at("wall", "dot(reaction('O'), reaction('O'))"),
    "angle": vm.lowest("angle('rod')"),
}


def impact_exact(v: Mapping[str, Any]) -> dict[str, Any]:
    """By energy, just before the wall at a₁ is hit, and just after it."""
    L, a0, θ, mass = v["L"], v["a0"], v["a1"], 1.5
    inertia = 0.1 + mass * L * L / 4
    ω2 = mass * G * L * (np.sin(a0) - np.sin(θ)) / inertia
    α = -mass * G * L / 2 * np.cos(θ) / inertia
    along = -mass * ω2 * L / 2 + mass * G * np.sin(θ)
    across = mass * α * L / 2 + mass * G * np.cos(θ)
    return {
        "R": (along**2 + across**2) ** 0.5,
        "a": L * (α**2 + ω2**2) ** 0.5,
        "ω": -(ω2**0.5),
        "after": 0.5 * ω2**0.5,
        "R at": along**2 + across**2,
        "angle": θ + 0.0 * L,
    }


def check_at_impact(goals: dict[str, vm.Objective], rtol: float, **options: Any) -> None:
    g = pendulum(stop=True).sensitivity(
        goals, duration=0.75, backend="interpreted", tolerance=1e-11, **options
    )
    assert [e.name for e in g.run.events] == ["wall"]
    check(g, impact_exact, 10 * rtol)


@by_methods
def test_extrema_at_an_impact(options: dict[str, Any], rtol: float) -> None:
    """Reaction, speed and acceleration are largest just before a wall is hit."""
    check_at_impact({n: goal for n, goal in AT_IMPACT.items() if n != "angle"}, rtol, **options)


def test_the_lowest_angle_is_at_an_impact() -> None:
    check_at_impact({"angle": AT_IMPACT["angle"]}, 1e-9)


@by_methods
def test_an_extremum_at_the_end(options: dict[str, Any], rtol: float) -> None:
    def closed(v: Mapping[str, Any]) -> dict[str, Any]:
        y = v["h"] + v["u"] * 0.3 - G * 0.045 + 0.0 * v["e"]
        return {"y": y, "v": -G * 0.3 + v["u"], "−y": -y, "R": 0.0}

    goals = {
        "y": vm.lowest(X),
        "v": vm.lowest(V),
        "−y": vm.peak(f"-{X}"),
        "R": vm.peak("norm(reaction('g'))"),
    }
    g = ball().sensitivity(goals, duration=0.3, backend="interpreted", **options)
    check(g, closed, rtol)


# --- actions


def test_directions_of_events() -> None:
    """x = 0.1 sin 2t passes 0.05 upwards at π/12 + kπ and downwards at 5π/12 + kπ."""
    m = vm.Mechanism("oscillator", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=1.0, points={"C": (0, 0)})
    m.prismatic("g", "ground.O", "b.C", axis=(1, 0))
    m.force("spring", "b.C", lambda s: (-4 * s.displacement("g"), 0))
    for direction in ("both", "rising", "falling"):
        m.event(direction, "displacement('g') - 0.05", direction=direction)
    m.start(displacement={"g": 0.0}, speed={"g": 0.2})
    up, down = (np.array([a, a + 12, a + 24]) * math.pi / 12 for a in (1, 5))
    for backend in ("interpreted", "auto"):
        run = m.simulate(8.0, backend=backend)
        np.testing.assert_allclose(run.events["rising"].times, up, rtol=1e-8)
        np.testing.assert_allclose(run.events["falling"].times, down, rtol=1e-8)
        np.testing.assert_allclose(run.events["both"].times, np.sort([*up, *down]), rtol=1e-8)
        assert len(run.events) == 12
        table = run.events.to_dataframe()
        assert list(table["time"]) == sorted(table["time"]) and set(table["what"]) == {"event"}


@pytest.mark.parametrize("text", [True, False])
@by_methods
def test_a_speed_that_is_reset_in_a_mechanism(
    options: dict[str, Any], rtol: float, text: bool
) -> None:
    """Two masses side by side, each with its guide: one reset leaves the other alone; the speed of a
    body is reset by its angle's rate.
    """
    m = vm.Mechanism("two", gravity=(0, -G))
    c, L = m.parameter("c", 3.0), m.parameter("L", 1.2)
    m.ground_point("O", (0, 0))
    m.body("rod", mass=1.0, com=(L / 2, 0), inertia=0.1, points={"O": (0, 0)})
    m.body("b", mass=1.0, inertia=1.0, points={"C": (0, 0)})
    m.revolute("O", "ground.O", "rod.O")
    m.prismatic("g", "ground.O", "b.C", axis=(1, 0))
    value: Any = "c*angular_velocity('rod')/2" if text else None
    reset = value or (lambda s: c * s.angular_velocity("rod") / 2)
    m.event("kick", "angle('rod') + 1", direction="falling", do={"rod": reset})
    m.start(angle={"O": 0.3}, displacement={"g": 0.0}, speed={"g": 2.0})
    goals = {
        "before": vm.at("kick", "angular_velocity('rod')"),
        "E": vm.final(lambda s: s.energy),
        "x": vm.final(X),
    }

    def closed(v: Mapping[str, Any]) -> dict[str, Any]:
        L, c = v["L"], v["c"]
        inertia = 0.1 + L * L / 4
        ω2 = G * L * (math.sin(0.3) + math.sin(1)) / inertia
        start = 2.0 + G * L / 2 * math.sin(0.3)
        return {
            "before": -(ω2**0.5),
            "E": start + inertia / 2 * ω2 * (c * c / 4 - 1),
            "x": 1.4 + 0.0 * L,
        }

    options = {**options, "duration": 0.7, "backend": "interpreted", "tolerance": 1e-11}
    g = m.sensitivity(goals, **options)
    assert len(g.run.events) == 1
    check(g, closed, 10 * rtol)


@by_methods
def test_a_state_of_an_element_is_reset(options: dict[str, Any], rtol: float) -> None:
    """The bristle of LuGre friction under v = 1 m/s, z' = v − σ v z/F, is bent back to z₀ at 0.1 s:
    z = F/σ + (z₀ − F/σ) exp(−σ (t − 0.1)/F) after it.
    """
    m = vm.Mechanism("bristle", dimension=2)
    F, z0 = m.parameter("F", 2.0), m.parameter("z0", 0.005)
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=1.0, points={"C": (0, 0)})
    m.prismatic("g", "ground.O", "b.C", axis=(1, 0))
    m.drive_displacement("drive", "g", "t")
    m.dry_friction("rub", V, sliding=F, law="lugre", bristle_stiffness=100.0)
    z = "state('deflection of rub')"
    m.event("bent back", "t - 0.1", do={"deflection of rub": lambda s: z0})
    m.event("look", f"{X} - 0.15")
    m.start()
    goals = {
        "bent": vm.at("bent back", z),
        "then": vm.at("look", z),
        "largest": vm.peak(z),
        "least": vm.lowest(f"where(t > 0.05, {z}, 1)"),
    }

    def closed(v: Mapping[str, Any]) -> dict[str, Any]:
        bent = v["F"] / 100
        first = bent * (1 - np.exp(-0.1 / bent)) + 0.0 * v["z0"]
        then = bent + (v["z0"] - bent) * np.exp(-0.05 / bent)
        last = bent + (v["z0"] - bent) * np.exp(-0.15 / bent)
        return {"bent": first, "then": then, "largest": last, "least": v["z0"]}

    g = m.sensitivity(goals, duration=0.25, backend="interpreted", tolerance=1e-11, **options)
    assert [e.name for e in g.run.events] == ["bent back", "look"]
    check(g, closed, 10 * rtol)


# --- over time


def test_results_over_time_across_impacts() -> None:
    """Heights and their derivatives at stored times, between which impacts are."""
    m = ball()
    g = m.sensitivity({"∫y": vm.integral(X), "y": vm.final(X)}, duration=BALL_T, output=0.05)
    values = {"h": 1.0, "u": 1.0, "e": 0.7}
    away = np.array([np.abs(g.run.events.times - t).min() > 1e-6 for t in g.run.time])
    assert away.sum() > 36
    for k in np.flatnonzero(away):
        t = float(g.run.time[k])
        (y,), (dy,) = exact(lambda v, t=t: {"y": ball_height(v, t)}, values)  # type: ignore[misc]
        assert float(g.run.displacement("g")[k]) == pytest.approx(y, abs=1e-9)
        for column, name in enumerate(values):
            by = g.run.displacement("g", wrt=name)
            assert float(by[k]) == pytest.approx(dy[column], abs=1e-8)
        np.testing.assert_allclose(g.gradient_history[k, 1], dy, atol=1e-8)


def test_results_over_time_agree_with_differences() -> None:
    """A pendulum that hits a wall: positions, velocities and reactions by a parameter, away from the
    impact, where they jump.
    """
    m, h = pendulum(stop=True), 1e-5
    options: dict[str, Any] = {
        "duration": 0.8,
        "output": 0.1,
        "tolerance": 1e-12,
        "backend": "interpreted",
    }
    g = m.sensitivity({"∫E": vm.integral("position('P')[1]")}, **options)
    assert len(g.run.events) == 1 and 0.1 < g.run.events[0].time < 0.7
    for column, name in enumerate(("L", "a0", "a1")):
        centre = g.run.info["parameters"][name]
        low, high = (
            m.sensitivity(
                {"∫E": vm.integral("position('P')[1]")},
                duration=0.8,
                output=0.1,
                tolerance=1e-12,
                backend="interpreted",
                parameters={name: centre + step},
            )
            for step in (-h, h)
        )
        for what, point in (("position", "P"), ("velocity", "P"), ("reaction", "O")):
            ends = [getattr(x.run, what)(point).values for x in (low, high)]
            expected = (ends[1] - ends[0]) / (2 * h)
            computed = getattr(g.run, what)(point, wrt=name).values
            bound = 1e-6 * max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(computed, expected, atol=bound, err_msg=f"{what} by {name}")
        history = (high.value_history - low.value_history) / (2 * h)
        np.testing.assert_allclose(
            np.asarray(g.gradient_history)[:, 0, column], np.asarray(history)[:, 0], atol=1e-7
        )


def test_little_memory_gives_the_same_adjoint() -> None:
    """Records of few steps are kept, and steps are taken once more, through impacts and events."""
    options: dict[str, Any] = {"duration": BALL_T, "method": "adjoint", "tolerance": 1e-11}
    few = ball().sensitivity(BALL, memory=0.02, backend="native", **options)
    for backend in ("native", "interpreted"):
        many = ball().sensitivity(BALL, memory=500.0, backend=backend, **options)
        np.testing.assert_allclose(few.final_gradient, many.final_gradient, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(few.final_values, many.final_values, rtol=1e-14)
        np.testing.assert_allclose(few.run.events.times, many.run.events.times, rtol=1e-14)
    check(few, ball_exact, 1e-9)
    with pytest.raises(vm.ModelError, match=r"memory = 0.01 MB holds \d+ steps of an adjoint"):
        ball().sensitivity(BALL, memory=0.01, backend="interpreted", **options)


# --- many runs

SAMPLES = {
    "h": np.array([1.0, 0.9, 1.05, 0.97, 1.02, 1.1]),
    "e": np.array([0.7, 0.72, 0.69, 0.71, 0.68, 0.7]),
}
FEW = {name: BALL[name] for name in ("second", "last speed", "fastest up", "fastest down")}


@both_backends
def test_samples_of_a_contact_equal_their_own_runs(backend: str) -> None:
    m = ball()
    options: dict[str, Any] = {"duration": BALL_T, "backend": backend}
    ensembles = [
        m.ensemble(FEW, SAMPLES, wrt=["h", "e"], threads=threads, **options) for threads in (1, 3)
    ]
    np.testing.assert_array_equal(ensembles[0].values, ensembles[1].values)
    np.testing.assert_array_equal(ensembles[0].gradient, ensembles[1].gradient)
    for k in range(6):
        values = {name: float(column[k]) for name, column in SAMPLES.items()}
        alone = m.sensitivity(FEW, ["h", "e"], parameters=values, **options)
        np.testing.assert_array_equal(ensembles[0].values[k], alone.final_values)
        np.testing.assert_allclose(ensembles[0].gradient[k], alone.final_gradient, rtol=1e-14)
        psi, derivatives = exact(ball_exact, {"u": 1.0, **values})
        rows = [list(BALL).index(name) for name in FEW]
        np.testing.assert_allclose(alone.final_values, psi[rows], rtol=1e-9)
        np.testing.assert_allclose(
            alone.final_gradient, derivatives[rows][:, [1, 2]], rtol=1e-9, atol=1e-9
        )


def test_a_sample_without_the_event_is_reported() -> None:
    ensemble = ball().ensemble(
        {"second": BALL["second"]}, {"h": [1.0, 9.0, 0.9]}, duration=1.3, backend="interpreted"
    )
    assert set(ensemble.failures) == {1}
    assert "does not occur 2 times up to t = 1.3 s" in str(ensemble.failures[1])
    assert np.isnan(ensemble.values[1]).all() and np.isfinite(ensemble.values[[0, 2]]).all()


def test_threads_use_one_mechanism() -> None:
    m = bang()
    options: dict[str, Any] = {"duration": BANG_T, "backend": "interpreted"}
    forces = [1.8, 2.0, 2.2, 1.9]
    alone = [bang().sensitivity(BANG, parameters={"F": F}, **options) for F in forces]
    with ThreadPoolExecutor(4) as pool:
        together = list(
            pool.map(lambda F: m.sensitivity(BANG, parameters={"F": F}, **options), forces)
        )
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.final_values, other.final_values)
        np.testing.assert_array_equal(one.final_gradient, other.final_gradient)


SPREAD = {"h": vm.Tolerance(0.03), "e": vm.Tolerance(0.01)}


def test_random_samples_of_a_contact() -> None:
    """Monte Carlo runs have the values of closed forms."""
    study = ball().monte_carlo(
        FEW,
        SPREAD,
        samples=32,
        seed=1,
        executor=1,
        keep=True,
        duration=BALL_T,
        backend="interpreted",
    )
    assert study.failed == 0
    drawn = np.asarray(study.samples["parameters"])
    closed = [exact(ball_exact, {"h": h, "u": 1.0, "e": e})[0] for h, e in drawn]
    psi = np.array(closed)[:, [list(ball_exact(NOMINAL)).index(name) for name in FEW]]
    np.testing.assert_allclose(np.asarray(study.mean)[-1], psi.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(np.asarray(study.variance)[-1], psi.var(axis=0, ddof=1), rtol=1e-6)


def check_moments(names: list[str]) -> None:
    """Variances of first order are sums of squared derivatives times deviations, a third of the
    tolerances.
    """
    goals = {name: BALL[name] for name in names}
    moments = ball().moments(goals, SPREAD, order=1, duration=BALL_T, backend="interpreted")
    _, derivatives = exact(ball_exact, NOMINAL)
    slopes = derivatives[[list(ball_exact(NOMINAL)).index(name) for name in names]]
    variance = slopes[:, 0] ** 2 * 0.01**2 + slopes[:, 2] ** 2 * (0.01 / 3) ** 2
    np.testing.assert_allclose(np.asarray(moments.variance)[-1], variance, rtol=1e-8)


def test_moments_of_extrema() -> None:
    check_moments(["fastest up", "fastest down"])


def test_moments_of_values_at_events() -> None:
    check_moments(["second", "last speed"])


def test_an_optimum_of_a_time() -> None:
    """The block arrives soonest if it is pushed all the way: t = √(2p/F) + (1 − p)/√(2Fp) falls with
    p; and it arrives at 1.1 s for the p of a quadratic equation.
    """
    m = bang()
    best = m.optimize(
        vm.time_of("hit"), "p", bounds={"p": (0.3, 0.9)}, duration=BANG_T, backend="interpreted"
    )
    p = float(best.parameters["p"])
    assert p == pytest.approx(0.9, rel=1e-6)


# --- files


def filed() -> vm.Mechanism:
    m = vm.Mechanism("bang", gravity=(0, -G))
    for name, value in {"p": 0.5, "F": 2.0, "e": 0.7}.items():
        m.parameter(name, value)
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=1.0, points={"C": (0, 0)})
    m.body("rod", mass=1.0, com=(0.5, 0), inertia=0.1, points={"O": (0, 0)})
    m.prismatic("g", "ground.O", "b.C", axis=(1, 0))
    m.revolute("O", "ground.O", "rod.O")
    m.mode("motor", initial=1)
    m.mode("idle")
    m.force("push", "b.C", ("F*mode('motor') + 0.1*mode('idle')", 0))
    m.event("off", f"{X} - p", direction="rising", do={"motor": 0, "idle": 2.5})
    m.event("hit", f"{X} - 1", do={"g": f"-e*{V}", "rod": 0.25})
    m.event("low", "angle('rod') + 1", direction="falling")
    m.event("end", "t - 1.4", do="stop")
    m.start(displacement={"g": 0.0}, angle={"O": 0.0})
    return m


def test_modes_and_events_in_files(tmp_path: Path) -> None:
    m = filed()
    path = m.to_file(tmp_path / "m.yaml")
    text = path.read_text(encoding="utf-8")
    assert "modes:" in text and "events:" in text and "do: stop" in text
    again = vm.Mechanism.from_file(path)
    assert again.to_text() == m.to_text()
    first, second = (x.simulate(2.0, backend="interpreted") for x in (m, again))
    assert list(first.events) == list(second.events)
    assert {e.name for e in first.events} == {"off", "hit", "low", "end"}
    assert float(first.time[-1]) == pytest.approx(1.4, rel=1e-12)
    np.testing.assert_array_equal(first.position("b.C"), second.position("b.C"))


def test_objectives_of_events_in_files(tmp_path: Path) -> None:
    text = filed().to_text() + (
        "studies:\n"
        "  objectives:\n"
        "    there: {time_of: hit}\n"
        "    last: {time_of: low, occurrence: 0}\n"
        f'    speed: {{at: "{V}", event: hit, unit: m/s}}\n'
        f'    fast: {{peak: "{V}"}}\n'
        f'    slow: {{lowest: "{V}"}}\n'
        f'    speeds: {{range: "{V}"}}\n'
        "  simulate: {duration: 1.3, tolerance: 1e-9}\n"
        "  sensitivity: {wrt: [p, F, e]}\n"
    )
    path = tmp_path / "m.yaml"
    path.write_text(text, encoding="utf-8")
    g = vm.Mechanism.from_file(path).study("sensitivity")
    goals = {
        "there": vm.time_of("hit"),
        "last": vm.time_of("low", occurrence=0),
        "speed": vm.at("hit", V),
        "fast": vm.peak(V),
        "slow": vm.lowest(V),
        "speeds": vm.range(V),
    }
    other = filed().sensitivity(goals, ["p", "F", "e"], duration=1.3, tolerance=1e-9)
    np.testing.assert_array_equal(g.final_values, other.final_values)
    np.testing.assert_array_equal(g.final_gradient, other.final_gradient)


@pytest.mark.parametrize("ending", [".nc", ".json"])
def test_saved_runs_keep_their_events(ending: str, tmp_path: Path) -> None:
    run = ball().simulate(BALL_T, backend="interpreted")
    again = vm.load_run(run.save(tmp_path / f"run{ending}"))
    assert list(again.events) == list(run.events) and len(again.events) == 3
    assert repr(again.events) == repr(run.events)
    assert isinstance(again.events[0], vm.Event) and isinstance(again.events, vm.Events)
    np.testing.assert_array_equal(again.events["floor"].times, run.events["floor"].times)
    assert vm.load_run(again.save(tmp_path / f"again{ending}")).events[2] == run.events[2]


# --- what is refused


def test_events_that_do_not_occur() -> None:
    for method in ("direct", "adjoint", "finite-difference"):
        for goal, words in (
            (vm.time_of("hit"), r"objective 'ψ' needs event 'hit', which does not occur up to t ="),
            (
                vm.at("off", X, occurrence=2),
                r"objective 'ψ' needs event 'off', which does not occur 2 times up to t = 0.9 s; run",
            ),
            (vm.time_of("hit", occurrence=0), "'hit', which does not occur"),
        ):
            with pytest.raises(vm.SimulationError, match=words):
                bang().sensitivity({"ψ": goal}, duration=0.9, method=method, backend="interpreted")


def test_names_that_do_not_exist() -> None:
    with pytest.raises(vm.ModelError, match=r"contact, friction or event is called 'hitt'.*'hit'"):
        bang().sensitivity(vm.time_of("hitt"), duration=1.0)
    for do, words in (
        ({"moter": 0}, "no mode, state, joint or body is called 'moter'.*'motor'"),
        ({"motor": "pp"}, "event 'hit': 'motor' = 'pp': no parameter or quantity is called 'pp'"),
        ({"motor": math.nan}, "event 'hit': 'motor' = nan is not finite"),
        ("halt", "do.*'halt'.*is not an action.*use \"stop\""),
        ({"g": "displacement('x')"}, "'x'"),
    ):
        with pytest.raises(vm.ModelError, match=words):
            bang(do)
    m = bang()
    text = m.events if hasattr(m, "events") else len(m.data.calls)
    with pytest.raises(vm.ModelError, match="direction = 'up' must be one of 'both', 'falling'"):
        m.event("more", X, direction="up")
    with pytest.raises(vm.ModelError, match="mode 'gear': initial = nan is not finite"):
        m.mode("gear", initial=math.nan)
    with pytest.raises(
        vm.ModelError, match="the name 'motor' is already used in mechanism 'bang'; choose"
    ):
        m.mode("motor")
    with pytest.raises(vm.ModelError, match="'gear'"):
        m.force("more", "b.C", "(mode('gear'), 0)")
    assert (m.events if hasattr(m, "events") else len(m.data.calls)) == text


def pushed(when: str, do: Any, direction: str = "both") -> vm.Mechanism:
    """1 kg under 1 N, with a mode a and an event."""
    m = vm.Mechanism("pushed", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=1.0, points={"C": (0, 0)})
    m.prismatic("g", "ground.O", "b.C", axis=(1, 0))
    m.mode("a")
    m.force("push", "b.C", (1.0, 0))
    m.event("event", when, do=do, direction=direction)
    m.start(displacement={"g": 0.0}, speed={"g": 0.0})
    return m


def test_two_events_at_once() -> None:
    """Both happen: 1 + 1 + 10 N afterwards."""
    m = pushed(f"{X} - 0.2", {"a": 1})
    m.mode("c")
    m.event("other", f"2*({X} - 0.2)", do={"c": 1})
    m.force("more", "b.C", ("mode('a') + 10*mode('c')", 0))
    for backend in ("interpreted", "auto"):
        run = m.simulate(1.0, backend=backend)
        assert [e.name for e in run.events] == ["event", "other"]
        np.testing.assert_allclose(run.events.times, math.sqrt(0.4), rtol=1e-12)
        assert float(run.acceleration("b.C").values[-1, 0]) == pytest.approx(12.0, rel=1e-12)
        left = 1 - math.sqrt(0.4)
        x = 0.2 + math.sqrt(0.4) * left + 6 * left**2
        assert float(run.displacement("g")[-1]) == pytest.approx(x, rel=1e-10)


def test_a_speed_that_its_own_event_resets() -> None:
    """A saw tooth: from 0.5 m/s back to 0.2 m/s, first after 0.5 s, then every 0.3 s."""
    run = pushed(f"{V} - 0.5", {"g": 0.2}, "rising").simulate(1.5)
    np.testing.assert_allclose(run.events.times, [0.5, 0.8, 1.1, 1.4], rtol=1e-9)


def test_an_event_that_moves_its_own_place() -> None:
    """x = 0.2 at √0.4 s; the mode moves the place to 0.3, x = 0.3 at √0.6 s."""
    run = pushed(f"{X} - 0.2 - 0.1*mode('a')", {"a": 1}).simulate(1.0)
    np.testing.assert_allclose(run.events.times, np.sqrt([0.4, 0.6]), rtol=1e-9)


def test_an_event_of_what_an_impact_changes() -> None:
    """The ball's velocity passes 1 m/s between impacts, and jumps over it at them."""
    m = ball()
    m.event("slow", f"{V} - 0.5", direction="falling")
    run = m.simulate(BALL_T)
    v1 = math.sqrt(1 + 2 * G)
    hits = [(1 + v1) / G]
    for k in (1, 2):
        hits.append(hits[-1] + 2 * 0.7**k * v1 / G)
    rising = [(1 - 0.5) / G, *[t + (0.7 ** (k + 1) * v1 - 0.5) / G for k, t in enumerate(hits)]]
    np.testing.assert_allclose(run.events["slow"].times, rising, rtol=1e-9)


def test_resets_that_become_faster() -> None:
    """Impacts as a reset, which accumulate at t = √0.4 (1 + 2 (1/2 + 1/4 + …)) = 3 √0.4 s."""
    m = pushed(f"{X} - 0.2", {"g": f"-0.5*{V}"}, "rising")
    run = m.simulate(1.8, backend="interpreted")
    times = math.sqrt(0.4) * (3 - 4 * 0.5 ** np.arange(1.0, len(run.events) + 1))
    assert len(run.events) == 4
    np.testing.assert_allclose(run.events.times, times, rtol=1e-9)


def test_resets_that_accumulate_are_not_passed() -> None:
    m = pushed(f"{X} - 0.2", {"g": f"-0.5*{V}"}, "rising")
    with pytest.raises(vm.SimulationError, match=r"t = 1\.89737 s.*without end"):
        m.simulate(2.0, backend="interpreted")


NOT_TAKEN = "does not take; use formulation='index1' or 'ali3p'"
REFUSED: dict[str, dict[str, Any]] = {
    "penalty": {"formulation": "penalty"},
    "implicit penalty": {"formulation": "penalty", "step": 1e-3},
    "stabilised": {"formulation": "index1-stabilised"},
    "CVODES": {"integrator": "cvodes"},
    "IDAS": {"integrator": "idas"},
}


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED.keys())
def test_schemes_without_events(options: dict[str, Any]) -> None:
    for m in (bang(), ball()):
        with pytest.raises(vm.ModelError) as caught:
            m.simulate(1.0, **options)
        assert NOT_TAKEN in str(caught.value) and repr(m.name) in str(caught.value)


def test_extrema_need_known_steps() -> None:
    for integrator in ("cvodes", "idas"):
        with pytest.raises(vm.ModelError, match=r"objective 'psi1' has events.*use integrator="):
            pendulum().sensitivity(vm.peak("angle('rod')"), duration=1.0, integrator=integrator)


EQUAL: dict[str, dict[str, Any]] = {
    "trapezoidal": {"integrator": "trapezoidal"},
    "generalised α": {"integrator": vm.GeneralisedAlpha()},
    "RK4": {"integrator": "rk4"},
    "order 8": {"integrator": "dop853"},
}


@pytest.mark.parametrize("options", EQUAL.values(), ids=EQUAL.keys())
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_equal_steps_end_at_events(options: dict[str, Any], method: str) -> None:
    """Both motions are parabolas: equal steps are exact but for integrals by the trapezoidal rule."""
    for m, goals, T, closed in (
        (bang(), BANG, BANG_T, bang_exact),
        (ball(), BALL, BALL_T, ball_exact),
    ):
        few = {name: goal for name, goal in goals.items() if goal.integrand is None}
        g = m.sensitivity(few, duration=T, method=method, step=0.02, **options)
        check(g, closed, 1e-8)


@pytest.mark.parametrize(
    ("name", "step", "bound"), [("trapezoidal", 1e-3, 1e-4), ("order 8", 5e-3, 1e-8)]
)
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_extrema_by_equal_steps(name: str, step: float, bound: float, method: str) -> None:
    """Inside the run, and of quantities that depend on accelerations."""
    g = pendulum().sensitivity(GOALS, duration=1.45, method=method, step=step, **EQUAL[name])
    check(g, pendulum_exact, bound)


@pytest.mark.parametrize("model", [bang, ball])
def test_no_single_set_of_equations(model: Callable[[], vm.Mechanism]) -> None:
    with pytest.raises(vm.ModelError, match="which no single set of equations states"):
        model().equations()


def test_all_methods_take_extrema() -> None:
    peak, m = vm.peak("angle('rod')"), pendulum()
    reference = m.sensitivity(peak, duration=1.0, tolerance=1e-11).final_gradient
    for method in ("adjoint", "complex-step", "composite"):
        g = m.sensitivity(peak, duration=1.0, tolerance=1e-11, method=method).final_gradient
        np.testing.assert_allclose(g, reference, rtol=1e-8, atol=1e-10)


def test_statics_of_contacts() -> None:
    with pytest.raises(vm.ModelError, match="'ball' has rigid contacts or dry friction, which may"):
        ball().equilibrium()
    with pytest.raises(vm.ModelError, match="'ball' has rigid contacts or dry friction"):
        ball().frequencies()
