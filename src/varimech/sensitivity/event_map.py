"""The passage of an event as one chain: from the state just before it to the state just after it, both
at the same time, however parameters move the event itself.

Let δ be the time from the present one to the event, 0 for the parameters of the run. A neighbouring
motion moves on by δ with the equations before the event, is mapped by R (an impact, or nothing), and
moves back by δ with those after it. Series up to δ² have exact first and second derivatives at δ = 0:

    x₁ = x + f⁻ δ + ½ ḟ⁻ δ²,     w(x₁, t + δ, ρ) = 0,     x₂ = R(x₁, t + δ, ρ)
    x₃ = x₂ + f⁺ κ + ½ ḟ⁺ κ²,    κ = b − δ
    ψ ← ψ + g⁻ δ + ½ ġ⁻ δ² + g⁺ κ + ½ ġ⁺ κ²  + Σ (h + ḣ δ + ½ ḧ δ²)

with the rates f = (v, a) of the state x = (q, v), the function w that vanishes at the event, integrands
g, and the values h that objectives have of the event. δ follows from w by the inverse of its series,

    δ = −w/ẇ − ½ ẅ w²/ẇ³.

The saltation matrix is the first derivative of x ↦ x₃; tangents, adjoints and Hessians of this chain
are those of all others. Where a force switches (`switching`), R is the identity, and b is the length of
the step across the switch, at whose ends both sides of it are evaluated; b = 0 for events. An extremum
of h is an event with w = ḣ at which nothing happens; its value h − ½ ḣ²/ḧ has the right curvature.

What kind of event it is, is data: modes before and after it, which function vanishes, whether there is
an impact, whether the run ends there (then the state stays at the event, κ = 0), and which values are
taken on either side. So one function serves all events of a run.

R. I. Leine and H. Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems, Springer 2004,
chapter 7, for first derivatives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from ..coordinates.equations import Equations
from ..core.symbols import SX, symbols_in
from ..formulations.formulation import accelerations, settings_of, whole_state
from ..formulations.impact import impact
from ..stages.chain import COORDINATES, MANY, SCALAR, Block, Chain, Stage
from ..stages.chain_rule import ChainRule
from ..stages.saddle import Saddle
from .event_functions import EventFunctions
from .objective import Objective
from .objective_functions import objective_expressions
from .switching import jumps_of
from .tangent_augmented import differentiated


@dataclass(frozen=True)
class PassageLayout:
    """Where the data of a passage stand in a row: modes before and after it; 1 for the function that
    vanishes; 1 for each value that is taken before, or after it; then the length b of the step, and
    whether there is an impact, and the end of the run.
    """

    modes: int
    functions: int
    samples: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of modes before, modes after, functions, values before, values after, and three numbers."""
        return self.modes, self.modes, self.functions, self.samples, self.samples, 3

    @property
    def size(self) -> int:
        """Length of a row."""
        return sum(self.sizes)

    def parts(self, row: np.ndarray) -> list[np.ndarray]:
        """Views of the parts of a row."""
        return np.split(row, np.cumsum(self.sizes)[:-1])


class EventMap:
    """What passages of all events of a mechanism with some objectives are stated by."""

    def __init__(self, equations: Equations, objectives: Mapping[str, Objective]):
        self._e = equations
        events = EventFunctions(equations, objectives, None)
        self._switches = [switch.at for switch in jumps_of(equations, objectives)]
        self._watched, self.extrema = events.watched, events.extrema
        self._samples = events.sampled
        self._factors = np.zeros((0, 0)) if events.samples is None else events.samples.factors
        self._integrands, self._finals = objective_expressions(equations, objectives)
        self._modes = list(equations.model.parameter_set.modes.values())

    @property
    def key(self) -> tuple[object, ...]:
        """Equal where maps are, for the same integrands and final terms."""
        e = self._e
        values = ca.vertcat(SX(0, 1), *self._watched, *self._samples)
        function = ca.Function("events", [e.packed, e.ρ, e.t], [values])
        return function.serialize(), self._factors.tobytes(), tuple(self.extrema.items())

    @property
    def is_needed(self) -> bool:
        """Whether motions may have events at all."""
        return bool(self._watched or self._switches)

    @property
    def layout(self) -> PassageLayout:
        """What its data are."""
        functions = len(self._watched) + len(self._switches)
        return PassageLayout(len(self._modes), functions, len(self._samples))

    @property
    def first_switch(self) -> int:
        """Number of the first function that belongs to a switch."""
        return len(self._watched)

    def chain(self, saddle: Saddle) -> Chain:
        """State and integrals after an event, from positions and velocities before it."""
        return _Passage(self, saddle).chain

    @cached_property
    def deep(self) -> bool:
        """Whether a function that vanishes, or a value, depends on accelerations or multipliers."""
        e = self._e
        own = symbols_in(ca.veccat(SX(0, 1), *self._watched, *self._samples))
        return not own.isdisjoint(symbols_in(e.a, e.λ))


