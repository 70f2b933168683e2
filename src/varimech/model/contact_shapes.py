"""Distances of a circle or sphere from shapes, from which gaps of contacts are built. Each function
returns the gap without the radius of the first body, and the normal towards it.
"""

from __future__ import annotations

import itertools

import casadi as ca

from ..core.symbols import SX
from .body import Point

COINCIDENT = 1e-200
"""Squared distance (m²) that is added to others without changing them; it gives coincident centres
finite derivatives up to the third order.
"""


def distance_between(d: SX) -> SX:
    """|d| with finite derivatives where d is zero; they are zero there."""
    return ca.sqrt(ca.sumsqr(d) + COINCIDENT)


def gap_inside(d: SX, play: SX, *, rigid: bool) -> tuple[SX, SX]:
    """Gap of a circle or sphere inside another one, and the normal to it, for the vector d between
    their centres. For compliant surfaces the gap is exact, because penetrations matter; for rigid
    ones it is smooth where the centres coincide.
    """
    if rigid:
        return (play**2 - ca.sumsqr(d)) / (2 * play), -d / play
    distance = distance_between(d)
    return play - distance, -d / distance


def distance_inside(gap: SX, play: SX) -> SX:
    """Recover r₂ − r₁ − |d| from the gap of rigid surfaces."""
    return play - ca.sqrt(play**2 - 2 * play * gap)


def distance_from_arc(d: SX, middle: SX, radius: SX, half: SX) -> tuple[SX, SX]:
    """Distance of a point from a circular arc, on either side of it and beyond its ends:

        √((D − R)² + 4 D R sin²(x/2)),     D = |d|,   x: angle beyond the nearer end, 0 between them

    Args:
        d: from the centre of the arc to the place (plane).
        middle: unit vector from the centre to the middle of the arc.
        radius: R.
        half: half the angle of the arc.

    Returns:
        The distance; the normal from the nearest point of the arc.
    """
    across = ca.vertcat(-middle[1], middle[0])
    φ = ca.atan2(ca.dot(across, d), ca.dot(middle, d) + ca.sqrt(COINCIDENT))
    beyond = ca.fmax(φ - half, 0) + ca.fmax(-φ - half, 0)
    D = distance_between(d)
    distance = ca.sqrt((D - radius) ** 2 + 4 * D * radius * ca.sin(beyond / 2) ** 2 + COINCIDENT)
    ψ = ca.fmin(ca.fmax(φ, -half), half)
    nearest = radius * (ca.cos(ψ) * middle + ca.sin(ψ) * across)
    return distance, (d - nearest) / distance


def corners(centre: Point, sides: SX) -> tuple[Point, ...]:
    """Corners of a rectangle or box around a point, along the axes of its body: "corner 1", …,
    anticlockwise in the plane from the one with the smallest components.
    """
    signs = list(itertools.product((-1, 1), repeat=sides.numel()))
    if sides.numel() == 2:
        signs = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    return tuple(
        Point(centre.body, f"corner {k}", centre.local + sides * ca.DM(sign) / 2)
        for k, sign in enumerate(signs, 1)
    )
