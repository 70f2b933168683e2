"""Relative coordinates where they could go wrong: many turns, no lengths, parts without inertia,
singular guesses, long paths.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from bodies import add_body

import varimech as vm
from varimech.coordinates.systems import COORDINATES
from varimech.schemes import choose
from varimech.solving.programs import LONG, STARTED

RELATIVE = ("rtdyn0", "rtdyn1")
each = pytest.mark.parametrize("coordinates", RELATIVE)


def largest(one: vm.Run, other: vm.Run, point: str) -> float:
    """Largest distance of a point in two runs (m)."""
    return float(np.abs(one.position(point).to_numpy() - other.position(point).to_numpy()).max())


def beside_a_rotor(speed: float) -> vm.Mechanism:
    """A double pendulum, and a rotor that has nothing to do with it."""
    m = vm.Mechanism("double pendulum", gravity=(0, -9.81))
    m.ground_point("A", (0, 0))
    m.ground_point("R", (3, 0))
    m.bar("upper", "A", "B", length=1, mass=1)
    m.bar("lower", "B", "C", length=1, mass=1)
    m.body("rotor", mass=1, inertia=0.1, points={"R": (0, 0)})
    for joint in "ABR":
        m.revolute(joint)
    m.start(angle={"upper": -0.5, "lower": 0.3, "rotor": 0}, speed={"rotor": speed})
    return m


@each
@pytest.mark.parametrize("speed", [0.0, 100.0, 10_000.0])
def test_many_turns_of_one_joint_do_not_loosen_the_tolerance_for_others(
    speed: float, coordinates: str
) -> None:
    exact = beside_a_rotor(0.0).simulate(2.0, tolerance=1e-12, output=0.5)
    run = beside_a_rotor(speed).simulate(2.0, tolerance=1e-6, output=0.5, coordinates=coordinates)
    assert largest(run, exact, "C") < 1e-6


def carts(amplitude: float) -> vm.Mechanism:
    """Two of them on a line with a cubic spring; nothing in the mechanism has a length."""
    m = vm.Mechanism("carts", dimension=2)
    m.ground_point("O", (0, 0))
    for name in ("first", "second"):
        m.body(name, mass=1, inertia=1, points={"O": (0, 0)})
    m.prismatic("one", "ground.O", "first.O", axis=(1, 0))
    m.prismatic("two", "first.O", "second.O", axis=(1, 0))
    m.force(
        "cubic",
        "first.O",
        lambda s: (-s.displacement("one") - s.displacement("one") ** 3 / amplitude**2, 0),
    )
    m.force("linear", "second.O", lambda s: (-2 * s.displacement("two"), 0))
    m.start(displacement={"one": amplitude, "two": -amplitude / 2})
    return m


@each
@pytest.mark.parametrize("amplitude", [1e-5, 1.0, 1e4])
def test_tolerances_are_relative_without_any_length_too(amplitude: float, coordinates: str) -> None:
    exact = carts(amplitude).simulate(10.0, tolerance=1e-12, output=1.0)
    run = carts(amplitude).simulate(10.0, tolerance=1e-6, output=1.0, coordinates=coordinates)
    assert largest(run, exact, "second.O") < 1e-5 * amplitude


@each
@pytest.mark.parametrize("hinges", [0, LONG])
def test_a_ball_joint_carries_bodies_on_one_without_inertia(hinges: int, coordinates: str) -> None:
    m = vm.Mechanism("cross", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.body("cross", mass=1, inertia=(0, 0, 0), points={"O": (0, 0, 0)})
    m.body("arm", mass=1, inertia=(0.1, 0.2, 0.3), com=(0.3, 0, 0), points={"P": (0.1, 0, 0)})
    m.spherical("O", "ground.O", "cross.O")
    m.fixed("weld", "cross.O", "arm.P")
    last = "arm.com"
    for k in range(hinges):
        add_body(m, f"b{k}", 0.5, (0.01, 0.02, 0.03), (0.1, 0, 0), S=(0, 0, 0), E=(0.3, 0, 0))
        m.revolute(f"h{k}", last, f"b{k}.S", axis=(0, 1, 0.2))
        last = f"b{k}.E"
    angles = {f"h{k}": 0.2 for k in range(hinges)}
    m.start(
        orientation={"cross": vm.rotation((0, 1, 0), 0.3)},
        speed={"cross": (1, 2, 0.5)},
        angle=angles,
    )
    settings: dict[str, Any] = {"step": 0.01, "integrator": "dop853"}
    natural, relative = (
        m.simulate(0.1, coordinates=c, **settings) for c in ("natural", coordinates)
    )
    assert largest(natural, relative, "arm.com") < 1e-12


@each
def test_starts_are_found_from_singular_guesses(coordinates: str) -> None:
    """The open component is first taken as zero, where the held ones do not depend on the joint;
    nothing else may turn over meanwhile.
    """
    m = vm.Mechanism("universal", gravity=(0, 0, -9.81))
    m.ground_point("U", (0, -1, 0))
    m.body("arm", mass=0.4, inertia=(0.01, 0.012, 0.015), com=(0.3, 0, 0), points={"U": (0, 0, 0)})
    m.universal("U", "ground.U", "arm.U", axis=(0, 0.3, 1), axis_on_second=(0, 1, 0))
    c, s = math.cos(0.2), math.sin(0.2)
    tilt = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    for k in range(2):
        m.body(f"f{k}", mass=1, inertia=(1, 2, 2.5), floating=True)
    places = {"arm.com": (None, -0.95, 0.05), "f0.com": (1, 0, 0), "f1.com": (2, 0, 0)}
    m.start(position=places, orientation={f"f{k}": tilt for k in range(2)})
    run = m.simulate(0.01, coordinates=coordinates, tolerance=1e-5)
    np.testing.assert_allclose(
        run.position("arm.com")[0], (math.sqrt(0.085), -0.95, 0.05), atol=1e-9
    )
    np.testing.assert_allclose(run.rotation("f0")[0], tilt, atol=1e-9)
    solver = m._solvers.of(choose(1.0, coordinates=coordinates)[0])
    assert (
        np.abs(solver.start.assemble(m.data.parameter_set.nominal)).max() <= math.pi
    )  # no joint is wound up


@each
def test_bodies_that_are_all_welded_to_the_ground_have_no_degree_of_freedom(
    coordinates: str,
) -> None:
    m = vm.Mechanism("post", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("post", "O", "top", length=1, mass=1)
    m.fixed("O")
    with pytest.raises(
        vm.ModelError, match="mechanism 'post': the joints fix every body: no degrees of freedom"
    ):
        m.simulate(0.1, coordinates=coordinates)


def chain(bars: int) -> vm.Mechanism:
    """Bars in a row, started by the angles of their joints."""
    m = vm.Mechanism("chain", gravity=(0, -9.81))
    L = m.parameter("L", 1.0)
    m.ground_point("P0", (0, 0))
    for k in range(bars):
        m.bar(f"bar {k}", f"P{k}", f"P{k + 1}", length=L if k == 0 else 1, mass=1)
        m.revolute(f"P{k}")
    m.start(angle={f"P{k}": -0.1 for k in range(bars)})
    return m


def test_a_force_may_span_a_thousand_joints() -> None:
    m = chain(1100)
    m.spring("rope", "bar 1.com", "bar 1099.com", stiffness=1, natural_length=1)
    e = COORDINATES["rtdyn1"].equations(m.data.frozen())
    rope = next(x for x in e.elements if x.name == "rope")
    assert rope.potential.n_dep() > 0


@each
def test_composite_sensitivities_take_trees_that_are_swept(coordinates: str) -> None:
    m, end = chain(LONG + 1), vm.final(lambda s: s.position(f"P{LONG + 1}")[1])
    settings: dict[str, Any] = {
        "duration": 0.02,
        "step": 0.005,
        "integrator": "dop853",
        "coordinates": coordinates,
    }
    direct, composite = (
        m.sensitivity(end, method=method, **settings).gradient_history[-1]
        for method in ("direct", "composite")
    )
    np.testing.assert_allclose(composite, direct, rtol=1e-9)


def check_composite(
    m: vm.Mechanism, objective: vm.Objective, duration: float, coordinates: str
) -> None:
    """Composite derivatives over two steps against direct ones."""
    direct, composite = (
        m.sensitivity(
            objective,
            duration=duration,
            step=duration / 2,
            method=method,
            integrator="dop853",
            coordinates=coordinates,
        ).gradient
        for method in ("direct", "composite")
    )
    np.testing.assert_allclose(composite, direct, rtol=1e-9)


@each
def test_composite_sensitivities_take_mechanisms_without_constraints(coordinates: str) -> None:
    m = vm.Mechanism("door", gravity=(0, 0, -9.81))
    L = m.parameter("L", 1.0)
    m.ground_point("O", (0, 0, 0))
    m.bar("door", "O", "edge", length=L, mass=1, radius=0.1)
    m.revolute("O", axis=(0, 1, 1))
    m.start(angle={"O": 0.3})
    end = vm.final(lambda s: s.position("edge")[2])
    check_composite(m, end, 0.02, coordinates)


@each
def test_composite_sensitivities_are_those_of_long_steps(coordinates: str) -> None:
    """Inside of a step Euler parameters leave unit length, where forces of inertia have several
    forms: both methods take the same.
    """
    m = vm.Mechanism("top", gravity=(0, 0, -9.81))
    L = m.parameter("L", 1.0)
    m.ground_point("O", (0, 0, 0))
    m.bar("top", "O", "tip", length=L, mass=1, radius=0.1)
    m.spherical("O")
    m.start(orientation={"top": vm.rotation((0, 1, 0), -0.9)}, speed={"top": (1, 2, 0.5)})
    tip = vm.final(lambda s: s.velocity("tip")[2])
    check_composite(m, tip, 0.4, coordinates)


@pytest.mark.parametrize("bars", [STARTED, STARTED + 1])
def test_starts_in_generated_code_and_before_are_the_same(bars: int) -> None:
    """Beyond a size the start of a tree is found before the run, derivatives included."""
    m = chain(bars)
    settings: dict[str, Any] = {
        "wrt": "L",
        "duration": 0.01,
        "step": 0.005,
        "integrator": "dop853",
    }
    natural, relative = (
        m.sensitivity(coordinates=c, **settings).run for c in ("natural", "rtdyn1")
    )
    point = f"P{bars}"
    for wrt in (None, "L"):
        for measure in ("position", "acceleration"):
            one, other = (
                getattr(run, measure)(point, wrt=wrt).to_numpy() for run in (natural, relative)
            )
            np.testing.assert_allclose(other, one, rtol=0, atol=1e-8 * np.abs(one).max())
