"""Conformance of elements, integrators and formulations: checks for developers who register their
own.

    import varimech as vm
    from varimech.testing import check_integrator

    vm.register_integrator(…)
    check_integrator("mine")

Every check compares with a reference that is independent of the scheme: the equation of motion of a
pendulum solved by SciPy, differences of the whole program, another derivative method, another
backend. A check that fails raises AssertionError with the numbers. The tests of Varimech apply the
same checks to everything that is registered.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from . import Gradient, Mechanism, Objective, Run, dot, integral
from .backends.compiler import find_compiler
from .benchmarks import five_bar
from .benchmarks.pendulum_tolerance import INITIAL_ANGLE, G
from .benchmarks.pendulum_tolerance import mechanism as pendulum
from .core.symbols import SX
from .model.joint import Joint
from .model.relative_motion import Relation, RelativeMotion
from .model.trial import posed_bodies, sample_coordinates, try_out
from .schemes import FORMULATIONS, INTEGRATORS, formulations_of, integrators_of

MASS, START = 3.0, INITIAL_ANGLE - math.pi / 2
DURATION = 2.0
"""Duration of the pendulum's runs (s): a whole swing."""
STEPS = (1e-3, 4e-3, 5e-3, 2e-2, 2e-2, 5e-2, 1e-1, 2e-1)
"""The largest of three successively halved steps (s), by order from 1 on: short enough for the
asymptotic range, long enough that errors stay above rounding.
"""
LARGEST_ERROR = {1: 3e-2, 2: 3e-4}
"""Largest relative error with the shortest of these steps, by order; 1e-6 from order 3 on."""
RELATED = {"complex-step": 1e-9, "adjoint": 1e-9, "composite": 1e-9, "finite-difference": 2e-7}
"""Relative differences of derivatives between the direct method and others: rounding of some
hundred steps for exact methods, and rounding of the objective over the perturbation for
differences.
"""


def check_element(mechanism: Mechanism, name: str) -> None:
    """Execute all checks of a joint, force or driver of a mechanism.

    The results of its methods are checked on free symbols, as for every element of a registered
    kind. For a joint with a relative motion, random coordinates satisfy the conditions, are
    recovered from the poses of the bodies and equal its outputs, and its rates are those of central
    differences.

    Args:
        mechanism: a mechanism that has the element.
        name: the name of the element.

    Raises:
        ModelError: if a method returns something wrong.
        AssertionError: if numbers differ.
    """
    data = mechanism.data
    element: Any = {**data.joints, **data.forces, **data.drivers}[name]
    try_out(element, data)
    motion = element.motion if isinstance(element, Joint) else None
    if motion is not None and all(body.is_rigid for body in element.bodies):
        _check_motion(mechanism, element, motion)


def _check_motion(mechanism: Mechanism, joint: Joint, motion: RelativeMotion) -> None:
    numbers = mechanism.data.parameter_set
    z, ż = (sample_coordinates(motion, seed) for seed in (3, 4))

    def relation(shift: float = 0.0) -> Relation:
        return motion.relation(SX(z + shift * ż), SX(ż))

    def rate(part: str, δ: float = 1e-6) -> np.ndarray:
        ahead, behind = (numbers.evaluate(getattr(relation(s), part)) for s in (δ, -δ))
        return np.asarray((ahead - behind) / (2 * δ))

    here = relation()
    C, d, W, D = (
        numbers.evaluate(x) for x in (here.rotation, here.displacement, here.axes, here.directions)
    )
    recovered = motion.values(numbers.evaluate_all(list(motion.geometry)), C, d.ravel())
    if motion.has_euler_parameters:
        recovered[:4] *= np.sign(recovered[:4] @ z[:4])
    else:  # off unit length C is no rotation
        S = rate("rotation") @ C.T
        spin = S[1, 0] if joint.dimension == 2 else [S[2, 1], S[0, 2], S[1, 0]]
        np.testing.assert_allclose(
            np.ravel(spin), W @ ż if W.size else np.zeros(W.shape[0]), atol=1e-8
        )
    np.testing.assert_allclose(recovered, z, atol=1e-7)
    np.testing.assert_allclose(rate("displacement").ravel(), D @ ż, atol=1e-8)
    if W.size:
        Ẇż = numbers.evaluate(here.turning_rate).ravel()
        np.testing.assert_allclose(rate("axes") @ ż, Ẇż, atol=1e-7)
    frames, coordinates = posed_bodies(joint, z), dict(zip(motion.names, z, strict=True))
    for coordinate, output in (("angle", joint.angle()), ("slide", joint.displacement())):
        if output is not None and coordinate in coordinates:
            value = numbers.evaluate(output.value(frames)).item()
            np.testing.assert_allclose(value, coordinates[coordinate], atol=1e-12)


