"""Model files: round trips to the last bit, what is wrong is told with its place, and no file can
do harm.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml
from fuzz_files import try_input
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from write_models import SCHEMA, model_text, schema_text

import varimech as vm
from varimech.benchmarks import BENCHMARKS
from varimech.core.errors import FileError
from varimech.elements.builder import Model
from varimech.elements.registry import BUILT_IN
from varimech.files.document import Document
from varimech.files.entries import entry_of
from varimech.files.source_map import parse_yaml
from varimech.files.studies import (
    ObjectiveEntry,
    OptimizeStudy,
    SensitivityStudy,
    Solving,
    UncertaintyStudy,
)
from varimech.model.element import Element
from varimech.optimization.design import SearchOptions
from varimech.problem import ProblemOptions
from varimech.uncertainty.monte_carlo import StudyOptions

STARTER = Path(vm.__file__).parent / "files" / "starter.yaml"


def read(tmp_path: Path, text: str) -> vm.Mechanism:
    path = tmp_path / "model.yaml"
    path.write_text(text, encoding="utf-8")
    return vm.Mechanism.from_file(path)


# --- round trips


@pytest.mark.parametrize("name", BENCHMARKS)
def test_files_of_benchmarks_agree_with_their_python(name: str) -> None:
    """`python tools/write_models.py` writes those of mechanisms that are built in Python; the
    others have the settings of their Python.
    """
    assert BENCHMARKS[name].model_file.read_text(encoding="utf-8") == model_text(name)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_what_is_read_is_written_again(name: str) -> None:
    path = BENCHMARKS[name].model_file
    assert vm.Mechanism.from_file(path).to_text() == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", ["five-bar", "andrews", "four-bar", "tree", "flexible-slider-crank"]
)
def test_a_mechanism_from_a_file_moves_to_the_last_bit_as_the_one_it_was_written_from(
    name: str,
) -> None:
    one, other = BENCHMARKS[name].mechanism(), vm.Mechanism.from_file(BENCHMARKS[name].model_file)
    options: dict[str, Any] = {"step": 1e-3, "every": 2, "backend": "interpreted"}
    first, second = one.simulate(0.004, **options), other.simulate(0.004, **options)
    for body in one.data.moving_bodies:
        point = f"{body.name}.{list(body.points)[-1]}"
        np.testing.assert_array_equal(first.position(point), second.position(point))
    for joint in one.joints:
        np.testing.assert_array_equal(first.reaction(joint), second.reaction(joint))


def test_names_mean_the_same_although_files_have_an_order_of_their_own(tmp_path: Path) -> None:
    """Points made late, joints by shared names, ends given as objects, expressions of parameters,
    sections, distributions of every kind.
    """
    m = vm.Mechanism("order", gravity=(0.1, -9.81))
    a = m.parameter("a", 0.7, unit="m", distribution=stats.norm(0.7, scale=0.01))
    odd = m.parameter("odd name", 2.0, bounds=(None, 5.0), distribution=vm.Tolerance(0.3, 2.0))
    m.parameter("t", 1.0, distribution=stats.triang(0.5, loc=0.9, scale=0.2))
    rod = m.bar("rod", "O", "P", length=a + odd / 10, mass=vm.sqrt(odd) * 2)
    m.ground_point("O", (0, a - 0.7))  # after the bar: the joint's first body is the bar
    joint = m.revolute("O")
    m.point(rod, "Q", (0.1, 0.2 * odd))
    m.ground_point("Q", (0.5, 0))
    m.spring("s", rod.points["Q"], "ground.Q", stiffness=odd**2 + 3, natural_length=0.2)
    m.torsional_damper("d", joint, damping=m.parameters["t"] * 0.1)
    m.beam(
        "flex",
        "P",
        "E",
        segments=2,
        E=1e6,
        section=vm.rectangle(0.01, odd / 500),
        density=1000.0,
        shape=[(0, 0), (0.2, 0.01), (0.4, 0)],
    )
    m.revolute("P")
    m.start(angle={"rod": -0.4, "flex": np.float64(-0.2)}, speed={"rod": 0.5})
    again = read(tmp_path, m.to_text())
    assert again.to_text() == m.to_text()
    assert [j.first.label for j in again.joints.values()] == [
        j.first.label for j in m.joints.values()
    ]
    options: dict[str, Any] = {"step": 1e-3, "backend": "interpreted"}
    np.testing.assert_array_equal(
        m.simulate(0.01, **options).reaction("O"), again.simulate(0.01, **options).reaction("O")
    )
    computed, meant = again.parameters, m.parameters
    distributions: dict[str, Any] = {name: p.distribution for name, p in computed.items()}
    for name in meant:
        assert (computed[name].value, computed[name].unit, computed[name].bounds) == (
            meant[name].value,
            meant[name].unit,
            meant[name].bounds,
        )
    assert distributions["a"].std() == 0.01 and distributions["odd name"] == vm.Tolerance(0.3, 2.0)
    assert distributions["t"].mean() == stats.triang(0.5, loc=0.9, scale=0.2).mean()


def test_all_that_a_start_can_say(tmp_path: Path) -> None:
    m = vm.Mechanism("start", dimension=3)
    m.ground_point("O", (0, 0, 0))
    m.body("top", mass=1.0, inertia=(0.1, 0.1, 0.05), points={"O": (0, 0, -0.1)})
    m.body(
        "free",
        mass=1.0,
        inertia=(0.1, 0.1, 0.1),
        points={"F": (0, 0, 0), "G": (0.1, 0, 0)},
        floating=True,
    )
    m.spherical("O")
    turn = vm.rotation((0, 1, 0), 0.3)
    m.start(
        orientation={"top": turn, "free": turn},
        position={"free.F": (1.0, None, 0.0)},
        distance={("ground.O", "free.F"): 1.5},
        speed={"top": (0, 0, 9.0), ("ground.O", "free.F"): 0.2, "free.F": (0.1, None, 0)},
        near={"free.F": (1, 1, 0)},
    )
    again = read(tmp_path, m.to_text())
    assert again.to_text() == m.to_text()
    one, other = (x.simulate(0.01, step=1e-3, backend="interpreted") for x in (m, again))
    np.testing.assert_array_equal(one.velocity("free.G"), other.velocity("free.G"))


def test_other_values_take_the_place_of_nominal_ones(tmp_path: Path) -> None:
    m = vm.Mechanism.from_file(STARTER)
    better = read(tmp_path, m.to_text(values={"crank": 0.09}))
    assert better.parameters["crank"].value == 0.09 and better.parameters["crank"].unit == "m"
    assert better.parameters["rod"].value == m.parameters["rod"].value
    with pytest.raises(vm.ModelError, match="outside its bounds"):
        m.to_text(values={"crank": 9.0})


@pytest.mark.parametrize(
    "name",
    [
        "as",
        "class",
        "None",
        "nan",
        "inf",
        "1e3",
        "-1e3",
        "12",
        "yes",
        "null",
        "~",
        "a b",
        'quo"te',
        "back\\slash",
        "µ",
        "μ",
        "ϕ",
        "t",
        "s",
        "pi",
        ": #",
        "[]",
        "[a, b]",
    ],
)
def test_any_name_of_a_parameter_is_read_again(tmp_path: Path, name: str) -> None:
    m = vm.Mechanism("names", gravity=(0, 0))
    p = m.parameter(name, 2.0)
    m.parameter("φ", 5.0)
    m.body(name, mass=p, inertia=p**2 / 3, points={name: (p, 1)}, floating=True)
    m.start(position={f"{name}.{name}": (1, 2)}, angle={name: 0.1})
    again = read(tmp_path, m.to_text())
    assert again.to_text() == m.to_text() and list(again.bodies) == ["ground", name]
    bodies: list[Any] = [x.bodies[name] for x in (m, again)]
    both = [
        x.data.parameter_set.evaluate(body.inertia, np.array([3.0, 7.0])).item()
        for x, body in zip((m, again), bodies, strict=True)
    ]
    assert both == [3.0, 3.0]


def test_all_kinds_of_values_are_written(tmp_path: Path) -> None:
    m = vm.Mechanism("values", gravity=(0, 0))
    a = m.parameter(
        "a",
        1.5,
        bounds=(0, float("inf")),
        distribution=vm.Tolerance(np.float64(0.1), np.float64(2.0)),
    )
    b = m.parameter("b", 0.5)
    m.body(
        "one",
        mass=vm.where(a > 1, a, b),
        inertia=vm.norm(vm.vector(a, b)),
        points={"P": np.array([[1.0], [2.0]])},
        floating=True,
    )
    m.ground_point("Q", range(1, 3))
    m.ground_point("R", vm.vector(a, b).T)
    m.beam(
        "flex",
        "P",
        "E",
        segments=int(np.int64(2)),
        E=1e6,
        area=1e-4,
        inertia=1e-9,
        mass=1,
        length=a,
    )
    m.bar("late", "P2", "E2", length=np.float32(1), mass=1)
    m.spring("before", "one.P", "ground.Q", stiffness=1, natural_length=0)
    m.clamp("E", "late.E2", "flex.E", direction=(1, 0))
    again = read(tmp_path, m.to_text())
    assert again.to_text() == m.to_text() and list(again.forces) == list(m.forces)
    for name in ("mass", "inertia"):
        one, other = (
            x.data.parameter_set.evaluate(getattr(x.bodies["one"], name), np.array([0.7, 0.3]))
            for x in (m, again)
        )
        assert one == other
    m.ground_point("S", (x for x in (1, 2)))
    with pytest.raises(vm.ModelError, match="cannot be written to a file; give a list of numbers"):
        m.to_text()


def test_points_that_are_not_one_place_are_written_by_their_bodies(tmp_path: Path) -> None:
    """Two bars have a point P each, and the joint is not there."""
    text = (
        HEAD
        + "bodies:\n  a: {bar: [O, P], length: 1, mass: 1}\n  b: {bar: [P, Q], length: 1, mass:"
        " 1}\n"
    )
    m = read(
        tmp_path,
        text + "joints:\n  O: {revolute: [ground.O, a.O]}\n  hinge: {revolute: [a.P, b.Q]}\n",
    )
    assert read(tmp_path, m.to_text()).to_text() == m.to_text()


def test_python_functions_are_refused_by_name() -> None:
    m = vm.Mechanism("f", gravity=(0, 0))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "P", length=1.0, mass=1.0)
    m.revolute("O")
    m.force("push", "rod.P", lambda s: (s.time, 0))
    with pytest.raises(
        vm.ModelError, match=r"force 'push': value is a Python function.*write it as a text"
    ):
        m.to_text()


def test_calls_that_cannot_be_written_to_a_file(tmp_path: Path) -> None:
    m = vm.Mechanism.from_file(STARTER)
    with pytest.raises(vm.ModelError, match="cannot be written"):
        m.to_file(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_files_of_the_documentation_are_read(tmp_path: Path) -> None:
    docs = Path(__file__).parent.parent / "docs"
    blocks = [
        b
        for page in docs.rglob("*.md")
        for b in re.findall(
            r"```yaml\n(varimech: 1.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
        )
    ]
    assert blocks
    for block in blocks:
        m = read(tmp_path, block)
        m.study("simulate", duration=0.01, backend="interpreted")


def test_the_mistakes_of_the_documentation_are_reported_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starter = STARTER.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    reports = []
    for right, wrong in (("[P, S], length:", "[P, S], lenght:"), ("mass: 1.2 kg", "mass: 1.2 m")):
        Path("my.yaml").write_text(starter.replace(right, wrong), encoding="utf-8")
        with pytest.raises(FileError) as caught:
            vm.Mechanism.from_file("my.yaml")
        reports.append(str(caught.value))
    docs = Path(__file__).parent.parent / "docs"
    assert "\n".join(reports) in (docs / "files.md").read_text(encoding="utf-8")
    assert reports[0] in (docs / "tutorial" / "0_model_file.md").read_text(encoding="utf-8")


# --- the schema says what the words say


POSITIONAL = (
    *("value", "motion", "direction", "output", "rate", "when", "equations"),
    *("target", "numerator", "denominator", "A", "B", "C", "D"),
    *("position", "orientation"),
)


@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: kind.method())
def test_entries_have_the_keywords_of_their_methods(kind: type[Element]) -> None:
    keywords = inspect.signature(getattr(Model, kind.method())).parameters.values()
    stated = {
        k.name: k.default is not k.empty
        for k in keywords
        if k.kind is k.KEYWORD_ONLY
        or k.name in POSITIONAL
        or (k.name == "input" and "input" not in {f.name for f in kind.leading()})
    }
    fields = {
        name: not field.is_required()
        for name, field in entry_of(kind).model_fields.items()
        if name != kind.file_key()
    }
    assert fields == stated


def test_every_element_method_has_an_entry() -> None:
    words = {
        name
        for name, method in inspect.getmembers(Model, inspect.isfunction)
        if hasattr(method, "__wrapped__")
    }
    others = {"parameter", "point", "start", "table", "tolerance"}
    assert words == {kind.method() for kind in BUILT_IN} | others


def test_studies_have_the_options_of_their_analyses() -> None:
    def keywords(analysis: Any) -> set[str]:
        return {*inspect.signature(analysis).parameters} - {"self", "distributions", "options"}

    solving = {*ProblemOptions.__annotations__} - {"ends", "progress"}
    assert set(Solving.model_fields) == solving
    sensitivity = keywords(vm.Problem.gradient) - {"relative_steps"}
    assert set(SensitivityStudy.model_fields) == sensitivity | solving | {
        "objectives",
        "wrt",
        "certify",
    }
    study = {*StudyOptions.__annotations__} - {"executor", "checkpoint"}
    uncertainty = keywords(vm.Problem.moments) | study  # a file does not say where to write
    assert set(UncertaintyStudy.model_fields) == uncertainty | solving | {"objectives", "method"}
    optimize = keywords(vm.Problem.optimize) | {*SearchOptions.__annotations__}
    assert set(OptimizeStudy.model_fields) == optimize | solving


def test_the_published_schema_is_current_and_takes_all_files() -> None:
    """`python tools/write_models.py` writes it anew."""
    assert SCHEMA.read_text(encoding="utf-8") == schema_text()
    validator = jsonschema.Draft202012Validator(json.loads(schema_text()))
    for path in (STARTER, *(entry.model_file for entry in BENCHMARKS.values())):
        marked = parse_yaml(path.read_text(encoding="utf-8"), path)
        assert list(validator.iter_errors(marked.data)) == []
    assert list(validator.iter_errors({"varimech": 1, "name": "x", "bodys": {}}))


# --- what is wrong is told with its place

HEAD = "varimech: 1\nname: x\ngravity: [0, -9.81]\nparameters: {L: 30 cm}\nground: {O: [0, 0]}\n"
BARS = "bodies:\n  rod: {bar: [O, P], length: L, mass: 1}\n"
MALFORMED = {
    "misspelt key": (
        HEAD + "bodies:\n  rod:\n    bar: [O, P]\n    lenght: L\n    mass: 1\n",
        9,
        "bodies.rod.lenght",
        "did you mean 'length'?",
    ),
    "misspelt section": (HEAD + "bodeis: {}\n", 6, "bodeis", "did you mean 'bodies'?"),
    "misspelt joint": (
        HEAD + BARS + "joints:\n  O: {revolut: [ground.O, rod.O]}\n",
        9,
        "joints.O",
        "did you mean 'revolute'?",
    ),
    "missing key": (
        HEAD + "bodies:\n  rod: {bar: [O, P], mass: 1}\n",
        7,
        "bodies.rod.length",
        "is missing",
    ),
    "wrong unit": (
        HEAD + "bodies:\n  rod:\n    bar: [O, P]\n    length: 3 kg\n    mass: 1\n",
        9,
        "bodies.rod.length",
        "wrong dimension; expected m",
    ),
    "unknown parameter": (
        HEAD + "bodies:\n  rod: {bar: [O, P], length: LL/2, mass: 1}\n",
        7,
        "bodies.rod.length",
        "no parameter or quantity is called 'LL'; did you mean 'L'?",
    ),
    "negative mass": (
        HEAD + "bodies:\n  rod:\n    bar: [O, P]\n    mass: -1\n    length: L\n",
        9,
        "bodies.rod.mass",
        "must be positive",
    ),
    "unknown point": (
        HEAD + BARS + "forces:\n  f: {force: rod.Q, value: [1, 0]}\n",
        9,
        "forces.f",
        "no point of body 'rod' is called 'Q'",
    ),
    "open joint": (
        HEAD + BARS + "joints:\n  P: revolute\n",
        9,
        "joints.P",
        "exactly two bodies must have a point 'P'; found 'rod.P'",
    ),
    "a list for a mapping": (HEAD + "bodies: [1, 2]\n", 6, "bodies", "valid dictionary"),
    "wrong size": (
        HEAD + "start:\n  near: {O: 5}\nbodies:\n  b: {mass: 1, inertia: 1, com: [1]}\n",
        9,
        "bodies.b.com",
        "must be a vector of two or three numbers",
    ),
    "a truth for a number": (
        HEAD + "bodies:\n  rod: {bar: [O, P], length: true, mass: 1}\n",
        7,
        "bodies.rod.length",
        "must be a number, a quantity such as 30 mm",
    ),
    "not YAML": (HEAD + "bodies: {rod: [\n", 7, "", "is not YAML"),
    "twice": (
        HEAD + "name: y\n",
        6,
        "",
        "the key 'name' stands twice in the file, at first on line 2",
    ),
    "another version": (
        "varimech: 2\nname: x\n",
        1,
        "varimech",
        "2 is not a supported version of the format, which is 1",
    ),
    "no version": ("name: x\n", 1, "varimech", "is missing"),
    "not a model": ("just a text\n", 1, "", "is not a model file"),
    "unit that is not SI": (
        HEAD.replace("{L: 30 cm}", "{L: {value: 30, unit: cm}}"),
        4,
        "parameters.L.unit",
        "a number is in SI units: write '30 cm' as a text",
    ),
    "distribution": (
        HEAD.replace("30 cm", "{value: 1, distribution: {name: gauss}}"),
        4,
        "parameters.L",
        "no continuous distribution of scipy.stats is called 'gauss'",
    ),
    "key of an earlier version": (
        HEAD.replace("30 cm", "{value: 1, spread: {distribution: uniform}}"),
        4,
        "parameters.L.spread",
        "there is no such key; write 'distribution' instead",
    ),
    "speed of nothing": (
        HEAD + BARS + "joints: {O: revolute}\nstart:\n  angle: {rod: 1}\n  speed: {P: [1, 2]}\n",
        11,
        "start.speed",
        "speed is given for 'P'",
    ),
    "objective": (
        HEAD + "studies:\n  objectives:\n    psi:\n      final: angle(\n",
        9,
        "studies.objectives.psi",
        "cannot be read",
    ),
    "word that a text speaks of": (
        HEAD + BARS + "joints: {O: revolute}\nforces:\n  f:\n    force: rod.P\n    value:"
        " ['velocity(\"nope\")[0]', 0]\n",
        12,
        "forces.f.value",
        "no point is called 'nope'",
    ),
    "unit or parameter": (
        HEAD.replace("L:", "rod:") + "bodies:\n  b: {bar: [O, P], length: 2 rod, mass: 1}\n",
        7,
        "bodies.b.length",
        "'rod' is a unit and a parameter; write 2*rod",
    ),
    "no name": ("varimech: 1\nname: ''\ngravity: [0, 0]\n", 2, "name", "needs a name"),
    "no tolerance": (
        HEAD.replace("30 cm", "{value: 1, tolerance: 0}"),
        4,
        "parameters.L.tolerance",
        "must be a positive finite number",
    ),
    "start of nothing": (
        HEAD + BARS + "joints: {O: revolute}\nstart:\n  angle:\n    rodd: 1\n",
        11,
        "start.angle.rodd",
        "did you mean 'rod'",
    ),
    "point of a body": (
        HEAD + "bodies:\n  b:\n    mass: 1\n    inertia: 1\n    points: {Q: [x, 0]}\n",
        10,
        "bodies.b.points",
        "no parameter or quantity is called 'x'",
    ),
    "objective of nothing": (
        HEAD + BARS + "studies:\n  objectives:\n    psi: {final: 'reaction(\"P\")[0]'}\n",
        10,
        "studies.objectives.psi",
        "no joint is called 'P'",
    ),
    "objective that is a vector": (
        HEAD + BARS + 'studies:\n  objectives:\n    psi: {final: position("P")}\n',
        10,
        "studies.objectives.psi",
        "must return a scalar",
    ),
    "derivative by nothing": (
        HEAD + "studies:\n  sensitivity:\n    wrt: [LL]\n",
        8,
        "studies.sensitivity.wrt",
        "no parameter is called 'LL'; did you mean 'L'?",
    ),
    "unknown integrator": (
        HEAD + "studies:\n  simulate:\n    integrator: dop85\n",
        8,
        "studies.simulate.integrator",
        "did you mean 'dop853'",
    ),
    "trace of nothing": (
        HEAD + "studies:\n  show:\n    trace: [Z]\n",
        8,
        "studies.show.trace",
        "no point is called 'Z'",
    ),
    "angle of a body in space": (
        (
            "varimech: 1\nname: x\ngravity: [0, 0, -9.81]\nbodies: {b: {mass: 1, inertia: [1, 1,"
            " 1]}}\nstudies: {show: {angle: [b]}}\n"
        ),
        5,
        "studies.show.angle",
        "body 'b' is spatial: it has no single angle",
    ),
    "rotation of the ground": (
        HEAD + BARS + "studies: {show: {rotation: [ground]}}\n",
        8,
        "studies.show.rotation",
        "no body is called 'ground'",
    ),
    "many segments": (
        HEAD
        + "bodies:\n  b: {beam: [O, P], segments: 10000000, E: 1, area: 1, inertia: 1, mass: 1,"
        " length: 1}\n",
        7,
        "bodies.b.segments",
        "less than or equal to 20000",
    ),
    "setting": (
        HEAD + "studies:\n  simulate:\n    durations: 2 s\n",
        8,
        "studies.simulate.durations",
        "did you mean 'duration'?",
    ),
    "a vector for a number": (
        HEAD + "bodies: {b: {mass: '[L, L]', inertia: 1}}\n",
        6,
        "bodies.b.mass",
        "which is in m",
    ),
    "nothing for a number": (
        HEAD + "bodies: {b: {mass: '[]', inertia: 1}}\n",
        6,
        "bodies.b.mass",
        "must be a single number",
    ),
    "a key in brackets": (HEAD + "'[]': {}\n", 6, "[]", "there is no such key"),
    "a name that pydantic uses itself": (
        HEAD + "bodies:\n  int:\n    mass: 1\n    inertia: 1\n    com: [a]\n",
        10,
        "bodies.int.com",
        "must be a vector",
    ),
    "a long value": (
        HEAD.replace("{L: 30 cm}", f"{{L: {{value: 1, unit: '{'1+' * 5000}1'}}}}"),
        4,
        "parameters.L.unit",
        "+1",
    ),
    "measure": (
        HEAD + "studies:\n  show: {positions: [P]}\n",
        7,
        "studies.show.positions",
        "'position'",
    ),
}


@pytest.mark.parametrize(("text", "line", "field", "words"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_files_are_reported_with_file_line_and_remedy(
    tmp_path: Path, text: str, line: int, field: str, words: str
) -> None:
    with pytest.raises(FileError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'model.yaml'}:{line}: {field}")
    assert (caught.value.line, caught.value.field.startswith(field)) == (line, True)
    assert words in message and len(message) < 1000


def test_all_that_is_wrong_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        read(
            tmp_path,
            HEAD
            + "bodies:\n  rod: {bar: [O], lengt: 1, mass: [1]}\nforces:\n  s: {sprig: [O, P]}\n",
        )
    lines = str(caught.value).splitlines()
    assert len(lines) == 4 and all("model.yaml:" in each for each in lines)


# --- no file can do harm

LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + k)}: &{chr(98 + k)} [{', '.join([f'*{chr(97 + k)}'] * 10)}]\n" for k in range(20)
)
HOSTILE = {
    "attribute access": (
        HEAD + "bodies: {b: {mass: '().__class__.__base__', inertia: 1}}\n",
        "a dot is not supported",
    ),
    "a call": (HEAD + "bodies: {b: {mass: '__import__(\"os\").getcwd()', inertia: 1}}\n", "a dot"),
    "huge exponent": (
        HEAD + "bodies: {b: {mass: '9**9**9**9', inertia: 1}}\n",
        "cannot be computed",
    ),
    "huge exponent of a unit": (
        HEAD + "bodies: {b: {mass: '1 kg**999999999', inertia: 1}}\n",
        "is not a unit",
    ),
    "tower of exponents": (
        HEAD + "bodies: {b: {mass: '3 kg**99**99**99', inertia: 1}}\n",
        "is not a unit",
    ),
    "rates of rates": (
        HEAD
        + BARS
        + "forces: {f: {torque: rod, value: '"
        + "rate(" * 20
        + "sin(t)"
        + ")" * 20
        + "'}}\n",
        "at most 3 nested",
    ),
    "a unit that could be cut in many ways": (
        HEAD + f"bodies: {{b: {{mass: 1 {'a' * 58}!, inertia: 1}}}}\n",
        "is not a unit",
    ),
    "the same of a parameter": (
        HEAD.replace("30 cm", f"{{value: 1, unit: {'a' * 50000}§}}"),
        "is not one of the SI",
    ),
    "a quantity with much between": (
        HEAD + f"bodies: {{b: {{mass: '1{' ' * 300000}§', inertia: 1}}}}\n",
        "300002 characters",
    ),
    "degrees of another kind": (
        HEAD + "bodies: {b: {mass: 20 degC, inertia: 1}}\n",
        "is not a unit that can be used",
    ),
    "an index beyond all": (
        HEAD + "bodies: {b: {mass: '[1, 2][1e400]', inertia: 1}}\n",
        "indices start at 0",
    ),
    "recursive alias": ("varimech: 1\nname: &n [*n]\n", "refers to an entry that contains it"),
    "a thousand million laughs": (LAUGHS, "entries, aliases written out"),
    "deep nesting": ("a: " + "[" * 100_000, "is nested more than 40 deep"),
    "deep mappings": (
        "\n".join(" " * k + "a:" for k in range(2000)),
        "is nested more than 40 deep",
    ),
    "a tag": (
        "name: !!python/object/apply:os.system [true]\n",
        "has the tag tag:yaml.org,2002:python/object/apply:os.system",
    ),
    "two documents": ("name: x\n---\nname: y\n", "second document"),
    "a key that is a list": ("? [a, b]\n: c\n", "a key must be a simple text"),
    "control characters": ("name: \x07\n", "is not YAML"),
    "unknown alias": ("name: *who\n", "model.yaml:1"),
}


@pytest.mark.parametrize(("text", "words"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(FileError, match=r"model\.yaml") as caught:
        read(tmp_path, text)
    assert words in str(caught.value) and len(str(caught.value)) < 500


def test_large_files_are_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(FileError, match="has more than 8 MB"):
        vm.Mechanism.from_file(path)
    with pytest.raises(FileError, match="cannot be read: No such file"):
        vm.Mechanism.from_file(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes("name: größe".encode("latin-1"))
    with pytest.raises(FileError, match="is not UTF-8 text"):
        vm.Mechanism.from_file(tmp_path / "latin.yaml")


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=8),
        lambda x: (
            st.lists(x, max_size=3)
            | st.dictionaries(
                st.sampled_from([*Document.model_fields, "rod", "bar", "mass", "O"]), x, max_size=4
            )
        ),
        max_leaves=12,
    )
)
@settings(max_examples=200, deadline=None)
def test_any_data_is_a_mechanism_or_an_error_with_a_place(data: Any) -> None:
    from varimech.files.reading import build, checked

    marked = parse_yaml(
        yaml.safe_dump({"varimech": 1, "name": "x", **data} if isinstance(data, dict) else data),
        Path("any.yaml"),
    )
    try:
        document = checked(marked)
        build(marked, document, vm.Mechanism("x"))
    except FileError:
        pass


@pytest.mark.parametrize("numbers", [range(30), range(30, 60)], ids=str)
def test_files_that_nobody_would_write(tmp_path: Path, numbers: range) -> None:
    """`python tools/harden/fuzz_files.py` tries as many as there is time for."""
    outcomes = {try_input(tmp_path, number) for number in numbers}
    assert {"refused", "read"} <= outcomes <= {"refused", "read", "ran", "did not run"}


def test_numbers_and_words_are_those_of_yaml_1_2() -> None:
    data = parse_yaml(
        "a: 1e-5\nb: yes\nc: 012\nd: .5\ne: 5.\nf: ~\ng: 'null'\nh: 0x1F\ni:"
        " 12345678901234567890\nj: &k [1]\nl: *k\n12: on\n",
        Path("x"),
    ).data
    expected = {
        "a": 1e-5,
        "b": "yes",
        "c": "012",
        "d": 0.5,
        "e": 5.0,
        "f": None,
        "g": "null",
        "h": "0x1F",
        "i": 12345678901234567890.0,
    }
    assert data == {**expected, "j": [1], "l": [1], "12": "on"}


# --- studies


def test_studies_of_a_file_are_those_of_the_analyses() -> None:
    m = vm.Mechanism.from_file(STARTER)
    options: dict[str, Any] = {"tolerance": 1e-6, "backend": "interpreted"}
    objectives = {
        "travel": vm.final('displacement("guide")', unit="m"),
        "wear": vm.integral('dot(reaction("O"), reaction("O"))', unit="N²·s"),
    }
    sample_study = m.study("sensitivity", duration="100 ms", **options)
    meant = m.sensitivity(objectives, ["crank", "rod", "stiffness"], duration=0.1, **options)
    np.testing.assert_array_equal(sample_study.gradient_history, meant.gradient_history)
    run = m.study(
        "simulate",
        duration=0.1,
        step="1 ms",
        integrator={"newmark": {"gamma": 0.7}},
        backend="interpreted",
    )
    same = m.simulate(0.1, step=1e-3, integrator=vm.Newmark(gamma=0.7), backend="interpreted")
    np.testing.assert_array_equal(run.position("P"), same.position("P"))
    moments = m.study("uncertainty", duration=0.1, order=1, **options)
    assert (
        moments.std.values[-1, 0]
        == m.moments({"travel": objectives["travel"]}, duration=0.1, order=1, **options).std.values[
            -1, 0
        ]
    )
    parts = m.study(
        "uncertainty", duration=0.1, method="monte-carlo", samples=16, seed=3, **options
    )
    assert parts.count == 16
    best = m.study("optimize", duration=0.1, max_iterations=3, **options)
    assert set(best.parameters) == {"crank", "rod"} and best.problem.name == "wear"


def test_studies_that_make_no_sense() -> None:
    m = vm.Mechanism.from_file(STARTER)
    assert m.studies is not None
    m.studies.objectives["top"] = ObjectiveEntry.model_validate({"path": 'position("P")[1]'})
    for kind, changes, words in (
        ("simulation", {}, "no kind of study is called 'simulation'; did you mean 'simulate'?"),
        ("simulate", {"duration": "2 m"}, "duration = '2 m' has the wrong dimension"),
        (
            "simulate",
            {"duration": "soon"},
            "duration = 'soon' is not a number in s, nor a quantity such as '20 ms'",
        ),
        (
            "simulate",
            {"integrator": {"newmark": {"gama": 1}}},
            "integrator 'newmark' does not have all of the constants gama",
        ),
        ("simulate", {"parameters": {"crankk": 1}}, "did you mean 'crank'?"),
        (
            "simulate",
            {"parameters": {"crank": "1 kg"}},
            "parameter 'crank' = '1 kg' has the wrong dimension",
        ),
        (
            "sensitivity",
            {"objectives": ["top"]},
            "objective 'top' is a path, which only optimize takes",
        ),
        ("sensitivity", {"objectives": ["travels"]}, "did you mean 'travel'?"),
        (
            "uncertainty",
            {"method": "momets"},
            "no method of uncertainty is called 'momets'; did you mean 'moments'?",
        ),
        ("uncertainty", {"samples": 10}, "samples does not go with method 'moments'"),
    ):
        with pytest.raises(vm.ModelError) as caught:
            m.study(kind, **changes)
        assert words in str(caught.value)
    with pytest.raises(vm.ModelError, match="has no studies: it was not read from a file"):
        vm.Mechanism("x").study("simulate")
