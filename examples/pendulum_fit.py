"""Identify stiffness and damping of a pendulum from noisy samples of its angle.

A uniform rod of 0.8 m and 1.5 kg swings about a joint with a torsional spring (unstressed when the
rod hangs) and a damper. Its angle is sampled 30 times per second with an error of half a degree.
The fit finds stiffness and damping with their confidence intervals.

The samples are synthetic. They come from the equation of motion, integrated independently of
Varimech,

    m L²/3 φ̈ = −m g L/2 sin φ − k φ − c φ̇      (φ from the vertical),

with known k and c, so that the fit can be compared with the true values.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import varimech as vm

LENGTH, MASS, G, RELEASED = 0.8, 1.5, 9.81, 1.0
"""Length (m), mass (kg), gravity (m/s²), initial angle from the vertical (rad)."""
TRUTH = {"k": 4.0, "c": 0.12}
"""True stiffness (N·m/rad) and damping (N·m·s/rad)."""
NOISE = math.radians(0.5)
"""Standard deviation of a sample (rad)."""
TIMES = np.arange(1, 121) / 30
"""Sampling times (s)."""


def mechanism() -> vm.Mechanism:
    """Build the pendulum; stiffness and damping are parameters with rough initial guesses."""
    m = vm.Mechanism("pendulum", gravity=(0, -G))
    k = m.parameter("k", 2.0, unit="N·m/rad", bounds=(0, None))
    c = m.parameter("c", 0.05, unit="N·m·s/rad", bounds=(0, None))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=LENGTH, mass=MASS)
    m.revolute("O")
    m.torsional_spring("joint", "rod", stiffness=k, rest_angle=-math.pi / 2, damping=c)
    m.start(angle={"rod": RELEASED - math.pi / 2})
    return m


def motion(k: float, c: float, times: np.ndarray = TIMES) -> np.ndarray:
    """Return the angle from the vertical (rad) from the hand-written equation of motion."""
    inertia = MASS * LENGTH**2 / 3

    def rates(_: float, y: np.ndarray) -> list[float]:
        φ, ω = y
        return [ω, (-MASS * G * LENGTH / 2 * math.sin(φ) - k * φ - c * ω) / inertia]

    solution = solve_ivp(
        rates, (0, times[-1]), [RELEASED, 0.0], "DOP853", t_eval=times, rtol=1e-10, atol=1e-12
    )
    return np.asarray(solution.y[0])


def samples(seed: int = 1) -> np.ndarray:
    """Return the measured angle (rad): true motion plus noise."""
    return motion(TRUTH["k"], TRUTH["c"]) + NOISE * np.random.default_rng(seed).standard_normal(
        TIMES.size
    )


def solve(m: vm.Mechanism, measured: np.ndarray) -> vm.Fit:
    """Fit stiffness and damping with 95 % confidence intervals; the noise is estimated from the
    residuals.
    """
    angle = vm.measurement(
        lambda s: s.angle("rod") + math.pi / 2, TIMES, measured, name="angle", unit="rad"
    )
    return m.fit(angle, over=["k", "c"])


def main(out: Path = Path("out/pendulum_fit")) -> vm.Fit:
    """Fit, compare with the true values, certify, and draw."""
    m = mechanism()
    measured = samples()
    fit = solve(m, measured)
    print(fit)
    for name, row in fit.intervals.iterrows():
        inside = "within" if row["lower"] <= TRUTH[str(name)] <= row["upper"] else "NOT within"
        print(f"  true {name} = {TRUTH[str(name)]}: {inside} its interval")
    print(
        "  correlation of k and c:"
        f" {fit.correlation.sel(parameter='k', parameter2='c').item():+.3f}"
    )
    # the intervals depend on derivatives of the motion: check those of the last sample
    last = vm.final(lambda s: s.angle("rod"), unit="rad")
    gradient = m.sensitivity(
        {"last angle": last},
        ["k", "c"],
        duration=float(TIMES[-1]),
        parameters=fit.parameters,
        tolerance=1e-10,
    )
    print(gradient.certify())

    out.mkdir(parents=True, exist_ok=True)
    fit.plot().savefig(out / "fit.png")  # data, fitted curve with band, curve of the guess
    return fit


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
