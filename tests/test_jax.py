"""A problem as a function of JAX: derivatives of every kind equal those of the analyses; JAX's own
check of derivatives passes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.benchmarks import five_bar

jax = pytest.importorskip("jax")
jnp = jax.numpy

NAMES = ["Ls1", "L_A1"]


@pytest.fixture(autouse=True)
def _double_precision() -> Iterator[None]:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


@pytest.fixture(scope="module")
def p() -> vm.Problem:
    return five_bar.mechanism().problem(five_bar.objectives(), NAMES, duration=0.3, step=5e-3)


@pytest.fixture(scope="module")
def f(p: vm.Problem) -> Any:
    return p.jax()


@pytest.fixture(scope="module")
def rows(f: Any) -> np.ndarray:
    return f.function.x0 + np.array([[0.0, 0.0], [0.05, -0.02], [-0.03, 0.02]])


def relative(found: Any, expected: Any) -> float:
    return float(np.abs(np.asarray(found) - expected).max() / np.abs(expected).max())


def test_gradients_are_those_of_the_problem(p: vm.Problem, f: Any) -> None:
    g, x = p.gradient(), f.function.x0
    assert relative(f(x), g.values.to_numpy()) < 1e-12
    expected = g.gradient.to_numpy()
    for jacobian in (jax.jacrev, jax.jacfwd):
        assert relative(jacobian(f)(x), expected) < 1e-12
        assert relative(jax.jit(jacobian(f))(x), expected) < 1e-12
    values, gradient = jax.value_and_grad(lambda x: f(x)[1])(x)
    assert relative(gradient, expected[1]) < 1e-12 and values == f(x)[1]
    tangent = np.array([0.3, -2.0])
    assert relative(jax.jvp(f, (x,), (tangent,))[1], expected @ tangent) < 1e-12


def test_jax_checks_derivatives_to_second_order(f: Any, rows: np.ndarray) -> None:
    from jax.test_util import check_grads

    check_grads(f, (f.function.x0,), order=2)
    check_grads(jax.jit(f), (f.function.x0,), order=2, modes=["rev"])
    check_grads(f, (rows,), order=1)


SECOND: dict[str, Callable[[Any], Any]] = {
    "forward over reverse": lambda f: jax.jacfwd(jax.jacrev(f)),
    "reverse over reverse": lambda f: jax.jacrev(jax.jacrev(f)),
    "reverse over forward": lambda f: jax.jacrev(jax.jacfwd(f)),
    "forward over forward": lambda f: jax.jacfwd(jax.jacfwd(f)),
}


@pytest.mark.parametrize("kind", SECOND)
def test_second_derivatives(kind: str, p: vm.Problem, f: Any, rows: np.ndarray) -> None:
    H = SECOND[kind](f)
    assert relative(H(f.function.x0), p.hessian().hessian.to_numpy()) < 1e-12
    expected = f.function.hessian(rows)
    assert relative(jax.jit(jax.vmap(H))(rows), expected) < 1e-12


def test_vmap_is_one_batch(
    p: vm.Problem, rows: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = p.jax()
    sizes: list[int] = []
    values, first, second = (getattr(f.function._runs, n) for n in ("values", "first", "second"))

    def counted(call: Any) -> Any:
        def counting(points: np.ndarray, *more: Any) -> Any:
            sizes.append(len(points))
            return call(points, *more)

        return counting

    for name, call in {"values": values, "first": first, "second": second}.items():
        monkeypatch.setattr(f.function._runs, name, counted(call))
    assert relative(jax.vmap(f)(rows), f.function(rows)) == 0
    grid = jnp.stack([rows, rows])
    jax.jit(jax.vmap(jax.vmap(f)))(grid)
    jax.vmap(jax.jacrev(f))(rows)
    jax.vmap(jax.hessian(f))(rows)
    assert sizes[:4] == [3, 3, 6, 3]
    # Hessians: first derivatives of the rows, and a run along each parameter
    assert sizes[4:] == [3, 6]


def test_hessian_vector_products_are_one_run(
    p: vm.Problem, f: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    g, calls = p.jax(), list[int]()
    second = g.function._runs.second

    def counted(points: np.ndarray, directions: np.ndarray) -> Any:
        calls.append(len(points))
        return second(points, directions)

    monkeypatch.setattr(g.function._runs, "second", counted)
    x, v = f.function.x0, np.array([0.3, -2.0])
    scalar = jax.grad(lambda x: g(x)[0])
    expected = f.function.hessian(x)[0] @ v
    assert relative(jax.jit(lambda v: jax.jvp(scalar, (x,), (v,))[1])(v), expected) < 1e-12
    assert relative(jax.grad(lambda x: scalar(x) @ v)(x), expected) < 1e-12
    assert calls == [1, 1]


def test_a_network_before_and_a_loss_after(f: Any) -> None:
    """Chain rule through other code of JAX, against differences."""
    x0 = f.function.x0

    def loss(w: Any) -> Any:
        return jnp.log(jnp.sum(f(x0 * (1 + 0.05 * jnp.tanh(w))) ** 2))

    w, h, value, gradient = np.array([0.2, -0.4]), 1e-4, jax.jit(loss), jax.jit(jax.grad(loss))
    differences = [(value(w + h * d) - value(w - h * d)) / (2 * h) for d in np.eye(2)]
    np.testing.assert_allclose(gradient(w), differences, rtol=1e-6)
    second = [(gradient(w + h * d) - gradient(w - h * d)) / (2 * h) for d in np.eye(2)]
    np.testing.assert_allclose(jax.jit(jax.hessian(loss))(w), second, rtol=1e-5)


def test_failed_rows_can_be_left_out(f: Any, rows: np.ndarray) -> None:
    x = rows.copy()
    x[1] = [np.nan, 9.0]

    def loss(x: Any) -> Any:
        values = f(x)
        return (jnp.where(jnp.isfinite(values), values, 0.0) ** 2).sum()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gradient = np.asarray(jax.jit(jax.grad(loss))(x))
    assert [type(w.message) for w in caught] == [vm.FailedRunsWarning]
    np.testing.assert_array_equal(gradient[1], 0.0)
    assert relative(gradient[[0, 2]], jax.jit(jax.grad(loss))(x[[0, 2]])) < 1e-12
    with warnings.catch_warnings(action="ignore", category=vm.FailedRunsWarning):
        along = jax.jit(lambda x: jax.jvp(jax.grad(loss), (x,), (jnp.ones_like(x),))[1])(x)
        second = jax.jit(jax.grad(lambda x: jax.grad(loss)(x).sum()))(x)
    assert np.isfinite(along).all() and relative(along, np.asarray(second)) < 1e-12


def test_large_batches_do_not_block(p: vm.Problem) -> None:
    f = p.with_options(duration=0.01).jax()
    x = f.function.x0 + 1e-3 * np.random.default_rng(1).normal(size=(3000, 2))
    assert relative(jax.jit(jax.vmap(f))(x), f.function(x)) == 0


def test_bad_input(p: vm.Problem, f: Any) -> None:
    x = f.function.x0
    with pytest.raises(vm.ModelError, match=r"jax: x has elements of type float32.*x.astype"):
        f(jnp.asarray(x, dtype=jnp.float32))
    with pytest.raises(vm.ModelError, match=r"jax: x has the shape \(3,\); .* Ls1, L_A1"):
        jax.jit(f)(jnp.zeros(3))
    with pytest.raises(vm.ModelError, match="third derivatives are not available"):
        jax.jacfwd(jax.hessian(f))(x)
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(vm.ModelError, match=r'jax.config.update\("jax_enable_x64", True\)'):
        f(x)
    jax.config.update("jax_enable_x64", True)
    with pytest.raises(Exception, match="the run failed, at Ls1 = nan m"):
        np.asarray(p.jax(failures="raise")(jnp.full(2, jnp.nan)))
    assert repr(f).startswith("<JAX: <Function of 'five-bar'")
