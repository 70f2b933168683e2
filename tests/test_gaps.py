"""Loops that cannot close: the gap that is reported is the least one that geometry allows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import varimech as vm


def turn(axis: tuple[float, float, float], angle: float) -> np.ndarray:
    return Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis)).as_matrix()


def impossible(seed: int, dimension: int) -> tuple[vm.Mechanism, float]:
    """A crank that is held, a coupler and a rocker whose lengths miss each other by a random gap;
    and that gap.

    The crank's end A is known, the rocker reaches all points at its length c from G, and the
    coupler all points at its length L from A: the least distance between these is L − |AG| − c, or
    |AG| − c − L.
    """
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-4, 4)
    a, c = size * rng.uniform(0.3, 1.0, 2)
    angle, G = (
        rng.uniform(-3, 3),
        size * np.append(rng.uniform(0.8, 1.5, 2), [0.4] * (dimension - 2)),
    )
    A = a * np.append([np.cos(angle), np.sin(angle)], [0.0] * (dimension - 2))
    d, gap = float(np.linalg.norm(A - G)), size * rng.uniform(0.05, 0.4)
    L = d - c - gap if d - c - gap > 0.1 * size else d + c + gap
    m = vm.Mechanism("loop", gravity=tuple([0.0] * (dimension - 1) + [-9.81]))
    m.ground_point("O", (0,) * dimension)
    m.ground_point("G", tuple(G))
    if dimension == 2:
        for name, ends, length in (("crank", "OA", a), ("coupler", "AB", L), ("rocker", "BG", c)):
            m.bar(name, *ends, length=length, mass=1.0)
        for joint in "OABG":
            m.revolute(joint)
    else:
        inertia = (size**2,) * 3
        for name, ends, length in (("crank", "OA", a), ("coupler", "AB", L), ("rocker", "BG", c)):
            m.body(
                name,
                mass=1.0,
                inertia=inertia,
                points={ends[0]: (0, 0, 0), ends[1]: (length, 0, 0)},
            )
        m.revolute("O", axis=(0, 0, 1))
        m.universal("A", "crank.A", "coupler.A", axis=(0, 0, 1), axis_on_second=(0, 1, 0))
        m.spherical("B")
        m.spherical("G")
    m.start(angle={"crank" if dimension == 2 else "O": angle})
    return m, gap


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_gap_is_the_least_that_geometry_allows(seed: int, dimension: int) -> None:
    m, gap = impossible(seed, dimension)
    with pytest.raises(
        vm.AssemblyError, match=r"stays open by [0-9.e+-]+ m at joint '[OABG]'"
    ) as caught:
        m.simulate(0.1)
    assert max(caught.value.gaps.values()) == pytest.approx(gap, rel=2e-3)


def test_opposite_directions_do_not_close_a_loop() -> None:
    """A rod of 0.8 m between points that come no closer than 0.726 m (found by a search over both
    hinges).
    """
    m = vm.Mechanism("loop", gravity=(0, 0, -9.7))
    m.ground_point("O", (0.0, 0.0, 0.0))
    m.ground_point("G", (0.55, 0.3, 0.2))
    inertia = (0.05, 0.05, 0.05)
    m.body("one", mass=0.9, inertia=inertia, points={"O": (0, 0, 0), "A": (0.35, 0.02, 0.05)})
    m.body("two", mass=1.1, inertia=inertia, points={"A": (0, 0, 0), "B": (0.8, 0, 0)})
    m.body("three", mass=0.7, inertia=inertia, points={"G": (0, 0, 0), "B": (0.0, 0.5, 0.04)})
    m.revolute("O", axis=(0.2, 0.1, 1.0))
    m.universal("A", "one.A", "two.A", axis=(0, 1, 0.2), axis_on_second=(0.0, 0.3, 1.0))
    m.spherical("B")
    m.revolute("G", axis=(1.0, -0.2, 0.3))
    m.start(angle={"O": 0.4})
    with pytest.raises(vm.AssemblyError) as caught:
        m.simulate(0.2)
    A = turn((0.2, 0.1, 1.0), 0.4) @ [0.35, 0.02, 0.05]
    turns = [turn((1.0, -0.2, 0.3), t) for t in np.linspace(0, 2 * np.pi, 2001)]
    reach = max(
        float(np.linalg.norm(np.array([0.55, 0.3, 0.2]) + R @ [0.0, 0.5, 0.04] - A)) for R in turns
    )
    assert max(caught.value.gaps.values()) == pytest.approx(0.8 - reach, rel=1e-3)
