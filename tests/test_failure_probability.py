"""Systems of limits and first passage: closed forms, derivatives of the reliability index,
comparisons of methods, and first passage of mechanisms against plain sampling.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

import clearance_slider_crank
import varimech as vm
from varimech.benchmarks import five_bar
from varimech.cli.app import app
from varimech.uncertainty.importance import WeightedSamples
from varimech.uncertainty.limits import system_of
from varimech.uncertainty.sampled import clopper_pearson

first = vm.final(lambda s: s.parameter("a") + 0.5 * s.parameter("b"), unit="m")
second = vm.final(lambda s: s.parameter("b") - 0.4 * s.parameter("c"), unit="m")
third = vm.final(lambda s: s.parameter("c") + s.parameter("a"), unit="m")
MEANS, SIGMAS = np.array([1.0, 2.0, 0.5]), np.array([0.2, 0.3, 0.4])
ROWS = np.array([[1, 0.5, 0], [0, 1, -0.4], [1, 0, 1]])
LIMITS = np.array([2.9, 2.9, 2.8])


def linear(means: np.ndarray = MEANS, sigmas: np.ndarray = SIGMAS) -> vm.Mechanism:
    """A mechanism at rest, with three parameters."""
    m = vm.Mechanism("linear", dimension=2)
    for name, mean, σ in zip("abc", means.tolist(), sigmas.tolist(), strict=True):
        m.parameter(name, mean, unit="m", distribution=stats.norm(mean, σ))
    m.ground_point("O", (0, 0))
    m.body("mass", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(1, 0))
    m.start(displacement={"guide": 0.0})
    return m


STILL = linear()
product = vm.final(
    lambda s: s.parameter("a") * s.parameter("b") + 0.2 * s.parameter("c") ** 2, unit="m"
)


def limits() -> dict[str, vm.Constraint]:
    return {"one": first >= 2.9, "two": second >= 2.9, "three": third >= 2.8}


@pytest.fixture(scope="module")
def study() -> vm.GlobalStudy:
    return linear().problem({"first": first}, duration=0.01).openturns()


def moments_of_limits(
    means: np.ndarray = MEANS, sigmas: np.ndarray = SIGMAS
) -> tuple[np.ndarray, np.ndarray]:
    """β of each limit, and their correlation."""
    C = ROWS * sigmas
    size = np.linalg.norm(C, axis=1)
    return (LIMITS - ROWS @ means) / size, (C / size[:, None]) @ (C / size[:, None]).T


def exact(kind: str, means: np.ndarray = MEANS, sigmas: np.ndarray = SIGMAS) -> float:
    """Exact probability, by integrals over c and b of the conditional probability of a."""
    total = 0.0
    for c, w in zip(*rule(means[2] - 9 * sigmas[2], means[2] + 9 * sigmas[2]), strict=True):
        second_at, corner = LIMITS[1] + 0.4 * c, 2 * (LIMITS[0] - LIMITS[2] + c)
        ends = np.clip([second_at, corner], means[1] - 9 * sigmas[1], means[1] + 9 * sigmas[1])
        cuts = sorted([means[1] - 9 * sigmas[1], *ends, means[1] + 9 * sigmas[1]])
        for low, high in pairwise(cuts):
            b, v = rule(low, high)
            of_first, of_third = LIMITS[0] - 0.5 * b, LIMITS[2] - c
            beyond = b >= second_at
            if kind == "all":
                a = np.where(beyond, np.maximum(of_first, of_third), np.inf)
            else:
                a = np.where(beyond, -np.inf, np.minimum(of_first, of_third))
            density = stats.norm.pdf(b, means[1], sigmas[1]) * stats.norm.pdf(
                c, means[2], sigmas[2]
            )
            total += w * float(v @ (density * stats.norm.sf(a, means[0], sigmas[0])))
    return total


def rule(low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss–Legendre quadrature on eight panels."""
    x, w = np.polynomial.legendre.leggauss(16)
    ends = np.linspace(low, high, 9)
    half = np.diff(ends)[:, None] / 2
    return (ends[:-1, None] + half * (1 + x)).ravel(), (half * w).ravel()


