"""Relative coordinates on random trees: what must hold for any of them, and what natural
coordinates say of the same motion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from random_trees import GROUND, Limb, Tree, euler_rows, mechanism, random_state, tangents, trees

from varimech.backends.bound import evaluated
from varimech.benchmarks import chain
from varimech.coordinates.assembly import Assembly
from varimech.coordinates.equations import Equations
from varimech.coordinates.natural import natural_equations
from varimech.coordinates.relative.choice import CENTRE_OF_MASS, ORIGIN
from varimech.coordinates.relative.equations import relative_equations
from varimech.coordinates.relative.recursion_passes import RecursionPasses
from varimech.solving.programs import STARTED

Array = np.ndarray
SX = ca.SX
TIME = 0.3
ROUNDING = 1e-12
"""Largest difference of what is evaluated, relative to the largest entry."""
SOLVED = 1e-10
"""The same of what is solved for. Measured: 2e-12 in natural coordinates, 4e-14 by sweeps."""

both_references = pytest.mark.parametrize(
    "reference", [CENTRE_OF_MASS, ORIGIN], ids=["rtdyn0", "rtdyn1"]
)


def examples(count: int) -> Callable[[Any], Any]:
    """The same ones in every run."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=count, deadline=None, suppress_health_check=slow)


def apart(x: Array, y: Array, size: float = 0.0) -> float:
    """Largest difference relative to the largest entry, or to the `size` of what they
    are sums of.
    """
    size = max(size, largest(x), largest(y))
    return largest(x.ravel() - y.ravel()) / size if size else 0.0


def numbers(
    e: Equations, expressions: list[SX], q: Array, v: Array, a: Array | None = None
) -> list[Array]:
    """Values of some expressions of q, q̇ and q̈ (zero if not given), as matrices."""
    f = ca.Function("f", [e.q, e.v, e.a, e.ρ, e.t], [ca.densify(x) for x in expressions])
    values = (q, v, np.zeros(q.size) if a is None else a, e.model.parameter_set.nominal, TIME)
    return [np.array(x) for x in f.call([ca.DM(x) for x in values])]


def largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))


# mass and resistance


@both_references
@examples(15)
@given(tree=trees())
def test_masses_are_symmetric_positive_and_give_the_energy_of_the_bodies(
    tree: Tree, reference: str
) -> None:
    e = relative_equations(mechanism(tree).data, reference)
    q, v = random_state(e, tree.seed)
    M, energy = numbers(e, [e.mass, e.model.kinetic_energy(e.frames)], q, v)
    np.testing.assert_array_equal(M, M.T)
    assert q.size == 0 or np.linalg.eigvalsh(M).min() > 0
    assert v @ M @ v / 2 == pytest.approx(energy.item(), rel=ROUNDING)


@examples(15)
@given(tree=trees())
def test_poses_have_the_coordinates_that_give_these_poses(tree: Tree) -> None:
    e = relative_equations(mechanism(tree).data, ORIGIN)
    q, v = random_state(e, tree.seed)
    bodies, n = list(e.model.moving_bodies), e.model.dimension
    frames = [x for body in bodies for x in (e.frames[body].origin, e.frames[body].rotation)]
    first = numbers(e, frames, q, v)
    poses = {body: (first[2 * k].ravel(), first[2 * k + 1]) for k, body in enumerate(bodies)}
    again = numbers(e, frames, e.from_poses({e.model.ground: (np.zeros(n), np.eye(n))} | poses), v)
    for x, y in zip(first, again, strict=True):
        assert apart(x, y, 1.0) < ROUNDING


@examples(15)
@given(tree=trees())
def test_the_recursion_is_lagrange_for_either_reference_point(tree: Tree) -> None:
    """But for forces along Euler parameters, which change nothing: Lagrange's depend on how
    energies go on off the unit sphere.
    """
    m = mechanism(tree)
    about_com, about_origin = (
        relative_equations(m.data, reference) for reference in (CENTRE_OF_MASS, ORIGIN)
    )
    lagrange = replace(about_origin, inertia=None)
    q, v = random_state(about_origin, tree.seed)
    a, T = np.random.default_rng(tree.seed).standard_normal(q.size), tangents(about_origin, q)
    (M0, h0), (M1, h1), (M, h) = (
        numbers(e, [e.mass, e.resistance], q, v, a) for e in (about_com, about_origin, lagrange)
    )
    assert apart(M0, M1) < ROUNDING
    assert apart(M, M1) < ROUNDING
    assert apart(h0, h1, largest(M)) < ROUNDING
    assert apart(T.T @ h, T.T @ h1, largest(M)) < ROUNDING


