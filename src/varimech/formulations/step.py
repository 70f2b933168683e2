"""A time step as a chain of stages, and the functions that carry it out.

Each stage has unknowns x with multipliers y and solves

    f(x, y; …) = 0,     g(x; …) = 0,     where  ∂f/∂y = (∂g/∂x)ᵀ,

given the last state, the parameters, the time and what earlier stages found. Its linearisation is the saddle-point system

    ⎡ H  Jᵀ ⎤ ⎡ Δx ⎤     ⎡ f ⎤
    ⎣ J  0  ⎦ ⎣ Δy ⎦ = − ⎣ g ⎦,     H = ∂f/∂x,  J = ∂g/∂x,

solved by augmented Lagrangian iterations (`solve_saddle`), which redundant constraints do not disturb.
From the same statement come the step, its derivative with respect to parameters, and its adjoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from ..elimination import Factorisation
from ..symbols import SX

PASSES = 2
"""Augmented Lagrangian passes in a linear solve: each reduces the error by the penalty factor (1e-7)."""
NEWTON_TOLERANCE = 1e-9
"""Relative correction at which Newton's iteration has converged (the error left is far smaller: convergence is quadratic)."""


@dataclass(frozen=True)
class Stage:
    """One stage; see the module. `noise` is the size of correction that rounding alone can cause."""

    name: str
    unknown: SX
    multiplier: SX
    balance: SX
    condition: SX
    guess: SX
    multiplier_guess: SX
    symmetric: bool
    noise: SX | None = None
    """Given for a nonlinear stage, which is iterated; a linear one is solved at once."""

    @cached_property
    def tangent(self) -> SX:
        """H."""
        return ca.jacobian(self.balance, self.unknown)

    @cached_property
    def condition_jacobian(self) -> SX:
        """J."""
        return ca.jacobian(self.condition, self.unknown)


@dataclass(frozen=True)
class Step:
    """One time step: symbols it depends on, its stages, and the state it ends with.

    The first stage is nonlinear and iterated; all others are linear. `residuals` are the largest constraint violations of the new
    state at position, velocity and acceleration level.
    """

    state: SX
    parameters: SX
    time: SX
    """At the end of the step."""
    size: SX
    """h."""
    penalty: SX
    """One factor for each constraint, of the size of a mass."""
    stages: tuple[Stage, ...]
    next_state: SX
    residuals: SX

    @property
    def _settings(self) -> list[SX]:
        return [self.size, self.penalty, self.parameters, self.time]

    @cached_property
    def work(self) -> SX:
        """Unknowns and multipliers of all stages."""
        return ca.vertcat(*[s for stage in self.stages for s in (stage.unknown, stage.multiplier)])

    @cached_property
    def predict(self) -> ca.Function:
        """(state, h, α, ρ, t) → x, y: a first guess for the iterated stage."""
        first = self.stages[0]
        return ca.Function("predict", [self.state, *self._settings], [first.guess, first.multiplier_guess])

    @cached_property
    def iterate(self) -> ca.Function:
        """(state, x, y, h, α, ρ, t) → x, y, r: one Newton correction; converged where r ≤ 1."""
        s = self.stages[0]
        assert s.noise is not None
        Δx, Δy = solve_saddle(s, self.penalty, -s.balance, -s.condition, passes=1)
        x = s.unknown + Δx
        allowed = NEWTON_TOLERANCE * ca.norm_inf(x) + s.noise
        return ca.Function(
            "iterate",
            [self.state, s.unknown, s.multiplier, *self._settings],
            [x, s.multiplier + Δy, ca.norm_inf(Δx) / allowed],
        )

    @cached_property
    def finish(self) -> ca.Function:
        """(state, x, y, h, α, ρ, t) → next state, work, residuals: the linear stages."""
        first = self.stages[0]
        inputs = [self.state, first.unknown, first.multiplier, *self._settings]
        symbols: list[SX] = [first.unknown, first.multiplier]
        values: list[SX] = [first.unknown, first.multiplier]
        for stage in self.stages[1:]:
            x, y = _solve_linear(stage, self.penalty)
            x, y = ca.substitute([x, y], symbols, values)
            symbols += [stage.unknown, stage.multiplier]
            values += [x, y]
        outputs = ca.substitute([self.next_state, self.work, self.residuals], symbols, values)
        return ca.Function("finish", inputs, outputs)


def _solve_linear(stage: Stage, penalty: SX) -> tuple[SX, SX]:
    """Unknowns of a linear stage, as corrections of its guess."""
    symbols, guess = [stage.unknown, stage.multiplier], [stage.guess, stage.multiplier_guess]
    f, g = ca.substitute([stage.balance, stage.condition], symbols, guess)
    Δx, Δy = solve_saddle(stage, penalty, -f, -g)
    return stage.guess + Δx, stage.multiplier_guess + Δy


def solve_saddle(stage: Stage, penalty: SX, f: SX, g: SX, y: SX | None = None, *, passes: int = PASSES) -> tuple[SX, SX]:
    """Solve  H x + Jᵀ y = f,  J x = g  for any number of columns, from a first y (zero if not given).

    Each pass solves  (H + Jᵀ α J) δx = r + Jᵀ α s  for the residuals r, s and corrects  δy = α (J δx − s).
    """
    H, J = stage.tangent, stage.condition_jacobian
    factors = Factorisation(H + J.T @ (penalty * J) if J.shape[0] else H, symmetric=stage.symmetric)
    r = f if y is None else f - J.T @ y
    s = g
    x_total, y_total = SX.zeros(H.shape[1], f.shape[1]), SX.zeros(g.shape) if y is None else y
    for k in range(passes):
        δx = factors.solve(r + J.T @ (ca.repmat(penalty, 1, s.shape[1]) * s))
        δy = ca.repmat(penalty, 1, s.shape[1]) * (J @ δx - s)
        x_total, y_total = x_total + δx, y_total + δy
        if k + 1 < passes:
            r, s = r - H @ δx - J.T @ δy, s - J @ δx
    return x_total, y_total
