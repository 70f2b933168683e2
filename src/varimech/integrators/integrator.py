"""The interface between the engine and an integrator.

An integrator states its attributes (`name`, `title`, `suits`, `order`, `traits`) and how it
discretises time, by exactly one of:

    difference    difference equations: positions and velocities at the end of a step are linear in
                  its acceleration (`DifferenceScheme`); a formulation turns them into implicit
                  steps
    coefficients  of an explicit Runge–Kutta scheme (`RungeKutta`), which combines rates
    continuous    its own solver for the rates (`ContinuousSolver`); only its tolerance is known

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
    """What an integrator supports. The defaults are those of schemes whose steps the engine
    executes.
    """

    adaptive: bool = False
    """Chooses its steps according to a tolerance."""
    equal_steps: bool = True
    """Takes steps of a given length."""
    given_steps: bool = True
    """Ends steps at given times: repeats the steps of another run, and stops at jumps."""
    adjoint: bool = True
    complex_step: bool = True
    second_order: bool = True
    """Second derivatives of runs are available."""
    composite: bool = True
    """Supports the composite system of Serban and Freeman."""
    large_models: bool = True
    """Supports functions that are assembled from pieces, not only straight-line code."""
    redundant: bool = True
    """Supports redundant constraints and coordinates without mass."""
    damping: bool = False
    """Damps vibrations that are too fast for the step."""


OF_KNOWN_STEPS = (
    *("equal_steps", "given_steps", "adjoint", "complex_step", "second_order"),
    *("composite", "large_models"),
)
"""Traits that require the engine to execute the steps."""
CONTINUOUS = IntegratorTraits(adaptive=True, **dict.fromkeys(OF_KNOWN_STEPS, False))
"""Traits of continuous solvers."""


class Integrator(Scheme, Protocol):
    """The interface of integrators; see the module."""

    @property
    def order(self) -> int | None:
        """Order of convergence with equal steps; None where it varies."""
        ...

    @property
    def traits(self) -> IntegratorTraits:
        """What it supports."""
        ...

    @property
    def difference(self) -> DifferenceScheme | None:
        """Its difference equations, if it is implicit."""
        ...

    @property
    def coefficients(self) -> RungeKutta | None:
        """Its Runge–Kutta coefficients, if it is explicit."""
        ...

    @property
    def continuous(self) -> ContinuousSolver | None:
        """Its own solver, if it has one."""
        ...


class ContinuousSolver(Protocol):
    """A solver that chooses its own steps, as a CasADi function, which differentiates it."""

    @property
    def algebraic(self) -> bool:
        """Whether accelerations and multipliers are algebraic unknowns of the solver, with their
        equations; otherwise it integrates rates.
        """
        ...

    @property
    def most_steps(self) -> int:
        """Largest number of steps between two results, after which it gives up."""
        ...

    def function(
        self, problem: dict[str, SX], times: np.ndarray, tolerance: float, longest: float
    ) -> ca.Function:
        """Build an integrator like `casadi.integrator`.

        Args:
            problem: x, z, p, t, ode, alg of CasADi, in scaled variables.
            times: times of the results, beginning with the initial time.
            tolerance: tolerated relative error of the whole run.
            longest: longest step, in the unit of `times`.
        """
        ...

    def gave_up(self, error: RuntimeError) -> bool:
        """Return whether it failed because it exceeded `most_steps`."""
        ...
