"""Impacts: velocities jump, positions do not.

    M (v⁺ − v⁻) + Jᵀ Λ = P(Λ),     Ψ(q, v⁺, t) + B(q, v⁻, t) = 0,     J = ∂Ψ/∂v

Λ are the impulses of all constraints. Permanent constraints have Ψ = Φ̇ and B = 0; a contact that
takes part in the impact has ġ⁺ + ε ġ⁻ = 0 (Newton's law), one that does not has Λ = 0. P are
impulses of dry friction, μ Λ along the slip. Which contacts take part is data
(`model/contact_law`).

F. Pfeiffer and C. Glocker, Multibody Dynamics with Unilateral Contacts, Wiley 1996, chapter 8.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ..coordinates.dynamics import Dynamics
from ..core.symbols import SX
from ..stages.chain import COORDINATES, Block, Chain, Stage
from ..stages.saddle import Saddle
from .formulation import settings_of, whole_state


def impact(dynamics: Dynamics, saddle: Saddle) -> Chain:
    """Build the state after an impact from the positions and velocities before it. Its
    accelerations are zero, and impulses take the place of multipliers.
    """
    e = dynamics
    n, m = e.q.numel(), e.λ.numel()
    v_, Λ, α = SX.sym("v⁻", n), SX.sym("Λ", m), SX.sym("α", m)
    J = ca.jacobian(e.impact_rate, e.v)
    stage = Stage(
        "impact",
        e.v,
        Λ,
        e.mass @ (e.v - v_) + J.T @ Λ - e.impulses(Λ),
        e.impact_rate + ca.substitute(e.bounce, e.v, v_),
        v_,
        SX.zeros(m),
        α,
        symmetric=not e.oblique,
        oblique=e.oblique,
    )
    return Chain(
        "impact",
        (Block(COORDINATES, e.q), Block(COORDINATES, v_)),
        settings_of(e, α),
        (stage,),
        whole_state(e.q, e.v, SX.zeros(n), Λ),
        (e.constraints, SX(0, 1), SX(0, 1)),
        # one pass leaves constraints soft by 1e-12 of the velocities, which impacts would inherit
        replace(saddle, passes=saddle.linear_passes + 1),
    )
