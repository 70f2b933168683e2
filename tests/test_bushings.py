"""Bushings: against closed forms and rigid-body equations by SciPy, in all coordinates, with all
derivatives.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import varimech as vm

COORDINATES = ("natural", "rtdyn0", "rtdyn1")
METHODS = ("direct", "adjoint", "complex-step")
MASS, INERTIA = 2.0, (0.02, 0.05, 0.06)
K, C = (300.0, 200.0, 500.0), (2.0, 3.0, 1.0)
KR, CR = (4.0, 6.0, 3.0), (0.02, 0.03, 0.01)
Array = np.ndarray


def mounted(dimension: int = 3, **given: Any) -> vm.Mechanism:
    """A body at the end of a bushing on the ground."""
    m = vm.Mechanism("mount", dimension=dimension)
    zero = (0.0,) * dimension
    m.parameter("k", K[0])
    m.ground_point("O", zero)
    inertia: Any = INERTIA if dimension == 3 else INERTIA[2]
    m.body(
        "b", mass=MASS, inertia=inertia, points={"P": zero, "Q": (0.3, *zero[1:])}, floating=True
    )
    m.bushing("mount", "ground.O", "b.P", **given)
    return m


def oscillation(m: float, c: float, k: complex, x0: float, t: float) -> complex:
    ω0, ζ = np.sqrt(k / m), c / (2 * np.sqrt(k * m))
    ω = ω0 * np.sqrt(1 - ζ**2)
    return x0 * np.exp(-ζ * ω0 * t) * (np.cos(ω * t) + ζ * ω0 / ω * np.sin(ω * t))


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_displacements_are_damped_oscillations(
    coordinates: str, method: str, dimension: int
) -> None:
    m = mounted(dimension, stiffness=("k", *K[1:])[:dimension], damping=C[:dimension])
    x0, t = (0.1, -0.2, 0.15)[:dimension], 0.7
    start: dict[str, Any] = {"position": {"P": x0}}
    start |= {"angle": {"b": 0.0}} if dimension == 2 else {"orientation": {"b": np.eye(3)}}
    m.start(**start)
    g = m.sensitivity(
        {
            **{f"x{n}": vm.final(f"position('P')[{n}]") for n in range(dimension)},
            "F": vm.final("effort('mount.x')"),
        },
        duration=t,
        coordinates=coordinates,
        method=method,
        tolerance=1e-11,
    )
    expected = [oscillation(MASS, C[n], K[n], x0[n], t) for n in range(dimension)]
    assert g.final_values[:-1] == pytest.approx(np.real(expected), rel=1e-8)
    h = 1e-20
    slope = np.imag(oscillation(MASS, C[0], K[0] + 1j * h, x0[0], t)) / h
    assert g.final_gradient[:-1, 0] == pytest.approx([slope, *[0.0] * (dimension - 1)], rel=1e-7)
    a = g.run.acceleration("P").to_numpy()[:, 0]
    assert g.run.effort("mount.x").to_numpy() == pytest.approx(MASS * a, abs=1e-6)
    assert g.run.effort("mount.x").attrs["units"] == "N"


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_rotations_about_one_axis_are_exact(axis: int, coordinates: str) -> None:
    """Also by 2.5 rad and through zero: θ = θ₀ cos ωt, damped."""
    m = mounted(stiffness=K, rotational_stiffness=KR, rotational_damping=CR)
    e = np.eye(3)[axis]
    R = Rotation.from_rotvec(2.5 * e).as_matrix()
    m.start(position={"P": (0, 0, 0)}, orientation={"b": R})
    t = 1.1
    run = m.simulate(t, coordinates=coordinates, tolerance=1e-10)
    θ = Rotation.from_matrix(run.rotation("b").to_numpy()).as_rotvec()
    expected = [oscillation(INERTIA[axis], CR[axis], KR[axis], 2.5, x) for x in run.time]
    assert θ[:, axis] == pytest.approx(np.real(expected), abs=1e-7)
    ω = run.angular_velocity("b").to_numpy()[:, axis]
    torque = run.effort(f"mount.torque {'xyz'[axis]}")
    assert torque.to_numpy() == pytest.approx(-KR[axis] * θ[:, axis] - CR[axis] * ω, abs=1e-6)
    assert torque.attrs["units"] == "N·m"


def tumble(κ: float, t: float, θ0: Array, ω0: Array) -> Array:
    """A free body with a torque from V = ½ θ·Kθ, by Euler's equations; the torque by differences of V."""
    K, I = np.array([κ, *KR[1:]]), np.diag(INERTIA)

    def energy(R: Rotation) -> float:
        return float(K @ R.as_rotvec() ** 2) / 2

    def rates(_: float, z: Array) -> Array:
        R, ω = Rotation.from_quat(z[:4]), z[4:]
        h, torque = 1e-4, np.zeros(3)  # in body axes: R exp(h e), fourth-order differences
        for n, e in enumerate(np.eye(3)):
            V = [energy(R * Rotation.from_rotvec(s * h * e)) for s in (-2, -1, 1, 2)]
            torque[n] = -(V[0] - 8 * V[1] + 8 * V[2] - V[3]) / (12 * h)
        q = z[:4] / np.linalg.norm(z[:4])
        q̇ = 0.5 * np.array([*(q[3] * ω + np.cross(q[:3], ω)), -q[:3] @ ω])
        return np.concatenate([q̇, np.linalg.solve(I, torque - np.cross(ω, I @ ω))])

    z0 = np.concatenate([Rotation.from_rotvec(θ0).as_quat(), ω0])
    z = solve_ivp(rates, (0, t), z0, method="DOP853", rtol=1e-10, atol=1e-10).y[:, -1]
    return Rotation.from_quat(z[:4]).as_matrix()


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_rotations_about_changing_axes(coordinates: str) -> None:
    θ0, ω0, t = np.array([0.6, -0.8, 0.5]), np.array([3.0, 2.0, -4.0]), 0.5
    m = vm.Mechanism("tumble", dimension=3)
    m.parameter("κ", KR[0])
    m.ground_point("O", (0, 0, 0))
    m.body("b", mass=MASS, inertia=INERTIA, points={"P": (0, 0, 0), "Q": (1, 0, 0)}, floating=True)
    m.bushing("mount", "ground.O", "b.P", stiffness=K, rotational_stiffness=("κ", *KR[1:]))
    R0 = Rotation.from_rotvec(θ0)
    m.start(
        position={"P": (0, 0, 0)},
        orientation={"b": R0.as_matrix()},
        speed={"b": tuple(R0.apply(ω0))},
    )
    objectives = {f"Q{n}": vm.final(f"position('Q')[{n}]") for n in range(3)}
    g = m.sensitivity(objectives, duration=t, coordinates=coordinates, tolerance=1e-10)
    assert g.final_values == pytest.approx(tumble(KR[0], t, θ0, ω0)[:, 0], abs=1e-7)
    h = 1e-3
    ends = [tumble(KR[0] + s, t, θ0, ω0)[:, 0] for s in (h, -h)]
    assert g.final_gradient[:, 0] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=2e-6)
    adjoint = m.sensitivity(
        objectives, duration=t, coordinates=coordinates, tolerance=1e-10, method="adjoint"
    )
    assert adjoint.final_gradient == pytest.approx(g.final_gradient, rel=1e-6, abs=1e-9)
    run = g.run
    energy = run.energy("total").to_numpy()
    assert np.ptp(energy) < 1e-7 * energy[0]
    # Euler's equations in global axes: I ω̇ + ω × I ω = torque in the axes of the ground
    R, ω = run.rotation("b").to_numpy()[-1], run.angular_velocity("b").to_numpy()[-1]
    I = R @ np.diag(INERTIA) @ R.T
    needed = I @ run.angular_acceleration("b").to_numpy()[-1] + np.cross(ω, I @ ω)
    torque = [float(run.effort(f"mount.torque {n}")[-1]) for n in "xyz"]
    assert torque == pytest.approx(needed, abs=1e-6)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_between_two_free_bodies_momentum_is_kept(dimension: int, coordinates: str) -> None:
    m = vm.Mechanism("pair", dimension=dimension)
    at = [(0.0, 0.0, 0.0), (0.5, 0.1, -0.2)]
    for name in "ab":
        inertia: Any = INERTIA if dimension == 3 else 0.05
        m.body(
            name,
            mass=MASS,
            inertia=inertia,
            points={name.upper(): (0.2, 0.1, 0)[:dimension]},
            floating=True,
        )
    given: dict[str, Any] = {
        "stiffness": K[:dimension],
        "damping": C[:dimension],
        "offset": (0.1, 0.0, 0.05)[:dimension],
        "preload": (3.0, 1.0, 2.0)[:dimension],
        "rotational_stiffness": KR if dimension == 3 else KR[2],
        "rotational_damping": CR if dimension == 3 else CR[2],
        "preload_torque": (0.1, 0.2, 0.3) if dimension == 3 else 0.3,
        "rotation": vm.rotation((0, 0, 1), 0.4) if dimension == 3 else 0.4,
    }
    m.bushing("link", "a.A", "b.B", **given)
    start: dict[str, Any] = {
        "position": {f"{b}.com": x[:dimension] for b, x in zip("ab", at, strict=True)}
    }
    if dimension == 3:
        turned = Rotation.from_rotvec([0.4, 0.2, -0.3]).as_matrix()
        start |= {"orientation": {"a": np.eye(3), "b": turned}, "speed": {"a": (1.0, 2.0, -1.0)}}
    else:
        start |= {"angle": {"a": 0.0, "b": 0.5}, "speed": {"a": 30.0}}
    m.start(**start)
    run = m.simulate(0.6, coordinates=coordinates, tolerance=1e-9)
    total: Any = 0.0
    momentum: Any = 0.0
    for body in "ab":
        x, v = (f(f"{body}.com").to_numpy() for f in (run.position, run.velocity))
        ω = run.angular_velocity(body).to_numpy()
        momentum = momentum + v
        if dimension == 2:
            total = total + MASS * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]) + 0.05 * ω
        else:
            R = run.rotation(body).to_numpy()
            own = np.einsum("tij,j,tkj,tk->ti", R, np.array(INERTIA), R, ω)
            total = total + MASS * np.cross(x, v) + own
    assert np.ptp(momentum, axis=0).max() < 1e-7
    assert np.ptp(total, axis=0).max() < 1e-7
    if dimension == 2:
        assert np.abs(run.angle("a").to_numpy()).max() > math.pi  # the angle counts turns


