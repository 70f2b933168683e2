"""Bad input gets an error at the call that names the thing, the value and the remedy; the call changes nothing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.errors import unknown_name

NAN, INF = math.nan, math.inf
Call = Callable[[Any], object]
OTHER_MECHANISM = "of another mechanism, which mechanism 'pendulum' does not have; a parameter belongs to one mechanism"


def pendulum(name: str = "pendulum") -> vm.Mechanism:
    """A planar rod on a hinge; all but its start is given."""
    m = vm.Mechanism(name, gravity=(0, -9.81))
    L = m.parameter("L", 1.0, unit="m", bounds=(0.2, 5.0))
    M = m.parameter("M", 2.0, unit="kg")
    m.ground_point("O", (0, 0))
    m.ground_point("Q", (3, 0))
    m.bar("rod", "O", "tip", length=L, mass=M)
    m.revolute("O")
    return m


def swinging() -> vm.Mechanism:
    """The same with its start."""
    m = pendulum()
    m.start(angle={"rod": -1.0})
    return m


def arm() -> vm.Mechanism:
    """A spatial body on a hinge; all but its start is given."""
    m = vm.Mechanism("arm", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.ground_point("Q", (3, 0, 0))
    m.body("rod", mass=1, inertia=(0.01, 0.1, 0.1), com=(0.5, 0, 0), points={"O": (0, 0, 0), "tip": (1, 0, 0)})
    m.revolute("O", axis=(0, 1, 0))
    return m


OTHER = pendulum("other")
ROD, TIP, THEIRS = OTHER.bodies["rod"], OTHER.bodies["rod"].points["tip"], OTHER.parameters["M"]
HINGE = OTHER.joints["O"]


def contents(m: vm.Mechanism) -> tuple[object, ...]:
    """All that a call could have changed."""
    points = {b.name: list(b.points) for b in m.bodies.values()}
    parameters = {p.name: (p.value, p.bounds, p.unit) for p in m.parameters.values()}
    elements = [list(things) for things in (m.joints, m.forces, m.drivers)]
    return (
        m.parts.revision,
        len(m.parts.sentences),
        points,
        parameters,
        elements,
        len(m.parts.numbers.requirements),
        id(m.parts.start_conditions),
    )


def check_refused(m: vm.Mechanism, call: Call, *words: str, finish: bool = True) -> None:
    before = contents(m)
    with pytest.raises(vm.ModelError) as caught:
        call(m)
    for word in words:
        assert word in str(caught.value)
    assert contents(m) == before
    if finish:
        m.start(angle={"O": -1.0})
        assert m.simulate(0.02, step=0.01).time[-1] == 0.02


def refused(*cases: tuple[str, Call, tuple[str, ...]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("call", "words"), [pytest.param(call, words, id=name) for name, call, words in cases])


# names


def test_unknown_name_suggests_or_lists() -> None:
    assert str(unknown_name("body", "rdo", ["rod", "arm"])) == "no body is called 'rdo'; did you mean 'rod'?"
    assert str(unknown_name("body", "zzz", ["rod", "arm"])) == "no body is called 'zzz'; known: 'arm', 'rod'"
    assert str(unknown_name("body", "zzz", map(str, range(20)))).endswith("'18', '19', …")
    assert str(unknown_name("driver", "zzz", [])) == "no driver is called 'zzz'; there is none yet"


@refused(
    ("body of a point", lambda m: m.point("rdo", "P", (0, 0)), ("no body is called 'rdo'", "did you mean 'rod'")),
    ("body of a torque", lambda m: m.torque("T", "rdo", 1.0), ("no body is called 'rdo'", "'rod'")),
    ("body against", lambda m: m.torque("T", "rod", 1.0, against="grund"), ("no body is called 'grund'", "'ground'")),
    ("point of a body", lambda m: m.revolute("J", "rod.tpi", "ground.Q"), ("no point of body 'rod' is called 'tpi'", "'tip'")),
    ("body of a joint", lambda m: m.revolute("J", "rdo.tip", "ground.Q"), ("no point is called 'rdo.tip'", "'rod.tip'")),
    ("point of a force", lambda m: m.force("F", "tpi", (0, 1)), ("no point is called 'tpi'", "did you mean 'tip'")),
    (
        "point of a spring",
        lambda m: m.spring("S", "tip", "QQ", stiffness=1, natural_length=1),
        ("no point is called 'QQ'", "'Q'"),
    ),
    ("turn", lambda m: m.torsional_spring("S", "rdo", stiffness=1), ("no body or joint is called 'rdo'", "'rod'")),
    ("driven turn", lambda m: m.drive_angle("D", "rdo", lambda t: t), ("no body or joint is called 'rdo'", "'rod'")),
    ("driven slide", lambda m: m.drive_displacement("D", "OO", lambda t: t), ("no joint is called 'OO'", "'O'")),
    ("driven point", lambda m: m.drive_coordinate("D", "tpi", (1, 0), lambda t: t), ("no point is called 'tpi'", "'tip'")),
    ("start angle", lambda m: m.start(angle={"rdo": 1.0}), ("no body or joint is called 'rdo'", "'rod'")),
    ("start displacement", lambda m: m.start(displacement={"OO": 1.0}), ("no joint is called 'OO'", "'O'")),
    ("start distance", lambda m: m.start(distance={("tip", "QQ"): 1.0}), ("no point is called 'QQ'", "'Q'")),
    ("start position", lambda m: m.start(position={"tpi": (1, 0)}), ("no point is called 'tpi'", "'tip'")),
    (
        "start near a point",
        lambda m: m.start(angle={"rod": 0.0}, near={"tpi": (1, 0)}),
        ("no body or point is called 'tpi'", "did you mean 'tip'"),
    ),
    (
        "start near a body",
        lambda m: m.start(angle={"rod": 0.0}, near={"rdo": 1.0}),
        ("no body or point is called 'rdo'", "did you mean 'rod'"),
    ),
    (
        "spine",
        lambda m: m.body("b", mass=1, inertia=1, points={"end": (1, 0)}, spine=("end", "edn")),
        ("no point of body 'b' is called 'edn'", "did you mean 'end'"),
    ),
    (
        "parameter of a run",
        lambda m: m.simulate(1, parameters={"LL": 1.0}),
        ("no parameter of mechanism 'pendulum' is called 'LL'", "did you mean 'L'"),
    ),
    ("parameter of wrt", lambda m: m.sensitivity(wrt="LL", duration=1), ("no parameter of mechanism 'pendulum'", "'LL'", "'L'")),
    (
        "method",
        lambda m: m.sensitivity(duration=1, method="direkt"),
        ("no method is called 'direkt'", "did you mean 'direct'"),
    ),
    (
        "integrator",
        lambda m: m.simulate(1, integrator="trapezodial"),
        ("no integrator is called 'trapezodial'; did you mean 'trapezoidal'?",),
    ),
    (
        "other integrator",
        lambda m: m.simulate(1, integrator="euler"),
        ("no integrator is called 'euler'", "'trapezoidal'", "varimech.Newmark"),
    ),
    ("frame", lambda m: m.force("F", "tip", (0, 1), frame="local"), ("force 'F'", "'local'", "'global' or 'body'")),
)
def test_unknown_names(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("position", "tpi", "no point is called 'tpi'; did you mean 'tip'"),
        ("acceleration", "rod.tpi", "no point of body 'rod' is called 'tpi'; did you mean 'tip'"),
        ("angle", "rdo", "no body or joint is called 'rdo'; did you mean 'rod'"),
        ("angular_velocity", "rdo", "no body or joint is called 'rdo'; did you mean 'rod'"),
        ("displacement", "OO", "no joint is called 'OO'; did you mean 'O'"),
        ("displacement", "O", "joint 'O' is revolute: it has no displacement"),
        ("rotation", "rdo", "no body is called 'rdo'; did you mean 'rod'"),
        ("reaction", "OO", "no joint is called 'OO'; did you mean 'O'"),
        ("effort", "motor", "no driver is called 'motor'; there is none yet"),
        ("multiplier", "rigidity of rdo", "no constraint is called 'rigidity of rdo'; did you mean 'rigidity of rod'"),
        ("energy", "kinetc", "no kind of energy is called 'kinetc'; did you mean 'kinetic'"),
    ],
)
def test_unknown_names_in_results(kind: str, name: str, words: str, swing: vm.Run) -> None:
    with pytest.raises(vm.ModelError) as caught:
        getattr(swing, kind)(name)
    assert words in str(caught.value)


def test_unknown_measure_to_plot(swing: vm.Run) -> None:
    with pytest.raises(vm.ModelError, match=r"no measure is called 'positon'; did you mean 'position'"):
        swing.plot(positon="tip")


@pytest.fixture(scope="module")
def swing() -> vm.Run:
    return swinging().simulate(0.02, step=0.01)


@refused(
    ("body", lambda m: m.body("rod", mass=1, inertia=1), ("two things are called 'rod'", "choose another name")),
    ("ground", lambda m: m.body("ground", mass=1, inertia=1), ("two things are called 'ground'",)),
    ("bar", lambda m: m.bar("O", "a", "b", length=1, mass=1), ("two things are called 'O'",)),
    ("joint", lambda m: m.revolute("rod", "rod.tip", "ground.Q"), ("two things are called 'rod'",)),
    ("spring", lambda m: m.spring("O", "tip", "Q", stiffness=1, natural_length=1), ("two things are called 'O'",)),
    ("damper", lambda m: m.damper("rod", "tip", "Q", damping=1), ("two things are called 'rod'",)),
    ("force", lambda m: m.force("rod", "tip", (0, 1)), ("two things are called 'rod'",)),
    ("torque", lambda m: m.torque("O", "rod", 1.0), ("two things are called 'O'",)),
    ("driver", lambda m: m.drive_angle("rod", "O", lambda t: t), ("two things are called 'rod'",)),
    ("point", lambda m: m.point("rod", "tip", (1, 0)), ("two things are called 'tip'",)),
    ("centre of mass", lambda m: m.point("rod", "com", (1, 0)), ("two things are called 'com'",)),
    ("ground point", lambda m: m.ground_point("O", (1, 0)), ("two things are called 'O'",)),
    ("parameter", lambda m: m.parameter("L", 2.0), ("already has a parameter 'L'", "choose another name")),
    (
        "ends of a bar",
        lambda m: m.bar("link", "P", "P", length=1, mass=1),
        ("bar 'link': two of its points have one name", "'P'", "different names"),
    ),
    (
        "end and point of a bar",
        lambda m: m.bar("link", "P", "R", length=1, mass=1, points={"R": (5, 0)}),
        ("bar 'link': two of its points have one name", "'R'", "different names"),
    ),
    ("own com", lambda m: m.body("b", mass=1, inertia=1, points={"com": (1, 0)}), ("two things are called 'com'",)),
    ("gravity", lambda m: m.force("gravity", "tip", (0, 0)), ("two things are called 'gravity'", "choose another name")),
)
def test_two_things_of_one_name(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@refused(
    ("body", lambda m: m.body("", mass=1, inertia=1), ("needs a name", "''")),
    ("blank", lambda m: m.body("  ", mass=1, inertia=1), ("needs a name", "'  '")),
    ("number", lambda m: m.revolute(3, "rod.tip", "ground.Q"), ("needs a name", "not 3")),
    ("parameter", lambda m: m.parameter(None, 1.0), ("a parameter needs a name", "None")),
    ("point", lambda m: m.ground_point("", (0, 0)), ("a point needs a name",)),
    ("point of a new body", lambda m: m.body("b", mass=1, inertia=1, points={"": (1, 0)}), ("a point needs a name", "''")),
    ("mechanism", lambda m: vm.Mechanism(""), ("a mechanism needs a name", "''")),
)
def test_missing_names(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


def test_a_name_that_means_two_places() -> None:
    m = pendulum()
    m.bar("spare", "O", "tip", length=1, mass=1)
    m.revolute("pin", "spare.O", "ground.Q")
    check_refused(
        m, lambda m: m.force("F", "tip", (0, 1)), "point 'tip' is not one place", "'rod.tip'", "'spare.tip'", finish=False
    )


# numbers


@refused(
    ("negative mass", lambda m: m.body("b", mass=-2, inertia=1), ("body 'b': mass = -2 must be positive",)),
    ("zero mass", lambda m: m.body("b", mass=0, inertia=1), ("body 'b': mass = 0 must be positive",)),
    ("bar mass", lambda m: m.bar("b", "P", "R", length=1, mass=-1), ("bar 'b': mass = -1 must be positive",)),
    (
        "mass from parameters",
        lambda m: m.body("b", mass=m.parameters["L"] - m.parameters["M"], inertia=1),
        ("body 'b': mass = -1 must be positive",),
    ),
    ("zero length", lambda m: m.bar("b", "P", "R", length=0, mass=1), ("bar 'b': length = 0 must be positive",)),
    ("negative length", lambda m: m.bar("b", "P", "R", length=-0.5, mass=1), ("bar 'b': length = -0.5 must be positive",)),
    ("radius", lambda m: m.bar("b", "P", "R", length=1, mass=1, radius=-1), ("bar 'b': radius = -1 must not be negative",)),
    ("distance", lambda m: m.distance("d", "rod.tip", "ground.Q", length=0), ("distance joint 'd': length = 0", "positive")),
    (
        "missing length",
        lambda m: m.distance("d", "rod.tip", "ground.Q", length=None),
        ("distance joint 'd': length = None is not a number",),
    ),
    (
        "start distance",
        lambda m: m.start(distance={("tip", "Q"): -2.5}),
        ("start: distance of 'tip' and 'Q' = -2.5 must be positive",),
    ),
    (
        "driven distance",
        lambda m: m.drive_distance("D", "tip", "Q", lambda t: t - 2.5),
        ("driver 'D' at t = 0 = -2.5 must be positive",),
    ),
    (
        "stiffness",
        lambda m: m.spring("S", "tip", "Q", stiffness=-1, natural_length=1),
        ("spring 'S': stiffness = -1 must not be negative",),
    ),
    (
        "natural length",
        lambda m: m.spring("S", "tip", "Q", stiffness=1, natural_length=-1),
        ("spring 'S': natural_length = -1 must not be negative",),
    ),
    ("damping", lambda m: m.damper("S", "tip", "Q", damping=-3), ("damper 'S': damping = -3 must not be negative",)),
    (
        "torsional damping",
        lambda m: m.torsional_damper("S", "O", damping=-3),
        ("torsional damper 'S': damping = -3 must not be negative",),
    ),
    ("planar inertia", lambda m: m.body("b", mass=1, inertia=-1), ("body 'b': inertia = -1 must not be negative",)),
    ("inertia vector", lambda m: m.body("b", mass=1, inertia=(1, 1, 1)), ("body 'b': inertia", "must be a single number")),
    ("text", lambda m: m.body("b", mass="heavy", inertia=1), ("body 'b': mass = 'heavy': no parameter or quantity",)),
    ("none", lambda m: m.body("b", mass=None, inertia=1), ("body 'b': mass = None is not a number",)),
    ("truth value", lambda m: m.body("b", mass=True, inertia=1), ("body 'b': mass = True is not a number",)),
)
def test_numbers_no_mechanism_can_have(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@refused(
    ("triangle", lambda m: m.body("b", mass=1, inertia=(1, 1, 2.1)), ("body 'b': inertia", "2.1", "no body can have")),
    ("negative", lambda m: m.body("b", mass=1, inertia=(-1, 1, 1)), ("body 'b': inertia", "no body can have")),
    (
        "triangle, turned",
        lambda m: m.body("b", mass=1, inertia=[[1.55, 0.55, 0], [0.55, 1.55, 0], [0, 0, 1]]),
        ("body 'b': inertia", "at most the sum of the other two"),
    ),
    (
        "not symmetric",
        lambda m: m.body("b", mass=1, inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]),
        ("body 'b': inertia", "0.1", "is an inertia that no body can have (it must be symmetric, "),
    ),
    (
        "2×2",
        lambda m: m.body("b", mass=1, inertia=[[1, 0], [0, 1]]),
        ("body 'b': inertia = [[1, 0], [0, 1]] must be a 3×3 matrix of numbers",),
    ),
    (
        "ragged",
        lambda m: m.body("b", mass=1, inertia=[[1, 0, 0], [0, 1], [0, 0, 1]]),
        ("body 'b': inertia = [[1, 0, 0], [0, 1], [0, 0, 1]] must be a 3×3 matrix of numbers",),
    ),
    (
        "text in a matrix",
        lambda m: m.body("b", mass=1, inertia=[["a", 0, 0], [0, 1, 0], [0, 0, 1]]),
        ("body 'b': inertia = 'a': no parameter or quantity is called 'a'",),
    ),
    ("two values", lambda m: m.body("b", mass=1, inertia=[1, 2]), ("body 'b': inertia = [1, 2] must be a 3×3 matrix",)),
    ("four values", lambda m: m.body("b", mass=1, inertia=[1, 2, 3, 4]), ("body 'b': inertia = [1, 2, 3, 4]", "3×3 matrix")),
    (
        "text",
        lambda m: m.body("b", mass=1, inertia=[1, 2, "a"]),
        ("body 'b': inertia[2] = 'a': no parameter or quantity is called 'a'",),
    ),
    ("a number", lambda m: m.body("b", mass=1, inertia=1.0), ("body 'b': inertia = 1.0", "three principal values or a 3×3")),
    ("none", lambda m: m.body("b", mass=1, inertia=None), ("body 'b': inertia = None", "three principal values or a 3×3")),
)
def test_spatial_inertia_no_body_can_have(call: Call, words: tuple[str, ...]) -> None:
    check_refused(arm(), call, *words)


def test_inertias_at_the_limit_are_accepted() -> None:
    m = arm()
    m.body("plate", mass=1, inertia=(1, 1, 2), floating=True)
    m.body("needle", mass=1, inertia=(0, 1, 1), floating=True)
    pendulum().body("particle", mass=1, inertia=0)
    assert list(m.bodies) == ["ground", "rod", "plate", "needle"]


def test_a_spatial_bar_of_parameters_warns_of_nothing() -> None:
    m = vm.Mechanism("m", dimension=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.bar("rod", "A", "B", length=m.parameter("L", 1.0), mass=1, radius=0.1)


NUMBERS: list[tuple[str, Callable[[Any, float], object], str]] = [
    ("parameter", lambda m, x: m.parameter("p", x), "parameter 'p': value"),
    ("mass", lambda m, x: m.body("b", mass=x, inertia=1), "body 'b': mass"),
    ("inertia", lambda m, x: m.body("b", mass=1, inertia=x), "body 'b': inertia"),
    ("com", lambda m, x: m.body("b", mass=1, inertia=1, com=(0, x)), "body 'b': com[1]"),
    ("points", lambda m, x: m.body("b", mass=1, inertia=1, points={"P": (x, 0)}), "body 'b': point 'P'[0]"),
    ("length", lambda m, x: m.bar("b", "P", "R", length=x, mass=1), "bar 'b': length"),
    ("bar mass", lambda m, x: m.bar("b", "P", "R", length=1, mass=x), "bar 'b': mass"),
    ("bar com", lambda m, x: m.bar("b", "P", "R", length=1, mass=1, com=x), "bar 'b': com"),
    ("bar inertia", lambda m, x: m.bar("b", "P", "R", length=1, mass=1, inertia=x), "inertia"),
    ("radius", lambda m, x: m.bar("b", "P", "R", length=1, mass=1, radius=x), "bar 'b': radius"),
    ("point", lambda m, x: m.point("rod", "P", (x, 0)), "point rod.P[0]"),
    ("ground point", lambda m, x: m.ground_point("P", (0, x)), "point ground.P[1]"),
    ("axis", lambda m, x: m.prismatic("J", "rod.tip", "ground.Q", axis=(1, x)), "prismatic joint 'J': axis[1]"),
    (
        "rotation",
        lambda m, x: m.prismatic("J", "rod.tip", "ground.Q", axis=(1, 0), rotation=x),
        "prismatic joint 'J': rotation",
    ),
    ("distance", lambda m, x: m.distance("J", "rod.tip", "ground.Q", length=x), "distance joint 'J': length"),
    ("stiffness", lambda m, x: m.spring("S", "tip", "Q", stiffness=x, natural_length=1), "spring 'S': stiffness"),
    ("natural length", lambda m, x: m.spring("S", "tip", "Q", stiffness=1, natural_length=x), "spring 'S': natural_length"),
    (
        "spring damping",
        lambda m, x: m.spring("S", "tip", "Q", stiffness=1, natural_length=1, damping=x),
        "spring 'S': damping",
    ),
    ("damping", lambda m, x: m.damper("S", "tip", "Q", damping=x), "damper 'S': damping"),
    ("rest angle", lambda m, x: m.torsional_spring("S", "O", stiffness=1, rest_angle=x), "torsional spring 'S'"),
    ("force", lambda m, x: m.force("F", "tip", (0, x)), "force 'F'[1]"),
    ("torque", lambda m, x: m.torque("T", "rod", x), "torque 'T'"),
    ("driver", lambda m, x: m.drive_angle("D", "rod", x), "driver 'D'"),
    ("direction", lambda m, x: m.drive_coordinate("D", "tip", (x, 1), lambda t: t), "driver 'D': direction[0]"),
    ("start angle", lambda m, x: m.start(angle={"rod": x}), "start: angle of 'rod'"),
    ("start distance", lambda m, x: m.start(distance={("tip", "Q"): x}), "start: distance of 'tip' and 'Q'"),
    ("start position", lambda m, x: m.start(position={"tip": (None, x)}), "start: position of 'tip' along y"),
    ("start speed", lambda m, x: m.start(angle={"rod": 0}, speed={"rod": x}), "start: speed: angle of 'rod'"),
    ("near angle", lambda m, x: m.start(angle={"O": 0}, near={"rod": x}), "start: near 'rod'"),
    ("near position", lambda m, x: m.start(angle={"O": 0}, near={"tip": (x, 0)}), "start: near 'tip'[0]"),
    ("value for a run", lambda m, x: m.simulate(1, parameters={"M": x}), "parameter 'M': value"),
    ("gravity", lambda m, x: vm.Mechanism("g", gravity=(0, x)), "mechanism 'g': gravity[1]"),
    ("expression", lambda m, x: m.ground_point("P", (x * m.parameters["M"], 0)), "point ground.P[0]"),
]


@pytest.mark.parametrize("value", [NAN, INF], ids=str)
@pytest.mark.parametrize(("call", "word"), [pytest.param(call, word, id=name) for name, call, word in NUMBERS])
def test_numbers_must_be_finite(call: Callable[[Any, float], object], word: str, value: float) -> None:
    check_refused(pendulum(), lambda m: call(m, value), word, "is not finite", finish=math.isnan(value))


SPATIAL_NUMBERS: list[tuple[str, Callable[[Any, float], object], str]] = [
    ("principal inertia", lambda m, x: m.body("b", mass=1, inertia=(1, 1, x)), "body 'b': inertia[2]"),
    ("inertia matrix", lambda m, x: m.body("b", mass=1, inertia=np.diag([1, x, 1])), "body 'b': inertia"),
    ("axis", lambda m, x: m.revolute("J", "rod.tip", "ground.Q", axis=(0, 0, x)), "revolute joint 'J': axis[2]"),
    (
        "axis on second",
        lambda m, x: m.revolute("J", "rod.tip", "ground.Q", axis=(0, 0, 1), axis_on_second=(x, 0, 0)),
        "revolute joint 'J': axis_on_second[0]",
    ),
    (
        "rotation",
        lambda m, x: m.fixed("J", "rod.tip", "ground.Q", rotation=np.diag([1, 1, x])),
        "fixed joint 'J': rotation",
    ),
    (
        "normal",
        lambda m, x: m.point_on_plane("J", "rod.tip", "ground.Q", normal=(x, 0, 1)),
        "point-on-plane joint 'J': normal[0]",
    ),
    ("torque", lambda m, x: m.torque("T", "rod", (0, x, 0)), "torque 'T'[1]"),
    ("orientation", lambda m, x: m.start(orientation={"rod": np.diag([x, 1, 1])}), "start: orientation of 'rod'"),
    (
        "orientation speed",
        lambda m, x: m.start(orientation={"rod": np.eye(3)}, speed={"rod": (0, 0, x)}),
        "start: speed: orientation of 'rod'[2]",
    ),
]


@pytest.mark.parametrize(("call", "word"), [pytest.param(call, word, id=name) for name, call, word in SPATIAL_NUMBERS])
def test_spatial_numbers_must_be_finite(call: Callable[[Any, float], object], word: str) -> None:
    check_refused(arm(), lambda m: call(m, NAN), word, "is not finite")
    check_refused(arm(), lambda m: call(m, INF), word, "is not finite", finish=False)


def test_an_expression_without_a_value_is_not_finite() -> None:
    check_refused(
        pendulum(), lambda m: m.ground_point("P", (vm.sqrt(m.parameters["L"] - 2), 0)), "point ground.P[0]", "not finite"
    )


# dimensions and geometry


@refused(
    ("com", lambda m: m.body("b", mass=1, inertia=1, com=(0, 0, 0)), ("body 'b': com = (0, 0, 0)", "planar", "give 2")),
    ("points", lambda m: m.body("b", mass=1, inertia=1, points={"P": (0, 0, 0)}), ("point 'P'", "3 components", "give 2")),
    ("a number for a point", lambda m: m.ground_point("P", 1.0), ("point ground.P = 1.0", "2 components")),
    ("ground point", lambda m: m.ground_point("P", (0, 0, 0)), ("point ground.P", "3 components", "planar, give 2")),
    ("force", lambda m: m.force("F", "tip", (1, 0, 0)), ("force 'F'", "3 components", "planar, give 2")),
    ("a number for a force", lambda m: m.force("F", "tip", 1.0), ("force 'F' = 1.0", "2 components")),
    ("torque", lambda m: m.torque("T", "rod", (0, 0, 1)), ("torque 'T'", "must be a single number")),
    ("torque frame", lambda m: m.torque("T", "rod", 1, frame="body"), ("torque 'T'", "means nothing in the plane")),
    ("axis", lambda m: m.prismatic("J", "rod.tip", "ground.Q", axis=(1, 0, 0)), ("prismatic joint 'J': axis", "give 2")),
    (
        "hinge axis",
        lambda m: m.revolute("J", "rod.tip", "ground.Q", axis=(0, 0, 1)),
        ("revolute joint 'J': an axis means nothing here in the plane; leave it out",),
    ),
    (
        "hinge axis on second",
        lambda m: m.revolute("J", "rod.tip", "ground.Q", axis_on_second=(0, 1)),
        ("revolute joint 'J': an axis means nothing here in the plane; leave it out",),
    ),
    (
        "radius",
        lambda m: m.bar("b", "P", "R", length=1, mass=1, radius=0.1),
        ("bar 'b': radius = 0.1 means nothing in the plane", "give the inertia instead"),
    ),
    (
        "rotation matrix",
        lambda m: m.fixed("J", "rod.tip", "ground.Q", rotation=np.eye(2)),
        ("fixed joint 'J': rotation", "must be a single number"),
    ),
    ("start position", lambda m: m.start(position={"tip": (1, 0, 0)}), ("position of 'tip' = (1, 0, 0)", "2 components")),
    (
        "start speed",
        lambda m: m.start(position={"tip": (1, 0)}, speed={"tip": (0, 1, 0)}),
        ("speed: position of 'tip' = (0, 1, 0)", "2 components"),
    ),
    ("a number for a position", lambda m: m.start(position={"tip": 1.0}), ("position of 'tip' = 1.0", "2 components")),
    (
        "a number for a speed",
        lambda m: m.start(position={"tip": (1, None)}, speed={"tip": 1.0}),
        ("speed: position of 'tip' = 1.0", "2 components"),
    ),
    ("near", lambda m: m.start(angle={"rod": 0}, near={"tip": (1, 0, 0)}), ("near 'tip'", "planar, give 2")),
    ("orientation", lambda m: m.start(orientation={"rod": np.eye(3)}), ("a planar body has an angle", "angle={'rod': …}")),
    ("spherical", lambda m: m.spherical("J", "rod.tip", "ground.Q"), ("spherical joint 'J'", "planar", "use revolute")),
    (
        "cylindrical",
        lambda m: m.cylindrical("J", "rod.tip", "ground.Q", axis=(0, 0, 1)),
        ("cylindrical joint 'J'", "planar", "use prismatic"),
    ),
    (
        "universal",
        lambda m: m.universal("J", "rod.tip", "ground.Q", axis=(0, 0, 1), axis_on_second=(1, 0, 0)),
        ("universal joint 'J'", "planar", "use revolute"),
    ),
    (
        "planar",
        lambda m: m.planar("J", "rod.tip", "ground.Q", normal=(0, 0, 1)),
        ("planar joint 'J'", "is planar", "leave the joint out"),
    ),
    (
        "point on plane",
        lambda m: m.point_on_plane("J", "rod.tip", "ground.Q", normal=(0, 0, 1)),
        ("point-on-plane joint 'J'", "planar", "use point_on_line"),
    ),
    ("gravity", lambda m: vm.Mechanism("m", gravity=(0, 0, -9.81), dimension=2), ("gravity", "3 components", "planar, give 2")),
    ("gravity of one", lambda m: vm.Mechanism("m", gravity=(1,)), ("gravity = (1,)", "2 (planar) or 3 (spatial) components")),
    ("gravity as a number", lambda m: vm.Mechanism("m", gravity=9.81), ("gravity = 9.81", "2 (planar) or 3 (spatial)")),
    ("dimension", lambda m: vm.Mechanism("m", dimension=4), ("dimension = 4", "2 (planar) or 3 (spatial)")),
)
def test_wrong_dimension_in_the_plane(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@refused(
    ("com", lambda m: m.body("b", mass=1, inertia=(1, 1, 1), com=(0, 0)), ("body 'b': com", "2 components", "spatial, give 3")),
    ("ground point", lambda m: m.ground_point("P", (0, 0)), ("point ground.P = (0, 0)", "spatial, give 3")),
    ("force", lambda m: m.force("F", "tip", (1, 0)), ("force 'F'", "2 components", "spatial, give 3")),
    ("torque", lambda m: m.torque("T", "rod", 1.0), ("torque 'T' = 1.0", "3 components")),
    ("axis", lambda m: m.revolute("J", "rod.tip", "ground.Q", axis=(0, 1)), ("revolute joint 'J': axis", "give 3")),
    ("missing axis", lambda m: m.revolute("J", "rod.tip", "ground.Q"), ("revolute joint 'J' needs axis=…", "axis=(0, 0, 1)")),
    (
        "zero axis",
        lambda m: m.revolute("J", "rod.tip", "ground.Q", axis=(0, 0, 0)),
        ("revolute joint 'J': axis = (0, 0, 0) has no direction", "not zero"),
    ),
    (
        "zero axis on second",
        lambda m: m.cylindrical("J", "rod.tip", "ground.Q", axis=(0, 0, 1), axis_on_second=(0, 0, 0)),
        ("cylindrical joint 'J': axis_on_second = (0, 0, 0) has no direction",),
    ),
    (
        "zero normal",
        lambda m: m.planar("J", "rod.tip", "ground.Q", normal=(0, 0, 0)),
        ("planar joint 'J': normal = (0, 0, 0) has no direction", "not zero"),
    ),
    (
        "zero normal on second",
        lambda m: m.planar("J", "rod.tip", "ground.Q", normal=(0, 0, 1), normal_on_second=(0, 0, 0)),
        ("planar joint 'J': normal_on_second = (0, 0, 0) has no direction",),
    ),
    (
        "scaled rotation",
        lambda m: m.fixed("J", "rod.tip", "ground.Q", rotation=2 * np.eye(3)),
        ("fixed joint 'J': rotation", "is not a rotation matrix (orthonormal, right-handed)"),
    ),
    (
        "reflection",
        lambda m: m.fixed("J", "rod.tip", "ground.Q", rotation=np.diag([1, 1, -1])),
        ("fixed joint 'J': rotation", "is not a rotation matrix (orthonormal, right-handed)", "varimech.rotation"),
    ),
    (
        "small rotation",
        lambda m: m.fixed("J", "rod.tip", "ground.Q", rotation=np.eye(2)),
        ("fixed joint 'J': rotation", "must be a 3×3 matrix of numbers"),
    ),
    (
        "rotation as a number",
        lambda m: m.fixed("J", "rod.tip", "ground.Q", rotation=1.0),
        ("fixed joint 'J': rotation = 1.0 must be a 3×3 matrix of numbers",),
    ),
    (
        "orientation",
        lambda m: m.start(orientation={"rod": 2 * np.eye(3)}),
        ("orientation of 'rod'", "is not a rotation matrix (orthonormal, right-handed)"),
    ),
    ("body angle", lambda m: m.start(angle={"rod": 1.0}), ("body 'rod' is spatial", "no single angle", "orientation")),
    ("spring on a body", lambda m: m.torsional_spring("S", "rod", stiffness=1), ("body 'rod' is spatial", "joint's angle")),
)
def test_wrong_dimension_and_axes_in_space(call: Call, words: tuple[str, ...]) -> None:
    check_refused(arm(), call, *words)


@refused(
    ("one body", lambda m: m.revolute("J", "rod.tip", "rod.O"), ("revolute joint 'J'", "both points are on body 'rod'")),
    ("one point", lambda m: m.revolute("J", "rod.tip"), ("revolute joint 'J': give both points",)),
    ("no points", lambda m: m.revolute("J"), ("revolute joint 'J'", "exactly two bodies must have a point 'J'", "found none")),
    ("one of that name", lambda m: m.revolute("tip"), ("revolute joint 'tip'", "found 'rod.tip'")),
    (
        "spring on one point",
        lambda m: m.spring("S", "tip", "rod.tip", stiffness=1, natural_length=1),
        ("'S'", "'rod.tip' and 'rod.tip' are the same place"),
    ),
    (
        "driven distance",
        lambda m: m.drive_distance("D", "tip", "tip", 1.0),
        ("'D'", "'rod.tip' and 'rod.tip' are the same place"),
    ),
    ("zero axis", lambda m: m.prismatic("J", "rod.tip", "ground.Q", axis=(0, 0)), ("axis = (0, 0) has no direction",)),
    (
        "zero direction",
        lambda m: m.drive_coordinate("D", "tip", (0, 0), lambda t: t),
        ("driver 'D': direction = (0, 0) has no direction",),
    ),
    ("start distance", lambda m: m.start(distance={("rod.O", "ground.O"): 1.0}), ("'rod.O' and 'ground.O' are the same place",)),
    ("start distance of one", lambda m: m.start(distance={"tip": 1.0}), ("distance of 'tip'", "give a pair of points")),
    ("no slide", lambda m: m.drive_displacement("D", "O", lambda t: t), ("joint 'O' is revolute: it has no displacement",)),
    (
        "driver vector",
        lambda m: m.drive_angle("D", "rod", lambda t: (t, t)),
        ("driver 'D' returned 2 components", "return a scalar"),
    ),
    ("driver text", lambda m: m.drive_angle("D", "rod", lambda t: "fast"), ("driver 'D' returned 'fast'", "neither a number")),
    (
        "driver nan",
        lambda m: m.drive_angle("D", "rod", lambda t: vm.sqrt(t - 1)),
        ("driver 'D' at t = 0", "is not finite"),
    ),
    ("driver infinite", lambda m: m.drive_angle("D", "rod", lambda t: 1 / t), ("driver 'D' at t = 0", "is not finite")),
    (
        "driver with math",
        lambda m: m.drive_angle("D", "rod", lambda t: math.sin(t)),
        ("driver 'D' is not finite", "varimech.sin"),
    ),
)
def test_joints_forces_and_drivers_that_make_no_sense(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


def test_an_angle_of_a_joint_that_does_not_turn() -> None:
    m = vm.Mechanism("slide", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.body("block", mass=1, inertia=1, points={"P": (0, 0)})
    m.prismatic("rail", "ground.O", "block.P", axis=(1, 0))
    check_refused(
        m, lambda m: m.drive_angle("D", "rail", lambda t: t), "joint 'rail' is prismatic: it has no angle", finish=False
    )
    check_refused(m, lambda m: m.start(displacement={"rail": INF}), "start: displacement of 'rail'", "not finite", finish=False)
    m.start(displacement={"rail": 0.0})
    m.simulate(0.02, step=0.01)


# parameters


@refused(
    ("bounds reversed", lambda m: m.parameter("p", 1.0, bounds=(2, 0)), ("parameter 'p': bounds (2, 0)", "lower < upper")),
    ("bounds equal", lambda m: m.parameter("p", 1.0, bounds=(1, 1)), ("parameter 'p': bounds (1, 1)", "lower < upper")),
    ("bounds not a pair", lambda m: m.parameter("p", 1.0, bounds=2), ("parameter 'p': bounds = 2", "pair (lower, upper)")),
    ("three bounds", lambda m: m.parameter("p", 1.0, bounds=(0, 1, 2)), ("parameter 'p'", "pair (lower, upper)")),
    ("bounds nan", lambda m: m.parameter("p", 1.0, bounds=(NAN, None)), ("parameter 'p': bounds = (nan, None)", "numbers")),
    (
        "bounds text",
        lambda m: m.parameter("p", 1.0, bounds=("a", 2)),
        ("parameter 'p': bound 'a' is not a number", "bounds = ('a', 2)"),
    ),
    ("outside bounds", lambda m: m.parameter("p", 3.0, bounds=(0, 2)), ("parameter 'p': value 3 is outside", "(0, 2)")),
    ("spread", lambda m: m.parameter("p", 1.0, spread=0.1), ("parameter 'p': spread = 0.1", "varimech.Tolerance")),
    ("text", lambda m: m.parameter("p", "long"), ("parameter 'p': value 'long' is not a number",)),
    ("none", lambda m: m.parameter("p", None), ("parameter 'p': value None is not a number",)),
    ("parameter", lambda m: m.parameter("p", m.parameters["L"]), ("parameter 'p': value Parameter('L'", "not a number")),
)
def test_parameters_that_make_no_sense(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


def test_the_value_of_a_parameter_cannot_be_assigned() -> None:
    m = pendulum()
    L: Any = m.parameters["L"]
    before = contents(m)
    with pytest.raises(AttributeError, match="value"):
        L.value = 2.0
    assert contents(m) == before


@pytest.mark.parametrize("value", [0.0, -1.0, NAN, INF, "a", None])
def test_tolerances_must_be_positive(value: Any) -> None:
    with pytest.raises(vm.ModelError, match=rf"width = {value!r} must be a positive finite number"):
        vm.Tolerance(value)
    with pytest.raises(vm.ModelError, match=rf"sigmas = {value!r} must be a positive finite number"):
        vm.Tolerance(0.1, value)


@pytest.mark.parametrize("convert", [float, math.sin])
def test_a_parameter_has_no_float(convert: Callable[[Any], float]) -> None:
    with pytest.raises(TypeError, match=r"parameter 'M' .*use \.value .*varimech\.sin"):
        convert(THEIRS)


@refused(
    ("mass", lambda m: m.body("b", mass=THEIRS, inertia=1), ("body 'b': mass uses 'M'", OTHER_MECHANISM)),
    ("length", lambda m: m.bar("b", "P", "R", length=2 * THEIRS, mass=1), ("bar 'b': length uses 'M'", OTHER_MECHANISM)),
    ("point", lambda m: m.point("rod", "P", (THEIRS, 0)), ("point rod.P[0] uses 'M'", OTHER_MECHANISM)),
    ("axis", lambda m: m.prismatic("J", "rod.tip", "ground.Q", axis=(1, THEIRS)), ("axis[1] uses 'M'", OTHER_MECHANISM)),
    (
        "stiffness",
        lambda m: m.spring("S", "tip", "Q", stiffness=THEIRS, natural_length=1),
        ("spring 'S': stiffness uses 'M'", OTHER_MECHANISM),
    ),
    ("force", lambda m: m.force("F", "tip", (THEIRS, 0)), ("force 'F'[0] uses 'M'", OTHER_MECHANISM)),
    (
        "force function",
        lambda m: m.force("F", "tip", lambda s: (THEIRS * s.time, 0)),
        ("force 'F' uses 'M'", OTHER_MECHANISM),
    ),
    (
        "torque function",
        lambda m: m.torque("T", "rod", lambda s: THEIRS * s.angle("rod")),
        ("torque 'T' uses 'M'", OTHER_MECHANISM),
    ),
    ("driver", lambda m: m.drive_angle("D", "rod", lambda t: THEIRS * t), ("driver 'D' uses 'M'", OTHER_MECHANISM)),
    ("start", lambda m: m.start(angle={"rod": THEIRS / 2}), ("angle of 'rod' uses 'M'", OTHER_MECHANISM)),
    ("start speed", lambda m: m.start(angle={"rod": 0}, speed={"rod": THEIRS}), ("speed: angle of 'rod' uses 'M'",)),
    ("wrt", lambda m: m.sensitivity(wrt=THEIRS, duration=1), ("parameter 'M' belongs to another mechanism than 'pendulum'",)),
    ("wrt list", lambda m: m.sensitivity(wrt=["L", THEIRS], duration=1), ("parameter 'M' belongs to another mechanism",)),
)
def test_a_parameter_of_another_mechanism(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


def test_a_parameter_of_another_mechanism_in_an_objective() -> None:
    mixed = vm.final(lambda s: THEIRS * s.energy)
    check_refused(
        swinging(), lambda m: m.sensitivity({"mixed": mixed}, duration=1), "objective 'mixed' uses 'M'", OTHER_MECHANISM
    )


@refused(
    ("point of a body", lambda m: m.point(ROD, "P", (0, 0)), ("mechanism 'pendulum'", "body 'rod' belongs to another mechanism")),
    ("joint", lambda m: m.revolute("J", TIP, "ground.Q"), ("point 'rod.tip'", "body 'rod' belongs to another mechanism")),
    (
        "spring",
        lambda m: m.spring("S", "ground.Q", TIP, stiffness=1, natural_length=1),
        ("point 'rod.tip'", "belongs to another mechanism"),
    ),
    ("force", lambda m: m.force("F", TIP, (0, 1)), ("point 'rod.tip'", "belongs to another mechanism")),
    ("torque", lambda m: m.torque("T", ROD, 1.0), ("body 'rod' belongs to another mechanism",)),
    ("against", lambda m: m.torque("T", "rod", 1.0, against=OTHER.parts.ground), ("body 'ground' belongs to another mechanism",)),
    ("driver", lambda m: m.drive_coordinate("D", TIP, (1, 0), lambda t: t), ("point 'rod.tip'", "another mechanism")),
    ("sprung body", lambda m: m.torsional_spring("S", ROD, stiffness=1), ("'rod' belongs to another mechanism than 'pendulum'",)),
    ("sprung joint", lambda m: m.torsional_spring("S", HINGE, stiffness=1), ("'O' belongs to another mechanism",)),
    ("driven body", lambda m: m.drive_angle("D", ROD, lambda t: t), ("'rod' belongs to another mechanism than 'pendulum'",)),
    ("driven joint", lambda m: m.drive_angle("D", HINGE, lambda t: t), ("'O' belongs to another mechanism",)),
    ("driven slide", lambda m: m.drive_displacement("D", HINGE, lambda t: t), ("'O' belongs to another mechanism",)),
)
def test_things_of_another_mechanism(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@refused(
    (
        "outside bounds",
        lambda m: m.simulate(1, parameters={"L": 6.0}),
        ("parameter 'L': value 6 is outside its bounds (0.2, 5.0)",),
    ),
    ("text", lambda m: m.simulate(1, parameters={"L": "long"}), ("parameter 'L': value 'long' is not a number",)),
    ("negative mass", lambda m: m.simulate(1, parameters={"M": -1.0}), ("bar 'rod': mass = -1 must be positive",)),
    ("zero mass", lambda m: m.sensitivity(duration=1, parameters={"M": 0}), ("bar 'rod': mass = 0 must be positive",)),
)
def test_parameter_values_for_a_run(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: m.bar("rod", "a", "b", length=x, mass=1),
        lambda m, x: m.body("b", mass=x, inertia=NAN),
        lambda m, x: m.spring("O", "tip", "Q", stiffness=1, natural_length=x),
        lambda m, x: m.distance("O", "rod.tip", "ground.Q", length=x),
    ],
    ids=["bar", "body", "spring", "distance"],
)
def test_a_refused_thing_asks_nothing_of_later_runs(call: Callable[[Any, Any], object]) -> None:
    m = pendulum()
    check_refused(m, lambda m: call(m, m.parameters["L"] - 0.5))
    m.simulate(0.02, step=0.01, parameters={"L": 0.4})


def test_values_for_a_run_are_checked_wherever_the_parameter_is_used() -> None:
    m = arm()
    w = m.parameter("w", 1.0)
    m.body("plate", mass=1 + w, inertia=(w, w, 1.5), floating=True, points={"P": (0, 0, 0)})
    with pytest.raises(vm.ModelError, match=r"(?s)body 'plate': inertia = .*0\.7.*no body can have"):
        m.simulate(1, parameters={"w": 0.7})
    assert m.parameters["w"].value == 1.0


def test_values_for_a_run_that_make_a_point_not_finite() -> None:
    m = vm.Mechanism("m", gravity=(0, -9.81))
    p = m.parameter("p", 1.0)
    m.ground_point("O", (vm.sqrt(p - 0.5), 0))
    m.bar("rod", "O", "tip", length=1, mass=1)
    m.revolute("O")
    check_refused(m, lambda m: m.simulate(1, parameters={"p": 0.4}), "point ground.O[0] = nan is not finite")


# how a run is asked for


@pytest.mark.parametrize("value", [0, -1, -0.5, NAN, INF, "1", None, True], ids=str)
def test_times_must_be_positive(value: Any) -> None:
    words = f"= {value!r} must be a positive finite number of seconds"
    check_refused(pendulum(), lambda m: m.simulate(value), "duration " + words, finish=False)
    if value is not None:  # which chooses them
        check_refused(pendulum(), lambda m: m.simulate(1, step=value), "step " + words, finish=False)
    check_refused(pendulum(), lambda m: m.sensitivity(duration=value), "duration " + words, finish=False)


@refused(
    ("long step", lambda m: m.simulate(0.1, step=0.2), ("step = 0.2 s is longer than the whole run of 0.1 s",)),
    ("every 0", lambda m: m.simulate(0.1, every=0), ("every = 0", "whole number of steps, 1 or more")),
    ("every -1", lambda m: m.simulate(0.1, every=-1), ("every = -1", "whole number of steps, 1 or more")),
    ("every 1.5", lambda m: m.simulate(0.1, every=1.5), ("every = 1.5", "whole number of steps, 1 or more")),
    ("every True", lambda m: m.simulate(0.1, every=True), ("every = True", "whole number of steps, 1 or more")),
    ("wrt nothing", lambda m: m.sensitivity(wrt=[], duration=1), ("wrt is empty", "at least one parameter")),
    ("wrt twice", lambda m: m.sensitivity(wrt=["L", "L"], duration=1), ("names a parameter twice",)),
    ("gamma", lambda m: m.simulate(1, integrator=vm.Newmark(0.4)), ("gamma = 0.4 must lie between 0.5 and 1",)),
    ("gamma nan", lambda m: m.simulate(1, integrator=vm.Newmark(NAN)), ("gamma = nan must lie between 0.5 and 1",)),
    ("beta", lambda m: m.simulate(1, integrator=vm.Newmark(0.6, 0.1)), ("beta = 0.1 is below gamma/2 = 0.3",)),
    ("plain functions", lambda m: m.sensitivity([lambda s: s.energy], duration=1), ("objective 'psi1'", "varimech.integral")),
    (
        "plain function",
        lambda m: m.sensitivity(lambda s: s.energy, duration=1),
        ("objective 'psi1'", "make one with varimech.integral or varimech.final"),
    ),
    ("no function", lambda m: vm.final(m.parameters["L"].value), ("an objective needs a function of the state", "got 1.0")),
)
def test_runs_that_make_no_sense(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@pytest.mark.parametrize("steps", [(), (0.0,), (1e-3, NAN), (-1e-3,)], ids=str)
def test_relative_steps_must_be_positive(steps: tuple[float, ...]) -> None:
    m = swinging()
    with pytest.raises(vm.ModelError, match=r"relative_steps = .* must be one or more positive numbers"):
        m.sensitivity(duration=0.02, step=0.01, method="finite-difference", relative_steps=steps)


def test_sensitivity_needs_parameters() -> None:
    m = arm()
    check_refused(m, lambda m: m.sensitivity(duration=1), "mechanism 'arm' has no parameters", "parameter(name, value)")


@pytest.mark.parametrize("make", [vm.final, vm.integral])
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda s: s.position("tip"), "returned 2 components; it must return a scalar (varimech.dot"),
        (lambda s: [1.0, 2.0, 3.0], "returned 3 components; it must return a scalar"),
        (lambda s: None, "returned None, which is neither a number nor a vector"),
        (lambda s: "tip", "returned 'tip', which is neither a number nor a vector"),
        (lambda s: math.sin(s.angle("rod")), "is not finite; use varimech.sin, varimech.sqrt, … (not math or numpy)"),
    ],
)
def test_objectives_must_return_a_scalar(make: Callable[[Any], vm.Objective], function: Any, words: str) -> None:
    goal = {"goal": make(function)}
    check_refused(swinging(), lambda m: m.sensitivity(goal, duration=0.02, step=0.01), f"objective 'goal' {words}")


def test_objectives_may_use_accelerations_and_reactions() -> None:
    pull = vm.final(lambda s: vm.norm(s.reaction("O")) + vm.norm(s.acceleration("tip")))
    assert np.isfinite(swinging().sensitivity(pull, duration=0.02, step=0.01).gradient).all()


@refused(
    ("acceleration", lambda s: s.acceleration("tip"), ("force 'F' may not depend on accelerations", "after the forces")),
    ("rate of a rate", lambda s: (s.rate(s.kinetic_energy), 0), ("force 'F' may not depend on accelerations",)),
    ("reaction", lambda s: s.reaction("O"), ("force 'F' may not depend on reactions", "after the forces")),
    ("reaction torque", lambda s: (s.reaction_torque("O"), 0), ("force 'F' may not depend on reactions",)),
    (
        "multiplier",
        lambda s: (s.multiplier("rigidity of rod"), 0),
        ("force 'F' may not depend on multipliers", "after the forces"),
    ),
    ("three", lambda s: (1, 2, 3), ("force 'F' returned 3 components; it must return 2",)),
    ("one", lambda s: 1.0, ("force 'F' returned 1 components; it must return 2",)),
    ("none", lambda s: None, ("force 'F' returned None, which is neither a number nor a vector",)),
    ("text", lambda s: "up", ("force 'F' returned 'up', which is neither a number nor a vector",)),
    ("unknown point", lambda s: s.position("tpi"), ("no point is called 'tpi'; did you mean 'tip'",)),
    ("math", lambda s: (math.sin(s.time), 0), ("force 'F' is not finite", "varimech.sin", "not math or numpy")),
)
def test_force_functions_that_make_no_sense(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), lambda m: m.force("F", "tip", call), *words)


@refused(
    ("acceleration", lambda s: s.angular_acceleration("rod"), ("torque 'T' may not depend on accelerations",)),
    ("reaction", lambda s: s.reaction_torque("O"), ("torque 'T' may not depend on reactions",)),
    ("effort", lambda s: s.effort("motor"), ("torque 'T' may not depend on reactions",)),
    ("two", lambda s: (1, 2), ("torque 'T' returned 2 components; it must return a scalar",)),
    ("none", lambda s: None, ("torque 'T' returned None, which is neither a number nor a vector",)),
    ("unknown body", lambda s: s.angle("rdo"), ("no body or joint is called 'rdo'; did you mean 'rod'",)),
)
def test_torque_functions_that_make_no_sense(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), lambda m: m.torque("T", "rod", call), *words)


# what shows only when the whole is seen


def test_empty_mechanism() -> None:
    with pytest.raises(vm.ModelError, match=r"mechanism 'nothing' has no bodies; add one with body\(…\) or bar\(…\)"):
        vm.Mechanism("nothing").simulate(1)


def test_a_mechanism_that_cannot_move() -> None:
    m = pendulum()
    m.bar("strut", "Q", "end", length=2.5, mass=1)
    m.revolute("Q")
    m.revolute("peak", "rod.tip", "strut.end")
    with pytest.raises(vm.ModelError, match=r"mechanism 'pendulum' has no freedom: .*remove a joint or free a body"):
        m.simulate(0.02, step=0.01)


def test_a_body_pinned_at_two_points_cannot_move() -> None:
    m = pendulum()
    m.revolute("pin", "rod.com", m.ground_point("C", (0.5, 0)))
    with pytest.raises(vm.ModelError, match="mechanism 'pendulum' has no freedom"):
        m.simulate(0.02, step=0.01)


def test_a_body_without_a_path_to_the_ground() -> None:
    m = pendulum()
    m.bar("left", "P", "R", length=1, mass=1)
    m.bar("right", "R", "S", length=1, mass=1)
    m.revolute("R")
    m.start(angle={"rod": -1.0, "left": 0.0, "right": 0.0}, position={"P": (5, 5)})
    with pytest.raises(vm.ModelError, match=r"no path of joints connects 'left', 'right' to the ground; .*floating=True"):
        m.simulate(0.02, step=0.01)


def test_a_floating_body_falls_freely() -> None:
    m = pendulum()
    m.bar("left", "P", "R", length=1, mass=1, floating=True)
    m.bar("right", "R", "S", length=1, mass=1)
    m.revolute("R")
    m.start(angle={"rod": -1.0, "left": 0.0, "right": 0.0}, position={"P": (5, 5)}, speed={"P": (1, 2)})
    fall = m.simulate(0.1, step=0.01).position("P").isel(time=-1)
    assert fall.values == pytest.approx([5 + 0.1, 5 + 0.2 - 9.81 * 0.1**2 / 2], abs=1e-12)


def test_a_motion_without_inertia() -> None:
    m = vm.Mechanism("needle", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.body("rod", mass=1, inertia=(0, 0.1, 0.1), com=(0.5, 0, 0), points={"O": (0, 0, 0)})
    m.spherical("O")
    m.start(orientation={"rod": np.eye(3)})
    with pytest.raises(vm.ModelError, match=r"mechanism 'needle' can move without inertia .*'rod.*give the body"):
        m.simulate(0.02, step=0.01)


@refused(
    ("nothing", lambda m: m.simulate(1), ("the start leaves 1 of 1 freedoms open (given: nothing)", "fixes 'rod.")),
    (
        "both kinds of speed",
        lambda m: m.start(angle={"rod": 0}, speed={"tip": (0, 1)}),
        ("speed is given for 'tip', whose value is not given",),
    ),
    (
        "speed alone",
        lambda m: m.start(speed={"rod": 1.0}),
        ("speed is given for 'rod'", "angle, displacement, distance, position or orientation"),
    ),
    (
        "speed of an open component",
        lambda m: m.start(position={"tip": (0.5, None)}, speed={"tip": (0, 3.0)}),
        ("start: speed of 'tip' along y is given, but not its position there",),
    ),
    ("vector speed", lambda m: m.start(angle={"rod": 0}, speed={"rod": (0, 1)}), ("speed: angle of 'rod'", "single number")),
    ("no slide", lambda m: m.start(displacement={"O": 0.0}), ("joint 'O' is revolute: it has no displacement",)),
)
def test_starts_that_say_too_little(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@pytest.mark.parametrize(
    "start",
    [
        {"angle": {"rod": -1.0, "O": -1.0}},
        {"position": {"tip": (math.cos(1), -math.sin(1))}},
        {"angle": {"rod": -1.0}, "position": {"tip": (math.cos(1), None)}},
    ],
)
def test_starts_that_say_too_much(start: dict[str, Any]) -> None:
    m = pendulum()
    m.start(**start)
    with pytest.raises(
        vm.ModelError, match=r"the start gives too much or twice the same .*1 open freedom: give one value for each"
    ):
        m.simulate(0.02, step=0.01)
    m.start(angle={"rod": -1.0})
    m.simulate(0.02, step=0.01)


def test_a_start_value_beside_a_driver() -> None:
    m = pendulum()
    m.drive_angle("motor", "rod", lambda t: t - 1)
    m.start(angle={"rod": -1.0})
    with pytest.raises(vm.ModelError, match=r"the start gives too much .*\(angle of 'rod'\); it has 0 open freedoms"):
        m.simulate(0.02, step=0.01)
    m.start()
    m.simulate(0.02, step=0.01)


def test_what_is_open_is_named() -> None:
    m = pendulum()
    m.body("disc", mass=1, inertia=1, floating=True)
    m.start(angle={"rod": -1.0, "disc": 0.0})
    with pytest.raises(vm.ModelError, match=r"leaves 2 of 4 freedoms open .*fixes 'disc\.com\.x', 'disc\.com\.y'"):
        m.simulate(0.02, step=0.01)


# runs that break off


def test_a_force_that_becomes_nan_stops_the_run() -> None:
    m = pendulum()
    m.force("steady", "tip", (1, 0))
    m.force("fading", "tip", lambda s: (vm.sqrt(0.5 - s.time), 0))
    m.start(angle={"rod": -1.0})
    with pytest.raises(
        vm.SimulationError, match=r"'pendulum': step 26, t = 0\.52 s, h = 0\.02 s: .*NaN.*look at 'fading'"
    ) as caught:
        m.simulate(1.0, step=0.02)
    error = caught.value
    assert (error.step, error.worst) == (26, "fading")
    assert error.time == pytest.approx(0.52)
    assert m.simulate(0.5, step=0.02).time[-1] == 0.5


@pytest.mark.parametrize(
    "function",
    [lambda s: (0, vm.sqrt(0.95 + s.position("tip")[1])), lambda s: (0, vm.sqrt(1 + s.velocity("tip")[0]))],
    ids=["position", "velocity"],
)
def test_a_force_of_the_state_that_becomes_nan_is_named(function: Any) -> None:
    m = swinging()
    m.force("steady", "tip", (0, 0))
    m.force("wall", "tip", function)
    with pytest.raises(vm.SimulationError, match="look at 'wall'") as caught:
        m.simulate(3.0, step=0.01)
    assert caught.value.worst == "wall"
    assert 0 < caught.value.time < 3.0


def test_a_driver_that_becomes_nan_is_named() -> None:
    m = pendulum()
    m.drive_angle("motor", "rod", lambda t: vm.sqrt(0.5 - t))
    m.start()
    with pytest.raises(vm.SimulationError, match="look at 'motor'") as caught:
        m.simulate(1.0, step=0.01)
    assert caught.value.worst == "motor"
    assert caught.value.time == pytest.approx(0.5, abs=0.011)  # √ has no slope at 0.5 s


def test_an_objective_that_is_nan_is_named() -> None:
    with pytest.raises(vm.SimulationError, match=r"the value of objective 'goal' is not finite from t = 0 s on") as caught:
        swinging().sensitivity({"goal": vm.final(lambda s: vm.sqrt(-1 - s.time))}, duration=0.02, step=0.01)
    assert caught.value.worst == "goal"


def test_the_step_at_which_an_objective_fails() -> None:
    goal = {"goal": vm.final(lambda s: vm.sqrt(0.05 - s.time))}
    with pytest.raises(vm.SimulationError) as caught:
        swinging().sensitivity(goal, duration=0.1, step=0.001, every=10)
    assert caught.value.step == round(caught.value.time / 0.001)


def test_the_gradient_of_a_way_from_rest_is_finite() -> None:
    m = swinging()
    travelled = {"travelled": vm.integral(lambda s: vm.norm(s.velocity("tip")))}  # |v| has no derivative at rest
    exact = m.sensitivity(travelled, duration=0.1, step=0.01).gradient.values
    differences = m.sensitivity(travelled, duration=0.1, step=0.01, method="finite-difference").gradient.values
    assert exact == pytest.approx(differences, rel=1e-6, abs=1e-9)


def test_a_force_that_is_nan_at_the_start() -> None:
    m = pendulum()
    m.force("early", "tip", lambda s: (vm.sqrt(s.time - 1), 0))
    m.start(angle={"rod": -1.0})
    with pytest.raises(vm.AssemblyError, match="mechanism 'pendulum': the start has a value that is not finite; look at 'early'"):
        m.simulate(0.02, step=0.01)


def test_a_spring_without_length_at_the_start_is_named() -> None:
    m = pendulum()
    m.spring("coil", "tip", m.ground_point("P", (1, 0)), stiffness=10, natural_length=0.1)
    m.start(angle={"rod": 0.0})
    with pytest.raises(vm.AssemblyError, match="not finite; look at 'coil'"):
        m.simulate(0.02, step=0.01)


def test_a_step_that_does_not_converge() -> None:
    m = pendulum()
    k = m.parameter("k", 10.0)
    m.bar("second", "tip", "end", length=1, mass=1)
    m.revolute("tip")
    m.torsional_spring("coil", "O", stiffness=k, rest_angle=2.0)
    m.start(angle={"rod": -1.0, "second": 0.0})
    with pytest.raises(vm.SimulationError, match=r"step \d+, t = .* s, h = 0\.1 s: no convergence .*smaller step") as caught:
        m.simulate(1.0, step=0.1, parameters={"k": 1e8})
    error = caught.value
    assert error.time == pytest.approx(0.1 * error.step)
    assert error.worst == "rigidity of rod"
    assert error.residual > 1e-3
    assert f"worst constraint {error.worst!r}, residual {error.residual:.3g}" in str(error)
    m.simulate(1.0, step=0.1)


# the model may change between runs


def test_a_change_of_the_model_is_picked_up() -> None:
    m = pendulum()
    m.start(angle={"rod": 0.0})
    assert m.simulate(0.02, step=0.01).acceleration("tip")[0, 1] == pytest.approx(-9.81 * 1.5)
    m.force("lift", "tip", (0, 9.81))  # half the weight, at twice its arm
    assert m.simulate(0.02, step=0.01).acceleration("tip")[0, 1] == pytest.approx(0.0, abs=1e-12)
    m.start(angle={"rod": 1.0})
    assert m.simulate(0.02, step=0.01).angle("rod")[0] == pytest.approx(1.0)
    m.bar("second", "tip", "end", length=1, mass=1)
    m.revolute("tip")
    m.start(angle={"rod": 0.0, "second": 0.0})
    assert m.simulate(0.02, step=0.01).position("end")[0, 0] == pytest.approx(2.0)
    M = m.parameter("extra", 0.25)
    m.point("second", "mid", (2 * M, 0))
    assert m.simulate(0.02, step=0.01, parameters={"extra": 0.5}).position("mid")[0, 0] == pytest.approx(2.0)