def check_integrator(name: str) -> None:
    """Execute all checks of an integrator, with every formulation with which it can be combined.

    Args:
        name: name under which it is registered.

    Raises:
        AssertionError: if one fails.
    """
    for formulation in formulations_of(INTEGRATORS[name]):
        check_scheme(formulation, name)


def check_formulation(name: str) -> None:
    """Execute all checks of a formulation, with every integrator with which it can be combined."""
    for integrator in integrators_of(FORMULATIONS[name]):
        check_scheme(name, integrator)


def check_scheme(formulation: str, integrator: str) -> None:
    """Execute all checks of a formulation with an integrator, by their names."""
    scheme = INTEGRATORS[integrator]
    if scheme.traits.equal_steps:
        for group, errors in pendulum_errors(formulation, integrator).items():
            check_order(integrator, errors, f"{group} of the pendulum")
        check_derivatives(formulation, integrator, step=1e-2)
        check_backends(formulation, integrator, step=5e-3)
    if scheme.traits.adaptive:
        check_tolerance(formulation, integrator)
        check_backends(formulation, integrator, tolerance=1e-4)
        if scheme.traits.given_steps:
            check_derivatives(formulation, integrator, tolerance=1e-4)


# the pendulum: a uniform bar of parameter length L, from 0.5236 rad off the vertical


def squared_rate() -> Objective:
    """ψ = ∫ ω² dt."""
    return integral(lambda s: s.angular_velocity("rod") ** 2)


