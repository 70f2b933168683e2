"""Monte Carlo studies against exact moments of a pendulum; identical bits with any executor;
failures, targets, controls.
"""

from __future__ import annotations

import math
import os
import signal
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loops import add_four_bar
from oscillator import oscillator, x_of
from pendulum_exact import DISTRIBUTIONS, DURATION, OBJECTIVES, exact_moments, exact_quantile
from scipy.stats import norm, uniform

import varimech as vm
from varimech.backends.runner import Runner
from varimech.benchmarks import pendulum
from varimech.uncertainty.sampling import KINDS
from varimech.uncertainty.study_run import StudyRunner

SETTINGS: dict[str, Any] = {"duration": DURATION, "step": 0.01, "every": 50, "integrator": "rk4"}
ARRAYS = ("mean", "variance", "reduction")


@cache
def mechanism() -> vm.Mechanism:
    return pendulum.mechanism()


def study(**changes: Any) -> vm.Study:
    return mechanism().monte_carlo(OBJECTIVES, DISTRIBUTIONS, **{**SETTINGS, **changes})


def same(a: vm.Study, b: vm.Study) -> None:
    """Check equality to the last bit."""
    assert (a.count, a.failed, a.failures) == (b.count, b.failed, b.failures)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_array_equal(a.interval(of="variance").upper, b.interval(of="variance").upper)
    np.testing.assert_array_equal(a.quantile([0.01, 0.5, 0.99]), b.quantile([0.01, 0.5, 0.99]))
    np.testing.assert_array_equal(a.resolution([0.01, 0.5, 0.99]), b.resolution([0.01, 0.5, 0.99]))
    np.testing.assert_array_equal(a.interval(of=0.9).upper, b.interval(of=0.9).upper)
    np.testing.assert_array_equal(a.histogram("y"), b.histogram("y"))


# the numbers


@pytest.mark.parametrize("sampling", KINDS)
def test_intervals_hold_the_exact_moments(sampling: str) -> None:
    sample_study = study(samples=4096, sampling=sampling)
    for t in (0.5, 1.0):
        mean, variance = exact_moments(t)
        for of, exact in (("mean", mean), ("variance", variance)):
            bounds = sample_study.interval(0.999, of=of).sel(time=t, method="nearest")
            assert (bounds.lower < exact).all()
            assert (exact < bounds.upper).all()
            assert (bounds.upper - bounds.lower < 0.2 * np.sqrt(variance)).all()
        for q in (0.1, 0.9):
            density = (
                4 * np.sqrt(0.09 / 4096) / norm.pdf(norm.ppf(0.1)) * np.sqrt(variance)
            )  # four standard errors
            assert (
                np.abs(
                    sample_study.quantile(q).sel(time=t, method="nearest") - exact_quantile(q, t)
                )
                < 2 * density
            ).all()
    assert sample_study.failed == 0
    assert sample_study.mean.dims == ("time", "objective")
    assert list(sample_study.mean["objective_unit"].to_numpy()) == ["m", "m"]


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """100 studies each; 95 % intervals miss the true value in more than 12 of them with a
    probability of 0.15 %.
    """
    truth, variance = exact_moments(DURATION)
    for sampling in KINDS:
        missed = np.zeros((2, 2))
        for seed in range(100):
            sample_study = study(samples=512, sampling=sampling, seed=seed, step=0.05, every=20)
            for row, (of, exact) in enumerate((("mean", truth), ("variance", variance))):
                bounds = sample_study.interval(of=of).isel(time=-1)
                missed[row] += ((exact < bounds.lower) | (exact > bounds.upper)).to_numpy()
        assert (missed <= 12).all(), (sampling, missed)


def test_even_samples_are_better_than_random_ones() -> None:
    widths = {kind: study(samples=2048, sampling=kind).interval().isel(time=-1) for kind in KINDS}
    half = {kind: (w.upper - w.lower).max().item() for kind, w in widths.items()}
    assert half["sobol"] < 0.1 * half["random"]
    assert half["latin-hypercube"] < 0.2 * half["random"]


