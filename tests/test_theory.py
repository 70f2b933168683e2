"""Formulas of docs/theory.md that no other test states as they stand there."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

import varimech as vm

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
    m.beam("b", "A", "B", segments=3, E=E, area=A, inertia=I, mass=MASS, length=LENGTH, material=material, floating=True)


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
    """k/2 |d × a|²,  k = 2 E I (1 + 2/n²)/ℓ³;  the moment k (d × a)(d · a), against the turn of a."""
    d, n, ℓ = np.array([math.cos(0.6), math.sin(0.6)]), 3, LENGTH / 3
    m = vm.Mechanism("clamped", dimension=2)
    m.ground_point("O", (0, 0))
    beam(m)
    m.clamp("O", "ground.O", "b.A", direction=d)
    m.start(position={node: tuple(r) for node, r in zip(NODES[1:], PLACES[1:], strict=True)})
    run = m.simulate(1e-4, step=1e-4)
    a, k = PLACES[1] - PLACES[0], 2 * E * I * (1 + 2 / n**2) / ℓ**3
    assert run.energy("potential").values[0] == pytest.approx(stored("logarithmic") + k / 2 * wedge(d, a) ** 2, rel=1e-12)
    assert run.reaction_torque("O").values[0] == pytest.approx(-k * wedge(d, a) * (d @ a), rel=1e-9)


def test_redundant_reactions_are_of_least_norm() -> None:
    """Two hinges on one vertical axis: nothing tells how they share the weight, so each carries half of it."""
    m = vm.Mechanism("door", gravity=(0, 0, -9.81))
    m.body("door", mass=2.0, inertia=(0.1, 0.2, 0.25), com=(0.5, 0, 0.4), points={"A": (0, 0, 0), "B": (0, 0, 1)})
    for k, name in enumerate("AB"):
        m.ground_point(name, (0, 0, k))
        m.revolute(name, f"ground.{name}", f"door.{name}", axis=(0, 0, 1))
    m.start(angle={"A": 0.5})
    run = m.simulate(0.01, step=0.01)
    for name in "AB":
        assert run.reaction(name).values[-1, 2] == pytest.approx(9.81, rel=1e-6)


def test_a_step_of_ali3p_is_the_one_of_the_formulas() -> None:
    """A mass on a rod, Φ = (q·q − L²)/2L:  motion with Φ = 0, then both projections, by the trapezoidal rule (β = ¼, γ = ½)."""
    L, mass, h, g = 0.7, 1.3, 0.01, np.array([0.0, -9.81])
    q, v = np.array([L * math.cos(0.4), -L * math.sin(0.4)]), np.array([math.sin(0.4), math.cos(0.4)])
    m = vm.Mechanism("mass on a rod", gravity=g)
    m.ground_point("O", (0, 0))
    m.body("b", mass=mass, inertia=0.1)
    m.distance("rod", "ground.O", "b.com", length=L)
    m.start(position={"b.com": (q[0], None)}, angle={"b": 0.0}, speed={"b.com": (v[0], None)}, near={"b.com": q})
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
        for found, expected in ((place, q), (rate, v), (acceleration, a), (force, mass * (a - g))):
            np.testing.assert_allclose(found, expected, atol=1e-9)
        start, begin = q + h * v + h**2 / 4 * a, v + h / 2 * a
        λ = mass * (g - a) @ q / (q @ q) * L
        for _ in range(20):  # Newton for λ: q = q̂ + βh² (g − Φ_qᵀ λ/m) is linear in q
            scale = 1 + h**2 / 4 * λ / (mass * L)
            q = (start + h**2 / 4 * g) / scale
            λ -= ((q @ q - L**2) / (2 * L)) / (-(q @ q) / L * h**2 / 4 / (mass * L) / scale)
        star = g - q / L * λ / mass
        v = projected(begin + h / 2 * star, q, q @ (begin + h / 2 * star) / L)
        a = projected(star, q, (q @ star + v @ v) / L)
