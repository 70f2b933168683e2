"""The classical Runge–Kutta scheme of order 4.

W. Kutta, Z. Math. Phys. 46 (1901) 435–453.
"""

from __future__ import annotations

from .runge_kutta import RungeKutta

RK4 = RungeKutta(
    "rk4",
    "Runge–Kutta of order 4",
    4,
    ((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
    (1 / 6, 1 / 3, 1 / 3, 1 / 6),
    suits="order 4, fixed steps",
)
