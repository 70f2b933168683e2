"""Acceptance figures of flexible mechanisms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from acceptance import Figure
from profile_paths import beam

import varimech as vm
from varimech.benchmarks import find_benchmark, flexible_five_bar, flexible_slider_crank
from varimech.benchmarks.flexible_five_bar import STIFF, mechanism, scaled_derivative

TINY = 1e-7
"""Loads so small that nothing but the linear theory is seen; stiffness and length are one."""


def _beam(segments: int, ends: str, gravity: float = 0.0) -> vm.Mechanism:
    m = vm.Mechanism("beam", gravity=(0, -gravity))
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    m.beam("b", "A", "B", segments=segments, E=1.0, area=1e6, inertia=1.0, mass=1.0, length=1.0)
    if ends == "cantilever":
        m.clamp("A", "ground.A", "b.A", direction=(1, 0))
    else:
        m.revolute("A", "ground.A", "b.A")
        m.point_on_line("B", "ground.B", "b.B", axis=(1, 0))
    return m


def _deflection(m: vm.Mechanism, point: str, load: float = 0.0) -> float:
    """Over the load, or the weight."""
    if load:
        m.force("P", point, (0, -load))
    return -float(m.equilibrium().position(point).sel(component="y").item()) / TINY


def beams_against_theory() -> Iterator[Figure]:
    """Deflections of beams against closed forms."""
    from beam_reference import elastica_tip

    mid = [48 * _deflection(_beam(n, "supported"), f"b.n{n // 2}", TINY) - 1 for n in (2, 4, 8, 16)]
    yield Figure(
        "simply supported beam, load at mid-span, n = 2, 4, 8, 16: relative error",
        float(np.abs(mid).max()),
        1e-8,
    )
    for n, ratio in ((2, 0.8), (4, 0.93333), (8, 0.98182), (16, 0.99535)):
        computed = 384 / 5 * _deflection(_beam(n, "supported", TINY), f"b.n{n // 2}")
        yield Figure(
            f"simply supported beam, uniform load, n = {n}: difference from the ratio {ratio}",
            abs(computed - ratio),
            5e-6,
        )
    ends = {n: abs(3 * _deflection(_beam(n, "cantilever"), "b.B", TINY) - 1) for n in (16, 32, 39)}
    yield Figure(
        "cantilever, end load: order of convergence, difference from 2",
        abs(math.log2(ends[16] / ends[32]) - 2),
        0.05,
    )
    yield Figure("cantilever, end load, n = 39: relative error", ends[39], 1e-3)
    for load in (5.0, 10.0):
        x, y, angle = elastica_tip(load)
        m = _beam(32, "cantilever")
        m.force("P", "b.B", (0, -load))
        tip = m.equilibrium().position("b.B").to_numpy()[0]
        error = float(np.abs(tip / np.array([x, y]) - 1).max())
        yield Figure(
            f"elastica bent by {math.degrees(-angle):.0f}°, n = 32: relative error of the tip",
            error,
            1e-2,
        )


def beams_against_reference() -> Iterator[Figure]:
    """Flexible benchmarks, and the error of finite differences of 0.1 %."""
    for name in ("flexible-five-bar", "flexible-slider-crank"):
        outcome = find_benchmark(name).solve()
        yield Figure(
            f"{name}: largest share of a tolerance of its checks",
            max(c.share for c in outcome.checks),
            1.0,
            shown="{:.3f}",
        )
    run = mechanism().sensitivity((), ["E"], duration=0.5, tolerance=1e-10).run
    exact = flexible_five_bar.DERIVATIVES[STIFF]["E"]
    yield Figure(
        "flexible five-bar, E ∂x₁/∂E at 0.5 s: relative error",
        abs(scaled_derivative(run, "E", 0.5) / exact - 1),
        1e-6,
    )
    m = mechanism()
    plain, raised = (
        float(m.simulate(0.5, tolerance=1e-10, parameters=p).position("1").to_numpy()[-1, 0])
        for p in (None, {"E": 1.001 * STIFF})
    )
    yield Figure(
        "flexible five-bar, E ∂x₁/∂E by a finite difference of 0.1 %: relative error",
        abs((raised - plain) / 1e-3 / exact - 1),
        1e-2,
        at_least=True,
    )


def beams_by_differences() -> Iterator[Figure]:
    """Beams: direct sensitivities against extrapolated finite differences of Varimech's own results."""

    def apart(m: vm.Mechanism, point: str, wrt: tuple[str, ...], **settings: Any) -> float:
        travel = vm.integral(lambda s: vm.dot(s.velocity(point), s.velocity(point)))
        direct = m.sensitivity(travel, wrt, **settings).gradient_history[-1, 0]
        coarse, fine = (
            m.sensitivity(
                travel, wrt, method="finite-difference", relative_steps=(h,), **settings
            ).gradient_history[-1, 0]
            for h in (2e-4, 1e-4)
        )
        return float(np.abs((4 * fine - coarse) / 3 / direct - 1).max())

    for n in (2, 8, 32):
        results = []
        for material in ("logarithmic", "linear"):
            planar = mechanism(n, material=material)
            results.append(
                apart(planar, "2", ("E", "a0", "I", "rho", "L"), duration=0.3, step=1e-3)
            )
            spatial = flexible_slider_crank.mechanism(n, material=material)
            results.append(
                apart(spatial, "slider.C", tuple(spatial.parameters), duration=0.2, step=1e-3)
            )
        yield Figure(
            f"plane and space, both materials, n = {n}: largest relative difference",
            max(results),
            1e-6,
        )


def beams_of_many_segments() -> Iterator[Figure]:
    """Time per step of long beams."""
    each: dict[tuple[int, str], float] = {}
    for n in (500, 1000, 2000):
        m = beam(n)
        for integrator in ("trapezoidal", "generalised-alpha"):
            settings: dict[str, Any] = {
                "step": 1e-3,
                "every": 100,
                "backend": "native",
                "integrator": integrator,
            }
            runs = [m.simulate(0.1, progress=False, **settings) for _ in range(9)]
            each[n, integrator] = min(r.info["seconds"]["run"] for r in runs) / 100
    for integrator in ("trapezoidal", "generalised-alpha"):
        yield Figure(
            f"beam of 1,000 segments, {integrator}: time per step (ms)",
            1e3 * each[1000, integrator],
            1.0,
            shown="{:.2f}",
        )
    growth = math.log(each[2000, "generalised-alpha"] / each[500, "generalised-alpha"]) / math.log(
        4
    )
    yield Figure(
        "generalised-alpha, 500 to 2,000 segments: time per step grows with this power of their number",
        growth,
        1.15,
        shown="{:.2f}",
    )
