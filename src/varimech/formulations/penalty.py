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
import numpy as np

from ..coordinates.dynamics import Dynamics
from ..coordinates.penalty import penalty_function
from ..core.coordinate_scales import TINY
from ..core.errors import check_between
from ..core.messages import Message
from ..core.symbols import SX
from ..integrators.difference import DifferenceScheme
from ..stages.chain import COORDINATES, ROUNDING, Block, Chain, Stage
from ..stages.saddle import Saddle
from .formulation import (
    ContinuousRates,
    FinishedMotion,
    Formulation,
    FormulationTraits,
    ResidualLimit,
    settings_of,
    stabilised,
    whole_state,
)
from .implicit import ImplicitStep, exact_saddle

GENEROUS = 100
"""Violations over what forces and the error of the steps explain from which on joints have come
apart. A wide margin: both are estimates of an order of magnitude.
"""


@dataclass(frozen=True)
class Penalty(Formulation):
    """Penalty formulation. Takes redundant constraints, drivers and massless coordinates.

    The default factor leaves errors of 1e-7, and half of all digits to rounding; ω = 10 rad/s and
    critical damping are the values of the papers.

    Args:
        factor: ratio of α to the mass that a constraint acts on (1e7: errors of about 1e-7; beyond
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
    suits = (
        "comparison with penalty codes; joints have a compliance of about 1/factor, and the motion"
        " may change to another branch at a singular position"
    )
    saddle = exact_saddle  # constraints give way by themselves

    def __post_init__(self) -> None:
        positive = {"factor": self.factor, "omega": self.omega}
        check_between("Penalty", TINY, np.inf, "must be positive", **positive)
        check_between("Penalty", 0.0, np.inf, "must not be negative", xi=self.xi)

    @property
    def title(self) -> str:
        """Name for results and messages, with its constants."""
        without = "pure penalty" if self.xi == 0 else "penalty without inertia"
        kind = "penalty" if self.inertial else without
        return f"{kind} (factor {self.factor:g}, ω = {self.omega:g}, ξ = {self.xi:g})"

    @property
    def traits(self) -> FormulationTraits:
        """Without Φ̈ it is stiff: for implicit integrators only; without Φ̇ too, springs alone do
        not resist velocities.
        """
        rates = self.inertial
        return FormulationTraits(
            exact=False,
            compliant=True,
            step=True,
            rates=rates,
            continuous=rates,
            nonholonomic=self.inertial or self.xi > 0,
        )

    def step(
        self, dynamics: Dynamics, scheme: DifferenceScheme, saddle: Saddle, *, constrained: bool
    ) -> Chain:
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

    def continuous(self, dynamics: Dynamics, saddle: Saddle) -> ContinuousRates:
        """The rates, for results too."""
        chain = self.rates(dynamics, saddle)
        return ContinuousRates(chain, chain)

    def residual_limits(self, motion: FinishedMotion) -> tuple[ResidualLimit, ...]:
        """Joints give way to forces, and to no more than the error of chosen steps beside."""
        allowed = np.inf
        if motion.tolerance:
            e, steps = motion.equations, motion.tolerance * motion.size
            n, lengths = e.q.numel(), e.q.numel() - e.extra
            accelerations = np.abs(motion.states[:, 2 * n : 2 * n + lengths]).max(axis=1)
            give = float(_usual(accelerations)) / (self.factor * self.omega**2)
            if motion.residuals[0] > GENEROUS * (give + steps):  # what rests is carried, too
                give = max(give, self._give(motion))
            allowed = GENEROUS * (give + steps)
        remedy = Message(
            "try a larger {factor}, a smaller step, or {formulation}",
            formulation=("ali3p", "index1"),
        )
        return (motion.position_limit(remedy, allowed),)

    def _give(self, motion: FinishedMotion) -> float:
        """How far joints give way to what they usually carry: λ/(α ω²), with α as it is at nominal
        values.
        """
        e, saddle = motion.equations, Saddle(regular=True)
        n, nominal = e.q.numel(), e.model.parameter_set.nominal
        λ = _usual(np.abs(motion.states[:, 3 * n :]))
        α = np.array(penalty_function(e, saddle)(motion.states[0, :n], nominal, 0.0)).ravel()
        worst = float((λ / α[: λ.size]).max(initial=0.0))
        return worst * saddle.penalty_factor / (self.factor * self.omega**2)

    def _strength(self, α: SX, saddle: Saddle) -> SX:
        """α with this formulation's factor in place of the one that is used to solve linear
        systems.
        """
        return self.factor / saddle.penalty_factor * α

    def _deviation(self, e: Dynamics) -> SX:
        whole = stabilised(e, self.omega, self.xi)
        return whole if self.inertial else whole - e.constraint_acceleration


def _usual(sizes: np.ndarray) -> np.ndarray:
    """The median over stored results; of two, as where only both ends are stored, the smaller: the
    end may be what went wrong.
    """
    return np.asarray(np.quantile(sizes, 0.5, axis=0, method="lower"))
