"""Reliability: the probability that objectives lie beyond limits.

In the space of independent standard normal variables u behind the parameters, the design point u*
is the point of the limit ψ = ψ_lim that is nearest to the origin, and β = |u*|. FORM replaces the
limit by its tangent plane at u*, P ≈ Φ(−β); SORM by a paraboloid with the same curvatures (formulas
of Breitung, of Hohenbichler and Rackwitz, and of Tvedt). Further design points are searched for
(`design_points.py`), for all limits of a system (`first_order.py`), and samples drawn around them
(`importance.py`) check both; `reliability_methods.py` contains the other methods.

    importance factors   α_i² = (u*_i/β)²

For an event that occurs at the origin, the complement is evaluated, which is the rarer event.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.labels import with_units
from ..results.result import Description, Result
from .reliability_notes import notes_of_samples
from .sampled import Sampled

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from .design_points import DesignPoint
    from .first_order import FirstOrder
    from .limits import System

SLOPES = ("beta_mean", "beta_std", "probability_mean", "probability_std")
"""Columns of the table of derivatives: of β and of the probability by FORM, with respect to mean
and standard deviation of a parameter.
"""


@dataclass(frozen=True)
class LimitShare:
    """One limit of a system."""

    name: str
    form: float = math.nan
    """First-order probability that the limit alone is exceeded."""
    sampled: Sampled | None = None
    """Probability that the limit alone is exceeded, from samples."""
    without: float = math.nan
    """Probability of the system without this limit; from samples if available."""


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(Result):
    """The probability of an event, and the parameter values at which the event is most likely to
    occur.
    """

    label: str
    event: str
    beta: float
    """Reliability index; negative if the event is more likely than not. For one limit, it is the
    distance of the nearest design point; for a system, and for samples alone, it is −Φ⁻¹(P).
    """
    form: float
    """First-order probability of the union of the regions beyond all design points; NaN for methods
    without design points.
    """
    sorms: dict[str, float]
    """Second-order probabilities by formula; NaN if the curvature of the limit is too large for a
    formula.
    """
    design: dict[str, float]
    """The design point: parameter → value."""
    importance: dict[str, float]
    """Importance factors of the independent variables behind the parameters; they sum to 1. For
    correlated parameters, each factor excludes the effect of the preceding parameters.
    """
    units: tuple[str, ...]
    curvatures: np.ndarray = field(repr=False)
    """Curvatures of the limit at the design point, in the standard space."""
    sampled: Sampled | None
    calls: dict[str, int]
    """Numbers of values, gradients and Hessians computed."""
    result: object = field(repr=False)
    """`openturns.SORMResult` at the design point; of the complementary event if β is negative."""
    points: tuple[DesignPoint, ...] = field(repr=False)
    """All design points that contribute, the nearest first; `beta`, `design`, … are those of the
    first one.
    """
    notes: tuple[str, ...]
    """Reasons to doubt the numbers: methods that disagree, limits that curve around the origin,
    failed runs.
    """
    limits: tuple[LimitShare, ...] = ()
    """For a system: the probabilities of each limit alone and of the system without it."""
    slopes: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    """Derivatives by the names of `SLOPES`, (d,) each."""
    sampling: str = "importance sampling"
    """Method that drew the samples."""

    @property
    def sorm(self) -> float:
        """Second-order probability by Hohenbichler and Rackwitz."""
        return self.sorms.get("Hohenbichler", math.nan)

    @property
    def probability(self) -> float:
        """Best available estimate: from samples, else of second order, else of first order."""
        if self.sampled is not None and self.sampled.hits:
            return self.sampled.probability
        return self.sorm if math.isfinite(self.sorm) else self.form

    @property
    def nearest(self) -> bool:
        """Whether the design point is the nearest one in its neighbourhood: the limit is curved
        less than a sphere about the origin through it.
        """
        return bool(self.points) and self.points[0].nearest

    _dims = ("parameter",)

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, event, reliability index, and numbers of runs."""
        return {"mechanism": self.label, "event": self.event, "beta": self.beta, **self.calls}

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`design`, `importance` and derivatives by parameter, `probability` (with `lower` and
        `upper` of samples) by method, and `alone` and `without` by limit.
        """
        import xarray as xr

        merged = xr.Dataset()
        if self.design:
            points = {"design": [*self.design.values()], "importance": [*self.importance.values()]}
            merged = xr.Dataset(
                {name: ("parameter", values) for name, values in {**points, **self.slopes}.items()},
                coords=with_units("parameter", [*self.design], self.units),
            )
        merged = merged.merge(self.table().rename_axis("method").to_xarray())
        if self.limits:
            merged = merged.merge(self.limit_table().rename_axis("limit").to_xarray())
        return merged

    def table(self) -> pd.DataFrame:
        """Probabilities of all methods.

        Returns:
            A row for each method: `probability`, and for samples `lower`, `upper` and `variation`,
            the coefficient of variation.
        """
        import pandas as pd

        rows: dict[str, list[float]] = {}
        if self.design:
            rows["FORM"] = [self.form]
            rows |= {f"SORM, {name}": [p] for name, p in self.sorms.items()}
        frame = pd.DataFrame.from_dict(rows, orient="index", columns=["probability"])
        if self.sampled is not None:
            s = self.sampled
            columns = ["probability", "lower", "upper", "variation"]
            frame.loc[f"{self.sampling}, {s.samples} samples", columns] = [
                s.probability,
                s.lower,
                s.upper,
                s.variation,
            ]
        return frame

    def limit_table(self) -> pd.DataFrame:
        """The limits of a system.

        Returns:
            A row for each limit: `alone`, the probability that it is exceeded (`lower` and `upper`
            from samples), and `without`, the probability of the system without it.
        """
        import pandas as pd

        rows = {}
        for limit in self.limits:
            s = limit.sampled
            bounds = (math.nan, math.nan) if s is None else (s.lower, s.upper)
            rows[limit.name] = [limit.form if s is None else s.probability, *bounds, limit.without]
        columns = ["alone", "alone_lower", "alone_upper", "without"]
        return pd.DataFrame.from_dict(rows, orient="index", columns=columns)

    def sensitivity_table(self) -> pd.DataFrame:
        """Derivatives of the reliability index and of the probability by FORM with respect to mean
        and standard deviation of each parameter, whose distribution is shifted and stretched.

        For one limit, the derivatives of the index are exact at its nearest design point. The
        derivatives of a probability with several design points neglect the curvature of the limits.

        Returns:
            A row for each parameter, with the columns `beta_mean`, `beta_std`, `probability_mean`
            and `probability_std`, per unit of the parameter; empty for methods without design
            points.
        """
        import pandas as pd

        return pd.DataFrame(self.slopes, index=[*self.design], columns=[*SLOPES])

    def _described(self) -> Description:
        calls = ", ".join(f"{n} {what}" for what, n in self.calls.items())
        frame = self.table()
        tables = [(["method", *frame.columns], _rows(frame))]
        if self.limits:
            frame = self.limit_table()
            tables.append((["limit", *frame.columns], _rows(frame)))
        shares = [f"{100 * a:.1f} %" for a in self.importance.values()]
        points: list[list[object]] = [
            list(row)
            for row in zip(self.design, self.design.values(), self.units, shares, strict=True)
        ]
        if points:
            tables.append((["parameter", "design point", "unit", "importance"], points))
            frame = self.sensitivity_table()
            tables.append(
                (["parameter", "∂β/∂mean", "∂β/∂std", "∂P/∂mean", "∂P/∂std"], _rows(frame))
            )
        others = []
        for other in self.points[1:]:
            at = ", ".join(f"{n} = {x:.6g}" for n, x in zip(self.design, other.values, strict=True))
            others.append(f"another design point: β = {other.beta:.6g} at {at}")
        return Description(
            f"Reliability of {self.label!r}: {self.event}; β = {self.beta:.6g}; {calls}",
            tables=tables,
            notes=[*others, *self.notes],
        )


def of_samples(
    system: System, sampling: str, drawn: Sampled, shares: Sequence[LimitShare]
) -> Reliability:
    """Build the result of a method without design points."""
    return Reliability(
        system.study.label,
        system.name,
        _index(drawn.probability),
        math.nan,
        {},
        {},
        {},
        (),
        np.empty(0),
        drawn,
        {},
        None,
        (),
        tuple(notes_of_samples(drawn)),
        tuple(shares),
        {},
        sampling,
    )


def of_points(
    system: System,
    form: FirstOrder,
    drawn: Sampled | None,
    shares: Sequence[LimitShare],
    notes: tuple[str, ...],
    likely: bool,
) -> Reliability:
    """Build the result from design points, or from those of the complementary event if it is
    rarer.
    """
    study, nearest, sign = system.study, form.points[0], -1 if likely else 1
    first = form.probability
    β = _index(first) if shares else nearest.beta
    sorms = {f: 1 - p if likely else p for f, p in form.sorms.items()}
    names = study.names
    return Reliability(
        study.label,
        system.name,
        sign * β,
        1 - first if likely else first,
        sorms,
        dict(zip(names, nearest.values.tolist(), strict=True)),
        dict(zip(names, nearest.importance.tolist(), strict=True)),
        study.distributions.units,
        nearest.curvatures,
        drawn,
        {},
        nearest.result,
        form.points,
        notes,
        tuple(shares),
        _slopes(form, β, bool(shares), sign),
    )


def _rows(frame: pd.DataFrame) -> list[list[object]]:
    """Rows of a table with numbers of five significant digits."""
    return [
        [name, *(float(f"{x:.5g}") for x in row)]
        for name, row in zip(frame.index, frame.to_numpy().tolist(), strict=True)
    ]


def _index(probability: float) -> float:
    """−Φ⁻¹(P)."""
    from scipy.special import ndtri

    return -float(ndtri(probability))


def _slopes(form: FirstOrder, β: float, system: bool, sign: int) -> dict[str, np.ndarray]:
    """Derivatives of index and probability; `sign` is −1 if the design points are those of the
    complementary event.
    """
    derivatives = form.derivatives()
    if system:
        density = math.exp(-(β**2) / 2) / math.sqrt(2 * math.pi)
        of_index = tuple(
            -each / density if density > 0 else each * math.nan for each in derivatives
        )
    else:
        of_index = form.points[0].planes.distance_slopes
    return {
        name: sign * values for name, values in zip(SLOPES, (*of_index, *derivatives), strict=True)
    }
