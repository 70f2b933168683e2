"""Drawings of contact and friction: stops, contacts, joints with clearance, dry friction."""

from __future__ import annotations

import numpy as np
from sketch import FIRST, GIVEN, METAL, SECOND, Place, Sketch, drawing, from_


def ring(s: Sketch, centre: Place, inner: float, outer: float, colour: str) -> None:
    """A body with a round bore."""
    s.ball(centre, outer, colour, order=1)
    φ = np.linspace(0, 2 * np.pi, 100)
    bore = [from_(centre, inner, float(x)) for x in np.degrees(φ)]
    x, y = zip(*bore, strict=True)
    s.ax.fill(x, y, facecolor="white", edgecolor=colour, linewidth=1.6, zorder=1.5)


@drawing
def stop(s: Sketch) -> None:
    s.wall((0.9, 1.0), (5.3, 1.0))
    for x, away in ((0.9, -0.3), (5.3, 0.3)):
        s.line((x, 1.0), (x, 2.6), colour=METAL, width=5)
        s.line((x, 1.0), (x + away, 1.0), colour=METAL, width=1)
    s.box((2.9, 1.4), 1.0, 0.8, colour=FIRST)
    s.pin((2.9, 1.4))
    s.arrow((3.55, 1.4), (4.3, 1.4), "ẏ", GIVEN, (0.1, 0.15))
    s.line((2.9, 1.4), (2.9, 2.6), colour=GIVEN, width=0.7)
    s.arrow((0.93, 2.45), (2.9, 2.45), "y − lower", GIVEN, (-0.5, 0.3), both=True)
    s.arrow((2.9, 2.45), (5.27, 2.45), "upper − y", GIVEN, (-0.5, 0.3), both=True)
    s.text((0.5, 0.45), "lower", METAL)
    s.text((4.9, 0.45), "upper", METAL)


@drawing
def contact(s: Sketch) -> None:
    # a circle over a line
    s.wall((0.1, 0.75), (2.4, 0.75))
    s.ball((1.1, 1.65), 0.55, FIRST)
    s.pin((1.1, 1.65), "c₁", (-0.42, 0.1))
    s.arrow((1.1, 1.65), from_((1.1, 1.65), 0.55, 35), "r₁", GIVEN, (0.05, 0.15))
    s.pin((2.0, 0.75), "c₂", (-0.1, -0.4))
    s.arrow((2.0, 0.75), (2.0, 1.45), "n", GIVEN, (0.1, 0.0))
    s.arrow((0.35, 0.75), (0.35, 1.1), "g", GIVEN, (-0.25, 0.0), both=True)
    s.line((0.25, 1.1), (1.1, 1.1), colour=GIVEN, width=0.7)
    # corners over a line
    s.wall((2.75, 0.75), (4.25, 0.75))
    s.box((3.5, 1.55), 1.0, 0.7, 12, colour=FIRST)
    s.pin((3.085, 1.105))
    s.pin((4.06, 1.31))
    s.text((2.6, 2.25), "corners: box, also", FIRST, 10)
    # two circles
    s.ball((5.0, 1.2), 0.45, SECOND)
    s.ball((5.5, 2.2), 0.45, FIRST)
    s.pin((5.0, 1.2), "", (0, 0))
    s.pin((5.5, 2.2), "", (0, 0))
    s.text((4.3, 0.5), "second_radius", SECOND, 10)
    # inside, and a capsule
    ring(s, (1.1, 3.2), 0.55, 0.7, SECOND)
    s.ball((1.25, 3.05), 0.2, FIRST)
    s.text((1.95, 3.3), "inside", SECOND, 10)
    s.ax.plot([2.95, 4.0], [3.0, 3.0], color=SECOND, linewidth=17, solid_capstyle="round", zorder=1)
    s.ax.plot(
        [2.95, 4.0], [3.0, 3.0], color="#f6e1bf", linewidth=14, solid_capstyle="round", zorder=2
    )
    s.pin((2.95, 3.0), "", (0, 0))
    s.pin((4.0, 3.0), "to", (0.3, 0.0))
    s.ball((3.5, 3.55), 0.25, FIRST)
    # an arc
    rod = [from_((5.3, 3.05), 0.5, x) for x in range(20, 161, 5)]
    x, y = zip(*rod, strict=True)
    for colour, width in ((SECOND, 9), ("#f6e1bf", 6)):
        s.ax.plot(x, y, color=colour, linewidth=width, solid_capstyle="round", zorder=2)
    s.text((5.15, 3.15), "arc", SECOND, 10)