@dataclass(frozen=True)
class _Instant:
    """A place where rates are evaluated: symbols of the equations, and what stands for them there."""

    symbols: Sequence[SX]
    values: Sequence[SX]
    stages: tuple[Stage, ...]

    def at(self, expression: SX) -> SX:
        """An expression of the equations there."""
        return ca.substitute([expression], list(self.symbols), list(self.values))[0]


class _Passage:
    """The chain of a passage, under construction."""

    def __init__(self, functions: EventMap, saddle: Saddle):
        self._f, self._e = functions, functions._e
        # softness of constraints would be that of impacts, as in `formulations/impact`
        self._saddle = replace(saddle, passes=saddle.linear_passes + 1)
        self._data = SX.sym("event", functions.layout.size)
        parts = ca.vertsplit(
            self._data, [0, *np.cumsum(functions.layout.sizes).astype(int).tolist()]
        )
        self._before, self._after, self._which, self._taken, self._taken_after, numbers = parts
        self._b, self._hits, self._stops = ca.vertsplit(numbers)
        self._α = SX.sym("α", self._e.λ.numel())

    @cached_property
    def chain(self) -> Chain:
        """All of it."""
        e, f = self._e, self._f
        q, v = SX.sym("q⁻", e.q.numel()), SX.sym("v⁻", e.v.numel())
        deep = f.deep
        before, known = self._rates("before", (q, v, e.t), self._before, 1 + deep, 2 if deep else 1)
        δ = self._time_to_event(before, known)
        a, ȧ = (before.at(x) for x in (e.a, known.derivative(e.a)))
        q1, v1 = q + v * δ + a * (δ**2 / 2), v + a * δ + ȧ * (δ**2 / 2)
        hit = self._impact(q1, v1, e.t + δ)
        q2 = q1 + self._hits * (hit.at(self._impact_chain.result[0].value) - q1)
        v2 = v1 + self._hits * (hit.at(self._impact_chain.result[1].value) - v1)
        beyond = q2 + self._b * v, v2 + self._b * a, e.t + δ + self._b
        after, along = self._rates("after", beyond, self._after, 1, 2 if deep else 1)
        κ = (1 - self._stops) * (self._b - δ)
        a2, ȧ2 = (after.at(x) for x in (e.a, along.derivative(e.a)))
        q3, v3 = q2 + v2 * κ + a2 * (κ**2 / 2), v2 + a2 * κ + ȧ2 * (κ**2 / 2)
        end, _ = self._rates("end", (q3, v3, e.t + δ + κ), self._after, 0, MANY)
        state = [end.at(x) for x in (e.q, e.v, e.a, e.λ)]
        ψ = self._integrals(before, known, after, along, δ, κ)
        ψ += self._values(before, known, after, δ) + self._stops * self._final_time(end, δ)
        penalty, *others = settings_of(e, self._α)
        return Chain(
            "passage",
            (Block(COORDINATES, q), Block(COORDINATES, v)),
            (penalty, Block(SCALAR, self._data), *others),
            (*before.stages, *hit.stages, *after.stages, *end.stages),
            (*whole_state(*state), Block(SCALAR, ca.densify(ψ))),
            (SX(0, 1), SX(0, 1), SX(0, 1)),
            self._saddle,
        )

    def _rates(
        self, name: str, place: tuple[SX, SX, SX], modes: SX, order: int, derivatives: int
    ) -> tuple[_Instant, ChainRule]:
        """Accelerations and multipliers somewhere, with their rates up to an order; and the chain rule
        along the motion, in the symbols of the equations. Derivatives of accelerations matter so
        often; of each further rate, once less.
        """
        e = self._e
        level = accelerations(e, e.constraint_acceleration, self._α)
        level = tuple(replace(stage, derivatives=derivatives) for stage in level)
        known = ChainRule([e.q, e.v, e.t], [e.v, e.a, SX(1)])
        stages = [*level]
        for k in range(order):
            further = list[Stage]()
            for stage in level:
                derivative, known = differentiated(replace(stage, derivatives=MANY), known)
                assert derivative is not None
                further.append(replace(derivative, derivatives=max(0, derivatives - k - 1)))
            level = tuple(further)
            stages += level
        symbols = [e.q, e.v, e.t, *self._f._modes]
        values = [*place, *(ca.vertsplit(modes) if self._f._modes else [])]
        return _moved(name, tuple(stages), symbols, values), known

    def _time_to_event(self, here: _Instant, known: ChainRule) -> SX:
        """δ; 0 where no function vanishes."""
        f, which = self._f, self._which
        functions = [*f._watched, *f._switches]
        for unit, sample in f.extrema.items():
            functions[unit] = known.derivative(f._samples[sample])
        w = ca.dot(which, ca.vertcat(*functions))
        # the rate of a function that is not there is 1, so that nothing is divided by zero
        rate = known.derivative(w) + 1 - ca.sum1(which)
        w, rate, curvature = (here.at(x) for x in (w, rate, known.derivative(rate)))
        return -w / rate - curvature * w**2 / (2 * rate**3)

    @cached_property
    def _impact_chain(self) -> Chain:
        return impact(self._e, self._saddle)

    def _impact(self, q: SX, v: SX, t: SX) -> _Instant:
        e, chain = self._e, self._impact_chain
        penalty = chain.settings[0].value
        symbols = [chain.state[0].value, chain.state[1].value, e.t, penalty, *self._f._modes]
        values = [q, v, t, self._α, *(ca.vertsplit(self._after) if self._f._modes else [])]
        return _moved("impact", chain.stages, symbols, values)

    def _integrals(
        self,
        before: _Instant,
        known: ChainRule,
        after: _Instant,
        along: ChainRule,
        δ: SX,
        κ: SX,
    ) -> SX:
        """What moving on and back adds to integrals."""
        g = self._f._integrands
        on, back = (
            here.at(g) * time + here.at(rule.derivative(g)) * (time**2 / 2)
            for here, rule, time in ((before, known, δ), (after, along, κ))
        )
        return on + back

    def _values(self, before: _Instant, known: ChainRule, after: _Instant, δ: SX) -> SX:
        """What objectives have of values at the event."""
        if not self._f._samples:
            return SX(self._f._integrands.numel(), 1)
        h = ca.vertcat(*self._f._samples)
        rate = known.derivative(h)
        value, rate, curvature = (before.at(x) for x in (h, rate, known.derivative(rate)))
        series = value + rate * δ + curvature * (δ**2 / 2)
        return ca.DM(self._f._factors) @ (self._taken * series + self._taken_after * after.at(h))

    def _final_time(self, end: _Instant, δ: SX) -> SX:
        """What final terms gain by the time itself, where the run ends at the event."""
        e, w = self._e, self._f._finals
        if not ca.depends_on(w, e.t):
            return SX(w.numel(), 1)
        q, v, _, *others = end.values
        earlier = replace(end, values=[q, v, e.t, *others])
        return end.at(w) - earlier.at(w)


