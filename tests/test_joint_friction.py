"""Friction in hinges and sliders, whose load is the joint's own force: against SciPy's solution of
equations of motion in which that load is a fixed point, against closed forms, and by energy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from both_backends import both_backends
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import varimech as vm

G = 9.81
Rates = Callable[[float, np.ndarray], list[float]]


def solved(rates: Rates, T: float, start: list[float]) -> np.ndarray:
    """The state at T."""
    y = solve_ivp(rates, (0, T), start, rtol=1e-12, atol=1e-13, method="DOP853").y
    return np.asarray(y[:, -1])


def fixed_point(f: Callable[[float], float]) -> float:
    """x = f(x), of a contraction."""
    x = 0.0
    for _ in range(200):
        x, before = f(x), x
        if abs(x - before) <= 1e-15 * max(1.0, abs(x)):
            return x
    raise AssertionError("no fixed point")


LAWS: dict[str, Callable[[float], float]] = {
    "tanh": lambda s: math.tanh(s / 0.05),
    "stribeck": lambda s: (1 + 0.5 * math.exp(-((s / 0.05) ** 2))) * math.tanh(10 * s / 0.05),
    "brown-mcphee": lambda s: (
        math.tanh(4 * s / 0.05) + 0.5 * (s / 0.05) / ((s / 0.05) ** 2 / 4 + 0.75) ** 2
    ),
}
"""Coefficients over the sliding one, for static friction of 1.5 times that."""


# --- a hinge


def pendulum(law: str = "coulomb", **more: Any) -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -G))
    L, μ = m.parameter("L", 1.0), m.parameter("μ", 0.2)
    m.ground_point("O", (0, 0))
    m.body("rod", mass=1.5, com=(L / 2, 0), inertia=0.1, points={"O": (0, 0), "P": (L, 0)})
    given = {"friction": μ, "friction_radius": 0.05, "slip_velocity": 0.05, **more}
    if law != "coulomb":
        given["static_friction"] = 1.5 * μ
    m.revolute("O", friction_law=law, **given)
    m.start(angle={"O": -0.3})
    return m


def hinge_rates(share: Callable[[float], float], μ: float = 0.2, r: float = 0.05) -> Rates:
    """Rates of (angle, speed) of that rod, whose load follows from its acceleration."""
    mass, c = 1.5, 0.5
    inertia = 0.1 + mass * c * c

    def rates(t: float, y: np.ndarray) -> list[float]:
        θ, ω = y

        def acceleration(α: float) -> float:
            a_x = -c * (α * math.sin(θ) + ω * ω * math.cos(θ))
            a_y = c * (α * math.cos(θ) - ω * ω * math.sin(θ))
            load = mass * math.hypot(a_x, a_y + G)
            return (-mass * G * c * math.cos(θ) - μ * r * load * share(ω)) / inertia

        return [ω, fixed_point(acceleration)]

    return rates


@both_backends
def test_a_hinge_that_slides(backend: str) -> None:
    """Up to its first turn, and the torque has the sign of that motion."""
    T = 0.8
    θ, ω = solved(hinge_rates(lambda s: -1.0), T, [-0.3, 0.0])
    run = pendulum().simulate(T, backend=backend, tolerance=1e-11)
    assert ω < -1
    assert float(run.angle("O")[-1]) == pytest.approx(θ, abs=1e-9)
    assert float(run.angular_velocity("rod")[-1]) == pytest.approx(ω, abs=1e-9)
    free, _ = solved(hinge_rates(lambda s: 0.0), T, [-0.3, 0.0])
    assert abs(free - θ) > 1e-3  # without friction it is elsewhere


def test_a_hinge_turns_back_and_comes_to_rest() -> None:
    """Each half swing from SciPy, until the torque of the weight is below that of friction."""
    T, t, state, σ = 60.0, 0.0, [-0.3, 0.0], -1.0
    μ, r = 0.6, 0.2
    turns: list[float] = []
    while True:
        holding = μ * r * 1.5 * G
        if 1.5 * G * 0.5 * abs(math.cos(state[0])) < holding:
            break
        rates = hinge_rates(lambda s, σ=σ: σ, μ, r)  # type: ignore[misc]

        def at_rest(t: float, y: np.ndarray) -> float:
            return float(y[1])

        at_rest.terminal, at_rest.direction = True, -σ  # type: ignore[attr-defined]
        swing = solve_ivp(
            rates, (t, T), [state[0], σ * 1e-12], events=at_rest, rtol=1e-12, atol=1e-13
        )
        t, state, σ = float(swing.t[-1]), [float(swing.y[0, -1]), 0.0], -σ
        turns.append(t)
    m = pendulum(friction=μ, friction_radius=r)
    run = m.simulate(t + 1.0, tolerance=1e-11)
    assert len(turns) == 2
    np.testing.assert_allclose(run.events["friction of O"].times, turns, atol=1e-7)
    assert run.events[-1].what == "stick"
    assert float(run.angle("O")[-1]) == pytest.approx(state[0], abs=1e-7)
    np.testing.assert_allclose(run.reaction("O").values[-1], [0, 1.5 * G], atol=1e-8)


@pytest.mark.parametrize("law", LAWS)
def test_smooth_friction_in_a_hinge(law: str) -> None:
    T = 1.5
    θ, ω = solved(hinge_rates(LAWS[law]), T, [-0.3, 0.0])
    run = pendulum(law).simulate(T, backend="interpreted", tolerance=1e-11)
    assert float(run.angle("O")[-1]) == pytest.approx(θ, abs=2e-8)
    assert float(run.angular_velocity("rod")[-1]) == pytest.approx(ω, abs=2e-7)


@pytest.mark.parametrize("law", ["coulomb", pytest.param("tanh", marks=pytest.mark.slow)])
def test_derivatives_of_a_hinge_agree(law: str) -> None:
    """Over two turns; and differences of SciPy's solution before the first one."""
    goals = {"θ": vm.final("angle('O')"), "R": vm.integral("dot(reaction('O'), reaction('O'))")}
    options: dict[str, Any] = {"duration": 2.2, "tolerance": 1e-11, "backend": "interpreted"}
    direct, adjoint, differences = (
        pendulum(law).sensitivity(goals, method=method, **options)
        for method in ("direct", "adjoint", "finite-difference")
    )
    np.testing.assert_allclose(adjoint.final_gradient, direct.final_gradient, rtol=1e-8)
    np.testing.assert_allclose(differences.final_gradient, direct.final_gradient, rtol=2e-5)
    if law == "coulomb":
        assert len(direct.run.events) >= 2
    share = LAWS["tanh"] if law == "tanh" else (lambda s: -1.0)
    if law == "coulomb":
        h, T = 1e-4, 0.8
        low, high = (solved(hinge_rates(share, μ), T, [-0.3, 0.0])[0] for μ in (0.2 - h, 0.2 + h))
        g = pendulum().sensitivity(goals["θ"], "μ", duration=T, tolerance=1e-11)
        assert float(g.final_gradient.item()) == pytest.approx((high - low) / (2 * h), rel=1e-6)


