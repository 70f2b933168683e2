"""A disc and a hoop that roll upright without slip: they are stable for v² > g r/3 and v² > g r/4.

Radius r = 0.3 m, 2 kg, g = 9.81 m/s². A wheel that rolls upright at speed v gets a small lean rate ε =
3e-6 rad/s. To first order in ε its lean θ obeys, with inertias A m r² across and C m r² about the axis,

    (A + 1) θ̈ + (C (C + 1)/A (v/r)² − g/r) θ = 0,     θ(T) = ε sin(ω T)/ω,
    ω² = (C (C + 1)/A (v/r)² − g/r) / (A + 1)

(disc: A = 1/4, C = 1/2; hoop: A = 1/2, C = 1; a wheel with a width: 0.35 and 0.6), so ω² vanishes at v² = g r/3 and g r/4. Below, θ grows as
sinh. Checked are θ(T)/ε at T = 0.5 s, 10 % below and above the critical speed, and its derivatives with
respect to v and r by the direct method and by the adjoint, to 1e-9: terms of order ε² are some 1e-11, and
rounding of a lean of 1e-6 is 1e-10. Energy is conserved.

J. I. Neimark and N. A. Fufaev, Dynamics of Nonholonomic Systems, AMS 1972.
"""

from __future__ import annotations

import cmath
import math

import numpy as np

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-12}
DURATION, G, RADIUS, MASS, LEAN_RATE = 0.5, 9.81, 0.3, 2.0, 3e-6
INERTIAS = {"wheel": (0.35, 0.6), "disc": (0.25, 0.5), "hoop": (0.5, 1.0)}
"""A and C, relative to m r². The disc and the hoop are thin: in natural coordinates they have no
mass across their plane, which costs digits of accelerations; the wheel has a width.
"""
SHARES = (0.9, 1.1)
"""Speeds relative to the critical one."""


def critical_speed(kind: str) -> float:
    """Speed (m/s) above which a wheel is stable: v² = g r A / (C (C + 1))."""
    A, C = INERTIAS[kind]
    return math.sqrt(G * RADIUS * A / (C * (C + 1)))


def mechanism(
    kind: str = "wheel", share: float = SHARES[0], lean_rate: float = 1.0
) -> vm.Mechanism:
    """The wheel; its speed v, its radius r and its initial lean rate w are parameters.

    Args:
        kind: "wheel", "disc" or "hoop".
        share: speed over the critical one.
        lean_rate: w (rad/s); by default one that makes the wheel tumble visibly.
    """
    m = vm.Mechanism(f"rolling {kind}", gravity=(0, 0, -G))
    v = m.parameter("v", share * critical_speed(kind), unit="m/s")
    r = m.parameter("r", RADIUS, unit="m")
    w = m.parameter("w", lean_rate, unit="rad/s")
    A, C = (MASS * x for x in INERTIAS[kind])
    m.ground_point("O", (0, 0, 0))
    m.body(
        "wheel",
        mass=MASS,
        inertia=(A * r**2, C * r**2, A * r**2),
        points={"C": (0, 0, 0), "Q": (0, 1, 0)},
        floating=True,
    )
    m.rolling("road", "wheel.C", "ground.O", radius=r, normal=(0, 0, 1), axis=(0, 1, 0))
    m.start(
        position={"C": (0.0, 0.0, None)},
        orientation={"wheel": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]},
        speed={"wheel": (w, v / r, 0.0)},
    )
    return m


def objectives() -> dict[str, vm.Objective]:
    """Final lean relative to its initial rate (s)."""
    return {"lean": vm.final("(position('Q')[2] - position('C')[2])/w", unit="s")}


def references(kind: str, share: float) -> dict[str, tuple[float, dict[str, float]]]:
    """Objective → value, and derivatives with respect to v and r."""
    (A, C), v, r, T = INERTIAS[kind], share * critical_speed(kind), RADIUS, DURATION
    k = C * (C + 1) / A
    square = (k * (v / r) ** 2 - G / r) / (A + 1)
    ω = cmath.sqrt(square)
    value = (cmath.sin(ω * T) / ω).real
    per_square = ((T * cmath.cos(ω * T)).real - value) / (2 * square)
    of_v = 2 * k * v / r**2 / (A + 1)
    of_r = (G / r**2 - 2 * k * v**2 / r**3) / (A + 1)
    return {"lean": (value, {"v": per_square * of_v, "r": per_square * of_r})}


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities, for all wheels and speeds."""
    stored = o.stored_at(settings, 0.01)
    solved = {
        (kind, share): o.both_methods(
            mechanism(kind, share, LEAN_RATE), objectives(), ["v", "r"], DURATION, stored
        )
        for kind in INERTIAS
        for share in SHARES
    }
    checks = []
    for (kind, share), solutions in solved.items():
        which = f" of the {kind} at {share:g} of its critical speed"
        checks += o.check_both_methods(solutions, references(kind, share), which=which)
        energy = solutions["direct"].run.energy("total").to_numpy()
        checks.append(o.Check(f"change of energy{which} (J)", float(np.ptp(energy)), 0.0, 1e-9))
    runs = tuple(s.run for solutions in solved.values() for s in solutions.values())
    return o.Checked(
        "rolling-disc",
        runs,
        tuple(checks),
        lambda: figures({key: s["direct"].run for key, s in solved.items()}),
    )


def figures(runs: dict[tuple[str, float], vm.Run]) -> o.Figures:
    """Leans over time."""
    panels = []
    for kind in INERTIAS:
        lines = []
        for share in SHARES:
            r = runs[kind, share]
            lean = (r.position("Q").to_numpy() - r.position("C").to_numpy())[:, 2]
            lines.append(vm.Line(f"{share:g} of the critical speed", r.time, lean / LEAN_RATE))
        panels.append(vm.Panel(f"lean / initial rate, {kind} (s)", lines))
    return {"motion": vm.line_figure(panels, title="Disc and hoop rolling upright")}
