"""Drawings of what moves a mechanism: forces, drivers, the start."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from sketch import FIRST, GIVEN, METAL, SECOND, Place, Sketch, drawing, from_


def hinged(s: Sketch, name: str = "φ") -> Place:
    """A bar on the ground."""
    o = (1.6, 1.2)
    s.line(o, (4.6, 1.2), colour=METAL, style=":")
    s.bar(o, from_(o, 3.4, 35), colour=SECOND)
    s.support(o, "O", (-0.5, 0.05))
    s.turn(o, 1.7, 0, 35, name)
    return o


@drawing
def gravity(s: Sketch) -> None:
    s.axes((0.6, 0.6), size=0.9)
    s.body((1.9, 1.6), (4.0, 1.5), (4.4, 3.3), (2.2, 3.6))
    s.centre((3.15, 2.5), "com")
    s.arrow((3.15, 2.5), (3.15, 0.7), "m g", GIVEN)
    s.arrow((5.3, 3.3), (5.3, 2.0), "g", GIVEN)


def two_bodies(s: Sketch) -> tuple[Place, Place]:
    """With a place on each, between which something acts."""
    s.body((0.1, 0.5), (1.5, 0.6), (1.6, 2.2), (0.1, 2.3))
    s.body((4.5, 1.3), (5.9, 1.1), (5.9, 3.2), (4.6, 3.3), colour=SECOND)
    return (1.1, 1.3), (4.9, 2.2)


def between_points(s: Sketch, draw: Callable[[Place, Place], None]) -> None:
    """A force between two points, with its length."""
    a, b = two_bodies(s)
    draw(a, b)
    s.pin(a, "r₁", (-0.45, -0.1))
    s.pin(b, "r₂", (0.2, 0.0))
    s.measure(a, b, "x", 0.6)


@drawing
def spring(s: Sketch) -> None:
    between_points(s, s.spring)
    s.text((2.9, 1.25), "k, x₀, c")


@drawing
def damper(s: Sketch) -> None:
    between_points(s, s.dashpot)
    s.text((3.0, 1.25), "c")


@drawing
def torsional_spring(s: Sketch) -> None:
    o = hinged(s)
    φ = np.linspace(0, 4.2 * np.pi, 200)
    r = 0.12 + 0.042 * φ
    spiral = [
        (o[0] + float(a * np.cos(b + 0.3)), o[1] + float(a * np.sin(b + 0.3)))
        for a, b in zip(r, φ, strict=True)
    ]
    s.line(*spiral, colour=GIVEN, width=1.6, order=6)
    s.text((0.6, 2.1), "k, φ₀, c", GIVEN)


@drawing
def gear(s: Sketch) -> None:
    for centre, radius, colour, name, offset in (
        ((1.9, 1.8), 1.2, FIRST, "φ₁", 0.0),
        ((3.86, 1.8), 0.72, SECOND, "φ₂", np.pi / 12),
    ):
        teeth = round(20 * radius)
        φ = np.linspace(0, 2 * np.pi, 12 * teeth) + offset
        r = radius + 0.07 * np.sign(np.cos(teeth * (φ - offset)))
        rim = [
            (centre[0] + float(x * np.cos(y)), centre[1] + float(x * np.sin(y)))
            for x, y in zip(r, φ, strict=True)
        ]
        s.polygon(*rim, colour=colour)
        s.pin(centre)
        s.turn(centre, 0.55 * radius, 20, 150, name)
    s.text((2.3, 3.4), "φ₂ = i φ₁ + φ₀", GIVEN)


@drawing
def cam(s: Sketch) -> None:
    φ = np.linspace(0, 2 * np.pi, 121)
    r = 0.95 + 0.25 * (1 + np.cos(φ - 1.9)) / 2
    o = (3.0, 1.25)
    rim = [
        (o[0] + float(a * np.cos(b)), o[1] + float(a * np.sin(b)))
        for a, b in zip(r, φ, strict=True)
    ]
    s.polygon(*rim, colour=FIRST)
    s.pin(o)
    s.turn(o, 0.5, 20, 150, "u")
    top = o[1] + 1.18
    wheel = [(3.0 + 0.3 * float(np.cos(x)), top + 0.3 + 0.3 * float(np.sin(x))) for x in φ]
    s.polygon(*wheel, colour=SECOND)
    s.line((3.0, top + 0.3), (3.0, 3.7), colour=SECOND, width=3.0)
    s.text((3.45, top + 0.3), "r", GIVEN)
    s.text((0.6, 2.1), "c(u)", GIVEN)


@drawing
def point_on_curve(s: Sketch) -> None:
    x = np.linspace(0.6, 5.4, 120)
    path = [(float(a), 1.7 + 0.8 * float(np.sin(1.5 * a))) for a in x]
    s.line(*path, colour=FIRST, width=2.0)
    place = path[70]
    s.pin(place)
    s.text((place[0] + 0.25, place[1] + 0.25), "P, u", SECOND)
    s.text((0.6, 3.3), "r_P = c(u)", GIVEN)


@drawing
def constraint(s: Sketch) -> None:
    x = np.linspace(0.5, 5.5, 120)
    path = [(float(a), 1.6 + 0.7 * float(np.sin(1.3 * a))) for a in x]
    s.line(*path, colour=GIVEN, width=1.6)
    at = path[70]
    s.body(
        (at[0] - 0.7, at[1] - 0.2),
        (at[0] + 0.5, at[1] - 0.5),
        (at[0] + 0.8, at[1] + 0.7),
        (at[0] - 0.3, at[1] + 0.9),
    )
    s.pin(at, "P", (0.15, 0.15))
    s.text((0.7, 3.2), "Φ(q, t) = 0", GIVEN)


@drawing
def velocity_constraint(s: Sketch) -> None:
    s.axes((0.5, 0.5), size=0.8)
    s.box((3.0, 1.9), 2.2, 0.9, 25)
    s.line((2.3, 1.57), (3.7, 2.23), colour=METAL, width=5, order=6)
    s.pin((3.0, 1.9), "P", (-0.1, -0.5))
    s.arrow((3.0, 1.9), (4.9, 2.79), "v", GIVEN)
    s.text((0.7, 3.3), "Ψ = A q̇ + b = 0", GIVEN)


@drawing
def rolling(s: Sketch) -> None:
    s.wall((0.5, 0.7), (5.5, 0.7))
    centre = (2.9, 1.8)
    s.ball(centre, 1.1, FIRST)
    s.pin(centre, "c", (-0.4, 0.1))
    s.line(centre, (2.9, 0.7), colour=GIVEN, width=0.9, order=6)
    s.text((3.0, 1.15), "r", GIVEN)
    s.arrow(centre, (4.6, 1.8), "v", GIVEN)
    s.arrow((1.0, 0.7), (1.0, 1.5), "n", GIVEN)
    s.pin((1.0, 0.7), "p", (0.1, -0.4))
    s.turn(centre, 0.8, 150, 40, "ω", GIVEN)


@drawing
def force(s: Sketch) -> None:
    s.axes((0.5, 0.5), size=0.8)
    s.body((1.3, 0.9), (3.4, 0.5), (4.5, 2.3), (3.4, 3.4), (1.9, 2.7))
    s.axes((2.2, 1.5), 20, 0.7, ("x₁", "y₁"), FIRST)
    s.pin((3.7, 2.2), "P", (-0.4, 0.1))
    s.arrow((3.7, 2.2), (5.2, 2.9), "F", GIVEN)


@drawing
def torque(s: Sketch) -> None:
    s.body((0.4, 0.7), (2.4, 0.6), (2.6, 2.6), (0.6, 2.8))
    s.body((3.4, 1.3), (5.4, 1.2), (5.6, 3.2), (3.6, 3.4), colour=SECOND)
    s.turn((4.5, 2.3), 0.62, -50, 220, "τ", away=-0.3)
    s.turn((1.5, 1.7), 0.62, 230, -40, "−τ", METAL, away=-0.35)
    s.text((0.9, 0.4), "against", FIRST)
    s.text((4.3, 0.95), "body", SECOND)


@drawing
def drive_angle(s: Sketch) -> None:
    o = hinged(s, "φ = f(t)")
    s.turn(o, 0.7, 60, 300, "", METAL)
    s.text((0.5, 2.2), "motor", METAL)


@drawing
def drive_displacement(s: Sketch) -> None:
    s.wall((0.4, 0.9), (5.6, 0.9))
    s.box((3.7, 1.3), 1.2, 0.8)
    s.pin((0.9, 1.3), "r₁", (-0.1, 0.3))
    s.pin((3.7, 1.3))
    s.measure((0.9, 1.3), (3.7, 1.3), "s = f(t)", 0.85)
    s.arrow((4.4, 1.3), (5.3, 1.3), "effort", GIVEN, (-0.7, 0.3))


@drawing
def drive_distance(s: Sketch) -> None:
    a, b = two_bodies(s)
    middle = (a[0] + 0.55 * (b[0] - a[0]), a[1] + 0.55 * (b[1] - a[1]))
    s.line(a, middle, colour=METAL, width=9)
    s.line(middle, b, colour=METAL, width=4)
    s.pin(a, "r₁", (-0.45, -0.1))
    s.pin(b, "r₂", (0.2, 0.0))
    s.measure(a, b, "x = f(t)", 0.65, shift=(-0.35, 0.3))


@drawing
def drive_coordinate(s: Sketch) -> None:
    s.axes((0.6, 0.6), size=0.8)
    s.body((2.6, 1.9), (4.6, 1.7), (4.9, 3.3), (3.0, 3.5), colour=SECOND)
    s.arrow((1.7, 0.6), (1.7, 3.6), "d", GIVEN, (0.12, -0.1))
    s.line((1.7, 2.5), (5.6, 2.5), colour=METAL, style=":")
    s.line((1.4, 0.6), (5.6, 0.6), colour=METAL, style=":")
    s.pin((3.6, 2.5), "P")
    s.measure((5.4, 2.5), (5.4, 0.6), "d·r = f(t)", 0.0, shift=(-1.45, 0.0))


@drawing
def drive_pose(s: Sketch) -> None:
    s.axes((0.6, 0.6), size=0.8)
    s.body((2.6, 1.7), (4.7, 1.5), (5.1, 3.1), (3.0, 3.4), colour=SECOND)
    s.pin((3.7, 2.3), "P", (-0.45, 0.1))
    s.axes((3.7, 2.3), 25, 0.9, ("x₁", "y₁"), SECOND)
    s.arrow((0.6, 0.6), (3.6, 2.2), "p(t)", GIVEN, (-1.6, -0.4))
    s.turn((3.7, 2.3), 1.5, 0, 25, "φ(t)", GIVEN)


@drawing
def start(s: Sketch) -> None:
    o, angle = (1.1, 1.3), 55
    p = from_(o, 1.5, angle)
    slide = (p[0] + math.sqrt(3.2**2 - (p[1] - o[1]) ** 2), o[1])
    s.wall((2.2, 0.95), (5.9, 0.95))
    s.line(o, (2.6, o[1]), colour=METAL, style=":")
    s.bar(o, p, colour=SECOND)
    s.bar(p, slide, colour=FIRST)
    s.box(slide, 0.8, 0.6, colour=METAL)
    s.support(o, "O", (-0.5, 0.2))
    s.pin(p, "P")
    s.pin(slide, "S", (-0.1, 0.5))
    s.turn(o, 0.95, 0, angle, "θ₀ given", away=0.25)
    s.text((3.0, 2.7), "the rest is assembled", FIRST, 10)
