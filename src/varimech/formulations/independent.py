"""Independent coordinates: only as many coordinates as there are degrees of freedom are integrated;
the others follow from the constraints.

Of q, a set z of coordinates is selected such that Φ_q restricted to the other coordinates is as far
from singular as possible. From z and ż

    positions      Φ(q, t) = 0,  q_z = z                 Newton
    velocities     Φ_q q̇ + Φ_t = 0,  q̇_z = ż             (q̇ = R ż + b)
    accelerations  M q̈ + Φ_qᵀ λ = Q,  Φ̈ = 0              (the same z̈ as  Rᵀ M R z̈ = Rᵀ (Q − M Ṙ ż − M ḃ))

are computed at every stage of an explicit integrator. Positions and velocities are the smallest
corrections of the integrated ones in a metric in which the selected coordinates weigh HEAVY times
more, so that they keep their values. The selection is data, not code: a run repeats it where the
present one has become poor, as near singular positions of the selected set (`backends/selection`).

R. A. Wehage and E. J. Haug, J. Mech. Des. 104 (1982) 247–255; J. García de Jalón and E. Bayo,
Kinematic and Dynamic Simulation of Multibody Systems, Springer 1994, chapter 5.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..coordinates.dynamics import Dynamics
from ..core.symbols import SX
from ..stages.chain import COORDINATES, ROUNDING, Block, Chain, Stage
from ..stages.saddle import Saddle
from .formulation import Formulation, FormulationTraits, accelerations, settings_of, whole_state

HEAVY = 1e12
"""Weight of a selected coordinate relative to the others: their correction is 1e-12 of those."""


@dataclass(frozen=True)
class Independent(Formulation):
    """Independent coordinates, selected and reselected by the run. For small models whose
    coordinates all have mass.
    """

    name = "independent"
    title = "independent coordinates"
    suits = "smooth motions; integrates one coordinate per degree of freedom, and reselects them where needed"
    traits = FormulationTraits(
        exact=True,
        rates=True,
        selects=True,
        large_models=False,
        sticks=True,
        nonholonomic=True,
    )

    def rates(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """Build the whole state at given independent positions and velocities."""
        e = dynamics
        n, m = e.q.numel(), e.λ.numel()
        q_, v_, chosen, α, none = (
            SX.sym("q*", n),
            SX.sym("v*", n),
            SX.sym("chosen", n),
            SX.sym("α", m),
            SX.zeros(m),
        )
        μ, σ = SX.sym("μ", m), SX.sym("σ", m)
        scale = ca.diag(1 + (HEAVY**0.5 - 1) * chosen)
        metric, Φ_q = scale @ e.mass @ scale, e.constraint_jacobian
        positions = Stage(
            "positions",
            e.q,
            μ,
            ca.substitute(metric, e.q, q_) @ (e.q - q_) + Φ_q.T @ μ,
            e.constraints,
            q_,
            none,
            α,
            noise=SX(ROUNDING),
            magnitude=e.q,
            metric=ca.substitute(metric, e.q, q_),
        )
        J = e.rate_jacobian
        velocities = Stage(
            "velocities", e.v, σ, metric @ (e.v - v_) + J.T @ σ, e.constraint_rate, v_, none, α
        )
        state = Block(COORDINATES, q_), Block(COORDINATES, v_)
        settings = Block(COORDINATES, chosen), *settings_of(e, α)
        stages = positions, velocities, *accelerations(e, e.constraint_acceleration, α)
        return Chain(
            "rates", state, settings, stages, whole_state(e.q, e.v, e.a, e.λ), e.levels, saddle
        )
