"""Prints every acceptance figure with its bound and writes them to docs/acceptance.md. For people;
slower than the tests. Exit code 1 if any bound is missed.

    python tools/verify/verify.py                    all capabilities, and the page
    python tools/verify/verify.py joints library     only these, without the page

A capability adds its figures by one more generator in `CAPABILITIES`.
"""

from __future__ import annotations

import csv
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from acceptance import Figure, write_page
from certify_random import certificates_of_random_problems
from rich.console import Console
from verify_coverage import intervals_of_hypercubes
from verify_derivatives import (
    adjoints_cost,
    adjoints_memory,
    optimum_of_the_five_bar,
    second_derivatives,
)
from verify_events import gradients_over_impacts
from verify_files import first_report, model_files
from verify_flexible import (
    beams_against_reference,
    beams_against_theory,
    beams_by_differences,
    beams_of_many_segments,
)
from verify_interchange import equations_in_c, frameworks, gallery, notebooks, urdf_files
from verify_moments import (
    benchmarks_with_tolerances,
    moments_of_simple_models,
    moments_of_the_pendulum,
)
from verify_monte_carlo import pendulum_studies, studies_elsewhere, studies_throughput
from verify_reports import report_of_a_long_run
from verify_robust import cheapest_tolerances, first_passage, statistics_of_a_quadratic

import varimech as vm
from varimech.benchmarks import andrews, bricard, chain, five_bar, four_bar, governor
from varimech.benchmarks.outcome import energy_drift, row_at

RELATIVE = ("rtdyn0", "rtdyn1")
DATA = Path(__file__).parents[2] / "tests" / "data"
sys.path.insert(0, str(DATA.parent))


@cache
def solved(step: float) -> five_bar.FiveBar:
    return five_bar.run({"step": step})


def five_bar_table() -> Iterator[Figure]:
    """Table 1 of the benchmark."""
    for step, share in ((1e-3, 0.1), (1e-4, 0.002)):
        for name, error, tolerance in zip(
            five_bar.OBJECTIVES, solved(step).errors, five_bar.TOLERANCES, strict=True
        ):
            yield Figure(
                f"error (3) of {name} at h = {step:g} s, as a share of its tolerance",
                error / tolerance,
                share,
                shown="{:.3%}",
            )
    yield Figure("combined error (5) at h = 1e-3 s", solved(1e-3).combined_error, 2.1)
    yield Figure(
        "time for 5 s with five sensitivities at h = 1e-3 s (s)",
        solved(1e-3).solution.seconds["run"],
        3.0,
        shown="{:.2f}",
    )


def five_bar_order() -> Iterator[Figure]:
    """Order of convergence of the five-bar between steps of 4e-3 and 1e-3 s."""
    from test_five_bar import CONVERGED_GRADIENT, CONVERGED_VALUES

    coarse, fine = solved(4e-3).solution, solved(1e-3).solution
    for what, get, exact in (
        ("ψ", lambda s: s.value_history[-1][:, None], CONVERGED_VALUES[:, None]),
        ("ψ'", lambda s: s.gradient_history[-1], CONVERGED_GRADIENT),
    ):
        errors = [np.linalg.norm(get(s) - exact, axis=-1) for s in (coarse, fine)]
        for k, order in enumerate(np.log(errors[0] / errors[1]) / np.log(4)):
            yield Figure(
                f"order of {what}, objective {k + 1}: difference from 2", abs(float(order) - 2), 0.1
            )


