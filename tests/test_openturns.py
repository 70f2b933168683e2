"""Global sensitivity and reliability: exact where the mechanism is linear, known by quadrature
where it is not, and what is refused.
"""

from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openturns as ot
import pytest
from markdown_pages import DOCS, run_page
from scipy import stats

import five_bar_reliability
import varimech as vm
from varimech.uncertainty.openturns_distributions import distribution_of
from varimech.uncertainty.parameter_distributions import distributions_of

T = 1.0
SLOPES = np.array([(1 - math.cos(2 * T)) / 4, (T - math.sin(2 * T) / 2) / 4])
"""∂x/∂(F, G) at the end, exactly."""
σ = np.array([0.3, 0.2])
MIDDLE = SLOPES @ [1.0, 0.5]
DEVIATION = float(np.linalg.norm(SLOPES * σ))
displaced = vm.final(lambda s: s.displacement("guide"), unit="m")
squared = vm.final(lambda s: s.displacement("guide") ** 2, unit="m²")
parabola = vm.final(lambda s: s.parameter("F") + 0.5 * (s.parameter("G") - 0.5) ** 2)
positive = vm.final(lambda s: 0.1 + s.parameter("F") ** 2)
still = vm.final(lambda s: s.parameter("still"))


def oscillator() -> vm.Mechanism:
    """x'' = F + G t − 4 x from rest at 0: x = ¼F (1 − cos 2t) + ¼G (t − ½ sin 2t)."""
    m = vm.Mechanism("oscillator", dimension=2)
    F = m.parameter("F", 1.0, unit="N", distribution=vm.Tolerance(0.9))
    G = m.parameter("G", 0.5, unit="N/s", distribution=vm.Tolerance(0.6), bounds=(-2.0, 3.0))
    m.parameter("still", 1.0)
    m.ground_point("O", (0, 0))
    m.body("mass", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(1, 0))
    m.force("push", "mass.P", lambda s: vm.vector(F + G * s.time - 4 * s.displacement("guide"), 0))
    m.start(displacement={"guide": 0.0})
    return m


m = pytest.fixture(oscillator, scope="module", name="m")


@pytest.fixture(scope="module")
def study(m: vm.Mechanism) -> vm.GlobalStudy:
    return m.problem({"x": displaced, "x²": squared}, duration=T, tolerance=1e-10).openturns()


@pytest.fixture(scope="module")
def curved(m: vm.Mechanism) -> vm.GlobalStudy:
    """Of functions of parameters alone."""
    objectives = {"y": parabola, "positive": positive, "still": still}
    return m.problem(objectives, duration=0.01).openturns({"G": vm.Tolerance(0.75)})


def pendulum() -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    L = m.parameter("L", 1.0, unit="m", distribution=vm.Tolerance(0.1))
    M = m.parameter("M", 2.0, unit="kg", distribution=vm.Tolerance(0.3))
    k = m.parameter("k", 3.0, unit="N·m/rad", distribution=stats.uniform(2.5, 1.0))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=M)
    m.revolute("O")
    m.torque("spring", "rod", lambda s: -k * s.angle("rod"))
    m.start(angle={"rod": -0.5})
    return m


ANGLE = vm.final(lambda s: s.angle("rod"), unit="rad")
HEIGHT = vm.final(lambda s: s.position("tip")[1], unit="m")


@pytest.fixture(scope="module")
def swing() -> vm.GlobalStudy:
    return (
        pendulum()
        .problem({"angle": ANGLE, "height": HEIGHT}, duration=1.0, tolerance=1e-11)
        .openturns()
    )


def test_derivatives_are_those_of_differences(swing: vm.GlobalStudy) -> None:
    f, x = swing.function, [1.02, 1.9, 3.1]
    first = ot.CenteredFiniteDifferenceGradient([1e-4] * 3, f.getEvaluation()).gradient(x)
    second = ot.CenteredFiniteDifferenceHessian([1e-3] * 3, f.getEvaluation()).hessian(x)
    assert np.array(f.gradient(x)) == pytest.approx(np.array(first), abs=1e-6)
    assert np.array(f.hessian(x)) == pytest.approx(np.array(second), abs=1e-4)
    assert np.array(f.gradient(x)).shape == (3, 2) and np.array(f.hessian(x)).shape == (3, 3, 2)
    assert f.getInputDescription() == ["L", "M", "k"] and f.getOutputDescription() == [
        "angle",
        "height",
    ]
    points = np.array([x, [0.98, 2.1, 2.6]])
    assert np.array(f(points)) == pytest.approx(np.array([f(p) for p in points]), rel=1e-9)


