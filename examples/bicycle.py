"""A bicycle that keeps itself upright: eigenvalues over speed, and the effect of the trail.

The benchmark bicycle (rear frame with rider, front frame, two wheels that roll without slip) rides upright
and straight at a speed v. Its lean and steer have four eigenvalues: a pair of an oscillation (weave), a
slow lean (capsize) and a fast return of the steering (castering). Real parts are all negative between the
weave speed and the capsize speed: there the bicycle rides without a rider's help. Both speeds solve

    Re λ(v, ρ) = 0,     dv/dρ = −Re λ_ρ / Re λ_v

so they have exact derivatives with respect to wheel base w and trail c. Runs of the full nonlinear model
show the same: after a tap, the bicycle recovers, or weaves more and more.

J. P. Meijaard, J. M. Papadopoulos, A. Ruina and A. L. Schwab, Proc. R. Soc. A 463 (2007) 1955–1982.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import varimech as vm
from varimech.benchmarks import bicycle

SPEEDS = np.linspace(0.2, 10.0, 50)
"""m/s"""
TRAILS = np.linspace(0.06, 0.10, 9)
"""m"""
TAPS = (4.0, 5.0)
"""Speeds of the runs (m/s): below the weave speed, and in the stable range."""
TAP, DURATION = 0.02, 5.0
"""Lateral speed of a point 1 m above the road (m/s), and time (s) of the runs."""
COORDINATES = "natural"
STATES = tuple(
    f"{x}{rate}" for rate in ("", " rate") for x in ("rear frame.rotation.x", "steer.angle")
)
"""Lean and steer; the other states (place, heading, speed) do not act on these."""
SEARCHED = (3.0, 8.0, 11)
"""Speeds of the root loci that cross the imaginary axis (m/s)."""
BLUE, RED, GREEN, INK, GREY = "#0b6fb8", "#d1495b", "#3a9d5d", "#333333", "#d9d9d9"


def eigenvalues(m: vm.Mechanism, v: float, **values: float) -> np.ndarray:
    """Return the four eigenvalues of lean and steer at a speed (1/s)."""
    upright = {**values, "v": v, "tap": 0.0}
    model = m.linearize("start", parameters=upright, coordinates=COORDINATES)
    k = [model.states.index(name) for name in STATES]
    return np.linalg.eigvals(model.matrix[np.ix_(k, k)])


def critical(m: vm.Mechanism, **values: float) -> dict[str, tuple[float, np.ndarray]]:
    """Return weave and capsize speed (m/s), each with its derivatives for w and c (1/s)."""
    locus = m.root_locus(
        "v",
        SEARCHED,
        at="start",
        wrt=bicycle.PARAMETERS,
        parameters={**values, "tap": 0.0},
        coordinates=COORDINATES,
    ).dataset
    slopes = locus["crossing_derivative"].sel(parameter=bicycle.PARAMETERS).to_numpy()
    speeds = zip(locus["crossing_value"].to_numpy().tolist(), slopes, strict=True)
    return dict(zip(("weave", "capsize"), speeds, strict=True))


def tapped(m: vm.Mechanism, v: float) -> vm.Run:
    """Simulate the bicycle after a tap at a speed (m/s)."""
    return m.simulate(DURATION, parameters={"v": v, "tap": TAP}, tolerance=1e-8, output=0.01)


def picture(
    spectrum: np.ndarray,
    limits: dict[str, tuple[float, np.ndarray]],
    runs: dict[float, vm.Run],
    ranges: np.ndarray,
) -> Figure:
    """Draw eigenvalues over speed, the steering after a tap, and the stable range over the trail."""
    figure = Figure(figsize=(11.0, 3.8), layout="constrained", dpi=110)
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.3, 1, 1])
    weave, capsize = (limits[kind][0] for kind in ("weave", "capsize"))
    left.axvspan(weave, capsize, color=GREEN, alpha=0.15, linewidth=0)
    v = np.repeat(SPEEDS, 4)
    λ = spectrum.ravel()
    swings = np.abs(λ.imag) > 1e-6
    left.plot(v, λ.real, ".", color=BLUE, markersize=4, label="real part")
    left.plot(
        v[swings], np.abs(λ.imag[swings]), ".", color=RED, markersize=3, label="imaginary part"
    )
    for x, y, label in ((1.5, 3.4, "weave"), (8.5, 0.4, "capsize"), (2.2, -7.6, "castering")):
        left.text(x, y, label, fontsize=8)
    left.text((weave + capsize) / 2, -9, "stable", ha="center", color=GREEN)
    left.set(xlabel="speed (m/s)", ylabel="eigenvalue (1/s)", xlim=(0, 10), ylim=(-10, 10))
    for (speed, run), colour in zip(runs.items(), (RED, BLUE), strict=True):
        angle = np.degrees(run.angle("steer").to_numpy())
        middle.plot(run.time, angle, color=colour, label=f"{speed:g} m/s")
    middle.set(xlabel="time after a tap (s)", ylabel="steer angle (°)")
    for k, (kind, colour) in enumerate((("weave", RED), ("capsize", BLUE))):
        speed, slopes = limits[kind]
        right.plot(1e3 * TRAILS, ranges[:, k], ".-", color=colour, label=kind)
        near = np.array([0.07, 0.09])
        right.plot(1e3 * near, speed + slopes[1] * (near - 0.08), color=INK, linewidth=2)
    right.fill_between(1e3 * TRAILS, *ranges.T, color=GREEN, alpha=0.15, linewidth=0)
    for ax in (left, middle):
        ax.axhline(0, color=INK, linewidth=0.8)
    right.plot([], [], color=INK, linewidth=2, label="derivative at 80 mm")
    right.set(xlabel="trail (mm)", ylabel="speed (m/s)")
    for ax in (left, middle, right):
        ax.grid(color=GREY, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def main(out: Path = Path("out/bicycle")) -> np.ndarray:
    """Print the stable range, its derivatives and what a longer trail does; draw all of it."""
    m = bicycle.mechanism()
    limits = critical(m)
    for kind, (v, slopes) in limits.items():
        print(f"{kind} speed {v:.6f} m/s, {3.6 * v:.2f} km/h")
        print(f"  {1e-2 * slopes[0]:+.6f} m/s per cm of wheel base")
        print(f"  {1e-2 * slopes[1]:+.6f} m/s per cm of trail")
    ranges = np.array([[v for v, _ in critical(m, c=c).values()] for c in TRAILS.tolist()])
    for k in (0, -1):
        low, high = ranges[k]
        print(f"trail {1e3 * TRAILS[k]:.0f} mm: stable from {low:.3f} to {high:.3f} m/s")
    runs = {v: tapped(m, v) for v in TAPS}
    for v, run in runs.items():
        last = np.abs(run.angle("steer").to_numpy()[run.time > DURATION - 1]).max()
        print(f"at {v} m/s the steering swings by {np.degrees(last):.3f}° in the last second")
    spectrum = np.array([eigenvalues(m, v) for v in SPEEDS.tolist()])
    out.mkdir(parents=True, exist_ok=True)
    picture(spectrum, limits, runs, ranges).savefig(out / "bicycle.png")
    return ranges


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
