"""Inputs of one run of a program."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..core.coordinate_scales import CoordinateScales
from ..core.schedule import Schedule

MEMORY = 500e6
"""Default memory for records (bytes)."""


@dataclass(frozen=True)
class Inputs:
    """Initial conditions, parameters and schedule of one run: a guess for the assembly, or the
    initial state itself with its derivatives.
    """

    guess: np.ndarray | None
    state: np.ndarray | None
    sensitivities: np.ndarray | None
    start_slopes: np.ndarray | None
    """Derivatives of the given initial state with respect to all parameters, which an adjoint
    program needs.
    """
    parameters: np.ndarray
    nominal: np.ndarray
    """Nominal values of the parameters; they set the penalty."""
    schedule: Schedule
    max_iterations: int
    sizes: CoordinateScales | None = None
    """Reference magnitudes of errors where coordinates are of several kinds; None where the largest
    coordinate is the magnitude of all.
    """
    sensitivity_floors: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """For each direction of differentiation, the largest relative change of a parameter: 1 over its
    magnitude for a single one.
    """
    chosen: np.ndarray | None = None
    """1 for initially independent coordinates, else 0; None where the run selects them."""
    memory: float = MEMORY
    """Memory that an adjoint program may take for its records (bytes)."""
    parts: int = 1
    """Number of continuation steps from nominal to actual parameter values in which the initial
    state is assembled from the guess, which is that of nominal values.
    """
    anchor: np.ndarray | None = None
    """Positions that set the penalty factors, the same for all parameter values; None where the
    initial positions set them.
    """
