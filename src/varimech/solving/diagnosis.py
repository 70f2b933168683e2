"""Why a run failed: the step is tried once more, watched, and the force, driver or constraint to
look at is named.
"""

from __future__ import annotations

import math

import casadi as ca
import numpy as np

from ..backends.bound import evaluated
from ..backends.explicit import PROGRESS, TRIES
from ..backends.failures import (
    NO_CONVERGENCE,
    OVERWOUND,
    SINGULAR,
    STALLED,
    STEPPED_OVER,
    TOO_MANY_STEPS,
    UNDERFLOW,
    StepFailure,
)
from ..backends.inputs import Inputs
from ..backends.program import ChainFunctions
from ..backends.sundials import MOST_STEPS
from ..coordinates.equations import Equations
from ..core.errors import SimulationError
from ..core.symbols import SX
from ..elements.torsional_spring import TorsionalSpring
from ..formulations.independent import Independent
from ..integrators.generalised_alpha import GeneralisedAlpha
from ..integrators.hht import HHT
from ..integrators.runge_kutta import RungeKutta
from ..integrators.sundials import Sundials
from ..schemes import Implicit, Method

AT_SINGULARITY = (
    "the mechanism is near a singular position (its constraints nearly depend on each other)"
)


def explained(
    failure: StepFailure, inputs: Inputs, equations: Equations, step: ChainFunctions, method: Method
) -> SimulationError:
    """The failure in words, with what to try."""
    scheme = method.integrator
    length = f", h = {failure.length:.3g} s" if math.isfinite(failure.length) else ""
    when = f"{equations.model.name!r}: step {failure.step}, t = {failure.time:.6g} s{length}"
    if failure.reason == OVERWOUND:
        return overwound(failure, equations, when)
    if isinstance(scheme, (RungeKutta, Sundials)):
        q, v = _before(failure, equations)
    else:
        q, v = _last_finite_iterate(failure, inputs, step, scheme)
    singular = _nearly_dependent(equations, q, inputs.parameters, failure.time)
    if failure.reason == SINGULAR:
        worst, residual = _worst_constraint(equations, q, inputs.parameters, failure.time)
        text = (
            f"{when}: {AT_SINGULARITY}, so no choice of independent coordinates determines the"
            " others; formulation='index1' or 'ali3p' may pass it"
        )
    elif failure.reason in (UNDERFLOW, STALLED):
        worst, residual = _worst_constraint(equations, q, inputs.parameters, failure.time)
        remedy = (
            f"{AT_SINGULARITY}: formulation='ali3p' with equal steps may pass it"
            if singular
            else (
                "beams stretch too fast for it; integrator='dop853', or equal steps (step= alone),"
                " take them"
                if equations.model.beams and isinstance(scheme, Sundials)
                else (
                    "look for a force that jumps or grows without bound there; a larger tolerance=,"
                    " or formulation='ali3p' with equal steps, may pass it"
                )
            )
        )
        trouble = (
            "the steps became too short to go on"
            if failure.reason == UNDERFLOW
            else f"the last {TRIES} steps brought less than {PROGRESS:g} of the duration"
        )
        text = f"{when}: {trouble} at tolerance {inputs.schedule.tolerance:g}; {remedy}"
    elif failure.reason == STEPPED_OVER:
        worst, residual = _worst_constraint(equations, q, inputs.parameters, failure.time)
        text = (
            f"{equations.model.name!r}: t = {failure.time:.6g} s: {scheme.title} steps over a"
            " singular position there (constraints depend on each other) and may leave it on"
            " another branch; try integrator='dop853', or formulation='ali3p' with equal steps"
        )
    elif failure.reason == TOO_MANY_STEPS:
        worst, residual = "the motion as a whole", math.nan
        text = (
            f"{when}: {scheme.title} gave up after {MOST_STEPS:,} steps between two stored results"
            f" at tolerance {inputs.schedule.tolerance:g}; a larger tolerance=, or"
            " integrator='dop853', may pass it; where a motion vibrates so fast, store more"
            " results (output=)"
        )
    elif failure.reason == NO_CONVERGENCE:
        worst, residual = _worst_constraint(equations, q, inputs.parameters, failure.time)
        other = (
            "formulation='index1' or 'ali3p'"
            if isinstance(method.formulation, Independent)
            else "another step"
        )
        remedy = (
            f"{AT_SINGULARITY}; {other} may pass it"
            if singular
            else f"try a smaller step{_beside_beams(equations, inputs, method)}"
        )
        where = f"; worst constraint {worst!r}, residual {residual:.3g}" if equations.blocks else ""
        text = f"{when}: no convergence in {inputs.max_iterations} iterations{where}; {remedy}"
    else:
        worst, residual = _not_finite(equations, q, v, inputs.parameters, failure.time), math.nan
        text = (
            f"{when}: a value became not finite (NaN or infinite); look at {worst!r}. Try a smaller"
            f" step if the motion blew up{_beside_beams(equations, inputs, method)}"
        )
    return SimulationError(
        text, time=failure.time, step=failure.step, residual=residual, worst=worst
    )


