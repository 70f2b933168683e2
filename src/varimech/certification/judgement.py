"""From evidence to a verdict: how many digits of a gradient can be trusted, and what limits them.

error of the derivative of the computed function
    the largest difference from other exact methods; without any, from differences
error of the derivative of the true motion
    that error, plus the maximum of: the extrapolated change under shorter steps; the distance
    from the reference (`reference`); the distance from the derivative over larger
    perturbations (`plateau`)

No check compensates for another: the digits are those on which all checks agree (`agreement`
compares methods).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..results import certificate as cert
from ..results.certificate_evidence import Verdicts
from .agreement import EPS, computed_error, differs_from_itself, noise_of, rounding_of, value_sizes
from .evidence import Evidence
from .plateau import SAFETY, Plateau, other_slope, plateau

REACHED = 1e-9
"""Relative change under shorter steps below which convergence is no longer required."""
FRAGILE = 1e-2
"""Perturbations up to which no run may fail."""
QUIET = 1e-3
"""Perturbations up to which an objective must not change for its derivative to count as zero."""
MOST_DIGITS = 15.0
"""Largest number of significant decimal digits of a double."""


@dataclass(frozen=True, eq=False)
class Judgement(Verdicts):
    """Conclusions on each derivative: (objective, parameter) unless stated."""

    flat: Plateau
    large_scale_distance: np.ndarray
    """Distance to the second derivative value that larger perturbations show."""
    converged: np.ndarray
    """Whether the derivative converges under shorter steps."""


@dataclass(frozen=True, eq=False)
class _Errors:
    """Error contributions to each derivative, and their causes."""

    computed: np.ndarray
    stepping: np.ndarray
    large_scale_distance: np.ndarray
    reference_distance: np.ndarray
    """Distance from the reference."""
    motion: np.ndarray
    fragile: np.ndarray
    """Whether perturbed runs fail."""
    disagree: np.ndarray
    """Whether methods disagree by more than their own errors allow."""
    irreproducible: np.ndarray
    """Whether the gradient differs from a second computation by its own method."""
    bound: np.ndarray
    """Largest size of a derivative that counts as zero; NaN where no derivative does."""
    causes: list[list[list[str]]]


def judge(evidence: Evidence, wanted: float) -> Judgement:
    """Determine the digits of each derivative, and whether they reach the number requested."""
    e, noise = evidence, noise_of(evidence)
    flat = plateau(np.array(e.relative_steps), e.sweep, rounding_of(e, noise))
    computed, disagree = computed_error(e, flat, noise)
    stepping, order, converged = _discretisation(e, computed)
    large_scale_distance, reference_distance, (causes, fatal) = (
        _large_scale_distance(e, noise),
        _reference_distance(e),
        _causes(e),
    )
    if e.reference.gradient is not None:  # the reference has shorter steps, too
        stepping = np.where(np.isinf(stepping), SAFETY * reference_distance, stepping)
    fragile = np.isnan(e.sweep[np.array(e.relative_steps) <= FRAGILE]).any(axis=0)
    motion = np.where(
        fragile,
        np.inf,
        computed + np.max([stepping, large_scale_distance, reference_distance], axis=0),
    )
    motion = np.where(fatal, np.maximum(motion, e.sizes), motion)
    irreproducible = differs_from_itself(e, noise)
    bounds = _Errors(
        computed,
        stepping,
        large_scale_distance,
        reference_distance,
        motion,
        fragile,
        disagree,
        irreproducible,
        _bound(e, noise),
        causes,
    )
    digits, errors, status, reason = _verdicts(e, bounds, wanted)
    amplification = noise / (EPS * value_sizes(e))
    of_each = digits, errors, status, reason, _convergence_orders(e), order, amplification
    return Judgement(*of_each, flat, large_scale_distance, converged)


def _reference_distance(e: Evidence) -> np.ndarray:
    """Compute the distance from the reference; without one it is infinite where shorter steps
    cannot reveal the error.
    """
    if e.reference.gradient is not None:
        return np.abs(e.gradient - e.reference.gradient)
    return np.full(
        e.gradient.shape, np.inf if e.reference.compliant or e.reference.unresolved else 0.0
    )


def _verdicts(
    e: Evidence, bounds: _Errors, wanted: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return digits, errors, status and reason of each derivative."""
    g, errors = e.gradient, np.stack([bounds.computed, bounds.motion])
    digits = digits_of(errors, e.sizes)
    status, reason = (
        np.full(g.shape, cert.TRUSTED, dtype=object),
        np.full(g.shape, "", dtype=object),
    )
    for o, p in np.ndindex(*g.shape):
        if not e.depends[o, p] and g[o, p] == 0:
            status[o, p] = cert.INDEPENDENT
        elif g[o, p] == 0 and _piecewise(e, o, p):
            status[o, p], reason[o, p] = cert.NOT_TRUSTED, cert.NON_SMOOTH_OBJECTIVE
            digits[:, o, p] = 0
        elif _vanishes(e, bounds, o, p):
            status[o, p] = cert.ZERO
            errors[:, o, p] = bounds.bound[o, p]
        elif bounds.disagree[o, p] or digits[:, o, p].min() < wanted or e.sizes[o, p] == 0:
            status[o, p], reason[o, p] = (
                cert.NOT_TRUSTED,
                _reason(e, bounds, o, p, enough=digits[0, o, p] >= wanted),
            )
    digits[:, (status == cert.INDEPENDENT) | (status == cert.ZERO)] = np.nan
    return digits, errors, status, reason