@pytest.mark.parametrize("sampling", ["random", "sobol"])
def test_a_control_makes_intervals_shorter_and_keeps_them_right(sampling: str) -> None:
    plain, controlled = (study(samples=1024, sampling=sampling, control=c) for c in (False, True))
    a, b = (s.interval(0.999).isel(time=-1) for s in (plain, controlled))
    shorter = ((a.upper - a.lower) / (b.upper - b.lower)).to_numpy()
    assert (shorter > 2).all()
    errors = plain.dataset["mean_error"] / controlled.dataset["mean_error"]
    np.testing.assert_allclose(controlled.reduction[-1], errors[-1] ** 2, rtol=1e-12)
    mean = exact_moments(DURATION)[0]
    assert (b.lower < mean).all()
    assert (mean < b.upper).all()
    np.testing.assert_array_equal(plain.variance, controlled.variance)
    np.testing.assert_array_equal(plain.reduction, 1.0)
    assert "the control variate saves" in repr(controlled)


def test_a_linear_objective_is_known_by_its_control() -> None:
    m = oscillator()
    distributions = {"a": norm(0.9, 0.1), "b": uniform(-1, 3)}
    sum_of = vm.final(lambda s: 2 * s.parameter("a") + s.parameter("b"))
    computed = m.monte_carlo(
        sum_of,
        distributions,
        duration=0.1,
        step=0.05,
        samples=64,
        control=True,
        correlation={("a", "b"): 0.5},
    )
    np.testing.assert_allclose(computed.mean, 2 * 0.9 + 0.5, rtol=1e-14)


def test_what_does_not_vary_is_known_exactly() -> None:
    sample_study = study(samples=100)
    assert abs(sample_study.variance[0, 1]) < 1e-30  # y begins at 0, to rounding
    constant = mechanism().monte_carlo(
        vm.final(lambda s: 3.3), DISTRIBUTIONS, **SETTINGS, samples=100
    )
    np.testing.assert_array_equal(constant.variance, 0)
    np.testing.assert_array_equal(constant.mean, 3.3)
    np.testing.assert_array_equal(constant.quantile(0.7), 3.3)
    np.testing.assert_array_equal(constant.interval().lower, 3.3)


def test_kept_samples_are_those_that_were_summed_up() -> None:
    sample_study = study(samples=300, keep=True, sampling="latin-hypercube")
    kept = sample_study.samples
    assert kept["values"].dims == ("sample", "time", "objective")
    assert kept["parameters"].shape == (300, 1)
    np.testing.assert_allclose(
        kept["values"].mean("sample"), sample_study.mean, rtol=1e-12, atol=1e-15
    )
    np.testing.assert_allclose(
        kept["values"].var("sample", ddof=1), sample_study.variance, rtol=1e-10, atol=1e-25
    )
    row = 123
    alone = mechanism().simulate(
        DURATION,
        step=0.01,
        every=50,
        integrator="rk4",
        parameters={"L": kept["parameters"].values[row, 0]},
    )
    np.testing.assert_array_equal(alone.position("mass").to_numpy(), kept["values"].values[row])
    with pytest.raises(vm.ModelError, match="keep=True"):
        study(samples=2).samples


def test_other_parameters_stay_as_given() -> None:
    m = oscillator()
    computed = m.monte_carlo(
        vm.final(lambda s: s.parameter("b")),
        {"k": vm.Tolerance(1)},
        duration=0.1,
        step=0.1,
        samples=3,
        parameters={"b": 7},
    )
    np.testing.assert_array_equal(computed.mean, 7)
    with pytest.raises(vm.ModelError, match="has its own distribution"):
        m.monte_carlo(vm.final(x_of), {"k": vm.Tolerance(1)}, duration=0.1, parameters={"k": 7})


def test_memory_does_not_grow_with_samples() -> None:
    def peak(samples: int) -> int:
        tracemalloc.start()
        try:
            study(samples=samples, chunk=32, executor=2, step=0.1, every=1)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(64)
    assert peak(6400) < 2 * peak(640)  # the memory in progress varies


# failures and targets


def test_a_target_ends_it() -> None:
    sample_study = study(samples=10**6, chunk=32, target={"x": 1e-3})
    assert sample_study.count % (16 * 32) == 0
    assert 512 < sample_study.count < 10**6
    half = [
        (s.interval().upper - s.mean).isel(time=-1).sel(objective="x").item()
        for s in (sample_study, study(samples=sample_study.count - 512, chunk=32))
    ]
    assert half[0] <= 1e-3 < half[1]
    same(sample_study, study(samples=10**6, chunk=32, target={"x": 1e-3}, executor=1))


def test_the_first_samples_of_a_longer_study_are_those_of_a_shorter_one() -> None:
    for sampling in KINDS:
        short, long = (
            study(samples=n, chunk=16, keep=True, sampling=sampling).samples for n in (70, 90)
        )
        np.testing.assert_array_equal(short["values"], long["values"][:70])


