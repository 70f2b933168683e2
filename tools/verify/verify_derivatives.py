"""Acceptance figures of adjoints, second derivatives and optimal design: agreement, cost and
memory.
"""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from acceptance import Figure

import varimech as vm
from varimech.backends.tape import Tape
from varimech.benchmarks import five_bar, pendulum

LINKS = 50
REPEATED = 7


def chain_of_parameters() -> vm.Mechanism:
    """A hanging chain whose every length and mass is a parameter."""
    m = vm.Mechanism("chain", gravity=(0, -9.81))
    m.ground_point("0", (0, 0))
    for k in range(LINKS):
        length, mass = (
            m.parameter(f"L{k}", 10 / LINKS, unit="m"),
            m.parameter(f"m{k}", 1.0, unit="kg"),
        )
        m.bar(f"bar {k}", str(k), str(k + 1), length=length, mass=mass)
        m.revolute(str(k))
    m.start(angle={f"bar {k}": -1.0 for k in range(LINKS)})
    return m


def _fastest(run: Callable[[], dict[str, float]]) -> float:
    run()
    return min(run()["run"] for _ in range(REPEATED))


def _times(
    m: vm.Mechanism, duration: float, objectives: Any, method: str, options: dict[str, Any]
) -> tuple[float, float]:
    """Of the motion alone, and with derivatives."""
    settings: dict[str, Any] = {"step": 1e-3, "every": 10**6, "backend": "native", **options}
    alone = _fastest(lambda: m.simulate(duration, **settings).info["seconds"])
    return alone, _fastest(
        lambda: m.sensitivity(objectives, duration=duration, method=method, **settings).seconds
    )


def adjoints_cost() -> Iterator[Figure]:
    """Cost of adjoint and direct derivatives, relative to the motion alone."""
    m = chain_of_parameters()
    swing = vm.integral(
        lambda s: vm.dot(s.velocity(str(LINKS)), s.velocity(str(LINKS))), unit="m²/s"
    )
    for title, scheme in (("ALI3-P", {}), ("RK4", {"integrator": "rk4"})):
        alone, adjoint = _times(m, 1.0, swing, "adjoint", scheme)
        what = f"adjoint, {2 * LINKS} parameters: chain of {LINKS} bars, {title}"
        yield Figure(what, adjoint / alone, 5, shown="{:.2f}")
    alone, direct = _times(five_bar.mechanism(), 5.0, five_bar.objectives(), "direct", {})
    yield Figure(
        "direct, 5 parameters: five-bar, ALI3-P",
        direct / alone,
        2.5,
        shown="{:.2f}",
    )
    alone, adjoint = _times(five_bar.mechanism(), 5.0, five_bar.objectives(), "adjoint", {})
    yield Figure(
        "adjoint, 3 objectives: five-bar, ALI3-P",
        adjoint / alone,
        5,
        shown="{:.2f}",
    )


def adjoints_memory() -> Iterator[Figure]:
    """Adjoint method: a million steps within a memory limit."""
    m, steps, bound = five_bar.mechanism(), 10**6, 1.0
    largest = 0
    advance = Tape._advance

    def watched(self: Tape, last: int) -> None:
        nonlocal largest
        advance(self, last)
        largest = max(largest, self.taken)

    options: dict[str, Any] = {
        "duration": 100.0,
        "step": 100.0 / steps,
        "every": steps,
        "method": "adjoint",
        "backend": "native",
    }
    ample = m.sensitivity(five_bar.objectives(), **options, memory=1000.0).gradient_history[-1]
    Tape._advance = watched  # type: ignore[method-assign]
    tracemalloc.start()
    try:
        little = m.sensitivity(five_bar.objectives(), **options, memory=bound).gradient_history[-1]
        peak = tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
        Tape._advance = advance  # type: ignore[method-assign]
    yield Figure(
        "records of 10⁶ steps with memory = 1 MB (MB)",
        largest / 1e6,
        bound,
        shown="{:.2f}",
    )
    yield Figure(
        "peak of all arrays in the same run (MB); an array of 10⁶ times takes 8 MB",
        peak,
        30,
        shown="{:.1f}",
    )
    yield Figure(
        "gradient of the same run against that with ample memory, largest relative difference",
        float(np.abs(little / ample - 1).max()),
        1e-10,
    )


