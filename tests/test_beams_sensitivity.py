"""Derivatives of the motion of beams with respect to all their numbers, against central differences
extrapolated twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import varimech as vm

VALUES = {"E": 206.94e9, "a0": 1e-4, "I": 8e-10, "L": 1.0, "e": 0.0, "ρ": 7850.0}
"""Parameters; the unstressed length is L + e, so that L moves the geometry and e the unstressed
length alone.
"""
SHIFTS = {"E": 2.5e-3 * 206.94e9, "a0": 2.5e-7, "I": 2e-12, "L": 2.5e-4, "e": 3e-8, "ρ": 20.0}
SETTINGS: dict[str, Any] = {"duration": 0.2, "step": 1e-3}
SPEED = vm.integral(lambda s: vm.dot(s.velocity("B"), s.velocity("B")))
STRETCHING = vm.final(lambda s: s.distance_rate("A", "B"))
"""For e, by which the beam starts to vibrate along itself: that takes part in ∫|v|² with 1e4 times
as much as is left in the end.
"""


def swinging(dimension: int, n: int, material: str, *, weight: bool = False) -> vm.Mechanism:
    """A steel beam on a pin, with a bar at its tip if asked for."""
    m = vm.Mechanism("swinging", gravity=[0, -9.81, 0][:dimension])
    p = {name: m.parameter(name, value) for name, value in VALUES.items()}
    m.ground_point("A", np.zeros(dimension))
    L0 = p["L"] + p["e"]
    options: dict[str, Any] = {
        "E": p["E"],
        "area": p["a0"],
        "inertia": p["I"],
        "density": p["ρ"],
        "material": material,
    }
    m.beam("beam", "A", "B", segments=n, length=p["L"], natural_length=L0, **options)
    hinge = m.revolute if dimension == 2 else m.spherical
    hinge("A")
    angle, position, near = (
        {"beam": 0.3},
        {"B": (None, 0.3 * p["L"], 0.2 * p["L"])},
        {"B": (1.0, 0.3, 0.2)},
    )
    if weight:
        m.bar("weight", "B", "C", length=0.3, mass=0.2, radius=0.0 if dimension == 2 else 0.02)
        hinge("B")
        angle |= {"weight": -1.0}
    if dimension == 2:
        m.start(angle=angle)
    else:
        turned = {"weight": vm.rotation((0, 0, 1), -1.0)} if weight else {}
        m.start(position=position, near=near, speed={"B": (None, 0, 1)}, orientation=turned)
    return m


def difference(m: vm.Mechanism, name: str, **settings: Any) -> float:
    """Central differences of three shifts, extrapolated to order 6."""
    h, steps = SHIFTS[name], np.array([-4, -2, -1, 1, 2, 4])
    objective = STRETCHING if name == "e" else SPEED
    values = m.ensemble(
        objective, {name: VALUES[name] + h * steps}, threads=1, **SETTINGS, **settings
    ).values
    y = np.asarray(values, float).ravel()
    one, two, four = ((y[3 + k] - y[2 - k]) / (2 * h * 2**k) for k in range(3))
    return float((16 * (4 * one - two) / 3 - (4 * two - four) / 3) / 15)


def check(m: vm.Mechanism, **settings: Any) -> None:
    objectives = {"speed": SPEED, "stretching": STRETCHING}
    gradient = m.sensitivity(objectives, **SETTINGS, **settings).gradient
    for name, value in VALUES.items():
        computed = gradient.sel(parameter=name, objective="stretching" if name == "e" else "speed")
        scale = value or 1.0  # relative: ∂/∂E alone is of the order of 1e-13
        expected = scale * difference(m, name, **settings)
        assert abs(expected) > 1e-3, name
        assert scale * computed.item() == pytest.approx(expected, rel=1e-6), name


@pytest.mark.parametrize(("dimension", "material"), [(2, "logarithmic"), (3, "linear")])
@pytest.mark.parametrize("n", [2, 8, 32])
def test_derivatives_are_those_of_differences(n: int, dimension: int, material: str) -> None:
    check(swinging(dimension, n, material))


@pytest.mark.parametrize(("dimension", "material"), [(2, "linear"), (3, "logarithmic")])
@pytest.mark.parametrize("formulation", ["ali3p", "penalty", vm.Penalty(inertial=False, xi=0)])
def test_derivatives_are_those_of_differences_beside_rigid_bodies(
    formulation: Any, dimension: int, material: str
) -> None:
    check(swinging(dimension, 2, material, weight=True), formulation=formulation)


def test_derivatives_for_a_clamped_curved_beam() -> None:
    """The clamp is stiff by E, I and the lengths; the shape has a parameter."""
    m = vm.Mechanism("hook", gravity=(0, -9.81))
    p = {name: m.parameter(name, value) for name, value in (VALUES | {"e": 0.2}).items()}
    m.ground_point("A", (0, 0))
    shape = [(p["L"] * k / 4, p["e"] * (k / 4) ** 2) for k in range(5)]
    m.beam(
        "beam",
        "A",
        "B",
        segments=4,
        shape=shape,
        E=p["E"],
        area=p["a0"],
        inertia=p["I"],
        density=p["ρ"],
        damping=(0.1, 1e-5),
    )
    m.clamp("A", direction=(1, 0))
    computed = m.sensitivity(SPEED, **SETTINGS).gradient
    for name, parameter in m.parameters.items():
        shifts = {"e": 1e-5}.get(name, SHIFTS[name]) * np.array([-2, -1, 1, 2])
        y = np.ravel(
            m.ensemble(SPEED, {name: parameter.value + shifts}, threads=1, **SETTINGS).values
        )
        expected = float((y[0] - 8 * y[1] + 8 * y[2] - y[3]) / (6 * shifts[-1]))
        assert computed.sel(parameter=name).item() == pytest.approx(expected, rel=1e-5), name


@pytest.mark.parametrize("dimension", [2, 3])
def test_chosen_steps_have_the_same_derivatives(dimension: int) -> None:
    """Of another scheme, that follows the vibrations along the beam."""
    m = swinging(dimension, 2, "logarithmic")
    settings: dict[str, Any] = {"wrt": ["E", "I", "L", "ρ"], "duration": 0.2}
    fine = m.sensitivity(SPEED, step=2e-5, **settings).gradient
    chosen = m.sensitivity(SPEED, tolerance=1e-9, **settings).gradient
    np.testing.assert_allclose(chosen, fine, rtol=1e-3)
