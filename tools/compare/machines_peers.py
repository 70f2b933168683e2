"""What the sides of other engines have in common: a step that is short enough, and what is timed."""

from __future__ import annotations

import json
import math
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
    def run(self, step: float) -> np.ndarray:
        """Simulate from the start; returns the last position of the watched point."""
        ...


def report(
    model: Callable[[Machine, dict[str, Placed]], Model], steps: Iterable[float], version: str
) -> None:
    """Measure the machine that is asked for, and print the figures.

    Args:
        model: builds a model of the engine.
        steps: step sizes, from the longest one on.
        version: of the engine, by name.
    """
    asked = json.load(sys.stdin)
    machine, exact = nominal(asked["machine"]), np.array(asked["exact"])
    placed = {b.name: Placed(b, asked["state"][b.name]) for b in machine.bodies}
    stating, built = timed(lambda: model(machine, placed))
    error, first, step = math.inf, math.nan, math.nan
    for step in steps:
        with suppress(Exception):  # which a step that is too long may cause
            first, last = timed(partial(built.run, step))
            error = float(np.linalg.norm(last[: len(exact)] - exact))
        if error <= GOAL:
            break
    if not math.isfinite(error):
        raise SystemExit("no step of the list leads to the end")
    later, _ = fastest(partial(built.run, step), 1.0, at_least=3)
    motions = 2 * KINDS[asked["machine"]].parameters
    figures: dict[str, Any] = {
        "stating": stating,
        "first": first,
        "later": later,
        "gradient": motions * later,
        "error": error,
        "step": step,
        "megabytes": peak_megabytes(),
        "versions": dict([version.split(" ")]),
    }
    json.dump(figures, sys.stdout)
