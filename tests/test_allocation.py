"""Allocation of tolerances against closed forms: Lagrange's solution, bounds, probabilities,
correlations, free nominal values, grades by enumeration, corrections by samples; and refused input.
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_functions import OPTIONS, carrier
from scipy import optimize, stats

import cheapest_tolerances as example
import varimech as vm
from varimech.core.errors import InfeasibleError, Interrupted, ModelError
from varimech.model.iso_grades import grades_of

NAMES = ("a", "b", "c", "d")
SLOPES = np.array([1.0, -2.0, 0.5, 3.0])
FACTORS = np.array([1e-4, 2e-4, 5e-5, 4e-4])
LINEAR = vm.final("a - 2*b + 0.5*c + 3*d", unit="m")
BEFORE = 1e-4
"""Initial tolerance of each length (m)."""


def lengths(cost: Callable[[int], Any], **bounds: float) -> vm.Mechanism:
    """Four lengths of 50 mm, each with a tolerance and a cost, in a mechanism with a trivial
    motion.
    """
    m = carrier({})
    for k, name in enumerate(NAMES):
        m.parameter(name, 0.05, unit="m")
        given: dict[str, Any] = {"at_least": 1e-7, "at_most": 1e-1, **bounds}
        m.tolerance(name, min(BEFORE, given["at_most"]), cost=cost(k), **given)
    return m


def reciprocal(power: float = 1.0) -> vm.Mechanism:
    return lengths(lambda k: vm.cost(1.0, float(FACTORS[k] ** power), power=power))


def lagrange(σ: float, power: float = 1.0) -> np.ndarray:
    """min Σ b/tᵖ with Σ g² t²/9 = σ²:  −p b t^(−p−1) + 2 λ g² t/9 = 0,  t ~ (b/g²)^(1/(p+2))"""
    t = (FACTORS**power / SLOPES**2) ** (1 / (power + 2))
    return np.asarray(t * 3 * σ / np.linalg.norm(SLOPES * t))


def allocate(m: vm.Mechanism, constraints: Any, **options: Any) -> vm.Allocation:
    chosen = {"verify": False, "statistics": "moments", "order": 1, **OPTIONS, **options}
    return m.allocate(constraints, **chosen)


# --- closed forms


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_reciprocal_costs_against_lagrange(power: float) -> None:
    σ = 8e-5
    m = reciprocal(power)
    a = allocate(m, {"spread": vm.std(LINEAR) <= σ})
    expected = lagrange(σ, power)
    assert a.converged and a.names == NAMES
    assert a.after == pytest.approx(expected, rel=1e-8)
    assert a.cost == pytest.approx(4 + (FACTORS**power / expected**power).sum(), rel=1e-9)
    # with t = σ s the cost is 4 + A/σᵖ, and λ = −dcost/dσ = p A/σᵖ⁺¹
    assert a.multipliers["spread"] == pytest.approx(power * (a.cost - 4) / σ, rel=1e-6)
    assert a.dataset["leverage_after"].to_numpy() == pytest.approx(np.ones(4), rel=1e-6)


def test_leverage_tells_what_to_tighten_and_what_to_open() -> None:
    σ = 8e-5
    a = allocate(reciprocal(), vm.std(LINEAR) <= σ)
    # λ ∂σ/∂t over −∂C/∂t, with ∂σ/∂t = g² t/(9 σ) at the tolerances before
    before = np.linalg.norm(SLOPES * BEFORE) / 3
    λ = (a.cost - 4) / σ
    leverage = λ * SLOPES**2 * BEFORE / (9 * before) / (FACTORS / BEFORE**2)
    assert a.leverage.to_numpy() == pytest.approx(leverage, rel=1e-6)
    order = [NAMES[k] for k in np.argsort(-leverage)]
    assert a.tighten_first == order[: (leverage > 1.02).sum()] and a.tighten_first
    assert a.may_relax == order[::-1][: (leverage < 0.98).sum()] and a.may_relax


def test_bounds_of_tolerances_hold() -> None:
    """Tolerances at a bound stay there; the others share the remaining variance as by Lagrange."""
    σ, most = 8e-5, 1.2 * lagrange(8e-5)[3]
    a = allocate(
        lengths(lambda k: vm.cost(1.0, float(FACTORS[k])), at_most=most), vm.std(LINEAR) <= σ
    )
    bound = lagrange(σ) > most
    for _ in range(4):  # the remaining variance widens the others, which may reach the bound, too
        left = math.sqrt(9 * σ**2 - (SLOPES[bound] ** 2 * most**2).sum())
        t = (FACTORS / SLOPES**2) ** (1 / 3)
        t = np.where(bound, most, t * left / np.linalg.norm((SLOPES * t)[~bound]))
        bound |= t > most
    assert 0 < bound.sum() < 4
    assert a.after == pytest.approx(t, rel=1e-7)
    at = a.table()["at bound"].tolist()
    assert at == ["widest" if b else "" for b in bound]
    assert (a.dataset["leverage_after"].to_numpy()[bound] < 1).all()
    free = allocate(reciprocal(), vm.std(LINEAR) <= σ).after
    near = lengths(lambda k: vm.cost(1.0, float(FACTORS[k])), at_least=0.9 * free.min())
    assert allocate(near, vm.std(LINEAR) <= σ).table()["at bound"].tolist() == [""] * 4


def test_a_probability_is_one_of_the_deviation() -> None:
    """μ = 0.125 m; P[f ≤ μ + c] ≥ p needs σ ≤ c/Φ⁻¹(p)."""
    c, p = 2e-4, 1 - 1e-6
    target = {"safe": vm.probability(0.125 + c >= LINEAR) >= p}
    a = allocate(reciprocal(), target)
    σ = c / stats.norm.ppf(p)
    assert a.after == pytest.approx(lagrange(σ), rel=1e-7)
    assert a.constraints[0].value == pytest.approx(p, abs=1e-12)
    dσ = σ**2 / c / stats.norm.pdf(stats.norm.ppf(p))  # −dσ/dp
    assert a.multipliers["safe"] == pytest.approx(-(a.cost - 4) / σ * dσ, rel=1e-5)


def test_the_side_of_a_limit_and_worst_values() -> None:
    c = 3e-4
    below = allocate(reciprocal(), vm.probability(0.125 + c <= LINEAR) <= 1e-3)
    assert below.after == pytest.approx(lagrange(c / stats.norm.isf(1e-3)), rel=1e-7)
    worst = allocate(reciprocal(), vm.worst(LINEAR, sigma=-4) >= 0.125 - c)
    assert worst.after == pytest.approx(lagrange(c / 4), rel=1e-7)


def test_multipliers_are_what_a_moved_bound_costs() -> None:
    def cost(σ: float) -> float:
        return allocate(reciprocal(2.0), vm.std(LINEAR) <= σ).cost

    λ = allocate(reciprocal(2.0), vm.std(LINEAR) <= 8e-5).multipliers["c1"]
    h = 8e-8
    assert -(cost(8e-5 + h) - cost(8e-5 - h)) / (2 * h) == pytest.approx(λ, rel=1e-4)


def test_equal_tolerances_at_equal_risk() -> None:
    σ = 8e-5
    a = allocate(reciprocal(), vm.std(LINEAR) <= σ)
    t = 3 * σ / np.linalg.norm(SLOPES)
    assert a.equal is not None and a.equal.rule == "equal widths"
    assert a.equal.widths == pytest.approx(np.full(4, t), rel=1e-5)
    assert a.equal.cost == pytest.approx(4 + FACTORS.sum() / t, rel=1e-5)
    assert a.saving == pytest.approx(1 - a.cost / a.equal.cost) and a.saving > 0


def test_tolerances_of_different_units_are_equal_relative_to_nominal_values() -> None:
    m = carrier({})
    for name, value, unit in (("a", 2.0, "m"), ("b", 0.5, "kg")):
        m.parameter(name, value, unit=unit)
        m.tolerance(name, 0.01 * value, cost=vm.cost(1.0, 0.01))
    a = allocate(m, vm.std(vm.final("a + 3*b")) <= 0.005)
    assert a.equal is not None and a.equal.rule == "equal shares of the nominal values"
    share = 0.015 / math.hypot(2.0, 1.5)
    assert a.equal.widths == pytest.approx([2 * share, 0.5 * share], rel=1e-5)


def test_correlated_tolerances_against_another_optimiser() -> None:
    R = np.eye(4)
    R[0, 1] = R[1, 0] = 0.6
    R[2, 3] = R[3, 2] = -0.4
    σ = 8e-5
    a = allocate(reciprocal(), vm.std(LINEAR) <= σ, correlation={("a", "b"): 0.6, ("c", "d"): -0.4})

    def variance(s: np.ndarray) -> float:
        spread = SLOPES * BEFORE * np.exp(s) / 3
        return float(spread @ R @ spread) / σ**2

    other = optimize.minimize(
        lambda s: (FACTORS / (BEFORE * np.exp(s))).sum(),
        np.zeros(4),
        constraints={"type": "ineq", "fun": lambda s: 1 - variance(s)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert a.cost == pytest.approx(4 + other.fun, rel=1e-7)
    assert a.after == pytest.approx(BEFORE * np.exp(other.x), rel=1e-3)


def test_several_targets_at_once() -> None:
    """The tolerances of d follow from the second function alone."""
    second = vm.final("d", unit="m")
    a = allocate(reciprocal(), {"f": vm.std(LINEAR) <= 8e-5, "d": vm.std(second) <= 5e-6})
    t = (FACTORS / SLOPES**2) ** (1 / 3)
    left = math.sqrt((3 * 8e-5) ** 2 - (3.0 * 1.5e-5) ** 2)
    expected = np.append(t[:3] * left / np.linalg.norm((SLOPES * t)[:3]), 1.5e-5)
    assert a.after == pytest.approx(expected, rel=1e-7)
    assert all(b.active for b in a.constraints)


def test_a_target_that_does_not_bind_opens_everything() -> None:
    a = allocate(
        lengths(lambda k: vm.cost(1.0, 1e-4), at_most=2e-4),
        {"f": vm.std(LINEAR) <= 1.0, "g": vm.std(vm.final("a")) <= 1.0},
    )
    assert a.after == pytest.approx(np.full(4, 2e-4), rel=1e-6)
    assert a.multipliers == {"f": 0.0, "g": 0.0}


def test_free_nominal_values() -> None:
    """f = x a + b/x: for each x the cost is that by Lagrange, and x minimises it."""
    m = carrier({})
    m.parameter("x", 0.5, bounds=(0.1, 5.0))
    for name, b in (("a", 1e-4), ("b", 9e-4)):
        m.parameter(name, 0.0, unit="m")
        m.tolerance(name, 1e-3, at_least=1e-6, at_most=1.0, cost=vm.cost(1.0, b))
    f, σ = vm.final("x*a + b/x + 0.1*x"), 1e-3

    def cost(x: float) -> float:
        g, b = np.array([x, 1 / x]), np.array([1e-4, 9e-4])
        t = (b / g**2) ** (1 / 3)
        return float((b / (t * 3 * σ / np.linalg.norm(g * t))).sum())

    best = optimize.minimize_scalar(
        cost, bounds=(0.1, 5), method="bounded", options={"xatol": 1e-9}
    )
    a = allocate(m, {"s": vm.std(f) <= σ, "place": vm.final("x") <= 4}, over="x")
    assert a.cost == pytest.approx(2 + best.fun, rel=1e-8)
    assert a.nominals["x"] == (0.5, pytest.approx(best.x, rel=1e-4))
    assert a.parameters == {"x": a.nominals["x"][1]}
    fixed = allocate(m, {"s": vm.std(f) <= σ})
    assert fixed.cost == pytest.approx(2 + cost(0.5), rel=1e-8) and fixed.cost > a.cost


def test_exponential_costs_and_functions_meet_the_conditions_of_lagrange() -> None:
    kinds = [
        vm.exponential_cost(1.0, 3.0, 5e3),
        "1 + 1e-4/t + 1e-9/t**2",
        lambda t: 2 + 1e-2 / vm.sqrt(t),
        vm.cost(1.0, 1e-4),
    ]
    m = lengths(lambda k: kinds[k], at_least=1e-5, at_most=1e-3)
    a = allocate(m, vm.std(LINEAR) <= 8e-5)
    saves = -a.dataset["cost_derivative"].to_numpy() / (SLOPES**2 * a.after)
    assert saves == pytest.approx(np.full(4, saves[0]), rel=1e-5)  # λ/(9 σ), the same for all
    assert np.linalg.norm(SLOPES * a.after) / 3 == pytest.approx(8e-5, rel=1e-8)


# --- grades


def graded(seed: int) -> tuple[vm.Mechanism, np.ndarray, float]:
    """Random sizes, derivatives and costs; half of the costs by grade."""
    rng = np.random.default_rng(seed)
    g, b = rng.uniform(0.3, 3, 4), np.exp(rng.uniform(math.log(2e-5), math.log(1e-3), 4))
    m = carrier({})
    for k, name in enumerate(NAMES):
        m.parameter(name, float(rng.uniform(0.005, 0.3)), unit="m")
        by_grade = {n: 30 / (n - 2) * rng.uniform(0.95, 1.05) for n in range(5, 13)}
        own = vm.cost(1.0, float(b[k])) if k % 2 else vm.grade_cost(by_grade)
        m.tolerance(name, "IT8", at_least="IT5", at_most="IT12", cost=own)
    widths = np.array([p.distribution.width for p in m.parameters.values()])
    return m, g, float(np.linalg.norm(g * widths) / 3 * rng.uniform(0.5, 1.7))


@pytest.mark.parametrize("seed", range(6))
def test_grades_are_the_best_of_all(seed: int) -> None:
    m, g, σ = graded(seed)
    f = vm.final(" + ".join(f"{float(s)!r}*{n}" for s, n in zip(g, NAMES, strict=True)))
    a = allocate(m, vm.std(f) <= σ, grades=True)
    tolerances = [p.distribution for p in m.parameters.values()]
    widths = [
        [t for grade, t in grades_of(p.value).items() if 5 <= int(grade) <= 12]
        for p in m.parameters.values()
    ]
    best = min(
        sum(T.cost.value(t) for T, t in zip(tolerances, each, strict=True))
        for each in itertools.product(*widths)
        if np.linalg.norm(g * each) / 3 <= σ * (1 + 1e-9)
    )
    assert a.cost == pytest.approx(best, rel=1e-12)
    assert a.rounding_cost > 0 and a.continuous_cost + a.rounding_cost == pytest.approx(a.cost)
    for name, t in a.tolerances.items():
        assert t == grades_of(m.parameters[name].value)[a.grades[name]]


def long_and_short(a: vm.Cost) -> vm.Mechanism:
    """A carrier with lengths of 250 mm and 100 mm."""
    m = carrier({})
    for name, nominal, cost in (("a", 0.25, a), ("b", 0.1, vm.cost(1.0, 1e-4))):
        m.parameter(name, nominal, unit="m")
        m.tolerance(name, 2e-4, cost=cost)
    return m


MOVED: Any = {
    "constraints": {
        "s": vm.std(vm.final("a + b", unit="m")) <= 1e-4,
        "mean": vm.mean(vm.final("a + b", unit="m")) >= 0.43,
    },
    "over": ["a"],
    "bounds": {"a": (0.2, 0.39)},
    "grades": True,
}


def test_grades_are_those_of_nominal_values_that_moved() -> None:
    """IT11 is 0.36 mm for 315 mm to 400 mm, and 0.29 mm for 180 mm to 250 mm; IT12 of 100 mm is
    0.35 mm.
    """
    a = allocate(long_and_short(vm.cost(1.0, 1e-4)), **MOVED)
    assert 0.33 <= a.nominals["a"][1] <= 0.39
    assert a.grades == {"a": "11", "b": "12"}
    assert a.tolerances == pytest.approx({"a": 0.18e-3, "b": 0.175e-3})


def test_grades_whose_costs_are_for_another_size_are_refused() -> None:
    m = long_and_short(vm.grade_cost({9: 5.0, 10: 4.0, 11: 3.0, 12: 2.0, 13: 1.0}))
    with pytest.raises(ModelError, match=r"'a' have their costs for a size of 250 mm, .* moved to"):
        allocate(m, **MOVED)
    within = {**MOVED, "over": ["b"], "bounds": {"b": (0.081, 0.12)}}
    within["constraints"] = {
        **MOVED["constraints"],
        "mean": vm.mean(vm.final("a + b", unit="m")) >= 0.36,
    }
    a = allocate(m, **within)
    assert 0.11 <= a.nominals["b"][1] <= 0.12 and set(a.grades) == {"a", "b"}


def test_some_in_grades_and_the_others_follow() -> None:
    m, g, σ = graded(7)
    f = vm.final(" + ".join(f"{float(s)!r}*{n}" for s, n in zip(g, NAMES, strict=True)))
    every, some = (allocate(m, vm.std(f) <= σ, grades=x) for x in (True, ["a", "c"]))
    assert set(some.grades) == {"a", "c"}
    assert some.continuous_cost <= some.cost <= every.cost
    assert np.linalg.norm(g * some.after) / 3 == pytest.approx(σ, rel=1e-7)


# --- samples


def exponential() -> vm.Mechanism:
    """exp(a + b) is log-normal."""
    m = carrier({})
    for name in ("a", "b"):
        m.parameter(name, 0.0)
        m.tolerance(name, 0.5, at_least=1e-2, at_most=3.0, cost=vm.cost(1.0, 0.2))
    return m


def test_targets_are_corrected_where_samples_contradict_the_method() -> None:
    """P[exp(a + b) ≤ 2] = Φ(ln 2/σ); moments of order 1 yield Φ(1/σ), which is too large."""
    f, p = vm.final("exp(a + b)"), 0.98
    true = math.log(2) / stats.norm.ppf(p) * 3 / math.sqrt(2)
    target = {"safe": vm.probability(f <= 2.0) >= p}
    options: Any = {"verify": 20_000, "seed": 3}
    off = allocate(exponential(), target, correct=False, **options)
    assert off.after == pytest.approx(np.full(2, true / math.log(2)), rel=1e-6)
    assert off.verification is not None and off.verification.contradictions == ["safe"]
    a = allocate(exponential(), target, **options)
    assert a.corrections >= 1 and a.verification is not None
    (checked,) = a.verification.checked
    assert checked.lower <= p <= checked.upper and not a.verification.contradictions
    assert a.constraints[0].value == pytest.approx(p, abs=1e-6)
    # 20,000 samples yield a fraction of 2 % to 0.1 %, and so Φ⁻¹ to 0.02 of 2.05; twice this error
    assert a.after == pytest.approx(np.full(2, true), rel=0.02)
    # moments: the cost is 2 + 0.4 √2/3 β', and β' is Φ⁻¹(p) plus a correction, which is held fixed
    λ = a.multipliers["safe"]
    assert λ == pytest.approx(-0.4 * math.sqrt(2) / 3 / stats.norm.pdf(stats.norm.ppf(p)), rel=1e-5)
    # Lagrange: λ ∂P/∂t = −dC/dt
    risk = a.dataset["risk_derivatives"].sel(constraint="safe").to_numpy()
    assert λ * risk == pytest.approx(0.2 / a.after**2, rel=1e-5)


def test_a_verification_that_agrees_changes_nothing() -> None:
    a = allocate(reciprocal(), vm.std(LINEAR) <= 8e-5, verify=2000, seed=1)
    assert a.corrections == 0 and a.verification is not None
    assert a.after == pytest.approx(lagrange(8e-5), rel=1e-8)
    (checked,) = a.verification.checked
    assert checked.lower < 8e-5 < checked.upper


def test_the_result_goes_into_other_analyses() -> None:
    m = reciprocal()
    a = allocate(m, vm.std(LINEAR) <= 8e-5)
    moments = m.moments({"f": LINEAR}, a.distributions, parameters=a.parameters, order=1, **OPTIONS)
    assert moments.std[-1].item() == pytest.approx(8e-5, rel=1e-8)


# --- cost against risk


def test_cost_against_risk() -> None:
    σ = np.array([4e-5, 8e-5, 16e-5])
    m = reciprocal()
    chosen: Any = {"verify": False, "statistics": "moments", **OPTIONS}
    c = m.allocation_curve([vm.std(LINEAR) <= float(s) for s in σ[[1, 0, 2]]], **chosen)
    assert c.targets == pytest.approx(σ)
    assert c.tolerance.to_numpy() == pytest.approx(np.array([lagrange(s) for s in σ]), rel=1e-7)
    assert c.multiplier.to_numpy() == pytest.approx((c.cost.to_numpy() - 4) / σ, rel=1e-5)
    assert (c.equal_cost > c.cost).all()
    assert "standard deviation (m)" in str(c) and c.plot().axes
    with pytest.raises(ModelError, match="must be bounds of one statistic, all from above"):
        m.allocation_curve([vm.std(LINEAR) <= 1e-4, vm.std(LINEAR) >= 1e-5], **chosen)
    with pytest.raises(ModelError, match="two bounds of one statistic or more"):
        m.allocation_curve([vm.std(LINEAR) <= 1e-4], **chosen)
    with pytest.raises(ModelError, match="bound no statistic"):
        m.allocation_curve([LINEAR <= 1e-4, LINEAR <= 2e-4], **chosen)


def test_targets_out_of_reach_are_gaps_of_the_curve() -> None:
    m = lengths(lambda k: vm.cost(1.0, 1e-4), at_least=5e-5)
    finest = 5e-5 / 3 * np.linalg.norm(SLOPES)
    targets = [vm.std(LINEAR) <= float(k * finest) for k in (0.5, 1.5, 2.0)]
    chosen: Any = {"verify": False, "statistics": "moments", **OPTIONS}
    c = m.allocation_curve(targets, **chosen)
    assert c.allocations[0] is None and np.isnan(c.cost[0]) and np.isfinite(c.cost[1:]).all()
    assert "not reached" in str(c)
    with pytest.raises(InfeasibleError, match="comes to"):
        m.allocation_curve([vm.std(LINEAR) <= float(k * finest) for k in (0.5, 0.9)], **chosen)


# --- refusals


def test_a_target_out_of_reach_says_how_close_tolerances_come() -> None:
    m = lengths(lambda k: vm.cost(1.0, 1e-4), at_least=5e-5)
    finest = 5e-5 / 3 * np.linalg.norm(SLOPES)
    with pytest.raises(InfeasibleError, match=rf"'f' \(≤ 5e-05 m\) comes to {finest:.4g} m") as e:
        allocate(m, {"f": vm.std(LINEAR) <= 5e-5})
    assert e.value.violations["f"] == pytest.approx(finest - 5e-5, rel=1e-6)
    assert e.value.nearest == pytest.approx({f"± {n}": 5e-5 for n in NAMES})
    assert "with the finest tolerances" in str(e.value)
    between = {"f": vm.std(LINEAR) >= 2 * finest, "g": vm.std(LINEAR) <= 1.5 * finest}
    with pytest.raises(InfeasibleError, match="with the tolerances that come nearest"):
        allocate(m, between)
    safe = vm.probability(LINEAR <= 0.12501) >= 0.9999
    with pytest.raises(InfeasibleError, match=r"comes to 0\.\d+; relax the target"):
        allocate(m, safe)


def test_grades_that_miss_the_target() -> None:
    m = lengths(lambda k: vm.cost(1.0, 1e-4), at_least=2e-5, at_most=9e-5)
    with pytest.raises(InfeasibleError, match=r"comes to .* allow finer grades"):
        allocate(m, vm.std(LINEAR) <= 2.6e-5, grades=True)  # reached by 20 µm, not by IT9


def with_mass(m: vm.Mechanism) -> None:
    m.parameter("mass", 1.0, unit="kg")
    m.tolerance("mass", 0.01, cost=vm.cost(1.0, 0.1))


def without_cost(m: vm.Mechanism) -> None:
    m.parameter("e", 0.05, unit="m")
    m.tolerance("e", 1e-4, at_most=1e-3)


BAD: Mapping[str, tuple[Callable[[vm.Mechanism], object], dict[str, Any], str]] = {
    "no cost": (without_cost, {}, r"the tolerance of 'e' has no cost; declare it with m.tolerance"),
    "no tolerance": (
        lambda m: m.parameter("e", 1.0),
        {"tolerances": ["e"]},
        r"parameter 'e' has no tolerance; declare it",
    ),
    "plain tolerance": (
        lambda m: m.parameter("e", 1.0, tolerance=0.1),
        {"tolerances": ["a", "e"]},
        r"tolerance of 'e' has no cost",
    ),
    "unknown": (lambda m: None, {"tolerances": ["q"]}, r"called 'q'"),
    "grades of a mass": (
        with_mass,
        {"grades": True},
        r"tolerance of 'mass': has no grades of ISO 286-1: its unit is kg",
    ),
    "grades of what is not chosen": (
        lambda m: None,
        {"grades": ["e"]},
        r"names 'e', whose tolerance is not chosen; those that are chosen: 'a'",
    ),
    "no grade within bounds": (
        lambda m: m.tolerance("a", 6e-6, at_least=5.6e-6, at_most=7e-6),
        {"grades": True},
        r"tolerance of 'a': has no grade of ISO 286-1 between 5.6e-06 and 7e-06 m.*, IT18 is ",
    ),
    "distribution of a choice": (
        lambda m: None,
        {"distributions": {"a": vm.Tolerance(1e-3)}},
        r"distributions names 'a', whose tolerance is chosen",
    ),
    "no target": (
        lambda m: None,
        {"constraints": LINEAR <= 1},
        r"^allocate: no constraint bounds a statistic",
    ),
    "bounds without over": (
        lambda m: None,
        {"bounds": {"a": (0, 1)}},
        r"for nominal values, and over",
    ),
    "correlation of what is fixed": (
        lambda m: m.parameter("e", 1.0),
        {"correlation": {("a", "e"): 0.5}},
        r"called 'e'",
    ),
    "probability that samples do not resolve": (
        lambda m: None,
        {
            "statistics": "samples",
            "samples": 512,
            "order": None,
            "constraints": {"safe": vm.probability(LINEAR <= 0.12505) >= 1 - 1e-6},
        },
        r"'safe': 512 samples do not resolve a probability of 1e-06",
    ),
    "certainty": (
        lambda m: None,
        {"constraints": {"c": vm.probability(LINEAR <= 1) >= 1}},
        r"constraint 'c' ≥ 1 asks for certainty",
    ),
    "impossibility": (
        lambda m: None,
        {"constraints": {"c": vm.probability(LINEAR <= 1) <= 0}},
        r"constraint 'c' ≤ 0 asks for certainty",
    ),
    "number of samples": (lambda m: None, {"verify": 3}, r"verify = 3"),
    "no influence": (
        lambda m: m.parameter("e", 1.0),
        {"constraints": {"t": vm.std(LINEAR) <= 1e-4, "n": vm.final("e") <= 2}},
        r"'n' depends on none of",
    ),
    "solver without constraints": (lambda m: None, {"solver": "BFGS"}, r"supports no constraints"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(what: str) -> None:
    change, options, message = BAD[what]
    m = reciprocal()
    change(m)
    chosen = {"constraints": vm.std(LINEAR) <= 8e-5, **options}
    with pytest.raises(ModelError, match=message):
        allocate(m, **chosen)


RISING: dict[str, tuple[Any, str]] = {
    "function": (lambda t: 1 + 1e4 * t, r"tolerance of 'e': cost rises .*by 10000 per unit"),
    "text": ("1 + t/(1 mm)", r"tolerance of 'e': cost rises .*give a cost that falls"),
    # decreases up to 0.316 mm = √(1/1e7), within the bounds, and increases from there
    "least within": (lambda t: 1 / t + 1e7 * t, r"rises from 6324.56 to 6326.23 .*0.000316228 to"),
    "step": (lambda t: vm.where(t < 5e-4, 1.0, 2.0), r"cost rises from 1 to 2 "),
}


@pytest.mark.parametrize("what", RISING)
def test_costs_that_rise_with_the_tolerance_are_refused(what: str) -> None:
    cost, message = RISING[what]
    m = vm.Mechanism("costs")
    m.parameter("e", 0.05, unit="m")
    with pytest.raises(ModelError, match=message):
        m.tolerance("e", 1e-3, cost=cost)
    with pytest.raises(ModelError, match="cost rises"):
        m.parameter("f", 0.05, unit="m", distribution=vm.Tolerance(1e-3, cost=cost))


def test_costs_may_fall_within_the_bounds_only() -> None:
    m = vm.Mechanism("costs")
    m.parameter("e", 0.05, unit="m")
    m.tolerance("e", 2e-4, at_most=3e-4, cost=lambda t: 1 / t + 1e7 * t)
    m.tolerance("e", 2e-4, cost=lambda t: vm.where(t < 5e-4, 2e-3 / t, 4.0))  # constant from there


def test_nothing_to_choose() -> None:
    m = carrier({"a": (1.0, vm.Tolerance(0.1))})
    with pytest.raises(ModelError, match="no parameter has a tolerance with a cost; declare it"):
        allocate(m, vm.std(vm.final("a")) <= 1e-2)


@pytest.mark.parametrize(("call", "solver"), [(2, "sequence"), (8, "search"), (3, "sequence")])
def test_ctrl_c_leaves_the_best_so_far(
    monkeypatch: pytest.MonkeyPatch, call: int, solver: str
) -> None:
    """Interrupt the sequence of explicit problems, a search, and the steps after either."""
    from varimech.robust import allocating
    from varimech.robust.evaluator import StatisticsEvaluator

    run, calls = StatisticsEvaluator.run, []

    def interrupted(self: Any, x: np.ndarray) -> Any:
        calls.append(x)
        if len(calls) == call:
            raise KeyboardInterrupt
        return run(self, x)

    if solver == "search":
        monkeypatch.setattr(allocating, "sequence", lambda *_: None)
    monkeypatch.setattr(StatisticsEvaluator, "run", interrupted)
    with pytest.raises(Interrupted, match="the best tolerances up to then") as e:
        allocate(reciprocal(), vm.std(LINEAR) <= 8e-5)
    a = e.value.result
    assert isinstance(a, vm.Allocation) and a.verification is None
    assert a.converged == (call == 3) and ("NOT converged" in str(a)) == (call != 3)


@pytest.mark.parametrize("limit", [vm.std(LINEAR) <= 8e-5, vm.quantile(LINEAR, 0.99) <= 0.1252])
def test_the_search_finds_what_the_sequence_finds(
    monkeypatch: pytest.MonkeyPatch, limit: Any
) -> None:
    from varimech.robust import allocating

    a = allocate(reciprocal(), limit)
    assert a.message == "explicit problems converged"
    monkeypatch.setattr(allocating, "sequence", lambda *_: None)
    b = allocate(reciprocal(), limit)
    assert b.message != a.message and b.after == pytest.approx(a.after, rel=1e-7)


# --- results and their text


def test_text_table_and_files(tmp_path: Path) -> None:
    m = lengths(lambda k: vm.cost(1.0, float(FACTORS[k])), at_least=4e-6, at_most=2e-3)
    a = allocate(m, {"spread": vm.std(LINEAR) <= 8e-5}, grades=True, verify=1000)
    text = str(a)
    for part in ("Allocation for 'carrier': cost", "equal widths at equal risk", "tighten first: "):
        assert part in text
    assert "may be relaxed: " in text and "more than continuous tolerances" in text
    table = a.table()
    assert table.index.tolist() == list(NAMES) and table["cost"].sum() == pytest.approx(a.cost)
    assert table["grade"].tolist() == [f"IT{a.grades[n]}" for n in NAMES]
    again = vm.Allocation.load(a.save(tmp_path / "a.nc"))
    assert again.dataset.equals(a.dataset) and again.text() == text
    with a.to_csv(tmp_path / "a.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row, t in zip(rows, a.after, strict=True):
        written = float(row["tolerance"].removeprefix("±"))
        assert row["unit"] == "mm" and float(row["nominal"]) == 50.0
        assert 0 <= 1e3 * t - written < 0.01 * 1e3 * t  # rounded down
        assert float(row["largest"]) - 50 == pytest.approx(written, rel=1e-2)
        assert float(row["smallest"]) - 50 == pytest.approx(-written, rel=1e-2)
        assert row["grade"] == f"IT{a.grades[row['parameter']]}"
    with pytest.raises(ModelError, match="wrong dimension"):
        a.to_csv(tmp_path / "b.csv", length="kg")
    left, right = a.plot().axes
    assert "tolerance" in left.get_xlabel() and right.get_xlabel() == "cost"


# --- the five-bar


def test_the_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cheaper than equal tolerances by a fifth, with fewer than 100 runs with gradients."""
    monkeypatch.setattr(example, "RISKS", (0.1, 0.001))
    a, curve = example.main(tmp_path, samples=1000)
    assert a.converged and a.saving >= 0.2 and a.runs["gradient_runs"] < 100
    assert a.tighten_first == ["Ls2"]  # its spring acts at point 2, with the longer lever
    assert (curve.cost < curve.equal_cost).all() and curve.cost[0] < a.cost < curve.cost[1]
    # without FORM: moments about the new tolerances
    p = example.mechanism().problem({"peak": example.PEAK}, duration=example.DURATION)
    moments = p.with_options(output=example.DURATION).moments(a.distributions, order=1)
    μ, σ = moments.mean[-1].item(), moments.std[-1].item()
    assert (example.LIMIT - μ) / σ == pytest.approx(stats.norm.isf(example.RISK), rel=0.1)
    assert (tmp_path / "cheapest_tolerances.png").stat().st_size > 20_000
    assert "Ls2,2061.55" in (tmp_path / "tolerances.csv").read_text(encoding="utf-8")
    assert "tighten first: Ls2" in capsys.readouterr().out


