"""What every combination of formulation and integrator has to show: its order of convergence, for
everything it yields (states, multipliers, reactions, objectives and all their sensitivities), and
derivatives that are those of the discrete solution.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from loops import add_four_bar

import varimech as vm
from varimech.benchmarks import five_bar
from varimech.schemes import FORMULATIONS, INTEGRATORS, integrators_of
from varimech.testing import (
    QUANTITIES,
    check_order,
    check_tolerance,
    compare_gradients,
    exact_pendulum,
    pendulum,
    pendulum_errors,
)


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


ALLOWED = [(f, i) for f, formulation in FORMULATIONS.items() for i in integrators_of(formulation)]
ORDERED = [(f, i) for f, i in ALLOWED if INTEGRATORS[i].order is not None]
TO_TOLERANCE = [(f, i) for f, i in ALLOWED if INTEGRATORS[i].order is None]
every_method = pytest.mark.parametrize(
    ("formulation", "integrator"), ORDERED, ids=lambda name: str(name)
)


def test_every_integrator_and_formulation_is_here() -> None:
    assert set(INTEGRATORS) == {i for _, i in ALLOWED}
    assert set(FORMULATIONS) == {f for f, _ in ALLOWED}
    assert {i for _, i in TO_TOLERANCE} == {"cvodes", "idas"}


@cache
def errors(formulation: str, integrator: str) -> dict[str, np.ndarray]:
    return pendulum_errors(formulation, integrator)


@every_method
@pytest.mark.parametrize("group", QUANTITIES)
def test_order_of_everything_at_the_end(formulation: str, integrator: str, group: str) -> None:
    check_order(integrator, errors(formulation, integrator)[group])


@every_method
def test_order_of_an_integral_and_its_derivative(formulation: str, integrator: str) -> None:
    check_order(integrator, errors(formulation, integrator)["integral"])


@pytest.mark.parametrize(("formulation", "integrator"), TO_TOLERANCE)
def test_variable_orders_reach_a_tolerance(formulation: str, integrator: str) -> None:
    check_tolerance(formulation, integrator)


def check_differences(**options: Any) -> list[vm.Gradient]:
    m = five_bar.mechanism()
    direct, differences = (
        m.sensitivity(five_bar.objectives(), duration=0.3, method=method, **options)
        for method in ("direct", "finite-difference")
    )
    compare_gradients(direct, differences, 2e-7)
    return [direct, differences]


@every_method
def test_sensitivities_are_those_of_the_discrete_solution(
    formulation: str, integrator: str
) -> None:
    """They equal differences of the program itself, however coarse the step."""
    check_differences(step=1e-2, integrator=integrator, formulation=formulation)


@pytest.mark.parametrize(
    ("formulation", "integrator"), [(f, i) for f, i in ORDERED if INTEGRATORS[i].traits.adaptive]
)
def test_sensitivities_with_chosen_steps_hold_them_fixed(formulation: str, integrator: str) -> None:
    """Differences replay the steps of the first run."""
    direct, differences = check_differences(
        tolerance=1e-4, integrator=integrator, formulation=formulation
    )
    np.testing.assert_allclose(direct.values, differences.values, rtol=1e-13)


@pytest.mark.parametrize(
    ("formulation", "integrator"),
    [(f, i) for f, i in ORDERED if FORMULATIONS[f].traits.composite],
)
def test_the_composite_system_gives_the_same_derivatives(formulation: str, integrator: str) -> None:
    """Another method for the same discrete solution: Serban and Freeman's system, solved as one,
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
    [(f, i) for f, i in ORDERED if FORMULATIONS[f].traits.exact],
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


@pytest.mark.parametrize("backend", ["interpreted", "auto"])
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
    options: dict[str, Any] = {"formulation": formulation, "coordinates": "natural"}
    options |= {"step": 0.01} if formulation == "ali3p" else {"step": 0.25, "integrator": "dop853"}
    alone, together = (
        _hanging(**masses).simulate(0.5, **options)
        for masses in ({"heavy": 5e6}, {"heavy": 5e6, "light": 1.0})
    )
    for computed in (
        lambda run: run.acceleration("heavy end")[-1],
        lambda run: run.reaction("heavy joint")[-1],
    ):
        np.testing.assert_allclose(computed(together), computed(alone), rtol=1e-9)


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
        match=r"pure penalty .* cannot be combined with integrator 'dop853'; use one of 'trapezoidal'",
    ):
        pendulum().simulate(
            1.0, integrator="dop853", formulation=vm.Penalty(xi=0.0, inertial=False)
        )


def test_explicit_schemes_take_redundant_constraints_and_drivers() -> None:
    """A driven four-bar whose coupler is there twice: the same motion and effort as by the
    trapezoidal rule with small steps.
    """
    m = vm.Mechanism("driven", gravity=(0, -9.81))
    add_four_bar(m, 2, 0.5, 1.8, 1.2)
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
