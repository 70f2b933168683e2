"""A bouncing ball: dropped from h = 0.9 m with restitution e = 0.9, g = 9.81 m/s².

Parameters of the Siconos tutorials. The first fall takes t₁ = √(2h/g), the flight after the n-th
impact 2 eⁿ t₁; the n-th impact is at

    t₁ (1 + 2 (e + … + eⁿ⁻¹)),

and infinitely many impacts accumulate at t₁ (1 + e)/(1 − e) = 8.1387 s. After that the ball rests on
the floor.

Checked: the height at 2 s, after three impacts, with its derivatives with respect to h and e; and a
run of 10 s, past the accumulation: the ball ends at rest on the floor, where all derivatives vanish;
the times of all impacts; and ∫ y dt,

    g t₁³ (1/3 + 2/3 e³/(1 − e³)),

with its derivatives. All references are these closed forms.
"""

from __future__ import annotations

import math

import numpy as np

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-11}
DURATION, LONG = 2.0, 10.0
"""Durations of both runs (s)."""
HEIGHT, RESTITUTION, G = 0.9, 0.9, 9.81
FALL = math.sqrt(2 * HEIGHT / G)
"""Duration of the first fall (s)."""


def mechanism() -> vm.Mechanism:
    """The ball on a vertical guide; height h and restitution e are parameters."""
    m = vm.Mechanism("bouncing ball", gravity=(0, -G))
    h = m.parameter("h", HEIGHT, unit="m")
    e = m.parameter("e", RESTITUTION)
    m.ground_point("O", (0, 0))
    m.body("ball", mass=1.0, inertia=0.004, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "ball.P", axis=(0, 1))
    m.stop("floor", 'displacement("guide")', lower=0.0, restitution=e)
    m.start(displacement={"guide": h})
    return m


def objectives() -> dict[str, vm.Objective]:
    """Final height and velocity, and the integral of the height."""
    return {
        "height": vm.final('displacement("guide")', unit="m"),
        "velocity": vm.final('displacement_rate("guide")', unit="m/s"),
        "∫y dt": vm.integral('displacement("guide")', unit="m·s"),
    }


def flight(duration: float) -> tuple[float, dict[str, float]]:
    """Height (m) at a time during the flights, and its derivatives with respect to h and e."""
    e, impacts, last = RESTITUTION, 1, FALL
    while last + 2 * e**impacts * FALL < duration:
        last += 2 * e**impacts * FALL
        impacts += 1
    v, τ = e**impacts * G * FALL, duration - last
    # √h is a factor of v and of the time of the last impact
    dv = {"h": v / (2 * HEIGHT), "e": impacts * v / e}
    dτ = {
        "h": -last / (2 * HEIGHT),
        "e": -2 * FALL * sum(k * e ** (k - 1) for k in range(1, impacts)),
    }
    return v * τ - G * τ**2 / 2, {p: τ * dv[p] + (v - G * τ) * dτ[p] for p in dv}


def rest() -> dict[str, tuple[float, dict[str, float]]]:
    """Objective → value after the accumulation, and its derivatives with respect to h and e."""
    cube = RESTITUTION**3
    size = G * FALL**3
    area = size * (1 / 3 + 2 / 3 * cube / (1 - cube))
    derivatives = {
        "h": 1.5 * area / HEIGHT,
        "e": size * 2 * RESTITUTION**2 / (1 - cube) ** 2,
    }
    at_rest = {"h": 0.0, "e": 0.0}
    return {"height": (0.0, at_rest), "velocity": (0.0, at_rest), "∫y dt": (area, derivatives)}


def impact_times(count: int) -> np.ndarray:
    """Times of the first impacts (s)."""
    flights = 2 * FALL * RESTITUTION ** np.arange(1, count)
    return np.asarray(FALL + np.concatenate([[0.0], np.cumsum(flights)]))


def accumulation() -> float:
    """Time at which the impacts accumulate (s)."""
    return FALL * (1 + RESTITUTION) / (1 - RESTITUTION)


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities: 2 s, and 10 s."""
    stored = o.stored_at(settings, 0.01)
    m = mechanism()
    short, long = (
        o.both_methods(m, objectives(), ["h", "e"], duration, stored)
        for duration in (DURATION, LONG)
    )
    checks = o.check_both_methods(short, {"height": flight(DURATION)}, which=" at 2 s")
    checks += o.check_both_methods(long, rest(), which=" over 10 s")
    motion = long["direct"].run
    impacts = motion.events["floor"]
    off = float(np.abs(impacts.times - impact_times(len(impacts))).max())
    checks.append(o.Check("largest error of the times of impacts (s)", off, 0.0, 1e-9))
    # impacts of flights below the resolution of positions are missing: their times form a geometric
    # series
    rest_of_flights = 2 * RESTITUTION * -impacts[-1].before / (G * (1 - RESTITUTION))
    computed, expected = impacts[-1].time + rest_of_flights, accumulation()
    checks.append(o.Check("time of accumulation (s)", computed, expected, 1e-9 * expected))
    runs = tuple(s.run for solved in (long, short) for s in solved.values())
    return o.Checked("bouncing-ball", runs, tuple(checks), lambda: figures(motion))


def figures(run: vm.Run) -> o.Figures:
    """Height and velocity over time."""
    t = run.time
    panels = [
        vm.Panel("height (m)", [vm.Line("", t, run.displacement("guide").to_numpy())]),
        vm.Panel("velocity (m/s)", [vm.Line("", t, run.displacement_rate("guide").to_numpy())]),
    ]
    return {"motion": vm.line_figure(panels, title="Bouncing ball")}
