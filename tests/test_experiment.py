"""Optimal experiments against those known in closed form."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from thrown_mass import TRUE, place, thrown_mass

import varimech as vm
from varimech.analyses.simulation import simulation
from varimech.identification.experiment import MOST_COMPARED, _search
from varimech.identification.information import Criterion

GRID = np.linspace(0.0, 2.0, 9)


def at_one_time(sigma: float = 0.1) -> list[vm.Sensor]:
    return [vm.sensor(place, [t], sigma, name=f"t={t:g}", unit="m") for t in GRID]


@pytest.fixture(scope="module")
def m() -> vm.Mechanism:
    return thrown_mass()


def rows(times: Any) -> np.ndarray:
    t = np.asarray(times, dtype=float)
    return np.column_stack([np.ones(t.size), t, t**2 / 2])


def test_d_optimal_times_of_a_parabola(m: vm.Mechanism) -> None:
    """Both ends and the middle, as known for quadratic regression; the covariance is exact."""
    e = m.experiment(at_one_time(), list(TRUE), choose=3)
    assert e.sensors == ("t=0", "t=1", "t=2") and e.settings == ({},)
    X = rows([0, 1, 2])
    C = 0.01 * np.linalg.inv(X.T @ X)
    assert e.dataset["covariance"].to_numpy() == pytest.approx(C, rel=1e-8)
    assert e.std[0].to_numpy() == pytest.approx(np.sqrt(np.diag(C)), rel=1e-8)
    second = rows([float(n[2:]) for n, _ in e.choices[1].members])
    ratio = np.linalg.det(second.T @ second) / np.linalg.det(X.T @ X)
    assert e.efficiency[1].item() == pytest.approx(ratio ** (1 / 3), rel=1e-6)
    assert e.efficiency[0].item() == 1.0 and len(e.choices) == 50


@pytest.mark.parametrize("criterion", ["A", "a"])
def test_other_criteria_compare_all_choices(m: vm.Mechanism, criterion: str) -> None:
    """The sum of relative variances, or the variance of a alone, of all choices one by one."""
    own = {"criterion": "A"} if criterion == "A" else {"narrow": "a"}
    e = m.experiment(at_one_time(), list(TRUE), choose=4, **own)  # type: ignore[arg-type]
    losses: dict[tuple[float, ...], float] = {}
    for chosen in combinations(GRID, 4):
        C = np.linalg.inv(rows(chosen).T @ rows(chosen))
        relative = np.diag(C) / np.square(list(TRUE.values()))
        losses[chosen] = relative.sum() if criterion == "A" else C[2, 2]
    best = min(losses, key=lambda c: losses[c])
    assert losses[best] == pytest.approx(losses[tuple(float(n[2:]) for n in e.sensors)], rel=1e-9)


def test_one_parameter_needs_no_others(m: vm.Mechanism) -> None:
    """One sample of v determines v0 where a is known; x0 stays open."""
    speed = vm.sensor("displacement_rate('guide')", [0.0], 0.1, name="speed", unit="m/s")
    late = vm.sensor("displacement_rate('guide')", [1.0], 0.1, name="late", unit="m/s")
    e = m.experiment([late, speed], ["x0", "v0"], choose=1, narrow="v0")
    assert e.std.sel(parameter="v0")[0].item() == pytest.approx(0.1, rel=1e-9)
    assert np.isinf(e.std.sel(parameter="x0")[0].item())


def test_exchanges_find_the_best_of_many(m: vm.Mechanism) -> None:
    """More choices than are compared: 6 of 41 times; repeated thirds at ends and middle."""
    times = np.linspace(0.0, 2.0, 41)
    sensors = [vm.sensor(place, [t], 0.1, name=f"{t:g}") for t in times]
    assert math.comb(41, 6) > MOST_COMPARED
    e = m.experiment(sensors, list(TRUE), choose=6)
    assert {float(n) for n in e.sensors} == {0.0, 0.05, 1.0, 1.95, 2.0} | (
        {0.95} if "0.95" in e.sensors else {1.05}
    )


def decaying() -> vm.Mechanism:
    """v' = −c v/m from 1 m/s: v = e^(−c t/m)."""
    m = vm.Mechanism("decay", dimension=2)
    mass, c = m.parameter("mass", 0.7, unit="kg"), m.parameter("c", 2.0, unit="N·s/m")
    m.ground_point("O", (0, 0))
    m.body("load", mass=mass, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "load.P", axis=(1, 0))
    m.force("drag", "load.P", lambda s: vm.vector(-c * s.displacement_rate("guide"), 0))
    m.start(displacement={"guide": 0.0}, speed={"guide": 1.0})
    return m


def test_a_setting_is_tuned_to_its_optimum() -> None:
    """|∂v/∂c| = t/m e^(−c t/m) is largest for m = c t."""
    speed = vm.sensor(lambda s: s.displacement_rate("guide"), [0.5], 0.01, name="speed")
    e = decaying().experiment(speed, ["c"], tune={"mass": (0.2, 5.0)})
    assert e.tuned["mass"] == pytest.approx(1.0, rel=1e-4)
    assert e.std.item() == pytest.approx(0.01 * 2 * math.e, rel=1e-6)
    early = vm.sensor(lambda s: s.displacement_rate("guide"), [0.05], 0.01, name="early")
    both = decaying().experiment([early, speed], ["c"], choose=1, tune={"mass": (0.2, 5.0)})
    assert both.sensors == ("speed",) and both.tuned["mass"] == pytest.approx(1.0, rel=1e-4)


