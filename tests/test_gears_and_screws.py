"""Gear pairs and screws over many turns, against closed forms, with every derivative method."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np
import pytest

import varimech as vm

COORDINATES = ["natural", "rtdyn0", "rtdyn1"]
FIRST, SECOND, TORQUE, RATIO, SPEED, DURATION = 0.1, 0.03, 3.0, -2.0, 40.0, 8.0
METHODS: list[dict[str, Any]] = [
    {"method": "direct"},
    {"method": "adjoint"},
    {"method": "complex-step"},
    {"method": "direct", "backend": "auto", "formulation": "index1"},
]
PAIR = {"first": vm.final("angle('J1')"), "second": vm.final("angle('J2')")}


def pair(dimension: int) -> vm.Mechanism:
    """Two wheels that mesh; a torque on the first turns both."""
    m = vm.Mechanism("pair", dimension=dimension)
    i, τ = m.parameter("i", RATIO), m.parameter("τ", TORQUE)
    zero, rim = (0.0,) * dimension, (0.1, *(0.0,) * (dimension - 1))
    m.ground_point("A", zero)
    m.ground_point("B", (0.3, *zero[1:]))
    for name, hub, inertia in (("one", "A", FIRST), ("two", "B", SECOND)):
        about = inertia if dimension == 2 else (inertia, inertia, inertia)
        m.body(name, mass=1.0, inertia=about, points={hub: zero, "rim": rim})
    axis = None if dimension == 2 else (0, 0, 1)
    m.revolute("J1", "ground.A", "one.A", axis=axis)
    m.revolute("J2", "ground.B", "two.B", axis=axis)
    m.gear("mesh", "J1", "J2", ratio=i, phase=0.5)
    m.torque("motor", "one", τ if dimension == 2 else (0, 0, τ))
    m.start(angle={"J1": 0.0}, speed={"J1": SPEED})
    return m


def of_pair(t: float = DURATION) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """φ₁ = ω t + τ t² / 2 (I₁ + i² I₂) and φ₂ = i φ₁ + 0.5, with derivatives for (i, τ)."""
    i, J = RATIO, FIRST + RATIO**2 * SECOND
    h, J_i = t**2 / 2, 2 * RATIO * SECOND
    φ = SPEED * t + TORQUE * h / J
    φ_i, φ_τ = -TORQUE * h * J_i / J**2, h / J
    φ_ii = TORQUE * h * (2 * J_i**2 / J**3 - 2 * SECOND / J**2)
    φ_iτ = -h * J_i / J**2
    derivatives = np.array([[φ_i, φ_τ], [φ + i * φ_i, i * φ_τ]])
    first = np.array([[φ_ii, φ_iτ], [φ_iτ, 0.0]])
    second = i * first + np.array([[2 * φ_i, φ_τ], [φ_τ, 0.0]])
    return np.array([φ, i * φ + 0.5]), derivatives, np.stack([first, second])


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize(
    ("dimension", "options"), [*((2, options) for options in METHODS), (3, METHODS[0])], ids=str
)
def test_gears_keep_their_ratio_over_a_hundred_turns(
    dimension: int, coordinates: str, options: dict[str, Any]
) -> None:
    values, derivatives, _ = of_pair()
    assert abs(values[1]) > 100 * 2 * math.pi
    g = pair(dimension).sensitivity(
        PAIR, duration=DURATION, tolerance=1e-9, coordinates=coordinates, **options
    )
    assert g.values.to_numpy() == pytest.approx(values, rel=1e-9)
    assert g.gradient.to_numpy() == pytest.approx(derivatives, rel=1e-8)
    φ1, φ2 = (g.run.angle(joint).to_numpy() for joint in ("J1", "J2"))
    assert φ2 == pytest.approx(RATIO * φ1 + 0.5, abs=1e-7)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", ["forward", "backward"])
def test_second_derivatives_of_a_gear(coordinates: str, method: str) -> None:
    hessian = pair(2).hessian(
        PAIR,
        duration=1.0,
        method=method,
        tolerance=1e-9,
        coordinates=coordinates,
    )
    assert hessian.hessian.to_numpy() == pytest.approx(of_pair(1.0)[2], rel=1e-6, abs=1e-4)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_planetary_gear(coordinates: str) -> None:
    """The sun stands still; the planet, on an arm that turns, rolls on it: (1 + z₁/z₂) turns in
    space for one of the arm.
    """
    m = vm.Mechanism("planet", dimension=2)
    m.ground_point("O", (0, 0))
    m.bar("arm", "O", "P", length=0.3, mass=1.0)
    m.body("planet", mass=0.5, inertia=2e-3, points={"P": (0, 0), "rim": (0.1, 0)})
    m.body("sun", mass=1.0, inertia=0.01, points={"O": (0, 0), "rim": (0.2, 0)})
    m.revolute("shaft", "ground.O", "arm.O")
    m.revolute("bearing", "arm.P", "planet.P")
    m.revolute("centre", "arm.O", "sun.O")
    m.drive_angle("held", "sun", 0.0)
    m.gear("mesh", "centre", "bearing", ratio=-2.0)  # against the arm
    m.start(angle={"arm": 0.0}, speed={"arm": 20.0})
    run = m.simulate(3.0, tolerance=1e-9, coordinates=coordinates)
    arm, planet = run.angle("arm").to_numpy(), run.angle("planet").to_numpy()
    assert arm[-1] == pytest.approx(60.0, rel=1e-7)  # nothing slows it down
    assert planet == pytest.approx(3 * arm, abs=1e-5)
    assert run.energy("kinetic").to_numpy() == pytest.approx(
        float(run.energy("kinetic")[0]), rel=1e-7
    )


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_what_a_gear_does_to_its_bearings(coordinates: str) -> None:
    """It exerts torques alone; the ground takes what they do not balance."""
    run = pair(3).simulate(0.5, tolerance=1e-9, coordinates=coordinates)
    for joint in ("J1", "J2"):
        assert np.abs(run.reaction(joint).to_numpy()).max() < 1e-7
        assert np.abs(run.reaction_torque(joint).to_numpy()).max() < 1e-7


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_the_torque_of_a_gear(dimension: int, coordinates: str) -> None:
    """It alone turns the second wheel: I₂ φ̈₂ = I₂ i τ / (I₁ + i² I₂)."""
    per_torque = SECOND * RATIO / (FIRST + RATIO**2 * SECOND)
    g = pair(dimension).sensitivity(
        {"torque": vm.final("effort('mesh')")},
        wrt=["τ"],
        duration=0.5,
        tolerance=1e-9,
        coordinates=coordinates,
    )
    torque = g.run.effort("mesh")
    assert torque.attrs["units"] == "N·m"
    assert torque.to_numpy() == pytest.approx(per_torque * TORQUE, rel=1e-8)
    assert g.gradient.to_numpy() == pytest.approx(per_torque, rel=1e-8)


def test_a_gear_is_an_equation_of_the_topology() -> None:
    topology = pair(3).topology()
    assert topology.equations["coupling"] == 1 and topology.couplings == {"mesh": 1}
    assert topology.to_json()["couplings"] == {"mesh": 1}
    text = str(topology)
    assert "2 relative coordinates, 1 coupling equation" in text
    assert text.endswith("coupled\n  mesh: 1 equation")


def test_a_gear_is_driven_and_written_to_files() -> None:
    m = pair(2)
    m.drive_angle("hand", "J1", "7*t")
    m.start()
    run = m.simulate(2.0)
    assert float(run.angle("J2")[-1]) == pytest.approx(-27.5, abs=1e-9)
    text = m.to_text()
    assert "gear: [J1, J2]" in text and "ratio: i" in text
    with pytest.raises(vm.ModelError, match=r"gear 'g': ratio = 0 must not be zero"):
        m.gear("g", "J1", "J2", ratio=0.0)
    m = pair(2)
    m.start(angle={"J1": 0.0, "J2": 3.0})
    with pytest.raises(vm.ModelError, match="redundant or conflicting"):
        m.simulate(0.1)


PITCH, MASS, INERTIA, GRAVITY = 0.02, 2.0, 0.005, 9.81
DROP = {"drop": vm.final("displacement('thread')"), "turns": vm.final("angle('thread')")}


def press(*, pitch: float = PITCH) -> vm.Mechanism:
    """A nut falls along its thread and turns."""
    m = vm.Mechanism("press", gravity=(0, 0, -GRAVITY))
    p, mass = m.parameter("p", pitch), m.parameter("m", MASS)
    m.ground_point("O", (0, 0, 0))
    m.body("nut", mass=mass, inertia=(0.01, 0.01, INERTIA), points={"N": (0, 0, 0)})
    m.screw("thread", "ground.O", "nut.N", axis=(0, 0, 1), pitch=p)
    m.start(angle={"thread": 0.0})
    return m


def of_press(T: float, p: float = PITCH) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """s = −½ a t²,  a = m g / (m + I k²),  k = 2π/p, and s k, with derivatives for (p, m)."""
    x = ca.SX.sym("x", 2)
    k = 2 * math.pi / x[0]
    s = -(T**2) / 2 * x[1] * GRAVITY / (x[1] + INERTIA * k**2)
    both = ca.vertcat(s, s * k)
    parts = [both, ca.jacobian(both, x), *[ca.hessian(both[row], x)[0] for row in range(2)]]
    v, J, *H = (np.array(part) for part in ca.Function("f", [x], parts)([p, MASS]))
    return v.ravel(), J, np.stack(H)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("options", METHODS, ids=str)
def test_a_screw_over_fifty_turns(coordinates: str, options: dict[str, Any]) -> None:
    T = 7.5
    values, derivatives, _ = of_press(T)
    assert abs(values[1]) > 50 * 2 * math.pi
    g = press().sensitivity(DROP, duration=T, tolerance=1e-9, coordinates=coordinates, **options)
    scale = np.abs(derivatives).max(axis=1, keepdims=True)
    assert g.values.to_numpy() == pytest.approx(values, rel=1e-7)
    assert np.abs((g.gradient.to_numpy() - derivatives) / scale).max() < 1e-6


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", ["forward", "backward"])
def test_second_derivatives_of_a_screw(coordinates: str, method: str) -> None:
    hessian = press().hessian(
        DROP, duration=2.0, method=method, tolerance=1e-9, coordinates=coordinates
    )
    exact = of_press(2.0)[2]
    scale = np.abs(exact).max(axis=(1, 2), keepdims=True)
    assert np.abs((hessian.hessian.to_numpy() - exact) / scale).max() < 1e-5


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("at", [0.004, 0.0098, 0.0101, 0.0167, 0.33])
def test_a_screw_is_assembled_on_its_thread(coordinates: str, at: float) -> None:
    """Not half a turn off it; also a left-hand one."""
    for pitch in (PITCH, -PITCH):
        m = press(pitch=pitch)
        m.start(displacement={"thread": at})
        R = m.simulate(1e-3, coordinates=coordinates).rotation("nut").to_numpy()[0]
        φ = 2 * math.pi * at / pitch
        assert R[:2, 0] == pytest.approx([math.cos(φ), math.sin(φ)], abs=1e-9)
