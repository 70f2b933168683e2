"""Penalty formulation: constraints are springs, dampers and masses so strong that they hardly give
way.

    M q̈ + Φ_qᵀ λ = Q,     λ = α (Φ̈ + 2ξω Φ̇ + ω² Φ)

λ is kept as an unknown: written out, M + Φ_qᵀ α Φ_q would lose as many digits as α has. α is
`factor` times the mass that each constraint works against. Constraints are violated by λ/(α ω²), so
results differ from those of a rigid joint by about 1/factor; that, not the integrator, limits the
accuracy. With Φ̈ in it the equation is not stiff: what is off the constraints oscillates with ω.
Without (`inertial=False`) and with ξ = 0 it is the pure penalty M q̈ + Φ_qᵀ (αω²) Φ = Q, stiff, for
implicit integrators only; its accelerations carry the vibrations of the springs. Where constraints
depend on each other for a moment (a singular position), joints that give way may let the motion go
on along another branch; larger factors make that less likely.

Sources: E. Bayo, J. García de Jalón and M. A. Serna, Comput. Methods Appl. Mech. Eng. 71 (1988)
183–195; D. Dopico, Y. Zhu, A. Sandu and C. Sandu, J. Comput. Nonlinear Dyn. 10 (2015) 011012; pure
form: J. C. García Orden, J. J. Arribas Montejo, F. Gabaldón Castillo and D. Dopico, CILAMCE 2023.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..coordinates.dynamics import Dynamics
from ..core.errors import ModelError, check_numbers
from ..core.symbols import SX
from ..integrators.difference import DifferenceScheme
from ..stages.chain import COORDINATES, ROUNDING, Block, Chain, Stage
from ..stages.saddle import Saddle
from .blocks import settings_of, stabilised, whole_state
from .implicit import ImplicitStep


@dataclass(frozen=True)
class Penalty:
    """Penalty formulation. Takes redundant constraints, drivers and massless coordinates.

    Args:
        factor: α over the mass that a constraint works against (1e7: errors of about 1e-7; beyond
            1e10 rounding takes over).
        omega: ω in rad/s; with `inertial=False` the square of it scales the stiffness.
        xi: ξ, the share of critical damping.
        inertial: whether Φ̈ takes part.
    """

    factor: float = 1e7
    omega: float = 10.0
    xi: float = 1.0
    inertial: bool = True
    name = "penalty"

    def __post_init__(self) -> None:
        check_numbers("Penalty", factor=self.factor, omega=self.omega, xi=self.xi)
        for label, value in (("factor", self.factor), ("omega", self.omega)):
            if not value > 0:
                raise ModelError(f"Penalty: {label} = {value!r} must be positive")
        if not self.xi >= 0:
            raise ModelError(f"Penalty: xi = {self.xi!r} must not be negative")

    @property
    def title(self) -> str:
        """In words."""
        kind = (
            "penalty"
            if self.inertial
            else "pure penalty"
            if self.xi == 0
            else "penalty without inertia"
        )
        return f"{kind} (factor {self.factor:g}, ω = {self.omega:g}, ξ = {self.xi:g})"

    def step(self, dynamics: Dynamics, scheme: DifferenceScheme, saddle: Saddle) -> Chain:
        """One step with an implicit integrator."""
        e = dynamics
        s = ImplicitStep(e, scheme)
        weight = (
            (1 if self.inertial else 0)
            + 2 * self.xi * self.omega * scheme.gamma * s.h
            + self.omega**2 * s.position_weight
        )
        α = self._strength(s.α, saddle)
        balance, condition = ca.substitute(
            [e.balance, self._deviation(e) - e.λ / α], [e.v, e.a], [s.v_, s.a_]
        )
        motion = Stage(
            "motion",
            s.a_,
            e.λ,
            balance,
            condition,
            s.a0,
            s.λ0,
            α * weight,
            False,
            weight,
            s.relations,
            noise=ROUNDING / s.position_weight,
            magnitude=e.q,
            compliant=True,
        )
        return s.chain((motion,), s.v_, s.a_, e.λ, saddle)

    def rates(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """Accelerations and multipliers at given positions and velocities, for an explicit
        integrator.
        """
        e = dynamics
        n, m = e.q.numel(), e.λ.numel()
        α = SX.sym("α", m)
        strength = self._strength(α, saddle)
        condition = self._deviation(e) - e.λ / strength
        motion = Stage(
            "motion",
            e.a,
            e.λ,
            e.balance,
            condition,
            SX.zeros(n),
            SX.zeros(m),
            strength,
            compliant=True,
        )
        state = Block(COORDINATES, e.q), Block(COORDINATES, e.v)
        return Chain(
            "rates",
            state,
            settings_of(e, α),
            (motion,),
            whole_state(e.q, e.v, e.a, e.λ),
            e.levels,
            saddle,
        )

    def _strength(self, α: SX, saddle: Saddle) -> SX:
        """α with this formulation's factor in place of the one that is used to solve linear
        systems.
        """
        return self.factor / saddle.penalty_factor * α

    def _deviation(self, e: Dynamics) -> SX:
        whole = stabilised(e, self.omega, self.xi)
        return whole if self.inertial else whole - e.constraint_acceleration
