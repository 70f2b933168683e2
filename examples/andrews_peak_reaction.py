"""Andrews' squeezer with a bearing that carries less: where should two of its pivots be?

A motor drives the squeezer from rest through five turns in 0.05 s, and bearing B, about which the
sprung lever BDE rocks, takes peaks of 226 N. Pivots A (of the two squeezing levers) and B may each
move by 2 mm in both directions. Which places make the largest reaction at B smallest,

    min over x_A, y_A, x_B, y_B of  max over t of |R_B(t)|,

without making the machine slower? A crank that turns less has smaller forces, too, so the crank has
to come as far as before: ∫ ω dt ≥ that of the original. A largest value over time has kinks; the
search is for the lowest bound above all instants, which has none.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import varimech as vm
from varimech.benchmarks import andrews

DURATION = andrews.DURATION  # 0.05 s
ROOM = 2e-3
"""By which pivots may move to either side (m)."""
PLACES = {
    f"{c}_{pivot}": x
    for pivot in ("A", "B")
    for c, x in zip("xy", andrews.GROUND[pivot], strict=True)
}
"""Coordinates of pivots A and B of the original (m)."""


def mechanism() -> vm.Mechanism:
    """The squeezer with the coordinates of pivots A and B as parameters."""
    return andrews.mechanism(pivots=("A", "B"))


def reaction(s: vm.State) -> Any:
    """Force in bearing B (N)."""
    return vm.norm(s.reaction("B"))


def turned() -> vm.Objective:
    """Angle by which the crank has turned at the end (rad)."""
    return vm.integral(lambda s: s.angular_velocity("OF"), unit="rad")


def solve(m: vm.Mechanism, output: float = 2.5e-4) -> vm.Optimum:
    """The best places; the reaction is bounded at times `output` apart, and between them wherever
    it turns out to be larger there.
    """
    as_before = m.sensitivity(
        turned(), list(PLACES), duration=DURATION, tolerance=1e-10
    ).values.item()
    return m.optimize(
        {"reaction at B": vm.peak(reaction, unit="N")},
        over=list(PLACES),
        duration=DURATION,
        bounds={name: (x - ROOM, x + ROOM) for name, x in PLACES.items()},
        constraints={"turned": turned() >= as_before},
        output=output,
    )


def main(out: Path) -> vm.Optimum:
    """Solve, certify the gradient at the instant of the peak, and draw reactions and mechanism
    before and after.
    """
    m = mechanism()
    optimum = solve(m)
    print(optimum)
    print("multipliers:", optimum.multipliers)  # N/m at bounds of places, N/rad of the turn

    # what holds the optimum is the reaction where it is largest: a value at one instant, the end of
    # a shorter run
    runs = {
        "before": m.simulate(DURATION, output=5e-5),
        "after": m.simulate(DURATION, parameters=optimum.parameters, output=5e-5),
    }
    forces = {name: run.measure(reaction).to_numpy() for name, run in runs.items()}
    instant = float(runs["after"].time[forces["after"].argmax()])
    print(f"largest at t = {1e3 * instant:.2f} ms")
    peak = {"reaction at B": vm.final(reaction, unit="N")}
    print(
        m.sensitivity(
            peak, list(PLACES), duration=instant, parameters=optimum.parameters, tolerance=1e-10
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
    parser = argparse.ArgumentParser(
        description="Pivots of Andrews' squeezer for the least peak reaction at a bearing."
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out/andrews_peak_reaction"), help="folder for pictures"
    )
    main(parser.parse_args().out)
