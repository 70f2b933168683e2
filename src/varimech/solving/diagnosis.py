"""Diagnosis of a failed run: the failed step is repeated under inspection, to name the force,
driver or constraint that caused the failure.
"""

from __future__ import annotations

import math

import casadi as ca
import numpy as np

from ..backends.bound import evaluated
from ..backends.explicit import PROGRESS, TRIES
from ..backends.failures import (
    ENDLESS,
    NO_CONVERGENCE,
    NOT_FINITE,
    OF_EVENTS,
    OVERLAP,
    SINGULAR,
    STALLED,
    STEPPED_OVER,
    TOO_MANY_STEPS,
    UNDERFLOW,
    UNSETTLED,
    StepFailure,
)
from ..backends.inputs import Inputs
from ..backends.program import ChainFunctions
from ..coordinates.equations import Equations
from ..core.errors import SimulationError
from ..core.messages import Message, Text
from ..core.symbols import SX
from ..integrators.difference import DifferenceScheme
from ..schemes import Method

AT_SINGULARITY = (
    "the mechanism is near a singular position (its constraints nearly depend on each other)"
)

WHOLE = "the motion as a whole"


def explained(
    failure: StepFailure, inputs: Inputs, equations: Equations, step: ChainFunctions, method: Method
) -> SimulationError:
    """Explain the failure in words, with a remedy."""
    if failure.reason in OF_EVENTS:
        return _of_events(failure, inputs.parameters, equations)
    scheme, ρ, t = method.integrator, inputs.parameters, failure.time
    length = f", h = {failure.length:.3g} s" if math.isfinite(failure.length) else ""
    event = _failed_event(failure, equations)
    if event:
        length = f", at an event of {event!r}"
    numbered = "" if failure.reason == STEPPED_OVER else f"step {failure.step}, "
    when = f"{equations.model.name!r}: {numbered}t = {t:.6g} s{length if numbered else ''}"
    if scheme.difference is None or not failure.length:
        q, v = _before(failure, equations)
    else:
        q, v = _last_finite_iterate(failure, inputs, step, scheme.difference)
    worst, residual = _worst_constraint(equations, q, ρ, t)
    singular = _is_near(failure, equations, q) and _nearly_dependent(equations, q, ρ, t)
    if failure.reason == TOO_MANY_STEPS:
        worst, residual = WHOLE, math.nan
    elif failure.reason not in (SINGULAR, UNDERFLOW, STALLED, STEPPED_OVER, NO_CONVERGENCE):
        worst, residual = _not_finite(equations, q, v, ρ, t), math.nan
        # with a failed event, its resets may be the cause
        worst = event if event and worst == WHOLE else worst
    where = f"; worst constraint {worst!r}, residual {residual:.3g}" if equations.blocks else ""
    given_steps = inputs.schedule.tolerance == 0
    tolerance = (
        "where steps are divided at events and jumps"
        if given_steps
        else f"at tolerance {inputs.schedule.tolerance:g}"
    )
    not_finite = f"a value became not finite (NaN or infinite); look at {worst!r}"
    most_steps = 0 if scheme.continuous is None else scheme.continuous.most_steps
    ends = None
    if failure.reason in (UNDERFLOW, STALLED) and not singular:
        ends = _ends_beyond(equations, q, v, ρ, t)
    trouble = {
        SINGULAR: f"{AT_SINGULARITY}, so no choice of independent coordinates determines the others",
        UNDERFLOW: f"the steps became too short to go on {tolerance}",
        STALLED: f"the last {TRIES} steps brought less than {PROGRESS:g} of the duration {tolerance}",
        STEPPED_OVER: f"{scheme.title} steps over a singular position there (constraints depend on"
        " each other) and may leave it on another branch",
        TOO_MANY_STEPS: f"{scheme.title} gave up after {most_steps:,} steps between two stored"
        f" results {tolerance}",
        NO_CONVERGENCE: f"no convergence in {inputs.max_iterations} iterations{where}",
    }.get(failure.reason, not_finite)
    remedy = _remedy(failure, inputs, equations, method, singular)
    if event:
        remedy = Message("look at what it resets, and at the forces in the modes that follow it")
    if ends is not None:
        worst, trouble = ends, f"{ends!r} is not finite (NaN or infinite) beyond this time"
        remedy = Message(
            "look for what ends there: an open curve, a table with outside='error', a root or a"
            " logarithm; or end the run before"
        )
    return SimulationError(
        f"{when}: {trouble}",
        time=t,
        step=failure.step,
        residual=residual,
        worst=worst,
        remedy=remedy,
    )


