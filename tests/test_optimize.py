"""Optimal design against closed forms: optima by all solvers, active constraints, and errors for
problems without a solution.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from markdown_pages import DOCS, run_page
from oscillator import GOAL, of, oscillator, x_of
from scipy.optimize import brentq, minimize
from scipy.special import ellipk

import varimech as vm
from varimech.benchmarks import five_bar
from varimech.optimization import evaluation
from varimech.optimization.design import settings_for
from varimech.optimization.design_problem import DesignProblem
from varimech.optimization.evaluation import Outcome, Second
from varimech.optimization.search import search
from varimech.optimization.settings import Ended
from varimech.optimization.space import Space

STILL = {"Ls1": 2.4319235744576, "Ls2": 1.8448688868054}
"""Natural lengths that keep the five-bar at rest: its initial position balances gravity."""


@pytest.fixture(scope="module")
def m() -> vm.Mechanism:
    return oscillator()


@pytest.fixture(scope="module")
def bars() -> vm.Mechanism:
    return five_bar.mechanism()


@pytest.mark.parametrize("start", [{}, {"Ls1": 2.6, "Ls2": 1.7}, {"Ls1": 2.2, "Ls2": 1.6}])
def test_five_bar_is_kept_still(bars: vm.Mechanism, start: dict[str, float]) -> None:
    o = bars.optimize(five_bar.objectives()["psi1"], ["Ls1", "Ls2"], duration=5.0, start=start)
    assert o.converged and o.iterations <= 30
    assert o.objective < 1e-15
    for name, value in STILL.items():
        assert o.parameters[name] == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("start", [{}, {"Ls1": 2.0, "Ls2": 2.2}, {"Ls1": 2.6, "Ls2": 1.6}])
def test_five_bar_with_exact_second_derivatives(
    bars: vm.Mechanism, start: dict[str, float]
) -> None:
    o = bars.optimize(
        five_bar.objectives()["psi1"], ["Ls1", "Ls2"], duration=5.0, start=start, hessian="exact"
    )
    assert o.settings.exact and o.converged and o.iterations <= 10
    assert o.parameters == pytest.approx(STILL, abs=1e-10)


def test_second_derivatives_of_paths_and_peaks(m: vm.Mechanism) -> None:
    p = m.problem(vm.peak(x_of), duration=0.5, output=0.1).design_problem(
        ["k", "c"], constraints=[vm.path(x_of) >= -0.09]
    )
    x, weights = np.array([90.0, 1.5]), np.random.default_rng(0).normal(size=p.row_count)
    for first, second in (
        (lambda y: weights @ p.constraints_jac(y), p.constraints_hess(x, weights)),
        (lambda y: weights @ p.peak_path(p.outcome(y))[1], p.peak_hess(x, weights)),  # type: ignore[arg-type]
    ):
        rows = [
            (first(x + h * e) - first(x - h * e)) / (2 * h)
            for h, e in zip((1e-3, 1e-4), np.eye(2), strict=True)
        ]
        assert second == pytest.approx(np.array(rows), rel=1e-5, abs=1e-9)
    with pytest.raises(vm.ModelError, match="does not use second derivatives"):
        m.optimize(vm.final(x_of), ["k"], duration=0.1, solver="SLSQP", hessian="exact")


def test_second_derivatives_that_fail_are_done_without(
    m: vm.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hessian(*given: Any) -> Any:
        raise vm.ModelError("too large")

    monkeypatch.setattr(evaluation, "hessian", hessian)
    o = m.optimize(GOAL, ["a", "b"], duration=0.01)
    assert not o.settings.exact and o.converged
    with pytest.raises(vm.VarimechError, match="too large"):
        m.optimize(GOAL, ["a", "b"], duration=0.01, hessian="exact")


def test_length_of_a_rod_that_passes_the_vertical_in_time() -> None:
    p = vm.Mechanism("pendulum", gravity=(0, -9.81))
    L = p.parameter("L", 1.0, unit="m", bounds=(0.2, 3.0))
    p.ground_point("O", (0, 0))
    p.bar("rod", "O", "tip", length=L, mass=2.0)
    p.revolute("O")
    swing = 1.2
    p.start(angle={"rod": swing - math.pi / 2})
    quarter = 0.45
    # a quarter of the period of a uniform rod, 2L/3 long as a mathematical pendulum: √(2L/3g)
    # K(sin²(θ/2))
    exact = 1.5 * 9.81 * (quarter / ellipk(math.sin(swing / 2) ** 2)) ** 2
    o = p.optimize(
        vm.final(lambda s: s.position("tip")[0] ** 2, unit="m²"), duration=quarter, tolerance=1e-12
    )
    assert o.parameters["L"] == pytest.approx(exact, rel=1e-8)
    held = p.optimize(
        vm.final(lambda s: s.parameter("L")),
        duration=quarter,
        constraints={"vertical": vm.final(lambda s: s.position("tip")[0]).equals(0)},
    )
    assert held.parameters["L"] == pytest.approx(exact, rel=1e-7)
    assert held.constraints.loc["vertical", "active"]


@pytest.mark.parametrize("solver", ["ipopt", "scipy", "SLSQP", "trust-constr"])
def test_solvers_agree_with_the_closed_form(m: vm.Mechanism, solver: str) -> None:
    o = m.optimize(
        of(lambda a, b: (a - 2) ** 2 + (b - 1) ** 2),
        ["a", "b"],
        duration=0.01,
        constraints={"sum": of(lambda a, b: a + b) <= 2},
        solver=solver,
    )
    assert o.parameters == pytest.approx({"a": 1.5, "b": 0.5}, abs=1e-6)
    assert o.objective == pytest.approx(0.5, abs=1e-6)
    assert o.multipliers == pytest.approx({"sum": 1.0}, abs=1e-5)
    assert o.converged


@pytest.mark.parametrize("solver", ["BFGS", "L-BFGS-B", "CG", "TNC", "Nelder-Mead"])
def test_solvers_without_constraints(m: vm.Mechanism, solver: str) -> None:
    o = m.optimize(
        of(lambda a, b: (a - 2) ** 2 + 3 * (b - a) ** 2),
        ["a", "b"],
        duration=0.01,
        solver=solver,
        max_iterations=400,
    )
    assert o.parameters == pytest.approx(
        {"a": 2.0, "b": 2.0}, abs=1e-3 if solver == "Nelder-Mead" else 1e-6
    )


def test_multipliers_are_slopes_of_the_optimum(m: vm.Mechanism) -> None:
    def softest(end: float = -0.05, least: float = 0.5) -> vm.Optimum:
        """Find the softest spring that returns the mass to `end` within 0.3 s."""
        return m.optimize(
            {"stiffness": vm.final(lambda s: s.parameter("k"), unit="N/m")},
            ["k", "c"],
            duration=0.3,
            bounds={"k": (20, 150), "c": (least, 4)},
            constraints={"end": vm.final(x_of, unit="m") <= end},
        )

    def x_end(k: float) -> float:
        ω, δ = math.sqrt(k - 0.0625), 0.25
        return 0.1 * math.exp(-δ * 0.3) * (math.cos(0.3 * ω) + δ / ω * math.sin(0.3 * ω))

    o = softest()
    assert o.converged
    assert o.parameters == pytest.approx(
        {"k": brentq(lambda k: x_end(k) + 0.05, 20, 100), "c": 0.5}, rel=1e-7
    )
    row = o.constraints.loc["end"]
    assert row["active"] and row["value"] == pytest.approx(-0.05, abs=1e-8)
    for name, slope, sign in (
        ("end", (softest(end=-0.0499).objective - softest(end=-0.0501).objective) / 0.0002, 1),
        ("c", (softest(least=0.501).objective - softest(least=0.499).objective) / 0.002, -1),
    ):
        assert o.multipliers[name] * sign > 0
        assert -o.multipliers[name] == pytest.approx(slope, rel=1e-4)


def test_lower_bounds_have_negative_multipliers(m: vm.Mechanism) -> None:
    o = m.optimize(of(lambda a, b: a**2), ["a"], duration=0.01, bounds={"a": (0.5, 2)})
    assert o.parameters["a"] == pytest.approx(0.5, abs=1e-8)
    assert o.multipliers == pytest.approx({"a": -1.0}, abs=1e-6)  # d(a²)/da at the bound is −λ


def test_paths_hold_at_all_times_and_solvers_agree(m: vm.Mechanism) -> None:
    def optimum_by(solver: str) -> vm.Optimum:
        return m.optimize(
            vm.integral(lambda s: x_of(s) ** 2),
            ["k", "c"],
            duration=1.0,
            bounds={"k": (20, 200), "c": (0.1, 5)},
            constraints={
                "speed": vm.path(lambda s: s.displacement_rate("guide"), unit="m/s").between(
                    -0.8, 0.8
                )
            },
            solver=solver,
            output=0.02,
        )

    first, second = optimum_by("ipopt"), optimum_by("SLSQP")
    assert first.parameters == pytest.approx(second.parameters, rel=1e-5)
    speed = first.constraints.loc["speed"]
    assert speed["active"] and speed["violation"] < 1e-7
    dense = m.simulate(
        1.0, tolerance=1e-11, output=1e-4, parameters=first.parameters
    ).displacement_rate("guide")
    assert float(np.abs(dense).max()) == pytest.approx(0.8, abs=1e-6)
    # the largest speed of the damped oscillator in closed form
    k, c = first.parameters["k"], first.parameters["c"]
    ω, δ = math.sqrt(k - c * c / 4), c / 2
    when = math.atan2(ω, δ) / ω
    assert 0.1 * k / ω * math.exp(-δ * when) * math.sin(ω * when) == pytest.approx(0.8, abs=1e-6)


def largest_wave(m: vm.Mechanism, **options: Any) -> vm.Optimum:
    """The largest amplitude of a wave that stays below 1."""
    wave = vm.path(lambda s: s.parameter("a") * vm.sin(7.3 * s.time)) <= 1
    goal, bounds = of(lambda a, b: -a), {"a": (0, 5)}
    return m.optimize(goal, ["a"], duration=1.0, constraints=[wave], bounds=bounds, **options)


def test_a_path_is_met_between_coarse_times(m: vm.Mechanism) -> None:
    o = largest_wave(m, output=0.25)
    assert o.parameters["a"] == pytest.approx(1.0, abs=1e-6)
    # equal steps have no results in between, but violations there are reported
    stepped = largest_wave(m, step=0.01)
    assert stepped.parameters["a"] > 1.0001
    assert stepped.constraints.loc["c1", "violation"] == pytest.approx(
        stepped.parameters["a"] - 1, rel=1e-2
    )


@pytest.mark.parametrize(("passes", "converged"), [(0, False), (3, True)])
def test_a_search_has_converged_where_nothing_is_missed(
    m: vm.Mechanism, passes: int, converged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("varimech.optimization.refinement.PASSES", passes)
    o = largest_wave(m, output=0.25)
    assert o.converged is converged


@pytest.mark.parametrize("solver", ["ipopt", "SLSQP"])
def test_the_smallest_peak(m: vm.Mechanism, solver: str) -> None:
    peak = vm.peak(lambda s: (s.time - s.parameter("a")) ** 2, unit="s²")
    o = m.optimize({"spread": peak}, ["a"], duration=1.0, solver=solver)
    assert o.parameters["a"] == pytest.approx(0.5, abs=1e-6)
    assert o.objective == pytest.approx(0.25, abs=1e-6)
    assert o.peak == pytest.approx(0.25, abs=1e-6)


def test_peaks_between_stored_times(m: vm.Mechanism) -> None:
    """The value before is that of the whole curve; a search that keeps hiding a maximum between
    stored times has not converged.
    """
    wave = vm.peak(
        lambda s: s.parameter("a") * vm.sin(7.3 * s.time) + (s.parameter("a") - 0.5) ** 2
    )
    o = m.optimize(wave, ["a"], duration=1.0, bounds={"a": (0.2, 1)}, output=0.25)
    assert (
        o.objective_before == pytest.approx(0.9 + 0.16, abs=1e-3)
        and o.history["objective"].iloc[0] < 1.04
    )
    assert f"before: {o.objective_before:.8g}" in repr(o)
    pulse = vm.peak(
        lambda s: vm.exp(-(((s.time - s.parameter("a")) / 0.01) ** 2)) * (2 - s.parameter("a")),
        unit="N",
    )
    lost = m.optimize(
        pulse, ["a"], duration=2.0, bounds={"a": (0.1, 1.9)}, start={"a": 0.5}, output=0.05
    )
    assert lost.peak is not None and lost.peak > 1.001 * lost.objective
    assert not lost.converged and "between stored times" in lost.message


def test_the_best_linear_buffer() -> None:
    """A mass stopped by spring and damper: ζ = 0.404 is optimal, with a x / v² = 0.5206 (known from
    shock isolation).
    """
    b = vm.Mechanism("buffer", dimension=2)
    k, c = b.parameter("k", 400.0, bounds=(50, 5000)), b.parameter("c", 10.0, bounds=(0, 200))
    b.ground_point("O", (0, 0))
    b.body("load", mass=2.0, inertia=1e-3, points={"P": (0, 0)})
    b.prismatic("guide", "ground.O", "load.P", axis=(1, 0))
    b.force(
        "buffer",
        "load.P",
        lambda s: vm.vector(-k * s.displacement("guide") - c * s.displacement_rate("guide"), 0),
    )
    b.start(displacement={"guide": 0.0}, speed={"guide": 2.0})
    o = b.optimize(
        vm.peak(lambda s: -s.acceleration("P")[0]),
        duration=0.4,
        constraints={"travel": vm.path(lambda s: s.displacement("guide")) <= 0.1},
        output=0.01,
    )
    assert o.converged and o.peak is not None
    assert o.peak * 0.1 / 4 == pytest.approx(0.5206, abs=5e-5)
    assert o.parameters["c"] / (2 * math.sqrt(2 * o.parameters["k"])) == pytest.approx(
        0.404, abs=5e-4
    )
    assert o.multipliers["travel"] == pytest.approx(
        0.5206 * 4 / 0.1**2, rel=5e-3
    )  # the optimum is 0.5206 v² / travel


def test_many_starts_find_the_deeper_of_two_minima(m: vm.Mechanism) -> None:
    valleys = of(lambda a, b: (a * a - 1) ** 2 + 0.3 * a)
    minima = sorted(np.real(r) for r in np.roots([4, 0, -4, 0.3]) if 12 * r * r > 4)
    one = m.optimize(valleys, ["a"], duration=0.01, bounds={"a": (-2, 2)})
    many = m.optimize(valleys, ["a"], duration=0.01, bounds={"a": (-2, 2)}, starts=5, seed=3)
    assert one.parameters["a"] == pytest.approx(minima[1], abs=1e-6)
    assert many.parameters["a"] == pytest.approx(minima[0], abs=1e-6)
    assert len(many.starts) == 5 and "5 starts led to 2 local optima" in repr(many)
    assert (
        many.local_optima["a"].to_numpy() == pytest.approx(minima, abs=1e-5)
        and many.local_optima["starts"].sum() == 5
    )
    # "before" is the user's design, whichever initial design was best
    assert many.best.start[0] != 0.9 and many.before.info["parameters"]["a"] == 0.9
    assert many.objective_before == one.objective_before == pytest.approx((0.81 - 1) ** 2 + 0.27)


@pytest.mark.parametrize("starts", [1, 2])
def test_progress_shows_start_iteration_and_objective(
    m: vm.Mechanism, starts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[tuple[float, str]] = []

    @contextmanager
    def bar(label: str, total: float, enabled: bool | None) -> Iterator[Any]:
        assert (label, total, enabled) == (f"{m.name}: optimisation", starts * 50, True)
        yield lambda done, note: reports.append((done, note))

    monkeypatch.setattr("varimech.optimization.search.progress_bar", bar)
    goal = {"goal": of(lambda a, b: (a - 2) ** 2 + (a - 2) ** 4)}
    options: dict[str, Any] = {
        "bounds": {"a": (-5.0, 5.0)},
        "solver": "L-BFGS-B",
        "max_iterations": 50,
    }
    o = m.optimize(goal, ["a"], duration=0.01, step=0.01, starts=starts, progress=True, **options)
    if starts == 1:
        assert [note for _, note in reports] == [
            f"iteration {k}, goal = {y:.6g}" for k, y in enumerate(o.history["goal"]) if k
        ]
    else:
        assert reports[0][1].startswith("start 1 of 2, iteration 1, goal = ")
        assert reports[-1][1].startswith(f"start 2 of 2, iteration {reports[-1][0] - 50}, goal = ")


@pytest.mark.parametrize("solver", ["ipopt", "SLSQP", "L-BFGS-B"])
def test_runs_that_fail_on_the_way_do_not_end_the_search(m: vm.Mechanism, solver: str) -> None:
    o = m.optimize(
        vm.final(lambda s: (s.parameter("m") - 0.01) ** 2), ["m"], duration=0.01, solver=solver
    )
    assert o.failures and "mass" in str(o.failures[0][1])
    assert o.parameters["m"] == pytest.approx(0.01, abs=1e-7) and o.converged
    assert f"({len(o.failures)} failed)" in repr(o)


def test_the_problem_as_plain_functions(m: vm.Mechanism) -> None:
    p = m.problem(vm.integral(lambda s: x_of(s) ** 2), duration=0.5, output=0.1).design_problem(
        ["k", "c"], constraints={"end": vm.final(x_of) <= 0.02, "way": vm.path(x_of) >= -0.09}
    )
    before = p.evaluations
    x = np.array([90.0, 1.5])
    slope, rows = p.jac(x), p.constraints_jac(x)
    assert p.fun(x) > 0 and p.constraints(x).shape == (1 + 6,) and p.evaluations == before + 1
    for k, h in enumerate((1e-3, 1e-4)):
        step = h * np.eye(2)[k]
        assert slope[k] == pytest.approx((p.fun(x + step) - p.fun(x - step)) / (2 * h), rel=1e-5)
        assert rows[:, k] == pytest.approx(
            (p.constraints(x + step) - p.constraints(x - step)) / (2 * h), rel=1e-4, abs=1e-9
        )
    assert (
        p.names == ("k", "c")
        and p.x0.tolist() == [100.0, 1.0]
        and p.bounds[0] == (-math.inf, math.inf)
    )
    assert p.constraint_bounds[0][0] == -math.inf and p.constraint_bounds[1][0] == 0.02
    free = m.problem(of(lambda a, b: (a - 2) ** 2 + b**2), duration=0.01).design_problem(["a", "b"])
    assert minimize(free.fun, free.x0, jac=free.jac).x == pytest.approx([2, 0], abs=1e-6)
    assert free.hess(free.x0) == pytest.approx(np.diag([2, 2]))


class Banana:
    """Rosenbrock's function and a circle, with second derivatives."""

    roughness = 1e-14

    def __init__(self) -> None:
        x = ca.SX.sym("x", 2)
        y = ca.vertcat((1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2, ca.sumsqr(x))
        self.all = ca.Function(
            "all", [x], [y, ca.jacobian(y, x), *[ca.hessian(y[k], x)[0] for k in range(2)]]
        )
        self.asked = 0

    def run(self, x: np.ndarray) -> Outcome:
        y, J, *_ = (np.array(v) for v in self.all(x))
        return Outcome(y.ravel(), J, np.array([0.0, 1.0]), np.zeros((0, 2)), np.zeros((0, 2, 2)))

    def second(self, x: np.ndarray) -> Second:
        self.asked += 1
        return Second(np.array([np.array(H) for H in self.all(x)[2:]]), np.zeros((0, 2, 2, 2)))


@pytest.mark.parametrize("solver", ["ipopt", "trust-constr"])
def test_exact_second_derivatives_are_used(solver: str) -> None:
    e, inf = Banana(), np.full(2, np.inf)
    space = Space(("x", "y"), ("", ""), np.array([-1.0, 0.5]), -inf, inf)
    p = DesignProblem(
        e, space, "banana", vm.final(lambda s: 0), {"circle": vm.final(lambda s: 0) <= 1}
    )
    exact = settings_for(p, solver, "exact", 1000, 1e-9)
    best, _ = search(p, exact, [space.start], "stand-in", False)
    assert exact.exact and e.asked > 3
    # on the circle x = cos φ, y = sin φ the derivative with respect to φ vanishes at the optimum:
    # computed by bisection
    φ = np.linspace(0.5, 0.9, 400001)
    value = (1 - np.cos(φ)) ** 2 + 100 * (np.sin(φ) - np.cos(φ) ** 2) ** 2
    assert best.x == pytest.approx([np.cos(φ[value.argmin()]), np.sin(φ[value.argmin()])], abs=1e-5)
    assert best.converged and 0 <= best.violation < 1e-8
    if solver == "ipopt":
        plain, _ = search(
            p, settings_for(p, solver, "approximate", 200, 1e-9), [space.start], "stand-in", False
        )
        assert best.iterations < plain.iterations and plain.x == pytest.approx(best.x, abs=1e-6)


def test_what_an_optimum_reports(m: vm.Mechanism) -> None:
    o = m.optimize(
        {"swing": vm.integral(lambda s: x_of(s) ** 2, unit="m²·s")},
        ["k", "c"],
        duration=0.5,
        bounds={"k": (60, 150), "c": (0.5, 4)},
        constraints={"way": vm.path(x_of, unit="m") >= -0.06},
    )
    assert list(o.history.columns) == ["swing", "infeasibility", "k", "c"]
    assert o.history["swing"].iloc[-1] == pytest.approx(o.objective)
    assert o.values.sel(parameter="c").item() == o.parameters["c"] and o.values[
        "unit"
    ].values.tolist() == ["N/m", "N·s/m"]
    assert (
        float(o.before.displacement("guide").min())
        < -0.06
        <= float(o.after.displacement("guide").min()) + 1e-6
    )
    again = m.sensitivity(
        {"swing": vm.integral(lambda s: x_of(s) ** 2)}, ["k"], duration=0.5, parameters=o.parameters
    )
    assert again.values.item() == pytest.approx(o.objective, rel=1e-7)
    assert len(o.plot().axes) == 5
    for word in ("swing", "m²·s", "N/m", "converged", "way", "active", "runs"):
        assert word in repr(o)
    assert o.gradient.gradient.sizes == {"objective": 1, "parameter": 2}
    assert o.certificate.trusted


def test_certificates_of_optima(m: vm.Mechanism) -> None:
    """The gradient vanishes at an optimum: it is certified relative to its size at the initial
    design, and so are constraints.
    """
    goal, end = (
        vm.integral(lambda s: (s.parameter("a") - 2 - x_of(s)) ** 2),
        vm.final(lambda s: x_of(s) + s.parameter("a")),
    )
    o = m.optimize({"goal": goal}, ["a"], duration=0.2, constraints={"end": end <= 5})
    assert abs(o.gradient.gradient.sel(objective="goal").item()) < 1e-9
    certificate = o.certificate
    assert certificate.trusted and certificate.digit_array.min() > 9
    at_start = abs(m.sensitivity(goal, "a", duration=0.2).gradient.item())
    assert certificate.sizes[0, 0] == pytest.approx(at_start, rel=1e-6)
    assert any("dgoal/da" in f.text for f in certificate.findings if f.kind == "sizes")
    peak = m.optimize(
        vm.peak(lambda s: -x_of(s)), ["c"], duration=0.5, bounds={"c": (0.5, 4)}, output=0.01
    )
    assert peak.certificate.trusted and peak.certificate.gradient[0, 0] == pytest.approx(
        peak.problem.jac(peak.best.x)[0], rel=1e-6
    )


def test_a_search_for_feasible_designs_begins_at_the_given_point(
    m: vm.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    from varimech.optimization import attempt as module

    solve, calls = module.solve, []

    def giving_up_at_first(scaled: Any, *others: Any) -> Any:
        calls.append(scaled.start)
        return Ended(scaled.z0, "gave up", 7, False) if len(calls) == 1 else solve(scaled, *others)

    monkeypatch.setattr(module, "solve", giving_up_at_first)
    o = m.optimize(GOAL, ["a", "b"], duration=0.01, constraints=[of(lambda a, b: a) >= 2])
    assert calls[1][0] >= 2 and o.parameters == pytest.approx({"a": 2.0, "b": 0.0}, abs=1e-6)
    assert (
        o.best.start.tolist() == [0.9, 0.0] == o.history[["a", "b"]].iloc[0].tolist()
        and o.iterations > 7
    )
    assert o.before.info["parameters"]["a"] == 0.9 and o.objective_before == pytest.approx(0.81)


def test_what_cannot_be_met_is_named(m: vm.Mechanism) -> None:
    goal = vm.integral(lambda s: x_of(s) ** 2)
    with pytest.raises(vm.InfeasibleError, match=r"'far' \(≥ 0.5 m\).*violated by") as caught:
        m.optimize(
            goal,
            ["k"],
            duration=0.5,
            bounds={"k": (20, 200)},
            constraints={"far": vm.final(x_of, unit="m") >= 0.5},
        )
    assert 0.4 < caught.value.violations["far"] < 0.6 and 20 <= caught.value.nearest["k"] <= 200
    both = [of(lambda a, b: a) >= 1, of(lambda a, b: a) <= 0.5]
    with pytest.raises(vm.InfeasibleError, match=r"'c1'.*'c2'"):
        m.optimize(of(lambda a, b: a**2), ["a"], duration=0.01, constraints=both)
    with pytest.raises(vm.InfeasibleError, match=r"'low'.* at t = "):
        m.optimize(
            goal,
            ["k"],
            duration=0.5,
            bounds={"k": (90, 110)},
            constraints={"low": vm.path(x_of) >= 0.05},
            solver="SLSQP",
        )


def test_blocks_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace = run_page(DOCS / "optimisation.md")
    assert namespace["still"].parameters == pytest.approx(STILL, abs=1e-8)
    assert "converged" in capsys.readouterr().out
    assert {f.name for f in tmp_path.iterdir()} == {"buffer.png", "fit.png"}


@pytest.mark.parametrize("k", [2.0, 40.0, 400.0])
def test_multipliers_of_peaks_belong_to_their_instants(m: vm.Mechanism, k: float) -> None:
    """The peak (k x₀ / m)² is at the start, so its derivative with respect to k at the bound k = 1
    is known; instants close to it have no multiplier.
    """
    acceleration = vm.peak(lambda s: s.acceleration("P")[0] ** 2)
    o = m.optimize(
        acceleration,
        ["k"],
        duration=0.5,
        bounds={"k": (1.0, 500.0)},
        start={"k": k},
        step=0.01,
    )
    assert o.parameters["k"] == pytest.approx(1.0, abs=1e-7)
    assert o.multipliers["k"] == pytest.approx(-2 * o.objective, rel=1e-6)


def test_objectives_can_be_weighed(m: vm.Mechanism) -> None:
    end, scheme = vm.final(x_of, unit="m"), vm.integral(x_of)
    values = m.sensitivity(
        [end, scheme, -end, 2 * end + scheme * 3], duration=0.2, step=0.01
    ).values.to_numpy()
    assert values[2] == -values[0] and values[3] == pytest.approx(2 * values[0] + 3 * values[1])


def test_other_parameters_can_be_held_elsewhere(m: vm.Mechanism) -> None:
    """A value that is held fixed applies in every run and is reported with the optimum; no
    parameter is both fixed and free.
    """
    options: dict[str, Any] = {"duration": 0.2, "step": 0.01}
    goal = vm.integral(x_of)
    problem = m.problem(goal, parameters={"m": 2.5}, **options).design_problem(["k"])
    there = m.sensitivity(goal, ["k"], parameters={"m": 2.5, "k": 40.0}, **options)
    assert problem.fun(np.array([40.0])) == there.values.item()
    optimum = m.optimize(
        goal, ["k"], bounds={"k": (30.0, 50.0)}, start={"k": 40.0}, parameters={"m": 2.5}, **options
    )
    assert optimum.parameters == {"m": 2.5, "k": pytest.approx(50.0, rel=1e-6)}
    with pytest.raises(vm.ModelError, match="'m' is in over= and in parameters="):
        m.optimize(goal, ["m", "k"], parameters={"m": 2.5}, **options)
