"""Varimech's side of the comparison of derivatives: its public calls only, compiled backend."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import derivatives_problem as derivatives
import numpy as np
from problem import DURATION, GRAVITY, coarsest, timed

import varimech as vm
from varimech.benchmarks import five_bar

ALWAYS: dict[str, Any] = {"backend": "native", "progress": False}
LAST_ONLY = 10**9
SCHEMES: dict[str, dict[str, Any]] = {
    "Varimech, ALI3-P": {},
    "Varimech, RK4": {"integrator": "rk4"},
}
FIRST = {"forward": "direct", "backward": "adjoint"}
DIRECT_UP_TO = 20
"""Bars of a chain up to which direct derivatives are measured."""
MEMORY = (1.0, 10.0, 1000.0)
LONG = 10**6


def equal_steps(steps: int, integrator: str = "rk4") -> dict[str, Any]:
    return {"step": DURATION / steps, "every": LAST_ONLY, "integrator": integrator, **ALWAYS}


def to_tolerance(tolerance: float) -> dict[str, Any]:
    return {"tolerance": tolerance, "output": DURATION, **ALWAYS}


class FiveBar:
    """The mechanism, and what is asked of it."""

    def __init__(self) -> None:
        self.mechanism, self.objectives = five_bar.mechanism(), five_bar.objectives()
        self.along = dict(zip(five_bar.PARAMETERS, derivatives.DIRECTION, strict=True))

    def gradient(self, scheme: str, options: dict[str, Any]) -> np.ndarray:
        return self.mechanism.sensitivity(
            self.objectives, duration=DURATION, method=FIRST[scheme], **options
        ).gradient_history[-1]

    def calls(self, scheme: str, options: dict[str, Any]) -> dict[str, Callable[[], Any]]:
        m, options = self.mechanism, {"duration": DURATION, **options}
        return {
            "motion": lambda: m.simulate(**options),
            "gradient": lambda: m.sensitivity(self.objectives, method=FIRST[scheme], **options),
            "product": lambda: m.problem(self.objectives, **options).hessian_product(
                self.along, method=scheme
            ),
            "Hessians": lambda: m.hessian(self.objectives, method=scheme, **options),
        }

    def build(self, options: dict[str, Any]) -> dict[str, float]:
        """Seconds of first calls; the motion is built once."""
        built = {}
        for scheme in derivatives.WAYS:
            calls = self.calls(scheme, options)
            built[f"first, {scheme}"] = timed(calls["motion"])[0] + timed(calls["gradient"])[0]
            built[f"second, {scheme}"] = timed(calls["product"])[0]
        return built

    def measure(
        self, computed: derivatives.Way, scheme: str, options: dict[str, Any]
    ) -> derivatives.Way:
        calls = self.calls(scheme, options)
        computed.milliseconds = derivatives.timings(calls)
        computed.hessians = calls["Hessians"]().curvatures.tolist()
        return computed


def measured_five_bar(exact: np.ndarray) -> list[derivatives.Engine]:
    asked = FiveBar()
    ali3p, options = derivatives.Engine("Varimech, ALI3-P", None), equal_steps(5000, "trapezoidal")
    ali3p.build_seconds = asked.build(options)
    for scheme in derivatives.WAYS:
        error = float(np.abs(asked.gradient(scheme, options) / exact - 1).max())
        ali3p.ways[scheme] = asked.measure(derivatives.Way("5,000 steps", error), scheme, options)
    results = [ali3p]
    sweeps: tuple[tuple[str, str, Any, Any], ...] = (
        ("Varimech, DOP853", "tolerance {:.1e}", to_tolerance, derivatives.TOLERANCES),
        ("Varimech, RK4", "{:,} steps", equal_steps, derivatives.LADDER),
    )
    for name, stated, how_of, settings in sweeps:
        built = asked.build(how_of(settings[0]))
        for goal in derivatives.GOALS:
            engine = derivatives.Engine(name, goal, build_seconds=built)
            for scheme in derivatives.WAYS:
                gradient = partial(asked.gradient, scheme)
                setting, error = coarsest(
                    settings,
                    lambda s, of=gradient, how_of=how_of: of(how_of(s)),  # type: ignore[misc]
                    exact,
                    goal,
                )
                engine.ways[scheme] = asked.measure(
                    derivatives.Way(stated.format(setting), error), scheme, how_of(setting)
                )
            results.append(engine)
    return results


def long_run() -> dict[str, Any]:
    """Seconds of an adjoint of a million steps, by memory, and of the motion alone."""
    asked = FiveBar()
    options: dict[str, Any] = {"duration": 100.0, "step": 100.0 / LONG, "every": LONG, **ALWAYS}

    def adjoint(memory: float) -> vm.Gradient:
        return asked.mechanism.sensitivity(
            asked.objectives, method="adjoint", memory=memory, **options
        )

    gradients: dict[float, np.ndarray] = {}

    def keep(bound: float) -> None:
        gradients[bound] = adjoint(bound).gradient_history[-1]

    calls: dict[str, Callable[[], object]] = {"motion": lambda: asked.mechanism.simulate(**options)}
    calls |= {str(bound): partial(keep, bound) for bound in MEMORY}
    seconds = {what: t / 1e3 for what, t in derivatives.timings(calls, 0.0, 1).items()}
    ample = gradients[MEMORY[-1]]
    rows = [
        {
            "megabytes": bound,
            "seconds": seconds[str(bound)],
            "difference": float(np.abs(gradients[bound] / ample - 1).max()),
        }
        for bound in MEMORY
    ]
    return {"motion": seconds["motion"], "bounds": rows}


def chain(size: int, scheme: str) -> derivatives.Chain:
    m = vm.Mechanism("chain", gravity=(0, -GRAVITY))
    m.ground_point("0", (0, 0))
    for k in range(size):
        length, mass = (
            m.parameter(f"L{k}", derivatives.CHAIN_LENGTH / size, unit="m"),
            m.parameter(f"m{k}", 1.0, unit="kg"),
        )
        m.bar(f"bar {k}", str(k), str(k + 1), length=length, mass=mass)
        m.revolute(str(k))
    m.start(angle={f"bar {k}": derivatives.CHAIN_ANGLE for k in range(size)})
    swing = vm.integral(lambda s: vm.dot(s.velocity(str(size)), s.velocity(str(size))), unit="m²/s")
    options: dict[str, Any] = {
        "duration": derivatives.CHAIN_STEP * derivatives.CHAIN_STEPS,
        "step": derivatives.CHAIN_STEP,
        "every": LAST_ONLY,
        **ALWAYS,
        **SCHEMES[scheme],
    }
    calls: dict[str, Callable[[], Any]] = {"motion": lambda: m.simulate(**options)}
    for method in ("direct", "adjoint") if size <= DIRECT_UP_TO else ("adjoint",):
        calls[method] = lambda method=method: m.sensitivity(swing, method=method, **options)  # type: ignore[misc]
    computed = derivatives.Chain(scheme, size)
    for what, call in calls.items():
        computed.build_seconds[what] = timed(call)[0]
    computed.milliseconds = derivatives.timings(calls)
    gradient = calls["adjoint"]().gradient_history[-1, 0]  # L0, m0, L1, …
    computed.gradient = [*gradient[::2], *gradient[1::2]]
    return computed


def main() -> None:
    exact = np.array(json.load(sys.stdin)["gradient"])
    report = {
        "engines": [asdict(engine) for engine in measured_five_bar(exact)],
        "chains": [
            asdict(chain(size, scheme)) for size in derivatives.CHAIN_SIZES for scheme in SCHEMES
        ],
        "memory": long_run(),
        "versions": {"varimech": vm.__version__},
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
