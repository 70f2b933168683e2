"""Mode of a posterior, by Newton's method with exact second derivatives within the bounds:

    x ← x − H⁻¹ g

on the parameters that are not held by a bound, with H = ∂²U/∂x² (its absolute value far from the
mode), halved until U decreases. s = log σ has the closed form  e^(2s) = S/n.
"""

from __future__ import annotations

import numpy as np

from ..core.errors import ModelError, VarimechError
from .confidence import at_bounds
from .log_posterior import Expansion, LogPosterior

MOST = 50
"""Largest number of Newton steps: quadratic convergence takes about five from a least-squares fit.
"""
NEAR = 1e-8
"""gᵀ H⁻¹ g at which one more step, which converges quadratically, ends the search: 1e-4 standard
deviations, where U still shows whether a step is good.
"""
SHORTEST = 2.0**-20
"""Shortest fraction of a step, about 1e-6: a round value."""


def mode_of(log: LogPosterior, start: np.ndarray) -> tuple[Expansion, float]:
    """Return the expansion about the mode, and s there.

    Raises:
        VarimechError: if the first run fails.
        ModelError: if the search does not converge.
    """
    p, space = log.prior, log.space
    # away from the end of a support, where a density may vanish
    margin = 1e-6 * np.where(np.isfinite(p.upper - p.lower), p.upper - p.lower, space.sizes)
    inside = (p.lower > space.lower, p.upper < space.upper)
    x = np.clip(start, p.lower + margin * inside[0], p.upper - margin * inside[1])
    here = log.expanded(x)
    for _ in range(MOST):
        s = _noise(log, here)
        step, decrement = _newton(log, here, s)
        nearer = _shortened(log, here, step) if decrement > NEAR else _last(log, here, step)
        if nearer is None:
            break
        here = nearer
        if decrement <= NEAR:
            return here, _noise(log, here)
    raise ModelError(
        f"the search for the most probable parameters did not converge ({decrement:.2g} of its"
        " expected decrease are left)",
        element="posterior",
        remedy="give informative priors, or begin with a fit from other start values",
    )


def _noise(log: LogPosterior, here: Expansion) -> float:
    return 0.0 if log.noise_known else 0.5 * float(np.log(here.S / log.count))


def _newton(log: LogPosterior, here: Expansion, s: float) -> tuple[np.ndarray, float]:
    """A step, and the predicted decrease of 2 U."""
    g, H = here.gradient(s), here.hessian(s)
    if not log.noise_known:  # s eliminated: U(x) = n/2 log S + V
        H = H - np.outer(here.S_x, here.S_x) * np.exp(-4 * s) / (2 * log.count)
    sides = at_bounds(here.x, log.prior.lower, log.prior.upper, log.space.sizes)
    free = ~((sides != 0) & (sides * g < 0))
    step = np.zeros(g.size)
    if not free.any():
        return step, 0.0
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(H)[free]), 1e-300))
    values, vectors = np.linalg.eigh(H[np.ix_(free, free)] * np.outer(scale, scale))
    # negative curvature is replaced by its absolute value
    values = np.maximum(np.abs(values), 1e-12)
    step[free] = -scale * (vectors @ ((vectors.T @ (scale * g[free])) / values))
    return step, float(-g @ step)


def _last(log: LogPosterior, here: Expansion, step: np.ndarray) -> Expansion:
    return log.expanded(np.clip(here.x + step, log.prior.lower, log.prior.upper))


def _shortened(log: LogPosterior, here: Expansion, step: np.ndarray) -> Expansion | None:
    """The expansion after the longest fraction of the step that decreases U; None if no fraction
    does.
    """
    share, before = 1.0, _profile(log, here.S, here.V)
    while share >= SHORTEST:
        x = np.clip(here.x + share * step, log.prior.lower, log.prior.upper)
        share /= 2
        V = float(log.prior.negative_log(x[None])[0][0])
        S = float(log.misfit(x[None]).S[0]) if np.isfinite(V) else np.nan
        if np.isfinite(S) and _profile(log, S, V) < before:
            try:
                return log.expanded(x)
            except VarimechError:
                continue
    return None


def _profile(log: LogPosterior, S: float, V: float) -> float:
    """U minimised over s, up to a constant."""
    return V + (S / 2 if log.noise_known else log.count / 2 * float(np.log(S)))
