"""From a gradient to its certificate: evidence → judgement → report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, all_or_nothing, check_numbers
from ..results.certificate import Certificate
from ..results.certificate_evidence import GradientEvidence, Verdicts
from ..results.result import ByParameter
from .evidence import gather
from .judgement import MOST_DIGITS, judge
from .report import findings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..results.gradient import Gradient

RELATIVE_STEPS = tuple(10.0**-k for k in range(1, 13))


@all_or_nothing()
def certify(
    gradient: Gradient,
    relative_steps: Sequence[float] | None,
    wanted: float,
    sizes: ArrayLike,
    progress: bool | None,
) -> Certificate:
    """Gather all evidence and judge it."""
    began = time.perf_counter()
    _check(gradient, wanted)
    e = gather(gradient, _steps(relative_steps), _sizes(gradient, sizes), progress)
    verdict = judge(e, wanted)
    return Certificate(
        **_fields(ByParameter, gradient),
        **_fields(GradientEvidence, e),
        **_fields(Verdicts, verdict),
        mechanism=gradient.run.info["mechanism"],
        method=gradient.run.info["method"],
        differentiated=gradient.method,
        wanted=wanted,
        plateau_value=verdict.flat.value,
        plateau_error=verdict.flat.error,
        plateau_decades=verdict.flat.decades,
        findings=findings(gradient, e, verdict),
        seconds=time.perf_counter() - began,
    )


def _fields(kind: type, whole: object) -> dict[str, Any]:
    """Return the values that `whole` has for the fields of one of its base classes."""
    return {f.name: getattr(whole, f.name) for f in fields(kind)}


def _check(gradient: Gradient, wanted: float) -> None:
    if "stopped" in gradient.run.info:
        remedy = f"compute it anew, with duration={gradient.time[-1]:g}, to certify it"
        raise ModelError(
            "belongs to a run that was stopped", element="this gradient", remedy=remedy
        )
    if gradient.repeat is None:
        remedy = "certify it in the session that computed it"
        raise ModelError("has no mechanism any more", element="this gradient", remedy=remedy)
    if not gradient.objective_names:
        raise ModelError(
            "there is nothing to certify",
            element="certify",
            remedy="give sensitivity(…) at least one objective",
        )
    check_numbers("certify", wanted=wanted)
    if not 0 < wanted <= MOST_DIGITS:
        raise ModelError(
            f"digits must be between 0 and {MOST_DIGITS:g}",
            element="certify",
            field="wanted",
            value=wanted,
        )


def _steps(relative_steps: Sequence[float] | None) -> tuple[float, ...]:
    """Return the validated relative perturbations, the largest first."""
    try:
        steps = (
            RELATIVE_STEPS if relative_steps is None else tuple(float(s) for s in relative_steps)
        )
    except (TypeError, ValueError):
        steps = ()
    if not steps or not all(0 < s < np.inf for s in steps):
        raise ModelError(
            "must be one or more positive numbers",
            element="certify",
            field="relative_steps",
            value=relative_steps,
        )
    return tuple(sorted(steps, reverse=True))


def _sizes(gradient: Gradient, sizes_argument: ArrayLike) -> np.ndarray:
    """Return the sizes below which derivatives do not matter: (objective, parameter)."""
    shape = gradient.final_gradient.shape
    try:
        sizes = np.broadcast_to(np.asarray(sizes_argument, dtype=float), shape)
    except (TypeError, ValueError):
        problem = f"must be a number, or numbers by (objective, parameter): {shape}"
        raise ModelError(problem, element="certify", field="sizes", value=sizes_argument) from None
    if not (np.isfinite(sizes) & (sizes >= 0)).all():
        raise ModelError(
            "must be finite and not negative",
            element="certify",
            field="sizes",
            value=sizes_argument,
        )
    return sizes
