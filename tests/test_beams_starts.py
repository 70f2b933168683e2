"""Starts of beams: what joints and the user say is taken, and the rest keeps its shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import varimech as vm

N = 4


def with_beam(m: vm.Mechanism, **options: Any) -> vm.Mechanism:
    m.beam(
        "b",
        "A",
        "B",
        segments=N,
        length=1.0,
        E=70e9,
        section=vm.circle(0.01),
        density=2700,
        **options,
    )
    return m


def pin(m: vm.Mechanism, point: str, x: float) -> None:
    m.ground_point(f"G{point}", [x, 0, 0][: m.dimension])
    (m.revolute if m.dimension == 2 else m.spherical)(
        f"pin {point}", f"ground.G{point}", f"b.{point}"
    )


def roller(m: vm.Mechanism, point: str, x: float) -> None:
    m.ground_point(f"G{point}", [x, 0, 0][: m.dimension])
    m.point_on_line(
        f"roller {point}", f"ground.G{point}", f"b.{point}", axis=[1, 0, 0][: m.dimension]
    )


def clamp(m: vm.Mechanism, point: str, x: float) -> None:
    m.ground_point(f"G{point}", [x, 0, 0][: m.dimension])
    m.clamp(
        f"clamp {point}",
        f"ground.G{point}",
        f"b.{point}",
        direction=[-1 if point == "B" else 1, 0, 0][: m.dimension],
    )


def table(m: vm.Mechanism, point: str, x: float) -> None:
    m.ground_point(f"G{point}", (x, 0, 0))
    m.point_on_plane(f"table {point}", f"ground.G{point}", f"b.{point}", normal=(0, 0, 1))


def drive(m: vm.Mechanism, point: str, x: float) -> None:
    m.drive_coordinate(f"drive {point}", f"b.{point}", np.eye(m.dimension)[1], lambda t: 0.0 * t)


def rod(m: vm.Mechanism, point: str, x: float) -> None:
    m.ground_point(f"G{point}", [x, -0.3, 0][: m.dimension])
    m.distance(f"rod {point}", f"ground.G{point}", f"b.{point}", length=0.3)


SCHEMES: dict[str, list[tuple[Callable[[vm.Mechanism, str, float], None], str, float]]] = {
    "pins": [(pin, "A", 0), (pin, "B", 1)],
    "three pins": [(pin, "A", 0), (pin, "n2", 0.5), (pin, "B", 1)],
    "pin and two rollers": [(pin, "A", 0), (roller, "n2", 0.5), (roller, "B", 1)],
    "pins and a roller": [(pin, "A", 0), (roller, "n2", 0.5), (pin, "B", 1)],
    "clamps": [(clamp, "A", 0), (clamp, "B", 1)],
    "clamp and pin": [(clamp, "A", 0), (pin, "B", 1)],
    "clamps and a roller": [(clamp, "A", 0), (roller, "n2", 0.5), (clamp, "B", 1)],
    "clamp and two rollers": [(clamp, "A", 0), (roller, "n2", 0.5), (roller, "B", 1)],
    "overhang": [(pin, "A", 0), (roller, "n2", 0.5)],
    "driven": [(pin, "A", 0), (drive, "n2", 0.5), (roller, "B", 1)],
    "on a rod": [(pin, "A", 0), (rod, "n2", 0.5), (pin, "B", 1)],
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_supports_of_all_kinds_leave_a_beam_straight(scheme: str) -> None:
    m = with_beam(vm.Mechanism(scheme, gravity=(0, -9.81)))
    for support, point, x in SCHEMES[scheme]:
        support(m, point, x)
    run = m.simulate(0.002, step=1e-3)
    for k, node in enumerate(m.data.beams[0].nodes):
        np.testing.assert_allclose(run.position(node.label)[0], np.array([k / N, 0]), atol=1e-12)
    weight = m.data.parameter_set.evaluate(m.data.beams[0].mass).item() * 9.81
    rest = m.equilibrium()
    held = sum(rest.reaction(name)[0, 1].item() for name in m.joints) + sum(
        rest.effort(name)[0].item() for name in m.drivers
    )
    assert held == pytest.approx(weight, rel=1e-8)


def test_a_clamp_and_a_table_in_space() -> None:
    m = with_beam(vm.Mechanism("table", gravity=(0, 0, -9.81)))
    clamp(m, "A", 0)
    table(m, "B", 1)
    run = m.simulate(0.002, step=1e-3)
    np.testing.assert_allclose(run.position("b.B")[0], [1, 0, 0], atol=1e-12)


def test_several_bodies_share_a_node() -> None:
    m = with_beam(vm.Mechanism("several", gravity=(0, -9.81)))
    pin(m, "A", 0)
    for name in ("h", "k"):
        m.bar(name, "P", f"end of {name}", length=0.5, mass=1.0)
        m.revolute(f"hinge of {name}", "b.n2", f"{name}.P")
    m.start(angle={"b": 0.1, "h": -1.0, "k": -2.0})
    run = m.simulate(0.01, step=1e-3)
    for name in ("h.P", "k.P"):
        np.testing.assert_allclose(run.position(name), run.position("b.n2"), atol=1e-13)


def test_nodes_may_be_given_in_part() -> None:
    m = with_beam(vm.Mechanism("plucked", dimension=2), natural_length=0.99)
    pin(m, "A", 0)
    pin(m, "B", 1)
    m.start(position={f"b.n{k}": (None, 0.01 * k) for k in (1, 2)}, speed={"b.n1": (None, 1.0)})
    run = m.simulate(0.001, step=1e-3)
    np.testing.assert_allclose(
        [run.position(f"b.n{k}")[0] for k in (1, 2, 3)],
        [[0.25, 0.01], [0.5, 0.02], [0.75, 0.01]],
        atol=1e-12,
    )
    np.testing.assert_allclose(run.velocity("b.n1")[0], [0, 1], atol=1e-12)


def test_a_straight_row_of_beams_asks_for_a_position() -> None:
    m = vm.Mechanism("row", dimension=2)
    for name, x in (("A", 0), ("C", 2)):
        m.ground_point(name, (x, 0))
    for name, ends in (("one", "AB"), ("two", "BC")):
        m.beam(name, *ends, segments=2, length=1.0, E=70e9, section=vm.circle(0.01), density=2700)
    for name in "ABC":
        m.revolute(name)
    with pytest.raises(vm.ModelError, match="positions of the points between beams"):
        m.simulate(0.01, step=1e-3)
    m.start(position={"B": (1.0, 0.0)})
    np.testing.assert_allclose(
        m.simulate(0.01, step=1e-3).position("one.B")[-1], [1, 0], atol=1e-12
    )


@pytest.mark.parametrize("dimension", [2, 3])
def test_states_of_another_size_leave_beams_where_they_are(dimension: int) -> None:
    """A beam that drifts with a state of typical value 0.01, and a point of it on a wire."""
    m = vm.Mechanism("drifting", dimension=dimension)
    along, across = np.eye(dimension)[0], np.eye(dimension)[1]
    m.ground_point("O", tuple(0 * along))
    stiffness: dict[str, Any] = {"E": 1e6, "area": 1e-4, "inertia": 1e-7}
    m.beam("b", "A", "B", segments=2, length=1.0, mass=1.0, floating=True, **stiffness)
    m.state("heat", rate=lambda s: -2 * s.state("heat"), initial=0.03, size=0.01)
    m.point_on_curve("wire", "b.A", "ground", curve=[tuple(x * along) for x in (-1, 0, 0.5, 2)])
    m.start(
        position={"A": (0.25, *(None,) * (dimension - 1)), "B": tuple(0.25 * along + across)},
        speed={"B": tuple(0.5 * along), "A": (0.5, *(None,) * (dimension - 1))},
        near={"A": tuple(0.25 * along)},
    )
    run = m.simulate(0.2, tolerance=1e-10)
    assert float(run.state("heat")[-1]) == pytest.approx(0.03 * math.exp(-0.4), rel=1e-8)
    assert run.position("A").to_numpy()[[0, -1], 0] == pytest.approx([0.25, 0.35], abs=1e-9)
    assert float(run.state("wire parameter")[-1]) == pytest.approx(1.35, abs=1e-9)
