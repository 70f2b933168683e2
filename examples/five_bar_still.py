"""Static balance of a five-bar by optimisation: which natural lengths of its two springs balance
gravity in the initial position?

Two cranks A1 and 3B and two rods 12 and 23 hang from A and B; springs of 100 N/m connect points 1
and 2 to B. Released from rest, the mechanism falls and swings. The objective measures the deviation
of point 2 from its initial position,

    ψ = ∫ |r₂ − (0.5, −2)|² dt  over 5 s,

and vanishes if the initial position is an equilibrium: two equations for two natural lengths. The
optimiser does not use these equations; it only simulates the motion.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import Any

import varimech as vm

STARTS: tuple[dict[str, float], ...] = ({}, {"Ls1": 2.6, "Ls2": 1.7}, {"Ls1": 2.2, "Ls2": 1.6})
"""Initial natural lengths (m); springs that are not given are initially relaxed."""


def mechanism() -> vm.Mechanism:
    """Build the five-bar; the natural lengths of its springs are parameters."""
    m = vm.Mechanism("five-bar", gravity=(0, -9.81))
    Ls1 = m.parameter("Ls1", math.sqrt(5), unit="m")
    Ls2 = m.parameter("Ls2", math.sqrt(4.25), unit="m")
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    m.bar("A1", "A", "1", length=math.sqrt(2), mass=1.0)
    m.bar("12", "1", "2", length=math.sqrt(3.25), mass=1.5)
    m.bar("23", "2", "3", length=math.sqrt(3.25), mass=1.5)
    m.bar("3B", "3", "B", length=math.sqrt(2), mass=1.0)
    for joint in ("A", "1", "2", "3", "B"):
        m.revolute(joint)
    m.spring("s1", "1", "B", stiffness=100, natural_length=Ls1)
    m.spring("s2", "2", "B", stiffness=100, natural_length=Ls2)
    # two degrees of freedom need two angles: point 1 is at (−1, −1) and point 2 at (0.5, −2)
    m.start(angle={"A1": -3 * math.pi / 4, "12": math.atan2(-1, 1.5)}, near={"3": (2, -1)})
    return m


def deviation(s: vm.State) -> Any:
    """Return the squared distance of point 2 from its initial position (m²)."""
    distance = s.position("2") - vm.vector(0.5, -2)
    return vm.dot(distance, distance)


def solve(
    m: vm.Mechanism, start: dict[str, float] | None = None, hessian: str = "approximate"
) -> vm.Optimum:
    """Find the natural lengths that keep the mechanism at rest."""
    return m.optimize(
        {"ψ": vm.integral(deviation, unit="m²·s")},
        ["Ls1", "Ls2"],
        duration=5.0,
        start=start,
        hessian=hessian,
    )


def main(out: Path = Path("out/five_bar_still")) -> vm.Optimum:
    """Solve from three starts with approximate and exact Hessians, and draw the first result."""
    m = mechanism()
    optima = {}
    for hessian in ("approximate", "exact"):
        for k, start in enumerate(STARTS):
            began = time.perf_counter()
            optima[hessian, k] = o = solve(m, start, hessian)
            lengths = ", ".join(f"{name} = {value:.13f} m" for name, value in o.parameters.items())
            # the first solution of each kind includes the compile time
            seconds = time.perf_counter() - began
            print(
                f"{hessian:>11} Hessian, start {k + 1}: {lengths}; {o.iterations} iterations,"
                f" {o.evaluations} runs, {seconds:.2f} s"
            )
    optimum = optima["approximate", 0]
    print(optimum)
    print(
        "multipliers:",
        optimum.multipliers or "none: there are no constraints and no bounds",
    )
    print(optimum.certificate)

    out.mkdir(parents=True, exist_ok=True)
    optimum.plot().savefig(out / "search.png")
    before = optimum.before.draw(
        times=(1.5, 1.0, 0.5, 0.0), trace="2", title="Before: the mechanism swings"
    )
    before.savefig(out / "before.png")
    optimum.after.draw(times=(5.0, 0.0), trace="2", title="After: at rest for 5 s").savefig(
        out / "after.png"
    )
    return optimum


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
