"""Stationary designs that are no local minima: random polynomials with saddle points and maxima,
whose local minima are known otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import minimize

import varimech as vm
from varimech.cli.command_syntax import CommandSyntax
from varimech.optimization.attempt import Attempt
from varimech.optimization.design import settings_for
from varimech.optimization.design_problem import DesignProblem
from varimech.optimization.evaluation import Outcome, Second
from varimech.optimization.search import search
from varimech.optimization.space import Space

Function = Callable[[Any], Any]


class Plain:
    """Functions of x as what optimisers ask of a mechanism."""

    roughness = 1e-13

    def __init__(self, size: int, *functions: Function):
        x = ca.SX.sym("x", size)
        y = ca.vertcat(*[f(x) for f in functions])
        self.size = size
        self.all = ca.Function(
            "all", [x], [y, ca.jacobian(y, x), *[ca.hessian(y[k], x)[0] for k in range(y.numel())]]
        )

    def run(self, x: np.ndarray) -> Outcome:
        y, J, *_ = (np.array(v) for v in self.all(x))
        return Outcome(
            y.ravel(), J, np.array([0.0, 1.0]), np.zeros((0, 2)), np.zeros((0, 2, self.size))
        )

    def second(self, x: np.ndarray) -> Second:
        return Second(
            np.array([np.array(H) for H in self.all(x)[2:]]), np.zeros((0, 2, self.size, self.size))
        )


def found(
    start: list[float] | np.ndarray,
    objective: Function,
    *constraints: tuple[Function, Callable[[Any], Any]],
    bounds: tuple[Any, Any] | None = None,
    solver: str = "ipopt",
    hessian: str = "approximate",
    starts: list[np.ndarray] | None = None,
) -> Attempt:
    """The optimum from a start, with constraints as (function, comparison of a quantity)."""
    begin = np.array(start, dtype=float)
    n, named = begin.size, {f"c{k}": c[1](vm.final(lambda s: 0)) for k, c in enumerate(constraints)}
    low, high = (
        (np.full(n, -np.inf), np.full(n, np.inf))
        if bounds is None
        else (np.array(b, dtype=float) for b in bounds)
    )
    space = Space(tuple(f"p{k}" for k in range(n)), ("",) * n, begin, low, high)
    p = DesignProblem(
        Plain(n, objective, *[c[0] for c in constraints]), space, "f", vm.final(lambda s: 0), named
    )
    best, _ = search(
        p, settings_for(p, solver, hessian, 300, 1e-9), starts or [begin], "stand-in", False
    )
    return best


@pytest.mark.parametrize("seed", range(40))
def test_saddles_and_maxima_of_random_polynomials_are_left(seed: int) -> None:
    """½ wᵀ A w + Σ b wᵢ⁴, w = Q (x − x₀): x₀ is a saddle point or a maximum of any size; the search
    begins there, or where it leads there.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    eigenvalues = rng.uniform(0.2, 3.0, n) * rng.choice([-1.0, 1.0], n)
    eigenvalues[0] = -abs(eigenvalues[0])
    Q, b, centre = (
        np.linalg.qr(rng.normal(size=(n, n)))[0],
        rng.uniform(0.2, 2.0, n),
        rng.normal(size=n),
    )
    size, away = (
        10.0 ** rng.uniform(-9, 9),
        rng.normal(size=n) * (eigenvalues > 0) * rng.choice([0.0, 0.4]),
    )

    def f(x: Any) -> Any:
        w = Q @ (x - centre)
        return size * sum(
            0.5 * e * w[k] ** 2 + c * w[k] ** 4
            for k, (e, c) in enumerate(zip(eigenvalues, b, strict=True))
        )

    # w separates: each term with e < 0 is least, −e²/16b, at w² = −e/4b, and the others at 0
    least = size * sum(-(e**2) / (16 * c) for e, c in zip(eigenvalues, b, strict=True) if e < 0)
    solver = ["ipopt", "SLSQP", "BFGS", "L-BFGS-B"][seed % 4]
    best = found(centre + Q.T @ away, f, solver=solver, hessian="approximate")
    assert best.converged and best.curvature is not None and best.curvature.kind == "minimum"
    assert best.objective == pytest.approx(least, rel=1e-6)
    assert (
        len(best.left) >= 1 or away.any()
    )  # beside the stable directions, rounding may have left them
    if seed % 4 == 0:
        exact = found(centre + Q.T @ away, f, hessian="exact")
        assert exact.objective == pytest.approx(least, rel=1e-6) and "exact" in str(exact.curvature)


