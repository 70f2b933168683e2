"""Evidence about a gradient: recomputed by every exact method, by differences, with shorter steps
and by a reference run; and properties of the motion.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..core.progress import progress_bar
from ..core.schedule import SMALLEST_TOLERANCE
from ..results.certificate_evidence import DerivativeCheck, GradientEvidence, Refinement
from ..results.event_smoothness import (
    RoughEvent,
    near_misses,
    rough_events,
    sticking_limits,
)
from ..sensitivity.dependence import dependence
from ..sensitivity.event_functions import has_events
from ..sensitivity.smoothness import Switch, switches
from .motion import Crossing, crossings_of, growth_of, singularity_of
from .reference import FAILURES, halved, reference_of, rerun

if TYPE_CHECKING:
    from ..results.gradient import Gradient
    from ..results.live_run import LiveRun

T = TypeVar("T")
EXACT_METHODS = ("direct", "adjoint", "complex-step")
"""Methods that give the exact derivative of the computed function."""
STORED, SWITCHING = 1000, 10_000
"""Number of instants at which a motion is examined; and the number where it may cross switches,
which can be brief.
"""


@dataclass(frozen=True)
class Evidence(GradientEvidence):
    """All evidence, including the part that only the judgement needs."""

    objective_names: tuple[str, ...]
    method: str
    repeated: np.ndarray | None
    """Gradient recomputed by its own method with steps chosen anew; None if it is not available."""
    values: np.ndarray
    """Absolute values of the objectives."""
    parameters: np.ndarray
    """Absolute values of the parameters."""
    switches: tuple[Switch, ...]
    crossings: tuple[Crossing, ...]
    rough_events: tuple[RoughEvent, ...]
    """Events without a derivative, or with a one-sided derivative only."""
    ends_at_jumps: bool
    """Whether steps end at jumps, so that derivatives include them."""
    step_noise: float
    """Relative difference between runs due to each choosing its own steps; 0 where perturbed runs
    reuse the steps of the certified run.
    """
    tolerance: float
    """Tolerance of the certified run; 0 where its steps were prescribed."""
    depends: np.ndarray
    """Whether an objective can depend on a parameter: (objective, parameter)."""


def gather(
    gradient: Gradient, steps: tuple[float, ...], sizes: np.ndarray, progress: bool | None
) -> Evidence:
    """Recompute the gradient by every method; record failures as evidence."""
    info, live = gradient.run.info, gradient.run.live
    chosen = "tolerance" in info
    often, once = _storage(gradient, live)
    ends = gradient.run.step_ends
    # where parameters move events, step ends of one run cannot be reused in another
    eventful = has_events(live.equations, gradient.objectives)
    same: dict[str, object] = {"ends": ends} if chosen and ends is not None and not eventful else {}
    label = f"{info['mechanism']}: certificate"
    with progress_bar(label, len(EXACT_METHODS) + len(steps) + 4, progress) as report:
        count = _Counter(report)
        direct, along = count(rerun(gradient, "direct", **often, **same))
        others = [count(rerun(gradient, m, **once, **same)[0]) for m in EXACT_METHODS[1:]]
        checks = (direct, *others)
        sweep = np.stack([count(_differences(gradient, step, {**once, **same})) for step in steps])
        refinement, finest = _refined(gradient, direct, chosen, once, count)
        own = next((check for check in checks if check.name == gradient.method), None)
        again = count(rerun(gradient, own.name, **once)[0] if own is not None and same else own)
        motion = live if along is None else along.run.live
        reference = count(reference_of(gradient, motion, finest))
    ρ = np.abs(motion.parameters[motion.indices])
    model_switches = tuple(switches(motion.equations, gradient.objectives))
    final = gradient.final_gradient
    tolerance = float(info.get("tolerance", 0.0))
    return Evidence(
        objective_names=gradient.objective_names,
        gradient=final,
        method=gradient.method,
        derivative_checks=checks,
        relative_steps=steps,
        sweep=sweep,
        refinement=refinement,
        reference=reference,
        repeated=None if again is None else again.gradient,
        values=np.abs(live.computed.objectives).max(axis=0),
        parameters=np.where(ρ > 0, ρ, 1.0),
        residuals=tuple(float(r) for r in info["residuals"]),
        growth=growth_of(motion),
        singularity=singularity_of(motion),
        switches=model_switches,
        crossings=tuple(crossings_of(motion, model_switches)),
        rough_events=tuple(
            [
                *rough_events(motion.equations, motion.computed),
                *near_misses(motion.equations, motion.trajectory, motion.parameters),
                *sticking_limits(
                    motion.equations, motion.trajectory, motion.computed, motion.parameters
                ),
            ]
        ),
        ends_at_jumps=live.computed.crossed is not None,
        step_noise=tolerance if ends is None else 0.0,
        tolerance=tolerance,
        depends=dependence(motion.equations, gradient.objectives, motion.indices),
        sizes=np.maximum(np.abs(final), sizes),
    )


def _storage(gradient: Gradient, live: LiveRun) -> tuple[dict[str, object], dict[str, object]]:
    """Return the storage options of two kinds of runs: stored often enough to examine the motion,
    and stored at the end only.
    """
    info, duration = gradient.run.info, float(gradient.time[-1])
    stored = SWITCHING if switches(live.equations, gradient.objectives) else STORED
    if "tolerance" in info or _at_given_ends(gradient):
        return {"output": duration / stored}, {"output": duration}
    steps = int(info["steps"])
    return {"every": max(1, steps // stored)}, {"every": steps * 8}


class _Counter:
    """Returns its argument and reports the number of its calls."""

    def __init__(self, report: Callable[..., None]):
        self._report = report
        self._numbers = itertools.count(1)

    def __call__(self, result: T) -> T:
        self._report(next(self._numbers))
        return result


def _differences(gradient: Gradient, step: float, storage: dict[str, object]) -> np.ndarray:
    """Compute central differences with one perturbation; where they fail for all parameters
    together, compute them for each parameter separately.
    """
    assert gradient.repeat is not None
    common: dict[str, object] = {
        "method": "finite-difference",
        "relative_steps": (step,),
        "progress": False,
        **storage,
    }
    try:
        return np.asarray(gradient.repeat(**common).final_gradient)
    except FAILURES:
        if len(gradient.parameter_names) == 1:
            return np.full(gradient.final_gradient.shape, np.nan)
    columns = []
    for name in gradient.parameter_names:
        try:
            columns.append(gradient.repeat(**{**common, "wrt": [name]}).final_gradient[:, 0])
        except FAILURES:
            columns.append(np.full(len(gradient.objective_names), np.nan))
    return np.stack(columns, axis=-1)


def _refined(
    gradient: Gradient,
    direct: DerivativeCheck,
    chosen: bool,
    storage: dict[str, object],
    count: _Counter,
) -> tuple[Refinement, Gradient]:
    """Recompute the gradient with the step halved twice (or the tolerance divided by ten twice, as
    far as a smaller tolerance exists); return the comparison and the finest gradient.
    """
    info, what = gradient.run.info, "tolerance" if chosen else "step"
    first = (
        float(gradient.time[-1]) / int(info["steps"])
        if _at_given_ends(gradient)
        else float(info[what])
    )
    finer_settings = (
        [max(first / 10, SMALLEST_TOLERANCE), max(first / 100, SMALLEST_TOLERANCE)]
        if chosen
        else [first / 2, first / 4]
    )
    finer_settings = [x for k, x in enumerate(finer_settings) if x < [first, *finer_settings][k]]
    coarsest = gradient.final_gradient if direct.gradient is None else direct.gradient
    settings, gradients, finest, refusal = [first], [coarsest], gradient, ""
    for setting in finer_settings:
        changes = (
            {"ends": halved(np.asarray(finest.run.step_ends))}
            if _at_given_ends(gradient)
            else {what: setting}
        )
        check, finer = count(rerun(gradient, "direct", **{**storage, **changes}))
        if check.gradient is None or finer is None:
            refusal = check.refusal
            break
        settings.append(setting)
        gradients.append(check.gradient)
        finest = finer
    refusal = refusal if finer_settings else "there is no smaller tolerance"
    return Refinement(what, tuple(settings), np.stack(gradients), refusal), finest


def _at_given_ends(gradient: Gradient) -> bool:
    """Whether the step ends were prescribed (`ends=`)."""
    return "tolerance" not in gradient.run.info and isinstance(gradient.run.info["step"], list)
