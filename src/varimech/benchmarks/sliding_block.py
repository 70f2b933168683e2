"""A block on an incline with dry friction: it sticks for tan a ≤ μ, and slides otherwise.

The block, 0.2 m × 0.1 m and 2 kg, touches the incline with two corners, without restitution, and is
initially at rest; friction μ = 0.4, g = 9.81 m/s², T = 1 s. For an angle a = 0.6 rad (tan a = 0.684) it
slides with the acceleration g (sin a − μ cos a), and covers

    d = g (sin a − μ cos a) T²/2,     ∂d/∂a = g (cos a + μ sin a) T²/2,     ∂d/∂μ = −g (cos a) T²/2.

For a = 0.3 rad (tan a = 0.309) it sticks: displacement and derivatives are zero.

Checked: displacement and velocity along the incline, each with derivatives with respect to a and μ, by
the direct method and by the adjoint. All references are these closed forms.
"""

from __future__ import annotations

import math

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-11}
DURATION, G = 1.0, 9.81
SLIDING, STICKING = 0.6, 0.3
"""Angles of the incline (rad)."""
FRICTION = 0.4


def mechanism(angle: float = SLIDING) -> vm.Mechanism:
    """The block; the angle a of the incline and the friction coefficient mu are parameters.

    Args:
        angle: a (rad).
    """
    m = vm.Mechanism("block on an incline", gravity=(0, -G))
    a = m.parameter("a", angle, unit="rad")
    mu = m.parameter("mu", FRICTION)
    m.ground_point("O", (0, 0))
    m.body(
        "block",
        mass=2.0,
        inertia=2.0 * (0.2**2 + 0.1**2) / 12,
        points={"A": (-0.1, -0.05), "B": (0.1, -0.05), "C": (0.1, 0.05), "D": (-0.1, 0.05)},
        spine=("A", "B", "C", "D", "A"),
        floating=True,
    )
    m.contact(
        "incline",
        "block.A",
        "ground.O",
        also=["block.B"],
        normal=(-vm.sin(a), vm.cos(a)),
        friction=mu,
    )
    m.start(position={"block.A": (0.0, 0.0)}, angle={"block": a}, speed={"block": 0.0})
    return m


def objectives() -> dict[str, vm.Objective]:
    """Displacement and velocity down the incline at the end."""
    outputs = {"displacement": ("position", "m"), "velocity": ("velocity", "m/s")}
    return {
        name: vm.final(f'-cos(a)*{f}("block.A")[0] - sin(a)*{f}("block.A")[1]', unit=unit)
        for name, (f, unit) in outputs.items()
    }


def references(angle: float) -> dict[str, tuple[float, dict[str, float]]]:
    """Objective → value, and derivatives with respect to a and mu."""
    if math.tan(angle) <= FRICTION:
        zero = {"a": 0.0, "mu": 0.0}
        return {"displacement": (0.0, zero), "velocity": (0.0, zero)}
    sine, cosine = math.sin(angle), math.cos(angle)
    acceleration = G * (sine - FRICTION * cosine)
    derivatives = {"a": G * (cosine + FRICTION * sine), "mu": -G * cosine}
    return {
        name: (factor * acceleration, {p: factor * d for p, d in derivatives.items()})
        for name, factor in (("displacement", DURATION**2 / 2), ("velocity", DURATION))
    }


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities, for both angles."""
    stored = o.stored_at(settings, 0.01)
    solved = {
        angle: o.both_methods(mechanism(angle), objectives(), ["a", "mu"], DURATION, stored)
        for angle in (SLIDING, STICKING)
    }
    checks = [
        c
        for angle, solutions in solved.items()
        for c in o.check_both_methods(solutions, references(angle), which=f" for a = {angle:g}")
    ]
    runs = tuple(s.run for solutions in solved.values() for s in solutions.values())
    return o.Checked(
        "sliding-block",
        runs,
        tuple(checks),
        lambda: figures({angle: s["direct"].run for angle, s in solved.items()}),
    )


def figures(runs: dict[float, vm.Run]) -> o.Figures:
    """Displacements and velocities over time, and the sliding block."""
    panels = []
    for label, output in (("displacement (m)", "position"), ("velocity (m/s)", "velocity")):
        lines = []
        for angle, r in runs.items():
            x = getattr(r, output)("block.A").to_numpy()
            along = -x @ (math.cos(angle), math.sin(angle))
            lines.append(vm.Line(f"a = {angle:g} rad", r.time, along))
        panels.append(vm.Panel(label, lines))
    drawing = runs[SLIDING].draw(
        times=(0.0, 0.4, 0.6), trace="block.A", title="Sliding block, initially and later"
    )
    return {
        "motion": vm.line_figure(panels, title="Block on an incline"),
        "mechanism": drawing,
    }
