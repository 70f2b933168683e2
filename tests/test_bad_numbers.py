"""Numbers that no mechanism can have."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from refusals import INF, NAN, Call, arm, check_refused, pendulum, refused

import varimech as vm


@refused(
    (
        "negative mass",
        lambda m: m.body("b", mass=-2, inertia=1),
        ("body 'b': mass = -2 must be positive",),
    ),
    (
        "zero mass",
        lambda m: m.body("b", mass=0, inertia=1),
        ("body 'b': mass = 0 must be positive",),
    ),
    (
        "bar mass",
        lambda m: m.bar("b", "P", "R", length=1, mass=-1),
        ("bar 'b': mass = -1 must be positive",),
    ),
    (
        "mass from parameters",
        lambda m: m.body("b", mass=m.parameters["L"] - m.parameters["M"], inertia=1),
        ("body 'b': mass = -1 must be positive",),
    ),
    (
        "zero length",
        lambda m: m.bar("b", "P", "R", length=0, mass=1),
        ("bar 'b': length = 0 must be positive",),
    ),
    (
        "negative length",
        lambda m: m.bar("b", "P", "R", length=-0.5, mass=1),
        ("bar 'b': length = -0.5 must be positive",),
    ),
    (
        "radius",
        lambda m: m.bar("b", "P", "R", length=1, mass=1, radius=-1),
        ("bar 'b': radius = -1 must not be negative",),
    ),
    (
        "distance",
        lambda m: m.distance("d", "rod.tip", "ground.Q", length=0),
        ("distance joint 'd': length = 0", "positive"),
    ),
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
    (
        "damping",
        lambda m: m.damper("S", "tip", "Q", damping=-3),
        ("damper 'S': damping = -3 must not be negative",),
    ),
    (
        "torsional damping",
        lambda m: m.torsional_damper("S", "O", damping=-3),
        ("torsional damper 'S': damping = -3 must not be negative",),
    ),
    (
        "planar inertia",
        lambda m: m.body("b", mass=1, inertia=-1),
        ("body 'b': inertia = -1 must not be negative",),
    ),
    (
        "inertia vector",
        lambda m: m.body("b", mass=1, inertia=(1, 1, 1)),
        ("body 'b': inertia", "must be a single number"),
    ),
    (
        "text",
        lambda m: m.body("b", mass="heavy", inertia=1),
        ("body 'b': mass = 'heavy': no parameter or quantity",),
    ),
    (
        "none",
        lambda m: m.body("b", mass=None, inertia=1),
        ("body 'b': mass = None must be positive",),
    ),
    (
        "truth value",
        lambda m: m.body("b", mass=True, inertia=1),
        ("body 'b': mass = True is not a number",),
    ),
)
def test_numbers_no_mechanism_can_have(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@refused(
    (
        "triangle",
        lambda m: m.body("b", mass=1, inertia=(1, 1, 2.1)),
        ("body 'b': inertia", "2.1", "no body can have"),
    ),
    (
        "negative",
        lambda m: m.body("b", mass=1, inertia=(-1, 1, 1)),
        ("body 'b': inertia", "no body can have"),
    ),
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
    (
        "two values",
        lambda m: m.body("b", mass=1, inertia=[1, 2]),
        ("body 'b': inertia = [1, 2] must be a 3×3 matrix",),
    ),
    (
        "four values",
        lambda m: m.body("b", mass=1, inertia=[1, 2, 3, 4]),
        ("body 'b': inertia = [1, 2, 3, 4]", "3×3 matrix"),
    ),
    (
        "text",
        lambda m: m.body("b", mass=1, inertia=[1, 2, "a"]),
        ("body 'b': inertia[2] = 'a': no parameter or quantity is called 'a'",),
    ),
    (
        "a number",
        lambda m: m.body("b", mass=1, inertia=1.0),
        ("body 'b': inertia = 1.0", "three principal values or a 3×3"),
    ),
    (
        "none",
        lambda m: m.body("b", mass=1, inertia=None),
        ("body 'b': inertia is missing", "three principal values or a 3×3"),
    ),
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
    (
        "points",
        lambda m, x: m.body("b", mass=1, inertia=1, points={"P": (x, 0)}),
        "body 'b': point 'P'[0]",
    ),
    ("length", lambda m, x: m.bar("b", "P", "R", length=x, mass=1), "bar 'b': length"),
    ("bar mass", lambda m, x: m.bar("b", "P", "R", length=1, mass=x), "bar 'b': mass"),
    ("bar com", lambda m, x: m.bar("b", "P", "R", length=1, mass=1, com=x), "bar 'b': com"),
    ("bar inertia", lambda m, x: m.bar("b", "P", "R", length=1, mass=1, inertia=x), "inertia"),
    ("radius", lambda m, x: m.bar("b", "P", "R", length=1, mass=1, radius=x), "bar 'b': radius"),
    ("point", lambda m, x: m.point("rod", "P", (x, 0)), "point rod.P[0]"),
    ("ground point", lambda m, x: m.ground_point("P", (0, x)), "point ground.P[1]"),
    (
        "axis",
        lambda m, x: m.prismatic("J", "rod.tip", "ground.Q", axis=(1, x)),
        "prismatic joint 'J': axis[1]",
    ),
    (
        "rotation",
        lambda m, x: m.prismatic("J", "rod.tip", "ground.Q", axis=(1, 0), rotation=x),
        "prismatic joint 'J': rotation",
    ),
    (
        "distance",
        lambda m, x: m.distance("J", "rod.tip", "ground.Q", length=x),
        "distance joint 'J': length",
    ),
    (
        "stiffness",
        lambda m, x: m.spring("S", "tip", "Q", stiffness=x, natural_length=1),
        "spring 'S': stiffness",
    ),
    (
        "natural length",
        lambda m, x: m.spring("S", "tip", "Q", stiffness=1, natural_length=x),
        "spring 'S': natural_length",
    ),
    (
        "spring damping",
        lambda m, x: m.spring("S", "tip", "Q", stiffness=1, natural_length=1, damping=x),
        "spring 'S': damping",
    ),
    ("damping", lambda m, x: m.damper("S", "tip", "Q", damping=x), "damper 'S': damping"),
    (
        "rest angle",
        lambda m, x: m.torsional_spring("S", "O", stiffness=1, rest_angle=x),
        "torsional spring 'S'",
    ),
    ("force", lambda m, x: m.force("F", "tip", (0, x)), "force 'F'[1]"),
    ("torque", lambda m, x: m.torque("T", "rod", x), "torque 'T'"),
    ("driver", lambda m, x: m.drive_angle("D", "rod", x), "driver 'D'"),
    (
        "direction",
        lambda m, x: m.drive_coordinate("D", "tip", (x, 1), lambda t: t),
        "driver 'D': direction[0]",
    ),
    ("start angle", lambda m, x: m.start(angle={"rod": x}), "start: angle of 'rod'"),
    (
        "start distance",
        lambda m, x: m.start(distance={("tip", "Q"): x}),
        "start: distance of 'tip' and 'Q'",
    ),
    (
        "start position",
        lambda m, x: m.start(position={"tip": (None, x)}),
        "start: position of 'tip' along y",
    ),
    (
        "start speed",
        lambda m, x: m.start(angle={"rod": 0}, speed={"rod": x}),
        "start: speed: angle of 'rod'",
    ),
    ("near angle", lambda m, x: m.start(angle={"O": 0}, near={"rod": x}), "start: near 'rod'"),
    (
        "near position",
        lambda m, x: m.start(angle={"O": 0}, near={"tip": (x, 0)}),
        "start: near 'tip'[0]",
    ),
    ("value for a run", lambda m, x: m.simulate(1, parameters={"M": x}), "parameter 'M': value"),
    ("gravity", lambda m, x: vm.Mechanism("g", gravity=(0, x)), "mechanism 'g': gravity[1]"),
    (
        "expression",
        lambda m, x: m.ground_point("P", (x * m.parameters["M"], 0)),
        "point ground.P[0]",
    ),
]


@pytest.mark.parametrize("value", [NAN, INF], ids=str)
@pytest.mark.parametrize(
    ("call", "word"), [pytest.param(call, word, id=name) for name, call, word in NUMBERS]
)
def test_numbers_must_be_finite(
    call: Callable[[Any, float], object], word: str, value: float
) -> None:
    check_refused(
        pendulum(), lambda m: call(m, value), word, "is not finite", finish=math.isnan(value)
    )


SPATIAL_NUMBERS: list[tuple[str, Callable[[Any, float], object], str]] = [
    (
        "principal inertia",
        lambda m, x: m.body("b", mass=1, inertia=(1, 1, x)),
        "body 'b': inertia[2]",
    ),
    (
        "inertia matrix",
        lambda m, x: m.body("b", mass=1, inertia=np.diag([1, x, 1])),
        "body 'b': inertia",
    ),
    (
        "axis",
        lambda m, x: m.revolute("J", "rod.tip", "ground.Q", axis=(0, 0, x)),
        "revolute joint 'J': axis[2]",
    ),
    (
        "axis on second",
        lambda m, x: m.revolute(
            "J", "rod.tip", "ground.Q", axis=(0, 0, 1), axis_on_second=(x, 0, 0)
        ),
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
    (
        "orientation",
        lambda m, x: m.start(orientation={"rod": np.diag([x, 1, 1])}),
        "start: orientation of 'rod'",
    ),
    (
        "orientation speed",
        lambda m, x: m.start(orientation={"rod": np.eye(3)}, speed={"rod": (0, 0, x)}),
        "start: speed: orientation of 'rod'[2]",
    ),
]


@pytest.mark.parametrize(
    ("call", "word"), [pytest.param(call, word, id=name) for name, call, word in SPATIAL_NUMBERS]
)
def test_spatial_numbers_must_be_finite(call: Callable[[Any, float], object], word: str) -> None:
    check_refused(arm(), lambda m: call(m, NAN), word, "is not finite")
    check_refused(arm(), lambda m: call(m, INF), word, "is not finite", finish=False)


def test_an_expression_without_a_value_is_not_finite() -> None:
    check_refused(
        pendulum(),
        lambda m: m.ground_point("P", (vm.sqrt(m.parameters["L"] - 2), 0)),
        "point ground.P[0]",
        "not finite",
    )