def five_bar_trajectories() -> Iterator[Figure]:
    """Five-bar against an independent solution, with Richardson extrapolation from two steps."""
    with (DATA / "five_bar.csv").open() as file:
        rows = list(csv.DictReader(file))
    reference = {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}
    coarse, fine = solved(2e-3).solution, solved(1e-3).solution

    def extrapolated(get: Callable[[vm.Gradient], np.ndarray]) -> np.ndarray:
        return (4 * get(fine) - get(coarse)) / 3

    for kind, prefix, bound in (
        ("position", "", 2e-8),
        ("velocity", "d", 1e-7),
        ("acceleration", "dd", 1e-6),
    ):
        worst = 0.0
        for point in ("1", "2", "3"):
            ours = extrapolated(lambda s, k=kind, p=point: getattr(s.run, k)(p).to_numpy())  # type: ignore[misc]
            theirs = np.column_stack([reference[f"{prefix}{c}{point}"] for c in "xy"])
            worst = max(worst, float(np.abs(ours - theirs).max()))
        yield Figure(f"{kind} of points 1, 2, 3 over 5 s, largest difference", worst, bound)
    values = extrapolated(lambda s: s.value_history)
    theirs = np.column_stack([reference[o] for o in five_bar.OBJECTIVES])
    yield Figure(
        "ψ(t), largest relative difference",
        float((np.abs(values - theirs).max(0) / np.abs(theirs).max(0)).max()),
        1e-7,
    )
    gradients = extrapolated(lambda s: s.gradient_history).reshape(len(rows), -1)
    theirs = np.column_stack(
        [reference[f"d{o}_d{p}"] for o in five_bar.OBJECTIVES for p in five_bar.PARAMETERS]
    )
    relative = np.abs(gradients - theirs).max(0) / np.abs(theirs).max(0)
    yield Figure(
        "15 derivatives over time, largest relative difference", float(relative.max()), 1e-7
    )


def direct_against_differences() -> Iterator[Figure]:
    """Five-bar: direct sensitivities against central differences of Varimech's own results, over 5 s."""
    from test_five_bar import generously_parametrised

    for label, m in (
        ("five parameters", five_bar.mechanism()),
        ("stiffnesses, masses, angle, pivot", generously_parametrised()),
    ):
        direct, differences = (
            m.sensitivity(
                five_bar.objectives(), duration=5.0, step=2e-3, method=method
            ).gradient_history[-1]
            for method in ("direct", "finite-difference")
        )
        yield Figure(
            f"derivatives with respect to {label}, largest relative difference",
            float(np.abs(differences / direct - 1).max()),
            1e-6,
        )


def invariants() -> Iterator[Figure]:
    """Five-bar: constraints of positions, velocities and accelerations, and energy."""
    for level, residual in zip(
        ("position", "velocity", "acceleration"),
        solved(1e-3).solution.run.info["residuals"],
        strict=True,
    ):
        yield Figure(f"constraint residual, {level} level", residual, 1e-9)
    drifts = []
    for h in (4e-3, 2e-3, 1e-3):
        energy = five_bar.mechanism().simulate(5.0, step=h).energy()
        drifts.append(float(abs(energy - energy[0]).max()))
    for k in range(2):
        yield Figure(
            f"order of the energy drift for h = {(4e-3, 2e-3)[k]:g} s and half of it: difference from 2",
            abs(math.log2(drifts[k] / drifts[k + 1]) - 2),
            0.1,
        )


def joints() -> Iterator[Figure]:
    """Every joint against a hand-derived motion."""
    from joint_cases import CASES, DURATION, STEP

    for case in CASES:
        exact = case.reference(case.p, np.linspace(0, DURATION, 51))
        coarse, fine = (case.measured(case.run(h)) for h in (STEP, STEP / 2))
        yield Figure(
            f"{case.name}: extrapolated motion, largest difference",
            float(np.abs((4 * fine - coarse) / 3 - exact).max()),
            5e-8,
        )


def plane_and_space() -> Iterator[Figure]:
    """The same pendulum in the plane and in space."""
    from test_joint_mechanisms import planar_and_spatial_pendulum

    planar, spatial = (
        m.simulate(2.0, step=2e-3, coordinates="natural").position("tip").to_numpy()
        for m in planar_and_spatial_pendulum()
    )
    yield Figure(
        "pendulum: planar against spatial, largest difference",
        float(np.abs(planar - spatial[:, :2]).max()),
        1e-9,
    )


