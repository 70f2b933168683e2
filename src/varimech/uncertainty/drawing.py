"""Samples of a study, chunk by chunk: points in the unit cube, turned into values of parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .parameter_distributions import ParameterDistributions
from .sampling import Sampling


@dataclass(frozen=True, eq=False)
class Drawing:
    """Draws the samples of a study."""

    sampling: Sampling
    distributions: ParameterDistributions
    base: np.ndarray
    """Values of all parameters; those of varying parameters are replaced."""

    def rows(self, chunk: int, begin: int, end: int) -> np.ndarray:
        """Values of all parameters for the samples of a chunk from `begin` up to, but excluding,
        `end`.
        """
        points = self.sampling.points(chunk)[begin:end]
        return self.distributions.rows(self.distributions.from_uniform(points), self.base)


@dataclass(frozen=True, eq=False)
class Drawn:
    """The samples of a chunk, or of a part of it; drawn on demand."""

    drawing: Drawing
    number: int
    """Number of the chunk."""
    first: int
    """Index of its first sample in the study."""
    begin: int
    end: int
    """End of the range of its samples within the chunk."""

    def __len__(self) -> int:
        return self.end - self.begin

    @cached_property
    def rows(self) -> np.ndarray:
        """Values of all parameters, one row for each sample."""
        return self.drawing.rows(self.number, self.begin, self.end)
