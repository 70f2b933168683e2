"""Torsional springs may be wound by any number of turns: a disc on a spring, a linear oscillator
with a closed form, by every method in every kind of coordinates.

    I φ̈ + k (φ − φ₀) = 0,     φ = φ₀ + A cos Ωt + B sin Ωt,     Ω² = k/I
"""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np
import pytest
from loops import add_four_bar

import varimech as vm

INERTIA, STIFFNESS, REST, FIRST, SPEED, DURATION = 0.02, 0.5, 3.0, 20 * math.pi, -4.0, 1.1
WRT = ["k", "first", "speed", "rest"]
COORDINATES = ["natural", "rtdyn0", "rtdyn1"]
END = {
    "end": vm.final(lambda s: s.angle("J")),
    "work": vm.integral(lambda s: (s.angle("J") - 1.0) ** 2),
}


def disc(dimension: int = 2, *, reverse: bool = False) -> vm.Mechanism:
    """Wound by ten turns; the joint may be stated either way round."""
    m = vm.Mechanism("disc", dimension=dimension)
    k, first = m.parameter("k", STIFFNESS), m.parameter("first", FIRST)
    speed, rest = m.parameter("speed", SPEED), m.parameter("rest", REST)
    m.ground_point("O", (0,) * dimension)
    inertia = INERTIA if dimension == 2 else np.diag([0.03, 0.025, INERTIA])
    rim = (0.1, 0.0) if dimension == 2 else (0.1, 0.0, 0.0)
    m.body("wheel", mass=2.0, inertia=inertia, points={"hub": (0,) * dimension, "rim": rim})
    ends = ("wheel.hub", "ground.O") if reverse else ("ground.O", "wheel.hub")
    m.revolute("J", *ends, axis=None if dimension == 2 else (0, 0, 1))
    m.torsional_spring("coil", "J", stiffness=k, rest_angle=rest)
    m.start(angle={"J": first}, speed={"J": speed})
    return m


