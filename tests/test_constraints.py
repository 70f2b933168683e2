"""Constraints of positions and of velocities that users write, and rolling: against closed forms, in
all coordinates and formulations, with all derivatives.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from both_backends import both_backends
from scipy.integrate import solve_ivp

import varimech as vm

COORDINATES = ("natural", "rtdyn0", "rtdyn1")
EXACT: list[dict[str, Any]] = [
    {"formulation": "index1"},
    {"formulation": "index1-stabilised"},
    {"formulation": "independent"},
    {"integrator": "dopri5"},
    {"integrator": "cvodes"},
]
G, SLOPE = 9.81, 2.0


# --- positions


def pulley() -> vm.Mechanism:
    """Two blocks on vertical rails, one of them in the loop of a rope: x₁ + 2 x₂ = c."""
    m = vm.Mechanism("pulley", gravity=(0, -G))
    m.parameter("m1", 3.0, unit="kg")
    m.parameter("k", 2.0)
    m.ground_point("O", (0, 0))
    m.ground_point("Q", (1, 0))
    for name, at, mass in (("one", "O", "m1"), ("two", "Q", 2.0)):
        m.body(name, mass=mass, inertia=0.1, points={"C": (0, 0)})
        m.prismatic(f"rail {name}", f"ground.{at}", f"{name}.C", axis=(0, 1))
    m.constraint("rope", "position('one.C')[1] + k*position('two.C')[1] + 3")
    m.start(displacement={"rail one": -1.0})
    return m


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", ["direct", "adjoint", "complex-step", "composite"])
def test_a_rope_over_a_pulley(coordinates: str, method: str) -> None:
    m1, m2, k, t = 3.0, 2.0, 2.0, 0.7

    def tension(m1: float, k: float) -> float:  # m₁ ẍ₁ = T − m₁ g,  m₂ ẍ₂ = k T − m₂ g,  ẍ₁ = −k ẍ₂
        return G * (1 + k) / (1 / m1 + k**2 / m2)

    T, h = tension(m1, k), 1e-6
    T_m, T_k = (
        (tension(m1 + a, k + b) - tension(m1 - a, k - b)) / (2 * h) for a, b in ((h, 0), (0, h))
    )
    half = t**2 / 2
    outputs = {
        "x": vm.final("position('one.C')[1]"),
        "T": vm.final("effort('rope')"),
        "T by λ": vm.final("-multiplier('rope')"),
    }
    g = pulley().sensitivity(
        outputs, ["m1", "k"], duration=t, coordinates=coordinates, method=method, tolerance=1e-10
    )
    x = -1 + half * (T / m1 - G)
    assert g.final_values == pytest.approx([x, T, T], rel=1e-9)
    of_x = [half * (T_m / m1 - T / m1**2), half * T_k / m1]
    assert g.final_gradient == pytest.approx(np.array([of_x, [T_m, T_k], [T_m, T_k]]), rel=1e-7)
    assert pulley().dofs == 1
    assert g.run.effort("rope").attrs["units"] == "N"


def bead() -> vm.Mechanism:
    """A bead on an ellipse, x = a cos u, y = b sin u."""
    m = vm.Mechanism("bead", gravity=(0, -G))
    a, b = m.parameter("a", 2.0, unit="m"), m.parameter("b", 1.0, unit="m")
    m.body("bead", mass=1.3, inertia=0.1, points={"P": (0, 0)}, floating=True)
    m.constraint(
        "ring",
        lambda s: (s.position("P")[0] / a) ** 2 + (s.position("P")[1] / b) ** 2 - 1,
        unit="1",
    )
    m.start(position={"P": (1.2, None)}, angle={"bead": 0.0}, near={"P": (1.2, 0.8)})
    return m


RING = {"x": vm.final("position('P')[0]"), "f": vm.final("effort('ring')")}


def on_ellipse(a: float, b: float, duration: float) -> np.ndarray:
    """x at the end, by one coordinate u:  (a² s² + b² c²) ü + (a² − b²) s c u̇² + g b c = 0."""

    def rates(_: float, z: np.ndarray) -> list[float]:
        u, w = z
        s, c = math.sin(u), math.cos(u)
        return [
            w,
            -((a**2 - b**2) * s * c * w**2 + G * b * c) / (a**2 * s**2 + b**2 * c**2),
        ]

    u0 = math.acos(1.2 / a)
    u = solve_ivp(rates, (0, duration), [u0, 0.0], method="DOP853", rtol=1e-12, atol=1e-13).y[0, -1]
    return np.array(a * math.cos(u))


def test_a_bead_on_an_ellipse() -> None:
    g = bead().sensitivity(RING, duration=1.0, tolerance=1e-11)
    h = 1e-5
    slopes = [
        (on_ellipse(2 + p, 1 + q, 1.0) - on_ellipse(2 - p, 1 - q, 1.0)) / (2 * h)
        for p, q in ((h, 0), (0, h))
    ]
    assert g.final_values[0] == pytest.approx(on_ellipse(2.0, 1.0, 1.0), rel=1e-9)
    assert g.final_gradient[0] == pytest.approx(slopes, rel=1e-7)
    run = g.run
    energy = run.energy("total").to_numpy()
    assert np.ptp(energy) < 1e-8
    assert run.effort("ring").attrs["units"] == "J"
    # Newton's law: m r̈ = m g + T ∇Φ
    x, y = run.position("P").to_numpy().T
    a = run.acceleration("P").to_numpy()
    T = run.effort("ring").to_numpy()
    assert 1.3 * a[:, 0] == pytest.approx(T * 2 * x / 4, abs=1e-6)
    assert 1.3 * (a[:, 1] + G) == pytest.approx(T * 2 * y, abs=1e-6)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_second_derivatives_of_constraints(coordinates: str) -> None:
    m, h = bead(), 1e-5
    options: dict[str, Any] = {
        "duration": 1.0,
        "tolerance": 1e-11,
        "coordinates": coordinates,
    }
    hessian = m.hessian(RING, **options).hessian.to_numpy()
    for k, (name, value) in enumerate((("a", 2.0), ("b", 1.0))):
        ends = [
            m.sensitivity(RING, parameters={name: value + s}, **options).final_gradient
            for s in (h, -h)
        ]
        assert hessian[:, k, :] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6, abs=1e-5)


def test_the_equilibrium_of_a_bead() -> None:
    found = bead().equilibrium()
    assert found.position("P").to_numpy()[0] == pytest.approx([0.0, -1.0], abs=1e-9)
    assert found.effort("ring").to_numpy()[0] == pytest.approx(-1.3 * G / 2)  # T 2 y/b² = m g


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_constraints_of_angles_count_turns_and_may_be_several(coordinates: str) -> None:
    """A nut and a pinion by one element: s = p φ/2π, and a second angle of −3 times the first."""
    m = vm.Mechanism("nut", dimension=2)
    for k, name in enumerate("ABC"):
        m.ground_point(name, (k, 0))
        m.body(f"b{name}", mass=1.0, inertia=0.2, points={name: (0, 0), "T": (0.1, 0)})
    m.revolute("A")
    m.revolute("B")
    m.prismatic("C", "ground.C", "bC.C", axis=(0, 1))
    m.constraint(
        "drive",
        lambda s: [
            s.displacement("C") - 0.05 * s.angle("A") / (2 * math.pi),
            0.1 * s.angle("B") + 0.3 * s.angle("A"),
        ],
    )
    m.torque("motor", "bA", 4.0)
    m.start(angle={"A": 0.0})
    t, c = 6.0, 0.05 / (2 * math.pi)
    J = 0.2 + 9 * 0.2 + c**2
    run = m.simulate(t, coordinates=coordinates, tolerance=1e-10)
    φ = 4.0 / J * t**2 / 2
    assert φ > 5 * 2 * math.pi
    assert run.angle("B").to_numpy()[-1] == pytest.approx(-3 * φ, rel=1e-9)
    assert run.displacement("C").to_numpy()[-1] == pytest.approx(c * φ, rel=1e-9)
    assert run.effort("drive [0]").to_numpy()[-1] == pytest.approx(c * 4.0 / J)  # 1 kg
    assert run.effort("drive [1]").to_numpy()[-1] * 0.1 == pytest.approx(0.2 * -3 * 4.0 / J)
    assert m.topology().couplings == {"drive": 2}


def test_a_constraint_may_depend_on_time() -> None:
    m = vm.Mechanism("crane", gravity=(0, -G))
    m.body("load", mass=2.0, inertia=0.1, points={"P": (0, 0)}, floating=True)
    m.constraint("hoist", "position('P')[1] - 0.1*sin(3*t)")
    m.start(position={"P": (0.0, None)}, angle={"load": 0.0})
    run = m.simulate(1.0, tolerance=1e-10)
    assert run.position("P").to_numpy()[-1, 1] == pytest.approx(0.1 * math.sin(3.0))
    assert run.effort("hoist").to_numpy()[-1] == pytest.approx(2 * (G - 0.9 * math.sin(3.0)))


# --- velocities


def sleigh() -> vm.Mechanism:
    """A blade on a slope: its point does not move sideways."""
    m = vm.Mechanism("sleigh", gravity=(SLOPE, 0.0))
    w = m.parameter("w", 1.5, unit="rad/s")
    m.parameter("phi", 0.3, unit="rad")
    m.body("sleigh", mass=2.0, inertia=0.3, points={"P": (0, 0)}, floating=True)
    m.velocity_constraint(
        "blade",
        "velocity('P')[1]*cos(angle('sleigh')) - velocity('P')[0]*sin(angle('sleigh'))",
    )
    m.start(position={"P": (0, 0)}, angle={"sleigh": "phi"}, speed={"sleigh": w})
    return m


BLADE = {
    "x": vm.final("position('P')[0]"),
    "y": vm.final("position('P')[1]"),
    "f": vm.final("effort('blade')"),
}


def of_sleigh(w: complex, φ0: complex, t: float) -> np.ndarray:
    """u = (g/w)(sin φ − sin φ₀),  (ẋ, ẏ) = u (cos φ, sin φ),  f = m (u w + g sin φ)."""
    φ, k = φ0 + w * t, SLOPE / w
    s0, c0, s, c = np.sin(φ0), np.cos(φ0), np.sin(φ), np.cos(φ)
    x = k / w * ((s**2 - s0**2) / 2 - s0 * (s - s0))
    y = k / w * ((φ - φ0) / 2 - (s * c - s0 * c0) / 2 + s0 * (c - c0))
    return np.array([x, y, 2.0 * (k * (s - s0) * w + SLOPE * s)])


def sleigh_slopes(t: float) -> np.ndarray:
    h = 1e-20
    columns = [
        of_sleigh(1.5 + 1j * h, 0.3 + 0j, t).imag / h,
        of_sleigh(1.5 + 0j, 0.3 + 1j * h, t).imag / h,
    ]
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", ["direct", "adjoint", "complex-step"])
@both_backends
def test_a_blade_on_a_slope(coordinates: str, method: str, backend: str) -> None:
    if method == "complex-step" and backend == "auto":
        pytest.skip("complex steps are interpreted")
    g = sleigh().sensitivity(
        BLADE,
        duration=2.0,
        tolerance=1e-11,
        coordinates=coordinates,
        method=method,
        backend=backend,
    )
    assert g.final_values == pytest.approx(of_sleigh(1.5, 0.3, 2.0).real, rel=1e-9)
    assert g.final_gradient == pytest.approx(sleigh_slopes(2.0), rel=1e-8)


@pytest.mark.parametrize("options", EXACT, ids=str)
def test_a_blade_in_all_formulations(options: dict[str, Any]) -> None:
    tight = 1e-9 if options.get("integrator") == "cvodes" else 1e-11
    g = sleigh().sensitivity(BLADE, duration=2.0, tolerance=tight, method="direct", **options)
    rel = 1e-6 if options.get("integrator") == "cvodes" else 1e-8
    assert g.final_values == pytest.approx(of_sleigh(1.5, 0.3, 2.0).real, rel=rel)
    assert g.final_gradient == pytest.approx(sleigh_slopes(2.0), rel=rel)


@pytest.mark.parametrize("formulation", ["ali3p", "penalty"])
@pytest.mark.parametrize("integrator", ["hht", "generalised-alpha"])
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_a_blade_by_implicit_steps_of_order_two(
    formulation: str, integrator: str, method: str
) -> None:
    errors = []
    for step in (8e-3, 4e-3):
        g = sleigh().sensitivity(
            BLADE,
            duration=2.0,
            step=step,
            formulation=formulation,
            integrator=integrator,
            method=method,
        )
        off = g.final_values - of_sleigh(1.5, 0.3, 2.0).real
        errors.append([np.abs(off).max(), np.abs(g.final_gradient - sleigh_slopes(2.0)).max()])
    order = np.log2(np.array(errors[0]) / errors[1])
    assert order == pytest.approx([2.0, 2.0], abs=0.1)


@pytest.mark.parametrize("method", ["forward", "backward"])
def test_second_derivatives_of_a_blade(method: str) -> None:
    h = 1e-5
    found = sleigh().hessian(BLADE, duration=2.0, tolerance=1e-11, method=method).hessian.to_numpy()

    def slopes(w: float, φ: float) -> np.ndarray:
        e = 1e-20
        return np.stack(
            [
                of_sleigh(w + 1j * e, φ + 0j, 2.0).imag / e,
                of_sleigh(w + 0j, φ + 1j * e, 2.0).imag / e,
            ],
            axis=1,
        )

    expected = np.stack(
        [
            (slopes(1.5 + h, 0.3) - slopes(1.5 - h, 0.3)) / (2 * h),
            (slopes(1.5, 0.3 + h) - slopes(1.5, 0.3 - h)) / (2 * h),
        ],
        axis=1,
    )
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_a_velocity_constraint_removes_a_speed_and_no_position() -> None:
    m = sleigh()
    assert m.dofs == 3
    # forward speed given by one component: the other one follows
    m.start(position={"P": (0, 0)}, angle={"sleigh": 0.3}, speed={"P": (1.0, None)})
    run = m.simulate(0.1)
    assert run.velocity("P").to_numpy()[0] == pytest.approx([1.0, math.tan(0.3)])
    # nothing given: it is at rest
    m.start(position={"P": (0, 0)}, angle={"sleigh": 0.3})
    assert not m.simulate(0.1).velocity("P").to_numpy()[0].any()
    m.start(position={"P": (0, 0)}, angle={"sleigh": 0.3}, speed={"P": (1.0, 0.5)})
    with pytest.raises(vm.ModelError, match="position of 'P' along x, position of 'P' along y"):
        m.simulate(0.1)


def test_what_velocity_constraints_are_refused_by() -> None:
    m = sleigh()
    with pytest.raises(vm.ModelError, match=r"'blade'.*ali3p|'blade'.*index1"):
        m.simulate(
            1.0,
            formulation=vm.Penalty(inertial=False, xi=0.0),
            integrator="hht",
            step=1e-3,
        )
    with pytest.raises(vm.ModelError, match="constrains velocities"):
        m.sensitivity(BLADE, duration=1.0, method="composite")
    with pytest.raises(vm.ModelError, match="constrains velocities"):
        m.equilibrium()


def test_velocity_constraints_and_joints_share_the_load() -> None:
    """A trailer behind a slider that is driven: reactions by the balance of bodies, multipliers by the
    equations, and energy.
    """
    m = vm.Mechanism("trailer", dimension=2)
    L = m.parameter("L", 1.2, unit="m")
    m.ground_point("O", (0, 0))
    m.body("car", mass=3.0, inertia=0.1, points={"H": (0, 0)})
    m.body("trailer", mass=2.0, inertia=0.4, points={"H": (0.5, 0), "W": (0.5 - L, 0)})
    m.prismatic("rail", "ground.O", "car.H", axis=(1, 0))
    m.revolute("H", "car.H", "trailer.H")
    m.velocity_constraint(
        "wheel",
        lambda s: vm.dot(s.rotation("trailer")[:, 1], s.velocity("W")),
    )
    m.start(displacement={"rail": 0.0}, angle={"trailer": 0.6}, speed={"rail": 1.0})
    runs = [m.simulate(2.0, tolerance=1e-11, coordinates=c) for c in COORDINATES]
    for run in runs:
        # L φ̇ = −v sin φ, so tan(φ/2) = tan(φ₀/2) exp(−x/L)
        x, φ = (run.displacement("rail").to_numpy(), run.angle("trailer").to_numpy())
        assert np.tan(φ / 2) == pytest.approx(math.tan(0.3) * np.exp(-x / 1.2), rel=1e-8)
        assert np.ptp(run.energy("total").to_numpy()) < 1e-9
        assert run.effort("wheel").to_numpy() == pytest.approx(
            -run.multiplier("wheel").to_numpy(), rel=1e-7, abs=1e-9
        )
        # Newton's law of the trailer across itself
        a, R = run.acceleration("trailer.com").to_numpy(), run.reaction("H").to_numpy()
        across = np.stack([-np.sin(φ), np.cos(φ)], axis=1)
        total = R + run.effort("wheel").to_numpy()[:, None] * across
        assert 2.0 * a == pytest.approx(total, abs=1e-7)
    assert runs[0].reaction("H").to_numpy() == pytest.approx(
        runs[2].reaction("H").to_numpy(), abs=1e-6
    )


def test_constraints_from_files_move_as_those_they_were_written_from(tmp_path: Path) -> None:
    for m, outputs in ((pulley(), "rope"), (sleigh(), "blade")):
        again = vm.Mechanism.from_file(m.to_file(tmp_path / f"{outputs}.yaml"))
        runs = [x.simulate(1.0).effort(outputs).to_numpy() for x in (m, again)]
        assert (runs[0] == runs[1]).all()
    text = sleigh().to_text()
    assert "velocity_constraint: null" in text
    m = vm.Mechanism("two", dimension=2)
    m.body("b", mass=1.0, inertia=1.0, points={"P": (0, 0)}, floating=True)
    m.constraint("held", ["position('P')[0] - 1", "position('P')[1] - 2"])
    again = vm.Mechanism.from_file(m.to_file(tmp_path / "two.yaml"))
    assert again.to_text() == m.to_text()


BAD: list[tuple[str, Any, str]] = [
    ("constraint", lambda s: s.time - 1, "does not depend on positions"),
    ("constraint", 3.0, "does not depend on positions"),
    ("constraint", "position('ground.O')[0]", "does not depend on positions"),
    (
        "constraint",
        lambda s: s.velocity("P")[0],
        "depends on velocities; define it with m.velocity_",
    ),
    (
        "constraint",
        lambda s: [s.position("P")[0], s.time],
        "equation 1 does not depend on positions",
    ),
    ("constraint", lambda s: [], "has no equation"),
    ("constraint", lambda s: s.effort("x"), "may not depend on reactions"),
    ("velocity_constraint", lambda s: s.velocity("P")[0] ** 2, "is not linear in the velocities"),
    ("velocity_constraint", lambda s: vm.norm(s.velocity("P")), "is not linear"),
    ("velocity_constraint", lambda s: s.position("P")[0], "define position equations with"),
    ("velocity_constraint", lambda s: s.acceleration("P")[0], "may not depend on accelerations"),
    ("velocity_constraint", "velocity('R')[0]", "no point is called 'R'"),
]


@pytest.mark.parametrize(("method", "given", "says"), BAD)
def test_bad_constraints(method: str, given: Any, says: str) -> None:
    m = vm.Mechanism("bad", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=1.0, points={"P": (0, 0)}, floating=True)
    with pytest.raises(vm.ModelError, match=says.replace("(", r"\(")) as caught:
        getattr(m, method)("c", given)
    assert "'c'" in str(caught.value) or "effort" in str(given)
    assert "c" not in m.forces


def test_constraints_that_are_redundant_or_contradict() -> None:
    def body() -> vm.Mechanism:
        m = vm.Mechanism("bad", dimension=2)
        m.body("b", mass=1.0, inertia=1.0, points={"P": (0, 0)}, floating=True)
        m.velocity_constraint("c", "velocity('P')[0]")
        return m

    m = body()
    m.velocity_constraint("again", "2*velocity('P')[0]")
    m.start(position={"P": (0, 0)}, angle={"b": 0.0})
    with pytest.raises(vm.ModelError, match=r"again.*redundant"):
        m.simulate(0.1)
    m = body()
    m.constraint("line", "position('P')[0] - 1")
    m.start(position={"P": (None, 0)}, angle={"b": 0.0})
    with pytest.raises(vm.ModelError, match=r"constraint 'c'.*redundant"):
        m.simulate(0.1)
    m = vm.Mechanism("bad", dimension=2)
    m.body("b", mass=1.0, inertia=1.0, points={"P": (0, 0)}, floating=True)
    m.constraint("nowhere", "norm(position('P'))**2 + 1")
    m.start(position={"P": (0, None)}, angle={"b": 0.0})
    with pytest.raises(vm.VarimechError, match="nowhere"):
        m.simulate(0.1)


# --- rolling


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", ["direct", "adjoint", "complex-step"])
def test_a_wheel_rolls_down_a_slope(coordinates: str, method: str) -> None:
    m = vm.Mechanism("wheel", gravity=(SLOPE, -G))
    r = m.parameter("r", 0.3, unit="m")
    m.ground_point("O", (0, 0))
    m.body("wheel", mass=2.0, inertia=0.05, points={"C": (0, 0)}, floating=True)
    m.rolling("road", "wheel.C", "ground.O", radius=r, normal=(0, 2))
    m.start(position={"C": (0.0, None)}, angle={"wheel": 0.0}, speed={"wheel": -2.0})
    outputs = {
        "x": vm.final("position('C')[0]"),
        "φ": vm.final("angle('wheel')"),
        "N": vm.final("effort('road.normal')"),
        "F": vm.final("effort('road.along')"),
    }

    def closed(r: complex) -> np.ndarray:
        a, t = 2.0 * SLOPE / (2.0 + 0.05 / r**2), 1.5
        x = 2.0 * r * t + a * t**2 / 2
        return np.array([x, -x / r, 2.0 * G + 0 * r, 2.0 * (a - SLOPE)])

    g = m.sensitivity(
        outputs, ["r"], duration=1.5, coordinates=coordinates, method=method, tolerance=1e-10
    )
    assert g.final_values == pytest.approx(closed(0.3 + 0j).real, rel=1e-9)
    expected = closed(0.3 + 1e-20j).imag / 1e-20
    assert g.final_gradient[:, 0] == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_a_wheel_on_a_cart_that_is_driven() -> None:
    """Rolling on a body that moves: the wheel stays behind,  ẍ = (J/r²) a / (m + J/r²)."""
    m = vm.Mechanism("cart", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("cart", mass=5.0, inertia=0.1, points={"T": (0, 0.2), "B": (0, 0)})
    m.prismatic("rail", "ground.O", "cart.B", axis=(1, 0))
    m.drive_displacement("drive", "rail", "t**2")
    m.body("wheel", mass=2.0, inertia=0.05, points={"C": (0, 0)}, floating=True)
    m.rolling("bed", "wheel.C", "cart.T", radius=0.3, normal=(0, 1))
    m.start(position={"C": (0.0, None)}, angle={"wheel": 0.0})
    k = 0.05 / 0.3**2
    for coordinates in COORDINATES:
        run = m.simulate(1.0, coordinates=coordinates, tolerance=1e-10)
        assert run.position("C").to_numpy()[-1] == pytest.approx(
            [k / (2 + k), 0.5], rel=1e-8
        )  # a = 2


def upright(*, hoop: bool, speed: float) -> vm.Mechanism:
    m = vm.Mechanism("disc", gravity=(0, 0, -G))
    v, r = m.parameter("v", speed, unit="m/s"), 0.3
    A, C = (0.5, 1.0) if hoop else (0.25, 0.5)
    m.ground_point("O", (0, 0, 0))
    m.body(
        "disc",
        mass=2.0,
        inertia=(2 * A * r**2, 2 * C * r**2, 2 * A * r**2),
        points={"C": (0, 0, 0)},
        floating=True,
    )
    m.rolling("road", "disc.C", "ground.O", radius=r, normal=(0, 0, 1), axis=(0, 1, 0))
    m.start(
        position={"C": (0.0, 0.0, None)},
        orientation={"disc": np.eye(3)},
        speed={"disc": (1e-5, v / r, 0.0)},
    )
    return m


@pytest.mark.parametrize("hoop", [False, True])
@pytest.mark.parametrize("share", [0.9, 1.1])
def test_discs_and_hoops_fall_below_their_critical_speed(hoop: bool, share: float) -> None:
    critical = math.sqrt(G * 0.3 / (4 if hoop else 3))
    run = upright(hoop=hoop, speed=share * critical).simulate(3.0, tolerance=1e-10)
    lean = np.abs(run.position("C").to_numpy()[:, 2] - 0.3)
    grown = np.sqrt(2 * lean.max() / 0.3) / 1e-5
    assert (grown > 30) if share < 1 else (grown < 1)
    assert np.ptp(run.energy("total").to_numpy()) < 1e-9


def test_the_contact_force_of_a_coin() -> None:
    """By Newton's law of its centre; a coin that leans and turns."""
    coin = upright(hoop=False, speed=1.5)
    coin.start(
        position={"C": (0.0, 0.0, None)},
        orientation={"disc": vm.rotation((1, 0, 0), 0.4)},
        speed={"disc": (0.0, 5.0, 0.5)},
    )
    for coordinates in ("natural", "rtdyn1"):
        run = coin.simulate(1.0, coordinates=coordinates, tolerance=1e-11)
        N, F1, F2 = (
            run.effort(f"road.{name}").to_numpy() for name in ("normal", "first", "second")
        )
        a = run.acceleration("C").to_numpy()
        assert 2.0 * (a[:, 2] + G) == pytest.approx(N, rel=1e-7)
        assert np.hypot(F1, F2) == pytest.approx(2.0 * np.hypot(a[:, 0], a[:, 1]), rel=1e-6)
        assert np.ptp(run.energy("total").to_numpy()) < 1e-8
