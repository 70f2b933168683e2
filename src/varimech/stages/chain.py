"""A chain of stages: how a time step, and the start of a run, are stated; and the functions that
carry it out.

Each stage has unknowns x with multipliers y and solves

    f(x, y; d, u) = 0,     g(x; d, u) = 0,

where u is what is known before it (the state the chain starts from, parameters, time, earlier
stages) and d are quantities that depend on x and u by simple relations (positions and velocities on
accelerations, in an implicit scheme). With  J = ∂g/∂x / w  for a scalar weight w, multipliers enter
f as Jᵀ y. The linearisation is the saddle-point system

    ⎡ H  Jᵀ ⎤ ⎡ Δx ⎤     ⎡ f   ⎤
    ⎣ J  0  ⎦ ⎣ Δy ⎦ = − ⎣ g/w ⎦,     H = ∂f/∂x,

solved by augmented Lagrangian iterations (`saddle`). From the same statement come the solution and
its derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca

from ..core.symbols import SX
from .saddle import Corrector, NumericStage, Saddle

NEWTON_TOLERANCE = 1e-9
"""Relative correction at which Newton's iteration has converged (the error left is far smaller:
convergence is quadratic).
"""
ROUNDING = 1e-14
"""Relative error with which positions are known."""
COORDINATES, CONSTRAINTS, START_CONDITIONS, PARAMETERS, SCALAR = (
    "coordinates",
    "constraints",
    "start conditions",
    "parameters",
    "scalar",
)
"""Spaces. Those of start conditions are the constraints and, after them, what is given
beside them.
"""


@dataclass(frozen=True)
class Block:
    """A vector, and the space that says what its entries belong to."""

    space: str
    value: SX


@dataclass(frozen=True)
class Stage:
    """One stage; see the module. Its unknowns are coordinates, or rates of them.

    A nonlinear one is iterated. Rounding alone can cause corrections of the size  noise (1 +
    ‖magnitude‖).
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
    multiplier_space: str = CONSTRAINTS
    noise: SX | None = None
    magnitude: SX | None = None
    metric: SX | None = None
    """In place of ∂f/∂x, where that does not change what x comes to: the metric in which
    corrections are smallest.
    """
    compliant: bool = False
    """Whether g has a term − w y/α: then α is no help to find y, but what defines it, and ∂g/∂x is
    more than w J.
    """

    def derivative(self, expression: SX) -> SX:
        """Total derivative with respect to the unknowns, through the dependents: all of them at
        once, as one change of the unknowns.
        """
        if not self.dependents:
            return ca.jacobian(expression, self.unknown)
        change = SX.sym("change", self.unknown.numel())
        symbols = [self.unknown, *[symbol for symbol, _ in self.dependents]]
        moved = [self.unknown + change]
        moved += [
            symbol + ca.jacobian(relation, self.unknown) @ change
            for symbol, relation in self.dependents
        ]
        changed = ca.substitute([expression], symbols, moved)[0]
        return ca.substitute(ca.jacobian(changed, change), change, SX.zeros(change.numel()))

    @cached_property
    def tangent(self) -> SX:
        """H."""
        return self.derivative(self.balance) if self.metric is None else self.metric

    @cached_property
    def condition_jacobian(self) -> SX:
        """J, taken from the balance, where it stands as the coefficient of y."""
        return ca.jacobian(self.balance, self.multiplier).T

    @cached_property
    def condition_tangent(self) -> SX:
        """∂g/∂x / w."""
        return (
            self.derivative(self.condition) * (1 / self.weight)
            if self.compliant
            else self.condition_jacobian
        )


