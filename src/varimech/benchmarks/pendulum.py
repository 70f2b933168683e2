"""A simple pendulum: a point mass of 1 kg on a massless bar of 1 m, released from the horizontal.

IFToMM Library of Computational Benchmark Problems, A01. 10 s, g = 9.81 m/s². Checked: the mass at 1
and 5 s, computed independently (DOP853/Radau at tolerances 1e-11 to 1e-13); the time of the fourth
passage of the bottom, 7/4 of the exact period 4 √(L/g) K(sin² 45°); and the energy.

OpenSim 3.2 needed 0.637 s for it (Intel i5-4570).
"""

from __future__ import annotations

import math

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-10}
DURATION, G = 10.0, 9.81
PLACES = {1.0: (0.986291751132, -0.165010853126), 5.0: (-0.942305435044, -0.334754338414)}
"""The mass (m) at two times (s)."""


def mechanism() -> vm.Mechanism:
    """The pendulum; its length L is a parameter."""
    return o.read_model("pendulum")


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark."""
    motion = mechanism().simulate(DURATION, **settings)
    checks = [
        c for t, place in PLACES.items() for c in o.check_point(motion, "mass", t, place, 1e-9)
    ]
    name = "time of the fourth passage through the bottom (s)"
    checks.append(o.Check(name, passage(motion, 4), 1.75 * period(), 1e-8))
    checks.append(o.check_energy(motion, 1e-9))
    return o.Checked("pendulum", (motion,), tuple(checks), lambda: figures(motion))


def period() -> float:
    """4 √(L/g) K(sin²(θ₀/2)) with θ₀ = 90° from the vertical (s)."""
    from scipy.special import ellipk

    return 4 * math.sqrt(1 / G) * float(ellipk(0.5))


def passage(run: vm.Run, count: int) -> float:
    """Time at which the mass passes x = 0 for the count-th time (s), by cubic Hermite
    interpolation.
    """
    from scipy.interpolate import CubicHermiteSpline

    x, v = (a.sel(component="x").to_numpy() for a in (run.position("mass"), run.velocity("mass")))
    return float(CubicHermiteSpline(run.time, x, v).roots(extrapolate=False)[count - 1])


def figures(run: vm.Run) -> o.Figures:
    """The motion with its energies, and the pendulum."""
    t = run.time
    place = run.position("mass")
    panels = [
        vm.Panel(
            "mass (m)", [vm.Line(c, t, place.sel(component=c).to_numpy()) for c in ("x", "y")]
        ),
        o.energy_panel(run),
    ]
    return {
        "motion": vm.line_figure(panels, title="Simple pendulum"),
        "mechanism": run.draw(
            times=(0.8, 0.6, 0.4, 0.2, 0.0),
            trace="mass",
            title="Pendulum initially and within its first second",
        ),
    }