def second_derivatives() -> Iterator[Figure]:
    """Hessians: symmetry, finite differences of gradients, and both methods against each other."""
    m, objectives = five_bar.mechanism(), five_bar.objectives()
    forward, backward = (
        m.hessian(objectives, duration=5.0, step=1e-3, method=scheme)
        for scheme in ("forward", "backward")
    )
    size = np.abs(forward.curvatures).max(axis=(1, 2))[:, None, None]
    yield Figure(
        "asymmetry of the Hessians of the five-bar, forward over forward", forward.asymmetry, 1e-9
    )
    yield Figure(
        "asymmetry of the Hessians of the five-bar, backward over forward", backward.asymmetry, 1e-9
    )
    yield Figure(
        "forward over forward against backward over forward, largest relative difference",
        float((np.abs(forward.curvatures - backward.curvatures) / size).max()),
        1e-9,
    )
    differences = []
    for name, value in forward.run.info["parameters"].items():
        δ = 1e-5 * value
        high, low = (
            m.sensitivity(
                objectives, duration=5.0, step=1e-3, parameters={name: value + sign * δ}
            ).gradient_history[-1]
            for sign in (1, -1)
        )
        differences.append((high - low) / (2 * δ))
    off = float((np.abs(forward.curvatures - np.stack(differences, axis=1)) / size).max())
    yield Figure(
        "Hessians of the five-bar against finite differences of exact gradients, largest relative difference",
        off,
        1e-6,
    )
    yield Figure(
        "Hessian of the pendulum's angle against its closed form, relative difference",
        pendulum_hessian(),
        1e-9,
    )


def pendulum_hessian(time: float = 3.0) -> float:
    """Relative error of d²θ/dL² at a time. L enters through τ = t √(g/L) alone, θ̈ = −sin θ in τ,
    and sin θ/2 = k sn(K − τ) from θ₀ = 90°.
    """
    from scipy.special import ellipj, ellipk

    m = pendulum.mechanism()
    computed = m.hessian(
        vm.final(lambda s: s.angle("bar"), unit="rad"), duration=time, tolerance=1e-12
    ).hessian.item()
    τ = time * math.sqrt(pendulum.G)
    sn, cn, dn, _ = ellipj(float(ellipk(0.5)) - τ, 0.5)
    k = math.sqrt(0.5)
    θ = 2 * math.asin(k * sn)
    rate = -2 * k * cn * dn / math.cos(θ / 2)
    # the bar starts on the other side: angles and their derivatives have the opposite sign
    exact = -(-math.sin(θ) * (τ / 2) ** 2 + rate * 3 * τ / 4)
    return abs(computed / exact - 1)


STILL = {"Ls1": 2.4319235744576, "Ls2": 1.8448688868054}
"""Natural lengths (m) for which the five-bar is in equilibrium at its start."""
STARTS: tuple[dict[str, float], ...] = ({}, {"Ls1": 2.0, "Ls2": 2.2}, {"Ls1": 2.6, "Ls2": 1.6})


def optimum_of_the_five_bar() -> Iterator[Figure]:
    """Optimal design of the five-bar at rest, from three starts."""
    m, objective = five_bar.mechanism(), five_bar.objectives()["psi1"]
    for hessian in ("approximate", "exact"):
        results = [
            m.optimize(
                objective, list(STILL), duration=5.0, start=s, hessian=hessian, backend="native"
            )
            for s in STARTS
        ]
        error = max(
            abs(o.parameters[name] - value) for o in results for name, value in STILL.items()
        )
        yield Figure(
            f"{hessian} Hessians, three starts: largest error of Ls1 and Ls2 (m)",
            error,
            1e-8,
        )
        yield Figure(
            f"{hessian} Hessians: largest number of iterations",
            max(o.iterations for o in results),
            30,
            shown="{:.0f}",
        )
        yield Figure(
            f"{hessian} Hessians: time for the last start (s)",
            results[-1].seconds,
            1.0,
            shown="{:.2f}",
        )
    certificate = m.sensitivity(five_bar.objectives(), duration=5.0).certify()
    digits = certificate.digits.to_numpy()
    yield Figure(
        "certified digits of the five-bar's gradient, tolerance 1e-8",
        float(np.nanmin(digits)),
        8.0,
        at_least=True,
        shown="{:.1f}",
    )
