"""How far methods agree on the derivative of the computed function, measured by the noise of each.

    exact methods (direct, adjoint, complex step)   differ by rounding, amplified along the motion
    differences                                     differ by their truncation, δ², and by the noise of the objective over δ

Differences are the noisiest witness. They may contradict a gradient that at most one other exact
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
times the tolerance, if that is more): direct derivatives leave out how far projections miss the
constraints, which grows along unstable motions. Three methods that agree so far confirm each other.
"""
AMPLIFIED = 1e5
"""Roundings of an objective, relative, by which exact methods may differ."""
CONFIRMED = 2
"""Other exact methods that confirm a gradient, which differences then do not overrule."""
NOISY = 1e-7
"""Relative perturbations up to which differences of neighbouring differences are noise."""


def noise_of(e: Evidence) -> np.ndarray:
    """Rounding of each objective, as the smallest perturbations show it: the most that any pair of
    them does.
    """
    floor, steps = EPS * e.values, np.array(e.relative_steps)
    if len(steps) < 2:
        return floor
    shown = np.abs(np.diff(e.sweep, axis=0)) * (steps[1:, None, None] * e.parameters)
    shown = np.nan_to_num(shown[(steps[:-1] <= NOISY) | (steps[1:] == steps[-1])])
    return np.maximum(floor, shown.max(axis=(0, 2)))


def rounding_of(e: Evidence, noise: np.ndarray) -> np.ndarray:
    """What the noise of objectives makes of differences: (perturbation, objective, parameter)."""
    return np.asarray(noise[:, None] / (np.array(e.relative_steps)[:, None, None] * e.parameters))


def value_sizes(e: Evidence) -> np.ndarray:
    """By what rounding of each objective is measured: its size, or what sizes that were given for
    its derivatives make of it.
    """
    sizes = np.where(e.values > 0, e.values, 1.0)
    given = np.where(e.sizes > np.abs(e.gradient), e.sizes * e.parameters, 0.0).max(axis=1)
    return np.asarray(np.maximum(sizes, given))


def differs_from_itself(e: Evidence, noise: np.ndarray) -> np.ndarray:
    """Whether the gradient is not what its own method gives once more, but for rounding.

    How much of that there is in derivatives, the same method shows that repeats the steps chosen in
    place of choosing them anew.
    """
    if e.again is None:
        return np.zeros(e.gradient.shape, dtype=bool)
    repeated = next(r.gradient for r in e.derivative_checks if r.name == e.method)
    size = np.maximum(np.abs(e.again), e.sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        rounding = (
            0.0
            if repeated is None
            else float(np.nan_to_num(np.abs(e.again - repeated) / size).max(initial=0.0))
        )
    allowed = (
        max(1e-10, 1e3 * e.loose, SAFETY * rounding) * size + SAFETY * noise[:, None] / e.parameters
    )
    return np.asarray(np.abs(e.gradient - e.again) > allowed)


def computed_error(e: Evidence, flat: Plateau, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The error of the derivative of the computed function; and whether methods disagree by more
    than they can be off.
    """
    g, off, shown = e.gradient, np.abs(e.gradient - flat.value), np.isfinite(flat.value)
    others = [
        r.gradient for r in e.derivative_checks if r.gradient is not None and r.name != e.method
    ]
    relative = np.maximum(noise / value_sizes(e), e.loose)
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
        & (off > SAFETY * flat.error + allowed * (1.0 if e.loose else 1e-2))
    )
    itself = differs_from_itself(e, noise)
    error = np.where(denied, np.maximum(error, off), error)
    if e.again is not None:
        error = np.where(itself, np.maximum(error, np.abs(g - e.again)), error)
    return np.maximum(error, 2 * EPS * np.abs(g)), disagree | denied | itself