def _of_events(failure: StepFailure, ρ: np.ndarray, equations: Equations) -> SimulationError:
    """Explain why contacts and friction stop a run."""
    e = equations
    name = _unit_of(failure, e) or e.model.name
    trouble, remedy = {
        OVERLAP: (
            f"the surfaces of contact {name!r} overlap{_overlap(failure, ρ, e)}",
            Message("begin with a gap of zero or more: change the initial conditions"),
        ),
        UNSETTLED: (
            f"no modes of contacts and friction are consistent; {name!r} changes without end",
            Message(
                "less friction, or compliant surfaces (a stiffness), have a solution for every"
                " state"
            ),
        ),
        ENDLESS: (
            f"{name!r} has events without end at this time",
            Message(
                "look for a function that stays at zero, or that an event changes back; resets of a"
                " speed that become ever smaller do not end in rest, as a stop with restitution does"
            ),
        ),
    }[failure.reason]
    when = f"{e.model.name!r}: t = {failure.time:.6g} s"
    return SimulationError(
        f"{when}: {trouble}",
        time=failure.time,
        step=failure.step,
        residual=math.nan,
        worst=name,
        remedy=remedy,
    )


def _unit_of(failure: StepFailure, e: Equations) -> str:
    """Return the contact, friction or event that a failure concerns; empty for none."""
    names = [*[unit.label for _, unit in e.units], *[event.name for event in e.events]]
    return names[failure.culprit] if 0 <= failure.culprit < len(names) else ""


def _failed_event(failure: StepFailure, e: Equations) -> str:
    """Return the name of an event after which the state has no solution; empty for failures of
    steps.
    """
    takes_time = failure.length != 0 or failure.reason not in (NO_CONVERGENCE, NOT_FINITE)
    return "" if takes_time else _unit_of(failure, e)


def _overlap(failure: StepFailure, ρ: np.ndarray, e: Equations) -> str:
    """Describe by how much surfaces overlap."""
    if failure.reason != OVERLAP or not 0 <= failure.culprit < len(e.units):
        return ""
    unit = e.units[failure.culprit][1]
    owners = {c.name: (f, c) for f in e.model.forces.values() for c in f.contact_labels()}
    force, label = owners[unit.label]
    distance = force.gap_distance(unit.watched)
    gap = ca.Function("gap", [e.packed, e.ρ, e.t], [distance])(failure.state, ρ, failure.time)
    return f" by {-float(gap):.6g} {label.unit}"


def _remedy(
    failure: StepFailure, inputs: Inputs, equations: Equations, method: Method, singular: bool
) -> Message:
    """Return a remedy for the failure."""
    scheme = method.integrator
    beside = _beside_beams(equations, inputs, method)
    if failure.reason == SINGULAR:
        return Message("{formulation} may pass it", formulation=("index1", "ali3p"))
    if failure.reason in (UNDERFLOW, STALLED):
        if singular:
            passes = "{}: {formulation} with equal steps may pass it"
            return Message(passes, AT_SINGULARITY, formulation="ali3p")
        if equations.model.beams and scheme.continuous is not None:
            return Message(
                "beams stretch too fast for it; {integrator}, or equal steps ({step} alone), take"
                " them",
                integrator="dop853",
            )
        if inputs.schedule.tolerance == 0:
            return Message(
                "look for a force that switches itself back (dry friction as a sign): use"
                " m.dry_friction, or a smooth law"
            )
        return Message(
            "look for a force that jumps or grows without bound there; a {longest_step} that"
            " resolves short contacts, a larger {tolerance}, or {formulation} with equal steps, may"
            " pass it",
            formulation="ali3p",
        )
    if failure.reason == STEPPED_OVER:
        return Message(
            "try {integrator}, or {formulation} with equal steps",
            integrator="dop853",
            formulation="ali3p",
        )
    if failure.reason == TOO_MANY_STEPS:
        return Message(
            "a larger {tolerance}, or {integrator}, may pass it; where a motion vibrates so fast,"
            " store more results ({output})",
            integrator="dop853",
        )
    if failure.reason != NO_CONVERGENCE:
        return Message("try a smaller step if the motion blew up{}", beside)
    if not singular:
        return Message("try a smaller step{}", beside)
    if method.formulation.traits.selects:
        passes = "{}; {formulation} may pass it"
        return Message(passes, AT_SINGULARITY, formulation=("index1", "ali3p"))
    return Message("{}; another step may pass it", AT_SINGULARITY)


