"""Forces, drivers and reactions, planar and spatial, against closed forms and equations of motion
derived by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bodies import add_body
from newton_euler import (
    Array,
    BodyState,
    RigidBody,
    Z,
    check_order_two,
    integrate,
    second_order,
    steiner,
    turned,
    unit,
)

import varimech as vm

G = 9.81
H = 2e-3
SAMPLES = np.linspace(0.0, 1.0, 51)
both = pytest.mark.parametrize("dimension", [2, 3])


def about(dimension: int, axis: tuple[float, ...]) -> dict[str, Any]:
    """The axis of a hinge, which only spatial ones have."""
    return {} if dimension == 2 else {"axis": axis}


def sampled(m: vm.Mechanism, measure: Callable[[vm.Run], Any]) -> Callable[[float], Array]:
    """A measure at `SAMPLES`, as a function of the step."""
    return lambda h: np.asarray(measure(m.simulate(1.0, step=h, every=round(0.02 / h))))


def padded(dimension: int, *components: float) -> tuple[float, ...]:
    return (*components, 0.0)[:dimension]


# one sliding mass: the guide points along u, gravity is oblique to it

GUIDE = {2: np.array([0.6, 0.8]), 3: np.array([1.0, 2.0, 2.0]) / 3}
ASIDE = {2: np.array([-0.8, 0.6]), 3: unit([2.0, -1.0, 0.0])}
WEIGHT = {2: np.array([0.0, -G]), 3: np.array([0.0, 0.0, -G])}


def sliding_mass(
    dimension: int, *, gravity: bool = False, at: float = 0.5, speed: float = 0.0
) -> vm.Mechanism:
    """2 kg on a guide through the origin; its displacement is the place along the guide."""
    m = vm.Mechanism("slider", gravity=WEIGHT[dimension] * gravity)
    m.ground_point("O", np.zeros(dimension))
    m.ground_point("aside", 0.4 * ASIDE[dimension])
    m.body("b", mass=2.0, inertia=0.1 if dimension == 2 else (0.1, 0.1, 0.1))
    m.prismatic("guide", "ground.O", "b.com", axis=GUIDE[dimension])
    m.start(displacement={"guide": at}, speed={"guide": speed})
    return m


def damped(t: Array, x0: float, v0: float, k: float, c: float, m: float, rest: float) -> Array:
    """Underdamped oscillator m ẍ + c ẋ + k (x − rest) = 0."""
    δ = c / (2 * m)
    ω = np.sqrt(k / m - δ**2)
    x = x0 - rest
    return np.asarray(
        rest + np.exp(-δ * t) * (x * np.cos(ω * t) + (v0 + δ * x) / ω * np.sin(ω * t))
    )


@both
def test_spring_and_damper_along_the_guide(dimension: int) -> None:
    """m s̈ = −k (s − ℓ₀) − c ṡ + m g·u, for a spring from the origin."""
    k, c, rest = 80.0, 3.0, 0.6
    m = sliding_mass(dimension, gravity=True, speed=0.3)
    m.spring("spring", "ground.O", "b.com", stiffness=k, natural_length=rest, damping=c)
    sag = 2.0 * WEIGHT[dimension] @ GUIDE[dimension] / k
    exact = damped(SAMPLES, 0.5, 0.3, k, c, 2.0, rest + sag)
    check_order_two(
        sampled(m, lambda run: run.displacement("guide")), exact, H, error=1e-4, limit=1e-8
    )


@both
def test_damper_alone(dimension: int) -> None:
    """m v̇ = −c v:  v = v₀ e^{−ct/m}."""
    m = sliding_mass(dimension, speed=1.0)
    m.damper("damper", "ground.O", "b.com", damping=3.0)
    exact = 0.5 + 1.0 * 2.0 / 3.0 * (1 - np.exp(-3.0 * SAMPLES / 2.0))
    check_order_two(
        sampled(m, lambda run: run.displacement("guide")), exact, H, error=1e-5, limit=1e-10
    )


@both
def test_oblique_spring_and_damper(dimension: int) -> None:
    """A spring anchored at a distance a from the guide has ℓ = √(s² + a²):  m s̈ = −(k (ℓ − ℓ₀) + c
    ℓ̇) s/ℓ,  ℓ̇ = ṡ s/ℓ.
    """
    a, k, c, rest = 0.4, 120.0, 2.0, 0.3

    def acceleration(_: float, q: Array, u: Array) -> Array:
        ℓ = np.hypot(q, a)
        return -(k * (ℓ - rest) + c * u * q / ℓ) * q / ℓ / 2.0

    m = sliding_mass(dimension, speed=0.5)
    m.spring("spring", "ground.aside", "b.com", stiffness=k, natural_length=rest, damping=c)
    exact = second_order(acceleration, [0.5], [0.5], SAMPLES)[:, 0]
    check_order_two(
        sampled(m, lambda run: run.displacement("guide")), exact, H, error=1e-4, limit=1e-8
    )
    energy = m.simulate(1.0, step=H).energy("potential").values[0]
    assert energy == pytest.approx(k * (np.hypot(0.5, a) - rest) ** 2 / 2, rel=1e-12)


@both
def test_spring_between_two_bodies(dimension: int) -> None:
    """Reduced mass μ = m₁ m₂ / (m₁ + m₂):  the distance d of two bodies swings with  μ d̈ = −k (d −
    ℓ₀) − c ḋ.
    """
    m1, m2, k, c, rest = 1.0, 3.0, 60.0, 1.0, 0.7
    m = vm.Mechanism("two masses", dimension=dimension)
    m.ground_point("O", np.zeros(dimension))
    for name, mass in (("a", m1), ("b", m2)):
        m.body(name, mass=mass, inertia=0.1 if dimension == 2 else (0.1, 0.1, 0.1))
        m.prismatic(f"guide {name}", "ground.O", f"{name}.com", axis=GUIDE[dimension])
    m.spring("spring", "a.com", "b.com", stiffness=k, natural_length=rest, damping=c)
    m.start(displacement={"guide a": 0.1, "guide b": 1.0}, speed={"guide b": 0.2})
    exact = damped(SAMPLES, 0.9, 0.2, k, c, m1 * m2 / (m1 + m2), rest)
    check_order_two(
        sampled(m, lambda run: run.distance("a.com", "b.com")), exact, H, error=1e-3, limit=1e-6
    )


@both
def test_constant_and_time_dependent_forces(dimension: int) -> None:
    """m s̈ = F·u + A sin Ωt:  s = s₀ + (F·u/m) t²/2 + (A/mΩ) t − (A/mΩ²) sin Ωt. Only the part
    along the guide works.
    """
    A, Ω, F = 5.0, 7.0, np.array([3.0, 1.0, -2.0])[:dimension]
    u = GUIDE[dimension]
    m = sliding_mass(dimension)
    m.force("constant", "b.com", F)
    m.force("wave", "b.com", lambda s: A * vm.sin(Ω * s.time) * vm.vector(*u))
    exact = (
        0.5
        + F @ u / 2.0 * SAMPLES**2 / 2
        + A / (2.0 * Ω) * SAMPLES
        - A / (2.0 * Ω**2) * np.sin(Ω * SAMPLES)
    )
    check_order_two(
        sampled(m, lambda run: run.displacement("guide")), exact, H, error=1e-4, limit=1e-9
    )
    normal = F - F @ u * u
    reaction = m.simulate(0.1, step=H).reaction("guide").values
    np.testing.assert_allclose(reaction, np.tile(-normal, (len(reaction), 1)), atol=1e-8)


@both
def test_quadratic_drag_as_a_custom_force(dimension: int) -> None:
    """m v̇ = −c v |v|:  v = v₀ / (1 + c v₀ t / m),  s = s₀ + (m/c) ln(1 + c v₀ t / m). c is a
    parameter that the state knows.
    """
    m = sliding_mass(dimension, speed=3.0)
    m.parameter("c", 1.5)
    m.force(
        "drag",
        "b.com",
        lambda s: -s.parameter("c") * vm.norm(s.velocity("b.com")) * s.velocity("b.com"),
    )
    exact = 0.5 + 2.0 / 1.5 * np.log(1 + 1.5 * 3.0 / 2.0 * SAMPLES)
    check_order_two(
        sampled(m, lambda run: run.displacement("guide")), exact, H, error=1e-4, limit=1e-9
    )


def test_forces_may_use_rates_of_what_depends_on_time() -> None:
    """The rate of t² x is 2 t x + t² ẋ, so m ẋ = t² x where the mass starts at rest:  x = x₀ exp(t³
    / 3m).
    """
    m = vm.Mechanism("carried along", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("b", mass=2.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "b.P", axis=(1, 0))
    m.force("F", "b.P", lambda s: vm.vector(s.rate(s.time**2 * s.displacement("guide")), 0))
    m.start(displacement={"guide": 0.5})
    run = m.simulate(1.0, tolerance=1e-10, output=0.25)
    assert run.displacement("guide").values == pytest.approx(
        0.5 * np.exp(run.time**3 / 6), rel=1e-8
    )


@both
def test_custom_forces_see_displacement_distance_and_their_rates(dimension: int) -> None:
    """A Duffing oscillator  m s̈ = −k s³ − c ṡ, written once with the displacement and once with
    the distance from the origin.
    """
    k, c, u = 200.0, 1.0, GUIDE[dimension]

    def pull(x: Any, rate: Any) -> Any:
        return -(k * x**3 + c * rate) * vm.vector(*u)

    one, two = sliding_mass(dimension, at=1.5), sliding_mass(dimension, at=1.5)
    one.force(
        "duffing", "b.com", lambda s: pull(s.displacement("guide"), s.displacement_rate("guide"))
    )
    two.force(
        "duffing",
        "b.com",
        lambda s: pull(s.distance("ground.O", "b.com"), s.distance_rate("ground.O", "b.com")),
    )
    times = SAMPLES[:5]
    exact = second_order(lambda _, q, v: -(k * q**3 + c * v) / 2.0, [1.5], [0.0], times)[:, 0]
    for m in (one, two):
        measured = [
            m.simulate(times[-1], step=h, every=round(0.02 / h)).displacement("guide").values
            for h in (1e-3, 5e-4)
        ]
        assert np.abs(measured[0] - exact).max() < 1e-3
        assert np.abs((4 * measured[1] - measured[0]) / 3 - exact).max() < 1e-7


# free bodies


def free_body(
    dimension: int, *, gravity: bool = False, spin: float = 0.0, inertia: Any = (0.2, 0.3, 0.4)
) -> vm.Mechanism:
    """3 kg, turning about z with the moment of inertia 0.4."""
    m = vm.Mechanism("free", gravity=WEIGHT[dimension] * gravity)
    I = inertia[2] if dimension == 2 else inertia
    m.body("b", mass=3.0, inertia=I, points={"P": padded(dimension, 0.2, 0.1)}, floating=True)
    turn: dict[str, Any] = (
        {"angle": {"b": 0.0}} if dimension == 2 else {"orientation": {"b": np.eye(3)}}
    )
    speed = {
        "b.com": padded(dimension, 1.0, 2.0),
        "b": spin if dimension == 2 else (0.0, 0.0, spin),
    }
    m.start(position={"b.com": padded(dimension, 0.1, 0.2)}, speed=speed, **turn)
    return m


def angle_of(run: vm.Run) -> Array:
    """Turning of the free body about z."""
    if run.position("b.com").sizes["component"] == 2:
        return np.asarray(run.angle("b").values)
    R = run.rotation("b").values
    return np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))


@both
def test_gravity_and_constant_force_give_a_parabola(dimension: int) -> None:
    """r = r₀ + v₀ t + (g + F/m) t²/2: exact for the trapezoidal rule."""
    F = np.array([3.0, -6.0, 9.0])[:dimension]
    m = free_body(dimension, gravity=True)
    m.force("push", "b.com", F)
    run = m.simulate(1.0, step=0.01)
    t = run.time[:, None]
    exact = (
        padded(dimension, 0.1, 0.2)
        + t * padded(dimension, 1.0, 2.0)
        + t**2 / 2 * (WEIGHT[dimension] + F / 3.0)
    )
    np.testing.assert_allclose(run.position("b.com").values, exact, atol=1e-11)


@both
def test_constant_and_time_dependent_torque(dimension: int) -> None:
    """I θ̈ = τ₀ + τ₁ cos Ωt  about a principal axis:  θ = ω₀ t + τ₀ t²/2I + τ₁ (1 −
    cos Ωt)/(I Ω²).
    """
    τ0, τ1, Ω = 1.2, 0.8, 5.0
    m = free_body(dimension, spin=2.0)
    m.torque("constant", "b", τ0 if dimension == 2 else (0.0, 0.0, τ0))
    m.torque(
        "wave",
        "b",
        lambda s: τ1 * vm.cos(Ω * s.time) * (1 if dimension == 2 else vm.vector(0, 0, 1)),
    )
    exact = 2.0 * SAMPLES + (τ0 * SAMPLES**2 / 2 + τ1 * (1 - np.cos(Ω * SAMPLES)) / Ω**2) / 0.4
    check_order_two(sampled(m, angle_of), exact, H, error=1e-4, limit=1e-8)


@both
def test_body_fixed_force_turns_with_the_body(dimension: int) -> None:
    """A thrust F along the body's x axis, through its centre, while it spins at ω:  a = (F/m)(cos
    ωt, sin ωt), integrated twice.
    """
    F, ω = 6.0, 4.0
    m = free_body(dimension, spin=ω)
    m.force("thrust", "b.com", padded(dimension, F, 0.0), frame="body")
    t = SAMPLES
    a = F / 3.0 / ω**2
    exact = np.column_stack(
        [0.1 + 1.0 * t + a * (1 - np.cos(ω * t)), 0.2 + 2.0 * t + a * (ω * t - np.sin(ω * t))]
    )
    check_order_two(
        sampled(m, lambda run: run.position("b.com").values[:, :2]),
        exact,
        H,
        error=1e-4,
        limit=1e-9,
    )


@both
def test_force_beside_the_centre_turns_the_body(dimension: int) -> None:
    """A body-fixed force F at P has the constant moment  (r_P × F)_z  about the centre:  θ = M
    t²/2I.
    """
    m = free_body(dimension)
    m.force("thrust", "b.P", padded(dimension, 1.0, 3.0), frame="body")
    exact = (0.2 * 3.0 - 0.1 * 1.0) * SAMPLES**2 / 2 / 0.4
    check_order_two(sampled(m, angle_of), exact, H, error=1e-5, limit=1e-9)


def test_body_fixed_torque_in_space() -> None:
    """Euler's equations with a torque constant in body axes:  I ω̇ + ω × I ω = τ."""
    I, τ = np.array([0.2, 0.3, 0.4]), np.array([0.5, -0.8, 0.3])
    m = free_body(3, spin=2.0, inertia=I)
    m.torque("jets", "b", τ, frame="body")
    start = BodyState(np.array([0.1, 0.2, 0.0]), np.eye(3), np.array([1.0, 2.0, 0.0]), 2.0 * Z)
    path = RigidBody(3.0, np.diag(I), np.zeros(3), τ).run(start, SAMPLES)
    exact = np.array([s.at(np.array([0.2, 0.1, 0.0])) for s in path])
    check_order_two(sampled(m, lambda run: run.position("b.P")), exact, H, error=1e-4, limit=1e-8)


