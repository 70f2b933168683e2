"""The passage of an event as one chain: from the state just before it to the state just after it,
both at the same time, however parameters shift the event itself.

Let δ be the time from the present one to the event, 0 for the parameters of the run. A neighbouring
motion advances by δ with the equations before the event, is mapped by R (an impact, or the
identity), and moves back by δ with those after it. Series up to δ² have exact first and second
derivatives at δ = 0:

    x₁ = x + f⁻ δ + ½ ḟ⁻ δ²,     w(x₁, t + δ, ρ) = 0,     x₂ = R(x₁, t + δ, ρ)
    x₃ = x₂ + f⁺ κ + ½ ḟ⁺ κ²,    κ = b − δ
    ψ ← ψ + g⁻ δ + ½ ġ⁻ δ² + g⁺ κ + ½ ġ⁺ κ²  + Σ (h + ḣ δ + ½ ḧ δ²)

with the rates f = (v, a) of the state x = (q, v), the function w that vanishes at the event,
integrands g, and the values h at the event that enter objectives. δ follows from w by the inverse
of its series,

    δ = −w/ẇ − ½ ẅ w²/ẇ³.

The saltation matrix is the first derivative of x ↦ x₃; tangents, adjoints and Hessians of this
chain are computed as for any other chain. Where a force switches (`switching`), R is the identity,
and b is the length of the step across the switch, at whose ends both sides of it are evaluated; b =
0 for events. An extremum of h is an event with w = ḣ at which nothing happens; its value h − ½ ḣ²/ḧ
has the right curvature.

The kind of event is data: modes before and after it, which function vanishes, whether there is an
impact, whether the run ends there (then the state stays at the event, κ = 0), and which values are
taken on either side. So one function serves all events of a run.

R. I. Leine and H. Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems, Springer
2004, chapter 7, for first derivatives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

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
    """Layout of the data of a passage in a row: modes before and after it; 1 for the function that
    vanishes; 1 for each value that is taken before, or after it; then the length b of the step, and
    flags for an impact, and for the end of the run.
    """

    modes: int
    functions: int
    samples: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes of: modes before, modes after, functions, values before, values after, and three
        numbers.
        """
        return self.modes, self.modes, self.functions, self.samples, self.samples, 3

    @property
    def size(self) -> int:
        """Length of a row."""
        return sum(self.sizes)

    def parts(self, row: np.ndarray) -> list[np.ndarray]:
        """Split a row into views of its parts."""
        return np.split(row, np.cumsum(self.sizes)[:-1])


class EventMap:
    """Expressions that define the passages of all events of a mechanism with given objectives."""

    def __init__(self, equations: Equations, objectives: Mapping[str, Objective]):
        self.equations = equations
        events = EventFunctions(equations, objectives, None)
        self.switches = [switch.at for switch in jumps_of(equations, objectives)]
        self.watched, self.extrema, self.samples = events.watched, events.extrema, events.sampled
        self.factors = np.zeros((0, 0)) if events.samples is None else events.samples.factors
        self.integrands, self.finals = objective_expressions(equations, objectives)
        self.modes = list(equations.model.parameter_set.modes.values())

    @property
    def key(self) -> tuple[object, ...]:
        """Key that is equal for equal maps, given the same integrands and final terms."""
        e = self.equations
        values = ca.vertcat(SX(0, 1), *self.watched, *self.samples)
        function = ca.Function("events", [e.packed, e.ρ, e.t], [values])
        return function.serialize(), self.factors.tobytes(), tuple(self.extrema.items())

    @property
    def layout(self) -> PassageLayout:
        """Layout of the data of a passage."""
        functions = len(self.watched) + len(self.switches)
        return PassageLayout(len(self.modes), functions, len(self.samples))

    @property
    def first_switch(self) -> int:
        """Index of the first function that belongs to a switch."""
        return len(self.watched)

    def chain(self, saddle: Saddle, penalty: tuple[SX, SX] | None = None) -> Chain:
        """Return the chain that maps positions and velocities before an event to the state and
        integrals after it. `penalty` is the pair (argument, penalty factors as a function of it).
        """
        return _Passage(self, saddle, penalty).chain

    @cached_property
    def deep(self) -> bool:
        """Whether a function that vanishes, or a value, depends on accelerations or multipliers."""
        e = self.equations
        own = symbols_in(ca.veccat(SX(0, 1), *self.watched, *self.samples))
        return not own.isdisjoint(symbols_in(e.a, e.λ))


@dataclass(frozen=True)
class _Instant:
    """A point at which rates are evaluated: symbols of the equations, and the expressions that
    replace them there.
    """

    symbols: Sequence[SX]
    values: Sequence[SX]

    def at(self, expression: SX) -> SX:
        """Evaluate an expression of the equations at this point."""
        return ca.substitute([expression], list(self.symbols), list(self.values))[0]


