"""The report: evidence and judgement of a gradient in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..results import certificate as cert
from ..results.certificate_evidence import Finding
from .evidence import Evidence
from .judgement import Judgement

if TYPE_CHECKING:
    from ..results.gradient import Gradient

AMPLIFIED = 1e6
"""Amplification of rounding above which it is a finding."""
SMALL = 1e-3
"""Share of the size given for it below which a derivative is a finding."""
LARGE_RESIDUAL = 1e-6
"""Violation of constraints at position level above which it is a finding."""


def findings(gradient: Gradient, e: Evidence, verdict: Judgement) -> tuple[Finding, ...]:
    """Collect all findings, the agreement of the methods first."""
    alive = np.isfinite(verdict.digit_array[0])
    pairs = [
        *_agreement(e, alive),
        *_differences(gradient, e, verdict, alive),
        *_steps(e, alive, verdict.converged),
        *_reference(e, alive),
        *_switches(e),
        *_motion(e),
        *[(cert.ROUGH_EVENT, str(event)) for event in e.rough_events],
    ]
    if scale_dependent := _pairs(gradient, alive & (verdict.large_scale_distance > 0)):
        text = (
            f"{scale_dependent}: differences over larger perturbations converge to another"
            " derivative than the gradient, as for a function that varies in small steps"
        )
        pairs.append((cert.SCALE_DEPENDENT, text))
    if e.residuals and e.residuals[0] > LARGE_RESIDUAL:
        pairs.append(("constraints", f"constraints are violated by up to {e.residuals[0]:.1g}"))
    if (amplified := verdict.amplification.max()) > AMPLIFIED and not e.step_noise:
        text = f"rounding is amplified by up to a factor of {amplified:.0e} in the objectives"
        pairs.append((cert.ROUNDING, text))
    if small := _pairs(gradient, alive & (SMALL * e.sizes > np.abs(e.gradient))):
        text = f"{small}: small compared with the given sizes, or zero; digits refer to these sizes"
        pairs.append(("sizes", text))
    pairs += _zeros(gradient, e, verdict.status, verdict.reason)
    return tuple(Finding(kind, text) for kind, text in pairs)


FindingTexts = Iterator[tuple[str, str]]
"""Kind and text of findings."""


def _motion(e: Evidence) -> FindingTexts:
    if e.singularity is not None and e.singularity.near:
        yield (
            cert.SINGULAR,
            f"singular position: at t ≈ {e.singularity.time:.4g} s the constraints are"
            " dependent, or nearly so; the equations do not determine how the motion continues"
            " from there, and so not its derivative",
        )
    if e.growth is not None and e.growth.exponential:
        G = e.growth
        yield (
            cert.CHAOS,
            f"chaotic motion: derivatives of the state grow exponentially, by a factor of"
            f" about {G.factor:.1g} over the last four fifths of the run; every"
            f" {np.log(10) / G.rate:.2g} s of the run costs a digit, which a shorter one retains",
        )


def _zeros(gradient: Gradient, e: Evidence, status: np.ndarray, reason: np.ndarray) -> FindingTexts:
    kinds = {
        cert.INDEPENDENT: "zero: nothing in the equations connects the parameter with the objective",
        cert.ZERO: "zero within rounding, although the equations connect the two",
    }
    for p, parameter in enumerate(gradient.parameter_names):
        names = [f"d{objective}/d{parameter}" for objective in gradient.objective_names]
        for kind, text in kinds.items():
            if zero := [n for n, s in zip(names, status[:, p], strict=True) if s == kind]:
                yield kind, f"{', '.join(zero)} {'is' if len(zero) == 1 else 'are'} {text}"
        for o, name in enumerate(names):
            if not e.depends[o, p] and status[o, p] != cert.INDEPENDENT:
                text = f"{name} should be zero: nothing in the equations connects the two"
                yield str(reason[o, p]), text


def _agreement(e: Evidence, alive: np.ndarray) -> FindingTexts:
    for check in e.derivative_checks:
        if check.gradient is None:
            yield "methods", f"{check.name}: not available, because {check.refusal}"
            continue
        off, own = _relative(e, check.gradient, e.gradient, alive), check.name == e.method
        if not own or off > 1e-10:
            again = " recomputed" if own else ""
            yield "methods", f"{check.name}{again}: differs by {off:.1e}, relative, at worst"
    if e.step_noise:
        yield (
            "methods",
            "every run chooses its steps anew, so the computed function is smooth only to its"
            f" tolerance of {e.step_noise:.0e}",
        )


def _differences(
    gradient: Gradient, e: Evidence, verdict: Judgement, alive: np.ndarray
) -> FindingTexts:
    flat, slope = verdict.flat, verdict.slope
    if not np.isfinite(e.sweep).any():
        yield cert.UNCHECKED, "differences: all perturbed runs failed"
        return
    failed = [
        f"{step:.0e}"
        for step, D in zip(e.relative_steps, e.sweep, strict=True)
        if np.isnan(D).any()
    ]
    if failed:
        changed = f"parameters are changed by {', '.join(failed)} of their values"
        yield cert.FAILING, f"differences: runs fail where {changed}"
    seen = alive & np.isfinite(flat.value)
    if seen.any():
        off, width = _relative(e, flat.value, e.gradient, seen), flat.decades[seen].min()
        powers = slope[seen & np.isfinite(slope)]
        power = (
            f"; their errors fall with the perturbation to the power {np.median(powers):.1f}"
            if powers.size
            else ""
        )
        decades = "1 decade" if round(width) == 1 else f"{width:.0f} decades"
        yield (
            "differences",
            f"differences: a plateau of {decades} or more, which differs by {off:.1e}, relative, at"
            f" worst{power}",
        )
    if missing := _pairs(gradient, alive & ~np.isfinite(flat.value)):
        yield (
            "differences",
            f"{missing}: differences have no plateau: perturbations that are small enough for"
            " the truncation error are too small for the rounding error",
        )


def _pairs(gradient: Gradient, where: np.ndarray) -> str:
    return ", ".join(
        f"d{gradient.objective_names[o]}/d{gradient.parameter_names[p]}"
        for o, p in np.argwhere(where)
    )


def _relative(e: Evidence, a: np.ndarray, b: np.ndarray, where: np.ndarray) -> float:
    size = np.where(e.sizes > 0, e.sizes, np.where(a != 0, np.abs(a), 1.0))
    return float((np.abs(a - b) / size)[where].max(initial=0.0))


def _steps(e: Evidence, alive: np.ndarray, converged: np.ndarray) -> FindingTexts:
    r = e.refinement
    shorter = f"{r.what} {' → '.join(f'{x:.3g}' for x in r.settings)}"
    if len(r.settings) < 2:
        yield cert.UNCHECKED, f"the error of the steps could not be estimated: {r.refusal}"
    elif len(r.settings) < 3:
        reason = r.refusal or "there is no smaller one"
        yield "steps", f"{shorter}: only two settings, because {reason}"
    elif not converged[alive].all():
        yield (
            cert.STEPS,
            f"{shorter}: the gradient does not converge; no number of digits of the true motion"
            " follows from it",
        )
    else:
        change = _relative(e, r.gradients[-1], r.gradients[0], alive)
        changes = f"{'and' if change < 0.01 else 'but still'} changes by {change:.1e}"
        yield "steps", f"{shorter}: the gradient converges, {changes}, relative, at worst"


def _reference(e: Evidence, alive: np.ndarray) -> FindingTexts:
    r = e.reference
    kind = cert.UNRESOLVED if r.unresolved else cert.COMPLIANT if r.compliant else "reference"
    for u in r.unresolved:
        yield (
            cert.UNRESOLVED,
            f"{u.place!r} has a part that the steps do not resolve at t ≈ {u.time:.4g} s: its"
            f" integral over that step is off by {u.share:.2g}, relative; use a smaller step or"
            " tolerance",
        )
    text = f"reference ({r.what}): "
    if r.gradient is None:
        text += f"not available, because {r.refusal}"
        if kind != "reference":
            text += "; no number of digits of the true motion follows without it"
    else:
        text += f"differs by {_relative(e, r.gradient, e.gradient, alive):.1e}, relative, at worst"
        if r.compliant:
            text += (
                "; constraints of the certified run are compliant or drift, which shorter steps do"
                " not show"
            )
    yield kind, text


def _switches(e: Evidence) -> FindingTexts:
    for c in e.crossings:
        s = c.switch
        kind = cert.NON_SMOOTH_FORCE if s.objective is None else cert.NON_SMOOTH_OBJECTIVE
        where = f"{'objective ' if s.objective else ''}{s.place!r}"
        if not c.moved.any():
            text = (
                f"{where} switches ({s.operation}) at t ≈ {c.time:.4g} s whatever the parameters"
                " are; steps lose their order there"
            )
        elif s.jump:
            known = "steps end there, and derivatives include it"
            text = (
                f"{kind}: {where} jumps ({s.operation}) as the motion passes t ≈ {c.time:.4g} s;"
                " when it jumps depends on the parameters, and"
                f" {known if e.ends_at_jumps else 'derivatives leave that out'}"
            )
        else:
            text = (
                f"{kind}: {where} has a kink ({s.operation}) that the motion passes at t ≈"
                f" {c.time:.4g} s; digits are lost there"
            )
        yield kind, text
    passed = {(c.switch.place, c.switch.operation) for c in e.crossings}
    for place, operation in dict.fromkeys((s.place, s.operation) for s in e.switches):
        if (place, operation) not in passed:
            text = f"{place!r} is not smooth ({operation}), but the motion does not pass there"
            yield "smoothness", text