@pytest.mark.parametrize("kind", ["any", "all"])
def test_systems_of_linear_limits_are_exact(study: vm.GlobalStudy, kind: str) -> None:
    build = {"any": vm.any_of, "all": vm.all_of}[kind]
    estimate = study.probability(build(**limits()), samples=2000, level=0.999)
    p = exact(kind)
    assert estimate.form == pytest.approx(p, rel=1e-4)
    assert estimate.beta == pytest.approx(-stats.norm.ppf(p), rel=2e-4)
    s = estimate.sampled
    assert s is not None and s.lower < p < s.upper and s.upper - s.lower < 2 * p
    β, R = moments_of_limits()
    assert not study.probability(limits()["one"], method="form").limits
    alone = [limit.form for limit in estimate.limits]
    assert alone == pytest.approx(stats.norm.sf(β), rel=1e-5)
    plain = study.probability(build(**limits()), method="form")
    without = plain.limits[2].without
    pair = float(stats.multivariate_normal(np.zeros(2), R[:2, :2]).cdf(-β[:2]))
    rest = pair if kind == "all" else float(stats.norm.sf(β[:2]).sum()) - pair
    assert without == pytest.approx(rest, rel=1e-4)
    assert "without" in repr(plain) and plain.dataset.sizes["limit"] == 3


def test_the_contrary_of_a_system_is_the_rarer_one(study: vm.GlobalStudy) -> None:
    """Not (one or two or three) means that all three limits are kept; evaluated as the event that
    one is not.
    """
    kept = vm.all_of(first <= 2.9, second <= 2.9, third <= 2.8)
    estimate = study.probability(kept, samples=2000, level=0.999)
    assert 1 - estimate.form == pytest.approx(exact("any"), rel=1e-4)
    s = estimate.sampled
    assert s is not None and s.lower < 1 - exact("any") < s.upper and estimate.beta < 0
    missed = study.probability(vm.any_of(first <= 2.9, second <= 2.9, third <= 2.8))
    assert missed.form == pytest.approx(1 - exact("all"), rel=1e-7)


@pytest.mark.parametrize("kind", ["any", "all"])
def test_derivatives_of_linear_systems_are_those_of_differences(
    study: vm.GlobalStudy, kind: str
) -> None:
    """Finite differences of the multivariate normal probability with respect to means and standard
    deviations.
    """
    build, pair = {"any": vm.any_of, "all": vm.all_of}[kind], dict(list(limits().items())[:2])
    table = study.probability(build(**pair)).sensitivity_table()

    def probability(means: np.ndarray, sigmas: np.ndarray) -> float:
        β, R = moments_of_limits(means, sigmas)
        both = float(stats.multivariate_normal(np.zeros(2), R[:2, :2]).cdf(-β[:2]))
        return both if kind == "all" else float(stats.norm.sf(β[:2]).sum()) - both

    for j in range(3):
        δ = 1e-4 * np.eye(3)[j]
        by_mean = (probability(MEANS + δ, SIGMAS) - probability(MEANS - δ, SIGMAS)) / 2e-4
        by_std = (probability(MEANS, SIGMAS + δ) - probability(MEANS, SIGMAS - δ)) / 2e-4
        row = table.iloc[j]
        scale = abs(table["probability_mean"]).max()
        assert row["probability_mean"] == pytest.approx(by_mean, rel=1e-4, abs=1e-5 * scale)
        assert row["probability_std"] == pytest.approx(by_std, rel=1e-4, abs=1e-5 * scale)
        density = stats.norm.pdf(stats.norm.isf(probability(MEANS, SIGMAS)))
        assert row["beta_mean"] == pytest.approx(-by_mean / density, rel=1e-3, abs=1e-5)
        assert row["beta_std"] == pytest.approx(-by_std / density, rel=1e-3, abs=1e-5)


def curved(shift: dict[str, float], stretch: dict[str, float], r: float) -> vm.Reliability:
    """A curved limit of correlated parameters, one of them not normal, shifted and stretched."""
    given: dict[str, Any] = {}
    for name, mean, σ in zip("abc", MEANS.tolist(), SIGMAS.tolist(), strict=True):
        μ, s = mean + shift.get(name, 0.0), σ + stretch.get(name, 0.0)
        given[name] = stats.norm(μ, s)
        if name == "b":  # a Gumbel distribution with this mean and standard deviation
            scale = s * math.sqrt(6) / math.pi
            given[name] = stats.gumbel_r(μ - np.euler_gamma * scale, scale)
    return STILL.reliability(product >= 4.0, given, correlation={("a", "b"): r}, duration=0.01)