def test_global_torque_in_space_changes_angular_momentum() -> None:
    """dL/dt = τ  with a torque constant in global axes:  L = L₀ + τ t  while the body tumbles."""
    I, τ = np.array([0.2, 0.3, 0.4]), np.array([0.5, -0.8, 0.3])
    m = free_body(3, spin=2.0, inertia=I)
    m.torque("moment", "b", τ)

    def momentum(run: vm.Run) -> Array:
        R, ω = run.rotation("b").values, run.angular_velocity("b").values
        return np.einsum("tij,j,tkj,tk->ti", R, I, R, ω)

    check_order_two(sampled(m, momentum), 0.8 * Z + np.outer(SAMPLES, τ), H, error=1e-4, limit=1e-9)


# turning bodies


def rotor(
    dimension: int, *, speed: float = 0.0, at: float = 0.0, inertia: float = 0.5
) -> vm.Mechanism:
    """A rotor with its centre on the hinge "J"; in space about a tilted axis, lopsided
    otherwise.
    """
    m = vm.Mechanism("rotor", dimension=dimension)
    m.ground_point("O", np.zeros(dimension))
    axis: dict[str, Any] = {} if dimension == 2 else {"axis": (1, 2, 2)}
    I: Any = inertia
    if dimension == 3:
        a = GUIDE[3]
        Q = np.column_stack([ASIDE[3], np.cross(a, ASIDE[3]), a])
        I = Q @ np.diag([0.4, 0.3, inertia]) @ Q.T
    m.body("b", mass=1.0, inertia=I, points={"O": np.zeros(dimension)})
    m.revolute("J", "ground.O", "b.O", **axis)
    m.start(angle={"J": at}, speed={"J": speed})
    return m


