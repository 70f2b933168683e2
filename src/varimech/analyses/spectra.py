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
    """Eigenvalues, with derivatives with respect to the parameters requested."""
    neutral: int
    """Number of neutral motions left out: their eigenvalue is zero for all these parameters."""
    steady: bool
    """Whether the linearised equations are constant along the motion."""
    positions: np.ndarray
    """Position coordinates of the motion."""


class Spectra:
    """Spectra of a mechanism about one kind of motion; the symbolic linearisation is shared."""

    def __init__(
        self, solvers: ModelSolvers, at: str, coordinates: str | Coordinates = "natural"
    ) -> None:
        self._solvers, self._at, self._coordinates = solvers, at, coordinates
        self._kept: dict[int, Derived] = {}

    def at(self, values: Mapping[str, float | str], names: list[str]) -> MotionSpectrum:
        """Compute the spectrum for parameter values, with derivatives for the named parameters."""
        linearized_motion = linearized(
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
        linear, s = linearized_motion.linear, linearized_motion.linear.state_count
        A, A_ = linearized_motion.matrices.S[:s, :s], np.zeros((s, s, 0))
        if linearized_motion.derivatives is not None:
            A_ = linearized_motion.derivatives[:s, :s]
        B, B_, count = without_neutral(A, A_, linear.position_count)
        place, n = linearized_motion.point.place, linear.equations.q.numel()
        return MotionSpectrum(spectrum(B, B_), count, linearized_motion.steady, place.x[:n])
