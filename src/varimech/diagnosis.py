"""Why a step failed: the step is tried once more, watched, and the force, driver or constraint to look at is named."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np

from .backends.program import Inputs, StepFailure
from .coordinates.equations import Equations
from .errors import SimulationError
from .stages.chain import Chain
from .symbols import SX


def explained(failure: StepFailure, inputs: Inputs, equations: Equations, step: Chain) -> SimulationError:
    """The failure in words, with what to try."""
    q, v = _last_finite_iterate(failure, inputs, step)
    when = f"{equations.model.name!r}: step {failure.step}, t = {failure.time:.6g} s, h = {inputs.step:g} s"
    if failure.finite:
        worst, residual = _worst_constraint(equations, q, inputs.parameters, failure.time)
        text = (
            f"{when}: no convergence in {inputs.max_iterations} iterations; worst constraint {worst!r}, residual {residual:.3g}. "
            "Try a smaller step; a mechanism near a singular position may need a much smaller one"
        )
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


def _worst_constraint(e: Equations, q: np.ndarray, ρ: np.ndarray, t: float) -> tuple[str, float]:
    Φ = np.array(ca.Function("residuals", [e.q, e.ρ, e.t], [e.constraints])(q, ρ, t)).ravel()
    if Φ.size == 0:
        return "none", 0.0
    k = int(np.argmax(np.abs(Φ)))
    return e.constraint_names[k], float(abs(Φ[k]))
