"""Every registered element keeps what an element promises; what users register is used like what is
built in, and refused where something is missing.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import pickle
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
import write_elements
from markdown_pages import DOCS

import varimech as vm
from varimech import elements as el
from varimech.elements import registry
from varimech.elements.registry import BUILT_IN, registered
from varimech.elements.screw import Screw
from varimech.files.document import json_schema
from varimech.model.contact_element import ContactElement
from varimech.model.trial import OUTPUT, posed_bodies, sample_coordinates
from varimech.testing import check_element

DIRECTIONS: dict[int, list[tuple[float, ...]]] = {
    2: [(0.6, 0.8)],
    3: [(0.48, 0.6, 0.64), (0.6, -0.8, 0.0)],
}
SPACES = [(kind, n) for kind in BUILT_IN for n in getattr(kind, "dimensions", (2, 3))]
JOINTS = [(kind, n) for kind, n in SPACES if issubclass(kind, el.Joint) and kind.kind != "clamp"]
each_kind = pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: kind.method())
each = pytest.mark.parametrize(("kind", "n"), SPACES, ids=str)
each_joint = pytest.mark.parametrize(("kind", "n"), JOINTS, ids=str)


def scene(n: int) -> Any:
    """Two bodies, a beam, and joints that turn and slide."""
    m = vm.Mechanism("scene", dimension=n)
    for name, x in (("O", 0.0), ("Q", 1.0)):
        m.ground_point(name, (x, 0.0, 0.0)[:n])
    inertia: Any = 0.1 if n == 2 else (0.1, 0.12, 0.15)
    for body, point in (("a", "A"), ("b", "B")):
        m.body(body, mass=1.0, inertia=inertia, points={point: (0.3, 0.1, 0.2)[:n]})
    m.beam("rod", "E", "F", segments=2, length=1.0, E=1e9, section=vm.circle(0.01), mass=0.1)
    axis: dict[str, Any] = {} if n == 2 else {"axis": (0, 0, 1)}
    m.revolute("hinge", "ground.O", "a.com", **axis)
    m.prismatic("guide", "ground.Q", "b.com", axis=DIRECTIONS[n][0])
    m.parameter("p", 0.7)
    return m


def arguments(kind: type[el.Element], n: int) -> dict[str, Any]:
    """Something for every argument that an element needs."""
    given: dict[str, Any] = {}
    directions = iter(DIRECTIONS[n] if kind.kind == "universal" else 2 * DIRECTIONS[n])
    points = iter(["ground.O", "rod.E"] if kind.kind == "clamp" else ["a.A", "b.B"])
    new = iter(["U", "V"])
    for field in kind.fields():
        name = field.name
        if isinstance(field, el.fields.Point):
            given[name] = next(points)
        elif isinstance(field, el.fields.NewPoint):
            given[name] = next(new)
        elif isinstance(field, el.fields.Angle):
            given[name] = "hinge"
        elif isinstance(field, el.fields.Displacement):
            given[name] = "guide"
        elif isinstance(field, el.fields.Rotating):
            given[name] = "a"
        elif isinstance(field, el.fields.StateFunction) and field.size == "scalar":
            output = "displacement" if name == "output" else "displacement_rate"
            given[name] = f"p*{output}('guide')"
        elif isinstance(field, el.fields.StateFunction) and field.size == "any":
            output = "velocity" if kind.kind == "velocity constraint" else "position"
            given[name] = [f"{output}('a.A')[0]", f"p*{output}('b.B')[1]"]
        elif isinstance(field, el.fields.StateFunction):
            components = ["p*t", "2.0", "t"][: 1 if n == 2 and field.size == "torque" else n]
            given[name] = components[0] if len(components) == 1 else components
        elif isinstance(field, el.fields.Inertia) and field.required:
            given[name] = 0.1 if n == 2 else (0.1, 0.12, 0.15)
        elif isinstance(field, el.fields.Direction) and field.like is None:
            given[name] = next(directions)
        elif isinstance(field, (el.fields.Scalar, el.fields.Motion)):
            given[name] = "p"
        elif isinstance(field, el.fields.Pair):
            given[name] = (0.1, "p")
        elif isinstance(field, el.fields.Whole):
            given[name] = 3
    if kind.kind == "revolute" and n == 3:
        given["axis"] = next(directions)
    if kind.kind == "rolling" and n == 3:
        given["axis"] = next(directions)
    if kind.kind == "stop":
        given["upper"] = "p"
    if kind.kind == "gear":
        given["ratio"] = "p"
    if kind.kind == "bushing":
        given |= {
            "stiffness": ("p", 2.0, 3.0)[:n],
            "rotational_damping": 0.1 if n == 2 else (0, "p", 1),
        }
    if kind.kind == "contact":
        given |= {"also": ["a.com"], "normal": DIRECTIONS[n][0]}
    if issubclass(kind, ContactElement):
        del given["damping"]  # needs a stiffness
        if n == 3:
            del given["friction"]  # that sticks needs a plane
    if kind.kind == "cam":
        given = {**{k: given[k] for k in ("first", "second")}, "profile": "p + 0.1*cos(u)"}
    if kind.kind == "curve contact":
        given = {k: given[k] for k in ("first", "second")}
        given |= {"first_curve": ["u", "-p*u**2"], "first_interval": [-1.0, 1.0]}
        given |= {"second_curve": [(0, "p"), (1, 0), (-1, 0)], "second_closed": True}
        given |= {"first_side": "right", "closure": "force", "restitution": "p"}
    if kind.kind == "point-on-curve":
        given |= {"body": "ground", "curve": ["u", "p*u**2", "u"][:n], "interval": [-1.0, 1.0]}
    if kind.kind == "mode":
        given["initial"] = 1.0
    if kind.kind == "pid":
        given["input"] = "p*t"
        del given["initial_input"]  # needs a filter time
    if kind.kind == "servo":
        given |= {"joint": "guide", "target": "p*t"}
    if kind.kind == "transfer function":
        given |= {"numerator": [1, "p"], "denominator": ["p", 2]}
    if kind.kind == "state space":
        given |= {"input": "p*t", "A": [["p", 1], [0, -2]], "B": [[0], ["p"]], "C": [[1, 0]]}
    if kind.kind == "bar" and n == 2:
        del given["radius"]
    if kind.kind == "beam":
        given |= {"section": vm.circle(0.01), "mass": 1.0, "length": 1.0}
    return given


def made(kind: type[el.Element], n: int) -> tuple[vm.Mechanism, Any]:
    m = scene(n)
    return m, getattr(m, kind.method())("it", **arguments(kind, n))


# --- every element


@each
def test_an_element_is_what_its_file_says(kind: type[el.Element], n: int, tmp_path: Path) -> None:
    m, _ = made(kind, n)
    again = vm.Mechanism.from_file(m.to_file(tmp_path / "m.yaml"))
    assert again.to_text() == m.to_text()
    assert kind.file_key() is None or f"{kind.file_key()}:" in m.to_text()
    sections = m.bodies, m.joints, m.forces, m.drivers
    assert sum("it" in section for section in sections) == 1


@each_kind
def test_a_method_has_the_fields_as_arguments(kind: type[el.Element]) -> None:
    method = getattr(vm.Mechanism, kind.method())
    written = [p.replace(annotation=p.empty) for p in inspect.signature(method).parameters.values()]
    assert written == list(kind.signature().parameters.values())
    for field in kind.fields():
        assert f"    {field.name}: " in method.__doc__


@each_kind
def test_a_value_cannot_be_changed(kind: type[el.Element]) -> None:
    _, element = made(kind, max(getattr(kind, "dimensions", (3,))))
    for field in kind.fields() if isinstance(element, el.Element) else ():
        with pytest.raises(AttributeError, match=f"{field.name} cannot be changed"):
            setattr(element, field.name, 1.0)


def test_methods_and_tables_are_those_of_the_fields() -> None:
    """`python tools/write_elements.py` writes them anew."""
    assert write_elements.METHODS.read_text(encoding="utf-8") == write_elements.methods_text()
    for page in write_elements.PAGES.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert write_elements.with_tables(text, BUILT_IN) == text, page.name


@each_kind
def test_arguments_are_on_a_page(kind: type[el.Element]) -> None:
    pages = [page.read_text(encoding="utf-8") for page in write_elements.PAGES.glob("*.md")]
    assert sum(f"<!-- arguments of {kind.method()} -->" in text for text in pages) == 1


# --- joints


@each
def test_elements_conform(kind: type[el.Element], n: int) -> None:
    m, element = made(kind, n)
    if not isinstance(element, el.Body):
        check_element(m, "it")
    if isinstance(element, el.Joint):
        assert (element.motion is None) == (kind.kind in ("distance", "clamp"))


@each_joint
def test_outputs_are_those_of_the_coordinates(kind: type[el.Joint], n: int) -> None:
    m, joint = made(kind, n)
    for name, output in (("angle", joint.angle()), ("slide", joint.displacement())):
        if output is not None and joint.motion is not None:
            z = sample_coordinates(joint.motion, 3)
            value = m.data.parameter_set.evaluate(output.value(posed_bodies(joint, z))).item()
            if name in joint.motion.names:
                exact = z[joint.motion.names.index(name)]
            else:  # a nut advances by its pitch of 0.7 m a turn
                assert isinstance(joint, Screw) and name == "slide"
                exact = 0.7 * z[0] / (2 * np.pi)
            assert value == pytest.approx(exact, abs=1e-12)


# --- elements of users


@pytest.fixture
def screw() -> Any:
    """The screw joint of the documentation, registered."""
    return runpy.run_path(str(DOCS / "lead_screw.py"))["LeadScrew"]


def test_the_screw_moves_as_its_conditions_say(screw: Any) -> None:
    m = scene(3)
    joint = m.lead_screw("it", "a.A", "b.B", axis=(0.48, 0.6, 0.64), pitch="p")
    assert isinstance(joint, screw)
    check_element(m, "it")


@pytest.mark.parametrize("cut", [(), ("thread",)])
def test_a_screw_closes_a_loop(screw: Any, cut: tuple[str, ...]) -> None:
    """A spindle that is turned drives a slide; the tree is cut at the screw, or elsewhere."""
    m: Any = vm.Mechanism("vice", dimension=3)
    m.ground_point("O", (0, 0, 0))
    m.body("spindle", mass=1.0, inertia=(0.1, 0.1, 0.1), points={"S": (0, 0, 0)})
    m.body("jaw", mass=2.0, inertia=(0.1, 0.1, 0.1), points={"J": (0, 0, 0)})
    m.revolute("bearing", "ground.O", "spindle.S", axis=(1, 0, 0))
    m.prismatic("bed", "ground.O", "jaw.J", axis=(1, 0, 0))
    m.lead_screw("thread", "spindle.S", "jaw.J", axis=(1, 0, 0), pitch=0.01)
    m.drive_angle("hand", "bearing", "20*t")
    m.start()
    runs = [m.simulate(1.0, coordinates=c) for c in ("natural", vm.Relative(cut=cut))]
    for run in runs:  # the jaw does not turn, so the screw turns backwards against the spindle
        travel = run.displacement("bed").values[-1]
        assert travel == pytest.approx(-20 * 0.01 / (2 * np.pi), abs=1e-9)


def test_what_is_registered_is_in_the_schema_and_has_a_method(screw: Any) -> None:
    assert screw in registered("joints")
    assert set(json_schema()["$defs"]["LeadScrewEntry"]["properties"]) == {
        "lead_screw", "axis", "axis_on_second", "pitch",
    }  # fmt: skip
    m = scene(3)
    assert "advance per turn (m)" in m.lead_screw.__doc__.lower()
    with pytest.raises(
        TypeError, match=r"lead_screw: has no argument 'lead'; call lead_screw\(name, first"
    ):
        m.lead_screw("it", "a.A", "b.B", axis=(0, 0, 1), lead=0.1)
    with pytest.raises(vm.ModelError, match=r"lead screw joint 'it': pitch = 0 must be positive"):
        m.lead_screw("it", "a.A", "b.B", axis=(0, 0, 1), pitch=0)
    with pytest.raises(AttributeError, match="has no attribute 'scrw'"):
        m.scrw("it")
    assert "it" not in m.joints


PRESS = """
varimech: 1
name: press
gravity: [0, 0, -9.81]
parameters: {pitch: 0.2 m}
ground: {O: [0, 0, 0]}
bodies:
  nut: {mass: 2.0, inertia: [0.01, 0.01, 0.005], points: {N: [0, 0, 0]}}
