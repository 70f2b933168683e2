"""The composite system of Serban and Freeman: a motion q and its derivative q_b with respect to one
parameter b as one mechanical system.

    M̂ r̈ + Π_rᵀ μ = Q̂,     Π(r, t) = 0,     r = (q, q_b),     μ = (λ_b, λ),
    M̂ = ⎡ M_b + P  M ⎤     Π = ⎡ Φ             ⎤     Q̂ = ⎡ Q_b + Q_q q_b + Q_q̇ q̇_b ⎤
        ⎣ M        0 ⎦         ⎣ Φ_q q_b + Φ_b ⎦         ⎣ Q                      ⎦

It is a differential-algebraic system of the same form as the motion's own, so any formulation and
integrator for the one solves the other. These are Lagrange's equations of what the elements state,
differentiated along b: potential V′, constraints (Φ, Φ′), and for an effort f at a rate w the two
pairs (w′, f) and (w, f′). So it is derived here by differentiating the elements once. Forces of
inertia are differentiated as the motion has them: coordinates may supply a form that is Lagrange's
only where constraints hold, and inside a step they do not.

The direction b in the space of parameters is data: the system has the parameters (ρ, ρ′).

R. Serban and J. S. Freeman, ASME Design Engineering Technical Conferences, 1996, DETC/DAC-1087; in
the notation of S. J. Lee and others, "Probabilistic analysis of mechanical systems with tolerances"
(equations 9–20 there).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from ..coordinates.dynamics import Constraint, Dynamics, Element
from ..core.symbols import SX
from ..stages.chain import CONSTRAINTS, Block, Chain
from ..stages.saddle import Saddle
from .event_map import EventMap
from .tangent_augmented import augmented


@dataclass(frozen=True, eq=False)
class Composite:
    """The composite system of the given dynamics, `single`."""

    single: Dynamics

    @cached_property
    def _directions(self) -> tuple[SX, SX, SX]:
        """q_b, q̇_b and ρ′."""
        e = self.single
        return SX.sym("q_b", e.q.numel()), SX.sym("v_b", e.v.numel()), SX.sym("ρ_b", e.ρ.numel())

    def _derived(self, expression: SX) -> SX:
        e = self.single
        return ca.jtimes(expression, ca.vertcat(e.q, e.v, e.ρ), ca.vertcat(*self._directions))

    @cached_property
    def dynamics(self) -> Dynamics:
        """M̂, Π and Q̂, in the coordinates (q, q_b) with the parameters (ρ, ρ′)."""
        e, (q_b, v_b, ρ_b) = self.single, self._directions
        elements = tuple(self._element(element) for element in e.elements)
        q, v, ρ = ca.vertcat(e.q, q_b), ca.vertcat(e.v, v_b), ca.vertcat(e.ρ, ρ_b)
        return Dynamics(q, v, ρ, e.t, elements, inertia=_Inertia(e, self._derived))

    def _element(self, element: Element) -> Element:
        pairs = [
            ((self._derived(rate), effort), (rate, self._derived(effort)))
            for rate, effort in element.efforts
        ]
        both = [
            Constraint(c.name, ca.vertcat(c.residuals, self._derived(c.residuals)), c.joints)
            for c in element.constraints
        ]
        return Element(
            element.name,
            potential=self._derived(element.potential),
            efforts=tuple(pair for two in pairs for pair in two),
            constraints=tuple(both),
        )

    @cached_property
    def constraint_rows(self) -> tuple[list[int], list[int]]:
        """Rows of Π that hold Φ (whose multipliers are λ_b), and rows that hold Φ_q q_b + Φ_b
        (whose multipliers are λ).
        """
        sizes = [c.residuals.numel() for c in self.single.blocks]
        first = np.cumsum([0, *[2 * size for size in sizes]])
        plain = [int(first[k]) + i for k, size in enumerate(sizes) for i in range(size)]
        derived = [int(first[k]) + size + i for k, size in enumerate(sizes) for i in range(size)]
        return plain, derived

    @cached_property
    def pairs(self) -> tuple[int, ...]:
        """For each unknown and multiplier, the equation that it is eliminated with: equations of
        the motion for q and λ, their derivatives for q_b and λ_b. The diagonal of the system itself
        contains zeros.
        """
        n, (plain, derived) = self.single.q.numel(), self.constraint_rows
        partner = dict(zip([*plain, *derived], [*derived, *plain], strict=True))
        return (*range(n, 2 * n), *range(n), *[2 * n + partner[k] for k in range(2 * len(plain))])

    def passage(self, event_map: EventMap, saddle: Saddle) -> Chain:
        """Return the map of a composite state over an event."""
        m, (plain, derived) = self.single.λ.numel(), self.constraint_rows
        α = SX.sym("α", 2 * m)
        chain = augmented(event_map.chain(saddle, (α, α[plain] if plain else SX(0, 1))))
        *levels, λ, λ_b, ψ, ψ_b = chain.result
        both = SX(2 * m, 1)
        if plain:
            both[plain], both[derived] = λ_b.value, λ.value
        return replace(chain, result=(*levels, Block(CONSTRAINTS, both), ψ, ψ_b))

    def along(self, name: str, value: SX, packed: SX) -> ca.Function:
        """Return the function (composite state, (ρ, ρ′), t) → a value of the single state and its
        derivative; `packed` is the single state as one vector.
        """
        e, c = self.single, self.dynamics
        n, (plain, derived) = e.q.numel(), self.constraint_rows
        q_b, v_b, ρ_b = self._directions
        state_b = ca.vertcat(q_b, v_b, c.a[n:], c.λ[plain])
        tangent = ca.jtimes(value, ca.vertcat(packed, e.ρ), ca.vertcat(state_b, ρ_b))
        both = ca.substitute(
            ca.vertcat(value, tangent), ca.vertcat(e.a, e.λ), ca.vertcat(c.a[:n], c.λ[derived])
        )
        return ca.Function(name, [ca.vertcat(c.q, c.v, c.a, c.λ), c.ρ, c.t], [ca.densify(both)])

    def packed(self, state: np.ndarray, tangent: np.ndarray) -> np.ndarray:
        """Assemble a composite state from a single state and its derivative, including the memory
        of an integrator.
        """
        n, (plain, derived) = self.single.q.numel(), self.constraint_rows
        levels = [part[k * n : (k + 1) * n] for k in range(3) for part in (state, tangent)]
        λ = slice(3 * n, 3 * n + len(plain))
        multipliers = np.zeros(2 * len(plain))
        multipliers[plain], multipliers[derived] = tangent[λ], state[λ]
        return np.concatenate([*levels, multipliers, state[λ.stop :], tangent[λ.stop :]])

    def unpacked(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Split composite states into single states and their derivatives, one per row."""
        n, (plain, derived) = self.single.q.numel(), self.constraint_rows
        levels, λ = states[:, : 6 * n].reshape(-1, 3, 2, n), states[:, 6 * n :]
        single, tangent = (levels[:, :, k].reshape(-1, 3 * n) for k in range(2))
        return np.hstack([single, λ[:, derived]]), np.hstack([tangent, λ[:, plain]])


@dataclass(frozen=True, eq=False)
class _Inertia:
    """Inertia forces of the composite system: derivatives of those of the motion, then the latter."""

    single: Dynamics
    derived: Callable[[SX], SX]
    """Derivative along b at fixed accelerations."""

    @property
    def mass(self) -> SX:
        """M̂."""
        M = self.single.mass
        return ca.blockcat([[self.derived(ca.vec(M)).reshape(M.shape), M], [M, SX(*M.shape)]])

    def resistance(self, a: SX) -> SX:
        """M̂ r̈ and all other inertia forces, on the same side of the equation."""
        e, n = self.single, self.single.q.numel()
        tangent = self.derived(e.resistance) + e.mass @ a[n:]
        return ca.substitute(ca.vertcat(tangent, e.resistance), e.a, a[:n])
