"""Motions about which a mechanism is linearised, with their derivatives with respect to parameters.

    equilibrium   ẏ = 0, ÿ = 0: the stable one downhill of the initial position (`statics`)
    steady        ÿ(y) = 0 with the rates ẏ and the time of the initial state; drivers keep moving.
                  Its linear equations must not change in time
    start, run    an instant of a motion, unchanged

Derivatives of the first two follow from 0 = ÿ: with A₂₁ = ∂ÿ/∂y, A₂₂ = ∂ÿ/∂ẏ, A₂₁ y' = −(A₂₂ ẏ' +
∂ÿ/∂ρ). Derivatives of the others are those of the initial state, or of the run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.errors import ModelError, VarimechError
from ..core.messages import Message
from .linearization import Linearization, Matrices, Place
from .regular_systems import RANK, solver_of

ITERATIONS = 50
"""Iterations of Newton's method to a steady motion, which takes about five from nearby."""
CONVERGED = 1e-12
"""Correction of the states, over their size, at which the iteration ends."""
STEADY = 1e-7
"""Rate of the linear equations, over their own size and speed, that counts as rounding: they are
accurate to about 1e-10 of their largest entry.
"""
SHORTEST = 1e-3
"""Share of a Newton step below which it is not shortened further."""
UNMET = 1e-7
"""Share of ∂ÿ/∂ρ that may stay unbalanced: a motion without a derivative leaves a share of about
one.
"""


@dataclass(frozen=True)
class Point:
    """A motion about which to linearise, and its dependence on parameters."""

    place: Place
    kind: str
    """Kind of the motion: "equilibrium", "steady", "start" or "run"."""
    moved: tuple[np.ndarray, np.ndarray] | None = None
    """∂q/∂ρ and ∂q̇/∂ρ of an instant; (coordinate, parameter)."""
    rates: np.ndarray | None = None
    """∂ẏ/∂ρ of a steady motion; zero at rest."""


def completed(
    linear: Linearization, q: np.ndarray, v: np.ndarray, ρ: np.ndarray, t: float
) -> Place:
    """Complete positions and velocities by accelerations and multipliers."""
    e, n = linear.equations, q.size
    x = np.concatenate([q, v, np.zeros(e.a.numel() + e.λ.numel())])
    x[2 * n :] = linear.accelerations(Place(x, ρ, t))
    return Place(x, ρ, t)


def steady(linear: Linearization, place: Place) -> Place:
    """Find the steady motion near an instant, at the same time and with the same rates.

    Raises:
        VarimechError: if none is found.
        ModelError: if bodies rotate in space without an angle of a joint.
    """
    e, n = linear.equations, linear.equations.q.numel()
    name, k = e.model.name, linear.position_count
    if linear.states.has_rotations and np.abs(place.x[n : 2 * n]).max(initial=0.0) > 0:
        if np.abs(linear.rates(place)[k:]).max(initial=0.0) <= CONVERGED * linear.speed(place) ** 2:
            return place
        raise ModelError(
            f"mechanism {name!r} has bodies that rotate in space without an angle of a joint, for"
            " which no steady motion is searched",
            element="linearize",
            remedy='give a start in steady motion, and at="start"',
        )
    target = linear.velocities(place)
    now = linear.rates(place)[k:]
    for _ in range(ITERATIONS):
        matrices = linear.at(place)
        A = matrices.S[k : k + linear.velocity_count, :k]
        step = -_balanced(A, now[:, None], linear.speed(place))[:, 0]
        moves = matrices.seeds[:n, :k] @ step
        size = 1.0 + float(np.abs(place.x[:n]).max(initial=0.0))
        if np.abs(moves).max(initial=0.0) <= CONVERGED * size:
            break
        share = 1.0
        while True:
            q = _closed(linear, place, place.x[:n] + share * moves)
            tried = _with_rates(linear, q, place, target)
            then = linear.rates(tried)[k:]
            if np.linalg.norm(then) <= (1 - share / 2) * np.linalg.norm(now) or share < SHORTEST:
                break
            share /= 2
        place, now = tried, then
    left, scale = float(np.abs(now).max(initial=0.0)), linear.speed(place) ** 2
    if not left <= 1e-8 * (scale + 1.0):
        raise VarimechError(
            f"{name!r}: no steady motion near the start; an acceleration of {left:.3g} is left"
        )
    return place


def check_steady(linear: Linearization, place: Place, matrices: Matrices) -> None:
    """Refuse a motion whose linear equations change in time.

    Raises:
        ModelError: for such a motion.
    """
    if not is_steady(linear, place, matrices):
        raise ModelError(
            f"mechanism {linear.equations.model.name!r} has no steady motion with the speeds of its"
            " start: its linear equations change in time",
            element="linearize",
            remedy=Message(
                "leave speeds of what swings out of the start, or linearise an instant:"
                ' at="start", or at=run with time=…'
            ),
        )