def test_derivatives_of_the_index_are_those_of_differences() -> None:
    r, δ = 0.4, 1e-3
    table = curved({}, {}, r).sensitivity_table()
    for name in "ab":
        up, down = curved({name: δ}, {}, r), curved({name: -δ}, {}, r)
        wide, narrow = curved({}, {name: δ}, r), curved({}, {name: -δ}, r)
        for column, more, less in (("mean", up, down), ("std", wide, narrow)):
            by_index = (more.beta - less.beta) / (2 * δ)
            assert table.loc[name, f"beta_{column}"] == pytest.approx(by_index, rel=2e-4, abs=2e-4)
            by_form = (more.form - less.form) / (2 * δ)
            expected = pytest.approx(by_form, rel=2e-3, abs=1e-5)
            assert table.loc[name, f"probability_{column}"] == expected


def oscillator() -> vm.Mechanism:
    """x'' = −4 x, from B with the speed A: x = B cos 2t + ½ A sin 2t."""
    m = vm.Mechanism("oscillator", dimension=2)
    A = m.parameter("A", 0.2, unit="m/s", distribution=stats.norm(0.2, 0.6))
    B = m.parameter("B", 0.1, unit="m", distribution=stats.norm(0.1, 0.2))
    m.ground_point("O", (0, 0))
    m.body("mass", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(1, 0))
    m.force("spring", "mass.P", lambda s: vm.vector(-4 * s.displacement("guide"), 0))
    m.start(displacement={"guide": B}, speed={"guide": A})
    return m


def position(s: vm.State) -> Any:
    return s.displacement("guide")


def passage(c: float, duration: float) -> float:
    """Probability that x passes c at any time. In each direction of the standard space the peak
    passes it at one radius, which has a Rayleigh distribution.
    """
    t = np.linspace(0, duration, 2001)
    paths = np.array([np.sin(2 * t) / 2, np.cos(2 * t)])  # ∂x/∂(A, B)
    angle = (np.arange(5000) + 0.5) * 2 * np.pi / 5000
    rates = np.column_stack([0.6 * np.cos(angle), 0.2 * np.sin(angle)]) @ paths
    left = c - np.array([0.2, 0.1]) @ paths
    with np.errstate(divide="ignore"):
        radius = np.where(rates > 0, left / np.maximum(rates, 1e-300), np.inf).min(axis=1)
    return float(np.exp(-(radius**2) / 2).mean())


@pytest.fixture(scope="module")
def swings() -> vm.GlobalStudy:
    p = oscillator().problem({"end": vm.final(position, unit="m")}, duration=1.2, tolerance=1e-7)
    return p.openturns()


def test_first_passage_of_an_oscillator(swings: vm.GlobalStudy) -> None:
    """A path, its peak, and instants; instants alone are not enough."""
    path, c = vm.path(position, unit="m"), 0.9
    estimate = swings.probability(path >= c, samples=400, level=0.999)
    s, p = estimate.sampled, passage(c, 1.2)
    assert s is not None and s.lower < p < s.upper and s.upper < 2.5 * s.lower
    assert estimate.event == "path ≥ 0.9 m at any time"
    # the tangent half-spaces of a peak, which is convex here, are part of the event
    assert 0.6 * p < estimate.form < p
    same = swings.probability(vm.peak(position, unit="m") >= c)
    assert same.form == estimate.form and same.event == "peak ≥ 0.9 m"
    at_end = swings.probability(vm.final(position, unit="m") >= c)
    assert at_end.form < 0.1 * p
    below = swings.probability(vm.path(position, unit="m") <= -c)
    assert 0 < below.form < 0.2 * estimate.form  # FORM includes only a part of the swing back


