"""Two mechanisms of any size as plain numbers, and what a side reports about one of them. Needs
NumPy only, as problem.py does.

A side reads one case (a JSON object: problem and size) from its standard input and prints one JSON
object, a `ScaleReport`. Every case has a process of its own, so that memory is that of one model.
"""

from __future__ import annotations

import json
import math
import resource
import sys
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

STEP = 1e-3
FINER = 4
"""A run with so many times as many steps tells the error."""
DURATIONS = {10: 0.5, 40: 0.5, 100: 0.5, 400: 0.2, 1000: 0.1, 4000: 0.05}
"""Seconds simulated for each size; the mechanism of four-bars meets its singular position after 0.7
s.
"""
MEASURING = 5.0
"""Seconds over which an engine repeats a run, at the least, so that a machine with other work on it
is idle for some of them.
"""
LENGTH = MASS = 1.0
WATCHED = 10
"""Links at the beginning whose ends are compared, and the last one."""
GROUND = "ground"


@dataclass(frozen=True)
class Link:
    """A uniform bar: where its start is, its angle, and the velocities of its middle."""

    name: str
    start: tuple[float, float]
    angle: float = 0.0
    velocity: tuple[float, float] = (0.0, 0.0)
    turning: float = 0.0

    @property
    def middle(self) -> tuple[float, float]:
        return self.start[0] + LENGTH / 2 * math.cos(self.angle), self.start[
            1
        ] + LENGTH / 2 * math.sin(self.angle)


@dataclass(frozen=True)
class Problem:
    """Links, and pins between pairs of places: (link, "start" or "end"), or (ground, name of an
    anchor).
    """

    links: list[Link]
    anchors: dict[str, tuple[float, float]]
    pins: list[tuple[tuple[str, str], tuple[str, str]]]
    dofs: frozenset[str]
    """Links whose angles say how it starts."""
    watched: list[str]


def chain(size: int) -> Problem:
    """A chain of pendulums, hanging from one end, horizontal and at rest."""
    links = [Link(f"link{k}", (k * LENGTH, 0.0)) for k in range(size)]
    names = [link.name for link in links]
    pins = [((before, "end"), (name, "start")) for before, name in pairwise(names)]
    pins.insert(0, ((GROUND, "A"), (names[0], "start")))
    return Problem(links, {"A": (0.0, 0.0)}, pins, frozenset(names), [*names[:WATCHED], names[-1]])


def four_bars(size: int) -> Problem:
    """Benchmark A02 of the IFToMM library: so many windows, cranks upright, their tops at 1 m/s."""
    cranks = [
        Link(
            f"crank{k}", (k * LENGTH, 0.0), math.pi / 2, velocity=(0.5, 0.0), turning=-1.0 / LENGTH
        )
        for k in range(size + 1)
    ]
    couplers = [Link(f"coupler{k}", (k * LENGTH, LENGTH), velocity=(1.0, 0.0)) for k in range(size)]
    anchors = {f"A{k}": crank.start for k, crank in enumerate(cranks)}
    names = [crank.name for crank in cranks]
    pins = [
        ((GROUND, anchor), (name, "start")) for anchor, name in zip(anchors, names, strict=True)
    ]
    for coupler, (left, right) in zip(couplers, pairwise(names), strict=True):
        pins += [((left, "end"), (coupler.name, "start")), ((right, "end"), (coupler.name, "end"))]
    return Problem(
        [*cranks, *couplers], anchors, pins, frozenset(names[:1]), [*names[:WATCHED], names[-1]]
    )


PROBLEMS = {"chain": chain, "four-bars": four_bars}


@dataclass(frozen=True)
class Case:
    """What a side is asked for."""

    problem: str
    size: int

    def build(self) -> Problem:
        return PROBLEMS[self.problem](self.size)

    @property
    def duration(self) -> float:
        return DURATIONS[self.size]

    @property
    def steps(self) -> int:
        return round(self.duration / STEP)

    @property
    def bodies(self) -> int:
        return self.size if self.problem == "chain" else 2 * self.size + 1


def case_asked() -> Case:
    """The case, from the standard input."""
    return Case(**json.load(sys.stdin))


@dataclass
class Setting:
    """One setting of an engine: what a step costs, and how far the watched ends are from where a
    finer run leads, m.
    """

    name: str
    milliseconds: float
    error: float


@dataclass
class ScaleReport:
    """What a side prints."""

    versions: dict[str, str]
    imported_megabytes: float
    """Peak of the process before the model is stated."""
    stating_seconds: float = 0.0
    build_seconds: float = 0.0
    """Until the first step is done, stating included."""
    megabytes: float = 0.0
    settings: list[Setting] = field(default_factory=list)
    positions: list[list[float]] = field(default_factory=list)
    """Watched ends after the finer run."""

    def print(self) -> None:
        json.dump(asdict(self), sys.stdout)


def peak_megabytes() -> float:
    """Most memory held so far by this process or by one it started (a compiler)."""
    return max(own_megabytes(), children_megabytes())


def own_megabytes() -> float:
    """Most memory held so far by this process.

    The system's own figure (`ru_maxrss`) begins with that of the process that started it, so it is of
    use for children only.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def children_megabytes() -> float:
    """Most memory held by the largest process that this one started and that has ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def distance(positions: np.ndarray, others: np.ndarray) -> float:
    """Largest distance of a pair of points."""
    return float(np.linalg.norm(positions - others, axis=1).max())
