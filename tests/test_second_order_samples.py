"""Hessian-vector products of many samples: equal to those of single runs, on the CPU and on a GPU (as
far as that can be tested without one); what cannot be computed together is computed by itself.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from fake_gpu import COMPILER, fake_cupy

import varimech as vm
from varimech.analyses import row_runs
from varimech.benchmarks import bouncing_ball, five_bar
from varimech.solving import ensemble_runs

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
COUNT = 3
SCHEMES: dict[str, dict[str, Any]] = {
    "equal steps": {"step": 0.05, "integrator": "dop853"},
    "chosen steps": {"tolerance": 1e-5},
    "trapezoidal rule": {"step": 0.02, "formulation": "ali3p"},
    "independent coordinates": {"tolerance": 1e-5, "formulation": "independent"},
}


def five_bars(scheme: str) -> vm.Problem:
    names = list(five_bar.PARAMETERS)
    options = {"duration": 1.0, "progress": False, **SCHEMES[scheme]}
    return five_bar.mechanism().problem(five_bar.objectives(), names, **options)


def points_of(f: vm.Function) -> tuple[np.ndarray, np.ndarray]:
    """Rows of parameter values, the first ones those of the problem, and of directions."""
    rng = np.random.default_rng(3)
    x = f.x0 * (1 + 0.01 * rng.uniform(-1, 1, (COUNT, f.x0.size)))
    x[0] = f.x0
    return x, rng.normal(size=x.shape)


def alone(p: vm.Problem, x: np.ndarray, d: np.ndarray, method: str = "auto") -> np.ndarray:
    """Products of single runs."""
    names = p.function().parameters
    values, along = (dict(zip(names, row.tolist(), strict=True)) for row in (x, d))
    here = p.with_options(parameters=values)
    return here.hessian_product(along, method=method).to_numpy()


def check_close(computed: np.ndarray, expected: np.ndarray) -> None:
    """To rounding, relative to the largest second derivative of each objective."""
    size = np.abs(expected).max(axis=(0, 2), keepdims=True)
    assert (np.abs(computed - expected) / size).max() < 1e-12


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> None:
    """No row is computed by itself."""

    def refused(self: Any, point: np.ndarray, *others: Any) -> np.ndarray:
        raise AssertionError(f"{point} is computed by itself")

    monkeypatch.setattr(row_runs.RowRuns, "_along", refused)


@pytest.mark.parametrize("method", ["forward", "backward"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_batches_have_the_products_of_single_runs(
    scheme: str, method: str, together: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_runs, "faster_backward", lambda *sizes: method == "backward")
    p = five_bars(scheme)
    f = p.function()
    x, d = points_of(f)
    expected = np.stack([alone(p, *row, method) for row in zip(x, d, strict=True)])
    check_close(f.hessian_product(x, d), expected)


@needs_compiler
@pytest.mark.parametrize("method", ["forward", "backward"])
@pytest.mark.parametrize("scheme", ["equal steps", "chosen steps"])
def test_a_gpu_has_the_products_of_the_processor(
    scheme: str, method: str, together: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_runs, "faster_backward", lambda *sizes: method == "backward")
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    p = five_bars(scheme)
    f, on_gpu = p.function(), p.function(executor="cuda")
    x, d = points_of(f)
    check_close(on_gpu.hessian_product(x, d), f.hessian_product(x, d))
    if method == "forward":
        W = np.random.default_rng(4).normal(size=(COUNT, 3, 5))
        computed, expected = (g.hessian_contraction(x, W) for g in (on_gpu, f))
        np.testing.assert_allclose(computed, expected, rtol=1e-11)


@needs_compiler
def test_products_are_differences_of_gradients(
    together: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both on the GPU; (J(x + εd) − J(x − εd)) / 2ε has an error of ε² times fourth derivatives."""
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    f = five_bars("equal steps").function(executor="cuda")
    x, d = points_of(f)
    d, ε = d * f.x0, 1e-5
    difference = (f.jacobian(x + ε * d) - f.jacobian(x - ε * d)) / (2 * ε)
    size = np.abs(difference).max(axis=(0, 2), keepdims=True)
    assert (np.abs(f.hessian_product(x, d) - difference) / size).max() < 1e-7


def test_rows_that_fail_together_are_computed_by_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A row without a solution; and others where there is no place for the steps they need."""
    p = five_bars("chosen steps")
    f = p.function()
    x, d = points_of(f)
    expected = f.hessian_product(x, d)
    monkeypatch.setattr(ensemble_runs, "MORE_STEPS", 0)
    monkeypatch.setattr(ensemble_runs, "LEAST_STEPS", 4)
    alone, rows = row_runs.RowRuns._along, list[np.ndarray]()

    def noted(self: Any, point: np.ndarray, *others: Any) -> np.ndarray:
        rows.append(point)
        return alone(self, point, *others)

    monkeypatch.setattr(row_runs.RowRuns, "_along", noted)
    x[1] = np.nan
    with pytest.warns(vm.FailedRunsWarning, match="1 of 3 runs failed, the first one in row 1"):
        computed = f.hessian_product(x, d)
    assert len(rows) == COUNT
    assert np.isnan(computed[1]).all()
    check_close(computed[[0, 2]], expected[[0, 2]])


@needs_compiler
def test_events_are_passed_by_single_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    m, duration = bouncing_ball.mechanism(), bouncing_ball.DURATION
    p = m.problem(bouncing_ball.objectives(), ["h", "e"], duration=duration, tolerance=1e-9)
    f = p.function(executor="cuda")
    x, d = points_of(f)
    expected = np.stack([alone(p, *row) for row in zip(x, d, strict=True)])
    check_close(f.hessian_product(x, d), expected)
