"""Formulas of docs/theory.md that no other test states as they stand there."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from bodies import add_body
from both_backends import both_backends

import varimech as vm
from varimech.backends.selection import select

E, A, I, MASS = 3.0, 0.5, 0.02, 1.7
"""Of a beam with numbers that make stretching and bending matter alike."""
PLACES = np.array([(0.0, 0.0), (0.5, 0.1), (0.8, 0.5), (0.9, 1.0)])
RATES = np.array([(0.3, -0.2), (0.1, 0.4), (-0.5, 0.2), (0.2, 0.6)])
LENGTH = 1.2
NODES = ("b.A", "b.n1", "b.n2", "b.B")


def wedge(a: np.ndarray, b: np.ndarray) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def stored(material: str) -> float:
    """Σ a₀ ℓ W(λ) + Σ α/2 (a × b)²,  α = E I (1 + 2/n²)/ℓ⁵."""
    n = len(PLACES) - 1
    ℓ = LENGTH / n
    segments = [b - a for a, b in pairwise(PLACES)]
    stretches = [np.linalg.norm(a) / ℓ for a in segments]
    W = [E / 2 * (math.log(λ) if material == "logarithmic" else λ - 1) ** 2 for λ in stretches]
    α = E * I * (1 + 2 / n**2) / ℓ**5
    return float(A * ℓ * sum(W) + sum(α / 2 * wedge(a, b) ** 2 for a, b in pairwise(segments)))


def beam(m: vm.Mechanism, material: str = "logarithmic") -> None:
    shape: dict[str, Any] = {"E": E, "area": A, "inertia": I, "mass": MASS, "length": LENGTH}
    m.beam("b", "A", "B", segments=3, material=material, floating=True, **shape)


@pytest.mark.parametrize("material", ["logarithmic", "linear"])
def test_energies_of_a_beam_are_those_of_the_formulas(material: str) -> None:
    m = vm.Mechanism("free", dimension=2)
    beam(m, material)
    m.start(
        position={node: tuple(r) for node, r in zip(NODES, PLACES, strict=True)},
        speed={node: tuple(v) for node, v in zip(NODES, RATES, strict=True)},
    )
    run = m.simulate(1e-4, step=1e-4)
    assert run.energy("potential").values[0] == pytest.approx(stored(material), rel=1e-12)
    T = sum(MASS / 3 / 6 * (u @ u + u @ v + v @ v) for u, v in pairwise(RATES))
    assert run.energy("kinetic").values[0] == pytest.approx(T, rel=1e-12)


def test_energy_and_moment_of_a_clamp_are_those_of_the_formulas() -> None:
    """k/2 |d × a|²,  k = 2 E I (1 + 2/n²)/ℓ³;  the moment k (d × a)(d · a), against
    the turn of a.
    """
    d, n, ℓ = np.array([math.cos(0.6), math.sin(0.6)]), 3, LENGTH / 3
    m = vm.Mechanism("clamped", dimension=2)
    m.ground_point("O", (0, 0))
    beam(m)
    m.clamp("O", "ground.O", "b.A", direction=d)
    m.start(position={node: tuple(r) for node, r in zip(NODES[1:], PLACES[1:], strict=True)})
    run = m.simulate(1e-4, step=1e-4)
    a, k = PLACES[1] - PLACES[0], 2 * E * I * (1 + 2 / n**2) / ℓ**3
    assert run.energy("potential").values[0] == pytest.approx(
        stored("logarithmic") + k / 2 * wedge(d, a) ** 2, rel=1e-12
    )
    assert run.reaction_torque("O").values[0] == pytest.approx(-k * wedge(d, a) * (d @ a), rel=1e-9)


@pytest.mark.filterwarnings("ignore::varimech.RedundantReactionWarning")
def test_redundant_reactions_are_of_least_norm() -> None:
    """Two hinges on one vertical axis, h apart, hold a door whose weight has the moment M about it:
    each carries half of the weight, and a couple of forces f with torques T of both hinges makes M
    = h f + 2 T, of which 2 f² + 2 (T/ℓ)² is smallest at f = h T/(2 ℓ²), ℓ being the root mean
    square of the ways from the centre of mass to the hinges.
    """
    h, weight, ℓ = 0.5, 2 * 9.81, math.sqrt(0.7**2 + (0.4**2 + 0.1**2) / 2)
    m = vm.Mechanism("door", gravity=(0, 0, -9.81))
    add_body(m, "door", 2.0, (0.1, 0.2, 0.25), (0.7, 0, 0.4), A=(0, 0, 0), B=(0, 0, h))
    for k, name in enumerate("AB"):
        m.ground_point(name, (0, 0, k * h))
        m.revolute(name, f"ground.{name}", f"door.{name}", axis=(0, 0, 1))
    m.start(angle={"A": 0.0})
    run = m.simulate(0.01, step=0.01)
    T = 0.7 * weight / (h**2 / (2 * ℓ**2) + 2)
    for name, side in (("A", 1), ("B", -1)):
        np.testing.assert_allclose(
            run.reaction(name).values[-1], [side * h * T / (2 * ℓ**2), 0, weight / 2], atol=1e-12
        )
        np.testing.assert_allclose(run.reaction_torque(name).values[-1], [0, -T, 0], atol=1e-12)


# penalties: a mass hangs on a rod and falls by δ until the penalty holds it, Φ = δ, α = factor ·
# mass

HUNG, FALL = 1.3, 9.81


def fallen(formulation: vm.Penalty, times: list[float], **options: Any) -> np.ndarray:
    m = vm.Mechanism("mass on a rod", gravity=(0, -FALL))
    m.ground_point("O", (0, 0))
    m.body("b", mass=HUNG, inertia=0.1)
    m.distance("rod", "ground.O", "b.com", length=10.0)
    m.start(position={"b.com": (0.0, None)}, angle={"b": 0.0}, near={"b.com": (0.0, -10.0)})
    run = m.simulate(times[-1], formulation=formulation, **options)
    return -10.0 - run.position("b.com").sel(component="y").interp(time=times).values


@pytest.mark.parametrize(
    "options", [{"step": 2e-3, "integrator": "rk4"}, {"step": 2e-3}], ids=["explicit", "implicit"]
)
def test_a_penalty_is_the_mass_damper_and_spring_of_the_formula(options: dict[str, Any]) -> None:
    """m δ̈ = m g − α (δ̈ + 2ξω δ̇ + ω² δ):  δ = g/(f ω²) (1 − e^(−st) (cos pt + s/p sin pt)) with f
    = factor, k = f/(1 + f).
    """
    f, ω, ξ, times = 2e4, 3.0, 0.3, [0.2, 0.4, 0.9, 1.5]
    k = f / (1 + f)
    s = k * ξ * ω
    p = math.sqrt(k * ω**2 - s**2)
    exact = [
        FALL / (f * ω**2) * (1 - math.exp(-s * t) * (math.cos(p * t) + s / p * math.sin(p * t)))
        for t in times
    ]
    np.testing.assert_allclose(
        fallen(vm.Penalty(factor=f, omega=ω, xi=ξ), times, **options), exact, rtol=1e-2
    )


def test_a_pure_penalty_is_the_spring_of_the_formula() -> None:
    """m δ̈ = m g − α ω² δ:  δ = g/(f ω²) (1 − cos ω√f t)."""
    f, ω, times = 1e4, 3.0, [0.004, 0.01, 0.016]
    exact = [FALL / (f * ω**2) * (1 - math.cos(ω * math.sqrt(f) * t)) for t in times]
    pure = vm.Penalty(factor=f, omega=ω, xi=0.0, inertial=False)
    np.testing.assert_allclose(fallen(pure, times, step=2e-5), exact, rtol=1e-2)


# independent coordinates


def test_a_choice_of_coordinates_is_kept_down_to_half_of_the_best_pivot() -> None:
    """One row (x, 1), x being the pivot of the present choice; and a second pivot x beside a first
    of 1.
    """
    present = np.array([0.0, 1.0])
    for x, kept in ((0.51, True), (0.49, False)):
        chosen, singular = select(np.array([[x, 1.0]]), present)
        assert (chosen == present).all() == kept and not singular
    for x, expected in ((1.01e-5, False), (0.99e-5, True)):
        assert select(np.array([[1.0, 0.0, 0.0], [0.0, x, x / 2]]), None)[1] == expected


@both_backends
@pytest.mark.parametrize(("slope", "choices"), [(0.51, 2), (0.49, 3)])
def test_a_swing_makes_the_choices_that_half_of_the_best_pivot_asks_for(
    slope: float, choices: int, backend: str
) -> None:
    """A rod along (cos φ, sin φ) has them as pivots. It swings from tan φ = −slope to the other
    side: chosen at the start and where tan φ = −2; and once more at the end if sin φ falls below
    half of cos φ there.
    """
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=1.0, mass=3.0)
    m.revolute("O")
    m.start(angle={"rod": -math.atan(slope)})
    run = m.simulate(1.0, formulation="independent", tolerance=1e-6, backend=backend)
    assert run.angle("rod").values.min() == pytest.approx(math.atan(slope) - math.pi, abs=1e-3)
    assert run.info["selections"] == choices


def test_a_step_of_ali3p_is_the_one_of_the_formulas() -> None:
    """A mass on a rod, Φ = (q·q − L²)/2L:  motion with Φ = 0, then both projections, by the
    trapezoidal rule (β = ¼, γ = ½).
    """
    L, mass, h, g = 0.7, 1.3, 0.01, np.array([0.0, -9.81])
    q, v = (
        np.array([L * math.cos(0.4), -L * math.sin(0.4)]),
        np.array([math.sin(0.4), math.cos(0.4)]),
    )
    m = vm.Mechanism("mass on a rod", gravity=g)
    m.ground_point("O", (0, 0))
    m.body("b", mass=mass, inertia=0.1)
    m.distance("rod", "ground.O", "b.com", length=L)
    m.start(
        position={"b.com": (q[0], None)},
        angle={"b": 0.0},
        speed={"b.com": (v[0], None)},
        near={"b.com": q},
    )
    run = m.simulate(0.5, step=h)

    def projected(x: np.ndarray, q: np.ndarray, violation: float) -> np.ndarray:
        """y of  M (y − x) + Φ_qᵀ σ = 0,  Φ_q y = Φ_q x − violation."""
        return np.asarray(x - q / L * violation / (q @ q) * L**2)

    a = projected(g, q, (q @ g + v @ v) / L)
    for place, rate, acceleration, force in zip(
        run.position("b.com").values,
        run.velocity("b.com").values,
        run.acceleration("b.com").values,
        run.reaction("rod").values,
        strict=True,
    ):
        for computed, expected in (
            (place, q),
            (rate, v),
            (acceleration, a),
            (force, mass * (a - g)),
        ):
            np.testing.assert_allclose(computed, expected, atol=1e-9)
        start, begin = q + h * v + h**2 / 4 * a, v + h / 2 * a
        λ = mass * (g - a) @ q / (q @ q) * L
        for _ in range(20):  # Newton for λ: q = q̂ + βh² (g − Φ_qᵀ λ/m) is linear in q
            scale = 1 + h**2 / 4 * λ / (mass * L)
            q = (start + h**2 / 4 * g) / scale
            λ -= ((q @ q - L**2) / (2 * L)) / (-(q @ q) / L * h**2 / 4 / (mass * L) / scale)
        star = g - q / L * λ / mass
        v = projected(begin + h / 2 * star, q, q @ (begin + h / 2 * star) / L)
        a = projected(star, q, (q @ star + v @ v) / L)


@pytest.mark.parametrize("seed", range(6))
def test_an_impact_solves_the_complementarity_problem(seed: int) -> None:
    """0 ≤ Λ ⊥ ġ⁺ + ε ġ⁻ ≥ 0  for a row of touching balls, by trying all sets of contacts; surfaces
    that part before the impact have no restitution.
    """
    rng = np.random.default_rng(seed)
    n, ε = 4, 0.6
    mass, v = rng.uniform(0.5, 3.0, n), rng.uniform(-1.0, 1.0, n)
    v[0] += 3.0
    m = vm.Mechanism("row", dimension=2)
    m.ground_point("O", (0, 0))
    for k in range(n):
        m.body(f"b{k}", mass=mass[k], inertia=1.0, points={"C": (0, 0)})
        m.prismatic(f"g{k}", "ground.O", f"b{k}.C", axis=(1, 0))
    radii: dict[str, Any] = {"radius": 0.125, "second_radius": 0.125, "restitution": ε}
    for k in range(n - 1):
        m.contact(f"c{k}", f"b{k}.C", f"b{k + 1}.C", **radii)
    m.start(
        displacement={f"g{k}": 0.25 * k for k in range(n)},
        speed={f"g{k}": v[k] for k in range(n)},
    )
    run = m.simulate(1e-6)
    J = np.diff(np.eye(n), axis=0)
    A, before = J @ np.diag(1 / mass) @ J.T, J @ v
    q = before + ε * np.minimum(before, 0)
    solutions = []
    for chosen in range(2 ** (n - 1)):
        acts = np.array([chosen >> k & 1 for k in range(n - 1)], dtype=bool)
        Λ = np.zeros(n - 1)
        Λ[acts] = np.linalg.solve(A[np.ix_(acts, acts)], -q[acts])
        if (Λ >= 0).all() and (A @ Λ + q >= -1e-12).all():
            solutions.append(v + J.T @ Λ / mass)
    (expected,) = solutions
    after = [run.displacement_rate(f"g{k}").values[-1] for k in range(n)]
    np.testing.assert_allclose(after, expected, atol=1e-10)


@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_sensitivities_jump_at_an_impact_as_the_saltation_formula_says(method: str) -> None:
    """S⁺ = R_x (S⁻ + f⁻ t*') + R_ρ − f⁺ t*'  for an oscillator x = A cos ωt with a stop at c."""
    A, c, ε, k, T = 1.0, -0.4, 0.7, 9.0, 1.1
    ω = math.sqrt(k)
    m = vm.Mechanism("oscillator", dimension=2)
    values = {name: m.parameter(name, value) for name, value in (("A", A), ("c", c), ("e", ε))}
    m.ground_point("O", (0, 0))
    m.body("mass", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(1, 0))
    m.force("spring", "mass.P", lambda s: (-k * s.displacement("guide"), 0))
    m.stop("stop", "displacement('guide')", lower=values["c"], restitution=values["e"])
    m.start(displacement={"guide": values["A"]})
    t = math.acos(c / A) / ω
    v = -A * ω * math.sin(ω * t)
    S = np.array([[math.cos(ω * t), 0, 0], [-ω * math.sin(ω * t), 0, 0]])  # columns A, c, e
    shift = -(S[0] + np.array([0.0, -1.0, 0.0])) / v  # w = x − c
    before, after = np.array([v, -k * c]), np.array([-ε * v, -k * c])
    S = np.diag([1, -ε]) @ (S + np.outer(before, shift)) - np.outer(after, shift)
    S[1] += np.array([0.0, 0.0, -v])
    φ = ω * (T - t)
    flow = np.array([[math.cos(φ), math.sin(φ) / ω], [-ω * math.sin(φ), math.cos(φ)]])
    objectives = {
        "x": vm.final("displacement('guide')"),
        "v": vm.final("displacement_rate('guide')"),
        "t": vm.time_of("stop"),
    }
    result = m.sensitivity(objectives, duration=T, method=method)
    assert len(result.run.events) == 1
    np.testing.assert_allclose(result.final_gradient[:2], flow @ S, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(result.final_gradient[2], shift, rtol=1e-8, atol=1e-10)
