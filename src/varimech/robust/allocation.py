"""Results of `Problem.allocate`: allocated tolerances."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.atomic_files import write_text
from ..core.errors import Interrupted
from ..core.messages import Text
from ..model.parameter import ROUNDING, Tolerance
from ..plotting.table import number
from ..results.labels import with_units
from ..results.result import Description, Result, Table, Variable
from .before_after import TwoDesigns
from .equal_tolerances import Equal
from .tolerance_choice import ToleranceChoice
from .verification import Verification

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

DIGITS = 3
"""Significant digits of tolerances in the CSV file for a workshop, rounded down: finer than the
resolution of a measuring instrument.
"""
NEARLY = 0.02
"""Distance of the leverage from 1 up to which a tolerance counts as well chosen; a round value."""


@dataclass(frozen=True)
class Bounded:
    """A constraint on a statistic, before and after the allocation; for a statistic over time, the
    value nearest to its bound.
    """

    name: str
    rule: str
    unit: str
    before: float
    value: float
    lower: float
    upper: float
    multiplier: float
    """λ: if the bound moves by δ, the cost changes by −λ δ."""

    @property
    def active(self) -> bool:
        """Whether the constraint is active, so that it determines the cost."""
        return self.multiplier != 0


@dataclass(frozen=True, eq=False, repr=False)
class Allocation(Result):
    """The cheapest tolerances that satisfy constraints on statistics.

    Pass `distributions` and `parameters` to other analyses: `m.monte_carlo(f, a.distributions,
    parameters=a.parameters, …)`.
    """

    label: str
    choices: tuple[ToleranceChoice, ...]
    before: np.ndarray = field(repr=False)
    """Tolerances before the allocation."""
    after: np.ndarray = field(repr=False)
    """Allocated tolerances."""
    lower: np.ndarray = field(repr=False)
    upper: np.ndarray = field(repr=False)
    nominals: Mapping[str, tuple[float, float]]
    """Parameter whose nominal value may change → value before, value after."""
    constraints: tuple[Bounded, ...]
    risk: np.ndarray = field(repr=False)
    """Derivatives of the statistics with respect to the tolerances, (constraint, tolerance)."""
    brings: np.ndarray = field(repr=False)
    """Effect of each tolerance on the constraints in units of cost, Σ λ ∂s/∂t, (before or after,
    tolerance).
    """
    equal: Equal | None
    """Equal tolerances with the same risk; None if no equal tolerances within their bounds have
    this risk.
    """
    grades: Mapping[str, str]
    """Parameter → grade of ISO 286-1, for tolerances in grades."""
    continuous_cost: float
    """Cost of the cheapest continuous tolerances; equal to the cost if none is in grades."""
    method: str
    """Method that computed the statistics."""
    runs: Mapping[str, int]
    """Numbers of runs: "runs", "gradient_runs", "second_order_runs", "evaluations"."""
    corrections: int
    """Number of times that targets were corrected by samples because of errors of the method."""
    converged: bool
    message: str
    verification: Verification | None
    seconds: float
    designs: TwoDesigns | None = field(default=None, repr=False)
    """Designs before and after the allocation; `.distributions()` samples both."""

    _dims = ("parameter",)
    tolerance = Variable("Allocated tolerances ±.", "after")
    cost_of_each = Variable("Cost of each tolerance.", "cost")
    leverage = Variable(
        "Benefit of tightening a tolerance relative to its cost, before the allocation: above 1 it"
        " should be tightened, below 1 it may be relaxed. It is 1 for a well chosen tolerance."
    )

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, costs, method, numbers of runs, termination of the search, and seconds."""
        costs = {"cost": self.cost, "cost_before": self.cost_before}
        if self.equal is not None:
            costs["cost_of_equal_tolerances"] = self.equal.cost
        if self.grades:
            costs |= {"continuous_cost": self.continuous_cost, "rounding_cost": self.rounding_cost}
        search = {"converged": self.converged, "message": self.message}
        own = {"statistics": self.method, **self.runs, "corrections": self.corrections}
        return {"mechanism": self.label, **costs, **search, **own, "seconds": self.seconds}

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters whose tolerances were allocated."""
        return tuple(c.name for c in self.choices)

    @property
    def tolerances(self) -> dict[str, float]:
        """Parameter → allocated tolerance ±, in the unit of the parameter."""
        return dict(zip(self.names, self.after.tolist(), strict=True))

    @property
    def parameters(self) -> dict[str, float]:
        """Parameter → optimal nominal value, for parameters without a tolerance."""
        return {n: x for n, (_, x) in self.nominals.items() if n not in self.names}

    @property
    def distributions(self) -> dict[str, Any]:
        """Parameter → distribution with the allocated tolerance and, if it may change, the optimal
        nominal value.
        """
        from scipy.stats import norm

        by_name: dict[str, Any] = {}
        for c, t in zip(self.choices, self.after.tolist(), strict=True):
            σ = t / c.tolerance.sigmas
            moved = c.name in self.nominals
            own = Tolerance(t, c.tolerance.sigmas)
            by_name[c.name] = norm(self.nominals[c.name][1], σ) if moved else own
        return by_name

    @cached_property
    def _costs(self) -> np.ndarray:
        """Costs, (before or after, tolerance)."""
        return np.array(
            [
                [c.cost.value(t) for c, t in zip(self.choices, widths.tolist(), strict=True)]
                for widths in (self.before, self.after)
            ]
        )

    @cached_property
    def _slopes(self) -> np.ndarray:
        """Derivatives of costs, (before or after, tolerance)."""
        return np.array(
            [
                [c.cost.derivative(t) for c, t in zip(self.choices, widths.tolist(), strict=True)]
                for widths in (self.before, self.after)
            ]
        )

    @property
    def cost(self) -> float:
        """Total cost of the allocated tolerances."""
        return float(self._costs[1].sum())

    @property
    def cost_before(self) -> float:
        """Total cost of the tolerances before."""
        return float(self._costs[0].sum())

    @property
    def rounding_cost(self) -> float:
        """Extra cost of tolerances in grades over the cheapest continuous tolerances."""
        return self.cost - self.continuous_cost

    @property
    def saving(self) -> float:
        """Relative saving compared with equal tolerances at equal risk; NaN if there are none."""
        return math.nan if self.equal is None else 1 - self.cost / self.equal.cost

    @property
    def multipliers(self) -> dict[str, float]:
        """Constraint → λ: if its bound moves by δ, the cost changes by −λ δ."""
        return {b.name: b.multiplier for b in self.constraints}

    @cached_property
    def _leverage(self) -> np.ndarray:
        """Leverage of the tolerances, (before or after, tolerance)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self._slopes < 0, self.brings / -self._slopes, np.inf)

    @property
    def tighten_first(self) -> list[str]:
        """Parameters whose initial tolerances were too wide, in descending order of leverage."""
        order = np.argsort(-self._leverage[0], kind="stable")
        return [self.names[k] for k in order if self._leverage[0, k] > 1 + NEARLY]

    @property
    def may_relax(self) -> list[str]:
        """Parameters whose initial tolerances may be relaxed, in ascending order of leverage."""
        order = np.argsort(self._leverage[0], kind="stable")
        return [self.names[k] for k in order if self._leverage[0, k] < 1 - NEARLY]

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Tolerances, bounds, costs and leverage by parameter; statistics by constraint."""
        import xarray as xr

        equal = np.full(len(self.names), np.nan) if self.equal is None else self.equal.widths
        by_parameter = {
            "nominal": [self._nominal(c) for c in self.choices],
            "before": self.before,
            "after": self.after,
            "equal": equal,
            "lower": self.lower,
            "upper": self.upper,
            "cost_before": self._costs[0],
            "cost": self._costs[1],
            "cost_derivative": self._slopes[1],
            "leverage": self._leverage[0],
            "leverage_after": self._leverage[1],
        }
        keys = ("before", "value", "lower", "upper", "multiplier")
        by_constraint = {
            f"statistic_{key}": ("constraint", [getattr(b, key) for b in self.constraints])
            for key in keys
        }
        return xr.Dataset(
            {name: ("parameter", np.asarray(v, dtype=float)) for name, v in by_parameter.items()}
            | by_constraint
            | {"risk_derivatives": (("constraint", "parameter"), self.risk)},
            coords={
                **with_units("parameter", self.names, [c.unit for c in self.choices]),
                **with_units(
                    "constraint",
                    [b.name for b in self.constraints],
                    [b.unit for b in self.constraints],
                ),
            },
            attrs={"mechanism": self.label},
        )

    def table(self) -> pd.DataFrame:
        """Tolerances before and after, costs, leverage and bounds.

        Returns:
            A row for each parameter whose tolerance was chosen.
        """
        import pandas as pd

        head, rows = self._rows()
        return pd.DataFrame(rows, columns=head).set_index("parameter")

    def _nominal(self, c: ToleranceChoice) -> float:
        return self.nominals.get(c.name, (c.nominal, c.nominal))[1]

    def _rows(self) -> tuple[list[str], list[list[Any]]]:
        head = ["parameter", "unit", "nominal", "before", "after"]
        head += ["grade"] * bool(self.grades) + ["at bound", "cost before", "cost", "leverage"]
        rows = []
        for k, c in enumerate(self.choices):
            grade = [f"IT{self.grades[c.name]}" if c.name in self.grades else ""]
            row = [c.name, c.unit, self._nominal(c), self.before[k], self.after[k]]
            row += grade if self.grades else []
            rows.append([*row, self._at_bound(k), *self._costs[:, k], self._leverage[0, k]])
        return head, rows

    def _at_bound(self, k: int) -> str:
        """Bound that a tolerance is at, "finest" or "widest"; otherwise an empty string."""
        if self.after[k] <= self.lower[k] * (1 + 100 * ROUNDING):
            return "finest"
        return "widest" if self.after[k] >= self.upper[k] * (1 - 100 * ROUNDING) else ""

    def to_csv(self, path: str | os.PathLike[str], *, length: str = "mm") -> Path:
        """Write the tolerances for a workshop: nominal value, tolerance ±, smallest and largest
        value, unit, grade and cost of each.

        Tolerances are rounded down to three digits; limits are the nominal value ± the rounded
        tolerance.

        Args:
            path: the file.
            length: unit of lengths.

        Returns:
            The path.

        Raises:
            ModelError: if the unit is not one of length, or the file cannot be written.
        """
        from ..core.units import in_unit

        metres = in_unit(1.0, length, "m", "to_csv: length")
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        head = ("parameter", "nominal", "tolerance", "smallest", "largest", "unit", "grade", "cost")
        writer.writerow(head)
        for k, c in enumerate(self.choices):
            factor, unit = (metres, length) if c.unit == "m" else (1.0, c.unit)
            t = _rounded_down(self.after[k] / factor)
            nominal = self._nominal(c) / factor
            decimals = max(DIGITS - 1 - math.floor(math.log10(t)), 0) + 1
            values = [f"{nominal:.12g}", f"±{t:.{DIGITS}g}"]
            limits = [f"{nominal + sign * t:.{decimals}f}" for sign in (-1, 1)]
            grade = f"IT{self.grades[c.name]}" if c.name in self.grades else ""
            writer.writerow([c.name, *values, *limits, unit, grade, f"{self._costs[1, k]:.6g}"])
        write_text(path, text.getvalue())
        return Path(path)

    def plot(self, *, style: str | None = None) -> Figure:
        """Plot tolerances and costs before and after, beside equal tolerances at equal risk.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure.
        """
        from .allocation_figures import draw_allocation

        return draw_allocation(self, style)

    def _described(self) -> Description:
        compared = [f"before: {number(self.cost_before, 5)}"]
        if self.equal is not None:
            compared.append(f"{self.equal.rule} at equal risk: {number(self.equal.cost, 5)}")
        cheaper = f", {100 * self.saving:.1f} % less" if self.saving > 0 else ""
        state = "" if self.converged else "NOT converged, "
        runs = ", ".join(f"{n} {what.replace('_', ' ')}" for what, n in self.runs.items() if n)
        summary: list[Text] = [
            f"{state}{self.message}; statistics by {self.method}: {runs}; {self.seconds:.2g} s"
        ]
        head = ["constraint", "rule", "before", "after", "unit", "multiplier"]
        rows = [[b.name, b.rule, b.before, b.value, b.unit, b.multiplier] for b in self.constraints]
        tables: list[Table] = [self._rows(), (head, rows)]
        if self.nominals:
            moved = [[name, *pair] for name, pair in self.nominals.items()]
            tables.append((["nominal value", "before", "after"], moved))
        if self.verification is not None:
            own = self.verification._described()
            tables += own.tables
        return Description(
            f"Allocation for {self.label!r}: cost {number(self.cost, 5)} ({'; '.join(compared)}"
            f"{cheaper})",
            summary,
            tables,
            self._notes(),
        )

    def _notes(self) -> list[Text]:
        notes: list[Text] = []
        if self.tighten_first:
            notes.append(f"tighten first: {', '.join(self.tighten_first)}")
        if self.may_relax:
            notes.append(f"may be relaxed: {', '.join(self.may_relax)}")
        if self.grades:
            share = 100 * self.rounding_cost / self.continuous_cost
            notes.append(
                f"grades cost {number(self.rounding_cost, 4)} more than continuous tolerances"
                f" ({share:.1f} %)"
            )
        if self.equal is None:
            notes.append("no equal tolerances within their bounds are known to have this risk")
        if self.corrections:
            times = "once" if self.corrections == 1 else f"{self.corrections} times"
            notes.append(f"targets were corrected {times}, by samples: {self.method} is in error")
        if self.verification is None:
            notes.append("not verified by samples")
        else:
            notes += self.verification._described().notes
        return notes


def interrupted(allocation: Allocation) -> Interrupted:
    """Error for Ctrl-C, with the best tolerances up to that point."""
    return Interrupted(
        f"{allocation.label!r}: allocation stopped",
        allocation,
        "the best tolerances up to then are the `result` of this interrupt",
    )


def _rounded_down(t: float) -> float:
    """Round a tolerance down to three significant digits."""
    unit = 10.0 ** (math.floor(math.log10(t)) - DIGITS + 1)
    return math.floor(t / unit * (1 + ROUNDING)) * unit
