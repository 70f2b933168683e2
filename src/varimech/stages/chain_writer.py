"""Writer of one function of a chain for a large system: its arguments, the linear systems of its
stages, their solutions and derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import casadi as ca
import numpy as np

from ..core.symbols import SX
from .chain import COORDINATES, PARAMETERS, SCALAR, Block, Chain
from .chain_rule import ChainRule
from .pieces import Name, Output, Piece, Pieces, Stored, Writer
from .plan import Factor, Factors, Mode, Solve, Vector, lanes, padded, row_length
from .system import System

Expression = Callable[[Chain], SX]


class ChainWriter(Writer[Chain]):
    """One function of an assembled chain under construction. Vectors are named ("x", stage),
    ("derivative", name), …
    """

    def __init__(self, name: str, pieces: Pieces[Chain], system: Callable[[str], System]):
        super().__init__(f"{pieces.point.name}_{name}", pieces, _symbols)
        self._system = system
        """Returns the linear system of the stages whose multipliers belong to a space."""
        self._chain = pieces.point
        self._factored: list[tuple[int, Factors]] = []
        self._width = 1
        for k, block in enumerate(
            self._blocks(self._chain.state, self.plan.argument(self._rows_of(self._chain.state)))
        ):
            self.stored["state", k] = block

    # arguments and results

    def unknowns(self) -> None:
        """Declare the next arguments: x and y of the iterated stage."""
        space = self._chain.stages[0].multiplier_space
        self.stored["x", 0] = Stored(COORDINATES, self.plan.argument(self.size(COORDINATES)))
        self.stored["y", 0] = Stored(space, self.plan.argument(self.size(space)))

    def set_sensitivities(
        self, directions: np.ndarray, *, state_varies: bool, along_time: bool
    ) -> None:
        """Declare the next argument, state', and the constant parameter directions ρ'. With
        `along_time`, the directions are not constant but the following argument, and the derivative
        of time is their last row.
        """
        self._width = row_length(directions.shape[1])
        state = self.plan.argument(self._rows_of(self._chain.state), self._width)
        parameters = (
            self.plan.argument(self.size(PARAMETERS) + 1, self._width)
            if along_time
            else self.plan.constant(padded(directions))
        )
        self._bind_sensitivities(state, parameters, state_varies, along_time)

    def direction(self, *, state_varies: bool, along_time: bool) -> tuple[Vector, Vector, Vector]:
        """Create vectors for one column of derivatives, which the caller transposes: state,
        parameters (and time) and result.
        """
        state, parameters = (
            self.plan.vector(self._rows_of(self._chain.state)),
            self.plan.vector(self.size(PARAMETERS) + along_time),
        )
        self._bind_sensitivities(state, parameters, state_varies, along_time)
        return state, parameters, self.plan.vector(self._rows_of(self._chain.result))

    def _bind_sensitivities(
        self, state: Vector, parameters: Vector, state_varies: bool, along_time: bool
    ) -> None:
        if state_varies:
            for k, block in enumerate(self._blocks(self._chain.state, state)):
                self.stored["derivative", ("state", k)] = block
        count, last = self.size(PARAMETERS), len(self._chain.settings) - 1
        self.stored["derivative", ("setting", last - 1)] = Stored(
            PARAMETERS, parameters.part(0, count)
        )
        if along_time:
            self.stored["derivative", ("setting", last)] = Stored(SCALAR, parameters.part(count, 1))

    def costate(self, objectives: int) -> Vector:
        """Declare the next argument: the costate of the result."""
        return self.plan.argument(self._rows_of(self._chain.result), row_length(objectives))

    def state_costate(self, objectives: int) -> Vector:
        """Declare the next result: the costate of the initial state."""
        return self.plan.result(self._rows_of(self._chain.state), row_length(objectives))

    def settings(self) -> None:
        """Declare the last arguments: the settings."""
        for k, block in enumerate(self._chain.settings):
            self.stored["setting", k] = Stored(
                block.space, self.plan.argument(self.size(block.space))
            )

    def result(self, space: str) -> Stored:
        """Declare the next result, a vector of a space."""
        return Stored(space, self.plan.result(self.size(space)))

    def state_result(self, width: int = 1) -> Vector:
        """Declare the next result, a state."""
        return self.plan.result(self._rows_of(self._chain.result), width)

    def collect(self, target: Vector, value: Callable[[Chain, SX], SX]) -> None:
        """Write a function of each block of the result into a vector."""
        for k, stored in enumerate(self._blocks(self._chain.result, target)):
            self.over_entries(stored.space, Output(partial(_result, value, k), stored))

    def _rows_of(self, blocks: tuple[Block, ...]) -> int:
        return sum(self.size(block.space) for block in blocks)

    def _blocks(self, blocks: tuple[Block, ...], whole: Vector) -> list[Stored]:
        """Return the positions of the blocks within a vector that contains all of them."""
        sizes = [self.size(block.space) for block in blocks]
        first = np.cumsum([0, *sizes]).tolist()
        return [
            Stored(block.space, whole.part(first[k], sizes[k])) for k, block in enumerate(blocks)
        ]

    # dependents

    def missing(self, name: Name) -> None:
        """Evaluate a dependent of a stage when it is first needed."""
        category, i, j = name
        assert category == "dependent"
        target = self.new(name, COORDINATES)
        self.over_entries(COORDINATES, Output(lambda c: c.stages[i].dependents[j][1], target))

    # linear systems

    def solve(
        self,
        i: int,
        f: Expression,
        g: Expression,
        *,
        y: Name | None = None,
        passes: int | None = None,
        width: int = 1,
    ) -> tuple[Name, Name]:
        """Solve  H x + Jᵀ y = f,  J x = g  for stage i, from an initial y.

        Returns:
            The names of x and y.
        """
        f, g = _cached(f), _cached(g)
        x: Name | None = None
        if self._chain.stages[i].compliant:
            passes, y = 1, None
        for _ in range(passes or self._chain.saddle.linear_passes):

            @_cached
            def r(c: Chain, x: Name | None = x, y: Name | None = y) -> SX:
                s, residual = c.stages[i], f(c)
                residual = (
                    residual if y is None else residual - s.condition_jacobian.T @ self.symbol(c, y)
                )
                return residual if x is None else residual - s.tangent @ self.symbol(c, x)

            @_cached
            def s(c: Chain, x: Name | None = x) -> SX:
                return (
                    g(c) if x is None else g(c) - c.stages[i].condition_tangent @ self.symbol(c, x)
                )

            δx, δy = self._correct(i, r, s, width)
            x, y = self._sum(x, δx), self._sum(y, δy)
        return x, y

    def _correct(self, i: int, r: Expression, s: Expression, width: int) -> tuple[Name, Name]:
        """Execute one pass of the iteration in `saddle`."""
        space = self._chain.stages[i].multiplier_space
        system = self._system(space)
        n, regular = self.size(COORDINATES), self._chain.saddle.regular
        right = self.plan.vector(system.size, width)
        δx, δy = ("δx", right.offset), ("δy", right.offset)
        self.stored[δx] = Stored(COORDINATES, right, system.place[:n])

        def penalised(c: Chain) -> SX:
            α = self._chain.saddle.penalty_of(c.stages[i])
            return r(c) + c.stages[i].condition_jacobian.T @ (α * s(c))

        outputs = [Output(r if regular else penalised, self.stored[δx], Mode.ADD)]
        if regular:
            self.stored[δy] = Stored(space, right, system.place[n:])
            outputs.append(Output(s, self.stored[δy], Mode.ADD))
        self.zero(Stored(COORDINATES, right))
        factors = self._factors(i)
        if factors is None:
            factors = Factors(
                system.pattern, system.symmetric, self.plan.vector(system.pattern.entries)
            )
            self._factored.append((i, factors))
            values = Stored(COORDINATES, factors.values)
            stored = (
                system.size
                + system.pattern.upper.size
                + (0 if system.symmetric else system.pattern.lower.size)
            )
            self.zero(Stored(COORDINATES, factors.values.part(0, stored)))
            outputs.append(
                Output(
                    lambda c: system.entries(self._piece(c), i),
                    values,
                    Mode.ADD,
                    lambda p: system.table(p, i),
                )
            )
            self.over_kinds(*outputs)
            self.plan.operations.append(Factor(factors))
        else:
            self.over_kinds(*outputs)
        self.plan.operations.append(Solve(factors, right))
        if not regular:

            def multipliers(c: Chain) -> SX:
                α = self._chain.saddle.penalty_of(c.stages[i])
                return α * (c.stages[i].condition_tangent @ self.symbol(c, δx) - s(c))

            self.over_kinds(Output(multipliers, self.new(δy, space, width)))
        return δx, δy

    def _factors(self, i: int) -> Factors | None:
        """Return the factors of an earlier stage with the same matrix, if there is one."""
        system = self._system(self._chain.stages[i].multiplier_space)
        for j, factors in self._factored:
            if self._chain.stages[j].multiplier_space == system.space and all(
                ca.is_equal(system.matrix(p.local.stages[i]), system.matrix(p.local.stages[j]), 20)
                for p in self.pieces.kinds
            ):
                return factors
        return None

    def _sum(self, first: Name | None, second: Name) -> Name:
        if first is None:
            return second
        space, width = self.stored[second].space, self.stored[second].vector.width
        name = ("sum", self.plan.workspace)
        total = self.new(name, space, width)
        self.over_entries(
            space, Output(lambda c: self.symbol(c, first) + self.symbol(c, second), total)
        )
        return name

    def _piece(self, chain: Chain) -> Piece[Chain]:
        return next(p for p in self.pieces.kinds if p.local is chain)

    # stages after the first, and derivatives

    def solve_linear(self, i: int) -> None:
        """Solve a linear stage: unknowns and multipliers as corrections of their guesses."""

        def at_guess(c: Chain) -> tuple[SX, SX]:
            s = c.stages[i]
            f, g = ca.substitute(
                [s.balance, s.condition], [s.unknown, s.multiplier], [s.guess, s.multiplier_guess]
            )
            return -f, -g / s.weight

        Δx, Δy = self.solve(i, lambda c: at_guess(c)[0], lambda c: at_guess(c)[1])
        space = self._chain.stages[i].multiplier_space
        x, y = self.new(("x", i), COORDINATES), self.new(("y", i), space)
        self.over_entries(COORDINATES, Output(lambda c: c.stages[i].guess + self.symbol(c, Δx), x))
        self.over_entries(
            space, Output(lambda c: c.stages[i].multiplier_guess + self.symbol(c, Δy), y)
        )

    def differentiate(self, i: int) -> None:
        """Differentiate a stage's unknowns, multipliers and dependents; see `tangent_of`."""
        relations = range(len(self._chain.stages[i].dependents))
        partly = {j: self._differentiate_dependent(i, j, ("partial", i, j)) for j in relations}

        def rule(c: Chain) -> ChainRule:
            symbols = [c.stages[i].dependents[j][0] for j in relations]
            return self._derivatives(c).extended(
                symbols, [self.symbol(c, partly[j]) for j in relations]
            )

        y0: Name | None = None
        if not self._chain.saddle.regular:
            y0, space = ("guess", i), self._chain.stages[i].multiplier_space
            guess = self.new(y0, space, self._width)
            self.over_entries(
                space, Output(lambda c: self.derivative(c, c.stages[i].multiplier_guess), guess)
            )
        x_, y_ = self.solve(
            i,
            lambda c: -rule(c).derivative(c.stages[i].balance),
            lambda c: -rule(c).derivative(c.stages[i].condition) / c.stages[i].weight,
            y=y0,
            width=self._width,
        )
        self.stored["derivative", ("x", i)], self.stored["derivative", ("y", i)] = (
            self.stored[x_],
            self.stored[y_],
        )
        for j in relations:
            self._differentiate_dependent(i, j, ("derivative", ("dependent", i, j)))

    def _differentiate_dependent(self, i: int, j: int, name: Name) -> Name:
        target = self.new(name, COORDINATES, self._width)
        self.over_entries(
            COORDINATES, Output(lambda c: self.derivative(c, c.stages[i].dependents[j][1]), target)
        )
        return name

    def derivative(self, chain: Chain, expression: SX) -> SX:
        """Return the derivative with respect to one parameter, by the symbols differentiated so
        far.
        """
        return self._derivatives(chain).derivative(expression)

    def _derivatives(self, chain: Chain) -> ChainRule:
        symbols = _symbols(chain)
        names = [
            name
            for name in symbols
            if ("derivative", name) in self.stored and symbols[name].numel()
        ]
        vectors = self._width // lanes(self._width)
        none = ChainRule([SX.sym("none")], [SX(1, 1)], vectors=vectors)
        return none.extended(
            [symbols[n] for n in names], [self.symbol(chain, ("derivative", n)) for n in names]
        )


def _cached(expression: Expression) -> Expression:
    """Cache the values of a function of a chain: all passes of a solution use them."""
    evaluated: dict[int, SX] = {}

    def cached(chain: Chain) -> SX:
        if id(chain) not in evaluated:
            evaluated[id(chain)] = expression(chain)
        return evaluated[id(chain)]

    return cached


def _result(value: Callable[[Chain, SX], SX], k: int, chain: Chain) -> SX:
    return value(chain, chain.result[k].value)


def _symbols(chain: Chain) -> dict[Name, SX]:
    """Return the symbols of a chain by name."""
    symbols: dict[Name, SX] = {("state", k): block.value for k, block in enumerate(chain.state)}
    symbols |= {("setting", k): block.value for k, block in enumerate(chain.settings)}
    for i, stage in enumerate(chain.stages):
        symbols |= {("x", i): stage.unknown, ("y", i): stage.multiplier}
        symbols |= {("dependent", i, j): symbol for j, (symbol, _) in enumerate(stage.dependents)}
    return symbols
