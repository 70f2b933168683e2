"""The interface between the engine and a formulation.

A formulation turns the equations of motion (`Dynamics`) into chains of stages. Its `traits` state
which chains it builds, and what a run with these chains supports:

    step        one step of an implicit integrator: (q, v, a, λ[, memory]) → the same at its end
    rates       accelerations and multipliers at given positions and velocities: (q, v) → (q, v, a, λ)
    projection  projection of the end of an explicit step on the constraints: (q, v) → (q, v, a, λ)
    continuous  rates for a solver that chooses its own steps

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
"""Largest violation of constraints in a run without projections, relative to the size of the
mechanism: at 1 % a drawing shows that joints have come apart.
"""
ROUNDED = 1e-12
"""Residual (m or rad) that is always allowed, in mechanisms without any length: rounding of some
metres.
"""


@dataclass(frozen=True)
class FormulationTraits:
    """Which chains a formulation builds, and what runs with these chains support."""

    exact: bool
    """Constraints hold to rounding, or to the square of a step's error; they neither yield to
    forces nor drift.
    """
    compliant: bool = False
    """Constraints yield to forces: runs converge to the motion of slightly elastic joints."""
    step: bool = False
    """Builds steps of implicit integrators."""
    rates: bool = False
    """Builds rates for explicit integrators."""
    projection: bool = False
    """Projects the end of an explicit step; without a projection, the rates complete the state
    there.
    """
    continuous: bool = False
    """Builds rates for solvers that choose their own steps."""
    algebraic: bool = False
    """Solvers may treat the accelerations and multipliers of these rates as algebraic unknowns."""
    selects: bool = False
    """Integrates independent coordinates; the run selects them and passes the selection as the
    first setting of the rates.
    """
    sharp_first: bool = False
    """Runs first solve the linear systems without relaxation, and repeat with relaxed systems if a
    nearly singular position amplifies rounding errors.
    """
    large_models: bool = True
    """Its chains may be assembled from functions of pieces of the mechanism."""
    redundant: bool = True
    """Supports redundant constraints and coordinates without mass."""
    sticks: bool = False
    """Enforces velocity constraints (`Dynamics.constrains_velocities`), such as friction that
    sticks.
    """
    composite: bool = False
    """Supports the composite system of Serban and Freeman as equations of motion."""
    nonholonomic: bool = False
    """Supports nonholonomic constraints (`Constraint.rate`)."""
    recursive: bool = False
    """Rates of a mechanism without constraints, an open tree, are computed by recursion over its
    bodies.
    """


@dataclass(frozen=True)
class ContinuousRates:
    """Chains for a solver that chooses its own steps."""

    rates: Chain
    """Rates (q, v) → (q, v, a, λ), with ω as the first setting if `omega` is given."""
    results: Chain
    """The rates without stabilising terms, for stored results and integrands."""
    omega: float | None = None
    """ω of a stabilisation in rad/s, which the run may limit; None without stabilisation."""


class FinishedMotion(NamedTuple):
    """Data of a finished run with which a formulation judges the residuals of its constraints."""

    states: np.ndarray
    """(time, state)"""
    residuals: np.ndarray
    """Largest residuals of positions, velocities and accelerations."""
    tolerance: float
    """Relative tolerance; 0 for equal steps."""
    equations: Equations

    @property
    def size(self) -> float:
        """Largest absolute coordinate, extra ones (counted angles) excluded."""
        return self._largest(0)

    @property
    def speed(self) -> float:
        """Largest absolute rate of these coordinates."""
        return self._largest(1)

    def position_limit(self, remedy: Message, allowed: float = np.inf) -> ResidualLimit:
        """Return the limit of position residuals: `allowed` (m or rad), but at most `VIOLATION`."""
        allowed = max(ROUNDED, min(VIOLATION * self.size, allowed))
        return ResidualLimit(0, allowed, "m or rad", remedy)

    def _largest(self, level: int) -> float:
        count = self.equations.coordinate_count
        first = level * count
        last = first + count - self.equations.extra
        return float(np.abs(self.states[:, first:last]).max(initial=0.0))


@dataclass(frozen=True)
class ResidualLimit:
    """Limit of the residuals of positions (level 0) or velocities (level 1), beyond which joints
    have come apart.
    """

    level: int
    allowed: float
    unit: str
    remedy: Message
    """What the user can try, for the message."""


class Conditioning(NamedTuple):
    """Known properties of the linear systems of a run."""

    regular: bool = True
    """Constraints are independent and all coordinates have mass."""
    relaxed: bool = True
    """The run may pass nearly singular positions."""


SHARP = Conditioning(relaxed=False)
"""The run does not relax its linear systems."""


class Formulation(Scheme, ABC):
    """Base class of all formulations; see the module. Only methods that `traits` promise are
    needed.
    """

    @property
    @abstractmethod
    def traits(self) -> FormulationTraits:
        """The chains that it builds and what they support."""

    def saddle(self, conditioning: Conditioning) -> Saddle:
        """Return the solver of its linear systems.

        Args:
            conditioning: known properties of these systems.
        """
        regular, relaxed = conditioning
        return Saddle(regular) if regular and not relaxed else Saddle.relaxed(regular)

    def step(
        self, dynamics: Dynamics, scheme: DifferenceScheme, saddle: Saddle, *, constrained: bool
    ) -> Chain:
        """Build one step of an implicit integrator; see `ImplicitStep` for its symbols.

        Args:
            dynamics: equations of motion of the mechanism, or of a piece of it.
            scheme: difference equations.
            saddle: solver of its linear systems.
            constrained: whether the mechanism has any constraints.
        """
        raise NotImplementedError

    def rates(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """Build the accelerations and multipliers at given positions and velocities."""
        raise NotImplementedError

    def event_rates(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """Build the rates after an event within a run by implicit steps: the formulation's own
        rates, or those of exact constraints.
        """
        if type(self).rates is not Formulation.rates:
            return self.rates(dynamics, saddle)
        return rates_with(dynamics, dynamics.constraint_acceleration, saddle)

    def projection(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """Build the projection of given positions and velocities on the constraints."""
        raise NotImplementedError

    def continuous(self, dynamics: Dynamics, saddle: Saddle) -> ContinuousRates:
        """Build rates for a solver that chooses its own steps."""
        raise NotImplementedError

    def residual_limits(self, motion: FinishedMotion) -> tuple[ResidualLimit, ...]:
        """Return residual limits beyond which a run is invalid; none where constraints hold by
        construction.
        """
        return ()


def whole_state(q: SX, v: SX, a: SX, λ: SX) -> tuple[Block, ...]:
    """Return blocks of positions, velocities, accelerations and multipliers."""
    return (*[Block(COORDINATES, x) for x in (q, v, a)], Block(CONSTRAINTS, λ))


def settings_of(dynamics: Dynamics, α: SX) -> tuple[Block, ...]:
    """Return blocks of penalty factors, parameters and time."""
    return Block(CONSTRAINTS, α), Block(PARAMETERS, dynamics.ρ), Block(SCALAR, dynamics.t)


def stabilised(dynamics: Dynamics, ω: float | SX, ξ: float) -> SX:
    """Return Φ̈ + 2ξω Φ̇ + ω² Φ (Baumgarte): constraint violations decay like a damped oscillation
    of frequency ω.
    """
    e = dynamics
    return e.constraint_acceleration + 2 * ξ * ω * e.constraint_rate + ω**2 * e.constraints


def accelerations(dynamics: Dynamics, condition: SX, α: SX) -> tuple[Stage, ...]:
    """Return the stages of M a + Φ_qᵀ λ = Q with a condition on accelerations, preceded by the
    stages that determine loads if forces depend on any.
    """
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
    """Build the accelerations and multipliers at given positions and velocities, from a condition
    on the accelerations.
    """
    e, α = dynamics, SX.sym("α", dynamics.λ.numel())
    state, result = (
        (Block(COORDINATES, e.q), Block(COORDINATES, e.v)),
        whole_state(e.q, e.v, e.a, e.λ),
    )
    stages = accelerations(e, condition, α)
    return Chain("rates", state, settings_of(e, α), stages, result, e.levels, saddle)


def check_step(chain: Chain, formulation: Formulation, e: Dynamics, *, remembers: bool) -> Chain:
    """Check that the vectors of an implicit step are as long as the engine expects, and return it."""
    state = _state(e) | ({"memory": e.q.numel()} if remembers else {})
    return _checked(chain, formulation, "step", state, {"h": 1} | _settings(e), state)


def check_rates(chain: Chain, formulation: Formulation, e: Dynamics, method: str) -> Chain:
    """Check the vectors of rates, or of a projection."""
    n = e.q.numel()
    chosen = {"chosen": n} if formulation.traits.selects else {}
    settings = chosen | _settings(e)
    return _checked(chain, formulation, method, {"q": n, "v": n}, settings, _state(e))


def check_continuous(
    continuous: ContinuousRates, formulation: Formulation, e: Dynamics
) -> ContinuousRates:
    """Check the vectors of both chains of continuous rates."""
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
