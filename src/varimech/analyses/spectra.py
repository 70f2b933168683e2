"""Eigenvalues of small motions for any parameter values, without neutral motions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..solving.eigenvalues import Spectrum, spectrum
from ..solving.neutral_motions import without_neutral
from .linear import Derived, linearized
from .solvers import ModelSolvers

if TYPE_CHECKING:
    from ..coordinates.systems import Coordinates


@dataclass(frozen=True)
class MotionSpectrum:
    """Eigenvalues about a motion."""

    spectrum: Spectrum
    """With derivatives with respect to the parameters that were asked for."""
    neutral: int
    """Number of motions that were left out: their eigenvalue is zero for all these parameters."""
    steady: bool
    """Whether the linear equations do not change along the motion."""
    positions: np.ndarray
    """Coordinates of the motion."""


class Spectra:
    """Spectra of a mechanism about one kind of motion; what they share is derived once."""

    def __init__(
        self, solvers: ModelSolvers, at: str, coordinates: str | Coordinates = "natural"
    ) -> None:
        self._solvers, self._at, self._coordinates = solvers, at, coordinates
        self._kept: dict[int, Derived] = {}

    def at(self, values: Mapping[str, float | str], names: list[str]) -> MotionSpectrum:
        """The spectrum for some parameter values, with derivatives for the named parameters."""
        found = linearized(
            self._solvers,
            self._at,
            None,
            (),
            None,
            names or None,
            values,
            self._coordinates,
            self._kept,
        )
        linear, s = found.linear, found.linear.state_count
        A, A_ = found.matrices.S[:s, :s], np.zeros((s, s, 0))
        if found.derivatives is not None:
            A_ = found.derivatives[:s, :s]
        B, B_, count = without_neutral(A, A_, linear.position_count)
        place, n = found.point.place, linear.equations.q.numel()
        return MotionSpectrum(spectrum(B, B_), count, found.steady, place.x[:n])