def test_distributions_are_those_of_the_parameters() -> None:
    given = {
        "F": stats.lognorm(0.3, scale=2.0),
        "G": stats.uniform(-1, 3),
        "still": stats.norm(1.5, 0.2),
    }
    R = {("F", "G"): 0.6, ("G", "still"): -0.3}
    distributions = distributions_of(oscillator().parameters, given, R)
    joint = distribution_of(distributions)
    x = distributions.from_normal(np.random.default_rng(1).standard_normal((40, 3)))
    for k, exact in enumerate(given.values()):
        one = joint.getMarginal(k)
        assert np.array(one.computeCDF(x[:, k : k + 1])).ravel() == pytest.approx(
            exact.cdf(x[:, k]), rel=1e-12
        )
        for p in (1e-6, 0.3, 0.999):
            assert one.computeQuantile(p)[0] == pytest.approx(exact.ppf(p), rel=1e-9)
        assert (one.getMean()[0], one.getStandardDeviation()[0]) == pytest.approx(
            (exact.mean(), exact.std())
        )
        assert one.computeComplementaryCDF([exact.isf(1e-12)]) == pytest.approx(1e-12, rel=1e-3)
    assert [one.getName() for one in (joint.getMarginal(k) for k in (1, 2))] == [
        "Uniform",
        "Normal",
    ]
    # independent standard normal variables become the same points
    to_physical, z = (
        joint.getInverseIsoProbabilisticTransformation(),
        np.array([[0.3, -1.2, 0.7], [-2.0, 0.1, 1.0]]),
    )
    assert np.array(to_physical(z)) == pytest.approx(distributions.from_normal(z), rel=1e-8)


def test_seeds_count_for_distributions_of_scipy() -> None:
    joint = distribution_of(
        distributions_of(oscillator().parameters, {"F": stats.gamma(2.0), "G": None})
    )
    draws = []
    for seed in (1, 1, 2):
        ot.RandomGenerator.SetSeed(seed)
        draws.append(np.array(joint.getSample(400)).ravel())
    assert (draws[0] == draws[1]).all() and (draws[0] != draws[2]).any()
    assert stats.kstest(draws[0], stats.gamma(2.0).cdf).pvalue > 1e-3


def test_a_linear_limit_is_exact(study: vm.GlobalStudy) -> None:
    β = 3.0
    estimate = study.probability(displaced >= float(MIDDLE + β * DEVIATION))
    shares = (SLOPES * σ / DEVIATION) ** 2
    assert estimate.beta == pytest.approx(β, abs=1e-6) and estimate.form == pytest.approx(
        stats.norm.sf(β), rel=1e-5
    )
    assert list(estimate.sorms.values()) == pytest.approx([stats.norm.sf(β)] * 3, rel=1e-5)
    assert list(estimate.importance.values()) == pytest.approx(shares, rel=1e-4)
    assert list(estimate.design.values()) == pytest.approx(
        [1.0, 0.5] + β * SLOPES * σ**2 / DEVIATION, rel=1e-5
    )
    assert estimate.calls["gradients"] < 20 and estimate.calls["Hessians"] == 1
    below = study.probability(displaced <= MIDDLE - 2 * DEVIATION)
    assert below.beta == pytest.approx(2, abs=1e-6) and below.form == pytest.approx(
        stats.norm.sf(2), rel=1e-5
    )


def test_an_event_more_likely_than_not_is_looked_at_from_the_other_side(
    study: vm.GlobalStudy,
) -> None:
    estimate = study.probability(displaced >= MIDDLE - 2 * DEVIATION, samples=400)
    assert estimate.beta == pytest.approx(-2, abs=1e-6) and estimate.form == pytest.approx(
        stats.norm.cdf(2), rel=1e-6
    )
    assert estimate.sorm == pytest.approx(stats.norm.cdf(2), rel=1e-6)
    assert (
        estimate.sampled is not None
        and estimate.sampled.lower < stats.norm.cdf(2) < estimate.sampled.upper
    )
    assert estimate.sampled.upper - estimate.sampled.lower < 0.01


