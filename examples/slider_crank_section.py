"""Minimise the mass of a connecting rod with a bound on its deflection.

A motor turns a crank of 60 mm at 150 rad/s. A rod of 240 mm, moulded from acetal with a rectangular
section, drives a slider of 0.3 kg. The rod bends under its own inertia, and further under the axial
force from the slider. Choose width and height of the section:

    min mass   with   |deflection of the middle from the line between the ends| ≤ 1 mm at all times.

Stiffness grows with height³ and mass with height, so a light rod is high and narrow; the width goes
to its lower bound. The multipliers give the price of the bounds: how much lighter the rod would be
if a bound were relaxed.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import varimech as vm

CRANK, ROD, SPEED = 0.06, 0.24, 150.0
"""Lengths of crank and rod (m), speed of the crank (rad/s)."""
DENSITY, MODULUS = 1410.0, 2.8e9
"""Density (kg/m³) and Young's modulus (Pa) of acetal."""
TURNS = 1
DURATION = TURNS * 2 * math.pi / SPEED
LIMIT = 1e-3
"""Largest deflection (m)."""


def mechanism(segments: int = 4) -> vm.Mechanism:
    """Build the slider-crank with a flexible rod; width and height of its section are parameters."""
    m = vm.Mechanism("slider-crank", gravity=(0, -9.81))
    width = m.parameter("width", 0.012, unit="m", bounds=(0.006, 0.030))
    height = m.parameter("height", 0.024, unit="m", bounds=(0.012, 0.040))  # buckles below
    m.ground_point("O", (0, 0))
    m.bar("crank", "O", "P", length=CRANK, mass=0.2)
    # stiffness-proportional damping, 5e-5 s: about 3 % of critical in the first bending mode
    section = vm.rectangle(width, height)
    m.beam(
        "rod",
        "P",
        "S",
        segments=segments,
        length=ROD,
        E=MODULUS,
        section=section,
        density=DENSITY,
        damping=(0, 5e-5),
    )
    m.body("slider", mass=0.3, inertia=1e-4, points={"S": (0, 0)})
    for joint in ("O", "P", "S"):
        m.revolute(joint)
    m.prismatic("guide", "ground.O", "slider.S", axis=(1, 0))
    m.drive_angle("motor", "crank", lambda t: SPEED * t)
    m.start(near={"S": (CRANK + ROD, 0)})
    return m


def deflection(s: vm.State, middle: str = "rod.n2") -> Any:
    """Return the distance of the middle of the rod from the line between its ends (m), positive to
    the left, seen from P to S.
    """
    P, S = s.position("crank.P"), s.position("slider.S")
    return vm.cross(S - P, s.position(middle) - P) / vm.norm(S - P)


def mass(s: vm.State) -> Any:
    """Return the mass of the rod (kg), a function of parameters only."""
    return DENSITY * ROD * s.parameter("width") * s.parameter("height")


def solve(m: vm.Mechanism, limit: float = LIMIT, **options: Any) -> vm.Optimum:
    """Find the lightest section."""
    return m.optimize(
        {"mass": vm.final(mass, unit="kg")},
        over=["width", "height"],
        duration=DURATION,
        constraints={"deflection": vm.path(deflection, unit="m").between(-limit, limit)},
        **{"tolerance": 1e-8, "output": DURATION / 100, **options},
    )


def main(out: Path = Path("out/slider_crank_section")) -> vm.Optimum:
    """Solve, certify the largest deflection, and draw."""
    m = mechanism()
    optimum = solve(m)
    print(optimum)
    λ = optimum.multipliers
    print("multipliers:", λ)
    print(
        f"  a deflection bound 0.1 mm larger would save {1e3 * abs(λ['deflection']) * 1e-4:.2f} g of"
        f" {1e3 * optimum.objective:.1f} g"
    )
    print(f"  a width bound 1 mm smaller would save {1e3 * abs(λ['width']) * 1e-3:.2f} g")

    # the deflection reaches its bound at this time: certify it as the end of a shorter run
    instant = float(optimum.constraints["time"]["deflection"])
    largest = m.sensitivity(
        {"deflection": vm.final(deflection, unit="m")},
        ["width", "height"],
        duration=instant,
        parameters=optimum.parameters,
        tolerance=1e-9,
    )
    print(largest.certify())

    out.mkdir(parents=True, exist_ok=True)
    optimum.plot().savefig(out / "search.png")
    fine: Any = {"output": DURATION / 1000}
    runs = {
        "before": m.simulate(DURATION, **fine),
        "after": m.simulate(DURATION, parameters=optimum.parameters, **fine),
    }
    grams = {name: 1e3 * float(r.measure(mass)[0]) for name, r in runs.items()}
    bend = [
        vm.Line(
            f"{name}: {grams[name]:.0f} g", 1e3 * r.time, 1e3 * r.measure(deflection).to_numpy()
        )
        for name, r in runs.items()
    ]
    force = [
        vm.Line(name, 1e3 * r.time, r.axial_force("rod").isel(segment=0).to_numpy())
        for name, r in runs.items()
    ]
    panels = [
        vm.Panel("deflection of the middle (mm)", bend),
        vm.Panel("tension beside the crank (N)", force),
    ]
    figure = vm.line_figure(
        panels, title="The lightest rod with a deflection of at most 1 mm", xlabel="time (ms)"
    )
    for limit in (-1e3 * LIMIT, 1e3 * LIMIT):
        figure.axes[0].axhline(limit, color="#333333", linewidth=1.0, linestyle="--")
    figure.savefig(out / "deflection.png")
    times = [instant * k / 4 for k in (1, 2, 3, 4)]
    optimum.after.draw(
        times=times, trace="rod.n2", title="The lightest rod at its largest deflection"
    ).savefig(out / "mechanism.png")
    return optimum


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
