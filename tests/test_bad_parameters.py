"""Parameters that make no sense, those of another mechanism, and their values for a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from refusals import (
    HINGE,
    INF,
    NAN,
    OTHER,
    OTHER_MECHANISM,
    ROD,
    THEIRS,
    TIP,
    Call,
    arm,
    check_refused,
    contents,
    pendulum,
    refused,
    swinging,
)

import varimech as vm


def bounded(bounds: Any) -> Call:
    return lambda m: m.parameter("p", 1.0, bounds=bounds)


@refused(
    (
        "bounds reversed",
        bounded((2, 0)),
        ("parameter 'p': bounds (2, 0)", "lower < upper"),
    ),
    (
        "bounds equal",
        bounded((1, 1)),
        ("parameter 'p': bounds (1, 1)", "lower < upper"),
    ),
    (
        "bounds not a pair",
        bounded(2),
        ("parameter 'p': bounds = 2", "pair (lower, upper)"),
    ),
    (
        "three bounds",
        bounded((0, 1, 2)),
        ("parameter 'p'", "pair (lower, upper)"),
    ),
    (
        "bounds nan",
        bounded((NAN, None)),
        ("parameter 'p': bounds = (nan, None)", "numbers"),
    ),
    (
        "bounds text",
        bounded(("a", 2)),
        ("parameter 'p': bound = 'a' is not a number", "bounds = ('a', 2)"),
    ),
    (
        "outside bounds",
        lambda m: m.parameter("p", 3.0, bounds=(0, 2)),
        ("parameter 'p': value 3 is outside", "(0, 2)"),
    ),
    (
        "distribution",
        lambda m: m.parameter("p", 1.0, distribution=0.1),
        ("parameter 'p': distribution = 0.1", "varimech.Tolerance"),
    ),
    (
        "text",
        lambda m: m.parameter("p", "long"),
        ("parameter 'p': value = 'long' is not a number",),
    ),
    ("none", lambda m: m.parameter("p", None), ("parameter 'p': value None is not a number",)),
    (
        "parameter",
        lambda m: m.parameter("p", m.parameters["L"]),
        ("parameter 'p': value Parameter('L'", "not a number"),
    ),
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
    with pytest.raises(
        vm.ModelError,
        match=(
            rf"width = {value!r} (must be a positive finite number|is not a number, nor a quantity)"
        ),
    ):
        vm.Tolerance(value)
    with pytest.raises(
        vm.ModelError, match=rf"sigmas = {value!r} must be a positive finite number"
    ):
        vm.Tolerance(0.1, value)


@pytest.mark.parametrize("convert", [float, math.sin])
def test_a_parameter_has_no_float(convert: Callable[[Any], float]) -> None:
    with pytest.raises(TypeError, match=r"parameter 'M' .*use \.value .*varimech\.sin"):
        convert(THEIRS)


@refused(
    (
        "mass",
        lambda m: m.body("b", mass=THEIRS, inertia=1),
        ("body 'b': mass uses 'M'", OTHER_MECHANISM),
    ),
    (
        "length",
        lambda m: m.bar("b", "P", "R", length=2 * THEIRS, mass=1),
        ("bar 'b': length uses 'M'", OTHER_MECHANISM),
    ),
    (
        "point",
        lambda m: m.point("rod", "P", (THEIRS, 0)),
        ("point rod.P[0] uses 'M'", OTHER_MECHANISM),
    ),
    (
        "axis",
        lambda m: m.prismatic("J", "rod.tip", "ground.Q", axis=(1, THEIRS)),
        ("axis[1] uses 'M'", OTHER_MECHANISM),
    ),
    (
        "stiffness",
        lambda m: m.spring("S", "tip", "Q", stiffness=THEIRS, natural_length=1),
        ("spring 'S': stiffness uses 'M'", OTHER_MECHANISM),
    ),
    (
        "force",
        lambda m: m.force("F", "tip", (THEIRS, 0)),
        ("force 'F'[0] uses 'M'", OTHER_MECHANISM),
    ),
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
    (
        "driver",
        lambda m: m.drive_angle("D", "rod", lambda t: THEIRS * t),
        ("driver 'D' uses 'M'", OTHER_MECHANISM),
    ),
    (
        "start",
        lambda m: m.start(angle={"rod": THEIRS / 2}),
        ("angle of 'rod' uses 'M'", OTHER_MECHANISM),
    ),
    (
        "start speed",
        lambda m: m.start(angle={"rod": 0}, speed={"rod": THEIRS}),
        ("speed: angle of 'rod' uses 'M'",),
    ),
    (
        "wrt",
        lambda m: m.sensitivity(wrt=THEIRS, duration=1),
        ("parameter 'M' belongs to another mechanism than 'pendulum'",),
    ),
    (
        "wrt list",
        lambda m: m.sensitivity(wrt=["L", THEIRS], duration=1),
        ("parameter 'M' belongs to another mechanism",),
    ),
)
def test_a_parameter_of_another_mechanism(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


def test_a_parameter_of_another_mechanism_in_an_objective() -> None:
    mixed = vm.final(lambda s: THEIRS * s.energy)
    check_refused(
        swinging(),
        lambda m: m.sensitivity({"mixed": mixed}, duration=1),
        "objective 'mixed' uses 'M'",
        OTHER_MECHANISM,
    )


@refused(
    (
        "point of a body",
        lambda m: m.point(ROD, "P", (0, 0)),
        ("mechanism 'pendulum'", "body 'rod' belongs to another mechanism"),
    ),
    (
        "joint",
        lambda m: m.revolute("J", TIP, "ground.Q"),
        ("point 'rod.tip'", "body 'rod' belongs to another mechanism"),
    ),
    (
        "spring",
        lambda m: m.spring("S", "ground.Q", TIP, stiffness=1, natural_length=1),
        ("point 'rod.tip'", "belongs to another mechanism"),
    ),
    (
        "force",
        lambda m: m.force("F", TIP, (0, 1)),
        ("point 'rod.tip'", "belongs to another mechanism"),
    ),
    ("torque", lambda m: m.torque("T", ROD, 1.0), ("body 'rod' belongs to another mechanism",)),
    (
        "against",
        lambda m: m.torque("T", "rod", 1.0, against=OTHER.data.ground),
        ("body 'ground' belongs to another mechanism",),
    ),
    (
        "driver",
        lambda m: m.drive_coordinate("D", TIP, (1, 0), lambda t: t),
        ("point 'rod.tip'", "another mechanism"),
    ),
    (
        "sprung body",
        lambda m: m.torsional_spring("S", ROD, stiffness=1),
        ("'rod' belongs to another mechanism than 'pendulum'",),
    ),
    (
        "sprung joint",
        lambda m: m.torsional_spring("S", HINGE, stiffness=1),
        ("'O' belongs to another mechanism",),
    ),
    (
        "driven body",
        lambda m: m.drive_angle("D", ROD, lambda t: t),
        ("'rod' belongs to another mechanism than 'pendulum'",),
    ),
    (
        "driven joint",
        lambda m: m.drive_angle("D", HINGE, lambda t: t),
        ("'O' belongs to another mechanism",),
    ),
    (
        "driven slide",
        lambda m: m.drive_displacement("D", HINGE, lambda t: t),
        ("'O' belongs to another mechanism",),
    ),
)
def test_things_of_another_mechanism(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@refused(
    (
        "outside bounds",
        lambda m: m.simulate(1, parameters={"L": 6.0}),
        ("parameter 'L': value 6 m is outside its bounds (0.2, 5.0) m",),
    ),
    (
        "text",
        lambda m: m.simulate(1, parameters={"L": "long"}),
        ("parameter 'L': value = 'long' is not a number",),
    ),
    (
        "negative mass",
        lambda m: m.simulate(1, parameters={"M": -1.0}),
        ("bar 'rod': mass = -1 must be positive",),
    ),
    (
        "zero mass",
        lambda m: m.sensitivity(duration=1, parameters={"M": 0}),
        ("bar 'rod': mass = 0 must be positive",),
    ),
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
    with pytest.raises(
        vm.ModelError, match=r"(?s)body 'plate': inertia = .*0\.7.*no body can have"
    ):
        m.simulate(1, parameters={"w": 0.7})
    assert m.parameters["w"].value == 1.0


def test_values_for_a_run_that_make_a_point_not_finite() -> None:
    m = vm.Mechanism("m", gravity=(0, -9.81))
    p = m.parameter("p", 1.0)
    m.ground_point("O", (vm.sqrt(p - 0.5), 0))
    m.bar("rod", "O", "tip", length=1, mass=1)
    m.revolute("O")
    check_refused(
        m, lambda m: m.simulate(1, parameters={"p": 0.4}), "point ground.O[0] = nan is not finite"
    )


def test_a_tolerance_is_short_for_a_distribution() -> None:
    m = vm.Mechanism("short", dimension=2)
    short = m.parameter("a", "30 mm", tolerance="0.3 mm")
    long = m.parameter("b", "30 mm", distribution=vm.Tolerance("0.3 mm"))
    assert short.distribution == long.distribution == vm.Tolerance(3e-4)
    text = m.to_text()
    assert "a: {value: 30 mm, tolerance: 0.3 mm}" in text
    assert "b: {value: 30 mm, tolerance: 0.3 mm}" in text
    with pytest.raises(vm.ModelError, match="'c': tolerance and distribution state the same twice"):
        m.parameter("c", 1.0, tolerance=0.1, distribution=vm.Tolerance(0.1))
    with pytest.raises(vm.ModelError, match="positive"):
        m.parameter("d", 1.0, tolerance=-0.1)
    assert "c" not in m.parameters and "d" not in m.parameters
