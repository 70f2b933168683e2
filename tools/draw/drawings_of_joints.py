"""Drawings of joints."""

from __future__ import annotations

from sketch import FIRST, GIVEN, METAL, SECOND, Sketch, drawing, from_


@drawing
def revolute(s: Sketch) -> None:
    s.bar((0.6, 2.9), (2.7, 1.5), colour=FIRST)
    s.bar((2.7, 1.5), (5.2, 2.5), colour=SECOND)
    s.line((2.7, 1.5), from_((2.7, 1.5), 2.3, -33.7), colour=METAL, style=":")
    s.turn((2.7, 1.5), 1.5, -33.7, 21.8, "φ")
    s.pin((2.7, 1.5), "r₁ = r₂", (-0.45, -0.42))
    s.text((0.9, 3.1), "first", FIRST)
    s.text((4.6, 2.75), "second", SECOND)


@drawing
def prismatic(s: Sketch) -> None:
    angle = 15
    o = (0.9, 1.0)
    for side in (0.33, -0.33):
        a = from_(o, side, angle + 90)
        s.line(a, from_(a, 4.6, angle), colour=FIRST, width=3)
    p = from_(o, 2.9, angle)
    s.line(o, from_(o, 4.9, angle), colour=METAL, style="--")
    s.box(p, 1.1, 0.58, angle)
    s.pin(o, "r₁", (-0.35, 0.2))
    s.pin(p)
    s.measure(o, p, "s", 0.75)
    s.arrow(from_(o, 4.2, angle), from_(o, 5.0, angle), "u", FIRST, (0.0, 0.25))
    s.text((4.3, 1.2), "first", FIRST)
    s.text((3.2, 1.0), "second", SECOND)


@drawing
def fixed(s: Sketch) -> None:
    s.body((0.5, 0.6), (3.2, 0.5), (3.4, 1.9), (0.7, 2.3))
    s.body((2.4, 1.0), (5.0, 1.9), (5.4, 3.6), (3.2, 3.2), colour=SECOND)
    p = (2.95, 1.7)
    s.axes(p, 0, 1.0, ("x₁", "y₁"), FIRST)
    s.axes(p, 30, 1.6, ("x₂", "y₂"), SECOND)
    s.turn(p, 0.85, 0, 30, "C", away=0.2)
    s.pin(p)


@drawing
def point_on_line(s: Sketch) -> None:
    o = (0.9, 0.8)
    s.line(o, from_(o, 5.0, 18), colour=FIRST, width=9)
    s.line(from_(o, 0.3, 18), from_(o, 4.7, 18), colour="#ffffff", width=4)
    p = from_(o, 3.0, 18)
    s.body((3.2, 1.3), (4.3, 1.4), (4.9, 3.3), (3.7, 4.0), (3.0, 2.7), colour=SECOND)
    s.pin(o, "r₁", (-0.4, 0.25))
    s.pin(p, "r₂", (0.18, 0.25))
    s.measure(o, p, "s", 0.5)
    s.arrow(from_(o, 4.3, 18), from_(o, 5.1, 18), "u", FIRST, (-0.2, -0.3))


@drawing
def distance(s: Sketch) -> None:
    a, b = (1.9, 1.2), (4.3, 2.6)
    s.body((0.3, 0.5), (2.3, 0.4), (2.6, 1.6), (0.8, 2.3))
    s.body((3.9, 2.0), (5.7, 2.0), (5.6, 3.8), (3.9, 3.6), colour=SECOND)
    s.line(a, b, colour=METAL, width=2.5)
    s.pin(a, "r₁", (-0.5, -0.05))
    s.pin(b, "r₂", (0.22, 0.0))
    s.measure(a, b, "L", 0.55)


@drawing
def spherical(s: Sketch) -> None:
    c = (3.0, 1.7)
    s.cylinder(from_(c, 2.4, 205), from_(c, 0.5, 205), 0.16)
    s.ball(c, 0.62, FIRST, 2)
    s.cylinder(from_(c, 0.4, 40), from_(c, 2.6, 40), 0.16, SECOND, 2.5)
    s.ball(c, 0.42)
    s.turn(c, 1.2, 55, 105)
    s.turn(c, 1.2, -20, -70)
    s.turn(from_(c, 1.9, 40), 0.45, -30, 250)
    s.pin(c, "r₁ = r₂", (-0.4, -0.9))


