"""The functions of a chain for a large system: assembled from pieces, factored sparsely. The mathematics is that of `chain` and `saddle`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import casadi as ca
import numpy as np

from ..symbols import SX
from .chain import COORDINATES, NEWTON_TOLERANCE, PARAMETERS, SCALAR, Chain
from .known import Known
from .pieces import Name, Output, Piece, Pieces, Stored, Writer
from .plan import Factor, Factors, Mode, Plan, Solve, Vector, Zero
from .reverse import Reverse, linear_part
from .system import System

Expression = Callable[[Chain], SX]


class AssembledChain:
    """A chain stated for each kind of element, and its functions for the whole system (see `Chain` for their arguments)."""

    def __init__(self, pieces: Pieces[Chain]):
        self.pieces = pieces
        self.chain = pieces.point
        self._systems: dict[str, System] = {}

    @cached_property
    def predict(self) -> Plan:
        """(state, settings…) → x, y."""
        f = _Function(self, "predict")
        f.settings()
        first = self.chain.stages[0]
        x, y = f.result(COORDINATES), f.result(first.multiplier_space)
        f.over_entries(COORDINATES, Output(lambda c: c.stages[0].guess, x))
        f.over_entries(first.multiplier_space, Output(lambda c: c.stages[0].multiplier_guess, y))
        return f.plan

    @cached_property
    def iterate(self) -> Plan:
        """(state, x, y, settings…) → x, y, r."""
        f = _Function(self, "iterate")
        f.unknowns()
        f.settings()
        space = self.chain.stages[0].multiplier_space
        x_new, y_new, ratio = f.result(COORDINATES), f.result(space), f.result(SCALAR)
        Δx, Δy = f.solve(0, lambda c: -c.stages[0].balance, lambda c: -c.stages[0].condition / c.stages[0].weight, passes=1)
        step, size, magnitude = (f.new(name, SCALAR) for name in ("largest Δx", "largest x", "magnitude"))
        f.zero(step, size, magnitude)

        def moved(c: Chain) -> SX:
            return c.stages[0].unknown + f.symbol(c, Δx)

        f.over_entries(
            COORDINATES,
            Output(moved, x_new),
            Output(moved, size, Mode.LARGEST),
            Output(lambda c: f.symbol(c, Δx), step, Mode.LARGEST),
            Output(lambda c: _given(c.stages[0].magnitude), magnitude, Mode.LARGEST),
        )
        f.over_entries(space, Output(lambda c: c.stages[0].multiplier + f.symbol(c, Δy), y_new))

        def converged(c: Chain) -> SX:
            step, size, magnitude = (f.symbol(c, name) for name in ("largest Δx", "largest x", "magnitude"))
            return step / (NEWTON_TOLERANCE * size + _given(c.stages[0].noise) * (1 + magnitude))

        f.over_entries(SCALAR, Output(converged, ratio))
        return f.plan

    def finish(self, tangent: Tangent | None = None) -> Plan:
        """(state[, x, y][, state'], settings…) → result, residuals[, result']."""
        f = _Function(self, "finish")
        if self.chain.iterated:
            f.unknowns()
        if tangent is not None:
            f.derivatives(tangent)
        f.settings()
        result, residuals = f.state_result(), f.plan.result(3)
        slopes = f.state_result(tangent.directions.shape[1]) if tangent is not None else None
        for i in range(1 if self.chain.iterated else 0, len(self.chain.stages)):
            f.solve_linear(i)
        f.collect(result, lambda c, block: block)
        f.zero(Stored(SCALAR, residuals))
        levels = [Stored(SCALAR, residuals.part(k, 1)) for k in range(3)]
        f.over_kinds(*[Output(partial(_level, k), level, Mode.LARGEST) for k, level in enumerate(levels)])
        if tangent is not None and slopes is not None:
            for i in range(len(self.chain.stages)):
                f.differentiate(i)
            f.collect(slopes, f.derivative)
        return f.plan

    def pullback(self, objectives: int, *, state_varies: bool) -> Plan:
        """(state[, x, y], r̄, settings…) → s̄, ρ̄ with all parameters: the derivatives of `finish`, transposed, a column an objective."""
        f = _Function(self, "pullback")
        if self.chain.iterated:
            f.unknowns()
        costate = f.costate(objectives)
        f.settings()
        pulled = f.state_costate(objectives), f.plan.result(f.size(PARAMETERS), objectives)
        slopes, directions, changes = f.direction(state_varies)
        for i in range(1 if self.chain.iterated else 0, len(self.chain.stages)):
            f.solve_linear(i)
        for i in range(len(self.chain.stages)):
            f.differentiate(i)
        f.collect(changes, f.derivative)
        values, linear, written = linear_part(f.plan.operations, [slopes, directions])
        f.plan.operations = values
        reverse = Reverse(f.plan, objectives)
        for vector, target in ((slopes, pulled[0]), (directions, pulled[1])):
            reverse.know(vector, target)
        whole = changes[0].vector
        result = Vector(whole.base, whole.offset, sum(c.vector.rows for c in changes))
        reverse.know(result, costate)
        own = [v for v in written if reverse.of(v) is None]
        for vector in own:
            reverse.know(vector, f.plan.vector(vector.rows, objectives))
        f.plan.operations += [Zero(v) for v in (*pulled, *[reverse.of(v) for v in own]) if v is not None]
        reverse.sweep(linear)
        return f.plan

    def system(self, space: str) -> System:
        """The linear system of the stages whose multipliers live in a space."""
        if space not in self._systems:
            stages = [i for i, s in enumerate(self.chain.stages) if s.multiplier_space == space]
            self._systems[space] = System(self.pieces, stages, space)
        return self._systems[space]


@dataclass(frozen=True, eq=False)
class Tangent:
    """Directions in the space of the parameters to differentiate in, one a column; and whether the state at the beginning depends on them."""

    directions: np.ndarray
    state_varies: bool


class _Function(Writer[Chain]):
    """One function of an assembled chain, while it is written. Names of vectors: ("x", stage), ("derivative", name), …"""

    def __init__(self, assembled: AssembledChain, name: str):
        super().__init__(f"{assembled.chain.name}_{name}", assembled.pieces, _symbols)
        self._assembled = assembled
        self._chain = assembled.chain
        self._factored: list[tuple[int, Factors]] = []
        self._width = 1
        sizes = [self.size(block.space) for block in self._chain.state]
        self._name_blocks(self.plan.argument(sum(sizes)), lambda k: ("state", k))

    # arguments and results

    def unknowns(self) -> None:
        """The next arguments: x and y of the iterated stage."""
        space = self._chain.stages[0].multiplier_space
        self.stored["x", 0] = Stored(COORDINATES, self.plan.argument(self.size(COORDINATES)))
        self.stored["y", 0] = Stored(space, self.plan.argument(self.size(space)))

    def derivatives(self, tangent: Tangent) -> None:
        """The next argument: state'; and ρ', which is constant."""
        self._width = tangent.directions.shape[1]
        slopes = self.plan.argument(sum(self.size(block.space) for block in self._chain.state), self._width)
        if tangent.state_varies:
            self._name_blocks(slopes, lambda k: ("derivative", ("state", k)))
        parameters = len(self._chain.settings) - 2
        self.stored["derivative", ("setting", parameters)] = Stored(PARAMETERS, self.plan.constant(tangent.directions))

    def costate(self, objectives: int) -> Vector:
        """The next argument: the costate of the result."""
        return self.plan.argument(sum(self.size(block.space) for block in self._chain.result), objectives)

    def state_costate(self, objectives: int) -> Vector:
        """The next result: the costate of the state."""
        return self.plan.result(sum(self.size(block.space) for block in self._chain.state), objectives)

    def direction(self, state_varies: bool) -> tuple[Vector, Vector, list[Stored]]:
        """One column of derivatives, to be transposed: of the state, of the parameters, and of the result."""
        slopes = self.plan.vector(sum(self.size(block.space) for block in self._chain.state))
        if state_varies:
            self._name_blocks(slopes, lambda k: ("derivative", ("state", k)))
        directions = self.plan.vector(self.size(PARAMETERS))
        self.stored["derivative", ("setting", len(self._chain.settings) - 2)] = Stored(PARAMETERS, directions)
        sizes = [self.size(block.space) for block in self._chain.result]
        change, first = self.plan.vector(sum(sizes)), np.cumsum([0, *sizes]).tolist()
        return slopes, directions, [Stored(b.space, change.part(first[k], sizes[k])) for k, b in enumerate(self._chain.result)]

    def settings(self) -> None:
        """The last arguments."""
        for k, block in enumerate(self._chain.settings):
            self.stored["setting", k] = Stored(block.space, self.plan.argument(self.size(block.space)))

    def result(self, space: str) -> Stored:
        """The next result."""
        return Stored(space, self.plan.result(self.size(space)))

    def state_result(self, width: int = 1) -> list[Stored]:
        """The next result, a state: one for each of its blocks."""
        sizes = [self.size(block.space) for block in self._chain.result]
        vector = self.plan.result(sum(sizes), width)
        first = np.cumsum([0, *sizes]).tolist()
        return [Stored(b.space, vector.part(first[k], sizes[k])) for k, b in enumerate(self._chain.result)]

    def _name_blocks(self, vector: Vector, name: Callable[[int], Name]) -> None:
        first = 0
        for k, block in enumerate(self._chain.state):
            self.stored[name(k)] = Stored(block.space, vector.part(first, self.size(block.space)))
            first += self.size(block.space)

    def collect(self, targets: list[Stored], value: Callable[[Chain, SX], SX]) -> None:
        """Write the blocks of the result, or something of them."""
        for k, target in enumerate(targets):
            self.over_entries(target.space, Output(partial(_result, value, k), target))

    # dependents

    def missing(self, name: Name) -> None:
        """Quantities that follow from the unknowns of a stage are evaluated when they are needed."""
        kind, i, j = name
        assert kind == "dependent"
        target = self.new(name, COORDINATES)
        self.over_entries(COORDINATES, Output(lambda c: c.stages[i].dependents[j][1], target))

    # linear systems

    def solve(
        self, i: int, f: Expression, g: Expression, *, y: Name | None = None, passes: int | None = None, width: int = 1
    ) -> tuple[Name, Name]:
        """H x + Jᵀ y = f,  J x = g  for stage i, from a first y; returns the names of x and y."""
        saddle = self._chain.saddle
        x: Name | None = None
        if self._chain.stages[i].compliant:
            passes, y = 1, None
        for _ in range(passes or saddle.passes or (1 if saddle.regular else 2)):

            def r(c: Chain, x: Name | None = x, y: Name | None = y) -> SX:
                s, left = c.stages[i], f(c)
                left = left if y is None else left - s.condition_jacobian.T @ self.symbol(c, y)
                return left if x is None else left - s.tangent @ self.symbol(c, x)

            def s(c: Chain, x: Name | None = x) -> SX:
                return g(c) if x is None else g(c) - c.stages[i].condition_tangent @ self.symbol(c, x)

            δx, δy = self._correct(i, r, s, width)
            x, y = self._sum(x, δx), self._sum(y, δy)
        return x, y

    def _correct(self, i: int, r: Expression, s: Expression, width: int) -> tuple[Name, Name]:
        """One pass; see `saddle`."""
        space = self._chain.stages[i].multiplier_space
        system = self._assembled.system(space)
        n, regular = self.size(COORDINATES), self._chain.saddle.regular
        right = self.plan.vector(system.size, width)
        δx, δy = ("δx", right.offset), ("δy", right.offset)
        self.stored[δx] = Stored(COORDINATES, right, system.place[:n])

        def penalised(c: Chain) -> SX:
            α = ca.repmat(self._chain.saddle.penalty_of(c.stages[i]), 1, width)
            return (r(c) + c.stages[i].condition_jacobian.T @ (α * s(c))).T

        outputs = [Output((lambda c: r(c).T) if regular else penalised, self.stored[δx], Mode.ADD)]
        if regular:
            self.stored[δy] = Stored(space, right, system.place[n:])
            outputs.append(Output(lambda c: s(c).T, self.stored[δy], Mode.ADD))
        self.zero(Stored(COORDINATES, right))
        factors = self._factors(i)
        if factors is None:
            factors = self._new_factors(i, system)
            values = Stored(COORDINATES, factors.values)
            given = system.size + system.pattern.upper.size + (0 if system.symmetric else system.pattern.lower.size)
            self.zero(Stored(COORDINATES, factors.values.part(0, given)))
            outputs.append(Output(lambda c: system.entries(self._piece(c), i), values, Mode.ADD, lambda p: system.table(p, i)))
            self.over_kinds(*outputs)
            self.plan.operations.append(Factor(factors))
        else:
            self.over_kinds(*outputs)
        self.plan.operations.append(Solve(factors, right))
        if not regular:

            def multipliers(c: Chain) -> SX:
                α = ca.repmat(self._chain.saddle.penalty_of(c.stages[i]), 1, width)
                return (α * (c.stages[i].condition_tangent @ self.symbol(c, δx) - s(c))).T

            self.over_kinds(Output(multipliers, self.new(δy, space, width)))
        return δx, δy

    def _factors(self, i: int) -> Factors | None:
        """Factors of an earlier stage that has the same matrix."""
        system = self._assembled.system(self._chain.stages[i].multiplier_space)
        for j, factors in self._factored:
            if self._chain.stages[j].multiplier_space == system.space and all(
                ca.is_equal(system.matrix(p.local.stages[i]), system.matrix(p.local.stages[j]), 20) for p in self.pieces.kinds
            ):
                return factors
        return None

    def _new_factors(self, i: int, system: System) -> Factors:
        values = self.plan.vector(system.pattern.entries)
        self._factored.append((i, Factors(system.pattern, system.symmetric, values)))
        return self._factored[-1][1]

    def _sum(self, first: Name | None, second: Name) -> Name:
        if first is None:
            return second
        space, width = self.stored[second].space, self.stored[second].vector.width
        total = self.new(("sum", self.plan.workspace), space, width)
        name = next(n for n, stored in self.stored.items() if stored is total)
        self.over_entries(space, Output(lambda c: (self.symbol(c, first) + self.symbol(c, second)).T, total))
        return name

    def _piece(self, chain: Chain) -> Piece[Chain]:
        return next(p for p in self.pieces.kinds if p.local is chain)

    # stages after the first, and derivatives

    def solve_linear(self, i: int) -> None:
        """Unknowns and multipliers of a linear stage, as corrections of their guess."""

        def at_guess(c: Chain) -> tuple[SX, SX]:
            s = c.stages[i]
            f, g = ca.substitute([s.balance, s.condition], [s.unknown, s.multiplier], [s.guess, s.multiplier_guess])
            return -f, -g / s.weight

        Δx, Δy = self.solve(i, lambda c: at_guess(c)[0], lambda c: at_guess(c)[1])
        space = self._chain.stages[i].multiplier_space
        x, y = self.new(("x", i), COORDINATES), self.new(("y", i), space)
        self.over_entries(COORDINATES, Output(lambda c: c.stages[i].guess + self.symbol(c, Δx), x))
        self.over_entries(space, Output(lambda c: c.stages[i].multiplier_guess + self.symbol(c, Δy), y))

    def differentiate(self, i: int) -> None:
        """Derivatives of a stage's unknowns, multipliers and dependents; see `tangent_of`."""
        relations = range(len(self._chain.stages[i].dependents))
        partly = {j: self._differentiate_dependent(i, j, ("partial", i, j)) for j in relations}

        def here(c: Chain) -> Known:
            symbols = [c.stages[i].dependents[j][0] for j in relations]
            return self._derivatives(c).extended(symbols, [self.symbol(c, partly[j]) for j in relations])

        y0: Name | None = None
        if not self._chain.saddle.regular:
            y0, space = ("guess", i), self._chain.stages[i].multiplier_space
            guess = self.new(y0, space, self._width)
            self.over_entries(space, Output(lambda c: self.derivative(c, c.stages[i].multiplier_guess), guess))
        x_, y_ = self.solve(
            i,
            lambda c: -here(c).derivative(c.stages[i].balance),
            lambda c: -here(c).derivative(c.stages[i].condition) / c.stages[i].weight,
            y=y0,
            width=self._width,
        )
        self.stored["derivative", ("x", i)], self.stored["derivative", ("y", i)] = self.stored[x_], self.stored[y_]
        for j in relations:
            self._differentiate_dependent(i, j, ("derivative", ("dependent", i, j)))

    def _differentiate_dependent(self, i: int, j: int, name: Name) -> Name:
        target = self.new(name, COORDINATES, self._width)
        self.over_entries(COORDINATES, Output(lambda c: self.derivative(c, c.stages[i].dependents[j][1]), target))
        return name

    def derivative(self, chain: Chain, expression: SX) -> SX:
        """By all that is known so far, one row a parameter."""
        return self._derivatives(chain).derivative(expression).T

    def _derivatives(self, chain: Chain) -> Known:
        symbols = _symbols(chain)
        names = [name for name in symbols if ("derivative", name) in self.stored and symbols[name].numel()]
        none = Known([SX.sym("none")], [SX(1, self._width)])
        return none.extended([symbols[n] for n in names], [self.symbol(chain, ("derivative", n)) for n in names])


def _result(value: Callable[[Chain, SX], SX], k: int, chain: Chain) -> SX:
    return value(chain, chain.result[k].value)


def _level(k: int, chain: Chain) -> SX:
    return chain.levels[k]


def _given(expression: SX | None) -> SX:
    """Of an iterated stage, which has it."""
    assert expression is not None
    return expression


def _symbols(chain: Chain) -> dict[Name, SX]:
    """Symbols of a chain by name."""
    found: dict[Name, SX] = {("state", k): block.value for k, block in enumerate(chain.state)}
    found |= {("setting", k): block.value for k, block in enumerate(chain.settings)}
    for i, stage in enumerate(chain.stages):
        found |= {("x", i): stage.unknown, ("y", i): stage.multiplier}
        found |= {("dependent", i, j): symbol for j, (symbol, _) in enumerate(stage.dependents)}
    return found
