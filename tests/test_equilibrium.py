"""Equilibria that a start leads to: downhill, to where a mechanism stays."""

from __future__ import annotations

import math

import numpy as np
import pytest

import varimech as vm


def pendulum(angle: float) -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("bar", "O", "tip", length=0.4, mass=0.5)
    m.revolute("O")
    m.start(angle={"bar": angle})
    return m


@pytest.mark.parametrize("angle", [-3.0, -2.0, -0.5, 0.0, 0.5, 1.5, 2.0])
def test_a_pendulum_comes_to_hang(angle: float) -> None:
    m = pendulum(angle)
    run = m.equilibrium()
    np.testing.assert_allclose(run.position("tip")[0], [0, -0.4], atol=1e-9)
    np.testing.assert_allclose(run.reaction("O")[0], [0, 0.5 * 9.81], rtol=1e-9)
    assert m.frequencies(1).item() == pytest.approx(math.sqrt(1.5 * 9.81 / 0.4) / (2 * math.pi), rel=1e-9)


@pytest.mark.parametrize("angles", [(0.0, -1.0), (0.0, 0.0), (0.5, 1.0)])
def test_two_bars_come_to_hang(angles: tuple[float, float]) -> None:
    m = vm.Mechanism("double pendulum", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("one", "O", "P", length=1, mass=1)
    m.bar("two", "P", "Q", length=1, mass=1)
    m.revolute("O")
    m.revolute("P")
    m.start(angle={"one": angles[0], "two": angles[1]})
    np.testing.assert_allclose(m.equilibrium().position("Q")[0], [0, -2], atol=1e-9)


def test_a_beam_pressed_beyond_its_buckling_load_buckles() -> None:
    m = vm.Mechanism("pressed", gravity=(0, -1e-3))
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    m.beam("beam", "A", "B", segments=8, length=1, natural_length=1.05, E=1e9, section=vm.circle(0.01), density=1000)
    m.revolute("A")
    m.revolute("B")
    assert m.equilibrium().position("beam.n4").sel(component="y").item() < -0.1
    assert m.frequencies(1).item() > 0
