"""Mistakes of the first hour, made on purpose: each is told with the thing, the value and the
remedy, and nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from typer.testing import CliRunner

import varimech as vm
from varimech.cli.app import app
from varimech.core.units import is_si, of_one_kind

Call = Callable[[Any], object]
FINAL: Any = vm.final
TRAVEL = {"travel": vm.final(lambda s: s.displacement("guide"), unit="m")}


def crank_slider() -> vm.Mechanism:
    m = vm.Mechanism("crank-slider", gravity=(0, -9.81))
    m.parameter("rod", 0.25, unit="m", bounds=(0.2, 0.4))
    m.parameter("load", 0.8, unit="kg")
    m.ground_point("O", (0, 0))
    m.bar("crank", "O", "P", length=0.10, mass=0.5)
    m.bar("rod", "P", "S", length="rod", mass="load")
    m.body("slider", mass=1.2, inertia=1e-3, points={"S": (0, 0)})
    for pin in "OPS":
        m.revolute(pin)
    m.prismatic("guide", "ground.O", "slider.S", axis=(1, 0))
    m.start(angle={"crank": 1.0}, near={"S": (0.3, 0)})
    return m


@pytest.fixture(scope="module")
def run() -> vm.Run:
    return crank_slider().simulate(0.02, step=0.01)


def refused(*cases: tuple[str, Call, str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("call", "says"), [pytest.param(call, says, id=name) for name, call, says in cases]
    )


def check_says(call: Call, says: str) -> None:
    with pytest.raises(vm.ModelError) as caught:
        call(crank_slider())
    assert says in str(caught.value)


# units


@refused(
    (
        "a label that is not SI",
        lambda m: m.parameter("L", 30, unit="mm"),
        (
            "parameter 'L': unit = 'mm' is not one of the SI; a number is in SI units: write '30"
            " mm' as a text, or leave the unit out"
        ),
    ),
    ("degrees", lambda m: m.parameter("a", 45.0, unit="deg"), "unit = 'deg' is not one of the SI"),
    (
        "a mass for a length",
        lambda m: m.bar("link", "S", "T", length=m.parameters["load"], mass=1.0),
        "bar 'link': length = parameter 'load', which is in kg; expected a value in m",
    ),
    (
        "the same in text",
        lambda m: m.bar("link", "S", "T", length="load", mass=1.0),
        "bar 'link': length = parameter 'load', which is in kg; expected a value in m",
    ),
    (
        "a value for a run",
        lambda m: m.simulate(0.02, parameters={"rod": "260 g"}),
        "parameter 'rod': value = '260 g' has the wrong dimension; expected m",
    ),
    (
        "outside the bounds",
        lambda m: m.simulate(0.02, parameters={"rod": 250}),
        "parameter 'rod': value 250 m is outside its bounds (0.2, 0.4) m",
    ),
)
def test_wrong_units(call: Call, says: str) -> None:
    check_says(call, says)


@pytest.mark.parametrize("unit", ["-", "–", "1"])
def test_pure_numbers_may_be_marked_as_such(unit: str) -> None:
    m = vm.Mechanism("geared")
    assert m.parameter("ratio", 3.0, unit=unit).value == 3.0
    with pytest.raises(vm.ModelError, match="wrong dimension"):
        m.parameter("other", "3 mm", unit=unit)


def test_a_parameter_in_another_unit_of_the_same_kind_is_taken() -> None:
    m = crank_slider()
    m.torsional_spring("hinge", "O", stiffness=m.parameter("k", 2.0, unit="N·m"))  # N·m/rad
    m.drive_angle("motor", "crank", m.parameter("a", "60 deg"))
    assert m.parameters["a"].unit == "rad" and list(m.forces) == ["hinge"]


@pytest.mark.parametrize(
    "unit", ["", "m", "N/m", "N·s²/m²", "1/s", "kg·m²", "m⁴", "N*m*s/rad", "m^2", "Nm", "W/(m²·s)"]
)
def test_units_of_the_si(unit: str) -> None:
    assert is_si(unit)


@pytest.mark.parametrize("unit", ["mm", "deg", "N/mm", "kN", "g", "rpm", "m/", "parsnips", "%"])
def test_units_that_are_not(unit: str) -> None:
    assert not is_si(unit)


def test_kinds_of_units() -> None:
    for same in (
        ("N", "kg·m/s²"),
        ("Pa·m²", "N"),
        ("W·s", "N·m"),
        ("1/s", "rad/s"),
        ("(N)", "kg·m/s²"),
    ):
        assert of_one_kind(*same), same
    for other in (("N/m", "N·m"), ("kg", "m"), ("m", "m²"), ("rad", "m"), ("(N)", "m")):
        assert not of_one_kind(*other), other


# words and their arguments


@refused(
    (
        "misspelt",
        lambda m: m.bar("a", "b", "c", lenght=1, mass=1),
        "bar: has no argument 'lenght'; call bar(name, start, end, *, length,",
    ),
    (
        "missing",
        lambda m: m.bar("a", "b", "c", mass=1),
        "bar: missing a required argument: 'length'; call bar(name, start, end, *, length, mass",
    ),
    (
        "too many",
        lambda m: m.bar("a", "b", "c", 1, 1),
        "bar: too many positional arguments; call bar(name, start, end, *, length, mass",
    ),
    (
        "of a mechanism",
        lambda m: cast("Any", vm.Mechanism)("crank", (0, -9.81)),
        "Mechanism.__init__() takes 2 positional arguments but 3 were",
    ),
    (
        "of the start",
        lambda m: m.start(angel={"crank": 1.0}),
        "start: has no argument 'angel'; call start(*, angle=None, displ",
    ),
)
def test_element_methods_show_their_arguments(call: Call, says: str) -> None:
    m = crank_slider()
    before = m.data.revision, len(m.data.calls), m.data.start_conditions
    with pytest.raises(TypeError) as caught:
        call(m)
    assert says in str(caught.value)
    assert (m.data.revision, len(m.data.calls), m.data.start_conditions) == before


@refused(
    *(
        (
            f"start {key}",
            lambda m, key=key: m.start(**{key: ["crank"]}),
            f"start: {key} = ['crank'] must be a dictionary, such as {{",
        )
        for key in ("angle", "displacement", "distance", "position", "orientation", "speed", "near")
    ),
    (
        "points",
        lambda m: m.body("b", mass=1, inertia=1, points=["A"]),
        "body 'b': points = ['A'] must be a dictionary, such as {'P'",
    ),
    (
        "of a bar",
        lambda m: m.bar("b", "x", "y", length=1, mass=1, points=["A"]),
        "bar 'b': points = ['A'] must be a dictionary",
    ),
    (
        "values",
        lambda m: m.simulate(1, parameters=["rod"]),
        "parameters = ['rod'] must be a dictionary, such as {'L': 0.3}",
    ),
    (
        "samples",
        lambda m: m.ensemble(TRAVEL, [0.25], duration=1),
        "ensemble: parameters = [0.25] must be a dictionary",
    ),
    (
        "a text among them",
        lambda m: m.ensemble(TRAVEL, {"rod": [0.25, "x"]}, duration=1),
        "parameter 'rod': value = 'x' is not a number",
    ),
)
def test_what_is_given_by_name(call: Call, says: str) -> None:
    check_says(call, says)


def test_a_parameter_is_no_number() -> None:
    a, b = crank_slider().parameters.values()
    assert a == a and a != b and a != "rod" and a in [b, a] and len({a, b}) == 2
    for number in (0.25, 2 * b):
        with pytest.raises(
            TypeError,
            match=(
                r"parameter 'rod' stands for a number that may change, so it neither is nor is not"
            ),
        ):
            a == number  # noqa: B015 - it is the comparison that is refused


# functions


@refused(
    (
        "time for the state",
        lambda m: m.force("f", "slider.S", lambda t: (vm.sin(t), 0)),
        (
            "force 'f' computes with its argument as if it were a number, but that is the state s"
            " (its time is s.time)"
        ),
    ),
    (
        "multiplied",
        lambda m: m.force("f", "slider.S", lambda t: (2 * t, 0)),
        "that is the state s (its time is s.time)",
    ),
    (
        "state for the time",
        lambda m: m.drive_angle("d", "crank", lambda s: s.time),
        "driver 'd' is a function of the time t, which has no 'time'",
    ),
    (
        "driver without",
        lambda m: m.drive_angle("d", "crank", lambda: 1),
        "driver 'd' must be a function of the time t alone: too many",
    ),
    (
        "driver with if",
        lambda m: m.drive_angle("d", "crank", lambda t: 1 if t > 0 else 2),
        "on a quantity of the time; use varimech.where",
    ),
    (
        "objective without",
        lambda m: m.sensitivity(FINAL(lambda: 1), duration=0.1),
        (
            "objective 'psi1' must be a function of the state s (its time is s.time) alone: too"
            " many positional arguments"
        ),
    ),
    (
        "objective of two",
        lambda m: m.sensitivity(FINAL(lambda s, t: 1), duration=0.1),
        "alone: missing a required argument: 't'",
    ),
)
def test_functions_of_the_wrong_thing(call: Call, says: str) -> None:
    check_says(call, says)


def test_errors_of_functions_are_their_own() -> None:
    def mistaken(s: Any) -> Any:
        raise KeyError("nothing")

    with pytest.raises(KeyError, match="nothing"):
        crank_slider().force("f", "slider.S", mistaken)
    with pytest.raises(AttributeError, match="displacment"):
        crank_slider().sensitivity(FINAL(lambda s: s.displacment("guide")), duration=0.1)


# results and files


def test_times_to_draw(run: vm.Run) -> None:
    run.draw(times=0.01)
    run.draw(times=[0.02 * (1 + 1e-15), 0.0])
    for t in (5.0, -0.01):
        with pytest.raises(
            vm.ModelError, match=rf"draw: time {t:g} s is outside the run, 0 to 0.02 s"
        ):
            run.draw(times=[0.0, t])


def test_a_gpu_is_no_backend() -> None:
    with pytest.raises(
        vm.ModelError,
        match=r"backend = 'cuda': a GPU executes many runs at once.*executor='cuda'",
    ):
        crank_slider().simulate(0.1, backend="cuda")


def test_a_folder_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(vm.ModelError, match=r"is a folder; name the file in it"):
        vm.load_run(tmp_path)


STARTER = Path(vm.__file__).parent / "files" / "starter.yaml"


@pytest.mark.parametrize(
    ("wrong", "line", "says"),
    [
        (("  O: [0, 0]", "\tO: [0, 0]"), 21, "the line begins with a tab: indent by spaces"),
        (("  rod: {bar", "   rod: {bar"), 25, "entries of one section are indented alike"),
        (
            ("['-0.5*velocity(\"slider.S\")[0]', 0]", '[-0.5*velocity("slider.S")[0], 0]'),
            36,
            "stands in '…' as a whole",
        ),
        (
            ("mass: 0.5 kg", "mass:0.5 kg"),
            24,
            "did you mean 'mass'? A space belongs after the colon",
        ),
        (
            ("mass: 0.5 kg", "mass: 0,5 kg"),
            24,
            "bodies.crank.5 kg: there is no such key; a decimal number has a point, 0.5",
        ),
        (
            ("P: revolute", "P: revolut"),
            30,
            "joints.P: 'revolut' is of no known kind: did you mean 'revolute'?",
        ),
        (
            ("show: {position", "show: {positon"),
            54,
            "studies.show.positon: 'positon': did you mean 'position'?",
        ),
        (
            ("varimech: 1 ", "# "),
            12,
            "varimech: is missing; the first line of a model file is `varimech: 1`",
        ),
        (
            ("length: rod", "length: stiffness"),
            25,
            "length = parameter 'stiffness', which is in N/m; expected a value in m",
        ),
        (("length: rod", "length: rod + 3 mmm"), 25, "'mmm' is not a unit that can be used"),
        (
            ("  S: revolute\n", ""),
            39,
            (
                "point 'S' is not one place: 'rod.S', 'slider.S'; write the full name, or join them"
                " first"
            ),
        ),
    ],
    ids=lambda x: x[1].strip()[:20] if isinstance(x, tuple) else None,
)
def test_slips_in_a_model_file(
    wrong: tuple[str, str], line: int, says: str, tmp_path: Path
) -> None:
    text = STARTER.read_text(encoding="utf-8")
    assert wrong[0] in text
    path = tmp_path / "my.yaml"
    path.write_text(text.replace(*wrong, 1), encoding="utf-8")
    with pytest.raises(vm.FileError) as caught:
        vm.Mechanism.from_file(path)
    assert caught.value.line == line and says in str(caught.value)
    assert str(caught.value).count("\n") == 0  # one slip, one line


# the command line


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["run", "."], "'.' is a folder; name a model file, such as 'mine.yaml'"),
        (["run", "mine.yml"], "there is no file 'mine.yml'; did you mean 'mine.yaml'?"),
        (
            ["run", "other.yaml"],
            "there is no file 'other.yaml'; `varimech new other.yaml` writes one to start from",
        ),
        (
            ["run", "mine.yaml", "--step", "1 mm"],
            "--step 1 mm has the wrong dimension; expected s",
        ),
        (
            ["run", "mine.yaml", "--step", "x"],
            "--step x is not a number in s, nor a quantity such as '20 ms'",
        ),
        (
            ["run", "mine.yaml", "--backend", "cuda"],
            "--backend cuda: a GPU executes many runs at once",
        ),
    ],
    ids=lambda x: " ".join(x[1:]) if isinstance(x, list) else None,
)
def test_slips_on_the_command_line(
    typed: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(STARTER.read_text(encoding="utf-8"), encoding="utf-8")
    error = CliRunner().invoke(app, typed).exception
    assert isinstance(error, vm.ModelError) and str(error).startswith(says)


def test_what_is_asked_first() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"varimech {vm.__version__}\n"
    short, long = (CliRunner().invoke(app, ["run", option]).output for option in ("-h", "--help"))
    assert short == long and "a report for any browser (animation, outputs" in " ".join(
        short.split()
    )
    step = CliRunner().invoke(
        app,
        [
            "run",
            str(STARTER),
            "--step",
            "10 ms",
            "--duration",
            "0.02",
            "--backend",
            "interpreted",
            "--json",
        ],
    )
    assert json.loads(step.output)["step"] == 0.01


def test_what_an_element_method_returns_stands_for_its_name(run: vm.Run) -> None:
    m = crank_slider()
    motion = m.simulate(0.02, step=0.01)
    for thing, measure in (
        (m.joints["P"], "reaction"),
        (m.joints["P"], "angle"),
        (m.bodies["rod"], "angle"),
    ):
        np.testing.assert_array_equal(
            getattr(motion, measure)(thing), getattr(run, measure)(thing.name)
        )


def test_what_an_element_method_returns_is_shown_in_a_line() -> None:
    m = crank_slider()
    shown = [
        m.ground_point("Q", (1, 0)),
        m.bodies["rod"],
        m.joints["guide"],
        m.spring("spring", "ground.Q", "slider.S", stiffness=1.0, natural_length=0.5),
        m.force("push", "slider.S", (1, 0)),
        m.torque("twist", "crank", 1.0),
        m.drive_angle("motor", "crank", lambda t: t),
        m.beam(
            "spoke", "Q", "end", segments=9, length=1, E=1e9, section=vm.square(0.01), density=1000
        ),
    ]
    assert [repr(x) for x in shown] == [
        "<Point 'Q' of 'ground'>",
        "<RigidBody 'rod' with points 'com', 'P', 'S'>",
        "<Prismatic 'guide' between 'ground.O' and 'slider.S'>",
        "<Spring 'spring', stiffness 1, damping 0>",
        "<PointForce 'push'>",
        "<Torque 'twist'>",
        "<DriveAngle 'motor'>",
        "<Beam 'spoke' of 9 segments between 'Q' and 'end'>",
    ]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda run: run.plot(energy=True),
            "energy = True must be a name or a list of names, such as energy='total'",
        ),
        (
            lambda run: run.plot(position=["S", 3]),
            "position = ['S', 3] must be a name or a list of names",
        ),
        (
            lambda run: run.draw(trace=3),
            "trace = 3 must be a name or a list of names, such as trace='P'",
        ),
        (
            lambda run: run.draw(times="end"),
            "draw: times = 'end' must be a time of the run, or several (s)",
        ),
        (
            lambda run: run.position(["P", "S"]),
            "position: ['P', 'S'] is not a name; several are plotted by run.plot(position=[…])",
        ),
        (lambda run: run.angle(None), "angle: None is not a name"),
        (
            lambda run: run.measure(lambda s: s.angle(["rod"])),
            "['rod'] is not the name of a body or a joint",
        ),
    ],
)
def test_what_is_drawn_has_a_name(run: vm.Run, call: Call, says: str) -> None:
    with pytest.raises(vm.ModelError) as caught:
        call(run)
    assert str(caught.value).startswith(says)


def test_a_parameter_that_was_forgotten_is_reported() -> None:
    m = crank_slider()
    m.parameter("spare", 1.0)
    gradient = m.sensitivity(TRAVEL, ["load", "spare"], duration=0.02, step=0.01)
    assert repr(gradient).endswith("\nexactly zero: derivatives with respect to 'spare'")
    assert "with respect to &#x27;spare&#x27;" in gradient._repr_html_()
    assert "exactly zero" not in repr(
        m.sensitivity(TRAVEL, ["load", "rod"], duration=0.02, step=0.01)
    )
