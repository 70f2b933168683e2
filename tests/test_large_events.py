"""Events of large mechanisms, whose functions are assembled: the same numbers as unrolled ones, all
benchmarks with events, and a chain of sixty bars.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.schemes import choose
from varimech.solving import programs
from varimech.solving.solver import Solver

BENCHMARKS = (
    *("two_balls", "bouncing_ball", "friction_oscillator", "clearance_slider_crank"),
    *("newtons_cradle", "rocking_block", "sliding_block"),
)
G = 9.81


@pytest.fixture
def assembled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is unrolled."""
    monkeypatch.setattr(programs, "EVENTFUL", 0)


def chain(bars: int) -> vm.Mechanism:
    """Bars from the ground, horizontal at first, whose end hits a stop."""
    m = vm.Mechanism("chain", gravity=(0, -G))
    low = m.parameter("low", -0.12, unit="m")
    e = m.parameter("e", 0.5)
    L = m.parameter("L", 1 / bars, unit="m")
    m.ground_point("P0", (0, 0))
    for k in range(bars):
        m.bar(f"b{k}", f"P{k}", f"P{k + 1}", length=L, mass=0.02)
        m.revolute(f"P{k}")
    tip = f"b{bars - 1}.P{bars}"
    m.stop("stop", lambda s: s.position(tip)[1], lower=low, restitution=e)
    m.start(angle={f"b{k}": 0.0 for k in range(bars)})
    return m


def shaken() -> vm.Mechanism:
    """A block with dry friction against its guide on a table that moves up and down: it is thrown,
    and lands."""
    m = vm.Mechanism("shaken", gravity=(0, -G))
    A = m.parameter("A", 0.02, unit="m")
    ω = m.parameter("w", 30.0, unit="rad/s")
    F = m.parameter("F", 0.4, unit="N")
    m.ground_point("O", (0, 0))
    m.body("block", mass=1.0, inertia=0.1, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "block.P", axis=(0, 1))
    m.stop("table", lambda s: s.displacement("guide") - A * vm.sin(ω * s.time), lower=0.0)
    m.dry_friction("rub", lambda s: s.displacement_rate("guide"), sliding=F)
    m.event("high", lambda s: s.displacement("guide") - 0.021, direction="rising")
    m.start(displacement={"guide": 0.0}, speed={"guide": A * ω})
    return m


def cantilever() -> vm.Mechanism:
    """A flexible rod that bends onto a pad."""
    m = vm.Mechanism("cantilever", gravity=(0, -G))
    E = m.parameter("E", 3e8, unit="Pa")
    low = m.parameter("low", -0.01, unit="m")
    m.ground_point("O", (0, 0))
    section = vm.rectangle(0.02, 0.004)
    m.beam("rod", "O", "tip", segments=2, length=0.5, E=E, section=section, density=1200)
    m.clamp("O", direction=(1, 0))
    m.stop("pad", lambda s: s.position("tip")[1], lower=low, restitution=0.3)
    m.start()
    return m


@pytest.mark.parametrize("name", BENCHMARKS)
@pytest.mark.usefixtures("assembled")
def test_benchmarks_with_events_by_assembled_functions(name: str) -> None:
    benchmark = import_module(f"varimech.benchmarks.{name}")
    method, _ = choose(1.0, tolerance=1e-8, coordinates="natural")
    assert Solver(benchmark.mechanism().data, method).programs.large
    checked = benchmark.run()
    assert [c.name for c in checked.checks if not c.passed] == [] and len(checked.checks) > 15


@pytest.mark.parametrize(
    ("model", "backend"),
    [
        *[
            # the machine has the time loop of compiled code, and waits for no compiler
            pytest.param(model, backend, marks=pytest.mark.slow if backend == "native" else ())
            for model in ("chain", "shaken")
            for backend in ("interpreted", "auto", "native")
        ],
        ("cantilever", "auto"),  # which takes thousands of steps
    ],
)
def test_assembled_and_unrolled_functions_agree(
    model: str, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, event, T, output = {
        "chain": (lambda: chain(3), "stop", 0.2, 'position("b2.P3")[0]'),
        "shaken": (shaken, "high", 0.25, 'displacement("guide")'),
        "cantilever": (cantilever, "pad", 0.05, 'position("tip")[1]'),
    }[model]
    objectives = {
        "end": vm.final(output),
        "when": vm.time_of(event),
        "integral": vm.integral(output),
        "range": vm.range(output),
    }
    options: Any = {"duration": T, "tolerance": 1e-10, "backend": backend, "coordinates": "natural"}
    results = {}
    for limit in (programs.EVENTFUL, 0):
        monkeypatch.setattr(programs, "EVENTFUL", limit)
        m = build()
        for method in ("direct", "adjoint"):
            results[limit, method] = m.sensitivity(objectives, method=method, **options)
    first, *others = results.values()
    events = first.run.events
    kinds = {e.what for e in events}
    assert kinds == ({"release", "slip", "event", "impact"} if model == "shaken" else {"impact"})
    size = np.abs(first.final_gradient).max(axis=1, keepdims=True)
    for other in others:
        assert [e.name for e in other.run.events] == [e.name for e in events]
        assert other.run.events.times == pytest.approx(events.times, abs=1e-11)
        assert other.final_values == pytest.approx(first.final_values, rel=1e-10)
        off = (other.final_gradient - first.final_gradient) / size
        assert off == pytest.approx(0, abs=1e-8)
    if backend == "interpreted":
        return
    differences = m.sensitivity(objectives, method="finite-difference", **options)
    off = (differences.final_gradient - first.final_gradient) / size
    assert off == pytest.approx(0, abs=1e-5)


def test_sixty_bars_hit_a_stop() -> None:
    m = chain(60)
    objectives = {"when": vm.time_of("stop"), "x": vm.final('position("b59.P60")[0]', unit="m")}
    direct, adjoint = (
        m.sensitivity(objectives, duration=0.16, tolerance=1e-9, method=method)
        for method in ("direct", "adjoint")
    )
    falls = math.sqrt(2 * 0.12 / G)  # the end of a long chain falls freely
    assert direct.run.info["coordinates"].startswith("natural coordinates")
    assert direct.final_values[0] == pytest.approx(falls, rel=1e-9)
    assert direct.final_gradient[0] == pytest.approx([-1 / (G * falls), 0, 0], abs=1e-8)
    assert adjoint.final_gradient == pytest.approx(direct.final_gradient, rel=1e-7, abs=1e-9)
    assert abs(direct.final_gradient[1]).min() > 1e-6


def test_friction_in_joints_of_large_mechanisms_is_refused() -> None:
    m = vm.Mechanism("long", gravity=(0, -G))
    m.ground_point("P0", (0, 0))
    for k in range(60):
        m.bar(f"b{k}", f"P{k}", f"P{k + 1}", length=0.1, mass=0.02)
        m.revolute(f"P{k}", friction=0.1 if k == 0 else 0.0, friction_radius=0.01)
    m.start(angle={f"b{k}": 0.0 for k in range(60)})
    with pytest.raises(vm.ModelError, match="with friction in joints there may be 150; use"):
        m.simulate(0.1, coordinates="natural")
