"""Statistics of objectives over the random parameters of a mechanism, as quantities of a design:

    mean E[ψ],   std √E[(ψ − E ψ)²],   quantile F⁻¹(p),   worst E[ψ] + k √Var[ψ],   P[ψ ≤ c, …]

Compared with a number they make constraints, like every other quantity.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from ..core.errors import ModelError, check_numbers
from ..core.messages import Message, Text
from ..optimization.quantities import DesignQuantity, Path, peak
from ..sensitivity.comparison import Comparable, Constraint
from ..sensitivity.objective import Objective, lowest
from ..sensitivity.stability_objective import StabilityObjective

Random = Objective | Path
"""Quantities that can have a statistic: a number of a run, or a function of the state over time."""


class Statistic(DesignQuantity):
    """A statistic over the random parameters; created by `mean`, `std`, `quantile`, `worst` and
    `probability`.
    """

    kind: str

    @property
    @abstractmethod
    def functions(self) -> tuple[Random, ...]:
        """Quantities of runs that the statistic is computed of."""
        ...

    @property
    @abstractmethod
    def label(self) -> str:
        """Label of the statistic in tables."""
        ...


@dataclass(frozen=True)
class OfOne(Statistic):
    """A statistic of one objective, or of one function at every stored time."""

    of: Random

    @property
    def functions(self) -> tuple[Random, ...]:
        """The objective."""
        return (self.of,)

    @property
    def over_time(self) -> bool:
        """Whether the statistic is that of a path."""
        return isinstance(self.of, Path)

    @property
    def unit(self) -> str:  # type: ignore[override]
        """Unit of the objective."""
        return self.of.unit


@dataclass(frozen=True)
class Mean(OfOne):
    """E[ψ]"""

    kind = "mean"

    @property
    def label(self) -> str:
        """See `Statistic`."""
        return "mean"


@dataclass(frozen=True)
class Std(OfOne):
    """√E[(ψ − E ψ)²]"""

    kind = "std"

    @property
    def label(self) -> str:
        """See `Statistic`."""
        return "standard deviation"


@dataclass(frozen=True)
class Quantile(OfOne):
    """The value below which ψ stays with a probability."""

    p: float
    kind = "quantile"

    @property
    def label(self) -> str:
        """See `Statistic`."""
        return f"quantile {self.p:g}"


@dataclass(frozen=True)
class Worst(OfOne):
    """E[ψ] + sigma · √Var[ψ]"""

    sigma: float
    kind = "worst"

    @property
    def label(self) -> str:
        """See `Statistic`."""
        return f"mean {'+' if self.sigma > 0 else '−'} {abs(self.sigma):g} σ"


@dataclass(frozen=True)
class Limited:
    """lower ≤ ψ ≤ upper: one of the conditions of a probability."""

    of: Objective
    lower: float
    upper: float


@dataclass(frozen=True)
class Probability(Statistic):
    """The probability that all comparisons hold; for a path, at all times of the run."""

    comparisons: tuple[Constraint, ...]
    limits: tuple[Limited, ...]
    """The comparisons as limits of objectives: a path is limited by its largest or smallest
    value.
    """
    unit = ""
    kind = "probability"

    @property
    def functions(self) -> tuple[Random, ...]:
        """The limited objectives."""
        return tuple(limit.of for limit in self.limits)

    @property
    def label(self) -> str:
        """See `Statistic`."""
        return f"probability of {', '.join(c.rule for c in self.comparisons)}"

    def _bounded(self, lower: float, upper: float) -> Constraint:
        """Refuse percentages, and bounds that every design satisfies: 1 may be meant as 1 %."""
        for bound in (lower, upper):
            if math.isfinite(bound) and not 0 <= bound <= 1:
                problem = f"cannot be bounded by {bound:g}: it lies between 0 and 1"
                remedy = "write 0.01 for 1 %"
                raise ModelError(problem, element="probability", remedy=remedy)
        if lower <= 0 and upper >= 1:
            bounds = f">= {lower:g}" if math.isfinite(lower) else f"<= {upper:g}"
            problem = f"{bounds} holds for every design"
            remedy = "write 0.01 for 1 %"
            raise ModelError(problem, element="probability", remedy=remedy)
        return super()._bounded(lower, upper)


def mean(of: Random) -> Mean:
    """The mean of an objective over the random parameters.

    Args:
        of: an objective of a run, or `vm.path(f)` for the mean at every stored time.

    Returns:
        A quantity to minimise, or to bound by a comparison.

    Raises:
        ModelError: if `of` cannot have a statistic.
    """
    return Mean(_random("mean", of))


def std(of: Random) -> Std:
    """The standard deviation of an objective over the random parameters.

    Args:
        of: as for `mean`.

    Returns:
        A quantity to minimise, or to bound by a comparison.

    Raises:
        ModelError: if `of` cannot have a statistic.

    >>> import varimech as vm
    >>> vm.std(vm.final(lambda s: s.angle("rod"), unit="rad")) <= 0.01
    Constraint(of=..., lower=-inf, upper=0.01)
    """
    return Std(_random("std", of))


def quantile(of: Random, p: float) -> Quantile:
    """The value below which an objective stays with probability p.

    Args:
        of: as for `mean`.
        p: between 0 and 1.

    Returns:
        A quantity to minimise, or to bound by a comparison.

    Raises:
        ModelError: if `of` cannot have a statistic, or for another p.
    """
    check_numbers("quantile", p=p)
    if not 0 < p < 1:
        problem = "must be a probability between 0 and 1, both excluded"
        remedy = "write 0.999 for the value that 99.9 % stay below"
        raise ModelError(problem, element="quantile", field="p", value=p, remedy=remedy)
    return Quantile(_random("quantile", of), float(p))


def worst(of: Random, sigma: float = 3.0) -> Worst:
    """Mean plus a number of standard deviations of an objective over the random parameters.

    Args:
        of: as for `mean`.
        sigma: number of standard deviations; negative for the lower side.

    Returns:
        A quantity to minimise, or to bound by a comparison.

    Raises:
        ModelError: if `of` cannot have a statistic.
    """
    check_numbers("worst", sigma=sigma)
    if not (math.isfinite(sigma) and sigma != 0):
        problem = "must be a finite number of standard deviations other than 0"
        remedy = "use vm.mean for the mean alone"
        raise ModelError(problem, element="worst", field="sigma", value=sigma, remedy=remedy)
    return Worst(_random("worst", of), float(sigma))


def probability(*comparisons: Constraint | Sequence[Constraint]) -> Probability:
    """The probability, over the random parameters, that a comparison is satisfied; for several
    comparisons, that all are satisfied at once.

    Args:
        comparisons: such as `vm.final(f) <= 0.1` or `vm.path(h).between(-1, 1)`; a path has to stay
            within its limits at all times of the run.

    Returns:
        A quantity to bound by a comparison, or to minimise, where it is that of a failure.

    Raises:
        ModelError: if an argument is not a comparison of an objective or a path.

    >>> import varimech as vm
    >>> safe = vm.probability(vm.path(lambda s: s.angle("rod")) <= 1.2) >= 0.9999
    """
    flat: list[Constraint] = []
    for each in comparisons:
        flat.extend([each] if isinstance(each, Constraint) else _listed(each))
    if not flat:
        remedy = "give one or more, such as vm.final(f) <= 0.1"
        raise ModelError("has no comparison", element="probability", remedy=remedy)
    for c in flat:
        if c.lower == c.upper:
            problem = f"that a quantity is exactly {c.lower:g} is 0"
            remedy = "compare with <= or >=, or use between(lower, upper)"
            raise ModelError(problem, element="probability", remedy=remedy)
    limits = tuple(limit for c in flat for limit in _limits(c))
    return Probability(tuple(flat), limits)


def _listed(comparisons: object) -> list[Constraint]:
    """Return the comparisons of a list, checked."""
    several: list[Any] = (
        list(comparisons) if isinstance(comparisons, (list, tuple)) else [comparisons]
    )
    for c in several:
        if not isinstance(c, Constraint):
            remedy = "write vm.probability(vm.final(f) <= 0.1)"
            raise ModelError("is no comparison", element="probability", value=c, remedy=remedy)
    return several


def _limits(c: Constraint) -> list[Limited]:
    """Convert a comparison to limits of objectives."""
    of = c.of
    if not isinstance(of, Path):
        return [Limited(_number("probability", of), c.lower, c.upper)]
    limits = []
    if math.isfinite(c.upper):
        limits.append(Limited(peak(of.function, unit=of.unit), -math.inf, c.upper))
    if math.isfinite(c.lower):
        limits.append(Limited(lowest(of.function, unit=of.unit), c.lower, math.inf))
    return limits


def _random(statistic: str, of: Any) -> Random:
    return of if isinstance(of, Path) else _number(statistic, of)


def _number(statistic: str, of: Comparable | Any) -> Objective:
    """Check that an objective can have a statistic, and return it."""
    remedy: Text
    if isinstance(of, StabilityObjective):
        problem = (
            "it is of small motions, and statistics are taken over runs with first and second"
            " derivatives"
        )
        remedy = Message("use moments(…) with {order} for its mean and standard deviation", order=1)
        raise ModelError(problem, element=statistic, value=of, remedy=remedy)
    if isinstance(of, Constraint):
        remedy = "vm.probability takes comparisons; other statistics take an objective or a path"
        raise ModelError("is a comparison", element=statistic, value=of, remedy=remedy)
    if isinstance(of, DesignQuantity):
        problem = "it is a statistic (or a cost) itself, which does not vary"
        raise ModelError(problem, element=statistic, remedy="give an objective of a run")
    if not isinstance(of, Objective):
        problem = "is not an objective"
        remedy = "make one with varimech.final, varimech.integral, varimech.peak or varimech.path"
        if isinstance(of, Real):
            problem = "is a number, and not an objective"
        raise ModelError(problem, element=statistic, value=of, remedy=remedy)
    return of
