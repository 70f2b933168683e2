"""Mechanisms that prove a joint by a closed form, by an invariant, or by being the same in the
plane and in space.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from bodies import add_body
from joint_conditions import DOWN, at, derivative, dots, moving, rotations, spins
from newton_euler import (
    Array,
    BodyState,
    RigidBody,
    X,
    Z,
    carrying,
    check_order_two,
    second_order,
    turned,
    unit,
)

import varimech as vm


def planar_and_spatial_pendulum() -> tuple[vm.Mechanism, vm.Mechanism]:
    flat = vm.Mechanism("flat", gravity=(0, -9.81))
    flat.ground_point("O", (0.1, 0.2))
    flat.body(
        "rod", mass=1.5, inertia=0.1, com=(0.4, 0.05), points={"O": (0, 0), "tip": (0.9, 0.1)}
    )
    flat.revolute("O")
    flat.start(angle={"rod": 0.4}, speed={"rod": 3.0})
    deep = vm.Mechanism("deep", gravity=(0, -9.81, 0))
    deep.ground_point("O", (0.1, 0.2, 0))
    add_body(deep, "rod", 1.5, (0.06, 0.08, 0.1), (0.4, 0.05, 0), O=(0, 0, 0), tip=(0.9, 0.1, 0))
    deep.revolute("O", axis=(0, 0, 1))
    deep.start(angle={"O": 0.4}, speed={"O": 3.0})
    return flat, deep


def test_a_pendulum_is_the_same_in_plane_and_space() -> None:
    one, two = (
        m.simulate(2.0, step=1e-3, coordinates="natural") for m in planar_and_spatial_pendulum()
    )
    np.testing.assert_allclose(at(one, "rod.tip"), at(two, "rod.tip"), atol=1e-9)
    np.testing.assert_allclose(one.angle("rod").values, two.angle("O").values, atol=1e-9)
    np.testing.assert_allclose(one.energy().values, two.energy().values, atol=1e-8)


def four_bar(dimension: int) -> vm.Mechanism:
    """Crank 0.4, coupler 1.0, rocker 0.8 and ground 1.1 m; in space its four parallel hinges are
    redundant.
    """
    pad = () if dimension == 2 else (0.0,)
    axis: dict[str, Any] = {} if dimension == 2 else {"axis": (0, 0, 1)}
    m = vm.Mechanism(f"four-bar {dimension}d", gravity=(0, -9.81, *pad))
    m.ground_point("A", (0, 0, *pad))
    m.ground_point("D", (1.1, 0, *pad))
    inertia = 0.1 if dimension == 2 else (0.05, 0.1, 0.1)
    m.bar("crank", "A", "B", length=0.4, mass=1.0, inertia=inertia)
    m.bar("coupler", "B", "C", length=1.0, mass=2.0, inertia=inertia)
    m.bar("rocker", "D", "C", length=0.8, mass=1.5, inertia=inertia)
    for name in "ABCD":
        m.revolute(name, **axis)
    m.start(angle={"A": 1.0}, speed={"A": 4.0}, near={"coupler.C": (1.0, 0.8, *pad)})
    return m


def test_a_four_bar_is_the_same_in_plane_and_space() -> None:
    """Three bodies with four hinges: in space 18 − 20 = −2 DOF are counted, three equations
    too many, and it moves.
    """
    flat, deep = four_bar(2), four_bar(3)
    assert flat.dofs == deep.dofs == 1
    one, two = (m.simulate(1.0, step=1e-3, coordinates="natural") for m in (flat, deep))
    assert max(two.info["residuals"]) < 1e-9
    for point in ("coupler.B", "coupler.C", "coupler.com"):
        np.testing.assert_allclose(at(one, point), at(two, point), atol=1e-9)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.filterwarnings("ignore::varimech.RedundantReactionWarning")
def test_ground_reactions_of_a_four_bar_carry_weight_and_inertia(dimension: int) -> None:
    """Σ F = d(Σ m v)/dt − Σ m g over the two ground hinges, whatever is between; the inner hinges
    cancel.
    """
    h = 5e-4
    run = four_bar(dimension).simulate(0.5, step=h)
    P = (
        1.0 * moving(run, "crank.com")
        + 2.0 * moving(run, "coupler.com")
        + 1.5 * moving(run, "rocker.com")
    )
    F = run.reaction("A").values + run.reaction("D").values
    expected = derivative(P, h) - 4.5 * DOWN[2]
    np.testing.assert_allclose(F[2:-2], expected[:, :dimension], atol=1e-3)


def parallelogram(r: float, crank: float, M: float, start: tuple[float, float]) -> vm.Mechanism:
    """A coupler of mass M on three parallel cranks, the third of which is redundant."""
    m = vm.Mechanism("parallelogram", gravity=(0, -9.81))
    length = m.parameter("r", r)
    m.body(
        "coupler",
        mass=M,
        inertia=0.4,
        com=(0.7, 0.2),
        points={f"B{k}": (0.6 * k, 0) for k in range(3)},
    )
    for k in range(3):
        m.ground_point(f"A{k}", (0.6 * k, 0))
        m.bar(f"crank{k}", f"A{k}", f"B{k}", length=length, mass=crank)
        m.revolute(f"A{k}")
        m.revolute(f"B{k}")
    θ, θ̇ = start
    m.start(
        angle={"crank0": θ}, speed={"crank0": θ̇}, near={"crank1": θ, "crank2": θ, "coupler": 0.0}
    )
    return m


@pytest.mark.filterwarnings("ignore::varimech.RedundantReactionWarning")
def test_a_parallelogram_with_a_third_crank_runs() -> None:
    """The coupler translates:  (Σ I_A + M r²) θ̈ = −(Σ m r/2 + M r) g cos θ,  I_A = m r²/3.

    It never comes to θ = 0 or −π, where all cranks lie on one line and the loops may fold.
    """
    r, crank, M = 0.5, 0.8, 3.0
    m = parallelogram(r, crank, M, (-0.6, 1.0))
    assert m.dofs == 1
    inertia, moment = 3 * crank * r**2 / 3 + M * r**2, 3 * crank * r / 2 + M * r
    times = np.linspace(0, 1, 51)

    def acceleration(_: float, q: Array, u: Array) -> Array:
        return -moment * 9.81 * np.cos(q) / inertia

    def measured(h: float) -> Array:
        run = m.simulate(1.0, step=h, every=round(0.02 / h))
        assert max(run.info["residuals"]) < 1e-9
        assert np.abs(run.angle("coupler").values).max() < 1e-9
        return np.asarray(run.angle("crank2").values)

    exact = second_order(acceleration, [-0.6], [1.0], times)
    check_order_two(measured, exact[:, 0], 1e-3, error=1e-4, limit=1e-7)
    # the reactions of redundant joints are not determined one by one; their sum is
    θ, θ̇ = exact.T
    θ̈ = acceleration(0.0, θ, θ̇)
    a = np.column_stack([-θ̈ * np.sin(θ) - θ̇**2 * np.cos(θ), θ̈ * np.cos(θ) - θ̇**2 * np.sin(θ)])
    expected = moment * a + [0.0, (3 * crank + M) * 9.81]
    run = m.simulate(1.0, step=5e-4, every=40)
    np.testing.assert_allclose(
        sum(run.reaction(f"A{k}").values for k in range(3)), expected, atol=1e-3
    )


def test_a_redundant_mechanism_has_sensitivities() -> None:
    m = parallelogram(0.5, 0.8, 3.0, (-0.6, 1.0))
    objective = vm.integral(lambda s: vm.dot(s.velocity("coupler.com"), s.velocity("coupler.com")))
    direct, differences = (
        m.sensitivity(objective, "r", duration=0.3, step=2e-3, method=method).gradient.values
        for method in ("direct", "finite-difference")
    )
    assert abs(direct.item()) > 1e-2
    np.testing.assert_allclose(direct, differences, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::varimech.RedundantReactionWarning")
def test_a_door_on_two_hinges_moves_as_on_one() -> None:
    """The second hinge, on the same axis, is redundant; both together carry what the
    one carries.
    """
    runs = []
    for hinges in ("A", "AB"):
        m = vm.Mechanism("door", gravity=(0, -3.0, -9.81))
        add_body(m, "door", 2.0, (0.1, 0.2, 0.25), (0.5, 0, 0.4), A=(0, 0, 0), B=(0, 0, 1))
        for k, name in enumerate(hinges):
            m.ground_point(name, (0, 0, k))
            m.revolute(name, f"ground.{name}", f"door.{name}", axis=(0, 0, 1))
        m.start(angle={"A": 0.5}, speed={"A": 1.0})
        assert m.dofs == 1
        runs.append(m.simulate(1.0, step=1e-3))
    one, two = runs
    assert max(two.info["residuals"]) < 1e-9
    np.testing.assert_allclose(at(one, "door.com"), at(two, "door.com"), atol=1e-9)
    np.testing.assert_allclose(
        one.reaction("A").values, two.reaction("A").values + two.reaction("B").values, atol=1e-7
    )


def test_bennett_linkage_moves() -> None:
    """Four hinges in space with  sin α / a = sin β / b  (opposite links equal) move although 18 −
    20 < 1; half-angles keep

    tan(θ₁/2) tan(θ₂/2) = sin((β + α)/2) / sin((β − α)/2)     (G. T. Bennett, 1903; J. Denavit and R. S. Hartenberg, 1955).
    """
    α, a, b = 0.6, 0.5, 0.8
    β = float(np.arcsin(b * np.sin(α) / a))
    K = np.sin((β + α) / 2) / np.sin((β - α) / 2)
    θ1 = 1.2
    θ2 = 2 * np.arctan(K / np.tan(θ1 / 2))
    R1 = turned(X, β) @ turned(Z, θ1)
    R2 = R1 @ turned(X, α) @ turned(Z, θ2)
    R3 = R2 @ turned(X, β) @ turned(Z, -θ1)
    m = vm.Mechanism("bennett", gravity=(0, -4.0, -9.81))
    m.ground_point("S", (0, 0, 0))
    m.ground_point("E", (b, 0, 0))
    for k, length in ((1, a), (2, b), (3, a)):
        add_body(
            m,
            f"link{k}",
            1.0 + k,
            (0.02, 0.05, 0.06),
            (length / 2, 0.02, 0.01),
            S=(0, 0, 0),
            E=(length, 0, 0),
        )
    ends = [
        "ground.E",
        "link1.S",
        "link1.E",
        "link2.S",
        "link2.E",
        "link3.S",
        "link3.E",
        "ground.S",
    ]
    for k, twist in enumerate((β, α, β, α)):
        m.revolute(
            f"J{k + 1}", ends[2 * k], ends[2 * k + 1], axis=turned(X, twist) @ Z, axis_on_second=Z
        )
    tip, speed = b * X + R1 @ (a * X), 3.0 * np.cross(turned(X, β) @ Z, R1 @ (a * X))
    m.start(
        position={"link1.E": (tip[0], None, None)},
        speed={"link1.E": (speed[0], None, None)},
        near={"link1": R1, "link2": R2, "link3": R3},
    )
    assert m.dofs == 1
    run = m.simulate(1.0, step=1e-3)
    assert max(run.info["residuals"]) < 1e-9
    R = [
        np.tile(np.eye(3), (run.time.size, 1, 1)),
        rotations(run, "link1"),
        rotations(run, "link2"),
    ]
    θ = []
    for before, after in pairwise(R):
        x0, x, z = before[:, :, 0], after[:, :, 0], after[:, :, 2]
        θ.append(np.arctan2(dots(np.cross(x0, x), z), dots(x0, x)))
    assert np.ptp(np.unwrap(θ[0])) > 1.0, "it must move"
    np.testing.assert_allclose(np.tan(θ[0] / 2) * np.tan(θ[1] / 2), K, rtol=1e-9)
    E = run.energy().values
    assert np.abs(E - E[0]).max() < 1e-4 * abs(E[0])


def test_a_spatial_slider_crank_closes() -> None:
    """Crank about z, rod on a ball and a cross, slider along a skew line:  |P(θ) − Q − s u| = L
    gives s(θ) by a square root.
    """
    r, L, Q, u = 0.3, 1.0, np.array([0.2, 0.3, 0.1]), unit([1.0, 0.2, 0.4])
    m = vm.Mechanism("RSUP", gravity=(0, 0, -9.81))
    m.ground_point("A", (0, 0, 0))
    m.ground_point("Q", Q)
    add_body(m, "crank", 1.0, (0.01, 0.02, 0.02), (r / 2, 0, 0), A=(0, 0, 0), P=(r, 0, 0))
    add_body(m, "rod", 0.5, (0.001, 0.04, 0.04), (L / 2, 0, 0), P=(0, 0, 0), C=(L, 0, 0))
    m.body("slider", mass=2.0, inertia=(0.01, 0.01, 0.01), points={"C": (0, 0, 0)})
    m.revolute("A", axis=(0, 0, 1))
    m.spherical("P")
    m.universal("C", "rod.C", "slider.C", axis=(0, 1, 0), axis_on_second=(0, 0, 1))
    m.prismatic("rail", "ground.Q", "slider.C", axis=u)
    m.drive_angle("motor", "A", lambda t: 2 * np.pi * t)
    m.start(near={"slider.C": Q + 0.9 * u, "rod": carrying(X, Q + 0.9 * u - r * X)})
    assert m.dofs == 1
    run = m.simulate(1.5, step=2e-3)
    assert max(run.info["residuals"]) < 1e-9
    t = 2 * np.pi * run.time
    w = r * np.column_stack([np.cos(t), np.sin(t), 0 * t]) - Q
    np.testing.assert_allclose(
        run.displacement("rail").values,
        w @ u + np.sqrt((w @ u) ** 2 - dots(w, w) + L**2),
        atol=1e-9,
    )
    # power:  τ θ̇ = dE/dt
    power = run.effort("motor").values[2:-2] * 2 * np.pi
    np.testing.assert_allclose(
        power, derivative(run.energy().values, 2e-3), atol=1e-4 * np.abs(power).max()
    )


def test_spherical_joint_carries_a_heavy_symmetric_top() -> None:
    """Lagrange's top: energy, angular momentum about the vertical and the spin ω·e₃ are conserved,
    while the axis nutates.
    """
    I1, I3, M, d = 0.03, 0.02, 1.2, 0.25
    m = vm.Mechanism("top", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.body("top", mass=M, inertia=(I1, I1, I3), com=(0, 0, d), points={"O": (0, 0, 0)})
    m.spherical("O")
    R0 = turned(X, 0.5)
    m.start(orientation={"top": R0}, speed={"top": R0 @ np.array([0.5, 1.0, 40.0])})
    drifts = []
    for step in (1e-3, 5e-4):
        run = m.simulate(0.6, step=step)
        R, ω = rotations(run, "top"), spins(run, "top")
        I_O = np.diag([I1 + M * d**2, I1 + M * d**2, I3])
        local = np.einsum("tji,tj->ti", R, ω)
        L = np.einsum("tij,tj->ti", R, local @ I_O)
        E = dots(local @ I_O, local) / 2 + M * 9.81 * d * R[:, 2, 2]
        np.testing.assert_allclose(run.energy().values, E, rtol=1e-10)
        drifts.append([np.abs(x - x[0]).max() / abs(x[0]) for x in (E, L[:, 2], local[:, 2])])
        assert np.ptp(R[:, 2, 2]) > 0.01, "it must nutate"
    coarse, fine = np.array(drifts)
    assert (coarse < 5e-4).all()
    assert (fine < coarse / 3).all()


def test_universal_joint_is_a_hooke_joint() -> None:
    """Shafts at an angle δ:  tan θ₂ = cos δ tan θ₁,  θ₂' = cos δ / (cos² θ₁ + cos² δ sin² θ₁)  (a·b
    = 0 written out).

    The motor feels the shafts' inertia and a damper through that ratio:  τ = J₁ θ̈₁ + θ₂' (J₂ θ̈₂ +
    c θ̇₂).
    """
    δ, Ω, J1, J2, c = 0.6, 9.0, 0.02, 0.05, 0.3
    out = np.array([0.0, np.sin(δ), np.cos(δ)])
    m = vm.Mechanism("hooke", dimension=3)
    m.ground_point("O", (0, 0, 0))
    m.body("in", mass=1.0, inertia=(0.03, 0.03, J1), points={"O": (0, 0, 0)})
    Q = carrying(Z, out)
    m.body("out", mass=1.0, inertia=Q @ np.diag([0.06, 0.06, J2]) @ Q.T, points={"O": (0, 0, 0)})
    m.revolute("first", "ground.O", "in.O", axis=(0, 0, 1))
    m.revolute("second", "ground.O", "out.O", axis=out)
    m.universal("cross", "in.O", "out.O", axis=(1, 0, 0), axis_on_second=(0, np.cos(δ), -np.sin(δ)))
    m.drive_angle("motor", "first", lambda t: Ω * t + 0.3)
    m.torsional_damper("load", "second", damping=c)
    m.start()
    assert m.dofs == 1
    run = m.simulate(2.0, step=2e-3)
    θ = Ω * run.time + 0.3
    base = np.cos(θ) ** 2 + np.cos(δ) ** 2 * np.sin(θ) ** 2
    ratio = np.cos(δ) / base
    bend = np.cos(δ) * np.sin(2 * θ) * (1 - np.cos(δ) ** 2) / base**2
    np.testing.assert_allclose(run.angle("first").values, θ, atol=1e-9)
    np.testing.assert_allclose(
        run.angle("second").values,
        np.unwrap(np.arctan2(np.cos(δ) * np.sin(θ), np.cos(θ))),
        atol=1e-9,
    )
    np.testing.assert_allclose(run.angular_velocity("second").values, ratio * Ω, atol=1e-8)
    np.testing.assert_allclose(
        run.effort("motor").values, ratio * (J2 * bend * Ω**2 + c * ratio * Ω), atol=1e-6
    )
    assert max(run.info["residuals"]) < 1e-9


def test_point_on_plane_slides_down_with_g_sin() -> None:
    """The centre of mass on a smooth plane inclined by β moves with g sin β down the slope; a
    parabola, exact for the trapezoidal rule.
    """
    β = 0.4
    m = vm.Mechanism("incline", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.body("b", mass=2.0, inertia=(0.1, 0.2, 0.25))
    m.point_on_plane("plane", "ground.O", "b.com", normal=(np.sin(β), 0, np.cos(β)))
    m.start(
        position={"b.com": (0.0, 0.3, None)},
        orientation={"b": np.eye(3)},
        speed={"b.com": (0.0, 0.7, None)},
    )
    run = m.simulate(1.0, step=5e-3)
    down = 9.81 * np.sin(β) * run.time**2 / 2
    expected = np.column_stack([down * np.cos(β), 0.3 + 0.7 * run.time, -down * np.sin(β)])
    np.testing.assert_allclose(at(run, "b.com"), expected, atol=1e-10)
    normal = np.array([np.sin(β), 0, np.cos(β)])
    np.testing.assert_allclose(
        run.reaction("plane").values,
        np.tile(2.0 * 9.81 * np.cos(β) * normal, (run.time.size, 1)),
        atol=1e-8,
    )


@pytest.mark.parametrize("dimension", [2, 3])
def test_distance_makes_a_dumbbell(dimension: int) -> None:
    """Two free bodies on a rod turn at a constant rate Ω about their common centre; the rod pulls
    with  m₁ m₂ L Ω² / (m₁ + m₂).
    """
    L, Ω, m1, m2 = 0.8, 5.0, 1.0, 3.0
    pad = (0.0,) * (dimension - 2)
    m = vm.Mechanism("dumbbell", dimension=dimension)
    for name, mass in (("a", m1), ("b", m2)):
        m.body(name, mass=mass, inertia=0.1 if dimension == 2 else (0.1, 0.1, 0.1), floating=True)
    m.distance("rod", "a.com", "b.com", length=L)
    ra, rb = -L * m2 / (m1 + m2), L * m1 / (m1 + m2)
    turn: dict[str, Any] = (
        {"angle": {"a": 0, "b": 0}}
        if dimension == 2
        else {"orientation": {"a": np.eye(3), "b": np.eye(3)}}
    )
    m.start(
        position={"a.com": (ra, 0, *pad), "b.com": (None, 0, *pad)},
        speed={"a.com": (0, ra * Ω, *pad), "b.com": (None, rb * Ω, *pad)},
        near={"b.com": (rb, 0, *pad)},
        **turn,
    )
    t = np.linspace(0, 1, 51)
    exact = rb * np.column_stack([np.cos(Ω * t), np.sin(Ω * t), 0 * t])
    check_order_two(
        lambda h: at(m.simulate(1.0, step=h, every=round(0.02 / h)), "b.com"),
        exact,
        1e-3,
        error=1e-5,
        limit=1e-9,
    )
    pull = np.linalg.norm(m.simulate(1.0, step=1e-3).reaction("rod").values, axis=1)
    np.testing.assert_allclose(pull, m1 * m2 / (m1 + m2) * L * Ω**2, rtol=1e-4)


def test_free_body_is_an_euler_top() -> None:
    """No torque:  I ω̇ + ω × I ω = 0  in body axes; the centre flies a parabola. Near the middle
    axis, where it tumbles.
    """
    I = np.array([0.1, 0.2, 0.28])
    R0, ω0 = turned(np.array([1.0, 1.0, 0.2]), 0.8), np.array([0.1, 6.0, 0.2])
    m = vm.Mechanism("euler", gravity=(0, 0, -9.81))
    m.body("b", mass=2.0, inertia=I, points={"tip": (0.3, 0.1, 0.2)}, floating=True)
    m.start(
        position={"b.com": (0.1, 0.2, 0.3)},
        orientation={"b": R0},
        speed={"b.com": (1.0, 2.0, 3.0), "b": R0 @ ω0},
    )
    assert m.dofs == 6
    errors, drifts, tips = [], [], []
    for h, every in ((1e-3, 20), (5e-4, 40)):
        run = m.simulate(1.5, step=h, every=every)
        t = run.time[:, None]
        np.testing.assert_allclose(
            at(run, "b.com"), [0.1, 0.2, 0.3] + t * [1.0, 2.0, 3.0] + t**2 / 2 * DOWN[3], atol=1e-10
        )
        path = RigidBody(2.0, np.diag(I), 2.0 * DOWN[3]).run(
            BodyState(np.array([0.1, 0.2, 0.3]), R0, np.array([1.0, 2.0, 3.0]), R0 @ ω0), run.time
        )
        tips.append(at(run, "b.tip"))
        exact = np.array([s.at(np.array([0.3, 0.1, 0.2])) for s in path])
        errors.append(np.abs(tips[-1] - exact).max())
        R, ω = rotations(run, "b"), spins(run, "b")
        L = np.einsum("tij,j,tkj,tk->ti", R, I, R, ω)
        T = dots(L, ω) / 2
        drifts.append(
            [
                np.linalg.norm(L - L[0], axis=1).max() / np.linalg.norm(L[0]),
                np.abs(T - T[0]).max() / T[0],
            ]
        )
    assert errors[0] < 5e-5
    assert 3.9 < errors[0] / errors[1] < 4.1
    assert np.abs((4 * tips[1] - tips[0]) / 3 - exact).max() < 1e-8
    assert (np.array(drifts[0]) < 1e-5).all()
    assert (np.array(drifts[1]) < np.array(drifts[0]) / 3).all()


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn0", "rtdyn1"])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_a_thin_rod_on_a_plane_is_carried_at_any_size(size: float, coordinates: str) -> None:
    """No inertia about its own axis, a foot beside it, and a push: its centre moves in the plane,
    which takes all forces across.
    """
    n, push, gravity = (
        np.array([0.1, 0.3, 1.0]) / math.sqrt(1.1),
        np.array([3.0, -2.0, 5.0]),
        np.array([0.2, -0.4, -9.81]),
    )
    m = vm.Mechanism("rod", gravity=gravity * size)
    m.ground_point("O", (0, 0, 0))
    m.bar("rod", "from", "to", length=size, mass=2.0)
    m.point("rod", "foot", (0.3 * size, 0.2 * size, -0.4 * size))
    m.planar("plane", "O", "foot", normal=n)
    m.force("push", "to", push * size)
    m.start(
        angle={"plane": 0.3},
        speed={"plane": 1.5},
        position={"foot": (0.1 * size, 0.2 * size, None)},
    )
    run = m.simulate(0.5, coordinates=coordinates, tolerance=1e-9, output=0.5)
    force = (push + 2.0 * gravity) @ n * n
    for k in (0, -1):
        np.testing.assert_allclose(run.reaction("plane")[k] / size, -force, rtol=1e-9)
        np.testing.assert_allclose(
            run.acceleration("rod.com")[k] / size, (push - force) / 2.0 + gravity, rtol=1e-9
        )
    assert run.info["steps"] < 100


def test_constraints_on_bodies_with_similar_names_keep_their_names() -> None:
    """Two sliders whose names begin alike share a direction with the ground: one equation each."""
    m = vm.Mechanism("sliders", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    for name in ("rod2", "rod"):
        m.body(name, mass=1, inertia=1, points={"O": (0, 0), "A": (1, 0), "B": (2, 0)})
    m.prismatic("J", "ground.O", "rod2.O", axis=(1, 0))
    m.prismatic("K", "rod2.O", "rod.O", axis=(1, 0))
    for bar, point in (("a", "rod2.A"), ("b", "rod2.B"), ("c", "rod.A"), ("d", "rod.B")):
        m.bar(bar, "P", "Q", length=1, mass=1)
        m.revolute(f"pin {bar}", point, f"{bar}.P")
    m.start(displacement={"J": 0, "K": 0}, angle=dict.fromkeys("abcd", 0.0))
    names = set(m.simulate(0.01, step=0.01).dataset.constraint.to_numpy())
    assert {n.split(" [")[0] for n in names if " on " in n} == {"joint J on rod2", "joint J on rod"}
