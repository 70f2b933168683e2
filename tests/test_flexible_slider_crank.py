"""The slider-crank with a flexible rod: where its references come from, and that a stiff rod moves
as a rigid one.
"""

from __future__ import annotations

import math
from typing import Any

import flexible_slider_crank_reference as reference
import numpy as np
import pytest
from bodies import add_body

import varimech as vm
from varimech.benchmarks import flexible_slider_crank


def rod_at_start() -> np.ndarray:
    """Orientation of the rod: its x axis along BC, its y axis across both BC and the guide."""
    along = np.array([2.0, -1.0, -2.0]) / 3
    across = np.array([0.0, 2.0, -1.0]) / math.sqrt(5)
    return np.column_stack([along, across, np.cross(along, across)])


def test_references_come_from_another_program() -> None:
    """With steps of 0.125 ms, of order 8; the stored values are from those of 0.025 ms."""
    alone = reference.differentiated().run(flexible_slider_crank.DURATION, steps=8000, rows=2)
    np.testing.assert_allclose(alone.times[1:], list(flexible_slider_crank.SLIDER))
    np.testing.assert_allclose(
        alone.nodes[1:, -1, 0, 0].real,
        list(flexible_slider_crank.SLIDER.values()),
        atol=1e-10,
        rtol=0,
    )
    np.testing.assert_allclose(
        alone.nodes[1:, 2, :, 0].real,
        list(flexible_slider_crank.PLACES.values()),
        atol=2e-9,
        rtol=0,
    )
    assert alone.ψ[-1, 0].real == pytest.approx(flexible_slider_crank.PSI, abs=1e-10)
    assert reference.gradient(alone.ψ[-1]) == pytest.approx(
        flexible_slider_crank.PSI_GRADIENT, rel=2e-7
    )
    energy = alone.energy[:, 0].real
    assert np.abs(energy - energy[0]).max() < 1e-9 * alone.kinetic[:, 0].real.max()


@pytest.mark.parametrize("segments", [1, 2, 7])
def test_any_number_of_segments(segments: int) -> None:
    run = flexible_slider_crank.mechanism(segments).simulate(0.05, tolerance=1e-9, output=0.05)
    alone = reference.alone(segments).run(0.05, steps=1000, rows=1)
    names = ["crank.B", *(f"rod.n{k}" for k in range(1, segments)), "slider.C"]
    for name, path in zip(names, np.moveaxis(alone.nodes[..., 0].real, 1, 0), strict=True):
        np.testing.assert_allclose(run.position(name), path, atol=1e-10, rtol=0)


def rigid() -> vm.Mechanism:
    """The same with a thin rigid bar, whose spin about itself nothing changes."""
    m = vm.Mechanism("rigid slider-crank", gravity=(0, 0, -9.81))
    m.ground_point("A", (0, 0.1, 0.12))
    m.ground_point("O", (0, 0, 0))
    add_body(m, "crank", 0.12, (1e-4, 1e-4, 1e-5), (0, 0, 0.04), A=(0, 0, 0), B=(0, 0, 0.08))
    m.bar(
        "rod", "B", "C", length=0.3, mass=0.5, inertia=(1e-12, 0.5 * 0.3**2 / 12, 0.5 * 0.3**2 / 12)
    )
    m.body("slider", mass=2.0, inertia=(1e-4, 1e-4, 1e-4), points={"C": (0, 0, 0)})
    m.revolute("A", axis=(1, 0, 0))
    m.spherical("B")
    m.universal("C", "rod.C", "slider.C", axis=(0, 1, 0), axis_on_second=(1, 0, 0))
    m.prismatic("guide", "ground.O", "slider.C", axis=(1, 0, 0))
    m.start(
        angle={"A": 0.0}, speed={"A": 6.0}, near={"rod": rod_at_start(), "slider.C": (0.2, 0, 0)}
    )
    return m


def test_a_stiff_rod_moves_as_a_rigid_one() -> None:
    """The slider leaves the rigid motion by a distance, and the rod its chord by a deflection, that
    go with 1/E.
    """
    settings: dict[str, Any] = {"duration": 0.4, "tolerance": 1e-8, "output": 0.002}
    expected = rigid().simulate(**settings).displacement("guide").to_numpy()
    flexible = flexible_slider_crank.mechanism()
    runs = [flexible.simulate(parameters={"E": E}, **settings) for E in (2e10, 2e11, 2e12)]
    off = np.array([np.abs(run.displacement("guide").to_numpy() - expected).max() for run in runs])
    bent = np.array(
        [np.linalg.norm(flexible_slider_crank.deflection(run), axis=1).max() for run in runs]
    )
    assert np.ptp(expected) > 0.08
    assert off[-1] < 2e-6
    np.testing.assert_allclose(off[:-1] / off[1:], 10, rtol=0.1)
    np.testing.assert_allclose(bent[:-1] / bent[1:], 10, rtol=0.2)


def test_the_rod_bends_visibly() -> None:
    run = flexible_slider_crank.mechanism().simulate(flexible_slider_crank.DURATION, tolerance=1e-8)
    bent = np.linalg.norm(flexible_slider_crank.deflection(run), axis=1).max() / 0.3
    assert 0.01 < bent < 0.03