def four_bar() -> vm.Mechanism:
    """It closes only if the coupler is longer than 1.3 m."""
    m = vm.Mechanism("four-bar", gravity=(0, -9.81))
    coupler = m.parameter("coupler", 1.35, unit="m")
    add_four_bar(m, 2, 0.5, coupler, 1.2, names=("AB", "BC", "DC"))
    m.start(angle={"AB": math.pi}, near={"C": (0.8, 0.3)})
    return m


def test_failures_are_counted_and_reported_and_the_others_go_on() -> None:
    m, reached = oscillator(a=(0.0, 1.0)), vm.final(lambda s: s.parameter("a"))
    computed = m.monte_carlo(
        reached,
        {"a": uniform(0.5, 0.6)},
        duration=0.1,
        step=0.1,
        samples=400,
        allowed_failures=0.5,
        keep=True,
    )
    values = computed.samples["parameters"].values[:, 0]
    assert computed.failed == (values > 1).sum() > 30
    assert computed.count == 400 - computed.failed
    np.testing.assert_allclose(computed.mean[-1], values[values <= 1].mean(), rtol=1e-13)
    np.testing.assert_array_equal(np.isnan(computed.samples["values"].values[:, -1, 0]), values > 1)
    first = computed.failures[0]
    assert first.parameters == {"a": values[first.sample]}
    assert (first.kind, "outside its bounds" in first.message) == ("ModelError", True)
    assert [f.sample for f in computed.failures] == np.flatnonzero(values > 1).tolist()[:100]
    assert f"{computed.failed} failed" in repr(computed)


def test_too_many_failures_end_it_and_lose_nothing() -> None:
    m, reached = oscillator(a=(0.0, 1.0)), vm.final(lambda s: s.parameter("a"))
    with pytest.raises(
        vm.StudyError,
        match=r"samples failed.*for example sample \d+, a = 1\.\d+: ModelError.*allowed_failures",
    ) as caught:
        m.monte_carlo(
            reached, {"a": uniform(0.5, 0.6)}, duration=0.1, step=0.1, samples=10**6, chunk=8
        )
    partial = caught.value.study
    assert (
        partial.accumulator.taken == 56
    )  # seven chunks of eight are the first to have fifty samples
    assert partial.failed == len(partial.failures) > 3
    assert partial.mean.shape == (2, 1)


def test_a_few_failures_more_than_allowed_may_be_chance_until_the_end() -> None:
    m, reached = oscillator(a=(0.0, 1.0)), vm.final(lambda s: s.parameter("a"))
    request: Any = {"duration": 0.1, "step": 0.1, "chunk": 8, "seed": 1}
    computed = m.monte_carlo(
        reached, {"a": uniform(0.5, 0.6)}, **request, samples=400, allowed_failures=0.5, keep=True
    )
    bad = np.cumsum(computed.samples["parameters"].values[:, 0] > 1)
    share, taken = bad[-1] / 400 + 1e-9, np.arange(1, 401)
    early = bad[63:392:8] > share * taken[63:392:8]
    assert early.any()
    m.monte_carlo(reached, {"a": uniform(0.5, 0.6)}, **request, samples=400, allowed_failures=share)
    with pytest.raises(vm.StudyError, match="of 400 samples failed"):
        m.monte_carlo(
            reached, {"a": uniform(0.5, 0.6)}, **request, samples=400, allowed_failures=share - 2e-9
        )


def test_a_control_is_not_used_where_samples_failed() -> None:
    """Its mean is known over all samples, not over the completed ones: here below 1.1."""
    m, reached = oscillator(a=(0.0, 1.1)), vm.final(lambda s: s.parameter("a"))
    request: Any = {
        "duration": 0.1,
        "step": 0.1,
        "samples": 512,
        "allowed_failures": 0.2,
        "sampling": "sobol",
    }
    plain, controlled = (
        m.monte_carlo(reached, {"a": norm(1.0, 0.1)}, **request, control=c) for c in (False, True)
    )
    assert controlled.failed > 50
    np.testing.assert_array_equal(controlled.mean, plain.mean)
    np.testing.assert_array_equal(controlled.interval().upper, plain.interval().upper)
    np.testing.assert_array_equal(controlled.reduction, 1.0)
    assert f"{controlled.failed} samples failed, so the control variate is not used" in repr(
        controlled
    )
    bounds, truth = controlled.interval(0.999).isel(time=-1), 1.0 - 0.1 * norm.pdf(1) / norm.cdf(1)
    assert bounds.lower < truth < bounds.upper


