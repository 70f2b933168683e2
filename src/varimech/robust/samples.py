"""Statistics by samples with common random numbers: all designs use the same points of the standard
normal space, so that estimates are smooth functions of the design, with derivatives

    dψ_n/dx = Σ ∂ψ/∂ρ_i ∂ρ_i/∂x        (u_n held fixed)

from one run with gradients for each sample, evaluated in batches. Points are Sobol sequences,
scrambled independently in 16 groups; the differences of the groups yield the error.
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
"""Number of independent Sobol sequences: an error estimated from 16 has itself an error of some 18
%; more sequences would leave fewer points to each.
"""
AMPLE = 4
"""Factor by which the number of samples beyond a quantile exceeds the minimum."""


@dataclass(frozen=True, eq=False)
class SamplesMethod:
    """Sampling as a method that computes statistics (see the module docstring)."""

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
        """Number of samples: a multiple of the number of groups, each group of a power of two."""
        samples = self.settings.samples
        if samples is None:
            rare = [
                min(s.p, 1 - s.p) for s in self.task.statistics.values() if isinstance(s, Quantile)
            ]
            needed = max((AMPLE * FEWEST_BEYOND / p for p in rare), default=0.0)
            samples = min(max(SAMPLES, int(needed)), MOST_SAMPLES)
        each = -(-samples // GROUPS)
        return GROUPS * (1 << (each - 1).bit_length())

    @property
    def resolution(self) -> int:
        """Number of samples from which probabilities are estimated."""
        return self.count

    @cached_property
    def points(self) -> np.ndarray:
        """Points u, (sample, random parameter): the same at every design."""
        from scipy.special import ndtri

        size, d = self.count // GROUPS, len(self.task.design.distributions.names)
        sampling = Sampling("sobol", self.settings.seed, size, d)
        return np.asarray(ndtri(np.concatenate([sampling.points(k) for k in range(GROUPS)])))

    def evaluate(self, x: np.ndarray, *, errors: bool = False) -> Mapping[str, Values]:
        """See `StatisticsMethod`; error estimates need no additional runs."""
        point = self.task.design.at(x)
        values, J = self.task.runs.first(point.rows(point.values(self.points)))
        derivatives = point.in_variables(self.points, J)
        results = SampledStatistics(values, derivatives, GROUPS).all(self.task)
        if errors:
            return results
        return {n: replace(v, errors=np.full(v.values.shape, np.nan)) for n, v in results.items()}
