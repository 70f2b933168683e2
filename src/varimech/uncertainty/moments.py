"""Results of an expansion: mean, variance and the contribution of each parameter, over time."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.labels import along_time, with_units
from ..results.result import Description, Result, Variable
from ..results.run import Run
from .estimates import bands_about
from .expansion import contributions, first_variance, second_mean, second_variance
from .horizon import horizon
from .parameter_distributions import ParameterDistributions

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Moments(Result):
    """Moments of objectives at every stored time, as if the run ended there; labelled arrays are
    (time, objective).

    `order` is that of `mean`, `variance` and `std`; the moments of first order are always
    available.
    """

    order: int
    accuracy: float
    """Largest error before the horizon, in standard deviations."""
    objective_names: tuple[str, ...]
    units: tuple[str, ...]
    distributions: ParameterDistributions
    time: np.ndarray
    values: np.ndarray = field(repr=False)
    """ψ at the means of the parameters, (time, objective)"""
    derivatives: np.ndarray = field(repr=False)
    """dψ/dρ at the means of the parameters, (time, objective, parameter)"""
    curvatures: np.ndarray | None = field(repr=False)
    """d²ψ/dρ², (time, objective, parameter, parameter); order 2 only"""
    errors: np.ndarray = field(repr=False)
    """Estimated error, the larger one of mean and standard deviation, in standard deviations,
    (time, objective)
    """
    run: Run = field(repr=False)
    """Run at the means of the parameters, with first derivatives; any of its outputs is available,
    with `wrt=`.
    """
    seconds: dict[str, float]

    @property
    def info(self) -> dict[str, Any]:
        """Fields of the run, order and accuracy, seconds."""
        own = {"order": self.order, "accuracy": self.accuracy, "seconds": self.seconds}
        return {**self.run.info, **own}

    @property
    def label(self) -> str:
        """Name of the mechanism."""
        return str(self.run.info["mechanism"])

    @cached_property
    def dataset(self) -> xr.Dataset:
        """All results: save them with `.to_netcdf(…)`, select one time with `.sel(time=…,
        method="nearest")`.
        """
        import xarray as xr

        g, H, C = self.derivatives, self.curvatures, self.distributions.covariance
        first = first_variance(g, C)
        variance = first if H is None else second_variance(g, H, self.distributions)
        arrays = {
            "first_mean": self.values,
            "mean": self.values if H is None else second_mean(self.values, H, C),
            "first_variance": first,
            "variance": variance,
            "std": np.sqrt(variance),
            "error": self.errors,
        }
        dims = ("time", "objective")
        coords = {
            **along_time(self.time),
            **with_units("objective", self.objective_names, self.units),
            **with_units("parameter", self.distributions.names, self.distributions.units),
        }
        return xr.Dataset(
            {name: (dims, array, {"units": UNITS[name]}) for name, array in arrays.items()}
            | {
                "contributions": (
                    (*dims, "parameter"),
                    contributions(self.values, g, C),
                    {"units": ""},
                ),
                "horizon": ("objective", self.horizons, {"units": "s"}),
            },
            coords=coords,
            attrs={"mechanism": self.label, "order": self.order, "accuracy": self.accuracy},
        )

    first_mean = Variable("ψ at the means of the parameters.")
    mean = Variable("The mean.")
    first_variance = Variable("g'Cg, in the squares of the objectives' units.")
    variance = Variable("The variance, in the squares of the objectives' units.")
    std = Variable("The standard deviation.")
    contributions = Variable(
        "Contribution of each parameter to the variance of first order, as a fraction (0 if nothing"
        " varies): (time, objective, parameter)."
    )
    error = Variable(
        "Estimated error, the larger one of mean and standard deviation, in standard deviations."
        " It may miss products of several parameters: in random problems, 1 % of the estimates below"
        " 0.02 were too small, by up to 0.011."
    )
    horizon = Variable(
        "Time (s) by objective up to which the estimated error stays within `accuracy`; the end of"
        " the run if it always does."
    )

    @cached_property
    def horizons(self) -> np.ndarray:
        """The horizon of each objective (s)."""
        return horizon(self.time, self.errors, self.accuracy)

    @property
    def known_over_time(self) -> list[int]:
        """Indices of the objectives that are known at other times than the end; values at events
        and extrema of order 2 are not.
        """
        many = np.isfinite(self.dataset["mean"].to_numpy()).sum(axis=0) > 1
        return [int(k) for k in np.flatnonzero(many)]

    bands = bands_about

    def table(self) -> pd.DataFrame:
        """Mean, standard deviation and contribution of each parameter at the end of the run.

        Returns:
            A row for each objective and parameter, the largest contribution first.
        """
        import pandas as pd

        rows, last = [], self.dataset.isel(time=-1)
        for k, objective in enumerate(self.objective_names):
            at = last.isel(objective=k)
            shares = at["contributions"].to_numpy()
            for i in np.argsort(-shares, kind="stable"):
                rows.append(
                    {
                        "objective": objective,
                        "mean": at["mean"].item(),
                        "std": at["std"].item(),
                        "unit": self.units[k],
                        "parameter": self.distributions.names[i],
                        "sigma": self.distributions.sigma[i],
                        "derivative": self.derivatives[-1, k, i],
                        "contribution": shares[i],
                    }
                )
        return pd.DataFrame(rows)

    def plot(self, sigmas: float = 3.0, *, style: str | None = None) -> Figure:
        """Plot means with a band of standard deviations, and the contribution of each parameter.

        Times beyond the horizon are grey.

        Args:
            sigmas: half width of the band in standard deviations.
            style: "paper" for the format of a paper.

        Returns:
            A figure with a row for each objective.
        """
        from ..plotting.style import in_style
        from .study_figures import draw_moments

        return in_style(draw_moments(self, sigmas), style)

    def _described(self) -> Description:
        end, last = self.time[-1], self.dataset.isel(time=-1)
        columns = (self.objective_names, last["mean"].values, last["std"].values, self.units)
        return Description(
            f"Moments of {self.label!r}, order {self.order}, at t = {end:g} s",
            tables=[
                (["objective", "mean", "std", "unit"], list(zip(*columns, strict=True))),
                (["variance of", "due to", "share"], self._shares()),
            ],
            notes=[
                f"{name}: valid within {self.accuracy:g} standard deviations up to t = {t:.3g} s only"
                for name, t in zip(self.objective_names, self.horizons, strict=True)
                if t < end
            ],
        )

    def _shares(self) -> list[list[str]]:
        """Table of the contributions to each variance at the end; the smallest ones are
        combined.
        """
        rows = []
        for name in self.objective_names:
            parts = [
                (r["parameter"], r["contribution"])
                for r in self.table().to_dict("records")
                if r["objective"] == name
            ]
            if len(parts) > SHOWN:
                parts[SHOWN - 1 :] = [
                    (f"{len(parts) - SHOWN + 1} others", sum(x for _, x in parts[SHOWN - 1 :]))
                ]
            rows += [[name, parameter, f"{100 * share:.1f} %"] for parameter, share in parts]
        return rows


SHOWN = 8
"""Maximum number of parameters of each objective that are printed; the others are combined."""
UNITS = {
    "first_mean": "objective_unit",
    "mean": "objective_unit",
    "first_variance": "objective_unit²",
    "variance": "objective_unit²",
    "std": "objective_unit",
    "error": "standard deviations",
}
"""Dimensions of quantities by time and objective."""
