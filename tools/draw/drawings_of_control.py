"""Drawings of states, signals and control."""

from __future__ import annotations

import numpy as np
from drawings_of_contacts import axes_of_time
from drawings_of_forces import hinged
from sketch import FIRST, GIVEN, INK, METAL, SECOND, Place, Sketch, drawing


def block(s: Sketch, centre: Place, words: str, width: float = 1.7, height: float = 0.9) -> None:
    """A block with its law."""
    x, y = centre
    w, h = width / 2, height / 2
    s.polygon((x - w, y - h), (x + w, y - h), (x + w, y + h), (x - w, y + h), colour=FIRST)
    s.text((x - 0.085 * len(words), y - 0.05), words, INK)


def curve(s: Sketch, origin: Place, t: np.ndarray, y: np.ndarray, colour: str) -> None:
    """A function of time."""
    x0, y0 = origin
    s.line(*[(x0 + a, y0 + b) for a, b in zip(t, y, strict=True)], colour=colour, width=2, order=4)


@drawing
def state(s: Sketch) -> None:
    block(s, (2.9, 2.9), "∫ dt")
    s.arrow((0.6, 2.9), (2.05, 2.9), "ż", GIVEN, (-0.9, 0.2))
    s.arrow((3.75, 2.9), (5.4, 2.9), "z", SECOND, (-0.6, 0.2))
    axes_of_time(s, (0.8, 0.5), 4.6, 1.4, "z(t)")
    t = np.linspace(0, 4.2, 60)
    curve(s, (0.8, 0.5), t, 1.1 - 0.8 * np.exp(-t), SECOND)
    s.text((0.4, 0.75), "z₀", GIVEN)


@drawing
def signal(s: Sketch) -> None:
    block(s, (2.9, 3.1), "input(s)", 2.0, 0.8)
    s.arrow((0.6, 3.1), (1.9, 3.1), "state", METAL, (-1.2, 0.2))
    s.arrow((3.9, 3.1), (5.4, 3.1), "signal", SECOND, (-0.9, 0.2))
    axes_of_time(s, (0.8, 0.5), 4.6, 1.6, "u, y")
    t = np.linspace(0, 4.2, 211)
    u = 0.2 + 1.1 * np.sin(0.7 * t)
    curve(s, (0.8, 0.5), t, u, GIVEN)
    curve(s, (0.8, 0.5), t, 0.2 + 1.1 * np.sin(0.7 * 0.6 * np.floor(t / 0.6)), SECOND)


@drawing
def transfer_function(s: Sketch) -> None:
    block(s, (2.9, 3.1), "G(s)", 1.7, 0.8)
    s.arrow((0.6, 3.1), (2.05, 3.1), "u", GIVEN, (-0.9, 0.2))
    s.arrow((3.75, 3.1), (5.4, 3.1), "y", SECOND, (-0.7, 0.2))
    axes_of_time(s, (0.8, 0.5), 4.6, 1.7, "u, y")
    t = np.linspace(0, 4.2, 120)
    s.line((0.8, 1.5), (5.0, 1.5), colour=GIVEN, width=2)
    y = 1 - np.exp(-0.9 * t) * (np.cos(3 * t) + 0.3 * np.sin(3 * t))
    curve(s, (0.8, 0.5), t, y, SECOND)


@drawing
def pid(s: Sketch) -> None:
    s.arrow((0.2, 2.0), (1.0, 2.0), "e", GIVEN, (-0.55, 0.2))
    s.line((1.0, 0.8), (1.0, 3.2), colour=INK)
    for y, law in ((3.2, "k_p"), (2.0, "k_i ∫"), (0.8, "k_d d/dt")):
        s.arrow((1.0, y), (1.45, y), "", INK)
        block(s, (2.15, y), law, 1.4, 0.7)
        s.line((2.85, y), (3.5, y), (3.5, 2.0), colour=INK)
    s.ball((3.5, 2.0), 0.17, SECOND)
    s.arrow((3.7, 2.0), (4.1, 2.0), "", INK)
    s.polygon((4.1, 1.5), (5.1, 1.5), (5.1, 2.5), (4.1, 2.5), colour=FIRST)
    s.line((4.2, 1.7), (4.4, 1.7), (4.8, 2.3), (5.0, 2.3), colour=INK, width=2, order=5)
    s.arrow((5.1, 2.0), (5.9, 2.0), "y", SECOND, (-0.35, 0.2))


@drawing
def dc_motor(s: Sketch) -> None:
    s.line((0.6, 1.2), (0.6, 3.0), (1.2, 3.0), colour=INK)
    s.polygon((1.2, 2.85), (2.1, 2.85), (2.1, 3.15), (1.2, 3.15), colour=FIRST)
    s.text((1.5, 3.3), "R")
    s.line((2.1, 3.0), (2.4, 3.0), colour=INK)
    bumps = np.linspace(0, 3 * np.pi, 60)
    s.line(*[(2.4 + 0.1 * b, 3.0 + 0.2 * abs(np.sin(b))) for b in bumps], colour=INK)
    s.text((2.8, 3.35), "L")
    s.line((3.34, 3.0), (4.2, 3.0), (4.2, 2.6), colour=INK)
    s.ball((4.2, 2.0), 0.6, SECOND)
    s.text((4.05, 1.9), "M")
    s.line((4.2, 1.4), (4.2, 1.2), (0.6, 1.2), colour=INK)
    s.arrow((0.9, 2.7), (0.9, 1.5), "U", GIVEN, (0.12, 0.5))
    s.arrow((3.4, 2.8), (3.9, 2.8), "i", GIVEN, (-0.5, -0.35))
    s.turn((4.2, 2.0), 0.95, -40, 60, "ω, k i", away=0.3)


@drawing
def servo(s: Sketch) -> None:
    o = hinged(s, "x")
    s.line(o, (o[0] + 2.2, o[1] + 2.5), colour=GIVEN, style="--")
    s.text((o[0] + 2.3, o[1] + 2.4), "r", GIVEN)
    s.turn(o, 0.8, 35, 110, "y", away=0.3)