def _moved(
    name: str, stages: tuple[Stage, ...], symbols: list[SX], values: list[SX]
) -> _Instant:
    """Stages with values in place of some symbols, and unknowns of their own."""
    symbols, values, moved = [*symbols], [*values], list[Stage]()
    for stage in stages:
        own = [stage.unknown, stage.multiplier, *[symbol for symbol, _ in stage.dependents]]
        symbols += own
        values += [SX.sym(name, x.numel()) for x in own]
    for stage in stages:
        texts = (
            stage.unknown,
            stage.multiplier,
            stage.balance,
            stage.condition,
            stage.guess,
            stage.multiplier_guess,
            stage.penalty,
            stage.tangent,
            *[x for pair in stage.dependents for x in pair],
        )
        x, y, f, g, guess, other, penalty, metric, *rest = ca.substitute(
            list(texts), symbols, values
        )
        pairs = tuple(zip(rest[::2], rest[1::2], strict=True))
        moved.append(
            replace(
                stage,
                name=f"{stage.name} {name}",
                unknown=x,
                multiplier=y,
                balance=f,
                condition=g,
                guess=guess,
                multiplier_guess=other,
                penalty=penalty,
                metric=metric,
                dependents=pairs,
            )
        )
    return _Instant(symbols, values, tuple(moved))
