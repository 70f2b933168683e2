"""Posterior distributions of fitted parameters against closed forms of linear regression, and
Markov chains against both.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oscillator import oscillator
from scipy import stats
from scipy.integrate import quad
from thrown_mass import BASIS, TIMES, TRUE, measured, place, thrown_mass

import varimech as vm
from varimech.identification import nuts
from varimech.identification.diagnostics import convergence, effective_samples
from varimech.identification.inference import _log_posterior
from varimech.identification.priors import prior_of

SIGMA = 0.05
START = {"x0": 0.0, "v0": 0.0, "a": 1.0}
PRIORS = {"v0": vm.Tolerance(0.3), "a": stats.norm(2.2, 0.1)}


@pytest.fixture(scope="module")
def m() -> vm.Mechanism:
    return thrown_mass()


def closed_form(
    data: np.ndarray, sigma: float, *, prior: bool, basis: np.ndarray = BASIS
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the normal posterior for known noise."""
    precision, pull = np.zeros((3, 3)), np.zeros(3)
    if prior:
        precision = np.diag([0.0, 0.1**-2, 0.1**-2])  # a tolerance of 0.3 has three sigmas
        pull = precision @ [0.0, TRUE["v0"], 2.2]
    C = np.linalg.inv(basis.T @ basis / sigma**2 + precision)
    return C @ (basis.T @ data / sigma**2 + pull), C


@pytest.mark.parametrize("prior", [False, True])
def test_laplace_is_exact_for_a_linear_model_with_known_noise(m: vm.Mechanism, prior: bool) -> None:
    data = measured(SIGMA, 3)
    f = m.fit(data, list(TRUE), start=START)
    p = f.posterior(prior=PRIORS if prior else None)
    mean, C = closed_form(data.values[:, 0], SIGMA, prior=prior)
    σ = np.sqrt(np.diag(C))
    assert np.abs(p.mean.to_numpy() - mean).max() < 1e-8 * σ.min()
    assert p.covariance.to_numpy() == pytest.approx(C, rel=1e-8)
    assert p.quantile(0.9).to_numpy() == pytest.approx(mean + stats.norm.ppf(0.9) * σ, rel=1e-8)
    assert p.dataset["upper"].to_numpy() == pytest.approx(mean + stats.norm.ppf(0.975) * σ)
    flat = p.samples.to_numpy().reshape(-1, 3)
    assert np.abs(flat.mean(axis=0) - mean).max() < 4 * (σ / np.sqrt(len(flat))).max()
    assert np.cov(flat.T) == pytest.approx(C, abs=0.1 * float(C.max()))
    assert p.noise is None and not p.at_bounds


def test_estimated_noise_and_flat_priors_give_the_distributions_of_student(
    m: vm.Mechanism,
) -> None:
    f = m.fit(measured(SIGMA, 3, known=False), list(TRUE), start=START)
    p = f.posterior()
    ν = TIMES.size - 3
    assert p.covariance.to_numpy() == pytest.approx(f.covariance.to_numpy() * ν / (ν - 2), rel=1e-8)
    for end in ("lower", "upper"):
        assert p.dataset[end].to_numpy() == pytest.approx(
            f.intervals[end].to_numpy(), abs=1e-8 * float(f.standard_errors.min())
        )
    # σ² is S/χ²: its mean in closed form
    noise = p.dataset["noise"].to_numpy()
    S = float(f.weighted_residuals @ f.weighted_residuals)
    expected = np.sqrt(S) * stats.chi(ν).expect(lambda x: 1 / x)
    assert noise.mean() == pytest.approx(expected, abs=4 * noise.std() / np.sqrt(noise.size))


def test_estimated_noise_with_priors_agrees_with_an_integral(m: vm.Mechanism) -> None:
    data = measured(SIGMA, 3, known=False, count=8)
    y, X = data.values[:, 0], BASIS[:8]
    p = m.fit(data, list(TRUE), start=START).posterior(prior=PRIORS)

    def given(s: float) -> tuple[float, np.ndarray, np.ndarray]:
        mean, C = closed_form(y, np.exp(s), prior=True, basis=X)
        r, d = y - X @ mean, (mean[1:] - [TRUE["v0"], 2.2]) / 0.1
        log = -8 * s - (r @ r) * np.exp(-2 * s) / 2 - d @ d / 2 + np.linalg.slogdet(C)[1] / 2
        return float(np.exp(log - 20)), mean, C

    ends = (np.log(SIGMA) - 3, np.log(SIGMA) + 4)

    def integral(g: Any) -> float:
        return float(quad(lambda s: g(*given(s)), *ends, epsabs=0, epsrel=1e-11, limit=200)[0])

    total = integral(lambda w, mean, C: w)
    for k in range(3):
        mean = integral(lambda w, mean, C, k=k: w * mean[k]) / total
        square = integral(lambda w, m_, C, k=k: w * (C[k, k] + m_[k] ** 2)) / total
        assert p.mean.to_numpy()[k] == pytest.approx(mean, rel=1e-8)
        assert p.std.to_numpy()[k] == pytest.approx(np.sqrt(square - mean**2), rel=1e-6)