@both
@pytest.mark.parametrize(("rest", "at"), [(0.2, 1.0), (3.0, 3.9)], ids=["small", "across π"])
def test_torsional_spring_and_damper(dimension: int, rest: float, at: float) -> None:
    """I θ̈ = −k (θ − θ₀) − c θ̇; the spring does not notice where the angle jumps by 2π."""
    k, c = 30.0, 0.8
    m = rotor(dimension, at=at, speed=0.5)
    m.torsional_spring("spring", "J", stiffness=k, rest_angle=rest, damping=c)
    exact = damped(SAMPLES, at, 0.5, k, c, 0.5, rest)

    def angle(run: vm.Run) -> Array:
        θ = run.angle("J").values
        return np.asarray(θ + 2 * np.pi * np.round((at - θ[0]) / (2 * np.pi)))

    check_order_two(sampled(m, angle), exact, H, error=1e-3, limit=1e-7)


def test_torsional_spring_on_a_planar_body() -> None:
    """The angle of a body is the angle against the ground: here the same as the hinge's."""
    one, two = rotor(2, at=1.0), rotor(2, at=1.0)
    one.torsional_spring("spring", "J", stiffness=30.0, rest_angle=0.2, damping=0.5)
    two.torsional_spring("spring", "b", stiffness=30.0, rest_angle=0.2, damping=0.5)
    a, b = (m.simulate(1.0, step=H).angle("J").values for m in (one, two))
    np.testing.assert_allclose(a, b, atol=1e-12)
    assert np.ptp(a) > 0.5