def test_correlated_parameters(m: vm.Mechanism) -> None:
    r = 0.7
    study = m.problem({"x": displaced, "x²": squared}, duration=T, tolerance=1e-10).openturns(
        correlation={("F", "G"): r}
    )
    a = SLOPES * σ
    deviation = math.sqrt(a @ [[1, r], [r, 1]] @ a)
    assert deviation > 1.1 * DEVIATION
    assert study.probability(displaced >= float(MIDDLE + 2.5 * deviation)).beta == pytest.approx(
        2.5, abs=1e-6
    )
    chaos = study.chaos(runs=32, checks=8)
    assert chaos.std[0].item() == pytest.approx(
        deviation, rel=1e-6
    ) and chaos.q2.to_numpy() == pytest.approx(1)
    for refused in (lambda: chaos.sobol, study.sobol):
        with pytest.raises(vm.ModelError, match=r"'F' and 'G' have a correlation of 0\.7"):
            refused()


def test_second_order_and_samples_are_better_where_the_limit_is_curved(
    curved: vm.GlobalStudy,
) -> None:
    """F + ½ (G − ½)² ≥ c: an integral over G of a normal tail in F."""
    c = 1.9
    g = np.linspace(-8, 8, 4001)
    exact = float(
        np.trapezoid(stats.norm.pdf(g) * stats.norm.sf((c - 0.5 * (0.25 * g) ** 2 - 1.0) / 0.3), g)
    )
    estimate = curved.probability(parabola >= c, samples=2000, seed=1)
    errors = {
        name: abs(p / exact - 1) for name, p in {"FORM": estimate.form, **estimate.sorms}.items()
    }
    assert errors["FORM"] > 0.25 and max(errors[n] for n in estimate.sorms) < 0.5 * errors["FORM"]
    assert estimate.sampled is not None and estimate.sampled.lower < exact < estimate.sampled.upper
    assert estimate.sampled.upper - estimate.sampled.lower < 0.3 * exact
    assert estimate.sampled.samples == 2000
    same, other = (
        curved.probability(parabola >= c, samples=200, seed=seed).sampled for seed in (1, 2)
    )
    assert curved.probability(parabola >= c, samples=200, seed=1).sampled == same != other
    assert list(estimate.table().columns) == [
        "probability",
        "lower",
        "upper",
        "variation",
    ] and "importance" in repr(estimate)


def test_points_to_both_sides_are_found_where_a_limit_bends_around_the_middle(
    m: vm.Mechanism, curved: vm.GlobalStudy
) -> None:
    """By symmetry the first search ends where F alone changes, but points to both sides are nearer:
    β κ = 3·1.2 > 1.
    """
    study = m.problem(dict(curved.runs.rows.objectives), duration=0.01).openturns(
        {"G": vm.Tolerance(1.8)}
    )
    wide = study.probability(parabola >= 1.9, samples=1000)
    assert (
        wide.nearest
        and wide.beta < 2.1
        and [p.beta for p in wide.points] == pytest.approx([wide.beta] * 2, abs=1e-5)
    )
    assert wide.points[0].values[1] - 0.5 == pytest.approx(0.5 - wide.points[1].values[1], abs=1e-4)
    g = np.linspace(-8, 8, 4001)
    exact = float(
        np.trapezoid(stats.norm.pdf(g) * stats.norm.sf((1.9 - 0.5 * (0.6 * g) ** 2 - 1.0) / 0.3), g)
    )
    assert wide.sampled is not None and wide.sampled.lower < exact < wide.sampled.upper
    assert wide.sorm == pytest.approx(exact, rel=0.1)
    narrow = curved.probability(parabola >= 1.9)
    assert narrow.nearest and len(narrow.points) == 1 and not narrow.notes


