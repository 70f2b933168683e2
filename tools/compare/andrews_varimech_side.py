"""Varimech's side: its public calls only, compiled backend."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import Any

from andrews_problem import DURATION, AndrewsReport, Curve, more_steps, tighter
from problem import timed

import varimech as vm
from varimech.benchmarks.andrews import mechanism

HOW = "bodies and joints, derived and compiled automatically; explicit, index 1 with projections"
LAST_ONLY = 10**9


def fixed(integrator: str, fewest: int, most: int) -> list[dict[str, Any]]:
    """Settings with equal steps, only the last one stored."""
    return [
        {"integrator": integrator, "step": DURATION / n, "every": LAST_ONLY}
        for n in more_steps(fewest, most)
    ]


def chosen(integrator: str, loosest: int, tightest: int) -> list[dict[str, Any]]:
    """Settings with steps chosen for tolerances of 10^−loosest … 10^−tightest, only
    the end stored.
    """
    return [
        {"integrator": integrator, "tolerance": t, "output": DURATION}
        for t in tighter(loosest, tightest)
    ]


LADDERS: dict[str, list[dict[str, Any]]] = {
    "dop853, adaptive": chosen("dop853", 2, 12),
    "dopri5, adaptive": chosen("dopri5", 2, 9),
    "dopri5": fixed("dopri5", 50, 20_000),
    "rk4": fixed("rk4", 50, 20_000),
}
"""By method: what is given to `simulate`, coarse to fine."""


def simulated(m: vm.Mechanism, setting: dict[str, Any]) -> vm.Run:
    return m.simulate(DURATION, backend="native", progress=False, **setting)


def end(run: vm.Run) -> complex:
    """Point F at the end."""
    x, y = run.position("F").to_numpy()[-1]
    return complex(x, y)


def named(setting: dict[str, Any]) -> str:
    return (
        f"tolerance {setting['tolerance']:.1e}"
        if "tolerance" in setting
        else f"{DURATION / setting['step']:.0f} steps"
    )


def main() -> None:
    stating_seconds, m = timed(mechanism)
    first = simulated(m, next(iter(LADDERS.values()))[-1])
    curve = Curve("Varimech", HOW, stating_seconds + first.info["seconds"]["build"])
    for method, ladder in LADDERS.items():
        simulated(m, ladder[-1])  # compiles
        curve.climb(
            method,
            [(named(s), partial(simulated, m, s)) for s in ladder],
            end,
            (vm.SimulationError,),
        )
    AndrewsReport({"varimech": version("varimech")}, [curve]).print()


if __name__ == "__main__":
    main()
