"""The probability of an event by one of several methods:

    form         design points with exact derivatives, tangent planes and curvatures
    importance   the same, and samples around the design points
    subset       subset simulation, without derivatives
    samples      plain sampling, without derivatives

For an event that occurs at the medians of the parameters, all methods except plain sampling
evaluate the complementary event, which is rarer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from ..core.errors import ModelError, VarimechError, unknown_name
from ..core.messages import Message
from ..core.progress import progress_bar
from ..sensitivity.smoothness import check_gradients
from .first_order import FirstOrder, first_order
from .global_study import seeded
from .importance import importance_samples
from .limits import System, system_of
from .parameter_distributions import Correlation
from .reliability import LimitShare, Reliability, of_points, of_samples
from .reliability_notes import notes_of
from .sampled import Sampled, plain_estimate
from .subset import subset_simulation

if TYPE_CHECKING:
    from .global_study import GlobalStudy


class ReliabilityOptions(TypedDict, total=False):
    """Options of `Problem.reliability`."""

    correlation: Correlation | None
    method: str
    samples: int | None
    level: float
    seed: int


METHODS = ("form", "importance", "subset", "samples")
SAMPLES = {"form": 0, "importance": 2000, "subset": 1000, "samples": 10_000}
"""Default number of samples by method: it yields an interval of ± 10 % around design points, and by
plain sampling at a probability of 0.05; for subset simulation, the usual number in each level.
"""
BLOCK = 1024
"""Number of samples that run together, which limits memory, and between which progress is shown; a
round value.
"""


def reliability(
    study: GlobalStudy,
    event: object,
    method: str,
    samples: int | None,
    level: float,
    seed: int,
) -> Reliability:
    """Probability of an event; `GlobalStudy.probability` documents the arguments."""
    if method not in METHODS:
        raise unknown_name("method of reliability", method, METHODS)
    count = SAMPLES[method] if samples is None else samples
    if method != "form" and count < 1:
        remedy = Message("leave it out, or use {method}", method="form")
        problem = f"{method!r} needs samples"
        raise ModelError(
            problem, element="probability", field="samples", value=count, remedy=remedy
        )
    system = system_of(study, event)
    runs = system.study.runs
    if method in ("form", "importance"):
        solver = getattr(runs.rows.simulation, "solver", None)
        if solver is not None:
            check_gradients(solver(runs.rows.objectives).equations, runs.rows.objectives)
    before = runs.calls.copy()
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed)))
    with (
        _reporting(system, method, count),
        seeded(seed),
        runs.own_errors(f"probability of {system.name}"),
    ):
        if method == "samples":
            result = _by_samples(system, count, level, rng)
        elif method == "subset":
            result = _by_subset(system, count, level)
        else:
            result = _by_design_points(system, count, level, rng)
    return replace(result, calls=dict(runs.calls - before))


def _by_samples(system: System, count: int, level: float, rng: np.random.Generator) -> Reliability:
    """Estimate the probability of the system and of each limit by plain sampling."""
    u = rng.standard_normal((count, len(system.study.names)))
    beyond = _evaluated(system, u)
    drawn = plain_estimate(system.occurs(beyond), level)
    several = len(system.limits) > 1
    shares = [
        LimitShare(
            limit.name,
            sampled=plain_estimate(_alone(system, beyond, k), level),
            without=plain_estimate(_rest(system, beyond, k), level).probability,
        )
        for k, limit in enumerate(system.limits)
    ]
    return of_samples(system, "plain sampling", drawn, shares if several else [])


def _by_subset(system: System, count: int, level: float) -> Reliability:
    likely = _occurs_at_medians(system)
    drawn = subset_simulation(system.contrary if likely else system, count, level)
    return of_samples(system, "subset simulation", drawn.contrary if likely else drawn, [])


def _by_design_points(
    system: System, count: int, level: float, rng: np.random.Generator
) -> Reliability:
    """Compute FORM and SORM, and estimate by samples around the design points if requested."""
    likely = _occurs_at_medians(system)
    rare = system.contrary if likely else system
    form = first_order(rare, rng)
    drawn: Sampled | None = None
    alone: list[Sampled | None] = [None] * len(system.limits)
    without = list(form.without)
    if count:
        centres = np.array([p.standard for p in form.points])
        drawn_at = importance_samples(
            centres, np.array([max(p.form, 1e-300) for p in form.points]), count, rng
        )
        beyond = _evaluated(rare, drawn_at.u)
        drawn = drawn_at.estimate(rare.occurs(beyond), level)
        if len(system.limits) > 1:
            for k in range(len(system.limits)):
                if rare.series:  # those of a parallel system are far from its limits
                    alone[k] = drawn_at.estimate(_alone(rare, beyond, k), level)
                    without[k] = drawn_at.estimate(_rest(rare, beyond, k), level).probability
    return _result(system, form, drawn, alone, without, level, likely)


def _result(
    system: System,
    points: FirstOrder,
    drawn: Sampled | None,
    alone: list[Sampled | None],
    without: list[float],
    level: float,
    likely: bool,
) -> Reliability:
    """Build the result for the event itself if its complement was evaluated."""
    notes = notes_of(points, drawn, level)
    several = len(system.limits) > 1
    shares = []
    for k, limit in enumerate(system.limits):
        form, sampled = points.limits[k], alone[k]
        if likely:
            form, sampled = 1 - form, sampled and sampled.contrary
        rest = 1 - without[k] if likely else without[k]
        shares.append(LimitShare(limit.name, form=form, sampled=sampled, without=rest))
    return of_points(
        system,
        points,
        drawn and (drawn.contrary if likely else drawn),
        shares if several else [],
        notes,
        likely,
    )


def _alone(system: System, beyond: np.ndarray, k: int) -> np.ndarray:
    """Whether one limit is exceeded."""
    return System(system.study, (system.limits[k],)).occurs(beyond[:, k : k + 1])


def _rest(system: System, beyond: np.ndarray, k: int) -> np.ndarray:
    """Whether the event occurs without one of several limits."""
    if len(system.limits) == 1:
        return np.zeros(len(beyond))
    return system.without(k).occurs(np.delete(beyond, k, axis=1))


def _occurs_at_medians(system: System) -> bool:
    """Whether the event occurs at the medians of the parameters; a run that fails is an error."""
    middle = system.study.distributions.from_normal(np.zeros((1, len(system.study.names))))
    values = system.study.runs.values(middle)
    beyond = np.column_stack([limit.of_values(values) for limit in system.limits])
    occurs = float(system.occurs(beyond)[0])
    if math.isnan(occurs):
        raise VarimechError(
            f"probability of {system.name}: a limit has no value at the medians of the parameters",
            remedy=Message("use {method}", method="samples"),
        )
    return bool(occurs)


def _evaluated(system: System, u: np.ndarray) -> np.ndarray:
    """Evaluate the functions of all limits at many points, block by block."""
    return np.concatenate([system.beyond(u[at : at + BLOCK]) for at in range(0, len(u), BLOCK)])


@contextmanager
def _reporting(system: System, method: str, samples: int) -> Iterator[None]:
    """Show the number of runs, relative to the total if it is known, as for plain sampling."""
    runs = system.study.runs
    total = samples if method == "samples" else None
    with progress_bar("reliability", total, runs.rows.simulation.progress) as update:
        began = runs.calls.total()
        runs.report = lambda: update(runs.calls.total() - began, f"{runs.calls.total()} runs")
        try:
            yield
        finally:
            runs.report = None
