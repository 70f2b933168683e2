"""CVODES and IDAS of the SUNDIALS suite: variable order and step, for smooth and for stiff
problems.

CVODES (Adams or BDF) solves the rates as an ordinary differential equation; IDAS (BDF) keeps
accelerations and multipliers as algebraic unknowns. Derivatives are the solvers' own forward
sensitivities (of the continuous problem, to the tolerance), not those of the discrete solution.

A. C. Hindmarsh et al., ACM Trans. Math. Softw. 31 (2005) 363–396.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ..core.symbols import SX
from .integrator import CONTINUOUS, ContinuousSolver, IntegratorTraits

SAFETY, LEAST = 0.002, 1e-15
"""Error tolerance of one step relative to that of the run, and the smallest one that rounding
allows. BDF takes many steps, and their errors add up (on Andrews' mechanism to three times the
tolerance of the run, with 0.01 to fifteen times).
"""


@dataclass(frozen=True)
class Sundials:
    """One of the solvers of the suite."""

    name: str
    title: str
    suits: str
    algebraic: bool
    order = difference = coefficients = None
    most_steps = 20_000
    """Largest number of steps between two stored results: some seconds of work, and a hundred times
    what smooth motions take for a whole run.
    """

    @property
    def traits(self) -> IntegratorTraits:
        """Traits of continuous solvers; redundant constraints would leave algebraic unknowns
        undetermined.
        """
        return replace(CONTINUOUS, redundant=not self.algebraic)

    @property
    def continuous(self) -> ContinuousSolver:
        """The solver itself."""
        return self

    def function(
        self, problem: dict[str, SX], times: np.ndarray, tolerance: float, longest: float
    ) -> ca.Function:
        """Build CasADi's integrator; see `ContinuousSolver`."""
        allowed = max(SAFETY * tolerance, LEAST)
        options: dict[str, Any] = {
            "reltol": allowed,
            "abstol": allowed,
            "max_num_steps": self.most_steps,
            "max_step_size": longest,
            "disable_internal_warnings": True,  # failures are explained elsewhere
        }
        if self.algebraic:
            # accelerations and multipliers follow from the controlled unknowns; their own errors
            # would keep the solver at order 1
            options["suppress_algebraic"] = True
        return ca.integrator("run", self.name, problem, 0.0, times[1:].tolist(), options)

    def gave_up(self, error: RuntimeError) -> bool:
        """Return whether it has taken too many steps."""
        return "TOO_MUCH_WORK" in str(error)


CVODES = Sundials(
    "cvodes", "CVODES", "stiff forces with a tolerance; small models", algebraic=False
)
IDAS = Sundials("idas", "IDAS", "very stiff forces with a tolerance; small models", algebraic=True)