@pytest.mark.parametrize("seed", range(12))
def test_stationary_designs_on_a_sphere_are_left(seed: int) -> None:
    """xᵀ A x on |x|² = 1 (or ≥ 1, A > 0) is stationary at all eigenvectors: only the curvature of
    the Lagrangian shows which is least.
    """
    rng = np.random.default_rng(100 + seed)
    n = int(rng.integers(2, 5))
    Q, a = (
        np.linalg.qr(rng.normal(size=(n, n)))[0],
        np.sort(rng.uniform(1.0, 5.0, n)) + np.arange(n),
    )
    A = Q.T @ np.diag(a) @ Q
    k = int(rng.integers(1, n))

    def compared(q: Any) -> Any:
        return q.equals(1.0) if seed % 2 else q >= 1.0

    solver = ["ipopt", "SLSQP"][seed // 2 % 2]
    box = np.full(n, -2.0), np.full(n, 2.0)
    best = found(
        Q[k], lambda x: x.T @ ca.DM(A) @ x, (ca.sumsqr, compared), bounds=box, solver=solver
    )
    assert best.converged and best.objective == pytest.approx(a[0], rel=1e-6)
    if solver == "SLSQP":  # IPOPT moves away from bounds at first
        assert best.left and best.left[0].objective == pytest.approx(a[k], rel=1e-6)
    assert best.curvature is not None and best.curvature.free == n - 1


@pytest.mark.parametrize("seed", range(12))
def test_bounds_with_and_without_multipliers(seed: int) -> None:
    """From any corner, face or inner point of a box, stationary or not: the end is a local minimum,
    as values all around it show.
    """
    rng = np.random.default_rng(200 + seed)
    n = int(rng.integers(2, 4))
    A, b = rng.normal(size=(n, n)), rng.normal(size=n) * (seed % 3 > 0)
    H = A + A.T
    low, high = -rng.integers(0, 2, n).astype(float), np.ones(n)

    def f(x: Any) -> Any:
        return (
            0.5 * x.T @ H @ x + b @ x
            if isinstance(x, np.ndarray)
            else 0.5 * x.T @ ca.DM(H) @ x + ca.DM(b).T @ x
        )

    best = found(
        np.zeros(n), f, bounds=(low, high), solver=["SLSQP", "L-BFGS-B", "ipopt"][seed % 3]
    )
    assert best.converged
    around = np.clip(best.x + 1e-3 * rng.normal(size=(2000, n)), low, high)
    assert min(f(x) for x in around) >= best.objective - 1e-9
    apart = minimize(
        f, best.x + 1e-4 * rng.normal(size=n), bounds=list(zip(low, high, strict=True)), tol=1e-12
    )
    assert apart.fun >= best.objective - 1e-7


def test_a_cone_of_directions_is_not_a_space() -> None:
    """−p₀ p₁ falls along (1, 1) only, which bounds forbid: the corner is a minimum although H has a
    negative eigenvalue.
    """
    corner = found(
        [0.0, 0.0],
        lambda x: 0.1 * ca.sumsqr(x) - x[0] * x[1],
        bounds=([-1, 0], [0, 1]),
        solver="L-BFGS-B",
    )
    assert (
        corner.x.tolist() == [0, 0]
        and corner.curvature is not None
        and corner.curvature.kind == "minimum"
        and not corner.left
    )
    other = found(
        [0.0, 0.0],
        lambda x: 0.1 * ca.sumsqr(x) - x[0] * x[1],
        bounds=([0, 0], [1, 1]),
        solver="L-BFGS-B",
    )
    assert other.x == pytest.approx([1, 1]) and other.left


@pytest.mark.parametrize(
    ("f", "least"),
    [
        (lambda x: x[0] ** 2 - x[1] ** 4 + x[1] ** 6, -4 / 27),
        (lambda x: x[0] ** 2 + x[1] ** 3 + x[1] ** 4, -27 / 256),
    ],
)
def test_flat_stationary_designs_are_probed(f: Function, least: float) -> None:
    """No second derivative shows that the origin is no minimum."""
    best = found([0.5, 0.0], f)
    assert best.objective == pytest.approx(least, rel=1e-6) and best.left
    none = found(
        [0.5, 0.0], lambda x: f(x) - x[0] ** 2 + x[0] ** 4
    )  # all second derivatives vanish there
    assert (
        none.objective == pytest.approx(least, rel=1e-4)
        or none.curvature is None
        or none.curvature.kind != "minimum"
    )


def test_flat_minima_are_called_flat() -> None:
    valley = found([0.5, 0.3], lambda x: (x[0] - x[1]) ** 2)
    assert (
        valley.converged
        and not valley.left
        and valley.curvature is not None
        and valley.curvature.kind == "flat"
    )
    assert "may not be unique" in str(valley.curvature)
    quartic = found([0.5, 0.3], lambda x: x[0] ** 2 + x[1] ** 4)
    assert (
        quartic.curvature is not None
        and quartic.curvature.kind in ("minimum", "flat")
        and not quartic.left
    )


def test_what_cannot_be_checked_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    many = found(np.full(51, 0.5), ca.sumsqr)
    assert many.converged and "51 variables would need 102 runs" in str(many.curvature)
    assert found(np.full(51, 0.5), ca.sumsqr, hessian="exact").curvature.kind == "minimum"  # type: ignore[union-attr]

    def failing(self: Plain, x: np.ndarray) -> Outcome:
        if 0 < np.abs(x).max() < 0.01:
            raise vm.ModelError("cannot be assembled")
        return run(self, x)

    run = Plain.run
    monkeypatch.setattr(Plain, "run", failing)
    alone = found([0.0], lambda x: x[0] ** 2 + 1)
    assert alone.converged and "not checked to second order: runs near the optimum fail" in str(
        alone.curvature
    )


def slider(value: Function) -> vm.Mechanism:
    """A unit mass under a constant force: x(2 s) = value of the parameters."""
    m = vm.Mechanism("slider", dimension=2)
    p = [m.parameter(f"p{k}", 1.0) for k in range(2)]
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=1.0)
    m.prismatic("g", "ground.O", "b.com", axis=(1, 0))
    m.force("f", "b.com", lambda s: vm.vector(value(p) / 2, 0))
    m.start(displacement={"g": 0.0})
    return m