@pytest.mark.slow
def test_the_risk_of_the_example_is_that_of_many_samples() -> None:
    """Within 5 %; a million samples yield it to 1 %, one standard deviation."""
    m = example.mechanism()
    p = m.problem({"peak": example.PEAK}, duration=example.DURATION)
    a = p.allocate(example.safe(example.RISK), statistics="form", verify=False)
    ends = p.with_options(tolerance=1e-7, output=example.DURATION)
    study = ends.monte_carlo(a.distributions, samples=1_000_000, seed=77, keep=True)
    peaks = study.samples["values"].to_numpy().reshape(1_000_000, -1)[:, -1]
    assert (peaks > example.LIMIT).mean() == pytest.approx(example.RISK, rel=0.05)


def test_nominal_values_are_found_within_wide_bounds() -> None:
    """The feasible window is a hundredth of the range between the bounds; outside it the
    reliability index gives no direction back. The best x is its centre, and the widest tolerance of
    y follows.
    """
    m = carrier({})
    m.parameter("x", 0.3, bounds=(-100, 100))
    m.parameter("y", 0.0)
    m.tolerance("y", 0.1, at_least=1e-3, at_most=10, cost=vm.cost(1.0, 1.0))
    f = vm.final("x + y + 0.001*x**2")
    inside = {"inside": vm.probability(f.between(-1, 1)) >= 0.999}
    a = m.allocate(inside, over=["x"], statistics="form", verify=False, **OPTIONS)
    assert a.nominals["x"] == pytest.approx((0.3, 0.0), abs=1e-6)
    assert a.after == pytest.approx([3 / stats.norm.isf(0.0005)], rel=1e-7)


