"""Evidence about a gradient: recomputed by every exact method, by differences, with shorter steps
and by a reference run; and what the motion shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.progress import progress_bar
from ..core.schedule import SMALLEST_TOLERANCE
from ..results.certificate_evidence import (
    DerivativeCheck,
    Growth,
    Reference,
    Refinement,
    Singularity,
)
from ..sensitivity.dependence import dependence
from ..sensitivity.smoothness import Switch, switches
from .motion import Crossing, crossings_of, growth_of, singularity_of
from .reference import halved, reference_of
from .rerun import FAILURES, rerun

if TYPE_CHECKING:
    from ..results.gradient import Gradient
    from ..results.live_run import LiveRun

EXACT_METHODS = ("direct", "adjoint", "complex-step")
"""Methods that give the exact derivative of the computed function."""
STORED, SWITCHING = 1000, 10_000
"""Instants at which a motion is looked at, and one that may pass switches, which can be brief."""


@dataclass(frozen=True)
class Evidence:
    """All of it."""

    objective_names: tuple[str, ...]
    given: np.ndarray
    """The gradient in question: (objective, parameter)."""
    method: str
    derivative_checks: tuple[DerivativeCheck, ...]
    steps: tuple[float, ...]
    sweep: np.ndarray
    """Central differences: (perturbation, objective, parameter); NaN for those that failed."""
    refinement: Refinement
    reference: Reference
    again: np.ndarray | None
    """What the method of the gradient gives once more, with steps chosen anew; None if that is not
    known.
    """
    values: np.ndarray
    """Sizes of the objectives."""
    parameters: np.ndarray
    """Sizes of the parameters."""
    residuals: tuple[float, ...]
    growth: Growth | None
    singularity: Singularity | None
    switches: tuple[Switch, ...]
    crossings: tuple[Crossing, ...]
    loose: float
    """By how much, relative, runs differ because each chooses its steps anew; 0 where perturbed
    runs take the steps of the given one.
    """
    tolerance: float
    """Of the given run; 0 where steps were given."""
    depends: np.ndarray
    """Whether an objective can depend on a parameter: (objective, parameter)."""
    sizes: np.ndarray
    """By what errors are measured: derivatives, or the sizes that were given where these are
    larger: (objective, parameter).
    """


def gather(
    gradient: Gradient, steps: tuple[float, ...], sizes: np.ndarray, progress: bool | None
) -> Evidence:
    """Recompute the gradient in every way. What fails is noted, and the others go on."""
    info, live = gradient.run.info, gradient.run._live
    assert live is not None
    duration, chosen = float(gradient.time[-1]), "tolerance" in info
    stored = SWITCHING if switches(live.equations, gradient.objectives) else STORED
    equal = not chosen and not _at_given_ends(gradient)
    often: dict[str, Any] = (
        {"every": max(1, int(info["steps"]) // stored)} if equal else {"output": duration / stored}
    )
    once: dict[str, Any] = {"every": int(info["steps"]) * 8} if equal else {"output": duration}
    label = f"{info['mechanism']}: certificate"
    with progress_bar(label, len(EXACT_METHODS) + len(steps) + 4, progress) as tell:
        done = 0

        def told(result: Any) -> Any:
            nonlocal done
            done += 1
            tell(done)
            return result

        derivative_checks, direct = [], None
        same = (
            {"ends": gradient.run.step_ends}
            if chosen and gradient.run.step_ends is not None
            else {}
        )
        for method in EXACT_METHODS:
            check, found = told(
                rerun(gradient, method, **(often if method == "direct" else once), **same)
            )
            derivative_checks.append(check)
            direct = found if method == "direct" else direct
        sweep = np.stack([told(_differences(gradient, step, {**once, **same})) for step in steps])
        refinement, finest = _refined(gradient, derivative_checks[0], chosen, once, told)
        own = next(
            (check for check in derivative_checks if check.name == gradient.method),
            None,
        )
        again = told(rerun(gradient, own.name, **once)[0] if own is not None and same else own)
        motion = live if direct is None or direct.run._live is None else direct.run._live
        reference = told(reference_of(gradient, motion, finest))
    return _with_motion(
        gradient,
        motion,
        tuple(derivative_checks),
        steps,
        sizes,
        sweep,
        refinement,
        reference,
        again,
    )


def _with_motion(
    gradient: Gradient,
    live: LiveRun,
    derivative_checks: tuple[DerivativeCheck, ...],
    steps: tuple[float, ...],
    sizes: np.ndarray,
    sweep: np.ndarray,
    refinement: Refinement,
    reference: Reference,
    again: DerivativeCheck | None,
) -> Evidence:
    e, ρ = live.equations, np.abs(live.parameters[live.indices])
    known = tuple(switches(e, gradient.objectives))
    return Evidence(
        gradient.objective_names,
        gradient.gradient_history[-1],
        gradient.method,
        derivative_checks,
        steps,
        sweep,
        refinement,
        reference,
        None if again is None else again.gradient,
        np.abs(gradient.value_history).max(axis=0),
        np.where(ρ > 0, ρ, 1.0),
        tuple(float(r) for r in gradient.run.info["residuals"]),
        growth_of(live),
        singularity_of(live),
        known,
        tuple(crossings_of(live, known)),
        float(gradient.run.info["tolerance"]) if gradient.run.step_ends is None else 0.0,
        float(gradient.run.info.get("tolerance", 0.0)),
        dependence(e, gradient.objectives, live.indices),
        np.maximum(np.abs(gradient.gradient_history[-1]), sizes),
    )


def _differences(gradient: Gradient, step: float, storage: dict[str, Any]) -> np.ndarray:
    """Central differences by one perturbation; where they fail for all parameters together, for
    each of them.
    """
    assert gradient.repeat is not None
    common: dict[str, Any] = {
        "method": "finite-difference",
        "relative_steps": (step,),
        "progress": False,
        **storage,
    }
    try:
        return np.asarray(gradient.repeat(**common).gradient_history[-1])
    except FAILURES:
        if len(gradient.parameter_names) == 1:
            return np.full(gradient.gradient_history[-1].shape, np.nan)
    columns = []
    for name in gradient.parameter_names:
        try:
            columns.append(gradient.repeat(**{**common, "wrt": [name]}).gradient_history[-1][:, 0])
        except FAILURES:
            columns.append(np.full(len(gradient.objective_names), np.nan))
    return np.stack(columns, axis=-1)


def _refined(
    gradient: Gradient,
    direct: DerivativeCheck,
    chosen: bool,
    storage: dict[str, Any],
    told: Callable[[Any], Any],
) -> tuple[Refinement, Gradient]:
    """Halved twice, or divided by ten twice as far as there is a smaller tolerance; and the finest
    of these gradients.
    """
    info, what = gradient.run.info, "tolerance" if chosen else "step"
    first = (
        float(gradient.time[-1]) / int(info["steps"])
        if _at_given_ends(gradient)
        else float(info[what])
    )
    wanted = (
        [max(first / 10, SMALLEST_TOLERANCE), max(first / 100, SMALLEST_TOLERANCE)]
        if chosen
        else [first / 2, first / 4]
    )
    wanted = [x for k, x in enumerate(wanted) if x < [first, *wanted][k]]
    settings, found = (
        [first],
        [gradient.gradient_history[-1] if direct.gradient is None else direct.gradient],
    )
    finest = gradient
    for setting in wanted:
        changes = (
            {"ends": halved(np.asarray(finest.run.step_ends))}
            if _at_given_ends(gradient)
            else {what: setting}
        )
        check, finer = told(rerun(gradient, "direct", **{**storage, **changes}))
        if check.gradient is None or finer is None:
            return Refinement(what, tuple(settings), np.stack(found), check.refusal), finest
        settings.append(setting)
        found.append(check.gradient)
        finest = finer
    return Refinement(
        what, tuple(settings), np.stack(found), "" if wanted else "there is no smaller tolerance"
    ), finest


def _at_given_ends(gradient: Gradient) -> bool:
    """Whether steps were given one by one (`ends=`)."""
    return "tolerance" not in gradient.run.info and isinstance(gradient.run.info["step"], list)
