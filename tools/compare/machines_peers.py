"""What the sides of other engines have in common: a step that is short enough, and what is timed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

import numpy as np
from machines import KINDS, Machine, Placed, nominal
from problem import fastest, timed
from scale_problem import peak_megabytes

GOAL = 1e-4
"""Distance (m) of the watched point from its exact position at the end that a step must reach."""


class Model(Protocol):
    def run(self, step: float, solver: str) -> np.ndarray:
        """Simulate from the start; returns the last position of the watched point."""
        ...


def report(
    model: Callable[[Machine, dict[str, Placed]], Model],
    settings: Iterable[tuple[float, str]],
    version: str,
) -> None:
    """Measure the machine that is asked for, and print the figures.

    Args:
        model: builds a model of the engine.
        settings: steps and solvers, the fastest first; the first that is accurate enough counts, or
            else the most accurate one.
        version: of the engine, by name.
    """
    asked = json.load(sys.stdin)
    machine, exact = nominal(asked["machine"]), np.array(asked["exact"])
    placed = {b.name: Placed(b, asked["state"][b.name]) for b in machine.bodies}
    stating, built = timed(lambda: model(machine, placed))
    results = []
    for setting in settings:
        with suppress(Exception):  # which a step that is too long may cause
            first, last = timed(partial(built.run, *setting))
            error = float(np.linalg.norm(last[: len(exact)] - exact))
            results.append((error, first, setting))
            if error <= GOAL:
                break
    known = {"versions": dict([version.split(" ")])}
    if not results:
        json.dump({"problem": "every setting fails", **known}, sys.stdout)
        return
    error, first, setting = min(results)
    later, _ = fastest(partial(built.run, *setting), 1.0, at_least=3)
    motions = 2 * KINDS[asked["machine"]].parameters
    figures: dict[str, Any] = {
        "stating": stating,
        "first": first,
        "later": later,
        "gradient": motions * later,
        "error": error,
        "setting": f"{1e3 * setting[0]:g} ms, {setting[1]}",
        "megabytes": peak_megabytes(),
    }
    json.dump(figures | known, sys.stdout)
