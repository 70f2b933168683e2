"""The contract of the methods that compute statistics, and their common parts."""

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
    """The error of evaluators of statistics that are asked for second derivatives."""
    remedy = Message("use {hessian}", hessian="approximate")
    return ModelError("statistics have first derivatives only", element=analysis, remedy=remedy)


@dataclass(frozen=True, eq=False)
class Values:
    """A statistic: one value, or one for each stored time."""

    values: np.ndarray
    """(column,)"""
    derivatives: np.ndarray
    """(column, variable): with respect to the variables of the design, then its correlations."""
    errors: np.ndarray
    """(column,): estimated errors of the values; NaN where none was asked for."""


class StatisticsMethod(Protocol):
    """A way of computing statistics of columns of runs."""

    @property
    def task(self) -> StatisticsTask:
        """What it computes."""
        ...

    @property
    def title(self) -> str:
        """Name of the method with its order, number of samples, …, for results."""
        ...

    def evaluate(self, x: np.ndarray, *, errors: bool = False) -> Mapping[str, Values]:
        """Statistics at a design.

        Args:
            x: values of the design variables.
            errors: whether to estimate errors, too, which may take more runs.

        Raises:
            VarimechError: if a run fails, or a statistic cannot be computed.
        """
        ...


@dataclass(frozen=True, eq=False)
class StatisticsTask:
    """Statistics by name, with what they are statistics of."""

    runs: DesignRuns
    design: RandomDesign
    statistics: Mapping[str, Statistic]

    def columns(self, statistic: Statistic) -> list[np.ndarray]:
        """For each function of a statistic the numbers of its columns."""
        names = {function: name for name, function in self.runs.functions.items()}
        places = [self.runs.columns[names[f]] for f in statistic.functions]
        return [np.arange(s.start, s.stop) for s in places]
