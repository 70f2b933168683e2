"""Derivatives across kinks by equal steps.

Where a motion passes a kink of a force (a one-sided stop) within a step of length h, the derivative
of the discrete motion is off by h |Δ(∂f/∂x) ∂x/∂ρ|, a sawtooth in the parameters that a small error
of the motion does not reveal. Another step of incommensurate length passes the kink elsewhere in a
step, so the two derivatives differ by about that amount.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ..backends.trajectory import Trajectory
from ..core.errors import SimulationError
from ..core.messages import Message
from ..core.schedule import equal_steps
from ..sensitivity.smoothness import Switch
from ..sensitivity.switching import SAME_DEPTH, jumps_of
from .solver import Solver
from .task import Task

SHORTER = 0.618
"""Ratio of the step for comparison to the requested step: incommensurate, so that kinks are passed
elsewhere in a step.
"""
ENDS_THERE = ("direct", "adjoint", "complex-step", "composite")
"""Methods whose steps end at kinks, unless these depend on accelerations or multipliers."""
AGREED = 1e-3
"""Relative difference of both derivatives up to which it is the ordinary error of equal steps."""


def check_kinks(solver: Solver, task: Task, ρ: np.ndarray, trajectory: Trajectory) -> None:
    """Refuse derivatives by equal steps that kinks of forces have spoilt.

    Raises:
        SimulationError: naming the force, the time when its kink was first passed, and a remedy.
    """
    if (
        task.schedule.tolerance
        or task.schedule.ends is not None
        or task.method == "finite-difference"
    ):
        return
    e, kinks = solver.equations, solver.switches
    if task.method in ENDS_THERE and trajectory.crossed is not None:
        watched = jumps_of(e, task.objectives)
        kinks = [s for s in kinks if not any(ca.is_equal(s.at, w.at, SAME_DEPTH) for w in watched)]
    crossing = _first_crossing(solver, kinks, ρ, trajectory) if kinks else None
    if crossing is None and not (kinks and task.schedule.every > 1):
        return
    step = SHORTER * task.schedule.step
    finer = replace(
        task, schedule=equal_steps(task.schedule.duration, step, 1).last_only(), progress=False
    )
    run = solver.run_composite if task.method == "composite" else solver.run
    other, _ = run(finer, ρ)
    mine, theirs = (_derivatives(t, e.q.numel()) for t in (trajectory, other))
    sizes = np.abs(np.where(ρ != 0, ρ, 1.0)[task.indices])
    difference, size = (np.abs(x * sizes) for x in (mine - theirs, theirs))
    if (difference.max(axis=1) <= AGREED * size.max(axis=1)).all():
        return
    row = int(np.argmax(difference.max(axis=1) - AGREED * size.max(axis=1)))
    column = int(difference[row].argmax())
    time, switch = crossing or (np.nan, kinks[0])
    # without a crossing, only the ends of the run may have been stored
    first = "" if crossing is None else f", first at t ≈ {time:.4g} s"
    name = list(solver.model.parameter_set.parameters)[(task.indices or [])[column]]
    raise SimulationError(
        f"{e.model.name!r}: the motion passes a kink of {switch.place!r} ({switch.operation})"
        f" within a step{first}, and derivatives by equal steps are not resolved there:"
        f" with respect to {name!r}, step = {task.schedule.step:g} s gives"
        f" {mine[row, column]:.5g} and step = {step:.3g} s gives {theirs[row, column]:.5g}",
        time=time,
        worst=switch.place,
        remedy=Message(
            "use {tolerance} in place of {step}, which resolves the kink, or a smooth force"
        ),
    )


def _first_crossing(
    solver: Solver, kinks: list[Switch], ρ: np.ndarray, trajectory: Trajectory
) -> tuple[float, Switch] | None:
    """Find the first stored time by which a switching function has changed its sign."""
    e, T = solver.equations, trajectory
    f = ca.Function("switches", [e.packed, e.ρ, e.t], [ca.vertcat(*[s.at for s in kinks])])
    signs = np.sign(np.array(f(T.states.T, ρ, T.time[None])).T)
    changed = (signs[1:] != signs[:-1]) & (signs[:-1] != 0)
    if not changed.any():
        return None
    row = int(changed.any(axis=1).argmax())
    return float(T.time[row + 1]), kinks[int(changed[row].argmax())]


def _derivatives(trajectory: Trajectory, coordinates: int) -> np.ndarray:
    """Return derivatives of objectives at the end of a run; of positions and velocities where there
    are no objectives.
    """
    gradients = trajectory.gradients
    if gradients is not None and gradients.shape[1]:
        return np.asarray(gradients[-1])
    assert trajectory.sensitivities is not None
    return np.asarray(trajectory.sensitivities[-1, : 2 * coordinates])
