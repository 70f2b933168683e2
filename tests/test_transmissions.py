"""Gears with teeth, backlash and losses, racks, belts: against closed forms and SciPy, in all
coordinates and formulations, with all derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import varimech as vm

COORDINATES = ("natural", "rtdyn0", "rtdyn1")
METHODS = ("direct", "adjoint", "complex-step")
EXACT: list[dict[str, Any]] = [
    {"formulation": "index1"},
    {"formulation": "index1-stabilised"},
    {"formulation": "independent"},
    {"integrator": "dopri5"},
    {"integrator": "cvodes", "coordinates": "rtdyn1"},
]
J1, J2, TORQUE, DURATION = 0.1, 0.03, 3.0, 2.0
Array = np.ndarray


def wheels(dimension: int = 2, axes: tuple[Any, Any] = ((0, 0, 1), (0, 0, 1))) -> vm.Mechanism:
    """Two wheels on the ground, and a block that slides; a torque turns the first wheel."""
    m = vm.Mechanism("wheels", dimension=dimension)
    zero = (0.0,) * dimension
    for k, (name, inertia) in enumerate((("A", J1), ("B", J2), ("C", 0.1))):
        m.ground_point(name, (0.3 * k, *zero[1:]))
        full: Any = inertia if dimension == 2 else (inertia, inertia, inertia)
        m.body(f"b{name}", mass=2.0, inertia=full, points={name: zero})
    for name, axis in zip("AB", axes, strict=True):
        m.revolute(name, axis=None if dimension == 2 else axis)
    m.prismatic("C", axis=(1, *zero[1:]))
    about = np.array(axes[0], dtype=float) / np.linalg.norm(axes[0]) * TORQUE
    m.torque("motor", "bA", TORQUE if dimension == 2 else tuple(about))
    return m


def final_angles(m: vm.Mechanism, **start: Any) -> list[float]:
    m.start(**(start or {"angle": {"A": 0.0}, "displacement": {"C": 0.0}}))
    run = m.simulate(1.0)
    return [float(run.angle(name)[-1]) for name in "AB"]


# --- ratios


@pytest.mark.parametrize(
    ("given", "i"),
    [
        ({"teeth": (20, 50)}, -0.4),
        ({"teeth": (20, 50), "mesh": "internal"}, 0.4),
        ({"radii": (0.1, "250 mm")}, -0.4),
        ({"ratio": 0.7}, 0.7),
    ],
)
def test_teeth_and_radii_determine_the_ratio(given: dict[str, Any], i: float) -> None:
    m = wheels()
    m.gear("mesh", "A", "B", **given)
    first, second = final_angles(m)
    assert first == pytest.approx(TORQUE / (J1 + i**2 * J2) / 2, rel=1e-7)
    assert second == pytest.approx(i * first, rel=1e-9)


@pytest.mark.parametrize("mesh", ["external", "internal"])
@pytest.mark.parametrize(
    ("axes", "sense"), [(((0, 0, 1), (0, 0, 2)), 1), (((0, 0, 1), (0, 0, -1)), -1)]
)
def test_the_sense_of_parallel_axes_counts(mesh: str, axes: Any, sense: int) -> None:
    """Two gears that mesh outside turn in opposite senses in space, however their axes are given."""
    m = wheels(3, axes)
    m.gear("mesh", "A", "B", teeth=(20, 50), mesh=mesh)
    first, second = final_angles(m)
    assert second == pytest.approx((0.4 if mesh == "internal" else -0.4) * sense * first, rel=1e-9)


def test_a_carrier_that_is_the_second_body_reverses_the_angle() -> None:
    """A planet on an arm rolls on a sun of the ground: (1 + z₁/z₂) turns for one of the arm, in plane
    and space; the angle of the arm against the ground is given in either sense.
    """
    for dimension, reverse in ((2, False), (2, True), (3, False), (3, True)):
        m = vm.Mechanism("planet", dimension=dimension)
        zero, one = (0.0,) * dimension, (0.3, *(0.0,) * (dimension - 1))
        axis: dict[str, Any] = {} if dimension == 2 else {"axis": (0, 0, 1)}
        inertia: Any = 0.01 if dimension == 2 else (0.01, 0.01, 0.01)
        m.ground_point("O", zero)
        m.body("arm", mass=1.0, inertia=inertia, points={"O": zero, "P": one})
        m.body("planet", mass=0.5, inertia=inertia, points={"P": zero})
        ends = ("arm.O", "ground.O") if reverse else ("ground.O", "arm.O")
        m.revolute("shaft", *ends, **axis)
        m.revolute("bearing", "arm.P", "planet.P", **axis)
        m.gear("mesh", "shaft", "bearing", teeth=(40, 20))
        sign = -1.0 if reverse else 1.0
        m.start(angle={"shaft": 0.0}, speed={"shaft": 20.0})
        run = m.simulate(1.0)
        assert float(run.angle("bearing")[-1]) == pytest.approx(sign * 2 * 20.0, rel=1e-7)


def test_bevel_and_worm_gears() -> None:
    """Axes at right angles, that intersect or cross: angles increase together, as tooth numbers."""
    for teeth, axes in (((17, 34), ((1, 0, 0), (0, 1, 0))), ((1, 30), ((0, 0, 1), (0, 1, 0)))):
        m = wheels(3, axes)
        m.gear("mesh", "A", "B", teeth=teeth, mesh="crossed")
        first, second = final_angles(m)
        i = teeth[0] / teeth[1]
        assert second == pytest.approx(i * first, rel=1e-9)
        assert first == pytest.approx(TORQUE / (J1 + i**2 * J2) / 2, rel=1e-7)


# --- compliant, linear: M ẍ + C ẋ + K x = f from rest, by the exponential of a matrix


def linear(M: Array, C: Array, K: Array, f: Array, t: float) -> Array:
    """x and ẋ at a time."""
    n, A = len(f), np.zeros((2 * len(f) + 1,) * 2, dtype=complex)
    A[:n, n : 2 * n] = np.eye(n)
    A[n : 2 * n, :n] = -np.linalg.solve(M, K)
    A[n : 2 * n, n : 2 * n] = -np.linalg.solve(M, C)
    A[n : 2 * n, -1] = np.linalg.solve(M, f)
    return expm(A * t)[: 2 * n, -1]


def of_linear(p: Array, i: float, inertia: float) -> Array:
    """First and second output, and force along the second; p = (k, c, torque)."""
    k, c, torque = p
    g = np.array([i, -1.0])
    both = np.outer(g, g)
    M, f = np.diag([J1, inertia]), np.array([torque, 0.0])
    y1, y2, v1, v2 = linear(M, c * both, k * both, f, DURATION)
    return np.array([y1, y2, k * (i * y1 - y2) + c * (i * v1 - v2)])


def slopes(function: Callable[[Array], Array], p: Array) -> Array:
    """By complex steps."""
    h = 1e-20
    return np.stack([function(p + 1j * h * e).imag / h for e in np.eye(len(p))], axis=1)


CASES: dict[str, tuple[float, float, float, float]] = {
    "gear": (-0.4, J2, 30.0, 0.2),
    "rack and pinion": (0.05, 2.0, 4000.0, 20.0),
    "belt": (0.5, J2, 30.0, 0.2),
}
"""i, inertia of the second output, stiffness and damping along it."""


def elastic(kind: str) -> tuple[vm.Mechanism, dict[str, vm.Objective]]:
    m = wheels()
    k, c = (m.parameter(name, x) for name, x in zip("kc", CASES[kind][2:], strict=True))
    torque = m.parameter("T", 0.0)
    m.torque("more", "bA", torque)
    at: dict[str, Any] = {"angle": {"A": 0.0}, "displacement": {"C": 0.0}}
    second = "angle('B')"
    if kind == "gear":
        m.gear("mesh", "A", "B", teeth=(20, 50), stiffness=k, damping=c)
        at["angle"]["B"] = 0.0
    elif kind == "belt":  # two strands, both taut, at a radius of 0.2 m
        both = 2 * 0.2**2
        m.belt(
            "mesh", "A", "B", radii=(0.1, 0.2), stiffness=k / both, damping=c / both, tension=1e3
        )
        at["angle"]["B"] = 0.0
    else:
        m.rack_and_pinion("mesh", "A", "C", radius=0.05, stiffness=k, damping=c)
        second = "displacement('C')"
        at["angle"]["B"] = 0.0
    m.start(**at)
    return m, {
        "first": vm.final("angle('A')"),
        "second": vm.final(second),
        "force": vm.final("effort('mesh')"),
    }


def expected(kind: str) -> tuple[Array, Array]:
    i, inertia, k, c = CASES[kind]
    p = np.array([k, c, TORQUE])

    def function(x: Array) -> Array:
        return of_linear(x, i, inertia)

    return function(p.astype(complex)).real, slopes(function, p.astype(complex))


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", METHODS)
def test_compliant_transmissions(kind: str, coordinates: str, method: str) -> None:
    m, objectives = elastic(kind)
    values, derivatives = expected(kind)
    g = m.sensitivity(
        objectives, duration=DURATION, tolerance=1e-10, coordinates=coordinates, method=method
    )
    assert abs(values[0]) > 4 * 2 * math.pi  # turns
    scale = np.abs(derivatives).max(axis=1, keepdims=True)
    assert g.final_values == pytest.approx(values, rel=1e-7)
    assert np.abs((g.final_gradient - derivatives) / scale).max() < 1e-6
    unit = "N" if kind == "rack and pinion" else "N·m"
    assert g.run.effort("mesh").attrs["units"] == unit
    i = CASES[kind][0]
    if kind != "belt":
        assert g.run.effort("mesh.first").to_numpy()[-1] == pytest.approx(-i * values[2], rel=1e-7)


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("options", EXACT, ids=str)
def test_compliant_transmissions_in_all_formulations(kind: str, options: dict[str, Any]) -> None:
    m, objectives = elastic(kind)
    values, derivatives = expected(kind)
    rough = options.get("integrator") == "cvodes"
    g = m.sensitivity(
        objectives,
        duration=DURATION,
        tolerance=1e-8 if rough else 1e-10,
        method="direct",
        **options,
    )
    scale = np.abs(derivatives).max(axis=1, keepdims=True)
    assert g.final_values == pytest.approx(values, rel=1e-5 if rough else 1e-7)
    assert np.abs((g.final_gradient - derivatives) / scale).max() < (1e-4 if rough else 1e-6)


@pytest.mark.parametrize("kind", CASES)
def test_second_derivatives_of_compliant_transmissions(kind: str) -> None:
    m, objectives = elastic(kind)
    i, inertia, k, c = CASES[kind]
    p, steps = np.array([k, c, TORQUE], dtype=complex), (1e-4 * k, 1e-4 * c, 1e-4)
    H = m.hessian(objectives, duration=DURATION, tolerance=1e-10).hessian.to_numpy()
    for n, h in enumerate(steps):
        ends = [slopes(lambda x: of_linear(x, i, inertia), p + s * np.eye(3)[n]) for s in (h, -h)]
        off = (H[:, n, :] - (ends[0] - ends[1]) / (2 * h)) * abs(p[n]) * np.abs(p)
        assert np.abs(off / expected(kind)[0][:, None]).max() < 5e-6


# --- backlash, losses and slack strands: by SciPy, piecewise


def backlash_torque(x: float, rate: float, p: dict[str, float]) -> float:
    """T₂ for a deflection and its rate."""
    for side in (1, -1):
        over = side * x - p["b"] / 2
        if over > 0:
            return side * max(p["k"] * over + p["c"] * side * rate * min(over / 1e-4, 1), 0.0)
    return 0.0


def by_scipy(p: dict[str, float], T: float) -> Array:
    i = -0.4

    def rates(t: float, z: Array) -> list[float]:
        y1, y2, v1, v2 = z
        T2 = backlash_torque(i * y1 - y2, i * v1 - v2, p)
        passed, u = i * T2, math.tanh(v1 / 1e-3)
        share = 1 / p["η"] - 1 if passed * u > 0 else 1 - p["η"]
        T1 = -passed - abs(passed) * u * share
        return [v1, v2, (TORQUE * math.cos(6 * t) + T1) / J1, (T2 + 0.3) / J2]

    z = solve_ivp(
        rates, (0, T), [0, 0, 1.0, 0], method="DOP853", rtol=1e-11, atol=1e-12, max_step=1e-3
    )
    return z.y[:2, -1]


def rattling() -> vm.Mechanism:
    """A torque to and fro, and a load: the flanks change."""
    m = vm.Mechanism("rattle", dimension=2)
    b, k = m.parameter("b", 0.05), m.parameter("k", 40.0)
    c, η = m.parameter("c", 0.05), m.parameter("η", 0.9)
    for n, (name, inertia) in enumerate((("A", J1), ("B", J2))):
        m.ground_point(name, (0.3 * n, 0))
        m.body(f"b{name}", mass=1.0, inertia=inertia, points={name: (0, 0)})
        m.revolute(name)
    m.torque("motor", "bA", f"{TORQUE}*cos(6*t)")
    m.torque("load", "bB", 0.3)
    m.gear("mesh", "A", "B", radii=(0.02, 0.05), stiffness=k, damping=c, backlash=b, efficiency=η)
    m.start(angle={"A": 0.0, "B": 0.0}, speed={"A": 1.0, "B": 0.0})
    return m


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_backlash_and_losses(coordinates: str) -> None:
    T = 0.6
    p = {"b": 0.05, "k": 40.0, "c": 0.05, "η": 0.9}
    objectives = {"first": vm.final("angle('A')"), "second": vm.final("angle('B')")}
    solved = {
        method: rattling().sensitivity(
            objectives, duration=T, tolerance=1e-10, coordinates=coordinates, method=method
        )
        for method in METHODS
    }
    run = solved["direct"].run
    sides = np.sign(run.effort("mesh").to_numpy())
    assert {-1.0, 0.0, 1.0} <= set(sides)  # both flanks, and none
    for n, (name, value) in enumerate(p.items()):
        h = 1e-3 * value  # where kinks of the reference make the least of errors
        ends = [by_scipy(p | {name: value + s}, T) for s in (h, -h)]
        for g in solved.values():
            scale = np.abs(solved["direct"].final_gradient[:, n]).max()
            error = g.final_gradient[:, n] - (ends[0] - ends[1]) / (2 * h)
            assert np.abs(error).max() < 2e-5 * scale, name
    assert solved["direct"].final_values == pytest.approx(by_scipy(p, T), rel=1e-7)


@pytest.mark.parametrize("driving", ["first", "second"])
def test_an_efficiency_takes_its_share_of_the_power(driving: str) -> None:
    """Once the mesh is at rest in itself: power out = η power in, whichever side drives."""
    m = wheels()
    m.gear("mesh", "A", "B", teeth=(20, 50), stiffness=500.0, damping=3.0, efficiency=0.8)
    at = {"A": 0.0, "B": 0.0}
    if driving == "second":
        m.torque("brake", "bA", -TORQUE)
        m.torque("load", "bB", 2.0)
    m.start(angle=at, displacement={"C": 0.0})
    run = m.simulate(3.0, tolerance=1e-9)
    T1, T2 = (float(run.effort(name)[-1]) for name in ("mesh.first", "mesh"))
    ω1, ω2 = (float(run.angular_velocity(f"b{name}")[-1]) for name in "AB")
    into, out = (-T1 * ω1, T2 * ω2) if driving == "first" else (-T2 * ω2, T1 * ω1)
    assert into > 1 and out / into == pytest.approx(0.8, rel=1e-6)
    i = -0.4  # constant accelerations: J₁ a = T + T₁,  J₂ i a = T₂,  T₁ = −i T₂/η (or η)
    a = TORQUE / (J1 + i**2 * J2 / 0.8)
    if driving == "second":
        a = i * 2.0 * 0.8 / (J1 + i**2 * J2 * 0.8)  # J₂ i a = 2 + T₂
    assert float(run.angular_acceleration("bA")[-1]) == pytest.approx(a, rel=1e-6)


def test_a_chain_pulls_with_one_strand() -> None:
    """Without tension the other strand is slack: half the stiffness of a taut belt."""
    m = wheels()
    m.belt("chain", "A", "B", radii=(0.1, 0.2), stiffness=3000.0, damping=20.0)
    m.start(angle={"A": 0.0, "B": 0.0}, displacement={"C": 0.0})
    run = m.simulate(DURATION, tolerance=1e-10)
    values = of_linear(np.array([3000 * 0.04, 20 * 0.04, TORQUE], dtype=complex), 0.5, J2).real
    assert float(run.angle("B")[-1]) == pytest.approx(values[1], rel=1e-7)
    pulling, returning = (run.effort(f"chain.{x}").to_numpy() for x in ("pulling", "returning"))
    assert pulling[-1] * 0.2 == pytest.approx(values[2], rel=1e-6)
    assert not returning[1:].any() and returning.shape == pulling.shape
    assert run.effort("chain.pulling").attrs["units"] == "N"


def test_tensions_of_a_taut_belt() -> None:
    m, _ = elastic("belt")
    run = m.simulate(DURATION, tolerance=1e-10)
    pulling, returning = (run.effort(f"mesh.{x}").to_numpy() for x in ("pulling", "returning"))
    assert pulling + returning == pytest.approx(2000.0)
    assert run.effort("mesh").to_numpy() == pytest.approx(0.2 * (pulling - returning))


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_rigid_belt(crossed: bool, coordinates: str) -> None:
    m = wheels()
    r = m.parameter("r", 0.1, unit="m")
    m.belt("belt", "A", "B", radii=(r, 0.2), crossed=crossed, phase=0.3)
    m.start(angle={"A": 0.0}, displacement={"C": 0.0})
    t, i = 4.0, -0.5 if crossed else 0.5
    J = J1 + i**2 * J2
    g = m.sensitivity(
        {"φ": vm.final("angle('B')"), "T": vm.final("effort('belt')")},
        duration=t,
        tolerance=1e-10,
        coordinates=coordinates,
    )
    φ, φ_i = i * TORQUE / J * t**2 / 2 + 0.3, TORQUE * t**2 / 2 * (J - 2 * i**2 * J2) / J**2
    T_i = J2 * TORQUE * (J - 2 * i**2 * J2) / J**2
    per_r = i / 0.1
    assert abs(φ) > 10 * 2 * math.pi
    assert g.final_values == pytest.approx([φ, J2 * i * TORQUE / J], rel=1e-8)
    assert g.final_gradient.ravel() == pytest.approx([φ_i * per_r, T_i * per_r], rel=1e-7)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_rigid_rack(reverse: bool, dimension: int, coordinates: str) -> None:
    """J φ̈ + m r² φ̈ = T,  F = m s̈."""
    m = wheels(dimension)
    r = m.parameter("r", 0.05, unit="m")
    m.rack_and_pinion("rack", "A", "C", radius=r, reverse=reverse, offset=0.01)
    m.start(angle={"A": 0.0, "B": 0.0})
    t, sign, mass = 3.0, -1 if reverse else 1, 2.0
    J = J1 + mass * 0.05**2
    g = m.sensitivity(
        {"s": vm.final("displacement('C')"), "F": vm.final("effort('rack')")},
        duration=t,
        tolerance=1e-10,
        coordinates=coordinates,
    )
    a = 0.05 * TORQUE / J
    a_r = TORQUE * (J - 2 * mass * 0.05**2) / J**2
    assert g.final_values == pytest.approx([0.01 + sign * a * t**2 / 2, sign * mass * a], rel=1e-8)
    assert g.final_gradient.ravel() == pytest.approx(
        [sign * a_r * t**2 / 2, sign * mass * a_r], rel=1e-7
    )
    assert g.run.effort("rack").attrs["units"] == "N"
    assert float(g.run.angle("A")[-1]) > 10 * 2 * math.pi


# --- rigid flanks: a stop


def test_rigid_flanks_are_a_stop() -> None:
    """Free until the backlash is used up, then plastic impact: J₁ ω = (J₁ + i² J₂) ω'."""
    m = wheels()
    m.stop("flanks", lambda s: s.angle("B") + 0.4 * s.angle("A"), lower=-0.1, upper=0.1)
    m.start(angle={"A": 0.0, "B": 0.0}, displacement={"C": 0.0})
    run = m.simulate(0.3)
    e = run.events["flanks.upper"][0]
    t = math.sqrt(2 * 0.25 * J1 / TORQUE)  # 0.4 φ = 0.1
    assert e.time == pytest.approx(t, rel=1e-7)
    ω = TORQUE / J1 * t * J1 / (J1 + 0.16 * J2) + TORQUE / (J1 + 0.16 * J2) * (0.3 - t)
    assert float(run.angular_velocity("bA")[-1]) == pytest.approx(ω, rel=1e-6)


