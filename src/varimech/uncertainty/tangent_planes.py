"""Tangent planes of limits at a design point, and their change with the means and standard
deviations of the parameters.

With x = μ + σ ξ, where the distribution of ξ of each parameter is fixed, the values of the
parameters at a point u depend on their means and standard deviations:

    ∂x_j/∂μ_j = 1,      ∂x_j/∂σ_j = ξ_j,      J = ∂x/∂u,      ∂J_j/∂σ_j = J_j / σ_j.

A limit g is replaced by  g* + c'(x − x*)  with the gradient c at the point. Its plane in the
standard space and the distance of this plane from the origin are

    a = J'c,      β = (a'u* − g*) / |a|,

and at a design point, where g* = 0 and u* is parallel to a, exactly

    ∂β/∂μ_j = −c_j / |a|,      ∂β/∂σ_j = −c_j ξ_j / |a|.

(O. Ditlevsen and H. O. Madsen, Structural Reliability Methods, 1996, chapter 8.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .parameter_distributions import ParameterDistributions


@dataclass(frozen=True, eq=False)
class TangentPlanes:
    """Tangent planes of one or more limits at a point; the event is the region beyond all of
    them.
    """

    point: np.ndarray
    """u*, (d,)."""
    standardised: np.ndarray
    """ξ at the point, (d,)."""
    sigma: np.ndarray
    """Standard deviations of the parameters, (d,)."""
    jacobian: np.ndarray
    """J, (d, d)."""
    gradients: np.ndarray
    """c of each limit, positive towards the event, (limit, d)."""
    beyond: np.ndarray
    """g* of each limit, (limit,)."""

    @classmethod
    def at(
        cls,
        distributions: ParameterDistributions,
        u: np.ndarray,
        gradients: np.ndarray,
        beyond: np.ndarray,
    ) -> TangentPlanes:
        """Planes at a point of the standard space; limits that do not change there have no
        plane.
        """
        J = distributions.jacobian(u)
        ξ = (distributions.from_normal(u[None])[0] - distributions.mean) / distributions.sigma
        kept = (gradients @ J).any(axis=1)
        return cls(u, ξ, distributions.sigma, J, gradients[kept], beyond[kept])

    @cached_property
    def normals(self) -> np.ndarray:
        """a of each plane, (limit, d)."""
        return self.gradients @ self.jacobian

    @property
    def directions(self) -> np.ndarray:
        """Unit vectors towards the event, (limit, d)."""
        return self.normals / np.linalg.norm(self.normals, axis=1)[:, None]

    @property
    def distances(self) -> np.ndarray:
        """β of each plane, (limit,); negative where the origin is beyond it."""
        return (self.normals @ self.point - self.beyond) / np.linalg.norm(self.normals, axis=1)

    def moved(self, δμ: np.ndarray, δσ: np.ndarray) -> TangentPlanes:
        """Planes for other means and standard deviations of the parameters."""
        stretched = (1 + δσ / self.sigma)[:, None] * self.jacobian
        δx = δμ + self.standardised * δσ
        return replace(
            self,
            sigma=self.sigma + δσ,
            jacobian=stretched,
            beyond=self.beyond + self.gradients @ δx,
        )

    @property
    def distance_slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """∂β/∂μ and ∂β/∂σ of the first plane, which has to be that of a design point, (d,) each."""
        per_value = -self.gradients[0] / np.linalg.norm(self.normals[0])
        return per_value, per_value * self.standardised