def is_steady(linear: Linearization, place: Place, matrices: Matrices) -> bool:
    """Whether the linear equations are constant along the motion."""
    n, count = linear.equations.q.numel(), linear.state_count
    π = np.zeros((place.ρ.size + 1, 1))
    π[-1] = 1.0
    change = linear.completed(matrices, place.x[n : 2 * n, None], place.x[2 * n : 3 * n, None], π)
    A, A_ = matrices.S[:count, :count], linear.along(place, matrices, change)[:count, :count, 0]
    if not A.size:
        return True
    speed = max(float(np.abs(np.linalg.eigvals(A)).max()), linear.speed(place))
    return bool(np.abs(A_).max() <= STEADY * np.abs(A).max() * speed)


def changes(
    linear: Linearization, point: Point, matrices: Matrices, indices: list[int]
) -> np.ndarray:
    """Compute derivatives of x and π with respect to parameters, one per column; the last columns
    of `matrices` belong to these parameters.

    Raises:
        ModelError: if the motion has no derivatives.
    """
    n, count = linear.equations.q.numel(), len(indices)
    π = np.zeros((point.place.ρ.size + 1, count))
    π[indices, range(count)] = 1.0
    if point.moved is not None:
        return linear.completed(matrices, *point.moved, π)
    k, s = linear.position_count, linear.state_count
    S = matrices.S[:s]
    direct = matrices.seeds[: 2 * n, S.shape[1] - count :]
    rates = np.zeros((s - k, count)) if point.rates is None else point.rates
    push = S[k:, k:s] @ rates + S[k:, S.shape[1] - count :]
    free = list(range(k))
    if point.kind == "equilibrium":  # states of first order are in balance, too
        free += range(s - len(linear.states.first_order), s)
    A = S[k:, free]
    y = -_balanced(A, push, linear.speed(point.place))
    # sizes of the terms of the sum, so that rounding of terms that cancel does not count
    size = np.abs(S[k:, k:s]).max(initial=0.0) * np.abs(rates).max(axis=0, initial=0.0)
    size = size + np.abs(S[k:, S.shape[1] - count :]).max(axis=0, initial=0.0)
    _check_met(linear, A @ y + push, size, indices)
    changed = np.vstack([np.zeros((k, count)), rates])
    changed[free] += y
    moved = matrices.seeds[: 2 * n, :s] @ changed + direct
    return linear.completed(matrices, moved[:n], moved[n:], π)


def _balanced(A: np.ndarray, b: np.ndarray, speed: float) -> np.ndarray:
    """Return the shortest solution of A y ≈ b, for ∂ÿ/∂y of a motion with a speed (1/s).

    Stiffnesses are differences of inertia forces: below a share of these they are rounding, and
    cyclic positions do not change.
    """
    if not A.size:
        return np.zeros((A.shape[1], b.shape[1]))
    U, σ, Vt = np.linalg.svd(A, full_matrices=False)
    kept = σ > RANK * max(float(σ[0]), speed**2)
    return np.asarray(Vt[kept].T @ ((U[:, kept].T @ b) / σ[kept, None]))


def _check_met(
    linear: Linearization, left: np.ndarray, size: np.ndarray, indices: list[int]
) -> None:
    for row, k in np.argwhere(np.abs(left) > UNMET * (size + 1e-9)):
        model = linear.equations.model
        name = list(model.parameter_set.parameters)[indices[k]]
        state = linear.states.names[: linear.position_count][row : row + 1]
        raise ModelError(
            f"the equilibrium or steady motion of mechanism {model.name!r} has no derivative with"
            f" respect to {name!r}: nothing restrains {', '.join(map(repr, state)) or 'it'} there",
            element="linearize",
            field="wrt",
            value=name,
            remedy='leave it out, or use at="start"',
        )


def _closed(linear: Linearization, place: Place, q: np.ndarray) -> np.ndarray:
    """Find positions that satisfy the constraints, near the given ones."""
    for _ in range(ITERATIONS):
        Φ, Φ_q = linear.closure(q, place)
        step = solver_of(Φ_q)(-Φ[:, None])[:, 0] if Φ.size else np.zeros(q.size)
        q = q + step
        if np.abs(step).max(initial=0.0) <= 1e-14 * (1.0 + np.abs(q).max(initial=0.0)):
            break
    return q


def _with_rates(linear: Linearization, q: np.ndarray, place: Place, target: np.ndarray) -> Place:
    """Return the state at given positions with the rates ẏ = `target`."""
    n = q.size
    x = np.concatenate([q, np.zeros(place.x.size - n)])
    still = Place(x, place.ρ, place.t)
    v = linear.velocities_for(still, target)
    return completed(linear, q, v, place.ρ, place.t)