joints:
  thread: {lead_screw: [ground.O, nut.N], axis: [0, 0, 1], pitch: pitch}
start: {angle: {thread: 0.0}}
studies:
  objectives: {drop: {final: "displacement('thread')"}}
  sensitivity: {objectives: [drop], duration: 1.0}
"""


def test_commands_know_elements_of_installed_packages(tmp_path: Path) -> None:
    """A package is a module, and metadata with its entry point, on the path of Python."""
    metadata = tmp_path / "lead_screw-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: lead-screw\nVersion: 1.0\n", encoding="utf-8")
    entry = "[varimech.plugins]\nlead-screw = lead_screw\n"
    (metadata / "entry_points.txt").write_text(entry, encoding="utf-8")
    shutil.copy(DOCS / "lead_screw.py", tmp_path)
    (tmp_path / "press.yaml").write_text(PRESS, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])

    def command(*arguments: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "varimech", *arguments],
            env={**os.environ, "PYTHONPATH": path},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert "LeadScrewEntry" in command("schema")["$defs"]
    k = 2 * math.pi / 0.2
    a = 9.81 * 2.0 / (2.0 + 0.005 * k**2)  # m s̈ = −m g + τ k,  I k s̈ = −τ
    answer = command("sensitivity", "press.yaml", "--json")
    assert answer["objectives"]["drop"] == pytest.approx(-a / 2, rel=1e-6)
    exact = -(a**2) * 0.005 * k**2 / (9.81 * 2.0 * 0.2)
    assert answer["gradient"]["drop"]["pitch"] == pytest.approx(exact, rel=1e-5)


def test_a_file_with_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("varimech: 1\nname: m\njoints:\n  S: {lead_screw: [a, b]}\n", encoding="utf-8")
    with pytest.raises(vm.FileError, match=r"m.yaml:4: joints.S: .* is of no known kind"):
        vm.Mechanism.from_file(path)


class Gap(el.Joint):
    """Points that keep apart by a length along x."""

    kind = "gap"
    length = el.fields.Scalar("How far.", unit="m")

    def conditions(self) -> tuple[el.Condition, ...]:
        return (el.Separation(self.first, self.second, self.length),)


def test_a_joint_without_relative_motion_is_cut() -> None:
    vm.register(Gap)
    m: Any = vm.Mechanism("rods", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.body("a", mass=1.0, inertia=0.1, points={"A": (0, 0)})
    m.gap("rod", "ground.O", "a.A", length=1.0)
    m.start(position={"a.A": (0.6, None)}, angle={"a": 0.0}, near={"a.A": (0.6, -0.8)})
    assert "gap" in m.to_text()
    ends = [
        m.simulate(0.5, coordinates=c).position("a.A").values[-1]
        for c in ("natural", "rtdyn0", "rtdyn1")
    ]
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, atol=1e-6)
    assert [c.joint for c in m.topology().closures] == ["rod"]


def test_a_mechanism_takes_its_kinds_to_other_processes() -> None:
    vm.register(Gap)
    m = scene(2)
    m.gap("it", "a.A", "b.B", length=1.0)
    sent = pickle.dumps(m)
    registry.ELEMENTS.pop("gap")
    assert pickle.loads(sent).to_text() == m.to_text()


SCALAR = el.fields.Scalar("How far.")


def variant(base: type, **changes: Any) -> Any:
    """A class like `base` with other members."""
    return type("Odd", (base,), {"__doc__": "Odd.", "kind": "odd", **changes})


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (int, "it is not a subclass of one of"),
        (variant(el.Joint), "element 'Odd': cannot be registered: it lacks conditions"),
        (
            variant(el.Force),
            "it lacks one of potential_energy, efforts, constraints, velocity_constraints, rates",
        ),
        (variant(el.Driver), "it lacks output"),
        (variant(el.Driver, output=property(lambda self: None)), r"it lacks motion = .*Motion\("),
        (variant(Gap, kind="revolute"), "element 'revolute': is registered already"),
        (variant(Gap, kind=None), "it needs a name"),
        (variant(Gap, kind="simulate"), "kind = 'simulate' has another meaning: m.simulate"),
        (variant(Gap, kind="lambda"), "kind = 'lambda' has another meaning"),
        (variant(Gap, __doc__=None), "it needs a docstring"),
        (variant(Gap, symbol="blob"), "symbol = 'blob' is none of 'pin'"),
        (variant(Gap, angle=SCALAR), "field 'angle' hides"),
        (variant(Gap, size=el.fields.Scalar("")), "field 'size' needs a description"),
        (variant(Gap, size=el.fields.Scalar("Size.", rule="pos")), "'size' has rule = 'pos'"),
        (variant(Gap, size=el.fields.Scalar("Size.", unit="foo")), "'size' has unit = 'foo'"),
        (variant(Gap, to=el.fields.Direction("To.", of="no")), "'to' has of = 'no', which is no"),
        (variant(Gap, conditions=lambda self, x: ()), r"conditions\(\) must take \(self\)"),
        (variant(Gap, conditions=property(lambda self: ())), "conditions must be a method"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_a_kind_that_lacks_something_is_refused(kind: Any, words: str) -> None:
    before = registered()
    with pytest.raises(vm.ModelError, match=words):
        vm.register(kind)
    assert registered() == before


def test_a_kind_cannot_be_registered_twice() -> None:
    vm.register(Gap)
    with pytest.raises(vm.ModelError, match=r"'gap': is registered already \(test_elements.Gap\)"):
        vm.register(Gap)


def test_names_of_a_mechanism_are_reserved() -> None:
    names = {name for name in dir(vm.Mechanism("m")) if not name.startswith("_")}
    assert names - {*registry.ELEMENTS} <= registry.RESERVED and "simulate" in names


def test_what_is_registered_is_completed() -> None:
    m = vm.Mechanism("m")
    assert "gap" not in dir(m)
    vm.register(Gap)
    assert "gap" in dir(m)


class Loose(el.Condition):
    """Whatever it is told."""

    def __init__(self, value: Any, bodies: Any = ()):
        self.value, self.bodies = value, bodies

    def residuals(self, frames: Any) -> Any:
        return self.value(frames) if callable(self.value) else self.value

    def oriented(self) -> Any:
        return self.bodies


def sliding(z: Any) -> el.MotionFunctions:
    """A motion along x and about the point, with the DOF that one condition leaves."""
    return el.MotionFunctions({"u": "m", "φ": "rad"}, lambda z: z[1], lambda z: (z[0], 0))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"conditions": lambda self: None}, "Odd.conditions = None must be a list of conditions"),
        ({"conditions": lambda self: [1]}, r"conditions\[0\] = 1 must be a condition"),
        ({"conditions": lambda self: []}, "conditions must be one condition or more"),
        ({"conditions": lambda self: [Loose(3.0)]}, r"conditions\[0\] must have residuals"),
        ({"conditions": lambda self: [Loose(ca.SX(3.0))]}, r"\[0\] has an equation that no"),
        ({"conditions": lambda self: [Loose(0, None)]}, "conditions fails: TypeError: 'NoneType'"),
        ({"conditions": lambda self: [Loose(lambda f: f["no"])]}, "conditions fails: KeyError"),
        (
            {"conditions": lambda self: [Loose(lambda f: f[self.first.body].origin_rate)]},
            r"conditions\[0\] depends on velocities",
        ),
        ({"conditions": lambda self: self.nothing}, "fails: AttributeError: .* no attribute 'noth"),
        ({"relative_motion": lambda self: 3}, "relative_motion = 3 must be a RelativeMotion"),
        (
            {
                "relative_motion": lambda self: el.TurnAndSlide.of(
                    2, el.Turning.FREELY, el.Sliding.NOT
                )
            },
            "relative_motion has 1 DOF, but the 1 equations of its conditions leave 2",
        ),
        (
            {
                "relative_motion": lambda self: el.MotionFunctions(
                    {"x": "m"}, lambda z: z, lambda z: [z]
                )
            },
            r"the rotation has shape \(1, 1\) and the displacement 1 components",
        ),
        ({"relative_motion": sliding}, "relative_motion contradicts its conditions: their resid"),
        ({"angle": lambda self: 1.0}, "angle = 1.0 must be a Turn, or None"),
        ({"prepare": lambda self, model: 1 / 0}, "prepare fails: ZeroDivisionError"),
    ],
)
def test_a_joint_that_returns_something_else_is_refused(changes: Any, message: str) -> None:
    vm.register(variant(Gap, **changes))
    m = scene(2)
    with pytest.raises(vm.ModelError, match=message) as caught:
        m.odd("it", "a.A", "b.B", length=1.0)
    assert caught.value.element == "odd joint 'it'" and caught.value.field in changes
    assert "it" not in m.joints


def speed(frames: Any) -> Any:
    """Velocity of the centre of mass of body a."""
    body = next(body for body in frames if body.name == "a")
    return frames[body].velocity(body.points["com"].local)


def own(order: int) -> Any:
    return lambda self: [el.OwnCoordinate("z", order=order)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"efforts": lambda self, frames, state: None}, "efforts = None must be a list of pairs"),
        ({"efforts": lambda self, frames, state: [1]}, r"efforts\[0\] = 1 must be a pair"),
        (
            {"efforts": lambda self, frames, state: [(speed(frames), 1.0)]},
            r"efforts\[0\] has 2 rates and 1 efforts",
        ),
        (
            {"efforts": lambda self, frames, state: [(speed(frames) ** 3, (1, 2))]},
            r"efforts\[0\] has a rate that is not linear",
        ),
        (
            {
                "coordinates": own(1),
                "rates": lambda self, frames, state: [0.0],
                "efforts": lambda self, frames, state: [(state.state("z"), 1.0)],
            },
            r"efforts\[0\] has a rate that is not linear in the velocities of bodies",
        ),
        ({"efforts": lambda self, frames, state: {"b": 0}["a"]}, "efforts fails: KeyError: 'a'"),
        (
            {"potential_energy": lambda self, frames, state: vm.dot(speed(frames), speed(frames))},
            "potential_energy depends on velocities",
        ),
        (
            {"potential_energy": lambda self, frames, state: ca.SX.sym("x")},
            "potential_energy uses 'x' of another mechanism",
        ),
        ({"potential_energy": lambda self, frames, state: "x"}, "returned 'x', which is neither"),
        (
            {"constraints": lambda self, frames, state: speed(frames)[0]},
            "constraints depends on velocities",
        ),
        ({"constraints": lambda self, frames, state: 0.0}, "constraints has an equation that no"),
        ({"rates": lambda self, frames, state: [1.0]}, "rates has 1 values; its 0 first-order"),
        (
            {"coordinates": own(1), "rates": lambda self, frames, state: [(1.0, 2.0)]},
            r"rates\[0\] returned 2 components",
        ),
        ({"coordinates": own(3)}, r"coordinates\[0\] = .* must be an OwnCoordinate of order 1 or"),
        ({"coordinates": own(2)}, "has 'z' of order 2 with neither an inertia nor a constraint"),
        ({"bodies": property(lambda self: ["a"])}, r"bodies\[0\] = 'a' must be a body"),
        ({"drawn_as": lambda self: "cloud"}, "drawn_as = 'cloud' must be one of"),
    ],
)
def test_a_force_that_returns_something_else_is_refused(changes: Any, message: str) -> None:
    vm.register(variant(el.Force, **{"efforts": lambda self, frames, state: (), **changes}))
    m = scene(2)
    with pytest.raises(vm.ModelError, match=f"odd 'it': Odd.*{message}") as caught:
        m.odd("it")
    assert caught.value.field in changes and "it" not in m.forces


def test_a_force_may_be_alone() -> None:
    vm.register(variant(el.Force, potential_energy=lambda self, frames, state: state.time))
    m: Any = vm.Mechanism("nothing", dimension=2)
    m.odd("it")
    check_element(m, "it")


def test_every_element_of_a_kind_is_tried() -> None:
    def efforts(self: Any, frames: Any, state: Any) -> Any:
        return [(speed(frames), 1.0)] if self.name == "second" else []

    vm.register(variant(el.Force, efforts=efforts))
    m = scene(2)
    m.odd("first")
    with pytest.raises(vm.ModelError, match=r"odd 'second': .* has 2 rates and 1 efforts"):
        m.odd("second")


@pytest.mark.parametrize(
    "push", [(0.0, -1.0), [0.0, -1.0], vm.vector(0.0, -1.0), np.array([0, -1])]
)
@pytest.mark.parametrize("pairs", [list, tuple])
def test_values_may_have_any_form(push: Any, pairs: Any) -> None:
    """A constant force of 1 N down, on a mass of 2 kg: s = ½ (g + ½) t²."""

    class Push(el.Force):
        """A constant push."""

        kind = "push"
        point = el.fields.Point("Point.")

        def potential_energy(self, frames: Any, state: Any) -> Any:
            return 3.0

        def efforts(self, frames: Any, state: Any) -> Any:
            return pairs([(frames[self.point.body].velocity(self.point.local), push)])

    vm.register(Push)
    m: Any = vm.Mechanism("rail", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.body("b", mass=2.0, inertia=1.0, points={"B": (0, 0)})
    m.prismatic("rail", "ground.O", "b.B", axis=(0, -1))
    m.push("p", "b.B")
    m.start(displacement={"rail": 0.0})
    for coordinates in ("natural", "rtdyn0"):
        run = m.simulate(0.2, coordinates=coordinates)
        s = run.displacement("rail").values[-1]
        assert s == pytest.approx((9.81 + 0.5) * 0.2**2 / 2, rel=1e-9)


class Disc(el.BodyElement[Any]):
    """A disc by its radius."""

    kind = "disc"
    radius = el.fields.Scalar("Radius.", unit="m", rule="positive")
    mass = el.fields.Scalar("Mass.", unit="kg", rule="positive")

    def build(self, model: Any) -> Any:
        inertia = self.mass * self.radius**2 / 2
        return el.rigid_body(self, self.mass, inertia, {"com": vm.vector(0, 0)})


class Wind(el.Force):
    """A force on a body, all of whose arguments have names."""

    kind = "wind"
    force = el.fields.Scalar("Force along x.", unit="N")
    point = el.fields.Point("Point.", positional=False)

    def efforts(self, frames: Any, state: Any) -> Any:
        v = frames[self.point.body].velocity(self.point.local)
        return [(v[0], self.force)]


def test_an_element_may_have_arguments_with_names_only(tmp_path: Path) -> None:
    """½ m r² φ̈ + m r² φ̈ = F r: a disc that hangs at its rim in the wind."""
    vm.register(Disc)
    vm.register(Wind)
    m: Any = vm.Mechanism("disc", dimension=2)
    m.ground_point("O", (0, 0))
    m.disc("d", radius=0.1, mass=2.0)
    m.point("d", "rim", (0, 0.1))
    m.revolute("hinge", "ground.O", "d.rim")
    m.wind("w", force=3.0, point="d.com")
    m.start(angle={"d": 0.0})
    assert "d: {disc: null, radius: 0.1, mass: 2.0}" in m.to_text()
    assert set(json_schema()["$defs"]["DiscEntry"]["properties"]) == {"disc", "radius", "mass"}
    again = vm.Mechanism.from_file(m.to_file(tmp_path / "m.yaml"))
    assert again.to_text() == m.to_text()
    run = again.simulate(0.01)
    φ̈ = 3.0 * 0.1 / (1.5 * 2.0 * 0.1**2)
    assert run.angular_acceleration("d").values[0] == pytest.approx(φ̈, rel=1e-12)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda self, model: None, "Odd.build = None must be a body"),
        (lambda self, model: {"b": 0}["a"], "Odd.build fails: KeyError: 'a'"),
        (
            lambda self, model: el.RigidBody("x", 2, ca.SX(1), ca.SX([0, 0]), ca.SX(1)),
            "must be called 'it'",
        ),
        (
            lambda self, model: el.RigidBody("it", 2, ca.SX([1, 2]), ca.SX([0, 0]), ca.SX(1)),
            "Odd.build .*2 components",
        ),
    ],
)
def test_a_body_that_is_none_is_refused(build: Any, message: str) -> None:
    vm.register(variant(el.BodyElement, build=build))
    m = scene(2)
    with pytest.raises(vm.ModelError, match=message):
        m.odd("it")
    assert "it" not in m.bodies


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (None, "Odd.output = None must be a scalar output, with unit, points, bodies"),
        (type("Bad", (), {**dict.fromkeys(OUTPUT), "value": lambda *_: "x"})(), "returned 'x'"),
    ],
)
def test_a_driver_of_something_else_is_refused(output: Any, message: str) -> None:
    motion = el.fields.Motion("Motion.", unit="m")
    vm.register(variant(el.Driver, output=property(lambda self: output), motion=motion))
    with pytest.raises(vm.ModelError, match=message):
        scene(2).odd("it", "t")


class Lag(el.Force):
    """A torque on a joint that follows what is wanted with a delay."""

    kind = "slow torque"
    joint = el.fields.Angle("Joint that turns.")
    delay = el.fields.Scalar("Time to settle.", unit="s", rule="positive")
    wanted = el.fields.Scalar("Torque in the end.", unit="N·m")

    def coordinates(self) -> tuple[el.OwnCoordinate, ...]:
        return (el.OwnCoordinate(f"torque of {self.name}", unit="N·m"),)

    def efforts(self, frames: Any, state: Any) -> list[tuple[ca.SX, ca.SX]]:
        return [(self.joint.rate(frames), state.state(f"torque of {self.name}"))]

    def rates(self, frames: Any, state: Any) -> list[ca.SX]:
        return [(self.wanted - state.state(f"torque of {self.name}")) / self.delay]


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn0"])
def test_an_element_may_own_a_state(coordinates: str, tmp_path: Path) -> None:
    """I ω̇ = τ,  τ = τ₀ (1 − exp(−t/T))."""
    vm.register(Lag)
    m: Any = vm.Mechanism("wheel", dimension=2)
    m.parameter("T", 0.2, unit="s")
    m.ground_point("O", (0, 0))
    m.body("wheel", mass=1.0, inertia=0.5, points={"hub": (0, 0)})
    m.revolute("J", "ground.O", "wheel.hub")
    m.slow_torque("motor", "J", delay="T", wanted=2.0)
    m.start(angle={"J": 0.0})
    again = vm.Mechanism.from_file(m.to_file(tmp_path / "m.yaml"))
    t, T = 1.0, 0.2
    run = again.simulate(t, coordinates=coordinates)
    ω = 2.0 / 0.5 * (t - T * (1 - math.exp(-t / T)))
    assert run.angular_velocity("J").values[-1] == pytest.approx(ω, rel=1e-7)
    τ = run.state("torque of motor").values[-1]
    assert τ == pytest.approx(2.0 * (1 - math.exp(-t / T)), rel=1e-7)


def test_an_element_needs_a_rate_for_each_of_its_states() -> None:
    vm.register(type("Odd", (Lag,), {"__doc__": "Odd.", "kind": "odd", "rates": lambda *_: []}))
    with pytest.raises(vm.ModelError, match="has 0 values; its 1 first-order coordinates need"):
        made(registered("forces")[-1], 2)