def test_none_that_went_well() -> None:
    m = oscillator(a=(0.9 - 1e-9, 0.9 + 1e-9))
    with pytest.raises(vm.StudyError, match="20 of 20 samples failed") as caught:
        m.monte_carlo(vm.final(x_of), {"a": norm(0.9, 1)}, duration=0.1, step=0.1, samples=20)
    assert "0 samples" in repr(caught.value.study)
    with pytest.raises(vm.ModelError, match="all 20 samples failed"):
        caught.value.study.mean


def test_mechanisms_that_cannot_be_assembled_are_failures() -> None:
    place = vm.final(lambda s: s.position("C")[1], unit="m")
    computed = four_bar().monte_carlo(
        place,
        {"coupler": vm.Tolerance(0.12)},
        duration=0.01,
        step=0.005,
        samples=100,
        allowed_failures=0.2,
        keep=True,
        chunk=100,
    )
    lengths = computed.samples["parameters"].values[:, 0]
    assert [f.sample for f in computed.failures] == np.flatnonzero(lengths < 1.3).tolist()
    assert computed.failed > 2
    assert {f.kind for f in computed.failures} == {"AssemblyError"}
    assert ["loop" in f.message for f in computed.failures] == [True, True] + [False] * (
        computed.failed - 2
    )  # the others in short


# executors


@pytest.mark.parametrize("sampling", KINDS)
def test_the_same_bits_in_any_number_of_threads(sampling: str) -> None:
    first, *others = (
        study(samples=1100, chunk=64, sampling=sampling, control=True, executor=n)
        for n in (1, 2, 5)
    )
    for other in others:
        same(first, other)


def test_one_by_one_is_the_same_too() -> None:
    """Interpreted runs give identical bits, so a study does too, apart from the order in which a
    chunk is summed.
    """
    settings: Any = {**SETTINGS, "samples": 40}
    np.testing.assert_allclose(
        study(backend="interpreted", **settings).mean,
        study(backend="native", **settings).mean,
        rtol=1e-14,
    )


def test_a_cluster_gives_the_same_bits_even_if_it_loses_a_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    distributed = pytest.importorskip("distributed")
    settings: Any = {"samples": 2100, "chunk": 64, "control": True}
    here, add, killed = study(executor=2, **settings), StudyRunner._add, []
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        worker = next(iter(client.run(os.getpid).values()))

        def kill_after_five_chunks(self: StudyRunner, *arguments: Any) -> None:
            add(self, *arguments)
            if self.study.accumulator.taken == 5 * 64:
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)

        monkeypatch.setattr(StudyRunner, "_add", kill_after_five_chunks)
        there = study(executor=client, **settings)
        monkeypatch.setattr(Runner, "_machine_is_ready", lambda self: False)
        few = study(executor=client, samples=3)
        with pytest.raises(vm.ModelError, match="backend='interpreted' runs in this process only"):
            study(executor=client, backend="interpreted", samples=3)
    assert killed
    same(here, there)
    assert few.count == 3
    with pytest.raises(vm.ModelError, match="this Dask client is closed; make a new one"):
        study(executor=client, **settings)


@pytest.mark.parametrize("executor", [0, -1, True, "threads", 1.5, object()])
def test_other_executors_are_refused(executor: Any) -> None:
    with pytest.raises(vm.ModelError, match="must be a number of threads, a dask"):
        study(executor=executor)


# messages