def native_speed() -> Iterator[Figure]:
    """Speed of the compiled five-bar."""
    m, objectives = five_bar.mechanism(), five_bar.objectives()

    def microseconds(run: Callable[[], object]) -> float:
        run()
        times = []
        for _ in range(100):
            began = time.perf_counter()
            run()
            times.append(time.perf_counter() - began)
        return min(times) / 5000 * 1e6

    dynamics = microseconds(lambda: m.simulate(5.0, step=1e-3, every=5000, backend="native"))
    both = microseconds(
        lambda: m.sensitivity(objectives, duration=5.0, step=1e-3, every=5000, backend="native")
    )
    yield Figure("time per step of the motion (µs)", dynamics, 2.0, shown="{:.2f}")
    yield Figure(
        "time for 5,000 steps with five sensitivities (ms)", both * 5, 17.0, shown="{:.1f}"
    )
    yield Figure(
        "additional time for five sensitivities and three objectives",
        both / dynamics - 1,
        1.5,
        shown="{:.0%}",
    )


def threads() -> Iterator[Figure]:
    """Eight thousand runs of the five-bar on one and on two threads."""
    m, objectives = five_bar.mechanism(), five_bar.objectives()
    lengths = math.sqrt(5) * np.linspace(0.95, 1.05, 8000)

    def seconds(count: int) -> float:
        settings = {
            "duration": 5.0,
            "step": 1e-2,
            "backend": "native",
            "threads": count,
            "progress": False,
        }
        return m.ensemble(objectives, {"Ls1": lengths}, **settings).seconds["run"]  # type: ignore[arg-type]

    seconds(2)
    # one after the other, so that a machine that is slow for a while is slow for both
    ratios = [seconds(1) / seconds(2) for _ in range(15)]
    ratio = float(np.median(ratios))
    yield Figure(
        "speed of two threads relative to one, median", ratio, 1.8, at_least=True, shown="{:.2f}"
    )


def printed_numbers(program: str, cache: str, **variables: str) -> list[float]:
    """Run a program in a process of its own, with a cache for compiled models, and return the
    numbers that it prints.
    """
    environment = {**os.environ, "VARIMECH_CACHE": cache, **variables}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [float(x) for x in done.stdout.split()]


