"""Export of runs of a mechanism to machines without Varimech."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..analyses.hessians import TwiceDifferentiable
from ..backends.bundle import TARGETS, write_bundle
from ..backends.compiler import NO_COMPILER, find_compiler
from ..core.errors import ModelError, unknown_name
from ..schemes import RunOptions, choose
from ..sensitivity.objective import Objectives, some_objectives
from ..solving.ensemble_runs import sampler_for
from ..solving.task import Task

MANY = 10**9
"""Assumed number of runs, so that compiling pays."""


def export(
    mechanism: TwiceDifferentiable,
    folder: str | os.PathLike[str],
    objectives: Objectives,
    target: str,
    duration: float,
    how: RunOptions,
) -> Path:
    """Write a bundle; returns its folder. `Mechanism.export` documents the arguments."""
    named = some_objectives("export", objectives)
    if target not in TARGETS:
        raise unknown_name("target", target, TARGETS)
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ModelError(f"export: {folder} is a file; give a folder")
    method, schedule = choose(duration, **how)
    only_end = (
        schedule
        if how.get("output") is not None or how.get("every", 1) != 1
        else schedule.last_only()
    )
    solver, allowed = mechanism._solver(method, named), mechanism.data.parameter_set.allowed
    sampler = sampler_for(solver, Task(only_end, named, None, "native", False), MANY)
    if sampler is None and find_compiler() is None:
        raise ModelError(
            f"export: the program is compiled here first, which needs a C compiler: {NO_COMPILER}"
        )
    if sampler is None:
        raise ModelError(
            f"mechanism {mechanism.name!r} with {method.title} has no compiled program that"
            " assembles its own initial state; try another formulation or integrator"
        )
    about: Mapping[str, Any] = {
        "mechanism": mechanism.name,
        "method": method.title,
        "duration": float(duration),
        "parameters": [
            {
                "name": p.name,
                "unit": p.unit,
                "nominal": p.value,
                "bounds": p.bounds,
                "rules": allowed.rules_of(k),
            }
            for k, p in enumerate(mechanism.parameters.values())
        ],
        "not checked": (
            allowed.others
            + [f"{name}: fits together" for name in sorted(set(solver.start.fits.owners))]
        ),
        "objectives": [{"name": name, "unit": o.unit} for name, o in named.items()],
    }
    write_bundle(folder, sampler, target, about)
    return folder
