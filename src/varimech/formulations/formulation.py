"""What the engine asks of a formulation.

A formulation turns the equations of motion (`Dynamics`) into chains of stages. Its `traits` say
which chains it makes, and what a run by them can do:

    step        one step of an implicit integrator: (q, v, a, λ[, memory]) → the same at its end
    rates       accelerations and multipliers at given positions and velocities: (q, v) → (q, v, a, λ)
    projection  what puts the end of an explicit step on the constraints: (q, v) → (q, v, a, λ)
    continuous  rates for a solver that takes its own steps

The engine never looks at the class of a formulation: `register_formulation` takes any subclass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..coordinates.dynamics import Dynamics
from ..coordinates.equations import Equations
from ..core.errors import ModelError
from ..core.messages import Message
from ..core.registry import Scheme
from ..core.symbols import SX
from ..integrators.difference import DifferenceScheme
from ..stages.chain import CONSTRAINTS, COORDINATES, PARAMETERS, SCALAR, Block, Chain, Stage
from ..stages.saddle import Saddle
from .loads import with_loads

VIOLATION = 1e-2
"""Largest violation of constraints in a run without projections, over the size of the mechanism: at
1 % a drawing shows that joints have come apart.
"""
ROUNDED = 1e-12
"""Residual (m or rad) that is always allowed, in mechanisms of no size: rounding of some metres."""


@dataclass(frozen=True)
class FormulationTraits:
    """Which chains a formulation makes, and what runs by it can do."""

    exact: bool
    """Constraints hold to rounding, or to the square of a step's error; they neither give way to
    forces nor drift.
    """
    compliant: bool = False
    """Constraints give way to forces: runs converge to the motion of slightly elastic joints."""
    step: bool = False
    """Makes steps of implicit integrators."""
    rates: bool = False
    """Makes rates for explicit integrators."""
    projection: bool = False
    """Projects the end of an explicit step; otherwise its rates complete the state there."""
    continuous: bool = False
    """Makes rates for solvers that take their own steps."""
    algebraic: bool = False
    """Solvers may keep accelerations and multipliers of these rates as algebraic unknowns."""
    selects: bool = False
    """Integrates independent coordinates, which the run chooses: the first setting of its rates."""
    sharp_first: bool = False
    """Runs are tried with linear systems as they are first, and once more with relaxed ones where a
    nearly singular position amplifies rounding.
    """
    large_models: bool = True
    """Its chains may be assembled from pieces of the mechanism."""
    redundant: bool = True
    """Takes redundant constraints and coordinates without mass."""
    sticks: bool = False
    """Holds constraints of velocities (`Dynamics.constrains_velocities`), as friction that sticks is
    one.
    """
    composite: bool = False
    """Takes the composite system of Serban and Freeman as its equations of motion."""
    nonholonomic: bool = False
    """Takes constraints of velocities (`Constraint.rate`)."""
    recursive: bool = False
    """Without constraints, as in an open tree, its rates are those of the recursion over bodies."""


@dataclass(frozen=True)
class ContinuousRates:
    """What a solver that takes its own steps integrates."""

    rates: Chain
    """(q, v) → (q, v, a, λ), with ω as the first setting where there is one."""
    results: Chain
    """The same for stored results and integrands, without what only stabilises."""
    omega: float | None = None
    """ω of a stabilisation in rad/s, which the run may bound."""


class FinishedMotion(NamedTuple):
    """What a formulation knows of a run whose constraints are judged."""

    states: np.ndarray
    """(time, state)"""
    residuals: np.ndarray
    """Largest residuals of positions, velocities and accelerations."""
    tolerance: float
    """0 for equal steps."""
    equations: Equations

    @property
    def size(self) -> float:
        """Largest coordinate that is no counted angle."""
        return self._largest(0)

    @property
    def speed(self) -> float:
        """Largest rate of those."""
        return self._largest(1)

    def position_limit(self, remedy: Message, allowed: float = np.inf) -> ResidualLimit:
        """Limit of violations of positions: `allowed` (m or rad), `VIOLATION` at most."""
        allowed = max(ROUNDED, min(VIOLATION * self.size, allowed))
        return ResidualLimit(0, allowed, "m or rad", remedy)

    def _largest(self, level: int) -> float:
        count = self.equations.coordinate_count
        first = level * count
        last = first + count - self.equations.extra
        return float(np.abs(self.states[:, first:last]).max(initial=0.0))


@dataclass(frozen=True)
class ResidualLimit:
    """A residual of positions (level 0) or velocities (level 1) beyond which joints have come
    apart.
    """

    level: int
    allowed: float
    unit: str
    remedy: Message
    """What to try, for the message."""


class Conditioning(NamedTuple):
    """What is known of the linear systems of a run."""

    regular: bool = True
    """Constraints are independent and all coordinates have mass."""
    relaxed: bool = True
    """The run may pass nearly singular positions."""


SHARP = Conditioning(relaxed=False)
"""Linear systems are solved as they are."""


class Formulation(Scheme, ABC):
    """The contract; see the module. Methods that `traits` do not promise need not be there."""

    @property
    @abstractmethod
    def traits(self) -> FormulationTraits:
        """What it can do."""

    def saddle(self, conditioning: Conditioning) -> Saddle:
        """How its linear systems are solved."""
        regular, relaxed = conditioning
        return Saddle(regular) if regular and not relaxed else Saddle.relaxed(regular)

    def step(
        self, dynamics: Dynamics, scheme: DifferenceScheme, saddle: Saddle, *, constrained: bool
    ) -> Chain:
        """One step of an implicit integrator; see `ImplicitStep` for its symbols.

        Args:
            dynamics: equations of motion of the mechanism, or of a piece of it.
            scheme: difference equations.
            saddle: how its linear systems are solved.
            constrained: whether the mechanism has any constraints.
        """
        raise NotImplementedError

    def rates(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """Accelerations and multipliers at given positions and velocities."""
        raise NotImplementedError

    def event_rates(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """The same after an event within a run by steps: its own rates, or those of exact
        constraints.
        """
        if type(self).rates is not Formulation.rates:
            return self.rates(dynamics, saddle)
        return rates_with(dynamics, dynamics.constraint_acceleration, saddle)

    def projection(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """The state on the constraints that is next to given positions and velocities."""
        raise NotImplementedError

    def continuous(self, dynamics: Dynamics, saddle: Saddle) -> ContinuousRates:
        """Rates for a solver that takes its own steps."""
        raise NotImplementedError

    def residual_limits(self, motion: FinishedMotion) -> tuple[ResidualLimit, ...]:
        """Residuals beyond which a run is no result; none where constraints hold by
        construction.
        """
        return ()


def whole_state(q: SX, v: SX, a: SX, λ: SX) -> tuple[Block, ...]:
    """Positions, velocities, accelerations and multipliers."""
    return (*[Block(COORDINATES, x) for x in (q, v, a)], Block(CONSTRAINTS, λ))


def settings_of(dynamics: Dynamics, α: SX) -> tuple[Block, ...]:
    """Penalty factors, parameters and time."""
    return Block(CONSTRAINTS, α), Block(PARAMETERS, dynamics.ρ), Block(SCALAR, dynamics.t)


def stabilised(dynamics: Dynamics, ω: float | SX, ξ: float) -> SX:
    """Φ̈ + 2ξω Φ̇ + ω² Φ (Baumgarte): what drifts off the constraints comes back like a damped
    oscillation of frequency ω.
    """
    e = dynamics
    return e.constraint_acceleration + 2 * ξ * ω * e.constraint_rate + ω**2 * e.constraints


def accelerations(dynamics: Dynamics, condition: SX, α: SX) -> tuple[Stage, ...]:
    """M a + Φ_qᵀ λ = Q, and a condition on accelerations; loads first, if forces depend on some."""
    e = dynamics
    guess = SX.zeros(e.q.numel()), SX.zeros(e.λ.numel())
    stage = Stage(
        "accelerations",
        e.a,
        e.λ,
        e.loaded_balance,
        condition,
        *guess,
        α,
        metric=e.mass,
        symmetric=not e.oblique,
        oblique=e.oblique,
    )
    return with_loads(e, stage)


def rates_with(dynamics: Dynamics, condition: SX, saddle: Saddle) -> Chain:
    """Accelerations and multipliers at given positions and velocities, by a condition on the
    former.
    """
    e, α = dynamics, SX.sym("α", dynamics.λ.numel())
    state, result = (
        (Block(COORDINATES, e.q), Block(COORDINATES, e.v)),
        whole_state(e.q, e.v, e.a, e.λ),
    )
    stages = accelerations(e, condition, α)
    return Chain("rates", state, settings_of(e, α), stages, result, e.levels, saddle)


def check_step(chain: Chain, formulation: Formulation, e: Dynamics, *, remembers: bool) -> Chain:
    """The chain of an implicit step, if its vectors are as long as the engine expects."""
    state = _state(e) | ({"memory": e.q.numel()} if remembers else {})
    return _checked(chain, formulation, "step", state, {"h": 1} | _settings(e), state)


def check_rates(chain: Chain, formulation: Formulation, e: Dynamics, method: str) -> Chain:
    """The same for rates, or for a projection."""
    n = e.q.numel()
    chosen = {"chosen": n} if formulation.traits.selects else {}
    settings = chosen | _settings(e)
    return _checked(chain, formulation, method, {"q": n, "v": n}, settings, _state(e))


def check_continuous(
    continuous: ContinuousRates, formulation: Formulation, e: Dynamics
) -> ContinuousRates:
    """The same for both chains of continuous rates."""
    n, ω = e.q.numel(), {} if continuous.omega is None else {"ω": 1}
    for chain, settings in (
        (continuous.rates, ω | _settings(e)),
        (continuous.results, _settings(e)),
    ):
        _checked(chain, formulation, "continuous", {"q": n, "v": n}, settings, _state(e))
    return continuous


def _state(e: Dynamics) -> dict[str, int]:
    return {"q": e.q.numel(), "v": e.q.numel(), "a": e.q.numel(), "λ": e.λ.numel()}


def _settings(e: Dynamics) -> dict[str, int]:
    return {"α": e.λ.numel(), "ρ": e.ρ.numel(), "t": 1}


def _checked(
    chain: Chain,
    formulation: Formulation,
    method: str,
    state: dict[str, int],
    settings: dict[str, int],
    result: dict[str, int],
) -> Chain:
    element = f"formulation {formulation.name!r}"
    if not isinstance(chain, Chain):
        raise ModelError(f"{method}(…) returns {chain!r:.60}, not a Chain", element=element)
    parts = {
        "state": (chain.state, state),
        "settings": (chain.settings, settings),
        "result": (chain.result, result),
    }
    for part, (blocks, expected) in parts.items():
        if (sizes := [block.value.numel() for block in blocks]) != list(expected.values()):
            named = ", ".join(f"{name}: {size}" for name, size in expected.items())
            raise ModelError(
                f"{method}(…) makes a chain whose {part} has vectors of {sizes} numbers; expected"
                f" {named}",
                element=element,
            )
    return chain
