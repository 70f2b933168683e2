"""The result of a fit: parameters with confidence intervals, goodness of fit, and the
curves beside the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ..core.errors import VarimechError
from ..optimization.evaluation import MechanismEvaluator
from ..optimization.space import Space
from ..results.result import Description, Result
from ..results.run import Run
from .confidence import Confidence, at_bounds, intervals
from .fit_text import described, warnings
from .goodness import Goodness, goodness, standardised
from .measurement import Measurement

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

    from .inference import PosteriorOptions
    from .posterior import Posterior


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Result):
    """Parameters for which the motion meets measured data best."""

    label: str
    evaluator: MechanismEvaluator = field(repr=False)
    space: Space
    measured: Mapping[str, Measurement]
    x: np.ndarray
    weighted_residuals: np.ndarray
    """(model − data)/σ at all samples, one measurement after the other; σ = 1 if it is unknown."""
    jacobian: np.ndarray
    """Derivatives of the weighted residuals with respect to parameters."""
    confidence: Confidence
    level: float
    sigma_known: bool
    converged: bool
    message: str
    evaluations: int
    """Number of runs of the mechanism."""
    failures: list[tuple[np.ndarray, VarimechError]]
    """Parameter values at which runs failed during the search, with the errors."""
    seconds: float

    _dims = ("parameter",)

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, level of confidence, whether the search converged, runs and seconds."""
        end = {"level": self.level, "converged": self.converged, "message": self.message}
        cost = {"evaluations": self.evaluations, "seconds": self.seconds}
        return {"mechanism": self.label, **end, **cost}

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`value`, `standard_error`, `lower` and `upper` by parameter, `covariance` and
        `correlation`.
        """
        frame = self.intervals.drop(columns=["unit", "at"])
        labelled = frame.to_xarray().assign_coords(
            parameter_unit=("parameter", [*self.space.units])
        )
        return labelled.assign(covariance=self.covariance, correlation=self.correlation)

    @property
    def parameters(self) -> dict[str, float]:
        """Parameter → value, including fixed parameters, as an argument of `simulate`."""
        return self.evaluator.at(self.x)

    @property
    def values(self) -> xr.DataArray:
        """Fitted values by parameter, with units."""
        return self.space.labelled(self.x, "value")

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard deviation of each parameter; NaN where the data do not determine it."""
        return np.sqrt(np.diag(self.confidence.covariance))

    @property
    def intervals(self) -> pd.DataFrame:
        """Value, standard error and confidence interval of each parameter; no interval where the
        data do not determine it.

        `at` is "lower bound" or "upper bound" where a parameter is there: its interval is
        one-sided, from the bound inwards.
        """
        import pandas as pd

        s, sides = self.space, self._sides
        low, high = intervals(self.x, self.confidence, self.factor, sides, s.lower, s.upper)
        columns = {
            "value": self.x,
            "standard_error": self.standard_errors,
            "lower": low,
            "upper": high,
            "unit": s.units,
        }
        where = [{-1: "lower bound", 0: "", 1: "upper bound"}[int(k)] for k in sides]
        return pd.DataFrame({**columns, "at": where}, index=pd.Index(s.names, name="parameter"))

    @property
    def _sides(self) -> np.ndarray:
        return at_bounds(self.x, self.space.lower, self.space.upper, self.space.sizes)

    @property
    def at_bounds(self) -> dict[str, str]:
        """Parameters at a bound, with "lower" or "upper": the data may ask for values beyond."""
        return {
            n: "lower" if k < 0 else "upper"
            for n, k in zip(self.space.names, self._sides, strict=True)
            if k
        }

    @property
    def goodness(self) -> Goodness:
        """χ² with its degrees of freedom and probability where σ is given; otherwise σ as the
        residuals show it.
        """
        return goodness(self.weighted_residuals, self.confidence, sigma_given=self.sigma_known)

    @cached_property
    def outliers(self) -> pd.DataFrame:
        """Samples that are too far from the curve to be noise: measurement, row, component, time,
        value and standardised residual.
        """
        import pandas as pd

        values, marked = standardised(
            self.weighted_residuals, self.confidence, sigma_given=self.sigma_known
        )
        far, rows = self._by_measurement(marked), []
        for name, residuals in self._by_measurement(values).items():
            m = self.measured[name]
            rows += [
                [name, int(k), int(c), m.times[k], m.values[k, c], residuals[k, c]]
                for k, c in zip(*np.nonzero(far[name]), strict=True)
            ]
        columns = ["measurement", "row", "component", "time", "value", "standardised_residual"]
        return pd.DataFrame(rows, columns=columns)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Evidence against the fit or its intervals: an impossible χ², outliers, residuals that
        are not random, parameters at bounds.
        """
        return tuple(warnings(self))

    @property
    def covariance(self) -> xr.DataArray:
        """Covariance matrix of the parameters, in their units."""
        return self._square(self.confidence.covariance, "covariance")

    @property
    def correlation(self) -> xr.DataArray:
        """Correlation matrix of the parameters."""
        s = self.standard_errors
        return self._square(self.confidence.covariance / np.outer(s, s), "correlation")

    @property
    def factor(self) -> float:
        """Half an interval over the standard error: Student's t, or the normal distribution's where
        σ is known and not contradicted.
        """
        from scipy.stats import norm, t

        p = (1 + self.level) / 2
        if not self.confidence.estimated:
            return float(norm.ppf(p))
        return float(t.ppf(p, self.confidence.dof)) if self.confidence.dof > 0 else np.nan

    @property
    def undetermined(self) -> tuple[tuple[str, ...], ...]:
        """Parameters that the data do not determine: alone, or groups of which only
        combinations matter.
        """
        return tuple(
            tuple(self.space.names[k] for k in group) for group in self.confidence.undetermined
        )

    @property
    def residuals(self) -> dict[str, np.ndarray]:
        """Model minus data, by measurement: (time, component)."""
        by_measurement = self._by_measurement(self.weighted_residuals)
        return {
            name: r if (σ := self.measured[name].sigma) is None else r * σ
            for name, r in by_measurement.items()
        }

    def _by_measurement(self, samples: np.ndarray) -> dict[str, np.ndarray]:
        """Reshape numbers of all samples to (time, component) of each measurement."""
        ends = np.cumsum([m.values.size for m in self.measured.values()])
        blocks = np.split(samples, ends[:-1])
        return {
            name: block.reshape(m.values.shape)
            for (name, m), block in zip(self.measured.items(), blocks, strict=True)
        }

    @property
    def residual_deviation(self) -> dict[str, float]:
        """Standard deviation of the residuals of each measurement, in its unit; NaN without more
        samples than parameters.
        """
        dof, count = self.confidence.dof, self.weighted_residuals.size
        share = count / dof if dof > 0 else np.nan
        return {name: float(np.sqrt(np.mean(r**2) * share)) for name, r in self.residuals.items()}

    @property
    def chi2(self) -> float | None:
        """χ² over the degrees of freedom, about 1 for a good model and the right σ; None where σ is
        not known. See `goodness`.
        """
        return self.goodness.reduced_chi2

    @cached_property
    def run(self) -> Run:
        """The fitted motion on a fine grid, differentiated for the parameters."""
        return self.curve_run(self.x)

    def curve_run(self, x: np.ndarray) -> Run:
        """A differentiated run on a fine grid for other values.

        Args:
            x: values of the fitted parameters.

        Returns:
            The run.
        """
        fine = self.evaluator.simulation.with_options(output=None)
        return replace(self.evaluator, simulation=fine).gradient(x).run

    def plot(self, *, style: str | None = None) -> Figure:
        """Plot data with the fitted curves and their confidence bands.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure.
        """
        from .fit_figures import draw_fit

        return draw_fit(self, style)

    def posterior(self, **options: Unpack[PosteriorOptions]) -> Posterior:
        """Compute the posterior distribution of the parameters, given the data and priors.

        The noise is normal, with the `sigma` of the measurements, or with one that is estimated
        along with the parameters (with a flat prior of its logarithm).

        Args:
            prior: parameter → `vm.Tolerance` about its nominal value, a distribution of
                scipy.stats with its numbers, or None for a flat one. Parameters that are not named
                have their own (`distribution=`), or a flat one. All are cut off at the bounds of
                the fit.
            method: "laplace" (if not given): a normal distribution about the mode, by exact second
                derivatives; exact for models that are linear in the parameters. "nuts": Markov
                chains by the No-U-Turn Sampler with exact gradients, for posteriors that are not
                normal; needs thousands of runs and `pip install 'varimech[nuts]'`.
            draws: of each chain; 1000 with NUTS, otherwise 4000.
            chains: of NUTS, run side by side; 4 if not given.
            warmup: transitions of each chain that only adapt the sampler; 300 if not given.
            level: probability of the intervals; that of the fit if not given.
            seed: of the random numbers; 0 if not given.

        Returns:
            A `Posterior`: `.mean`, `.std`, `.quantile(0.95)`, `.covariance`, `.samples`,
            `.bands(…)`, `.table()`, `.plot()`, `.warnings`, …

        Raises:
            ModelError: for priors outside the bounds, parameters that neither data nor priors
                determine, noise that the data do not show, and a missing package.
            Interrupted: on Ctrl-C after ten draws of NUTS or more; the posterior of the draws up to
                then is its `result`.
        """
        from .inference import posterior

        return posterior(self, **options)

    def _described(self) -> Description:
        return described(self)

    def _square(self, matrix: np.ndarray, name: str) -> xr.DataArray:
        import xarray as xr

        names = list(self.space.names)
        return xr.DataArray(
            matrix,
            coords={"parameter": names, "parameter2": names},
            dims=["parameter", "parameter2"],
            name=name,
        )
