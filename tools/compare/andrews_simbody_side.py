"""Simbody's side, where its library and headers are installed: writes the mechanism as numbers for
andrews_simbody.cpp, compiled here.
"""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import andrews_problem as andrews

SOURCE = Path(__file__).with_name("andrews_simbody.cpp")
METHODS = ("RungeKuttaMerson", "RungeKuttaFeldberg")
"""CPODES (Adams) comes to a halt with some tolerances; RungeKutta3 takes longer."""
CONSTRAINTS = {"default": 0.0, "1e-3": 1e-3}
"""Tolerances of the constraints: by default a tenth of the accuracy. A loose one means fewer
projections, which cost accuracy here.
"""
ENGINE, HOW = "Simbody", "bodies and joints, tree of pins with closed loops, explicit"
MISSING = "not measured: no libsimbody-dev on this machine"


def installed() -> str | None:
    """Its version, where the compiler and pkg-config find it."""
    if shutil.which("pkg-config") is None or shutil.which("g++") is None:
        return None
    asked = subprocess.run(
        ["pkg-config", "--modversion", "simbody"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() if asked.returncode == 0 else None


def compiled() -> str:
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "simbody"], capture_output=True, text=True, check=True
    ).stdout.split()
    subprocess.run(
        ["g++", str(SOURCE), "-o", "andrews_simbody", *flags, "-std=c++14", "-O3"], check=True
    )
    return "./andrews_simbody"


def as_numbers() -> list[float]:
    """The mechanism as the program reads it; places on a body are seen from its pin."""
    tree = {
        name: (point, parent)
        for point, parent, name in reversed(andrews.PINS)
        if (point, parent, name) not in andrews.CLOSING
    }
    order = [name for _, _, name in andrews.PINS if name in tree][: len(tree)]
    number = {"ground": -1.0} | {name: float(k) for k, name in enumerate(order)}

    def angle(name: str) -> float:
        return 0.0 if name == "ground" else andrews.BODIES[name].angle

    def on(name: str, at: complex) -> list[float]:
        seen = at - andrews.BODIES[name].points[tree[name][0]]
        return [seen.real, seen.imag]

    def at_point(name: str, point: str) -> list[float]:
        return (
            [andrews.GROUND[point].real, andrews.GROUND[point].imag]
            if name == "ground"
            else on(name, andrews.BODIES[name].points[point])
        )

    numbers = [float(len(order))]
    for name in order:
        point, parent = tree[name]
        body = andrews.BODIES[name]
        numbers += [
            number[parent],
            *at_point(parent, point),
            body.mass,
            body.inertia,
            *on(name, body.com),
            body.angle - angle(parent),
        ]
    numbers.append(float(len(andrews.CLOSING)))
    for point, first, second in andrews.CLOSING:
        numbers += [
            number[first],
            *at_point(first, point),
            number[second],
            *at_point(second, point),
        ]
    (body_end, ground_end) = andrews.SPRING
    numbers += [
        number[body_end[0]],
        *at_point(*body_end),
        *at_point(*ground_end),
        andrews.STIFFNESS,
        andrews.NATURAL_LENGTH,
    ]
    return [*numbers, andrews.TORQUE, *at_point("OF", "F"), andrews.DURATION]


@dataclass(frozen=True)
class Asked:
    """One setting: the method with its tolerance of the constraints, and the accuracy or the number
    of steps.
    """

    method: str
    constraints: str
    accuracy: float
    steps: int = 0

    @property
    def words(self) -> str:
        step = andrews.DURATION / self.steps if self.steps else 0.0
        return f"{self.method} {self.accuracy!r} {CONSTRAINTS[self.constraints]!r} {step!r}"

    @property
    def name(self) -> str:
        return f"{self.steps} steps" if self.steps else f"accuracy {self.accuracy:.1e}"

    @property
    def ladder(self) -> str:
        return (
            f"{self.method}, {'equal steps, ' if self.steps else ''}constraints {self.constraints}"
        )


def settings() -> Iterator[Asked]:
    for method in METHODS:
        for constraints in CONSTRAINTS:
            yield from (Asked(method, constraints, accuracy) for accuracy in andrews.tighter(2, 8))
        yield from (Asked(method, "1e-3", 1e-2, steps) for steps in andrews.more_steps(125, 1500))


def main() -> None:
    version = installed()
    if version is None:
        andrews.AndrewsReport({}, [andrews.Curve(ENGINE, MISSING)]).print()
        return
    asked = list(settings())
    words = " ".join([*(repr(x) for x in as_numbers()), *(one.words for one in asked)])
    first, *lines = subprocess.run(
        [compiled()], input=words, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.splitlines()
    curve = andrews.Curve(ENGINE, HOW, float(first))
    for one, line in zip(asked, lines, strict=True):
        seconds, x, y = map(float, line.split())
        if math.isfinite(seconds):
            curve.settings.append(
                andrews.Setting(
                    one.ladder, one.name, 1e3 * seconds, andrews.error_of(complex(x, y))
                )
            )
    andrews.AndrewsReport({"simbody": version}, [curve]).print()


if __name__ == "__main__":
    main()
