"""Stops, contacts, joints with clearance and dry friction: what they refuse, what files hold of them,
and their motion against closed forms and against SciPy's solution of the same equations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import varimech as vm

G = 9.81
Y, RATE = "displacement('guide')", "displacement_rate('guide')"


def scene(n: int = 2) -> vm.Mechanism:
    """A free body, and one in a guide."""
    m = vm.Mechanism("scene", gravity=(0, -G) if n == 2 else (0, 0, -G))
    m.ground_point("O", (0,) * n)
    inertia: Any = 0.1 if n == 2 else (0.1,) * 3
    places = {"P": (0,) * n, "Q": (0.1, 0, 0)[:n]}
    m.body("a", mass=1.0, inertia=inertia, points=places, floating=True)
    m.body("b", mass=1.0, inertia=inertia, points=places)
    m.prismatic("guide", "ground.O", "b.P", axis=(1, 0, 0)[:n])
    return m


# --- bad input

FLOOR: dict[str, Any] = {"radius": 0.1, "normal": (0, 1)}
SMOOTH_ON_RIGID = (
    "friction_law = 'tanh' needs compliant surfaces, but no stiffness is given;"
    ' use friction_law="coulomb", or give a stiffness'
)
STICKING_ON_SOFT = (
    "friction_law = 'coulomb' needs rigid surfaces, but a stiffness is given;"
    ' use friction_law="tanh", or omit the stiffness'
)
NO_SURFACE = "give either normal (a line or plane) or second_radius (a circle or sphere)"
REFUSED: dict[str, tuple[tuple[Any, ...], list[tuple[dict[str, Any], str]]]] = {
    "stop": (
        (Y,),
        [
            ({}, "stop 'it': needs a limit; give lower, upper or both"),
            ({"lower": 1.0, "upper": 0.5}, "stop 'it': upper − lower = -0.5 must be positive"),
            ({"lower": 1.0, "upper": 1.0}, "stop 'it': upper − lower = 0 must be positive"),
            ({"lower": 0, "restitution": 1.2}, "stop 'it': restitution = 1.2 must be between 0"),
            ({"lower": 0, "restitution": -0.1}, "stop 'it': restitution = -0.1 must be between 0"),
            ({"lower": 0, "restitution": math.nan}, "stop 'it': restitution = nan is not finite"),
            ({"lower": 0, "friction": -1, "slip": RATE}, "friction = -1 must not be negative"),
            ({"lower": 0, "friction": 0.3}, "stop 'it': friction needs the velocity that it"),
            (
                {"lower": 0, "friction": 0.3, "static_friction": 0.2, "slip": RATE},
                "stop 'it': static_friction − friction = -0.1 must not be negative",
            ),
            ({"lower": 0, "stiffness": 0.0}, "stop 'it': stiffness = 0 must be positive"),
            (
                {"lower": 0, "stiffness": 1e5, "restitution": 0.5},
                "stop 'it': restitution applies to rigid surfaces, but a stiffness is given; give"
                " damping instead, or law='lankarani-nikravesh', or omit the stiffness",
            ),
            ({"lower": 0, "stiffness": 1.0, "exponent": 0}, "exponent = 0 must be positive"),
            ({"lower": 0, "stiffness": 1.0, "damping": -1}, "damping = -1 must not be negative"),
            (
                {"lower": 0, "damping": 1.0},
                "stop 'it': damping applies to compliant surfaces, but no stiffness is given; give"
                " a stiffness as well, or a restitution instead",
            ),
            ({"lower": 0, "law": "hertz"}, "must be one of 'hunt-crossley', 'kelvin-voigt'"),
            ({"lower": 0, "friction": 1, "slip": RATE, "friction_law": "tanh"}, SMOOTH_ON_RIGID),
            ({"lower": 0, "friction": 1, "slip": RATE, "stiffness": 1e5}, STICKING_ON_SOFT),
            (
                {"lower": 0, "friction_law": "dahl"},
                "friction_law = 'dahl' must be one of 'coulomb', 'tanh', 'stribeck', 'brown-mcph",
            ),
        ],
    ),
    "contact": (
        ("a.P", "b.P"),
        [
            ({}, f"contact 'it': the second body has no surface; {NO_SURFACE}"),
            (
                {"normal": (0, 1), "second_radius": 0.1},
                f"contact 'it': the second body has two surfaces; {NO_SURFACE}",
            ),
            ({"normal": (0, 1), "inside": True}, "neither an inside nor a second end; omit"),
            ({"normal": (0, 1), "to": "b.Q"}, "neither an inside nor a second end; omit"),
            (
                {"second_radius": 0.1, "to": "b.Q", "inside": True},
                "contact 'it': a capsule has no inside here; omit inside",
            ),
            (
                {"second_radius": 0.1, "to": "a.Q"},
                "contact 'it': 'a.Q' is no other point of 'b'; give the other end of the capsule",
            ),
            (
                {"second_radius": 0.1, "radius": 0.1, "inside": True},
                "contact 'it': second_radius − radius = 0 must be positive",
            ),
            ({"second_radius": 0.0}, "contact 'it': second_radius = 0 must be positive"),
            ({"normal": (0, 1), "radius": -0.1}, "radius = -0.1 must not be negative"),
            ({"normal": (0, 0)}, "normal = (0, 0) is a zero vector; give a direction that is not"),
            ({"normal": (0, 0, 1)}, "has 3 components; this mechanism is planar, give 2"),
            (
                {"normal": (0, 1), "also": ["b.Q"]},
                "contact 'it': first and also are points of 'a', 'b'; give points of one body",
            ),
            ({"normal": (0, 1), "also": ["a.R"]}, "no point of body 'a' is called 'R'; known: 'P'"),
            ({**FLOOR, "restitution": 1.5}, "contact 'it': restitution = 1.5 must be between 0"),
            ({**FLOOR, "friction": -0.1}, "contact 'it': friction = -0.1 must not be negative"),
            (
                {**FLOOR, "friction": 0.5, "static_friction": 0.4},
                "contact 'it': static_friction − friction = -0.1 must not be negative",
            ),
            ({**FLOOR, "friction": 0.5, "friction_law": "tanh"}, SMOOTH_ON_RIGID),
            ({**FLOOR, "friction": 0.5, "stiffness": 1e5}, STICKING_ON_SOFT),
        ],
    ),
    "clearance_joint": (
        ("ground.O", "a.P"),
        [
            ({"clearance": 0}, "clearance joint 'it': clearance = 0 must be positive"),
            ({"clearance": -1e-3}, "clearance joint 'it': clearance = -0.001 must be positive"),
            (
                {"clearance": 1.0, "axis": (0, 0)},
                "axis = (0, 0) is a zero vector; give a direction",
            ),
            ({"clearance": 1.0, "pin_radius": -1}, "pin_radius = -1 must not be negative"),
            ({"clearance": 1.0, "restitution": 2}, "restitution = 2 must be between 0 and 1"),
            ({"clearance": 1.0, "friction": 0.1, "friction_law": "tanh"}, SMOOTH_ON_RIGID),
            ({"clearance": 1.0, "friction": 0.1, "stiffness": 1e6}, STICKING_ON_SOFT),
        ],
    ),
    "dry_friction": (
        (RATE,),
        [
            ({"sliding": -1.0}, "dry friction 'it': sliding = -1 must not be negative"),
            ({"sliding": 1.0, "static": 0.5}, "static − sliding = -0.5 must not be negative"),
            ({"sliding": 1.0, "law": "dahl"}, "law = 'dahl' must be one of 'coulomb', 'tanh'"),
            ({"sliding": 1.0, "slip_velocity": 0}, "slip_velocity = 0 must be positive"),
            ({"sliding": 1.0, "bristle_stiffness": 0}, "bristle_stiffness = 0 must be positive"),
            ({"sliding": 1.0, "bristle_damping": -1}, "bristle_damping = -1 must not be negative"),
        ],
    ),
}
CASES = [
    pytest.param(method, given, options, words, id=f"{method}-{k}")
    for method, (given, cases) in REFUSED.items()
    for k, (options, words) in enumerate(cases)
]


@pytest.mark.parametrize(("method", "given", "options", "words"), CASES)
def test_bad_arguments_of_contacts_and_friction(
    method: str, given: tuple[Any, ...], options: dict[str, Any], words: str
) -> None:
    m = scene()
    before = m.to_text()
    with pytest.raises(vm.ModelError) as caught:
        getattr(m, method)("it", *given, **options)
    for part in words.split(".*"):
        assert part in str(caught.value)
    assert "it" not in m.forces and m.to_text() == before


@pytest.mark.parametrize("method", ["clearance_joint", "dry_friction"])
def test_what_has_to_be_given(method: str) -> None:
    with pytest.raises(TypeError, match=f"{method}: missing a required argument: '(cl|sl)"):
        getattr(scene(), method)("it", *REFUSED[method][0])


def test_a_slot_needs_a_plane() -> None:
    m = scene(3)
    with pytest.raises(vm.ModelError, match="joint 'it': a slot belongs to the plane"):
        m.clearance_joint("it", "ground.O", "a.P", clearance=1e-3, axis=(1, 0, 0))


def test_smooth_friction_in_space() -> None:
    """A puck loses μ g of its speed each second, and keeps its direction."""
    m = vm.Mechanism("puck", gravity=(0, 0, -G))
    m.ground_point("O", (0, 0, 0))
    m.body("puck", mass=1.0, inertia=(0.1,) * 3, points={"P": (0, 0, 0)}, floating=True)
    m.contact(
        "floor",
        "puck.P",
        "ground.O",
        normal=(0, 0, 1),
        stiffness=1e5,
        friction=m.parameter("mu", 0.3),
        friction_law="tanh",
    )
    m.start(
        position={"puck.P": (0, 0, -G / 1e5)},
        orientation={"puck": vm.rotation((1, 0, 0), 0.0)},
        speed={"puck.P": (0.6, 0.8, 0.0)},
    )
    gradient = m.sensitivity(vm.final("velocity('puck.P')[0]"), duration=0.2)
    speed = 1 - 0.3 * G * 0.2
    v = gradient.run.velocity("puck.P").values[-1]
    np.testing.assert_allclose(v, [0.6 * speed, 0.8 * speed, 0.0], atol=1e-8)
    assert gradient.final_gradient[0, 0] == pytest.approx(-0.6 * G * 0.2, rel=1e-7)


@pytest.mark.parametrize(
    ("method", "given", "options"),
    [
        ("stop", (Y,), {"lower": 1e-3}),
        ("stop", (Y,), {"lower": -1.0, "upper": -1e-3}),
        ("contact", ("a.P", "ground.O"), {"radius": 1.1, "normal": (0, 1)}),
        ("contact", ("a.P", "ground.O"), {"second_radius": 0.9, "inside": True}),
        ("contact", ("a.P", "ground.O"), {"radius": 0.6, "second_radius": 0.5}),
        ("clearance_joint", ("ground.O", "a.P"), {"clearance": 0.9}),
    ],
)
def test_surfaces_that_overlap_at_the_start(
    method: str, given: tuple[str, ...], options: dict[str, Any]
) -> None:
    m = scene()
    getattr(m, method)("it", *given, **options)
    m.start(position={"a.P": (0, 1)}, angle={"a": 0.0}, displacement={"guide": 0.0})
    name, overlap = "it.upper" if "upper" in options else "it", 1e-3 if method == "stop" else 0.1
    with pytest.raises(
        vm.SimulationError,
        match=f"t = 0 s: the surfaces of contact '{name}' overlap by {overlap} m; begin with a gap of",
    ):
        m.simulate(0.1)


def test_discs_with_the_same_centre_overlap() -> None:
    m = scene()
    m.contact("it", "a.P", "ground.O", radius=0.2, second_radius=0.5)
    m.start(position={"a.P": (0, 0)}, angle={"a": 0.0}, displacement={"guide": 0.0})
    with pytest.raises(
        vm.SimulationError, match=r"contact 'it' overlap by 0\.7 m; begin with a gap"
    ):
        m.simulate(0.1)


@pytest.mark.parametrize("method", ["contact", "clearance_joint"])
def test_penetrations_of_compliant_surfaces_inside_a_circle_are_exact(method: str) -> None:
    """A ball at rest at the bottom of a bore of 1 mm, 0.5 mm deep:  K δ = m g."""
    m = vm.Mechanism("bore", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("ball", mass=2.0, inertia=0.1, points={"C": (0, 0)}, floating=True)
    law: dict[str, Any] = {"stiffness": 2 * G / 5e-4, "damping": 100.0}
    if method == "contact":
        m.contact("bore", "ball.C", "ground.O", second_radius=1e-3, inside=True, **law)
    else:
        m.clearance_joint("bore", "ground.O", "ball.C", clearance=1e-3, **law)
    m.start(position={"ball.C": (0.0, -1.5e-3)}, angle={"ball": 0.0})
    assert m.simulate(0.1).position("ball.C").values[-1, 1] == pytest.approx(-1.5e-3, rel=1e-9)
    m.start(position={"ball.C": (0.0, 0.0)}, angle={"ball": 0.0})  # a smooth start at the centre
    assert m.simulate(1.0).position("ball.C").values[-1, 1] == pytest.approx(-1.5e-3, rel=1e-2)


def test_units_of_dry_friction() -> None:
    m = scene()
    m.dry_friction("one", "displacement_rate('guide')", sliding="0.2 kN", static="300 N")
    m.dry_friction("two", "angular_velocity('a')", sliding="2 N*m", slip_velocity="1 rpm")
    m.dry_friction("three", "0.1*angular_velocity('a')", sliding="2 N")
    forces: dict[str, Any] = dict(m.forces)
    assert [float(forces[name].sliding) for name in ("one", "two", "three")] == [200.0, 2.0, 2.0]
    for rate in ("displacement_rate('guide')", "velocity('a.P')[0] + 0.1*angular_velocity('a')"):
        with pytest.raises(
            vm.ModelError, match="sliding = '2 N\\*m' is a torque, and the rate that"
        ):
            m.dry_friction("four", rate, sliding="2 N*m")
    with pytest.raises(vm.ModelError, match="'2 kg' has the wrong dimension; expected N"):
        m.dry_friction("four", "angular_velocity('a')", sliding="2 kg")
    m.stop("five", "angle('a')", lower="-90 deg", upper="90 deg", stiffness="50 N*m/rad")
    compliant = {"stiffness": "5 N/mm", "damping": "3 N*s/m", "law": "kelvin-voigt"}
    m.stop("six", "displacement('guide')", lower="-5 mm", **compliant)
    six: Any = m.forces["six"]
    assert float(six.lower) == -5e-3 and float(six.stiffness) == 5e3


def test_schemes_without_events_are_refused() -> None:
    m = scene()
    m.stop("it", Y, lower=-1.0)
    m.start(
        position={"a.P": (0, 1)},
        angle={"a": 0.0},
        displacement={"guide": 0.0},
        speed={"guide": m.parameter("v", 0.1)},
    )
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"formulation": "penalty"}, "has contacts, dry friction or events, which penalty"),
        ({"integrator": "cvodes"}, "has contacts, dry friction or events, which index 1"),
    )
    for options, words in refused:
        with pytest.raises(vm.ModelError, match=f"'scene'.*{words}.*; use"):
            m.simulate(0.1, **options)
    with pytest.raises(vm.ModelError, match="rigid contacts or dry friction, which may balance"):
        m.equilibrium()
    with pytest.raises(vm.ModelError, match="which no single set of equations states; leave them"):
        m.equations()


# --- files

FILED: dict[str, Callable[[vm.Mechanism], object]] = {
    "stop": lambda m: m.stop(
        "it", Y, lower=-0.05, upper="w", restitution="e", friction="f", slip="velocity('a.P')[1]"
    ),
    "compliant stop": lambda m: m.stop(
        "it", Y, upper="w", stiffness=1e4, exponent=1.5, damping="f", law="kelvin-voigt"
    ),
    "contact": lambda m: m.contact(
        "it", "a.P", "ground.O", also=["a.Q"], normal=(0.1, 1), restitution="e", friction="f"
    ),
    "capsule": lambda m: m.contact(
        "it", "a.P", "b.P", radius="w", second_radius=0.02, to="b.Q", restitution="e"
    ),
    "inside": lambda m: m.contact("it", "a.P", "ground.O", second_radius=1.01, inside=True),
    "bore": lambda m: m.clearance_joint(
        "it", "ground.O", "a.P", clearance="1 + w/20", restitution="e", friction="f", pin_radius="w"
    ),
    "slot": lambda m: m.clearance_joint(
        "it", "ground.O", "b.P", clearance="w", axis=(0, 1), restitution="e"
    ),
    "dry friction": lambda m: m.dry_friction("it", RATE, sliding="5*f", static="6*f"),
    "LuGre": lambda m: m.dry_friction(
        "it", RATE, sliding="f", static=0.4, law="lugre", bristle_stiffness=1e3, bristle_damping=1.0
    ),
}


@pytest.mark.parametrize("element", FILED)
def test_a_contact_from_a_file_moves_to_the_last_bit_as_the_one_it_was_written_from(
    element: str, tmp_path: Path
) -> None:
    m = scene()
    for name, value in {"w": 0.05, "e": 0.6, "f": 0.3}.items():
        m.parameter(name, value)
    FILED[element](m)
    m.start(
        position={"a.P": (0.05, 1.0) if element != "capsule" else (0.05, 0.1)},
        angle={"a": -0.1},
        displacement={"guide": 0.0},
        speed={"guide": 0.3, "a.P": (0.0, -5.0)},
    )
    again = vm.Mechanism.from_file(m.to_file(tmp_path / "m.yaml"))
    assert again.to_text() == m.to_text()
    first, second = (x.simulate(0.4, backend="interpreted") for x in (m, again))
    assert list(first.events) == list(second.events)
    assert first.events or element in ("compliant stop", "LuGre")
    for point in ("a.P", "b.P"):
        np.testing.assert_array_equal(first.position(point), second.position(point))


# --- shapes


def thrown(
    n: int, place: Any, velocity: Any, add: Callable[[vm.Mechanism], object]
) -> vm.Mechanism:
    """A free body with its centre at a place, without gravity, and what it meets."""
    m = vm.Mechanism("thrown", dimension=n)
    m.ground_point("O", (0,) * n)
    m.body(
        "ball",
        mass=2.0,
        inertia=0.01 if n == 2 else (0.01, 0.01, 0.01),
        points={"C": (0,) * n},
        floating=True,
    )
    add(m)
    turned: dict[str, Any] = (
        {"angle": {"ball": 0.0}}
        if n == 2
        else {"orientation": {"ball": vm.rotation((0, 0, 1), 0.0)}}
    )
    m.start(
        position={"ball.C": place},
        speed={"ball.C": velocity, "ball": 0.0 if n == 2 else (0, 0, 0)},
        **turned,
    )
    return m


@pytest.mark.parametrize("n", [2, 3])
def test_a_ball_bounces_obliquely_on_a_line_and_on_a_plane(n: int) -> None:
    """Without gravity the ball meets the surface when its centre is at its radius from it; its
    normal velocity is reversed by the restitution, and the rest of it stays.
    """
    normal = np.array([0.6, 0.8]) if n == 2 else np.array([0.48, 0.6, 0.64])
    place, v = np.array([1.0, 2.0, 1.5][:n]), np.array([-1.0, -2.0, 0.5][:n])
    r, e = 0.2, 0.7
    m = thrown(
        n,
        place,
        v,
        lambda m: m.contact(
            "wall", "ball.C", "ground.O", radius=r, normal=tuple(5 * normal), restitution=e
        ),
    )
    run = m.simulate(2.0)
    t = (place @ normal - r) / -(v @ normal)
    after = v - (1 + e) * (v @ normal) * normal
    (impact,) = run.events
    assert (impact.name, impact.what) == ("wall", "impact")
    np.testing.assert_allclose(
        [impact.time, impact.before, impact.after, impact.impulse],
        [t, v @ normal, -e * (v @ normal), -2.0 * (1 + e) * (v @ normal)],
        rtol=1e-10,
    )
    end = place + t * v + (2.0 - t) * after
    np.testing.assert_allclose(run.position("ball.C").values[-1], end, atol=1e-9)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("method", ["contact", "clearance_joint"])
def test_a_ball_inside_a_circle_or_sphere_keeps_its_chord(n: int, method: str) -> None:
    """With restitution 1: all chords of a path are as long as the first whole one, 2√(R² − d²), with
    the distance d of its line from the centre; energy and that distance stay.
    """
    R = 0.5
    place, v = np.array([0.0, 0.1, 0.2][:n]), np.array([1.5, 0.4, -0.3][:n])

    def add(m: vm.Mechanism) -> None:
        if method == "contact":
            m.contact(
                "it",
                "ball.C",
                "ground.O",
                radius=0.1,
                second_radius=R + 0.1,
                inside=True,
                restitution=1.0,
            )
        else:
            m.clearance_joint("it", "ground.O", "ball.C", clearance=R, restitution=1.0)

    run = thrown(n, place, v, add).simulate(4.0)
    speed = np.linalg.norm(v)
    along = place @ v / speed
    half = math.sqrt(R**2 - (place @ place - along**2))
    times = (half - along) / speed + 2 * half / speed * np.arange(len(run.events))
    assert len(run.events) == 1 + math.floor((4.0 - times[0]) * speed / (2 * half)) >= 5
    np.testing.assert_allclose(run.events.times, times, rtol=1e-8)
    np.testing.assert_allclose(run.energy().values, speed**2, rtol=1e-8)


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_two_discs_meet_at_an_angle(e: float) -> None:
    """The line of centres at the impact has the sine (offset / sum of radii); momentum along it is
    shared as in a central impact, and nothing happens across it.
    """
    m = vm.Mechanism("discs", dimension=2)
    for name, mass in (("one", 1.0), ("two", 3.0)):
        m.body(name, mass=mass, inertia=0.01, points={"C": (0, 0)}, floating=True)
    m.contact("hit", "one.C", "two.C", radius=0.2, second_radius=0.3, restitution=e)
    m.start(
        position={"one.C": (0, 0.3), "two.C": (2, 0)},
        angle={"one": 0.0, "two": 0.0},
        speed={"one.C": (1.0, 0), "two.C": (-0.5, 0)},
    )
    run = m.simulate(2.0)
    n = np.array([-0.8, 0.6])  # from the second centre to the first one, 0.4 before it
    J = (1 + e) * 1.5 * 0.8 / (1 / 1.0 + 1 / 3.0)
    (hit,) = run.events
    np.testing.assert_allclose([hit.time, hit.before], [1.6 / 1.5, -1.2], rtol=1e-10)
    np.testing.assert_allclose([hit.impulse, hit.after], [J, 1.2 * e], rtol=1e-10, atol=1e-12)
    one, two = (run.velocity(f"{body}.C").values[-1] for body in ("one", "two"))
    np.testing.assert_allclose(one, [1.0, 0] + J * n, atol=1e-10)
    np.testing.assert_allclose(two, [-0.5, 0] - J / 3 * n, atol=1e-10)
    np.testing.assert_allclose(1.0 * one + 3.0 * two, [-0.5, 0.0], atol=1e-12)


@pytest.mark.parametrize("x", [0.3, 0.99, -0.06])
def test_a_ball_falls_on_a_capsule(x: float) -> None:
    """Between the ends of a rod it meets the side, beyond them the round end; there its velocity is
    turned about the normal.
    """
    m = vm.Mechanism("rod", gravity=(0, -G))
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    m.body("ball", mass=1.0, inertia=0.01, points={"C": (0, 0)}, floating=True)
    m.contact(
        "it",
        "ball.C",
        "ground.A",
        to="ground.B",
        radius=0.1,
        second_radius=0.05,
        restitution=0.5,
    )
    m.start(position={"ball.C": (x, 0.5)}, angle={"ball": 0.0})
    run = m.simulate(0.35)
    beyond = min(x, 0.0)
    y = math.sqrt(0.15**2 - beyond**2)
    t, n = math.sqrt(2 * (0.5 - y) / G), np.array([beyond, y]) / 0.15
    impact = run.events[0]
    v = np.array([0.0, -G * t])
    after = v - 1.5 * (v @ n) * n
    J = -1.5 * float(v @ n)
    np.testing.assert_allclose([impact.time, impact.impulse], [t, J], rtol=1e-9)
    np.testing.assert_allclose(
        run.velocity("ball.C").values[-1], after + np.array([0, -G * (0.35 - t)]), atol=1e-8
    )


def test_a_corner_of_a_falling_rectangle_hits_the_floor() -> None:
    """The impulse  J = (1 + ε) v / (1/m + x²/I)  at the lower corner, x beside the centre."""
    tilt, height, e = 0.2, 1.0, 0.6
    w, h, mass, inertia = 0.15, 0.1, 2.0, 0.02
    m = vm.Mechanism("block", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    corners = {"P": (-w, -h), "Q": (w, -h), "R": (w, h), "S": (-w, h)}
    m.body("block", mass=mass, inertia=inertia, points=corners, floating=True)
    m.contact(
        "floor",
        "block.P",
        "ground.O",
        also=["block.Q", "block.R", "block.S"],
        normal=(0, 1),
        restitution=e,
    )
    m.start(position={"block.com": (0, height)}, angle={"block": tilt})
    c, s = math.cos(tilt), math.sin(tilt)
    x, y = -w * c + h * s, -w * s - h * c
    t = math.sqrt(2 * (height + y) / G)
    J = (1 + e) * G * t / (1 / mass + x**2 / inertia)
    run = m.simulate(t + 1e-3)
    (impact,) = run.events
    assert impact.name == "floor.P"
    np.testing.assert_allclose([impact.time, impact.impulse], [t, J], rtol=1e-9)
    spin = run.angular_velocity("block").values[-1]
    np.testing.assert_allclose(spin, J * x / inertia, rtol=1e-9)
    np.testing.assert_allclose(
        run.velocity("block.com").values[-1], [0, -G * (t + 1e-3) + J / mass], atol=1e-9
    )


def test_a_block_slides_on_its_corners_to_rest() -> None:
    """It stops after v₀²/(2 μ g), at v₀/(μ g)."""
    m = vm.Mechanism("block", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    v, μ = m.parameter("v", 1.5), m.parameter("mu", 0.4)
    m.body("block", mass=2.0, inertia=0.02, points={"P": (-1, -0.2), "Q": (1, -0.2)}, floating=True)
    m.contact("floor", "block.P", "ground.O", also=["block.Q"], normal=(0, 1), friction=μ)
    m.start(
        position={"block.com": (0, 0.2)},
        angle={"block": 0.0},
        speed={"block.com": (v, 0.0), "block": 0.0},
    )
    x = vm.final("position('block.com')[0]")
    for method in ("direct", "adjoint"):
        gradient = m.sensitivity(x, duration=0.6, method=method)
        assert gradient.final_values[0] == pytest.approx(1.5**2 / (0.8 * G), rel=1e-9)
        np.testing.assert_allclose(
            gradient.final_gradient[0], [1.5 / (0.4 * G), -(1.5**2) / (2 * 0.16 * G)], rtol=1e-8
        )
    sticking = [e for e in gradient.run.events if e.what == "stick"]
    assert {e.name for e in sticking} <= {"friction of floor.P", "friction of floor.Q"}
    assert sticking[0].time == pytest.approx(1.5 / (0.4 * G), rel=1e-9)


@pytest.mark.parametrize("μ", [0.1, 0.5])
def test_a_disc_that_is_thrown_rolls_or_slides_after_its_impact(μ: float) -> None:
    """Slip v₀ and a friction impulse up to μ J: a disc with I = m r²/2 rolls after m v₀/3."""
    m = vm.Mechanism("disc", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("disc", mass=1.0, inertia=0.5 * 0.1**2, points={"C": (0, 0)}, floating=True)
    m.contact("floor", "disc.C", "ground.O", radius=0.1, normal=(0, 1), restitution=0.8, friction=μ)
    m.start(
        position={"disc.C": (0, 0.6)},
        angle={"disc": 0.0},
        speed={"disc.C": (3.0, 0.0), "disc": 0.0},
    )
    run = m.simulate(0.5)
    friction = min(1.8 * μ * math.sqrt(2 * G * 0.5), 3.0 / 3)
    assert (friction == 1.0) == (μ == 0.5)
    assert run.velocity("disc.C").values[-1, 0] == pytest.approx(3.0 - friction, rel=1e-9)
    assert run.angular_velocity("disc").values[-1] == pytest.approx(-20 * friction, rel=1e-9)


def test_a_ball_falls_in_its_socket() -> None:
    """In space, from the centre: impacts at  √(2 c/g) (1, 1 + 2ε, 1 + 2ε + 2ε², …), which end in
    contact.
    """
    m = vm.Mechanism("socket", gravity=(0, 0, -G))
    m.ground_point("O", (0, 0, 0))
    c = m.parameter("c", 2e-3, unit="m")
    m.body("ball", mass=1.0, inertia=(0.01,) * 3, points={"C": (0, 0, 0)}, floating=True)
    m.clearance_joint("joint", "ground.O", "ball.C", clearance=c, restitution=0.5)
    m.start(position={"ball.C": (0, 0, 0)}, orientation={"ball": vm.rotation((1, 0, 0), 0.0)})
    t = math.sqrt(2 * 2e-3 / G)
    run = m.simulate(4 * t)
    np.testing.assert_allclose(run.events.times[:4], [t, 2 * t, 2.5 * t, 2.75 * t], rtol=1e-7)
    np.testing.assert_allclose(run.position("ball.C").values[-1], [0, 0, -2e-3], atol=1e-9)
    z = vm.final("position('ball.C')[2]")
    for method in ("direct", "adjoint"):  # z = −c + ε g t (s − t) − g (s − t)²/2, t = √(2 c/g)
        gradient = m.sensitivity(z, duration=1.5 * t, method=method).final_gradient[0, 0]
        assert gradient == pytest.approx(-0.75, rel=1e-7)


def test_a_block_in_a_slot() -> None:
    """It moves to and fro between two sides at a distance of twice the clearance."""

    def add(m: vm.Mechanism) -> None:
        m.clearance_joint(
            "slot", "ground.O", "ball.C", clearance=0.1, axis=(0.8, 0.6), restitution=1.0
        )

    run = thrown(2, (0.03, -0.04), (0.8 - 0.6, 0.6 + 0.8), add).simulate(1.0)
    # the start is 0.05 below the middle line, and the speed across it is 1 m/s
    times = 0.15 + 0.2 * np.arange(5)
    np.testing.assert_allclose(run.events.times, times, rtol=1e-9)
    assert [e.name for e in run.events] == [f"slot.{side}" for side in ("left", "right") * 2] + [
        "slot.left"
    ]
    np.testing.assert_allclose(run.energy().values, 2.0, rtol=1e-10)


def test_friction_of_a_pin_in_its_bore() -> None:
    """A pin that spins at the bottom of a bore climbs it:  m c θ̈ = T − m g sin θ,  I ω̇ = R T,
    N = m (g cos θ + c θ̇²),  T = −μ N sign(c θ̇ + R ω).
    """
    c, R, μ, mass, inertia = 0.05, 0.02, 0.3, 2.0, 0.01
    m = vm.Mechanism("bearing", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("pin", mass=mass, inertia=inertia, points={"C": (0, 0)}, floating=True)
    m.clearance_joint("it", "ground.O", "pin.C", clearance=c, friction=μ, pin_radius=R)
    m.start(
        position={"pin.C": (0, -c)},
        angle={"pin": 0.0},
        speed={"pin.C": (0.0, 0.0), "pin": 50.0},
    )

    def rhs(_: float, y: np.ndarray) -> list[float]:
        θ, rate, _ω = y
        T = -μ * mass * (G * math.cos(θ) + c * rate**2)
        return [rate, (T / mass - G * math.sin(θ)) / c, T * R / inertia]

    expected = solve_ivp(rhs, (0, 0.1), [0, 0, 50.0], "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    run = m.simulate(0.1, tolerance=1e-10)
    x, y = run.position("pin.C").values[-1]
    assert expected[2] > 5  # still slides
    np.testing.assert_allclose([math.atan2(x, -y), math.hypot(x, y)], [expected[0], c], rtol=1e-8)
    assert run.angular_velocity("pin").values[-1] == pytest.approx(expected[2], rel=1e-9)


def test_energy_stays_through_many_impacts() -> None:
    """Restitution 1: a ball between two stops, with gravity; the time between impacts at the lower
    one is that of its flight up to the upper one and back.
    """
    m = vm.Mechanism("ball", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("ball", mass=0.5, inertia=0.1, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "ball.P", axis=(0, 1))
    m.stop("ends", Y, lower=0.0, upper=0.5, restitution=1.0)
    m.start(displacement={"guide": 0.2}, speed={"guide": 4.0})
    run = m.simulate(5.0)
    low, high = math.sqrt(16 + 2 * G * 0.2), math.sqrt(16 - 2 * G * 0.3)
    period = 2 * (low - high) / G
    lower, upper = run.events["ends.lower"].times, run.events["ends.upper"].times
    assert len(run.events) == len(lower) + len(upper) > 30
    np.testing.assert_allclose(np.diff(upper), period, rtol=1e-8)
    np.testing.assert_allclose(lower[0], (4.0 - high) / G + (low - high) / G, rtol=1e-9)
    np.testing.assert_allclose(run.energy().values, 0.25 * 16 + 0.5 * G * 0.2, rtol=1e-9)


# --- compliant surfaces


def slope(function: Callable[..., float], values: dict[str, float]) -> np.ndarray:
    """Central differences of a reference solution."""
    slopes = []
    for name, value in values.items():
        h = 1e-5 * value
        ends = [function(**(values | {name: value + sign * h})) for sign in (1, -1)]
        slopes.append((ends[0] - ends[1]) / (2 * h))
    return np.array(slopes)


def dropped(law: str, n: float, T: float, *, h: float, K: float, D: float) -> float:
    """Height at the end of a mass of 2 kg that falls on a compliant stop: flights and contacts one
    after the other, each to its located end.
    """
    mass, t, y, touching = 2.0, 0.0, np.array([h, 0.0]), False

    def force(y: np.ndarray) -> float:
        δ, rate = max(-y[0], 0.0), -y[1]
        elastic = K * δ**n
        return float(elastic + D * rate if law == "kelvin-voigt" else elastic * (1 + D * rate))

    def lands(_: float, y: np.ndarray) -> float:
        return float(y[0])

    def leaves(_: float, y: np.ndarray) -> float:
        return force(y) if law == "kelvin-voigt" else float(-y[0])

    for event in (lands, leaves):
        event.terminal, event.direction = True, -1  # type: ignore[attr-defined]
    while t < T:
        on = touching
        solution = solve_ivp(
            lambda _, y, on=on: [y[1], -G + (force(y) / mass if on else 0.0)],
            (t, T),
            y,
            "DOP853",
            events=leaves if on else lands,
            rtol=1e-12,
            atol=1e-14,
        )
        t, y, touching = solution.t[-1], solution.y[:, -1], not on
    return float(y[0])


@pytest.mark.parametrize(
    ("law", "n", "K", "D"),
    [
        ("kelvin-voigt", 1.0, 5e3, 30.0),
        ("kelvin-voigt", 1.5, 5e4, 30.0),
        ("hunt-crossley", 1.0, 5e3, 0.3),
        ("hunt-crossley", 1.5, 5e4, 0.3),
    ],
)
def test_a_mass_falls_on_a_compliant_stop(law: str, n: float, K: float, D: float) -> None:
    T, values = 0.6, {"h": 0.1, "K": K, "D": D}
    m = vm.Mechanism("mass", gravity=(0, -G))
    p = {name: m.parameter(name, value) for name, value in values.items()}
    m.ground_point("O", (0, 0))
    m.body("mass", mass=2.0, inertia=0.1, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(0, 1))
    m.stop("floor", Y, lower=0.0, stiffness=p["K"], exponent=n, damping=p["D"], law=law)
    m.start(displacement={"guide": p["h"]})
    expected = slope(lambda **x: dropped(law, n, T, **x), values)
    height = vm.final(Y)
    for method in ("direct", "adjoint"):
        gradient = m.sensitivity(height, duration=T, method=method, tolerance=1e-10)
        assert gradient.final_values[0] == pytest.approx(dropped(law, n, T, **values), rel=1e-7)
        np.testing.assert_allclose(gradient.final_gradient[0], expected, rtol=1e-5)


def test_smooth_friction_of_a_compliant_contact() -> None:
    """A disc that spins and falls on a compliant floor: x, y and its turn, with  T = −μ N tanh(s/v),
    s = ẋ + r ω.
    """
    mass, inertia, r, K, μ, v = 1.0, 0.005, 0.1, 2e3, 0.2, 0.05
    m = vm.Mechanism("disc", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("disc", mass=mass, inertia=inertia, points={"C": (0, 0)}, floating=True)
    m.contact(
        "floor",
        "disc.C",
        "ground.O",
        radius=r,
        normal=(0, 1),
        stiffness=K,
        damping=0.5,
        friction=μ,
        friction_law="tanh",
        slip_velocity=v,
    )
    m.start(
        position={"disc.C": (0, 0.12)}, angle={"disc": 0.0}, speed={"disc.C": (0, 0), "disc": -30.0}
    )

    def rhs(_: float, y: np.ndarray) -> list[float]:
        δ = max(r - y[1], 0.0)
        N = K * δ * (1 - 0.5 * y[3])
        T = -μ * N * math.tanh((y[2] + r * y[4]) / v)
        return [y[2], y[3], T / mass, N / mass - G, r * T / inertia]

    expected = solve_ivp(
        rhs, (0, 0.8), [0, 0.12, 0, 0, -30.0], "DOP853", rtol=1e-11, atol=1e-12, max_step=2e-3
    ).y[:, -1]
    run = m.simulate(0.8, tolerance=1e-10)
    assert abs(expected[2] + r * expected[4]) < 0.1 * v  # rolls by then
    np.testing.assert_allclose(run.position("disc.C").values[-1], expected[:2], rtol=1e-7)
    assert run.angular_velocity("disc").values[-1] == pytest.approx(expected[4], rel=1e-7)


# --- friction against a rate


def friction_of(law: str, s: float, F: float, F0: float, v: float) -> float:
    """From the papers."""
    if law == "tanh":
        return F * math.tanh(s / v)
    if law == "stribeck":
        return (F + (F0 - F) * math.exp(-((s / v) ** 2))) * math.tanh(10 * s / v)
    x = s / v
    return F * math.tanh(4 * x) + (F0 - F) * x / (x * x / 4 + 3 / 4) ** 2


def pulled(law: str, T: float, *, F: float, F0: float, v: float) -> float:
    """x of a mass of 1 kg that is pulled by a spring of 4 N/m whose other end moves at 0.5 m/s."""
    σ0, σ1 = 200.0, 2.0

    def rhs(t: float, y: np.ndarray) -> list[float]:
        x, s, z = y
        bristle = 0.0
        if law == "lugre":
            bristle = s - abs(s) * z * σ0 / (F + (F0 - F) * math.exp(-((s / v) ** 2)))
            friction = σ0 * z + σ1 * bristle
        else:
            friction = friction_of(law, s, F, F0, v)
        return [s, 4 * (0.5 * t - x) - friction, bristle]

    solution = solve_ivp(rhs, (0, T), [0, 0, 0], "DOP853", rtol=1e-11, atol=1e-13, max_step=0.02)
    return float(solution.y[0, -1])


@pytest.mark.parametrize("law", ["tanh", "stribeck", "brown-mcphee", "lugre"])
def test_smooth_friction_of_a_pulled_mass(law: str) -> None:
    T, values = 3.0, {"F": 1.0, "F0": 1.5, "v": 0.1}
    m = vm.Mechanism("pulled", dimension=2)
    p = {name: m.parameter(name, value) for name, value in values.items()}
    m.ground_point("O", (0, 0))
    m.body("mass", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(1, 0))
    m.force("spring", "mass.P", [f"4*(0.5*t - {Y})", "0"])
    m.dry_friction(
        "rub",
        RATE,
        sliding=p["F"],
        static=p["F0"],
        law=law,
        slip_velocity=p["v"],
        bristle_stiffness=200.0,
        bristle_damping=2.0,
    )
    m.start(displacement={"guide": 0.0})
    expected = slope(lambda **x: pulled(law, T, **x), values)
    x = vm.final(Y)
    for method in ("direct", "adjoint"):
        gradient = m.sensitivity(x, duration=T, method=method, tolerance=1e-10)
        assert gradient.final_values[0] == pytest.approx(pulled(law, T, **values), rel=1e-8)
        np.testing.assert_allclose(
            gradient.final_gradient[0], expected, rtol=1e-6, atol=1e-6 * abs(expected).max()
        )


def test_coulomb_friction_holds_up_to_its_static_force() -> None:
    """The spring pulls with k V t: the mass moves when that is the static force, and then
    swings about the place where the sliding force balances the spring, until it sticks again.
    """
    k, V, F, F0 = 4.0, 0.5, 1.0, 1.5
    m = vm.Mechanism("pulled", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("mass", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(1, 0))
    m.force("spring", "mass.P", [f"{k}*({V}*t - {Y})", "0"])
    m.dry_friction("rub", RATE, sliding=F, static=F0)
    m.start(displacement={"guide": 0.0})
    run = m.simulate(3.6, tolerance=1e-10)
    ω, t0 = math.sqrt(k), F0 / (k * V)
    # u = V t − x − F/k:  ü = −ω² u,  u(t0) = (F0 − F)/k,  u̇(t0) = V
    a = (F0 - F) / k
    duration = 2 / ω * (math.pi - math.atan(a * ω / V))
    slip, stick = run.events[:2]
    assert (slip.what, stick.what) == ("slip", "stick")
    np.testing.assert_allclose([slip.time, stick.time], [t0, t0 + duration], rtol=1e-8)
    x = V * (t0 + duration) - F / k + a
    np.testing.assert_allclose(run.displacement("guide").values[-1], x, rtol=1e-8)


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn0", "rtdyn1"])
@pytest.mark.parametrize("shape", ["slider", "block"])
def test_sticking_does_not_creep(shape: str, coordinates: Any) -> None:
    """Not even in 10⁴ s: a slider under a force, and a block on a slope."""
    m = vm.Mechanism("rest", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    if shape == "slider":
        m.body("b", mass=2.0, inertia=0.1, points={"C": (0, 0)})
        m.prismatic("guide", "ground.O", "b.C", axis=(1, 0))
        m.force("push", "b.C", (3.3, 0))
        m.dry_friction("rub", RATE, sliding=5.0)
        m.start(displacement={"guide": 0.37})
    else:
        n = (-math.sin(0.3), math.cos(0.3))
        m.body("b", mass=2.0, inertia=0.1, points={"C": (0, 0)}, floating=True)
        m.contact("floor", "b.C", "ground.O", box=(0.4, 0.2), normal=n, friction=0.5)
        m.start(position={"b.C": (0.1 * n[0], 0.1 * n[1])}, angle={"b": 0.3})
    x = m.simulate(1e4, coordinates=coordinates).position("b.C").values
    assert np.abs(x - x[0]).max() < 1e-14


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn1"])
def test_reactions_know_compliant_surfaces_and_smooth_friction(coordinates: str) -> None:
    """The same force stated as a force: motions and reactions of joints agree."""

    def lever(kind: str) -> vm.Mechanism:
        m = vm.Mechanism("lever", gravity=(0, -9.81))
        m.ground_point("O", (0, 0))
        m.bar("b", "O", "P", length=1.0, mass=2.0)
        m.revolute("O")
        if kind == "stop":
            m.stop("it", lambda s: s.position("P")[1], lower=0.0, stiffness=1e5)
            m.dry_friction(
                "f", lambda s: s.velocity("P")[1], sliding=3.0, law="tanh", slip_velocity=0.1
            )
        else:
            m.force(
                "it",
                "b.P",
                lambda s: vm.vector(
                    0,
                    1e5 * vm.maximum(-s.position("P")[1], 0)
                    - 3.0 * vm.tanh(s.velocity("P")[1] / 0.1),
                ),
            )
        m.start(angle={"b": 0.0})
        return m

    stop, force = (
        lever(kind).simulate(0.006, tolerance=1e-11, coordinates=coordinates).reaction("O").values
        for kind in ("stop", "force")
    )
    np.testing.assert_allclose(stop, force, rtol=1e-7, atol=1e-7)


WRONG_UNITS = {
    "Hertz": (
        {"stiffness": "50 N/mm", "exponent": 1.5},
        "stiffness = '50 N/mm' has the unit of a force law with exponent 1, but the exponent is 1.5;"
        " give the number in N/m**1.5, without a unit",
    ),
    "the default exponent": (
        {"stiffness": "50 N/mm", "law": "lankarani-nikravesh", "restitution": 0.5},
        "has the unit of a force law with exponent 1, but the exponent is 1.5",
    ),
    "damping of another law": (
        {"stiffness": 5e4, "damping": "3 N·s/m"},
        "damping = '3 N·s/m' has the wrong unit for the law 'hunt-crossley'; use s/m or s/rad",
    ),
    "damping factor": (
        {"stiffness": 5e4, "damping": "3 s/m", "law": "kelvin-voigt"},
        "damping = '3 s/m' has the wrong unit for the law 'kelvin-voigt'; use N·s/m or N·m·s/rad",
    ),
}


@pytest.mark.parametrize(("arguments", "says"), WRONG_UNITS.values(), ids=WRONG_UNITS)
def test_units_that_do_not_belong_to_the_law_are_refused(
    arguments: dict[str, Any], says: str
) -> None:
    m = vm.Mechanism("block", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.body("block", mass=1.0, inertia=0.1, points={"S": (0, 0)})
    m.prismatic("guide", "ground.O", "block.S", axis=(0, 1))
    with pytest.raises(vm.ModelError) as caught:
        m.stop("floor", "displacement('guide')", lower=0.0, **arguments)
    assert says in str(caught.value)
    m.stop("floor", "displacement('guide')", lower=0.0, stiffness="50 N/mm", damping="3 s/m")
