"""The problems of the comparison of contacts as plain numbers, and how every side measures them.
Needs NumPy only: it runs in both environments.

A side reads the closed forms (one JSON object: case → value and gradient) from its standard input
and prints one JSON object. Every time is the fastest of several repetitions and does not include
building a model. All errors are relative; that of a gradient is the largest one of its derivatives.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from problem import fastest

GRAVITY = 9.81
DURATIONS = {"ball": 2.0, "oscillator": 30.0}
"""s"""
NOMINAL = {"ball": (0.9, 0.9), "oscillator": (12.0, 6.0, 1.0)}
"""Drop height and restitution; initial position, initial velocity and friction force."""
PERTURBATIONS = (3e-2, 1e-2, 1e-3, 1e-4, 1e-5)
"""Of central differences, for parameters of any size."""
FEWER = (1e-2, 1e-3, 1e-4)
"""Perturbations for slow settings: the ones that were best for most of these."""
SLOW, TOO_SLOW = 0.08, 0.6
"""Duration of a motion (s) above which fewer perturbations are tried, and above which none is: a
sweep takes up to 30 motions.
"""

FAILURES = (RuntimeError, ValueError)
"""What engines raise where steps are too long."""

Run = Callable[[], float]
"""Simulates from the initial conditions; returns the last position."""
Build = Callable[..., Run]
"""Builds a model for parameter values."""


@dataclass
class Point:
    """One setting of a sweep: what it costs and how accurate it is."""

    case: str
    engine: str
    model: str
    setting: str
    milliseconds: float
    error: float
    gradient_milliseconds: float | None = None
    gradient_error: float | None = None
    perturbation: float | None = None


@dataclass(frozen=True)
class Exact:
    value: float
    gradient: np.ndarray

    def error(self, value: float) -> float:
        return abs(value / self.value - 1)

    def gradient_error(self, gradient: np.ndarray) -> float:
        return float(np.abs(gradient / self.gradient - 1).max())


def references() -> dict[str, Exact]:
    """The closed forms, from the standard input."""
    asked = json.load(sys.stdin)
    return {case: Exact(x["value"], np.array(x["gradient"])) for case, x in asked.items()}


def damping_ratio(restitution: float) -> float:
    """Damping ratio of a linear spring and damper, without tensile force, for a restitution.

    The contact ends where the force vanishes, before the spring is relaxed. Weight is neglected.
    """

    def restitution_of(ζ: float) -> float:
        root = math.sqrt(1 - ζ * ζ)
        return math.exp(-ζ / root * math.atan2(2 * ζ * root, 2 * ζ * ζ - 1))

    low, high = 1e-9, 0.7
    for _ in range(60):  # bisection to the last digit
        middle = (low + high) / 2
        low, high = (middle, high) if restitution_of(middle) > restitution else (low, middle)
    return low


def stiffness(step: float, steps_in_contact: float) -> float:
    """Stiffness (N/m) with which a contact of 1 kg lasts so many steps."""
    return (math.pi / (steps_in_contact * step)) ** 2


def central(build: Build, at: tuple[float, ...], size: float) -> np.ndarray:
    """Gradient by central differences."""
    rows = np.eye(len(at)) * size
    raised, lowered = ([build(*(at + sign * δ).tolist())() for δ in rows] for sign in (1, -1))
    return (np.array(raised) - lowered) / (2 * size)


def measure(
    case: str, engine: str, model: str, setting: str, build: Build, exact: Exact
) -> Point | None:
    """One setting of another engine; its gradient with the best perturbation of a sweep.

    Returns:
        None if the setting does not lead to the end.
    """
    at = NOMINAL[case]
    try:
        seconds, value = fastest(build(*at), 0.1, at_least=3, at_most=50)
    except FAILURES:
        return None
    point = Point(case, engine, model, setting, 1e3 * seconds, exact.error(value))
    if not point.error <= 1:  # nor a number
        return None
    if seconds <= TOO_SLOW:
        errors = {}
        for size in PERTURBATIONS if seconds <= SLOW else FEWER:
            with suppress(*FAILURES):
                errors[size] = exact.gradient_error(central(build, at, size))
        point.perturbation = min(errors, key=errors.__getitem__, default=None)
        if point.perturbation is not None:
            point.gradient_error = errors[point.perturbation]
            point.gradient_milliseconds = 2 * len(at) * point.milliseconds
    return point


def sweep(
    case: str,
    engine: str,
    model: str,
    settings: Iterable[tuple[str, dict[str, Any]]],
    build: Callable[..., Run],
    exact: Exact,
) -> list[Point]:
    """All settings that lead to the end; each is a text and keywords of `build`."""
    points = [
        measure(case, engine, model, text, partial(build, **options), exact)
        for text, options in settings
    ]
    return [point for point in points if point is not None]


def report(points: list[Point], versions: dict[str, str], **more: Any) -> None:
    print()
    print(json.dumps({"points": [asdict(p) for p in points], "versions": versions, **more}))
