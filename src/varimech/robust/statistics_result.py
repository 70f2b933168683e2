"""Results of `Problem.statistics`: statistics of a mechanism with their derivatives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import unknown_name
from ..results.labels import along_time, with_units
from ..results.result import Description, Result, Variable
from ..uncertainty.marginals import Other
from .design_runs import RunCounts
from .method import Values
from .random_design import RandomDesign
from .statistic import Statistic

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

SHOWN = 4
"""Maximum number of derivatives of each statistic that are printed: the largest effects."""


@dataclass(frozen=True, eq=False, repr=False)
class Statistics(Result):
    """Statistics over the random parameters, with an estimated error of each, and derivatives with
    respect to nominal values, tolerance widths and correlations.

    Statistics of `vm.path(f)` are bands over time: `bands`.
    """

    label: str
    statistics: Mapping[str, Statistic]
    design: RandomDesign = field(repr=False)
    time: np.ndarray = field(repr=False)
    found: Mapping[str, Values] = field(repr=False)
    methods: Mapping[str, str]
    """Statistic → title of the method that computed it."""
    reasons: Mapping[str, str]
    """Statistic → reason for the choice of the method; empty if the user chose the method."""
    counts: RunCounts
    seconds: float

    _dims = ("statistic",)
    value = Variable("Values by statistic.")
    error = Variable("Estimated error of each value, in its unit.")
    nominal_derivatives = Variable(
        "Derivatives with respect to nominal values: (statistic, parameter)."
    )
    width_derivatives = Variable(
        "Derivatives with respect to widths: half widths of tolerances, standard deviations of other"
        " distributions; (statistic, random)."
    )
    sigma_derivatives = Variable(
        "Derivatives with respect to standard deviations: (statistic, random)."
    )
    correlation_derivatives = Variable(
        "Derivatives with respect to correlations: (statistic, pair)."
    )

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, methods, numbers of runs, seconds."""
        c = self.counts
        runs = {"runs": c.total, "gradient_runs": c.gradients, "second_order_runs": c.products}
        return {
            "mechanism": self.label,
            "methods": dict(self.methods),
            **runs,
            "seconds": self.seconds,
        }

    def __getitem__(self, name: str) -> float:
        """The value of a statistic by its name."""
        if name not in self._single:
            raise unknown_name("statistic", name, self._single)
        return float(self.found[name].values[0])

    @cached_property
    def _single(self) -> list[str]:
        return [n for n, s in self.statistics.items() if not s.over_time]

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Values, errors and derivatives by statistic."""
        import xarray as xr

        d, names = self.design, self._single
        own = d.distributions
        first, last = len(d.nominals), len(d.variables)
        derivatives = np.array([self.found[n].derivatives[0] for n in names]).reshape(-1, d.size)
        widths = derivatives[:, first:last]
        k = np.array([d.sigmas[i] for i in d.width_columns])
        pairs = [" ~ ".join(pair) for pair in d.pair_names]
        arrays: dict[str, tuple[tuple[str, ...], np.ndarray]] = {
            "value": (("statistic",), np.array([self.found[n].values[0] for n in names])),
            "error": (("statistic",), np.array([self.found[n].errors[0] for n in names])),
            "nominal_derivatives": (("statistic", "parameter"), derivatives[:, :first]),
            "width_derivatives": (("statistic", "random"), widths),
            "sigma_derivatives": (("statistic", "random"), widths * k),
            "correlation_derivatives": (("statistic", "pair"), derivatives[:, last:]),
        }
        units = dict(zip(own.names, own.units, strict=True))
        coords = {
            **with_units("statistic", names, [self.statistics[n].unit for n in names]),
            "parameter": list(d.nominals),
            **with_units("random", d.widths, [units[n] for n in d.widths]),
            "pair": pairs,
        }
        return xr.Dataset(arrays, coords=coords, attrs={"mechanism": self.label})

    @cached_property
    def bands(self) -> xr.Dataset:
        """Statistics of paths: `value` and `error`, (statistic, time), and `derivatives`,
        (statistic, time, variable), with respect to nominal values, widths ("± name") and
        correlations.
        """
        import xarray as xr

        names, d = [n for n, s in self.statistics.items() if s.over_time], self.design
        t = self.time.size
        dims = ("statistic", "time")
        pairs = [" ~ ".join(pair) for pair in d.pair_names]
        stacked = {
            key: np.array([getattr(self.found[n], key) for n in names])
            for key in ("values", "errors", "derivatives")
        }
        return xr.Dataset(
            {
                "value": (dims, stacked["values"].reshape(-1, t)),
                "error": (dims, stacked["errors"].reshape(-1, t)),
                "derivatives": ((*dims, "variable"), stacked["derivatives"].reshape(-1, t, d.size)),
            },
            coords={
                **with_units("statistic", names, [self.statistics[n].unit for n in names]),
                **along_time(self.time),
                "variable": [*d.variables, *pairs],
            },
        )

    def bound_derivatives(self) -> pd.DataFrame:
        """Derivatives with respect to the bounds of distributions that have them.

        A bound that moves alone shifts and stretches the distribution: with m the mean, σ the
        deviation and ξ_a, ξ_b the standardised bounds,  ∂/∂a = (ξ_b ∂/∂m − ∂/∂σ)/(ξ_b − ξ_a)  and
        ∂/∂b = (∂/∂σ − ξ_a ∂/∂m)/(ξ_b − ξ_a).

        Returns:
            A row for each statistic and random parameter with two finite bounds: `lower`, `upper`.
        """
        import pandas as pd

        d, rows, index = self.design, [], []
        for name in self._single:
            for parameter, m in zip(d.distributions.names, d.distributions.marginals, strict=True):
                if not isinstance(m, Other):
                    continue
                a, b = ((float(m.from_uniform(np.array(p))) - m.mean) / m.sigma for p in (0.0, 1.0))
                if not (math.isfinite(a) and math.isfinite(b)):
                    continue
                at = self.dataset.sel(statistic=name)
                of_m = at["nominal_derivatives"].sel(parameter=parameter).item()
                of_σ = at["sigma_derivatives"].sel(random=parameter).item()
                rows.append([(b * of_m - of_σ) / (b - a), (of_σ - a * of_m) / (b - a)])
                index.append((name, parameter))
        every = (
            pd.MultiIndex.from_tuples(index, names=["statistic", "parameter"]) if index else None
        )
        return pd.DataFrame(rows, columns=["lower", "upper"], index=every)

    def table(self) -> pd.DataFrame:
        """Values with errors, units and methods.

        Returns:
            A row for each statistic of a number; bands have the largest value.
        """
        import pandas as pd

        columns = ["statistic of", "value", "error", "unit", "method"]
        return pd.DataFrame(
            [row[1:] for row in self._rows()],
            columns=columns,
            index=pd.Index([row[0] for row in self._rows()], name="statistic"),
        )

    def _rows(self) -> list[list[Any]]:
        rows = []
        for name, s in self.statistics.items():
            v = self.found[name]
            k = int(np.argmax(v.values))
            label = f"largest {s.label}" if s.over_time else s.label
            rows.append(
                [name, label, float(v.values[k]), float(v.errors[k]), s.unit, self.methods[name]]
            )
        return rows

    def _described(self) -> Description:
        head = ["name", "statistic", "value", "error", "unit", "method"]
        tables = [(head, [[r[0], r[1], r[2], float(f"{r[3]:.1g}"), *r[4:]] for r in self._rows()])]
        effects = [row for name in self._single for row in self._effects(name)]
        if effects:
            tables.append((["derivative of", "with respect to", "value"], effects))
        notes = [f"{name}: {reason}" for name, reason in self.reasons.items() if reason]
        return Description(f"Statistics of {self.label!r}", [str(self.counts)], tables, notes)

    def _effects(self, name: str) -> list[list[Any]]:
        """Rows of the derivatives with the largest effect, which is a derivative times a standard
        deviation or the width.
        """
        d, derivatives = self.design, self.found[name].derivatives[0]
        σ = dict(zip(d.distributions.names, d.distributions.sigma, strict=True))
        sizes = [σ.get(n, 0.0) for n in d.nominals]
        sizes += [σ[n] * d.sigmas[i] for n, i in zip(d.widths, d.width_columns, strict=True)]
        sizes += [1.0] * len(d.pairs)
        labels = [*d.variables, *(" ~ ".join(p) for p in d.pair_names)]
        order = np.argsort(-np.abs(derivatives * sizes), kind="stable")[:SHOWN]
        return [[name, labels[k], float(derivatives[k])] for k in order if derivatives[k] != 0]