def test_sobol_indices_are_shares_of_the_variance(m: vm.Mechanism, study: vm.GlobalStudy) -> None:
    """Of x exactly; of x² with x = μ + a z₁ + b z₂: 4μ²a² + 2a⁴ alone, 4a²b² together."""
    chaos = study.chaos(runs=40, checks=20)
    a = SLOPES * σ
    shares = a**2 / (a @ a)
    contributions = (
        m.moments({"x": displaced}, duration=T, order=1).contributions.isel(time=-1).to_numpy()[0]
    )
    assert chaos.sobol.first.sel(objective="x").to_numpy() == pytest.approx(shares, rel=1e-7)
    assert chaos.sobol.total.sel(objective="x").to_numpy() == pytest.approx(contributions, rel=1e-6)
    alone, together = 4 * MIDDLE**2 * a**2 + 2 * a**4, 4 * a[0] ** 2 * a[1] ** 2
    variance = alone.sum() + together
    assert chaos.sobol.first.sel(objective="x²").to_numpy() == pytest.approx(
        alone / variance, rel=1e-6
    )
    assert chaos.sobol.total.sel(objective="x²").to_numpy() == pytest.approx(
        (alone + together) / variance, rel=1e-6
    )
    assert chaos.sobol.second.sel(
        objective="x²", parameter="F", parameter2="G"
    ).item() == pytest.approx(together / variance, rel=1e-5)
    assert chaos.mean.to_numpy() == pytest.approx([MIDDLE, MIDDLE**2 + a @ a], rel=1e-8)
    assert chaos.variance.to_numpy() == pytest.approx([a @ a, variance], rel=1e-7)
    assert chaos.q2.to_numpy() == pytest.approx(1, abs=1e-9)
    assert np.array(chaos.metamodel([1.3, 0.2])) == pytest.approx(
        np.array(study.function([1.3, 0.2])), rel=1e-7
    )
    rows = chaos.sobol.table()
    assert (
        list(rows["parameter"]) == ["F", "G"] * 2
        and "Q²" in repr(chaos)
        and "first" in repr(chaos.sobol)
    )


@pytest.mark.parametrize("estimator", ["martinez", "saltelli"])
def test_sampled_indices_hold_the_truth_in_their_intervals(
    study: vm.GlobalStudy, estimator: str
) -> None:
    indices = study.sobol(samples=512, estimator=estimator, level=0.999)
    shares = (SLOPES * σ / DEVIATION) ** 2
    at = indices.dataset.sel(objective="x")
    for kind in ("first", "total"):
        assert (at[f"{kind}_lower"].to_numpy() < shares).all() and (
            shares < at[f"{kind}_upper"].to_numpy()
        ).all()
    assert indices.dataset.sizes == {"objective": 2, "parameter": 2, "parameter2": 2}
    width = (at["first_upper"] - at["first_lower"]).to_numpy()
    assert (width > 0).all() and (width < 0.8).all()
    assert len(indices.plot().axes) == 2


def test_chaos_of_a_swing_has_the_moments_of_quadrature(swing: vm.GlobalStudy) -> None:
    """Gauss's rules, Hermite for L and M and Legendre for k."""
    chaos = swing.chaos(runs=80, checks=20, degree=3)
    z, w = np.polynomial.hermite_e.hermegauss(5)
    u, v = np.polynomial.legendre.leggauss(5)
    grid = np.meshgrid(1 + z * 0.1 / 3, 2 + z * 0.1, 3 + u / 2, indexing="ij")
    weights = np.einsum("i,j,k->ijk", w / w.sum(), w / w.sum(), v / 2).ravel()
    values = np.array(swing.function(np.column_stack([g.ravel() for g in grid])))
    mean = weights @ values
    assert chaos.mean.to_numpy() == pytest.approx(mean, rel=1e-4)
    assert chaos.variance.to_numpy() == pytest.approx(weights @ (values - mean) ** 2, rel=2e-3)
    assert (chaos.q2.to_numpy() > 0.999).all() and chaos.degree == 3
    assert chaos.sobol.total.sum("parameter").to_numpy() == pytest.approx(1, abs=0.02)


