"""Chains of a large open tree in relative coordinates, by recursive passes over its bodies."""

from __future__ import annotations

import casadi as ca

from ..backends.program import ChainFunctions
from ..coordinates.equations import Equations
from ..coordinates.initial_state_chain import moving_chain
from ..coordinates.relative.recursion_passes import RecursionPasses
from ..core.symbols import SX
from ..sensitivity.adjoint import pullback_of
from ..sensitivity.direct import tangent_of
from .derivative_request import DerivativeRequest


class RecursiveChains:
    """Chains of the initial state, the rates, and the end of a step; each is generated once."""

    def __init__(self, equations: Equations):
        self._equations = equations
        self._passes = RecursionPasses(equations)
        self._generated: dict[tuple[object, ...], ChainFunctions] = {}

    def functions(self, name: str, request: DerivativeRequest) -> ChainFunctions:
        """Return the functions of the chain "start", "rates" or "end", with the requested
        derivatives.
        """
        key = (name, request.key)
        if key not in self._generated:
            self._generated[key] = {"start": self._start, "rates": self._rates, "end": self._end}[
                name
            ](request)
        return self._generated[key]

    def _rates(self, request: DerivativeRequest) -> ChainFunctions:
        back = self._passes.rates_pullback(request.objectives) if request.adjoint else None
        return ChainFunctions(None, None, self._passes.rates(request.directions), pullback=back)

    def _end(self, request: DerivativeRequest) -> ChainFunctions:
        back = self._passes.end_pullback(request.objectives) if request.adjoint else None
        return ChainFunctions(None, None, self._passes.end(request.directions), pullback=back)

    def _start(self, request: DerivativeRequest) -> ChainFunctions:
        """Compute positions and velocities from initial conditions in unrolled code; then
        accelerations by recursion.
        """
        chain, directions = (
            moving_chain(self._equations, SX.eye(self._equations.q.numel())),
            request.directions,
        )
        tangent = (
            None if directions is None else tangent_of(chain, request.moved, state_varies=False)
        )
        finish = chain.finish(None if tangent is None else tangent.coefficients)
        x = finish.sx_in()
        state, _, *coefficients = finish.call(x)
        moving, along, back = ca.Function("moving", x, [state]), None, None
        if tangent is not None:
            direction, still = (
                SX.sym("ρ'", self._equations.ρ.numel()),
                SX.zeros(chain.packed.numel()),
            )
            column = tangent.column(coefficients[0], still, direction[request.moved])
            along = ca.Function("moving_tangent", [*x, direction], [column])
        if request.adjoint:
            pullback, μ = pullback_of(chain, state_varies=False), SX.sym("μ", state.numel())
            pulled = pullback.column(chain.linearise(pullback.coefficients).call(x)[0], μ)[1]
            back = self._passes.start_pullback(
                request.objectives, moving, ca.Function("moving_pullback", [*x, μ], [pulled])
            )
        start = self._passes.start(directions, moving, along)
        return ChainFunctions(chain.predict, chain.iterate, start, pullback=back)
