"""Varimech's ensembles: runs per second by method, in vectors and one by one, what a study costs
beside its runs, intervals by kind of sampling, and Dask.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from ensembles_problem import GOAL, HALF_WIDTH, TESTED, Throughput, samples
from ensembles_vectors import vectors
from problem import DURATION, coarsest, fastest

import varimech as vm
from varimech.benchmarks import five_bar
from varimech.schemes import choose
from varimech.solving.ensemble_runs import sampler_for
from varimech.solving.task import Task
from varimech.uncertainty.accumulator import Accumulator
from varimech.uncertainty.chunks import Work
from varimech.uncertainty.parameter_distributions import distributions_of
from varimech.uncertainty.sampling import KINDS, Sampling

SECONDS = 0.7
"""So long a call takes, about, that is timed."""
SIZES = [1 << k for k in range(8, 17)]
SEEDS = range(3)
COST_SAMPLES, CHUNK = 1 << 16, 1 << 10
MEMORY_SAMPLES = (1 << 13, 1 << 15, 1 << 17, 1 << 19)
STORED = (1, 100)
"""Times at which ψ is stored besides the start."""

Setting = dict[str, Any]
PSI = {"psi1": five_bar.objectives()["psi1"]}


@dataclass(frozen=True)
class Way:
    """A method, and its settings from coarse to fine."""

    how: str
    settings: Iterable[Setting]


def equal(integrator: str | None, numbers: Iterable[int]) -> list[Setting]:
    return [{"step": DURATION / n, "integrator": integrator} for n in numbers]


WAYS = (
    Way("index 1 with projections, Dormand–Prince 8, equal steps", equal("dop853", range(15, 90))),
    Way(
        "index 1 with projections, Dormand–Prince 8, tolerance",
        [{"tolerance": 10 ** (-k / 8)} for k in range(8, 80)],
    ),
    Way(
        "index 1 with projections, Dormand–Prince 5, equal steps",
        equal("dopri5", range(40, 400, 2)),
    ),
    Way("index 1 with projections, RK4, equal steps", equal("rk4", range(60, 600, 5))),
    Way(
        "ALI3-P, trapezoidal rule, equal steps",
        equal(None, (round(400 * 1.05**k) for k in range(70))),
    ),
)


def columns(rows: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(five_bar.PARAMETERS, rows.T, strict=True))


def ensemble(m: vm.Mechanism, setting: Setting, rows: np.ndarray, threads: int) -> np.ndarray:
    """ψ¹ of given samples."""
    computed = m.ensemble(
        PSI,
        columns(rows),
        duration=DURATION,
        backend="native",
        threads=threads,
        progress=False,
        **setting,
    )
    return computed.values.to_numpy()[:, 0]


def at_end(setting: Setting) -> Setting:
    """The same with nothing stored but the end."""
    return (
        {**setting, "output": DURATION}
        if "tolerance" in setting
        else {**setting, "every": round(DURATION / setting["step"])}
    )


def study(m: vm.Mechanism, setting: Setting, count: int, executor: Any, **more: Any) -> vm.Study:
    """ψ¹ of samples that are drawn, and summed up."""
    given = uniform(m)
    return m.monte_carlo(
        PSI,
        given,
        duration=DURATION,
        samples=count,
        executor=executor,
        backend="native",
        progress=False,
        **setting,
        **more,
    )


def uniform(m: vm.Mechanism) -> dict[str, Any]:
    from scipy import stats

    nominal = {name: m.parameters[name].value for name in five_bar.PARAMETERS}
    return {
        name: stats.uniform((1 - HALF_WIDTH) * x, 2 * HALF_WIDTH * x) for name, x in nominal.items()
    }


def instructions(m: vm.Mechanism, setting: Setting) -> float | None:
    """Of the functions that a run with equal explicit steps calls; the sums of the scheme are left
    out.
    """
    if setting.get("integrator") is None:
        return None
    method, _ = choose(DURATION, **at_end(setting))
    sampler = sampler_of(m, setting)
    p, scheme = sampler.native.program, method.integrator.coefficients
    assert scheme is not None

    def of(chain: Any, iterations: int) -> int:
        parts = ((chain.predict, 1), (chain.iterate, iterations), (chain.finish, 1))
        return sum(k * int(f.n_instructions()) for f, k in parts if f is not None)

    stages = len(scheme.b)
    steps = round(DURATION / setting["step"])
    return steps * (
        (stages - 1) * of(p.rates or p.step, 0)
        + of(p.step, 1)
        + stages * int(p.objectives.integrands.n_instructions())
    )


def sampler_of(m: vm.Mechanism, setting: Setting) -> Any:
    method, schedule = choose(DURATION, **at_end(setting))
    return sampler_for(
        m._solvers.of(method), Task(schedule.last_only(), PSI, None, "native"), 10**6
    )


def throughputs(m: vm.Mechanism, exact: np.ndarray) -> tuple[list[Throughput], list[Setting]]:
    """By method, by one and two threads, as a study and as an ensemble; and the settings."""
    computed, chosen = [], []
    for scheme in WAYS:
        setting, error = coarsest(
            scheme.settings, lambda s: ensemble(m, s, samples(TESTED), 2), exact, GOAL
        )
        chosen.append(setting)
        name = (
            f"tolerance {setting['tolerance']:.2g}"
            if "tolerance" in setting
            else f"{round(DURATION / setting['step'])} steps"
        )
        began = time.perf_counter()
        ensemble(m, setting, samples(1024), 1)
        count = 1 << int(np.log2(SECONDS * 1024 / (time.perf_counter() - began)))
        count = max(count, 1 << 10)
        many: dict[str, Callable[[int], object]] = {
            "Varimech, `monte_carlo`": partial(study, m, at_end(setting), count),
            "Varimech, `ensemble`": partial(ensemble, m, setting, samples(count)),
        }
        for engine, call in many.items():
            for threads, workers in ((1, "1 thread"), (2, "2 threads")):
                seconds, _ = fastest(partial(call, threads), 5 * SECONDS)
                computed.append(
                    Throughput(
                        engine,
                        scheme.how,
                        name,
                        error,
                        workers,
                        count,
                        seconds,
                        instructions(m, setting),
                    )
                )
    return computed, chosen


def costs(m: vm.Mechanism) -> list[dict[str, Any]]:
    """Microseconds a sample for what a study does besides its runs, by number of stored times."""
    distributions, ρ = (
        distributions_of(m.parameters, uniform(m), None),
        m.data.parameter_set.nominal,
    )
    results = []

    def draw(drawing: Sampling) -> None:
        for k in range(COST_SAMPLES // CHUNK):
            distributions.rows(distributions.from_uniform(drawing.points(k)), ρ)

    for kind in KINDS:
        drawing = Sampling(kind, 0, CHUNK, len(distributions.names))
        seconds, _ = fastest(partial(draw, drawing), 1.0)
        results.append({"what": f"drawing, {kind}", "microseconds": 1e6 * seconds / COST_SAMPLES})
    rows = distributions.rows(
        distributions.from_uniform(
            Sampling("random", 0, CHUNK, len(distributions.names)).points(0)
        ),
        ρ,
    )
    for times in STORED:
        work = Work(None, times + 1, np.zeros(times + 1), None, keep=False)
        values = np.random.default_rng(0).normal(size=(CHUNK, times + 1))
        done = np.ones(CHUNK, dtype=bool)
        seconds, outcome = fastest(partial(work.summed_up, rows, values, done), 1.0, at_most=2000)
        results.append(
            {"what": f"accumulating, ψ at {times + 1} times", "microseconds": 1e6 * seconds / CHUNK}
        )

        def merge(outcome: Any = outcome) -> None:
            accumulator = Accumulator([None])
            for number in range(COST_SAMPLES // CHUNK):
                accumulator.add(number, CHUNK, outcome.summary, outcome.comoments, [])

        seconds, _ = fastest(merge, 1.0)
        results.append(
            {
                "what": f"merging chunks of {CHUNK}, ψ at {times + 1} times",
                "microseconds": 1e6 * seconds / COST_SAMPLES,
            }
        )
    return results


def memory(m: vm.Mechanism, setting: Setting) -> list[dict[str, float]]:
    """The largest memory of this process so far, MB, after studies of more and more samples with
    101 stored times.
    """
    results = []
    for count in MEMORY_SAMPLES:
        study(m, {**setting, "every": 1}, count, 2, chunk=CHUNK)
        results.append(
            {
                "samples": count,
                "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    return results


def intervals(m: vm.Mechanism, setting: Setting) -> list[dict[str, Any]]:
    """Half of the 95 % interval of the mean of ψ¹ by kind and number of samples; the middle of some
    seeds.
    """
    given = {
        name: vm.Tolerance(HALF_WIDTH * m.parameters[name].value) for name in five_bar.PARAMETERS
    }
    results = []
    for kind in KINDS:
        for count in SIZES:
            halves = []
            for seed in SEEDS:
                made = m.monte_carlo(
                    PSI,
                    given,
                    duration=DURATION,
                    samples=count,
                    sampling=kind,
                    seed=seed,
                    control=True,
                    backend="native",
                    progress=False,
                    **at_end(setting),
                )
                both = (
                    replace(made, controlled=controlled).last_mean() for controlled in (False, True)
                )
                halves.append([float(estimate.half_width(0.95)[0]) for estimate in both])
            plain, controlled = np.median(halves, axis=0)
            results.append(
                {
                    "kind": kind,
                    "samples": count,
                    "plain": float(plain),
                    "controlled": float(controlled),
                }
            )
    results.append(
        {"kind": "mean", "value": float(made.mean[-1, 0]), "std": float(made.std[-1, 0])}
    )
    return results


def on_a_cluster(m: vm.Mechanism, setting: Setting, count: int) -> list[dict[str, Any]]:
    """Two processes of Dask beside two threads: the same study."""
    from dask.distributed import Client, LocalCluster

    results = []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        for what, stored in (
            ("ψ at the end", at_end(setting)),
            ("ψ at 101 times", {"tolerance": 1e-5, "output": DURATION / 100}),
        ):
            seconds, means = {}, {}
            for name, executor in (("2 threads", 2), ("2 processes of Dask", client)):
                study(m, stored, CHUNK, executor)
                seconds[name], made = fastest(
                    partial(study, m, stored, count, executor), 5.0, at_least=3
                )
                means[name] = made.mean.to_numpy()
            first, second = means.values()
            results.append(
                {
                    "what": what,
                    "samples": count,
                    "seconds": seconds,
                    "same_bits": bool((first == second).all()),
                }
            )
    return results


def main() -> None:
    exact = np.array(json.load(sys.stdin)["exact"])
    m = five_bar.mechanism()
    computed, (best, *_) = throughputs(m, exact)
    report = {
        "throughputs": [asdict(t) for t in computed],
        "memory": memory(m, best),
        "costs": costs(m),
        "intervals": intervals(m, best),
        "vectors": vectors(),
        "cluster": on_a_cluster(m, best, COST_SAMPLES),
        "versions": {"varimech": vm.__version__},
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
