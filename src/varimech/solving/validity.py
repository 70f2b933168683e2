"""Validity checks of a completed run: speeds are below that of light, joints hold together, and
objectives are finite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Set

import numpy as np

from ..backends.trajectory import Trajectory
from ..coordinates.equations import Equations
from ..core.errors import SimulationError
from ..core.messages import Message, Text
from ..formulations.formulation import FinishedMotion, Formulation, ResidualLimit
from ..integrators.integrator import Integrator
from ..sensitivity.objective import AT_EVENT, Objective

LIGHT = 3e8
"""Speed of light (m/s): no point of a mechanism moves, or turns (rad/s), faster."""


def check_speeds(
    trajectory: Trajectory, tolerance: float, integrator: Integrator, equations: Equations
) -> None:
    """Refuse a diverged motion: explicit steps that are too long let motions grow from step to
    step, and a short run ends before they overflow.
    """
    if tolerance or integrator.coefficients is None:
        return
    n, moving = equations.coordinate_count, equations.coordinate_count - equations.extra
    speeds = np.abs(trajectory.states[:, n : n + moving]).max(axis=1, initial=0.0)
    if not (too_fast := np.flatnonzero(speeds > LIGHT)).size:
        return
    t, speed = float(trajectory.time[too_fast[0]]), float(speeds[too_fast[0]])
    raise _refused(
        f"{equations.model.name!r}: at t = {t:g} s integration diverged (speed {speed:.2g} m/s or"
        " rad/s): the step is too large for this stiffness",
        trajectory,
        t,
        "the motion as a whole",
        remedy=Message("try a smaller step, or {tolerance} in its place", tolerance=1e-8),
    )


def check_sampled(
    trajectory: Trajectory, objectives: Mapping[str, Objective], mechanism: str
) -> None:
    """Refuse values at events that do not occur."""
    for k, (name, objective) in enumerate(objectives.items()):
        samples = [s for s in objective.samples if s.kind == AT_EVENT]
        if not samples or not np.isnan(trajectory.objectives[-1, k]):
            continue
        which = samples[0]
        often = f" {which.occurrence} times" if which.occurrence > 1 else ""
        t = float(trajectory.time[-1])
        raise _refused(
            f"{mechanism!r}: objective {name!r} needs event {which.event!r}, which does not occur"
            f"{often} up to t = {t:g} s",
            trajectory,
            t,
            name,
            remedy="run longer, or look at run.events",
        )


def check_finite(
    trajectory: Trajectory, objectives: list[str], mechanism: str, late: Set[str] = frozenset()
) -> None:
    """Refuse objectives or derivatives that are not finite. The motion of a completed run is
    finite; objectives are separate functions, and those in `late` have values after events only.
    """
    columns = [k for k, name in enumerate(objectives) if name in late]
    for what, values in (("value", trajectory.objectives), ("derivative", trajectory.gradients)):
        if columns and values is not None:
            values = values.copy()
            values[:-1, columns] = 0.0
        if values is not None and not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0][:2]
            name, t = objectives[int(column)], float(trajectory.time[row - len(values)])
            raise _refused(
                f"{mechanism!r}: the {what} of objective {name!r} is not finite from t = {t:g} s on"
                " (NaN or infinite)",
                trajectory,
                t,
                name,
                remedy="look for a root, a logarithm or a denominator that reaches zero there",
            )


def _limits(
    trajectory: Trajectory, tolerance: float, formulation: Formulation, equations: Equations
) -> tuple[ResidualLimit, ...]:
    """Return the residual limits of the formulation; `tolerance` is 0 for equal steps."""
    return formulation.residual_limits(
        FinishedMotion(trajectory.states, trajectory.residuals, tolerance, equations)
    )


def residual_limits(
    trajectory: Trajectory, tolerance: float, formulation: Formulation, equations: Equations
) -> tuple[float, float]:
    """Return the residual limits at position and velocity level for runs similar to this one."""
    limits = _limits(trajectory, tolerance, formulation, equations)
    allowed = {limit.level: limit.allowed for limit in limits}
    return allowed.get(0, np.inf), allowed.get(1, np.inf)


def check_constraints(
    trajectory: Trajectory, tolerance: float, formulation: Formulation, equations: Equations
) -> None:
    """Refuse a run whose constraints are violated, as without projections, or if these failed.
    `tolerance` is 0 for equal steps.
    """
    for limit in _limits(trajectory, tolerance, formulation, equations):
        if (violation := float(trajectory.residuals[limit.level])) > limit.allowed:
            raise _refused(
                f"{equations.model.name!r}: constraints were violated by up to {violation:.2g}"
                f" ({limit.unit}) with formulation {formulation.name!r}, as happens with long steps"
                " and near singular positions",
                trajectory,
                float(trajectory.time[-1]),
                "constraints",
                violation,
                remedy=limit.remedy,
            )


def _refused(
    problem: str,
    trajectory: Trajectory,
    t: float,
    worst: str,
    residual: float = math.nan,
    *,
    remedy: Text,
) -> SimulationError:
    """Build the error for a result that is invalid from a time on."""
    step = int(np.searchsorted(trajectory.step_ends, t * (1 - 1e-12)))
    return SimulationError(
        problem, time=t, step=step, residual=residual, worst=worst, remedy=remedy
    )
