"""A slider-crank with clearance in its guide: impacts, and derivatives with respect to the clearance.

The slider may move by ± 1 mm across its guide (P. Flores and others; data from the Siconos examples,
Multibody System Dynamics 23 (2010) 165). No motor drives the crank, which starts at 150 rad/s. The
contact is rigid and frictionless with restitution 0.4, and the time of each impact is located. How
does the position of the slider after 20 ms depend on the clearance?

The gradient is exact between the clearances at which an impact appears or disappears. There, an
impact grazes: its speed tends to zero, and the derivative grows without bound on one side. A
tolerance that includes such a clearance needs samples; elsewhere one gradient is enough.

With a small clearance, impacts follow each other faster and faster, until the slider stays in
contact. Their number would be infinite; it ends where they are slower than the tolerance of the run.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import norm

import varimech as vm

CRANK, ROD = 0.153, 0.306
"""Lengths (m)."""
DURATION, CLEARANCE = 0.02, 1e-3
"""Duration (s) and nominal clearance on each side (m)."""
CLEARANCES = np.linspace(0.8e-3, 2e-3, 241)
"""Clearances of the map (m)."""
TOLERANCE = 3e-5
"""Tolerance of the clearance, three standard deviations (m)."""
BLUE, RED, INK = "#0b6fb8", "#d1495b", "#333333"


def mechanism() -> vm.Mechanism:
    """Build the slider-crank; clearance c and restitution e are parameters."""
    m = vm.Mechanism("slider-crank with clearance", gravity=(0, -9.81))
    c = m.parameter("c", CLEARANCE, unit="m", bounds=(0, None))
    e = m.parameter("e", 0.4, bounds=(0, 1))
    m.ground_point("O", (0, 0))
    ends = {"O": (0, 0), "A": (CRANK, 0)}
    m.body("crank", mass=0.038, com=(CRANK / 2, 0), inertia=7.4e-5, points=ends)
    ends = {"A": (0, 0), "B": (ROD, 0)}
    m.body("rod", mass=0.038, com=(ROD / 2, 0), inertia=5.9e-4, points=ends)
    m.body("slider", mass=0.076, inertia=2.7e-6, points={"B": (0, 0)})
    for joint in ("O", "A", "B"):
        m.revolute(joint)
    m.stop("guide", lambda s: s.position("slider.B")[1], lower=-c, upper=c, restitution=e)
    m.start(
        angle={"crank": 0.0, "rod": 0.0, "slider": 0.0},
        speed={"crank": 150.0, "rod": -75.0, "slider": 0.0},
    )
    return m


OBJECTIVE = {"x": vm.final(lambda s: s.position("slider.B")[0], unit="m")}


def gradient(m: vm.Mechanism, c: float = CLEARANCE, method: str = "direct") -> vm.Gradient:
    """Differentiate the final position of the slider with respect to the clearance."""
    clearance = {"c": c}
    return m.sensitivity(
        OBJECTIVE, "c", duration=DURATION, method=method, tolerance=1e-10, parameters=clearance
    )


def impacts(run: vm.Run) -> list[vm.Event]:
    """Return the impacts of a run."""
    return [e for e in run.events if e.what == "impact"]


def picture(run: vm.Run, gradients: list[vm.Gradient]) -> Figure:
    """Draw the motion with its impacts, and the map over the clearance."""
    figure = Figure(figsize=(10.0, 5.4), layout="constrained", dpi=110)
    (across, slope), (speed, count) = figure.subplots(2, 2, sharex="col")
    t, y = 1e3 * run.time, 1e3 * run.position("slider.B").to_numpy()[:, 1]
    across.plot(t, y, color=BLUE)
    across.axhline(1e3 * CLEARANCE, color=INK, linewidth=0.8, linestyle="--")
    hits = [1e3 * e.time for e in impacts(run)]
    across.plot(hits, [1e3 * CLEARANCE] * len(hits), "v", color=RED, label="impact")
    across.set(ylabel="slider across guide (mm)", title=f"Clearance {1e3 * CLEARANCE:g} mm")
    across.legend(frameon=False, loc="lower right")
    speed.plot(t, run.angular_velocity("crank").to_numpy(), color=BLUE)
    speed.set(ylabel="crank speed (rad/s)", xlabel="time (ms)")
    c = 1e3 * CLEARANCES
    slope.plot(c, [g.final_gradient.item() for g in gradients], ".", color=BLUE, markersize=4)
    title = f"Position x after {1e3 * DURATION:g} ms"
    slope.set(ylabel="dx/dc (mm/mm)", ylim=(0, 1.5), title=title)
    numbers = np.array([len(impacts(g.run)) for g in gradients])
    stays = np.array([any(e.what == "release" for e in g.run.events) for g in gradients])
    count.plot(
        c[stays], numbers[stays], ".", color=INK, markersize=4, label="stays in contact then"
    )
    count.plot(c[~stays], numbers[~stays], ".", color=RED, markersize=4)
    count.legend(frameon=False, loc="upper right")
    count.set(ylabel="impacts", xlabel="clearance c (mm)", ylim=(0, None))
    for ax in (across, speed, slope, count):
        ax.grid(color="#d9d9d9", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def main(out: Path = Path("out/clearance_slider_crank")) -> list[vm.Gradient]:
    """Simulate, differentiate by three methods, sample a tolerance, and map the gradient."""
    m = mechanism()
    run = m.simulate(DURATION, output=DURATION / 1000)
    for e in impacts(run)[:3]:
        print(f"impact at {1e3 * e.time:.6f} ms with {-e.before:.4f} m/s")
    for method in ("direct", "adjoint", "finite-difference"):
        print(f"dx/dc by {method}: {gradient(m, method=method).final_gradient.item():.7f}")
    for c in (1e-3, 1.4e-3):
        linear = abs(gradient(m, c).final_gradient.item()) * TOLERANCE / 3
        distribution = {"c": norm(c, TOLERANCE / 3)}
        study = m.monte_carlo(OBJECTIVE, distribution, duration=DURATION, samples=2000)
        print(
            f"c = {1e3 * c:g} ± 0.03 mm: standard deviation of x {1e6 * linear:.2f} μm from the"
            f" gradient, {1e6 * float(study.std[-1, 0]):.2f} μm from 2000 samples"
        )
    gradients = [gradient(m, c) for c in CLEARANCES.tolist()]
    out.mkdir(parents=True, exist_ok=True)
    picture(run, gradients).savefig(out / "clearance.png")
    return gradients


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