def test_runs_that_fail_are_named(m: vm.Mechanism) -> None:
    study = m.problem({"x": displaced}, duration=0.1).openturns({"G": stats.norm(0.5, 2.0)})
    with pytest.raises(
        vm.VarimechError,
        match=r"sample \d+ of 64 \(\d+ failed\), F = .* N, G = .* N/s: ModelError: .*'G'.*bounds",
    ):
        study.chaos(runs=64)
    with pytest.raises(RuntimeError, match=r"F = 1 N, G = 4 N/s: ModelError: .*'G'.*bounds"):
        study.function([1.0, 4.0])
    with pytest.raises(vm.VarimechError, match=r"G = 4 N/s: ModelError: .*'G'.*bounds"):
        study.runs.gradient(np.array([1.0, 4.0]))
    changed = oscillator()
    study = changed.problem({"x": displaced}, duration=0.1).openturns()
    changed.parameter("new", 1.0)
    with pytest.raises(vm.ModelError, match=r"changed since; call openturns\(…\) again"):
        study.chaos(runs=8)


def test_limits_out_of_reach_are_reported(curved: vm.GlobalStudy) -> None:
    with pytest.raises(
        vm.VarimechError, match=r"positive ≤ 0: no design point was found .* monte_carlo"
    ):
        curved.probability(positive <= 0)
    with pytest.raises(
        vm.ModelError, match="the gradient of 'still' vanishes at the medians of F, G"
    ):
        curved.probability(still >= 2)
    with pytest.raises(
        vm.ModelError, match="objective 'still': it does not vary: none of the parameters F, G"
    ):
        curved.chaos(runs=8)
    with pytest.raises(vm.ModelError, match="objective 'still': it does not vary"):
        curved.sobol(samples=8)