@pytest.mark.parametrize("known", [True, False])
def test_second_derivatives_are_exact(known: bool) -> None:
    """The Hessian, with the terms of second order, against differences of the gradient."""
    m = oscillator({"k": 100.0, "c": 1.0, "m": 1.0})
    T = np.linspace(0.1, 1.0, 12)
    data = 0.1 * np.cos(11 * T)  # not what the model does: residuals matter
    f = m.fit(vm.measurement(place, T, data, sigma=0.01 if known else None), ["k", "c"])
    prior = {"k": stats.lognorm(0.1, scale=100.0), "c": vm.Tolerance(0.3)}
    log = _log_posterior(f, prior, 1)
    x, s = np.array([97.0, 1.1]), 0.0 if known else -4.0
    e = log.expanded(x)
    h = 1e-4 * x
    for k in range(2):
        d = np.eye(2)[k] * h
        _, gradients, _ = log.values(np.array([x + d, x - d]), np.full(2, s))
        change = (gradients[0] - gradients[1]) / (2 * h[k])
        assert e.hessian(s)[k] == pytest.approx(change, rel=1e-5, abs=1e-5 * abs(change).max())
    first_order = e.jacobian.T @ e.jacobian * np.exp(-2 * s) + np.diag(e.V_xx)
    sizes = np.sqrt(np.outer(np.diag(first_order), np.diag(first_order)))
    assert (abs(e.hessian(s) - first_order) / sizes).max() > 0.2


def test_second_derivatives_are_those_at_given_parameters() -> None:
    """With c = 2 c₀ given, those of a mechanism whose c is 2 c₀."""
    T = np.linspace(0.1, 1.0, 12)
    data = vm.measurement(place, T, 0.1 * np.cos(11 * T), sigma=0.01)
    given = oscillator({"k": 100.0, "c": 1.0, "m": 1.0}).fit(data, ["k"], parameters={"c": 2.0})
    own = oscillator({"k": 100.0, "c": 2.0, "m": 1.0}).fit(data, ["k"])
    curved = [_log_posterior(f, None, 1).expanded(np.array([97.0])).S_xx for f in (given, own)]
    assert curved[0] == pytest.approx(curved[1], rel=1e-9)


def test_derivatives_of_priors() -> None:
    m = thrown_mass()
    f = m.fit(measured(SIGMA, 1), list(TRUE))
    parameters = m.data.parameter_set.parameters
    prior = prior_of(
        f.space,
        parameters,
        {"x0": stats.lognorm(0.5), "a": stats.gamma(3.0), "v0": stats.t(5)},
        "posterior",
    )
    x = np.array([[0.7, -0.4, 2.0]])
    V, first, second = prior.negative_log(x)
    u, v, a = x[0]
    expected = [(1 + np.log(u) / 0.25) / u, 6 * v / (5 + v * v), 1 - 2 / a]
    curvature = [
        (-1 - np.log(u) / 0.25 + 4) / u**2,
        6 * (5 - v * v) / (5 + v * v) ** 2,
        2 / a**2,
    ]
    assert first[0] == pytest.approx(expected, rel=1e-8, abs=1e-8)
    assert second[0] == pytest.approx(curvature, rel=1e-6)
    log = stats.lognorm(0.5).logpdf(u) + stats.gamma(3.0).logpdf(a) + stats.t(5).logpdf(v)
    assert V[0] == pytest.approx(-log)
    assert np.isinf(prior.negative_log(np.array([[-0.1, 0.0, 2.0]]))[0][0])


def truncated(data: vm.Measurement) -> tuple[Any, float]:
    """The posterior of `a` alone, at most 2.0, in closed form, and where it would be centred."""
    b = BASIS[:, 2]
    y = data.values[:, 0] - BASIS[:, :2] @ [TRUE["x0"], TRUE["v0"]]
    σ = SIGMA / np.sqrt(b @ b)
    centre = float(b @ y / (b @ b))
    return stats.truncnorm(-np.inf, (2.0 - centre) / σ, centre, σ), centre


