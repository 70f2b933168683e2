"""Verification of statistics by an independent Monte Carlo study: other random numbers, runs
without derivatives, and an interval that contains each true statistic with a given probability.

    mean                x̄ ± t s/√n
    standard deviation  from the contribution of each sample, (x − x̄)²/(2 s)
    worst               likewise, from x + k (x − x̄)²/(2 s)
    quantile            order statistics whose ranks enclose a binomial number
    probability         Clopper and Pearson's interval of a binomial number

Failed runs are unknown values: intervals of quantiles and probabilities allow for them on either
side. Means and standard deviations, which would then have no bounds, exclude them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import VarimechError
from ..core.progress import progress_bar
from ..results.labels import with_units
from ..results.result import Description, Result, Variable
from ..sensitivity.comparison import Constraint
from ..uncertainty.sampled import clopper_pearson
from ..uncertainty.sampling import stream
from .method import StatisticsTask
from .sampled_statistics import ROUND
from .statistic import Mean, Probability, Quantile, Statistic, Std, Worst

if TYPE_CHECKING:
    import xarray as xr

LEVEL = 0.95
"""Probability with which an interval contains the true value."""
SAMPLES, MOST = 10_000, 200_000
"""Default number of samples, and maximum number that is chosen automatically: a round value, with
which a standard deviation has an error of 1.4 %.
"""
EVENTS = 40
"""Expected number of rare events among the samples: it then has an error of some 30 %."""
CHUNK = 2_000
"""Samples that run at once: many for vectors and threads, few for a progress bar."""
ALLOWED = 0.01
"""Largest acceptable share of failed runs."""


@dataclass(frozen=True, eq=False)
class Checked:
    """A statistic by the method of a design and by independent samples."""

    name: str
    statistic: Statistic
    claimed: float
    estimate: float
    lower: float
    upper: float
    """Interval of the estimate."""
    bound: Constraint | None
    """Constraint on the statistic, if there is one."""
    time: float = math.nan
    """For a statistic over time, the instant at which it is nearest to its bound, or largest."""

    @property
    def contradicted(self) -> bool:
        """Whether the whole interval violates the bound."""
        b = self.bound
        return b is not None and (self.lower > b.upper or self.upper < b.lower)

    @property
    def confirmed(self) -> bool:
        """Whether the value of the method lies in the interval."""
        return self.lower <= self.claimed <= self.upper

    @property
    def verdict(self) -> str:
        """Result of the comparison, as text."""
        if self.contradicted:
            return "bound broken"
        off = f"off by {self.claimed - self.estimate:.1g}"
        inside = "confirmed" if self.confirmed else off
        b = self.bound
        open_ = b is not None and not (b.lower <= self.lower and self.upper <= b.upper)
        return f"{inside}, bound undecided" if open_ else inside


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Result):
    """An independent Monte Carlo study of the statistics of a design, with intervals."""

    label: str
    checked: tuple[Checked, ...]
    samples: int
    failed: int
    """Number of failed runs: allowed for on either side in intervals of probabilities and
    quantiles, and excluded from those of means and standard deviations.
    """
    seed: int

    _dims = ("statistic",)
    claimed = Variable("Values by the method of the design.")
    estimate = Variable("Values from independent samples.")
    lower = Variable("Lower end of the 95 % interval of the estimate.")
    upper = Variable("Upper end of the 95 % interval of the estimate.")

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, numbers of samples, seed."""
        own = {"samples": self.samples, "failed": self.failed, "seed": self.seed}
        return {"mechanism": self.label, "level": LEVEL, **own}

    @property
    def contradictions(self) -> list[str]:
        """Names of the statistics whose whole interval violates their bound."""
        return [c.name for c in self.checked if c.contradicted]

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`claimed`, `estimate`, `lower`, `upper` and `contradicted` by statistic."""
        import xarray as xr

        names = [c.name for c in self.checked]
        units = [c.statistic.unit for c in self.checked]
        keys = ("claimed", "estimate", "lower", "upper", "contradicted")
        arrays = {key: np.array([getattr(c, key) for c in self.checked]) for key in keys}
        return xr.Dataset(
            {name: ("statistic", array) for name, array in arrays.items()},
            coords=with_units("statistic", names, units),
        )

    def _described(self) -> Description:
        head = ["statistic", "value", "samples", "lower", "upper", "unit", "verdict"]
        rows = [
            [c.name, c.claimed, c.estimate, c.lower, c.upper, c.statistic.unit, c.verdict]
            for c in self.checked
        ]
        notes = [
            f"{name}: its bound is broken beyond doubt: use another method of statistics"
            for name in self.contradictions
        ]
        failed = f", {self.failed} failed" if self.failed else ""
        title = f"Verification of {self.label!r}: {self.samples} samples{failed}, 95 % intervals"
        return Description(title, tables=[(head, rows)], notes=notes)


def verified(
    label: str,
    task: StatisticsTask,
    x: np.ndarray,
    claimed: Mapping[str, np.ndarray],
    bounds: Mapping[str, Constraint],
    samples: int | None,
    seed: int,
    progress: bool | None,
) -> Verification:
    """Draw independent samples at a design and compare the statistics.

    Args:
        label: name of the mechanism.
        task: the statistics.
        x: the design.
        claimed: values by the method of the design, (column).
        bounds: constraints by statistic.
        samples: number of samples; chosen automatically if None.
        seed: seed of samples that no method has used.
        progress: whether to show a progress bar.

    Raises:
        VarimechError: if more than 1 % of the runs fail.
    """
    count = _samples(task, claimed) if samples is None else samples
    point, d = task.design.at(x), len(task.design.distributions.names)
    u = stream(seed, 1 << 20).standard_normal((count, d))
    rows, parts, failures = point.rows(point.values(u)), list[np.ndarray](), []
    with progress_bar(f"{label}: verification", count, progress) as report:
        for first in range(0, count, CHUNK):
            values, failed = task.runs.reachable(rows[first : first + CHUNK])
            parts.append(values)
            failures += list(failed.values())
            report(min(first + CHUNK, count))
    ψ = np.concatenate(parts)
    good = np.isfinite(ψ).all(axis=1)
    if (~good).sum() > ALLOWED * count:
        reason = f"; the first one: {failures[0]}" if failures else ""
        raise VarimechError(f"{(~good).sum()} of {count} runs to verify the design failed{reason}")
    checked = [
        _checked(task, name, s, claimed[name], bounds.get(name), ψ[good], int((~good).sum()))
        for name, s in task.statistics.items()
    ]
    return Verification(label, tuple(checked), count, int((~good).sum()), seed)


def interval(statistic: Statistic, ψ: np.ndarray, failed: int = 0) -> tuple[float, float, float]:
    """Estimate a statistic and its interval from samples, (sample, function), in addition to which
    `failed` runs failed.
    """
    from scipy.special import stdtrit
    from scipy.stats import binom

    n, x = len(ψ), ψ[:, 0]
    if isinstance(statistic, Probability):
        inside = np.ones(n, dtype=bool)
        for column, limit in zip(ψ.T, statistic.limits, strict=True):
            inside &= (column >= limit.lower) & (column <= limit.upper)
        count, every = int(inside.sum()), n + failed
        lower, _ = clopper_pearson(count, every, LEVEL)
        _, upper = clopper_pearson(count + failed, every, LEVEL)
        return float(inside.mean()), lower, upper
    if isinstance(statistic, Quantile):
        ends = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
        low, high = (int(binom.ppf(side, n + failed, statistic.p)) for side in ends)
        low -= failed  # all failed runs below, or all above
        ordered = np.sort(x)
        upper = float(ordered[high]) if high < n else math.inf
        lower = float(ordered[low - 1]) if low >= 1 else -math.inf
        return float(np.quantile(x, statistic.p)), lower, upper
    mean, σ = float(x.mean()), float(x.std(ddof=1))
    if σ <= ROUND * float(np.abs(x).max()):
        exact = 0.0 if isinstance(statistic, Std) else mean
        return exact, exact, exact
    of_std = (x - mean) ** 2 / (2 * σ)
    k: float = statistic.sigma if isinstance(statistic, Worst) else 0.0
    value, influence = {
        Mean: (mean, x),
        Std: (σ, of_std),
        Worst: (mean + k * σ, x + k * of_std),
    }[type(statistic)]
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2) * influence.std(ddof=1)) / math.sqrt(n)
    return value, value - half, value + half


def _samples(task: StatisticsTask, claimed: Mapping[str, np.ndarray]) -> int:
    """Number of samples that resolves the rarest event among the statistics."""
    rare = [
        min(p, 1 - p)
        for name, s in task.statistics.items()
        for p in ([s.p] if isinstance(s, Quantile) else claimed[name].tolist())
        if isinstance(s, (Quantile, Probability)) and 0 < p < 1
    ]
    return min(max([SAMPLES, *(math.ceil(EVENTS / p) for p in rare)]), MOST)


def _checked(
    task: StatisticsTask,
    name: str,
    statistic: Statistic,
    claimed: np.ndarray,
    bound: Constraint | None,
    ψ: np.ndarray,
    failed: int,
) -> Checked:
    """Compare a statistic with samples; over time, at the instant where the value of the method is
    nearest to its bound.
    """
    columns = task.columns(statistic)
    if not statistic.over_time:
        estimate = interval(statistic, ψ[:, [int(c[0]) for c in columns]], failed)
        return Checked(name, statistic, float(claimed[0]), *estimate, bound)
    nearness = (
        claimed if bound is None else -np.minimum(claimed - bound.lower, bound.upper - claimed)
    )
    k = int(np.argmax(nearness))
    estimate = interval(statistic, ψ[:, columns[0][k : k + 1]], failed)
    return Checked(name, statistic, float(claimed[k]), *estimate, bound, float(task.runs.time[k]))
