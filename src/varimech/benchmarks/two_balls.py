"""Two equal balls on a line: one hits the other, which is at rest; a perfectly elastic impact.

Radius r = 0.1 m, masses 1 kg, centres at x₁ = 0 and x₂ = 0.52 m with v₁ = 1 m/s and v₂ = 0,
restitution e = 1, T = 1 s. They touch at t = (x₂ − x₁ − 2r)/(v₁ − v₂) = 0.32 s and exchange their
velocities, so that at the end

    ball 1 is at x₂ + v₂ T − 2r = 0.32 m,     ball 2 is at x₁ + v₁ T + 2r = 1.2 m.

For another restitution, the relative velocity after the impact is e (v₁ − v₂): the final positions
have the derivatives ∓ (v₁ − v₂)(T − t)/2 with respect to e.

This is the problem of issue 97 of the differentiable engine nimblephysics, which reports the
derivatives (0.75, 0.25, 0.91, 0.08) of the second position with respect to (x₁, x₂, v₁, v₂); exact
are (1, 0, 1, 0). Checked: time and impulse of the impact, both positions, and their derivatives by
the direct method and by the adjoint.
"""

from __future__ import annotations

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-11}
DURATION, RADIUS = 1.0, 0.1
START = {"x1": 0.0, "x2": 0.52, "v1": 1.0, "v2": 0.0}
"""Positions (m) and velocities (m/s)."""
RESTITUTION = 1.0


def mechanism() -> vm.Mechanism:
    """The balls on two guides along one line; their initial positions x1, x2 and velocities v1, v2,
    and the restitution e are parameters.
    """
    m = vm.Mechanism("two balls", dimension=2)
    initial = {
        name: m.parameter(name, value, unit="m" if name[0] == "x" else "m/s")
        for name, value in START.items()
    }
    e = m.parameter("e", RESTITUTION)
    m.ground_point("O", (0, 0))
    for k in (1, 2):
        m.body(f"ball {k}", mass=1.0, inertia=0.004, points={"C": (0, 0)})
        m.prismatic(f"guide {k}", "ground.O", f"ball {k}.C", axis=(1, 0))
    m.contact("impact", "ball 1.C", "ball 2.C", radius=RADIUS, second_radius=RADIUS, restitution=e)
    m.start(
        displacement={f"guide {k}": initial[f"x{k}"] for k in (1, 2)},
        speed={f"guide {k}": initial[f"v{k}"] for k in (1, 2)},
    )
    return m


def objectives() -> dict[str, vm.Objective]:
    """Final positions of both balls."""
    return {f"x of ball {k}": vm.final(f'displacement("guide {k}")', unit="m") for k in (1, 2)}


def references() -> dict[str, tuple[float, dict[str, float]]]:
    """Objective → value (m), and derivatives with respect to the parameters."""
    x1, x2, v1, v2 = START.values()
    later = (v1 - v2) * (DURATION - impact_time()) / 2
    return {
        "x of ball 1": (
            x2 + v2 * DURATION - 2 * RADIUS,
            {"x1": 0.0, "x2": 1.0, "v1": 0.0, "v2": DURATION, "e": -later},
        ),
        "x of ball 2": (
            x1 + v1 * DURATION + 2 * RADIUS,
            {"x1": 1.0, "x2": 0.0, "v1": DURATION, "v2": 0.0, "e": later},
        ),
    }


def impact_time() -> float:
    """Time at which the balls touch (s)."""
    x1, x2, v1, v2 = START.values()
    return (x2 - x1 - 2 * RADIUS) / (v1 - v2)


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities."""
    solutions = o.both_methods(
        mechanism(), objectives(), [*START, "e"], DURATION, o.stored_at(settings, 0.01)
    )
    motion = solutions["direct"].run
    impacts = motion.events["impact"]
    checks = [
        o.Check("number of impacts", len(impacts), 1.0, 1e-9),
        o.Check("time of the impact (s)", impacts[0].time, impact_time(), 1e-9 * impact_time()),
        # masses of 1 kg: (1 + e)/2 times the relative velocity
        o.Check("impulse of the impact (N·s)", impacts[0].impulse, 1.0, 1e-9),
        *o.check_both_methods(solutions, references()),
    ]
    return o.Checked(
        "two-balls",
        tuple(s.run for s in solutions.values()),
        tuple(checks),
        lambda: figures(motion),
    )


def figures(run: vm.Run) -> o.Figures:
    """Positions and velocities over time."""
    t = run.time
    panels = [
        vm.Panel(label, [vm.Line(f"ball {k}", t, f(f"guide {k}").to_numpy()) for k in (1, 2)])
        for label, f in (
            ("position (m)", run.displacement),
            ("velocity (m/s)", run.displacement_rate),
        )
    ]
    return {"motion": vm.line_figure(panels, title="Two equal balls")}
