"""Distributions of the quantities behind statistics, before and after optimisation: samples of both
designs with common random numbers, so that they differ by the design only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..core.errors import check_whole
from ..uncertainty.sampling import stream
from .method import StatisticsTask
from .statistic import Probability, Statistic

SAMPLES = 4000
"""Samples of each design: a histogram of 30 bars then has an error of some 5 % at its peak."""
SEED = 1 << 21
"""Seed offset, so that random numbers differ from those of methods and verifications."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """Samples of a quantity at two designs; NaN where a run failed."""

    name: str
    """Names of the statistics of this quantity."""
    unit: str
    before: np.ndarray
    after: np.ndarray
    limits: tuple[float, ...]
    """Finite limits on this quantity in a probability."""


@dataclass(frozen=True, eq=False)
class TwoDesigns:
    """The statistics of a search, with its initial and its final design."""

    task: StatisticsTask = field(repr=False)
    before: np.ndarray
    after: np.ndarray

    def distributions(self, samples: int = SAMPLES) -> list[Distribution]:
        """Sample both designs.

        Args:
            samples: number of samples of each design.

        Returns:
            A distribution for each number of a run; quantities over time have none.

        Raises:
            ModelError: for a number of samples that is not whole and positive.
        """
        check_whole("distributions", 1, samples=samples)
        u = stream(0, SEED).standard_normal((samples, len(self.task.design.distributions.names)))
        sampled = []
        for x in (self.before, self.after):
            point = self.task.design.at(x)
            sampled.append(self.task.runs.reachable(point.rows(point.values(u)))[0])
        first, last = sampled
        by_column: dict[int, Distribution] = {}
        for name, unit, column, limits in self._numbers():
            existing = by_column.get(column)
            names = name if existing is None else f"{existing.name}, {name}"
            every = limits if existing is None else (*existing.limits, *limits)
            both = first[:, column], last[:, column]
            by_column[column] = Distribution(names, unit, *both, tuple(sorted({*every})))
        return list(by_column.values())

    def _numbers(self) -> Iterator[tuple[str, str, int, tuple[float, ...]]]:
        """Yield name, unit, column and limits of each scalar quantity of a statistic."""
        statistics: Mapping[str, Statistic] = self.task.statistics
        for name, statistic in statistics.items():
            if statistic.over_time:
                continue
            for k, column in enumerate(self.task.columns(statistic)):
                limits: tuple[float, ...] = ()
                if isinstance(statistic, Probability):
                    limit = statistic.limits[k]
                    limits = tuple(x for x in (limit.lower, limit.upper) if np.isfinite(x))
                yield name, statistic.functions[k].unit, int(column[0]), limits