def test_bounds_cut_distributions_off(m: vm.Mechanism) -> None:
    data = measured(SIGMA, 8)
    exact, centre = truncated(data)
    assert centre > 2.0  # beyond the bound
    f = m.fit(data, ["a"], bounds={"a": (None, 2.0)})
    p = f.posterior()
    assert p.at_bounds == {"a": "upper"} and p.mode.item() == pytest.approx(2.0)
    assert p.mean.item() == pytest.approx(exact.mean(), abs=1e-3 * exact.std())
    assert p.std.item() == pytest.approx(exact.std(), rel=1e-3)
    row = p.table().loc["a"]
    assert row["upper"] == 2.0 and row["at"] == "upper bound"
    assert row["lower"] == pytest.approx(exact.ppf(0.05), abs=1e-3 * exact.std())
    assert p.samples.to_numpy().max() <= 2.0 and "one-sided" in str(p)
    pytest.importorskip("blackjax")
    q, again = (f.posterior(method="nuts", chains=2, warmup=40, draws=100) for _ in range(2))
    assert (again.samples == q.samples).all()
    error = exact.std() / np.sqrt(q.dataset["ess_bulk"].item())
    assert abs(q.mean.item() - exact.mean()) < 4 * error
    assert abs(q.std.item() - exact.std()) < 4 * error


def test_chains_agree_with_the_closed_form(m: vm.Mechanism) -> None:
    pytest.importorskip("blackjax")
    data = measured(SIGMA, 3)
    f = m.fit(data, list(TRUE), start=START)
    p = f.posterior(method="nuts", prior=PRIORS, chains=2, warmup=60, draws=150, seed=1)
    mean, C = closed_form(data.values[:, 0], SIGMA, prior=True)
    d, σ = p.dataset, np.sqrt(np.diag(C))
    ess = d["ess_bulk"].to_numpy()
    assert (np.abs(p.mean.to_numpy() - mean) < 4 * σ / np.sqrt(ess)).all()
    assert (np.abs(p.std.to_numpy() / σ - 1) < 4 / np.sqrt(2 * ess)).all()
    assert ess.min() > 75 and d["r_hat"].max() < 1.07 and p.divergences == 0
    assert p.samples.dims == ("chain", "draw", "parameter") and p.samples.shape == (2, 150, 3)
    assert "2 chains of 150 draws" in str(p) and "R̂" in str(p)


def test_bands_are_those_of_linear_propagation(m: vm.Mechanism) -> None:
    data = measured(SIGMA, 3)
    p = m.fit(data, list(TRUE), start=START).posterior()
    mean, C = closed_form(data.values[:, 0], SIGMA, prior=False)
    bands = p.bands(runs=2000)
    t = bands["time"].to_numpy()
    X = np.column_stack([np.ones(t.size), t, t**2 / 2])
    σ = np.sqrt(np.einsum("ti,ij,tj->t", X, C, X))
    width = (bands["upper"] - bands["lower"]).to_numpy() / (2 * stats.norm.ppf(0.975) * σ)
    assert width.min() > 0.9 and width.max() < 1.1
    assert np.abs(bands["median"].to_numpy() - X @ mean).max() < 0.15 * σ.max()
    noisy = p.bands("place", noise=True, level=0.8, runs=2000)
    half = (noisy["upper"] - noisy["lower"]).to_numpy() / 2
    assert half.mean() == pytest.approx(
        stats.norm.ppf(0.9) * np.sqrt(σ**2 + SIGMA**2).mean(), rel=0.03
    )
    speed = p.bands(lambda s: s.displacement_rate("guide"))
    assert speed["mean"].to_numpy()[0] == pytest.approx(mean[1], abs=0.02)
    both = p.bands("position('P')")
    assert both["lower"].dims == ("time", "component")


def test_a_posterior_is_a_result(m: vm.Mechanism, tmp_path: Path) -> None:
    p = m.fit(measured(SIGMA, 3), list(TRUE), start=START).posterior(prior=PRIORS, draws=500)
    loaded = vm.Posterior.load(p.save(tmp_path / "posterior.nc"))
    assert (loaded.dataset["samples"] == p.samples).all() and "Laplace" in loaded.text()
    assert p.save(tmp_path / "p.csv").read_text().count("\n") > 3
    assert p.info["prior"]["x0"] == "flat" and "normal" in p.info["prior"]["v0"]
    assert len(p.plot().axes) == 9 and len(p.plot_bands().axes) == 1
    assert p.quantile([0.1, 0.9]).dims == ("quantile", "parameter")
    assert m.simulate(1.0, parameters=p.parameters).time[-1] == 1.0


