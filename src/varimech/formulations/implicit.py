"""Common part of the steps of all implicit formulations: the last state, the difference equations,
and the state at the end of the step.
"""

from __future__ import annotations

import casadi as ca

from ..coordinates.dynamics import Dynamics
from ..core.errors import ModelError
from ..core.symbols import SX
from ..integrators.difference import DifferenceScheme
from ..stages.chain import COORDINATES, SCALAR, Block, Chain, Stage
from ..stages.saddle import Saddle
from .formulation import Conditioning, Formulation, settings_of, whole_state


def exact_saddle(self: Formulation, conditioning: Conditioning) -> Saddle:
    """`saddle` of formulations that never relax their linear systems, in whatever position."""
    return Saddle(conditioning.regular)


class ImplicitStep:
    """Symbols of one step from q0, v0, a0, λ0 (and the memory of the scheme), with the unknown
    acceleration a*.
    """

    def __init__(self, dynamics: Dynamics, scheme: DifferenceScheme):
        self._dynamics = e = dynamics
        self._scheme = scheme
        n, m = e.q.numel(), e.λ.numel()
        self.q0, self.v0, self.a0, self.λ0 = (
            SX.sym(name, size) for name, size in (("q0", n), ("v0", n), ("a0", n), ("λ0", m))
        )
        self._memory = SX.sym("memory", n)
        self.h, self.α = SX.sym("h"), SX.sym("α", m)
        self.a_, self.v_ = SX.sym("a*", n), SX.sym("v*", n)

    @property
    def position_weight(self) -> SX:
        """∂q/∂a*."""
        return self._scheme.beta * self.h**2

    @property
    def velocity_weight(self) -> SX:
        """∂v*/∂a*."""
        return self._scheme.gamma * self.h

    @property
    def relations(self) -> tuple[tuple[SX, SX], ...]:
        """q and v* as functions of a*."""
        q̂, v̂ = self._scheme.predict(self.q0, self.v0, self.a0, self._memory, self.h)
        self._check("predict", q̂, v̂)
        return (self._dynamics.q, q̂ + self.position_weight * self.a_), (
            self.v_,
            v̂ + self._scheme.gamma * self.h * self.a_,
        )

    def chain(self, stages: tuple[Stage, ...], v: SX, a: SX, λ: SX, saddle: Saddle) -> Chain:
        """Build the step; its settings are h, α, ρ and the time at its end."""
        e, remembers = self._dynamics, self._scheme.remembers
        kept = (Block(COORDINATES, self._memory),) if remembers else ()
        new: tuple[Block, ...] = ()
        if remembers:
            self._check("remember", memory := self._scheme.remember(self.a0, self._memory, a))
            new = (Block(COORDINATES, memory),)
        state = (*whole_state(self.q0, self.v0, self.a0, self.λ0), *kept)
        settings = Block(SCALAR, self.h), *settings_of(e, self.α)
        position, velocity, acceleration = ca.substitute(list(e.levels), [e.v, e.a], [v, a])
        result = (*whole_state(e.q, v, a, λ), *new)
        return Chain(
            "step", state, settings, stages, result, (position, velocity, acceleration), saddle
        )

    def _check(self, method: str, *vectors: SX) -> None:
        """Check the lengths of vectors that a scheme of the user returns."""
        n = self.q0.numel()
        for vector in vectors:
            if vector.shape != (n, 1):
                raise ModelError(
                    f"{method}(…) yields a vector of {vector.numel()} numbers, not {n}, the number"
                    " of coordinates",
                    element=f"integrator {self._scheme.name!r}",
                )
