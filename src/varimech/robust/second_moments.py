"""Statistics by moments of order 2: objectives are approximated as quadratic in the random
parameters about their means m. Means and variances are those of the quadratic
(`uncertainty/expansion.py`); quantiles and probabilities are those of a normal variable with this
mean and variance.

    E = ψ + ½ tr(HC),    V = g'Cg + ½ tr[(HC)²]      (normal; of independent ones with μ₃, μ₄)
    ∂E/∂x = g + ½ C : T,    ∂V/∂x = (∂V/∂g)'H + M : T,    M = ∂V/∂H (normal: C H C)

T denotes third derivatives. The derivative of a combination of mean and deviation contracts them
with one symmetric matrix, which needs two Hessian-vector products for each of its eigenvectors v
(in units of the standard deviations), with eigenvalue λ:

    M : T = Σ λ [H(m + h v) v − H(m − h v) v]/(2h) .

Exact for quadratic functions; the derivatives are exact for cubic functions, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..core.errors import ModelError
from ..core.messages import Message
from ..uncertainty.expansion import ROUNDING, check_second
from .expansion_errors import expansion_errors
from .first_moments import (
    errors_of,
    excesses,
    normal_statistics,
    third_moments,
)
from .method import StatisticsTask, Values
from .random_design import RandomPoint
from .statistic import Probability

STEP = 1e-3
"""Step of finite differences of Hessians, in standard deviations: truncation h² and the noise of
second derivatives (1e-9) divided by h are then both about 1e-6.
"""
NOTHING = 1e-12
"""Eigenvalues below this fraction of the largest one are rounding."""


@dataclass(frozen=True, eq=False)
class SecondMoments:
    """Moments of order 2 as a method that computes statistics (see the module docstring)."""

    task: StatisticsTask
    _last: dict[bytes, QuadraticMoments] = field(default_factory=dict)
    """Moments of the last design, by its bytes."""

    def __post_init__(self) -> None:
        check_second(self.task.design.distributions)
        for name, statistic in self.task.statistics.items():
            if statistic.over_time:
                problem = "moments of order 2 are for numbers, and this is a statistic of a path"
                remedy = Message("use {order}, or {statistics}", order=1, statistics="samples")
                raise ModelError(problem, element=f"statistic {name!r}", remedy=remedy)
            if isinstance(statistic, Probability) and len(statistic.limits) > 1:
                problem = "moments of order 2 are for one comparison, and this has several"
                remedy = Message("use {order}, or {statistics}", order=1, statistics="form")
                raise ModelError(problem, element=f"statistic {name!r}", remedy=remedy)

    @property
    def title(self) -> str:
        """See `StatisticsMethod`."""
        return "moments of order 2"

    def evaluate(self, x: np.ndarray, *, errors: bool = False) -> Mapping[str, Values]:
        """See `StatisticsMethod`."""
        task, m = self.task, self.moments(x)
        results = normal_statistics(task, m)
        if not errors:
            return results
        wrong = expansion_errors(task, m.point, m, m.values, m.g, m.hessians)
        return {
            n: Values(v.values, v.derivatives, errors_of(task, n, m, wrong, m.third, m.fourth))
            for n, v in results.items()
        }

    def moments(self, x: np.ndarray) -> QuadraticMoments:
        """Means and variances, by one run with gradients and one run with second derivatives for
        each random parameter.
        """
        if (key := x.tobytes()) not in self._last:
            task, point = self.task, self.task.design.at(x)
            d, size = len(point.mean), len(point.mean_row)
            values, J = task.runs.first(point.mean_row[None])
            along = task.runs.second(point.mean_row, np.eye(d, size)).transpose(1, 0, 2)
            self._last.clear()
            self._last[key] = QuadraticMoments(task, point, values[0], J[0], along)
        return self._last[key]


@dataclass(frozen=True, eq=False)
class QuadraticMoments:
    """Means and variances of quadratic columns as functions of the design."""

    task: StatisticsTask
    point: RandomPoint
    values: np.ndarray
    """(column,)"""
    J: np.ndarray
    """(column, index)"""
    along: np.ndarray
    """∂²ψ/∂ρ_i∂ρ, (column, d, index)"""

    @property
    def g(self) -> np.ndarray:
        """(column, d)"""
        return self.J[:, : len(self.point.mean)]

    @cached_property
    def hessians(self) -> np.ndarray:
        """(column, d, d), symmetric"""
        only = self.along[:, :, : len(self.point.mean)]
        return np.asarray((only + only.transpose(0, 2, 1)) / 2)

    def mean(self, c: int) -> float:
        """See `KnownMoments`."""
        return float(self.values[c] + 0.5 * np.sum(self.hessians[c] * self.point.covariance))

    def std(self, c: int) -> float:
        """See `KnownMoments`."""
        σ = float(np.sqrt(max(self._variances[c][0], 0.0)))
        return σ if σ > ROUNDING * abs(self.values[c]) else 0.0

    def slope(self, c: int, a: float, b: float) -> np.ndarray:
        """See `KnownMoments`."""
        d, C, σ = self.point.design, self.point.covariance, self.std(c)
        slope = (
            0.5 * a * np.einsum("kij,ji->k", self.point.covariance_derivatives, self.hessians[c])
        )
        nominal, M = a * self.J[c], 0.5 * a * C
        if b and σ > 0:
            _, of_g, of_H, explicit = self._variances[c]
            share = b / (2 * σ)
            slope += share * explicit
            nominal = nominal + share * of_g @ self.along[c]
            M = M + share * of_H
        if d.nominals:
            nominal = nominal + self._third_derivatives(c, M)
            slope[: len(d.nominals)] += nominal[d.nominal_columns]
        return slope

    def covariance(self, a: int, b: int) -> tuple[float, np.ndarray]:
        """Not available: systems of several limits use moments of order 1, which is checked
        before.
        """
        raise AssertionError("moments of order 2 have one column for each probability")

    @cached_property
    def third(self) -> np.ndarray:
        """Third central moment of each column, for normal parameters; for others, that of the
        linear part and its product with the quadratic part.
        """
        C, g, H = self.point.covariance, self.g, self.hessians
        HC = H @ C
        curved = 3 * np.einsum("ci,cij,cj->c", g @ C, H, g @ C)
        pure = np.einsum("cij,cjk,cki->c", HC, HC, HC)
        return np.asarray(third_moments(self.point, g) + curved + pure)

    @cached_property
    def fourth(self) -> np.ndarray:
        """Fourth central moment of each column minus that of a normal column; for parameters that
        are not normal, with the same restriction as `third`.
        """
        C, g, H = self.point.covariance, self.g, self.hessians
        along = np.einsum("ci,cij->cj", g @ C, H)
        pure = np.einsum("cij,cjk,ckl,cli->c", *[H @ C] * 4)
        curved = 12 * np.einsum("ci,ij,cj->c", along, C, along)
        return np.asarray(excesses(self.point, g) + curved + 3 * pure)

    @cached_property
    def _variances(self) -> list[tuple[float, np.ndarray, np.ndarray, np.ndarray]]:
        """V, ∂V/∂g, ∂V/∂H, and derivatives with respect to widths and correlations, for each
        column.
        """
        normal = self.point.design.distributions.normal
        each = self._normal if normal else self._independent
        return [each(g, H) for g, H in zip(self.g, self.hessians, strict=True)]

    def _normal(
        self, g: np.ndarray, H: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        C, dC = self.point.covariance, self.point.covariance_derivatives
        CHC = C @ H @ C
        explicit = np.einsum("i,kij,j->k", g, dC, g) + np.einsum("kij,ji->k", dC, H @ C @ H)
        return float(g @ C @ g + 0.5 * np.sum(H * CHC)), 2 * C @ g, CHC, explicit

    def _independent(
        self, g: np.ndarray, H: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        point, design = self.point, self.point.design
        share = point.sigma / design.distributions.sigma
        higher = np.array([m.higher_moments for m in design.distributions.marginals]).T
        μ2, μ3, μ4 = point.sigma**2, higher[0] * share**3, higher[1] * share**4
        h = np.diag(H)
        pairs = H * np.outer(μ2, μ2)
        np.fill_diagonal(pairs, 0.0)
        own = g**2 * μ2 + g * h * μ3 + 0.25 * h**2 * (μ4 - μ2**2)
        value = float(own.sum() + 0.5 * np.sum(H * pairs))
        M = pairs + np.diag(g * μ3 + 0.5 * h * (μ4 - μ2**2))
        # each central moment of order k is proportional to σᵏ
        by_σ = 2 * g**2 * μ2 + 3 * g * h * μ3 + h**2 * (μ4 - μ2**2) + 2 * (H * pairs).sum(axis=1)
        explicit = np.zeros(design.size)
        first = len(design.nominals)
        for row, k in enumerate(design.width_columns, first):
            explicit[row] = by_σ[k] / (point.sigma[k] * design.sigmas[k])
        return value, 2 * g * μ2 + h * μ3, M, explicit

    def _third_derivatives(self, c: int, M: np.ndarray) -> np.ndarray:
        """M : T of a column, (index,)."""
        none = np.zeros(self.J.shape[1])
        pairs = _eigenvectors(M, self.point.sigma)
        if not pairs:
            return none
        directions = np.zeros((len(pairs), none.size))
        directions[:, : len(self.point.mean)] = [v for _, v in pairs]
        middle = self.point.mean_row
        both = self.task.runs.second_at(
            np.concatenate([middle + STEP * directions, middle - STEP * directions]),
            np.concatenate([directions, directions]),
        )[:, c]
        T = (both[: len(pairs)] - both[len(pairs) :]) / (2 * STEP)
        return np.asarray(np.array([λ for λ, _ in pairs]) @ T)


def _eigenvectors(M: np.ndarray, σ: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """λ and v with  M = Σ λ v v',  v in units of the standard deviations."""
    values, vectors = np.linalg.eigh(M / np.outer(σ, σ))
    largest = np.abs(values).max(initial=0.0)
    return [
        (float(λ), σ * w)
        for λ, w in zip(values, vectors.T, strict=True)
        if abs(λ) > NOTHING * largest
    ]
