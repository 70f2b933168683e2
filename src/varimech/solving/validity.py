"""Whether a run that came to its end is a result: nothing outruns light, its joints hold together,
and its objectives are finite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..backends.trajectory import Trajectory
from ..coordinates.equations import Equations
from ..coordinates.penalty import penalty_function
from ..core.errors import SimulationError
from ..formulations.index1 import Projected, Stabilised
from ..formulations.penalty import Penalty
from ..integrators.runge_kutta import RungeKutta
from ..schemes import Formulation, Integrator
from ..stages.saddle import Saddle

VIOLATION = 1e-2
"""Largest violation of constraints in a run without projections, over the size of the mechanism."""

LIGHT = 3e8
"""Nothing of a mechanism is faster (m/s), or turns faster (rad/s)."""


def check_speeds(
    trajectory: Trajectory, tolerance: float, integrator: Integrator, equations: Equations
) -> None:
    """Explicit steps that are too long let motions grow from step to step, and a short run ends
    before they overflow.
    """
    if tolerance or not isinstance(integrator, RungeKutta):
        return
    n, moving = equations.q.numel(), equations.q.numel() - equations.extra
    speeds = np.abs(trajectory.states[:, n : n + moving]).max(axis=1, initial=0.0)
    if not (too_fast := np.flatnonzero(speeds > LIGHT)).size:
        return
    t, speed = float(trajectory.time[too_fast[0]]), float(speeds[too_fast[0]])
    raise _refused(
        f"{equations.model.name!r}: at t = {t:g} s something moves at {speed:.2g} (m/s or rad/s),"
        " faster than light: steps are far too long for forces so stiff; try a smaller step, or"
        " tolerance=1e-8 in its place",
        trajectory,
        t,
        "the motion as a whole",
    )


def check_finite(trajectory: Trajectory, objectives: list[str], mechanism: str) -> None:
    """The motion is finite where a run comes to its end; objectives are functions of their own."""
    for what, values in (("value", trajectory.objectives), ("derivative", trajectory.gradients)):
        if values is not None and not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0][:2]
            name, t = objectives[int(column)], float(trajectory.time[row - len(values)])
            raise _refused(
                f"{mechanism!r}: the {what} of objective {name!r} is not finite from t = {t:g} s on"
                " (NaN or infinite); look for a root, logarithm or quotient that meets zero there",
                trajectory,
                t,
                name,
            )


@dataclass(frozen=True)
class _Coherence:
    """What tells whether joints come apart: which residual, of positions (0) or velocities (1), how
    large it may be, and what helps.
    """

    level: int
    allowed: float
    unit: str
    remedies: str


def _coherence(
    trajectory: Trajectory, tolerance: float, formulation: Formulation, equations: Equations
) -> tuple[_Coherence, ...]:
    """`tolerance` is 0 for equal steps. Nothing where constraints hold by construction."""
    n, lengths = equations.q.numel(), equations.q.numel() - equations.extra
    size, speed = (
        float(np.abs(trajectory.states[:, k * n : k * n + lengths]).max(initial=0.0))
        for k in range(2)
    )
    also = "a smaller step, or formulation='ali3p'"
    allowed = VIOLATION * size
    if isinstance(
        formulation, Projected
    ):  # projections of velocities are exact, those of positions leave the drift squared
        remedies = f"integrator='dopri5', {also}"
        return (
            _Coherence(1, max(1e-9, 1e-5 * speed), "m/s or rad/s", remedies),
            _Coherence(0, max(1e-12, allowed), "m or rad", remedies),
        )
    if isinstance(formulation, Penalty):
        if (
            tolerance
        ):  # joints give way to forces, and to no more than the error of the steps beside
            accelerations = float(
                _usual(np.abs(trajectory.states[:, 2 * n : 2 * n + lengths]).max(axis=1))
            )
            give = accelerations / (formulation.factor * formulation.omega**2)
            if trajectory.residuals[0] > 100 * (
                give + tolerance * size
            ):  # what rests is carried, too
                give = max(give, _give(trajectory, formulation, equations))
            allowed = min(allowed, 100 * (give + tolerance * size))
        return (
            _Coherence(0, max(1e-12, allowed), "m or rad", f"a larger factor=, {also} or 'index1'"),
        )
    if isinstance(formulation, Stabilised):
        allowed = min(VIOLATION, tolerance) * size if tolerance else allowed
        return (
            _Coherence(0, max(1e-12, allowed), "m or rad", f"a larger omega=, {also} or 'index1'"),
        )
    return ()


def _give(trajectory: Trajectory, formulation: Penalty, e: Equations) -> float:
    """How far joints give way to what they usually carry: λ/(α ω²), with α as it is at nominal
    values.
    """
    n, saddle = e.q.numel(), Saddle(regular=True)
    λ = _usual(np.abs(trajectory.states[:, 3 * n :]))
    α = np.array(
        penalty_function(e, saddle)(trajectory.states[0, :n], e.model.parameter_set.nominal, 0.0)
    ).ravel()[: λ.size]
    return (
        float((λ / α).max(initial=0.0))
        * saddle.penalty_factor
        / (formulation.factor * formulation.omega**2)
    )


def _usual(sizes: np.ndarray) -> np.ndarray:
    """The median over stored results; of two, as where only both ends are stored, the smaller: the
    end may be what went wrong.
    """
    return np.asarray(np.quantile(sizes, 0.5, axis=0, method="lower"))


def residual_limits(
    trajectory: Trajectory, tolerance: float, formulation: Formulation, equations: Equations
) -> tuple[float, float]:
    """Residuals of positions and velocities up to which runs like this one hold together."""
    allowed = {
        found.level: found.allowed
        for found in _coherence(trajectory, tolerance, formulation, equations)
    }
    return allowed.get(0, np.inf), allowed.get(1, np.inf)


def check_constraints(
    trajectory: Trajectory, tolerance: float, formulation: Formulation, equations: Equations
) -> None:
    """A run whose joints come apart is no result: without projections, or with ones that failed.
    `tolerance` is 0 for equal steps.
    """
    for found in _coherence(trajectory, tolerance, formulation, equations):
        if (violation := float(trajectory.residuals[found.level])) > found.allowed:
            raise _refused(
                f"{equations.model.name!r}: constraints were violated by up to {violation:.2g}"
                f" ({found.unit}) with formulation {formulation.name!r}, as happens with long steps"
                f" and near singular positions; try {found.remedies}",
                trajectory,
                float(trajectory.time[-1]),
                "constraints",
                violation,
            )


def _refused(
    text: str, trajectory: Trajectory, t: float, worst: str, residual: float = math.nan
) -> SimulationError:
    """What is wrong from a time on."""
    step = int(np.searchsorted(trajectory.step_ends, t * (1 - 1e-12)))
    return SimulationError(text, time=t, step=step, residual=residual, worst=worst)