def _vanishes(e: Evidence, bounds: _Errors, o: int, p: int) -> bool:
    """Whether a derivative is zero within rounding, also with shorter steps and in the reference."""
    all_small = (
        np.abs([e.gradient[o, p], *e.refinement.gradients[:, o, p]]) <= bounds.bound[o, p]
    ).all()
    return bool(
        all_small
        and bounds.reference_distance[o, p] <= 2 * bounds.bound[o, p]
        and not bounds.irreproducible[o, p]
    )


def _reason(e: Evidence, bounds: _Errors, o: int, p: int, *, enough: bool) -> str:
    """Return the strongest reason why a derivative is not trusted; `enough`: the digits of the
    computed function suffice.
    """
    if bounds.irreproducible[o, p]:
        return cert.DISAGREE
    reference_dominates = bounds.reference_distance[o, p] > max(
        bounds.stepping[o, p], bounds.large_scale_distance[o, p]
    )
    if reference_dominates and enough and e.reference.compliant and not e.reference.unresolved:
        return cert.COMPLIANT
    if bounds.causes[o][p]:
        return bounds.causes[o][p][0]
    if bounds.disagree[o, p]:
        return cert.DISAGREE
    if not enough:
        return cert.ROUNDING if np.isfinite(bounds.computed[o, p]) else cert.UNCHECKED
    if reference_dominates:
        return cert.UNRESOLVED if e.reference.unresolved else cert.STEPS
    return (
        cert.SCALE_DEPENDENT
        if bounds.large_scale_distance[o, p] > bounds.stepping[o, p]
        else cert.FAILING
        if bounds.fragile[o, p]
        else cert.STEPS
    )


def _large_scale_distance(e: Evidence, noise: np.ndarray) -> np.ndarray:
    """Compute the distance to a second derivative value over larger perturbations; zero for chaotic
    motions, which are rough as well, but which shorter steps reveal.
    """
    if e.growth is not None and e.growth.exponential:
        return np.zeros(e.gradient.shape)
    return other_slope(
        np.array(e.relative_steps), e.sweep, e.gradient, e.sizes, rounding_of(e, noise)
    )


