"""Conditions on the parameters alone: bodies that the ground holds at several places have to fit
in.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..core.symbols import SX
from .equations import Equations

FITTING = 1e-9
"""Residual up to which they do."""


class ClosureConditions:
    """These conditions for any number of sets of values; can be sent to other processes."""

    def __init__(self, equations: Equations):
        residuals = ca.vertcat(SX(0, 1), *[c.residuals for c in equations.fits])
        self.owners = [c.name for c in equations.fits for _ in range(c.residuals.numel())]
        """What each residual belongs to."""
        self._residuals = ca.Function("fits", [equations.ρ], [ca.densify(residuals)])
        self._slopes = ca.Function(
            "fit_slopes", [equations.ρ], [ca.densify(ca.jacobian(residuals, equations.ρ))]
        )

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Whether each row of values meets them."""
        if not self.owners or not len(rows):
            return np.ones(len(rows), dtype=bool)
        return np.asarray(np.abs(np.array(self._residuals(rows.T))).max(axis=0) <= FITTING)

    def broken_by(self, index: int, ρ: np.ndarray) -> str | None:
        """What any change of a parameter breaks, if there is such a thing."""
        slopes = np.abs(np.array(self._slopes(ρ))[:, index])
        return self.owners[int(slopes.argmax())] if slopes.max(initial=0.0) > FITTING else None
