"""Sobol indices: the fraction of the variance of an objective that is due to each parameter, alone
and together with others.

    first   S_i  = Var[E(ψ|x_i)] / Var ψ                  alone
    second  S_ij = Var[E(ψ|x_i, x_j)] / Var ψ − S_i − S_j   interaction of both
    total   T_i  = 1 − Var[E(ψ|x_j, j ≠ i)] / Var ψ       with all interactions of x_i

They are fractions of 1 if parameters are independent, and have no such meaning otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, unknown_name
from ..results.result import Description, Result, Variable
from .global_study import check_varies, labelled, seeded
from .openturns_distributions import openturns

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

    from .global_study import GlobalStudy

ESTIMATORS = {
    "martinez": "Martinez",
    "saltelli": "Saltelli",
    "jansen": "Jansen",
    "mauntz-kucherenko": "MauntzKucherenko",
}


@dataclass(frozen=True, eq=False, repr=False)
class SobolIndices(Result):
    """Indices by objective and parameter, as `dataset` or by kind."""

    label: str
    source: str
    """Origin of the indices, as text."""
    indices: xr.Dataset

    first = Variable("Share of the variance that is due to each parameter alone.")
    second = Variable("Share that is due to the interaction of two parameters.")
    total = Variable("Share that is due to a parameter and all its interactions.")
    _dims = ("objective", "parameter")

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism and source."""
        return {"mechanism": self.label, "source": self.source}

    @property
    def dataset(self) -> xr.Dataset:
        """`first`, `total` (objective, parameter), `second` (objective, parameter, parameter2,
        symmetric, with NaN on its diagonal); for sampled indices also `first_lower`, `first_upper`,
        `total_lower`, `total_upper`.
        """
        return self.indices

    @classmethod
    def load(cls, path: str | Path) -> SobolIndices:
        """Read indices that were saved as .nc or .json.

        Args:
            path: the file.

        Returns:
            The same indices.

        Raises:
            ModelError: if the file is missing, was damaged or changed, or contains another result.
        """
        dataset, info = cls._read(Path(path))
        return cls(info["mechanism"], info["source"], dataset)

    def table(self) -> pd.DataFrame:
        """Indices of each objective and parameter.

        Returns:
            A row for each objective and parameter, the largest total index first.
        """
        frame = self.to_dataframe().reset_index()
        order = {name: k for k, name in enumerate(self.dataset["objective"].values)}
        frame["at"] = frame["objective"].map(order)
        return (
            frame.sort_values(["at", "total"], ascending=[True, False])
            .drop(columns="at")
            .reset_index(drop=True)
        )

    def plot(self, *, style: str | None = None) -> Figure:
        """Plot first and total indices as bars.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure with a panel for each objective.
        """
        from ..plotting.style import in_style
        from .study_figures import draw_sobol

        return in_style(draw_sobol(self), style)

    def _described(self) -> Description:
        frame = self.table()
        rows = [
            [*row[:2], *(float(f"{x:.4g}") for x in row[2:])] for row in frame.to_numpy().tolist()
        ]
        return Description(
            f"Sobol indices of {self.label!r}, {self.source}",
            tables=[([c.replace("_", " ") for c in frame.columns], rows)],
        )


def check_independent(study: GlobalStudy) -> None:
    """Refuse correlated parameters, whose indices would not be fractions of the variance."""
    s = study.distributions
    for i, j in combinations(range(len(s.names)), 2):
        if s.correlation[i, j]:
            problem = (
                "Sobol indices share the variance out among independent parameters, but"
                f" {s.names[i]!r} and {s.names[j]!r} have a correlation of {s.correlation[i, j]:g}"
            )
            remedy = "leave correlation out, or use moments(…).contributions"
            raise ModelError(problem, element="sobol", remedy=remedy)


def indices_dataset(study: GlobalStudy, **arrays: np.ndarray) -> xr.Dataset:
    """Dataset of arrays by objective, parameter and second parameter, with their names."""
    import xarray as xr

    dims = ("objective", "parameter", "parameter2")
    return xr.Dataset(
        {name: (dims[: a.ndim], a) for name, a in arrays.items()},
        labelled(study, "parameter", "parameter2"),
    )


def sampled_sobol(
    study: GlobalStudy, samples: int, estimator: str, level: float, seed: int
) -> SobolIndices:
    """Estimate the indices by an estimator of OpenTURNS."""
    if estimator not in ESTIMATORS:
        raise unknown_name("estimator of Sobol indices", estimator, ESTIMATORS)
    check_independent(study)
    ot = openturns()
    if len(study.names) == 1:
        problem = f"{study.names[0]!r} alone varies, so all of the variance is due to it"
        raise ModelError(problem, element="sobol", remedy="give others a distribution, too")
    algorithm = getattr(ot, f"{ESTIMATORS[estimator]}SensitivityAlgorithm")
    columns: dict[str, list[object]] = {name: [] for name in ("first", "total", "second", *BOUNDS)}
    with seeded(seed), study.runs.own_errors("Sobol indices"):
        x = ot.SobolIndicesExperiment(study.distribution, samples, True).generate()
        y = study.function(x)
        check_varies(study, y)
        for k in range(len(study.objective_names)):
            indices = algorithm(x, y.getMarginal(k), samples)
            indices.setUseAsymptoticDistribution(
                True
            )  # narrower than bootstrap intervals, and the same for each call
            indices.setConfidenceLevel(level)
            columns["first"].append(np.array(indices.getFirstOrderIndices()))
            columns["total"].append(np.array(indices.getTotalOrderIndices()))
            second = np.array(indices.getSecondOrderIndices())
            np.fill_diagonal(second, np.nan)
            columns["second"].append(second)
            intervals = (
                indices.getFirstOrderIndicesInterval(),
                indices.getTotalOrderIndicesInterval(),
            )
            bounds = [
                np.array(b) for i in intervals for b in (i.getLowerBound(), i.getUpperBound())
            ]
            for bound, value in zip(BOUNDS, bounds, strict=True):
                columns[bound].append(value)
    dataset = indices_dataset(study, **{name: np.array(values) for name, values in columns.items()})
    return SobolIndices(
        study.label, f"{estimator} from {x.getSize()} runs, intervals of {100 * level:g} %", dataset
    )


BOUNDS = ("first_lower", "first_upper", "total_lower", "total_upper")
