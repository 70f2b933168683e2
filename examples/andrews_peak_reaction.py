"""Andrews' squeezer: move two pivots to minimise the peak reaction of a bearing.

A motor drives the squeezer from rest through five turns in 0.05 s. Bearing B, about which the
spring-loaded lever BDE rocks, carries peaks of 226 N. Pivots A (of the two squeezing levers) and B
may move by 2 mm in both directions. Which positions minimise the peak reaction at B,

    min over x_A, y_A, x_B, y_B of  max over t of |R_B(t)|,

without slowing the machine down? A slower crank also has smaller forces, so the crank must turn as
far as before: ∫ ω dt ≥ that of the original. A maximum over time is not smooth; the optimiser
therefore minimises an upper bound of the reaction at all instants, which is smooth.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import varimech as vm
from varimech.benchmarks import andrews

DURATION = andrews.DURATION  # 0.05 s
RANGE = 2e-3
"""Largest displacement of a pivot along each axis (m)."""
PIVOTS = {
    f"{c}_{pivot}": x
    for pivot in ("A", "B")
    for c, x in zip("xy", andrews.GROUND[pivot], strict=True)
}
"""Original coordinates of pivots A and B (m)."""


def mechanism() -> vm.Mechanism:
    """Build the squeezer; the coordinates of pivots A and B are parameters."""
    return andrews.mechanism(pivots=("A", "B"))


def reaction(s: vm.State) -> Any:
    """Return the force in bearing B (N)."""
    return vm.norm(s.reaction("B"))


def turned() -> vm.Objective:
    """Return the rotation of the crank over the run (rad) as an objective."""
    return vm.integral(lambda s: s.angular_velocity("OF"), unit="rad")


def solve(m: vm.Mechanism, output: float = 2.5e-4) -> vm.Optimum:
    """Find the best positions. The reaction is bounded at times `output` apart, and also between
    them where it turns out to be larger.
    """
    original = m.sensitivity(
        turned(), list(PIVOTS), duration=DURATION, tolerance=1e-10
    ).values.item()
    return m.optimize(
        {"reaction at B": vm.peak(reaction, unit="N")},
        over=list(PIVOTS),
        duration=DURATION,
        bounds={name: (x - RANGE, x + RANGE) for name, x in PIVOTS.items()},
        constraints={"turned": turned() >= original},
        output=output,
    )


def main(out: Path = Path("out/andrews_peak_reaction")) -> vm.Optimum:
    """Solve, certify the gradient at the time of the peak, and draw reactions and mechanism before
    and after.
    """
    m = mechanism()
    optimum = solve(m)
    print(optimum)
    print("multipliers:", optimum.multipliers)  # N/m for positions, N/rad for the rotation

    # the peak reaction determines the optimum: certify it as the final value of a shorter run
    runs = {
        "before": m.simulate(DURATION, output=5e-5),
        "after": m.simulate(DURATION, parameters=optimum.parameters, output=5e-5),
    }
    forces = {name: run.measure(reaction).to_numpy() for name, run in runs.items()}
    instant = float(runs["after"].time[forces["after"].argmax()])
    print(f"peak at t = {1e3 * instant:.2f} ms")
    peak = {"reaction at B": vm.final(reaction, unit="N")}
    print(
        m.sensitivity(
            peak, list(PIVOTS), duration=instant, parameters=optimum.parameters, tolerance=1e-10
        ).certify()
    )

    out.mkdir(parents=True, exist_ok=True)
    optimum.plot().savefig(out / "search.png")
    loads = [
        vm.Line(f"{name}: up to {force.max():.0f} N", 1e3 * runs[name].time, force)
        for name, force in forces.items()
    ]
    speeds = [
        vm.Line(name, 1e3 * run.time, run.angular_velocity("OF").to_numpy())
        for name, run in runs.items()
    ]
    panels = [vm.Panel("reaction at B (N)", loads), vm.Panel("speed of the crank (rad/s)", speeds)]
    title = "Andrews' squeezer: two pivots moved by up to 2 mm"
    vm.line_figure(panels, title=title, xlabel="time (ms)").savefig(out / "reaction.png")
    optimum.before.draw(trace="F", title="Before: the original").savefig(out / "before.png")
    optimum.after.draw(trace="F", title="After: pivots A and B moved by up to 2 mm").savefig(
        out / "after.png"
    )
    return optimum


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