@both
def test_torsional_damper_alone(dimension: int) -> None:
    """I ω̇ = −c ω:  θ = (ω₀ I/c)(1 − e^{−ct/I}), over more than one turn."""
    m = rotor(dimension, speed=20.0)
    m.torsional_damper("damper", "J", damping=0.6)
    exact = 20.0 * 0.5 / 0.6 * (1 - np.exp(-0.6 / 0.5 * SAMPLES))
    check_order_two(sampled(m, lambda run: run.angle("J")), exact, 1e-3, error=1e-3, limit=1e-5)


def test_torsional_spring_on_a_cylindrical_joint() -> None:
    """The turning of a sleeve swings, its sliding is free:  θ = θ₀ cos √(k/I) t,  s = v t."""
    m = vm.Mechanism("sleeve", dimension=3)
    m.ground_point("O", (0, 0, 0))
    m.body("b", mass=1.0, inertia=(0.1, 0.1, 0.2))
    m.cylindrical("J", "ground.O", "b.com", axis=(0, 0, 1))
    m.torsional_spring("spring", "J", stiffness=5.0)
    m.start(angle={"J": 0.7}, position={"b.com": (None, None, 0.0)}, speed={"b.com": (0, 0, 0.4)})
    check_order_two(
        sampled(m, lambda run: run.angle("J")),
        0.7 * np.cos(np.sqrt(5.0 / 0.2) * SAMPLES),
        H,
        error=1e-3,
        limit=1e-7,
    )
    np.testing.assert_allclose(
        m.simulate(1.0, step=0.02).displacement("J").values, 0.4 * SAMPLES, atol=1e-11
    )


def two_rotors(dimension: int) -> vm.Mechanism:
    """Inertias 0.5 and 0.2 on one axis; hinge "J" of the ground and the first, "K" of the first and
    the second.
    """
    m = rotor(dimension)
    m.body(
        "c",
        mass=1.0,
        inertia=0.2 if dimension == 2 else (0.2, 0.2, 0.2),
        points={"O": np.zeros(dimension)},
    )
    m.revolute("K", "b.O", "c.O", **about(dimension, (1, 2, 2)))
    m.start(angle={"J": 0.0, "K": 0.8})
    return m


@both
def test_torsional_spring_between_two_bodies(dimension: int) -> None:
    """The relative angle φ swings with the reduced inertia  I₁I₂/(I₁+I₂);  the first turns back by
    I₂/(I₁+I₂) of it.
    """
    k, c = 10.0, 0.2
    m = two_rotors(dimension)
    m.torsional_spring("spring", "K", stiffness=k, rest_angle=0.1, damping=c)
    φ = damped(SAMPLES, 0.8, 0.0, k, c, 0.5 * 0.2 / 0.7, 0.1)
    exact = np.column_stack([φ, -0.2 / 0.7 * (φ - 0.8)])
    both_angles = sampled(m, lambda run: np.column_stack([run.angle("K"), run.angle("J")]))
    check_order_two(both_angles, exact, 1e-3, error=1e-3, limit=1e-7)


@both
def test_torque_against_another_body(dimension: int) -> None:
    """A motor between two rotors:  I₂ θ̈₂ = τ,  I₁ θ̈₁ = −τ,  with  τ = τ₀ cos Ωt."""
    τ0, Ω = 0.6, 4.0
    m = two_rotors(dimension)
    m.torque(
        "motor",
        "c",
        lambda s: τ0 * vm.cos(Ω * s.time) * (1 if dimension == 2 else vm.vector(*GUIDE[3])),
        against="b",
    )
    x = τ0 * (1 - np.cos(Ω * SAMPLES)) / Ω**2
    exact = np.column_stack([0.8 + x / 0.2 + x / 0.5, -x / 0.5])
    check_order_two(
        sampled(m, lambda run: np.column_stack([run.angle("K"), run.angle("J")])),
        exact,
        H,
        error=1e-4,
        limit=1e-9,
    )


@both
def test_custom_torque_of_the_angular_velocity(dimension: int) -> None:
    """I ω̇ = −c ω³:  ω = ω₀ / √(1 + 2 c ω₀² t / I),  θ = (I / c ω₀)(√(1 + 2 c ω₀² t / I) − 1)."""
    c, ω0 = 0.05, 4.0
    m = rotor(dimension, speed=ω0)

    def brake(s: vm.State) -> Any:
        τ = -c * s.angular_velocity("J") ** 3
        return τ if dimension == 2 else τ * vm.vector(*GUIDE[3])

    m.torque("brake", "b", brake)
    exact = 0.5 / (c * ω0) * (np.sqrt(1 + 2 * c * ω0**2 * SAMPLES / 0.5) - 1)
    check_order_two(sampled(m, lambda run: run.angle("J")), exact, H, error=1e-4, limit=1e-8)


# drivers: positions, speeds and accelerations are exact, so efforts and reactions are too

ARM = {2: np.array([0.3, 0.1]), 3: np.array([0.3, 0.1, -0.05])}
AXLE = {2: Z, 3: unit([0.2, -0.3, 1.0])}
TENSOR = np.array([[0.12, 0.02, -0.01], [0.02, 0.10, 0.015], [-0.01, 0.015, 0.08]])
MASS = 2.0