def test_leaving_a_band(swings: vm.GlobalStudy) -> None:
    """Both sides of a path, and a peak that stays below, which is not a limit of the path."""
    path = vm.path(position, unit="m")
    both = swings.probability(vm.any_of(up=path >= 0.9, down=path <= -0.9))
    alone = {limit.name: limit.form for limit in both.limits}
    assert list(alone) == ["up (path ≥ 0.9 m at any time)", "down (path ≤ -0.9 m at any time)"]
    assert both.form == pytest.approx(sum(alone.values()), rel=1e-3)
    kept = swings.probability(vm.peak(position, unit="m") <= 0.9)
    above = next(iter(alone.values()))
    assert kept.form == pytest.approx(1 - above, abs=1e-4) and kept.beta < 0
    below = swings.probability(path <= 0.9, method="samples", samples=50)
    assert below.probability == 1.0  # the path is always below at some time


def test_methods_agree(study: vm.GlobalStudy) -> None:
    event, p = vm.any_of(**limits()), exact("any")
    plain = study.probability(event, method="samples", samples=4000, level=0.999)
    assert plain.sampled is not None and plain.sampled.lower < p < plain.sampled.upper
    assert (plain.sampled.lower, plain.sampled.upper) == pytest.approx(
        stats.binomtest(plain.sampled.hits, 4000).proportion_ci(0.999, method="exact")
    )
    assert math.isnan(plain.form) and not plain.design and not plain.points
    assert plain.probability == plain.sampled.probability and len(plain.table()) == 1
    assert plain.calls == {"values": 4000}
    around = study.probability(event, method="importance")
    assert around.sampled is not None and around.sampled.samples == 2000
    subset = study.probability(event, method="subset", samples=1000, level=0.999)
    s = subset.sampled
    assert s is not None and s.lower < p < s.upper and 0.05 < s.variation < 0.8
    again = study.probability(event, method="subset", samples=1000, level=0.999)
    assert again.sampled == s


def test_subset_simulation_of_rare_events(study: vm.GlobalStudy) -> None:
    """At β = 5, plain sampling would need 10⁸ samples; intervals contain the true value as often as
    they should.
    """
    β = 5.0
    limit = first >= float(ROWS[0] @ MEANS + β * np.linalg.norm(ROWS[0] * SIGMAS))
    inside, p = 0, float(stats.norm.sf(β))
    for seed in range(4):
        s = study.probability(limit, method="subset", samples=500, seed=seed, level=0.95).sampled
        assert s is not None and s.samples < 5000
        inside += s.lower <= p <= s.upper
    assert inside >= 3
    contrary = study.probability(
        first <= float(limit.lower), method="subset", samples=500, level=0.999
    )
    assert contrary.sampled is not None
    assert contrary.sampled.lower < 1 - p < contrary.sampled.upper


@pytest.mark.parametrize("β", [0.7, 1.5])
def test_subset_simulation_of_frequent_events(study: vm.GlobalStudy, β: float) -> None:
    """The samples of the first level contribute, too: for n plain samples, the coefficient of
    variation is √((1 − p)/(n p)), at least that of a level with p = 0.1.
    """
    limit = first >= float(ROWS[0] @ MEANS + β * np.linalg.norm(ROWS[0] * SIGMAS))
    inside, p = 0, float(stats.norm.sf(β))
    least = math.sqrt((1 - p) / (400 * p)) if p > 0.15 else 0.15
    for seed in range(10):
        s = study.probability(limit, method="subset", samples=400, seed=seed, level=0.95).sampled
        assert s is not None and s.variation > 0.8 * least
        inside += s.lower <= p <= s.upper
    assert inside >= 8


@pytest.mark.parametrize("hits", [0, 1, 7, 40])
def test_clopper_pearson(hits: int) -> None:
    known = stats.binomtest(hits, 40).proportion_ci(0.95, method="exact")
    assert clopper_pearson(hits, 40, 0.95) == pytest.approx((known.low, known.high))


def test_equal_weights_vary_as_plain_samples_do() -> None:
    n, hits = 50, 20
    drawn = WeightedSamples(np.zeros((n, 1)), np.full(n, 1 / n), 1 / n)
    s = drawn.estimate((np.arange(n) < hits).astype(float), 0.95)
    assert s.probability == pytest.approx(0.4)
    assert s.variation == pytest.approx(math.sqrt(0.4 * 0.6 / n) / 0.4)


