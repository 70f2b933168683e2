"""The posterior distribution of fitted parameters: moments, quantiles, samples and bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, check_level, check_whole, unknown_name
from ..results.labels import along_time, labels_along
from ..results.result import Description, Result, Variable
from ..sensitivity.objective import StateFunction, checked_callable
from .confidence import at_bounds
from .diagnostics import Convergence
from .laplace import Laplace
from .output_runs import OutputRuns
from .posterior_text import described, warnings
from .priors import Prior

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

    from .fit import Fit

BAND_RUNS = 400
"""Default number of draws for a band: its ends have errors of some 10 % of its width, and runs in
vectors take about a second.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Result):
    """Posterior distribution of the parameters, given the data and the priors.

    Moments and quantiles of a Laplace approximation are those of its normal distributions
    (truncated at bounds), otherwise those of the samples.
    """

    fit: Fit
    prior: Prior = field(repr=False)
    method: str
    """"laplace" or "nuts"."""
    level: float
    """Probability of the intervals."""
    seed: int
    mode_array: np.ndarray
    samples_array: np.ndarray
    """(chain, draw, parameter)"""
    noise_array: np.ndarray | None
    """(chain, draw): standard deviation of the noise; None if sigma is given."""
    approximation: Laplace | None = field(repr=False)
    diagnostics: Convergence | None = field(repr=False)
    divergences: int
    """Number of divergent transitions of NUTS: draws may miss the regions where these occur."""
    acceptance: float
    """Mean acceptance of NUTS; 1 for independent draws."""
    evaluations: int
    """Number of runs of the mechanism."""
    failed: int
    """Number of failed runs, where the posterior is set to zero."""
    seconds: float

    mode = Variable("Most probable values, by parameter.")
    mean = Variable("Means, by parameter.")
    std = Variable("Standard deviations, by parameter.")
    covariance = Variable("Covariance, by parameter and parameter2.")
    correlation = Variable("Correlation, by parameter and parameter2.")
    samples = Variable("Draws, by chain, draw and parameter.")
    _dims = ("parameter",)

    @property
    def label(self) -> str:
        """Name of the mechanism."""
        return self.fit.label

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, method, priors, level, seed, draws, diagnostics, runs and seconds."""
        chains, draws = self.samples_array.shape[:2]
        cost = {"evaluations": self.evaluations, "failed": self.failed, "seconds": self.seconds}
        sampled = {"divergences": self.divergences, "acceptance": self.acceptance}
        return {
            "mechanism": self.label,
            "method": self.method,
            "prior": self.prior.descriptions,
            "level": self.level,
            "seed": self.seed,
            "chains": chains,
            "draws": draws,
            **(sampled if self.method == "nuts" else {}),
            **cost,
        }

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`mode`, `mean`, `std`, `lower`, `median` and `upper` by parameter; with NUTS `r_hat`,
        `ess_bulk` and `ess_tail`; `covariance`, `correlation`, `samples`, and `noise` if it was
        estimated.
        """
        import xarray as xr

        names = list(self.fit.space.names)
        low, middle, high = self._interval
        C = self._covariance
        σ = np.sqrt(np.diag(C))
        d = self.diagnostics
        columns = {
            "mode": self.mode_array,
            "mean": self._mean,
            "std": σ,
            "lower": low,
            "median": middle,
            "upper": high,
        }
        if d is not None:
            columns |= {"r_hat": d.r_hat, "ess_bulk": d.ess_bulk, "ess_tail": d.ess_tail}
        variables: dict[str, Any] = {name: ("parameter", v) for name, v in columns.items()}
        square, drawn = ("parameter", "parameter2"), ("chain", "draw")
        variables |= {"covariance": (square, C), "correlation": (square, C / np.outer(σ, σ))}
        variables["samples"] = ((*drawn, "parameter"), self.samples_array)
        if self.noise_array is not None:
            variables["noise"] = (drawn, self.noise_array)
        units = ("parameter", list(self.fit.space.units))
        coords = {"parameter": names, "parameter2": names, "parameter_unit": units}
        return xr.Dataset(variables, coords=coords)

    @property
    def parameters(self) -> dict[str, float]:
        """Parameter → mean, including fixed parameters, as an argument of `simulate`."""
        return self.fit.evaluator.at(np.clip(self._mean, self.prior.lower, self.prior.upper))

    @property
    def at_bounds(self) -> dict[str, str]:
        """Parameters whose most probable value is at a bound, with "lower" or "upper": their
        intervals are one-sided, from the bound inwards.
        """
        sides = zip(self.fit.space.names, self._sides, strict=True)
        return {name: "lower" if k < 0 else "upper" for name, k in sides if k}

    @property
    def noise(self) -> dict[str, float] | None:
        """Mean, standard deviation and interval of the noise's standard deviation, in the unit of
        the measurements; None where sigma is given.
        """
        if self.noise_array is None:
            return None
        p = [(1 - self.level) / 2, (1 + self.level) / 2]
        low, high = np.quantile(self.noise_array, p)
        return {
            "mean": float(self.noise_array.mean()),
            "std": float(self.noise_array.std(ddof=1)),
            "lower": float(low),
            "upper": float(high),
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """Evidence against the posterior: chains that have not converged, divergences, and
        evidence against the fit.
        """
        return tuple(warnings(self))

    def quantile(self, probability: float | Sequence[float]) -> xr.DataArray:
        """Quantiles by parameter.

        Args:
            probability: one or more, between 0 and 1.

        Returns:
            ([quantile, ]parameter).
        """
        import xarray as xr

        p = np.atleast_1d(np.asarray(probability, dtype=float))
        if not ((p > 0) & (p < 1)).all():
            raise ModelError(
                "must be between 0 and 1",
                element="quantile",
                field="probability",
                value=probability,
            )
        coords = {"quantile": p, "parameter": list(self.fit.space.names)}
        dims = ("quantile", "parameter")
        quantiles = xr.DataArray(self._quantiles(p), coords=coords, dims=dims, name="quantile")
        return quantiles[0] if np.ndim(probability) == 0 else quantiles

    def table(self) -> pd.DataFrame:
        """Mode, mean, standard deviation, interval, unit, bound, and diagnostics by parameter.

        Returns:
            A row for each parameter.
        """
        frame = self.to_dataframe()
        frame["unit"] = list(self.fit.space.units)
        frame["at"] = [
            f"{self.at_bounds[n]} bound" if n in self.at_bounds else ""
            for n in self.fit.space.names
        ]
        return frame

    def bands(
        self,
        of: StateFunction | str | None = None,
        *,
        level: float | None = None,
        noise: bool = False,
        runs: int = BAND_RUNS,
    ) -> xr.Dataset:
        """Predict outputs over time, by runs with draws from the posterior.

        Args:
            of: name of a measurement, a function of the state, or an expression as text; the
                measurement if not given and there is only one.
            level: probability of the band; that of the intervals if not given.
            noise: add the noise of the measurement: the band of another sample.
            runs: number of draws that are run.

        Returns:
            `mean`, `median`, `lower` and `upper` by time (and component).

        Raises:
            ModelError: for an unknown name, or noise of what was not measured.
        """
        import xarray as xr

        share = self.level if level is None else level
        check_level("bands", share)
        check_whole("bands", 2, runs=runs)
        name, function, components = self._output(of)
        time, values, chosen = self._runs_of(name, function, components, runs)
        if noise:
            values = values + self._noise_of(name, chosen, values.shape)
        p = [(1 - share) / 2, 0.5, (1 + share) / 2]
        good = values[np.isfinite(values).all(axis=(1, 2))]
        low, middle, high = np.quantile(good, p, axis=0)
        curves = {"mean": good.mean(axis=0), "median": middle, "lower": low, "upper": high}
        dims = ("time", "component")[: 1 if components == 1 else 2]
        coords = along_time(time)
        if components > 1:
            coords["component"] = labels_along("component", components)
        shape = (time.size, components)[: len(dims)]
        data = {key: (dims, array.reshape(shape)) for key, array in curves.items()}
        return xr.Dataset(data, coords=coords, attrs={"level": share, "runs": len(good)})

    def plot(self, *, style: str | None = None) -> Figure:
        """Plot the distribution of each parameter with its prior, and of each pair.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure.
        """
        from .posterior_figures import draw_posterior

        return draw_posterior(self, style)

    def plot_bands(self, *, style: str | None = None) -> Figure:
        """Plot the data with the bands of the measured quantities, without and with noise.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure.
        """
        from .posterior_figures import draw_bands

        return draw_bands(self, style)

    @property
    def _sides(self) -> np.ndarray:
        p = self.prior
        return at_bounds(self.mode_array, p.lower, p.upper, self.fit.space.sizes)

    @property
    def _flat(self) -> np.ndarray:
        return self.samples_array.reshape(-1, self.mode_array.size)

    @cached_property
    def _mean(self) -> np.ndarray:
        return self._flat.mean(axis=0) if self.approximation is None else self.approximation.mean

    @cached_property
    def _covariance(self) -> np.ndarray:
        if self.approximation is None:
            return np.atleast_2d(np.cov(self._flat.T))
        return self.approximation.covariance

    def _quantiles(self, p: np.ndarray) -> np.ndarray:
        if self.approximation is None:
            return np.quantile(self._flat, p, axis=0)
        return self.approximation.quantiles(p)

    @cached_property
    def _interval(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lower end, median and upper end; one-sided, from the bound inwards, if the mode is at a
        bound.
        """
        tail, sides, p = (1 - self.level) / 2, self._sides, self.prior
        q = self._quantiles(np.array([tail, 2 * tail, 0.5, self.level, 1 - tail]))
        low = np.where(sides < 0, p.lower, np.where(sides > 0, q[1], q[0]))
        high = np.where(sides > 0, p.upper, np.where(sides < 0, q[3], q[4]))
        return low, q[2], high

    def _output(self, of: StateFunction | str | None) -> tuple[str, StateFunction, int]:
        """Name, function and number of components of an output."""
        measured = self.fit.measured
        if of is None:
            if len(measured) > 1:
                raise ModelError(
                    "there are several measurements",
                    element="bands",
                    remedy=f"name one: {', '.join(map(repr, measured))}",
                )
            of = next(iter(measured))
        if isinstance(of, str) and of in measured:
            return of, measured[of].function, measured[of].components
        if isinstance(of, str) and of.isidentifier():
            raise unknown_name("measurement", of, measured)
        function = checked_callable(of, "a band")
        size = self.fit.run.live.expression(function, "band").numel()
        return "output", function, int(size)

    def _runs_of(
        self, name: str, function: StateFunction, components: int, runs: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Time, outputs (draw, time, component), and the indices of their draws."""
        s = self.fit.evaluator.simulation
        fine = s.with_options(output=None).at(s.given)
        flat = self._flat
        chosen = np.unique(np.linspace(0, len(flat) - 1, min(runs, len(flat))).astype(int))
        functions = {name: (function, components)}
        outputs = OutputRuns(fine, self.fit.space.names, functions, runs, differentiated=False)
        return outputs.time, outputs.at(flat[chosen]).values, chosen

    def _noise_of(self, name: str, chosen: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Random noise with the distribution of that of a measurement: (draw, time, component)."""
        if name not in self.fit.measured:
            raise ModelError(
                "only measurements have noise",
                element="bands",
                field="noise",
                value=True,
                remedy="leave it out, or name a measurement",
            )
        sigma = self.fit.measured[name].sigma
        deviation: Any
        if sigma is None:
            assert self.noise_array is not None
            deviation = self.noise_array.reshape(-1)[chosen][:, None, None]
        elif (sigma == sigma[0]).all():
            deviation = sigma[0]
        else:
            raise ModelError(
                f"sigma of {name!r} changes from sample to sample, so that it is not known in"
                " between",
                element="bands",
                field="noise",
                value=True,
                remedy="leave it out",
            )
        return deviation * np.random.default_rng([self.seed, 4]).standard_normal(shape)

    def _described(self) -> Description:
        return described(self)
