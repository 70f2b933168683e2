"""The woodpecker toy: a bird on a spring pecks its way down a pole, by impacts and dry friction.

The bird is hinged to a sleeve by a torsional spring; the sleeve has clearance on a pole. With the
bird low, the tilted sleeve jams on the pole by friction. The spring throws the bird up, the sleeve
comes free and falls. The beak hits the pole and throws the bird back, until the sleeve tilts and
jams again. How do period and descent of this limit cycle depend on friction, spring and clearance?

Model and data: C. Glocker, Dynamik von Starrkörpersystemen mit Reibung und Stößen (1995); R. I.
Leine, C. Glocker and D. H. van Campen, Nonlinear Dynamics of the Woodpecker Toy (ASME DETC 2001);
values as in the Siconos examples. Surfaces are rigid, with Newton's impact law and Coulomb friction.
The centre of the sleeve stays on the axis of the pole, gaps are linear in the angles, and both edges
of the sleeve that touch at once count as one contact. Unlike there, the equations of motion are not
linearised.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import varimech as vm

POLE, EDGE, HINGE, COM = 0.0025, 0.0058, 0.010, 0.015
"""Radius of the pole, half height of the sleeve, distance of the hinge from the axis, distance of
the bird's centre of mass from the hinge (m)."""
BEAK_HEIGHT, BEAK = 0.020, 0.0201
"""Height of the beak above the bird's centre of mass, and its distance in front of it (m)."""
DURATION, PECKS = 1.7, 10
"""Duration (s), and number of pecks until then."""
BLUE, RED, GREY = "#0b6fb8", "#d1495b", "#d9d9d9"


def height(s: vm.State) -> Any:
    """Return the height of the sleeve (m)."""
    return s.position("sleeve.S")[1]


def mechanism() -> vm.Mechanism:
    """Build the toy; friction, spring and inner radius of the sleeve are parameters."""
    m = vm.Mechanism("woodpecker", gravity=(0, -9.81))
    friction = m.parameter("mu", 0.3, bounds=(0, None))
    spring = m.parameter("k", 0.0056, unit="N·m/rad", bounds=(0, None))
    radius = m.parameter("r", 0.0031, unit="m", bounds=(POLE, None))
    m.ground_point("O", (0, 0))
    m.body("sleeve", mass=0.0003, inertia=5e-9, points={"S": (0, 0), "H": (HINGE, 0)})
    m.body("bird", mass=0.0045, inertia=7e-7, com=(COM, 0), points={"H": (0, 0)})
    m.point_on_line("pole", "ground.O", "sleeve.S", axis=(0, 1))
    m.revolute("H")
    m.torsional_spring("spring", "H", stiffness=spring)

    def beak_gap(s: vm.State) -> Any:
        return HINGE + COM - BEAK - POLE - BEAK_HEIGHT * s.angle("bird")

    def beak_slip(s: vm.State) -> Any:
        ωs, ωb = s.angular_velocity("sleeve"), s.angular_velocity("bird")
        return s.velocity("sleeve.S")[1] + HINGE * ωs + (COM - BEAK) * ωb

    def edge(s: vm.State) -> Any:
        return EDGE * s.angle("sleeve")

    def edge_slip(s: vm.State) -> Any:
        return s.velocity("sleeve.S")[1] + s.parameter("r") * s.angular_velocity("sleeve")

    m.stop("beak", beak_gap, lower=0, restitution=0.5, friction=friction, slip=beak_slip)
    low, high = POLE - radius, radius - POLE
    m.stop("edges", edge, lower=low, upper=high, friction=friction, slip=edge_slip)
    m.start(
        position={"sleeve.S": (None, 0.0)},
        angle={"sleeve": low / EDGE, "bird": -0.2788},
        speed={"sleeve.S": (None, -0.3411), "bird": -7.4583},
    )
    return m


def cycle(m: vm.Mechanism, wrt: list[str], method: str) -> tuple[np.ndarray, np.ndarray]:
    """Return period (s) and descent (m) between the last two pecks, and their derivatives."""
    objectives = {}
    for n in (PECKS - 1, PECKS):
        objectives[f"time {n}"] = vm.time_of("beak", occurrence=n)
        objectives[f"height {n}"] = vm.at("beak", height, occurrence=n, unit="m")
    g = m.sensitivity(objectives, wrt, duration=DURATION, method=method, tolerance=1e-9)
    difference = np.array([[-1, 0, 1, 0], [0, 1, 0, -1]])
    return difference @ g.final_values, difference @ g.final_gradient


def picture(run: vm.Run) -> Figure:
    """Draw the height over time, angles of two cycles, and the limit cycle of the bird."""
    figure = Figure(figsize=(10.0, 4.6), layout="constrained", dpi=110)
    axes = figure.subplot_mosaic([["height", "cycle"], ["angles", "cycle"]])
    pecks, y = run.events["beak"].times, 1e3 * run.measure(height).to_numpy()
    jams = run.events["friction of edges.lower"].times  # sticks, slips, sticks, …
    for ax in (axes["height"], axes["angles"]):
        ax.broken_barh(
            list(zip(jams[::2], np.diff(jams)[::2], strict=False)),
            (0, 1),
            transform=ax.get_xaxis_transform(),
            color=GREY,
            label="sleeve jammed" if ax is axes["height"] else "",
        )
    axes["height"].plot(run.time, y, color=BLUE)
    hits = np.interp(pecks, run.time, y)
    axes["height"].plot(pecks, hits, "v", color=RED, label="beak hits the pole")
    axes["height"].set(xlabel="time (s)", ylabel="height of the sleeve (mm)")
    axes["height"].legend(frameon=False)
    φ, ω = run.angle("bird").to_numpy(), run.angular_velocity("bird").to_numpy()
    axes["angles"].plot(run.time, φ, color=BLUE, label="bird")
    axes["angles"].plot(run.time, run.angle("sleeve").to_numpy(), color=RED, label="sleeve")
    axes["angles"].set(xlabel="time (s)", ylabel="angle (rad)", xlim=(pecks[-3], pecks[-1]))
    axes["angles"].legend(frameon=False, loc="lower left")
    last = run.time > pecks[-2]
    axes["cycle"].plot(φ, ω, color=GREY, label="from the start")
    axes["cycle"].plot(φ[last], ω[last], color=BLUE, label="last cycle")
    axes["cycle"].set(xlabel="angle of the bird (rad)", ylabel="its angular velocity (rad/s)")
    axes["cycle"].legend(frameon=False, loc="center")
    for ax in axes.values():
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def main(out: Path = Path("out/woodpecker")) -> vm.Run:
    """Simulate the descent; print period and descent of the last cycle, and their derivatives."""
    m = mechanism()
    run = m.simulate(DURATION, tolerance=1e-9, output=2e-4)
    names = list(m.parameters)
    for method, wrt in (("direct", names), ("adjoint", names), ("finite-difference", ["mu"])):
        (period, descent), gradient = cycle(m, wrt, method)
        print(f"last cycle: {period:.6f} s, {1e3 * descent:.4f} mm; by {method}, 1 % more")
        for name, change in zip(wrt, gradient.T, strict=True):
            T, y = 10 * m.parameters[name].value * change
            print(f"  {name}: {T:+.5f} ms, {y:+.5f} mm")
    out.mkdir(parents=True, exist_ok=True)
    picture(run).savefig(out / "woodpecker.png")
    return run


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