def digits_of(error: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Convert an absolute error into trusted decimal digits, at least 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(error == 0, 0.0, error / np.abs(value))
        digits = -np.log10(relative)
    return (
        np.asarray(
            np.clip(
                np.nan_to_num(digits, nan=0.0, posinf=MOST_DIGITS, neginf=0.0), 0.0, MOST_DIGITS
            )
        )
        + 0.0
    )


def _bound(e: Evidence, noise: np.ndarray) -> np.ndarray:
    """Return the largest size that a derivative can have where differences contain nothing but
    rounding; NaN where they contain more.
    """
    rounding = rounding_of(e, noise)
    small = np.array(e.relative_steps) <= max(QUIET, min(e.relative_steps))
    quiet = ~(np.abs(e.sweep[small]) > SAFETY**2 * rounding[small]).any(axis=0) & np.isfinite(
        e.sweep[small]
    ).any(axis=0)
    at_most = SAFETY * np.min(
        np.where(np.isnan(e.sweep), np.inf, np.abs(e.sweep) + rounding), axis=0
    )
    tiny = at_most * e.parameters <= 1e-6 * np.where(e.values > 0, e.values, np.inf)[:, None]
    return np.where(quiet & tiny, at_most, np.nan)


def _piecewise(e: Evidence, o: int, p: int) -> bool:
    """Whether an objective jumps where a parameter moves it: a derivative of zero is then no
    evidence of independence.
    """
    unmoved = [id(c.switch) for c in e.crossings if not c.moved[p]]
    own = [s for s in e.switches if s.objective == e.objective_names[o] and s.jump and not s.timed]
    return any(id(s) not in unmoved for s in own)


def _discretisation(e: Evidence, computed: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimate the remaining error of the steps, the observed order, and whether the steps
    converge.
    """
    g, chosen = e.refinement.gradients, e.refinement.what == "tolerance"
    nothing = np.full(e.gradient.shape, np.nan)
    if len(g) < 3:
        left = np.full(e.gradient.shape, np.inf)
        if len(g) == 2:
            left = 2 * np.abs(g[0] - g[1]) + (
                SAFETY * e.refinement.settings[-1] * e.sizes if chosen else 0.0
            )
        return left, nothing, np.isfinite(left)
    first, second, both = np.abs(g[0] - g[1]), np.abs(g[1] - g[2]), np.abs(g[0] - g[2])
    size = e.sizes
    rounding = np.clip(SAFETY * computed, 1e-13 * size, 1e-3 * size)
    settled = np.maximum(first, both) <= rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(first > 0, second / first, np.where(second > 0, np.inf, 0.0))
        order = -np.log2(ratio) if not chosen else nothing
    shrinks = (
        (ratio > 1e-3) & (ratio < 0.7) & (both < 0.5 * size)
    )  # a ratio below that of any order is accidental
    converged = settled | shrinks | (np.maximum(first, both) <= REACHED * size)
    # doubled, because it is an estimate, and overstating the number of digits is worse
    left = np.where(shrinks, first / (1 - np.minimum(ratio, 0.7)), np.maximum(first, both))
    left = np.where(settled, np.maximum(first, both), 2 * np.maximum(left, both))
    # where limits other than the tolerance set the steps, a smaller tolerance changes nothing
    if chosen:
        left = left + SAFETY * e.refinement.settings[-1] * size
    return left, np.where(settled | ~np.isfinite(order), np.nan, order), converged


def _causes(e: Evidence) -> tuple[list[list[list[str]]], np.ndarray]:
    """List the causes that spoil each derivative, the most specific first, and whether they
    invalidate it entirely.

    A value that jumps does so at a time that depends on the parameters; derivatives along the run
    omit that dependence, unless steps end at jumps.
    """
    count, width = e.gradient.shape
    causes: list[list[list[str]]] = [[[] for _ in range(width)] for _ in range(count)]
    fatal = np.zeros(e.gradient.shape, dtype=bool)
    for c in sorted(e.crossings, key=lambda c: not c.switch.jump):
        own = c.switch.objective
        if c.switch.final:
            continue  # only the end of the run matters for a final value
        name = cert.NON_SMOOTH_FORCE if own is None else cert.NON_SMOOTH_OBJECTIVE
        for o in range(count) if own is None else [e.objective_names.index(own)]:
            for p in np.flatnonzero(c.moved):
                causes[o][p].append(name)
                fatal[o, p] |= c.switch.jump and not e.ends_at_jumps
    if e.rough_events:
        fatal[:] = True
        causes = [[[*names, cert.ROUGH_EVENT] for names in row] for row in causes]
    if e.singularity is not None and e.singularity.near:
        fatal[:] = True
        causes = [[[*names, cert.SINGULAR] for names in row] for row in causes]
    if e.growth is not None and e.growth.exponential:
        causes = [[[*names, cert.CHAOS] for names in row] for row in causes]
    return causes, fatal


def _convergence_orders(e: Evidence) -> np.ndarray:
    """Compute the power of the perturbation with which errors of differences fall: the steepest
    slope over three perturbations; NaN if they never fall.
    """
    exact = next((r.gradient for r in e.derivative_checks if r.gradient is not None), e.gradient)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.log10(np.abs(e.sweep - exact) / np.abs(exact))
    x, unknown = np.log10(np.array(e.relative_steps)), np.full(exact.shape, np.nan)
    if len(x) < 3:
        return unknown
    with np.errstate(invalid="ignore"):
        orders = (errors[:-2] - errors[2:]) / (x[:-2] - x[2:])[:, None, None]
    ordered = (errors[:-2] > errors[1:-1]) & (errors[1:-1] > errors[2:]) & (errors[:-2] < -1)
    orders = np.where(ordered & np.isfinite(orders), orders, -np.inf)
    best = orders.max(axis=0)
    return np.where(np.isfinite(best), best, unknown)