# --- a slider


def incline(angle: float, μ: float, kind: str = "prismatic", **more: Any) -> vm.Mechanism:
    m = vm.Mechanism("incline", gravity=(0, -G))
    a, coefficient = m.parameter("a", angle), m.parameter("μ", μ)
    m.ground_point("O", (0, 0))
    m.body("block", mass=2.0, inertia=0.1, points={"P": (0, 0)})
    axis = (vm.cos(a), vm.sin(a))
    getattr(m, kind)("guide", "ground.O", "block.P", axis=axis, friction=coefficient, **more)
    m.start(displacement={"guide": 0.0}, speed={"guide": m.parameter("v", 0.0)})
    return m


@pytest.mark.parametrize(
    ("angle", "backend"),
    [
        *[(angle, "interpreted") for angle in (0.1, 0.3, 0.5, 1.0, -0.7)],
        (0.3, "auto"),
        (0.5, "auto"),
    ],
)
def test_a_slider_sticks_or_slides_on_an_incline(angle: float, backend: str) -> None:
    """It sticks for tan a ≤ μ = 0.4; else it slides with g (sin a − μ cos a)."""
    μ, T = 0.4, 0.7
    goals = {"x": vm.final("displacement('guide')"), "v": vm.final("displacement_rate('guide')")}
    if abs(math.tan(angle)) <= μ:
        run = incline(angle, μ).simulate(T, backend=backend)
        np.testing.assert_allclose(run.displacement("guide"), 0.0, atol=1e-12)
        return
    σ = math.copysign(1, angle)
    a = -G * (math.sin(angle) - σ * μ * math.cos(angle))
    a_angle, a_μ = -G * (math.cos(angle) + σ * μ * math.sin(angle)), G * σ * math.cos(angle)
    for method in ("direct", "adjoint"):
        g = incline(angle, μ).sensitivity(
            goals, ["a", "μ"], duration=T, method=method, backend=backend
        )
        np.testing.assert_allclose(g.final_values, [a * T**2 / 2, a * T], rtol=1e-9)
        expected = np.array([[a_angle, a_μ]]) * [[T**2 / 2], [T]]
        np.testing.assert_allclose(g.final_gradient, expected, rtol=1e-9)