def _beside_beams(equations: Equations, inputs: Inputs, method: Method) -> Text:
    """Return additional remedies for models with beams, whose segments vibrate along their length
    faster than anything else.
    """
    beams, scheme = equations.model.beams, method.integrator
    if not beams:
        return ""
    fastest = equations.model.parameter_set.evaluate(
        ca.vertcat(*[b.fastest_vibration() for b in beams]), inputs.parameters
    ).ravel()
    beam, ω = beams[int(fastest.argmax())].name, float(fastest.max())
    # 0.95: rounding to two digits may increase the number by 5 %
    if (explicit := scheme.coefficients) is not None:
        return Message(
            ". Beam {!r} vibrates along its segments with up to {:.3g} rad/s: {} needs steps of at"
            " most {:.2g} s for it, or fewer segments; implicit integrators ({step} alone) need not"
            " follow it",
            beam,
            ω,
            scheme.name,
            0.95 * explicit.longest_vibration_step / ω,
        )
    other = "{integrator}, which damps vibrations that are too fast for the step"
    return Message(
        f", or {'fewer segments' if scheme.traits.damping else other}: beam {{!r}} vibrates along"
        " its segments with up to {:.3g} rad/s",
        beam,
        ω,
        integrator="generalised-alpha",
    )


def _before(failure: StepFailure, equations: Equations) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and velocities at the beginning of the failed step."""
    n = equations.q.numel()
    return failure.state[:n], failure.state[n : 2 * n]


def _last_finite_iterate(
    failure: StepFailure, inputs: Inputs, step: ChainFunctions, scheme: DifferenceScheme
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and velocities of the last finite iterate of the failed step."""
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


def _ends_beyond(e: Equations, q: np.ndarray, v: np.ndarray, ρ: np.ndarray, t: float) -> str | None:
    """Return a force or constraint that is finite at the present time, and not shortly after; None
    if there is none.
    """
    if _not_finite(e, q, v, ρ, t) != WHOLE:
        return None
    # steps towards an end become shorter than rounding; a millionth of the time is far beyond the
    # end, and too short for the motion to change
    ahead = 1e-6 * (abs(t) or 1.0)
    name = _not_finite(e, q + ahead * v, v, ρ, t + ahead)
    return None if name == WHOLE else name


def _not_finite(e: Equations, q: np.ndarray, v: np.ndarray, ρ: np.ndarray, t: float) -> str:
    """Return the first force or constraint whose value or derivatives are not finite there."""
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
    return WHOLE


def _is_near(failure: StepFailure, equations: Equations, q: np.ndarray) -> bool:
    """Whether an iterate is still near a possible end of the step; elsewhere constraints are no
    evidence.

    Ten times the coordinates, or the distance that the velocities cover in a step, is generous.
    """
    before, v = _before(failure, equations)
    reach = max(np.abs(before).max(initial=0.0), np.abs(v * failure.length).max(initial=0.0))
    return bool(np.abs(q - before).max(initial=0.0) <= 10 * reach)


def _nearly_dependent(e: Equations, q: np.ndarray, ρ: np.ndarray, t: float) -> bool:
    Φ_q = np.array(
        ca.Function("jacobian", [e.q, e.ρ, e.t], [ca.densify(ca.jacobian(e.constraints, e.q))])(
            q, ρ, t
        )
    )
    strengths = np.linalg.svd(Φ_q, compute_uv=False) if Φ_q.size else np.ones(1)
    # constraints that are redundant everywhere are no sign of a singular position
    strengths = strengths[strengths > 1e-9 * strengths[0]]
    return bool(strengths[-1] < 1e-2 * strengths[0])


def _worst_constraint(e: Equations, q: np.ndarray, ρ: np.ndarray, t: float) -> tuple[str, float]:
    Φ = np.array(ca.Function("residuals", [e.q, e.ρ, e.t], [e.constraints])(q, ρ, t)).ravel()
    if Φ.size == 0:
        return "none", 0.0
    k = int(np.argmax(np.abs(Φ)))
    return e.constraint_names[k], float(abs(Φ[k]))