def test_settings_are_compared_with_sensors() -> None:
    speed = vm.sensor(lambda s: s.displacement_rate("guide"), [0.5], 0.01, name="speed")
    way = vm.sensor(lambda s: s.displacement("guide"), [0.5], 0.01, name="way")
    settings: list[dict[str, float | str]] = [{"mass": "400 g"}, {"mass": 1.0}, {"mass": 4.0}]
    e = decaying().experiment([speed, way], "c", choose=1, settings=settings)
    assert e.best.label == "speed (mass = 1)" and e.settings == ({"mass": 1.0},)
    assert len(e.choices) == 6
    together = decaying().experiment([speed, way], "c", settings=settings)
    unnamed = [vm.sensor(s.function, s.times, s.sigma) for s in (speed, way)]
    assert decaying().experiment(unnamed, "c").sensors == ("y1", "y2")
    assert len(together.choices) == 3 and together.best.label.startswith("speed + way (mass = ")


@pytest.mark.parametrize("kind", ["D", "A", "one"])
def test_gradients_of_criteria(kind: str) -> None:
    """∂value/∂F, and ∂F/∂u by second derivatives, against differences."""
    rng = np.random.default_rng(3)
    A, D = rng.standard_normal((6, 3)), rng.standard_normal((3, 3))
    F, dF = A.T @ A, D + D.T
    c = Criterion(kind, np.array([1.0, 20.0, 0.3]), 1)
    change = (c.value(F + 1e-6 * dF) - c.value(F - 1e-6 * dF)) / 2e-6
    assert np.einsum("pq,pq", c.gradient(F), dF) == pytest.approx(change, rel=1e-6)

    m = thrown_mass()
    s = simulation(m._solvers, 2.0, None, {})
    squared = vm.sensor(lambda s: s.displacement("guide") ** 2, [0.5, 1.0, 2.0], 0.1, name="y")
    search = _search(s, {"y": squared}, ["v0", "a"], None, {"x0": (0.0, 1.0)}, "D", None, None)
    exact = search.changes({"x0": 0.4})["y"][0]
    ahead, behind = (search.information({"x0": 0.4 + h})["y"] for h in (1e-4, -1e-4))
    assert exact == pytest.approx((ahead - behind) / 2e-4, rel=1e-6)


def test_priors_add_information(m: vm.Mechanism) -> None:
    one = vm.sensor(place, [1.0], 0.1, name="y")
    with pytest.raises(vm.ModelError, match="do not determine 'x0', 'v0', 'a'; add sensors"):
        m.experiment(one, list(TRUE))
    prior = {"x0": vm.Tolerance(0.3), "v0": vm.Tolerance(0.6), "a": vm.Tolerance(1.5)}
    e = m.experiment(one, list(TRUE), prior=prior)
    F = np.diag([0.1**-2, 0.2**-2, 0.5**-2]) + rows([1.0]).T @ rows([1.0]) / 0.01
    assert e.std[0].to_numpy() == pytest.approx(np.sqrt(np.diag(np.linalg.inv(F))), rel=1e-8)


def test_an_experiment_is_a_result(m: vm.Mechanism, tmp_path: Path) -> None:
    e = m.experiment(at_one_time(), list(TRUE), choose=3)
    assert "t=0 + t=1 + t=2" in str(e) and "38 more in the table" in str(e)
    assert list(e.table().columns) == ["efficiency", "x0", "v0", "a"]
    loaded = vm.Experiment.load(e.save(tmp_path / "e.nc"))
    assert (loaded.dataset["std"] == e.std).all()
    assert e.save(tmp_path / "e.csv").exists() and len(e.plot().axes) == 1


def test_what_makes_no_sense_is_refused(m: vm.Mechanism) -> None:
    y = vm.sensor(place, [1.0], 0.1, name="y")
    for sensors, options, text in (
        ([], {}, "no sensors; give at least one varimech.sensor"),
        ([y, y], {}, "two sensors are called 'y'"),
        ([vm.measurement(place, [1.0], [0.0])], {}, "is not a sensor"),
        (y, {"choose": 2}, "choose = 2 must be a whole number from 1 to .* 1"),
        (y, {"criterion": "E"}, "no criterion is called 'E'"),
        (y, {"narrow": "b"}, "no parameter to be found is called 'b'"),
        (y, {"tune": {"mass": (0, 1)}}, "no parameter is called 'mass'"),
        (y, {"tune": {"v0": (0, 1)}}, "'v0' is a setting of the excitation and in over="),
        (y, {"tune": {"x0": 1.0}}, "tune = .*'x0' needs a pair|x0"),
        (y, {"settings": []}, "settings = .* is empty"),
        (y, {"settings": [{"x0": 0}], "tune": {"x0": (0, 1)}}, "give one of the two"),
    ):
        with pytest.raises(vm.ModelError, match=text):
            m.experiment(sensors, ["v0", "a"], **options, duration=2.0)  # type: ignore[arg-type]
    for times, sigma, text in (
        ([-1.0], 0.1, "times"),
        ([1.0], 0.0, "sigma = 0.0 must be a positive number"),
        ([1.0], [0.1], "sigma"),
    ):
        with pytest.raises(vm.ModelError, match=text):
            vm.sensor(place, times, sigma)  # type: ignore[arg-type]