def test_a_slider_at_the_limit() -> None:
    """Just below and above the angle of friction; static friction holds it further."""
    for factor, moves in ((0.999, False), (1.001, True)):
        run = incline(math.atan(0.4) * factor, 0.4).simulate(0.5)
        assert bool(abs(float(run.displacement("guide")[-1])) > 1e-5) is moves
    for μ0, moves in ((0.6, False), (0.5, True)):
        run = incline(math.atan(0.55), 0.4, static_friction=μ0).simulate(0.5)
        assert bool(abs(float(run.displacement("guide")[-1])) > 0.1) is moves


def test_a_slider_that_is_thrown_up_stops_and_stays_or_comes_back() -> None:
    for angle, μ in ((0.3, 0.4), (0.6, 0.4)):
        up, down = (G * (math.sin(angle) + s * μ * math.cos(angle)) for s in (1, -1))
        v, T = 2.0, 1.0
        t = v / up
        x = v * v / (2 * up) - max(down, 0.0) * (T - t) ** 2 / 2
        m = incline(angle, μ)
        g = m.sensitivity(
            {"x": vm.final("displacement('guide')"), "t": vm.time_of("friction of guide")},
            ["v"],
            parameters={"v": v},
            duration=T,
        )
        np.testing.assert_allclose(g.final_values, [x, t], rtol=1e-9)
        dx = v / up + max(down, 0.0) * (T - t) / up
        np.testing.assert_allclose(g.final_gradient.ravel(), [dx, 1 / up], rtol=1e-8)


@pytest.mark.parametrize("law", LAWS)
def test_smooth_friction_in_a_slider(law: str) -> None:
    """A body whose centre is off its guide: |R| = m g cos a however it is loaded along it."""
    angle, μ, T = 0.6, 0.4, 0.5

    def rates(t: float, y: np.ndarray) -> list[float]:
        return [
            y[1],
            -G * math.sin(angle) - μ * G * math.cos(angle) * LAWS[law](float(y[1])),
        ]

    x, v = solved(rates, T, [0.0, 0.0])
    m = incline(angle, μ, friction_law=law, static_friction=1.5 * μ, slip_velocity=0.05)
    run = m.simulate(T, tolerance=1e-11, backend="interpreted")
    assert float(run.displacement("guide")[-1]) == pytest.approx(x, abs=1e-9)
    assert float(run.displacement_rate("guide")[-1]) == pytest.approx(v, abs=1e-8)