@pytest.mark.parametrize("kind", ["any", "all"])
def test_what_failed_runs_leave_open(study: vm.GlobalStudy, kind: str) -> None:
    """One exceeded limit decides whether any limit is exceeded, one kept limit whether all are."""
    pair = dict(list(limits().items())[:2])
    system = system_of(study, {"any": vm.any_of, "all": vm.all_of}[kind](**pair))
    beyond = np.array([[np.nan, 1.0], [np.nan, -1.0], [1.0, -1.0], [np.nan, np.nan]])
    decided = [1.0, np.nan, 1.0, np.nan] if kind == "any" else [np.nan, 0.0, 0.0, np.nan]
    np.testing.assert_array_equal(system.occurs(beyond), decided)


def test_failed_runs_are_counted() -> None:
    """A run outside of bounds fails: nothing is known about these samples."""
    m = vm.Mechanism("bounded", dimension=2)
    m.parameter("a", 1.0, unit="m", distribution=stats.norm(1.0, 0.2), bounds=(0.9, None))
    m.ground_point("O", (0, 0))
    m.body("mass", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(1, 0))
    m.start(displacement={"guide": 0.0})
    event = vm.final(lambda s: s.parameter("a")) >= 1.2
    plain = m.reliability(event, method="samples", samples=400, duration=0.01)
    s = plain.sampled
    assert s is not None and s.failed == pytest.approx(400 * stats.norm.cdf(-0.5), rel=0.2)
    assert s.lower < stats.norm.sf(1.0) < s.upper and s.upper > s.failed / 400
    assert f"{s.failed} samples failed" in repr(plain)
    subset = m.reliability(event, method="subset", samples=400, duration=0.01)
    assert subset.sampled is not None and subset.sampled.failed > 0
    assert "samples failed" in repr(subset)


def test_what_cannot_be_reached_is_refused(study: vm.GlobalStudy) -> None:
    positive = vm.final(lambda s: 0.1 + s.parameter("a") ** 2)
    with pytest.raises(vm.VarimechError, match="no design point was found"):
        study.probability(positive <= 0)
    with pytest.raises(vm.VarimechError, match="did not reach the event at probabilities down to"):
        study.probability(positive <= 0, method="subset", samples=100)
    with pytest.raises(vm.VarimechError, match="no point was found at which all of these limits"):
        study.probability(vm.all_of(first >= 2.9, first <= 0.5))
    one_of_two = study.probability(vm.any_of(a=positive <= 0, b=first >= 2.9))
    assert one_of_two.form == pytest.approx(stats.norm.sf(moments_of_limits()[0][0]), rel=1e-4)
    assert "counted as impossible" in repr(one_of_two)
    none = study.probability(positive <= 0, method="samples", samples=100)
    assert none.sampled is not None and none.sampled.hits == 0 and none.sampled.upper < 0.04
    assert "no sample belongs to the event" in repr(none)


@pytest.mark.parametrize("samples", [0, 200])
def test_limits_whose_probability_is_no_number(study: vm.GlobalStudy, samples: int) -> None:
    """As of a limit in millimetres that was meant in metres."""
    gradient = ROWS[0] * SIGMAS
    β = (2900 - ROWS[0] @ MEANS) / np.linalg.norm(gradient)
    for event, exact_probability, index in ((first >= 2900, 0.0, β), (first <= 2900, 1.0, -β)):
        estimate = study.probability(event, samples=samples or None)
        assert estimate.form == exact_probability
        assert estimate.beta == pytest.approx(index, rel=1e-6)
        assert f"the limit is out of reach, {β:.3g} standard deviations away" in repr(estimate)


def test_a_kink_is_reported() -> None:
    """The smaller of two linear functions: the limit is nearest at their intersection."""
    lower = vm.final(
        lambda s: vm.minimum(s.parameter("a") + s.parameter("b"), 8 / 3 * s.parameter("a"))
    )
    estimate = STILL.reliability(lower >= 4.0, duration=0.01)
    assert "the limit has a kink at" in repr(estimate)


def clearance() -> tuple[vm.Mechanism, dict[str, Any], vm.Constraint, dict[str, Any]]:
    """The slider-crank with clearance in its guide: the lowest speed of the crank due to
    impacts.
    """
    m = clearance_slider_crank.mechanism()
    given = {"c": stats.norm(1e-3, 5e-5), "e": stats.norm(0.4, 0.04)}
    turning = vm.path(lambda s: s.angular_velocity("crank"), unit="rad/s")
    return m, given, turning <= 64.83, {"duration": 0.02, "tolerance": 1e-6}