PLACE = vm.final(lambda s: s.displacement("g"), unit="m")


def test_a_motion_leaves_a_saddle_point() -> None:
    m = slider(lambda p: p[0] ** 2 - p[1] ** 2 + p[1] ** 4)
    options: dict[str, Any] = {
        "over": ["p0", "p1"],
        "duration": 2.0,
        "start": {"p0": 0.5, "p1": 0.0},
    }
    best = m.optimize(PLACE, **options)
    assert best.converged and best.objective == pytest.approx(-0.25, abs=1e-8)
    assert abs(best.parameters["p1"]) == pytest.approx(0.5**0.5, abs=1e-6)
    assert (
        best.left[0].kind == "saddle"
        and best.second_order is not None
        and best.second_order.kind == "minimum"
    )
    assert best.second_order.eigenvalues == pytest.approx(
        [0.5, 4.0], rel=1e-4
    )  # sizes 0.5 and 1 squared, times 2 and 4
    text = repr(best)
    assert "converged to a saddle point (objective = 0 at p0 = 0, p1 = 0) and left it" in text
    assert "with bounds= for 'p0', 'p1', starts=8" in text and "Local optimum" in text
    assert "with `bounds:` for 'p0', 'p1', --starts 8 searches" in best.text(
        CommandSyntax({"starts": "--starts"})
    )
    assert best.objective_before == pytest.approx(0.25) and best.history["p1"].iloc[0] == 0.0
    peak = m.optimize(
        vm.peak(lambda s: s.displacement("g"), unit="m"),
        **options,
        constraints=[PLACE >= -0.2],
        output=0.5,
    )
    assert peak.problem.is_peak and peak.converged


def test_starts_that_fail_are_reported() -> None:
    m = slider(lambda p: (p[0] ** 2 - 1) ** 2 + 0.2 * p[0] + (p[1] - 1.2) ** 2)
    m.body(
        "ballast", mass=m.parameters["p1"] - 0.5, inertia=1.0, points={"B": (1, 0)}
    )  # no body below 0.5
    m.revolute("pin", "ground.O", "ballast.B")
    m.start(displacement={"g": 0.0}, angle={"ballast": 0.0})
    best = m.optimize(
        PLACE, over=["p0", "p1"], duration=2.0, bounds={"p0": (-2, 2), "p1": (0, 2)}, starts=8
    )
    assert 0 < len(best.failed_starts) < 7 and len(best.starts) + len(best.failed_starts) == 8
    assert all(failed.x[1] < 0.5 for failed in best.failed_starts)
    assert f"{len(best.failed_starts)} failed (at p0 = " in repr(best)
    assert best.before.info["parameters"] == {"p0": 1.0, "p1": 1.0}
    minima = [r for r in np.sort(np.roots([4, 0, -4, 0.2]).real) if 12 * r * r > 4]
    assert best.local_optima["p0"].to_numpy() == pytest.approx(minima, abs=1e-4)
    assert best.local_optima["starts"].sum() == len(best.starts)
