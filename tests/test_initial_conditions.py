"""The start: loops that close from any sufficient values, speeds, what does not assemble, and
derivatives of all of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from typing import Any

import casadi as ca
import numpy as np
import pytest
from bodies import add_body
from loops import add_four_bar
from newton_euler import turned
from pendulums import two_bars
from refusals import pendulum

import varimech as vm
from varimech.coordinates.initial_state import InitialState, InitialStateSolver
from varimech.coordinates.linear import DENSE, solution
from varimech.model.frame import Frame
from varimech.model.initial_conditions import OrientationCondition
from varimech.schemes import choose

Array = np.ndarray
A, D = np.zeros(2), np.array([2.0, 0.0])
CRANK, COUPLER, ROCKER = 0.5, 1.5, 1.2
ANGLE = 1.0


def four_bar(
    crank: Any = CRANK, coupler: Any = COUPLER, rocker: Any = ROCKER, ground: Any = 2.0
) -> vm.Mechanism:
    m = vm.Mechanism("four-bar", gravity=(0, -9.81))
    add_four_bar(m, m.parameter("ground", ground), crank, coupler, rocker, masses=(1, 2, 3))
    return m


def slider_crank(crank: Any = 0.3, rod: Any = 1.0, offset: Any = 0.1) -> vm.Mechanism:
    m = vm.Mechanism("slider-crank", gravity=(0, -9.81))
    m.ground_point("A", (0, 0))
    m.ground_point("R", (0, offset))
    m.bar("crank", "A", "B", length=crank, mass=1)
    m.bar("rod", "B", "C", length=rod, mass=2)
    m.body("block", mass=3, inertia=0.1, points={"C": (0, 0)})
    m.revolute("A")
    m.revolute("B")
    m.revolute("C")
    m.prismatic("rail", "ground.R", "block.C", axis=(1, 0))
    return m


PIVOT = np.array([1.0, 0.5, 0.2])


def spatial_loop(crank: Any = 0.4, link: Any = 1.1, rocker: Any = 0.8) -> vm.Mechanism:
    """A crank about z drives a rocker about x through a massless rod of constant length."""
    m = vm.Mechanism("spatial loop", gravity=(0, 0, -9.81))
    m.ground_point("A", (0, 0, 0))
    m.ground_point("D", tuple(PIVOT))
    add_body(m, "crank", 1, (0.1, 0.2, 0.2), (0.2, 0, 0), A=(0, 0, 0), P=(crank, 0, 0))
    add_body(m, "rocker", 2, (0.3, 0.2, 0.3), (0, 0.3, 0), D=(0, 0, 0), Q=(0, rocker, 0))
    m.revolute("A", axis=(0, 0, 1))
    m.revolute("D", axis=(1, 0, 0))
    m.distance("rod", "crank.P", "rocker.Q", length=link)
    return m


def at(angle: float, length: float) -> Array:
    return length * np.array([math.cos(angle), math.sin(angle)])


def circles(p: Array, r: float, q: Array, s: float, side: int) -> Array:
    """Where the circles (p, r) and (q, s) meet: to the left (+1) or right (−1) of the way from p to
    q.
    """
    d = np.linalg.norm(q - p)
    along = (r**2 - s**2 + d**2) / (2 * d)
    e = (q - p) / d
    return np.asarray(p + along * e + side * math.sqrt(r**2 - along**2) * np.array([-e[1], e[0]]))


B = at(ANGLE, CRANK)
UP, DOWN = (circles(B, COUPLER, D, ROCKER, side) for side in (1, -1))


def first(array: Any) -> Array:
    return np.asarray(array.isel(time=0))


def start_of(m: vm.Mechanism, **start: Any) -> vm.Run:
    m.start(**start)
    return m.simulate(1e-3, step=1e-3)


def direction(p: Array, q: Array) -> float:
    return math.atan2(q[1] - p[1], q[0] - p[0])


# assembly


@pytest.mark.parametrize("C", [UP, DOWN], ids=["up", "down"])
@pytest.mark.parametrize(
    "held",
    [
        lambda C: {"angle": {"crank": ANGLE}},
        lambda C: {"angle": {"coupler": direction(B, C)}},
        lambda C: {"angle": {"rocker": direction(D, C)}},
        lambda C: {"angle": {"A": ANGLE}},
        lambda C: {"angle": {"B": direction(B, C) - ANGLE}},
        lambda C: {"angle": {"C": direction(D, C) - direction(B, C)}},
        lambda C: {"distance": {("A", "C"): np.linalg.norm(C - A)}},
        lambda C: {"distance": {("crank.com", "D"): np.linalg.norm(B / 2 - D)}},
        lambda C: {"position": {"C": (C[0], None)}},
        lambda C: {"position": {"C": (None, C[1])}},
        lambda C: {"position": {"coupler.com": (None, (B + C)[1] / 2)}},
    ],
    ids=["crank", "coupler", "rocker", "A", "B", "C", "AC", "diagonal", "x", "y", "com"],
)
def test_a_loop_closes_from_any_sufficient_value(
    held: Callable[[Array], dict[str, Any]], C: Array
) -> None:
    near = {"crank": ANGLE + 0.1, "coupler": direction(B, C) + 0.1}
    run = start_of(four_bar(), **held(C), near=near)
    assert first(run.position("B")) == pytest.approx(B, abs=1e-10)
    assert first(run.position("C")) == pytest.approx(C, abs=1e-10)
    assert first(run.angle("rocker")) == pytest.approx(direction(D, C), abs=1e-10)


def test_a_loop_as_large_as_the_earth_closes_like_a_small_one() -> None:
    """What counts as closed follows the size: rounding of such lengths is larger than what a small
    one may miss.
    """
    run = start_of(
        four_bar(CRANK * 3e7, COUPLER * 3e7, ROCKER * 3e7, 6e7),
        angle={"crank": ANGLE},
        near={"coupler": 0.5},
    )
    assert first(run.position("C")) == pytest.approx(3e7 * UP, rel=1e-9)


@pytest.mark.parametrize("C", [UP, DOWN], ids=["up", "down"])
@pytest.mark.parametrize(
    "near",
    [
        lambda C: {"C": (1.5, 2 * np.sign(C[1]))},
        lambda C: {"rocker.C": tuple(C)},
        lambda C: {"coupler": direction(B, C)},
        lambda C: {"rocker": direction(D, C)},
    ],
    ids=["point", "exact point", "coupler", "rocker"],
)
def test_near_chooses_the_branch(near: Callable[[Array], dict[str, Any]], C: Array) -> None:
    run = start_of(four_bar(), angle={"crank": ANGLE}, near=near(C))
    assert first(run.position("C")) == pytest.approx(C, abs=1e-10)


@pytest.mark.parametrize("side", [1, -1])
def test_near_chooses_the_branch_in_space(side: int) -> None:
    θ, r, L, b = 0.7, 0.4, 1.1, 0.8
    P = np.array([r * math.cos(θ), r * math.sin(θ), 0.0])
    # |D + b (0, cos φ, sin φ) − P| = L  is  u cos φ + w sin φ = c
    u, w = 2 * b * (PIVOT - P)[1:]
    c = L**2 - b**2 - (PIVOT - P) @ (PIVOT - P)
    φ = math.atan2(w, u) + side * math.acos(c / math.hypot(u, w))
    Q = PIVOT + b * np.array([0.0, math.cos(φ), math.sin(φ)])
    run = start_of(spatial_loop(r, L, b), angle={"A": θ}, near={"Q": tuple(Q + 0.1)})
    assert first(run.position("P")) == pytest.approx(P, abs=1e-10)
    assert first(run.position("Q")) == pytest.approx(Q, abs=1e-10)


@pytest.mark.parametrize("side", [1, -1])
def test_near_determines_what_components_of_a_position_leave_open(side: int) -> None:
    """A point on a rod of length 1 at a given height is to the left or to the right; near says
    where another point of its body is.
    """
    m = vm.Mechanism("tethered", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.body("b", mass=1, inertia=0.1, points={"P": (0, 0), "Q": (0.5, 0)})
    m.distance("rod", "ground.O", "b.P", length=1.0)
    P = np.array([0.8 * side, 0.6])
    run = start_of(
        m, angle={"b": 0.3}, position={"b.P": (None, 0.6)}, near={"b.Q": tuple(P + at(0.3, 0.5))}
    )
    assert first(run.position("b.P")) == pytest.approx(P, abs=1e-10)


@pytest.mark.parametrize(
    "near", [{"crank": 2.0, "rod": 0.0}, {"crank": 2.0}], ids=["both", "crank"]
)
def test_displacement_of_a_slider(near: dict[str, float]) -> None:
    r, L, e, x = 0.3, 1.0, 0.1, 0.9
    C = np.array([x, e])
    run = start_of(slider_crank(r, L, e), displacement={"rail": x}, near=near)
    assert first(run.displacement("rail")) == pytest.approx(x, abs=1e-10)
    assert first(run.position("B")) == pytest.approx(circles(A, r, C, L, 1), abs=1e-10)


def test_orientation_in_space() -> None:
    m = vm.Mechanism("top", gravity=(0, 0, -9.81))
    m.ground_point("O", (0.1, 0.2, 0.3))
    add_body(m, "top", 1, (0.2, 0.3, 0.4), (0, 0, 0.5), O=(0, 0, 0), P=(0.3, 0.1, 0.6))
    m.spherical("O")
    R = turned(np.array([1.0, 2.0, -1.0]), 2.5)
    ω = np.array([0.5, -2.0, 3.0])
    run = start_of(m, orientation={"top": R}, speed={"top": tuple(ω)})
    arm = R @ [0.3, 0.1, 0.6]
    assert first(run.rotation("top")) == pytest.approx(R, abs=1e-10)
    assert first(run.angular_velocity("top")) == pytest.approx(ω, abs=1e-10)
    assert first(run.position("P")) == pytest.approx(np.array([0.1, 0.2, 0.3]) + arm, abs=1e-10)
    assert first(run.velocity("P")) == pytest.approx(np.cross(ω, arm), abs=1e-10)


def test_what_an_orientation_is_off_by_is_the_sine_of_the_angle_along_its_axis() -> None:
    m = vm.Mechanism("free", gravity=(0, 0, 0))
    m.body("top", mass=1, inertia=(0.2, 0.3, 0.4))
    body, still = m.bodies["top"], ca.SX.zeros(3, 3)
    expected, axis, angle = (
        turned(np.array([1.0, 2.0, -1.0]), 2.5),
        np.array([2.0, -1.0, 2.0]) / 3,
        0.3,
    )
    hold = OrientationCondition("top", body, ca.SX(expected), ca.SX.zeros(3))
    frame = Frame(ca.SX.zeros(3), ca.SX(turned(axis, angle) @ expected), ca.SX.zeros(3), still)
    off = np.array(ca.DM(hold.deviation({body: frame}))).ravel()
    assert off == pytest.approx(math.sin(angle) * axis, abs=1e-14)


def test_angle_and_displacement_of_one_joint_in_space() -> None:
    m = vm.Mechanism("sleeve", gravity=(0, 0, -9.81))
    m.ground_point("O", (1, 0, 0))
    m.body("sleeve", mass=1, inertia=(0.2, 0.3, 0.4), points={"O": (0, 0, 0), "P": (0.5, 0, 0)})
    m.cylindrical("O", axis=(0, 0, 2))
    with pytest.raises(
        vm.ModelError,
        match=r"speed of 'O' = 3\.0 must be the pair \(rate of angle, rate of displacement\)",
    ):
        m.start(angle={"O": 2.0}, displacement={"O": 0.7}, speed={"O": 3.0})
    run = start_of(m, angle={"O": 2.0}, displacement={"O": 0.7}, speed={"O": (3.0, 0.5)})
    c, s = math.cos(2.0), math.sin(2.0)
    assert first(run.position("P")) == pytest.approx([1 + 0.5 * c, 0.5 * s, 0.7], abs=1e-10)
    assert first(run.velocity("P")) == pytest.approx([-1.5 * s, 1.5 * c, 0.5], abs=1e-10)
    assert first(run.angular_velocity("O")) == pytest.approx(3.0, abs=1e-10)
    assert first(run.displacement_rate("O")) == pytest.approx(0.5, abs=1e-10)


def test_rates_of_outputs_between_moving_bodies_are_their_derivatives() -> None:
    m = vm.Mechanism("sleeve on an arm", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.body("arm", mass=1, inertia=(0.2, 0.3, 0.4), points={"O": (0, 0, 0), "C": (1, 0.2, 0.1)})
    m.body("sleeve", mass=1, inertia=(0.2, 0.3, 0.4), points={"C": (0, 0, 0), "P": (0.5, 0.3, 0.2)})
    m.spherical("O")
    m.cylindrical("C", axis=(1, 2, 2))
    tilt = turned(np.array([1.0, 2.0, -1.0]), 0.8)
    run = start_of(
        m,
        orientation={"arm": tilt},
        angle={"C": 0.7},
        displacement={"C": 0.4},
        speed={"arm": (0.5, -2.0, 3.0), "C": (1.5, -0.6)},
    )
    for rate, measure in (
        (run.angular_velocity("C"), lambda s: s.angle("C")),
        (run.displacement_rate("C"), lambda s: s.displacement("C")),
        (run.measure(lambda s: s.distance_rate("O", "P")), lambda s: s.distance("O", "P")),
    ):
        differentiated = first(run.measure(lambda s, measure=measure: s.rate(measure(s))))  # type: ignore[misc]
        assert abs(differentiated) > 0.1
        assert first(rate) == pytest.approx(differentiated, rel=1e-9)


def test_a_joint_with_the_ground_as_second_body() -> None:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.ground_point("O", (1, 2))
    m.bar("rod", "O", "tip", length=2, mass=1)
    m.revolute("O", "rod.O", "ground.O")
    run = start_of(m, angle={"O": 0.4}, speed={"O": 3.0})  # of the ground against the rod
    assert first(run.angle("rod")) == pytest.approx(-0.4, abs=1e-12)
    assert first(run.angular_velocity("rod")) == pytest.approx(-3.0, abs=1e-12)
    assert first(run.position("tip")) == pytest.approx(np.array([1, 2]) + at(-0.4, 2), abs=1e-12)


def test_values_for_a_run_may_assemble_what_nominal_ones_do_not() -> None:
    m = four_bar(ground=3.5)
    m.start(angle={"crank": ANGLE}, near={"rocker": direction(D, UP)})
    with pytest.raises(vm.AssemblyError, match="assembly fails"):
        m.simulate(0.02, step=0.01)
    run = m.simulate(0.02, step=0.01, parameters={"ground": 2.0})
    assert first(run.position("C")) == pytest.approx(UP, abs=1e-10)


@pytest.mark.parametrize(("make", "dofs"), [(four_bar, 1), (slider_crank, 1), (spatial_loop, 1)])
def test_degrees_of_freedom(make: Callable[[], vm.Mechanism], dofs: int) -> None:
    m = make()
    m.start(angle={"A": ANGLE})
    assert m.dofs == dofs
    m.body("satellite", mass=1, inertia=1 if m.dimension == 2 else (1, 1, 1), floating=True)
    assert m.dofs == dofs + (3 if m.dimension == 2 else 6)


# speeds


@pytest.mark.parametrize("C", [UP, DOWN], ids=["up", "down"])
@pytest.mark.parametrize("given", ["crank", "coupler", "rocker", "B", "C", "diagonal"])
def test_speeds_of_a_four_bar(given: str, C: Array) -> None:
    θ2, θ3, θ4, ω2 = ANGLE, direction(B, C), direction(D, C), 2.5
    # derivative of  a e^{iθ2} + b e^{iθ3} = d + c e^{iθ4}
    ω3 = ω2 * CRANK / COUPLER * math.sin(θ4 - θ2) / math.sin(θ3 - θ4)
    ω4 = ω2 * CRANK / ROCKER * math.sin(θ2 - θ3) / math.sin(θ4 - θ3)
    vC = ω4 * np.array([D[1] - C[1], C[0] - D[0]])
    starts: dict[str, dict[str, Any]] = {
        "crank": {"angle": {"crank": θ2}, "speed": {"crank": ω2}},
        "coupler": {"angle": {"coupler": θ3}, "speed": {"coupler": ω3}},
        "rocker": {"angle": {"rocker": θ4}, "speed": {"rocker": ω4}},
        "B": {"angle": {"B": θ3 - θ2}, "speed": {"B": ω3 - ω2}},
        "C": {"position": {"C": (C[0], None)}, "speed": {"C": (vC[0], None)}},
        "diagonal": {
            "distance": {("A", "C"): np.linalg.norm(C)},
            "speed": {("A", "C"): vC @ C / np.linalg.norm(C)},
        },
    }
    run = start_of(four_bar(), **starts[given], near={"crank": θ2, "coupler": θ3})
    assert [
        float(first(run.angular_velocity(n))) for n in ("crank", "coupler", "rocker")
    ] == pytest.approx([ω2, ω3, ω4], abs=1e-9)
    assert first(run.velocity("C")) == pytest.approx(vC, abs=1e-9)


def test_speed_of_a_slider() -> None:
    r, L, e, θ, ω = 0.3, 1.0, 0.1, 0.8, 4.0
    s, c = math.sin(θ), math.cos(θ)
    lever = math.sqrt(L**2 - (e - r * s) ** 2)
    v = -r * ω * s + (e - r * s) * r * c * ω / lever  # of  x = r c + √(L² − (e − r s)²)
    for start in (
        {"angle": {"crank": θ}, "speed": {"crank": ω}},
        {"displacement": {"rail": r * c + lever}, "speed": {"rail": v}},
    ):
        run = start_of(slider_crank(r, L, e), **start, near={"crank": θ, "rod": 0.0})
        assert first(run.displacement_rate("rail")) == pytest.approx(v, abs=1e-10)
        assert first(run.angular_velocity("crank")) == pytest.approx(ω, abs=1e-9)


def test_speed_is_zero_if_not_given() -> None:
    run = start_of(four_bar(), angle={"crank": ANGLE})
    assert np.abs(first(run.velocity("C"))).max() < 1e-14


# accelerations


@pytest.mark.parametrize("formulation", ["ali3p", "index1", "independent"])
@pytest.mark.parametrize("mass", [1e-9, 1.0, 1e6, 1e9])
def test_masses_may_differ_by_orders_of_magnitude(mass: float, formulation: str) -> None:
    """Two blocks on oblique rails that have nothing to do with each other: each falls along its
    own.
    """
    m = vm.Mechanism("blocks", gravity=(0, -10))
    for name, weight in (("first", mass), ("second", 1.0)):
        m.ground_point(name, (0, 0))
        m.body(name, mass=weight, inertia=0.1 * weight, points={"P": (0.1, 0.2)})
        m.prismatic(f"rail of {name}", f"ground.{name}", f"{name}.P", axis=(3, 4))
    m.start(displacement={"rail of first": 0.1, "rail of second": 0.2})
    run = m.simulate(1e-3, step=1e-3, formulation=formulation)
    for name, weight in (("first", mass), ("second", 1.0)):
        assert first(run.acceleration(f"{name}.P")) == pytest.approx([-4.8, -6.4], rel=1e-9)
        assert first(run.reaction(f"rail of {name}")) == pytest.approx(
            [-4.8 * weight, 3.6 * weight], rel=1e-9
        )


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e3])
def test_joints_that_say_the_same_twice_change_no_acceleration(size: float) -> None:
    """A sleeve on a shaft that is welded to it as well, both on oblique axes, in millimetres and
    kilometres too.
    """
    R, end, weld = (
        turned(np.array([1.0, 2.0, -1.0]), 2.5),
        size * np.array([0.3, 0.1, 0.2]),
        size * np.array([0.2, 0, 0]),
    )
    m = vm.Mechanism("sleeve", gravity=(1, 2, -9.81))
    m.ground_point("O", (0, 0, 0))
    inertia, offset = size**2 * np.array([0.1, 0.2, 0.2]), size * np.array([0, 0.1, 0])
    add_body(m, "shaft", 1, inertia, 0.5 * weld, O=(0, 0, 0), E=end, W=end + R @ (weld - offset))
    m.body("sleeve", mass=2, inertia=2 * inertia, com=2 * offset, points={"E": offset, "W": weld})
    m.cylindrical("bearing", "ground.O", "shaft.O", axis=(1, 1, 2), axis_on_second=(0, 1, 1))
    m.cylindrical(
        "guide", "shaft.E", "sleeve.E", axis=(1, 0, 2), axis_on_second=tuple(R.T @ [1, 0, 2])
    )
    m.fixed("weld", "shaft.W", "sleeve.W", rotation=R)
    m.start(
        angle={"bearing": 0.4}, displacement={"bearing": 0.1 * size}, speed={"bearing": (2.0, size)}
    )
    natural, relative = (
        m.simulate(1e-6, step=1e-6, coordinates=c).acceleration("sleeve.com")
        for c in ("natural", "rtdyn1")
    )
    np.testing.assert_allclose(first(natural), first(relative), rtol=1e-9)


# what does not assemble


def check_gap(error: vm.AssemblyError, size: float, joints: str | Collection[str]) -> None:
    """All of the gap is at one of the joints; the message says so, and everything else
    is closed.
    """
    match = re.search(
        r"stays open by ([0-9.e+-]+) m at joint '(\w+)'|joint '(\w+)' stays open by ([0-9.e+-]+) m",
        str(error),
    )
    assert match is not None
    shown, worst = float(match[1] or match[4]), match[2] or match[3]
    assert shown == pytest.approx(size, rel=0.005)  # three digits are shown
    assert worst in joints
    assert error.gaps[worst] == pytest.approx(size, rel=1e-4)
    assert max(gap for name, gap in error.gaps.items() if name != worst) < 1e-4


@pytest.mark.parametrize(
    ("ground", "angle"),
    [(3.5, 0.0), (3.5, 0.3), (3.3, -0.2), (4.0, 1.0), (0.75, 0.1)],
    ids=["flat", "up", "down", "far", "short"],
)
def test_the_gap_of_a_loop_that_cannot_close(ground: float, angle: float) -> None:
    m = four_bar(ground=ground)
    m.start(angle={"crank": angle})
    span = float(np.linalg.norm([ground, 0] - at(angle, CRANK)))
    shortage = max(span - COUPLER - ROCKER, COUPLER - ROCKER - span)
    assert shortage > 0.02
    with pytest.raises(vm.AssemblyError) as caught:
        m.simulate(1)
    message = str(caught.value)
    for word in (
        "mechanism 'four-bar': assembly fails",
        "ground",
        "crank",
        "coupler",
        "rocker",
        "'A'",
        "'B'",
        "'C'",
        "'D'",
    ):
        assert word in message
    check_gap(caught.value, shortage, "ABCD")
    assert set(caught.value.gaps) == {*"ABCD", "angle of 'crank'"}
    assert "check lengths" in message and "near" in message


@pytest.mark.parametrize("loops", [2, 50])
def test_gaps_of_mechanisms_of_any_size_are_explained(loops: int) -> None:
    """Parallelograms in a row, the first with a coupler that is too long: dense and sparse least
    squares.
    """
    m = vm.Mechanism("row", gravity=(0, 0))
    for k in range(loops + 1):
        m.ground_point(f"A{k}", (4 * k, 0))
        m.bar(f"r{k}", f"A{k}", f"B{k}", length=1, mass=1)
        m.revolute(f"A{k}")
    for k in range(loops):
        m.bar(f"c{k}", "P", "Q", length=4 if k else 6.5, mass=1)
        m.revolute(f"P{k}", f"r{k}.B{k}", f"c{k}.P")
        m.revolute(f"Q{k}", f"c{k}.Q", f"r{k + 1}.B{k + 1}")
    m.start(angle={"r0": 1.0}, near={f"r{k}": 1.0 for k in range(1, loops + 1)})
    with pytest.raises(vm.AssemblyError, match=r"the loop .* stays open by") as caught:
        m.simulate(1)
    # at best, the other rocker is in line with the coupler
    furthest = np.hypot(4 - np.cos(1.0), np.sin(1.0)) + 1
    worst = max(caught.value.gaps, key=caught.value.gaps.__getitem__)
    assert worst in ("A0", "A1", "P0", "Q0")
    assert caught.value.gaps[worst] == pytest.approx(6.5 - furthest, rel=2e-3)
    assert sum(gap > 1e-4 for gap in caught.value.gaps.values()) == 1


def test_only_the_loop_that_is_open_is_named() -> None:
    m = four_bar(ground=3.5)
    m.bar("tail", "C", "E", length=1, mass=1)
    m.revolute("hinge", "rocker.C", "tail.C")
    m.start(angle={"crank": 0.0, "tail": 0.0})
    with pytest.raises(vm.AssemblyError) as caught:
        m.simulate(1)
    assert "tail" not in str(caught.value) and "hinge" not in str(caught.value)
    check_gap(caught.value, 3.5 - CRANK - COUPLER - ROCKER, "ABCD")
    assert "hinge" in caught.value.gaps


@pytest.mark.parametrize("distance", [0.1, 0.5, 1.0])
def test_the_gap_of_an_open_chain(distance: float) -> None:
    m = pendulum()
    m.start(distance={("tip", "Q"): distance})
    with pytest.raises(vm.AssemblyError, match="joint 'O' stays open") as caught:
        m.simulate(1)
    check_gap(caught.value, 2 - distance, {"O"})


@pytest.mark.parametrize("length", [0.05, 0.3, 1.0])
def test_the_gap_of_a_loop_with_a_distance(length: float) -> None:
    m = pendulum()
    m.bar("tail", "tip", "end", length=1, mass=1)
    m.revolute("tip")
    m.distance("link", "rod.tip", "ground.Q", length=length)
    m.start(angle={"tail": 0.0})
    with pytest.raises(vm.AssemblyError) as caught:
        m.simulate(1)
    check_gap(caught.value, 2 - length, {"O", "link"})


@pytest.mark.parametrize(
    ("x", "shortage"), [(1.5, math.hypot(1.5, 0.1) - 1.3), (0.5, 0.7 - math.hypot(0.5, 0.1))]
)
def test_the_gap_of_a_loop_with_a_slider(x: float, shortage: float) -> None:
    m = slider_crank()
    m.start(displacement={"rail": x})
    with pytest.raises(vm.AssemblyError) as caught:
        m.simulate(1)
    check_gap(caught.value, shortage, {"A", "B", "C", "rail"})


def test_the_gap_in_space() -> None:
    m = vm.Mechanism("spatial four-bar", gravity=(0, 0, -9.81))
    m.ground_point("A", (0, 0, 0))
    m.ground_point("D", (3.5, 0, 0))
    for name, p, q, length in (
        ("crank", "A", "B", CRANK),
        ("coupler", "B", "C", COUPLER),
        ("rocker", "D", "C", ROCKER),
    ):
        m.body(
            name,
            mass=1,
            inertia=(0.1, 0.2, 0.2),
            com=(length / 2, 0, 0),
            points={p: (0, 0, 0), q: (length, 0, 0)},
        )
    m.revolute("A", axis=(0, 0, 1))
    m.spherical("B")
    m.spherical("C")
    m.revolute("D", axis=(0, 0, 1))
    m.start(angle={"A": 0.3})
    with pytest.raises(vm.AssemblyError, match=r"the loop .*coupler.* stays open by") as caught:
        m.simulate(1)
    shortage = np.linalg.norm([3.5, 0] - at(0.3, CRANK)) - COUPLER - ROCKER
    check_gap(caught.value, float(shortage), "ABCD")


def test_start_values_that_contradict_each_other() -> None:
    m = four_bar()
    m.start(angle={"crank": ANGLE, "rocker": direction(D, UP) + 0.3})
    with pytest.raises(
        vm.ModelError,
        match=(
            r"conflicting \(angle of 'crank', angle of 'rocker'\); the model has 1 unconstrained"
            r" DOF: specify exactly one initial value$"
        ),
    ):
        m.simulate(1)
    m.start(angle={"crank": ANGLE}, near={"C": UP})
    m.drive_angle("motor", "crank", lambda t: ANGLE + 0.1 + t)
    with pytest.raises(
        vm.ModelError,
        match=(r"\(angle of 'crank'\); drivers prescribe all degrees of freedom: do not give"),
    ):
        m.simulate(1)


def test_the_gap_of_a_loop_that_misses_an_angle() -> None:
    m = vm.Mechanism("cross", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.body("crank", mass=1, inertia=(1, 1, 1), com=(0.5, 0, 0), points={"O": (0, 0, 0)})
    m.revolute("O", axis=(0, 0, 1))
    m.universal("U", "ground.O", "crank.O", axis=(1, 0, 0), axis_on_second=(1, 0, 0))
    m.start(angle={"O": 1.0})  # a quarter turn would fit
    with pytest.raises(vm.AssemblyError, match=r"stays open by 0\.5\d* rad at joint") as caught:
        m.simulate(1)
    assert max(caught.value.gaps.values()) > 0.5


def test_hinges_that_never_fit() -> None:
    m = vm.Mechanism("door", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.ground_point("Q", (0, 0, 1))
    m.body(
        "door", mass=1, inertia=(1, 1, 1), com=(0.5, 0, 0), points={"O": (0, 0, 0), "Q": (0, 0, 1)}
    )
    m.revolute("O", axis=(0, 0, 1))
    m.revolute("Q", axis=(0, 0.3, 1), axis_on_second=(0, 0, 1))
    m.start(angle={"O": 1.0})
    with pytest.raises(
        vm.AssemblyError, match=r"the loop ground – door .*stays open by 0\.291 rad at joint 'Q'"
    ):  # atan 0.3
        m.simulate(1)


# derivatives


def loop_in_the_plane() -> vm.Mechanism:
    """Lengths, a ground point, masses, a spring, a force, and an angle and speed of the start."""
    m = vm.Mechanism("four-bar", gravity=(0, -9.81))
    values = {
        "crank": CRANK,
        "coupler": COUPLER,
        "ground": 2.0,
        "height": 0.1,
        "mass": 2.0,
        "inertia": 0.2,
    }
    values |= {
        "stiffness": 50.0,
        "rest": 0.4,
        "damping": 2.0,
        "gain": 3.0,
        "angle": ANGLE,
        "speed": 2.5,
    }
    p = {name: m.parameter(name, value) for name, value in values.items()}
    m.ground_point("A", (0, 0))
    m.ground_point("D", (p["ground"], p["height"]))
    m.ground_point("S", (1.0, -0.5))
    m.bar("crank", "A", "B", length=p["crank"], mass=1)
    m.bar("coupler", "B", "C", length=p["coupler"], mass=p["mass"])
    m.bar("rocker", "D", "C", length=ROCKER, mass=3, inertia=p["inertia"])
    for name in "ABCD":
        m.revolute(name)
    m.spring(
        "spring", "C", "S", stiffness=p["stiffness"], natural_length=p["rest"], damping=p["damping"]
    )
    m.force("wind", "coupler.com", lambda s: (p["gain"] * s.velocity("C")[0], 0))
    m.start(angle={"crank": p["angle"]}, speed={"crank": p["speed"]})
    return m


def slider_in_the_plane() -> vm.Mechanism:
    """A displacement and its rate; the offset of the rail is a ground point."""
    m = vm.Mechanism("slider-crank", gravity=(0, -9.81))
    p = {
        name: m.parameter(name, value)
        for name, value in {"crank": 0.3, "offset": 0.1, "x": 0.9, "v": -1.5, "tilt": 0.2}.items()
    }
    m.ground_point("A", (0, 0))
    m.ground_point("R", (0, p["offset"]))
    m.bar("crank", "A", "B", length=p["crank"], mass=1)
    m.bar("rod", "B", "C", length=1.0, mass=2)
    m.body("block", mass=3, inertia=0.1, points={"C": (0, 0)})
    for name in "ABC":
        m.revolute(name)
    m.prismatic("rail", "ground.R", "block.C", axis=(1, p["tilt"]))
    m.start(displacement={"rail": p["x"]}, speed={"rail": p["v"]}, near={"crank": 2.0, "rod": 0.0})
    return m


def driven_in_the_plane() -> vm.Mechanism:
    """A driver that fixes the angle, its speed and its acceleration; a second degree of freedom held by a
    position and a distance.
    """
    m = vm.Mechanism("driven", gravity=(0, -9.81))
    p = {
        name: m.parameter(name, value)
        for name, value in {"swing": 0.8, "rate": 3.0, "phase": 0.4, "x": 1.6, "v": 0.7}.items()
    }
    m.ground_point("O", (0, 0))
    m.bar("first", "O", "P", length=1.0, mass=1)
    m.bar("second", "P", "Q", length=1.0, mass=2)
    m.revolute("O")
    m.revolute("P")
    m.drive_angle("motor", "first", lambda t: p["swing"] * vm.sin(p["rate"] * t + p["phase"]))
    m.start(position={"Q": (p["x"], None)}, speed={"Q": (p["v"], None)}, near={"second": 0.8})
    return m


def loop_in_space() -> vm.Mechanism:
    """The same kinds of parameters, and the direction of an axis."""
    m = vm.Mechanism("spatial loop", gravity=(0, 0, -9.81))
    values = {
        "crank": 0.4,
        "link": 1.1,
        "pivot": 0.5,
        "mass": 2.0,
        "stiffness": 50.0,
        "angle": 0.7,
        "speed": 2.5,
        "tilt": 0.1,
    }
    p = {name: m.parameter(name, value) for name, value in values.items()}
    m.ground_point("A", (0, 0, 0))
    m.ground_point("D", (1.0, p["pivot"], 0.2))
    m.ground_point("S", (0, 0, 1))
    add_body(m, "crank", 1, (0.1, 0.2, 0.2), (0.2, 0, 0), A=(0, 0, 0), P=(p["crank"], 0, 0))
    add_body(m, "rocker", p["mass"], (0.3, 0.2, 0.3), (0, 0.3, 0), D=(0, 0, 0), Q=(0, 0.8, 0))
    m.revolute("A", axis=(0, 0, 1))
    m.revolute("D", axis=(1, p["tilt"], 0))
    m.distance("rod", "crank.P", "rocker.Q", length=p["link"])
    m.spring("spring", "Q", "S", stiffness=p["stiffness"], natural_length=0.3)
    m.start(angle={"A": p["angle"]}, speed={"A": p["speed"]}, near={"Q": (1.0, 0.9, 0.8)})
    return m


def top_in_space() -> vm.Mechanism:
    """An orientation and an angular velocity."""
    m = vm.Mechanism("top", gravity=(0, 0, -9.81))
    p = {
        name: m.parameter(name, value)
        for name, value in {"turn": 0.7, "spin": 9.0, "height": 0.5, "J": 0.3}.items()
    }
    m.ground_point("O", (0, 0, 0))
    add_body(m, "top", 1, (0.2, p["J"], 0.4), (0, 0.1, p["height"]), O=(0, 0, 0))
    m.spherical("O")
    m.start(
        orientation={"top": vm.rotation((1, 2, 0), p["turn"])}, speed={"top": (0.5, 0, p["spin"])}
    )
    return m


def three_legs() -> vm.Mechanism:
    """A beam on three parallel legs: redundant constraints, whose multipliers are those of least
    norm.
    """
    m = vm.Mechanism("three legs", gravity=(0, -9.81))
    w = m.parameter("w", 1.2)
    places = (0, w, 3.0)
    m.body(
        "beam",
        mass=2,
        inertia=0.5,
        com=(1, 0),
        points={f"B{k}": (x, 0) for k, x in enumerate(places)},
    )
    for k, x in enumerate(places):
        m.ground_point(f"A{k}", (x, 0))
        m.bar(f"leg{k}", f"A{k}", f"B{k}", length=1, mass=1)
        m.revolute(f"A{k}")
        m.revolute(f"B{k}")
    m.start(angle={"leg0": 1.0}, speed={"leg0": 2.5})
    return m


def completed(start: InitialStateSolver, ρ: np.ndarray) -> InitialState:
    return start.complete(start.assemble(ρ), ρ)


@pytest.mark.parametrize(
    "make",
    [
        loop_in_the_plane,
        slider_in_the_plane,
        driven_in_the_plane,
        three_legs,
        loop_in_space,
        top_in_space,
    ],
    ids=lambda f: str(f.__name__),
)
def test_derivatives_of_the_start(make: Callable[[], vm.Mechanism]) -> None:
    m = make()
    start, ρ = m._solvers.of(choose(1.0)[0]).start, m.data.parameter_set.nominal
    state = completed(start, ρ)
    computed = start.sensitivities(state, ρ, list(range(ρ.size)))
    parts = np.cumsum([x.size for x in (state.q, state.v, state.a)])
    δ = 1e-5
    for k, name in enumerate(m.parameters):
        above, below = (
            completed(start, ρ + sign * δ * np.eye(ρ.size)[k]).packed for sign in (1, -1)
        )
        expected = (above - below) / (2 * δ)
        assert np.abs(expected).max() > 1e-3, name
        for symbol, slope, reference in zip(
            "qvaλ", np.split(computed[:, k], parts), np.split(expected, parts), strict=True
        ):
            scale = max(1.0, np.abs(reference).max(initial=0.0))
            assert slope == pytest.approx(reference, abs=1e-7 * scale), f"d{symbol}/d{name}"


def test_derivatives_for_chosen_parameters_keep_their_order() -> None:
    m = loop_in_the_plane()
    start, ρ = m._solvers.of(choose(1.0)[0]).start, m.data.parameter_set.nominal
    state = completed(start, ρ)
    everything = start.sensitivities(state, ρ, list(range(ρ.size)))
    assert start.sensitivities(state, ρ, [10, 0]) == pytest.approx(
        everything[:, [10, 0]], rel=1e-12, abs=1e-12
    )


@pytest.mark.parametrize("angle", [-1.5, -0.3, 0.11, 1.2])
def test_values_far_away_keep_the_way_of_assembly(angle: float) -> None:
    """A four-bar closes in two ways; with the crank elsewhere it stays in that of its nominal
    start, alone and among samples.
    """
    m = vm.Mechanism("four-bar", gravity=(0, -9.81))
    θ = m.parameter("θ", 0.05, unit="rad")
    add_four_bar(m, 1, 0.3, 0.9, 0.6)
    m.start(angle={"crank": θ})
    nominal = m.simulate(0.01, step=0.01).position("C")[0, 1].item()
    alone = m.simulate(0.01, step=0.01, parameters={"θ": angle}).position("C")[0, 1].item()
    height = vm.final(lambda s: s.position("C")[1])
    among = (
        m.ensemble(height, {"θ": [angle, 0.05]}, duration=0.01, step=0.01, backend="native")
        .values[0]
        .item()
    )
    assert abs(alone - nominal) < 0.4 and abs(nominal) > 0.5
    assert among == pytest.approx(
        m.sensitivity(height, duration=0.01, step=0.01, parameters={"θ": angle}).values.item(),
        abs=1e-12,
    )


def test_lengths_beyond_all_numbers_are_refused() -> None:
    m = vm.Mechanism("huge", gravity=(0, 0, -9.81))
    m.ground_point("A", (0, 0, 0))
    m.ground_point("C", (0, 0, 1))
    m.beam("rod", "A", "C", segments=2, E=1e9, area=1e-4, inertia=1e-10, mass=1, length=1e308)
    m.spherical("A")
    m.spherical("C")
    with pytest.raises(vm.AssemblyError, match="too large to place body 'rod'; check their units"):
        m.simulate(1e-3, step=1e-3)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [(DENSE + 5, DENSE + 9), (DENSE + 9, DENSE + 5), (DENSE + 5, DENSE + 5), (7, 9)],
)
def test_systems_of_any_shape_have_their_shortest_solution(rows: int, columns: int) -> None:
    chance = np.random.default_rng(3)
    A = np.where(
        chance.random((rows, columns)) < 0.05, chance.standard_normal((rows, columns)), 0.0
    )
    np.fill_diagonal(A, 4.0)
    b = chance.standard_normal((rows, 2))
    assert solution(ca.DM(A), b) == pytest.approx(np.linalg.pinv(A) @ b, abs=1e-10)


def redundant_loop() -> vm.Mechanism:
    """A four-bar with hinges along z, whose loop says three things twice."""
    m = vm.Mechanism("loop", gravity=(0, -9.81, 0))
    length, height, tilt = (
        m.parameter(name, value)
        for name, value in (("length", 1.8), ("height", 0.0), ("tilt", 0.0))
    )
    m.ground_point("A", (0, 0, 0))
    m.ground_point("D", (2, 0, height))
    for name, start, end, far in (
        ("crank", "A", "B", 0.5),
        ("coupler", "B", "C", length),
        ("rocker", "D", "C", 1.2),
    ):
        m.body(name, mass=1, inertia=(0.1, 0.2, 0.2), points={start: (0, 0, 0), end: (far, 0, 0)})
    for name in "ABC":
        m.revolute(name, axis=(0, 0, 1))
    m.revolute("D", axis=(0, tilt, 1), axis_on_second=(0, 0, 1))
    m.start(angle={"A": 1.0}, speed={"A": 2.0}, near={"C": (1.5, 1, 0)})
    return m


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn1"])
def test_there_is_no_derivative_by_what_would_break_a_loop(coordinates: str) -> None:
    options: dict[str, Any] = {
        "duration": 1e-3,
        "step": 1e-3,
        "coordinates": coordinates,
    }
    place = vm.final(lambda s: s.position("C")[1])
    assert redundant_loop().sensitivity(place, "length", **options).gradient.item() != 0
    for name in ("height", "tilt"):
        for method in ("direct", "adjoint"):
            with pytest.raises(
                vm.AssemblyError,
                match=f"'loop': no derivative with respect to '{name}' exists: .*let another parameter",
            ):
                redundant_loop().sensitivity(place, ["length", name], method=method, **options)


def _open_or_crossed(**start: Any) -> vm.Mechanism:
    m = vm.Mechanism("four-bar", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.ground_point("C", (0.6, 0.1))
    m.bar("crank", "O", "A", length=0.2, mass=0.5)
    m.bar("coupler", "A", "B", length=0.7, mass=1.0)
    m.bar("rocker", "B", "C", length=0.5, mass=0.8)
    for joint in "OABC":
        m.revolute(joint)
    m.start(angle={"crank": 0.7}, **start)
    return m


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn1"])
def test_the_other_configuration_is_reported(coordinates: str) -> None:
    """B is one of the two intersections of two circles, about A and C."""
    A, C = 0.2 * np.array([np.cos(0.7), np.sin(0.7)]), np.array([0.6, 0.1])
    d = np.linalg.norm(C - A)
    along = (d**2 + 0.7**2 - 0.5**2) / (2 * d)
    across = np.sqrt(0.7**2 - along**2)
    u = (C - A) / d
    both = [A + along * u + sign * across * np.array([-u[1], u[0]]) for sign in (1, -1)]
    run = _open_or_crossed().simulate(0.01, coordinates=coordinates)
    for x, y in both:
        assert f"({x:.4g}, {y:.4g})" in run.info["configuration"]
    assert "start(near={'B': …}) chooses" in repr(run)
    chosen = _open_or_crossed(near={"B": tuple(both[0])}).simulate(0.01, coordinates=coordinates)
    assert "configuration" not in chosen.info and np.allclose(
        chosen.position("B").values[0], both[0]
    )


def test_one_configuration_is_no_news() -> None:
    assert "configuration" not in two_bars(0.3, 0.1).simulate(0.01).info
