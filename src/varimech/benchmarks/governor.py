"""A flyball governor: a shaft, a slider on it, two hinged rods with heavy tips, stiff springs with
dampers between rods and slider.

IFToMM Library of Computational Benchmark Problems, A05. Shaft and rods 1 × 0.01 × 0.01 m, slider a
cube of 0.1 m, density 3000 kg/m³ (0.3, 0.3 and 3 kg), points of 5 kg at the tips of the rods. The
rods hang on the shaft at (±0.05, 0, 1) m, 30° below the horizontal; springs of 8e5 N/m, 4e4 N·s/m
and 0.5 m between their mid-points and the points (±0.05, 0, s) of the slider, s = 0.5 m initially.
The shaft turns freely, first with 2π rad/s; gravity 9.81 m/s² along −z; 10 s. The damped
springs have decay rates of some thousand 1/s, the swing a period of 1 s: stiff.

Checked: s at 0.1, 0.5 and 1 s, computed independently (DOP853/Radau at tolerances 1e-11 to 1e-13);
the angular momentum about the shaft; and that the energy does not grow within 10 s.

OpenSim 3.2 needed 0.233 s for it (Intel i5-4570).
"""

from __future__ import annotations

import numpy as np

import varimech as vm

from .outcome import Check, Checked, Figures, Settings, energy_panel, read_model, row_at

SETTINGS: Settings = {"tolerance": 1e-8}
DURATION = 10.0
HEIGHTS = {0.1: 0.523836476, 0.5: 0.743249425, 1.0: 0.501420922}
"""Heights s (m) at three times (s)."""
BAR, TIP = 0.3, 5.0
"""Mass of a bar of 1 m, and of a tip (kg)."""
ALONG, ACROSS = BAR * 0.01**2 / 6, BAR * (1 + 0.01**2) / 12
"""Inertia of a bar (kg·m²)."""
COM = (BAR / 2 + TIP) / (BAR + TIP)
ROD_ACROSS = ACROSS + BAR * (COM - 0.5) ** 2 + TIP * (1 - COM) ** 2
"""Centre of mass of a rod with its tip (m from the hinge), and its inertia about it (kg·m²)."""


def mechanism() -> vm.Mechanism:
    """The governor; stiffness k, damping c and natural length l0 of both springs are parameters."""
    return read_model("governor")


def run(settings: Settings = SETTINGS) -> Checked:
    """Solve the benchmark."""
    motion = mechanism().simulate(DURATION, **settings)
    s = motion.displacement("guide").to_numpy()
    checks = [
        Check(f"s at {t:g} s (m)", float(s[row_at(motion, t)]), reference, 1e-6)
        for t, reference in HEIGHTS.items()
    ]
    momentum = angular_momentum(motion)
    lost = float(np.abs(momentum / momentum[0] - 1).max())
    checks += [
        Check("change of the angular momentum, relative", lost, 0.0, 5e-6),
        Check("largest rise of the energy / kinetic energy", energy_rise(motion), 0.0, 1e-5),
    ]
    return Checked("governor", (motion,), tuple(checks), lambda: figures(motion))


def angular_momentum(run: vm.Run) -> np.ndarray:
    """Angular momentum about the shaft (kg·m²/s) for rods at a droop φ, with all parts turning
    about it; no torque acts about this axis.
    """
    φ = run.angle("right").to_numpy()
    about_own = ROD_ACROSS * np.cos(φ) ** 2 + ALONG * np.sin(φ) ** 2
    rod = about_own + (BAR + TIP) * (0.05 + COM * np.cos(φ)) ** 2
    return (2 * rod + ALONG + 0.005) * run.angular_velocity("O").to_numpy()


def energy_rise(run: vm.Run) -> float:
    """Largest rise of the energy above an earlier value, relative to the largest kinetic energy."""
    total = run.energy().to_numpy()
    rise = total - np.minimum.accumulate(total)
    return float(rise.max() / run.energy("kinetic").to_numpy().max())


def figures(run: vm.Run) -> Figures:
    """Slider, speed of the shaft and energy over time, and the governor."""
    t = run.time
    panels = [
        vm.Panel("slider s (m)", [vm.Line("", t, run.displacement("guide").to_numpy())]),
        vm.Panel("shaft (rad/s)", [vm.Line("", t, run.angular_velocity("O").to_numpy())]),
        energy_panel(run),
    ]
    drawing = run.draw(trace="tip right", title="Flyball governor in its initial position")
    drawing.axes[0].locator_params(nbins=5)
    for label in drawing.axes[0].texts:  # points around the shaft are too close for labels
        label.set_visible("tip" in label.get_text())
    return {"motion": vm.line_figure(panels, title="Flyball governor"), "mechanism": drawing}
