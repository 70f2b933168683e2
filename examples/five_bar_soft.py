"""A five-bar with a flexible bar: steel, a hundred times softer, and rigid.

Bar 12 of the five-bar is a beam. Made of steel, it moves like a rigid bar. Made of a material a
hundred times softer, it bends by more than half a metre, and point 2 ends at a different position.
The relative sensitivity to the stiffness, E ∂r₂/∂E, distinguishes the two cases.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

import varimech as vm

DURATION, LENGTH = 0.5, math.sqrt(3.25)
"""Duration (s); length of bars 12 and 23 (m)."""
STEEL, SOFT = 206.94e9, 2.0694e9
"""Young's modulus (Pa)."""


def mechanism(segments: int = 8, *, rigid: bool = False) -> vm.Mechanism:
    """Build the five-bar; `rigid` replaces the beam by a rigid bar of the same mass."""
    m = vm.Mechanism("five-bar", gravity=(0, -9.81))
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    m.bar("A1", "A", "1", length=math.sqrt(2), mass=1.0)
    if rigid:
        m.bar("12", "1", "2", length=LENGTH, mass=7829 * 1.0628e-4 * LENGTH)
    else:
        E = m.parameter("E", STEEL, unit="Pa")
        m.beam(
            "12",
            "1",
            "2",
            segments=segments,
            length=LENGTH,
            E=E,
            area=1.0628e-4,
            inertia=9.4125e-10,
            density=7829,
        )
    m.bar("23", "2", "3", length=LENGTH, mass=1.5)
    m.bar("3B", "3", "B", length=math.sqrt(2), mass=1.0)
    for joint in ("A", "1", "2", "3", "B"):
        m.revolute(joint)
    m.spring("s1", "1", "B", stiffness=100, natural_length=math.sqrt(5))
    m.spring("s2", "2", "B", stiffness=100, natural_length=math.sqrt(4.25))
    m.start(angle={"A1": -3 * math.pi / 4, "12": math.atan2(-1, 1.5)}, near={"3": (2, -1)})
    return m


def deflection(s: vm.State) -> Any:
    """Return the distance of the middle of the beam from the line between its ends (m)."""
    chord = s.position("2") - s.position("1")
    return vm.cross(chord, s.position("12.n4") - s.position("1")) / vm.norm(chord)


def main(out: Path = Path("out/five_bar_soft")) -> dict[str, vm.Run]:
    """Simulate all three, and draw the soft one."""
    m = mechanism()
    runs = {"rigid": mechanism(rigid=True).simulate(DURATION, tolerance=1e-8, output=0.005)}
    for name, E in (("steel", STEEL), ("soft", SOFT)):
        gradient = m.sensitivity(
            wrt="E", duration=DURATION, tolerance=1e-8, output=0.005, parameters={"E": E}
        )
        runs[name] = run = gradient.run
        distance = np.linalg.norm(
            run.position("2").to_numpy()[-1] - runs["rigid"].position("2").to_numpy()[-1]
        )
        sensitivity = E * np.linalg.norm(run.position("2", wrt="E").to_numpy()[-1])
        bent = np.abs(run.measure(deflection).to_numpy()).max()
        print(
            f"{name}: deflection {1e3 * bent:.1f} mm; point 2 ends {1e3 * distance:.1f} mm from that"
            f" of the rigid bar; |E ∂r₂/∂E| = {1e3 * sensitivity:.1f} mm"
        )
    out.mkdir(parents=True, exist_ok=True)
    picture = runs["soft"].draw(
        times=(0.0, 0.125, 0.25, 0.375, 0.5),
        title="Bar 12 a hundred times softer than steel, over 0.5 s",
    )
    for (name, run), look in zip(runs.items(), ("-", "--", "-"), strict=True):
        path = run.position("2").to_numpy().T
        picture.axes[0].plot(
            *path,
            look,
            color="#d1495b" if name == "soft" else "#555555",
            linewidth=1.5,
            label=f"path of 2, {name}",
            zorder=6,
        )
    picture.axes[0].legend(frameon=False, fontsize=9, loc="lower left")
    picture.savefig(out / "soft.png")
    return runs


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
