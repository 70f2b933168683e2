"""What the engine asks of an integrator.

An integrator states its facts (`name`, `title`, `suits`, `order`, `traits`) and how it discretises
time, in exactly one of three ways:

    difference    difference equations: positions and velocities at the end of a step are linear in
                  its acceleration (`DifferenceScheme`); a formulation makes an implicit step of them
    coefficients  of an explicit Runge–Kutta scheme (`RungeKutta`), which combines rates
    continuous    a solver of its own for the rates (`ContinuousSolver`); only its tolerance is known

The engine never looks at the class of an integrator: `register_integrator` takes any object that
satisfies `Integrator`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import casadi as ca
import numpy as np

from ..core.registry import Scheme
from ..core.symbols import SX

if TYPE_CHECKING:
    from .difference import DifferenceScheme
    from .runge_kutta import RungeKutta


@dataclass(frozen=True)
class IntegratorTraits:
    """What an integrator can do. The defaults are those of schemes whose steps the engine takes."""

    adaptive: bool = False
    """Chooses its steps for a tolerance."""
    equal_steps: bool = True
    """Takes steps of a given length."""
    given_steps: bool = True
    """Ends its steps where it is told to: repeats the steps of another run, and stops at jumps."""
    adjoint: bool = True
    complex_step: bool = True
    second_order: bool = True
    """Runs can be differentiated twice."""
    composite: bool = True
    """Solves the composite system of Serban and Freeman."""
    large_models: bool = True
    """Takes functions that are assembled from pieces, not only straight-line code."""
    redundant: bool = True
    """Takes redundant constraints and coordinates without mass."""
    damping: bool = False
    """Damps vibrations that are too fast for the step."""


OF_KNOWN_STEPS = (
    *("equal_steps", "given_steps", "adjoint", "complex_step", "second_order"),
    *("composite", "large_models"),
)
"""Traits that need steps which the engine takes itself."""
CONTINUOUS = IntegratorTraits(adaptive=True, **dict.fromkeys(OF_KNOWN_STEPS, False))
"""Traits of continuous solvers."""


class Integrator(Scheme, Protocol):
    """The contract; see the module."""

    @property
    def order(self) -> int | None:
        """Of convergence with equal steps; None where it varies."""
        ...

    @property
    def traits(self) -> IntegratorTraits:
        """What it can do."""
        ...

    @property
    def difference(self) -> DifferenceScheme | None:
        """Its difference equations, if it is implicit."""
        ...

    @property
    def coefficients(self) -> RungeKutta | None:
        """Its coefficients, if it is explicit."""
        ...

    @property
    def continuous(self) -> ContinuousSolver | None:
        """Its own solver, if it has one."""
        ...


class ContinuousSolver(Protocol):
    """A solver that takes its own steps, as a function of CasADi, which differentiates it."""

    @property
    def algebraic(self) -> bool:
        """Whether accelerations and multipliers are unknowns of it, with their equations; otherwise
        it gets rates.
        """
        ...

    @property
    def most_steps(self) -> int:
        """Steps between two results after which it gives up."""
        ...

    def function(
        self, problem: dict[str, SX], times: np.ndarray, tolerance: float, longest: float
    ) -> ca.Function:
        """An integrator as `casadi.integrator` makes it.

        Args:
            problem: x, z, p, t, ode, alg of CasADi, in scaled variables.
            times: at which results are wanted, from the start on.
            tolerance: relative error that the whole run may have.
            longest: longest step, in the unit of `times`.
        """
        ...

    def gave_up(self, error: RuntimeError) -> bool:
        """Whether it failed because it had taken as many steps as it may."""
        ...
