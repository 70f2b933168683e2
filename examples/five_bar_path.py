"""A five-bar that draws an ellipse: optimise its lengths for path generation.

Motors turn both cranks at one revolution per second, the left one 30° ahead of the right one. Point
2, where the rods meet, shall follow

    target(t) = (0.02 + 0.09 cos 2πt, 0.31 + 0.05 sin 2πt) m,

with prescribed timing. No lengths do this exactly (the rods add harmonics that an ellipse does not
have), so the optimiser minimises ψ = ∫ |r₂ − target|² dt over a turn. The rods must meet in every
position of the cranks: the distance of the crank pins varies between width − cranks and width +
cranks, and the rods must form triangles with both, with a margin that keeps them from becoming
collinear. These constraints depend on parameters only.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

import varimech as vm

TURN = 2 * math.pi
"""Speed of the cranks (rad/s)."""
FIRST = {"A1": math.radians(15), "B3": math.radians(-15)}
"""Initial angles of the cranks (rad)."""
CENTRE, HALF_AXES = (0.02, 0.31), (0.09, 0.05)
"""Centre and half axes of the ellipse (m)."""
MARGIN = 0.03
"""Margin of the triangle inequalities of rods and crank pins (m)."""
LENGTHS = {
    "width": (0.20, (0.10, 0.30)),
    "left crank": (0.07, (0.03, 0.12)),
    "left rod": (0.30, (0.20, 0.40)),
    "right rod": (0.30, (0.20, 0.40)),
    "right crank": (0.07, (0.03, 0.12)),
}
"""Initial values and bounds (m)."""


def mechanism() -> vm.Mechanism:
    """Build the five-bar with driven cranks; all lengths and the pivot distance are parameters."""
    m = vm.Mechanism("five-bar", dimension=2)  # gravity has no effect: all motion is prescribed
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
    m.start(
        near={"2": (0, 0.3)}
    )  # drivers prescribe both degrees of freedom; point 2 is above the pivots
    return m


def target(t: Any) -> tuple[Any, Any]:
    """Return the target position of point 2 (m) at time t (s)."""
    return CENTRE[0] + HALF_AXES[0] * vm.cos(TURN * t), CENTRE[1] + HALF_AXES[1] * vm.sin(TURN * t)


def deviation(s: vm.State) -> Any:
    """Return the squared distance of point 2 from its target (m²)."""
    error = s.position("2") - vm.vector(*target(s.time))
    return vm.dot(error, error)


def closing() -> dict[str, vm.Constraint]:
    """Return the triangle inequalities at the largest and the smallest distance of the crank pins."""

    def margin(left: int, right: int, width: int, cranks: int) -> vm.Constraint:
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
        "far pins": margin(1, 1, -1, -1),
        "near pins, left": margin(-1, 1, 1, -1),
        "near pins, right": margin(1, -1, 1, -1),
    }


def solve(m: vm.Mechanism, hessian: str = "approximate") -> vm.Optimum:
    """Find the best lengths."""
    psi = {"ψ": vm.integral(deviation, unit="m²·s")}
    return m.optimize(psi, over=list(LENGTHS), duration=1.0, constraints=closing(), hessian=hessian)


def main(out: Path = Path("out/five_bar_path")) -> vm.Optimum:
    """Solve, print the path error, and draw the paths before and after with the target."""
    m = mechanism()
    optimum = solve(m)
    print(optimum)
    print("multipliers:", optimum.multipliers)
    runs = {"before": optimum.before, "after": optimum.after}
    errors = {name: 1e3 * np.sqrt(run.measure(deviation).to_numpy()) for name, run in runs.items()}
    # the last instant repeats the first one
    rms = {name: float(np.sqrt(np.mean(mm[:-1] ** 2))) for name, mm in errors.items()}
    for name, mm in errors.items():
        print(
            f"{name}: path error {rms[name]:.3f} mm (root mean square), {mm.max():.3f} mm (maximum)"
        )
    print(optimum.certificate)

    out.mkdir(parents=True, exist_ok=True)
    optimum.plot().savefig(out / "search.png")
    picture = optimum.after.draw(title="A five-bar that draws an ellipse")
    ax = picture.axes[0]
    for (name, run), colour in zip(runs.items(), ("#999999", "#0b6fb8"), strict=True):
        path = run.position("2").transpose("component", "time").to_numpy()
        ax.plot(*path, color=colour, linewidth=2.0, label=f"{name}: {rms[name]:.1f} mm error")
    ellipse = np.array([target(t) for t in optimum.after.time], dtype=float).T
    ax.plot(*ellipse, "--", color="#d1495b", label="target")
    ax.legend(frameon=False, fontsize=9, loc="upper left")
    picture.savefig(out / "path.png")
    return optimum


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
