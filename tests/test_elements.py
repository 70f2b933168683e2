"""Every registered element keeps what an element promises; what users register is used like what is
built in, and refused where something is missing.
"""

from __future__ import annotations

import inspect
import math
import pickle
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
import write_elements
from markdown_pages import DOCS, blocks

import varimech as vm
from varimech import elements as el
from varimech.elements import registry
from varimech.elements.registry import BUILT_IN, registered
from varimech.elements.screw import Screw
from varimech.files.document import json_schema
from varimech.model.frame import Frame

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
    axis = {} if n == 2 else {"axis": (0, 0, 1)}
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
        elif isinstance(field, el.fields.StateFunction):
            components = ["p*t", "2.0", "t"][: 1 if n == 2 and field.size == "torque" else n]
            given[name] = components[0] if len(components) == 1 else components
        elif isinstance(field, el.fields.Inertia) and field.required:
            given[name] = 0.1 if n == 2 else (0.1, 0.12, 0.15)
        elif isinstance(field, el.fields.Direction) and field.like is None:
            given[name] = next(directions)
        elif isinstance(field, (el.fields.Scalar, el.fields.Motion)):
            given[name] = "p"
        elif isinstance(field, el.fields.Whole):
            given[name] = 3
    if kind.kind == "revolute" and n == 3:
        given["axis"] = next(directions)
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
    _, element = made(kind, 3)
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


def poses(m: vm.Mechanism, joint: Any, z: np.ndarray, ż: np.ndarray) -> dict[Any, Frame]:
    """Frames of two bodies, the second of which is where the joint's coordinates say."""
    n, rng = m.dimension, np.random.default_rng(5)
    turn = vm.rotation(None if n == 2 else rng.standard_normal(3), 0.7)
    o, R = ca.SX(rng.standard_normal(n)), turn
    relation = joint.motion.relation(ca.SX(z), ca.SX(ż))
    R2 = R @ relation.rotation
    x = o + R @ joint.first.local + R @ relation.displacement
    still, none = ca.SX.zeros(n), ca.SX.zeros(n, n)
    first, second = joint.bodies
    return {
        first: Frame(o, R, still, none),
        second: Frame(x - R2 @ joint.second.local, R2, still, none),
    }


def somewhere(motion: Any) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    z, ż = rng.uniform(-1, 1, (2, len(motion.names)))
    if motion.has_euler_parameters:
        z[:4] /= np.linalg.norm(z[:4]) * np.sign(z[np.abs(z[:4]).argmax()])
    return z, ż


def check_motion(m: vm.Mechanism, joint: Any) -> None:
    """Conditions hold wherever the coordinates are; coordinates are found from poses; rates are
    those of differences.
    """
    numbers = m.data.parameter_set
    z, ż = somewhere(joint.motion)
    broken = numbers.evaluate(joint.residuals(poses(m, joint, z, ż)))
    assert np.abs(broken).max() < 1e-13
    relation = joint.motion.relation(ca.SX(z), ca.SX(ż))
    C, d = (numbers.evaluate(x) for x in (relation.rotation, relation.displacement))
    geometry = numbers.evaluate_all(list(joint.motion.geometry))
    found = joint.motion.values(geometry, C, d.ravel())
    if joint.motion.has_euler_parameters:
        found[:4] *= np.sign(found[:4] @ z[:4])
    np.testing.assert_allclose(found, z, atol=1e-7)
    δ = 1e-6
    ahead, behind = (joint.motion.relation(ca.SX(z + s * δ * ż), ca.SX(ż)) for s in (1, -1))

    def slope(part: str) -> np.ndarray:
        one, other = (numbers.evaluate(getattr(r, part)) for r in (ahead, behind))
        return np.asarray((one - other) / (2 * δ))

    W, D = (numbers.evaluate(x) for x in (relation.axes, relation.directions))
    spin = slope("rotation") @ C.T
    ω = W @ ż if W.size else np.zeros(W.shape[0])
    skew = spin[1, 0] if m.dimension == 2 else [spin[2, 1], spin[0, 2], spin[1, 0]]
    if not joint.motion.has_euler_parameters:  # off unit length C is no rotation
        np.testing.assert_allclose(np.ravel(skew), ω, atol=1e-8)
    np.testing.assert_allclose(slope("displacement").ravel(), D @ ż, atol=1e-8)
    if W.size:
        rate = numbers.evaluate(relation.turning_rate).ravel()
        np.testing.assert_allclose(slope("axes") @ ż, rate, atol=1e-7)


@each_joint
def test_a_relative_motion_meets_the_conditions(kind: type[el.Joint], n: int) -> None:
    m, joint = made(kind, n)
    if joint.motion is None:
        assert kind.kind == "distance"
        return
    check_motion(m, joint)