# --- bad input


@pytest.mark.parametrize(
    ("method", "given", "message"),
    [
        ("gear", {}, r"needs one of ratio=…, teeth=… and radii=…"),
        ("gear", {"ratio": 2.0, "teeth": (1, 2)}, r"needs only one of .* ratio and teeth"),
        ("gear", {"teeth": (0, 20)}, r"teeth\[0\] = 0 must be positive"),
        ("gear", {"teeth": (20, -3)}, r"teeth\[1\] = -3 must be positive"),
        ("gear", {"teeth": (20.5, 30)}, r"teeth = \(20.5, 30\) must be whole numbers"),
        ("gear", {"teeth": 20}, r"teeth = 20 must be a pair of numbers"),
        ("gear", {"radii": (0.1, 0)}, r"radii\[1\] = 0 must be positive"),
        ("gear", {"ratio": 0.0}, r"ratio = 0 must not be zero"),
        ("gear", {"ratio": 2.0, "mesh": "internal"}, r"mesh = 'internal' belongs to teeth"),
        (
            "gear",
            {"teeth": (40, 20), "mesh": "internal"},
            r"of the second gear \(ring\) − the first = -20 must be positive",
        ),
        ("gear", {"teeth": (40, 20), "mesh": "crossed"}, r"is for axes in space"),
        ("gear", {"teeth": (40, 20), "mesh": "outer"}, r"must be one of 'external'"),
        ("gear", {"ratio": 1.0, "backlash": 0.1}, r"backlash = 0.1 needs a compliant mesh.*stop"),
        ("gear", {"ratio": 1.0, "efficiency": 0.9}, r"efficiency = 0.9 needs a compliant mesh"),
        ("gear", {"ratio": 1.0, "stiffness": 1.0, "efficiency": 0.0}, r"efficiency = 0 must be gr"),
        ("gear", {"ratio": 1.0, "stiffness": 1.0, "efficiency": 1.1}, r"1.1 must be .* at most 1"),
        ("gear", {"ratio": 1.0, "stiffness": -1.0}, r"stiffness = -1 must be positive"),
        ("belt", {"radii": (0.1, -0.1)}, r"radii\[1\] = -0.1 must be positive"),
        ("belt", {"radii": (0.1, 0.1), "tension": 3.0}, r"tension = 3.0 needs elastic strands"),
        ("belt", {"radii": (0.1, 0.1), "damping": 3.0}, r"damping = 3.0 needs elastic strands"),
    ],
)
def test_what_is_refused(method: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(vm.ModelError, match=message):
        getattr(wheels(), method)("it", "A", "B", **given)


def test_joints_that_do_not_suit() -> None:
    m = wheels()
    with pytest.raises(vm.ModelError, match=r"joint 'C' is prismatic: it has no angle"):
        m.gear("g", "A", "C", ratio=2.0)
    with pytest.raises(vm.ModelError, match=r"joint 'C' is prismatic: it has no angle"):
        m.rack_and_pinion("r", "C", "C", radius=0.1)
    with pytest.raises(vm.ModelError, match=r"joint 'B' is revolute: it has no displacement"):
        m.rack_and_pinion("r", "A", "B", radius=0.1)
    for radius in (0.0, -0.1):
        with pytest.raises(vm.ModelError, match=r"radius = .* must be positive"):
            m.rack_and_pinion("r", "A", "C", radius=radius)
    with pytest.raises(vm.ModelError, match=r"axes of its two joints are not parallel.*crossed"):
        wheels(3, ((0, 0, 1), (0, 1, 0))).gear("g", "A", "B", teeth=(1, 2))
    with pytest.raises(vm.ModelError, match=r"not parallel"):
        wheels(3, ((0, 0, 1), (0, 1, 0))).belt("g", "A", "B", radii=(1, 2))
    m = wheels()
    m.body("p", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.point("bA", "P", (0.1, 0))
    m.revolute("P", "bA.P", "p.P")
    with pytest.raises(vm.ModelError, match=r"no body in common"):
        m.gear("g", "P", "B", teeth=(1, 2))


def test_a_parameter_that_makes_the_ring_too_small_is_refused() -> None:
    m = wheels()
    m.parameter("r", 0.1, unit="m")
    m.gear("mesh", "A", "B", radii=("r", 0.2), mesh="internal")
    m.start(angle={"A": 0.0}, displacement={"C": 0.0})
    with pytest.raises(vm.ModelError, match="ring"):
        m.simulate(0.1, parameters={"r": 0.3})