def crank(dimension: int, *, reverse: bool = False) -> vm.Mechanism:
    """A lopsided body on the hinge "J", in space about a tilted axis; with the ground as its first
    body, or as its second.
    """
    m = vm.Mechanism("crank", gravity=WEIGHT[dimension])
    m.ground_point("O", np.zeros(dimension))
    add_body(
        m,
        "b",
        MASS,
        TENSOR[2, 2] if dimension == 2 else TENSOR,
        ARM[dimension],
        O=np.zeros(dimension),
    )
    ends = ("b.O", "ground.O") if reverse else ("ground.O", "b.O")
    m.revolute("J", *ends, axis=None if dimension == 2 else AXLE[3])
    return m


def crank_loads(dimension: int, θ: Array, ω: Array, α: Array) -> tuple[Array, Array, Array]:
    """Motor torque, hinge force and hinge torque of the crank, by Newton and Euler:

    F = m (a_G − g),   M = I α⃗ + ω⃗ × I ω⃗ + r × F  (about the hinge),   motor = a·M,   hinge torque = M − (a·M) a.
    """
    a = AXLE[dimension]
    arm, g = np.zeros(3), np.zeros(3)
    arm[:dimension], g[:dimension] = ARM[dimension], WEIGHT[dimension]
    motor, forces, torques = [], [], []
    for φ, φ̇, φ̈ in zip(θ, ω, α, strict=True):
        R = turned(a, φ)
        I, r = (np.diag([0.0, 0.0, TENSOR[2, 2]]) if dimension == 2 else R @ TENSOR @ R.T), R @ arm
        F = MASS * (φ̈ * np.cross(a, r) + φ̇**2 * np.cross(a, np.cross(a, r)) - g)
        M = φ̈ * I @ a + φ̇**2 * np.cross(a, I @ a) + np.cross(r, F)
        motor.append(a @ M)
        forces.append(F[:dimension])
        torques.append(M - a @ M * a)
    return np.array(motor), np.array(forces), np.array(torques)


@both
def test_driven_angle_over_several_turns(dimension: int) -> None:
    """θ = Ωt + A sin νt  for five turns: motor torque and hinge reactions."""
    Ω, A, ν = 10 * np.pi, 0.4, 6.0
    m = crank(dimension)
    m.drive_angle("motor", "b" if dimension == 2 else "J", lambda t: Ω * t + A * vm.sin(ν * t))
    m.start()
    run = m.simulate(1.0, step=H)
    t = run.time
    θ = Ω * t + A * np.sin(ν * t)
    motor, force, torque = crank_loads(
        dimension, θ, Ω + A * ν * np.cos(ν * t), -A * ν**2 * np.sin(ν * t)
    )
    np.testing.assert_allclose(run.angle("J").values, θ, atol=1e-10)
    np.testing.assert_allclose(run.effort("motor").values, motor, atol=1e-7 * np.abs(motor).max())
    np.testing.assert_allclose(run.reaction("J").values, force, atol=1e-7 * np.abs(force).max())
    τ = run.reaction_torque("J").values
    np.testing.assert_allclose(
        τ, torque if dimension == 3 else 0.0, atol=1e-7 * np.abs(force).max()
    )
    assert max(run.info["residuals"]) < 1e-9


@both
def test_reactions_of_a_free_pendulum(dimension: int) -> None:
    """The same balance without a motor:  θ̈ = a·(r × m g) / (a·I_O a)."""
    m = crank(dimension)
    m.start(angle={"J": 0.4}, speed={"J": 2.0})
    a = AXLE[dimension]
    arm, g = np.zeros(3), np.zeros(3)
    arm[:dimension], g[:dimension] = ARM[dimension], WEIGHT[dimension]
    I = np.diag([0.0, 0.0, TENSOR[2, 2]]) if dimension == 2 else TENSOR
    inertia = a @ (I + steiner(MASS, arm)) @ a

    def acceleration(_: float, q: Array, u: Array) -> Array:
        return np.array([a @ np.cross(turned(a, q[0]) @ arm, MASS * g) / inertia])

    path = second_order(acceleration, [0.4], [2.0], SAMPLES)
    θ̈ = np.array([acceleration(0.0, y[:1], y[1:])[0] for y in path])
    _, force, torque = crank_loads(dimension, path[:, 0], path[:, 1], θ̈)
    check_order_two(sampled(m, lambda run: run.reaction("J")), force, 1e-3, error=1e-2, limit=1e-5)
    if dimension == 3:
        check_order_two(
            sampled(m, lambda run: run.reaction_torque("J")), torque, 1e-3, error=1e-2, limit=1e-5
        )
    else:
        assert np.abs(m.simulate(1.0, step=1e-2).reaction_torque("J").values).max() < 1e-8


@both
def test_reaction_on_the_ground_as_second_body(dimension: int) -> None:
    """Written the other way round, the hinge shows the force on the ground: the opposite."""
    one = crank(dimension)
    one.start(angle={"J": 0.4}, speed={"J": 2.0})
    two = crank(dimension, reverse=True)
    two.start(angle={"J": -0.4}, speed={"J": -2.0})
    a, b = (m.simulate(0.5, step=H) for m in (one, two))
    np.testing.assert_allclose(a.position("b.com").values, b.position("b.com").values, atol=1e-9)
    np.testing.assert_allclose(a.reaction("J").values, -b.reaction("J").values, atol=1e-7)
    np.testing.assert_allclose(
        a.reaction_torque("J").values, -b.reaction_torque("J").values, atol=1e-7
    )