@cache
def exact_pendulum(t: float) -> tuple[float, float, float, float, float, float]:
    """Return θ, ω, their derivatives with respect to L, ψ and ∂ψ/∂L at a time, from  θ̈ = −(3g/2L)
    cos θ
    and its variation in L, at L = 1 m.
    """
    from scipy.integrate import solve_ivp

    def rhs(_: float, y: np.ndarray) -> list[float]:
        θ, ω, θ_L, ω_L = y[:4]
        k = 1.5 * G
        bent = k * math.sin(θ) * θ_L + k * math.cos(θ)
        return [ω, -k * math.cos(θ), ω_L, bent, ω**2, 2 * ω * ω_L]

    start = [START, 0, 0, 0, 0, 0]
    y = solve_ivp(rhs, (0, t), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return tuple(map(float, y))  # type: ignore[return-value]


def rod_force(θ: float, ω: float) -> float:
    """Return the multiplier of |tip|² = L² for the equivalent mass m/3 of a uniform bar at its tip:
    (m/3) L ω² − (m/2) g sin θ, as a tension.
    """
    return MASS / 3 * ω**2 - MASS / 2 * G * math.sin(θ)


Exact = Callable[[float, float, float, float], float]
QUANTITIES: dict[str, dict[str, tuple[Callable[[Run], Any], Exact]]] = {
    "states": {
        "angle": (lambda run: run.angle("rod"), lambda θ, ω, θ_L, ω_L: θ),
        "angular velocity": (lambda run: run.angular_velocity("rod"), lambda θ, ω, θ_L, ω_L: ω),
        "angular acceleration": (
            lambda run: run.angular_acceleration("rod"),
            lambda θ, ω, θ_L, ω_L: -1.5 * G * math.cos(θ),
        ),
    },
    "multipliers": {
        # rigidity is (d·d − L²)/2L, so its multiplier is the inner force that the two ends exert on
        # each other
        "multiplier": (
            lambda run: run.multiplier("rigidity of rod"),
            lambda θ, ω, θ_L, ω_L: rod_force(θ, ω),
        ),
        # centripetal force and weight along the bar, towards the pivot
        "radial reaction": (
            lambda run: run.measure(lambda s: dot(s.reaction("O"), s.position("tip"))),
            lambda θ, ω, θ_L, ω_L: -MASS * (ω**2 / 2 + G * -math.sin(θ)),
        ),
    },
    "sensitivities": {
        "angle by L": (lambda run: run.angle("rod", wrt="L"), lambda θ, ω, θ_L, ω_L: θ_L),
        "angular velocity by L": (
            lambda run: run.angular_velocity("rod", wrt="L"),
            lambda θ, ω, θ_L, ω_L: ω_L,
        ),
        "tip x by L": (
            lambda run: run.position("tip", wrt="L")[:, 0],
            lambda θ, ω, θ_L, ω_L: math.cos(θ) - math.sin(θ) * θ_L,
        ),
        # F·r = −m L (L ω²/2 − g sin θ)
        "radial reaction by L": (
            lambda run: run.measure(lambda s: dot(s.reaction("O"), s.position("tip")), wrt="L"),
            lambda θ, ω, θ_L, ω_L: (
                -MASS * (ω**2 / 2 - G * math.sin(θ))
                - MASS * (ω**2 / 2 + ω * ω_L - G * math.cos(θ) * θ_L)
            ),
        ),
    },
}
"""Group → quantity → (its values over a run, its exact value at the end). The error of a group is
evaluated as a whole, because the error of one quantity alone may change its sign between two steps.
"""


def pendulum_errors(
    formulation: str, integrator: str, largest_step: float | None = None
) -> dict[str, np.ndarray]:
    """Compute the errors of all results of a scheme, with three successively halved steps.

    Args:
        formulation: its name.
        integrator: its name.
        largest_step: s; chosen by the order if not given.

    Returns:
        Group → relative errors (step, quantity), at the end of the pendulum's run.
    """
    h = largest_step or STEPS[min(_order(integrator), len(STEPS)) - 1]
    options: dict[str, Any] = {"integrator": integrator, "formulation": formulation}
    m = pendulum()
    runs = [
        m.sensitivity(squared_rate(), duration=DURATION, step=step, **options)
        for step in (h, h / 2, h / 4)
    ]
    limit, (θ, ω, θ_L, ω_L, ψ, ψ_L) = _elastic(formulation), exact_pendulum(DURATION)
    errors = {}
    for group, quantities in QUANTITIES.items():
        last = [[float(get(x.run)[-1]) for get, _ in quantities.values()] for x in runs]
        exact = np.array(
            [
                value(θ, ω, θ_L, ω_L) if limit is None else float(get(limit.run)[-1])
                for get, value in quantities.values()
            ]
        )
        errors[group] = np.abs(np.array(last) - exact) / np.maximum(1.0, np.abs(exact))
    values = [[float(run.values[0]), float(run.gradient[0, 0])] for run in runs]
    integrals = [ψ, ψ_L] if limit is None else [limit.values[0], limit.gradient[0, 0]]
    errors["integral"] = np.abs(np.array(values) / np.array(integrals, dtype=float) - 1)
    return errors


@cache
def _elastic(formulation: str) -> Gradient | None:
    """Return the limit to which all integrators converge where joints are compliant; it is not the
    exact solution.
    """
    if not FORMULATIONS[formulation].traits.compliant:
        return None
    return pendulum().sensitivity(
        squared_rate(), duration=DURATION, tolerance=1e-12, formulation=formulation
    )


def _order(integrator: str) -> int:
    order = INTEGRATORS[integrator].order
    assert order is not None, f"{integrator!r} has no order"
    return order


def check_order(integrator: str, errors: np.ndarray, what: str = "results") -> None:
    """Check that halving the step divides errors by 2^order.

    Args:
        integrator: its name.
        errors: (step, quantity), relative, with successively halved steps.
        what: name of the quantity for the message.
    """
    order, largest = _order(integrator), errors.max(axis=1)
    assert largest[-1] < LARGEST_ERROR.get(order, 1e-6), f"{what}: errors {largest}"
    if order <= 2:
        orders = np.log2(errors[:-1] / errors[1:])
        np.testing.assert_allclose(orders, order, atol=0.1, err_msg=what)
        return
    # coarse steps are not in the asymptotic range yet, and errors change their signs
    last, both = np.log2(largest[-2] / largest[-1]), np.log2(largest[0] / largest[-1]) / 2
    assert max(last, both) > order - 0.6, f"{what}: errors {largest}, expected order {order}"


def check_tolerance(formulation: str, integrator: str) -> None:
    """Check that a run with adaptive steps, and its derivatives, have the requested accuracy."""
    θ, ω, θ_L, ω_L, ψ, ψ_L = exact_pendulum(DURATION)
    names = ("angle", "angular velocity", "angle by L", "angular velocity by L")
    every = {name: get for group in QUANTITIES.values() for name, (get, _) in group.items()}
    for tolerance in (1e-5, 1e-7):
        gradient = pendulum().sensitivity(
            squared_rate(),
            duration=DURATION,
            tolerance=tolerance,
            integrator=integrator,
            formulation=formulation,
        )
        last = [float(every[name](gradient.run)[-1]) for name in names]
        last += [float(gradient.values[0]), float(gradient.gradient[0, 0])]
        # joints of a penalty formulation have a compliance of 1/factor, 1e-7, and errors grow over
        # the run
        allowed = 10 * tolerance
        allowed += 1e-6 if FORMULATIONS[formulation].traits.compliant else 0.0
        np.testing.assert_allclose(
            np.array(last), np.array([θ, ω, θ_L, ω_L, ψ, ψ_L]), rtol=allowed, atol=allowed
        )


# the five-bar mechanism


def check_derivatives(formulation: str, integrator: str, **times: object) -> None:
    """Check that derivatives are those of the discrete solution, however coarse the step: the
    direct method, differences of the whole program, and all other methods that the scheme supports
    agree.

    Args:
        formulation: its name.
        integrator: its name.
        times: `step=` or `tolerance=` of the runs.
    """
    scheme, form = INTEGRATORS[integrator].traits, FORMULATIONS[formulation].traits
    takes = {
        "finite-difference": True,
        "adjoint": scheme.adjoint,
        "complex-step": scheme.complex_step and not form.selects and find_compiler() is not None,
        "composite": scheme.composite and form.composite,
    }
    direct = _five_bar_gradient(formulation, integrator, "direct", **times)
    if "tolerance" in times:  # methods would choose different steps
        times = {"ends": direct.run.step_ends}
    for method in (method for method, taken in takes.items() if taken):
        other = _five_bar_gradient(formulation, integrator, method, **times)
        compare_gradients(
            direct, other, RELATED[method], f"{method} of {formulation}, {integrator}"
        )


def compare_gradients(first: Gradient, second: Gradient, rtol: float, what: str = "") -> None:
    """Check that two gradients agree. Derivatives that are small compared with the objective are
    less accurate, by its rounding.
    """
    ψ = np.abs(first.values.to_numpy())[:, None]
    one, other = first.gradient.to_numpy(), second.gradient.to_numpy()
    off = np.abs(one - other) / (rtol * np.abs(other) + 0.05 * rtol * ψ)
    assert off.max() <= 1, f"{what}: {one} against {other}"


def _five_bar_gradient(formulation: str, integrator: str, method: str, **options: Any) -> Gradient:
    return five_bar.mechanism().sensitivity(
        five_bar.objectives(),
        duration=0.3,
        integrator=integrator,
        formulation=formulation,
        method=method,
        **options,
    )


def check_backends(formulation: str, integrator: str, **times: float) -> None:
    """Check that compiled and interpreted runs agree to the last bit, derivatives included; nothing
    is checked without a compiler.
    """
    if find_compiler() is None:
        return
    runs = [
        _five_bar_gradient(formulation, integrator, "direct", backend=backend, **times)
        for backend in ("native", "interpreted")
    ]
    for get in (
        lambda x: x.values,
        lambda x: x.gradient,
        lambda x: x.run.position("2"),
        lambda x: x.run.position("2", wrt="L_A1"),
    ):
        np.testing.assert_array_equal(get(runs[0]), get(runs[1]))
