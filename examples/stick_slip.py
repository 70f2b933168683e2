"""Stick and slip of a block on a moving belt: limit cycle, and its dependence on static friction.

A block of 1 kg on a belt that moves at 0.1 m/s is held by a spring of 100 N/m. The static friction
coefficient is larger than the sliding one: the block moves with the belt until the spring force
exceeds the static friction, slides back, and sticks again. Sticking and sliding are modes of exact
Coulomb friction; the times at which they change are located.

Each cycle takes longer if the static coefficient is larger, so that the derivative of the position
with respect to it grows with the number of cycles. It is constant while the block sticks. With
ω² = k/m and F = (μ_s − μ_k) m g, the block sticks for 2 F/(k v) and slides for
2 (π − atan(F ω/(k v)))/ω in each cycle.
"""

from __future__ import annotations

import itertools
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import varimech as vm

MASS, STIFFNESS, BELT, G = 1.0, 100.0, 0.1, 9.81
"""Mass (kg), stiffness (N/m), speed of the belt (m/s), gravity (m/s²)."""
STATIC, SLIDING = 0.4, 0.25
"""Friction coefficients."""
DURATION = 4.0
BLUE, RED, GREY = "#0b6fb8", "#d1495b", "#d9d9d9"


def mechanism() -> vm.Mechanism:
    """Build the block at rest at the unstressed spring; both friction coefficients are parameters."""
    m = vm.Mechanism("block on a belt", dimension=2)
    static = m.parameter("mu_s", STATIC, bounds=(0, None))
    sliding = m.parameter("mu_k", SLIDING, bounds=(0, None))
    m.ground_point("O", (0, 0))
    m.body("block", mass=MASS, inertia=1e-3, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "block.P", axis=(1, 0))
    m.force("spring", "block.P", lambda s: (-STIFFNESS * s.displacement("guide"), 0))
    weight = MASS * G
    m.dry_friction(
        "belt",
        lambda s: s.displacement_rate("guide") - BELT,
        sliding=sliding * weight,
        static=static * weight,
    )
    m.start(displacement={"guide": 0.0})
    return m


def position(s: vm.State) -> Any:
    """Return the position of the block (m)."""
    return s.displacement("guide")


def phases(static: float = STATIC) -> tuple[float, float]:
    """Return how long the block sticks and slides in each cycle (s), in closed form."""
    ω, force = math.sqrt(STIFFNESS / MASS), (static - SLIDING) * MASS * G
    sticks = 2 * force / (STIFFNESS * BELT)
    return sticks, 2 * (math.pi - math.atan(force * ω / (STIFFNESS * BELT))) / ω


def derivative(cycles: int) -> float:
    """Return dx/dμ_s (m) while the block sticks after a number of cycles, in closed form: it starts
    to stick at x_k − F/k, and later.
    """
    ω, weight = math.sqrt(STIFFNESS / MASS), MASS * G
    slope = weight / (STIFFNESS * BELT)
    slides = -2 * slope / (1 + ((STATIC - SLIDING) * slope * ω) ** 2)
    later = slope + (cycles - 1) * 2 * slope + cycles * slides
    return -weight / STIFFNESS - BELT * later


def picture(run: vm.Run) -> Figure:
    """Draw the phase plane, and position and derivative over time."""
    figure = Figure(figsize=(10.0, 4.6), layout="constrained", dpi=110)
    axes = figure.subplot_mosaic([["phase", "x"], ["phase", "slope"]])
    t, x = run.time, 1e3 * run.displacement("guide").to_numpy()
    v = run.displacement_rate("guide").to_numpy()
    changes = [(e.time, e.what) for e in run.events] + [(DURATION, "slip")]
    sticking = np.zeros(t.size, dtype=bool)
    for (begin, what), (end, _) in itertools.pairwise(changes):
        if what == "stick":
            sticking |= (begin <= t) & (t <= end)
            for name in ("x", "slope"):
                axes[name].axvspan(begin, end, color=GREY, alpha=0.6, linewidth=0)
    slides = np.where(sticking, np.nan, v)
    axes["phase"].plot(x, slides, color=BLUE, label="slides")
    axes["phase"].plot(x, np.where(sticking, v, np.nan), color=RED, linewidth=2.5, label="sticks")
    axes["phase"].set(xlabel="position (mm)", ylabel="velocity (m/s)", title="Phase plane")
    axes["phase"].legend(frameon=False, loc="center")
    axes["x"].plot(t, x, color=BLUE)
    axes["x"].set(ylabel="position (mm)", title="Grey: the block sticks")
    axes["slope"].plot(t, 1e3 * run.measure(position, wrt="mu_s").to_numpy(), color=BLUE)
    axes["slope"].set(xlabel="time (s)", ylabel="dx/dμₛ (mm)")
    for ax in axes.values():
        ax.grid(color=GREY, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def main(out: Path = Path("out/stick_slip")) -> dict[str, float]:
    """Simulate, compare the period with its closed form, and differentiate by three methods."""
    m = mechanism()
    objective, derivatives = {"x": vm.final(position, unit="m")}, {}
    for method in ("direct", "adjoint", "finite-difference"):
        g = m.sensitivity(objective, ["mu_s"], duration=DURATION, method=method, tolerance=1e-11)
        derivatives[method] = g.final_gradient.item()
        print(f"dx/dmu_s after {DURATION:g} s by {method}: {derivatives[method]:.8f} m")
    run = m.sensitivity(wrt="mu_s", duration=DURATION, tolerance=1e-11, output=DURATION / 2000).run
    print(run.events)
    slips = [e.time for e in run.events if e.what == "slip"]
    print(f"period: {slips[-1] - slips[-2]:.9f} s, closed form {sum(phases()):.9f} s")
    print(f"dx/dmu_s in closed form: {derivative(len(slips)):.8f} m")
    out.mkdir(parents=True, exist_ok=True)
    picture(run).savefig(out / "stick_slip.png")
    return derivatives


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