def test_driven_elbow_of_a_planar_arm() -> None:
    """Two driven joints: the elbow motor feels  I₂ θ̈₂ + (r × m (a − g))_z  with θ₂ = θ₁ + φ, the
    shoulder the elbow and its own bar.
    """
    L, m1, m2, I1, I2, c2 = 0.6, 2.0, 1.0, 0.08, 0.05, 0.25
    m = vm.Mechanism("arm", gravity=(0, -G))
    m.ground_point("A", (0, 0))
    m.bar("upper", "A", "B", length=L, mass=m1, inertia=I1)
    m.body("fore", mass=m2, inertia=I2, com=(c2, 0), points={"B": (0, 0)})
    m.revolute("A")
    m.revolute("B", "upper.B", "fore.B")
    m.drive_angle("shoulder", "upper", lambda t: 0.5 * vm.sin(3 * t))
    m.drive_angle("elbow", "B", lambda t: 2 * t + 0.3)
    m.start()
    run = m.simulate(2.0, step=H)
    t = run.time
    θ, θ̇, θ̈ = 0.5 * np.sin(3 * t), 1.5 * np.cos(3 * t), -4.5 * np.sin(3 * t)
    ψ, ψ̇, ψ̈ = θ + 2 * t + 0.3, θ̇ + 2, θ̈
    e, f = np.exp(1j * θ), np.exp(1j * ψ)
    a1 = L / 2 * (1j * θ̈ - θ̇**2) * e
    a2 = L * (1j * θ̈ - θ̇**2) * e + c2 * (1j * ψ̈ - ψ̇**2) * f
    F2 = m2 * (a2 + 1j * G)
    elbow = I2 * ψ̈ + (np.conj(c2 * f) * F2).imag
    shoulder = (
        I1 * θ̈ + (np.conj(L / 2 * e) * m1 * (a1 + 1j * G)).imag + (np.conj(L * e) * F2).imag + elbow
    )
    np.testing.assert_allclose(run.effort("elbow").values, elbow, atol=1e-7)
    np.testing.assert_allclose(run.effort("shoulder").values, shoulder, atol=1e-7)
    F = run.reaction("B").values
    np.testing.assert_allclose(F[:, 0] + 1j * F[:, 1], F2, atol=1e-7)
    np.testing.assert_allclose(run.reaction_torque("B").values, 0.0, atol=1e-7)


@both
def test_driven_displacement(dimension: int) -> None:
    """A driven slider takes  m (s̈ − g·u); the guide carries the weight across it."""
    m = sliding_mass(dimension, gravity=True)
    m.drive_displacement("motor", "guide", lambda t: 0.5 + 0.2 * vm.sin(8 * t))
    m.start()
    run = m.simulate(1.0, step=H)
    g, u = WEIGHT[dimension], GUIDE[dimension]
    np.testing.assert_allclose(
        run.displacement("guide").values, 0.5 + 0.2 * np.sin(8 * run.time), atol=1e-10
    )
    effort = 2.0 * (-0.2 * 64 * np.sin(8 * run.time) - g @ u)
    np.testing.assert_allclose(run.effort("motor").values, effort, atol=1e-7)
    across = -2.0 * (g - g @ u * u)
    np.testing.assert_allclose(
        run.reaction("guide").values, np.tile(across, (run.time.size, 1)), atol=1e-7
    )


@both
def test_driven_distance(dimension: int) -> None:
    """An actuator from a point beside the guide, ℓ² = s² + a²: by virtual work its force is  m (s̈
    − g·u) ℓ/s.
    """
    a = 0.4
    m = sliding_mass(dimension, gravity=True)
    m.drive_distance("actuator", "ground.aside", "b.com", lambda t: 0.9 + 0.2 * vm.sin(5 * t))
    m.start(near={"b.com": 0.8 * GUIDE[dimension]})
    run = m.simulate(1.0, step=H)
    t = run.time
    ℓ, ℓ̇, ℓ̈ = 0.9 + 0.2 * np.sin(5 * t), np.cos(5 * t), -5 * np.sin(5 * t)
    s = np.sqrt(ℓ**2 - a**2)
    ṡ = ℓ * ℓ̇ / s
    s̈ = (ℓ̇**2 + ℓ * ℓ̈ - ṡ**2) / s
    np.testing.assert_allclose(run.distance("ground.aside", "b.com").values, ℓ, atol=1e-10)
    np.testing.assert_allclose(run.displacement("guide").values, s, atol=1e-10)
    effort = 2.0 * (s̈ - WEIGHT[dimension] @ GUIDE[dimension]) * ℓ / s
    np.testing.assert_allclose(run.effort("actuator").values, effort, atol=1e-6)


@both
def test_driven_coordinate(dimension: int) -> None:
    """The height y of a pendulum's tip is driven:  y = L sin θ, and by virtual work the force is
    (I_O θ̈ + m g d cos θ) / (L cos θ).
    """
    L, d, I = 0.8, 0.5, 0.1
    up = (0, 1) if dimension == 2 else (0, 0, 1)
    m = vm.Mechanism("lift", gravity=WEIGHT[dimension])
    m.ground_point("O", np.zeros(dimension))
    points = {"O": np.zeros(dimension), "tip": padded(dimension, L, 0.0)}
    m.body(
        "b",
        mass=MASS,
        inertia=I if dimension == 2 else (0.05, I, 0.1),
        com=padded(dimension, d, 0.0),
        points=points,
    )
    m.revolute("J", "ground.O", "b.O", **about(dimension, (0, -1, 0)))
    m.drive_coordinate("winch", "b.tip", up, lambda t: 0.3 * vm.sin(4 * t))
    m.start(near={"b.tip": padded(dimension, L, 0.0)})
    run = m.simulate(1.0, step=H)
    t = run.time
    y, ẏ, ÿ = 0.3 * np.sin(4 * t), 1.2 * np.cos(4 * t), -4.8 * np.sin(4 * t)
    θ = np.arcsin(y / L)
    θ̇ = ẏ / (L * np.cos(θ))
    θ̈ = (ÿ + L * θ̇**2 * np.sin(θ)) / (L * np.cos(θ))
    np.testing.assert_allclose(run.position("b.tip").values[:, -1], y, atol=1e-10)
    np.testing.assert_allclose(run.angle("J").values, θ, atol=1e-9)
    effort = ((I + MASS * d**2) * θ̈ + MASS * G * d * np.cos(θ)) / (L * np.cos(θ))
    np.testing.assert_allclose(run.effort("winch").values, effort, atol=1e-7)


