"""A five-bar that draws an ellipse: which lengths make point 2 follow it best?

Motors turn both cranks at one revolution a second, the left one 30° ahead of the right one. Point
2, where the rods meet, shall follow

    target(t) = (0.02 + 0.09 cos 2πt, 0.31 + 0.05 sin 2πt) m,

place by place: the pen has to be there at that time. No lengths do that exactly (rods add harmonics
that an ellipse does not have), so what is left is to be smallest, ψ = ∫ |r₂ − target|² dt over a
turn. The rods must reach each other in every position of the cranks: crank pins are between width −
cranks and width + cranks apart, and the rods have to make triangles with both, with a margin that
keeps them from stretching out. Such conditions are constraints that depend on parameters alone.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np

import varimech as vm

TURN = 2 * math.pi
"""Speed of the cranks (rad/s)."""
FIRST = {"A1": math.radians(15), "B3": math.radians(-15)}
"""Angles of the cranks at the start (rad)."""
CENTRE, HALF_AXES = (0.02, 0.31), (0.09, 0.05)
"""Of the ellipse (m)."""
MARGIN = 0.03
"""By which triangles of rods and crank pins are away from being flat (m)."""
LENGTHS = {
    "width": (0.20, (0.10, 0.30)),
    "left crank": (0.07, (0.03, 0.12)),
    "left rod": (0.30, (0.20, 0.40)),
    "right rod": (0.30, (0.20, 0.40)),
    "right crank": (0.07, (0.03, 0.12)),
}
"""Start and bounds (m)."""


def mechanism() -> vm.Mechanism:
    """The five-bar with driven cranks; all lengths and the distance of its pivots are
    parameters.
    """
    m = vm.Mechanism("five-bar", dimension=2)  # gravity does not matter: all motion is imposed
    p = {
        name: m.parameter(name, value, unit="m", bounds=bounds)
        for name, (value, bounds) in LENGTHS.items()
    }
    m.ground_point("A", (-p["width"] / 2, 0))
    m.ground_point("B", (p["width"] / 2, 0))
    m.bar("A1", "A", "1", length=p["left crank"], mass=0.1)
    m.bar("12", "1", "2", length=p["left rod"], mass=0.1)
    m.bar("32", "3", "2", length=p["right rod"], mass=0.1)
    m.bar("B3", "B", "3", length=p["right crank"], mass=0.1)
    for joint in ("A", "1", "2", "3", "B"):
        m.revolute(joint)
    m.drive_angle("left motor", "A1", lambda t: FIRST["A1"] + TURN * t)
    m.drive_angle("right motor", "B3", lambda t: FIRST["B3"] + TURN * t)
    m.start(near={"2": (0, 0.3)})  # drivers hold both freedoms; the rods cross above the pivots
    return m


def target(t: Any) -> tuple[Any, Any]:
    """Where point 2 should be."""
    return CENTRE[0] + HALF_AXES[0] * vm.cos(TURN * t), CENTRE[1] + HALF_AXES[1] * vm.sin(TURN * t)


def deviation(s: vm.State) -> Any:
    """Squared distance of point 2 from there (m²)."""
    away = s.position("2") - vm.vector(*target(s.time))
    return vm.dot(away, away)


def closing() -> dict[str, vm.Constraint]:
    """Triangles of rods and crank pins, at the largest and at the smallest distance of the pins."""

    def spare(left: int, right: int, width: int, cranks: int) -> vm.Constraint:
        def length(s: vm.State) -> Any:
            both = s.parameter("left crank") + s.parameter("right crank")
            return (
                left * s.parameter("left rod")
                + right * s.parameter("right rod")
                + width * s.parameter("width")
                + cranks * both
            )

        return vm.final(length, unit="m") >= MARGIN

    return {
        "far pins": spare(1, 1, -1, -1),
        "near pins, left": spare(-1, 1, 1, -1),
        "near pins, right": spare(1, -1, 1, -1),
    }


def solve(m: vm.Mechanism, hessian: str = "approximate") -> vm.Optimum:
    """The best lengths."""
    psi = {"ψ": vm.integral(deviation, unit="m²·s")}
    return m.optimize(psi, over=list(LENGTHS), duration=1.0, constraints=closing(), hessian=hessian)


def main(out: Path) -> vm.Optimum:
    """Solve, say how far the pen is off, and draw the path before and after beside the target."""
    m = mechanism()
    optimum = solve(m)
    print(optimum)
    print("multipliers:", optimum.multipliers)
    runs = {"before": optimum.before, "after": optimum.after}
    away = {name: 1e3 * np.sqrt(run.measure(deviation).to_numpy()) for name, run in runs.items()}
    off = {
        name: float(np.sqrt(np.mean(mm[:-1] ** 2))) for name, mm in away.items()
    }  # the last instant is the first one again
    for name, mm in away.items():
        print(f"{name}: {off[name]:.3f} mm off (root mean square), {mm.max():.3f} mm at most")
    print(optimum.certificate)

    out.mkdir(parents=True, exist_ok=True)
    optimum.plot().savefig(out / "search.png")
    picture = optimum.after.draw(title="A five-bar that draws an ellipse")
    ax = picture.axes[0]
    for (name, run), colour in zip(runs.items(), ("#999999", "#0b6fb8"), strict=True):
        path = run.position("2").transpose("component", "time").to_numpy()
        ax.plot(*path, color=colour, linewidth=2.0, label=f"{name}: {off[name]:.1f} mm off")
    ellipse = np.array([target(t) for t in optimum.after.time], dtype=float).T
    ax.plot(*ellipse, "--", color="#d1495b", label="target")
    ax.legend(frameon=False, fontsize=9, loc="upper left")
    picture.savefig(out / "path.png")
    return optimum


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Lengths of a five-bar that draws an ellipse.")
    parser.add_argument(
        "--out", type=Path, default=Path("out/five_bar_path"), help="folder for pictures"
    )
    main(parser.parse_args().out)
