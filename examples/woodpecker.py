"""The woodpecker toy: a bird on a spring pecks its way down a pole.

The bird is hinged to a sleeve by a torsional spring; the sleeve has clearance on a pole. With the
bird low, the tilted sleeve jams on the pole by friction. The spring throws the bird up, the sleeve
comes free and falls. The beak hits the pole and throws the bird back, until the sleeve tilts and
jams again.

Model and data: C. Glocker, Dynamik von Starrkörpersystemen mit Reibung und Stößen (1995); R. I.
Leine, C. Glocker and D. H. van Campen, Nonlinear Dynamics of the Woodpecker Toy (ASME DETC 2001);
values as in the Siconos examples. Two differences: the equations of motion are not linearised, and
surfaces are compliant (Hunt–Crossley) with smooth friction instead of rigid with impacts. Their
stiffness and damping are chosen, not published, and the descent depends on them.
As in the papers, the centre of the sleeve stays on the axis of the pole, gaps are linear in the
angles, and both edges of the sleeve that touch at once count as one contact.
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
SMOOTH: dict[str, Any] = {"friction_law": "tanh", "slip_velocity": 1e-3}
DURATION = 1.5
BLUE, RED, GREY = "#0b6fb8", "#d1495b", "#d9d9d9"


def beak_gap(s: vm.State) -> Any:
    """Return the distance of the beak from the pole (m)."""
    return HINGE + COM - BEAK - POLE - BEAK_HEIGHT * s.angle("bird")


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
    bird = {"H": (0, 0), "beak": (COM - BEAK, BEAK_HEIGHT)}
    m.body("bird", mass=0.0045, inertia=7e-7, com=(COM, 0), points=bird)
    m.point_on_line("pole", "ground.O", "sleeve.S", axis=(0, 1))
    m.revolute("H")
    m.torsional_spring("spring", "H", stiffness=spring)

    def beak_slip(s: vm.State) -> Any:
        ωs, ωb = s.angular_velocity("sleeve"), s.angular_velocity("bird")
        return s.velocity("sleeve.S")[1] + HINGE * ωs + (COM - BEAK) * ωb

    def edge_slip(s: vm.State) -> Any:
        return s.velocity("sleeve.S")[1] + s.parameter("r") * s.angular_velocity("sleeve")

    m.stop(
        "beak",
        beak_gap,
        lower=0,
        stiffness=1e5,
        damping=3,
        friction=friction,
        slip=beak_slip,
        **SMOOTH,
    )
    m.stop(
        "edges",
        lambda s: EDGE * s.angle("sleeve"),
        lower=POLE - radius,
        upper=radius - POLE,
        stiffness=1e5,
        damping=20,
        friction=friction,
        slip=edge_slip,
        **SMOOTH,
    )
    m.start(
        position={"sleeve.S": (None, 0.0)},
        angle={"sleeve": (POLE - radius) / EDGE, "bird": -0.2788},
        speed={"sleeve.S": (None, -0.3411), "bird": -7.4583},
    )
    return m


def pecks(run: vm.Run) -> tuple[np.ndarray, np.ndarray]:
    """Return the times at which the beak touches the pole (s), and the heights of the sleeve (m)."""
    gap, y = (run.measure(output).to_numpy() for output in (beak_gap, height))
    k = np.flatnonzero((gap[:-1] > 0) & (gap[1:] <= 0))
    share = gap[k] / (gap[k] - gap[k + 1])
    return run.time[k] + share * (run.time[k + 1] - run.time[k]), y[k] + share * (y[k + 1] - y[k])


def picture(run: vm.Run) -> Figure:
    """Draw height and angles over time, and the limit cycle of the bird."""
    figure = Figure(figsize=(10.0, 4.6), layout="constrained", dpi=110)
    axes = figure.subplot_mosaic([["height", "cycle"], ["angles", "cycle"]])
    times, heights = pecks(run)
    axes["height"].plot(run.time, 1e3 * run.measure(height).to_numpy(), color=BLUE)
    axes["height"].plot(times, 1e3 * heights, "v", color=RED, label="beak hits the pole")
    axes["height"].set(ylabel="height of the sleeve (mm)")
    axes["height"].legend(frameon=False)
    φ, ω = run.angle("bird").to_numpy(), run.angular_velocity("bird").to_numpy()
    axes["angles"].plot(run.time, run.angle("sleeve").to_numpy(), color=RED, label="sleeve")
    axes["angles"].plot(run.time, φ, color=BLUE, label="bird")
    axes["angles"].set(xlabel="time (s)", ylabel="angle (rad)", ylim=(-0.6, 0.35))
    axes["angles"].legend(frameon=False, ncols=2, loc="upper right")
    last = run.time > times[-3]
    axes["cycle"].plot(φ, ω, color=GREY, linewidth=1, label="first cycles")
    axes["cycle"].plot(φ[last], ω[last], color=BLUE, label="last two cycles")
    axes["cycle"].set(
        xlabel="angle of the bird (rad)", ylabel="angular velocity of the bird (rad/s)"
    )
    axes["cycle"].legend(frameon=False, loc="center")
    for ax in axes.values():
        ax.grid(color=GREY, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def main(out: Path = Path("out/woodpecker")) -> vm.Run:
    """Simulate the descent; print period and descent of the last cycles, and derivatives."""
    m = mechanism()
    run = m.simulate(DURATION, tolerance=1e-9, output=1e-4)
    times, heights = pecks(run)
    print(f"last cycle: {times[-1] - times[-2]:.5f} s, {1e3 * (heights[-2] - heights[-1]):.3f} mm")
    for method in ("direct", "finite-difference"):
        g = m.sensitivity(
            {"height": vm.final(height, unit="m")}, duration=0.5, method=method, tolerance=1e-9
        )
        slopes = [
            f"{name}: {x:.4g}" for name, x in zip(m.parameters, g.final_gradient[0], strict=True)
        ]
        print(f"derivatives of the height at 0.5 s by {method}:", ", ".join(slopes))
    out.mkdir(parents=True, exist_ok=True)
    picture(run).savefig(out / "woodpecker.png")
    return run


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
