"""What a careful user writes with CasADi for this one mechanism, and the reference that everybody
is compared with.

Two programs: natural coordinates (points 1, 2, 3) as an index-1 system with Baumgarte's terms for
IDAS and its forward sensitivities; and the two angles as an ordinary differential equation,
extended by its sensitivities by hand and compiled, for SciPy's DOP853 and for CVODES. The mass
matrix is the Hessian of the kinetic energy, the forces the gradient of the potential one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import casadi
import numpy as np
import scipy
from problem import (
    DURATION,
    GRAVITY,
    L_3B,
    L_12,
    L_23,
    NOMINAL,
    SAMPLES,
    START_ANGLES,
    STIFFNESS,
    TARGET,
    TESTED,
    A,
    B,
    Curve,
    Point,
    Report,
    fastest,
    timed,
)
from scipy.integrate import solve_ivp

ca: Any = casadi  # its annotations are narrower than what it takes
SX: TypeAlias = Any
Function: TypeAlias = Any

BAUMGARTE = 10.0
COMPILED = {"jit": True, "compiler": "shell", "jit_options": {"flags": ["-O3", "-march=native"]}}
TOLERANCES = tuple(10.0**-k for k in range(3, 11))
REFERENCE_TOLERANCE = 1e-13
Gradient = Callable[[], np.ndarray]


def mass_and_force(q: SX, v: SX, ρ: SX) -> tuple[SX, SX]:
    """Mass matrix and applied forces for the coordinates of points 1, 2 and 3."""
    points, velocities = (
        [ca.DM(A), *ca.vertsplit(q, 2), ca.DM(B)],
        [ca.DM.zeros(2), *ca.vertsplit(v, 2), ca.DM.zeros(2)],
    )
    slender = [(L, m, L / 2, m * L**2 / 12) for L, m in ((L_12, 1.5), (L_23, 1.5), (L_3B, 1.0))]
    kinetic = potential = ca.SX(0)
    for k, (length, mass, com, inertia) in enumerate([(ρ[4], ρ[2], ρ[3], 1 / 6), *slender]):
        share = com / length
        velocity = (1 - share) * velocities[k] + share * velocities[k + 1]
        turning = (velocities[k + 1] - velocities[k]) / length
        kinetic += mass / 2 * ca.sumsqr(velocity) + inertia / 2 * ca.sumsqr(turning)
        potential += mass * GRAVITY * ((1 - share) * points[k] + share * points[k + 1])[1]
    for point, natural in ((points[1], ρ[0]), (points[2], ρ[1])):
        potential += STIFFNESS / 2 * (ca.norm_2(point - B) - natural) ** 2
    return ca.hessian(kinetic, v)[0], -ca.gradient(potential, q)


def closed_chain(angles: SX, ρ: SX) -> SX:
    """Points 1, 2 and 3 from the angles of bars A1 and 12."""
    p1 = ρ[4] * ca.vertcat(ca.cos(angles[0]), ca.sin(angles[0]))
    p2 = p1 + L_12 * ca.vertcat(ca.cos(angles[1]), ca.sin(angles[1]))
    distance = ca.norm_2(B - p2)
    e = (B - p2) / distance
    along = (L_23**2 - L_3B**2 + distance**2) / (2 * distance)
    return ca.vertcat(
        p1, p2, p2 + along * e + ca.sqrt(L_23**2 - along**2) * ca.vertcat(e[1], -e[0])
    )


def integrands(q: SX, v: SX, a: SX) -> SX:
    return ca.vertcat(ca.sumsqr(q[2:4] - TARGET), ca.sumsqr(v[2:4]), ca.sumsqr(a[2:4]))


def index_1() -> tuple[dict[str, Any], Function]:
    """The differential-algebraic system, and its start as a function of the parameters."""
    q, v, a, λ, ρ = (ca.SX.sym(n, k) for n, k in (("q", 6), ("v", 6), ("a", 6), ("λ", 4), ("ρ", 5)))
    M, Q = mass_and_force(q, v, ρ)
    p = [ca.DM(A), *ca.vertsplit(q, 2), ca.DM(B)]
    Φ = ca.vertcat(
        *((ca.sumsqr(p[k + 1] - p[k]) - L**2) / 2 for k, L in enumerate((ρ[4], L_12, L_23, L_3B)))
    )
    J = ca.jacobian(Φ, q)
    Φ_rate = J @ v
    Φ_second = J @ a + ca.jtimes(Φ_rate, q, v)
    residual = ca.vertcat(M @ a + J.T @ λ - Q, Φ_second + 2 * BAUMGARTE * Φ_rate + BAUMGARTE**2 * Φ)
    system = {
        "x": ca.vertcat(q, v),
        "z": ca.vertcat(a, λ),
        "p": ρ,
        "ode": ca.vertcat(v, a),
        "alg": residual,
        "quad": integrands(q, v, a),
    }
    return system, ca.Function(
        "start", [ρ], [ca.vertcat(closed_chain(ca.DM(START_ANGLES), ρ), ca.DM.zeros(6))]
    )


def idas(tolerance: float) -> Gradient:
    """Gradient by IDAS and its forward sensitivities."""
    system, start = index_1()
    options = {"reltol": tolerance, "abstol": tolerance, "max_num_steps": 10**6}
    integrator = ca.integrator("idas", "idas", system, 0, DURATION, options)
    ρ = ca.MX.sym("ρ", 5)
    end = integrator(x0=start(ρ), z0=ca.DM.zeros(10), p=ρ)["qf"]
    function = ca.Function("gradient", [ρ], [ca.jtimes(end, ρ, ca.MX(ca.DM.eye(5)))])
    return lambda: np.array(function(NOMINAL))


def five_bar_rates() -> tuple[SX, SX, SX]:
    """State (angles and their rates), parameters, and rates of the state and of ψ."""
    angles, rates, ρ = ca.SX.sym("α", 2), ca.SX.sym("ω", 2), ca.SX.sym("ρ", 5)
    q, v = closed_chain(angles, ρ), ca.SX.sym("v", 6)
    M, Q = mass_and_force(placeholder := ca.SX.sym("q", 6), v, ρ)
    M, Q = ca.substitute([M, Q], [placeholder], [q])
    R = ca.jacobian(q, angles)
    velocity = R @ rates
    coriolis = ca.jtimes(velocity, angles, rates)
    second = ca.inv_minor(R.T @ M @ R) @ (R.T @ (Q - M @ coriolis))
    return (
        ca.vertcat(angles, rates),
        ρ,
        ca.vertcat(rates, second, integrands(q, velocity, R @ second + coriolis)),
    )


def augmented() -> Function:
    """Rates of (angles, their rates, sensitivities, ψ, ψ'), 42 numbers, compiled."""
    x, ρ, rate = five_bar_rates()
    S = ca.SX.sym("S", 4, 5)
    tangent = ca.jacobian(rate, x) @ S + ca.jacobian(rate, ρ)
    y = ca.vertcat(x, ca.vec(S), ca.SX.sym("ψ", 18))
    return ca.Function(
        "rates",
        [y, ρ],
        [ca.vertcat(rate[:4], ca.vec(tangent[:4, :]), rate[4:], ca.vec(tangent[4:, :]))],
        COMPILED,
    )


START = np.concatenate([START_ANGLES, np.zeros(40)])


def gradient_of(y: np.ndarray) -> np.ndarray:
    return y[27:].reshape(5, 3).T


def dop853(rates: Function, tolerance: float, ρ: np.ndarray = NOMINAL) -> np.ndarray:
    """(…, ψ, ψ') at the end by SciPy; the compiled rates write straight into NumPy's memory."""
    y_in, y_out, values = np.zeros(42), np.zeros(42), np.array(ρ)
    buffer, evaluate = rates.buffer()
    buffer.set_arg(0, y_in.data)
    buffer.set_arg(1, values.data)
    buffer.set_res(0, y_out.data)

    def right_side(_: float, y: np.ndarray) -> np.ndarray:
        y_in[:] = y
        evaluate()
        return y_out.copy()

    return solve_ivp(
        right_side,
        (0, DURATION),
        START,
        "DOP853",
        t_eval=[DURATION],
        rtol=tolerance,
        atol=tolerance,
    ).y[:, -1]


def adams(system: Any, duration: float, tolerance: float, **options: Any) -> Function:
    """CVODES with Adams' method and functional iteration."""
    settings = {
        "reltol": tolerance,
        "abstol": tolerance,
        "max_num_steps": 10**6,
        "linear_multistep_method": "adams",
        "nonlinear_solver_iteration": "functional",
        **options,
    }
    return ca.integrator("cvodes", "cvodes", system, 0, duration, settings)


def cvodes(rates: Function, tolerance: float) -> Gradient:
    """Gradient by CVODES (Adams, functional iteration) on the same compiled rates."""
    x, ρ = ca.MX.sym("x", 24), ca.MX.sym("ρ", 5)
    rate = rates(ca.vertcat(x, ca.MX.zeros(18)), ρ)
    system = {"x": x, "p": ρ, "ode": rate[:24], "quad": rate[24:]}
    integrator = adams(system, DURATION, tolerance)
    return lambda: np.array(integrator(x0=START[:24], p=NOMINAL)["qf"]).ravel()[3:].reshape(5, 3).T


def curve(
    engine: str, options: str, build_seconds: float, make: Callable[[float], Gradient]
) -> Curve:
    computed = Curve(engine, options, build_seconds)
    for tolerance in TOLERANCES:
        gradient = make(tolerance)
        try:
            seconds, result = fastest(gradient)
        except RuntimeError:  # the integrator gave up at this tolerance
            continue
        computed.points.append(Point(f"tolerance {tolerance:.0e}", 1e3 * seconds, result.tolist()))
    return computed


def main() -> None:
    build_seconds, rates = timed(augmented)
    fine = dop853(rates, REFERENCE_TOLERANCE)
    tested = [
        dop853(rates, REFERENCE_TOLERANCE, np.array([s, *NOMINAL[1:]]))[24:27].tolist()
        for s in SAMPLES[TESTED]
    ]
    index_1_seconds, _ = timed(lambda: idas(TOLERANCES[0]))
    curves = [
        curve(
            "CasADi + IDAS",
            "hand-written index-1 system, natural coordinates, forward sensitivities",
            index_1_seconds,
            idas,
        ),
        curve(
            "SciPy DOP853",
            "two angles and sensitivities, hand-derived, compiled",
            build_seconds,
            lambda tolerance: lambda: gradient_of(dop853(rates, tolerance)),
        ),
        curve(
            "CasADi + CVODES",
            "two angles and sensitivities, hand-derived, compiled, Adams",
            build_seconds,
            lambda tolerance: cvodes(rates, tolerance),
        ),
    ]
    versions = {"casadi": ca.__version__, "scipy": scipy.__version__, "numpy": np.__version__}
    reference = {"gradient": gradient_of(fine).tolist(), "psi": tested}
    Report(versions, curves, reference=reference).print()


if __name__ == "__main__":
    main()