@both
def test_bead_on_a_rod_turned_at_a_constant_rate(dimension: int) -> None:
    """s̈ = Ω² s  without gravity:  s = s₀ cosh Ωt;  the motor torque is the Coriolis moment  2 m s
    ṡ Ω, the guide pushes with 2 m ṡ Ω.

    The slider is aligned with the rod: a prismatic joint without `rotation`.
    """
    Ω, s0, mass = 3.0, 0.1, 2.0
    m = vm.Mechanism("bead", dimension=dimension)
    m.ground_point("O", np.zeros(dimension))
    m.body(
        "rod",
        mass=1.0,
        inertia=0.1 if dimension == 2 else (0.1, 0.1, 0.1),
        points={"O": np.zeros(dimension)},
    )
    m.body("bead", mass=mass, inertia=0.01 if dimension == 2 else (0.01, 0.01, 0.01))
    m.revolute("J", "ground.O", "rod.O", **about(dimension, (0, 0, 1)))
    m.prismatic("guide", "rod.O", "bead.com", axis=padded(dimension, 1.0, 0.0))
    m.drive_angle("motor", "J", lambda t: Ω * t)
    m.start(displacement={"guide": s0})
    t = SAMPLES
    check_order_two(
        sampled(m, lambda run: run.displacement("guide")),
        s0 * np.cosh(Ω * t),
        H,
        error=1e-4,
        limit=1e-8,
    )
    coriolis = 2 * mass * Ω * (s0 * Ω * np.sinh(Ω * t))
    check_order_two(
        sampled(m, lambda run: run.effort("motor")),
        coriolis * s0 * np.cosh(Ω * t),
        H,
        error=1e-2,
        limit=1e-5,
    )
    force = coriolis[:, None] * np.column_stack([-np.sin(Ω * t), np.cos(Ω * t)])
    check_order_two(
        sampled(m, lambda run: run.reaction("guide").values[:, :2]),
        force,
        H,
        error=1e-2,
        limit=1e-5,
    )


def test_drivers_take_constants_and_parameters() -> None:
    """A parameter moves the motion and its effort:  τ = m g d cos θ  at rest."""
    m = crank(2)
    m.drive_angle("hold", "b", m.parameter("θ", 0.3))
    m.start()
    for θ in (0.3, 1.1):
        run = m.simulate(0.1, step=H, parameters={"θ": θ})
        x = (turned(Z, θ) @ np.array([*ARM[2], 0.0]))[0]
        np.testing.assert_allclose(run.angle("J").values, θ, atol=1e-10)
        np.testing.assert_allclose(run.effort("hold").values, MASS * G * x, rtol=1e-8)


# reactions that hold a weight


@both
def test_prismatic_reaction_of_an_offset_block(dimension: int) -> None:
    """A block pushed by F along a level guide accelerates with F/m. The guide holds the weight, and
    with the centre at c from the guided point also the moment:  τ = c_x m g  (from moments about
    the centre; F acts there).
    """
    cx, cy, F = 0.2, 0.3, 4.0
    up = 1 if dimension == 2 else 2
    com, push, e = np.zeros(dimension), np.zeros(dimension), np.zeros(dimension)
    com[0], com[up], push[0], e[0] = cx, cy, F, 1.0
    m = vm.Mechanism("block", gravity=WEIGHT[dimension])
    m.ground_point("O", np.zeros(dimension))
    add_body(m, "b", MASS, 0.1 if dimension == 2 else (0.1, 0.1, 0.1), com, P=np.zeros(dimension))
    m.prismatic("guide", "ground.O", "b.P", axis=e)
    m.force("push", "b.com", push)
    m.start(displacement={"guide": 0.0})
    run = m.simulate(0.5, step=0.01)
    np.testing.assert_allclose(
        run.displacement("guide").values, F / MASS * run.time**2 / 2, atol=1e-11
    )
    force = np.zeros(dimension)
    force[up] = MASS * G
    np.testing.assert_allclose(
        run.reaction("guide").values, np.tile(force, (run.time.size, 1)), atol=1e-7
    )
    torque = (
        cx * MASS * G if dimension == 2 else np.tile([0.0, -cx * MASS * G, 0.0], (run.time.size, 1))
    )
    np.testing.assert_allclose(run.reaction_torque("guide").values, torque, atol=1e-7)


def test_a_spatial_bar_is_a_solid_cylinder() -> None:
    """Without an inertia given:  m r²/2  about its own axis,  m (3 r² + L²)/12  across; seen in the
    kinetic energy of a spin.
    """
    L, r, mass = 0.8, 0.05, 1.5
    m = vm.Mechanism("bar", dimension=3)
    m.bar("bar", "A", "B", length=L, mass=mass, radius=r, floating=True)
    m.start(
        position={"bar.com": (0, 0, 0)},
        orientation={"bar": np.eye(3)},
        speed={"bar": (20.0, 2.0, -1.0)},
    )
    across = mass * (3 * r**2 + L**2) / 12
    energy = (mass * r**2 / 2 * 20.0**2 + across * (2.0**2 + 1.0**2)) / 2
    assert m.simulate(0.01, step=1e-3).energy("kinetic").values[0] == pytest.approx(
        energy, rel=1e-12
    )


@both
def test_fixed_joint_holds_a_cantilever(dimension: int) -> None:
    """A beam of length L fixed to the ground with a pendulum hanging still from its tip.

    Force (m₁ + m₂) g upwards, moment  (m₁ L/2 + m₂ L) g  about the clamp.
    """
    L, m1, m2 = 0.8, 2.0, 0.7
    inertia = 0.1 if dimension == 2 else (0.05, 0.1, 0.1)
    m = vm.Mechanism("cantilever", gravity=padded(dimension, 0.0, -G))
    m.ground_point("clamp", np.zeros(dimension))
    m.bar("beam", "clamp", "tip", length=L, mass=m1, inertia=inertia)
    m.bar("weight", "tip", "end", length=0.3, mass=m2, inertia=inertia)
    m.fixed("clamp")
    m.revolute("tip", "beam.tip", "weight.tip", **about(dimension, (0, 0, 1)))
    m.start(angle={"tip": -np.pi / 2})
    run = m.simulate(0.2, step=0.01)
    np.testing.assert_allclose(
        run.reaction("clamp").values - padded(dimension, 0.0, (m1 + m2) * G), 0.0, atol=1e-7
    )
    moment = (m1 * L / 2 + m2 * L) * G
    np.testing.assert_allclose(
        run.reaction_torque("clamp").values - (moment if dimension == 2 else moment * Z),
        0.0,
        atol=1e-7,
    )
    np.testing.assert_allclose(
        run.reaction("tip").values - padded(dimension, 0.0, m2 * G), 0.0, atol=1e-7
    )


