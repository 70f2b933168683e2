"""Dry friction whose slip has two or three components: closed forms, SciPy's solutions, rotated problems
(a cone of friction, not a pyramid), the same motion in the plane, derivatives, and energy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from both_backends import both_backends
from scipy.integrate import solve_ivp

import varimech as vm

G = 9.81
STEPS = (1e-5, 1e-6)
"""Of differences: two that must agree; a sweep would take longer, and check no more."""
AROUND = (0.0, 0.4, 1.2, 2.5, 4.0)


def block(
    speed: float = 2.0, μ: float = 0.3, angle: float = 0.0, slope: float = 0.0, **more: Any
) -> vm.Mechanism:
    """A block that does not turn on a plane that falls along x; `angle` is measured in the plane."""
    m = vm.Mechanism("block", gravity=(0, 0, -G))
    u, friction = m.parameter("u", speed), m.parameter("μ", μ)
    m.ground_point("O", (0, 0, 0))
    m.body("b", mass=2.0, inertia=(1.0,) * 3, points={"C": (0, 0, 0)}, floating=True)
    down, across = np.array([math.cos(slope), 0, -math.sin(slope)]), np.array([0.0, 1, 0])
    normal = (math.sin(slope), 0, math.cos(slope))
    m.contact("floor", "b.C", "ground.O", normal=normal, friction=friction, **more)
    direction = math.cos(angle) * down + math.sin(angle) * across
    m.start(
        position={"b.C": (0, 0, 0)},
        orientation={"b": np.eye(3)},
        speed={"b.C": [u * x for x in direction], "b": (0, 0, 0)},
    )
    return m


def place(run: Any, point: str = "b.C") -> np.ndarray:
    """Where it is at the end."""
    return np.asarray(run.position(point).values[-1])


@both_backends
def test_a_block_stops_after_the_same_way_in_all_directions(backend: str) -> None:
    """v²/(2 μ g), along its first direction: a pyramid would turn it, and stop it elsewhere."""
    way, time = 2.0**2 / (2 * 0.3 * G), 2.0 / (0.3 * G)
    for angle in AROUND:
        run = block(angle=angle).simulate(1.0, backend=backend)
        expected = [way * math.cos(angle), way * math.sin(angle), 0]
        np.testing.assert_allclose(place(run), expected, atol=1e-11)
        assert [e.what for e in run.events] == ["stick"]
        assert run.events[0].name == "friction of floor"
        assert run.events[0].time == pytest.approx(time, abs=1e-10)


def test_derivatives_of_the_way_and_the_time() -> None:
    v, μ, angle = 2.0, 0.3, 0.4
    objectives = {
        "x": vm.final(lambda s: s.position("b.C")[0], unit="m"),
        "y": vm.final(lambda s: s.position("b.C")[1], unit="m"),
        "time": vm.time_of("friction of floor"),
    }
    by_speed, by_μ = v / (μ * G), -(v**2) / (2 * μ**2 * G)
    expected = [
        [by_speed * math.cos(angle), by_μ * math.cos(angle)],
        [by_speed * math.sin(angle), by_μ * math.sin(angle)],
        [1 / (μ * G), -v / (μ**2 * G)],
    ]
    for method in ("direct", "adjoint"):
        g = block(angle=angle).sensitivity(objectives, duration=1.0, method=method)
        np.testing.assert_allclose(g.final_gradient, expected, atol=1e-9)


@pytest.mark.parametrize("angle", AROUND)
def test_a_slope_holds_up_to_the_friction_coefficient(angle: float) -> None:
    """Whatever the direction of the slope in the plane that friction is stated in."""
    for steeper, μ in ((False, 0.3), (True, 0.3)):
        slope = math.atan(μ) * (1.001 if steeper else 0.999)
        m = vm.Mechanism("slope", gravity=(0, 0, -G))
        m.ground_point("O", (0, 0, 0))
        m.body("b", mass=2.0, inertia=(1.0,) * 3, points={"C": (0, 0, 0)}, floating=True)
        tilt = math.sin(slope)
        normal = (tilt * math.cos(angle), tilt * math.sin(angle), math.cos(slope))
        m.contact("floor", "b.C", "ground.O", normal=normal, friction=μ)
        m.start(position={"b.C": (0, 0, 0)}, orientation={"b": np.eye(3)})
        expected = 0.5 * G * (math.sin(slope) - μ * math.cos(slope)) if steeper else 0.0
        way = np.linalg.norm(place(m.simulate(1.0)))
        assert way == pytest.approx(expected, abs=1e-12)


def thrown(slope: float, μ: float, angle: float, T: float) -> tuple[np.ndarray, float]:
    """Place in the plane and time at the end of sliding, or at T."""

    def rates(t: float, y: np.ndarray) -> list[float]:
        s = y[2:]
        pull = np.array([G * math.sin(slope), 0.0])
        return [*s, *(pull - μ * G * math.cos(slope) * s / np.linalg.norm(s))]

    def stops(t: float, y: np.ndarray) -> float:
        return float(np.linalg.norm(y[2:])) - 1e-8

    stops.terminal = True  # type: ignore[attr-defined]
    start = [0, 0, 2 * math.cos(angle), 2 * math.sin(angle)]
    tight: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}
    solution = solve_ivp(rates, (0, T), start, events=stops, **tight)
    return solution.y[:2, -1], float(solution.t[-1])


@both_backends
def test_a_puck_thrown_sideways_on_a_slope(backend: str) -> None:
    """Its path is curved; it slides on if the slope is steep, and stops if not."""
    slope, angle, T = 0.2, 2.0, 3.0
    for μ in (0.1, 0.3):
        run = block(μ=μ, angle=angle, slope=slope).simulate(T, backend=backend)
        (x, y), time = thrown(slope, μ, angle, T)
        expected = [x * math.cos(slope), y, -x * math.sin(slope)]
        np.testing.assert_allclose(place(run), expected, atol=1e-10)
        assert len(run.events) == (μ > slope)
        if len(run.events):
            assert run.events[0].time == pytest.approx(time, abs=3e-8)


def test_derivatives_of_a_curved_path() -> None:
    objectives = {
        "x": vm.final(lambda s: s.position("b.C")[0], unit="m"),
        "∫y": vm.integral(lambda s: s.position("b.C")[1]),
    }
    g = {
        method: block(angle=2.0, slope=0.2)
        .sensitivity(objectives, duration=3.0, method=method, relative_steps=STEPS)
        .final_gradient
        for method in ("direct", "adjoint", "finite-difference")
    }
    np.testing.assert_allclose(g["direct"], g["adjoint"], atol=1e-9)
    np.testing.assert_allclose(g["direct"], g["finite-difference"], atol=1e-6)


# --- sliding begins


def pulled(static: float | None, turn: float, rate: float = 3.0) -> vm.Mechanism:
    """A block at rest under a force that grows and turns."""
    m = vm.Mechanism("pulled", gravity=(0, 0, -G))
    μ, ω, θ = m.parameter("μ", 0.3), m.parameter("ω", turn), m.parameter("θ", 0.3)
    m.ground_point("O", (0, 0, 0))
    m.body("b", mass=2.0, inertia=(1.0,) * 3, points={"C": (0, 0, 0)}, floating=True)
    m.contact("floor", "b.C", "ground.O", normal=(0, 0, 1), friction=μ, static_friction=static)

    def force(s: vm.State) -> list[Any]:
        φ = ω * s.time + θ
        return [rate * s.time * vm.cos(φ), rate * s.time * vm.sin(φ), 0.0]

    m.force("pull", "b.C", force)
    m.start(position={"b.C": (0, 0, 0)}, orientation={"b": np.eye(3)})
    return m


@both_backends
def test_sliding_begins_with_a_jump_of_the_force(backend: str) -> None:
    """Beyond μ₀ N the friction force falls to μ N; it sets out opposite to the force that held it."""
    mass, μ, μ0, rate, turn, T = 2.0, 0.3, 0.4, 3.0, 1.0, 4.0
    t0 = μ0 * mass * G / rate

    def pull(t: float) -> np.ndarray:
        return rate * t * np.array([math.cos(turn * t + 0.3), math.sin(turn * t + 0.3)])

    def rates(t: float, y: np.ndarray) -> list[float]:
        s = y[2:]
        d = s / np.linalg.norm(s) if s.any() else pull(t0) / np.linalg.norm(pull(t0))
        return [*s, *((pull(t) - μ * mass * G * d) / mass)]

    y = solve_ivp(rates, (t0, T), [0.0] * 4, rtol=1e-12, atol=1e-13, method="DOP853").y[:2, -1]
    run = pulled(μ0, turn).simulate(T, backend=backend)
    np.testing.assert_allclose(place(run)[:2], y, atol=1e-9)
    assert [(e.what, round(e.time - t0, 9)) for e in run.events] == [("slip", 0)]


def test_sliding_begins_without_a_jump() -> None:
    """With μ₀ = μ the acceleration grows from zero: the way is rate (t − t₀)³ / 6 m."""
    t0, T = 0.3 * 2.0 * G / 3.0, 4.0
    run = pulled(None, 0.0).simulate(T)
    way = 3.0 * (T - t0) ** 3 / 6 / 2.0
    np.testing.assert_allclose(place(run), [way * math.cos(0.3), way * math.sin(0.3), 0], atol=1e-9)
    assert [e.what for e in run.events] == ["slip"]


@pytest.mark.parametrize("static", [None, 0.4])
def test_derivatives_across_the_onset(static: float | None) -> None:
    """The direction in which it sets out depends on parameters, too."""
    objectives = {
        "x": vm.final(lambda s: s.position("b.C")[0], unit="m"),
        "y": vm.final(lambda s: s.position("b.C")[1], unit="m"),
    }
    g = {
        method: pulled(static, 1.0)
        .sensitivity(objectives, duration=3.5, method=method, relative_steps=STEPS)
        .final_gradient
        for method in ("direct", "adjoint", "finite-difference")
    }
    assert abs(g["direct"]).min() > 0.05
    np.testing.assert_allclose(g["direct"], g["adjoint"], atol=1e-9)
    np.testing.assert_allclose(g["direct"], g["finite-difference"], atol=1e-6)


def test_sliding_begins_where_inertia_depends_on_the_direction() -> None:
    """A point on a rod is harder to move along it than across it, so it sets out neither along nor
    opposite to the force that held it, but along its own acceleration.
    """
    m = vm.Mechanism("rod", gravity=(0, 0, 0))
    m.ground_point("O", (0, 0, 0))
    m.body("rod", mass=1.0, inertia=(0.01, 0.5, 0.5), points={"E": (1.0, 0, 0)}, floating=True)
    m.contact("table", "rod.E", "ground.O", normal=(0, 0, 1), friction=0.2, static_friction=0.4)
    m.force("press", "rod.E", (0, 0, -10.0))
    m.force("pull", "rod.E", lambda s: [3.0 * s.time, 2.0 * s.time, 0.0])
    m.start(position={"rod.E": (0, 0, 0)}, orientation={"rod": np.eye(3)})
    t0 = 4.0 / math.hypot(3, 2)
    run = m.simulate(t0 + 1e-3, tolerance=1e-11)
    assert [e.what for e in run.events] == ["slip"]
    assert run.events[0].time == pytest.approx(t0, abs=1e-9)
    W = np.diag([1.0, 1 + 1 / 0.5])  # inverse inertia of the point along and across the rod
    way = place(run, "rod.E")[:2]
    d = way / np.linalg.norm(way)
    acceleration = W @ (np.array([3.0, 2.0]) * t0 - 2.0 * d)
    assert abs(d[0] * acceleration[1] - d[1] * acceleration[0]) < 2e-3 * np.linalg.norm(
        acceleration
    )
    force = np.array([3.0, 2.0]) / math.hypot(3, 2)
    assert abs(d[0] * force[1] - d[1] * force[0]) > 0.1  # not along the force


# --- balls

R, MASS = 0.1, 2.0
J = 0.4 * MASS * R * R
V, Ω = np.array([1.0, 0.5, 0]), np.array([6.0, -4.0, 3.0])


def ball(μ: float = 0.2, height: float = 0.0, restitution: float = 0.0) -> vm.Mechanism:
    """A ball with spin above a floor."""
    m = vm.Mechanism("ball", gravity=(0, 0, -G))
    friction, u = m.parameter("μ", μ), m.parameter("u", V[0])
    m.ground_point("O", (0, 0, 0))
    m.body("b", mass=MASS, inertia=(J,) * 3, points={"C": (0, 0, 0)}, floating=True)
    m.contact(
        "floor",
        "b.C",
        "ground.O",
        radius=R,
        normal=(0, 0, 1),
        friction=friction,
        restitution=restitution,
    )
    m.start(
        position={"b.C": (0, 0, R + height)},
        orientation={"b": np.eye(3)},
        speed={"b.C": [u, *V[1:]], "b": Ω},
    )
    return m


SLIP = V + np.cross(Ω, [0, 0, -R])
BALL = {
    "x": vm.final(lambda s: s.position("b.C")[0], unit="m"),
    "y": vm.final(lambda s: s.position("b.C")[1], unit="m"),
}


def assert_derivatives(m: vm.Mechanism, T: float) -> None:
    """Direct and adjoint ones are the same, and those by differences."""
    direct, adjoint, differences = (
        m.sensitivity(BALL, duration=T, method=method, relative_steps=STEPS).final_gradient
        for method in ("direct", "adjoint", "finite-difference")
    )
    np.testing.assert_allclose(direct, adjoint, atol=1e-9)
    np.testing.assert_allclose(direct, differences, atol=1e-6)


@both_backends
def test_a_ball_slides_until_it_rolls(backend: str) -> None:
    """The slip keeps its direction and falls by 7/2 μ g; the path is a parabola, then a line."""
    μ, T = 0.2, 1.0
    size = float(np.linalg.norm(SLIP))
    t = size / (3.5 * μ * G)
    pull = -μ * G * SLIP / size
    expected = V * t + pull * t * t / 2 + (V + pull * t) * (T - t)
    run = ball().simulate(T, backend=backend)
    np.testing.assert_allclose(place(run), expected + np.array([0, 0, R]), atol=1e-11)
    assert [(e.what, round(e.time - t, 9)) for e in run.events] == [("stick", 0)]


def test_derivatives_of_a_ball_that_begins_to_roll() -> None:
    assert_derivatives(ball(), 1.0)


@both_backends
@pytest.mark.parametrize("μ", [0.1, 1.5])
def test_a_ball_with_spin_bounces(μ: float, backend: str) -> None:
    """The friction impulse stops the slip, 2/7 m |s|, if it may be so large, else it is μ Λ."""
    height, ε, T = 0.2, 0.5, 0.35
    t = math.sqrt(2 * height / G)
    size = float(np.linalg.norm(SLIP))
    impulse = min(size * MASS / 3.5, μ * (1 + ε) * MASS * G * t)
    after = V - impulse / MASS * SLIP / size
    run = ball(μ, height, ε).simulate(T, backend=backend)
    np.testing.assert_allclose(place(run)[:2], (V * t + after * (T - t))[:2], atol=1e-11)
    assert [e.what for e in run.events] == ["impact"]
    assert (impulse < size * MASS / 3.5) == (μ < 1)  # one of each


@pytest.mark.parametrize("μ", [0.1, 1.5])
def test_derivatives_across_an_impact_with_friction(μ: float) -> None:
    assert_derivatives(ball(μ, 0.2, 0.5), 0.35)


def bowl(dimension: int, *, μ: float = 0.15, clearance: bool = False) -> vm.Mechanism:
    """A ball in a bowl, in the plane or in a plane of space that no axis lies in."""
    θ = 0.6
    e = np.array([math.cos(θ), math.sin(θ), 0]) if dimension == 3 else np.array([1.0, 0])
    up = np.array([0, 0, 1.0]) if dimension == 3 else np.array([0, 1.0])
    m = vm.Mechanism("bowl", dimension=dimension, gravity=tuple(-G * up))
    m.ground_point("O", (0,) * dimension)
    inertia: Any = (J,) * 3 if dimension == 3 else J
    m.body("b", mass=MASS, inertia=inertia, points={"C": (0,) * dimension}, floating=True)
    if clearance:
        m.clearance_joint("it", "ground.O", "b.C", clearance=0.9, pin_radius=R, friction=μ)
    else:
        m.contact("it", "b.C", "ground.O", radius=R, second_radius=1.0, inside=True, friction=μ)
    place = 0.9 * (math.sin(1.0) * e - math.cos(1.0) * up)
    if dimension == 3:
        m.start(position={"b.C": tuple(place)}, orientation={"b": np.eye(3)})
    else:
        m.start(position={"b.C": tuple(place)}, angle={"b": 0.0})
    return m


@pytest.mark.parametrize("clearance", [False, True])
def test_a_ball_in_a_bowl_moves_as_in_the_plane(clearance: bool) -> None:
    """A sphere has no pair of tangents, so its slip has three components, of which two count."""
    flat, space = (bowl(d, clearance=clearance).simulate(1.5) for d in (2, 3))
    (x, y), (a, b, c) = place(flat), place(space)
    assert math.hypot(a, b) == pytest.approx(abs(x), abs=1e-8)
    assert c == pytest.approx(y, abs=1e-8)
    assert a * math.sin(0.6) == pytest.approx(b * math.cos(0.6), abs=1e-8)
    events = [[(e.what, e.name) for e in run.events] for run in (flat, space)]
    assert events[0] == events[1]
    assert len(events[0]) > 1
    first, second = ([e.time for e in run.events] for run in (flat, space))
    np.testing.assert_allclose(first, second, atol=1e-7)


def energy(run: Any) -> np.ndarray:
    """Along a run."""
    return np.asarray(run.energy().values, dtype=float)


@pytest.mark.parametrize("seed", range(3))
def test_energy_never_grows(seed: int) -> None:
    """A ball with spin, thrown at random into the corner of a floor and two walls."""
    rng = np.random.default_rng(seed)
    m = vm.Mechanism("corner", gravity=(0, 0, -G))
    m.ground_point("O", (0, 0, 0))
    m.body("b", mass=MASS, inertia=(J,) * 3, points={"C": (0, 0, 0)}, floating=True)
    μ, ε = m.parameter("μ", float(rng.uniform(0.1, 0.6))), float(rng.uniform(0.2, 0.7))
    for name, normal in {"floor": (0, 0, 1), "wall": (1, 0, 0), "side": (0, 1, 0)}.items():
        given: dict[str, Any] = {"radius": R, "normal": normal, "friction": μ, "restitution": ε}
        m.contact(name, "b.C", "ground.O", **given)
    m.start(
        position={"b.C": (0.3, 0.25, 0.4)},
        orientation={"b": np.eye(3)},
        speed={"b.C": tuple(-0.5 - 1.5 * rng.random(3)), "b": tuple(20 * rng.normal(size=3))},
    )
    run = m.simulate(0.7)
    E = energy(run)
    assert np.diff(E).max() < 1e-9 * abs(E[0])
    assert E[-1] < 0.9 * E[0]
    assert len({e.name for e in run.events if e.what == "impact"}) > 1


def test_second_derivatives_of_the_way() -> None:
    v, μ = 2.0, 0.3
    way = vm.final(lambda s: s.position("b.C")[0], unit="m")
    H = block().hessian(way, duration=1.0, method="forward").hessian.values[0]
    mixed = -v / (μ**2 * G)
    exact = [[1 / (μ * G), mixed], [mixed, v**2 / (μ**3 * G)]]
    np.testing.assert_allclose(H, exact, atol=1e-8)


def test_second_derivatives_across_an_impact_in_which_friction_slides_are_refused() -> None:
    with pytest.raises(
        vm.ModelError, match=r"the impact at t = 0\.2\d* s, in which friction slides"
    ):
        ball(0.1, 0.2, 0.5).hessian(vm.final(lambda s: s.position("b.C")[0]), duration=0.35)
