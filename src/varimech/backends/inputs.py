"""What one run of a program starts from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..core.coordinate_scales import CoordinateScales
from ..core.schedule import Schedule

MEMORY = 500e6
"""Bytes for records, if nothing else is said."""


@dataclass(frozen=True)
class Inputs:
    """What one run starts from: a guess for the start, or the state itself with its derivatives."""

    guess: np.ndarray | None
    state: np.ndarray | None
    sensitivities: np.ndarray | None
    start_slopes: np.ndarray | None
    """Derivatives of the given state with respect to all parameters, which an adjoint program
    needs.
    """
    parameters: np.ndarray
    nominal: np.ndarray
    """Nominal values of the parameters; they set the penalty."""
    schedule: Schedule
    max_iterations: int
    sizes: CoordinateScales | None = None
    """By what errors are measured where coordinates are of several kinds; None where the largest
    gives the size of all.
    """
    sensitivity_floors: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """For each direction that is differentiated in, the largest relative change of a parameter: 1
    over its size for a single one.
    """
    chosen: np.ndarray | None = None
    """1 for coordinates that are independent at first, else 0; None where the run is to choose
    them.
    """
    memory: float = MEMORY
    """Bytes that an adjoint program may take for what it records."""
    parts: int = 1
    """Of the way from nominal values to those wanted, in which the start is followed from the
    guess, which is that of the nominal one.
    """
    anchor: np.ndarray | None = None
    """Positions that set the penalty, the same for all values of the parameters; None where those
    of the start do.
    """
