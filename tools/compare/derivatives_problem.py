"""What the comparison of derivatives asks for, in plain numbers. Needs NumPy only: it runs in both
environments.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from problem import fastest

GOALS = (1e-5, 1e-7)
"""Largest relative errors of the 15 derivatives."""
DIRECTION = np.array([1.0, -0.5, 0.25, 2.0, -1.0])
"""The vector that Hessians are multiplied by."""
LADDER = [round(100 * 2 ** (k / 8)) for k in range(48)]
"""Numbers of equal steps, from few to many."""
TOLERANCES = [10 ** (-k / 4) for k in range(8, 49)]
WAYS = ("forward", "backward")

CHAIN_STEP, CHAIN_STEPS = 1e-3, 200
CHAIN_LENGTH, CHAIN_ANGLE = 10.0, -1.0
"""Of all bars together, m, and of each at the start, rad."""
CHAIN_SIZES = (5, 10, 20, 50)
BY_HAND = (5, 10)
"""Of these, those with a program by hand."""


@dataclass
class Way:
    """Derivatives by one way, forward (direct) or backward (adjoint): milliseconds of each, and of
    the motion alone with the same setting.
    """

    setting: str
    error: float
    milliseconds: dict[str, float] = field(default_factory=dict)
    """By what is computed: motion, gradient, Hessians, product."""
    hessians: list[list[list[float]]] = field(default_factory=list)


@dataclass
class Engine:
    """A method of one engine at one goal."""

    engine: str
    goal: float | None
    ways: dict[str, Way] = field(default_factory=dict)
    build_seconds: dict[str, float] = field(default_factory=dict)
    """By what is built: first, second derivatives; the motion goes with the first ones."""


@dataclass
class Chain:
    """A chain of bars by one method: milliseconds of motion, direct and adjoint gradients, and
    seconds to build each.
    """

    engine: str
    size: int
    milliseconds: dict[str, float] = field(default_factory=dict)
    build_seconds: dict[str, float] = field(default_factory=dict)
    gradient: list[float] = field(default_factory=list)


@contextmanager
def one_core() -> Iterator[None]:
    """Threads started meanwhile share one core, where the system can see to it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def timings(
    calls: Mapping[str, Callable[[], object]], seconds: float = 0.1, at_least: int = 2
) -> dict[str, float]:
    """Milliseconds of each on one core, the shortest of three rounds of some repetitions, so that
    all share what disturbs the machine.
    """
    with one_core():
        rounds = [
            {what: 1e3 * fastest(call, seconds, at_least)[0] for what, call in calls.items()}
            for _ in range(3)
        ]
    return {what: min(times[what] for times in rounds) for what in calls}
