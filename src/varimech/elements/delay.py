"""Delay by T, as Padé's rational approximation of order n:

    e^(−T s) ≈ P(−T s)/P(T s),   P(x) = Σ_k c_k x^k,   c_k = (2n − k)! n! / ((2n)! k! (n − k)!)

The gain is exactly 1 at all frequencies; the error of the phase grows with (ω T)^(2n+1). A jump of the
input is not reproduced as a delayed jump: the approximation responds immediately with (−1)ⁿ times the jump,
and then oscillates.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from ..core.symbols import SX
from ..model import fields
from ..model.linear_block import LinearBlock


class Delay(LinearBlock):
    """A constant delay of the input, by Padé's approximation. Use it for smooth inputs with
    frequencies ω below order / T.
    """

    kind = "delay"
    time = fields.Scalar("Delay time T.", unit="s", rule="positive")
    order = fields.Whole("Order n of the approximation, its number of states.", default=2)

    def numerator_and_denominator(self) -> tuple[Sequence[SX], Sequence[SX]]:
        n, T = self.order, self.time
        c = [
            factorial(2 * n - k)
            * factorial(n)
            / (factorial(2 * n) * factorial(k) * factorial(n - k))
            for k in range(n, -1, -1)
        ]
        powers = range(n, -1, -1)
        denominator = [x * T**k for x, k in zip(c, powers, strict=True)]
        numerator = [x * (-1) ** k for x, k in zip(denominator, powers, strict=True)]
        return numerator, denominator
