"""Export of runs of a mechanism for machines without Varimech."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from ..analyses.simulation import Simulation
from ..backends.bundle import TARGETS, write_bundle
from ..backends.compiler import NO_COMPILER, find_compiler
from ..core.errors import ModelError, unknown_name
from ..sensitivity.objective import Objective
from ..solving.ensemble_runs import sampler_for
from ..solving.task import Task


def export(
    s: Simulation,
    objectives: Mapping[str, Objective],
    indices: list[int] | None,
    folder: Path,
    target: str,
) -> Path:
    """Write a bundle and return its folder. `indices` are the parameters to differentiate with
    respect to; None for none.
    """
    if target not in TARGETS:
        raise unknown_name("target", target, TARGETS)
    if folder.exists() and not folder.is_dir():
        problem = f"{folder} is a file; give a folder"
        raise ModelError(problem, element="export")
    if s.given:
        raise ModelError(
            "runs elsewhere get their parameters there; leave parameters= out", element="export"
        )
    every, numbers = s.options.get("every", 1), s.solvers.data.parameter_set
    stored = s.options.get("output") is not None or every != 1
    schedule = s.schedule if stored else s.schedule.last_only()
    solver, allowed = s.solver(objectives), numbers.allowed
    if find_compiler() is None:
        raise ModelError(
            f"the program is executed here first, which needs a C compiler: {NO_COMPILER}",
            element="export",
        )
    # nothing is compiled for the few runs that a bundle contains
    sampler = sampler_for(solver, Task(schedule, objectives, indices, "auto", False), 1)
    if sampler is None:
        problem = (
            f"{solver.method.title} has no compiled program that assembles its own initial state"
        )
        raise ModelError(
            problem, element=f"mechanism {s.name!r}", remedy="try another formulation or integrator"
        )
    about: Mapping[str, object] = {
        "mechanism": s.name,
        "method": solver.method.title,
        "duration": float(s.duration),
        "parameters": [
            {
                "name": p.name,
                "unit": p.unit,
                "nominal": p.value,
                "bounds": _within(p.bounds, sampler.ranges.get(k, (-math.inf, math.inf))),
                "rules": allowed.rules_of(k),
            }
            for k, p in enumerate(numbers.parameters.values())
        ],
        "not checked": (
            allowed.others
            + [f"{name}: fits together" for name in sorted(set(solver.start.closure.owners))]
        ),
        "objectives": [{"name": name, "unit": o.unit} for name, o in objectives.items()],
        "wrt": [p.name for p in s.solvers.parameters(indices or [])],
    }
    write_bundle(folder, sampler, target, about)
    return folder


def _within(
    bounds: tuple[float | None, float | None], range_: tuple[float, float]
) -> tuple[float | None, float | None]:
    """Bounds of a parameter, tightened to the range for which the exported steps suffice."""
    lower, upper = bounds
    least = max(range_[0], -math.inf if lower is None else lower)
    greatest = min(range_[1], math.inf if upper is None else upper)
    return (
        least if math.isfinite(least) else None,
        greatest if math.isfinite(greatest) else None,
    )