def test_fixed_joint_in_space_holds_a_tilted_arm() -> None:
    """An arm welded at an angle to a driven turntable: force m (a − g) with a = −Ω² r_⊥, torque  r
    × F + ω × I ω  about the weld.
    """
    Ω, W = 5.0, np.array([0.2, 0.1, 0.3])
    C = turned(np.array([1.0, -0.5, 0.3]), 0.9)
    m = vm.Mechanism("turntable", gravity=WEIGHT[3])
    m.ground_point("O", (0, 0, 0))
    m.body("table", mass=5.0, inertia=(0.3, 0.3, 0.5), points={"O": (0, 0, 0), "W": W})
    m.body("arm", mass=MASS, inertia=TENSOR, com=ARM[3], points={"W": (0, 0, 0)})
    m.revolute("J", "ground.O", "table.O", axis=(0, 0, 1))
    m.fixed("weld", "table.W", "arm.W", rotation=C)
    m.drive_angle("motor", "J", lambda t: Ω * t)
    m.start()
    run = m.simulate(0.5, step=0.01)
    for k, t in enumerate(run.time):
        R = turned(Z, Ω * t) @ C
        r = R @ ARM[3]
        centre = turned(Z, Ω * t) @ W + r
        F = MASS * (-(Ω**2) * (centre - centre @ Z * Z) + G * Z)
        τ = np.cross(r, F) + Ω**2 * np.cross(Z, R @ TENSOR @ R.T @ Z)
        np.testing.assert_allclose(run.reaction("weld").values[k], F, atol=1e-6)
        np.testing.assert_allclose(run.reaction_torque("weld").values[k], τ, atol=1e-6)


def test_numbers_of_forces_and_drivers_can_be_differentiated() -> None:
    """Stiffness, natural length, damping, rest angle, force, torque, motion: direct against
    differences of whole runs.
    """
    m = vm.Mechanism("all forces", gravity=(0, -G))
    names = {
        "k": 40.0,
        "ℓ": 0.5,
        "c": 1.5,
        "κ": 6.0,
        "φ": 0.3,
        "γ": 0.2,
        "F": 3.0,
        "τ": 0.7,
        "drag": 0.4,
        "A": 0.2,
    }
    p = {name: m.parameter(name, value) for name, value in names.items()}
    m.ground_point("O", (0, 0))
    m.ground_point("S", (0.6, 0.5))
    m.bar("one", "O", "B", length=0.6, mass=1.0)
    m.bar("two", "B", "tip", length=0.5, mass=0.8)
    m.revolute("O")
    m.revolute("B")
    m.body("block", mass=1.0, inertia=0.1)
    m.prismatic("rail", "ground.S", "block.com", axis=(1, 0))
    m.spring(
        "spring", "block.com", "two.tip", stiffness=p["k"], natural_length=p["ℓ"], damping=p["c"]
    )
    m.torsional_spring("coil", "B", stiffness=p["κ"], rest_angle=p["φ"], damping=p["γ"])
    m.force("push", "two.tip", (p["F"], 0), frame="body")
    m.force(
        "air",
        "one.com",
        lambda s: -p["drag"] * vm.norm(s.velocity("one.com")) * s.velocity("one.com"),
    )
    m.torque("twist", "two", p["τ"], against="one")
    m.drive_displacement("motor", "rail", lambda t: 0.3 + p["A"] * vm.sin(6 * t))
    m.start(angle={"one": 0.3, "two": -0.5}, speed={"one": 1.0})
    objectives = {
        "path": vm.final(lambda s: s.position("two.tip")[0]),
        "effort": vm.integral(lambda s: s.effort("motor") ** 2),
        "load": vm.integral(lambda s: vm.dot(s.reaction("O"), s.reaction("O"))),
    }
    direct, differences = (
        m.sensitivity(objectives, duration=0.3, step=2e-3, method=method).gradient.values
        for method in ("direct", "finite-difference")
    )
    assert (np.abs(direct) > 1e-7).all(), "every number must matter"
    np.testing.assert_allclose(direct, differences, rtol=1e-6, atol=1e-8)


def test_integrator_of_the_references() -> None:
    """The reference integrator itself, on a harmonic motion over ten periods."""
    t = np.linspace(0, 20 * np.pi, 7)
    computed = integrate(lambda _, y: np.array([y[1], -y[0]]), [1.0, 0.0], t)
    np.testing.assert_allclose(computed[:, 0], np.cos(t), atol=1e-8)


def test_a_torsional_spring_is_wound_past_half_a_turn() -> None:
    """ω₀ = 12 rad/s, k = 2, I = 0.5: the amplitude is 6 rad."""
    m = rotor(2, speed=12.0)
    m.torsional_spring("s", "J", stiffness=2.0)
    run = m.simulate(2.0, tolerance=1e-9)
    np.testing.assert_allclose(run.angle("J"), 6 * np.sin(2 * run.time), atol=1e-7)


def test_a_rest_angle_may_be_any_number_of_turns_away() -> None:
    m = rotor(2)
    m.torsional_spring("s", "J", stiffness=2.0, rest_angle=4 * np.pi)
    run, first = m.simulate(2.0, tolerance=1e-9), float(m.simulate(0.01).angle("J")[0])
    exact = 4 * np.pi + (first - 4 * np.pi) * np.cos(2 * run.time)
    np.testing.assert_allclose(run.angle("J"), exact, atol=1e-6)


def test_angles_begin_where_the_start_puts_them() -> None:
    assert float(rotor(2, at=3.9).simulate(0.01, step=1e-3).angle("J")[0]) == pytest.approx(3.9)
