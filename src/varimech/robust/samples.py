"""Statistics by samples with common random numbers: at every design the same points of the standard
normal space, so that estimates are smooth functions of the design, with derivatives

    dψ_n/dx = Σ ∂ψ/∂ρ_i ∂ρ_i/∂x        (u_n held fixed)

from one run with gradients for each sample, all in vectors. Points are Sobol sequences, scrambled
independently in 16 groups, whose differences show the error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..uncertainty.sampling import Sampling
from .method import StatisticsTask, Values
from .sampled_statistics import FEWEST_BEYOND, SampledStatistics, check_resolved
from .settings import MOST_SAMPLES, SAMPLES, StatisticsSettings
from .statistic import Quantile

GROUPS = 16
"""Independent Sobol sequences: an error from so many has itself an error of some 18 %; more would
leave each with fewer points.
"""
AMPLE = 4
"""Factor by which samples beyond a quantile exceed the fewest."""


@dataclass(frozen=True, eq=False)
class SamplesMethod:
    """The method; see the head of this file."""

    task: StatisticsTask
    settings: StatisticsSettings = field(default_factory=StatisticsSettings)

    def __post_init__(self) -> None:
        for name, statistic in self.task.statistics.items():
            if isinstance(statistic, Quantile):
                check_resolved(name, statistic.p, self.count)

    @property
    def title(self) -> str:
        """See `StatisticsMethod`."""
        return f"{self.count} samples"

    @cached_property
    def count(self) -> int:
        """Number of samples: a multiple of the groups, each a power of two."""
        wanted = self.settings.samples
        if wanted is None:
            rare = [
                min(s.p, 1 - s.p) for s in self.task.statistics.values() if isinstance(s, Quantile)
            ]
            needed = max((AMPLE * FEWEST_BEYOND / p for p in rare), default=0.0)
            wanted = min(max(SAMPLES, int(needed)), MOST_SAMPLES)
        each = -(-wanted // GROUPS)
        return GROUPS * (1 << (each - 1).bit_length())

    @property
    def resolution(self) -> int:
        """Number of samples that probabilities are counted with."""
        return self.count

    @cached_property
    def points(self) -> np.ndarray:
        """u, (sample, random parameter): the same at every design."""
        from scipy.special import ndtri

        size, d = self.count // GROUPS, len(self.task.design.distributions.names)
        sampling = Sampling("sobol", self.settings.seed, size, d)
        return np.asarray(ndtri(np.concatenate([sampling.points(k) for k in range(GROUPS)])))

    def evaluate(self, x: np.ndarray, *, errors: bool = False) -> Mapping[str, Values]:
        """See `StatisticsMethod`; errors take no more runs."""
        point = self.task.design.at(x)
        values, J = self.task.runs.first(point.rows(point.values(self.points)))
        derivatives = point.in_variables(self.points, J)
        found = SampledStatistics(values, derivatives, GROUPS).all(self.task)
        if errors:
            return found
        return {n: replace(v, errors=np.full(v.values.shape, np.nan)) for n, v in found.items()}
