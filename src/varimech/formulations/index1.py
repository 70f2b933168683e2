"""Index-1 equations: accelerations and multipliers follow from positions and velocities by a linear
system,

    M a + Φ_qᵀ λ = Q(q, v, t),     Φ_q a + Φ̇_q v + Φ̇_t = 0,

so (q, v)' = (v, a) can be integrated by any scheme for ordinary differential equations. Solutions
drift off the constraints by the scheme's own error; there are two remedies:

- `Projected`: the end of each step is projected on the constraints in the metric of M, positions by
  one Newton correction (which leaves the square of the drift), velocities exactly:

    M (q − q*) + Φ_qᵀ μ = 0,  Φ(q) = 0;     M (v − v*) + Φ_qᵀ σ = 0,  Φ_q v + Φ_t = 0.

- `Stabilised`: the second equation becomes  Φ̈ + 2ξω Φ̇ + ω² Φ = 0  (Baumgarte). Cheaper, and an
  ordinary differential equation throughout.

E. Eich, SIAM J. Numer. Anal. 30 (1993) 1467–1482 (projections keep the order); J. Baumgarte,
Comput. Methods Appl. Mech. Eng. 1 (1972) 1–16; E. Hairer and G. Wanner, Solving Ordinary
Differential Equations II, 2nd ed., Springer 1996, section VII.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import casadi as ca

from ..coordinates.dynamics import Dynamics
from ..core.errors import check_between
from ..core.messages import Message
from ..core.symbols import SX
from ..stages.chain import COORDINATES, SCALAR, Block, Chain, Stage
from ..stages.saddle import Saddle
from .formulation import (
    ContinuousRates,
    FinishedMotion,
    Formulation,
    FormulationTraits,
    ResidualLimit,
    accelerations,
    rates_with,
    settings_of,
    stabilised,
    whole_state,
)


@dataclass(frozen=True)
class Projected(Formulation):
    """Index 1 with projections at the end of each step. Supports redundant constraints, drivers and
    massless coordinates.
    """

    name = "index1"
    title = "index 1 with projections"
    suits = "smooth motions with high accuracy, also with redundant constraints; the constraint error is the square of the error of a step"
    traits = FormulationTraits(
        exact=True,
        rates=True,
        projection=True,
        sharp_first=True,
        sticks=True,
        composite=True,
        nonholonomic=True,
        recursive=True,
    )

    def rates(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """Build the accelerations and multipliers at given positions and velocities."""
        return rates_with(
            dynamics, dynamics.constraint_acceleration, _with_extra_pass(dynamics, saddle)
        )

    def projection(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """Build the projection of given positions and velocities on the constraints."""
        e, saddle = dynamics, _with_extra_pass(dynamics, saddle)
        n, m = e.q.numel(), e.λ.numel()
        q_, v_, α, none = SX.sym("q*", n), SX.sym("v*", n), SX.sym("α", m), SX.zeros(m)
        μ, σ = SX.sym("μ", m), SX.sym("σ", m)
        here, mass, deviation = ca.substitute(
            [e.constraint_jacobian, e.mass, e.constraints], [e.q], [q_]
        )
        positions = Stage(
            "positions",
            e.q,
            μ,
            mass @ (e.q - q_) + here.T @ μ,
            deviation + here @ (e.q - q_),
            q_,
            none,
            α,
        )
        J = e.rate_jacobian
        velocities = Stage(
            "velocities", e.v, σ, e.mass @ (e.v - v_) + J.T @ σ, e.constraint_rate, v_, none, α
        )
        state = Block(COORDINATES, q_), Block(COORDINATES, v_)
        stages = positions, velocities, *accelerations(e, e.constraint_acceleration, α)
        return Chain(
            "step",
            state,
            settings_of(e, α),
            stages,
            whole_state(e.q, e.v, e.a, e.λ),
            e.levels,
            saddle,
        )

    def residual_limits(self, motion: FinishedMotion) -> tuple[ResidualLimit, ...]:
        """Return limits of both residuals: velocity projections are exact, position projections
        leave the square of the drift.

        Velocities may violate their constraints by 1e-5 of the largest velocity, and by 1e-9 m/s in
        a mechanism at rest: far above the rounding of a projection, far below the effect of a
        position error.
        """
        remedy = Message(
            "try {integrator}, a smaller step, or {formulation}",
            integrator="dopri5",
            formulation="ali3p",
        )
        return (
            ResidualLimit(1, max(1e-9, 1e-5 * motion.speed), "m/s or rad/s", remedy),
            motion.position_limit(remedy),
        )


@dataclass(frozen=True)
class Stabilised(Formulation):
    """Index 1 with Baumgarte's stabilisation. Supports redundant constraints, drivers and massless
    coordinates.

    Args:
        omega: ω in rad/s, the rate at which drift decays (10 as in `Penalty`). CVODES and IDAS
            limit it to between 1 and 5 times the rate at which a mechanism moves through its size:
            beyond, ω² times rounding would count as an acceleration.
        xi: ξ, the damping ratio.
    """

    omega: float = 10.0
    xi: float = 1.0
    name = "index1-stabilised"
    suits = "index 1 without projections: constraints drift within the tolerance; used by CVODES and IDAS"
    traits = FormulationTraits(
        exact=False, rates=True, continuous=True, algebraic=True, composite=True, nonholonomic=True
    )

    def __post_init__(self) -> None:
        problem = "must not be negative"
        check_between("Stabilised", 0.0, math.inf, problem, omega=self.omega, xi=self.xi)

    @property
    def title(self) -> str:
        """Name for results and messages, with its constants."""
        return f"index 1 with stabilisation (ω = {self.omega:g}, ξ = {self.xi:g})"

    def rates(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """Build the accelerations and multipliers at given positions and velocities."""
        return rates_with(dynamics, stabilised(dynamics, self.omega, self.xi), saddle)

    def continuous(self, dynamics: Dynamics, saddle: Saddle) -> ContinuousRates:
        """Build the rates with a symbol for ω; results are those of exact constraints."""
        ω = SX.sym("ω")
        chain = rates_with(dynamics, stabilised(dynamics, ω, self.xi), saddle)
        return ContinuousRates(
            replace(chain, settings=(Block(SCALAR, ω), *chain.settings)),
            rates_with(dynamics, dynamics.constraint_acceleration, saddle),
            self.omega,
        )

    def residual_limits(self, motion: FinishedMotion) -> tuple[ResidualLimit, ...]:
        """Return the limit of position residuals: the tolerated error, since constraints drift by
        no more.
        """
        allowed = motion.tolerance * motion.size if motion.tolerance else math.inf
        remedy = Message(
            "try a larger {omega}, a smaller step, or {formulation}",
            formulation=("ali3p", "index1"),
        )
        return (motion.position_limit(remedy, allowed),)


def _with_extra_pass(dynamics: Dynamics, saddle: Saddle) -> Saddle:
    """Return the solver with one more pass if there are velocity constraints, such as friction that
    sticks.

    One pass leaves an error of 1e-12 of the accelerations, and no projection of positions corrects
    its effect: a slider under a force crept by 3e-6 m in 10⁴ s, in 36 steps.
    """
    if all(block.rate is None for block in dynamics.blocks):
        return saddle
    return replace(saddle, passes=saddle.linear_passes + 1)