def _beside_beams(equations: Equations, inputs: Inputs, method: Method) -> str:
    """What else to try where there are beams, whose segments stretch faster than anything else
    moves.
    """
    beams, scheme = equations.model.beams, method.integrator
    if not beams:
        return ""
    fastest = equations.model.parameter_set.evaluate(
        ca.vertcat(*[b.fastest_vibration() for b in beams]), inputs.parameters
    ).ravel()
    beam, ω = beams[int(fastest.argmax())].name, float(fastest.max())
    if isinstance(scheme, RungeKutta):  # 0.95: two digits may be rounded up by a twentieth
        return (
            f". Beam {beam!r} vibrates along its segments with up to {ω:.3g} rad/s: {scheme.name}"
            f" needs steps of at most {0.95 * scheme.longest_vibration_step / ω:.2g} s for it, or"
            " fewer segments; implicit integrators (step= alone) need not follow it"
        )
    damping = isinstance(scheme, (HHT, GeneralisedAlpha))
    other = (
        "fewer segments"
        if damping
        else "integrator='generalised-alpha', which damps what is too fast for the step"
    )
    return f", or {other}: beam {beam!r} vibrates along its segments with up to {ω:.3g} rad/s"


def overwound(failure: StepFailure, equations: Equations, when: str) -> SimulationError:
    """A torsional spring, or an angle that forces or objectives depend on, left the half turn to
    either side within which it is known.
    """
    worst, model = (
        [e.name for e in equations.elements if e.twist is not None][failure.which],
        equations.model,
    )
    spring = model.forces.get(worst)
    if isinstance(spring, TorsionalSpring):
        angle = model.name_of_angle(spring.turn)
        text = (
            f"{when}: torsional spring {worst!r} is wound by more than half a turn, but knows its"
            " angle only within half a turn of rest_angle; use a torque in its place that depends"
            f" on angle({angle!r}), which counts turns, or several springs in series"
        )
    else:
        text = (
            f"{when}: the {worst} left the half turn to either side of its start, and an objective"
            " or a force depends on it; relative coordinates do not count its turns: use"
            " coordinates='natural', which do"
        )
    return SimulationError(
        text, time=failure.time, step=failure.step, residual=math.nan, worst=worst
    )


def _before(failure: StepFailure, equations: Equations) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities at the beginning of the failed step."""
    n = equations.q.numel()
    return failure.state[:n], failure.state[n : 2 * n]


def _last_finite_iterate(
    failure: StepFailure, inputs: Inputs, step: ChainFunctions, scheme: Implicit
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities of the failed step as far as they were finite."""
    assert step.predict is not None and step.iterate is not None
    h = failure.length
    settings = [
        np.array([h]),
        failure.penalty[: step.predict.numel_in(2)],
        inputs.parameters,
        np.array([failure.time]),
    ]
    x, y = evaluated(step.predict, failure.state, *settings)
    for _ in range(inputs.max_iterations):
        x_new, y_new, _ratio = evaluated(step.iterate, failure.state, x, y, *settings)
        if not np.isfinite(x_new).all():
            break
        x, y = x_new, y_new
    q0, v0, a0 = np.split(failure.state[: 3 * x.size], 3)
    q, v = scheme.predict(q0, v0, a0, failure.state[-x.size :], h)
    return q + scheme.beta * h**2 * x, v + scheme.gamma * h * x


def _not_finite(e: Equations, q: np.ndarray, v: np.ndarray, ρ: np.ndarray, t: float) -> str:
    """The first force or constraint that is not finite there, or whose derivatives are not."""
    suspects = {
        name: [part, ca.jacobian(part, ca.vertcat(e.q, e.v))]
        for name, part in e.force_parts.items()
    }
    for block in e.blocks:
        rate = e.differentiate(block.residuals)
        suspects[block.name] = [
            block.residuals,
            rate,
            ca.substitute(e.differentiate(rate), e.a, SX.zeros(e.a.numel())),
        ]
    for name, parts in suspects.items():
        values = ca.Function("parts", [e.q, e.v, e.ρ, e.t], parts).call([q, v, ρ, t])
        if not all(np.isfinite(np.array(ca.DM(value).nonzeros())).all() for value in values):
            return name
    return "the motion as a whole"


def _nearly_dependent(e: Equations, q: np.ndarray, ρ: np.ndarray, t: float) -> bool:
    Φ_q = np.array(
        ca.Function("jacobian", [e.q, e.ρ, e.t], [ca.densify(ca.jacobian(e.constraints, e.q))])(
            q, ρ, t
        )
    )
    strengths = np.linalg.svd(Φ_q, compute_uv=False) if Φ_q.size else np.ones(1)
    strengths = strengths[strengths > 1e-9 * strengths[0]]  # what is redundant is so everywhere
    return bool(strengths[-1] < 1e-2 * strengths[0])


def _worst_constraint(e: Equations, q: np.ndarray, ρ: np.ndarray, t: float) -> tuple[str, float]:
    Φ = np.array(ca.Function("residuals", [e.q, e.ρ, e.t], [e.constraints])(q, ρ, t)).ravel()
    if Φ.size == 0:
        return "none", 0.0
    k = int(np.argmax(np.abs(Φ)))
    return e.constraint_names[k], float(abs(Φ[k]))
