"""Names that do not exist, exist twice, or mean two things."""

from __future__ import annotations

import pytest
from refusals import Call, check_refused, pendulum, refused, swinging

import varimech as vm
from varimech.core.errors import unknown_name


def test_unknown_name_suggests_or_lists() -> None:
    assert (
        str(unknown_name("body", "rdo", ["rod", "arm"]))
        == "no body is called 'rdo'; did you mean 'rod'?"
    )
    assert (
        str(unknown_name("body", "zzz", ["rod", "arm"]))
        == "no body is called 'zzz'; known: 'arm', 'rod'"
    )
    assert str(unknown_name("body", "zzz", map(str, range(20)))).endswith("'18', '19', …")
    assert str(unknown_name("driver", "zzz", [])) == "no driver is called 'zzz'; there is none yet"


@refused(
    (
        "body of a point",
        lambda m: m.point("rdo", "P", (0, 0)),
        ("no body is called 'rdo'", "did you mean 'rod'"),
    ),
    ("body of a torque", lambda m: m.torque("T", "rdo", 1.0), ("no body is called 'rdo'", "'rod'")),
    (
        "body against",
        lambda m: m.torque("T", "rod", 1.0, against="grund"),
        ("no body is called 'grund'", "'ground'"),
    ),
    (
        "point of a body",
        lambda m: m.revolute("J", "rod.tpi", "ground.Q"),
        ("no point of body 'rod' is called 'tpi'", "'tip'"),
    ),
    (
        "body of a joint",
        lambda m: m.revolute("J", "rdo.tip", "ground.Q"),
        ("no point is called 'rdo.tip'", "'rod.tip'"),
    ),
    (
        "point of a force",
        lambda m: m.force("F", "tpi", (0, 1)),
        ("no point is called 'tpi'", "did you mean 'tip'"),
    ),
    (
        "point of a spring",
        lambda m: m.spring("S", "tip", "QQ", stiffness=1, natural_length=1),
        ("no point is called 'QQ'", "'Q'"),
    ),
    (
        "turn",
        lambda m: m.torsional_spring("S", "rdo", stiffness=1),
        ("no body or joint is called 'rdo'", "'rod'"),
    ),
    (
        "driven turn",
        lambda m: m.drive_angle("D", "rdo", lambda t: t),
        ("no body or joint is called 'rdo'", "'rod'"),
    ),
    (
        "driven slide",
        lambda m: m.drive_displacement("D", "OO", lambda t: t),
        ("no joint is called 'OO'", "'O'"),
    ),
    (
        "driven point",
        lambda m: m.drive_coordinate("D", "tpi", (1, 0), lambda t: t),
        ("no point is called 'tpi'", "'tip'"),
    ),
    (
        "start angle",
        lambda m: m.start(angle={"rdo": 1.0}),
        ("no body or joint is called 'rdo'", "'rod'"),
    ),
    (
        "start displacement",
        lambda m: m.start(displacement={"OO": 1.0}),
        ("no joint is called 'OO'", "'O'"),
    ),
    (
        "start distance",
        lambda m: m.start(distance={("tip", "QQ"): 1.0}),
        ("no point is called 'QQ'", "'Q'"),
    ),
    (
        "start position",
        lambda m: m.start(position={"tpi": (1, 0)}),
        ("no point is called 'tpi'", "'tip'"),
    ),
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
    (
        "parameter of wrt",
        lambda m: m.sensitivity(wrt="LL", duration=1),
        ("no parameter of mechanism 'pendulum'", "'LL'", "'L'"),
    ),
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
    (
        "frame",
        lambda m: m.force("F", "tip", (0, 1), frame="local"),
        ("force 'F'", "'local'", "one of 'global', 'body'"),
    ),
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
        (
            "multiplier",
            "rigidity of rdo",
            "no constraint is called 'rigidity of rdo'; did you mean 'rigidity of rod'",
        ),
        ("energy", "kinetc", "no kind of energy is called 'kinetc'; did you mean 'kinetic'"),
    ],
)
def test_unknown_names_in_results(kind: str, name: str, words: str, swing: vm.Run) -> None:
    with pytest.raises(vm.ModelError) as caught:
        getattr(swing, kind)(name)
    assert words in str(caught.value)


