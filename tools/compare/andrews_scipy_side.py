"""What a careful user writes with SciPy for this one mechanism: the crank's angle alone, the
right-hand side in plain Python.

Every point is found from the crank's angle as the meeting of two circles, its derivatives from two
linear equations; places are complex numbers. That takes about a third of the time of a 13×13 system
for the seven angles in NumPy.
"""

from __future__ import annotations

from cmath import exp
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy
from andrews_problem import (
    BODIES,
    DURATION,
    GROUND,
    NATURAL_LENGTH,
    STIFFNESS,
    TORQUE,
    AndrewsReport,
    Curve,
    start_places,
    tighter,
)
from scipy.integrate import solve_ivp

METHODS = ("DOP853", "RK45", "LSODA")
Jet: TypeAlias = tuple[complex, complex, complex]
"""A place with its first and second derivative by the crank's angle."""

A, B, C = (GROUND[name] for name in "ABC")
STILL_A, STILL_B, STILL_O = (A, 0j, 0j), (B, 0j, 0j), (0j, 0j, 0j)
START = start_places()
OF, FE, BDE, EG, AG, HE, AH = (
    (body.mass, body.inertia, body.seen(body.com)) for body in BODIES.values()
)
RADIUS = BODIES["OF"].points["F"]
D_SEEN = BODIES["BDE"].seen(BODIES["BDE"].points["D"])


def sides(first: str, second: str, third: str) -> tuple[float, float, float]:
    """Squared distances of the third point from both others, and the side on which it lies (1 or
    −1).
    """
    P, Q, X = START[first], START[second], START[third]
    return abs(X - P) ** 2, abs(X - Q) ** 2, float(np.sign(((X - P) / (Q - P)).imag))


E_SIDES, G_SIDES, H_SIDES = sides("F", "B", "E"), sides("E", "A", "G"), sides("E", "A", "H")


def meeting(P: Jet, Q: Jet, sides: tuple[float, float, float]) -> Jet:
    """The point at given distances from two others."""
    p, dp, ddp = P
    q, dq, ddq = Q
    from_p, from_q, side = sides
    to_q = q - p
    squared = to_q.real**2 + to_q.imag**2
    along = (from_p - from_q + squared) / (2 * squared)
    x = p + to_q * complex(along, side * (from_p / squared - along**2) ** 0.5)
    a, b = x - p, x - q
    ax, ay, bx, by = a.real, a.imag, b.real, b.imag
    inverse = 1 / (ax * by - ay * bx)
    r, s = ax * dp.real + ay * dp.imag, bx * dq.real + by * dq.imag
    dx = complex((by * r - ay * s) * inverse, (ax * s - bx * r) * inverse)
    da, db = dx - dp, dx - dq
    r = ax * ddp.real + ay * ddp.imag - da.real**2 - da.imag**2
    s = bx * ddq.real + by * ddq.imag - db.real**2 - db.imag**2
    return x, dx, complex((by * r - ay * s) * inverse, (ax * s - bx * r) * inverse)


def inertia(body: tuple[float, float, complex], P: Jet, Q: Jet) -> tuple[float, float]:
    """What a body adds to the inertia felt by the crank, and half the derivative of it."""
    mass, about_com, seen = body
    p, dp, ddp = P
    q, dq, ddq = Q
    span, dspan, ddspan = q - p, dq - dp, ddq - ddp
    v, a = dp + seen * dspan, ddp + seen * ddspan
    turning, bending = (dspan / span).imag, (ddspan / span).imag
    return (
        mass * (v.real**2 + v.imag**2) + about_com * turning**2,
        mass * (v.real * a.real + v.imag * a.imag) + about_com * turning * bending,
    )


def rates(_: float, y: np.ndarray) -> tuple[float, float]:
    """Speed and acceleration of the crank."""
    β, speed = y.tolist()
    f = RADIUS * exp(1j * β)
    F = (f, 1j * f, -f)
    E = meeting(F, STILL_B, E_SIDES)
    G, H = meeting(E, STILL_A, G_SIDES), meeting(E, STILL_A, H_SIDES)
    J = dJ = 0.0
    for body, P, Q in (
        (OF, STILL_O, F),
        (FE, F, E),
        (BDE, STILL_B, E),
        (EG, E, G),
        (AG, STILL_A, G),
        (HE, E, H),
        (AH, STILL_A, H),
    ):
        more, bending = inertia(body, P, Q)
        J += more
        dJ += bending
    to_D = B + D_SEEN * (E[0] - B) - C
    moved = D_SEEN * E[1]
    length = abs(to_D)
    pull = (
        STIFFNESS
        * (1 - NATURAL_LENGTH / length)
        * (to_D.real * moved.real + to_D.imag * moved.imag)
    )
    return speed, (TORQUE - pull - dJ * speed**2) / J


def end(solution: Any) -> complex:
    return RADIUS * exp(1j * solution.y[0, -1])


def main() -> None:
    curve = Curve("SciPy", "one angle, closed form by hand, plain Python", 0.0)
    for method in METHODS:
        ladder = [
            (
                f"tolerance {tolerance:.1e}",
                partial(
                    solve_ivp,
                    rates,
                    (0, DURATION),
                    [BODIES["OF"].angle, 0.0],
                    method,
                    [DURATION],
                    rtol=tolerance,
                    atol=tolerance,
                ),
            )
            for tolerance in tighter(2, 12)
        ]
        curve.climb(method, ladder, end)
    AndrewsReport({"scipy": scipy.__version__, "numpy": np.__version__}, [curve]).print()


if __name__ == "__main__":
    main()
