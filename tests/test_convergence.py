"""What every combination of formulation and integrator has to show: its order of convergence, for
everything it yields (states, multipliers, reactions, objectives and all their sensitivities), and
derivatives that are those of the discrete solution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import varimech as vm
from varimech.benchmarks import five_bar
from varimech.integrators.sundials import Sundials
from varimech.schemes import FORMULATIONS, INTEGRATORS, integrators_of

PENDULUM = {"mass": 3.0, "length": 1.0, "angle": 0.5236 - math.pi / 2}


def pendulum() -> vm.Mechanism:
    """A uniform bar hung at one end, from 0.5236 rad off the vertical."""
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    L = m.parameter("L", PENDULUM["length"], unit="m")
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=PENDULUM["mass"])
    m.revolute("O")
    m.start(angle={"rod": PENDULUM["angle"]})
    return m


def exact_pendulum(t_end: float) -> tuple[float, float, float, float]:
    """θ, θ̇ and their derivatives with respect to L, from  θ̈ = −(3g/2L) cos θ  and its variation
    in L.
    """

    def rhs(_: float, y: np.ndarray) -> list[float]:
        θ, ω, θ_L, ω_L = y
        k, k_L = 1.5 * 9.81, -1.5 * 9.81
        return [ω, -k * math.cos(θ), ω_L, k * math.sin(θ) * θ_L - k_L * math.cos(θ)]

    y = solve_ivp(
        rhs, (0, t_end), [PENDULUM["angle"], 0, 0, 0], method="DOP853", rtol=1e-12, atol=1e-13
    ).y[:, -1]
    return tuple(map(float, y))  # type: ignore[return-value]


def test_published_values_of_the_pendulum() -> None:
    """θ from the vertical and ∂θ/∂L at t = 1, 2, 3 s, computed independently."""
    for t, θ, θ_L in (
        (1, -0.4243060674, -0.5773158652),
        (2, 0.1621887085, 1.8859102515),
        (3, 0.1633495892, -2.8266627558),
    ):
        ours = exact_pendulum(t)
        assert ours[0] + math.pi / 2 == pytest.approx(θ, abs=1e-9)
        assert ours[2] == pytest.approx(θ_L, abs=1e-8)


QUANTITIES: dict[
    str, tuple[Callable[[vm.Gradient], Any], Callable[[float, float, float, float], float]]
] = {
    "angle": (lambda g: g.run.angle("rod")[-1], lambda θ, ω, θ_L, ω_L: θ),
    "angular velocity": (lambda g: g.run.angular_velocity("rod")[-1], lambda θ, ω, θ_L, ω_L: ω),
    "angular acceleration": (
        lambda g: g.run.angular_acceleration("rod")[-1],
        lambda θ, ω, θ_L, ω_L: -1.5 * 9.81 * math.cos(θ),
    ),
    "angle by L": (lambda g: g.run.angle("rod", wrt="L")[-1], lambda θ, ω, θ_L, ω_L: θ_L),
    "angular velocity by L": (
        lambda g: g.run.angular_velocity("rod", wrt="L")[-1],
        lambda θ, ω, θ_L, ω_L: ω_L,
    ),
    "tip x by L": (
        lambda g: g.run.position("tip", wrt="L")[-1, 0],
        lambda θ, ω, θ_L, ω_L: math.cos(θ) - math.sin(θ) * θ_L,
    ),
    "radial reaction": (
        lambda g: g.run.measure(lambda s: vm.dot(s.reaction("O"), s.position("tip")))[-1],
        # centripetal force and weight along the bar, towards the pivot
        lambda θ, ω, θ_L, ω_L: -3 * (ω**2 / 2 + 9.81 * -math.sin(θ)),
    ),
    "radial reaction by L": (
        lambda g: g.run.measure(lambda s: vm.dot(s.reaction("O"), s.position("tip")), wrt="L")[-1],
        # F·r = −m L (L ω²/2 − g sin θ)
        lambda θ, ω, θ_L, ω_L: (
            -3 * (ω**2 / 2 - 9.81 * math.sin(θ))
            - 3 * (ω**2 / 2 + ω * ω_L - 9.81 * math.cos(θ) * θ_L)
        ),
    ),
    "multiplier": (
        # rigidity is (d·d − L²)/2L, so its multiplier is the inner force that the two ends exert on
        # each other
        lambda g: g.run.multiplier("rigidity of rod")[-1],
        lambda θ, ω, θ_L, ω_L: rod_force(θ, ω),
    ),
}


def rod_force(θ: float, ω: float) -> float:
    """Multiplier of |tip|² = L² for the mass m/3 that a uniform bar has at its tip: (m/3) L ω² −
    (m/2) g sin θ, as a tension.
    """
    return 3.0 / 3 * ω**2 - 3.0 / 2 * 9.81 * math.sin(θ)


STEPS = {
    "trapezoidal": 4e-3,
    "newmark": 1e-3,
    "hht": 4e-3,
    "generalised-alpha": 4e-3,
    "rk4": 2e-2,
    "dopri5": 2e-2,
    "dop853": 2e-1,
}
"""The largest of three steps that are halved, for integrators that have an order."""
GROUPS = {
    "states": ["angle", "angular velocity", "angular acceleration"],
    "multipliers": ["multiplier", "radial reaction"],
    "sensitivities": ["angle by L", "angular velocity by L", "tip x by L", "radial reaction by L"],
}
"""Taken together, because the error of one alone may change its sign between two steps."""
ALLOWED = [(f, i) for f, formulation in FORMULATIONS.items() for i in integrators_of(formulation)]
ORDERED = [(f, i) for f, i in ALLOWED if i in STEPS]
TO_TOLERANCE = [(f, i) for f, i in ALLOWED if i not in STEPS]
every_method = pytest.mark.parametrize(
    ("formulation", "integrator"), ORDERED, ids=lambda name: str(name)
)


def test_every_integrator_and_formulation_is_here() -> None:
    assert set(INTEGRATORS) == {i for _, i in ALLOWED}
    assert set(FORMULATIONS) == {f for f, _ in ALLOWED}
    assert all(isinstance(INTEGRATORS[i], Sundials) for _, i in TO_TOLERANCE)


def squared_rate() -> vm.Objective:
    return vm.integral(lambda s: s.angular_velocity("rod") ** 2)


@cache
def solutions(formulation: str, integrator: str) -> list[vm.Gradient]:
    m, h = pendulum(), STEPS[integrator]
    return [
        m.sensitivity(
            squared_rate(), duration=2.0, step=step, integrator=integrator, formulation=formulation
        )
        for step in (h, h / 2, h / 4)
    ]


@cache
def converged(formulation: str) -> vm.Gradient | None:
    """With penalties, what all integrators converge to: joints give way a little, so it is not the
    exact solution.
    """
    if formulation != "penalty":
        return None
    return pendulum().sensitivity(
        squared_rate(), duration=2.0, tolerance=1e-12, formulation="penalty"
    )


def check_order(integrator: str, errors: np.ndarray) -> None:
    """Halving the step divides errors (step, quantity; relative) by 2^order."""
    order = INTEGRATORS[integrator].order  # type: ignore[union-attr]
    largest = errors.max(axis=1)
    assert largest[-1] < {1: 3e-2, 2: 3e-4}.get(order, 1e-6)
    if order <= 2:
        np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), order, atol=0.1)
    else:  # coarse steps are not in the asymptotic range yet, and errors change their signs
        last, both = np.log2(largest[-2] / largest[-1]), np.log2(largest[0] / largest[-1]) / 2
        assert max(last, both) > order - 0.6, largest


@every_method
@pytest.mark.parametrize("group", GROUPS)
def test_order_of_everything_at_the_end(formulation: str, integrator: str, group: str) -> None:
    limit = converged(formulation)
    errors = []
    for get, exact in (QUANTITIES[name] for name in GROUPS[group]):
        reference = exact(*exact_pendulum(2.0)) if limit is None else float(get(limit))
        found = np.array([float(get(s)) for s in solutions(formulation, integrator)])
        errors.append(np.abs(found - reference) / max(1.0, abs(reference)))
    check_order(integrator, np.array(errors).T)


def test_every_quantity_is_in_a_group() -> None:
    assert set(QUANTITIES) == {name for names in GROUPS.values() for name in names}


@cache
def exact_integral() -> tuple[float, float]:
    """ψ = ∫ ω² dt and ∂ψ/∂L, solved beside the motion."""

    def rhs(t: float, y: np.ndarray) -> list[float]:
        θ, ω, θ_L, ω_L = y[:4]
        k = 1.5 * 9.81
        return [
            ω,
            -k * math.cos(θ),
            ω_L,
            k * math.sin(θ) * θ_L + k * math.cos(θ),
            ω**2,
            2 * ω * ω_L,
        ]

    start = [PENDULUM["angle"], 0, 0, 0, 0, 0]
    *_, ψ, ψ_L = solve_ivp(rhs, (0, 2), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return float(ψ), float(ψ_L)


@every_method
def test_order_of_an_integral_and_its_derivative(formulation: str, integrator: str) -> None:
    ψ, ψ_L = exact_integral()
    if (limit := converged(formulation)) is not None:
        ψ, ψ_L = float(limit.values[0]), float(limit.gradient[0, 0])
    found = np.array(
        [[float(s.values[0]), float(s.gradient[0, 0])] for s in solutions(formulation, integrator)]
    )
    check_order(integrator, np.abs(found / [ψ, ψ_L] - 1))


@pytest.mark.parametrize(("formulation", "integrator"), TO_TOLERANCE)
def test_variable_orders_reach_a_tolerance(formulation: str, integrator: str) -> None:
    θ, ω, θ_L, ω_L = exact_pendulum(2.0)
    ψ, ψ_L = exact_integral()
    for tolerance in (1e-5, 1e-7):
        g = pendulum().sensitivity(
            squared_rate(),
            duration=2.0,
            tolerance=tolerance,
            integrator=integrator,
            formulation=formulation,
        )
        found = [
            float(QUANTITIES[name][0](g))
            for name in ("angle", "angular velocity", "angle by L", "angular velocity by L")
        ]
        allowed = 10 * tolerance + (1e-6 if formulation == "penalty" else 0.0)
        found += [float(g.values[0]), float(g.gradient[0, 0])]
        np.testing.assert_allclose(
            np.array(found), np.array([θ, ω, θ_L, ω_L, ψ, ψ_L]), rtol=allowed, atol=allowed
        )


def check_differences(direct: vm.Gradient, differences: vm.Gradient) -> None:
    """Differences carry the rounding of the objective itself, so small derivatives beside large
    ones are known less well.
    """
    for row, reference, ψ in zip(
        direct.gradient.to_numpy(),
        differences.gradient.to_numpy(),
        direct.values.to_numpy(),
        strict=True,
    ):
        np.testing.assert_allclose(row, reference, rtol=2e-7, atol=1e-8 * abs(ψ))


@every_method
def test_sensitivities_are_those_of_the_discrete_solution(
    formulation: str, integrator: str
) -> None:
    """They equal differences of the program itself, however coarse the step."""
    m = five_bar.mechanism()
    direct, differences = (
        m.sensitivity(
            five_bar.objectives(),
            duration=0.3,
            step=1e-2,
            integrator=integrator,
            formulation=formulation,
            method=method,
        )
        for method in ("direct", "finite-difference")
    )
    check_differences(direct, differences)


@pytest.mark.parametrize(
    ("formulation", "integrator"), [(f, i) for f, i in ORDERED if i in ("dopri5", "dop853")]
)
def test_sensitivities_with_chosen_steps_hold_them_fixed(formulation: str, integrator: str) -> None:
    """Differences replay the steps of the first run."""
    m = five_bar.mechanism()
    direct, differences = (
        m.sensitivity(
            five_bar.objectives(),
            duration=0.3,
            tolerance=1e-4,
            integrator=integrator,
            formulation=formulation,
            method=method,
        )
        for method in ("direct", "finite-difference")
    )
    check_differences(direct, differences)
    np.testing.assert_allclose(direct.values, differences.values, rtol=1e-13)


@pytest.mark.parametrize(
    ("formulation", "integrator"),
    [(f, i) for f, i in ORDERED if f in ("ali3p", "index1", "index1-stabilised")],
)
def test_the_composite_system_gives_the_same_derivatives(formulation: str, integrator: str) -> None:
    """Another road to the same discrete solution: Serban and Freeman's system, solved as one,
    agrees to rounding.
    """
    m = five_bar.mechanism()
    direct, composite = (
        m.sensitivity(
            five_bar.objectives(),
            duration=0.3,
            step=1e-2,
            integrator=integrator,
            formulation=formulation,
            method=method,
        )
        for method in ("direct", "composite")
    )
    np.testing.assert_allclose(composite.values, direct.values, rtol=1e-12)
    np.testing.assert_allclose(composite.gradient, direct.gradient, rtol=1e-10)
    np.testing.assert_allclose(
        composite.run.position("2", wrt="L_A1"),
        direct.run.position("2", wrt="L_A1"),
        rtol=1e-10,
        atol=1e-10,
    )
    np.testing.assert_allclose(
        composite.run.multiplier("rigidity of 12", wrt="Ls2"),
        direct.run.multiplier("rigidity of 12", wrt="Ls2"),
        rtol=1e-8,
    )


def test_the_composite_mass_matrix_is_the_published_one() -> None:
    """M̂ = [[M_b + P, M], [M, 0]] with P_ij = Σ ∂m_ij/∂q_k (q_k)_b, and Π = (Φ, Φ_q q_b + Φ_b), for
    a mass matrix that depends on q.
    """
    import casadi as ca

    from varimech.coordinates.dynamics import Constraint, Dynamics, Element
    from varimech.sensitivity.composite import Composite

    q, v, ρ, t = ca.SX.sym("q", 2), ca.SX.sym("v", 2), ca.SX.sym("ρ", 1), ca.SX.sym("t")
    M = ca.blockcat([[ρ * (2 + ca.sin(q[1])), q[0] * q[1]], [q[0] * q[1], 3 + q[0] ** 2]])
    Φ = q[0] ** 2 + q[1] ** 2 - ρ**2
    single = Dynamics(
        q,
        v,
        ρ,
        t,
        (
            Element(
                "body", kinetic=ca.mtimes([v.T, M, v]) / 2, constraints=(Constraint("circle", Φ),)
            ),
        ),
    )
    c = Composite(single).dynamics
    q_b, ρ_b = c.q[2:], c.ρ[1:]
    P = sum((ca.jacobian(ca.vec(M), q[k]) * q_b[k] for k in range(2)), ca.SX.zeros(4))
    top = ca.reshape(ca.jacobian(ca.vec(M), ρ) * ρ_b + P, 2, 2)
    published = ca.blockcat([[top, M], [M, ca.SX.zeros(2, 2)]])
    constraints = ca.vertcat(Φ, ca.jacobian(Φ, q) @ q_b + ca.jacobian(Φ, ρ) @ ρ_b)
    difference = ca.vertcat(ca.vec(c.mass - published), c.constraints - constraints)
    values = ca.Function("difference", [c.q, c.ρ], [difference])(
        np.array([0.3, 0.7, -0.2, 0.5]), np.array([1.3, 0.8])
    )
    np.testing.assert_allclose(np.array(values), 0, atol=1e-14)


@pytest.mark.parametrize(
    ("formulation", "integrator"),
    [(f, i) for f, i in ORDERED if f in ("ali3p", "index1", "independent")],
)
def test_constraints_hold_at_every_level(formulation: str, integrator: str) -> None:
    run = five_bar.mechanism().simulate(
        1.0, step=5e-3, integrator=integrator, formulation=formulation
    )
    position, velocity, acceleration = run.info["residuals"]
    assert position < 1e-11
    assert velocity < 1e-12
    # explicit schemes solve for accelerations in one pass, which leaves 1e-12 of them
    assert acceleration < 3e-12 * float(np.abs(run.acceleration("2")).max())


def _driven(mass: float) -> vm.Mechanism:
    """A driven bar against a spring; its mass and the spring's stiffness are parameters."""
    m = vm.Mechanism("lever", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("lever", "O", "end", length=1, mass=m.parameter("mass", mass))
    m.revolute("O")
    m.torsional_spring("spring", "lever", stiffness=m.parameter("stiffness", 100.0), rest_angle=1)
    m.drive_angle("drive", "lever", lambda t: t**2)
    return m


@pytest.mark.parametrize("backend", ["interpreted", "native"])
def test_light_bodies_move_as_they_are_driven(backend: str) -> None:
    """Left alone, the spring would turn the lever by 1e8 rad/s²: 1e-12 of that must not be left."""
    run = _driven(1e-6).simulate(0.1, tolerance=1e-6, output=0.1, backend=backend)
    φ = 0.1**2
    exact = [-2 * math.sin(φ) - 0.2**2 * math.cos(φ), 2 * math.cos(φ) - 0.2**2 * math.sin(φ)]
    np.testing.assert_allclose(run.acceleration("end")[-1], exact, atol=1e-8)


def test_the_composite_system_takes_parameters_of_any_size() -> None:
    """Derivatives by a mass of 1e-6 kg are 1e6 times what is differentiated, and constraints of the
    motion do not give way to them.
    """
    φ, effort = 0.1**2, vm.final(lambda s: s.effort("drive"))
    g = _driven(1e-6).sensitivity(
        effort, "mass", duration=0.1, step=0.05, integrator="dop853", method="composite"
    )
    np.testing.assert_allclose(g.gradient, [[2 / 3 + 9.81 / 2 * math.cos(φ)]], rtol=1e-8)
    exact = [-2 * math.sin(φ) - 0.2**2 * math.cos(φ), 2 * math.cos(φ) - 0.2**2 * math.sin(φ)]
    np.testing.assert_allclose(g.run.acceleration("end")[-1], exact, atol=1e-8)


def _hanging(**masses: float) -> vm.Mechanism:
    """Bars of 500 m, each of which hangs on one point of the ground, by a point beside it."""
    m = vm.Mechanism("bars", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    for name, mass in masses.items():
        m.bar(name, f"{name} top", f"{name} end", length=500, mass=mass)
        m.point(name, f"{name} hinge", (100, 50))
        m.revolute(f"{name} joint", "O", f"{name} hinge")
    m.start(
        position={f"{name} end": (300, None) for name in masses},
        speed={f"{name} end": (100, 0) for name in masses},
        near=dict.fromkeys(masses, 0.3),
    )
    return m


@pytest.mark.parametrize("formulation", ["index1", "independent", "index1-stabilised", "ali3p"])
def test_heavy_bodies_move_beside_light_ones_as_alone(formulation: str) -> None:
    """What 5e6 kg hang on does not give way where the start of 1 kg is told in coordinates with
    gradients that are 500 times as large.
    """
    how: dict[str, Any] = {"formulation": formulation, "coordinates": "natural"}
    how |= {"step": 0.01} if formulation == "ali3p" else {"step": 0.25, "integrator": "dop853"}
    alone, together = (
        _hanging(**masses).simulate(0.5, **how)
        for masses in ({"heavy": 5e6}, {"heavy": 5e6, "light": 1.0})
    )
    for found in (
        lambda run: run.acceleration("heavy end")[-1],
        lambda run: run.reaction("heavy joint")[-1],
    ):
        np.testing.assert_allclose(found(together), found(alone), rtol=1e-9)


def test_penalties_give_way_by_the_inverse_of_their_factor() -> None:
    exact = exact_pendulum(2.0)
    errors = []
    for factor in (1e4, 1e5, 1e6):
        run = pendulum().simulate(2.0, tolerance=1e-11, formulation=vm.Penalty(factor=factor))
        errors.append(abs(float(run.angle("rod")[-1]) - exact[0]))
    np.testing.assert_allclose(np.log10(np.array(errors[:-1]) / errors[1:]), 1.0, atol=0.05)


def test_pure_penalty_is_an_elastic_joint() -> None:
    """M q̈ + Φ_qᵀ α Φ = Q with α = factor ω² μ is a rod with a spring in it, which nears the rigid
    one.
    """
    rigid = exact_pendulum(1.0)[0]
    errors = []
    for factor in (1e4, 1e6):
        soft = vm.Penalty(factor=factor, omega=1.0, xi=0.0, inertial=False)
        run = pendulum().simulate(1.0, step=1e-4, integrator="trapezoidal", formulation=soft)
        errors.append(abs(float(run.angle("rod")[-1]) - rigid))
    assert errors[1] < errors[0] / 50
    assert errors[1] < 1e-4


def test_pure_penalty_is_for_implicit_integrators() -> None:
    with pytest.raises(
        vm.ModelError,
        match=r"pure penalty .* does not go with integrator 'dop853': use one of 'trapezoidal'",
    ):
        pendulum().simulate(
            1.0, integrator="dop853", formulation=vm.Penalty(xi=0.0, inertial=False)
        )


def test_explicit_schemes_take_redundant_constraints_and_drivers() -> None:
    """A driven four-bar whose coupler is there twice: the same motion and effort as by the
    trapezoidal rule with small steps.
    """
    m = vm.Mechanism("driven", gravity=(0, -9.81))
    m.ground_point("A", (0, 0))
    m.ground_point("D", (2, 0))
    m.bar("crank", "A", "B", length=0.5, mass=1)
    m.bar("coupler", "B", "C", length=1.8, mass=1)
    m.bar("rocker", "D", "C", length=1.2, mass=1)
    for name in "ABCD":
        m.revolute(name)
    m.distance("twin", "crank.B", "rocker.C", length=1.8)
    m.drive_angle("motor", "crank", lambda t: 1 + 2 * t + t**2)
    m.start(near={"C": (1.5, 1)})
    exact = m.simulate(0.5, step=1e-4, every=5000)
    run = m.simulate(0.5, step=1e-2, every=50, integrator="rk4")
    np.testing.assert_allclose(run.position("C")[-1], exact.position("C")[-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.effort("motor")[-1], exact.effort("motor")[-1], rtol=1e-6)


@pytest.mark.parametrize("integrator", ["hht", "generalised-alpha"])
def test_damping_removes_fast_vibrations_and_keeps_slow_ones(integrator: str) -> None:
    def energy_left(stiffness: float) -> float:
        m = vm.Mechanism("oscillator", dimension=2)
        m.ground_point("O", (0, 0))
        m.body("block", mass=1.0, inertia=1.0, points={"P": (0, 0)})
        m.prismatic("guide", "ground.O", "block.P", axis=(1, 0))
        m.spring(
            "spring", "ground.O", "block.P", stiffness=stiffness, natural_length=100.0
        )  # long, so that it stays on its side
        m.start(displacement={"guide": 100.001})
        energy = m.simulate(2.0, step=1e-2, integrator=integrator).energy()
        return float(energy[-1] / energy[0])

    assert energy_left(1e8) < 0.01  # 100 steps a radian
    assert energy_left(1e1) > 0.999


def test_newmark_with_damping_is_of_order_one() -> None:
    reference = exact_pendulum(1.0)[0]
    errors = [
        abs(
            float(
                pendulum().simulate(1.0, step=h, integrator=vm.Newmark(gamma=0.6)).angle("rod")[-1]
            )
            - reference
        )
        for h in (2e-3, 1e-3, 5e-4)
    ]
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 1.0, atol=0.1)


def test_newmark_with_damping_takes_energy_and_the_trapezoidal_rule_does_not() -> None:
    m = vm.Mechanism("stiff", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("block", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "block.P", axis=(1, 0))
    m.spring("spring", "ground.O", "block.P", stiffness=1e4, natural_length=1.0)
    m.start(displacement={"guide": 1.1})
    energies = {
        γ: m.simulate(1.0, step=5e-3, integrator=vm.Newmark(gamma=γ)).energy() for γ in (0.5, 0.7)
    }
    assert float(energies[0.5][-1]) == pytest.approx(
        50.0, rel=1e-9
    )  # ½ k x²: a linear oscillator keeps it exactly
    assert float(energies[0.7][-1]) < 1.0


def test_sensitivities_with_newmark_equal_differences() -> None:
    m = pendulum()
    objective = vm.integral(lambda s: s.angular_velocity("rod") ** 2)
    direct, differences = (
        m.sensitivity(
            objective, duration=1.0, step=5e-3, integrator=vm.Newmark(gamma=0.6), method=method
        )
        for method in ("direct", "finite-difference")
    )
    np.testing.assert_allclose(direct.gradient, differences.gradient, rtol=1e-8)


@pytest.mark.parametrize("step", [1e-2, 1e-3, 1e-4, 1e-5])
def test_small_steps_lose_no_digits_in_accelerations(step: float) -> None:
    """Differences of positions over h² would leave an error of 1e-16/h² = 1e-6 at the smallest
    step.
    """
    run = pendulum().simulate(100 * step, step=step)
    α = run.angular_acceleration("rod")
    exact = -1.5 * 9.81 * np.cos(run.angle("rod"))
    np.testing.assert_allclose(α, exact, rtol=max(1e-10, 10 * step**2))
    assert max(run.info["residuals"]) < 1e-10


def test_final_and_integral_terms_add_up() -> None:
    m = pendulum()
    integral, final = (
        vm.integral(lambda s: s.angle("rod")),
        vm.final(lambda s: s.angular_velocity("rod")),
    )
    parts = m.sensitivity([integral, final, integral + final], duration=0.5, step=5e-3)
    np.testing.assert_allclose(parts.values[2], parts.values[0] + parts.values[1], rtol=1e-13)
    np.testing.assert_allclose(parts.gradient[2], parts.gradient[0] + parts.gradient[1], rtol=1e-12)


def test_objective_of_parameter_and_time() -> None:
    """∫ L t dt = L T²/2: the explicit dependence on ρ and t, exact for the trapezoidal rule."""
    g = pendulum().sensitivity(
        vm.integral(lambda s: s.parameter("L") * s.time), duration=0.5, step=5e-3
    )
    assert float(g.values[0]) == pytest.approx(0.125, rel=1e-12)
    assert float(g.gradient[0, 0]) == pytest.approx(0.125, rel=1e-12)
