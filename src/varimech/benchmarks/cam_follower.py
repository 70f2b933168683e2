"""Eccentric cam with a flat follower that only its weight holds: the speed at which it lifts off.

A circular cam of radius R with eccentricity e turns at ω under a follower of mass m. The lift is
R + e sin φ, and the contact force m (g − e ω² sin φ): at the top of the stroke it vanishes at

    ω = √(g/e) = 31.3209 rad/s for e = 10 mm,     dω/de = −ω/2e.

Checked: the root of the contact force at the top, of a cam that is closed by form, and its derivative by
direct differentiation and by the adjoint; and, closed by force, that the follower stays on the cam 0.1 %
below that speed, and leaves it above at  sin φ = g / (e ω²).
"""

from __future__ import annotations

import math

import numpy as np

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-11}
ECCENTRICITY, RADIUS, MASS, GRAVITY = 0.01, 0.03, 0.5, 9.81
"""e (m), R (m), m (kg), g (m/s²)."""
DURATION = 0.05
"""Duration of a run to the top (s)."""
FAST = 35.0
"""Speed at which the follower lifts off (rad/s)."""


def mechanism(
    speed: float = 30.0, *, closure: str = "form", first: str = "pi/2 - w*T"
) -> vm.Mechanism:
    """Cam and follower; the eccentricity e and the speed w are parameters.

    Args:
        speed: ω (rad/s).
        closure: "form" or "force", which keeps the follower on the cam.
        first: angle of the cam at t = 0 (rad); with the default, the run ends at the top.
    """
    m = vm.Mechanism("cam follower", gravity=(0, -GRAVITY))
    m.parameter("e", ECCENTRICITY, unit="m")
    m.parameter("w", speed, unit="rad/s")
    m.ground_point("O", (0, 0))
    m.ground_point("G", (0, RADIUS))
    m.body("shaft", mass=1.0, inertia=1e-3, points={"O": (0, 0)})
    m.body("follower", mass=MASS, inertia=1e-4, points={"F": (0, 0)})
    m.revolute("O")
    m.prismatic("guide", "ground.G", "follower.F", axis=(0, 1))
    profile = f"e*cos(u) + sqrt({RADIUS}**2 - (e*sin(u))**2)"
    m.cam("cam", "shaft.O", "follower.F", profile=profile, face=(0, -1), closure=closure)
    first = first.replace("T", str(DURATION))
    m.drive_angle("motor", "O", f"w*t + {first}")
    if closure == "force":
        m.start(displacement={"guide": f"e*sin({first})"}, speed={"guide": f"e*w*cos({first})"})
    return m


def objectives() -> dict[str, vm.Objective]:
    """The contact force at the top."""
    return {"N": vm.final('effort("cam")', unit="N")}


def _lift_off(m: vm.Mechanism, settings: o.Settings, method: str) -> tuple[float, float]:
    """ω at which the force at the top vanishes, and dω/de, by Newton's method."""
    speed, derivative = 30.0, math.nan
    for _ in range(6):
        values = {**(settings.get("parameters") or {}), "w": speed}
        options = {k: v for k, v in settings.items() if k != "parameters"}
        g = m.sensitivity(
            objectives(), ["e", "w"], duration=DURATION, method=method, parameters=values, **options
        )
        N_e, N_w = (float(x) for x in g.gradient.to_numpy().ravel())
        derivative = -N_e / N_w
        speed -= float(g.values.item()) / N_w
    return speed, derivative


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities."""
    m, ω = mechanism(), math.sqrt(GRAVITY / ECCENTRICITY)
    checks = []
    for method in ("direct", "adjoint"):
        speed, derivative = _lift_off(m, settings, method)
        checks.append(o.Check(f"lift-off speed, {method} (rad/s)", speed, ω, 1e-9 * ω))
        expected = -ω / (2 * ECCENTRICITY)
        checks.append(
            o.Check(f"dω/de, {method} (rad/(s·m))", derivative, expected, 1e-8 * abs(expected))
        )
    slow = mechanism(0.999 * ω, closure="force", first="0.0")
    checks.append(
        o.Check(
            "events at 0.1 % below the lift-off speed",
            float(len(_times(slow, settings, 0.4))),
            0.0,
            1e-3,
        )
    )
    free = mechanism(FAST, closure="force", first="0.0")
    release = math.asin(GRAVITY / (ECCENTRICITY * FAST**2)) / FAST
    times = _times(free, settings, 0.1)
    checks.append(o.Check("time of release at 35 rad/s (s)", times[0], release, 1e-8))
    motion = free.simulate(0.4, **o.stored_at(settings, 1e-3))
    return o.Checked("cam-follower", (motion,), tuple(checks), lambda: figures(motion))


def _times(m: vm.Mechanism, settings: o.Settings, duration: float) -> list[float]:
    """Times of all events of a run."""
    return [float(event.time) for event in m.simulate(duration, **settings).events]


def figures(run: vm.Run) -> o.Figures:
    """Displacement of the follower and of the top of the cam over time, at 35 rad/s."""
    follower = 1e3 * run.displacement("guide").to_numpy()
    top = 1e3 * ECCENTRICITY * np.sin(FAST * run.time)
    lines = [vm.Line("follower", run.time, follower), vm.Line("top of the cam", run.time, top)]
    panel = vm.Panel("displacement (mm)", lines)
    return {"motion": vm.line_figure([panel], title="Eccentric cam: the follower lifts off")}
