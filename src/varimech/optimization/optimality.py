"""Optimality conditions, evaluated independently of the solver:  ∇ψ + Σ λ ∇c + μ = 0,  with nonzero
λ and μ for active bounds only, and with the correct signs.

λ ≥ 0 at an upper bound, λ ≤ 0 at a lower bound. If a bound moves by δ, the optimal ψ changes by −λ
δ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .scaled import Scaled

ACTIVE = 1e-5
"""Distance from a bound, in scaled units, up to which it may have a multiplier; a round value."""


@dataclass(frozen=True, eq=False)
class Optimality:
    """Multipliers in the user's units, and the scaled residual of the gradient."""

    residual: float
    rows: np.ndarray
    """λ of each row of the constraints."""
    bounds: np.ndarray
    """μ of each parameter."""
    scaled: np.ndarray
    """Multipliers of all scaled rows and variables, including those of the instants of a peak."""


def optimality(scaled: Scaled, z: np.ndarray) -> Optimality:
    """Compute the best-fitting multipliers: those with the smallest residual of the gradient, for
    the nearest bounds.
    """
    from scipy.optimize import lsq_linear

    c, gradient, derivatives = scaled.constraints(z), scaled.gradient(z), scaled.jacobian(z)
    n, normals = z.size, np.vstack([derivatives, np.eye(z.size)])
    values = np.concatenate([c, z])
    lower, upper = (
        np.concatenate(pair)
        for pair in ((scaled.row_lower, scaled.lower), (scaled.row_upper, scaled.upper))
    )
    at_lower, at_upper = values - lower <= ACTIVE, upper - values <= ACTIVE
    active = np.flatnonzero(at_lower | at_upper)
    λ, best = np.zeros(values.size), np.zeros(values.size)
    if active.size and np.isfinite(gradient).all():
        signs = np.where(at_lower[active], -np.inf, 0.0), np.where(at_upper[active], np.inf, 0.0)
        # complementarity: λ times the distance from its bound has to vanish, too
        gaps = np.minimum(np.abs(values - lower), np.abs(upper - values))[active]
        system, right = (
            np.vstack([normals[active].T, np.diag(gaps / ACTIVE)]),
            np.concatenate([-gradient, np.zeros(active.size)]),
        )
        with np.errstate(all="ignore"):  # infinite bounds
            best[active] = lsq_linear(normals[active].T, -gradient, signs, tol=1e-14).x
            λ[active] = lsq_linear(system, right, signs, tol=1e-14).x
    residual = float(np.abs(gradient + normals.T @ best).max())
    times, psi = c.size - scaled.problem.row_count, scaled.objective_size
    rows = λ[times : c.size] * psi / scaled.row_sizes
    bounds = λ[c.size :][: n - scaled.slack] * psi / scaled.sizes
    return Optimality(residual, rows, bounds, λ)
