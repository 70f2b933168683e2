"""Accelerations with forces that depend on loads, which are nonlinear functions of the multipliers,
such as friction in joints.

    M a + Φ_qᵀ λ = Q + Σ P_k N_k,     Φ̈ = 0,     N_k = n_k(λ)

The system is linear for given loads: λ = λ₀ + Σ λ_k N_k, where λ₀ is its solution without loads and
λ_k its response to a unit of load k alone. This leaves a small system, N_k = n_k(λ₀ + Σ λ_j N_j),
which Newton's iteration solves from N_k = n_k(λ₀); one more linear system then gives accelerations
and multipliers. All of it is stated as linear stages, so it is differentiated like them.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ..coordinates.dynamics import Dynamics
from ..core.symbols import SX
from ..stages.chain import Stage

PASSES = 6
"""Newton iterations: loads differ from their first guess by a ratio of about μ r / L, or μ, and
convergence is quadratic, so four iterations reach rounding for μ = 0.3.
"""


def with_loads(dynamics: Dynamics, stage: Stage) -> tuple[Stage, ...]:
    """Return the stage of accelerations, preceded by the stages that determine the loads."""
    e, loads = dynamics, dynamics.loads
    if not loads:
        return (stage,)
    symbols = [symbol for symbol, _ in loads]
    unloaded = ca.substitute([stage.balance], symbols, [SX(0)] * len(symbols))[0]
    still = [SX.zeros(e.a.numel()), SX.zeros(e.λ.numel())]
    rest, driven = ca.substitute([unloaded, stage.condition], [e.a, e.λ], still)

    def solved(name: str, balance: SX, condition: SX) -> Stage:
        """Return the same linear system with another right-hand side."""
        a, λ = SX.sym(f"a {name}", e.a.numel()), SX.sym(f"λ {name}", e.λ.numel())
        f, g = ca.substitute([balance, condition], [e.a, e.λ], [a, λ])
        name = f"{stage.name} {name}"
        return replace(stage, name=name, unknown=a, multiplier=λ, balance=f, condition=g)

    free = solved("unloaded", unloaded, stage.condition)
    units = [
        solved(
            f"of load {k}",
            unloaded - rest + ca.jacobian(stage.balance, symbol),
            stage.condition - driven,
        )
        for k, symbol in enumerate(symbols)
    ]
    N = _solved_loads(e, free.multiplier, [unit.multiplier for unit in units])
    pairs = tuple(zip(symbols, ca.vertsplit(N), strict=True))
    return free, *units, replace(stage, dependents=(*stage.dependents, *pairs))


def _solved_loads(e: Dynamics, λ0: SX, responses: list[SX]) -> SX:
    """Solve for the loads N by Newton's iteration."""
    N = SX.sym("N", len(responses))
    λ = λ0 + ca.horzcat(*responses) @ N
    loads = ca.vertcat(*[e.of_multipliers(load, λ) for _, load in e.loads])
    residual = N - loads
    jacobian = ca.jacobian(residual, N)
    value = ca.substitute(loads, N, SX.zeros(N.numel()))
    for _ in range(PASSES):
        r, J = ca.substitute([residual, jacobian], [N], [value])
        value = value - _solve(J, r)
    return value


def _solve(J: SX, r: SX) -> SX:
    """Return J⁻¹ r of a small system whose diagonal is near one."""
    return ca.solve(J, r) if J.shape[0] > 1 else r / J
