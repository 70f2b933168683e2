"""A robust optimum of Andrews' squeezer, verified by samples."""

from __future__ import annotations

import pytest

import varimech as vm
from varimech.benchmarks import andrews
from varimech.robust.design import RobustOptimum

RANGE = 2e-3
"""Largest displacement of a pivot along each axis (m)."""
TOLERANCE = 5e-5
"""Tolerance of each coordinate of a pivot (m), 3σ."""


@pytest.mark.slow
def test_robust_optimum_of_the_squeezer() -> None:
    m = andrews.mechanism(pivots=("A", "B"))
    pivots = {
        f"{c}_{pivot}": x
        for pivot in ("A", "B")
        for c, x in zip("xy", andrews.GROUND[pivot], strict=True)
    }
    turned = vm.integral(lambda s: s.angular_velocity("OF"), unit="rad")
    best = m.optimize(
        {"rotation": vm.worst(-1.0 * turned, sigma=3)},
        list(pivots),
        distributions={name: vm.Tolerance(TOLERANCE) for name in pivots},
        bounds={name: (x - RANGE, x + RANGE) for name, x in pivots.items()},
        duration=0.02,
        verify=2000,
    )
    assert isinstance(best, RobustOptimum)
    assert best.converged
    assert best.objective < best.objective_before
    v = best.verification
    assert v is not None
    (checked,) = v.checked
    # errors of moments up to 2 % of a standard deviation, in the mean and three times in σ
    σ = (checked.upper - checked.lower) / 2 * 2000**0.5 / 1.96 / (1 + 9 / 2) ** 0.5
    assert checked.claimed == pytest.approx(
        checked.estimate, abs=0.08 * σ + checked.upper - checked.lower
    )
    assert best.evaluator.counts.gradients < 100
