"""A reference gradient: recomputed by a run of another kind, which shares none of the errors that
persist under finer steps of the same run.

- Constraints are exact: where the formulation of the certified run relaxes them (penalties) or
  lets them drift (stabilisation), no shorter step shows it.
- Steps have irregular lengths, so that a force that is sampled at the same phase in every step,
  halved or not, is sampled at varying phases.
- Functions of time, and of the motion, that the steps of the certified run do not resolve
  (`sensitivity.resolution`) are resolved by shorter ones.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import VarimechError
from ..formulations.ali3p import ALI3P
from ..integrators.dop853 import DOP853
from ..integrators.dopri5 import DOPRI5
from ..integrators.newmark import TRAPEZOIDAL
from ..results.certificate_evidence import DerivativeCheck, Reference, Unresolved
from ..schemes import Integrator
from ..sensitivity.event_functions import has_events
from ..sensitivity.nonlinear_parts import (
    NonlinearParts,
    along_motion,
    nonlinear_parts,
    of_time,
    special_times,
)
from ..sensitivity.resolution import ENDS, MOST, NOTICED, Evaluate, SampledFunctions, Stages

if TYPE_CHECKING:
    from ..results.gradient import Gradient
    from ..results.live_run import LiveRun
    from ..results.run import Run

FAILURES = (VarimechError, ArithmeticError, ValueError, RuntimeError)
"""Exceptions that a run may raise, including those of NumPy and CasADi, without ending the other
methods.
"""
MOST_SAMPLES, MOST_VALUES = 50_000, 2_000_000
"""Samples of each function, and of all of them together: 50 MB."""
FINER = 10
"""Samples per stored instant of a motion from which on functions along it are sampled."""
ACCURACY = 1e-8
"""Relative change of integrals over a step, if it is halved, up to which the reference resolves
functions of time.
"""
TOLERANCE = 1e-10
"""Tolerance by which the reference chooses its steps where the certified run reports none."""
IRREGULAR = 0.2
"""Share of a step by which its end is shifted."""
SHORTER = 0.236
"""Ratio of the reference's equal steps to those of the certified run: below a quarter, and with no
small integer multiple.
"""
AFFORDABLE = 50_000
"""Largest number of explicit steps for a motion that was integrated by CVODES or IDAS, as stiff
motions are.
"""
TRIAL = 100
"""One over the share of such a motion that is run to estimate that number."""
IMPLICIT_STEPS = 20_000
"""Steps of the trapezoidal rule where explicit steps would be too many."""


def rerun(
    gradient: Gradient, method: str, **changes: object
) -> tuple[DerivativeCheck, Gradient | None]:
    """Recompute the gradient by `method`, with some arguments of `Mechanism.sensitivity` changed.

    Returns:
        The record of the check, and the gradient itself; None where the run failed.
    """
    assert gradient.repeat is not None
    began = time.perf_counter()
    try:
        recomputed = gradient.repeat(method=method, progress=False, **changes)
    except FAILURES as error:
        return DerivativeCheck(method, None, str(error) or repr(error)), None
    last = recomputed.final_gradient
    if not np.isfinite(last).all():
        return DerivativeCheck(method, None, "it is not finite"), None
    return DerivativeCheck(method, last, "", time.perf_counter() - began), recomputed


@dataclass(frozen=True)
class _Functions:
    """Functions of time, the place in the model that each belongs to, and the accuracy to which the
    reference has to resolve them.
    """

    places: tuple[str, ...]
    sampled: SampledFunctions
    accuracy: float | None


def reference_of(gradient: Gradient, motion: LiveRun, finest: Gradient) -> Reference:
    """Find which functions the certified run does not resolve along a stored motion, and run the
    reference.

    Args:
        gradient: the gradient to certify.
        motion: its motion, stored often.
        finest: the same gradient with the shortest steps, or the smallest tolerance, that were
            tried.
    """
    assert motion.method is not None
    formulation, integrator = motion.method.formulation, motion.method.integrator
    functions = _functions(gradient, motion)
    unresolved = tuple(_unresolved(functions, gradient.run, integrator))
    duration, own_steps = float(gradient.time[-1]), integrator.continuous is not None
    if has_events(motion.equations, gradient.objectives):
        options = {**_explicit(TOLERANCE, duration), "integrator": DOPRI5}
        check, what = rerun(gradient, "direct", **options)[0], f"order 5, tolerance {TOLERANCE:g}"
    elif not unresolved and integrator.difference is not None:
        check, what = _equal_steps(gradient, integrator, SHORTER * float(gradient.run.info["step"]))
    elif own_steps and not _affordable(gradient):
        check, what = _equal_steps(gradient, TRAPEZOIDAL, duration / IMPLICIT_STEPS)
    else:
        moving = any(
            _unresolved([f for f in functions if f.accuracy is None], gradient.run, integrator)
        )
        # where the motion passes a place unresolved, only a tolerance determines when it really
        # does
        check, what = _irregular_steps(
            gradient, functions, None if moving else finest.run.step_ends
        )
    return Reference(what, check.gradient, check.refusal, not formulation.traits.exact, unresolved)


def _equal_steps(
    gradient: Gradient, integrator: Integrator, step: float
) -> tuple[DerivativeCheck, str]:
    """Run the reference with other equal steps and exact constraints."""
    options: dict[str, object] = {
        "formulation": ALI3P(),
        "integrator": integrator,
        "step": step,
        "tolerance": None,
        "output": None,
    }
    check, _ = rerun(gradient, "direct", **options, every=10**9)
    return check, f"steps of {step:.3g} s, exact constraints"


def _irregular_steps(
    gradient: Gradient, functions: list[_Functions], ends: np.ndarray | None
) -> tuple[DerivativeCheck, str]:
    """Run the reference with `ends` (or steps that a tolerance chooses) halved, made irregular, and
    shortened where functions of time require it.
    """
    options, what = (
        _explicit(TOLERANCE, float(gradient.time[-1])),
        "steps of irregular length, exact constraints",
    )
    if ends is None:
        check, chosen = rerun(gradient, "direct", **options)
        if chosen is None or (ends := chosen.run.step_ends) is None:
            return check, what
    ends = _irregular(ends)
    for f in functions:
        shortened = f.sampled.resolved(ends, Stages(DOP853.c, DOP853.b), f.accuracy)
        if shortened is None:
            names = ", ".join(map(repr, dict.fromkeys(f.places)))
            return DerivativeCheck(
                "direct", None, f"{names} would need more than {MOST} steps, or jump without end"
            ), what
        ends = shortened
    return rerun(gradient, "direct", **{**options, "ends": ends})[0], what


def _explicit(tolerance: float, duration: float) -> dict[str, object]:
    """Options of a run that chooses its steps, with projections."""
    options: dict[str, object] = {
        "formulation": "index1",
        "integrator": DOP853,
        "step": None,
        "every": 1,
        "ends": None,
    }
    return {**options, "tolerance": tolerance, "output": duration, "duration": duration}


def _irregular(ends: np.ndarray) -> np.ndarray:
    """Halve steps and shift their ends at random, with a fixed seed."""
    moved = halved(ends)
    shorter = np.minimum(np.diff(moved)[1:], np.diff(moved)[:-1])
    moved[1:-1] += np.random.default_rng(0).uniform(-IRREGULAR, IRREGULAR, shorter.size) * shorter
    return np.unique(moved)


def halved(ends: np.ndarray) -> np.ndarray:
    """Return the ends of steps of half the length."""
    return np.sort(np.concatenate([ends, 0.5 * (ends[1:] + ends[:-1])]))


def _affordable(gradient: Gradient) -> bool:
    """Whether explicit steps are few enough for the motion; stiff forces keep them short from the
    start.
    """
    _, trial = rerun(gradient, "direct", **_explicit(TOLERANCE, float(gradient.time[-1]) / TRIAL))
    return trial is not None and int(trial.run.info["steps"]) * TRIAL < AFFORDABLE


def _functions(gradient: Gradient, motion: LiveRun) -> list[_Functions]:
    """Return the nonlinear parts of the model as sampled functions of time, and along the motion,
    whose states are known at stored times only.
    """
    e, ρ, T = motion.equations, motion.parameters, motion.trajectory
    duration, (timed, along, every) = (
        float(gradient.time[-1]),
        nonlinear_parts(e, gradient.objectives),
    )
    functions = []
    if timed.places:
        about = special_times(of_time(e, ρ, every), duration, _count(every.numel()))
        functions.append(
            _sampled(timed, of_time(e, ρ, timed.expressions), duration, about, ACCURACY)
        )
    if along.places and T.time.size > 1 and _count(len(along.places)) >= FINER * T.time.size:
        evaluate = along_motion(e, ρ, along.expressions, T.time, T.states)
        functions.append(_sampled(along, evaluate, duration, np.zeros(0), None))
    return [f for f in functions if f.places]


def _count(functions: int) -> int:
    return min(MOST_SAMPLES, MOST_VALUES // functions)


def _sampled(
    parts: NonlinearParts,
    evaluate: Evaluate,
    duration: float,
    about: np.ndarray,
    accuracy: float | None,
) -> _Functions:
    """Sample functions; ignore those that are not finite somewhere."""
    count = _count(len(parts.places))
    with np.errstate(all="ignore"):
        finite = np.asarray(
            np.isfinite(evaluate(np.linspace(0.0, duration, count + 1))).all(axis=0)
        )
        places = tuple(p for p, kept in zip(parts.places, finite.tolist(), strict=True) if kept)
        sampled = SampledFunctions.sampled(
            lambda t: np.nan_to_num(evaluate(t)[:, finite]), duration, count, about
        )
    return _Functions(places, sampled, accuracy)


def _unresolved(
    functions: list[_Functions], run: Run, integrator: Integrator
) -> Iterator[Unresolved]:
    """For each place of the model, report the step of a run that resolves it worst."""
    if run._live is None or integrator.continuous is not None:
        return  # the stages of such an integrator are not known
    ends, scheme = run._live.computed.step_ends, integrator.coefficients
    stages = ENDS if scheme is None else Stages(scheme.c, scheme.b)
    worst: dict[str, Unresolved] = {}
    for f in functions:
        off = f.sampled.missed(ends[:-1], ends[1:], stages)
        for k, place in enumerate(f.places):
            step = int(off[:, k].argmax())
            share = float(off[step, k])
            if share > NOTICED and (place not in worst or share > worst[place].share):
                worst[place] = Unresolved(place, 0.5 * float(ends[step] + ends[step + 1]), share)
    yield from worst.values()
