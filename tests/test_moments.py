"""Moments: exact where possible, elsewhere of the theoretical orders, with a horizon that matches
the errors.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from markdown_pages import DOCS, blocks, run_page
from scipy import stats

import varimech as vm
from varimech.benchmarks.pendulum_tolerance import (
    INITIAL_ANGLE,
    exact_moments,
    mechanism,
    objectives,
)
from varimech.uncertainty.expansion import ROUNDING, contributions
from varimech.uncertainty.neighbour_runs import NeighbourRuns, directions_of, unexplained
from varimech.uncertainty.parameter_distributions import distributions_of

ANGLE = objectives()
K, ω = 4.0, 2.0
TIME = 3.0


def linear_oscillator() -> vm.Mechanism:
    """x'' = F − 4 x from x₀ at rest: x = x₀ cos 2t + ¼F (1 − cos 2t)."""
    m = vm.Mechanism("oscillator", dimension=2)
    F = m.parameter("F", 1.0, unit="N", distribution=vm.Tolerance(0.3))
    x0 = m.parameter("x0", 0.5, unit="m", distribution=vm.Tolerance(0.6))
    m.ground_point("O", (0, 0))
    m.body("mass", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(1, 0))
    m.force("push", "mass.P", lambda s: vm.vector(F - K * s.displacement("guide"), 0))
    m.start(displacement={"guide": x0})
    return m


LINEAR = {"x": vm.final(lambda s: s.displacement("guide"), unit="m")}
SQUARE = {"x²": vm.final(lambda s: s.displacement("guide") ** 2, unit="m²")}
ANY = 1e6
"""An accuracy for which there are no warnings."""


def linear_derivatives(t: np.ndarray) -> np.ndarray:
    """Exact ∂x/∂(F, x₀)."""
    return np.column_stack([(1 - np.cos(ω * t)) / K, np.cos(ω * t)])


@pytest.mark.parametrize("order", [1, 2])
def test_linear_models_are_exact_and_covariances_count_once(order: int) -> None:
    r = 0.6
    moments = linear_oscillator().moments(
        LINEAR, correlation={("F", "x0"): r}, duration=TIME, order=order, tolerance=1e-11
    )
    g = linear_derivatives(moments.time)
    σ = np.array([0.1, 0.2])
    variance = (
        (g[:, 0] * σ[0]) ** 2 + (g[:, 1] * σ[1]) ** 2 + 2 * r * g[:, 0] * g[:, 1] * σ[0] * σ[1]
    )
    assert moments.mean.values[:, 0] == pytest.approx(g @ [1.0, 0.5], abs=1e-9)
    assert moments.variance.values[:, 0] == pytest.approx(variance, abs=1e-11)
    assert moments.horizon.item() == TIME
    halved = variance - r * g[:, 0] * g[:, 1] * σ[0] * σ[1]
    assert np.abs(halved - variance).max() > 1e-3


def test_normal_variance_of_a_quadratic_is_exact() -> None:
    """ψ = x², x normal: mean μ² + σ², variance 4μ²σ² + 2σ⁴."""
    r = -0.4
    moments = linear_oscillator().moments(
        SQUARE,
        correlation=[[1, r], [r, 1]],
        duration=TIME,
        tolerance=1e-11,
        accuracy=ANY,
        output=0.5,
    )
    g, σ = linear_derivatives(moments.time), np.array([0.1, 0.2])
    μ = g @ [1.0, 0.5]
    v = np.einsum("ti,ij,tj->t", g, np.outer(σ, σ) * [[1, r], [r, 1]], g)
    assert moments.mean.values[:, 0] == pytest.approx(μ**2 + v, abs=1e-9)
    assert moments.variance.values[:, 0] == pytest.approx(4 * μ**2 * v + 2 * v**2, abs=1e-9)
    assert moments.first_mean.values[:, 0] == pytest.approx(μ**2, abs=1e-9)
    assert moments.first_variance.values[:, 0] == pytest.approx(4 * μ**2 * v, abs=1e-9)


def test_other_independent_distributions_are_exact_for_a_quadratic() -> None:
    """Their densities are polynomials, so Gauss quadrature integrates x² and x⁴ exactly."""
    distributions = {"F": stats.uniform(0.5, 1.5), "x0": stats.beta(2, 5, loc=-0.2)}
    moments = linear_oscillator().moments(
        SQUARE, distributions, duration=TIME, tolerance=1e-11, accuracy=ANY, output=0.5
    )
    node, weight = np.polynomial.legendre.leggauss(12)
    u, w = (node + 1) / 2, weight / 2
    x = np.einsum(
        "ti,iab->tab",
        linear_derivatives(moments.time),
        np.array(np.meshgrid(0.5 + 1.5 * u, u - 0.2, indexing="ij")),
    )
    p = np.outer(w, w * 30 * u * (1 - u) ** 4)
    mean = np.einsum("tab,ab->t", x**2, p)
    variance = np.einsum("tab,ab->t", (x**2 - mean[:, None, None]) ** 2, p)
    assert moments.mean.values[:, 0] == pytest.approx(mean, rel=1e-8)
    assert moments.variance.values[:, 0] == pytest.approx(variance, rel=1e-8)


def test_pendulum_slopes_are_known() -> None:
    """The reference was computed independently from the elliptic function."""
    moments = mechanism().moments(
        ANGLE, {"L": vm.Tolerance(0.1)}, duration=3.0, tolerance=1e-11, output=1.0
    )
    assert moments.values[1:, 0] == pytest.approx(
        [-0.4243060674, 0.1621887085, 0.1633495892], abs=1e-8
    )
    assert moments.derivatives[1:, 0, 0] == pytest.approx(
        [-0.5773158652, 1.8859102515, -2.8266627558], abs=1e-8
    )


def test_errors_have_the_orders_of_theory() -> None:
    """In σ: the error of the mean is of order σ² to first order and σ⁴ to second order; those of
    both variances are σ⁴, a relative error of σ²: third derivatives contribute as much as the
    squares of second derivatives.
    """
    m, widths = mechanism(), (0.03, 0.015)
    errors: dict[str, list[np.ndarray]] = {
        "first_mean": [],
        "mean": [],
        "first_variance": [],
        "variance": [],
    }
    for width in widths:
        moments = m.moments(
            ANGLE, {"L": vm.Tolerance(width)}, duration=3.0, tolerance=1e-12, output=1.0
        )
        mean, variance = exact_moments(moments.time, 1.0, width / 3)
        for name, list_ in errors.items():
            exact = mean if "mean" in name else variance
            list_.append(np.abs(moments.dataset[name].values[1:, 0] - exact[1:]))
    orders = {name: np.log2(coarse / fine) for name, (coarse, fine) in errors.items()}
    assert orders["first_mean"] == pytest.approx(2.0, abs=0.02)
    assert orders["mean"] == pytest.approx(4.0, abs=0.1)
    assert orders["first_variance"] == pytest.approx(4.0, abs=0.05)
    assert orders["variance"] == pytest.approx(4.0, abs=0.05)
    assert (errors["mean"][0] < 2e-2 * errors["first_mean"][0]).all()


def test_moments_within_the_horizon_are_those_of_the_exact_motion() -> None:
    moments = mechanism().moments(ANGLE, {"L": vm.Tolerance(0.1)}, duration=6.0, tolerance=1e-10)
    assert moments.horizon.item() == 6.0
    mean, variance = exact_moments(moments.time, 1.0, 0.1 / 3)
    σ = np.maximum.accumulate(np.sqrt(variance))
    inside = moments.time > 0.2
    assert (np.abs(moments.mean.values[:, 0] - mean) < 0.02 * σ)[inside].all()
    assert (np.abs(moments.std.values[:, 0] - np.sqrt(variance)) < 0.1 * σ)[inside].all()


def test_the_second_mean_decays_and_the_first_does_not() -> None:
    """Figure 2 of Choi et al. (2005); the exact mean decays too."""
    with pytest.warns(vm.HorizonWarning):
        moments = mechanism().moments(
            ANGLE, {"L": vm.Tolerance(0.1)}, duration=10.0, tolerance=1e-10, output=0.02
        )
    mean, _ = exact_moments(moments.time, 1.0, 0.1 / 3)
    late = moments.time > 8.3
    assert np.abs(moments.first_mean.values[late, 0]).max() == pytest.approx(
        INITIAL_ANGLE, rel=1e-3
    )
    assert np.abs(mean[late]).max() == pytest.approx(0.871 * INITIAL_ANGLE, rel=5e-3)
    assert np.abs(moments.mean.values[late, 0]).max() == pytest.approx(
        0.86 * INITIAL_ANGLE, rel=1e-2
    )


@pytest.mark.parametrize(
    ("order", "width", "close"), [(1, 0.03, 0.05), (1, 0.1, 0.05), (2, 0.03, 0.2), (2, 0.1, 0.2)]
)
def test_the_horizon_is_where_errors_are(order: int, width: float, close: float) -> None:
    """To 5 % for the first order; to 20 % for the second order, which has to estimate third
    derivatives.
    """
    duration = 1.0 / width if order == 2 else 0.5 / width
    with pytest.warns(
        vm.HorizonWarning, match=r"'angle' up to t = .* only, not up to .*monte_carlo"
    ):
        moments = mechanism().moments(
            ANGLE, {"L": vm.Tolerance(width)}, duration=duration, order=order, output=duration / 400
        )
    mean, variance = exact_moments(moments.time, 1.0, width / 3)
    σ = np.sqrt(variance)
    largest = np.array(
        [σ[np.searchsorted(moments.time, t / 2) : k + 1].max() for k, t in enumerate(moments.time)]
    )
    missed = np.maximum(
        np.abs(moments.mean.values[:, 0] - mean), np.abs(moments.std.values[:, 0] - σ)
    )
    true = moments.time[np.flatnonzero(missed > 0.1 * largest + 1e-9)[0]]
    assert moments.horizon.item() == pytest.approx(true, rel=close)


def test_no_horizon_where_nothing_varies() -> None:
    still = {"still": vm.final(lambda s: s.angle("rod") * 0 + 1.0)}
    for order in (1, 2):
        moments = mechanism().moments(still, {"L": vm.Tolerance(0.1)}, duration=1.0, order=order)
        assert moments.horizon.item() == 1.0 and moments.std.values.max() == 0.0
        assert not np.isnan(moments.contributions.values).any()


def test_a_vanishing_slope_is_no_expansion() -> None:
    """ψ = (L − 1)²: the derivative at the mean is zero. The second order is exact, but its range of
    validity is unknown, which is reported.
    """
    square = {"square": vm.final(lambda s: (s.parameter("L") - 1) ** 2)}
    with pytest.warns(vm.HorizonWarning, match=r"up to t = 0 s"):
        moments = mechanism().moments(square, {"L": vm.Tolerance(0.3)}, duration=1.0)
    assert moments.mean[-1].item() == pytest.approx(0.01) and moments.variance[
        -1
    ].item() == pytest.approx(2e-4)


def test_what_has_just_begun_does_not_count() -> None:
    """∫ (x − ½)² dt from x₀ = ½ initially has no derivative, only curvature; later the derivatives
    dominate.
    """
    travelled = {"travelled": vm.integral(lambda s: (s.displacement("guide") - 0.5) ** 2)}
    moments = linear_oscillator().moments(
        travelled, {"F": None, "x0": vm.Tolerance(0.01)}, duration=TIME
    )
    assert moments.curvatures is not None and moments.curvatures[1, 0, 0, 0] * 0.01 / 3 > np.abs(
        moments.derivatives[1, 0, 0]
    )
    assert moments.horizon.item() == TIME


def test_contributions() -> None:
    m = linear_oscillator()
    moments = m.moments(LINEAR, duration=TIME, tolerance=1e-10)
    parts = (linear_derivatives(moments.time) * [0.1, 0.2]) ** 2
    shares = moments.contributions.values[:, 0]
    assert shares == pytest.approx(parts / parts.sum(axis=1, keepdims=True), abs=1e-7)
    together = m.moments(LINEAR, correlation={("F", "x0"): 0.9}, duration=TIME, order=1)
    assert together.contributions.sum("parameter").values == pytest.approx(1.0)
    assert moments.table()["parameter"].tolist() == ["x0", "F"]


def test_expansion_is_about_the_means() -> None:
    m = linear_oscillator()
    moments = m.moments(
        LINEAR,
        {"F": stats.uniform(2, 2), "x0": None},
        duration=1.0,
        order=1,
        parameters={"x0": -1.0},
    )
    g = linear_derivatives(moments.time)
    assert moments.mean.values[:, 0] == pytest.approx(g @ [3.0, -1.0], abs=1e-6)
    assert moments.std.values[:, 0] == pytest.approx(np.abs(g[:, 0]) * 2 / math.sqrt(12), abs=1e-6)


def test_orders_agree_on_what_both_know() -> None:
    """Also with equal steps, and with several objectives and parameters."""
    m, both = linear_oscillator(), LINEAR | SQUARE
    one, two = (
        m.moments(both, duration=1.0, step=0.01, every=10, order=order, accuracy=ANY)
        for order in (1, 2)
    )
    assert one.time.size == two.time.size == 11
    for name in ("first_mean", "first_variance", "contributions"):
        assert one.dataset[name].values == pytest.approx(
            two.dataset[name].values, rel=1e-9, abs=1e-12
        )
    assert one.curvatures is None and one.mean.equals(one.first_mean.rename("mean"))


def test_results_can_be_read_drawn_and_kept(tmp_path: Path) -> None:
    moments = linear_oscillator().moments(LINEAR, duration=1.0, output=0.25)
    text = repr(moments)
    assert "order 2" in text and "x0" in text and "%" in text
    band = moments.bands(2.0)
    assert (band["upper"] - band["lower"]).values == pytest.approx(4 * moments.std.values)
    kept = xr.load_dataset(moments.save(tmp_path / "moments.nc"), engine="h5netcdf")
    assert (
        kept["std"].equals(moments.std)
        and kept.attrs["order"] == 2
        and kept["objective_unit"].item() == "m"
    )
    assert moments.to_dataframe().shape == (5, 6)
    mean, deviation = moments.plot().axes
    assert mean.get_ylabel() == "x (m)"
    assert [c.get_label() for c in deviation.collections] == ["x0", "F"]
    late = replace(moments, errors=moments.errors + np.linspace(0, 1, 5)[:, None])
    assert late.horizon.item() == pytest.approx(0.1)
    assert [line.get_label() for line in late.plot().axes[1].lines] == [
        "standard deviation",
        "horizon, 0.1 s",
    ]
    assert "up to t = 0.1 s only" in repr(late)


def test_many_parameters_are_shown_together() -> None:
    m = linear_oscillator()
    distributions: dict[str, Any] = {"F": None, "x0": None}
    for k in range(12):
        m.parameter(f"p{k}", 0.0)
        distributions[f"p{k}"] = vm.Tolerance(3.0)
    weighed = {"sum": vm.final(lambda s: sum((k + 1) * s.parameter(f"p{k}") for k in range(12)))}
    text = repr(m.moments(weighed, distributions, duration=0.1, order=1, output=0.1))
    squares = np.arange(1, 13) ** 2 / np.sum(np.arange(1, 13) ** 2)
    assert (
        f"p11       {100 * squares[-1]:.1f} %" in text
        and f"5 others  {100 * squares[:5].sum():.1f} %" in text
    )
    assert "p4 " not in text


def test_the_page_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = DOCS / "uncertainty.md"
    run_page(page)
    assert capsys.readouterr().out == blocks(page, "text")[0][1]
    assert (tmp_path / "angle.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"order": 3}, r"order = 3 must be 1 or 2"),
        ({"accuracy": 0.0}, r"accuracy = 0.0 must be a positive"),
        ({"accuracy": "high"}, r"accuracy = 'high' is not a finite number"),
        ({"objectives": ()}, r"at least one objective"),
        (
            {"parameters": {"F": 2.0}},
            r"names 'F', which has its own distribution.*distributions=\{'F': None\}",
        ),
        (
            {"distributions": {"F": stats.uniform(0, 1)}, "correlation": {("F", "x0"): 0.5}},
            r"correlated and not all normal.*order=1",
        ),
        ({"distributions": {"F": stats.t(3.5)}}, r"four moments.*'F'"),
        ({"colour": "red"}, r"no option is called 'colour'"),
    ],
)
def test_refuses(changes: dict[str, Any], says: str) -> None:
    given: dict[str, Any] = {"objectives": LINEAR, "duration": 1.0, **changes}
    with pytest.raises(vm.ModelError, match=says):
        linear_oscillator().moments(**given)


def test_refuses_distributions_that_leave_the_model() -> None:
    """One standard deviation of 1.2 m below 1 m there is no pendulum; second derivatives need more
    than CVODES provides.
    """
    m = mechanism()
    with pytest.raises(vm.ModelError, match=r"length = -0.1\d+ must be positive"):
        m.moments(ANGLE, {"L": vm.Tolerance(3.5)}, duration=1.0, order=1)
    with pytest.raises(vm.ModelError, match=r"second derivatives cannot be combined with .*CVODES"):
        m.moments(ANGLE, duration=1.0, integrator="cvodes")
    moments = m.moments(ANGLE, duration=1.0, integrator="cvodes", order=1)
    assert moments.values[-1, 0] == pytest.approx(-0.4243060674, abs=1e-6)


def test_correlated_parameters_of_any_kind_have_a_first_order() -> None:
    """Covariance of uniforms under a Gaussian copula: 6/π asin(r/2) of the product of their
    deviations.
    """
    m = linear_oscillator()
    distributions = {"F": stats.uniform(0, 2), "x0": stats.uniform(0, 1)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moments = m.moments(
            LINEAR, distributions, correlation={("F", "x0"): 0.5}, duration=1.0, order=1
        )
    g, σ, r = (
        linear_derivatives(moments.time),
        np.array([2, 1]) / math.sqrt(12),
        6 / math.pi * math.asin(0.25),
    )
    exact = (g[:, 0] * σ[0]) ** 2 + (g[:, 1] * σ[1]) ** 2 + 2 * r * g[:, 0] * g[:, 1] * σ[0] * σ[1]
    assert moments.variance.values[:, 0] == pytest.approx(exact, abs=1e-7)
    assert distributions_of(m.parameters, distributions).independent


def test_rounding_has_no_contributions() -> None:
    moments = mechanism().moments(
        {"angle": vm.final(lambda s: 1 + 1e-17 * s.parameter("L")), "other": ANGLE["angle"]},
        duration=0.2,
        step=0.02,
    )
    np.testing.assert_array_equal(moments.contributions.sel(objective="angle"), 0.0)
    assert moments.contributions.sel(objective="other")[-1].item() == 1.0
    assert "0.0 %" in repr(moments)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_rounding_is_measured_by_the_size_of_the_objective(size: float) -> None:
    C, directions = (
        np.diag([1.0, 4.0]),
        np.array([0.6, 0.4]),
    )  # the contributions are 0.36 and 0.64 of a variance of 1
    for share, expected in ((0.1, [0.0, 0.0]), (10.0, [0.36, 0.64])):
        derivatives = share * ROUNDING * size * directions
        assert contributions(np.full((1, 1), size), derivatives[None, None], C)[
            0, 0
        ] == pytest.approx(expected, abs=1e-12)


def test_runs_beside_the_means_have_to_be_allowed() -> None:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.parameter("L", 1.0, unit="m", distribution=vm.Tolerance(0.03), bounds=(0.5, 1.005))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=m.parameters["L"], mass=3.0)
    m.revolute("O")
    m.start(angle={"rod": -1.0})
    with pytest.raises(
        vm.ModelError,
        match=r"order 1 also runs the mechanism at means ± σ.*outside its bounds.*order=2, which does not need it",
    ):
        m.moments(ANGLE, duration=0.2, step=0.02, order=1)
    with pytest.warns(
        vm.HorizonWarning,
        match=r"runs at means ± σ.* failed \(1 of them; ModelError: .*outside its bounds",
    ):
        moments = m.moments(ANGLE, duration=0.2, step=0.02, order=2)
    assert np.isfinite(moments.std).all() and np.isfinite(moments.error).all()


def test_negative_contributions_are_drawn_as_lines() -> None:
    moments = linear_oscillator().moments(
        LINEAR, correlation={("F", "x0"): -0.9}, duration=TIME, tolerance=1e-6
    )
    parts = (moments.contributions * moments.std).isel(objective=0)
    assert (parts < -1e-3).any()
    lines: dict[Any, Any] = {
        line.get_label(): line.get_ydata() for line in moments.plot().axes[1].get_lines()
    }
    for name in ("F", "x0"):
        np.testing.assert_allclose(lines[name], parts.sel(parameter=name))


SHAPES = {
    "sine": (np.sin, np.cos, lambda x: -np.sin(x)),
    "exponential": (np.exp, np.exp, np.exp),
    "hyperbolic tangent": (
        np.tanh,
        lambda x: 1 / np.cosh(x) ** 2,
        lambda x: -2 * np.tanh(x) / np.cosh(x) ** 2,
    ),
    "bell": (
        lambda x: np.exp(-(x**2)),
        lambda x: -2 * x * np.exp(-(x**2)),
        lambda x: (4 * x**2 - 2) * np.exp(-(x**2)),
    ),
    "cubic": (lambda x: x**3, lambda x: 3 * x**2, lambda x: 6 * x),
    "quotient": (
        lambda x: 1 / (1 + x**2),
        lambda x: -2 * x / (1 + x**2) ** 2,
        lambda x: (6 * x**2 - 2) / (1 + x**2) ** 3,
    ),
}
"""Functions with their first two derivatives."""


def of_plain_functions(order: int, rng: np.random.Generator) -> tuple[float, float]:
    """Estimated and true error, in standard deviations of the expansion, of Σ aₖ f(bₖ pₖ + cₖ) for
    two standard normal parameters.
    """
    names = rng.choice(list(SHAPES), 2)
    a, b, c = (
        rng.uniform(0.2, 1, 2),
        10 ** rng.uniform(-2.5, 0.5) * rng.uniform(0.5, 1, 2),
        rng.uniform(-2, 2, 2),
    )
    z, w = np.polynomial.hermite_e.hermegauss(120)
    w = w / w.sum()
    each = [
        lambda p, k=k, f=SHAPES[name]: [a[k] * b[k] ** n * f[n](b[k] * p + c[k]) for n in range(3)]
        for k, name in enumerate(names)
    ]
    at_nodes = np.array([g(z)[0] for g in each])
    mean = float((at_nodes @ w).sum())
    std = math.sqrt(sum(w @ (v - w @ v) ** 2 for v in at_nodes))
    (f0, g0, h0), (f1, g1, h1) = (g(0.0) for g in each)
    values, g, H = np.array([[f0 + f1]]), np.array([[[g0, g1]]]), np.array([[np.diag([h0, h1])]])
    distributions = distributions_of(
        {n: vm.Mechanism("plain").parameter(n, 0.0) for n in "ab"},
        {n: stats.norm(0, 1) for n in "ab"},
    )
    u = directions_of(g, distributions)
    sides = [
        np.array([[[each[0](s * d[0])[0] + each[1](s * d[1])[0]]] for d in u]) for s in (1, -1)
    ]
    beside = NeighbourRuns(u, *sides)
    seen = unexplained(values, g, H if order == 2 else None, np.eye(2), beside)
    slope = float(np.hypot(g0, g1))
    own_mean, own_std = (
        (f0 + f1, slope)
        if order == 1
        else (f0 + f1 + (h0 + h1) / 2, math.sqrt(slope**2 + (h0**2 + h1**2) / 2))
    )
    return float(seen[0, 0]) / slope, max(abs(own_mean - mean), abs(own_std - std)) / slope


@pytest.mark.parametrize("order", [1, 2])
def test_errors_that_do_not_oscillate_are_seen(order: int) -> None:
    """For 300 random functions, errors beyond 0.3 standard deviations are detected, and there are
    no false alarms for small ones.
    """
    rng = np.random.default_rng(order)
    seen, true = np.array([of_plain_functions(order, rng) for _ in range(300)]).T
    assert (true > 0.3).sum() > 40 and (true < 0.01).sum() > 40
    assert (seen[true > 0.3] > 0.1).all()
    assert (seen[true < 0.01] < 0.1).all()
    close = (true > 0.02) & (true < 0.3)
    assert np.median(seen[close] / true[close]) == pytest.approx(1, abs=0.3)


@pytest.mark.parametrize("order", [1, 2])
def test_a_sine_of_a_parameter_is_warned_of(order: int) -> None:
    """sin(3p) + 3 with p normal about 1 with σ = 1 has the moments 3.0016 ± 0.7071; the expansion
    yields 3 for the mean, and its curvature there is small.
    """
    m = mechanism()
    bent = {"bent": vm.final(lambda s: vm.sin(3 * s.parameter("L")) + 3)}
    with pytest.warns(vm.HorizonWarning, match=r"'bent' up to t = 0 s only"):
        moments = m.moments(bent, {"L": stats.norm(1, 0.99)}, duration=0.1, order=order)
    assert moments.std.values[-1, 0] > 2.9
