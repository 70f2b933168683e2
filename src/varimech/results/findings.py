"""What the evidence about a gradient says in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .certificate import (
    CHAOS,
    INDEPENDENT,
    NON_SMOOTH_FORCE,
    NON_SMOOTH_OBJECTIVE,
    SINGULAR,
    STEPS,
    UNCHECKED,
    ZERO,
    Finding,
)
from .evidence import Evidence

if TYPE_CHECKING:
    from .gradient import Gradient

LARGE_RESIDUAL = 1e-6
"""Violation of constraints at position level that is worth a word."""


def findings(
    gradient: Gradient,
    evidence: Evidence,
    digits: np.ndarray,
    status: np.ndarray,
    reason: np.ndarray,
    converged: np.ndarray,
    near_singular: float,
) -> tuple[Finding, ...]:
    """All that is worth a word, the agreement of the roads first."""
    e = evidence
    found = [*_agreement(e), *_steps(e, digits, converged), *_switches(e)]
    if e.singularity is not None and e.singularity.closeness < near_singular:
        s = e.singularity
        found.append(
            Finding(
                SINGULAR,
                f"singular position: at t ≈ {s.time:.4g} s the constraints nearly depend on each other (to {s.closeness:.1g} of the usual); "
                "how the motion goes on from there is not determined by the equations, so neither is its derivative",
            )
        )
    if e.growth is not None and e.growth.exponential:
        G = e.growth
        found.append(
            Finding(
                CHAOS,
                f"chaotic motion: derivatives of the state grow exponentially, by {G.factor:.1g} since a fifth of the run, ten times every "
                f"{np.log(10) / G.rate:.3g} s; each such time costs a digit: a shorter run keeps them",
            )
        )
    if e.residuals and e.residuals[0] > LARGE_RESIDUAL:
        found.append(Finding("constraints", f"constraints are violated by up to {e.residuals[0]:.1g}"))
    for (o, p), what in np.ndenumerate(status):
        pair = f"d{gradient.objective_names[o]}/d{gradient.parameter_names[p]}"
        if what == INDEPENDENT:
            found.append(
                Finding(INDEPENDENT, f"{pair} is zero: nothing in the equations connects the objective with the parameter")
            )
        elif what == ZERO:
            text = f"{pair} is zero within rounding, although the equations connect the two; differences show no change at all"
            found.append(Finding(ZERO, text))
        elif not e.depends[o, p]:
            text = f"{pair} should be zero: nothing in the equations connects the objective with the parameter"
            found.append(Finding(str(reason[o, p]), text))
    return tuple(found)


def _agreement(e: Evidence) -> list[Finding]:
    found = []
    for road in e.roads:
        if road.gradient is None:
            found.append(Finding("roads", f"{road.name}: not available, because {road.refusal}"))
            continue
        off = _relative(road.gradient, e.given)
        if road.name == e.method and off <= 1e-10:
            continue
        again = " once more" if road.name == e.method else ""
        found.append(Finding("roads", f"{road.name}{again}: differs by {off:.1e}, relative, at worst"))
    if e.loose:
        text = f"every run chooses its steps anew, so the computed function is smooth only to its tolerance of {e.loose:.0e}"
        found.append(Finding("roads", text))
    if not np.isfinite(e.sweep).any():
        found.append(Finding(UNCHECKED, "differences: all perturbed runs failed"))
    return found


def _relative(a: np.ndarray, b: np.ndarray) -> float:
    size = np.where(b != 0, np.abs(b), np.where(a != 0, np.abs(a), 1.0))
    return float((np.abs(a - b) / size).max())


def _steps(e: Evidence, digits: np.ndarray, converged: np.ndarray) -> list[Finding]:
    r = e.refinement
    if len(r.settings) < 2:
        return [Finding(UNCHECKED, f"the error of the steps could not be estimated: {r.refusal}")]
    shorter = f"{r.what} {' → '.join(f'{x:.3g}' for x in r.settings)}"
    if len(r.settings) < 3:
        return [Finding("steps", f"{shorter}: no more than two, because {r.refusal or 'there is no smaller one'}")]
    alive = np.isfinite(digits[0])
    if not converged[alive].all():
        return [
            Finding(STEPS, f"{shorter}: the gradient does not converge; no number of digits of the true motion follows from it")
        ]
    change = _relative(r.gradients[-1], r.gradients[0])
    return [Finding("steps", f"{shorter}: the gradient converges, and changes by {change:.1e}, relative, at worst")]


def _switches(e: Evidence) -> list[Finding]:
    found = []
    for c in e.crossings:
        s = c.switch
        kind = NON_SMOOTH_FORCE if s.objective is None else NON_SMOOTH_OBJECTIVE
        where = f"{'objective ' if s.objective else ''}{s.place!r}"
        if s.timed:
            text = f"{where} switches ({s.operation}) at t ≈ {c.time:.4g} s whatever the parameters are; steps lose their order there"
        elif s.jump:
            text = (
                f"{kind}: {where} jumps ({s.operation}) as the motion passes t ≈ {c.time:.4g} s; when it jumps depends on the parameters, "
                "and derivatives leave that out"
            )
        else:
            text = (
                f"{kind}: {where} has a kink ({s.operation}) that the motion passes at t ≈ {c.time:.4g} s; digits are lost there"
            )
        found.append(Finding(kind, text))
    passed = {(c.switch.place, c.switch.operation) for c in e.crossings}
    others = dict.fromkeys((s.place, s.operation) for s in e.switches if (s.place, s.operation) not in passed)
    found += [
        Finding("smoothness", f"{place!r} is not smooth ({operation}), but the motion does not pass there")
        for place, operation in others
    ]
    return found
