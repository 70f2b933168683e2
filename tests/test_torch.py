"""A problem as a function of PyTorch: derivatives of every kind equal those of the analyses;
PyTorch's own checks of derivatives pass.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from markdown_pages import DOCS, run_page

import varimech as vm
from varimech.benchmarks import five_bar

torch = pytest.importorskip("torch")

NAMES = ["Ls1", "L_A1"]


@pytest.fixture(scope="module")
def p() -> vm.Problem:
    return five_bar.mechanism().problem(five_bar.objectives(), NAMES, duration=0.3, step=5e-3)


@pytest.fixture(scope="module")
def f(p: vm.Problem) -> Any:
    return p.torch()


@pytest.fixture(scope="module")
def rows(f: Any) -> Any:
    return torch.tensor(f.function.x0 + np.array([[0.0, 0.0], [0.05, -0.02], [-0.03, 0.02]]))


def start(f: Any) -> Any:
    return torch.tensor(f.function.x0, requires_grad=True)


def relative(found: Any, expected: np.ndarray) -> float:
    return float(np.abs(found.detach().numpy() - expected).max() / np.abs(expected).max())


def test_gradients_are_those_of_the_problem(p: vm.Problem, f: Any) -> None:
    g, x = p.gradient(), start(f)
    values, expected = f(x), g.gradient.to_numpy()
    assert relative(values, g.values.to_numpy()) < 1e-12
    (gradient,) = torch.autograd.grad(values[1], x)
    assert relative(gradient, expected[1]) < 1e-12
    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        assert relative(jacobian(f)(x.detach()), expected) < 1e-12
    assert relative(torch.autograd.functional.jacobian(f, x), expected) < 1e-12
    tangent = torch.tensor([0.3, -2.0], dtype=torch.float64)
    along = torch.func.jvp(f, (x.detach(),), (tangent,))[1]
    assert relative(along, expected @ tangent.numpy()) < 1e-12


def test_torch_checks_derivatives(f: Any, rows: Any) -> None:
    x = rows.clone().requires_grad_()
    assert torch.autograd.gradcheck(f, (x,), check_forward_ad=True)
    assert torch.autograd.gradcheck(f, (start(f),), check_batched_grad=True)
    assert torch.autograd.gradgradcheck(f, (x,), check_fwd_over_rev=True)


SECOND: dict[str, Callable[[Any], Any]] = {
    "forward over reverse": lambda f: torch.func.hessian(f),
    "reverse over reverse": lambda f: torch.func.jacrev(torch.func.jacrev(f)),
    "reverse over forward": lambda f: torch.func.jacrev(torch.func.jacfwd(f)),
}


@pytest.mark.parametrize("kind", SECOND)
def test_second_derivatives(kind: str, p: vm.Problem, f: Any, rows: Any) -> None:
    H = SECOND[kind](f)
    assert relative(H(start(f).detach()), p.hessian().hessian.to_numpy()) < 1e-12
    expected = f.function.hessian(rows.numpy())
    assert relative(torch.func.vmap(H)(rows), expected) < 1e-12


def test_forward_over_forward_is_refused(f: Any) -> None:
    """PyTorch would give a wrong result without a word."""
    with pytest.raises(vm.ModelError, match=r"forward over forward .* use torch.func.hessian"):
        torch.func.jacfwd(torch.func.jacfwd(f))(start(f).detach())


def counting(f: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Runs of a function, by their kind, with their numbers of rows."""
    calls: list[tuple[str, int]] = []

    def counted(name: str, call: Any) -> Any:
        def count(points: np.ndarray, *more: Any) -> Any:
            calls.append((name, len(points)))
            return call(points, *more)

        return count

    for name in ("values", "first", "second"):
        call = getattr(f.function._runs, name)
        monkeypatch.setattr(f.function._runs, name, counted(name, call))
    return calls


