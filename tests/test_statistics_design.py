"""Statistics of a mechanism as objective and constraints of optimisation, and refused input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from random_functions import OPTIONS, carrier, differences, evaluator, function_of
from scipy import stats

import varimech as vm
from varimech.robust.design import RobustOptimum
from varimech.robust.evaluator import StatisticsEvaluator
from varimech.robust.random_design import random_design
from varimech.robust.settings import StatisticsSettings

F = function_of("a**2 + b")
PARAMETERS = {"a": (1.0, vm.Tolerance(0.3)), "b": (2.0, vm.Tolerance(0.6)), "c": (0.5, None)}
RUN: Any = {"duration": 0.15, "step": 1e-3, "every": 25}


def slider_crank() -> vm.Mechanism:
    """A crank with an initial speed that drives a slider against a spring."""
    m = vm.Mechanism("slider-crank", gravity=(0, -9.81))
    r = m.parameter("crank", 0.1, unit="m", distribution=vm.Tolerance(0.003))
    L = m.parameter("rod", 0.3, unit="m", distribution=vm.Tolerance(0.006))
    k = m.parameter("k", 400.0, unit="N/m", bounds=(100.0, 2000.0))
    m.ground_point("O", (0, 0))
    m.bar("crank", "O", "A", length=r, mass=0.5)
    m.bar("rod", "A", "B", length=L, mass=0.8)
    m.body("slider", mass=0.6, inertia=1e-3, points={"B": (0, 0)})
    m.revolute("O")
    m.revolute("A")
    m.revolute("B")
    m.prismatic("guide", "ground.O", "slider.B", axis=(1, 0))
    m.spring("s", "O", "B", stiffness=k, natural_length=0.3)
    m.start(angle={"crank": 0.5}, near={"B": (0.38, 0)}, speed={"crank": 20.0})
    return m


def position(s: vm.State) -> Any:
    """Position of the slider (m)."""
    return s.position("B")[0]


END = vm.final(position, unit="m")


@pytest.fixture(scope="module")
def crank() -> vm.Mechanism:
    return slider_crank()


@pytest.mark.parametrize(
    ("method", "settings", "tolerance", "step"),
    [
        ("moments", StatisticsSettings(), 1e-5, 0.05),
        ("moments", StatisticsSettings(order=2), 1e-5, 0.05),
        ("samples", StatisticsSettings(samples=64), 1e-5, 0.02),
        ("form", StatisticsSettings(), 1e-4, 0.05),
        ("chaos", StatisticsSettings(degree=2), 1e-5, 0.01),
    ],
    ids=["order 1", "order 2", "samples", "form", "chaos"],
)
def test_derivatives_of_a_mechanism_by_differences_with_common_random_numbers(
    crank: vm.Mechanism, method: str, settings: StatisticsSettings, tolerance: float, step: float
) -> None:
    quantities: dict[str, Any] = {
        "mean": vm.mean(END),
        "std": vm.std(END),
        "worst": vm.worst(END, sigma=-3),
        "quantile": vm.quantile(END, 0.8),
        "probability": vm.probability(crank_end(crank) + 0.003 >= END),
    }
    s = crank.problem(END, **RUN)._simulation
    pair = {("crank", "rod"): 0.4}
    design = random_design(s, None, pair, nominals=["crank", "k"], widths=["crank", "rod"])
    ev = StatisticsEvaluator(s, design, quantities, method=method, settings=settings)
    x = design.start
    derivatives = ev.run(x).derivatives
    sizes = np.array([1e-3, 1.0, 1e-4, 1e-4])

    def scaled(z: np.ndarray) -> np.ndarray:
        return ev.run(x + sizes * z).values

    by_differences = differences(scaled, np.zeros(4), step)
    whole = np.abs(derivatives * sizes).max(axis=1, keepdims=True)
    assert derivatives * sizes / whole == pytest.approx(by_differences / whole, abs=tolerance)


def crank_end(m: vm.Mechanism) -> float:
    """Final position at nominal values (m)."""
    return float(m.problem(END, **RUN).run().position("B")[-1, 0])


def test_robust_optimum_of_the_slider_crank_is_verified_by_samples(crank: vm.Mechanism) -> None:
    best = crank.optimize(
        {"reach": vm.worst(-1.0 * END, sigma=3)},
        ["crank", "k"],
        bounds={"crank": (0.08, 0.11), "k": (200.0, 800.0)},
        constraints={"spread": vm.std(END) <= 3.2e-3},
        **RUN,
    )
    assert isinstance(best, RobustOptimum)
    assert best.converged
    assert best.objective < best.objective_before or best.broken_before
    assert best.evaluator.counts.gradients < 100
    v = best.verification
    assert v is not None
    assert not v.contradictions
    assert v.samples == 10_000
    assert {c.name for c in v.checked} == {"reach", "spread"}
    for checked in v.checked:
        # moments have errors of up to 2 % of a standard deviation, and half widths are 1 to 3 %
        off = 0.02 * 4 * 3.2e-3 + (checked.upper - checked.lower)
        assert checked.claimed == pytest.approx(checked.estimate, abs=off)
    assert "Verification" in best.text()
    assert best.info["gradient_runs"] == best.evaluator.counts.gradients
    assert best.after.position("B").shape == best.before.position("B").shape


def test_optimum_with_widths_against_the_closed_form() -> None:
    """Largest sum of widths for a given deviation: by Lagrange, λ σᵢ gᵢ² is equal for all."""
    f = function_of("3 * a + 2 * b")
    m = carrier(PARAMETERS)
    slack = vm.final(lambda s: 0 * s.parameter("a"))
    problem = m.problem({"slack": slack}, **OPTIONS)
    best = m.optimize(
        {"std": vm.std(f)},
        ["± a", "± b"],
        bounds={"± a": (0.1, 1.0), "± b": (0.2, 1.0)},
        verify=1000,
        **OPTIONS,
    )
    assert best.widths == pytest.approx({"a": 0.1, "b": 0.2})  # type: ignore[attr-defined]
    assert best.parameters == {}
    assert best.objective == pytest.approx(math.hypot(0.1, 2 * 0.2 / 3), rel=1e-9)
    with pytest.raises(vm.ModelError, match="is for statistics"):
        problem.optimize(["a"], verify=False)


@pytest.mark.parametrize(
    ("distribution", "reach"),
    [(vm.Tolerance(0.03), 0.01 * stats.norm.isf(1e-7)), (stats.uniform(0.47, 0.06), 0.03)],
    ids=["normal", "uniform"],
)
def test_random_values_stay_within_the_bounds_of_their_parameter(
    distribution: Any, reach: float
) -> None:
    """Before, at an optimum on a bound, half of the samples were outside it and failed."""
    m = carrier({})
    m.parameter("x", 0.5, bounds=(0.0, 1.0), distribution=distribution)
    least = m.optimize(vm.mean(vm.final("x")), over=["x"], verify=2000, seed=1, **OPTIONS)
    assert least.parameters["x"] == pytest.approx(reach, abs=1e-6)
    assert isinstance(least, RobustOptimum) and least.verification is not None
    assert least.verification.failed == 0 and least.verification.checked[0].confirmed
    most = m.optimize(vm.mean(vm.final("-x")), over=["x"], verify=False, **OPTIONS)
    assert most.parameters["x"] == pytest.approx(1 - reach, abs=1e-6)


def test_widths_with_units() -> None:
    m = carrier({})
    m.parameter("L", 0.05, unit="m", distribution=vm.Tolerance(1e-4))
    best = m.optimize(
        {"std": vm.std(vm.final("2*L", unit="m"))},
        ["± L"],
        bounds={"± L": ("0.03 mm", "1 mm")},
        start={"± L": "0.2 mm"},
        verify=False,
        **OPTIONS,
    )
    assert best.problem.space.start == pytest.approx([2e-4])
    assert best.objective == pytest.approx(2e-5, rel=1e-9)


def test_bounds_and_starts_of_widths_are_quantities(crank: vm.Mechanism) -> None:
    narrow: dict[str, Any] = {
        "bounds": {"± crank": ("0.1 mm", "5 mm")},
        "start": {"± crank": "2 mm"},
    }
    run: dict[str, Any] = {"duration": 0.02, "step": 1e-3, "verify": False}
    best = crank.optimize({"std": vm.std(END)}, ["± crank"], **narrow, **run)
    assert best.widths["crank"] == pytest.approx(1e-4)  # type: ignore[attr-defined]
    with pytest.raises(vm.ModelError, match="bound = '5 kg' has the wrong dimension; expected m"):
        crank.optimize(vm.std(END), ["± crank"], bounds={"± crank": ("0.1 mm", "5 kg")}, **run)


def test_statistics_as_plain_functions_for_other_optimisers() -> None:
    p = carrier(PARAMETERS).problem({"worst": vm.worst(F)}, **OPTIONS)
    d = p.design_problem(
        ["a", "± b"],
        bounds={"± b": (0.1, 1.0)},
        constraints={"safe": vm.probability(F <= 4.0) >= 0.99, "F": F >= 2.0},
        statistics="moments",
    )
    assert d.names == ("a", "± b")
    assert d.fun(d.x0) == pytest.approx(3 + 3 * math.hypot(0.2, 0.2), rel=1e-9)
    assert d.constraints(d.x0)[1] == pytest.approx(3.0)
    assert d.constraints_jac(d.x0)[1] == pytest.approx([2.0, 0.0])
    assert d.jac(d.x0) == pytest.approx(differences(lambda x: np.array([d.fun(x)]), d.x0, 1e-3)[0])


def test_a_quantity_over_time_at_the_nominal_values_bounds_a_robust_optimum() -> None:
    """The deviation of a b is |a| σ, and a is at least 0.5 at all times."""
    best = carrier({"a": (1.0, None), "b": (2.0, vm.Tolerance(0.6))}).optimize(
        {"std": vm.std(function_of("a * b"))},
        ["a"],
        bounds={"a": (0.1, 2.0)},
        constraints={"a": vm.path("parameter('a')") >= 0.5},
        verify=False,
        **OPTIONS,
    )
    assert best.parameters == pytest.approx({"a": 0.5}, rel=1e-6)
    assert best.objective == pytest.approx(0.1, rel=1e-6)


def test_runs_at_the_nominal_values_are_counted() -> None:
    def runs(quantities: dict[str, Any]) -> int:
        ev = evaluator(carrier(PARAMETERS), quantities, nominals=["a"])
        ev.run(ev.design.start)
        return ev.counts.gradients

    statistic = {"s": vm.std(F)}
    assert runs({**statistic, "F": F}) == runs(statistic) + 1


def test_a_path_below_a_limit_all_the_time() -> None:
    """Samples of a·(1 + 9 t) up to t = 0.01 with a limit of 1.09 a: half of them stay below."""
    path = vm.path("parameter('a') * (1 + 9 * t)")
    result = carrier(PARAMETERS).statistics(
        {"p": vm.probability(path <= 1.09)}, method="samples", **OPTIONS
    )
    assert result["p"] == pytest.approx(0.5, abs=0.01) and result.dataset["error"].item() < 0.05


def test_the_derivatives_that_matter_most_come_first() -> None:
    """dσ/dw·w is σᵢ²gᵢ²/σ for a width w = k σᵢ, whatever k is: 0.1² for a, and 0.08² for b."""
    wide = {"a": (1.0, vm.Tolerance(0.3)), "b": (2.0, vm.Tolerance(0.02, sigmas=2))}
    result = carrier(wide).statistics({"s": vm.std(function_of("a + 8 * b"))}, **OPTIONS)
    assert result.text().index("± a") < result.text().index("± b")


def test_statistics_without_names_are_counted() -> None:
    result = carrier(PARAMETERS).statistics([vm.mean(F), vm.std(F)], method="moments", **OPTIONS)
    assert list(result.methods) == ["s1", "s2"]


def test_one_parameter_needs_no_list() -> None:
    m = carrier({"wide": (1.0, vm.Tolerance(0.3))})
    result = m.statistics(vm.std(function_of("wide**2")), wrt="wide", **OPTIONS)
    at = result.dataset["nominal_derivatives"].sel(parameter="wide")
    # σ² = 4 a² σa² + 2 σa⁴
    assert at.item() == pytest.approx(0.04 / math.sqrt(0.04 + 2e-4), rel=1e-6)


def test_verification_that_contradicts_a_bound_says_so() -> None:
    curved = function_of("b * ((a - 1)**2 + a / 10000)")  # hardly varies to first order
    m = carrier(PARAMETERS)
    best = m.optimize(
        {"mean": vm.mean(F)},
        ["b"],
        bounds={"b": (1.0, 3.0)},
        constraints={"std": vm.std(curved) <= 1e-3},
        statistics="moments",
        **OPTIONS,
    )
    assert best.verification.contradictions == ["std"]  # type: ignore[attr-defined]
    assert "bound broken" in best.text()


def test_bands_over_time_agree_with_moments(crank: vm.Mechanism) -> None:
    path = vm.path(position, unit="m")
    result = crank.statistics(
        {"mean": vm.mean(path), "std": vm.std(path)}, wrt=["k"], method="moments", **RUN
    )
    assert set(result.methods.values()) == {"moments of order 1"}
    moments = crank.moments(END, order=1, **RUN)
    bands = result.bands["value"].sel(statistic="std").to_numpy()
    assert bands == pytest.approx(moments.std.to_numpy()[:, 0], rel=1e-9, abs=1e-15)
    limited = crank.problem({"k": vm.mean(END)}, **RUN).design_problem(
        ["k"], constraints={"band": vm.worst(path, sigma=3) <= 0.42}
    )
    assert limited.row_count == limited.time.size


def test_saved_statistics_are_read_again(tmp_path: Any) -> None:
    result = carrier(PARAMETERS).statistics({"F": vm.std(F)}, **OPTIONS)
    for ending in ("nc", "json"):
        again = vm.Statistics.load(result.save(tmp_path / f"s.{ending}"))
        assert again.dataset["value"].item() == result["F"]
        assert again.text() == result.text()
    assert result.table().loc["F", "value"] == pytest.approx(result["F"])


REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("between 0 and 1", lambda: vm.quantile(F, 1.0)),
    ("finite number of standard deviations", lambda: vm.worst(F, sigma=0)),
    ("exactly 1 is 0", lambda: vm.probability(F.equals(1.0))),
    ("has no comparison", vm.probability),
    ("is no comparison", lambda: vm.probability(F)),  # type: ignore[arg-type]
    ("is a comparison", lambda: vm.mean(F <= 1)),  # type: ignore[arg-type]
    ("of small motions", lambda: vm.std(vm.growth_rate())),  # type: ignore[arg-type]
    ("a statistic", lambda: vm.mean(vm.std(F))),  # type: ignore[arg-type]
    ("is a number", lambda: vm.mean(3.0)),  # type: ignore[arg-type]
    ("is not a statistic", lambda: statistics_of(F)),
    ("there is no statistic", lambda: carrier(PARAMETERS).statistics({}, **OPTIONS)),
    ("method", lambda: statistics_of(vm.std(F), method="exact")),
    ("must be 1 or 2", lambda: statistics_of(vm.std(F), order=3)),
    ("samples", lambda: statistics_of(vm.std(F), method="samples", samples=3)),
    ("do not resolve", lambda: statistics_of(vm.quantile(F, 1e-6), method="samples", samples=64)),
    ("degree = 0", lambda: statistics_of(vm.std(F), method="chaos", degree=0)),
    ("need 132 runs", lambda: statistics_of(vm.std(F), method="chaos", degree=10, samples=40)),
    ("probabilities and quantiles", lambda: statistics_of(vm.std(F), method="form")),
    (
        "samples = 64 has no effect on the method 'moments'",
        lambda: statistics_of(vm.std(F), method="moments", samples=64),
    ),
    (
        "order = 2 has no effect on the method 'chaos'",
        lambda: optimum(["a"], statistics="chaos", order=2),
    ),
    (
        "order 2 are for one comp",
        lambda: statistics_of(vm.probability(F <= 3, F >= 1), order=2, method="moments"),
    ),
    (
        "no parameter is called 'x'",
        lambda: carrier(PARAMETERS).statistics(vm.std(F), {"x": vm.Tolerance(1)}, **OPTIONS),
    ),
    (
        "its own distribution",
        lambda: carrier(PARAMETERS).statistics(vm.std(F), parameters={"a": 2.0}, **OPTIONS),
    ),
    (
        "is a statistic over",
        lambda: carrier(PARAMETERS).problem({"s": vm.std(F)}, **OPTIONS).gradient(),
    ),
    (
        "is a statistic over",
        lambda: carrier(PARAMETERS).problem({"s": vm.std(F)}, **OPTIONS).moments(order=1),
    ),
    (
        "is a statistic over",
        lambda: carrier(PARAMETERS).problem({"s": vm.std(F)}, **OPTIONS).monte_carlo(),
    ),
    ("must be a pair", lambda: optimum(["± a"], bounds={"± a": 0.1})),
    ("numbers, or None", lambda: optimum(["± a"], bounds={"± a": (0.1, math.nan)})),
    ("are empty", lambda: optimum(["± a"], bounds={"± a": (1.0, 0.1)})),
    (
        "start = inf is not a finite number",
        lambda: optimum(["± a"], bounds={"± a": (0.1, None)}, start={"± a": math.inf}),
    ),
    (
        "positive lower one: a tolerance of zero has no distribution; give bounds={'± a': (0.03, 3",
        lambda: optimum(["± a"]),
    ),
    ("p = 0.0 must be", lambda: vm.quantile(F, 0.0)),
    ("bounded by 99.9: it lies between 0 and 1", lambda: vm.probability(F <= 1) >= 99.9),
    ("bounded by -0.1: it", lambda: vm.probability(F <= 1).between(-0.1, 0.9)),
    ("<= 1 holds for every design; write 0.01 for 1 %", lambda: vm.probability(F >= 1) <= 1),
    (">= 0 holds for every design", lambda: vm.probability(F >= 1) >= 0),
    (">= 0 holds for every design", lambda: vm.probability(F >= 1).between(0, 1)),
    (
        "width of 'a' is 0; it must be positive",
        lambda: evaluator(
            carrier(PARAMETERS), {"s": vm.std(F)}, nominals=[], widths=["a"]
        ).design.at(np.zeros(1)),
    ),
    ("no random parameter is called 'c'", lambda: optimum(["± c"], bounds={"± c": (0.1, 1.0)})),
    ("names '± a'", lambda: optimum(["a"], bounds={"± a": (0.1, 1.0)})),
    (
        "at every stored time",
        lambda: carrier(PARAMETERS).optimize(vm.std(vm.path("parameter('a')")), ["a"], **OPTIONS),
    ),
    (
        "no parameter has a distribution",
        lambda: carrier({"a": (1.0, None), "b": (1.0, None)}).statistics(vm.std(F), **OPTIONS),
    ),
    (
        "correlated and not all normal",
        lambda: carrier({**PARAMETERS, "a": (1.0, stats.uniform(0.5, 1))}).statistics(
            vm.std(F), correlation={("a", "b"): 0.5}, method="moments", order=2, **OPTIONS
        ),
    ),
    (
        "do not resolve a probability of 1e-06",
        lambda: optimum(
            ["a"],
            constraints={"p": vm.probability(F >= 9.0) <= 1e-6},
            statistics="samples",
        ),
    ),
    ("hessian", lambda: optimum(["a"], hessian="exact")),
]


def statistics_of(statistic: Any, **options: Any) -> object:
    """Compute a statistic of the carrier."""
    return carrier(PARAMETERS).statistics({"s": statistic}, **OPTIONS, **options)


def optimum(over: list[str], **options: Any) -> object:
    """Optimise the carrier."""
    return carrier(PARAMETERS).optimize({"s": vm.worst(F)}, over, **OPTIONS, **options)


@pytest.mark.parametrize(
    ("words", "call"), REFUSED, ids=[f"{k} {w}" for k, (w, _) in enumerate(REFUSED)]
)
def test_refused(words: str, call: Callable[[], object]) -> None:
    with pytest.raises(vm.ModelError) as refused:
        call()
    assert words in str(refused.value)