@drawing
def cylindrical(s: Sketch) -> None:
    a, angle = (0.6, 0.9), 22
    s.cylinder(a, from_(a, 5.2, angle), 0.2, FIRST, 1)
    s.cylinder(from_(a, 2.0, angle), from_(a, 3.3, angle), 0.46, SECOND, 3)
    s.cylinder(from_(a, 3.3, angle), from_(a, 5.2, angle), 0.2, FIRST, 3.5)
    s.arrow(from_(a, 5.2, angle), from_(a, 5.75, angle), "a", FIRST, (-0.2, 0.22))
    s.arrow((1.6, 2.4), from_((1.6, 2.4), 1.3, angle), "s", GIVEN, (-0.8, 0.0), both=True)
    s.turn(from_(a, 4.1, angle), 0.62, -110, 120)
    s.text((5.0, 1.75), "φ", GIVEN)
    s.pin(a, "r₁", (-0.1, 0.42))


@drawing
def screw(s: Sketch) -> None:
    a, angle = (0.6, 0.9), 22
    s.cylinder(a, from_(a, 5.2, angle), 0.2, FIRST, 1)
    for k in range(5):
        at = from_(a, 0.4 + 0.32 * k, angle)
        s.line(from_(at, 0.2, angle + 70), from_(at, 0.2, angle - 110), colour=FIRST, order=1.5)
    s.cylinder(from_(a, 2.0, angle), from_(a, 3.3, angle), 0.46, SECOND, 3)
    s.cylinder(from_(a, 3.3, angle), from_(a, 5.2, angle), 0.2, FIRST, 3.5)
    s.arrow(from_(a, 5.2, angle), from_(a, 5.75, angle), "a", FIRST, (-0.2, 0.22))
    s.arrow(
        (1.6, 2.4), from_((1.6, 2.4), 1.3, angle), "s = p φ / 2π", GIVEN, (-1.5, 0.1), both=True
    )
    s.turn(from_(a, 4.1, angle), 0.62, -110, 120)
    s.text((5.0, 1.75), "φ", GIVEN)
    s.pin(a, "r₁", (-0.1, 0.42))


@drawing
def universal(s: Sketch) -> None:
    c = (3.0, 1.8)
    s.cylinder((0.4, 1.8), (2.2, 1.8), 0.17)
    s.line((2.2, 1.8), (2.35, 2.75), (3.0, 2.75), colour=FIRST, width=4)
    s.line((2.2, 1.8), (2.35, 0.85), (3.0, 0.85), colour=FIRST, width=4)
    s.line(from_(c, 1.0, 25), (4.05, 1.55), from_(c, 0.75, -30), colour=SECOND, width=4)
    s.line(from_(c, 1.0, 25), (3.0, 2.75), from_(c, 0.75, 150), colour=SECOND, width=4)
    s.cylinder(from_(c, 1.0, 25), from_(c, 2.9, 25), 0.17, SECOND, 2.5)
    s.line((3.0, 0.85), (3.0, 2.75), colour=METAL, width=4, order=4)
    s.line(from_(c, 0.75, -30), from_(c, 0.75, 150), colour=METAL, width=4, order=4)
    s.arrow((3.0, 2.75), (3.0, 3.5), "a₁", FIRST, (0.12, 0.0))
    s.arrow(from_(c, 0.75, -30), from_(c, 1.45, -30), "a₂", SECOND, (0.1, -0.1))
    s.pin(c)


def table(s: Sketch) -> None:
    """A plane seen from the side, with its normal."""
    s.polygon((0.4, 0.6), (4.3, 0.6), (5.7, 2.2), (1.8, 2.2), colour=FIRST, order=1)
    s.arrow((1.3, 1.05), (1.3, 2.6), "n", FIRST)
    s.pin((1.3, 1.05), "r₁", (0.18, -0.05))


@drawing
def planar(s: Sketch) -> None:
    table(s)
    s.polygon((2.6, 1.1), (3.8, 1.1), (3.8, 1.8), (2.6, 1.8), colour=SECOND)
    s.polygon((2.6, 1.8), (3.8, 1.8), (4.2, 2.25), (3.0, 2.25), colour=SECOND)
    s.polygon((3.8, 1.1), (4.2, 1.55), (4.2, 2.25), (3.8, 1.8), colour=SECOND)
    s.arrow((4.3, 1.3), (5.0, 1.3), "", GIVEN, both=True)
    s.arrow((4.3, 1.55), (4.75, 2.05), "", GIVEN, both=True)
    s.turn((3.4, 2.85), 0.38, -60, 230)
    s.text((2.7, 2.85), "φ", GIVEN)
    s.arrow((3.4, 2.05), (3.4, 3.6), "", SECOND)


@drawing
def point_on_plane(s: Sketch) -> None:
    table(s)
    s.body((3.1, 1.0), (3.9, 1.5), (4.9, 3.0), (3.8, 4.0), (2.5, 3.1), (2.7, 1.6), colour=SECOND)
    s.pin((3.22, 1.4), "r₂", (0.1, 0.22))
    s.arrow((3.5, 1.0), (4.2, 1.0), "", GIVEN, both=True)
    s.turn((3.7, 2.6), 0.5, -60, 180)