@pytest.mark.parametrize("dimension", [2, 3])
def test_equilibrium_under_a_load_and_a_preload(dimension: int) -> None:
    m = mounted(
        dimension,
        stiffness=K[:dimension],
        offset=(0.0, 0.2, 0.0)[:dimension],
        preload=(6.0, 0.0, 0.0)[:dimension],
        rotational_stiffness=KR if dimension == 3 else KR[2],
        rotation=0.3 if dimension == 2 else vm.rotation((0, 0, 1), 0.3),
    )
    m.force("load", "b.P", (0.0, -10.0, 5.0)[:dimension])
    m.torque("moment", "b", 1.5 if dimension == 2 else (0, 0, 1.5))
    near = {"P": (0.0,) * dimension}
    start: dict[str, Any] = {"position": near}
    start |= {"angle": {"b": 0.0}} if dimension == 2 else {"orientation": {"b": np.eye(3)}}
    m.start(**start)
    found = m.equilibrium()
    at = [6 / K[0], 0.2 - 10 / K[1], 5 / K[2]][:dimension]
    assert found.position("P").to_numpy()[0] == pytest.approx(at, abs=1e-9)
    angle = 0.3 + 1.5 / KR[2]
    Q = found.position("Q").to_numpy()[0] - found.position("P").to_numpy()[0]
    assert Q[:2] == pytest.approx([0.3 * math.cos(angle), 0.3 * math.sin(angle)], abs=1e-8)
    assert found.effort("mount.y").to_numpy()[0] == pytest.approx(10.0)