@both_references
@examples(15)
@given(tree=trees())
def test_forces_of_inertia_belong_to_the_mass(tree: Tree, reference: str) -> None:
    """At q̈ = 0 they are  h = C v  with  C = ½ ∂h/∂v,  and those of M if and only if  Ṁ − 2C  is
    skew: the Christoffel symbols are the only symmetric ones for which it is.
    """
    e = relative_equations(mechanism(tree).data, reference)
    q, v = random_state(e, tree.seed)
    T, Ṁ = tangents(e, q), ca.reshape(ca.jtimes(ca.vec(ca.densify(e.mass)), e.q, e.v), e.mass.shape)
    M, rate, h, slope = numbers(e, [e.mass, Ṁ, e.resistance, ca.jacobian(e.resistance, e.v)], q, v)
    assert apart(slope @ v / 2, h, largest(M)) < ROUNDING
    skew = T.T @ (rate - slope) @ T
    assert apart(skew, -skew.T, max(largest(M), largest(slope))) < ROUNDING


# accelerations


def accelerations(e: Equations, q: Array, v: Array) -> tuple[Array, Array]:
    """q̈ and λ; forces that they leave out of balance are none."""
    n, m = q.size, e.λ.numel()
    unmoved = [e.mass, e.constraint_jacobian, e.forces - e.resistance, -e.constraint_acceleration]
    M, J, Q, γ = numbers(e, unmoved, q, v)
    K = np.block([[M, J.T], [J, np.zeros((m, m))]])
    x = np.linalg.lstsq(K, np.vstack([Q, γ]), rcond=1e-12)[
        0
    ].ravel()  # natural coordinates may have redundant constraints
    a, λ = x[:n], x[n:]
    (back,) = numbers(e, [e.resistance - e.forces], q, v, a)
    assert apart(back, -J.T @ λ, largest(Q)) < SOLVED
    return a, λ


@both_references
@examples(10)
@given(tree=trees())
def test_sweeps_find_what_a_solution_with_the_mass_finds(tree: Tree, reference: str) -> None:
    e = relative_equations(mechanism(tree).data, reference)
    q, v = random_state(e, tree.seed)
    assume(q.size > 0)
    n, m, ρ = q.size, e.λ.numel(), e.model.parameter_set.nominal
    computed, residuals = evaluated(
        RecursionPasses(e).rates(None), np.concatenate([q, v]), np.ones(m), ρ, np.array([TIME])
    )
    np.testing.assert_array_equal(computed[: 2 * n], [*q, *v])
    assert apart(computed[2 * n : 3 * n], accelerations(e, q, v)[0], 1.0) < SOLVED
    assert largest(residuals) < SOLVED


def slopes_along(e: Equations, q: Array, v: Array, width: int) -> tuple[Array, Array]:
    """Derivatives of q and q̇, any that keep Euler parameters at unit length."""
    rng = np.random.default_rng(7)
    q_, v_ = (rng.standard_normal((q.size, width)) for _ in range(2))
    for rows in euler_rows(e):
        p, ṗ = q[rows], v[rows]
        q_[rows] -= np.outer(p, p @ q_[rows])
        v_[rows] -= np.outer(p, p @ v_[rows] + ṗ @ q_[rows])
    return q_, v_


@both_references
@examples(4)
@given(tree=trees(6))
def test_derivatives_of_sweeps(tree: Tree, reference: str) -> None:
    """Against those of the equations of motion, solved for q̈'."""
    e = relative_equations(mechanism(tree).data, reference)
    q, v = random_state(e, tree.seed)
    assume(q.size > 0)
    n, m, ρ = q.size, e.λ.numel(), e.model.parameter_set.nominal
    state, sensitivities = np.concatenate([q, v]), np.vstack(slopes_along(e, q, v, ρ.size))
    plan = RecursionPasses(e).rates(np.eye(ρ.size))
    derivatives = evaluated(plan, state, sensitivities, np.ones(m), ρ, np.array([TIME]))[2].reshape(
        -1, ρ.size
    )
    a, λ = accelerations(e, q, v)
    equations = ca.vertcat(ca.substitute(e.balance, e.λ, ca.DM(λ)), e.constraint_acceleration)
    M, J, partials = numbers(
        e,
        [e.mass, e.constraint_jacobian, ca.jacobian(equations, ca.vertcat(e.q, e.v, e.ρ))],
        q,
        v,
        a,
    )
    K = np.block([[M, J.T], [J, np.zeros((m, m))]])
    expected = np.linalg.solve(K, -partials @ np.vstack([sensitivities, np.eye(ρ.size)]))[:n]
    np.testing.assert_array_equal(derivatives[: 2 * n], sensitivities)
    assert apart(derivatives[2 * n : 3 * n], expected, 1.0) < SOLVED