def cold_and_warm() -> Iterator[Figure]:
    """Time to the first result of the five-bar in a new process, without and with compiled code in the cache."""
    program = (
        "import time; began = time.perf_counter(); import varimech; imported ="
        " time.perf_counter()\nfrom varimech.benchmarks import"
        " five_bar\nfive_bar.mechanism().sensitivity(five_bar.objectives(), duration=5.0,"
        " backend='native')\nprint(imported - began, time.perf_counter() - began,"
        " time.perf_counter() - imported)"
    )
    with tempfile.TemporaryDirectory() as cache:
        rows = []
        for _ in range(6):
            # modules are kept compiled, as Python does unless it is told otherwise
            kept = {"PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
            rows.append(printed_numbers(program, cache, **kept))
    cold, warm = rows[0], np.array(rows[1:]).min(axis=0)
    yield Figure(
        "first call for a new model: build, compile and run (s)", cold[2], 3.0, shown="{:.2f}"
    )
    yield Figure("second process: from import to result (s)", float(warm[1]), 0.5, shown="{:.2f}")
    yield Figure("`import varimech` (s)", float(warm[0]), 0.3, shown="{:.2f}")


def large_models() -> Iterator[Figure]:
    """Chains of bars, each in a separate process with an empty cache."""
    program = (
        "import re, sys, time; sys.path[:0] = {folders!r}; from test_regimes import"
        " chain\nbegan = time.perf_counter(); m = chain([1.0] * {count}); h = 1e-3\nm.simulate(h,"
        " step=h, backend='native', progress=False); built = time.perf_counter() - began\nruns ="
        " [m.simulate(50 * h, step=h, every=50, backend='native', progress=False) for _ in"
        " range(7)]\nmemory = int(re.search(r'VmHWM:\\s+(\\d+)',"
        " open('/proc/self/status').read())[1]) / 1024\nprint(built, min(r.info['seconds']['run']"
        " for r in runs) / 50, memory)"
    )
    computed = {}
    for count in (100, 1000, 4000):
        with tempfile.TemporaryDirectory() as cache:
            folders = [str(DATA.parent), str(DATA.parent / "support")]
            text = program.format(folders=folders, count=count)
            computed[count] = printed_numbers(text, cache)
    each = {count: 1e6 * values[1] / count for count, values in computed.items()}
    yield Figure("1,000 bars: time per step (ms)", 1e3 * computed[1000][1], 0.8, shown="{:.2f}")
    yield Figure(
        "1,000 bars: time to define, derive and compile (s)", computed[1000][0], 5.0, shown="{:.2f}"
    )
    variation = max(each.values()) / min(each.values()) - 1
    yield Figure(
        "100, 1,000 and 4,000 bars: variation of the time per step and bar",
        variation,
        0.3,
        shown="{:.0%}",
    )
    per_bar = [(computed[b][2] - computed[a][2]) / (b - a) for a, b in ((100, 1000), (1000, 4000))]
    yield Figure(
        "additional memory per bar: from 1,000 to 4,000 bars, relative to from 100 to 1,000",
        per_bar[1] / per_bar[0],
        1.3,
        shown="{:.2f}",
    )


def andrews_accuracy() -> Iterator[Figure]:
    """Andrews' squeezer with a tolerance of 1e-10: error, energy balance, and derivatives against
    hand-written equations.
    """
    from test_andrews import OBJECTIVES, numbers, reference

    m = andrews.mechanism()
    run = m.simulate(andrews.DURATION, tolerance=1e-10)
    yield Figure(
        "Andrews: error of β at 0.03 s (rad)",
        abs(andrews.angles(run, 0.03)["β"] - andrews.CRANK_ANGLE),
        1e-8,
    )
    work = andrews.TORQUE * float(np.ptp(run.angle("OF").to_numpy()))
    yield Figure(
        "Andrews: largest |ΔU|, relative to the supplied energy",
        float(np.abs(andrews.energy_balance(run)).max()) / work,
        1e-9,
    )
    exact = reference()[1]
    direct = numbers(m.sensitivity(OBJECTIVES, duration=andrews.DURATION, tolerance=1e-10))[1]
    yield Figure(
        "Andrews: 25 derivatives against hand-written equations, largest relative difference",
        float(np.abs(direct / exact - 1).max()),
        1e-6,
    )


def andrews_speed() -> Iterator[Figure]:
    """Andrews' squeezer: time to reach an accuracy of point F at 0.05 s, and build time in a separate
    process with an empty cache.
    """
    m = andrews.mechanism()
    F = np.array(andrews.POINT_F[0.05])
    for accuracy, bound in ((1e-5, 4.0), (1e-7, 7.0)):
        for tolerance in 10.0 ** -np.arange(3, 12):
            setting: dict[str, Any] = {
                "tolerance": float(tolerance),
                "output": andrews.DURATION,
                "backend": "native",
            }
            runs = [m.simulate(andrews.DURATION, **setting) for _ in range(20)]
            if np.linalg.norm(
                runs[0].position("F").to_numpy()[-1] - F
            ) <= accuracy * np.linalg.norm(F):
                break
        milliseconds = 1e3 * min(run.info["seconds"]["run"] for run in runs)
        yield Figure(
            f"Andrews: time to an error of {accuracy:g} of F, tolerance {tolerance:g} (ms)",
            milliseconds,
            bound,
            shown="{:.2f}",
        )
    program = (
        "import time; from varimech.benchmarks.andrews import mechanism; began ="
        " time.perf_counter(); m = mechanism()\nm.simulate(0.05, tolerance=1e-6, backend='native',"
        " progress=False); print(time.perf_counter() - began)"
    )
    with tempfile.TemporaryDirectory() as cache:
        (seconds,) = printed_numbers(program, cache)
    yield Figure(
        "Andrews: time to define, derive, compile and run (s)", seconds, 3.0, shown="{:.2f}"
    )


def library() -> Iterator[Figure]:
    """The IFToMM library: accuracy with given tolerances, redundant constraints, stiffness, singular positions."""
    from test_tolerances import ACCURACY, error

    for integrator in dict.fromkeys(i for _, i, *_ in ACCURACY):
        factors = [
            error(name, integrator, t, c) / t
            for name, i, tolerances, c in ACCURACY
            if i == integrator
            for t in tolerances
        ]
        yield Figure(
            f"all benchmarks, {integrator}: largest ratio of error to tolerance",
            max(factors),
            10.0,
            shown="{:.2f}",
        )
    coarse, fine = (
        bricard.mechanism().simulate(10.0, step=h, every=round(0.5 / h), backend="native")
        for h in (5e-3, 2.5e-3)
    )
    yield Figure(
        "Bricard, 10 s with ALI3-P: residual of the constraints (m)",
        fine.info["residuals"][0],
        1e-12,
    )
    order = math.log2(energy_drift(coarse) / energy_drift(fine))
    yield Figure(
        "Bricard with ALI3-P: order of the energy drift, difference from 2",
        abs(order - 2),
        0.15,
    )
    P3 = [run.position("P3").to_numpy()[row_at(run, 2.0)] for run in (coarse, fine)]
    off = float(np.abs((4 * P3[1] - P3[0]) / 3 - bricard.PLACES[2.0]).max())
    yield Figure("Bricard with ALI3-P: error of P3 at 2 s, extrapolated (m)", off, 1e-7)
    stiff = governor.mechanism().simulate(10.0, tolerance=1e-6, backend="native")
    yield Figure(
        "governor, 10 s: ratio of shortest to mean step",
        stiff.info["step"][0] / (10.0 / stiff.info["steps"]),
        1e-3,
        at_least=True,
    )
    m = four_bar.mechanism(40)
    runs = [m.simulate(10.0, tolerance=1e-8, output=0.1, backend="native") for _ in range(4)]
    angle = runs[0].angle("crank 0").to_numpy()
    yield Figure(
        "40 four-bars, 10 s: error of the angle (rad)",
        float(np.abs(angle - four_bar.crank_angle(40, runs[0].time)).max()),
        1e-4,
    )
    yield Figure(
        "40 four-bars, 10 s: energy drift, relative to the largest kinetic energy",
        energy_drift(runs[0]),
        1e-6,
    )
    seconds = min(run.info["seconds"]["run"] for run in runs)
    yield Figure("40 four-bars, 10 s: run time (s)", seconds, 0.4, shown="{:.2f}")


def derivative_checks() -> Iterator[Figure]:
    """Gradients of the five-bar with all formulations, and with the composite system."""
    from test_five_bar import CONVERGED_GRADIENT

    m, objectives = five_bar.mechanism(), five_bar.objectives()
    size = np.linalg.norm(CONVERGED_GRADIENT, axis=1)
    settings: dict[str, tuple[dict[str, Any], float]] = {
        "index1": ({"tolerance": 1e-9}, 1e-7),
        "index1-stabilised": ({"tolerance": 1e-9}, 1e-7),
        "independent": ({"tolerance": 1e-9}, 1e-7),
        "penalty": ({"tolerance": 1e-9}, 5e-6),
        "ali3p": ({"step": 5e-4}, 2e-6),
    }
    for formulation, (setting, bound) in settings.items():
        g = m.sensitivity(
            objectives,
            five_bar.PARAMETERS,
            duration=5.0,
            formulation=formulation,
            backend="native",
            **setting,
        )
        off = float(
            (np.linalg.norm(g.gradient_history[-1] - CONVERGED_GRADIENT, axis=1) / size).max()
        )
        yield Figure(f"five-bar gradients with {formulation}, largest relative error", off, bound)
    direct, composite = (
        m.sensitivity(objectives, duration=1.0, step=2e-3, method=scheme)
        for scheme in ("direct", "composite")
    )
    off = float(np.abs(composite.gradient_history[-1] / direct.gradient_history[-1] - 1).max())
    yield Figure(
        "composite system against direct differentiation, largest relative difference", off, 1e-9
    )


def relative_table() -> Iterator[Figure]:
    """Table 1 of the five-bar benchmark in relative coordinates."""
    for name in RELATIVE:
        completed = five_bar.run({"step": 1e-3, "coordinates": name})
        share = float(np.max(np.array(completed.errors) / np.array(five_bar.TOLERANCES)))
        yield Figure(
            f"{name}: errors (3) at h = 1e-3 s, largest share of a tolerance",
            share,
            0.1,
            shown="{:.3%}",
        )


def relative_against_natural() -> Iterator[Figure]:
    """All benchmarks with rigid bodies: natural against relative coordinates."""
    from test_coordinates import DURATIONS, differences

    pairs = [(name, c) for name in DURATIONS for c in RELATIVE]
    largest: dict[str, float] = {}
    for name, coordinates in pairs:
        for what, value in differences(name, coordinates).items():
            kind = "sensitivities" if what.startswith("∂") else what
            largest[kind] = max(largest.get(kind, 0.0), value)
    for what, value in largest.items():
        yield Figure(f"{what}: largest difference", value, 1e-9)


def relative_speed() -> Iterator[Figure]:
    """Cost of open trees in relative coordinates: growth, and comparison with natural coordinates."""

    def per_step(m: vm.Mechanism, coordinates: str, step: float = 1e-4) -> float:
        settings: dict[str, Any] = {
            "integrator": "rk4",
            "step": step,
            "every": 200,
            "backend": "native",
            "coordinates": coordinates,
        }
        m.simulate(200 * step, **settings)
        return (
            min(m.simulate(200 * step, **settings).info["seconds"]["run"] for _ in range(15)) / 200
        )

    times = {
        N: {c: per_step(chain.mechanism(N), c) for c in ("natural", *RELATIVE)}
        for N in (10, 100, 1000)
    }
    for c in RELATIVE:
        growth = times[1000][c] / 1000 / (times[10][c] / 10)
        yield Figure(
            f"{c}: time per step and bar, ratio of 1,000 bars to 10", growth, 1.2, shown="{:.2f}"
        )
        for N in (100, 1000):
            ratio = times[N]["natural"] / times[N][c]
            yield Figure(
                f"chain of {N} bars: time per step, ratio of natural coordinates to {c}",
                ratio,
                2.0,
                at_least=True,
                shown="{:.1f}",
            )
    shaft = {c: per_step(governor.mechanism(), c, 1e-6) for c in ("natural", *RELATIVE)}
    for c in RELATIVE:
        ratio = shaft["natural"] / shaft[c]
        yield Figure(
            f"governor (open tree in space): time per step, ratio of natural coordinates to {c}",
            ratio,
            2.0,
            at_least=True,
            shown="{:.1f}",
        )


CAPABILITIES = (
    five_bar_table,
    five_bar_order,
    five_bar_trajectories,
    direct_against_differences,
    invariants,
    joints,
    plane_and_space,
    native_speed,
    threads,
    cold_and_warm,
    large_models,
    andrews_accuracy,
    andrews_speed,
    library,
    derivative_checks,
    relative_table,
    relative_against_natural,
    relative_speed,
    beams_against_theory,
    beams_against_reference,
    beams_by_differences,
    beams_of_many_segments,
    adjoints_cost,
    adjoints_memory,
    second_derivatives,
    gradients_over_impacts,
    optimum_of_the_five_bar,
    moments_of_simple_models,
    moments_of_the_pendulum,
    benchmarks_with_tolerances,
    pendulum_studies,
    studies_elsewhere,
    studies_throughput,
    intervals_of_hypercubes,
    statistics_of_a_quadratic,
    first_passage,
    cheapest_tolerances,
    model_files,
    first_report,
    report_of_a_long_run,
    urdf_files,
    equations_in_c,
    frameworks,
    notebooks,
    gallery,
    certificates_of_random_problems,
)


def main(names: list[str]) -> int:
    """Print figures as they come, all or those of the functions that are named; 0 if every bound
    holds.
    """
    chosen = [c for c in CAPABILITIES if not names or c.__name__ in names]
    if unknown := set(names) - {c.__name__ for c in chosen}:
        print(
            f"there is no {', '.join(sorted(unknown))}; known:"
            f" {', '.join(c.__name__ for c in CAPABILITIES)}"
        )
        return 2
    console, missed = Console(width=130, highlight=False), []
    found: dict[str, list[Figure]] = {}
    for capability in chosen:
        title = " ".join(str(capability.__doc__).split())
        console.print(f"[bold]{title}[/]")
        found[title] = []
        for figure in capability():
            found[title].append(figure)
            stated = f"  {figure.what:<88} {figure.measured:>12}  {figure.limit:<12}"
            console.print(
                f"{stated} [green]holds[/]" if figure.holds else f"{stated} [bold red]missed[/]"
            )
            if not figure.holds:
                missed.append(stated)
    console.print("\nall hold" if not missed else "\n[bold red]missed:[/]\n" + "\n".join(missed))
    if not names:
        write_page(found)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