def test_unknown_output_to_plot(swing: vm.Run) -> None:
    with pytest.raises(
        vm.ModelError, match=r"no output is called 'positon'; did you mean 'position'"
    ):
        swing.plot(positon="tip")


@pytest.fixture(scope="module")
def swing() -> vm.Run:
    return swinging().simulate(0.02, step=0.01)


@refused(
    (
        "body",
        lambda m: m.body("rod", mass=1, inertia=1),
        ("the name 'rod' is already used", "choose another name"),
    ),
    (
        "ground",
        lambda m: m.body("ground", mass=1, inertia=1),
        ("the name 'ground' is already used",),
    ),
    ("bar", lambda m: m.bar("O", "a", "b", length=1, mass=1), ("the name 'O' is already used",)),
    (
        "joint",
        lambda m: m.revolute("rod", "rod.tip", "ground.Q"),
        ("the name 'rod' is already used",),
    ),
    (
        "spring",
        lambda m: m.spring("O", "tip", "Q", stiffness=1, natural_length=1),
        ("the name 'O' is already used",),
    ),
    (
        "damper",
        lambda m: m.damper("rod", "tip", "Q", damping=1),
        ("the name 'rod' is already used",),
    ),
    ("force", lambda m: m.force("rod", "tip", (0, 1)), ("the name 'rod' is already used",)),
    ("torque", lambda m: m.torque("O", "rod", 1.0), ("the name 'O' is already used",)),
    (
        "driver",
        lambda m: m.drive_angle("rod", "O", lambda t: t),
        ("the name 'rod' is already used",),
    ),
    ("point", lambda m: m.point("rod", "tip", (1, 0)), ("the name 'tip' is already used",)),
    (
        "centre of mass",
        lambda m: m.point("rod", "com", (1, 0)),
        ("the name 'com' is already used",),
    ),
    ("ground point", lambda m: m.ground_point("O", (1, 0)), ("the name 'O' is already used",)),
    (
        "parameter",
        lambda m: m.parameter("L", 2.0),
        ("already has a parameter 'L'", "choose another name"),
    ),
    (
        "ends of a bar",
        lambda m: m.bar("link", "P", "P", length=1, mass=1),
        ("bar 'link': two of its points have the same name", "'P'", "different names"),
    ),
    (
        "end and point of a bar",
        lambda m: m.bar("link", "P", "R", length=1, mass=1, points={"R": (5, 0)}),
        ("bar 'link': two of its points have the same name", "'R'", "different names"),
    ),
    (
        "own com",
        lambda m: m.body("b", mass=1, inertia=1, points={"com": (1, 0)}),
        ("the name 'com' is already used",),
    ),
    (
        "gravity",
        lambda m: m.force("gravity", "tip", (0, 0)),
        ("the name 'gravity' is already used", "choose another name"),
    ),
)
def test_two_things_of_one_name(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@refused(
    ("body", lambda m: m.body("", mass=1, inertia=1), ("needs a name", "''")),
    ("blank", lambda m: m.body("  ", mass=1, inertia=1), ("needs a name", "'  '")),
    ("number", lambda m: m.revolute(3, "rod.tip", "ground.Q"), ("needs a name", "not 3")),
    ("parameter", lambda m: m.parameter(None, 1.0), ("a parameter needs a name", "None")),
    ("point", lambda m: m.ground_point("", (0, 0)), ("a point needs a name",)),
    (
        "point of a new body",
        lambda m: m.body("b", mass=1, inertia=1, points={"": (1, 0)}),
        ("a point needs a name", "''"),
    ),
    ("mechanism", lambda m: vm.Mechanism(""), ("a mechanism needs a name", "''")),
)
def test_missing_names(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


def test_a_name_that_means_two_places() -> None:
    m = pendulum()
    m.bar("spare", "O", "tip", length=1, mass=1)
    m.revolute("pin", "spare.O", "ground.Q")
    check_refused(
        m,
        lambda m: m.force("F", "tip", (0, 1)),
        "point 'tip' is not one place",
        "'rod.tip'",
        "'spare.tip'",
        finish=False,
    )
