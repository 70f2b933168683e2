"""Bricard's loop: an overconstrained loop of five rods and six hinges that can move.

Grübler's count gives 6 · 5 − 6 · 5 = 0 degrees of freedom for six bodies (including the ground) in
one closed loop. With the hinge axes along the edges of a cube, the loop has one. Released from rest,
it swings by half a turn into its mirror image, and back. The mobility depends on the geometry alone:
if one hinge axis is misaligned by a degree, the loop is locked.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import varimech as vm

CORNERS = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))
"""Hinges P1 … P6 (m): the first and the last are on the ground."""
AXES = ((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0))
ALONG, ACROSS = 1 / 600, 1.01 / 12
"""Inertia of a rod of 1 kg, 1 m and a section of 0.1 m (kg·m²)."""


def mechanism(misalignment: float = 0.0) -> vm.Mechanism:
    """Build the loop; `misalignment` rotates the axis of the third hinge (rad)."""
    m = vm.Mechanism("Bricard's loop", gravity=(0, -9.81, 0))
    m.ground_point("P1", CORNERS[0])
    m.ground_point("P6", CORNERS[-1])
    for k in range(5):
        rod = [float(b - a) for a, b in zip(CORNERS[k], CORNERS[k + 1], strict=True)]
        ends = {f"P{k + 1}": (0, 0, 0), f"P{k + 2}": rod}
        m.body(
            f"rod {k + 1}",
            mass=1,
            inertia=[ALONG if x else ACROSS for x in rod],
            com=[x / 2 for x in rod],
            points=ends,
        )
    for k, axis in enumerate(AXES):
        m.revolute(
            f"P{k + 1}",
            axis=axis if k != 2 else (math.cos(misalignment), math.sin(misalignment), 0),
        )
    m.start(angle={"P1": 0.0})
    return m


def main(out: Path = Path("out/bricard_loop")) -> vm.Run:
    """Count degrees of freedom, simulate and draw."""
    m = mechanism()
    tree = m.topology()
    print(tree)
    print(
        f"degrees of freedom: {len(tree.coordinates) - tree.equations['closure']} by Grübler's count,"
        f" {m.dofs} actual"
    )
    print(f"with one hinge misaligned by 1°: {mechanism(math.radians(1)).dofs}")
    run = m.simulate(5.0, tolerance=1e-9)
    swing, energy = run.angle("P1").to_numpy(), run.energy().to_numpy()
    print(
        f"hinge P1 swings by {swing.max():.4f} rad in {run.time[swing.argmax()]:.2f} s;"
        f" energy lost: {energy[0] - energy[-1]:.0e} J"
    )

    out.mkdir(parents=True, exist_ok=True)
    picture = run.draw(
        times=(2.5, 1.9, 1.6, 1.25, 0.9, 0.0),
        trace=["P3", "P4"],
        title="Bricard's loop moving to its mirror image",
    )
    picture.axes[0].locator_params(nbins=5)
    picture.savefig(out / "loop.png")
    return run


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
