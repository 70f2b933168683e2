"""An oscillator with Coulomb friction: m = 1 kg, k = 1 N/m, friction force F = 1 N, static and
sliding; initially x₀ = 12 m, v₀ = 6 m/s; T = 30 s.

While it slides, it oscillates about ∓ F/k, the sign that of its velocity. With

    R = √((x₀ + F)² + v₀²) = √205 m,     φ = atan(v₀/(x₀ + F)),

it reverses its motion at φ + nπ, n = 0, 1, …, where x = (−1)ⁿ (R − (2n + 1) F). It sticks for good at
the first of these with |x| ≤ F: n = 7, x = 15 F − R, t = φ + 7π. At the times before, it slides on.
The integral of x is

    v₀ − F φ + F π + x (T − φ − 7π)

with the final x. Checked: the final position and this integral, each with derivatives with respect
to x₀, v₀ and F, and the times of the reversals. All references are these closed forms.
"""

from __future__ import annotations

import math

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-12}
DURATION = 30.0
START = {"x0": 12.0, "v0": 6.0}
"""Initial position (m) and velocity (m/s)."""
FRICTION = 1.0
"""Friction force (N)."""
REVERSALS = 7
"""Number of reversals after which sliding continues."""


def mechanism() -> vm.Mechanism:
    """The oscillator; its initial position x0 and velocity v0 and the friction force F are
    parameters.
    """
    m = vm.Mechanism("friction oscillator", dimension=2)
    x0 = m.parameter("x0", START["x0"], unit="m")
    v0 = m.parameter("v0", START["v0"], unit="m/s")
    F = m.parameter("F", FRICTION, unit="N")
    m.ground_point("O", (0, 0))
    m.body("block", mass=1.0, inertia=0.01, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "block.P", axis=(1, 0))
    m.force("spring", "block.P", ('-displacement("guide")', 0))
    m.dry_friction("friction", 'displacement_rate("guide")', sliding=F)
    m.start(displacement={"guide": x0}, speed={"guide": v0})
    return m


def objectives() -> dict[str, vm.Objective]:
    """Final position, and the integral of the position."""
    return {
        "final x": vm.final('displacement("guide")', unit="m"),
        "∫x dt": vm.integral('displacement("guide")', unit="m·s"),
    }


def references() -> dict[str, tuple[float, dict[str, float]]]:
    """Objective → value, and derivatives with respect to x0, v0 and F."""
    v0, F, a = START["v0"], FRICTION, START["x0"] + FRICTION
    R, φ = math.hypot(a, v0), math.atan2(v0, a)
    x = (2 * REVERSALS + 1) * F - R
    dx = {"x0": -a / R, "v0": -v0 / R, "F": 2 * REVERSALS + 1 - a / R}
    dφ = {"x0": -v0 / R**2, "v0": a / R**2, "F": -v0 / R**2}
    remaining_time = DURATION - φ - REVERSALS * math.pi
    explicit = {"x0": 0.0, "v0": 1.0, "F": math.pi - φ}
    area = v0 + F * (math.pi - φ) + x * remaining_time
    derivatives = {p: explicit[p] + dx[p] * remaining_time - (F + x) * dφ[p] for p in dx}
    return {"final x": (x, dx), "∫x dt": (area, derivatives)}


def reversal_times() -> list[float]:
    """Times at which the velocity vanishes (s); the last one ends the motion."""
    φ = math.atan2(START["v0"], START["x0"] + FRICTION)
    return [φ + n * math.pi for n in range(REVERSALS + 1)]


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities."""
    solutions = o.both_methods(
        mechanism(), objectives(), ["x0", "v0", "F"], DURATION, o.stored_at(settings, 0.05)
    )
    motion = solutions["direct"].run
    events, expected = motion.events["friction"], reversal_times()
    sticks = [e.time for e in events if e.what == "stick"]
    first = o.Check("time of the first reversal (s)", events[0].time, expected[0], 1e-9)
    last = o.Check("time of final sticking (s)", sticks[-1], expected[-1], 1e-9 * expected[-1])
    checks = [first, last, *o.check_both_methods(solutions, references())]
    return o.Checked(
        "friction-oscillator",
        tuple(s.run for s in solutions.values()),
        tuple(checks),
        lambda: figures(motion),
    )


def figures(run: vm.Run) -> o.Figures:
    """Position and velocity over time."""
    t = run.time
    panels = [
        vm.Panel("position (m)", [vm.Line("", t, run.displacement("guide").to_numpy())]),
        vm.Panel("velocity (m/s)", [vm.Line("", t, run.displacement_rate("guide").to_numpy())]),
    ]
    return {"motion": vm.line_figure(panels, title="Oscillator with dry friction")}
