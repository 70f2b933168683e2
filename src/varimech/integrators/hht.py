"""HHT-α: the generalised-α scheme with α_m = 0 and α_f = α between 0 (the trapezoidal rule) and ⅓ (the most damping).

H. M. Hilber, T. J. R. Hughes and R. L. Taylor, Earthq. Eng. Struct. Dyn. 5 (1977) 283–292.
"""

from __future__ import annotations

from ..errors import ModelError
from .generalised_alpha import AlphaScheme


def HHT(alpha: float = 0.05) -> AlphaScheme:
    """The scheme with damping `alpha`, 0 … ⅓.

    >>> HHT(alpha=0.0).newmark_beta
    0.25
    """
    if not 0 <= alpha <= 1 / 3 + 1e-12:
        raise ModelError(f"HHT: alpha = {alpha!r} must lie between 0 (no damping) and 1/3 (most damping)")
    return AlphaScheme(f"HHT (α = {alpha:g})", 0.0, alpha)