@drawing
def clearance_joint(s: Sketch) -> None:
    ring(s, (1.7, 2.0), 0.95, 1.25, FIRST)
    s.ball((1.95, 1.75), 0.6, SECOND)
    s.pin((1.7, 2.0), "r₁", (-0.5, 0.15))
    s.pin((1.95, 1.75), "r₂", (0.1, -0.25))
    s.arrow((1.7, 2.95), (1.7, 2.6), "", GIVEN, both=True)
    s.line((1.3, 2.6), (2.1, 2.6), colour=GIVEN, width=0.8)
    s.text((1.85, 2.77), "c", GIVEN)
    s.line(*[from_((1.7, 2.0), 0.6, x) for x in range(0, 361, 5)], colour=SECOND, style=":")
    s.polygon((3.5, 1.0), (5.8, 1.0), (5.8, 1.3), (3.5, 1.3), colour=FIRST)
    s.polygon((3.5, 2.7), (5.8, 2.7), (5.8, 3.0), (3.5, 3.0), colour=FIRST)
    s.line((3.4, 2.0), (5.4, 2.0), colour=FIRST, style=":")
    s.arrow((5.0, 2.0), (5.85, 2.0), "axis", GIVEN, (-0.5, 0.25))
    s.line(
        (3.8, 1.55), (4.6, 1.55), (4.6, 2.45), (3.8, 2.45), (3.8, 1.55), colour=SECOND, style=":"
    )
    s.box((4.2, 1.9), 0.8, 0.9, colour=SECOND)
    s.pin((4.2, 1.9), "r₂", (0.1, -0.25))
    s.pin((3.5, 2.0), "r₁", (-0.4, 0.15))
    s.line((3.7, 2.45), (5.0, 2.45), colour=GIVEN, width=0.8)
    s.arrow((4.85, 2.45), (4.85, 2.7), "", GIVEN, both=True)
    s.text((5.0, 2.52), "c", GIVEN)


@drawing
def dry_friction(s: Sketch) -> None:
    s.wall((0.3, 1.0), (3.0, 1.0))
    s.box((1.5, 1.5), 1.2, 1.0, colour=FIRST)
    s.arrow((2.2, 1.6), (3.0, 1.6), "ẏ", GIVEN, (-0.05, 0.25))
    s.arrow((1.9, 1.04), (0.75, 1.04), "", SECOND)
    s.text((0.35, 1.3), "T", SECOND)
    o = (4.6, 1.7)
    s.arrow((3.5, o[1]), (5.85, o[1]), "ẏ", METAL, (-0.1, -0.25))
    s.arrow((o[0], 0.4), (o[0], 3.2), "−T", METAL, (0.1, 0.0))
    s.line((3.6, 0.9), (4.6, 0.9), colour=SECOND, width=2, order=8)
    s.line((4.6, 0.6), (4.6, 2.8), colour=SECOND, width=2, order=8)
    s.line((4.6, 2.5), (5.75, 2.5), colour=SECOND, width=2, order=8)
    s.text((4.2, 2.8), "F₀", GIVEN)
    s.text((5.3, 2.72), "F", GIVEN)
    s.text((3.65, 0.67), "−F", GIVEN)


def axes_of_time(s: Sketch, origin: Place, width: float, height: float, name: str) -> None:
    """Axes of a function of time."""
    x, y = origin
    s.arrow(origin, (x + width, y), "t", METAL, (0.08, -0.05))
    s.arrow(origin, (x, y + height), name, METAL, (0.1, 0.0))


@drawing
def event(s: Sketch) -> None:
    o = (0.7, 2.3)
    axes_of_time(s, o, 4.8, 1.5, "g(t)")
    t = np.linspace(0, 4.4, 80)
    g = -0.75 + 1.75 * np.sin(0.5 * t)
    s.line(*[(o[0] + x, o[1] + y) for x, y in zip(t, g, strict=True)], colour=FIRST, width=2)
    crossing = o[0] + 2 * float(np.arcsin(0.75 / 1.75))
    s.pin((crossing, o[1]), "t*", (0.12, -0.3))
    s.text((crossing + 0.75, o[1] + 0.25), "rising", GIVEN, 10)
    below = 0.55
    axes_of_time(s, (0.7, below), 4.8, 0.95, "mode")
    s.line((crossing, o[1]), (crossing, below), colour=GIVEN, width=0.8, style=":")
    s.line((0.7, below + 0.55), (crossing, below + 0.55), colour=SECOND, width=2.5, order=4)
    s.line((crossing, below), (5.1, below), colour=SECOND, width=2.5, order=4)
    s.text((2.6, below + 0.4), "do: mode ← 0", SECOND, 10)


@drawing
def mode(s: Sketch) -> None:
    o = (0.9, 0.8)
    s.arrow(o, (5.6, 0.8), "y", METAL, (-0.05, -0.3))
    s.arrow(o, (0.9, 3.3), "mode", METAL, (0.1, 0.0))
    low, high, one = 2.2, 4.2, 2.4
    for x, y, name in ((low, o[1], "on"), (high, o[1], "off")):
        s.text((x - 0.15, y - 0.35), name, GIVEN)
        s.line((x, y), (x, one), colour=GIVEN, width=0.8, style=":")
    s.line((0.9, one), (high, one), colour=SECOND, width=2.5, order=4)
    s.line((low, o[1]), (5.4, o[1]), colour=SECOND, width=2.5, order=4)
    s.arrow((high, one), (high, 1.5), "", SECOND)
    s.line((high, one), (high, o[1]), colour=SECOND, width=1.5, order=4)
    s.arrow((low, o[1]), (low, 1.8), "", SECOND)
    s.line((low, o[1]), (low, one), colour=SECOND, width=1.5, order=4)
    s.text((0.55, one), "1", METAL)
    s.text((0.55, o[1]), "0", METAL)
    s.arrow((2.5, one + 0.25), (3.3, one + 0.25), "rising", GIVEN, (0.1, 0.0))
    s.arrow((3.7, o[1] + 0.25), (2.9, o[1] + 0.25), "falling", GIVEN, (-0.4, 0.3))
