"""Why a run failed: the step is tried once more, watched, and the force, driver or constraint to look at is named."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np

from .angles import unwrapped
from .backends.program import Inputs, StepFailure, Trajectory
from .coordinates.equations import Equations
from .errors import SimulationError
from .model.forces import Spring
from .model.measures import Turn
from .stages.chain import Chain
from .symbols import SX


def explained(failure: StepFailure, inputs: Inputs, equations: Equations, step: Chain) -> SimulationError:
    """The failure in words, with what to try."""
    q, v = _last_finite_iterate(failure, inputs, step)
    when = f"{equations.model.name!r}: step {failure.step}, t = {failure.time:.6g} s, h = {inputs.step:g} s"
    if failure.finite:
        worst, residual = _worst_constraint(equations, q, inputs.parameters, failure.time)
        remedy = "try a smaller step"
        if _nearly_dependent(equations, q, inputs.parameters, failure.time):
            remedy = "the mechanism is near a singular position (its constraints nearly depend on each other); another step may pass it"
        text = f"{when}: no convergence in {inputs.max_iterations} iterations; worst constraint {worst!r}, residual {residual:.3g}; {remedy}"
    else:
        worst, residual = _not_finite(equations, q, v, inputs.parameters, failure.time), math.nan
        text = f"{when}: a value became not finite (NaN or infinite); look at {worst!r}. Try a smaller step if the motion blew up"
    return SimulationError(text, time=failure.time, step=failure.step, residual=residual, worst=worst)


def _last_finite_iterate(failure: StepFailure, inputs: Inputs, step: Chain) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities of the failed step as far as they were finite."""
    settings: list[Any] = [inputs.step, failure.penalty, inputs.parameters, failure.time]
    first = step.stages[0]
    x, y = step.predict(failure.state, *settings)
    for _ in range(inputs.max_iterations):
        x_new, y_new, _ratio = step.iterate(failure.state, x, y, *settings)
        if not np.isfinite(np.array(x_new)).all():
            break
        x, y = x_new, y_new
    relations = [relation for _, relation in first.dependents]
    q, v = ca.Function("end", [step.packed, first.unknown, step.settings[0]], relations).call([failure.state, x, inputs.step])
    return np.array(q).ravel(), np.array(v).ravel()


def _not_finite(e: Equations, q: np.ndarray, v: np.ndarray, ρ: np.ndarray, t: float) -> str:
    """The first force or constraint that is not finite there, or whose derivatives are not."""
    suspects = {name: [part, ca.jacobian(part, ca.vertcat(e.q, e.v))] for name, part in e.force_parts.items()}
    for block in e.blocks:
        rate = e.differentiate(block.residuals)
        suspects[block.name] = [block.residuals, rate, ca.substitute(e.differentiate(rate), e.a, SX.zeros(e.a.numel()))]
    for name, parts in suspects.items():
        values = ca.Function("parts", [e.q, e.v, e.ρ, e.t], parts).call([q, v, ρ, t])
        if not all(np.isfinite(np.array(ca.DM(value).nonzeros())).all() for value in values):
            return name
    return "the motion as a whole"


def check_springs(e: Equations, trajectory: Trajectory, ρ: np.ndarray) -> None:
    """A torsional spring knows its angle within half a turn of its rest only; a run that winds it further is wrong."""
    springs = [f for f in e.model.forces.values() if isinstance(f, Spring) and isinstance(f.measure, Turn)]
    for spring in springs:
        if spring.stiffness.is_zero():
            continue
        measured = [spring.measure.difference(e.frames, spring.rest), spring.measure.rate(e.frames)]
        function = ca.Function("twist", [ca.vertcat(e.q, e.v, e.a, e.λ), e.ρ, e.t], measured)
        twist, rate = (np.array(x).T for x in function(trajectory.states.T, ρ, trajectory.time[None, :]))
        wound = np.abs(unwrapped(twist, rate, trajectory.time)[:, 0]) > np.pi
        if wound.any():
            row = int(np.argmax(wound))
            raise SimulationError(
                f"{e.model.name!r}: torsional spring {spring.name!r} is wound by more than half a turn at t = {trajectory.time[row]:g} s; "
                "it knows its angle only within half a turn of rest_angle: use a custom torque, or several springs in series",
                time=float(trajectory.time[row]),
                step=row,
                residual=math.nan,
                worst=spring.name,
            )


def _nearly_dependent(e: Equations, q: np.ndarray, ρ: np.ndarray, t: float) -> bool:
    Φ_q = np.array(ca.Function("jacobian", [e.q, e.ρ, e.t], [ca.densify(ca.jacobian(e.constraints, e.q))])(q, ρ, t))
    strengths = np.linalg.svd(Φ_q, compute_uv=False) if Φ_q.size else np.ones(1)
    return bool(strengths[-1] < 1e-2 * strengths[0])


def _worst_constraint(e: Equations, q: np.ndarray, ρ: np.ndarray, t: float) -> tuple[str, float]:
    Φ = np.array(ca.Function("residuals", [e.q, e.ρ, e.t], [e.constraints])(q, ρ, t)).ravel()
    if Φ.size == 0:
        return "none", 0.0
    k = int(np.argmax(np.abs(Φ)))
    return e.constraint_names[k], float(abs(Φ[k]))
