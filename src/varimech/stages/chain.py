"""A chain of stages: the statement of a time step or of an initial-state problem, and the functions
that evaluate it.

Each stage has unknowns x with multipliers y and solves

    f(x, y; d, u) = 0,     g(x; d, u) = 0,

where u collects the quantities known before the stage (initial state, parameters, time, earlier
stages) and d are quantities that depend on x and u by simple relations (in an implicit scheme,
positions and velocities as functions of accelerations). With  J = ∂g/∂x / w  for a scalar weight
w, multipliers enter f as Jᵀ y. The linearisation is the saddle-point system

    ⎡ H  Jᵀ ⎤ ⎡ Δx ⎤     ⎡ f   ⎤
    ⎣ J  0  ⎦ ⎣ Δy ⎦ = − ⎣ g/w ⎦,     H = ∂f/∂x,

solved by augmented Lagrangian iterations (`saddle`). The solution and its derivative follow from
the same statement.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property

import casadi as ca

from ..core.symbols import SX, without_repetitions
from .saddle import Corrector, NumericStage, Saddle

NEWTON_TOLERANCE = 1e-9
"""Relative Newton correction at which the iteration counts as converged. Convergence is quadratic,
so the remaining error is of the order of its square.
"""
ROUNDING = 1e-14
"""Relative rounding error of positions: some 50 units in the last place, for the sums that
positions result from.
"""
MANY = 9
"""Default number of derivatives: more than are ever taken."""
COORDINATES, CONSTRAINTS, INITIAL_CONDITIONS, PARAMETERS, SCALAR = (
    "coordinates",
    "constraints",
    "initial conditions",
    "parameters",
    "scalar",
)
"""Names of vector spaces. The space of initial conditions holds the constraints, followed by the
conditions that the user specifies.
"""


@dataclass(frozen=True)
class Block:
    """A vector, and the name of the space of its entries."""

    space: str
    value: SX


@dataclass(frozen=True)
class Statement:
    """Everything that defines a stage."""

    symbols: list[SX]
    expressions: list[SX]
    """Expressions in these symbols, and in those of the chain and of earlier stages."""
    properties: tuple[object, ...]
    """Everything else, with a `repr` that is equal where the properties are."""


@dataclass(frozen=True)
class Stage:
    """One stage; see the module for the equations. Its unknowns are coordinates or their rates.

    A nonlinear stage is iterated; rounding alone can cause corrections of magnitude
    noise (1 + ‖magnitude‖).
    """

    name: str
    unknown: SX
    multiplier: SX
    balance: SX
    condition: SX
    guess: SX
    multiplier_guess: SX
    penalty: SX
    """α, one factor for each condition; see `saddle`."""
    symmetric: bool = True
    weight: SX = field(default_factory=lambda: SX(1))
    dependents: tuple[tuple[SX, SX], ...] = ()
    """Pairs (symbol, expression in x and u)."""
    named: tuple[tuple[SX, SX, int], ...] = ()
    """Triples (symbol, expression, number of derivatives): names for expressions of u and of
    earlier names, which would otherwise be repeated, and differentiated, many times. Only the
    stated number of their derivatives matters.
    """
    multiplier_space: str = CONSTRAINTS
    noise: SX | None = None
    magnitude: SX | None = None
    metric: SX | None = None
    """Replaces ∂f/∂x where the solution x does not depend on ∂f/∂x: the metric in which corrections
    are smallest.
    """
    compliant: bool = False
    """Whether g has a term − w y/α. Then α defines y instead of only accelerating its computation,
    and ∂g/∂x differs from w J.
    """
    oblique: bool = False
    """Whether ∂g/∂x differs from w J for another reason: forces that depend on y, such as dry
    friction. Such a stage is not symmetric.
    """
    derivatives: int = MANY
    """Number of derivatives of its solution that matter; further ones count as zero, because they
    are multiplied by a vanishing factor.
    """

    def derivative(self, expression: SX) -> SX:
        """Total derivative with respect to the unknowns, including the dependents.

        One directional change of the unknowns covers all dependents, so the expression is
        differentiated once.
        """
        if not self.dependents:
            return ca.jacobian(expression, self.unknown)
        change = SX.sym("change", self.unknown.numel())
        symbols = [self.unknown, *[symbol for symbol, _ in self.dependents]]
        updated = [self.unknown + change]
        updated += [
            symbol + ca.jacobian(relation, self.unknown) @ change
            for symbol, relation in self.dependents
        ]
        perturbed = ca.substitute([expression], symbols, updated)[0]
        return ca.substitute(ca.jacobian(perturbed, change), change, SX.zeros(change.numel()))

    @cached_property
    def tangent(self) -> SX:
        """H = ∂f/∂x, or the metric in place of it."""
        return self.derivative(self.balance) if self.metric is None else self.metric

    @cached_property
    def condition_jacobian(self) -> SX:
        """J, the coefficient of y in the balance."""
        return ca.jacobian(self.balance, self.multiplier).T

    @cached_property
    def condition_tangent(self) -> SX:
        """∂g/∂x / w."""
        return (
            self.derivative(self.condition) * (1 / self.weight)
            if self.compliant or self.oblique
            else self.condition_jacobian
        )

    @property
    def statement(self) -> Statement:
        """Its definition; each field is a symbol, an expression or a property."""
        symbols, expressions, properties = list[SX](), list[SX](), list[object]()
        for definition in fields(self):
            name, value = definition.name, getattr(self, definition.name)
            if name in ("unknown", "multiplier"):
                symbols.append(value)
            elif name in ("dependents", "named"):
                symbols += [entry[0] for entry in value]
                expressions += [entry[1] for entry in value]
                properties.append([entry[2:] for entry in value])
            elif isinstance(value, SX):
                expressions.append(value)
                properties.append(name)
            else:
                properties.append((name, value))
        return Statement(symbols, expressions, tuple(properties))


@dataclass(frozen=True)
class Chain:
    """A sequence of stages and the state that results. The first stage may be nonlinear and is then
    iterated; all others are linear.
    """

    name: str
    state: tuple[Block, ...]
    """The state at the beginning."""
    settings: tuple[Block, ...]
    """Further arguments of all functions of the chain, ending with the parameters and the time."""
    stages: tuple[Stage, ...]
    result: tuple[Block, ...]
    """The state at the end."""
    levels: tuple[SX, SX, SX]
    """Constraint violations at position, velocity and acceleration level in the resulting state.
    Their largest entries are the `residuals`.
    """
    saddle: Saddle
    """The solver of the stages' linear systems."""

    @property
    def iterated(self) -> bool:
        """Whether the first stage is nonlinear."""
        return self.stages[0].noise is not None

    @property
    def parameters(self) -> SX:
        """The parameters ρ."""
        return self.settings[-2].value

    @property
    def time(self) -> SX:
        """The time t."""
        return self.settings[-1].value

    @cached_property
    def packed(self) -> SX:
        """The state at the beginning, as one vector."""
        return ca.vertcat(*[block.value for block in self.state])

    @property
    def digest(self) -> bytes:
        """Hash of the statement. Chains with equal digests have the same functions and derivatives,
        whatever symbols they are stated in.
        """
        symbols = [block.value for block in (*self.state, *self.settings)]
        expressions = [*[block.value for block in self.result], *self.levels]
        blocks = [block.space for block in (*self.state, *self.settings, *self.result)]
        properties: list[object] = [self.name, self.saddle, blocks]
        for stage in self.stages:
            stated = stage.statement
            symbols += stated.symbols
            expressions += stated.expressions
            properties.append(stated.properties)
        statement = ca.Function("statement", symbols, expressions).serialize()
        return hashlib.sha256(f"{properties}\0{statement}".encode()).digest()

    def resolved(self, expressions: list[SX]) -> list[SX]:
        """Substitute the relations of all dependents, and the expressions of all names, into
        expressions.
        """
        symbols, values = self._relations
        return ca.substitute(expressions, symbols, values) if symbols else expressions

    @cached_property
    def _relations(self) -> tuple[list[SX], list[SX]]:
        """Dependents and names, with their expressions in terms of neither: long expressions are
        rewritten once, not once for each of them.
        """
        symbols, values = list[SX](), list[SX]()
        for stage in self.stages:
            for symbol, value, _ in stage.named:
                values += ca.substitute([value], symbols, values) if symbols else [value]
                symbols.append(symbol)
            own, relations = ([pair[k] for pair in stage.dependents] for k in (0, 1))
            values += ca.substitute(relations, symbols, values) if symbols else relations
            symbols += own
        return symbols, values

    def function(self, name: str, inputs: list[SX], outputs: list[SX]) -> ca.Function:
        """Build a CasADi function of this chain, with common subexpressions eliminated."""
        outputs = [ca.densify(x) for x in self.resolved(outputs)]
        arguments = [*inputs, *[block.value for block in self.settings]]
        results = without_repetitions(arguments, outputs)
        return ca.Function(f"{self.name}_{name}", arguments, results)

    def solve(self, stage: Stage, f: SX, g: SX, *, passes: int | None = None) -> tuple[SX, SX]:
        """Solve  H x + Jᵀ y = f,  J x = g  for a stage; its matrix is factored once."""
        return self.saddle.solve(stage, self._corrector(stage), f, g, passes=passes)

    def solve_column(
        self, stage: Stage, f: SX, g: SX, y: SX | None, coefficients: Callable[[SX], SX]
    ) -> tuple[SX, SX]:
        """Solve the system of `solve` from an initial y, with coefficient symbols in place of the
        matrix entries.
        """
        H, J, G, α = (
            coefficients(x)
            for x in (
                stage.tangent,
                stage.condition_jacobian,
                stage.condition_tangent,
                stage.penalty,
            )
        )
        replaced = NumericStage(H, J, G, stage.symmetric, α, stage.compliant)
        return self.saddle.solve(replaced, self._corrector(stage).mapped(coefficients), f, g, y)

    def _corrector(self, stage: Stage) -> Corrector:
        if stage.name not in self._correctors:
            self._correctors[stage.name] = self.saddle.corrector(stage)
        return self._correctors[stage.name]

    @cached_property
    def _correctors(self) -> dict[str, Corrector]:
        return {}

    @cached_property
    def predict(self) -> ca.Function:
        """(state, settings…) → x, y: initial guess for the iterated stage."""
        first = self.stages[0]
        return self.function("predict", [self.packed], [first.guess, first.multiplier_guess])

    @cached_property
    def iterate(self) -> ca.Function:
        """(state, x, y, settings…) → x, y, r: one Newton correction; r ≤ 1 means converged."""
        s = self.stages[0]
        assert s.noise is not None and s.magnitude is not None
        Δx, Δy = self.solve(s, -s.balance, -s.condition * (1 / s.weight), passes=1)
        x = s.unknown + Δx
        allowed = NEWTON_TOLERANCE * ca.norm_inf(x) + s.noise * (1 + ca.norm_inf(s.magnitude))
        return self.function(
            "iterate",
            [self.packed, s.unknown, s.multiplier],
            [x, s.multiplier + Δy, ca.norm_inf(Δx) / allowed],
        )

    def finish(self, extra: SX | None = None) -> ca.Function:
        """Build (state[, x, y], settings…) → result, residuals[, extra], which solves the linear
        stages.

        x and y are the unknowns and multipliers of the iterated stage, if there is one; `extra` may
        contain any unknown.
        """
        residuals = ca.vertcat(
            *[ca.norm_inf(level) if level.numel() else SX(0) for level in self.levels]
        )
        outputs = [ca.vertcat(*[block.value for block in self.result]), residuals]
        return self._after_iterations("finish", outputs if extra is None else [*outputs, extra])

    def linearise(self, coefficients: SX) -> ca.Function:
        """(state[, x, y], settings…) → coefficients, which may contain any unknown."""
        return self._after_iterations("linearise", [coefficients])

    def _after_iterations(self, name: str, outputs: list[SX]) -> ca.Function:
        """Build a function of expressions of all unknowns, with the unknowns of linear stages
        eliminated.
        """
        first = self.stages[0]
        symbols, values = self._linear_solutions
        inputs = [self.packed, first.unknown, first.multiplier] if self.iterated else [self.packed]
        return self.function(
            name, inputs, ca.substitute(outputs, symbols, values) if symbols else outputs
        )

    @cached_property
    def _linear_solutions(self) -> tuple[list[SX], list[SX]]:
        """Names, dependents and unknowns of the linear stages, and their values as expressions of
        the state, the settings and the unknowns of the iterated stage.
        """
        symbols, values = list[SX](), list[SX]()
        for stage in self.stages[1:] if self.iterated else self.stages:
            # names, and the dependents of a linear stage, follow from earlier quantities
            pairs = [(symbol, value) for symbol, value, _ in stage.named]
            for symbol, relation in (*pairs, *stage.dependents):
                values.append(
                    ca.substitute([relation], symbols, values)[0] if symbols else relation
                )
                symbols.append(symbol)
            x, y = self._solve_linear(stage)
            if symbols:
                x, y = ca.substitute([x, y], symbols, values)
            symbols += [stage.unknown, stage.multiplier]
            values += [x, y]
        return symbols, values

    def _solve_linear(self, stage: Stage) -> tuple[SX, SX]:
        """Return unknowns and multipliers of a linear stage, as corrections of their guesses."""
        symbols, guess = [stage.unknown, stage.multiplier], [stage.guess, stage.multiplier_guess]
        f, g = ca.substitute([stage.balance, stage.condition], symbols, guess)
        Δx, Δy = self.solve(stage, -f, -g * (1 / stage.weight))
        return stage.guess + Δx, stage.multiplier_guess + Δy
