"""Explicit Runge–Kutta schemes.

    k_i = f(t + c_i h, y + h Σ_j a_ij k_j),     y_new = y + h Σ_i b_i k_i

Sources: W. Kutta, Z. Math. Phys. 46 (1901) 435–453 (order 4); J. R. Dormand and P. J. Prince, J. Comput. Appl. Math. 6 (1980) 19–26
(order 5, "DOPRI5").
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RungeKutta:
    """A scheme by its coefficients: a (rows below the diagonal) and b; c follows from a."""

    name: str
    order: int
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]

    @property
    def c(self) -> tuple[float, ...]:
        """Where in a step its stages are."""
        return tuple(sum(row) for row in self.a)


RK4 = RungeKutta("Runge–Kutta of order 4", 4, ((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))
DOPRI5 = RungeKutta(
    "Dormand–Prince of order 5",
    5,
    (
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