def test_value_and_gradient_are_one_run(p: vm.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    f = p.torch()
    calls = counting(f, monkeypatch)
    x = start(f)
    f(x)[0].backward()
    with torch.no_grad():
        f(x)
    scalar = f(x)[0]
    (gradient,) = torch.autograd.grad(scalar, x, create_graph=True)
    torch.autograd.grad(gradient @ torch.tensor([0.3, -2.0], dtype=torch.float64), x)
    expected = [("first", 1), ("values", 1), ("first", 1), ("second", 1)]
    assert calls == expected


def test_vmap_is_one_batch(p: vm.Problem, rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    f = p.torch()
    calls = counting(f, monkeypatch)
    torch.func.vmap(f)(rows)
    torch.func.vmap(torch.func.grad(lambda x: f(x)[0]))(rows)
    torch.func.vmap(torch.func.jacfwd(f))(rows)
    torch.func.vmap(f, in_dims=1)(rows.T)
    assert calls == [("values", 3), ("first", 3), ("first", 3), ("values", 3)]
    assert relative(torch.func.vmap(f)(rows), f.function(rows.numpy())) == 0


def test_a_network_before_and_a_loss_after(f: Any) -> None:
    """Chain rule through a layer in single precision, against differences in double precision."""
    x0 = torch.tensor(f.function.x0)

    def loss(w: Any) -> Any:
        return torch.log((f(x0 * (1 + 0.05 * torch.tanh(w.double()))) ** 2).sum())

    w, h = torch.tensor([0.25, -0.5], dtype=torch.float64), 1e-4
    unit = torch.eye(2, dtype=torch.float64)
    differences = [float((loss(w + h * d) - loss(w - h * d)) / (2 * h)) for d in unit]
    single = w.float().requires_grad_()
    loss(single).backward()
    assert single.grad.dtype == torch.float32
    np.testing.assert_allclose(single.grad.numpy(), differences, rtol=1e-5)
    assert torch.autograd.gradgradcheck(loss, (w.clone().requires_grad_(),))


def test_failed_rows_can_be_left_out(f: Any, rows: Any) -> None:
    x = rows.clone()
    x[1] = torch.tensor([np.nan, 9.0])
    x.requires_grad_()

    def loss(x: Any) -> Any:
        values = f(x)
        return (torch.where(torch.isfinite(values), values, 0.0) ** 2).sum()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (gradient,) = torch.autograd.grad(loss(x), x, create_graph=True)
        (second,) = torch.autograd.grad(gradient.sum(), x)
    assert [type(w.message) for w in caught] == [vm.FailedRunsWarning]
    good = rows[[0, 2]].clone().requires_grad_()
    (expected,) = torch.autograd.grad(loss(good), good, create_graph=True)
    (curved,) = torch.autograd.grad(expected.sum(), good)
    for found, alone in ((gradient, expected), (second, curved)):
        assert (found[1] == 0).all()
        assert relative(found[[0, 2]], alone.detach().numpy()) < 1e-12


def test_bad_input(p: vm.Problem, f: Any) -> None:
    with pytest.raises(vm.ModelError, match=r"type torch.float32, .*; convert it: x.double\(\)"):
        f(torch.zeros(2))
    with pytest.raises(vm.ModelError, match=r"torch: x has the shape \(3,\); .* Ls1, L_A1"):
        f(torch.zeros(3, dtype=torch.float64))
    with pytest.raises(vm.ModelError, match=r"torch: x = 'ndarray' must be a torch.Tensor"):
        f(np.zeros(2))
    with pytest.raises(vm.ModelError, match="third derivatives are not available"):
        torch.func.jacrev(torch.func.hessian(f))(start(f).detach())
    with pytest.raises(vm.VarimechError, match="the run failed, at Ls1 = nan m"):
        p.torch(failures="raise")(torch.full((2,), np.nan, dtype=torch.float64))
    assert repr(f).startswith("<PyTorch: <Function of 'five-bar'")


def test_blocks_of_the_page_run() -> None:
    jax = pytest.importorskip("jax")
    try:
        run_page(DOCS / "frameworks.md")
    finally:
        jax.config.update("jax_enable_x64", False)
