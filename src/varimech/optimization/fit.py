"""The outcome of a fit: parameters with confidence intervals, what the data cannot tell, and the curves beside the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import VarimechError
from ..results.run import Run
from ..view.plotted import Plotted
from ..view.table import number, table
from .confidence import Confidence
from .evaluation import MechanismEvaluator
from .measurement import Measurement
from .space import Space

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Fit(Plotted):
    """Parameters for which the motion meets measured data best."""

    label: str
    evaluator: MechanismEvaluator = field(repr=False)
    space: Space
    measured: Mapping[str, Measurement]
    x: np.ndarray
    weighted_residuals: np.ndarray
    """(model − data)/σ at all samples, one measurement after the other; σ = 1 where it is not known."""
    jacobian: np.ndarray
    """Their derivatives with respect to parameters."""
    confidence: Confidence
    level: float
    sigma_known: bool
    converged: bool
    message: str
    evaluations: int
    """Runs of the mechanism."""
    failures: list[tuple[np.ndarray, VarimechError]]
    """Where runs failed on the way, and why."""
    seconds: float

    @property
    def parameters(self) -> dict[str, float]:
        """Parameter → value, those that were held included, to be passed on to `simulate`."""
        return self.evaluator.at(self.x)

    @property
    def values(self) -> xr.DataArray:
        """Fitted values by parameter, with units."""
        return self.space.labelled(self.x, "value")

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard deviation of each parameter; NaN where the data cannot tell it."""
        return np.sqrt(np.diag(self.confidence.covariance))

    @property
    def intervals(self) -> pd.DataFrame:
        """Value, standard error and confidence interval of each parameter; no interval where the data cannot tell it."""
        import pandas as pd

        half = self.factor * self.standard_errors
        columns = {"value": self.x, "standard_error": self.standard_errors, "lower": self.x - half, "upper": self.x + half}
        return pd.DataFrame({**columns, "unit": self.space.units}, index=pd.Index(self.space.names, name="parameter"))

    @property
    def covariance(self) -> xr.DataArray:
        """Of the parameters, in their units."""
        return self._square(self.confidence.covariance, "covariance")

    @property
    def correlation(self) -> xr.DataArray:
        """The same with ones on the diagonal."""
        s = self.standard_errors
        return self._square(self.confidence.covariance / np.outer(s, s), "correlation")

    @property
    def factor(self) -> float:
        """Half an interval over the standard error: Student's t, or the normal distribution's where σ is known."""
        from scipy.stats import norm, t

        p = (1 + self.level) / 2
        if self.sigma_known:
            return float(norm.ppf(p))
        return float(t.ppf(p, self.confidence.freedom)) if self.confidence.freedom > 0 else np.nan

    @property
    def untold(self) -> tuple[tuple[str, ...], ...]:
        """Parameters that the data cannot tell: alone, or groups of which only combinations matter."""
        return tuple(tuple(self.space.names[k] for k in group) for group in self.confidence.untold)

    @property
    def residuals(self) -> dict[str, np.ndarray]:
        """Model less data, by measurement: (time, component)."""
        out, place = {}, 0
        for name, m in self.measured.items():
            part = self.weighted_residuals[place : place + m.values.size].reshape(m.values.shape)
            out[name] = part if m.sigma is None else part * m.sigma
            place += m.values.size
        return out

    @property
    def residual_deviation(self) -> dict[str, float]:
        """Standard deviation of the residuals of each measurement, in its unit; NaN without more samples than parameters."""
        freedom, count = self.confidence.freedom, self.weighted_residuals.size
        share = count / freedom if freedom > 0 else np.nan
        return {name: float(np.sqrt(np.mean(r**2) * share)) for name, r in self.residuals.items()}

    @property
    def chi2(self) -> float | None:
        """χ² over the degrees of freedom, about 1 for a good model and the right σ; None where σ is not known."""
        if not self.sigma_known or self.confidence.freedom <= 0:
            return None
        return float(self.weighted_residuals @ self.weighted_residuals) / self.confidence.freedom

    @cached_property
    def run(self) -> Run:
        """The fitted motion on a fine grid, differentiated for the parameters."""
        return self.curve_run(self.x)

    def curve_run(self, x: np.ndarray) -> Run:
        """A differentiated run for other values."""
        e = self.evaluator
        how: Any = {k: v for k, v in e.how.items() if k != "output"}
        return MechanismEvaluator(e.mechanism, e.names, e.duration, how, e.method, held=e.held).gradient(x).run

    def plot(self, *, style: str | None = None) -> Figure:
        """Data with the fitted curves and their confidence bands; `style="paper"` for a paper."""
        from ..view.style import in_style
        from .drawing import draw_fit

        return in_style(draw_fit(self), style)

    def __repr__(self) -> str:
        count, failed = self.weighted_residuals.size, f" ({len(self.failures)} failed)" if self.failures else ""
        state = "converged" if self.converged else "NOT converged"
        lines = [
            f"<Fit of {self.label!r} to {count} numbers>",
            f"{state} in {self.evaluations} runs{failed}, {self.seconds:.2g} s: {self.message}",
        ]
        frame, share = self.intervals, f"{100 * self.level:g} %"
        columns = ["value", "standard_error", "lower", "upper"]
        body = [[name, *[float(row[c]) for c in columns], row["unit"]] for name, row in frame.iterrows()]
        lines.append(table(["parameter", "value", "std. error", f"{share} from", "to", "unit"], body))
        for group in self.untold:
            names = ", ".join(map(repr, group))
            lines.append(
                f"  the data cannot tell {names}: nothing measured depends on it"
                if len(group) == 1
                else f"  the data cannot tell {names} apart: only a combination of them matters"
            )
        at_bound = [
            n for n, v, a, b in zip(self.space.names, self.x, self.space.lower, self.space.upper, strict=True) if v in (a, b)
        ]
        if at_bound:
            lines.append(f"  at a bound, where intervals mean little: {', '.join(map(repr, at_bound))}")
        for name, deviation in self.residual_deviation.items():
            unit = self.measured[name].unit
            lines.append(f"  {name}: residual standard deviation {number(float(f'{deviation:.4g}'))}{f' {unit}' if unit else ''}")
        if self.chi2 is not None:
            lines.append(f"  reduced χ² = {self.chi2:.4g}")
        return "\n".join(lines)

    def _square(self, matrix: np.ndarray, name: str) -> xr.DataArray:
        import xarray as xr

        names = list(self.space.names)
        return xr.DataArray(matrix, coords={"parameter": names, "parameter2": names}, dims=["parameter", "parameter2"], name=name)
