"""Closure conditions on the parameters alone: a body that is fixed to the ground at several points
has to fit between them.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..core.symbols import SX
from .equations import Equations

FITTING = 1e-9
"""Largest residual that counts as satisfied (m or rad): as small as rounding allows for coordinates
of some metres, and below any manufacturing tolerance.
"""


class ClosureConditions:
    """Closure conditions for any number of sets of parameter values; picklable for other processes."""

    def __init__(self, equations: Equations):
        residuals = ca.vertcat(SX(0, 1), *[c.residuals for c in equations.closure_conditions])
        self.owners = [
            c.name for c in equations.closure_conditions for _ in range(c.residuals.numel())
        ]
        """Element to which each residual belongs."""
        self._residuals = ca.Function("fits", [equations.ρ], [ca.densify(residuals)])
        self._jacobian = ca.Function(
            "fit_jacobian", [equations.ρ], [ca.densify(ca.jacobian(residuals, equations.ρ))]
        )

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return for each row of values whether it satisfies the conditions."""
        if not self.owners or not len(rows):
            return np.ones(len(rows), dtype=bool)
        return np.asarray(np.abs(np.array(self._residuals(rows.T))).max(axis=0) <= FITTING)

    def broken_by(self, index: int, ρ: np.ndarray) -> str | None:
        """Return the owner of a condition that any change of a parameter violates, if there is one."""
        changes = np.abs(np.array(self._jacobian(ρ))[:, index])
        return self.owners[int(changes.argmax())] if changes.max(initial=0.0) > FITTING else None
