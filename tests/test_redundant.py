"""Redundant constraints: reactions of least norm whatever the units, origin and coordinates; what
is not unique is named; Hessians exist.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from typer.testing import CliRunner

import varimech as vm
from varimech.cli.app import app
from varimech.coordinates.least_norm import Balance

Array = np.ndarray
SHARED = pytest.mark.filterwarnings("ignore::varimech.RedundantReactionWarning")
HINGES = ["J0", "J1", "J2"]
COORDINATES = ("natural", "rtdyn0", "rtdyn1")


def triple(mass: float = 2.0, **gravity: Any) -> vm.Mechanism:
    """Three equal cranks and a plate: with the same loads in all of them."""
    m = vm.Mechanism("triple", gravity=(0, -9.81))
    plate = m.parameter("mass", mass)
    for i in range(3):
        m.ground_point(f"A{i}", (i, 0))
        m.bar(f"c{i}", f"A{i}", f"B{i}", length=1.0, mass=1.0)
    m.bar("plate", "B0", "B2", length=2.0, mass=plate, points={"B1": (1.0, 0)})
    for i in range(3):
        m.revolute(f"A{i}")
        m.revolute(f"B{i}")
    m.start(angle={"c0": -0.8}, near={f"c{i}": -0.8 for i in range(3)})
    return m


def door(
    seed: int,
    length: float = 1.0,
    mass: float = 1.0,
    time: float = 1.0,
    origin: tuple[float, ...] = (0, 0, 0),
    hinges: int = 3,
    *,
    upright: bool = False,
) -> vm.Mechanism:
    """A body of random shape on hinges along one axis, in units so many times smaller than metre,
    kilogram and second, and somewhere.
    """
    rng = np.random.default_rng(seed)
    axis = np.array([0, 0, 1.0]) if upright else rng.standard_normal(3)
    axis /= np.linalg.norm(axis)
    places = np.sort(rng.uniform(-1, 1, hinges))[:, None] * axis
    com, at = rng.standard_normal(3), np.array(origin)
    m = vm.Mechanism("door", gravity=tuple(rng.standard_normal(3) * 9.81 * length / time**2))
    ρ = m.parameter("heavier", 1.0)
    inertia = rng.uniform(0.5, 0.6, 3) * mass * length**2
    points = {f"H{k}": tuple(length * place) for k, place in enumerate(places)}
    m.body(
        "leaf",
        mass=mass * (1 + rng.uniform()) * ρ,
        inertia=tuple(inertia),
        com=tuple(length * com),
        points=points,
    )
    for k, place in enumerate(places):
        m.ground_point(f"G{k}", tuple(length * (place + at)))
        m.revolute(f"J{k}", f"ground.G{k}", f"leaf.H{k}", axis=tuple(axis))
    m.start(angle={"J0": 0.3}, speed={"J0": 0.7 / time})
    return m


def four_hinges(seed: int) -> vm.Mechanism:
    """A planar loop of spatial bodies with random masses, centres of mass and inclination of the
    axes.
    """
    rng = np.random.default_rng(seed)
    m = vm.Mechanism("loop", gravity=tuple(9.81 * rng.standard_normal(3)))
    tilt = 0.4 * rng.uniform()
    m.ground_point("A", (0, 0, 0))
    m.ground_point("D", (2.0, 0, 0))
    span = m.parameter("span", 1.5)
    for name, p, q, length in (
        ("crank", "A", "B", 0.5),
        ("coupler", "B", "C", span),
        ("rocker", "D", "C", 1.2),
    ):
        com = tuple(rng.uniform(0.1, 0.4, 3))
        m.body(
            name,
            mass=rng.uniform(0.5, 2),
            inertia=(0.1, 0.2, 0.2),
            com=com,
            points={p: (0, 0, 0), q: (length, 0, 0)},
        )
    for name in "ABCD":
        m.revolute(name, axis=(0, -np.sin(tilt), np.cos(tilt)))
    m.start(angle={"A": 1.0}, speed={"A": 1.0}, near={"C": (1.5, 1, 0)})
    return m


def ended(m: vm.Mechanism, **options: Any) -> vm.Run:
    return m.simulate(**{"duration": 0.2, "step": 0.05, **options})


def loads(run: vm.Run, joints: list[str]) -> Array:
    """Forces and torques at the end, (joint, 6)."""
    results = [(run.reaction(j).values[-1], run.reaction_torque(j).values[-1]) for j in joints]
    return np.array([np.concatenate(pair) for pair in results])


def final_force(joint: str, component: int) -> vm.Objective:
    return vm.final(lambda s: s.reaction(joint)[component])


# the least norm, computed independently


def axis_of(m: vm.Mechanism, joint: str) -> Array:
    axis = m.data.joints[joint].values["axis"]
    assert axis is not None
    return m.data.parameter_set.evaluate(axis.direction).ravel()


def length(m: vm.Mechanism, ends: list[tuple[str, str]]) -> float:
    """ℓ, from the ends of all joints: body and point."""
    arms = [
        m.data.find_point(f"{b}.{p}").local - m.data.find_rigid_body(b, "arm").com for b, p in ends
    ]
    return float(
        np.sqrt(np.mean([np.sum(m.data.parameter_set.evaluate(arm) ** 2) for arm in arms]))
    )


def balanced_loads(
    run: vm.Run, joints: dict[str, tuple[str | None, str, str]], axis: Array, ℓ: float
) -> Array:
    """Of least norm, by NumPy alone: F and T of each hinge (no torque along its axis) that balance
    every body, whose inertial and applied wrenches are those of one solution. `joints`: name →
    first body, second body, point.
    """
    given = loads(run, list(joints))
    bodies = sorted(
        {b for first, second, _ in joints.values() for b in (first, second) if b is not None}
    )
    across = np.linalg.svd(axis[None])[2][1:]  # torques without a part along the axis
    place = {p: run.position(p).values[-1] for _, _, p in joints.values()}
    J = np.zeros((6 * len(bodies), 5 * len(joints)))
    wrench = np.zeros(6 * len(bodies))
    for k, (first, second, point) in enumerate(joints.values()):
        r = place[point]
        cross = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        block = np.block([[np.eye(3), np.zeros((3, 2))], [cross, ℓ * across.T]])
        for body, sign in ((first, -1), (second, 1)):
            if body is not None:
                rows = slice(6 * bodies.index(body), 6 * bodies.index(body) + 6)
                J[rows, 5 * k : 5 * k + 5] += sign * block
                wrench[rows] += sign * np.concatenate(
                    [given[k, :3], given[k, 3:] + np.cross(r, given[k, :3])]
                )
    assert np.linalg.matrix_rank(J, tol=1e-8) < J.shape[1]
    computed = np.linalg.lstsq(J, wrench, rcond=1e-10)[0].reshape(-1, 5)
    return np.hstack([computed[:, :3], ℓ * computed[:, 3:] @ across])


@SHARED
@pytest.mark.parametrize("seed", range(2))
def test_reactions_of_a_door_are_of_least_norm(seed: int) -> None:
    m = door(seed)
    run = ended(m)
    model = m.data
    joints: dict[str, tuple[str | None, str, str]] = {
        f"J{k}": (None, "leaf", f"leaf.H{k}") for k in range(3)
    }
    expected = balanced_loads(
        run, joints, axis_of(m, "J0"), length(m, [("leaf", f"H{k}") for k in range(3)])
    )
    np.testing.assert_allclose(
        loads(run, list(joints)), expected, rtol=0, atol=1e-11 * np.abs(expected).max()
    )
    # the balance itself: together the hinges carry the weight and the inertia
    mass = float(model.parameter_set.evaluate(model.find_rigid_body("leaf", "mass").mass).item())
    g, a = (
        model.parameter_set.evaluate(model.gravity).ravel(),
        run.acceleration("leaf.com").values[-1],
    )
    np.testing.assert_allclose(
        loads(run, list(joints))[:, :3].sum(axis=0), mass * (a - g), rtol=0, atol=1e-10 * mass
    )


@SHARED
@pytest.mark.parametrize("seed", range(2))
def test_reactions_of_a_loop_are_of_least_norm(seed: int) -> None:
    m = four_hinges(seed)
    run, ends = (
        ended(m),
        [*zip(("crank", "crank", "coupler", "coupler", "rocker", "rocker"), "ABBCCD", strict=True)],
    )
    joints = {
        name: (
            None if j.bodies[0].is_ground else j.bodies[0].name,
            j.bodies[1].name,
            f"{j.bodies[1].name}.{name}",
        )
        for name, j in m.data.joints.items()
    }
    computed, expected = (
        loads(run, list(joints)),
        balanced_loads(run, joints, axis_of(m, "A"), length(m, ends)),
    )
    np.testing.assert_allclose(computed, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@SHARED
@pytest.mark.parametrize("origin", [(0, 0, 0), (30, -20, 50)], ids=["here", "elsewhere"])
@pytest.mark.parametrize(
    ("length", "mass", "time"), [(1e3, 1, 1), (1e-3, 1e3, 10), (1e-6, 1e-9, 1e3)]
)
def test_units_and_origin_do_not_matter(
    length: float, mass: float, time: float, origin: tuple[float, ...]
) -> None:
    computed = loads(ended(door(7)), HINGES)
    run = ended(door(7, length, mass, time, origin), duration=0.2 * time, step=0.05 * time)
    force = mass * length / time**2
    others = loads(run, HINGES) / np.array([force] * 3 + [force * length] * 3)
    np.testing.assert_allclose(others, computed, rtol=0, atol=1e-9 * np.abs(computed).max())


@SHARED
def test_coordinates_do_not_matter() -> None:
    results = [
        loads(
            ended(four_hinges(0), coordinates=c, duration=0.03, tolerance=1e-11, step=None),
            list("ABCD"),
        )
        for c in COORDINATES
    ]
    for others in results[1:]:
        np.testing.assert_allclose(
            others, results[0], rtol=0, atol=1e-10 * np.abs(results[0]).max()
        )


@SHARED
@pytest.mark.parametrize("method", ["direct", "adjoint", "finite-difference"])
def test_equal_cranks_carry_equal_loads(method: str) -> None:
    """By symmetry all three do, and their derivatives; differences lose eight digits or so."""
    named = {f"A{i}": final_force(f"A{i}", 0) for i in range(3)}
    g = triple().sensitivity(named, ["mass"], duration=0.6, tolerance=1e-12, method=method)
    np.testing.assert_allclose(g.values, g.values.values.mean(), rtol=1e-12)
    derivatives = g.gradient.values.ravel()
    np.testing.assert_allclose(
        derivatives, derivatives.mean(), rtol=1e-12 if method != "finite-difference" else 1e-8
    )
    exact = (
        triple().sensitivity(named, ["mass"], duration=0.6, tolerance=1e-12).gradient.values.ravel()
    )
    np.testing.assert_allclose(
        derivatives, exact, rtol=1e-10 if method != "finite-difference" else 1e-8
    )


@SHARED
def test_the_metric_follows_the_parameters() -> None:
    """Derivatives of reactions are those of runs at other values, away from the nominal one."""
    m = four_hinges(1)
    base = loads(ended(m, parameters={"span": 1.45}), list("ABCD"))
    h = 1e-5
    up, down = (loads(ended(m, parameters={"span": 1.45 + x}), list("ABCD")) for x in (h, -h))
    named = {j: final_force(j, 2) for j in "ABCD"}
    g = m.sensitivity(named, ["span"], parameters={"span": 1.45}, duration=0.2, step=0.05)
    np.testing.assert_allclose(g.values, base[:, 2], rtol=1e-12)
    np.testing.assert_allclose(
        g.gradient.values.ravel(), (up - down)[:, 2] / (2 * h), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("tilt", [0.0, 1e-3, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_redundancy_may_end(seed: int, tilt: float) -> None:
    """Rows that depend on others at one position, and do not at another: of all solutions the
    shortest in the metric, by NumPy.
    """
    rng = np.random.default_rng(seed)
    B, C, more, N = (
        rng.standard_normal((4, 7)),
        rng.standard_normal((3, 4)),
        rng.standard_normal((3, 7)),
        rng.uniform(1, 2, 7),
    )
    J = np.vstack([B, C @ B + tilt * np.diag([1, 0, 1.0]) @ more])
    u = J.T @ rng.standard_normal(7)
    balance = Balance(ca.SX(J), ca.SX(u), ca.SX.ones(7), ca.SX(N), [ca.SX(ca.diag(N))])
    computed = np.array(ca.DM(balance.solve([4, 5, 6]))).ravel()
    scale = 1 / np.sqrt(N)
    expected = scale * np.linalg.lstsq((J.T * scale), u, rcond=1e-9)[0]
    np.testing.assert_allclose(computed, expected, rtol=0, atol=1e-12 if not tilt else 1e-7)


# what is not unique is named


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_who_shares_what(coordinates: str) -> None:
    m = door(3, hinges=2, upright=True)
    run = ended(m, coordinates=coordinates)
    with pytest.warns(
        vm.RedundantReactionWarning,
        match=r"not unique: reaction of 'J0'.*5 redundant.*'J0' \(force x, y, z, torque",
    ):
        force = run.reaction("J0")
    assert force.attrs["not_unique"] == "x, y, z"
    assert "'J1'" in run.redundant_reactions
    unique = run.measure(lambda s: s.reaction("J0") + s.reaction("J1"))  # warnings are errors
    assert unique.shape == (run.time.size, 3)
    with pytest.warns(vm.RedundantReactionWarning, match="output 'output'"):
        run.measure('reaction("J0")[0]')


def test_only_what_is_shared_is_named() -> None:
    """A pendulum on a door: its own joint is unique."""
    m = door(3, hinges=2)
    m.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0, 0, -0.5), points={"O": (0, 0, 0)})
    m.spherical("ball", "leaf.H1", "bob.O")
    m.start(angle={"J0": 0.3}, orientation={"bob": np.eye(3)})
    run = ended(m)
    assert not run.reaction("ball").attrs.get("not_unique")
    assert "ball" not in run.redundant_reactions
    single = ended(door(3, hinges=1))
    assert single.redundant_reactions == "" and "not_unique" not in single.reaction("J0").attrs


def test_objectives_reports_and_files_name_it(tmp_path: Path) -> None:
    m = door(3, hinges=2)
    options: dict[str, Any] = {"duration": 0.1, "step": 0.05}
    both = vm.final(lambda s: s.reaction("J0")[0] + s.reaction("J1")[0])
    assert m.sensitivity({"both": both}, "heavier", **options).not_unique == ()
    named = {"one": vm.final(lambda s: s.reaction("J0")[0]), "both": both}
    for ask in (m.sensitivity, m.hessian):
        with pytest.warns(
            vm.RedundantReactionWarning, match=r"not unique: 'one'\. mechanism 'door'"
        ) as caught:
            computed = ask(named, "heavier", **options)
        assert {warning.filename for warning in caught} == {__file__}  # the line of the call
    with pytest.warns(vm.RedundantReactionWarning):
        g = m.sensitivity(named, "heavier", **options)
    assert g.not_unique == ("one",) and "not unique: 'one'" in repr(g)
    assert "not unique: &#x27;one&#x27;" in vm.report(tmp_path / "page.html", g).read_text(
        encoding="utf-8"
    )
    loaded = vm.load_run(g.run.save(tmp_path / "run.nc"))
    assert loaded.redundant_reactions == g.run.redundant_reactions != ""
    assert loaded.dataset["reaction"].attrs["note"] == loaded.redundant_reactions
    with pytest.warns(vm.RedundantReactionWarning, match="'J1'"):
        assert loaded.reaction("J1").attrs["not_unique"]
    assert computed is not None


@SHARED
def test_commands_name_it(tmp_path: Path) -> None:
    path = tmp_path / "triple.yaml"
    triple().to_file(path)
    text = path.read_text(encoding="utf-8")
    path.write_text(
        f"{text}\nstudies:\n  objectives:\n    force: {{final: 'reaction(\"A1\")[0]', unit: N}}\n",
        encoding="utf-8",
    )
    result = CliRunner().invoke(app, ["sensitivity", str(path), "--duration", "0.05", "--json"])
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["not_unique"]["objectives"] == ["force"]
    assert "'A1' (force x, y)" in data["not_unique"]["redundant_reactions"]


def test_loops_that_are_rounding_are_refused() -> None:
    """Hinges on an inclined axis: in relative coordinates nothing is left of the second one but
    rounding.
    """
    with pytest.raises(vm.ModelError, match="use coordinates='natural'"):
        ended(door(3, hinges=2), coordinates="rtdyn1")


# second derivatives


MODELS: dict[str, Callable[[], vm.Mechanism]] = {
    "door": lambda: door(5, upright=True),
    "loop": lambda: four_hinges(2),
    "triple": triple,
}


@pytest.mark.parametrize(
    ("name", "method"), [("door", "forward"), ("loop", "forward"), ("triple", "backward")]
)
def test_second_derivatives(name: str, method: str) -> None:
    """Against central differences of exact gradients, and the same in relative coordinates."""
    m = MODELS[name]()
    parameter = next(iter(m.parameters))
    point = {"door": "leaf.com", "loop": "coupler.com", "triple": "B1"}[name]
    named = {
        "speed": vm.final(lambda s: s.velocity(point)[0]),
        "way": vm.integral(lambda s: vm.dot(s.velocity(point), s.velocity(point))),
    }
    options: dict[str, Any] = {"duration": 0.1, "tolerance": 1e-10}
    H = m.hessian(named, method=method, **options)
    h, value = 1e-4, m.parameters[parameter].value
    same: dict[str, Any] = {
        "duration": 0.1,
        "ends": H.run.step_ends,
        "output": 0.1,
    }
    down, up = (
        m.sensitivity(named, parameters={parameter: value + x}, **same).gradient.values[:, 0]
        for x in (-h, h)
    )
    differences = (up - down) / (2 * h)
    largest = np.abs(H.curvatures).max()
    np.testing.assert_allclose(H.curvatures[:, 0, 0], differences, rtol=0, atol=1e-6 * largest)
    assert largest > 1e-4
    if name != "triple":
        relative = m.hessian(named, method=method, coordinates="rtdyn1", **options)
        np.testing.assert_allclose(H.curvatures, relative.curvatures, rtol=0, atol=1e-7 * largest)