BAD: dict[str, tuple[str, Callable[[vm.GlobalStudy], Any]]] = {
    "two limits": (
        r"between 0 and 1 m has two limits",
        lambda s: s.probability(displaced.between(0, 1)),
    ),
    "a value": (r"= 1 m has two limits", lambda s: s.probability(displaced.equals(1))),
    "no event": (r"3 is no event; compare an objective", lambda s: s.probability(3)),  # type: ignore[arg-type]
    "no limit": (
        "^probability: an objective without a limit is no event; compare an objective",
        lambda s: s.probability(displaced),  # type: ignore[arg-type]
    ),
    "small motions": (
        "one of small motions, which has no run; use moments",
        lambda s: s.probability(vm.growth_rate() <= 1),
    ),
    "a text": (
        r"any_of: b = 'x >= 1' is not a comparison",
        lambda s: s.probability(vm.any_of(a=displaced >= 1, b="x >= 1")),  # type: ignore[arg-type]
    ),
    "one limit": (
        r"a system has several limits, not 1; give two or more",
        lambda s: s.probability(vm.any_of(displaced >= 1)),
    ),
    "nested": (
        r"'limit 2' is a system itself, and systems are not nested",
        lambda s: s.probability(
            vm.any_of(displaced >= 1, vm.all_of(displaced >= 1, squared >= 1))  # type: ignore[arg-type]
        ),
    ),
    "a name like a number": (
        r"name = 'limit 1' is the name of a comparison without one",
        lambda s: s.probability(vm.any_of(displaced >= 1, **{"limit 1": squared >= 1})),
    ),
    "method": (
        r"no method of reliability .* 'subsets'; did you mean 'subset'",
        lambda s: s.probability(displaced >= 1, method="subsets"),
    ),
    "no samples": (
        r"samples = 0 'subset' needs samples; leave it out",
        lambda s: s.probability(displaced >= 1, method="subset", samples=0),
    ),
    "samples": (
        r"samples = -1 must be a whole number, 0 or more",
        lambda s: s.probability(displaced >= 1, samples=-1),
    ),
    "level": (
        r"level = 95 must be a probability",
        lambda s: s.probability(displaced >= 1, level=95),
    ),
    "runs": (r"chaos: runs = 0\.5 must be a whole number", lambda s: s.chaos(runs=0.5)),  # type: ignore[arg-type]
    "degree": (
        r"15 polynomials of degree 4 in 2 parameters, more than runs \(8\)",
        lambda s: s.chaos(runs=8, degree=4),
    ),
    "no degree": (r"degree = 0 must be a whole number, 1 or more", lambda s: s.chaos(degree=0)),
    "estimator": (
        r"no estimator .* 'martines'; did you mean 'martinez'",
        lambda s: s.sobol(estimator="martines"),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused(study: vm.GlobalStudy, case: str) -> None:
    match, call = BAD[case]
    with pytest.raises(vm.ModelError, match=match):
        call(study)


def test_a_single_parameter(m: vm.Mechanism) -> None:
    study = m.problem({"x": displaced, "x²": squared}, duration=T, tolerance=1e-10).openturns(
        {"G": None}
    )
    chaos = study.chaos(runs=16, checks=8)
    assert (
        chaos.sobol.first.to_numpy() == pytest.approx(1)
        and np.isnan(chaos.sobol.second.to_numpy()).all()
    )
    estimate = study.probability(displaced >= float(MIDDLE + 2 * SLOPES[0] * σ[0]))
    assert list(estimate.sorms.values()) == pytest.approx([stats.norm.sf(2)] * 3, rel=1e-5)
    with pytest.raises(
        vm.ModelError, match="'F' alone varies, so all of the variance is due to it"
    ):
        study.sobol()


def test_bad_studies_are_refused(m: vm.Mechanism) -> None:
    with pytest.raises(vm.ModelError, match="at least one objective"):
        m.problem([], duration=T).openturns()
    with pytest.raises(vm.ModelError, match="no option is called 'stepp'"):
        m.problem(displaced, duration=T, stepp=0.1).openturns()  # type: ignore[call-arg]
    with pytest.raises(vm.ModelError, match="parameters names 'F', which has its own distribution"):
        m.problem(displaced, duration=T, parameters={"F": 2.0}).openturns()


def test_blocks_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = DOCS / "reliability.md"
    monkeypatch.chdir(tmp_path)
    text, namespace = page.read_text(encoding="utf-8"), run_page(page)
    reliability, chaos = namespace["reliability"], namespace["chaos"]
    assert chaos.q2.item() > 0.9999 and f"{chaos.sobol.first[0, 0].item():.4f}" in text
    drawn = namespace["drawn"][:, -1, 0].to_numpy()
    share, error = (drawn >= 1.3).mean(), math.sqrt(0.01 / drawn.size)
    assert (
        abs(reliability.sorm - share) < 3 * error
        and f"{reliability.form:.7f}" in text
        and f"{reliability.sorm:.7f}" in text
    )
    assert reliability.sampled.lower < reliability.sorm < reliability.sampled.upper
    assert chaos.mean.item() == pytest.approx(
        drawn.mean(), abs=3 * drawn.std() / math.sqrt(drawn.size)
    )
    # OpenTURNS makes of our derivatives what m.moments does
    with warnings.catch_warnings(action="ignore", category=vm.HorizonWarning):
        own = namespace["m"].moments(
            namespace["psi1"], namespace["tolerances"], duration=5.0, order=1
        )
    assert namespace["taylor"].getCovariance()[0, 0] == pytest.approx(
        own.variance[-1].item(), rel=1e-5
    )
    assert namespace["taylor"].getMeanFirstOrder()[0] == pytest.approx(
        own.mean[-1].item(), rel=1e-7
    )
    assert "Q²" in capsys.readouterr().out and (tmp_path / "sobol.png").stat().st_size > 5_000


def test_the_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(five_bar_reliability, "LIMITS", np.array([1.0, 1.4, 1.8]))
    chaos, e = five_bar_reliability.main(tmp_path, samples=1000, around=200)
    assert chaos.sobol.total.sum().item() == pytest.approx(1, abs=0.03) and (e.form < e.sorm).all()
    p, half = e.around.T
    assert (np.abs(p - e.sorm) < 1.6 * half).all() and (
        half < 0.6 * p
    ).all()  # three standard errors
    assert (
        "design point" in capsys.readouterr().out
        and (tmp_path / "reliability.png").stat().st_size > 20_000
    )


def test_without_the_package(m: vm.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "openturns":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(vm.ModelError, match=r"need OpenTURNS: pip install 'varimech\[uq\]'"):
        m.problem(displaced, duration=T).openturns()
