"""Initial rates of mechanisms with velocity constraints.

A velocity constraint, Ψ(q, q̇, t) = 0, does not restrict positions, so as many initial conditions
are needed as without it; but it determines one of their rates. Prescribed rates are unchanged. Of
the others, which would be zero, as many are released as there are such constraints:

    Φ̇ = 0,     Ψ = 0,     Ḋ = prescribed, except released rows: slacks at rest,  ẏ = 0.

With the motion N_j of the mechanism for a unit of the rate D_j alone, Ψ changes by B_j = Ψ_q̇ N_j.
The rate that changes Ψ most for its kinetic energy is released, B_j² / (N_jᵀ M N_j), which depends
neither on units nor on coordinates; then likewise for the remaining constraints (Gaussian
elimination with pivots). The choice is made once, at the nominal initial state, so derivatives of
the initial state are exact.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ..core.errors import ModelError, VarimechError
from ..core.symbols import SX
from .assembly import Assembly
from .dynamics import Element
from .equations import Equations
from .linear import RANK, rank_of

PREFERRED = 1e-6
"""Share by which a later rate must change Ψ more to be released before an earlier one: rounding
must not decide between rates of equal strength.
"""


def with_released_rates(equations: Equations) -> Equations:
    """Release initial rates, as many as there are velocity constraints.

    Raises:
        ModelError: if these constraints are redundant, or too many rates are prescribed.
    """
    e, ρ = equations, equations.model.parameter_set.nominal
    try:
        q = Assembly(e).assemble(ρ, explain=False)
    except VarimechError:
        return e  # a run explains the failure
    strengths = _strengths(e, q, ρ)
    if strengths is None:
        return e  # too few or too many initial conditions, which a run explains
    released = _released(e, *strengths)
    slacks = [e.v[k] for k in slack_places(e)]
    elements, row, pairs = [], 0, dict(zip(released, slacks, strict=True))
    for element in e.elements:
        if element.initial is not None:
            element, row = _with_slacks(element, row, pairs)
        elements.append(element)
    return replace(e, elements=tuple(elements))


def _with_slacks(element: Element, row: int, pairs: dict[int, SX]) -> tuple[Element, int]:
    """Replace released rates of an initial condition, whose first row is `row`, by rates of slacks;
    return it, and the row after it.
    """
    assert element.initial is not None
    at, rate = element.initial
    rows = [pairs.get(row + k, x) for k, x in enumerate(ca.vertsplit(rate))]
    return replace(element, initial=(at, ca.vertcat(*rows))), row + len(rows)


def slack_places(e: Equations) -> list[int]:
    """Return indices in q of the slacks of velocity constraints, in the order of their rows."""
    y = [b.residuals for b in e.blocks if b.is_nonholonomic]
    return [int(k) for k in ca.jacobian(ca.vertcat(*y), e.q).sparsity().get_col()]


def _strengths(e: Equations, q: np.ndarray, ρ: np.ndarray) -> tuple[np.ndarray, list[str]] | None:
    """Return B, (constraint, initial condition), each column for a unit of √(kinetic energy), and
    names of the constraints; None where positions are not determined.
    """
    held = [k for k, b in enumerate(e.blocks) for _ in range(b.residuals.numel())]
    of_velocities = np.array([e.blocks[k].is_nonholonomic for k in held])
    rates = ca.jacobian(e.start_velocities, e.v)
    f = ca.Function("rates", [e.q, e.ρ, e.t], [ca.densify(rates), ca.densify(e.mass)])
    J, M = (np.array(x) for x in f(q, ρ, 0.0))
    m, moving = len(held), np.setdiff1d(np.arange(q.size), slack_places(e))
    Ψ = J[:m][of_velocities][:, moving]
    others = np.vstack([J[:m][~of_velocities], J[m:]])[:, moving]
    holonomic = m - Ψ.shape[0]
    if rank_of(ca.DM(others)) < moving.size:
        return None
    N = np.linalg.lstsq(others, np.eye(len(others)), rcond=RANK)[0][:, holonomic:]
    energy = np.einsum("ij,ik,kj->j", N, M[np.ix_(moving, moving)], N)
    sizes = np.sqrt(np.where(energy > 0, energy, 1.0))
    owners = [e.blocks[k].joints[0] for k, free in zip(held, of_velocities, strict=True) if free]
    names = [getattr(e.model.forces[name], "label", name) for name in owners]
    return (Ψ @ N) / sizes, names


def _released(e: Equations, B: np.ndarray, names: list[str]) -> list[int]:
    """Return rows of initial conditions whose rates are released, one for each constraint."""
    labels, prescribed = [], []
    for c in e.initial_conditions:
        count = c.rate_deviation(e.frames).numel()
        labels += [c.label] * count
        prescribed += [c.rate_given] * count
    sizes = np.linalg.norm(B, axis=1)
    left, scale = B.copy(), np.where(sizes > 0, sizes, 1.0)
    may_go, released = ~np.array(prescribed, dtype=bool), []
    for k, name in enumerate(names):
        if np.abs(left[k]).max(initial=0.0) <= RANK * scale[k]:
            raise ModelError(
                "is redundant: joints and other constraints impose it already at the start",
                element=name,
                remedy="leave it out",
            )
        strong = np.abs(left[k]) * may_go
        if strong.max(initial=0.0) <= RANK * scale[k]:
            involved = [
                labels[j]
                for j in np.flatnonzero(np.abs(left[k]) > RANK * scale[k])
                if prescribed[j]
            ]
            raise ModelError(
                "determines a speed at the start, but all that it concerns are given:"
                f" {', '.join(dict.fromkeys(involved))}",
                element=name,
                remedy="leave one of these speeds out (None for a component of a vector)",
            )
        j = int(np.argmax(strong >= (1 - PREFERRED) * strong.max()))
        released.append(j)
        may_go[j] = False
        left -= np.outer(left[:, j] / left[k, j], left[k])
    return released
