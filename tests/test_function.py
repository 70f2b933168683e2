"""A problem as a function of a vector: equal to the analyses, to a closed form and to differences;
batches row by row; failures named once.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from fake_gpu import COMPILER, fake_cupy
from oscillator import oscillator, x_of
from scipy.optimize import minimize

import varimech as vm
from varimech.benchmarks import five_bar

NAMES = ["Ls1", "L_A1", "m_A1"]
SPREAD = np.array([0.05, 0.02, 0.1])


def problem(**options: Any) -> vm.Problem:
    given: dict[str, Any] = {"duration": 0.3, "step": 5e-3} | options
    return five_bar.mechanism().problem(five_bar.objectives(), NAMES, **given)


@pytest.fixture(scope="module")
def p() -> vm.Problem:
    return problem()


@pytest.fixture(scope="module")
def f(p: vm.Problem) -> vm.Function:
    return p.function()


@pytest.fixture(scope="module")
def rows(f: vm.Function) -> np.ndarray:
    return f.x0 + SPREAD * np.random.default_rng(1).uniform(-1, 1, (4, 3))


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def test_it_is_what_the_analyses_give(p: vm.Problem, f: vm.Function) -> None:
    g = p.gradient()
    values, J = f.value_and_jacobian(f.x0)
    np.testing.assert_array_equal(values, g.values)
    np.testing.assert_array_equal(f(f.x0), g.values)
    np.testing.assert_array_equal(J, g.gradient)
    H = p.hessian().hessian.to_numpy()
    assert relative(f.hessian(f.x0), H) < 1e-12
    along = p.hessian_product({"Ls1": 0.5, "m_A1": -2.0}).to_numpy()
    assert relative(f.hessian_product(f.x0, [0.5, 0.0, -2.0]), along) < 1e-12
    assert f.parameters == tuple(NAMES) and f.objectives == ("psi1", "psi2", "psi3")
    assert repr(f) == "<Function of 'five-bar': (Ls1, L_A1, m_A1) → (psi1, psi2, psi3)>"


@pytest.mark.parametrize("options", [{"step": 5e-3}, {"step": None, "tolerance": 1e-8}])
def test_a_row_of_a_batch_is_its_own_gradient(options: dict[str, Any]) -> None:
    """With chosen steps, too: the same ones are chosen."""
    p = problem(**options)
    f = p.function()
    x = f.x0 + SPREAD * np.array([[1, 0, 0], [0, -1, 0.5], [-0.3, 0.3, 1]])
    values, J = f.value_and_jacobian(x)
    for k, row in enumerate(x):
        g = p.with_options(parameters=dict(zip(NAMES, row.tolist(), strict=True))).gradient()
        assert relative(values[k], g.values.to_numpy()) < 1e-12
        assert relative(J[k], g.gradient.to_numpy()) < 1e-12


def test_products_are_those_with_the_matrices(f: vm.Function, rows: np.ndarray) -> None:
    rng = np.random.default_rng(2)
    dx, w, W = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 3, 3))
    J, H = f.jacobian(rows), f.hessian(rows)
    assert relative(f.jvp(rows, dx), np.einsum("bij,bj->bi", J, dx)) < 1e-14
    assert relative(f.vjp(rows, w), np.einsum("bij,bi->bj", J, w)) < 1e-14
    assert relative(f.hessian_product(rows, dx), np.einsum("bijk,bk->bij", H, dx)) < 1e-12
    assert relative(f.hessian_contraction(rows, W), np.einsum("bijk,bij->bk", H, W)) < 1e-12
    np.testing.assert_array_equal(H, np.swapaxes(H, -1, -2))


def test_derivatives_are_those_of_differences(f: vm.Function) -> None:
    """Equal steps: values are smooth in x."""
    h = 1e-4 * np.eye(3)
    J = np.stack([(f(f.x0 + d) - f(f.x0 - d)) / 2e-4 for d in h], axis=-1)
    assert relative(f.jacobian(f.x0), J) < 1e-6
    H = np.stack([(f.jacobian(f.x0 + d) - f.jacobian(f.x0 - d)) / 2e-4 for d in h], axis=-1)
    assert relative(f.hessian(f.x0), H) < 1e-6


def test_the_oscillator_in_closed_form() -> None:
    """x = x0 e^(−δt) (cos ωt + δ/ω sin ωt), differentiated by complex steps."""
    T = 0.4

    def exact(k: Any, c: Any, m: Any) -> Any:
        δ = c / (2 * m)
        ω = np.sqrt(k / m - δ**2)
        return 0.1 * np.exp(-δ * T) * (np.cos(ω * T) + δ / ω * np.sin(ω * T))

    m = oscillator()
    f = m.problem(vm.final(x_of), ["k", "c", "m"], duration=T, tolerance=1e-11).function()
    x = f.x0
    expected = [exact(*(x + 1e-30j * d)).imag / 1e-30 for d in np.eye(3)]
    assert abs(f(x)[0] - exact(*x)) < 1e-10
    np.testing.assert_allclose(f.jacobian(x)[0], expected, rtol=1e-7)
    h = 1e-5 * x
    second = [
        [
            (
                exact(*(x + h[j] * np.eye(3)[j] + 1e-30j * np.eye(3)[i])).imag
                - exact(*(x - h[j] * np.eye(3)[j] + 1e-30j * np.eye(3)[i])).imag
            )
            / (2e-30 * h[j])
            for j in range(3)
        ]
        for i in range(3)
    ]
    np.testing.assert_allclose(f.hessian(x)[0], second, rtol=1e-6)


def test_any_number_of_leading_dimensions(f: vm.Function, rows: np.ndarray) -> None:
    x = rows.reshape(2, 2, 3)
    np.testing.assert_array_equal(f(x), f(rows).reshape(2, 2, 3))
    np.testing.assert_array_equal(f.jacobian(x), f.jacobian(rows).reshape(2, 2, 3, 3))
    assert f.hessian(x).shape == (2, 2, 3, 3, 3)
    along = f.hessian_product(f.x0, np.eye(3))  # one x, several directions
    assert relative(np.moveaxis(along, 0, 1), f.hessian(f.x0)) < 1e-12
    assert f(np.zeros((0, 3))).shape == (0, 3)
    assert f.jacobian(np.zeros((0, 3))).shape == (0, 3, 3)


@pytest.mark.parametrize("executor", [None, 1, 3])
def test_adjoint_batches_and_threads(
    p: vm.Problem, f: vm.Function, rows: np.ndarray, executor: int | None
) -> None:
    adjoint = p.function("adjoint", executor=executor)
    np.testing.assert_array_equal(p.function(executor=executor)(rows), f(rows))
    assert relative(adjoint.jacobian(rows), f.jacobian(rows)) < 1e-11
    assert relative(adjoint.jacobian(rows[0]), f.jacobian(rows[0])) < 1e-11


@pytest.mark.skipif(COMPILER is None, reason="no compiler")
def test_batches_on_a_gpu(
    p: vm.Problem, f: vm.Function, rows: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    on_gpu = p.function(executor="cuda")
    assert relative(on_gpu(rows), f(rows)) < 1e-12
    assert relative(on_gpu.jacobian(rows), f.jacobian(rows)) < 1e-12
    some = np.vstack([rows[:2], [2.2, 9.0, 1.0]])
    with pytest.warns(vm.FailedRunsWarning, match="1 of 3 runs failed, the first one in row 2"):
        values = on_gpu(some)
    assert relative(values[:2], f(rows[:2])) < 1e-12 and np.isnan(values[2]).all()


@pytest.fixture(scope="module")
def bad(rows: np.ndarray) -> np.ndarray:
    """NaN in row 1, a crank that cannot be assembled in row 2, a negative mass in row 3."""
    x = rows.copy()
    x[1, 0], x[2, 1], x[3, 2] = np.nan, 9.0, -1.0
    return x


def test_failed_rows_are_nan_and_named_once(
    f: vm.Function, rows: np.ndarray, bad: np.ndarray
) -> None:
    calls = {
        "value": (f.value, f(rows[:1])),
        "jacobian": (f.jacobian, f.jacobian(rows[:1])),
        "hessian": (f.hessian, f.hessian(rows[:1])),
    }
    for call, expected in calls.values():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = call(bad)
        assert relative(found[:1], expected) < 1e-12
        assert np.isnan(found[1:]).all()
        (warning,) = caught
        assert isinstance(warning.message, vm.FailedRunsWarning)
        assert "Ls1 = nan m" in str(warning.message)
        assert "value nan is not finite" in str(warning.message)
        assert any(isinstance(e, vm.AssemblyError) for e in warning.message.failures.values())
    with pytest.warns(vm.FailedRunsWarning, match="3 of 4 runs failed, the first one in row 1"):
        f(bad)


def test_weights_of_zero_leave_failed_rows_out(
    f: vm.Function, rows: np.ndarray, bad: np.ndarray
) -> None:
    w = np.zeros((4, 3))
    w[0] = 1.0
    with pytest.warns(vm.FailedRunsWarning):
        found = f.vjp(bad, w)
    np.testing.assert_array_equal(found[1:], 0.0)
    assert relative(found[0], f.vjp(rows[0], w[0])) < 1e-12


def test_failures_may_be_raised(p: vm.Problem, f: vm.Function, bad: np.ndarray) -> None:
    strict = p.function(failures="raise")
    with pytest.raises(vm.VarimechError, match=r"3 of 4 runs failed, the first one in row 1, at"):
        strict(bad)
    with pytest.raises(vm.VarimechError, match=r"the run failed, at .* m_A1 = .*AssemblyError"):
        strict.jacobian(bad[2])
    with pytest.raises(vm.VarimechError, match="value nan is not finite"):
        strict.hessian_product(bad[1], np.ones(3))
    with pytest.warns(vm.FailedRunsWarning, match="the run failed"):
        assert np.isnan(f.jacobian(bad[2])).all()


def test_directions_that_are_not_finite_take_no_run(f: vm.Function, rows: np.ndarray) -> None:
    along = f.hessian_product(rows[:2], [[np.nan, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert np.isnan(along[0]).all() and np.isfinite(along[1]).all()


def test_bad_input(p: vm.Problem, f: vm.Function) -> None:
    with pytest.raises(vm.ModelError, match=r"function: x has the shape \(2,\); .* 3 values: Ls1"):
        f([1.0, 2.0])
    with pytest.raises(vm.ModelError, match="function: x has elements of type complex128"):
        f([1.0, 2.0, 3j])
    with pytest.raises(vm.ModelError, match=r"function: tangent has the shape \(2,\)"):
        f.jvp(f.x0, [1.0, 2.0])
    with pytest.raises(vm.ModelError, match=r"function: weights has the shape \(4,\)"):
        f.vjp(f.x0, np.ones(4))
    with pytest.raises(vm.ModelError, match=r"weights has the shape \(3,\); give \(…, 3, 3\)"):
        f.hessian_contraction(f.x0, np.ones(3))
    with pytest.raises(
        vm.ModelError, match="no method is called 'adjiont'; did you mean 'adjoint'"
    ):
        p.function("adjiont")
    with pytest.raises(vm.ModelError, match="failures = 'ignore' must be 'nan' or 'raise'"):
        p.function(failures="ignore")
    with pytest.raises(vm.ModelError, match="executor = 'gpu' must be a number of threads, 'cuda'"):
        p.function(executor="gpu")
    with pytest.raises(vm.ModelError, match="executor = 0 must be a whole number"):
        p.function(executor=0)
    with pytest.raises(vm.ModelError, match="function: there is no objective"):
        five_bar.mechanism().problem([], duration=1.0).function()


def test_what_no_row_could_do_is_an_error() -> None:
    step = five_bar.mechanism().problem(
        vm.final(lambda s: vm.sign(s.position("1")[0])), "Ls1", duration=0.1, step=0.01
    )
    assert step.function()([[2.2], [2.3]]).tolist() == [[-1.0], [-1.0]]
    for x in ([2.2], [[2.2], [2.3]]):
        for call in (step.function().jacobian, step.function().hessian):
            with pytest.raises(vm.ModelError, match="'psi1' has no gradient"):
                call(x)
    own_steps = problem(integrator="cvodes", step=None)
    with pytest.raises(vm.ModelError, match="method 'adjoint' is the adjoint of the steps taken"):
        own_steps.function("adjoint")
    f = own_steps.function()
    with pytest.raises(vm.ModelError, match="second derivatives cannot be combined with"):
        f.hessian(f.x0)


def test_a_changed_mechanism_asks_for_a_new_problem() -> None:
    m = oscillator()
    f = m.problem(vm.final(x_of), "k", duration=0.1, step=0.01).function()
    x = f.x0
    m.parameter("new", 1.0)
    for call in (f.value, f.jacobian, f.hessian):
        with pytest.raises(vm.ModelError, match="has been changed since; state the problem anew"):
            call(x)


def test_scipy_takes_it() -> None:
    """min (ψ − ψ(x*))² finds x*, with Newton's method by exact Hessians."""
    f = problem(duration=0.1).function()
    target = f([2.3, 1.42, 1.0])

    def fun(x: np.ndarray) -> tuple[float, np.ndarray]:
        values, J = f.value_and_jacobian(np.array([x[0], 1.42, 1.0]))
        return float((values - target) @ (values - target)), 2 * (values - target) @ J[:, :1]

    found = minimize(fun, [2.2], jac=True, method="BFGS", tol=1e-12)
    assert abs(found.x[0] - 2.3) < 1e-6


def test_frameworks_are_imported_when_asked_for() -> None:
    code = (
        "import sys, varimech as vm; from varimech.benchmarks import five_bar;"
        "m = five_bar.mechanism();"
        "f = m.problem(five_bar.objectives(), 'Ls1', duration=0.1).function(); f(f.x0);"
        "assert not {'jax', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("name", "title"), [("jax", "JAX"), ("torch", "PyTorch")])
def test_missing_packages_are_named_with_their_extra(
    p: vm.Problem, name: str, title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(vm.ModelError, match=rf"{title} is not installed; .*varimech\[{name}\]"):
        getattr(p, name)()