def test_bounds_take_the_place_of_priors_in_chains_only() -> None:
    m = oscillator({"k": 100.0, "c": 1.0, "m": 1.0})
    T = np.linspace(0.1, 1.0, 12)
    run = m.simulate(1.0, output=T).displacement("guide").to_numpy()[1:]
    data = vm.measurement(place, T, run + 0.001 * np.cos(40 * T), sigma=0.001)
    open_ = m.fit(data, ["k", "c", "m"])
    with pytest.raises(vm.ModelError, match="do not determine 'k', 'c', 'm' separately"):
        open_.posterior()
    with pytest.raises(vm.ModelError, match="do not determine"):
        open_.posterior(method="nuts")
    p = open_.posterior(prior={"m": stats.lognorm(0.05)})
    assert p.correlation.sel(parameter="k", parameter2="m").item() > 0.9


def test_what_makes_no_sense_is_refused(m: vm.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    f = m.fit(measured(SIGMA, 3), list(TRUE), bounds={"a": (0.0, 5.0)})
    for options, text in (
        ({"prior": {"b": None}}, "no fitted parameter is called 'b'; known: 'a', 'v0', 'x0'"),
        ({"prior": {"a": stats.norm(9, 0.1)}}, "within the bounds \\(0, 5\\).*wider bounds="),
        ({"prior": {"a": 3.0}}, "neither a varimech.Tolerance nor"),
        ({"prior": [1]}, "must be a dictionary"),
        ({"method": "mcmc"}, "no method is called 'mcmc'"),
        ({"chains": 4}, "chains = 4 belongs to method='nuts'"),
        ({"draws": 0}, "draws = 0 must be a whole number, 4 or more"),
        ({"level": 95}, "level = 95"),
    ):
        with pytest.raises(vm.ModelError, match=text):
            f.posterior(**options)
    few = m.fit(measured(SIGMA, 3, known=False, count=5), list(TRUE))
    with pytest.raises(vm.ModelError, match=r"5 numbers with 3 parameters; give sigma=.*6 numbers"):
        few.posterior()
    exact = vm.measurement(place, TIMES, BASIS @ list(TRUE.values()))
    with pytest.raises(vm.ModelError, match="no noise that could be estimated"):
        m.fit(exact, list(TRUE)).posterior()
    p = f.posterior()
    with pytest.raises(
        vm.ModelError, match="no measurement is called 'plac'; did you mean 'place'"
    ):
        p.bands("plac")
    with pytest.raises(vm.ModelError, match="only measurements have noise"):
        p.bands(place, noise=True)
    monkeypatch.setitem(sys.modules, "blackjax", None)
    with pytest.raises(vm.ModelError, match=r"needs blackjax; pip install 'varimech\[nuts\]'"):
        f.posterior(method="nuts")


def test_ctrl_c_keeps_the_draws(m: vm.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("blackjax")
    f = m.fit(measured(SIGMA, 3), ["a"])
    taken = nuts._Sampler.transition
    calls = []

    def stopped(self: Any) -> Any:
        calls.append(1)
        if len(calls) == 60:
            raise KeyboardInterrupt
        return taken(self)

    monkeypatch.setattr(nuts._Sampler, "transition", stopped)
    with pytest.raises(vm.Interrupted, match="stopped after 39 of 100 draws") as stop:
        f.posterior(method="nuts", chains=2, warmup=20, draws=100)
    assert stop.value.result.samples.shape == (2, 39, 1)


def test_effective_samples_of_an_autoregressive_process() -> None:
    """ESS/N = (1 − φ)/(1 + φ) of the mean, and R̂ finds chains that do not agree."""
    rng = np.random.default_rng(2)
    noise = rng.standard_normal((4, 20_000))
    x = np.zeros(noise.shape)
    for k in range(1, 20_000):
        x[:, k] = 0.8 * x[:, k - 1] + noise[:, k]
    assert effective_samples(x) == pytest.approx(x.size * 0.2 / 1.8, rel=0.1)
    assert convergence(x[:, :, None]).r_hat[0] < 1.01
    wide = 50.0 + x * np.array([[3.0], [1.0], [1.0], [1.0]])  # means agree, deviations do not
    assert convergence(wide[:, :, None]).r_hat[0] > 1.1
    x[0] += 2.0
    assert convergence(x[:, :, None]).r_hat[0] > 1.1


@pytest.mark.parametrize("draws", [4, 10, 50, 1000])
def test_chains_that_are_stuck_apart_have_not_converged(draws: int) -> None:
    stuck = np.repeat(np.arange(4.0)[:, None], draws, axis=1)[:, :, None]
    assert convergence(stuck).r_hat[0] == np.inf
    assert convergence(np.ones_like(stuck)).r_hat[0] == 1.0


def ranks(m: vm.Mechanism, datasets: int, draws: int, priors: dict[str, Any]) -> np.ndarray:
    """Ranks of parameters drawn from their priors among draws of the posterior from data that they
    give: uniform if the posterior is right (Talts, Betancourt, Simpson, Vehtari and Gelman,
    arXiv:1804.06788).
    """
    rng = np.random.default_rng(11)
    found = []
    for k in range(datasets):
        true = np.array([each.rvs(random_state=rng) for each in priors.values()])
        T = TIMES
        run = m.simulate(2.0, output=T, parameters=dict(zip(priors, true, strict=True)))
        y = run.displacement("guide").to_numpy()[1:] + SIGMA * rng.standard_normal(T.size)
        data = vm.measurement(place, T, y, sigma=SIGMA)
        p = m.fit(data, list(priors), tolerance=1e-8).posterior(prior=priors, draws=draws, seed=k)
        found.append((p.samples.to_numpy()[0] < true).sum(axis=0))
    return np.array(found)


def uniform_p_value(found: np.ndarray, draws: int, bins: int) -> float:
    counts = np.histogram(found, bins, range=(-0.5, draws + 0.5))[0]
    share = np.diff(np.floor(np.linspace(0, draws + 1, bins + 1))) / (draws + 1)
    return float(stats.chisquare(counts, share * found.size).pvalue)


def test_ranks_of_true_values_are_uniform(m: vm.Mechanism) -> None:
    """Simulation-based calibration, in small."""
    priors = {"v0": stats.norm(-1.0, 0.05), "a": stats.norm(2.0, 0.05)}
    found = ranks(m, 30, 63, priors)
    for k in range(2):
        assert uniform_p_value(found[:, k], 63, 4) > 0.001
    # a posterior that is half as wide as it should be is found out
    centred = np.abs(found - 31.5)
    assert uniform_p_value(np.clip(31.5 + 2 * (found - 31.5), 0, 63).ravel(), 63, 8) < 0.001
    assert centred.max() <= 31.5


@pytest.mark.slow
def test_posteriors_are_calibrated() -> None:
    """500 data sets of an oscillator, whose motion is not linear in the parameters."""
    m = oscillator({"k": 40.0, "c": 1.0, "m": 1.0})
    priors = {"k": stats.norm(40.0, 2.0), "c": stats.norm(1.0, 0.2)}
    rng = np.random.default_rng(12)
    found = []
    for k in range(500):
        true = np.array([each.rvs(random_state=rng) for each in priors.values()])
        run = m.simulate(2.0, output=TIMES, parameters=dict(zip(priors, true, strict=True)))
        y = run.displacement("guide").to_numpy()[1:] + 0.005 * rng.standard_normal(TIMES.size)
        f = m.fit(vm.measurement(place, TIMES, y, sigma=0.005), list(priors), tolerance=1e-8)
        p = f.posterior(prior=priors, draws=127, seed=k)
        found.append((p.samples.to_numpy()[0] < true).sum(axis=0))
    for k in range(2):
        assert uniform_p_value(np.array(found)[:, k], 127, 16) > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_intervals_cover_the_truth(known: bool) -> None:
    """95 % intervals of 500 fits and posteriors cover 95 ± 2 %."""
    m = oscillator({"k": 40.0, "c": 1.0, "m": 1.0})
    true = {"k": 42.0, "c": 1.2}
    run = m.simulate(2.0, output=TIMES, parameters=true).displacement("guide").to_numpy()[1:]
    rng = np.random.default_rng(13)
    hits = np.zeros((2, 2))
    for _ in range(500):
        y = run + 0.005 * rng.standard_normal(TIMES.size)
        data = vm.measurement(place, TIMES, y, sigma=0.005 if known else None)
        f = m.fit(data, list(true), tolerance=1e-8)
        table = f.posterior(draws=10).dataset
        for k, (name, value) in enumerate(true.items()):
            row = f.intervals.loc[name]
            hits[0, k] += row["lower"] <= value <= row["upper"]
            hits[1, k] += table["lower"][k].item() <= value <= table["upper"][k].item()
    coverage = hits / 500
    print("coverage of fits and posteriors:", coverage.tolist())
    assert (np.abs(coverage - 0.95) <= 0.02).all()
