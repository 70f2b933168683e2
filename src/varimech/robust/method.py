"""Interface of the methods that compute statistics, and their common parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..core.errors import ModelError
from ..core.messages import Message
from .design_runs import DesignRuns
from .random_design import RandomDesign
from .statistic import Statistic

METHODS = ("auto", "moments", "samples", "form", "chaos")


def first_derivatives_only(analysis: str) -> ModelError:
    """Error for a request of second derivatives from an evaluator of statistics."""
    remedy = Message("use {hessian}", hessian="approximate")
    return ModelError("statistics have first derivatives only", element=analysis, remedy=remedy)


@dataclass(frozen=True, eq=False)
class Values:
    """Values of a statistic: one, or one for each stored time."""

    values: np.ndarray
    """(column,)"""
    derivatives: np.ndarray
    """Derivatives with respect to the variables of the design and then its correlations, (column,
    variable).
    """
    errors: np.ndarray
    """Estimated errors of the values, (column,); NaN if they were not requested."""


class StatisticsMethod(Protocol):
    """A method that computes statistics of columns of runs."""

    @property
    def task(self) -> StatisticsTask:
        """Task that the method computes."""
        ...

    @property
    def title(self) -> str:
        """Title in results: name of the method with its order, number of samples, …."""
        ...

    def evaluate(self, x: np.ndarray, *, errors: bool = False) -> Mapping[str, Values]:
        """Compute the statistics at a design.

        Args:
            x: values of the design variables.
            errors: whether to estimate errors too, which may take additional runs.

        Raises:
            VarimechError: if a run fails, or a statistic cannot be computed.
        """
        ...


@dataclass(frozen=True, eq=False)
class StatisticsTask:
    """Statistics by name, with the design and the runs that they are computed from."""

    runs: DesignRuns
    design: RandomDesign
    statistics: Mapping[str, Statistic]

    def columns(self, statistic: Statistic) -> list[np.ndarray]:
        """Indices of the columns of each function of a statistic."""
        names = {function: name for name, function in self.runs.functions.items()}
        places = [self.runs.columns[names[f]] for f in statistic.functions]
        return [np.arange(s.start, s.stop) for s in places]