# natural coordinates


def motion(e: Equations) -> tuple[SX, SX]:
    """Origins and rotations of all bodies, and how they change."""
    frames = [e.frames[body] for body in e.model.moving_bodies]
    rates = [x for f in frames for x in (f.origin_rate, ca.vec(f.rotation_rate))]
    return ca.vertcat(*[x for f in frames for x in (f.origin, ca.vec(f.rotation))]), ca.vertcat(
        *rates
    )


def natural_state(e: Equations, places: Array, rates: Array) -> tuple[Array, Array]:
    """q and q̇ that have bodies at these places move like this."""
    bodies, n = e.model.moving_bodies, e.model.dimension
    blocks = places.reshape(len(bodies), -1)
    poses = {body: (x[:n], x[n:].reshape(n, n).T) for body, x in zip(bodies, blocks, strict=True)}
    poses[e.model.ground] = (np.zeros(n), np.eye(n))
    q = e.from_poses(poses)
    pose, rate = motion(e)
    moves, tied = (
        ca.jacobian(rate, e.v),
        ca.jacobian(e.constraints, e.q),
    )  # which holds counted angles
    computed, J, Φ_q = numbers(e, [pose, moves, tied], q, np.zeros(q.size))
    aims = np.concatenate([rates.ravel(), np.zeros(len(Φ_q))])
    v, _, rank, _ = np.linalg.lstsq(np.vstack([J, Φ_q]), aims)
    assert rank == q.size
    assert apart(computed, places, 1.0) < ROUNDING
    assert apart(J @ v, rates, 1.0) < ROUNDING
    return q, v


@both_references
@examples(12)
@given(tree=trees())
def test_bodies_accelerate_as_in_natural_coordinates(tree: Tree, reference: str) -> None:
    m = mechanism(tree)
    e, natural = relative_equations(m.data, reference), natural_equations(m.data)
    q, v = random_state(e, tree.seed)
    states = [(e, q, v), (natural, *natural_state(natural, *numbers(e, list(motion(e)), q, v)))]
    energies = [
        np.array(numbers(x, [x.state.kinetic_energy, x.state.potential_energy], y, u))
        for x, y, u in states
    ]
    assert apart(energies[0], energies[1], 1.0) < ROUNDING
    results = [
        numbers(x, [x.differentiate(motion(x)[1])], y, u, accelerations(x, y, u)[0])[0]
        for x, y, u in states
    ]
    assert apart(results[0], results[1], 1.0) < SOLVED


@both_references
@examples(8)
@given(tree=trees(5))
def test_joints_react_as_in_natural_coordinates(tree: Tree, reference: str) -> None:
    m = mechanism(tree)
    e, natural = relative_equations(m.data, reference), natural_equations(m.data)
    q, v = random_state(e, tree.seed)
    results = []
    for x, y, u in (
        (e, q, v),
        (natural, *natural_state(natural, *numbers(e, list(motion(e)), q, v))),
    ):
        wrenches = [f(j) for j in m.joints for f in (x.state.reaction, x.state.reaction_torque)]
        results.append(
            np.vstack([np.zeros((0, 1)), *numbers(x, wrenches, y, u, accelerations(x, y, u)[0])])
        )
    assert apart(results[0], results[1], 1.0) < SOLVED


# what random trees leave out


@both_references
def test_a_tree_with_one_coordinate_may_have_bodies_without(reference: str) -> None:
    tree = Tree(2, (Limb("revolute", GROUND, True), Limb("fixed", 0, True)), (), 0)
    e = relative_equations(mechanism(tree).data, reference)
    assert e.q.numel() == 1


def test_natural_coordinates_keep_all_equations_of_a_joint() -> None:
    """A block on a rail, on which so many others hang that its basis is made of their points."""
    tree = Tree(3, (Limb("prismatic", GROUND, False), *[Limb("revolute", 0, False)] * 4), (), 0)
    assert mechanism(tree).dofs == 5


@pytest.mark.parametrize("coordinates", ["rtdyn0", "rtdyn1"])
def test_long_trees_never_state_their_whole_mass_matrix(
    coordinates: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has as many entries as pairs of bodies: of a thousand, it took minutes."""

    def asked(*_: object) -> bool:
        raise AssertionError("the mass matrix was asked for")

    monkeypatch.setattr(Assembly, "_all_have_mass", asked)
    run = chain.mechanism(STARTED + 1).simulate(
        2e-4, step=1e-4, integrator="rk4", coordinates=coordinates
    )
    assert np.isfinite(run.energy()).all()