def closed_form(from_: float = FIRST) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, first and second derivatives of both objectives."""
    k, first, speed, rest, t = (ca.SX.sym(name) for name in (*WRT, "t"))
    Ω = ca.sqrt(k / INERTIA)

    def integral(t: ca.SX) -> ca.SX:
        """Of (φ − 1)², with a = φ₀ − 1."""
        a, A, B = rest - 1, first - rest, speed / Ω
        c, s = ca.cos(Ω * t), ca.sin(Ω * t)
        plain = a**2 * t + 2 * a * (A * s - B * c) / Ω
        squares = A**2 * (t / 2 + s * c / (2 * Ω)) + B**2 * (t / 2 - s * c / (2 * Ω))
        return plain + squares + A * B * s**2 / Ω

    φ = rest + (first - rest) * ca.cos(Ω * t) + speed / Ω * ca.sin(Ω * t)
    value, p = ca.vertcat(φ, integral(t) - integral(ca.SX(0))), ca.vertcat(k, first, speed, rest)
    hessians = [ca.hessian(value[row], p)[0] for row in range(2)]
    f = ca.Function("f", [p, t], [value, ca.jacobian(value, p), *hessians])
    v, J, *H = (np.array(x) for x in f([STIFFNESS, from_, SPEED, REST], DURATION))
    return v.ravel(), J, np.stack(H)


METHODS: list[dict[str, Any]] = [
    {},
    {"method": "adjoint"},
    {"method": "complex-step"},
    {"method": "composite", "formulation": "index1"},
    {"formulation": "index1-stabilised"},
    {"formulation": "independent"},
    {"integrator": "dop853", "backend": "auto"},
    {"integrator": "cvodes"},
]


def check(g: vm.Gradient, rel: float) -> None:
    values, derivatives, _ = closed_form()
    assert g.values.to_numpy() == pytest.approx(values, rel=rel)
    scale = np.abs(derivatives).max(axis=1, keepdims=True)
    assert np.abs(g.gradient.to_numpy() - derivatives).max() < rel * scale.max()
    assert np.abs((g.gradient.to_numpy() - derivatives) / scale).max() < 10 * rel
    assert float(g.run.angle("J")[-1]) == pytest.approx(float(g.values[0]), rel=1e-12)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("options", METHODS, ids=str)
def test_ten_turns_to_the_tolerance(coordinates: str, options: dict[str, Any]) -> None:
    if coordinates == "natural" and "cvodes" in options.values():
        pytest.skip("stabilised constraints drift at 300 rad/s; `test_torques_count_turns` has it")
    given = {"tolerance": 1e-9, **options, "coordinates": coordinates}
    rel = 1e-6 if "integrator" in options else 1e-7
    check(disc().sensitivity(END, WRT, duration=DURATION, **given), rel)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize(
    ("integrator", "order"),
    [("trapezoidal", 2), ("generalised-alpha", 2), ("hht", 2), ("rk4", 4)],
)
def test_ten_turns_with_equal_steps(coordinates: str, integrator: str, order: int) -> None:
    """Errors shrink with the order of the scheme."""
    values, derivatives, _ = closed_form(4 * math.pi)
    off = []
    for step in (2e-3, 1e-3):
        g = disc().sensitivity(
            END,
            WRT,
            duration=DURATION,
            parameters={"first": 4 * math.pi},
            step=step,
            integrator=integrator,
            coordinates=coordinates,
        )
        off.append(
            [
                abs(float(g.values[0]) - values[0]),
                np.abs(g.gradient.to_numpy()[0] - derivatives[0]).max(),
            ]
        )
    coarse, fine = np.array(off)
    assert (fine < 1.2 * coarse / 2.0**order).all()
    assert (fine < 2e-3 * np.abs([values[0], np.abs(derivatives[0]).max()])).all()


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", ["forward", "backward"])
def test_second_derivatives_of_ten_turns(coordinates: str, method: str) -> None:
    hessian = disc().hessian(
        END,
        WRT,
        duration=DURATION,
        method=method,
        tolerance=1e-9,
        coordinates=coordinates,
    )
    exact = closed_form()[2]
    scale = np.abs(exact).max(axis=(1, 2), keepdims=True)
    assert np.abs((hessian.hessian.to_numpy() - exact) / scale).max() < 1e-6


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("reverse", [False, True])
def test_joints_in_space_either_way_round(coordinates: str, reverse: bool) -> None:
    check(
        disc(3, reverse=reverse).sensitivity(
            END, WRT, duration=DURATION, tolerance=1e-9, coordinates=coordinates
        ),
        1e-7,
    )


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_ensembles_count_turns(coordinates: str) -> None:
    """Also where samples are wound by many turns more than nominal."""
    k = np.linspace(0.3, 0.7, 6)
    first = np.array([0.0, -60.0, 3.0, 62.0, 100.0, 3.3])
    ensemble = disc().ensemble(
        END["end"],
        {"k": k, "first": first},
        duration=DURATION,
        tolerance=1e-9,
        coordinates=coordinates,
    )
    Ω = np.sqrt(k / INERTIA)
    exact = REST + (first - REST) * np.cos(Ω * DURATION) + SPEED / Ω * np.sin(Ω * DURATION)
    assert ensemble.values.to_numpy().ravel() == pytest.approx(exact, abs=1e-5)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_reactions_and_energy_of_a_wound_spring(coordinates: str) -> None:
    m = disc(3)
    run = m.simulate(DURATION, tolerance=1e-10, coordinates=coordinates)
    energy = run.energy().to_numpy()
    first = STIFFNESS * (FIRST - REST) ** 2 / 2 + INERTIA * SPEED**2 / 2
    assert energy == pytest.approx(np.full(energy.size, first), rel=1e-8)
    assert np.abs(run.reaction_torque("J").to_numpy()).max() < 1e-6  # the spring turns it, no joint


def test_equilibrium_and_frequencies_of_a_wound_spring() -> None:
    m = disc()
    m.start(angle={"J": 9.0})
    assert float(m.equilibrium().angle("J")[0]) == pytest.approx(REST, abs=1e-9)
    ω = m.frequencies()
    assert 2 * math.pi * float(ω[0]) == pytest.approx(math.sqrt(STIFFNESS / INERTIA), rel=1e-9)


def chain(count: int, dimension: int = 2) -> vm.Mechanism:
    """Bars on torsional springs, all wound; given by the angles of bodies in the plane."""
    m = vm.Mechanism("chain", gravity=(0, -9.81) if dimension == 2 else (0, -9.81, 0))
    k = m.parameter("k", 0.2)
    m.ground_point("P0", (0,) * dimension)
    for i in range(count):
        extra: dict[str, Any] = {} if dimension == 2 else {"radius": 0.02}
        m.bar(f"b{i}", f"P{i}", f"P{i + 1}", length=0.3, mass=0.5, **extra)
        m.revolute(f"P{i}", axis=None if dimension == 2 else (0, 0, 1))
        m.torsional_spring(f"s{i}", f"P{i}", stiffness=k, damping=0.02)
    turned = [4.0 * (i + 1) if dimension == 2 else 4.0 for i in range(count)]
    angles = {f"b{i}" if dimension == 2 else f"P{i}": φ for i, φ in enumerate(turned)}
    m.start(angle=angles)
    return m


@pytest.mark.parametrize("dimension", [2, 3])
def test_large_trees_agree_in_all_coordinates(dimension: int) -> None:
    """Ten joints: recursive in relative coordinates, assembled in natural ones."""
    schemes: list[dict[str, Any]] = [
        {"coordinates": "rtdyn0"},
        {"coordinates": "rtdyn1", "method": "adjoint"},
        {"coordinates": "natural", "formulation": "index1"},
    ]
    first, *others = (
        chain(10, dimension).sensitivity(
            vm.final(lambda s: s.angle("P9") + 0.1 * s.angle("P3")),
            duration=0.2,
            tolerance=1e-9,
            **scheme,
        )
        for scheme in schemes
    )
    for other in others:
        assert float(other.values[0]) == pytest.approx(float(first.values[0]), rel=1e-7)
        assert other.gradient.item() == pytest.approx(first.gradient.item(), rel=1e-6)


NAMES = ["A", "B", "C", "D", "crank", "coupler", "rocker"]
"""Joints and bodies of a four-bar whose crank goes round; given at the start, or not."""


@pytest.fixture(scope="module")
def four_bar() -> vm.Mechanism:
    m = vm.Mechanism("four-bar", gravity=(0, -9.81))
    w = m.parameter("w", 25.0)
    add_four_bar(m, 0.4, 0.1, 0.4, 0.3)
    m.torsional_spring("coil", "B", stiffness=0.02, rest_angle=9.0)
    m.start(angle={"crank": -11.0}, speed={"crank": w}, near={"coupler": 0.6, "rocker": 1.5})
    return m


def turns(m: vm.Mechanism, coordinates: Any) -> vm.Gradient:
    objectives = {name: vm.final(f"angle('{name}')") for name in NAMES}
    return m.sensitivity(objectives, duration=0.6, tolerance=1e-9, coordinates=coordinates)


@pytest.fixture(scope="module")
def natural(four_bar: vm.Mechanism) -> vm.Gradient:
    return turns(four_bar, "natural")


@pytest.mark.parametrize("centre", ["centre of mass", "origin"])
@pytest.mark.parametrize("cut", ["A", "B", "C", "D"])
def test_loops_count_turns_wherever_they_are_cut(
    four_bar: vm.Mechanism, natural: vm.Gradient, centre: str, cut: str
) -> None:
    relative = turns(four_bar, vm.Relative(centre, cut=[cut]))
    ends = [float(natural.run.angle(name)[-1]) for name in NAMES]
    assert np.abs(ends).max() > 4 * math.pi - 11.0
    assert natural.values.to_numpy() == pytest.approx(ends, rel=1e-9, abs=1e-9)
    assert relative.values.to_numpy() == pytest.approx(ends, rel=1e-6, abs=1e-6)
    assert relative.gradient.to_numpy() == pytest.approx(natural.gradient.to_numpy(), rel=1e-5)
