"""HHT-α: the generalised-α scheme with α_m = 0 and α_f = α between 0 (the trapezoidal rule) and ⅓
(the most damping).

H. M. Hilber, T. J. R. Hughes and R. L. Taylor, Earthq. Eng. Struct. Dyn. 5 (1977) 283–292.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.errors import check_between
from .generalised_alpha import AlphaScheme


@dataclass(frozen=True)
class HHT(AlphaScheme):
    """The scheme with damping `alpha`, 0 … ⅓; the default 0.05 damps slow vibrations little.

    >>> HHT(alpha=0.0).newmark_beta
    0.25
    """

    name = "hht"
    suits = "order 2 with damping of fast vibrations (alpha=…)"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        most = 1 / 3 + 1e-12  # 1/3 by any rounding
        problem = "must lie between 0 (no damping) and 1/3 (most damping)"
        check_between("HHT", 0.0, most, problem, alpha=self.alpha)

    @property
    def title(self) -> str:
        """Name for results and messages, with its constant."""
        return f"HHT (α = {self.alpha:g})"

    @property
    def alpha_f(self) -> float:
        """α_f = α."""
        return self.alpha
