"""Fits against closed forms: parameters, confidence intervals, what data cannot tell, and what is
said of data that make no sense.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oscillator import oscillator
from scipy.stats import norm, t

import varimech as vm

TRUE = {"k": 100.0, "c": 1.0, "x0": 0.1}
TIMES = np.linspace(0.05, 2.0, 40)


VALUES = {"k": 80.0, "c": 0.5, "x0": 0.08, "m": 1.0, "idle": 1.0}


def exact(x: np.ndarray, times: np.ndarray = TIMES) -> np.ndarray:
    """Its motion in closed form, for k, c and x₀."""
    k, c, x0 = x
    ω, δ = np.sqrt(k - c * c / 4), c / 2
    return np.asarray(x0 * np.exp(-δ * times) * (np.cos(ω * times) + δ / ω * np.sin(ω * times)))


def slopes(x: np.ndarray) -> np.ndarray:
    """Derivatives of the closed form, by central differences."""
    h = 1e-5 * x
    return np.stack([(exact(x + d) - exact(x - d)) / (2 * d.sum()) for d in np.diag(h)], axis=1)


def position(s: vm.State) -> Any:
    return s.displacement("guide")


@pytest.fixture(scope="module")
def m() -> vm.Mechanism:
    return oscillator(VALUES)


def noisy(seed: int, sigma: float = 0.002) -> np.ndarray:
    return exact(np.array(list(TRUE.values()))) + sigma * np.random.default_rng(
        seed
    ).standard_normal(TIMES.size)


def test_exact_data_give_exact_parameters(m: vm.Mechanism) -> None:
    began = time.perf_counter()
    f = m.fit(vm.measurement(position, TIMES, exact(np.array(list(TRUE.values())))), list(TRUE))
    assert 0 < f.seconds < time.perf_counter() - began
    assert f.converged and f.parameters == pytest.approx(TRUE, rel=1e-8)
    assert f.residual_deviation["y1"] < 1e-10 and f.chi2 is None and f.undetermined == ()


@pytest.mark.parametrize("sigma", [None, 0.002])
def test_intervals_are_those_of_the_linearised_closed_form(
    m: vm.Mechanism, sigma: float | None
) -> None:
    data = noisy(1)
    f = m.fit(
        vm.measurement(position, TIMES, data, sigma=sigma, name="x", unit="m"),
        list(TRUE),
        level=0.9,
    )
    r, J = exact(f.x) - data, slopes(f.x)
    assert (
        np.abs(J.T @ r).max() < 1e-6 * np.abs(J).max() * np.abs(r).max()
    )  # the normal equations hold
    free = TIMES.size - 3
    variance = float(r @ r) / free if sigma is None else sigma**2
    covariance = variance * np.linalg.inv(J.T @ J)
    assert f.covariance.to_numpy() == pytest.approx(covariance, rel=1e-5)
    half = (t.ppf(0.95, free) if sigma is None else norm.ppf(0.95)) * np.sqrt(np.diag(covariance))
    assert f.intervals["upper"].to_numpy() - f.x == pytest.approx(half, rel=1e-5)
    assert f.correlation.sel(parameter="k", parameter2="k").item() == pytest.approx(1)
    assert f.residual_deviation["x"] == pytest.approx(math.sqrt(r @ r / free), rel=1e-6)
    assert (
        f.chi2 is None
        if sigma is None
        else f.chi2 == pytest.approx(r @ r / free / sigma**2, rel=1e-6)
    )
    for word in ("90 % from", "N·s/m", "converged", "residual standard deviation", "m"):
        assert word in repr(f)


def test_intervals_hold_the_truth_as_often_as_they_say(m: vm.Mechanism) -> None:
    hits = 0
    for seed in range(60):
        row = m.fit(
            vm.measurement(position, TIMES, noisy(100 + seed)),
            list(TRUE),
            start=TRUE,
            tolerance=1e-8,
        ).intervals.loc["k"]
        hits += bool(row["lower"] <= 100.0 <= row["upper"])
    assert 51 <= hits <= 60  # 57 expected of 60, with a deviation of 1.7


def test_what_the_data_cannot_determine_is_named(m: vm.Mechanism) -> None:
    f = m.fit(vm.measurement(position, TIMES, noisy(1), unit="m"), [*TRUE, "m", "idle"])
    assert set(f.undetermined) == {("k", "c", "m"), ("idle",)}
    table = f.intervals
    assert table["upper"].isna().to_dict() == {
        "k": True,
        "c": True,
        "x0": False,
        "m": True,
        "idle": True,
    }
    alone = m.fit(vm.measurement(position, TIMES, noisy(1), unit="m"), list(TRUE))
    assert table.loc["x0", "standard_error"] == pytest.approx(
        alone.intervals.loc["x0", "standard_error"], rel=1e-3
    )
    assert "do not determine 'k', 'c', 'm' separately" in repr(f)
    assert "do not determine 'idle': no measurement" in repr(f)
    few = m.fit(vm.measurement(position, TIMES[:2], noisy(1)[:2]), list(TRUE))
    assert few.intervals["upper"].isna().all() and few.undetermined


def test_vectors_several_measurements_and_bounds(m: vm.Mechanism, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    places = np.column_stack(
        [exact(np.array(list(TRUE.values()))), np.zeros(TIMES.size)]
    ) + 1e-3 * rng.standard_normal((40, 2))
    late = np.array([0.333, 1.777])
    f = m.fit(
        {
            "place": vm.measurement(lambda s: s.position("P"), TIMES, places, sigma=1e-3, unit="m"),
            "speed": vm.measurement(
                lambda s: s.displacement_rate("guide"),
                late,
                [-0.05, 0.1],
                sigma=[0.5, 0.5],
                unit="m/s",
            ),
        },
        ["k", "c", "x0"],
        bounds={"c": (0.0, 0.9)},
        duration=2.5,
    )
    assert f.parameters["c"] == pytest.approx(0.9, abs=1e-6)
    assert f.parameters["k"] == pytest.approx(100, rel=0.02)
    assert f.residuals["place"].shape == (40, 2) and f.chi2 is not None
    assert len(f.plot().axes) == 2
    assert f.run.displacement("guide", wrt="k").sizes["time"] == 501
    assert f.save(tmp_path / "fit.csv").read_text(encoding="utf-8").count("\n") == 4


def test_equal_steps_meet_the_samples(m: vm.Mechanism) -> None:
    f = m.fit(
        vm.measurement(position, TIMES, exact(np.array(list(TRUE.values())))),
        list(TRUE),
        step=0.001,
    )
    assert f.parameters == pytest.approx(TRUE, rel=2e-3)
    with pytest.raises(vm.ModelError, match=r"sample at 0.05 s is between steps of 0.02"):
        m.fit(vm.measurement(position, TIMES, noisy(1)), list(TRUE), step=0.02)


def test_results_are_stored_at_given_times(m: vm.Mechanism) -> None:
    run = m.simulate(1.0, output=[0.3, 0.1, 0.7], parameters=TRUE, tolerance=1e-11)
    assert run.time.tolist() == [0.0, 0.1, 0.3, 0.7, 1.0]
    assert run.displacement("guide").to_numpy() == pytest.approx(
        exact(np.array(list(TRUE.values())), run.time), abs=1e-10
    )
    for bad, message in (
        ([2.0], "outside the run"),
        (["a"], "list of times"),
        ([[0.1]], "list of times"),
        ([math.nan], "list of times"),
    ):
        with pytest.raises(vm.ModelError, match=message):
            m.simulate(1.0, output=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"times": [0.1, 0.2], "values": [1.0]}, r"values of shape \(1,\) for 2 times"),
        ({"times": [-0.1], "values": [1.0]}, "from 0 on"),
        ({"times": [0.1], "values": [math.nan]}, "not all finite"),
        ({"times": [0.1], "values": ["x"]}, "not numbers"),
        ({"times": [0.1], "values": [1.0], "sigma": 0.0}, "must be positive"),
        ({"times": [0.1, 0.2], "values": [1.0, 2.0], "sigma": [0.1, 0.1, 0.1]}, "does not match"),
        ({"times": [0.1], "values": [1.0], "function": 3}, "function of the state"),
    ],
)
def test_bad_measurements(words: dict[str, Any], message: str) -> None:
    with pytest.raises(vm.ModelError, match=message):
        vm.measurement(words.pop("function", position), **words)


def test_bad_fits(m: vm.Mechanism) -> None:
    y = vm.measurement(position, TIMES, noisy(1), unit="m")
    known = vm.measurement(position, TIMES, noisy(1), sigma=0.1, unit="m")
    speed = vm.measurement(lambda s: s.displacement_rate("guide"), TIMES, noisy(1), unit="m/s")
    for measured, words, message in (
        ([], {}, "no measurements"),
        ([3], {}, "not a measurement"),
        ([y, known], {}, "for all measurements or for none"),
        ([y, speed], {}, "need sigma="),
        (y, {"duration": 1.0}, "ends before the last sample"),
        (y, {"level": 2.0}, "probability"),
        (y, {"output": 0.1}, "remove output="),
        (y, {"over": []}, "over is empty"),
        (y, {"over": ["K"]}, "'K'"),
        (y, {"over": ["k"], "bounds": {"k": (90, 120)}}, "outside its bounds"),
        (
            vm.measurement(lambda s: s.position("P"), TIMES, noisy(1)),
            {},
            "returns 2 numbers, but samples have 1",
        ),
        (vm.measurement(position, [0.0], [0.1]), {}, "give duration="),
    ):
        with pytest.raises(vm.ModelError, match=message):
            m.fit(measured, **{"over": ["k"], **words})  # type: ignore[arg-type]