def test_a_point_on_a_line() -> None:
    """Without a moment the same as a prismatic joint: g (sin a − μ cos a)."""
    m = vm.Mechanism("pin", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("block", mass=2.0, inertia=0.1, points={"P": (0, 0)})
    m.point_on_line(
        "slot", "ground.O", "block.P", axis=(math.cos(0.6), math.sin(0.6)), friction=0.4
    )
    m.start(displacement={"slot": 0.0}, speed={"slot": 0.0, "block": 0.0}, angle={"block": 0.0})
    run = m.simulate(0.5)
    a = -G * (math.sin(0.6) - 0.4 * math.cos(0.6))
    assert float(run.displacement("slot")[-1]) == pytest.approx(a / 8, rel=1e-9)


# --- several joints


def slider_crank(μ: float, law: str) -> vm.Mechanism:
    m = vm.Mechanism("slider-crank", gravity=(0, -G))
    f, L = m.parameter("f", μ), m.parameter("L", 0.3)
    m.ground_point("O", (0, 0))
    m.body("crank", mass=0.5, com=(0.05, 0), inertia=1e-3, points={"O": (0, 0), "A": (0.1, 0)})
    m.body("rod", mass=0.4, com=(L / 2, 0), inertia=3e-3, points={"A": (0, 0), "B": (L, 0)})
    m.body("slider", mass=0.6, inertia=1e-3, points={"B": (0, 0)})
    own: dict[str, Any] = {"friction_law": law, "slip_velocity": 0.05}
    m.revolute("O", "ground.O", "crank.O", friction=f, friction_radius=0.01, **own)
    m.revolute("A", "crank.A", "rod.A")
    m.revolute("B", "rod.B", "slider.B")
    m.prismatic("guide", "ground.O", "slider.B", axis=(1, 0), friction=f, **own)
    m.start(angle={"crank": 0.4}, speed={"crank": 15.0}, near={"B": (0.35, 0)})
    return m


@pytest.mark.parametrize("law", ["coulomb", "tanh"])
def test_energy_of_a_slider_crank_with_two_frictions(law: str) -> None:
    """What is lost is the work of both frictions, ∫ μ (r |R_O| |ω| + |R_y| |v|) dt."""
    m, μ = slider_crank(0.1, law), 0.1

    def power(s: Any) -> Any:
        ω, v = s.angular_velocity("crank"), s.displacement_rate("guide")
        hinge = 0.01 * vm.norm(s.reaction("O")) * ω
        across = vm.absolute(s.reaction("guide")[1]) * v
        if law == "tanh":
            return μ * (hinge * vm.tanh(ω / 0.05) + across * vm.tanh(v / 0.05))
        return μ * (hinge * vm.sign(ω) + across * vm.sign(v))

    g = m.sensitivity({"lost": vm.integral(power)}, duration=0.3, tolerance=1e-11)
    energy = g.run.energy().values
    lost = float(energy[0] - energy[-1])
    assert lost > 0.1 * energy[0]
    assert float(g.final_values[0]) == pytest.approx(lost, rel=1e-7)


@pytest.mark.parametrize("law", ["coulomb", "tanh"])
def test_derivatives_of_a_slider_crank_agree(law: str) -> None:
    m = slider_crank(0.1, law)
    goals = {"φ": vm.final("angle('crank')"), "E": vm.final(lambda s: s.energy)}
    options: dict[str, Any] = {"duration": 0.3, "tolerance": 1e-11}
    direct, adjoint, differences = (
        m.sensitivity(goals, method=method, **options).final_gradient
        for method in ("direct", "adjoint", "finite-difference")
    )
    np.testing.assert_allclose(adjoint, direct, rtol=1e-8)
    np.testing.assert_allclose(differences, direct, rtol=2e-5)


def test_a_double_pendulum_with_two_frictions_against_scipy() -> None:
    """Newton's and Euler's equations of two rods; loads by fixed-point iteration."""
    l, c, mass, inertia, μ, r = 1.0, 0.5, 1.0, 0.08, 0.2, 0.04

    def share(s: float) -> float:
        return math.tanh(s / 0.05)

    def rates(t: float, y: np.ndarray) -> list[float]:
        θ, φ, ω, ν = y
        e, n = np.array([math.cos(θ), math.sin(θ)]), np.array([-math.sin(θ), math.cos(θ)])
        f, k = np.array([math.cos(φ), math.sin(φ)]), np.array([-math.sin(φ), math.cos(φ)])
        weight = np.array([0.0, -mass * G])
        loads = np.zeros(2)
        α = β = 0.0
        for _ in range(200):
            T_O, T_A = -μ * r * loads[0] * share(ω), -μ * r * loads[1] * share(ν - ω)
            # virtual work along α and β
            M = np.array(
                [
                    [inertia + mass * (c * c + l * l), mass * l * c * (n @ k)],
                    [mass * l * c * (n @ k), inertia + mass * c * c],
                ]
            )
            rest_1, rest_2 = -c * ω * ω * e, -l * ω * ω * e - c * ν * ν * f
            Q = np.array(
                [
                    weight @ (c * n)
                    + weight @ (l * n)
                    - mass * (rest_1 @ (c * n) + rest_2 @ (l * n))
                    + T_O
                    - T_A,
                    weight @ (c * k) - mass * (rest_2 @ (c * k)) + T_A,
                ]
            )
            α, β = np.linalg.solve(M, Q)
            a_1, a_2 = c * α * n + rest_1, l * α * n + c * β * k + rest_2
            R_A = mass * a_2 - weight
            R_O = mass * a_1 - weight + R_A
            new = np.array([np.linalg.norm(R_O), np.linalg.norm(R_A)])
            if np.abs(new - loads).max() < 1e-14 * new.max():
                break
            loads = new
        return [ω, ν, float(α), float(β)]

    m = vm.Mechanism("double", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("one", mass=mass, com=(c, 0), inertia=inertia, points={"O": (0, 0), "A": (l, 0)})
    m.body("two", mass=mass, com=(c, 0), inertia=inertia, points={"A": (0, 0), "B": (l, 0)})
    own: dict[str, Any] = {"friction": μ, "friction_radius": r, "friction_law": "tanh"}
    m.revolute("O", "ground.O", "one.O", slip_velocity=0.05, **own)
    m.revolute("A", "one.A", "two.A", slip_velocity=0.05, **own)
    m.start(angle={"one": 0.2, "two": -0.4})
    T = 1.2
    run = m.simulate(T, tolerance=1e-11)
    expected = solved(rates, T, [0.2, -0.4, 0.0, 0.0])
    computed = [float(run.angle(b)[-1]) for b in ("one", "two")]
    computed += [float(run.angular_velocity(b)[-1]) for b in ("one", "two")]
    np.testing.assert_allclose(computed, expected, atol=1e-6)


# --- reactions


@both_backends
def test_reactions_where_a_body_rests_on_a_contact(backend: str) -> None:
    """A block rests on the floor; elsewhere a rod rests on a stop, and another hangs at rest."""
    m = vm.Mechanism("rest", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.ground_point("Q", (3, 0))
    m.body("block", mass=2.0, inertia=0.1, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "block.P", axis=(0, 1))
    m.contact("floor", "block.P", "ground.O", normal=(0, 1))
    m.body("rod", mass=3.0, com=(0.5, 0), inertia=0.1, points={"Q": (0, 0)})
    m.revolute("Q", "ground.Q", "rod.Q")
    m.body("other", mass=1.0, com=(0.5, 0), inertia=0.1, points={"O": (0, 0)})
    m.revolute("O", "ground.O", "other.O", friction=0.1, friction_radius=0.01)
    m.stop("below", "angle('rod')", lower=0.0)
    m.start(displacement={"guide": 0.0}, angle={"Q": 0.0, "O": -math.pi / 2})
    run = m.simulate(0.2, backend=backend)
    for k in (0, len(run.time) // 2, -1):
        np.testing.assert_allclose(run.reaction("O").values[k], [0, 1.0 * G], atol=1e-8)
        # a pure moment holds the rod: its hinge carries the weight
        np.testing.assert_allclose(run.reaction("Q").values[k], [0, 3.0 * G], atol=1e-8)
        np.testing.assert_allclose(run.reaction("guide").values[k], 0.0, atol=1e-8)
    np.testing.assert_allclose(run.displacement("guide"), 0.0, atol=1e-12)


def test_a_rod_that_a_stop_and_friction_hold() -> None:
    """It falls on its stop; its friction of 0.1 · 0.01 m · |R| is far too small to hold it alone."""
    m = vm.Mechanism("rest", gravity=(0, -G))
    m.ground_point("Q", (0, 0))
    m.body("rod", mass=3.0, com=(0.5, 0), inertia=0.1, points={"Q": (0, 0)})
    m.revolute("Q", "ground.Q", "rod.Q", friction=0.1, friction_radius=0.01)
    m.stop("below", "angle('rod')", lower=0.0)
    m.start(angle={"Q": 0.05})
    run = m.simulate(1.0, backend="interpreted")
    assert float(run.angle("rod")[-1]) == pytest.approx(0.0, abs=1e-10)
    np.testing.assert_allclose(run.reaction("Q").values[-1], [0, 3.0 * G], atol=1e-7)


# --- bad input

REFUSED: list[Any] = [
    ("revolute", {"friction": -0.1, "friction_radius": 0.01}, "friction = -0.1 must not be neg"),
    ("revolute", {"friction": 0.1}, "friction in a hinge needs the radius of its pin; give fric"),
    ("revolute", {"friction": 0.1, "friction_radius": -1}, "friction_radius = -1 must not be neg"),
    (
        "revolute",
        {"friction": 0.2, "static_friction": 0.1, "friction_radius": 0.01},
        "static_friction − friction = -0.1 must not be negative",
    ),
    (
        "revolute",
        {"friction": 0.2, "friction_law": "dahl", "friction_radius": 0.01},
        "friction_law = 'dahl' must be one of 'coulomb', 'tanh', 'stribeck', 'brown-mcphee'",
    ),
    ("prismatic", {"friction": math.nan}, "friction = nan is not finite"),
    ("prismatic", {"friction": 0.1, "slip_velocity": 0}, "slip_velocity = 0 must be positive"),
    ("point_on_line", {"friction": -1}, "friction = -1 must not be negative"),
]


@pytest.mark.parametrize(("kind", "options", "words"), REFUSED)
def test_bad_friction_of_joints(kind: str, options: dict[str, Any], words: str) -> None:
    m = vm.Mechanism("bad", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    axis = {} if kind == "revolute" else {"axis": (1, 0)}
    with pytest.raises(vm.ModelError) as caught:
        getattr(m, kind)("joint", "ground.O", "b.P", **axis, **options)
    assert words in str(caught.value) and "'joint'" in str(caught.value)
    assert "joint" not in m.joints and "friction of joint" not in m.forces
    getattr(m, kind)("joint", "ground.O", "b.P", **axis)  # the name is still free


def test_schemes_that_do_not_take_friction_in_joints() -> None:
    for law in ("coulomb", "tanh"):
        for formulation in ("independent", "penalty"):
            with pytest.raises(
                vm.ModelError, match=r"'pendulum' has (friction in joints|contacts)"
            ):
                pendulum(law).simulate(0.1, formulation=formulation)
        with pytest.raises(vm.ModelError, match=r"'pendulum' has rigid contacts or dry friction"):
            pendulum(law).equilibrium()
        with pytest.raises(vm.ModelError, match=r"which no single set of equations states"):
            pendulum(law).equations()


# --- joints in space


def on_plane(kind: str, law: str = "coulomb", angle: float = 0.4) -> vm.Mechanism:
    """A block that is thrown on the plane of a joint."""
    m = vm.Mechanism("puck", gravity=(0, 0, -G))
    u, μ = m.parameter("u", 2.0), m.parameter("μ", 0.3)
    m.ground_point("O", (0, 0, 0))
    m.body("b", mass=2.0, inertia=(1.0,) * 3, points={"C": (0, 0, 0)})
    given = {"friction": μ, "friction_law": law, "slip_velocity": 1e-4}
    getattr(m, kind)("p", "ground.O", "b.C", normal=(0, 0, 1), **given)
    place = {"b.C": (0, 0, None)}
    speed = {"b.C": [u * math.cos(angle), u * math.sin(angle), None]}
    if kind == "planar":
        m.start(position=place, angle={"p": 0.0}, speed=speed)
    else:
        m.start(position=place, orientation={"b": np.eye(3)}, speed=speed)
    return m


@pytest.mark.parametrize("kind", ["planar", "point_on_plane"])
def test_friction_on_a_plane(kind: str) -> None:
    """The way v²/(2 μ g) in any direction, and its derivatives."""
    way = 4 / (2 * 0.3 * G)
    for angle in (0.4, 2.5):
        run = on_plane(kind, angle=angle).simulate(1.0)
        expected = [way * math.cos(angle), way * math.sin(angle), 0]
        np.testing.assert_allclose(run.position("b.C").values[-1], expected, atol=1e-10)
        assert [(e.name, e.what) for e in run.events] == [("friction of p", "stick")]
    objective = {"x": vm.final(lambda s: s.position("b.C")[0], unit="m")}
    slopes = np.array([[4 / (2 * 0.3 * G), -4 / (2 * 0.3**2 * G)]]) * math.cos(0.4)
    for method in ("direct", "adjoint"):
        g = on_plane(kind).sensitivity(objective, duration=1.0, method=method)
        np.testing.assert_allclose(g.final_gradient, slopes, atol=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_smooth_friction_on_a_plane(law: str) -> None:
    """While it is fast it loses μ g of its speed each second, along its direction."""
    run = on_plane("planar", law).simulate(0.5)
    way = 2 * 0.5 - 0.3 * G * 0.5**2 / 2
    expected = [way * math.cos(0.4), way * math.sin(0.4), 0]
    np.testing.assert_allclose(run.position("b.C").values[-1], expected, atol=1e-6)


def turning(kind: str, **more: Any) -> vm.Mechanism:
    """A body that turns about its centre, which a joint carries."""
    m = vm.Mechanism("turning", gravity=(0, 0, -G))
    μ = m.parameter("μ", 0.3)
    m.ground_point("O", (0, 0, 0))
    points = {"C": (0, 0, 0), "P": (0, 1, 0), "Q": (1, 0, 0)}
    m.body("b", mass=2.0, inertia=(0.1,) * 3, points=points)
    getattr(m, kind)("j", "ground.O", "b.C", friction=μ, friction_radius=0.05, **more)
    return m


def test_friction_of_a_ball_joint() -> None:
    """μ r m g against the angular velocity, whose direction stays: it stops at J ω/(μ r m g)."""
    ω = np.array([3.0, -2.0, 4.0])
    m = turning("spherical")
    m.start(orientation={"b": np.eye(3)}, speed={"b": tuple(ω)})
    size, torque = float(np.linalg.norm(ω)), 0.3 * 0.05 * 2.0 * G
    time = 0.1 * size / torque
    run = m.simulate(3.0)
    assert [(e.name, e.what) for e in run.events] == [("friction of j", "stick")]
    assert run.events[0].time == pytest.approx(time, abs=1e-8)
    turned = Rotation.from_rotvec(ω * time / 2).apply([1, 0, 0])
    np.testing.assert_allclose(run.position("b.Q").values[-1], turned, atol=1e-8)
    stop = {"time": vm.time_of("friction of j")}
    for method in ("direct", "adjoint"):
        g = m.sensitivity(stop, duration=3.0, method=method).final_gradient
        np.testing.assert_allclose(g, [[-time / 0.3]], rtol=1e-7)


def test_friction_of_a_universal_joint() -> None:
    """About its first axis the body stops as in a hinge; about the other one it never moves."""
    m = turning("universal", axis=(1, 0, 0), axis_on_second=(0, 1, 0))
    m.start(
        position={"b.P": (None, None, 0.0), "b.Q": (None, None, 0.0)},
        speed={"b.P": (None, None, 3.0), "b.Q": (None, None, 0.0)},
        near={"b": np.eye(3)},
    )
    time = 0.1 * 3 / (0.3 * 0.05 * 2.0 * G)
    run = m.simulate(2.0)
    assert [(e.name, e.what) for e in run.events] == [("friction of j (first axis)", "stick")]
    assert run.events[0].time == pytest.approx(time, abs=1e-8)
    φ = 3 * time / 2
    np.testing.assert_allclose(
        run.position("b.P").values[-1], [0, math.cos(φ), math.sin(φ)], atol=1e-8
    )


@pytest.mark.parametrize("kind", ["spherical", "universal"])
def test_friction_of_a_ball_needs_a_radius(kind: str) -> None:
    m = vm.Mechanism("m", gravity=(0, 0, -G))
    m.ground_point("O", (0, 0, 0))
    m.body("b", mass=2.0, inertia=(0.1,) * 3, points={"C": (0, 0, 0)})
    axes = {} if kind == "spherical" else {"axis": (1, 0, 0), "axis_on_second": (0, 1, 0)}
    with pytest.raises(
        vm.ModelError, match=rf"{kind} joint 'j': friction in a .* needs the radius"
    ):
        getattr(m, kind)("j", "ground.O", "b.C", friction=0.1, **axes)


@pytest.mark.parametrize(
    ("μ", "pitch"), [(0.02, 0.01), (0.2, 0.01), (0.9, 0.126), (1.1, 0.125), (0.3, 0.125)]
)
def test_friction_of_a_thread(μ: float, pitch: float) -> None:
    """A nut under its weight turns down the thread, flat or steep, or is held where μ exceeds the
    tangent of the lead angle h/r.
    """
    mass, J, r, T = 2.0, 1e-3, 0.02, 0.5
    m = vm.Mechanism("nut", gravity=(0, 0, -G))
    m.ground_point("O", (0, 0, 0))
    m.body("n", mass=mass, inertia=(J,) * 3, points={"C": (0, 0, 0)})
    m.screw("s", "ground.O", "n.C", axis=(0, 0, 1), pitch=pitch, friction=μ, friction_radius=r)
    m.start(displacement={"s": 0.0})
    h = pitch / (2 * math.pi)
    lead = math.atan(h / r)
    # the flank pushes with N at right angles to itself, and friction μ N acts up the thread:
    # m h α = N cos + μ N sin − m g,  J α = r (μ N cos − N sin)
    A = [
        [mass * h, -(math.cos(lead) + μ * math.sin(lead))],
        [J, r * (math.sin(lead) - μ * math.cos(lead))],
    ]
    α, _ = np.linalg.solve(A, [-mass * G, 0.0])
    held = μ > math.tan(lead)
    expected = 0.0 if held else h * α * T**2 / 2
    assert held == ((μ, pitch) in [(0.2, 0.01), (1.1, 0.125)])
    end = float(m.simulate(T).displacement("s").values[-1])
    assert end == pytest.approx(expected, abs=1e-11)


def test_friction_of_a_thread_needs_a_radius() -> None:
    m = vm.Mechanism("nut", gravity=(0, 0, -G))
    m.ground_point("O", (0, 0, 0))
    m.body("n", mass=2.0, inertia=(1e-3,) * 3, points={"C": (0, 0, 0)})
    with pytest.raises(
        vm.ModelError, match="screw joint 's': friction in a screw needs the radius"
    ):
        m.screw("s", "ground.O", "n.C", axis=(0, 0, 1), pitch=0.01, friction=0.1)


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn0"])
def test_friction_holds_a_block_at_the_origin(coordinates: str) -> None:
    """Where nothing has a length, and nothing moves, rounding is no motion."""
    m = vm.Mechanism("block", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.5, inertia=0.1, points={"C": (0, 0)})
    axis = (math.cos(0.2), -math.sin(0.2))
    m.prismatic("p", "ground.O", "b.C", axis=axis, friction=0.3)
    m.start(displacement={"p": 0.0})
    run = m.simulate(3.0, coordinates=coordinates)
    assert abs(float(run.displacement("p").values[-1])) < 1e-11