@dataclass(frozen=True)
class Chain:
    """Stages in order: the first may be nonlinear and is iterated then, all others are linear; and
    what they lead to.
    """

    name: str
    state: tuple[Block, ...]
    """What it starts from."""
    settings: tuple[Block, ...]
    """Further arguments of all its functions, ending with the parameters and the time."""
    stages: tuple[Stage, ...]
    result: tuple[Block, ...]
    """The state it leads to."""
    levels: tuple[SX, SX, SX]
    """What should vanish then: constraints at position, velocity and acceleration level. Their
    largest entries are its `residuals`.
    """
    saddle: Saddle
    """How the linear systems of the stages are solved."""

    @property
    def iterated(self) -> bool:
        """Whether its first stage is nonlinear."""
        return self.stages[0].noise is not None

    @property
    def parameters(self) -> SX:
        """ρ."""
        return self.settings[-2].value

    @cached_property
    def packed(self) -> SX:
        """What it starts from, as one vector."""
        return ca.vertcat(*[block.value for block in self.state])

    def resolved(self, expressions: list[SX]) -> list[SX]:
        """The expressions with all dependents written out."""
        for stage in reversed(self.stages):
            if stage.dependents:
                symbols, relations = zip(*stage.dependents, strict=True)
                expressions = ca.substitute(expressions, list(symbols), list(relations))
        return expressions

    def function(self, name: str, inputs: list[SX], outputs: list[SX]) -> ca.Function:
        """A function of this chain, in few operations."""
        outputs = ca.cse([ca.densify(x) for x in self.resolved(outputs)])
        return ca.Function(
            f"{self.name}_{name}", [*inputs, *[block.value for block in self.settings]], outputs
        )

    def solve(self, stage: Stage, f: SX, g: SX, *, passes: int | None = None) -> tuple[SX, SX]:
        """H x + Jᵀ y = f,  J x = g  for a stage, factored once for all who ask."""
        return self.saddle.solve(stage, self._corrector(stage), f, g, passes=passes)

    def solve_column(
        self, stage: Stage, f: SX, g: SX, y: SX | None, coefficients: Callable[[SX], SX]
    ) -> tuple[SX, SX]:
        """The same from a first y, with coefficients in place of expressions."""
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
        """(state, settings…) → x, y: a first guess for the iterated stage."""
        first = self.stages[0]
        return self.function("predict", [self.packed], [first.guess, first.multiplier_guess])

    @cached_property
    def iterate(self) -> ca.Function:
        """(state, x, y, settings…) → x, y, r: one Newton correction; converged where r ≤ 1."""
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

    def finish(self, wanted: SX | None = None) -> ca.Function:
        """(state[, x, y], settings…) → result, residuals[, wanted]: the linear stages, and
        expressions of all unknowns.

        x and y are those of the iterated stage, if there is one.
        """
        residuals = ca.vertcat(
            *[ca.norm_inf(level) if level.numel() else SX(0) for level in self.levels]
        )
        outputs = [ca.vertcat(*[block.value for block in self.result]), residuals]
        return self._after_iterations("finish", outputs if wanted is None else [*outputs, wanted])

    def linearise(self, coefficients: SX) -> ca.Function:
        """(state[, x, y], settings…) → expressions of all unknowns, alone."""
        return self._after_iterations("linearise", [coefficients])

    def _after_iterations(self, name: str, outputs: list[SX]) -> ca.Function:
        """Expressions of all unknowns, with those of linear stages written out."""
        first = self.stages[0]
        symbols: list[SX] = []
        values: list[SX] = []
        for stage in self.stages[1:] if self.iterated else self.stages:
            for (
                symbol,
                relation,
            ) in stage.dependents:  # of a linear stage, so they follow from what came before
                values.append(
                    ca.substitute([relation], symbols, values)[0] if symbols else relation
                )
                symbols.append(symbol)
            x, y = self._solve_linear(stage)
            if symbols:
                x, y = ca.substitute([x, y], symbols, values)
            symbols += [stage.unknown, stage.multiplier]
            values += [x, y]
        inputs = [self.packed, first.unknown, first.multiplier] if self.iterated else [self.packed]
        return self.function(
            name, inputs, ca.substitute(outputs, symbols, values) if symbols else outputs
        )

    def _solve_linear(self, stage: Stage) -> tuple[SX, SX]:
        """Unknowns of a linear stage, as corrections of its guess."""
        symbols, guess = [stage.unknown, stage.multiplier], [stage.guess, stage.multiplier_guess]
        f, g = ca.substitute([stage.balance, stage.condition], symbols, guess)
        Δx, Δy = self.solve(stage, -f, -g * (1 / stage.weight))
        return stage.guess + Δx, stage.multiplier_guess + Δy