@each_joint
def test_outputs_are_those_of_the_coordinates(kind: type[el.Joint], n: int) -> None:
    m, joint = made(kind, n)
    for name, output in (("angle", joint.angle()), ("slide", joint.displacement())):
        if output is not None and joint.motion is not None:
            z, ż = somewhere(joint.motion)
            value = m.data.parameter_set.evaluate(output.value(poses(m, joint, z, ż))).item()
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
    namespace: dict[str, Any] = {}
    exec(blocks(DOCS / "extending.md")[0][1], namespace)
    return namespace["LeadScrew"]


def test_the_screw_moves_as_its_conditions_say(screw: Any) -> None:
    m = scene(3)
    joint = m.lead_screw("it", "a.A", "b.B", axis=(0.48, 0.6, 0.64), pitch="p")
    assert isinstance(joint, screw)
    check_motion(m, joint)


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
        TypeError, match=r"lead_screw: has no argument 'lead'; say lead_screw\(name, first"
    ):
        m.lead_screw("it", "a.A", "b.B", axis=(0, 0, 1), lead=0.1)
    with pytest.raises(vm.ModelError, match=r"lead screw joint 'it': pitch = 0 must be positive"):
        m.lead_screw("it", "a.A", "b.B", axis=(0, 0, 1), pitch=0)
    with pytest.raises(AttributeError, match="has no attribute 'scrw'"):
        m.scrw("it")
    assert "it" not in m.joints


def test_a_file_with_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("varimech: 1\nname: m\njoints:\n  S: {lead_screw: [a, b]}\n", encoding="utf-8")
    with pytest.raises(vm.FileError, match=r"m.yaml:4: joints.S: .* does not say what it is"):
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
    registry._REGISTERED.pop("gap")
    assert pickle.loads(sent).to_text() == m.to_text()


def variant(base: type, **changes: Any) -> Any:
    """A class like `base` with other members."""
    return type("Odd", (base,), {"__doc__": "Odd.", "kind": "odd", **changes})


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (int, "int is not a subclass of one of"),
        (variant(el.Joint), r"Odd lacks conditions\(\)"),
        (
            variant(el.Force),
            r"Odd lacks potential_energy\(\), efforts\(\), constraints\(\) or rates\(\)",
        ),
        (variant(el.Driver), "Odd lacks output"),
        (variant(Gap, kind="revolute"), "an element 'revolute' is registered already"),
        (variant(Gap, kind=None), "Odd needs a name"),
        (variant(Gap, __doc__=None), "Odd needs a docstring"),
        (variant(Gap, symbol="blob"), "Odd has symbol = 'blob', which is none of 'pin'"),
        (variant(Gap, angle=el.fields.Scalar("How far.")), "field 'angle' of Odd hides"),
        (variant(Gap, size=el.fields.Scalar("")), "field 'size' of Odd needs a description"),
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
    with pytest.raises(vm.ModelError, match=r"'gap' is registered already \(test_elements.Gap\)"):
        vm.register(Gap)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"conditions": lambda self: []}, "conditions must return a tuple of conditions"),
        ({"relative_motion": lambda self: 3}, "relative_motion must return a RelativeMotion"),
        (
            {
                "relative_motion": lambda self: el.TurnAndSlide.of(
                    2, el.Turning.FREELY, el.Sliding.NOT
                )
            },
            "a motion with 2 DOF, as its 1 conditions leave, not 1",
        ),
        (
            {
                "relative_motion": lambda self: el.MotionFunctions(
                    {"x": "m"}, lambda z: z, lambda z: [z]
                )
            },
            r"the rotation has shape \(1, 1\) and the displacement 1 components",
        ),
        ({"angle": lambda self: 1.0}, "angle must return a Turn, or None"),
    ],
)
def test_a_joint_that_returns_something_else_is_refused(changes: Any, words: str) -> None:
    vm.register(variant(Gap, **changes))
    m = scene(2)
    with pytest.raises(vm.ModelError, match=words):
        m.odd("it", "a.A", "b.B", length=1.0)
    assert "it" not in m.joints


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"potential_energy": lambda self, frames, state: 0.0},
            "potential_energy must return a scalar",
        ),
        ({"efforts": lambda self, frames, state: [1]}, "efforts must return a list of pairs"),
        (
            {"efforts": lambda self, frames, state: [(ca.SX(1), ca.SX([1, 2]))]},
            "a rate and an effort with as many components",
        ),
    ],
)
def test_a_force_that_returns_something_else_is_refused(changes: Any, words: str) -> None:
    vm.register(variant(el.Force, **changes))
    with pytest.raises(vm.ModelError, match=f"odd 'it': Odd.*{words}"):
        scene(2).odd("it")


class Lag(el.Force):
    """A torque on a joint that follows what is wanted with a delay."""

    kind = "lag"
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
    m.lag("motor", "J", delay="T", wanted=2.0)
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
    with pytest.raises(vm.ModelError, match="a rate for each of its 1 first-order coordinates"):
        made(registered("forces")[-1], 2)
