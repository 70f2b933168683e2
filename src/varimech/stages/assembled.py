"""Functions of a chain for a large system, assembled from element contributions and factored
sparsely.

The mathematics is that of `chain` and `saddle`.
"""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np

from ..core.symbols import SX
from .chain import COORDINATES, NEWTON_TOLERANCE, PARAMETERS, SCALAR, Chain
from .chain_writer import ChainWriter
from .pieces import Output, Pieces, Stored
from .plan import Mode, Plan, Zero, row_length
from .reverse import Reverse, linear_part
from .system import System


class AssembledChain:
    """A chain stated once for each kind of element, with its functions for the whole system.

    `Chain` documents the arguments of these functions.
    """

    def __init__(self, pieces: Pieces[Chain]):
        self.pieces = pieces
        self.chain = pieces.point
        self._systems: dict[str, System] = {}

    @cached_property
    def predict(self) -> Plan:
        """(state, settings…) → x, y."""
        f = self._writer("predict")
        f.settings()
        first = self.chain.stages[0]
        x, y = f.result(COORDINATES), f.result(first.multiplier_space)
        f.over_entries(COORDINATES, Output(lambda c: c.stages[0].guess, x))
        f.over_entries(first.multiplier_space, Output(lambda c: c.stages[0].multiplier_guess, y))
        return f.plan

    @cached_property
    def iterate(self) -> Plan:
        """(state, x, y, settings…) → x, y, r."""
        f = self._writer("iterate")
        f.unknowns()
        f.settings()
        space = self.chain.stages[0].multiplier_space
        x_new, y_new, ratio = f.result(COORDINATES), f.result(space), f.result(SCALAR)
        Δx, Δy = f.solve(
            0,
            lambda c: -c.stages[0].balance,
            lambda c: -c.stages[0].condition / c.stages[0].weight,
            passes=1,
        )
        step, size, magnitude = (
            f.new(name, SCALAR) for name in ("largest Δx", "largest x", "magnitude")
        )
        f.zero(step, size, magnitude)

        def updated(c: Chain) -> SX:
            return c.stages[0].unknown + f.symbol(c, Δx)

        f.over_entries(
            COORDINATES,
            Output(updated, x_new),
            Output(updated, size, Mode.LARGEST),
            Output(lambda c: f.symbol(c, Δx), step, Mode.LARGEST),
            Output(lambda c: _required(c.stages[0].magnitude), magnitude, Mode.LARGEST),
        )
        f.over_entries(space, Output(lambda c: c.stages[0].multiplier + f.symbol(c, Δy), y_new))

        def converged(c: Chain) -> SX:
            step, size, magnitude = (
                f.symbol(c, name) for name in ("largest Δx", "largest x", "magnitude")
            )
            return step / (NEWTON_TOLERANCE * size + _required(c.stages[0].noise) * (1 + magnitude))

        f.over_entries(SCALAR, Output(converged, ratio))
        return f.plan

    def finish(
        self,
        directions: np.ndarray | None = None,
        *,
        state_varies: bool = True,
        along_time: bool = False,
    ) -> Plan:
        """(state[, x, y][, state'[, (ρ', t')]], settings…) → result, residuals[, result'].

        Args:
            directions: parameter directions ρ', one in each column; None for no derivatives.
            state_varies: whether the initial state depends on the parameters.
            along_time: whether time has derivatives, too; ρ' is then an argument.
        """
        f = self._writer("finish")
        if self.chain.iterated:
            f.unknowns()
        if directions is not None:
            f.set_sensitivities(directions, state_varies=state_varies, along_time=along_time)
        f.settings()
        result, residuals = f.state_result(), f.plan.result(3)
        sensitivities = (
            None if directions is None else f.state_result(row_length(directions.shape[1]))
        )
        for i in range(1 if self.chain.iterated else 0, len(self.chain.stages)):
            f.solve_linear(i)
        f.collect(result, lambda c, block: block)
        f.zero(Stored(SCALAR, residuals))
        levels = [Stored(SCALAR, residuals.part(k, 1)) for k in range(3)]
        f.over_kinds(
            *[Output(partial(_level, k), level, Mode.LARGEST) for k, level in enumerate(levels)]
        )
        if sensitivities is not None:
            for i in range(len(self.chain.stages)):
                f.differentiate(i)
            f.collect(sensitivities, f.derivative)
        return f.plan

    def pullback(self, objectives: int, *, state_varies: bool, along_time: bool = False) -> Plan:
        """(state[, x, y], r̄, settings…) → s̄, ρ̄: the transposed derivatives of `finish`.

        Args:
            objectives: number of costate columns.
            state_varies: whether the initial state depends on the parameters.
            along_time: whether ρ̄ ends with the costate of time.
        """
        f = self._writer("pullback")
        if self.chain.iterated:
            f.unknowns()
        costate = f.costate(objectives)
        f.settings()
        width = costate.width
        pulled = f.state_costate(objectives), f.plan.result(f.size(PARAMETERS) + along_time, width)
        state_direction, parameter_direction, result_direction = f.direction(
            state_varies=state_varies, along_time=along_time
        )
        for i in range(1 if self.chain.iterated else 0, len(self.chain.stages)):
            f.solve_linear(i)
        for i in range(len(self.chain.stages)):
            f.differentiate(i)
        f.collect(result_direction, f.derivative)
        values, linear, written = linear_part(
            f.plan.operations, [state_direction, parameter_direction]
        )
        f.plan.operations = values
        reverse = Reverse(f.plan)
        for vector, target in (
            (state_direction, pulled[0]),
            (parameter_direction, pulled[1]),
            (result_direction, costate),
        ):
            reverse.bind(vector, target)
        internal = [v for v in written if reverse.of(v) is None]
        for vector in internal:
            reverse.bind(vector, f.plan.vector(vector.rows, width))
        f.plan.operations += [
            Zero(v) for v in (*pulled, *[reverse.of(v) for v in internal]) if v is not None
        ]
        reverse.sweep(linear)
        return f.plan

    def _system(self, space: str) -> System:
        """Return the linear system of the stages whose multipliers belong to a space."""
        if space not in self._systems:
            stages = [i for i, s in enumerate(self.chain.stages) if s.multiplier_space == space]
            self._systems[space] = System(self.pieces, stages, space)
        return self._systems[space]

    def _writer(self, name: str) -> ChainWriter:
        return ChainWriter(name, self.pieces, self._system)


def _level(k: int, chain: Chain) -> SX:
    return chain.levels[k]


def _required(expression: SX | None) -> SX:
    """Return an attribute that every iterated stage defines."""
    assert expression is not None
    return expression