def test_what_is_reported(tmp_path: Path) -> None:
    sample_study = study(samples=256, sampling="sobol")
    assert repr(sample_study).startswith(
        "<Study of 'pendulum': 256 samples (sobol, seed 0), at t = 1 s>"
    )
    table = sample_study.table()
    np.testing.assert_array_equal(table["mean"], sample_study.mean[-1])
    np.testing.assert_array_equal(table["95 %"], sample_study.quantile(0.95)[-1])
    frame = sample_study.to_dataframe()
    np.testing.assert_array_equal(frame["std"].to_numpy().reshape(-1, 2), sample_study.std)
    counts = sample_study.histogram("y", 0.5)
    assert (counts.sum(), counts.attrs["time"]) == (256, 0.5)
    middle = (counts * counts["value"]).sum() / 256
    assert abs(middle - sample_study.mean.sel(time=0.5, objective="y")) < counts.attrs["width"]
    data = sample_study.dataset
    assert data["quantiles"].dims == ("quantile", "time", "objective")
    assert (data["lowest"] <= data["quantiles"]).all()
    import xarray as xr

    with xr.open_dataset(sample_study.save(tmp_path / "study.nc"), engine="h5netcdf") as read:
        np.testing.assert_array_equal(read["variance"], sample_study.variance)
    assert (data["quantiles_lower"] <= data["quantiles"]).all() and (
        data["quantiles"] <= data["quantiles_upper"]
    ).all()
    bounds = sample_study.interval(0.9, of="std").isel(time=-1)
    np.testing.assert_allclose(
        bounds.upper**2, sample_study.interval(0.9, of="variance").upper.isel(time=-1)
    )
    for sigmas in (None, 2.0):
        axes = sample_study.plot(sigmas).axes
        assert [ax.get_ylabel() for ax in axes] == ["x (m)", "y (m)"]
        np.testing.assert_array_equal(axes[0].get_lines()[0].get_ydata(), sample_study.mean[:, 0])
        assert [ax.get_legend() is not None for ax in axes] == [True, False]
    assert "1 sample (" in repr(study(samples=1))


def test_progress_shows_the_running_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[tuple[float, str]] = []

    @contextmanager
    def bar(label: str, total: float, enabled: bool | None) -> Iterator[Any]:
        assert (label, total, enabled) == ("pendulum: 256 samples", 256, True)
        yield lambda done, note: reports.append((done, note()))

    monkeypatch.setattr("varimech.uncertainty.study_run.progress_bar", bar)
    sample_study = study(samples=256, progress=True)
    assert [done for done, _ in reports] == list(range(16, 257, 16))
    half = (sample_study.interval().upper - sample_study.mean)[-1, 0].item()
    assert reports[-1][1] == f"x = {sample_study.mean[-1, 0].item():.6g} ± {half:.2g} m"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": 0}, "samples = 0 must be a whole number, 1 or more"),
        ({"samples": 1e4}, "samples = 10000.0 must be a whole number"),
        ({"seed": -1}, "seed = -1 must be a whole number, 0 or more"),
        ({"chunk": 0}, "chunk = 0 must be"),
        ({"chunk": 48, "sampling": "sobol"}, "chunk = 48 must be a power of two"),
        ({"samples": 10**12, "sampling": "sobol"}, "more than Sobol sequences have"),
        ({"sampling": "sobl"}, "did you mean 'sobol'"),
        ({"allowed_failures": 1.0}, "from 0 to below 1"),
        ({"allowed_failures": "some"}, "must be a share"),
        ({"target": 0}, "target = 0 for 'x' must be a positive number"),
        ({"target": {"z": 1.0}}, "no objective is called 'z'"),
        ({"objectives": []}, "at least one objective"),
        ({"distributions": {"M": vm.Tolerance(1)}}, "no parameter is called 'M'"),
        ({"tolerances": 1e-3}, "did you mean 'tolerance'"),
        ({"backend": "gpu"}, "gpu"),
        ({"control": "yes"}, "control = 'yes' must be True or False"),
        ({"keep": 1}, "keep = 1 must be True or False"),
    ],
)
def test_bad_input(change: dict[str, Any], message: str) -> None:
    asked = {
        "objectives": OBJECTIVES,
        "distributions": DISTRIBUTIONS,
        "samples": 10,
        **SETTINGS,
        **change,
    }
    with pytest.raises(vm.ModelError, match=message):
        mechanism().monte_carlo(**asked)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: s.interval(1.5), "level = 1.5"),
        (lambda s: s.interval(of="meen"), "did you mean 'mean'"),
        (lambda s: s.interval("a"), "level = 'a' must be"),
        (lambda s: s.interval(of=1.5), "interval: 1.5 must be probabilities"),
        (lambda s: s.resolution(-1), "resolution: -1 must be probabilities"),
        (lambda s: s.quantile(2), "must be probabilities"),
        (lambda s: s.quantile("a"), "'a' must be probabilities"),
        (lambda s: s.histogram(time="x"), "time = 'x' must be a time of the run, from 0 to 1 s"),
        (lambda s: s.histogram(time=99), "time = 99 must be a time of the run"),
        (lambda s: s.histogram(time=math.nan), "time = nan must be a time of the run"),
        (lambda s: s.histogram("z"), "no objective is called 'z'"),
        (lambda s: s.bands(0), "sigmas = 0 must be positive"),
    ],
)
def test_bad_questions(ask: Any, message: str) -> None:
    with pytest.raises(vm.ModelError, match=message):
        ask(study(samples=10))
