"""Results of a Monte Carlo study: means, variances, quantiles and histograms over time, with their
confidence intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, check_level, unknown_name
from ..results.labels import along_time, with_units
from ..results.result import Description, Result
from ..results.run import Run
from .accumulator import Accumulator, Failure
from .checkpoint import Checkpoint
from .estimates import LEVEL, Estimate, bands_about, mean_of, variance_of
from .histogram import Histogram
from .parameter_distributions import ParameterDistributions
from .quantiles import bracket, interval, quantile
from .sampling import Sampling
from .sketch import Sketch
from .study_text import QUANTILES, described

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result):
    """Statistics of objectives over samples of the parameters, at every stored time as if the run
    ended there; arrays are (time, objective).
    """

    label: str
    objective_names: tuple[str, ...]
    units: tuple[str, ...]
    distributions: ParameterDistributions
    time: np.ndarray
    sampling: Sampling
    controlled: bool
    """Whether means are corrected by the first-order model, on request."""
    accumulator: Accumulator = field(repr=False)
    kept: Checkpoint | list[tuple[np.ndarray, np.ndarray]] | None = field(repr=False)
    """Storage of samples that are kept: parameters (sample, parameter) and values (sample, time ×
    objective), chunk by chunk.
    """
    build: float
    """Time for derivation and compilation (s)."""
    at_means: Callable[[], Run] | None = field(repr=False)
    """Function that runs the mechanism at the means of the parameters; None in an unpickled
    study.
    """
    stopped: int | None = None
    """Number of requested samples if Ctrl-C ended the study early."""

    @cached_property
    def run(self) -> Run:
        """The motion at the means of the parameters, simulated on first request; motions of samples
        are not stored.
        """
        if self.at_means is None:
            problem = "the study was pickled without its mechanism; repeat it for its run"
            raise ModelError(problem, element=f"study of {self.label!r}")
        return self.at_means()

    def __getstate__(self) -> dict[str, object]:
        """State for pickling, without the mechanism."""
        return {**{k: v for k, v in self.__dict__.items() if k != "run"}, "at_means": None}

    @property
    def count(self) -> int:
        """Number of completed samples."""
        return self.accumulator.count

    @property
    def failed(self) -> int:
        """Number of failed samples."""
        return self.accumulator.failed

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, numbers of samples, whether a control corrects means, sampling, seconds."""
        samples = {"samples": self.count, "failed": self.failed, "control": int(self.corrected)}
        sampling = {"sampling": self.sampling.kind, "seed": self.sampling.seed}
        return {"mechanism": self.label, **samples, **sampling, "seconds": self.seconds}

    @property
    def seconds(self) -> dict[str, float]:
        """Time of derivation and compilation in this session, and of all samples, including those
        before an interruption.
        """
        return {"build": self.build, "run": self.accumulator.seconds}

    @property
    def failures(self) -> list[Failure]:
        """The first hundred failures, each with its parameters and its error."""
        return self.accumulator.failures

    @property
    def corrected(self) -> bool:
        """Whether means are corrected by the first-order model. Its mean is known over all samples,
        not over completed samples only, so that failures prevent the correction.
        """
        return self.controlled and not self.failed

    @property
    def mean(self) -> xr.DataArray:
        """The mean; corrected by the control variate, if there is one, unless samples failed."""
        return self._labelled(self._mean().value, "mean")

    @property
    def variance(self) -> xr.DataArray:
        """The variance, in the squares of the objectives' units."""
        return self._labelled(self._variance().value, "variance", "objective_unit²")

    @property
    def std(self) -> xr.DataArray:
        """The standard deviation."""
        return self._labelled(np.sqrt(self._variance().value), "std")

    def interval(self, level: float = LEVEL, of: str | float = "mean") -> xr.Dataset:
        """Bounds, `lower` and `upper`, between which the true mean lies with probability `level`.

        Args:
            level: probability.
            of: "mean", "variance", "std", or the probability of a quantile (0.5 for the median).
                Bounds of a quantile are valid for any distribution, and infinite where there are
                too few samples.

        Returns:
            `lower` and `upper`, (time, objective).
        """
        import xarray as xr

        check_level("interval", level)
        if isinstance(of, Real) and not isinstance(of, bool):
            lower, upper = interval(
                *self._counts(), _probabilities("interval", of)[0], float(level)
            )
        else:
            lower, upper = self._about_estimate(float(level), of)
        unit = "objective_unit²" if of == "variance" else "objective_unit"
        return xr.Dataset(
            {n: self._labelled(x, n, unit) for n, x in (("lower", lower), ("upper", upper))},
            attrs={"level": level},
        )

    def _about_estimate(self, level: float, of: object) -> tuple[np.ndarray, np.ndarray]:
        if of not in ("mean", "variance", "std"):
            raise unknown_name("interval", of, ("mean", "variance", "std"))
        estimate = self._mean() if of == "mean" else self._variance()
        half = estimate.half_width(level)
        lower, upper = estimate.value - half, estimate.value + half
        if of != "mean":
            lower = np.maximum(lower, 0.0)
        return (np.sqrt(lower), np.sqrt(upper)) if of == "std" else (lower, upper)

    @property
    def reduction(self) -> xr.DataArray:
        """Factor by which the control variate reduces the variance of the mean: without it, as many
        times more samples would be needed.
        """
        plain, used = (
            mean_of(self._comoments(), controlled=c).error ** 2 for c in (False, self.corrected)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._labelled(np.where(plain > 0, plain / used, 1.0), "reduction", "1")

    def quantile(self, probability: float | Sequence[float]) -> xr.DataArray:
        """Quantiles of the samples, to within `resolution`; `interval(of=…)` bounds the true ones.

        Args:
            probability: one or more.

        Returns:
            (time, objective), or (quantile, time, objective) for several.
        """
        return self._by_probability("quantile", probability, lambda p: quantile(*self._counts(), p))

    def resolution(self, probability: float | Sequence[float]) -> xr.DataArray:
        """Largest errors of `quantile`: widths of the bins in which the quantiles lie.

        A bin is no wider than 1/512 of the range of the samples, nor than some per cent of the
        distance from the objective at the means of the parameters.

        Args:
            probability: one or more.

        Returns:
            (time, objective), or (quantile, time, objective) for several.
        """

        def width(p: float) -> np.ndarray:
            lower, upper = bracket(*self._counts(), p * self.count)
            return upper - lower

        return self._by_probability("resolution", probability, width)

    def _by_probability(
        self, name: str, given: Any, compute: Callable[[float], np.ndarray]
    ) -> xr.DataArray:
        import xarray as xr

        several = _probabilities(name, given)
        arrays = [self._labelled(compute(float(p)), name) for p in several]
        return (
            arrays[0]
            if np.ndim(given) == 0
            else xr.concat(arrays, xr.Variable("quantile", several))
        )

    def histogram(self, objective: str | None = None, time: float | None = None) -> xr.DataArray:
        """Numbers of samples in bins.

        Args:
            objective: its name; the first one if not given.
            time: a stored time, s; the last one if not given.

        Returns:
            Counts by the middle of each bin, in the unit of the objective.

        Raises:
            ModelError: for an unknown objective or a time outside the run.
        """
        import xarray as xr

        name = self.objective_names[0] if objective is None else objective
        if name not in self.objective_names:
            raise unknown_name("objective", name, self.objective_names)
        k, end = self.objective_names.index(name), float(self.time[-1])
        moment = end if time is None else time
        if not isinstance(moment, Real) or not 0 <= moment <= end:
            raise ModelError(
                f"must be a time of the run, from 0 to {end:g} s",
                element="histogram",
                field="time",
                value=time,
            )
        row = int(np.abs(self.time - float(moment)).argmin())
        column = row * len(self.objective_names) + k
        h = self._summary().histogram
        edges, counts = h.edges(column), h.counts[column, : h.used[column]]
        attrs = {
            "objective": name,
            "time": float(self.time[row]),
            "width": float(edges[1] - edges[0]),
        }
        middles = ("value", (edges[:-1] + edges[1:]) / 2, {"units": self.units[k]})
        return xr.DataArray(
            counts.astype(np.int64),
            coords={"value": middles},
            dims=["value"],
            name="count",
            attrs=attrs,
        )

    @property
    def dataset(self) -> xr.Dataset:
        """All results except the histograms: save them with `.to_netcdf(…)`, select one time with
        `.sel(time=…, method="nearest")`.
        """
        import xarray as xr

        h, mean, variance = self._summary().histogram, self._mean(), self._variance()
        arrays = {
            "mean": self.mean,
            "mean_error": self._labelled(mean.error, "mean_error"),
            "variance": self.variance,
            "variance_error": self._labelled(variance.error, "variance_error", "objective_unit²"),
            "std": self.std,
            "lowest": self._labelled(h.low, "lowest"),
            "highest": self._labelled(h.high, "highest"),
            "quantiles": self.quantile(QUANTILES),
            **{f"quantiles_{side}": self._bounds_of_quantiles(side) for side in ("lower", "upper")},
        }
        return xr.Dataset(arrays, attrs={k: v for k, v in self.info.items() if k != "seconds"})

    def _bounds_of_quantiles(self, side: str) -> xr.DataArray:
        """Bounds of the 95 % intervals of the quantiles."""
        import xarray as xr

        bounds = [self.interval(of=p)[side] for p in QUANTILES]
        return xr.concat(bounds, xr.Variable("quantile", np.array(QUANTILES))).rename(
            f"quantiles_{side}"
        )

    bands = bands_about

    @property
    def samples(self) -> xr.Dataset:
        """Samples that were kept: `parameters` (sample, parameter) and `values` (sample, time,
        objective), NaN for failed samples.
        """
        import xarray as xr

        if self.kept is None:
            problem = "samples were not kept: monte_carlo(…, keep=True) does so"
            raise ModelError(problem, element=f"study of {self.label!r}")
        chunks = list(
            self.kept.kept(self.accumulator.taken)
            if isinstance(self.kept, Checkpoint)
            else self.kept
        )
        parameters, values = (np.concatenate([chunk[k] for chunk in chunks]) for k in range(2))
        coords = {
            **self._coords(),
            **with_units("parameter", self.distributions.names, self.distributions.units),
        }
        return xr.Dataset(
            {
                "parameters": (("sample", "parameter"), parameters),
                "values": (
                    ("sample", "time", "objective"),
                    values.reshape(-1, self.time.size, len(self.objective_names)),
                ),
            },
            coords=coords,
        )

    def keep(self, first: int, parameters: np.ndarray, values: np.ndarray) -> None:
        """Keep the samples of a chunk.

        Args:
            first: index of its first sample.
            parameters: (sample, parameter).
            values: (sample, time × objective).
        """
        if isinstance(self.kept, Checkpoint):
            self.kept.keep(first, parameters, values)
        elif self.kept is not None:
            self.kept.append((parameters, values))

    def table(self) -> pd.DataFrame:
        """Mean with its 95 % interval, standard deviation and quantiles at the end of the run.

        Returns:
            A row for each objective.
        """
        import pandas as pd

        last = self.dataset.isel(time=-1)
        half = self.last_mean().half_width(LEVEL)
        quantiles = last["quantiles"].to_numpy()
        columns = {
            "mean": last["mean"].to_numpy(),
            "±": half,
            "std": last["std"].to_numpy(),
            **{f"{100 * p:g} %": q for p, q in zip(QUANTILES, quantiles, strict=True)},
            "unit": list(self.units),
        }
        return pd.DataFrame(columns, index=pd.Index(self.objective_names, name="objective"))

    def plot(self, sigmas: float | None = None, *, style: str | None = None) -> Figure:
        """Plot means with a band that contains 90 % of the samples.

        Args:
            sigmas: half width of the band in standard deviations instead.
            style: "paper" for the format of a paper.

        Returns:
            A figure with a panel for each objective.
        """
        from ..plotting.style import in_style
        from .study_figures import draw_study

        return in_style(draw_study(self, sigmas), style)

    def _described(self) -> Description:
        return described(self)

    def last_mean(self) -> Estimate:
        """The means at the end of the run.

        Returns:
            The estimate, by objective.
        """
        last = slice(-len(self.objective_names), None)
        return mean_of([g.columns(last) for g in self._comoments()], controlled=self.corrected)

    def _comoments(self) -> list[Any]:
        self._summary()
        return self.accumulator.nonempty

    def _mean(self) -> Estimate:
        return mean_of(self._comoments(), controlled=self.corrected)

    def _variance(self) -> Estimate:
        return variance_of(self._summary(), self._comoments())

    def _summary(self) -> Any:
        if self.accumulator.summary is None:
            raise ModelError(
                f"all {self.accumulator.taken} samples failed; see .failures",
                element=f"study of {self.label!r}",
            )
        return self.accumulator.summary

    def _counts(self) -> tuple[Histogram, Sketch]:
        return self._summary().histogram, self._summary().sketch

    def _coords(self) -> dict[str, object]:
        return {
            **along_time(self.time),
            **with_units("objective", self.objective_names, self.units),
        }

    def _labelled(
        self, columns: np.ndarray, name: str, unit: str = "objective_unit"
    ) -> xr.DataArray:
        import xarray as xr

        values = np.reshape(columns, (self.time.size, len(self.objective_names)))
        return xr.DataArray(
            values,
            coords=self._coords(),
            dims=["time", "objective"],
            name=name,
            attrs={"units": unit},
        )


def _probabilities(what: str, given: object) -> np.ndarray:
    try:
        several = np.atleast_1d(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        several = np.full(1, np.nan)
    if several.ndim != 1 or not ((several >= 0) & (several <= 1)).all():
        raise ModelError(f"{given!r} must be probabilities, from 0 to 1", element=what)
    return several
