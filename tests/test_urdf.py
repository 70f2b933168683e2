"""URDF files: the same mechanism by words, rotations by hand, closed loops, and files that are
refused.
"""

from __future__ import annotations

import builtins
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import add_body
from scipy.spatial.transform import Rotation

import varimech as vm

FILES = Path(__file__).parent / "data" / "urdf"
BAR = (
    "<inertial><origin xyz='0.5 0 0'/><mass value='1'/><inertia ixx='1e-3' ixy='0' ixz='0'"
    " iyy='0.1' iyz='0' izz='0.1'/></inertial>"
)


def turn(axis: str, angle: float) -> np.ndarray:
    """About a coordinate axis, by hand."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array(
        {
            "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
            "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        }[axis]
    )


def written(tmp_path: Path, body: str) -> Path:
    file = tmp_path / "robot.urdf"
    file.write_text(f"<robot name='r'>{body}</robot>", encoding="utf-8")
    return file


def double_pendulum() -> vm.Mechanism:
    """The file's mechanism in words, in the links' own frames."""
    m = vm.Mechanism("double pendulum", gravity=(0, 0, -9.81))
    elbow = turn("z", math.pi / 2) @ turn("x", 0.4)
    oblique = turn("z", 0.5) @ turn("y", -0.2) @ turn("x", 0.3)
    upper = np.array([[0.05, 0.004, -0.003], [0.004, 0.06, 0.002], [-0.003, 0.002, 0.03]])
    inertia = oblique @ upper @ oblique.T
    m.ground_point("S", (0, 0, 1))
    add_body(
        m, "upper", 2.0, (inertia + inertia.T) / 2, (0, 0.02, -0.4), S=(0, 0, 0), E=(0, 0.1, -0.8)
    )
    add_body(m, "lower", 1.5, (0.01, 0.02, 0.02), (0.3, 0, 0), E=(0, 0, 0), tool=(0.6, 0, 0))
    m.revolute("S", axis=(0, 1, 0))
    m.revolute("E", "upper.E", "lower.E", axis=elbow[:, 2], axis_on_second=(0, 0, 1))
    m.torsional_damper("bearing", "S", damping=0.1)
    return m


def test_a_double_pendulum_is_that_of_the_element_methods() -> None:
    first, second, rate = 1.0, 0.5, 1.0
    imported = vm.Mechanism.from_urdf(
        FILES / "double_pendulum.urdf",
        positions={"shoulder": first, "elbow": second},
        speeds={"elbow": rate},
    )
    stated = double_pendulum()
    R = turn("y", first)
    lower = R @ turn("z", math.pi / 2) @ turn("x", 0.4) @ turn("z", second)
    place = np.array([0, 0, 1]) + R @ (0, 0.1, -0.8)
    spun = np.cross(lower[:, 2] * rate, lower @ (0.6, 0, 0))
    stated.start(
        angle={"S": first},
        position={"tool": [None, (place + lower @ (0.6, 0, 0))[1], None]},
        near={"lower": lower, "upper": R},
        speed={"tool": [None, spun[1], None]},
    )
    runs = [m.simulate(0.4, step=0.005, integrator="rk4") for m in (imported, stated)]
    assert runs[0].position("tool").to_numpy() == pytest.approx(
        runs[1].position("tool").to_numpy(), abs=1e-11
    )
    assert runs[0].energy().to_numpy() == pytest.approx(runs[1].energy().to_numpy(), abs=1e-11)
    assert runs[0].reaction("shoulder").to_numpy() == pytest.approx(
        runs[1].reaction("S").to_numpy(), abs=1e-9
    )
    assert runs[0].angle("elbow").to_numpy()[0] == pytest.approx(second, abs=1e-14)
    assert np.ptp(runs[0].angle("elbow").to_numpy()) > 0.05


def test_masses_and_weights_of_a_random_arm_are_those_of_its_jacobians(tmp_path: Path) -> None:
    """M = Σ m Jvᵀ Jv + Jωᵀ I Jω and Q = −Σ m g ∂z/∂q, by hand from the frames of a file with
    nothing aligned; hinges and sliders in turn.
    """
    random, n = np.random.default_rng(4), 5
    numbers = random.uniform(-1, 1, (n, 5, 3))  # origin, rpy, axis, com, rpy of the inertia
    masses, moments = random.uniform(1, 2, n), random.uniform(1, 1.9, (n, 3))
    slides = [k % 3 == 1 for k in range(n)]

    def text(x: np.ndarray) -> str:
        return " ".join(map(repr, x.tolist()))

    body = "<link name='l0'/>"
    for k, (xyz, rpy, axis, com, turned) in enumerate(numbers):
        diagonal = " ".join(
            f"i{c}{c}='{x}'" for c, x in zip("xyz", moments[k].tolist(), strict=True)
        )
        body += (
            f"<link name='l{k + 1}'><inertial><origin xyz='{text(com)}' rpy='{text(turned)}'/><mass"
            f" value='{masses[k]}'/>"
        )
        body += f"<inertia {diagonal} ixy='0' ixz='0' iyz='0'/></inertial></link>"
        body += (
            f"<joint name='j{k + 1}' type='{'prismatic' if slides[k] else 'continuous'}'><parent"
            f" link='l{k}'/><child link='l{k + 1}'/>"
        )
        body += f"<origin xyz='{text(xyz)}' rpy='{text(rpy)}'/><axis xyz='{text(axis)}'/></joint>"
    q = random.uniform(-1, 1, n)
    m = vm.Mechanism.from_urdf(
        written(tmp_path, body), positions={f"j{k + 1}": x for k, x in enumerate(q)}
    )
    equations = m.equations(coordinates="rtdyn1")
    M, Q = (
        np.array(x)
        for x in equations.function(equations.q, equations.v, 0.0, equations.parameters)[:2]
    )
    assert equations.q == pytest.approx(q, abs=1e-12)

    R, p, M_hand, Q_hand = np.eye(3), np.zeros(3), np.zeros((n, n)), np.zeros(n)
    axes, places = [], []
    for k, (xyz, rpy, axis, com, turned) in enumerate(numbers):
        p, R = p + R @ xyz, R @ turn("z", rpy[2]) @ turn("y", rpy[1]) @ turn("x", rpy[0])
        a = axis / np.linalg.norm(axis)
        axes.append(R @ a)
        places.append(p)
        if slides[k]:
            p = p + q[k] * axes[-1]
        else:
            R = R @ Rotation.from_rotvec(q[k] * a).as_matrix()
        centre, own = (
            p + R @ com,
            R @ turn("z", turned[2]) @ turn("y", turned[1]) @ turn("x", turned[0]),
        )
        Jv, Jω = np.zeros((3, n)), np.zeros((3, n))
        for i in range(k + 1):
            Jv[:, i] = axes[i] if slides[i] else np.cross(axes[i], centre - places[i])
            Jω[:, i] = 0.0 if slides[i] else axes[i]
        M_hand += masses[k] * Jv.T @ Jv + Jω.T @ own @ np.diag(moments[k]) @ own.T @ Jω
        Q_hand -= masses[k] * 9.81 * Jv[2]
    assert pytest.approx(M_hand, abs=1e-12) == M
    assert Q.ravel() == pytest.approx(Q_hand, abs=1e-12)


def test_zeros_of_a_file_are_where_the_rotations_of_its_frames_put_them() -> None:
    m = vm.Mechanism.from_urdf(
        FILES / "double_pendulum.urdf", positions={"shoulder": -0.3, "elbow": 0.7}
    )
    run = m.simulate(0.01, step=0.01)
    R = turn("y", -0.3)
    tool = np.array([0, 0, 1]) + R @ (
        (0, 0.1, -0.8) + turn("z", math.pi / 2) @ turn("x", 0.4) @ turn("z", 0.7) @ (0.6, 0, 0)
    )
    assert run.position("tool").to_numpy()[0] == pytest.approx(tool, abs=1e-14)


def test_numbers_of_a_file_are_parameters_where_asked() -> None:
    kinds = ("mass", "com", "origin", "damping")
    m = vm.Mechanism.from_urdf(
        FILES / "double_pendulum.urdf", positions={"shoulder": 1.0}, parameters=kinds
    )
    assert {n: (p.value, p.unit) for n, p in m.parameters.items()} == {
        "upper.mass": (2.0, "kg"),
        "lower.mass": (1.5, "kg"),
        "upper.com.y": (0.02, "m"),
        "upper.com.z": (-0.4, "m"),
        "lower.com.x": (0.3, "m"),
        "shoulder.z": (1.0, "m"),
        "elbow.y": (0.1, "m"),
        "elbow.z": (-0.8, "m"),
        "flange.x": (0.6, "m"),
        "shoulder.damping": (0.1, "N·m·s/rad"),
    }
    height = {"height": vm.final(lambda s: s.position("tool")[2])}
    slope = m.sensitivity(
        height, ["elbow.z", "lower.mass"], duration=0.1, step=0.01
    ).gradient.to_numpy()[0]
    for name, computed in zip(("elbow.z", "lower.mass"), slope, strict=True):
        ends = [
            m.simulate(0.1, step=0.01, parameters={name: m.parameters[name].value + d})
            .position("tool")
            .to_numpy()[-1, 2]
            for d in (1e-5, -1e-5)
        ]
        assert computed == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)
    with pytest.raises(
        vm.ModelError,
        match="no kind of parameter of a URDF file is called 'masses'; did you mean 'mass'",
    ):
        vm.Mechanism.from_urdf(FILES / "double_pendulum.urdf", parameters=("masses",))


def test_a_loop_tag_closes_a_four_bar() -> None:
    imported = vm.Mechanism.from_urdf(
        FILES / "four_bar.urdf",
        gravity=(0, -9.81, 0),
        positions={"A": 1.0},
        speeds={"A": 2.0},
        near={"D": -0.1},
    )
    stated = vm.Mechanism("four-bar", gravity=(0, -9.81))
    stated.ground_point("A", (0, 0))
    stated.ground_point("D", (0.5, 0))
    bars = (
        ("crank", "AB", 0.2, 0.5, 0.1, 2e-3),
        ("coupler", "BC", 0.5, 1.0, 0.25, 2e-2),
        ("rocker", "DC", 0.4, 0.8, 0.2, 1e-2),
    )
    for name, ends, length, mass, com, inertia in bars:
        stated.bar(name, *ends, length=length, mass=mass, com=com, inertia=inertia)
    for name in "ABCD":
        stated.revolute(name)
    stated.start(angle={"crank": 1.0}, speed={"crank": 2.0}, near={"C": (0.5, 0.4)})
    assert imported.dofs == 1 and imported.topology().cut == ("C",)
    runs = [m.simulate(0.5, tolerance=1e-11, output=0.05) for m in (imported, stated)]
    assert runs[0].position("C").to_numpy()[:, :2] == pytest.approx(
        runs[1].position("C").to_numpy(), abs=1e-8
    )
    assert runs[0].angle("A").to_numpy() == pytest.approx(
        runs[1].angle("crank").to_numpy(), abs=1e-8
    )
    assert np.abs(runs[0].position("C").to_numpy()[:, 2]).max() < 1e-12


def test_prismatic_damping_and_masses_that_slide(tmp_path: Path) -> None:
    """A mass on a slope with damping c reaches v = g sin(α) m/c (1 − e^(−ct/m)), and pulls as much
    on what carries it.
    """
    α, c, t = 0.3, 2.0, 0.5
    file = written(
        tmp_path,
        f"<link name='rail'>{BAR}</link><link name='box'>{BAR}</link><joint name='slope'"
        " type='prismatic'><parent link='rail'/><child link='box'/><origin xyz='0.1 0 0' rpy='0"
        f" {α} 0'/><axis xyz='2 0 0'/><dynamics damping='{c}'/></joint>",
    )
    m = vm.Mechanism.from_urdf(file, positions={"slope": 0.2}, parameters="damping")
    run = m.simulate(t)
    exact = 9.81 * math.sin(α) / c * (1 - math.exp(-c * t))
    assert run.displacement_rate("slope").to_numpy()[-1] == pytest.approx(exact, rel=1e-7)
    assert run.displacement("slope").to_numpy()[0] == pytest.approx(0.2, abs=1e-14)
    along = np.array([math.cos(α), 0, -math.sin(α)])
    # what holds the rail carries both weights, less what accelerates the box
    held = run.reaction("rail.base").to_numpy()[-1]
    assert held == pytest.approx(
        np.array([0, 0, 2 * 9.81]) + (9.81 * math.sin(α) - c * exact) * along, rel=1e-6
    )


def test_planar_and_floating_joints(tmp_path: Path) -> None:
    ball = BAR.replace("0.5 0 0", "0 0 0")
    file = written(
        tmp_path,
        f"<link name='world'/><link name='puck'>{ball}</link><link name='ball'>{ball}</link><joint"
        " name='ice' type='planar'><parent link='world'/><child link='puck'/><origin xyz='0 0"
        " 1'/><axis xyz='0 0 1'/></joint><joint name='free' type='floating'><parent"
        " link='world'/><child link='ball'/><origin xyz='0 1 0' rpy='0 0 1'/></joint>",
    )
    places = {"ice": (0.1, 0.2, 0.3), "free": (1, 0, 0, 0.1, 0.2, 0.3)}
    m = vm.Mechanism.from_urdf(
        file, positions=places, speeds={"ice": (1.0, -2.0, 3.0), "free": (0, 0, 5, 0, 0, 2)}
    )
    run, t = m.simulate(0.4, output=0.2), 0.4
    assert run.position("puck.com").to_numpy()[-1] == pytest.approx(
        [0.1 + t, 0.2 - 2 * t, 1], abs=1e-9
    )
    assert run.angle("ice").to_numpy()[-1] == pytest.approx(0.3 + 3 * t, abs=1e-9)
    started = np.array([math.cos(1), 1 + math.sin(1), 0])
    assert run.position("ball.com").to_numpy()[0] == pytest.approx(started, abs=1e-12)
    assert run.position("ball.com").to_numpy()[-1, 2] == pytest.approx(
        5 * t - 9.81 * t**2 / 2, abs=1e-9
    )
    own = turn("z", 1) @ turn("z", 0.3) @ turn("y", 0.2) @ turn("x", 0.1) @ turn("z", -1)
    assert run.rotation("ball").to_numpy()[0] == pytest.approx(own, abs=1e-12)


def test_a_puck_and_a_ball_on_a_turntable_start_with_its_speed(tmp_path: Path) -> None:
    """Positions and speeds are those of the joints, on a parent that turns: velocities by
    differences of places by hand.
    """
    ball = BAR.replace("0.5 0 0", "0 0 0")
    file = written(
        tmp_path,
        f"<link name='world'/><link name='table'>{BAR}</link><link name='puck'>{ball}</link><link"
        f" name='ball'>{ball}</link><joint name='turn' type='continuous'><parent"
        " link='world'/><child link='table'/><axis xyz='0 0 1'/></joint><joint name='ice'"
        " type='planar'><parent link='table'/><child link='puck'/><axis xyz='0 0 1'/><origin"
        " xyz='0.3 0 1' rpy='0 0.2 0.5'/></joint><joint name='free' type='floating'><parent"
        " link='table'/><child link='ball'/><origin xyz='0 1 0' rpy='0.1 0.2 1'/></joint>",
    )
    places = {"turn": 0.4, "ice": (0.1, 0.2, 0.3), "free": (0.5, 0.1, 0.2, 0.1, 0.2, 0.3)}
    speeds = {"turn": 2.0, "ice": (1.0, -2.0, 3.0), "free": (1.0, 2.0, 3.0, 0.4, 0.5, 0.6)}
    run = vm.Mechanism.from_urdf(file, positions=places, speeds=speeds).simulate(1e-3, step=1e-3)

    def puck(t: float) -> np.ndarray:
        slid = turn("z", 0.5) @ turn("y", 0.2) @ (0.1 + t, 0.2 - 2 * t, 0)
        return np.asarray(turn("z", 0.4 + 2 * t) @ (np.array([0.3, 0, 1]) + slid))

    def thrown(t: float) -> np.ndarray:
        own = turn("z", 1) @ turn("y", 0.2) @ turn("x", 0.1) @ (0.5 + t, 0.1 + 2 * t, 0.2 + 3 * t)
        return np.asarray(turn("z", 0.4 + 2 * t) @ (np.array([0, 1, 0]) + own))

    for name, place in (("puck.com", puck), ("ball.com", thrown)):
        assert run.position(name).to_numpy()[0] == pytest.approx(place(0.0), abs=1e-12)
        assert run.velocity(name).to_numpy()[0] == pytest.approx(
            (place(1e-5) - place(-1e-5)) / 2e-5, abs=1e-8
        )
    assert run.angle("ice").to_numpy()[0] == pytest.approx(0.3) and run.angular_velocity(
        "ice"
    ).to_numpy()[0] == pytest.approx(3.0)
    spin = turn("z", 0.4) @ turn("z", 1) @ turn("y", 0.2) @ turn("x", 0.1) @ (0.4, 0.5, 0.6)
    assert run.angular_velocity("ball").to_numpy()[0] == pytest.approx(
        np.array([0, 0, 2]) + spin, abs=1e-12
    )


def test_links_without_mass_are_part_of_what_they_are_fixed_to(tmp_path: Path) -> None:
    """Above the body as well as below it: hinge – mount – bar – tip."""
    file = written(
        tmp_path,
        f"<link name='world'/><link name='mount'/><link name='bar'>{BAR}</link><link"
        " name='tip'/><joint name='hinge' type='revolute'><parent link='world'/><child"
        " link='mount'/><axis xyz='0 1 0'/></joint><joint name='screws' type='fixed'><parent"
        " link='mount'/><child link='bar'/><origin xyz='0.2 0 0'/></joint><joint name='glue'"
        " type='fixed'><parent link='bar'/><child link='tip'/><origin xyz='1 0 0'/></joint>",
    )
    m = vm.Mechanism.from_urdf(file)
    assert list(m.joints) == ["hinge"] and [b.name for b in m.data.moving_bodies] == ["bar"]
    run = m.simulate(0.01)
    assert run.position("tip").to_numpy()[0] == pytest.approx([1.2, 0, 0], abs=1e-15)
    # α = m g d / (I + m d²)
    assert run.angular_acceleration("hinge").to_numpy()[0] == pytest.approx(
        9.81 * 0.7 / (0.1 + 0.7**2), rel=1e-12
    )


LINKS = f"<link name='world'/><link name='a'>{BAR}</link><link name='b'>{BAR}</link>"
HINGE = "<joint name='{0}' type='{3}'><parent link='{1}'/><child link='{2}'/>{4}</joint>"
BOMB = (
    "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'>"
    + "".join(
        f"<!ENTITY {y} '{f'&{x};' * 10}'>" for x, y in zip("abcdefghi", "bcdefghij", strict=True)
    )
    + "]>"
)


def hinge(name: str, parent: str, child: str, kind: str = "continuous", more: str = "") -> str:
    return HINGE.format(name, parent, child, kind, more)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (LINKS + hinge("j", "world", "a", "ball"), "joint 'j': no type of joint is called 'ball'"),
        (LINKS + hinge("j", "world", "c"), "joint 'j': no link is called 'c'"),
        (LINKS + hinge("j", "world", "a"), "no joint leads to links 'world', 'b'"),
        (
            LINKS + hinge("j", "world", "a") + hinge("k", "world", "a"),
            "link 'a': is the child of joints 'j' and 'k'; close loops by",
        ),
        (LINKS + hinge("j", "a", "b") + hinge("k", "b", "a"), "joints 'j', 'k' form a cycle"),
        (
            LINKS + hinge("j", "a", "b") + hinge("k", "b", "a") + hinge("l", "b", "world"),
            "every link is the child",
        ),
        (
            "<link name='world'/><link name='a'/>" + hinge("j", "world", "a"),
            "link 'a': has no mass, and joint 'j' lets it move",
        ),
        (LINKS + hinge("j", "world", "a", more="<mimic joint='k'/>"), "joint 'j': mimics 'k'"),
        (
            LINKS + hinge("j", "world", "a", more="<dynamics friction='0.2'/>"),
            "joint 'j': friction = 0.2 is not supported",
        ),
        (
            LINKS + hinge("j", "world", "a", "planar", "<dynamics damping='0.2'/>"),
            "damping = 0.2 of a planar joint is not supported",
        ),
        (
            LINKS + hinge("j", "world", "a", more="<axis xyz='0 0 0'/>"),
            "joint 'j': axis = .* is a zero vector",
        ),
        (
            LINKS + hinge("j", "world", "a", more="<origin xyz='0 nan 0'/>"),
            "joint 'j': origin = .* three finite numbers",
        ),
        (LINKS + hinge("j", "world", "a", more="<origin xyz='0 0'/>"), "not a valid URDF file"),
        (
            LINKS + "<joint name='j' type='fixed'><parent link='a'/></joint>",
            "not a valid URDF file",
        ),
        (LINKS + "<link name='a'/>", "2 links are called 'a'"),
        ("", "there are no links"),
        (LINKS.replace("'b'", "'ground'") + hinge("j", "world", "a"), "link 'ground': has a mass"),
        (
            LINKS.replace("<mass value='1'/>", "<mass value='-1'/>"),
            "link 'a': mass = -1\\.0 kg must be positive",
        ),
        (
            LINKS.replace("value='1'", "value='0'")
            + hinge("j", "world", "a")
            + hinge("k", "a", "b"),
            "link 'a': mass = 0\\.0 kg",
        ),
        (
            LINKS.replace("izz='0.1'", "izz='9'") + hinge("j", "world", "a") + hinge("k", "a", "b"),
            "(?s)link 'a': .*no body can have",
        ),
        (
            LINKS + hinge("a", "world", "a") + hinge("k", "a", "b"),
            "joint 'a': the name 'a' is already used",
        ),
        (
            LINKS + hinge("j", "world", "a") + "<loop_joint name='l' type='screw'/>",
            "loop_joint 'l': no type of loop joint is called 'screw'",
        ),
        (
            LINKS + "<loop_joint name='l' type='fixed'><link1 link='a'/></loop_joint>",
            "loop_joint 'l': <link2> is missing; add <link2 link=",
        ),
        (
            LINKS + "<loop_joint name='l' type='fixed'><link1 link='a' xyz='1 2'/></loop_joint>",
            "link1: xyz = '1 2' must be three",
        ),
        (
            LINKS + "<loop_joint name='l' type='fixed'><link1 link='c'/></loop_joint>",
            "loop_joint 'l': no link is called 'c'",
        ),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path: Path, body: str, message: str) -> None:
    file = written(tmp_path, body)
    with pytest.raises(vm.ModelError, match=message) as caught:
        vm.Mechanism.from_urdf(file)
    assert str(caught.value).startswith(str(file))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not XML"),
        ("<robot><link></robot>", "is not XML: mismatched tag: line 1"),
        ("<sdf/>", "root tag is <sdf>"),
        (f"{BOMB}<robot name='&j;'/>", "line 1: a DOCTYPE can declare entities"),
        (
            "<!DOCTYPE r [<!ENTITY e SYSTEM 'file:///etc/hostname'>]><robot name='&e;'/>",
            "a DOCTYPE can declare entities",
        ),
        ("<a>" * 100_000 + "</a>" * 100_000, "is nested more than 64 deep"),
    ],
)
def test_hostile_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(vm.ModelError, match=message):
        vm.Mechanism.from_urdf(file)


def test_files_that_are_missing_or_huge(tmp_path: Path) -> None:
    with pytest.raises(vm.ModelError, match=r"nothing\.urdf: cannot be read: No such file"):
        vm.Mechanism.from_urdf(tmp_path / "nothing.urdf")
    with (tmp_path / "huge.urdf").open("wb") as file:
        file.truncate(10**9)
    with pytest.raises(vm.ModelError, match="larger than the limit of 16,777,216 bytes"):
        vm.Mechanism.from_urdf(tmp_path / "huge.urdf")
    many = written(tmp_path, "".join(f"<link name='{k}'/>" for k in range(200_000)))
    with pytest.raises(vm.ModelError, match="200,000 links exceed the limit"):
        vm.Mechanism.from_urdf(many)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"positions": {"elbo": 1.0}},
            "no joint in positions is called 'elbo'; did you mean 'elbow'",
        ),
        ({"positions": {"elbow": (1.0, 2.0)}}, "a continuous joint has 1 DOF"),
        ({"positions": {"elbow": "up"}}, "a continuous joint has 1 DOF"),
        ({"speeds": {"flange": 1.0}}, "a fixed joint has 0 DOF"),
        ({"near": {"elbow": 1.0}}, "near = {'elbow': 1.0} has no effect without loops"),
        ({"gravity": (0, -9.81)}, "gravity"),
    ],
)
def test_bad_starts_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(vm.ModelError, match=message):
        vm.Mechanism.from_urdf(FILES / "double_pendulum.urdf", **words)


def test_speeds_of_joints_that_a_loop_moves_are_refused() -> None:
    with pytest.raises(vm.ModelError, match="'B' has a speed but no position"):
        vm.Mechanism.from_urdf(FILES / "four_bar.urdf", positions={"A": 1.0}, speeds={"B": 1.0})


def test_without_the_parser_the_remedy_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("urdf_parser_py"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(vm.ModelError, match=r"pip install 'varimech\[urdf\]'"):
        vm.Mechanism.from_urdf(FILES / "double_pendulum.urdf")
