"""Drawings of racks, belts, curves in contact and bushings."""

from __future__ import annotations

import numpy as np
from sketch import FIRST, GIVEN, METAL, SECOND, Place, Sketch, drawing, from_


def wheel(s: Sketch, centre: Place, radius: float, teeth: int, colour: str) -> None:
    """A wheel with teeth, one of them downwards."""
    φ = np.linspace(0, 2 * np.pi, 12 * teeth)
    r = radius + 0.07 * np.sign(np.cos(teeth * (φ + np.pi / 2)))
    rim = [
        (centre[0] + float(a * np.cos(b)), centre[1] + float(a * np.sin(b)))
        for a, b in zip(r, φ, strict=True)
    ]
    s.polygon(*rim, colour=colour)


@drawing
def rack_and_pinion(s: Sketch) -> None:
    centre, radius, teeth = (2.6, 2.3), 1.0, 20
    wheel(s, centre, radius, teeth, FIRST)
    pitch = 2 * np.pi * radius / teeth
    top = centre[1] - radius
    outline: list[Place] = [(0.6, top - 0.5), (0.6, top - 0.07)]
    count = int(4.6 / pitch)
    for k in range(count):
        x = 2.6 - pitch / 2 + (k - count // 2 + 1) * pitch
        for at, y in ((x - pitch / 2, -0.07), (x - pitch / 2, 0.07), (x, 0.07), (x, -0.07)):
            if 0.6 < at < 5.2:
                outline.append((float(at), top + y))
    outline += [(5.2, top - 0.07), (5.2, top - 0.5)]
    s.polygon(*outline, colour=SECOND)
    s.pin(centre)
    s.line(centre, (centre[0] + radius, centre[1]), colour=GIVEN, width=0.9, order=6)
    s.text((3.05, 2.4), "r", GIVEN)
    s.turn(centre, 0.6, 110, 220, "φ")
    s.arrow((4.1, 1.05), (5.5, 1.05), "s", GIVEN)
    s.text((4.0, 3.2), "s = r φ + s₀", GIVEN)


@drawing
def curve_contact(s: Sketch) -> None:
    """Two equal ellipses; the second one is the first one, mirrored at their common tangent."""
    a, b, u, centre = 1.15, 0.8, 0.25, (1.65, 1.6)
    touch = (centre[0] + float(a * np.cos(u)), centre[1] + float(b * np.sin(u)))
    across = np.array([b * np.cos(u), a * np.sin(u)])
    n = across / np.linalg.norm(across)
    φ = np.linspace(0, 2 * np.pi, 121)
    first = np.column_stack([centre[0] + a * np.cos(φ), centre[1] + b * np.sin(φ)])
    second = first - 2 * np.outer((first - touch) @ n, n)
    middle = np.array(centre) - 2 * float((np.array(centre) - touch) @ n) * n
    for rim, colour, at in ((first, FIRST, centre), (second, SECOND, middle)):
        s.polygon(*[(float(x), float(y)) for x, y in rim], colour=colour)
        s.pin((float(at[0]), float(at[1])))
    t = np.array([-n[1], n[0]])
    ends = [np.array(touch) + k * t for k in (-1.2, 1.2)]
    s.line(*[(float(x), float(y)) for x, y in ends], colour=METAL, width=0.9, order=6)
    end = np.array(touch) + 0.9 * n
    s.arrow(touch, (float(end[0]), float(end[1])), "n₁", GIVEN, (-0.1, -0.45))
    s.text((0.35, 0.55), "c₁(u)", GIVEN)
    s.text((5.05, 3.3), "c₂(w)", GIVEN)


@drawing
def belt(s: Sketch) -> None:
    a, b, r1, r2 = (1.3, 1.9), (4.4, 1.9), 0.6, 1.1
    angle = float(np.degrees(np.arccos((r1 - r2) / (b[0] - a[0]))))
    for sign in (1, -1):
        first, second = from_(a, r1, sign * angle), from_(b, r2, sign * angle)
        s.line(first, second, colour=METAL, width=3, order=1)
    for centre, radius, start, end in (
        (a, r1, angle, 360 - angle),
        (b, r2, -angle, angle),
    ):
        arc = [from_(centre, radius, float(x)) for x in np.linspace(start, end, 60)]
        s.line(*arc, colour=METAL, width=3, order=1)
    s.ball(a, r1 - 0.03, FIRST)
    s.ball(b, r2 - 0.03, SECOND)
    s.pin(a)
    s.pin(b)
    s.line(a, from_(a, r1, -60), colour=GIVEN, width=0.9, order=6)
    s.line(b, from_(b, r2, -60), colour=GIVEN, width=0.9, order=6)
    s.text((1.55, 1.45), "r₁", GIVEN)
    s.text((4.8, 1.2), "r₂", GIVEN)
    s.turn(a, 0.36, 60, 200, "φ₁")
    s.turn(b, 0.6, 60, 200, "φ₂")
    s.text((1.7, 3.25), "k, c, T₀", GIVEN)


@drawing
def bushing(s: Sketch) -> None:
    s.body((0.2, 0.4), (5.0, 0.4), (5.0, 0.9), (1.0, 0.9), (1.0, 3.3), (0.2, 3.3))
    s.body((2.8, 2.0), (5.6, 2.0), (5.6, 3.4), (2.8, 3.4), colour=SECOND)
    s.spring((1.0, 2.9), (2.8, 2.9))
    s.dashpot((1.0, 2.35), (2.8, 2.35))
    s.spring((3.5, 0.9), (3.5, 2.0))
    s.dashpot((4.4, 0.9), (4.4, 2.0))
    s.axes((1.6, 1.2), size=0.7, names=("x₁", "y₁"), colour=FIRST)
    s.pin((3.2, 2.5), "r₂", (0.15, 0.12))
    s.turn((4.5, 2.7), 0.42, -40, 200, "θ")
    s.text((5.0, 1.4), "K, C", GIVEN)
