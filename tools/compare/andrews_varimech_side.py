"""Varimech's side: its public calls only, compiled backend."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import Any

from andrews_problem import (
    BODIES,
    DURATION,
    GROUND,
    NATURAL_LENGTH,
    PINS,
    SPRING,
    STIFFNESS,
    TORQUE,
    AndrewsReport,
    Curve,
    more_steps,
)
from problem import timed

import varimech as vm

HOW = "bodies and joints, derived and compiled by itself; explicit, index 1 with projections"
LAST_ONLY = 10**9


def fixed(integrator: str, fewest: int, most: int) -> list[dict[str, Any]]:
    """Settings with equal steps, only the last one stored."""
    return [{"integrator": integrator, "step": DURATION / n, "every": LAST_ONLY} for n in more_steps(fewest, most)]


LADDERS: dict[str, list[dict[str, Any]]] = {
    "dopri5": fixed("dopri5", 50, 20_000),
    "rk4": fixed("rk4", 50, 20_000),
}
"""By method: what is given to `simulate`, coarse to fine."""


def mechanism() -> vm.Mechanism:
    """The mechanism, stated anew; nothing is derived or compiled yet."""
    m = vm.Mechanism("andrews", dimension=2)
    for name, place in GROUND.items():
        m.ground_point(name, (place.real, place.imag))
    for name, body in BODIES.items():
        points = {point: (at.real, at.imag) for point, at in body.points.items()}
        m.body(name, mass=body.mass, inertia=body.inertia, com=(body.com.real, body.com.imag), points=points)
    for point, first, second in PINS:
        m.revolute(f"{point} {second}", f"{first}.{point}", f"{second}.{point}")
    m.spring("spring", *(".".join(end) for end in SPRING), stiffness=STIFFNESS, natural_length=NATURAL_LENGTH)
    m.torque("drive", "OF", TORQUE)
    crank, *others = BODIES
    m.start(angle={crank: BODIES[crank].angle}, near={name: BODIES[name].angle for name in others})
    return m


def simulated(m: vm.Mechanism, setting: dict[str, Any]) -> vm.Run:
    return m.simulate(DURATION, backend="native", progress=False, **setting)


def end(run: vm.Run) -> complex:
    """Point F at the end."""
    x, y = run.position("OF.F").to_numpy()[-1]
    return complex(x, y)


def named(setting: dict[str, Any]) -> str:
    return f"tolerance {setting['tolerance']:.1e}" if "tolerance" in setting else f"{DURATION / setting['step']:.0f} steps"


def main() -> None:
    stating_seconds, m = timed(mechanism)
    first = simulated(m, next(iter(LADDERS.values()))[-1])
    curve = Curve("Varimech", HOW, stating_seconds + first.info["seconds"]["build"])
    for method, ladder in LADDERS.items():
        simulated(m, ladder[-1])  # compiles
        curve.climb(method, [(named(s), partial(simulated, m, s)) for s in ladder], end, (vm.SimulationError,))
    AndrewsReport({"varimech": version("varimech")}, [curve]).print()


if __name__ == "__main__":
    main()
