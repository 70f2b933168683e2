"""Agreement of methods on the derivative of the computed function, relative to the noise of each.

    exact methods (direct, adjoint, complex step)   differ by rounding, amplified along the motion
    differences                                     differ by their truncation, δ², and by the noise of the objective over δ

Differences are the noisiest evidence. They may contradict a gradient that at most one other exact
method confirms, where they have a plateau beyond their noise; they do not overrule three exact
methods that agree.
"""

from __future__ import annotations

import numpy as np

from .evidence import Evidence
from .plateau import SAFETY, Plateau

EPS = float(np.finfo(float).eps)
INDIFFERENT = 1e-6
"""Relative difference of exact methods that counts as their error, not as a contradiction (ten
times the tolerance, if that is more): direct derivatives neglect the remaining constraint violation
after projections, which grows along unstable motions. Three methods that agree within this
difference confirm each other.
"""
AMPLIFIED = 1e5
"""Relative difference that exact methods may have, in units of the rounding of the objective."""
CONFIRMED = 2
"""Number of other exact methods that confirm a gradient, which differences then cannot overrule."""
NOISY = 1e-7
"""Largest relative perturbation at which the change between neighbouring differences is noise."""


def noise_of(e: Evidence) -> np.ndarray:
    """Estimate the rounding error of each objective from the smallest perturbations: the maximum
    over all pairs of neighbouring differences.
    """
    floor, steps = EPS * e.values, np.array(e.relative_steps)
    if len(steps) < 2:
        return floor
    shown = np.abs(np.diff(e.sweep, axis=0)) * (steps[1:, None, None] * e.parameters)
    shown = np.nan_to_num(shown[(steps[:-1] <= NOISY) | (steps[1:] == steps[-1])])
    return np.maximum(floor, shown.max(axis=(0, 2)))


def rounding_of(e: Evidence, noise: np.ndarray) -> np.ndarray:
    """Compute the rounding error of the differences: (perturbation, objective, parameter)."""
    return np.asarray(noise[:, None] / (np.array(e.relative_steps)[:, None, None] * e.parameters))


def value_sizes(e: Evidence) -> np.ndarray:
    """Reference size for the rounding of each objective: its value, or the size that the given
    sizes of its derivatives imply, if that is larger.
    """
    sizes = np.where(e.values > 0, e.values, 1.0)
    implied = np.where(e.sizes > np.abs(e.gradient), e.sizes * e.parameters, 0.0).max(axis=1)
    return np.asarray(np.maximum(sizes, implied))


def differs_from_itself(e: Evidence, noise: np.ndarray) -> np.ndarray:
    """Whether the gradient differs, beyond rounding, from a second computation by its own method.

    The rounding in derivatives is estimated from the same method with the chosen steps repeated
    instead of chosen anew.
    """
    if e.repeated is None:
        return np.zeros(e.gradient.shape, dtype=bool)
    repeated = next(r.gradient for r in e.derivative_checks if r.name == e.method)
    size = np.maximum(np.abs(e.repeated), e.sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        rounding = (
            0.0
            if repeated is None
            else float(np.nan_to_num(np.abs(e.repeated - repeated) / size).max(initial=0.0))
        )
    allowed = (
        max(1e-10, 1e3 * e.step_noise, SAFETY * rounding) * size
        + SAFETY * noise[:, None] / e.parameters
    )
    return np.asarray(np.abs(e.gradient - e.repeated) > allowed)


def computed_error(e: Evidence, flat: Plateau, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the error of the derivative of the computed function, and whether methods disagree by
    more than their own errors allow.
    """
    g, off, shown = e.gradient, np.abs(e.gradient - flat.value), np.isfinite(flat.value)
    others = [
        r.gradient for r in e.derivative_checks if r.gradient is not None and r.name != e.method
    ]
    relative = np.maximum(noise / value_sizes(e), e.step_noise)
    allowed = (AMPLIFIED * relative[:, None]) * np.maximum(
        e.sizes, (e.values[:, None] / e.parameters) * 1e-3
    )
    allowed = np.maximum(allowed, max(INDIFFERENT, SAFETY * e.tolerance) * e.sizes)
    if others:
        error = np.max([np.abs(g - x) for x in others], axis=0)
        disagree = error > allowed
    else:
        error = np.where(shown, off + flat.error, np.inf)
        disagree = np.zeros(g.shape, dtype=bool)
    confirming = (
        np.sum([np.abs(g - x) <= INDIFFERENT * e.sizes for x in others], axis=0)
        if others
        else np.zeros(g.shape)
    )
    denied = (
        shown
        & (confirming < CONFIRMED)
        & (off > SAFETY * flat.error + allowed * (1.0 if e.step_noise else 1e-2))
    )
    itself = differs_from_itself(e, noise)
    error = np.where(denied, np.maximum(error, off), error)
    if e.repeated is not None:
        error = np.where(itself, np.maximum(error, np.abs(g - e.repeated)), error)
    return np.maximum(error, 2 * EPS * np.abs(g)), disagree | denied | itself