def test_second_derivatives_of_a_bushing() -> None:
    m = mounted(3, stiffness=("k", *K[1:]), damping=C, rotational_stiffness=KR)
    m.start(position={"P": (0.1, 0.0, 0.0)}, orientation={"b": np.eye(3)})
    t, h = 0.7, 1e-4

    def slope(k: float) -> float:
        return float(np.imag(oscillation(MASS, C[0], k + 1e-20j, 0.1, t)) / 1e-20)

    H = m.hessian({"x": vm.final("position('P')[0]")}, duration=t, tolerance=1e-11)
    expected = (slope(K[0] + h * K[0]) - slope(K[0] - h * K[0])) / (2 * h * K[0])
    assert float(H.hessian.to_numpy().ravel()[0]) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "has neither stiffness nor damping"),
        ({"stiffness": (1.0, -2.0, 0.0)}, r"stiffness\[1\] = -2 must not be negative"),
        ({"stiffness": (1.0, 2.0)}, r"stiffness"),
        ({"rotational_stiffness": 3.0}, r"rotational_stiffness"),
        ({"rotational_damping": (1.0, 1.0, -1.0)}, r"rotational_damping\[2\] = -1 must not be neg"),
        ({"damping": (1.0, 1.0, 1.0), "rotation": np.ones((3, 3))}, "not a rotation matrix"),
    ],
)
def test_what_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(vm.ModelError, match=message):
        mounted(3, **given)


def test_points_that_do_not_suit() -> None:
    m = mounted(2, stiffness=(1.0, 1.0))
    with pytest.raises(vm.ModelError, match="both points belong to 'b'"):
        m.bushing("it", "b.P", "b.Q", stiffness=(1.0, 1.0))
    m.beam("rod", "E", "F", segments=2, length=1.0, E=1e9, section=vm.circle(0.01), mass=0.1)
    with pytest.raises(vm.ModelError, match="'rod' is a beam"):
        m.bushing("it", "b.P", "rod.E", stiffness=(1.0, 1.0))
