"""A pendulum on a rotating arm: small vibrations about a driven steady motion.

An arm of a = 0.5 m turns at Ω = 10 rad/s about a fixed pivot; a uniform rod of L = 0.4 m is hinged
at its end; no gravity. The centrifugal field makes the rod a pendulum along the arm, with

    f = (Ω/2π) √(3a / 2L) = 2.179 Hz,     ∂f/∂a = f/2a,     ∂f/∂L = −f/2L,     ∂f/∂Ω = f/Ω.

Checked: frequency and derivatives by the linear equations about the steady motion, in natural and
in relative coordinates; and the frequency by a small swing of a run.
"""

from __future__ import annotations

import numpy as np

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-11}
DURATION = 1.0
ARM, ROD, SPEED = 0.5, 0.4, 10.0
"""a (m), L (m), Ω (rad/s)."""
SWING = 1e-4
"""Amplitude of the run (rad): its square, which changes the frequency, is 1e-8."""


def mechanism() -> vm.Mechanism:
    """Arm and rod; a, L and the speed Omega are parameters."""
    m = vm.Mechanism("rotating pendulum", dimension=2)
    a = m.parameter("a", ARM, unit="m")
    L = m.parameter("L", ROD, unit="m")
    m.parameter("Omega", SPEED, unit="rad/s")
    m.ground_point("O", (0, 0))
    m.bar("arm", "O", "P", length=a, mass=1.0)
    m.bar("rod", "P", "Q", length=L, mass=1.0)
    m.revolute("O")
    m.revolute("P")
    m.drive_angle("motor", "O", "Omega * t")
    m.start(angle={"P": SWING})
    return m


def objectives() -> dict[str, vm.Objective]:
    """The final angle between arm and rod."""
    return {"angle of P": vm.final('angle("P")', unit="rad")}


def references() -> tuple[float, dict[str, float]]:
    """f (Hz), and its derivatives with respect to the parameters."""
    f = SPEED / (2 * np.pi) * np.sqrt(1.5 * ARM / ROD)
    return f, {"a": f / (2 * ARM), "L": -f / (2 * ROD), "Omega": f / SPEED}


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities."""
    m, (f, expected) = mechanism(), references()
    checks = []
    for coordinates in ("natural", "rtdyn1"):
        modes = m.modes(
            "steady",
            wrt=list(expected),
            coordinates=coordinates,
            parameters=settings.get("parameters"),
        )
        checks.append(
            o.Check(f"frequency, {coordinates} (Hz)", modes.frequency.item(), f, 1e-10 * f)
        )
        derivatives = modes.dataset["frequency_derivative"]
        checks += [
            o.Check(
                f"∂f/∂{name}, {coordinates} (SI)",
                derivatives.sel(parameter=name).item(),
                derivative,
                1e-9 * abs(derivative),
            )
            for name, derivative in expected.items()
        ]
    motion = m.simulate(DURATION, **o.stored_at(settings, 0.01))
    swing = motion.angle("P").to_numpy() / SWING
    error = float(np.abs(swing - np.cos(2 * np.pi * f * motion.time)).max())
    # amplitudes of 1e-4 rad slow the swing by about 1e-9, ten turns of phase at most
    checks.append(o.Check("simulated swing, largest difference from cos 2πft", error, 0.0, 1e-6))
    return o.Checked("rotating-pendulum", (motion,), tuple(checks), lambda: figures(motion))


def figures(run: vm.Run) -> o.Figures:
    """The small swing over time."""
    line = vm.Line("", run.time, run.angle("P").to_numpy())
    panel = vm.Panel("angle of the rod against the arm (rad)", [line])
    return {"motion": vm.line_figure([panel], title="Pendulum on a rotating arm")}
