"""Clamps: they hold the way they say, damp like their beam, and what passes through a beam is what
statics say.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import varimech as vm

PLANE = [(-1, 0), (0, -1), (1, 0), (0, 1), (1, -2)]
SPACE = [(-1, 0, 0), (0, 1, 0), (1, 0, 0), (1, -2, 0.5)]


def beam(m: vm.Mechanism, n: int, **options: Any) -> vm.Mechanism:
    """Of unit length, stiffness and mass, hardly extensible."""
    m.beam(
        "b",
        "A",
        "B",
        segments=n,
        E=1.0,
        inertia=1.0,
        mass=1.0,
        **({"length": 1.0, "area": 1e5} | options),
    )
    return m


def held(n: int, end: str, direction: Any, **options: Any) -> vm.Mechanism:
    """By one end, in a direction."""
    m = vm.Mechanism("held", dimension=len(direction))
    m.ground_point("X", np.arange(len(direction)) / 10)
    beam(m, n, **options).clamp("c", "ground.X", f"b.{end}", direction=direction)
    return m


@pytest.mark.parametrize("direction", [*PLANE, *SPACE])
@pytest.mark.parametrize("end", ["A", "B"])
def test_a_beam_leaves_its_clamp_along_the_direction(
    direction: tuple[float, ...], end: str
) -> None:
    run = held(4, end, direction).simulate(1e-3, step=1e-3)
    far, near = (run.position(f"b.{p}")[0].to_numpy() for p in ("AB".replace(end, ""), end))
    np.testing.assert_allclose(
        far - near, np.array(direction) / np.linalg.norm(direction), atol=1e-12
    )


def test_a_portal_stands_on_its_feet() -> None:
    m = vm.Mechanism("portal", gravity=(0, -9.81))
    m.ground_point("A", (0, 0))
    m.ground_point("D", (1, 0))
    for name, ends in (("left", "AB"), ("right", "DC")):
        m.beam(name, *ends, segments=4, length=1.0, E=70e9, section=vm.circle(0.01), density=2700)
        m.clamp(ends[0], direction=(0, 1))
    m.bar("lintel", "B", "C", length=1.0, mass=1.0)
    m.revolute("B")
    m.revolute("C")
    run = m.simulate(1e-3, step=1e-3)
    np.testing.assert_allclose(run.position("left.B")[0], [0, 1], atol=1e-12)
    np.testing.assert_allclose(run.position("right.C")[0], [1, 1], atol=1e-12)


@pytest.mark.parametrize("dimension", [2, 3])
def test_axial_forces_are_those_of_a_cut(dimension: int) -> None:
    """The load at the tip passes through all segments; (a × b)² depends on their lengths, which
    must not show.
    """
    load = np.array([0.3, -2.0, 0.7][:dimension])
    m = held(8, "A", np.eye(dimension)[0])
    m.force("P", "b.B", load)
    run = m.equilibrium()
    places = np.array([run.position(p.label)[0].to_numpy() for p in m.data.beams[0].nodes])
    along = np.diff(places, axis=0)
    along /= np.linalg.norm(along, axis=1)[:, None]
    np.testing.assert_allclose(run.axial_force("b")[0], along @ load, atol=1e-8)


def test_a_pure_moment_leaves_no_axial_force() -> None:
    m = held(16, "A", (1, 0))
    m.torque("M", "b.B", 1.0)
    np.testing.assert_allclose(m.equilibrium().axial_force("b")[0], 0, atol=1e-8)


@pytest.mark.parametrize("dimension", [2, 3])
def test_clamps_damp_like_their_beam(dimension: int) -> None:
    """The first vibration of a cantilever, plucked by a small amount, decays with β ω²/2."""
    β, n = 0.02, 4
    m = held(n, "A", np.eye(dimension)[0], damping=(0.0, β))
    ω = 2 * math.pi * m.frequencies(1).item()
    across = np.eye(dimension)[1]
    m.force("kick", "b.B", lambda s: vm.where(s.time < 0.1, 1e-3, 0.0) * vm.vector(*across))
    run = m.simulate(6 * math.pi / ω, step=1e-3)
    y = np.abs(run.position("b.B").sel(component="y").to_numpy() - 0.1)
    turns = np.flatnonzero((y[1:-1] > y[:-2]) & (y[1:-1] > y[2:])) + 1
    first, last = turns[1], turns[-1]
    assert math.log(y[first] / y[last]) / (run.time[last] - run.time[first]) == pytest.approx(
        β * ω**2 / 2, rel=0.02
    )


def test_damping_keeps_angular_momentum_in_space() -> None:
    """Of a free beam that bends, spins and falls apart from nothing else."""
    n = 6
    m = vm.Mechanism("free", dimension=3)
    beam(m, n, floating=True, damping=(0.0, 0.002), area=1e2)
    m.start(
        position={"b.A": (0, 0, 0), "b.B": (None, 0, 0)},
        near={"b.B": (1, 0, 0)},
        speed={"b.B": (None, 1.0, 0.5)},
    )
    m.force("kick", "b.n2", lambda s: vm.where(s.time < 0.1, 1.0, 0.0) * vm.vector(0, 2.0, -3.0))
    run = m.simulate(1.0, tolerance=1e-9)
    r, v = (
        np.array([get(p.label).to_numpy() for p in m.data.beams[0].nodes])
        for get in (run.position, run.velocity)
    )
    momenta = np.zeros_like(v)
    for k in range(n):
        momenta[k] += (2 * v[k] + v[k + 1]) / (6 * n)
        momenta[k + 1] += (v[k] + 2 * v[k + 1]) / (6 * n)
    spin = np.cross(r, momenta).sum(axis=0)[run.time > 0.11]
    energy = run.energy().to_numpy()[run.time > 0.11]
    assert energy[-1] < 0.99 * energy[0]
    np.testing.assert_allclose(spin, np.tile(spin[0], (len(spin), 1)), atol=1e-9)


def test_a_shape_with_a_straight_piece_in_space_resists_bending_there() -> None:
    """A cantilever whose first half is straight and lies in a plane: it vibrates in that plane as
    one that cannot leave it.
    """
    results = []
    for dimension in (2, 3):
        places = [(k / 8, 0.02 * max(0, k - 4) ** 2, 0.0)[:dimension] for k in range(9)]
        m = vm.Mechanism("bow", dimension=dimension)
        m.ground_point("A", places[0])
        beam(m, 8, length=None, shape=places).clamp("A", direction=np.eye(dimension)[0])
        if dimension == 3:
            m.start(position={"b.B": (None, None, 0)}, near={"b.B": places[-1], "b.n6": places[6]})
        results.append(m.frequencies(12).to_numpy())
    planar, spatial = results
    for frequency in planar[:3]:
        assert np.abs(spatial / frequency - 1).min() < 1e-6