def five_bar_speed() -> tuple[vm.Mechanism, dict[str, Any], vm.Constraint, dict[str, Any]]:
    m = five_bar.mechanism()
    given = {n: vm.Tolerance(0.05 * m.parameters[n].value) for n in ("Ls1", "Ls2", "L_A1")}
    speed = vm.peak(lambda s: vm.norm(s.velocity("2")), unit="m/s")
    return m, given, speed >= 2.3, {"duration": 2.0, "tolerance": 1e-5}


def friction() -> tuple[vm.Mechanism, dict[str, Any], vm.Constraint, dict[str, Any]]:
    """An oscillator with dry friction, which sticks intermittently."""
    m = vm.Mechanism("friction", dimension=2)
    F = m.parameter("F", 1.0, unit="N", distribution=stats.norm(1.0, 0.1))
    R = m.parameter("R", 0.4, unit="N", distribution=stats.norm(0.4, 0.05))
    m.ground_point("O", (0, 0))
    m.body("mass", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(1, 0))
    drive = lambda s: vm.vector(F * vm.sin(1.5 * s.time) - 4 * s.displacement("guide"), 0)  # noqa: E731
    m.force("drive", "mass.P", drive)
    m.dry_friction("pad", lambda s: s.displacement_rate("guide"), sliding=R)
    m.start(displacement={"guide": 0.0})
    return m, {}, vm.path(position, unit="m") >= 0.36, {"duration": 4.0, "tolerance": 1e-6}


def compared(
    m: vm.Mechanism,
    given: dict[str, Any],
    event: vm.Constraint,
    options: dict[str, Any],
    samples: int,
) -> vm.Reliability:
    """Compare FORM with samples around the design points and plain sampling."""
    around = m.reliability(event, given, samples=samples // 4, level=0.999, **options)
    plain = m.reliability(event, given, method="samples", samples=samples, level=0.999, **options)
    a, b = around.sampled, plain.sampled
    assert a is not None and b is not None and a.failed == b.failed == 0
    assert b.hits > 0 and a.lower < b.upper and b.lower < a.upper, (around, plain)
    error = math.hypot(a.variation * a.probability, b.variation * b.probability)
    assert abs(a.probability - b.probability) < 4 * error, (around, plain)
    return around


def test_first_passage_with_clearance() -> None:
    compared(*clearance(), 1000)


@pytest.mark.slow
@pytest.mark.parametrize("case", [clearance, five_bar_speed, friction])
def test_first_passage_against_plain_sampling(case: Any) -> None:
    m, given, event, options = case()
    compared(m, given, event, options, 20_000)


def test_a_study_of_a_file_and_its_command(tmp_path: Path) -> None:
    path = tmp_path / "linear.yaml"
    linear().to_file(path)
    studies = """
studies:
  objectives:
    first: {final: 'parameter("a") + 0.5*parameter("b")', unit: m}
    third: {path: 'parameter("c") + parameter("a")', unit: m}
  simulate: {duration: 0.01}
  reliability: {limits: {first: {above: 2.9}}}
"""
    path.write_text(path.read_text(encoding="utf-8") + studies, encoding="utf-8")
    β = moments_of_limits()[0]
    alone = vm.Mechanism.from_file(path).study("reliability")
    assert alone.event == "first ≥ 2.9 m" and alone.beta == pytest.approx(β[0], rel=1e-5)
    limits = ["--limit", "first>=2.9", "--limit", "third >= 2800 mm"]
    out = CliRunner().invoke(app, ["reliability", str(path), *limits, "--json"])
    assert out.exit_code == 0, out.output
    data = json.loads(out.stdout)
    assert data["event"] == "first ≥ 2.9 m or third ≥ 2.8 m at any time"
    assert [each["alone"] for each in data["limits"].values()] == pytest.approx(
        stats.norm.sf(β[[0, 2]]), rel=1e-4
    )
    for text, message in (
        ("first=2.9", "must be an objective and a number"),
        ("first>=a", "must be an objective and a number"),
        ("first>=2.9 kg", "limit 'first': above = '2.9 kg' has the wrong dimension; expected m"),
    ):
        wrong = CliRunner().invoke(app, ["reliability", str(path), "--limit", text])
        assert isinstance(wrong.exception, vm.ModelError) and message in str(wrong.exception)
