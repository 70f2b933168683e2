"""CVODES and IDAS on similar mechanisms: lengths times s, masses times μ, times times τ. Every
result follows from that of s = μ = τ = 1.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import varimech as vm
from varimech.integrators.sundials import Sundials

SOLVERS = ("cvodes", "idas")
PARAMETERS = {"b": (1, 0, 0), "k": (0, 1, -2), "mc": (0, 1, 0), "w": (0, 0, -1)}
"""Powers of s, μ and τ in parameters, and in objectives."""
OBJECTIVES = {
    "position": (vm.final(lambda s: s.position("B")[0]), (1, 0, 0)),
    "distance": (vm.integral(lambda s: vm.dot(s.velocity("q"), s.velocity("q"))), (2, 0, -1)),
    "reaction": (vm.final(lambda s: vm.norm(s.reaction("C"))), (1, 1, -2)),
    "impulse": (vm.integral(lambda s: s.reaction("C")[0]), (1, 1, -1)),
}


def four_bar(s: float, mu: float, tau: float) -> vm.Mechanism:
    m = vm.Mechanism("four-bar", gravity=(0, -9.81 * s / tau**2))
    b, k = m.parameter("b", 0.7 * s), m.parameter("k", 60 * mu / tau**2)
    mc, w = m.parameter("mc", 1.3 * mu), m.parameter("w", 4.0 / tau)
    m.ground_point("O", (0, 0))
    m.ground_point("C", (0.6 * s, 0.1 * s))
    m.ground_point("S", (0.3 * s, 0.9 * s))
    m.bar("crank", "O", "A", length=0.2 * s, mass=0.5 * mu)
    m.bar("coupler", "A", "B", length=b, mass=mc, points={"q": (0.3 * s, 0.1 * s)})
    m.bar("rocker", "B", "C", length=0.5 * s, mass=0.8 * mu)
    for joint in "OABC":
        m.revolute(joint)
    m.spring(
        "spring",
        "ground.S",
        "coupler.q",
        stiffness=k,
        natural_length=0.3 * s,
        damping=0.5 * mu / tau,
    )
    m.start(angle={"crank": 0.7}, speed={"crank": w}, near={"B": (0.7 * s, 0.55 * s)})
    return m


@cache
def reference() -> tuple[np.ndarray, np.ndarray]:
    """Values and gradients at s = μ = τ = 1, by another integrator and formulation."""
    g = four_bar(1, 1, 1).sensitivity(
        {n: o for n, (o, _) in OBJECTIVES.items()}, list(PARAMETERS), duration=2.0, tolerance=1e-11
    )
    return g.values.to_numpy(), g.gradient.to_numpy()


def powers(table: list[tuple[int, int, int]], scales: tuple[float, float, float]) -> np.ndarray:
    return np.exp(np.array(table) @ np.log(scales))


def random_scales() -> list[tuple[float, float, float]]:
    rng = np.random.default_rng(23)
    corners = [(1e-6, 1e-15, 1e-7), (1e6, 1e20, 1e4), (1e-6, 1e20, 1e9), (1e6, 1e-15, 1e-9)]
    return [
        *corners,
        *[
            (10.0**a, 10.0**b, 10.0**c)
            for a, b, c in rng.uniform((-6, -15, -9), (6, 20, 9), (2, 3))
        ],
    ]


@pytest.mark.parametrize("scales", random_scales(), ids=lambda s: "{:.0e}-{:.0e}-{:.0e}".format(*s))
@pytest.mark.parametrize("integrator", SOLVERS)
def test_results_follow_by_similarity(integrator: str, scales: tuple[float, float, float]) -> None:
    """To 100 tolerances for positions and integrals, and 1,000 for derivatives of reactions, at
    every scale.
    """
    objectives, duration = {n: o for n, (o, _) in OBJECTIVES.items()}, 2.0 * scales[2]
    g = four_bar(*scales).sensitivity(
        objectives, list(PARAMETERS), duration=duration, output=duration, integrator=integrator
    )
    factors, per = (
        powers([p for _, p in OBJECTIVES.values()], scales),
        powers(list(PARAMETERS.values()), scales),
    )
    values, gradient = reference()
    allowed = np.array([1e-6, 1e-6, 1e-5, 1e-6])
    assert (np.abs(g.values.to_numpy() / factors / values - 1) < allowed).all()
    assert (
        np.abs(g.gradient.to_numpy() / factors[:, None] * per / gradient - 1) < allowed[:, None]
    ).all()


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("integrator", SOLVERS)
def test_unit_vectors_do_not_set_the_scale_of_lengths(integrator: str, length: float) -> None:
    """A body that slides and turns freely has lengths of any size and a unit vector as coordinates:
    x = x₀ + v t + F t²/2m.
    """
    m = vm.Mechanism("puck", gravity=(0, 0))
    F = m.parameter("F", 3.0 * length)
    m.body("puck", mass=2.0, inertia=1.0, points={"A": (0, 0)}, floating=True)
    m.force("push", "puck.A", (F, 0))
    m.start(
        position={"puck.A": (0, 0)}, angle={"puck": 0.3}, speed={"puck.A": (length, 0), "puck": 1.0}
    )
    x = vm.final(lambda s: s.position("puck.A")[0])
    g = m.sensitivity(x, "F", duration=2.0, integrator=integrator, tolerance=1e-8)
    assert float(g.values[0]) == pytest.approx(length * (2.0 + 3.0 * 4.0 / 4.0), rel=1e-7)
    assert float(g.gradient[0, 0]) == pytest.approx(1.0, rel=1e-7)


@pytest.mark.parametrize("length", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("integrator", SOLVERS)
def test_a_force_that_begins_from_nothing_at_the_origin(integrator: str, length: float) -> None:
    """A mass at rest at the origin under F(t) = F₀ sin²(πt) from t = 0 to 1 s: v = F₀/2m, x =
    F₀/4m.
    """
    m = vm.Mechanism("block", gravity=(0, 0))
    m.body("block", mass=1.0, inertia=1.0, points={"A": (0, 0)}, floating=True)
    m.force("pulse", "block.A", lambda s: (length * vm.sin(np.pi * s.time) ** 2, 0))
    m.start(position={"block.A": (0, 0)}, angle={"block": 0.0})
    run = m.simulate(1.0, integrator=integrator, tolerance=1e-8)
    assert float(run.velocity("block.A")[-1, 0]) == pytest.approx(length / 2, rel=1e-6)
    assert float(run.position("block.A")[-1, 0]) == pytest.approx(length / 4, rel=1e-6)


@pytest.mark.parametrize("integrator", SOLVERS)
def test_a_run_that_takes_too_many_steps_is_refused_with_a_remedy(
    integrator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sundials, "most_steps", 10)
    with pytest.raises(
        vm.SimulationError,
        match=rf"{integrator.upper()} gave up after .* steps .* a larger tolerance=",
    ):
        four_bar(1, 1, 1).simulate(2.0, integrator=integrator, output=2.0)