def test_a_limit_that_is_met_twice_keeps_its_nearest_design_point() -> None:
    """Below its minimum the function increases again: a search from the design point of wider
    tolerances passes the origin and would end on the far side of the limit.
    """
    m = carrier({})
    m.parameter("x", 0.0)
    m.tolerance("x", 1.0, cost=vm.cost(1.0, 1.0))
    f = vm.final("1.6 + 1.48*x + 0.41*x**2 + 0.02*x**3")
    safe = {"safe": vm.probability(f >= 0.2) >= 0.999}
    a = m.allocate(safe, statistics="form", verify=2000, **OPTIONS)
    x = np.random.default_rng(1).normal(0.0, a.tolerances["x"] / 3, 200_000)
    risk = float((1.6 + 1.48 * x + 0.41 * x**2 + 0.02 * x**3 < 0.2).mean())
    assert risk == pytest.approx(0.001, abs=0.0003)


def test_targets_for_which_a_method_is_far_off_end_with_a_broken_bound() -> None:
    """Failure is a thin band next to the nominal value, which FORM does not detect, and no other
    target compensates for it.
    """
    m = carrier({})
    m.parameter("x", 0.0)
    m.tolerance("x", 1.0, cost=vm.cost(1.0, 1.0))
    f = vm.final("1 + x - 4*exp(-((x - 0.3)/0.05)**2)")
    safe = {"safe": vm.probability(f >= 0.2) >= 0.999}
    a = m.allocate(safe, statistics="form", verify=2000, **OPTIONS)
    x = np.random.default_rng(1).normal(0.0, a.tolerances["x"] / 3, 200_000)
    risk = float((1 + x - 4 * np.exp(-(((x - 0.3) / 0.05) ** 2)) < 0.2).mean())
    assert risk > 0.01
    assert "broken beyond doubt" in repr(a)
