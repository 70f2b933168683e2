"""The five-bar benchmark as plain numbers, and how every side measures and reports. Needs NumPy
only: it runs in both environments.

A side reads the reference (one JSON object: ψ of the five test samples) from its standard input and
prints one JSON object, a `Report`. Every figure is the fastest of several repetitions; building a
model, or compiling it, is timed apart.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

import numpy as np

DURATION = 5.0
GRAVITY = 9.81
STIFFNESS = 100.0
A, B = np.array([0.0, 0.0]), np.array([1.0, 0.0])
TARGET = np.array([0.5, -2.0])
START_ANGLES = np.array([-3 * math.pi / 4, math.atan2(-1, 1.5)])
L_12 = L_23 = math.sqrt(3.25)
L_3B = math.sqrt(2)
NOMINAL = np.array([math.sqrt(5), math.sqrt(4.25), 1.0, math.sqrt(2) / 2, math.sqrt(2)])
"""Ls1, Ls2, m_A1, xG_A1, L_A1."""

SAMPLES = NOMINAL[0] * np.linspace(0.95, 1.05, 1000)
"""Ls1 of the ensemble."""
TESTED = np.array([0, 250, 500, 750, 999])
"""Samples whose ψ is compared with the reference to choose a step."""
ENSEMBLE_ERROR = 1e-4
"""Largest relative error of ψ allowed in the ensemble."""

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True)
class Bar:
    """A bar between two points: where they start, and its inertia."""

    start: np.ndarray
    end: np.ndarray
    length: float
    mass: float
    com: float
    inertia: float

    @property
    def angle(self) -> float:
        x, y = self.end - self.start
        return math.atan2(y, x)


def bars(ρ: np.ndarray) -> list[Bar]:
    """Bars A1, 12, 23 and B3 at the start, for parameter values ρ."""
    p1, p2 = np.cumsum(
        np.array([[ρ[4]], [L_12]]) * np.column_stack([np.cos(START_ANGLES), np.sin(START_ANGLES)]),
        axis=0,
    )
    to_B = B - p2
    distance = np.linalg.norm(to_B)
    along = (L_23**2 - L_3B**2 + distance**2) / (2 * distance)
    e = to_B / distance
    p3 = p2 + along * e + math.sqrt(L_23**2 - along**2) * np.array([e[1], -e[0]])

    def slender(start: np.ndarray, end: np.ndarray, length: float, mass: float) -> Bar:
        return Bar(start, end, length, mass, length / 2, mass * length**2 / 12)

    first = Bar(A, p1, ρ[4], ρ[2], ρ[3], 1 / 6)
    return [
        first,
        slender(p1, p2, L_12, 1.5),
        slender(p2, p3, L_23, 1.5),
        slender(B, p3, L_3B, 1.0),
    ]


def perturbed(size: float) -> list[np.ndarray]:
    """The ten sets of parameter values of central differences: all raised ones, then all lowered
    ones.
    """
    return [*(NOMINAL + size * np.eye(5)), *(NOMINAL - size * np.eye(5))]


def central(values: Iterable[np.ndarray], size: float) -> np.ndarray:
    """The gradient from ψ at those ten sets."""
    raised, lowered = np.split(np.array(list(values)), 2)
    return (raised - lowered).T / (2 * size)


@dataclass
class Point:
    """One setting of a sweep: what it costs and what it gives."""

    setting: str
    milliseconds: float
    gradient: list[list[float]]


@dataclass
class Curve:
    """All settings of one engine."""

    engine: str
    how: str
    build_seconds: float
    points: list[Point] = field(default_factory=list)


@dataclass
class Throughput:
    """Samples per second at the cheapest step that is accurate enough."""

    engine: str
    workers: str
    setting: str
    error: float
    runs: int
    seconds: float


@dataclass
class Report:
    """What a side prints."""

    versions: dict[str, str]
    curves: list[Curve] = field(default_factory=list)
    throughputs: list[Throughput] = field(default_factory=list)
    reference: dict[str, Any] = field(default_factory=dict)

    def print(self) -> None:
        json.dump(asdict(self), sys.stdout)


def reference_values() -> np.ndarray:
    """ψ of the tested samples, a row a sample, from the standard input."""
    return np.array(json.load(sys.stdin)["psi"])


def timed(what: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    result = what()
    return time.perf_counter() - began, result


def fastest(
    what: Callable[[], T], seconds: float = 0.4, at_least: int = 5, at_most: int = 200
) -> tuple[float, T]:
    """Shortest time of 5 to 200 repetitions, as many as fit into so many seconds; and
    the result.
    """
    best, result = timed(what)
    began, count = time.perf_counter(), 1
    while count < at_least or (count < at_most and time.perf_counter() - began < seconds):
        took, result = timed(what)
        best, count = min(best, took), count + 1
    return best, result


def coarsest(
    settings: Iterable[S], values: Callable[[S], np.ndarray], exact: np.ndarray, goal: float
) -> tuple[S, float]:
    """The first setting, coarse to fine, whose values are accurate enough, and its largest relative
    error.
    """
    for setting in settings:
        error = float(np.abs(values(setting) / exact - 1).max())
        if error <= goal:
            return setting, error
    raise RuntimeError(f"no setting of the sweep reaches {goal:g}")
