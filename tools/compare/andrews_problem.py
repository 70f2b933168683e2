"""Andrews' squeezing mechanism as plain numbers, and how every side measures and reports. Needs
NumPy only, as problem.py does.

Seven bodies, one degree of freedom, driven by a torque, 0.05 s from rest. Data: Hairer and Wanner, Solving
Ordinary Differential Equations II, VII.7, as in the test set for IVP solvers (Bari), with x_B =
−0.03635; the start is the one of the test set, which closes to the last digit. A place in the plane
is a complex number. A side prints one JSON object, an `AndrewsReport`; it is asked nothing.
"""

from __future__ import annotations

import json
import math
import sys
from cmath import exp
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import TypeVar

from problem import fastest

DURATION = 0.05
TORQUE = 0.033
STIFFNESS, NATURAL_LENGTH = 4530.0, 0.07785
GROUND = {"O": 0j, "A": -0.06934 - 0.00227j, "B": -0.03635 + 0.03273j, "C": 0.014 + 0.072j}
β, Θ, γ, φ, δ, ω, ε = (
    -0.06171389001427645,
    0.0,
    0.4552798191630704,
    0.2226683901658859,
    0.4873649795438426,
    -0.2226683901658859,
    1.2305474445498212,
)
"""The seven angles of the test set at the start."""
F_END = -0.005208504722 + 0.004676695260j
"""Point F at the end: converged to all digits printed, β(0.05) = 33.825867766955."""
ACCURACIES = (1e-3, 1e-5, 1e-7)
SEVEN_ANGLES, ONE_ANGLE = "CasADi (seven angles)", "CasADi (one angle)"
"""Two ways to use one engine."""

T = TypeVar("T")


@dataclass(frozen=True)
class Body:
    """A body in its own frame: inertia about its centre of mass, points by name (the first is the
    origin), and its angle at the start.
    """

    mass: float
    inertia: float
    com: complex
    points: dict[str, complex]
    angle: float

    @property
    def span(self) -> complex:
        """From its first point to its second one."""
        _, second, *_ = self.points.values()
        return second

    def seen(self, place: complex) -> complex:
        """A place of the body as a multiple of its span."""
        return place / self.span


BODIES = {
    "OF": Body(0.04325, 2.194e-6, 0.00092, {"O": 0, "F": 0.007}, β),
    "FE": Body(0.00365, 4.410e-7, -0.0115, {"F": 0, "E": -0.028}, β + Θ),
    "BDE": Body(
        0.02373, 5.255e-6, 0.01043 - 0.01874j, {"B": 0, "E": -0.035j, "D": 0.02 - 0.018j}, γ
    ),
    "EG": Body(0.00706, 5.667e-7, 0.01421j, {"E": 0, "G": 0.02j}, φ + δ),
    "AG": Body(0.07050, 1.169e-5, 0.02308 + 0.00916j, {"A": 0, "G": 0.04}, δ),
    "HE": Body(0.00706, 5.667e-7, -0.01421, {"E": 0, "H": -0.02}, ω + ε),
    "AH": Body(0.05498, 1.912e-5, -0.00449 - 0.01228j, {"A": 0, "H": -0.04j}, ε),
}
PINS = (
    ("O", "ground", "OF"),
    ("F", "OF", "FE"),
    ("B", "ground", "BDE"),
    ("A", "ground", "AG"),
    ("A", "ground", "AH"),
    ("G", "AG", "EG"),
    ("H", "AH", "HE"),
    ("E", "FE", "BDE"),
    ("E", "FE", "EG"),
    ("E", "FE", "HE"),
)
"""Point, and the two bodies that share it. All but the last three make a tree."""
CLOSING = PINS[-3:]
SPRING = (("BDE", "D"), ("ground", "C"))


def start_places() -> dict[str, complex]:
    """Every point at the start."""
    places = dict(GROUND)
    for body in BODIES.values():
        origin = places[next(iter(body.points))]
        places |= {
            name: origin + at * exp(1j * body.angle)
            for name, at in body.points.items()
            if name not in places
        }
    return places


def error_of(F: complex) -> float:
    """Relative error of point F at the end."""
    return abs(F - F_END) / abs(F_END)


def more_steps(fewest: int, most: int) -> list[int]:
    """Numbers of steps, √2 times as many each."""
    return [
        round(fewest * 2 ** (k / 2)) for k in range(1 + math.floor(2 * math.log2(most / fewest)))
    ]


def tighter(loosest: int, tightest: int) -> list[float]:
    """Tolerances from 10 to the power of −loosest to that of −tightest, a √10th each."""
    return [10 ** (-k / 2) for k in range(2 * loosest, 2 * tightest + 1)]


@dataclass
class Setting:
    """One setting of an engine: what a run costs and what it gives."""

    method: str
    name: str
    milliseconds: float
    error: float


@dataclass
class Curve:
    """All settings of one engine, or of one way to use it."""

    engine: str
    how: str
    build_seconds: float | None = None
    settings: list[Setting] = field(default_factory=list)

    def climb(
        self,
        method: str,
        ladder: Iterable[tuple[str, Callable[[], T]]],
        end: Callable[[T], complex],
        gives_up: tuple[type[Exception], ...] = (),
        longest: float = 20.0,
    ) -> None:
        """Measures settings, coarse to fine, until three in a row are ten times as accurate as
        asked for or a run takes too long.

        One that gives up is left out. Only the run is timed, not reading point F from its result.
        """
        enough = 0
        for name, run in ladder:
            try:
                seconds, result = fastest(run, 0.8, at_least=3)
            except gives_up:
                continue
            error = error_of(end(result))
            if math.isfinite(error):
                self.settings.append(Setting(method, name, 1e3 * seconds, error))
            enough = enough + 1 if error <= ACCURACIES[-1] / 10 else 0
            if enough == 3 or seconds > longest:
                return


@dataclass
class AndrewsReport:
    """What a side prints."""

    versions: dict[str, str]
    curves: list[Curve]

    def print(self) -> None:
        json.dump(asdict(self), sys.stdout)
