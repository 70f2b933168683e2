"""What the evidence about a gradient says in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .certificate import (
    CHAOS,
    COMPLIANT,
    FAILING,
    INDEPENDENT,
    NON_SMOOTH_FORCE,
    NON_SMOOTH_OBJECTIVE,
    ROUNDING,
    SINGULAR,
    STEPS,
    TWO_SLOPES,
    UNCHECKED,
    UNRESOLVED,
    ZERO,
    Finding,
)
from .evidence import Evidence
from .judgement import Judgement

if TYPE_CHECKING:
    from ..results.gradient import Gradient

AMPLIFIED = 1e6
"""Amplification of rounding that is worth a word."""
SMALL = 1e-3
"""Share of the size that was given for it below which a derivative is worth a word."""
LARGE_RESIDUAL = 1e-6
"""Violation of constraints at position level that is worth a word."""


def findings(gradient: Gradient, evidence: Evidence, verdict: Judgement) -> tuple[Finding, ...]:
    """All that is worth a word, the agreement of the roads first."""
    e, alive = evidence, np.isfinite(verdict.digits[0])
    found = [
        *_agreement(e, alive),
        *_differences(gradient, e, verdict, alive),
        *_steps(e, alive, verdict.converged),
        *_reference(e, alive),
        *_switches(e),
    ]
    if e.singularity is not None and e.singularity.near:
        text = (
            f"singular position: at t ≈ {e.singularity.time:.4g} s the constraints depend on each"
            " other, or nearly; how the motion goes on from there is not determined by the"
            " equations, so neither is its derivative"
        )
        found.append(Finding(SINGULAR, text))
    if e.growth is not None and e.growth.exponential:
        G = e.growth
        text = (
            f"chaotic motion: derivatives of the state grow exponentially, some {G.factor:.1g}"
            f" times from a fifth of the run on, ten times every {np.log(10) / G.rate:.2g} s; each"
            " such time costs a digit, and a shorter run keeps it"
        )
        found.append(Finding(CHAOS, text))
    if apart := _pairs(gradient, alive & (verdict.afar > 0)):
        text = (
            f"{apart}: larger perturbations have another slope than the gradient, as they do where"
            " something changes so fast that the function runs in small steps"
        )
        found.append(Finding(TWO_SLOPES, text))
    if e.residuals and e.residuals[0] > LARGE_RESIDUAL:
        found.append(
            Finding("constraints", f"constraints are violated by up to {e.residuals[0]:.1g}")
        )
    if (amplified := verdict.amplification.max()) > AMPLIFIED and not e.loose:
        found.append(
            Finding(
                ROUNDING,
                f"rounding is amplified up to {amplified:.0e} times on the way to the objectives",
            )
        )
    if small := _pairs(gradient, alive & (SMALL * e.sizes > np.abs(e.given))):
        found.append(
            Finding(
                "sizes",
                f"{small}: small beside the sizes given, or zero; digits are counted from these",
            )
        )
    return (*found, *_zeros(gradient, e, verdict.status, verdict.reason))


def _zeros(
    gradient: Gradient, e: Evidence, status: np.ndarray, reason: np.ndarray
) -> list[Finding]:
    found = []
    for p, parameter in enumerate(gradient.parameter_names):
        for kind, text in (
            (
                INDEPENDENT,
                "zero: nothing in the equations connects the parameter with the objective",
            ),
            (ZERO, "zero within rounding, although the equations connect the two"),
        ):
            if names := [
                f"d{o}/d{parameter}"
                for o, what in zip(gradient.objective_names, status[:, p], strict=True)
                if what == kind
            ]:
                found.append(
                    Finding(kind, f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {text}")
                )
        for o, objective in enumerate(gradient.objective_names):
            if not e.depends[o, p] and status[o, p] != INDEPENDENT:
                text = (
                    f"d{objective}/d{parameter} should be zero: nothing in the equations connects"
                    " the two"
                )
                found.append(Finding(str(reason[o, p]), text))
    return found


def _agreement(e: Evidence, alive: np.ndarray) -> list[Finding]:
    found = []
    for derivative_check in e.derivative_checks:
        if derivative_check.gradient is None:
            found.append(
                Finding(
                    "methods",
                    f"{derivative_check.name}: not available, because {derivative_check.refusal}",
                )
            )
            continue
        off = _relative(e, derivative_check.gradient, e.given, alive)
        if derivative_check.name == e.method and off <= 1e-10:
            continue
        again = " once more" if derivative_check.name == e.method else ""
        found.append(
            Finding(
                "methods",
                f"{derivative_check.name}{again}: differs by {off:.1e}, relative, at worst",
            )
        )
    if e.loose:
        text = (
            "every run chooses its steps anew, so the computed function is smooth only to its"
            f" tolerance of {e.loose:.0e}"
        )
        found.append(Finding("methods", text))
    return found


def _differences(
    gradient: Gradient, e: Evidence, verdict: Judgement, alive: np.ndarray
) -> list[Finding]:
    flat, slope = verdict.flat, verdict.slope
    if not np.isfinite(e.sweep).any():
        return [Finding(UNCHECKED, "differences: all perturbed runs failed")]
    found = []
    failed = [f"{step:.0e}" for step, D in zip(e.steps, e.sweep, strict=True) if np.isnan(D).any()]
    if failed:
        found.append(
            Finding(
                FAILING,
                f"differences: runs fail where parameters are changed by {', '.join(failed)} of"
                " their values",
            )
        )
    seen = alive & np.isfinite(flat.value)
    if seen.any():
        off, width = _relative(e, flat.value, e.given, seen), flat.decades[seen].min()
        powers = slope[seen & np.isfinite(slope)]
        fall = (
            f"; their errors fall with the perturbation to the power {np.median(powers):.1f}"
            if powers.size
            else ""
        )
        decades = "1 decade" if round(width) == 1 else f"{width:.0f} decades"
        text = (
            f"differences: a plateau of {decades} or more, which differs by {off:.1e}, relative, at"
            f" worst{fall}"
        )
        found.append(Finding("differences", text))
    if missing := _pairs(gradient, alive & ~np.isfinite(flat.value)):
        text = (
            "differences have no plateau: what is small enough for the function is too small for"
            " its rounding"
        )
        found.append(Finding("differences", f"{missing}: {text}"))
    return found


def _pairs(gradient: Gradient, where: np.ndarray) -> str:
    return ", ".join(
        f"d{gradient.objective_names[o]}/d{gradient.parameter_names[p]}"
        for o, p in np.argwhere(where)
    )


def _relative(e: Evidence, a: np.ndarray, b: np.ndarray, where: np.ndarray) -> float:
    size = np.where(e.sizes > 0, e.sizes, np.where(a != 0, np.abs(a), 1.0))
    return float((np.abs(a - b) / size)[where].max(initial=0.0))


def _steps(e: Evidence, alive: np.ndarray, converged: np.ndarray) -> list[Finding]:
    r = e.refinement
    if len(r.settings) < 2:
        return [Finding(UNCHECKED, f"the error of the steps could not be estimated: {r.refusal}")]
    shorter = f"{r.what} {' → '.join(f'{x:.3g}' for x in r.settings)}"
    if len(r.settings) < 3:
        return [
            Finding(
                "steps",
                f"{shorter}: no more than two, because {r.refusal or 'there is no smaller one'}",
            )
        ]
    if not converged[alive].all():
        return [
            Finding(
                STEPS,
                f"{shorter}: the gradient does not converge; no number of digits of the true motion"
                " follows from it",
            )
        ]
    change = _relative(e, r.gradients[-1], r.gradients[0], alive)
    word = "and" if change < 0.01 else "but still"
    return [
        Finding(
            "steps",
            f"{shorter}: the gradient converges, {word} changes by {change:.1e}, relative, at"
            " worst",
        )
    ]


def _reference(e: Evidence, alive: np.ndarray) -> list[Finding]:
    r = e.reference
    kind = UNRESOLVED if r.unresolved else COMPLIANT if r.compliant else "reference"
    found = [
        Finding(
            UNRESOLVED,
            f"{u.place!r} has a part that the steps do not resolve at t ≈ {u.time:.4g} s: its"
            f" integral over that step is off by {u.share:.2g}, relative; a smaller step or"
            " tolerance",
        )
        for u in r.unresolved
    ]
    if r.gradient is None:
        unknown = (
            "; no number of digits of the true motion follows without it"
            if kind != "reference"
            else ""
        )
        return [
            *found,
            Finding(kind, f"reference ({r.what}): not available, because {r.refusal}{unknown}"),
        ]
    text = (
        f"reference ({r.what}): differs by {_relative(e, r.gradient, e.given, alive):.1e},"
        " relative, at worst"
    )
    if r.compliant:
        text += "; constraints of the given run give way or drift, which shorter steps do not show"
    return [*found, Finding(kind, text)]


def _switches(e: Evidence) -> list[Finding]:
    found = []
    for c in e.crossings:
        s = c.switch
        kind = NON_SMOOTH_FORCE if s.objective is None else NON_SMOOTH_OBJECTIVE
        where = f"{'objective ' if s.objective else ''}{s.place!r}"
        if not c.moved.any():
            text = (
                f"{where} switches ({s.operation}) at t ≈ {c.time:.4g} s whatever the parameters"
                " are; steps lose their order there"
            )
        elif s.jump:
            text = (
                f"{kind}: {where} jumps ({s.operation}) as the motion passes t ≈ {c.time:.4g} s;"
                " when it jumps depends on the parameters, and derivatives leave that out"
            )
        else:
            text = (
                f"{kind}: {where} has a kink ({s.operation}) that the motion passes at t ≈"
                f" {c.time:.4g} s; digits are lost there"
            )
        found.append(Finding(kind, text))
    passed = {(c.switch.place, c.switch.operation) for c in e.crossings}
    others = dict.fromkeys(
        (s.place, s.operation) for s in e.switches if (s.place, s.operation) not in passed
    )
    found += [
        Finding(
            "smoothness",
            f"{place!r} is not smooth ({operation}), but the motion does not pass there",
        )
        for place, operation in others
    ]
    return found
