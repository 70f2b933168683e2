"""Experiments, ranked by how well they determine parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..plotting.table import number
from ..results.result import Description, Result, Variable
from .information import Criterion
from .priors import Prior

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

TITLES = {
    "D": "volume of the confidence region (D)",
    "A": "sum of relative variances (A)",
}
MOST_SHOWN = 12
"""Largest number of choices that the text and the figure show."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Sensors, each under a setting, with their information."""

    members: tuple[tuple[str, Mapping[str, float]], ...]
    value: float
    """Value of the criterion; −∞ if parameters are not determined."""
    F: np.ndarray
    """Fisher information, including that of the priors."""

    @property
    def label(self) -> str:
        """Sensors by setting: "angle, force (A = 1)"."""
        groups: dict[str, list[str]] = {}
        for sensor, setting in self.members:
            text = ", ".join(f"{n} = {number(x, 4)}" for n, x in setting.items())
            groups.setdefault(text, []).append(sensor)
        return "; ".join(
            f"{' + '.join(names)} ({text})" if text else " + ".join(names)
            for text, names in groups.items()
        )


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(Result):
    """Experiments in the order in which they determine parameters, the best first."""

    label_of_mechanism: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    criterion: Criterion = field(repr=False)
    narrow: str | None
    """The parameter to determine best; None for all of them."""
    prior: Prior = field(repr=False)
    choices: tuple[Choice, ...]
    tuned: Mapping[str, float]
    """Best settings within the bounds; empty if none were tuned."""
    sigmas: Mapping[str, float]
    runs: int
    """Number of runs of the mechanism, including those for second derivatives."""
    seconds: float

    std = Variable("Standard deviation of each parameter, by experiment and parameter.")
    efficiency = Variable("Share of its samples that the best one would need, by experiment.")
    _dims = ("experiment", "parameter")

    @property
    def label(self) -> str:
        """Name of the mechanism."""
        return self.label_of_mechanism

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, criterion, priors, tuned settings, runs and seconds."""
        return {
            "mechanism": self.label,
            "criterion": self.narrow or self.criterion.kind,
            "prior": self.prior.descriptions,
            "tuned": dict(self.tuned),
            "runs": self.runs,
            "seconds": self.seconds,
        }

    @property
    def best(self) -> Choice:
        """The best experiment."""
        return self.choices[0]

    @property
    def sensors(self) -> tuple[str, ...]:
        """Sensors of the best experiment."""
        return tuple(dict.fromkeys(sensor for sensor, _ in self.best.members))

    @property
    def settings(self) -> tuple[dict[str, float], ...]:
        """Settings of the best experiment, to be passed on to `simulate`."""
        distinct: list[dict[str, float]] = []
        for _, setting in self.best.members:
            if dict(setting) not in distinct:
                distinct.append(dict(setting))
        return tuple(distinct)

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`value` and `efficiency` by experiment, `std` by experiment and parameter, `covariance`
        of the best one.
        """
        import xarray as xr

        top = self.best.value
        covariances = [self.criterion.covariance(c.F) for c in self.choices]
        deviations = np.sqrt([np.diag(C) for C in covariances])
        efficiency = [self.criterion.efficiency(c.value, top) for c in self.choices]
        square = ("parameter", "parameter2")
        names = list(self.names)
        return xr.Dataset(
            {
                "value": ("experiment", [c.value for c in self.choices]),
                "efficiency": ("experiment", efficiency),
                "std": (self._dims, deviations),
                "covariance": (square, covariances[0]),
            },
            coords={
                "experiment": [c.label for c in self.choices],
                "parameter": names,
                "parameter2": names,
                "parameter_unit": ("parameter", list(self.units)),
            },
        )

    def table(self) -> Any:
        """Efficiency and standard deviations, a row for each experiment.

        Returns:
            The table.
        """
        d = self.dataset
        frame = d["std"].drop_vars("parameter_unit").to_pandas()
        frame.insert(0, "efficiency", d["efficiency"].to_numpy())
        return frame

    def plot(self, *, style: str | None = None) -> Figure:
        """Plot the standard deviation of each parameter by experiment, relative to the best one.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure.
        """
        from .posterior_figures import draw_experiment

        return draw_experiment(self, style)

    def _described(self) -> Description:
        frame = self.table().head(MOST_SHOWN)
        units = [
            f"std of {n}" + (f" ({u})" if u else "")
            for n, u in zip(self.names, self.units, strict=True)
        ]
        rows = [
            [label, *map(float, row)]
            for label, row in zip(frame.index, frame.to_numpy(), strict=True)
        ]
        criterion_text = TITLES.get(self.criterion.kind, f"variance of {self.narrow!r}")
        notes = []
        if self.tuned:
            best = ", ".join(f"{n} = {number(x, 6)}" for n, x in self.tuned.items())
            notes.append(f"best setting within the bounds: {best}")
        more = len(self.choices) - len(rows)
        if more > 0:
            notes.append(f"{more} more in the table")
        if not self.prior.flat.all():
            notes.append("with the information of the priors")
        return Description(
            f"Experiments with {self.label!r}, by the {criterion_text}",
            summary=[f"{self.runs} runs, {self.seconds:.2g} s"],
            tables=[(["experiment", "efficiency", *units], rows)],
            notes=notes,
        )