class _Passage:
    """Builder of the chain of a passage."""

    def __init__(self, functions: EventMap, saddle: Saddle, penalty: tuple[SX, SX] | None):
        self._f, self._e = functions, functions.equations
        # compliance of constraints would also affect impacts, as in `formulations/impact`
        self._saddle = replace(saddle, passes=saddle.linear_passes + 1)
        self._data = SX.sym("event", functions.layout.size)
        places = np.cumsum([0, *functions.layout.sizes]).astype(int).tolist()
        parts = ca.vertsplit(self._data, places)
        self._before, self._after, self._which, self._taken, self._taken_after, numbers = parts
        self._b, self._hits, self._stops = ca.vertsplit(numbers)
        α = SX.sym("α", self._e.λ.numel())
        self._penalty, self._α = penalty or (α, α)
        self._stages = list[Stage]()
        self._named = list[tuple[SX, SX, int]]()

    @cached_property
    def chain(self) -> Chain:
        """The complete chain."""
        e, deep = self._e, self._f.deep
        q, v = SX.sym("q⁻", e.q.numel()), SX.sym("v⁻", e.v.numel())
        here, rule = self._rates("before", (q, v, e.t), self._before, 1 + deep, 1 + deep)
        a, ȧ = (here.at(x) for x in (e.a, rule.derivative(e.a)))
        δ = self._name("δ", self._time_to_event(here, rule))
        q1 = self._name("q₁", q + v * δ + a * (δ**2 / 2))
        v1 = self._name("v₁", v + a * δ + ȧ * (δ**2 / 2))
        t1 = self._name("t₁", e.t + δ)
        q2, v2 = self._impact(q1, v1, t1)
        beyond = [q2 + self._b * v, v2 + self._b * a, t1 + self._b]
        then, along = self._rates("after", tuple(beyond), self._after, 1, 1 + deep)
        a2, ȧ2 = (then.at(x) for x in (e.a, along.derivative(e.a)))
        κ = self._name("κ", (1 - self._stops) * (self._b - δ))
        q3 = self._name("q₃", q2 + v2 * κ + a2 * (κ**2 / 2))
        v3 = self._name("v₃", v2 + a2 * κ + ȧ2 * (κ**2 / 2))
        ψ = self._moved_integrals(here, rule, δ) + self._moved_integrals(then, along, κ)
        ψ += self._values(here, rule, then, δ)
        end, _ = self._rates("end", (q3, v3, t1 + κ), self._after, 0, MANY)
        ψ += self._stops * self._final_time(end)
        penalty, *others = settings_of(e, self._penalty)
        return Chain(
            "passage",
            (Block(COORDINATES, q), Block(COORDINATES, v)),
            (penalty, Block(SCALAR, self._data), *others),
            tuple(self._stages),
            (*whole_state(*map(end.at, (e.q, e.v, e.a, e.λ))), Block(SCALAR, ca.densify(ψ))),
            (SX(0, 1), SX(0, 1), SX(0, 1)),
            self._saddle,
        )

    def _name(self, name: str, expression: SX, derivatives: int = MANY) -> SX:
        """Return a symbol for an expression, of which `derivatives` orders of derivatives matter."""
        symbol = SX.sym(name, expression.numel())
        self._named.append((symbol, ca.densify(expression), derivatives))
        return symbol

    def _rates(
        self, name: str, place: tuple[SX, ...], modes: SX, order: int, derivatives: int
    ) -> tuple[_Instant, ChainRule]:
        """Add stages for accelerations and multipliers at positions, velocities and a time, with
        their rates up to `order`. Return the point, and the chain rule along the motion in the
        symbols of the equations. `derivatives` orders of derivatives of accelerations matter; one
        less for each further rate.
        """
        e = self._e
        level = accelerations(e, e.constraint_acceleration, self._α)
        rule, stages = ChainRule([e.q, e.v, e.t], [e.v, e.a, SX(1)]), list[Stage]()
        for k in range(order + 1):
            matter = max(0, derivatives - k)
            stages += [replace(stage, derivatives=matter) for stage in level]
            further = list[Stage]()
            for stage in level if k < order else ():
                derivative, rule = differentiated(stage, rule)
                assert derivative is not None
                further.append(derivative)
            level = tuple(further)
        symbols = [e.q, e.v, e.t, *self._f.modes]
        values = [self._name(name, x) for x in place]
        return self._moved(name, stages, symbols, [*values, *ca.vertsplit(modes)]), rule

    def _time_to_event(self, here: _Instant, rule: ChainRule) -> SX:
        """Return δ; 0 where no function vanishes."""
        functions = ca.vertcat(*self._f.watched, *self._f.switches)
        w = ca.dot(self._which, functions)
        rate = _rate(rule, w)
        curvature = _rate(rule, rate)
        for slot, sample in self._f.extrema.items():
            # its second derivative is not needed: shifting forth and back changes only its value
            rate_of_sample = _rate(rule, self._f.samples[sample])
            w += self._which[slot] * rate_of_sample
            rate += self._which[slot] * _rate(rule, rate_of_sample)
        # without a vanishing function the rate is set to 1, which avoids a division by zero
        rate += 1 - ca.sum1(self._which)
        w, rate, curvature = (
            self._name("w", here.at(x), derivatives)
            for x, derivatives in ((w, MANY), (rate, 1), (curvature, 0))
        )
        return -w / rate - curvature * w**2 / (2 * rate**3)

    def _impact(self, q: SX, v: SX, t: SX) -> tuple[SX, SX]:
        """Return positions and velocities after an impact, or unchanged without one."""
        chain = impact(self._e, self._saddle)
        symbols = [*[block.value for block in chain.state], self._e.t, chain.settings[0].value]
        values = [q, v, t, self._α, *ca.vertsplit(self._after)]
        hit = self._moved("impact", list(chain.stages), [*symbols, *self._f.modes], values)
        new = [hit.at(block.value) for block in chain.result[:2]]
        q2, v2 = (x + self._hits * (y - x) for x, y in zip((q, v), new, strict=True))
        return self._name("q₂", q2), self._name("v₂", v2)

    def _moved_integrals(self, here: _Instant, rule: ChainRule, time: SX) -> SX:
        """Return the change of integrals when the motion is shifted by a time."""
        g = self._f.integrands
        value, rate = self._name("g", here.at(g), 1), self._name("ġ", here.at(_rate(rule, g)), 0)
        return value * time + rate * (time**2 / 2)

    def _values(self, before: _Instant, rule: ChainRule, after: _Instant, δ: SX) -> SX:
        """Return the contribution of values at the event to objectives."""
        if not self._f.samples:
            return SX(self._f.integrands.numel(), 1)
        h = ca.vertcat(*self._f.samples)
        rate = _rate(rule, h)
        value, rate, curvature = (
            self._name("h", before.at(x), derivatives)
            for x, derivatives in ((h, MANY), (rate, 1), (_rate(rule, rate), 0))
        )
        series = value + rate * δ + curvature * (δ**2 / 2)
        return ca.DM(self._f.factors) @ (self._taken * series + self._taken_after * after.at(h))

    def _final_time(self, end: _Instant) -> SX:
        """Return the change of final terms with time itself, where the run ends at the event."""
        q, v, _, *others = end.values
        earlier = replace(end, values=[q, v, self._e.t, *others])
        w = self._f.finals
        return end.at(w) - earlier.at(w) if ca.depends_on(w, self._e.t) else SX(w.numel(), 1)

    def _moved(
        self, name: str, stages: list[Stage], symbols: list[SX], values: list[SX]
    ) -> _Instant:
        """Append stages with `values` in place of `symbols`, and with new symbols for their
        unknowns.
        """
        symbols, values = [*symbols], [*values]
        for stage in stages:
            own = [stage.unknown, stage.multiplier, *[symbol for symbol, _ in stage.dependents]]
            symbols += own
            values += [SX.sym(name, x.numel()) for x in own]
        for stage in stages:
            parts: tuple[SX, ...] = (*[getattr(stage, field) for field in MOVED], stage.tangent)
            pairs = [x for pair in stage.dependents for x in pair]
            moved = ca.substitute([*parts, *pairs], symbols, values)
            fields: dict[str, Any] = dict(zip((*MOVED, "metric"), moved, strict=False))
            own = moved[len(parts) :]
            fields["dependents"] = tuple(zip(own[::2], own[1::2], strict=True))
            fields["named"], self._named = tuple(self._named), []
            self._stages.append(replace(stage, name=f"{stage.name} {name}", **fields))
        return _Instant(symbols, values)


def _rate(rule: ChainRule, expression: SX) -> SX:
    """Differentiate along the motion, in forward mode: expressions are large, and few rates are
    needed.
    """
    symbols, rates = (ca.veccat(*x) for x in (rule.symbols, rule.derivatives))
    return ca.jtimes(expression, symbols, rates)


MOVED = (
    "unknown",
    "multiplier",
    "balance",
    "condition",
    "guess",
    "multiplier_guess",
    "penalty",
)
"""Fields of a stage that depend on the point where it is evaluated, besides its metric."""
