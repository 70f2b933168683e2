"""Topologies: trees and cuts as a reader of the mechanism would draw them, with as many unknowns
and equations as are solved for.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import varimech as vm
from varimech.benchmarks import BENCHMARKS, chain, find_benchmark, four_bar
from varimech.cli.app import app
from varimech.plotting.outline import Branch, outline


def benchmark(name: str) -> vm.Mechanism:
    return find_benchmark(name).mechanism()


def door(*, oblique: bool = False) -> vm.Mechanism:
    """One hinge too many; if it is oblique, its equations do not vanish by themselves."""
    axis = (1.0, 2.0, 3.0) if oblique else (0.0, 0.0, 1.0)
    points = {"A": (0.0, 0.0, 0.0), "B": axis}
    m = vm.Mechanism("door", gravity=(0, 0, -9.81))
    for name, place in points.items():
        m.ground_point(name, place)
    m.body("door", mass=1, inertia=(1, 1, 1), com=(0.5, 0, 0.5), points=points)
    for name in points:
        m.revolute(name, axis=axis)
    return m


def pendulums() -> vm.Mechanism:
    """A bob on a thread, a second one below it, and an anvil that floats with an arm on it."""
    m = vm.Mechanism("bobs", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    for name in ("bob", "lower"):
        m.body(name, mass=1, inertia=(1, 1, 1), points={"P": (0, 0, 0.1)})
    m.distance("thread", "O", "bob.P", length=1)
    m.distance("string", "bob.com", "lower.P", length=1)
    m.body("anvil", mass=5, inertia=(1, 1, 1), points={"Q": (0, 0, 1)}, floating=True)
    m.body("arm", mass=1, inertia=(1, 1, 1), points={"Q": (0, 0, 0)})
    m.spherical("Q", "arm.Q", "anvil.Q")
    return m


def boom() -> vm.Mechanism:
    """A four-bar on a boom: its loop does not touch the ground; the crank is driven."""
    m = vm.Mechanism("boom", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.body("boom", mass=1, inertia=1, points={"O": (0, 0), "A": (1, 0), "D": (2, 0)})
    m.bar("crank", "A", "B", length=0.5, mass=1)
    m.bar("coupler", "B", "C", length=1.2, mass=1)
    m.bar("rocker", "D", "C", length=0.6, mass=1)
    for name in "OABCD":
        m.revolute(name)
    m.drive_angle("motor", "A", lambda t: 1 + 6 * t)
    return m


def hexapod() -> vm.Mechanism:
    m = vm.Mechanism("hexapod", gravity=(0, 0, -9.81))
    ring = {f"{k}": (math.cos(k), math.sin(k)) for k in range(6)}
    m.body("platform", mass=1, inertia=(1, 1, 1), points={k: (*xy, 0) for k, xy in ring.items()})
    for k, xy in ring.items():
        m.ground_point(f"foot {k}", (*xy, -1))
        m.distance(f"leg {k}", f"foot {k}", k, length=1)
    return m


CASES: dict[str, tuple[Callable[[], vm.Mechanism], tuple[str, ...]]] = {
    **{
        name: (find_benchmark(name).mechanism, ())
        for name in BENCHMARKS
        if not benchmark(name).data.beams
    },
    "four-bar with 7 windows": (lambda: four_bar.mechanism(7), ()),
    "five-bar cut at B": (lambda: benchmark("five-bar"), ("B",)),
    "five-bar cut twice": (lambda: benchmark("five-bar"), ("1", "3")),
    "slider-crank cut at C": (lambda: benchmark("spatial-slider-crank"), ("C",)),
    "pendulum cut off": (lambda: benchmark("pendulum"), ("O",)),
    "tree cut everywhere": (lambda: benchmark("tree"), tuple(benchmark("tree").joints)),
    "door": (door, ()),
    "oblique door": (lambda: door(oblique=True), ()),
    "bobs": (pendulums, ()),
    "boom": (boom, ()),
    "hexapod": (hexapod, ()),
}


# the numbers are those of the equations that are solved


@pytest.mark.parametrize("case", CASES)
def test_counts_are_those_of_the_equations(case: str) -> None:
    make, cut = CASES[case]
    m = make()
    computed, equations = m.topology(cut), vm.Relative(cut=cut).equations(m.data.frozen())
    joints = equations.q.numel() - equations.extra  # the others are angles of cut joints
    assert len(computed.coordinates) == joints
    assert computed.coordinates == equations.coordinate_names[:joints]
    # an equation ties each of these, but for slacks, which equations of velocities take the place of
    # and parameters of curves, whose equations are couplings
    ties = equations.extra - sum(f.velocity_rows for f in m.data.forces.values())
    ties -= sum(c.is_tied for c in m.data.own_coordinates)
    assert sum(computed.equations.values()) == equations.λ.numel() - ties
    closing = {c.joint: c.equations for c in computed.closures}
    for joint, count in closing.items():
        assert (
            sum(
                name.startswith(f"joint {joint} [") or name == f"joint {joint}"
                for name in equations.constraint_names
            )
            == count
        )


@pytest.mark.parametrize("case", CASES)
def test_trees_are_trees_and_every_joint_has_its_place(case: str) -> None:
    make, cut = CASES[case]
    m = make()
    topology = m.topology(cut)
    assert set(topology.tree) == {b.name for b in m.data.moving_bodies}
    used = [joint for _, joint in topology.tree.values() if joint is not None]
    assert sorted([*used, *topology.cut]) == sorted(m.joints)
    assert set(cut) <= set(topology.cut)
    known = {"ground"}
    for body, (parent, joint) in topology.tree.items():
        assert parent in known
        known.add(body)
        if joint is not None:
            assert {b.name for b in m.joints[joint].bodies} == {body, parent}
    assert topology.roots == (
        "ground",
        *(body for body, (_, joint) in topology.tree.items() if joint is None),
    )


@pytest.mark.parametrize("case", CASES)
def test_loops_close(case: str) -> None:
    """Without free bodies every body of a loop is on two of its joints; neighbours in the list
    share a body.
    """
    make, cut = CASES[case]
    m = make()
    topology = m.topology(cut)
    assert tuple(topology.loops) == topology.cut
    for closure in topology.closures:
        joints = [{b.name for b in m.joints[name].bodies} for name in closure.loop]
        assert closure.joint in closure.loop
        assert len(set(closure.loop)) == len(closure.loop)
        if not closure.free:
            assert all(a & b for a, b in zip(joints, [*joints[1:], joints[0]], strict=True))
            bodies = [body for pair in joints for body in pair]
            assert all(bodies.count(body) == 2 for body in bodies)


# trees of the benchmarks, and of what else there may be


@pytest.mark.parametrize(
    ("name", "cut", "coordinates", "equations"),
    [
        ("five-bar", ("2",), 4, 2),
        ("pendulum", (), 1, 0),
        ("four-bar", ("B1 right", "B2 right"), 5, 4),
        ("andrews", ("E BDE", "E EG", "E HE"), 7, 6),
        ("bricard", ("P4",), 5, 5),
        ("governor", (), 4, 0),
        ("spatial-slider-crank", ("B",), 4, 3),
        ("tree", (), 20, 2),
        ("chain", (), 10, 0),
    ],
)
def test_benchmarks(name: str, cut: tuple[str, ...], coordinates: int, equations: int) -> None:
    topology = benchmark(name).topology()
    assert (topology.cut, len(topology.coordinates), sum(topology.equations.values())) == (
        cut,
        coordinates,
        equations,
    )


def test_five_bar() -> None:
    topology = benchmark("five-bar").topology()
    assert topology.tree == {
        "A1": ("ground", "A"),
        "3B": ("ground", "B"),
        "12": ("A1", "1"),
        "23": ("3B", "3"),
    }
    assert topology.loops == {"2": ("A", "1", "2", "3", "B")}
    assert topology.coordinates == ("A.angle", "B.angle", "1.angle", "3.angle")
    assert (topology.roots, topology.depth) == (("ground",), 2)
    assert [body.body for body in topology.bodies if body.reversed] == [
        "23"
    ]  # its joint was written from bar 23 to bar 3B


def test_own_cuts() -> None:
    topology = benchmark("five-bar").topology(cut=["B"])
    assert topology.tree == {
        "A1": ("ground", "A"),
        "12": ("A1", "1"),
        "23": ("12", "2"),
        "3B": ("23", "3"),
    }
    assert (topology.cut, set(topology.loops["B"]), topology.depth) == (
        ("B",),
        {"A", "1", "2", "3", "B"},
        4,
    )


def test_a_body_that_is_cut_off_is_free() -> None:
    topology = benchmark("five-bar").topology(cut=["1", "B"])
    assert topology.roots == ("ground", "12")
    assert topology.tree["12"] == ("ground", None)
    assert topology.loops == {"1": ("A", "1"), "B": ("B", "3", "2")}
    assert topology.coordinates == ("A.angle", "12.angle", "12.x", "12.y", "2.angle", "3.angle")


def test_bodies_on_distances_and_floating_ones_are_free() -> None:
    topology = pendulums().topology()
    assert topology.roots == ("ground", "anvil", "bob", "lower")
    assert topology.tree["arm"] == ("anvil", "Q")
    assert topology.loops == {"thread": ("thread",), "string": ("string",)}
    assert topology.equations == {"closure": 2, "Euler-parameter": 4, "driver": 0, "coupling": 0}
    text = str(topology)
    assert re.search(r"^bob +free +bob\.e0, .* bob\.z$", text, flags=re.MULTILINE)
    assert (
        "distance string between bob and lower: 1 equation; loop string with bob and lower free"
        in text
    )


def test_a_loop_off_the_ground_with_a_driver() -> None:
    topology = boom().topology()
    assert topology.loops == {"C": ("A", "B", "C", "D")}
    assert (topology.tree["crank"], topology.drivers, topology.depth) == (
        ("boom", "A"),
        ("motor",),
        3,
    )
    assert "2 closure equations, 1 driver equation" in str(topology)
    assert str(topology).endswith("driven, by one equation each\n  motor")


def test_a_second_hinge_on_the_same_axis_needs_no_equation() -> None:
    assert door().topology().equations["closure"] == 0
    assert "no equation (fits in all positions or in none); loop A – B" in str(
        door().topology()
    ).replace("B – A", "A – B")
    assert door(oblique=True).topology().equations["closure"] == 5


def test_the_model_may_grow_afterwards() -> None:
    m = benchmark("pendulum")
    before = m.topology()
    m.body("more", mass=1, inertia=1, points={}, floating=True)
    assert (len(before.tree), len(m.topology().tree)) == (1, 2)


# bad input


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        (["Q"], "no joint to cut is called 'Q'"),
        ("B", r"topology: cut = 'B' must be a list of joints, such as \['B'\]"),
        (7, "topology: cut = 7 must be a list of joints"),
    ],
)
def test_cuts_that_make_no_sense(cut: Any, words: str) -> None:
    with pytest.raises(vm.ModelError, match=words):
        benchmark("five-bar").topology(cut)


def test_mechanisms_that_cannot_be_simulated_have_no_topology() -> None:
    m = vm.Mechanism("empty", gravity=(0, -9.81))
    with pytest.raises(vm.ModelError, match="has no bodies"):
        m.topology()
    m.bar("rod", "O", "tip", length=1, mass=1)
    with pytest.raises(vm.ModelError, match="no path of joints connects 'rod' to the ground"):
        m.topology()


# text


def test_text_of_the_five_bar_is_that_of_the_tour() -> None:
    tour = (Path(__file__).parent.parent / "docs" / "tour.md").read_text(encoding="utf-8")
    assert f"```text\n{benchmark('five-bar').topology()}\n```" in tour


@pytest.mark.parametrize("case", CASES)
def test_text_names_what_there_is(case: str) -> None:
    make, cut = CASES[case]
    topology = make().topology(cut)
    text = str(topology)
    assert len(repr(topology).splitlines()) == 1
    assert text.startswith(f"{topology.mechanism}: ")
    assert len(topology.bodies) > 6 or "⋮" not in text
    if "⋮" not in text:
        for name in [*topology.tree, *topology.cut, *topology.coordinates, *topology.drivers]:
            assert name in text


def test_long_chains_are_short() -> None:
    text = str(chain.mechanism(1000).topology())
    assert len(text.splitlines()) < 10
    assert (
        "1,000 bodies" in text
        and "⋮ 997 more, each connected to the one before" in text
        and "bar 1000" in text
    )


def test_wide_trees_are_short() -> None:
    text = str(four_bar.mechanism(40).topology())
    assert len(text.splitlines()) < 30
    assert "⋮ 37 more like these" in text and "⋮ 29 more" in text and "crank 40" in text


def accounted(lines: list[str]) -> int:
    """Nodes of an outline, those that are only counted included; for outlines whose neighbours that
    are alike have one node each.
    """
    return sum(
        int(match[1]) if (match := re.search(r"⋮ (\d+) more", line)) else 1 for line in lines
    )


@pytest.mark.parametrize("count", range(1, 12))
def test_no_node_is_lost_in_an_outline(count: int) -> None:
    row = [
        Branch("n0", "", "a", "a"),
        *(Branch(f"n{k}", f"n{k - 1}", "a", "a") for k in range(1, count)),
    ]
    fan = [Branch("root", "", "a", "b"), *(Branch(f"n{k}", "root", "a", "a") for k in range(count))]
    assert accounted(outline(row)) == count
    assert accounted(outline(fan)) == count + 1


def test_deep_and_irregular_trees_are_cut_short() -> None:
    mixed = [
        Branch("n0", "", "a", "0"),
        *(Branch(f"n{k}", f"n{k - 1}", "a", f"{k}") for k in range(1, 3000)),
    ]
    lines = outline(mixed)
    assert accounted(lines) == 3000
    assert len(lines) < 30
    comb = [
        Branch("root", "", "a", "root"),
        *(Branch(f"n{k}", "root", "a", f"{k}") for k in range(1, 3000)),
    ]
    assert (len(outline(comb)), accounted(outline(comb))) == (61, 3000)


# pictures


def texts(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


@pytest.mark.parametrize("case", CASES)
def test_pictures_name_all_there_is_room_for(case: str, tmp_path: Path) -> None:
    make, cut = CASES[case]
    topology = make().topology(cut)
    figure = topology.draw()
    figure.savefig(tmp_path / "topology.png")
    assert (tmp_path / "topology.png").stat().st_size > 3_000
    written = texts(figure)
    assert {"ground", *topology.tree} <= set(written)
    assert {f"{c.kind} {c.joint}" for c in topology.closures} <= set(written)


def test_pictures_of_large_mechanisms_leave_labels_out() -> None:
    figure = chain.mechanism(1000).topology().draw()
    assert 5 < len(texts(figure)) < 100
    assert figure.get_figwidth() < 25
    windows = texts(four_bar.mechanism(40).topology().draw())
    assert {f"crank {k}" for k in range(41)} <= set(windows)


# the command line


def test_command_prints_the_tree() -> None:
    result = CliRunner().invoke(app, ["topology", "five-bar"])
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{benchmark('five-bar').topology()}\n"


def test_command_takes_cuts_and_prints_json() -> None:
    result = CliRunner().invoke(app, ["topology", "five-bar", "--cut", "1", "--cut", "B", "--json"])
    data = json.loads(result.stdout)
    assert data["cut"]["1"] == {"bodies": ["A1", "12"], "equations": 2, "loop": ["A", "1"]}
    assert (data["mechanism"], data["roots"], data["depth"]) == ("five-bar", ["ground", "12"], 3)
    assert data["tree"]["12"] == ["ground", None]
    assert data["equations"] == {"closure": 4, "Euler-parameter": 0, "driver": 0, "coupling": 0}


def test_command_writes_a_picture(tmp_path: Path) -> None:
    picture = tmp_path / "pictures" / "bricard.png"
    result = CliRunner().invoke(app, ["topology", "bricard", "--out", str(picture)])
    assert result.exit_code == 0, result.output
    assert picture.stat().st_size > 10_000
    assert "bricard.png" in result.stdout
    wrong = CliRunner().invoke(app, ["topology", "bricard", "--out", str(tmp_path / "bricard.pgn")])
    assert wrong.exit_code == 2
    assert "known" in wrong.output and not (tmp_path / "bricard.pgn").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["five-bra"], "did you mean 'five-bar'"), (["five-bar", "--cut", "Q"], "no joint to cut")],
)
def test_command_reports_what_is_wrong(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(app, ["topology", *arguments])
    assert result.exit_code != 0
    assert words in str(result.exception)
