"""Grades of Andrews' squeezer against all combinations of grades, with derivatives of their own."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import squeezer_grades as example
import varimech as vm
from varimech.model.iso_grades import grades_of


def test_no_other_grades_are_cheaper(tmp_path: Path) -> None:
    """The variance by differences of runs; every combination for the four lengths that matter."""
    a = example.main(tmp_path, samples=1000)
    m = example.mechanism()

    def angle(**lengths: float) -> float:
        run = m.simulate(example.DURATION, tolerance=1e-10, parameters=lengths)
        return float(run.angle("OF").to_numpy()[-1])

    nominal = {name: m.parameters[name].value for name in a.names}
    δ = 1e-6
    slopes = {
        name: (angle(**{name: x + δ}) - angle(**{name: x - δ})) / (2 * δ)
        for name, x in nominal.items()
    }
    choices = [str(g) for g in range(5, 13)]
    half = {name: grades_of(x) for name, x in nominal.items()}
    assert half["L_BE"]["6"] == pytest.approx(8e-6)  # ISO 286-1, 30 to 50 mm: a zone of 16 μm
    assert half["rr"]["8"] == pytest.approx(11e-6)  # 6 to 10 mm: 22 μm
    price = dict(zip(choices, (16.0, 10.0, 6.5, 4.2, 2.8, 1.9, 1.3, 0.9), strict=True))
    variance = sum((slopes[n] * half[n][a.grades[n]] / 3) ** 2 for n in a.names)
    claimed = example.LIMIT**2
    assert variance <= claimed
    assert np.sqrt(variance) == pytest.approx(a.constraints[0].value, rel=1e-5)
    best = np.inf
    matter = sorted(a.names, key=lambda n: -abs(slopes[n]))[:4]
    rest = [n for n in a.names if n not in matter]
    widest = sum((slopes[n] * half[n]["12"] / 3) ** 2 for n in rest)
    for grades in itertools.product(choices, repeat=4):
        parts = zip(matter, grades, strict=True)
        if widest + sum((slopes[n] * half[n][g] / 3) ** 2 for n, g in parts) <= claimed:
            best = min(best, sum(price[g] for g in grades) + len(rest) * price["12"])
    assert a.cost == pytest.approx(best)
    assert 0 < a.rounding_cost < 0.2 * a.continuous_cost
    # samples of another seed
    study = example.problem(m).monte_carlo(a.distributions, samples=2000, seed=5)
    assert study.std[-1, 0].item() == pytest.approx(np.sqrt(variance), rel=0.07)
    assert isinstance(a, vm.Allocation) and a.equal is not None and a.equal.cost > a.cost
    assert (tmp_path / "squeezer_grades.png").stat().st_size > 15_000
    assert "IT6" in (tmp_path / "tolerances.csv").read_text(encoding="utf-8")
