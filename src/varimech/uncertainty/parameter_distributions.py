"""Joint distribution of parameters: a distribution for each, and their correlation.

Parameters are  x_i = F_i⁻¹(Φ(z_i)),  with F_i the distribution of each and z normal with zero
means, unit variances and the correlation R (a Gaussian copula). Between normal parameters R is
their own correlation; otherwise that of x follows from an integral over z_i and z_j, by a
Gauss–Hermite rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np

from ..core.errors import ModelError, unknown_name
from ..core.messages import Message, PerInterface
from ..model.parameter import Parameter
from .marginals import Marginal, Normal, marginal

Given = Mapping[str, Any]
"""Parameter → `Tolerance`, distribution with its parameters, or None."""
Correlation = Mapping[tuple[str, str], float] | Sequence[Sequence[float]] | np.ndarray
NODES = 64
"""Number of nodes of the Gauss–Hermite rule for covariances, in each direction; a round value,
exact for smooth quantile functions.
"""
QUANTILES = (0.001, 0.5, 0.999)
"""Probabilities whose quantiles are part of the description."""


@dataclass(frozen=True, eq=False)
class ParameterDistributions:
    """Varying parameters, in the order of the mechanism, with their joint distribution."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    indices: list[int]
    """Indices of the varying parameters among all parameters of the mechanism."""
    marginals: tuple[Marginal, ...]
    correlation: np.ndarray
    """Correlation of the normal variables behind the parameters, (d, d); also of the parameters if
    these are normal.
    """

    @cached_property
    def mean(self) -> np.ndarray:
        """Means in the parameters' units, (d,)."""
        return np.array([m.mean for m in self.marginals])

    @cached_property
    def sigma(self) -> np.ndarray:
        """Standard deviations in the parameters' units, (d,)."""
        return np.array([m.sigma for m in self.marginals])

    @cached_property
    def covariance(self) -> np.ndarray:
        """Covariance of the parameters themselves, (d, d)."""
        C = np.diag(self.sigma**2)
        for i, j in combinations(range(len(self.names)), 2):
            if r := self.correlation[i, j]:
                C[i, j] = C[j, i] = _covariance(self.marginals[i], self.marginals[j], float(r))
        return C

    @cached_property
    def normal(self) -> bool:
        """Whether all parameters are normal."""
        return all(isinstance(m, Normal) for m in self.marginals)

    @cached_property
    def independent(self) -> bool:
        """Whether all parameters are independent."""
        return bool((self.correlation == np.eye(len(self.names))).all())

    def from_uniform(self, u: np.ndarray) -> np.ndarray:
        """Values for points inside the unit cube, (n, d) each."""
        if self.independent and not self.normal:
            return np.column_stack(
                [m.from_uniform(column) for m, column in zip(self.marginals, u.T, strict=True)]
            )
        from scipy.special import ndtri

        return self.from_normal(ndtri(u))

    def from_normal(self, z: np.ndarray) -> np.ndarray:
        """Values for independent standard normal numbers, (n, d) each."""
        if not self.independent:
            # row by row: the same bits for any number of rows
            z = np.einsum("nj,ij->ni", z, self.root)
        if self.normal:
            return self.mean + self.sigma * z
        return np.column_stack(
            [m.from_normal(column) for m, column in zip(self.marginals, z.T, strict=True)]
        )

    def jacobian(self, u: np.ndarray) -> np.ndarray:
        """∂x/∂u, (d, d), with respect to independent standard normal variables.

        Args:
            u: a point, (d,).
        """
        z = self.root @ u
        derivatives = [
            float(m.slope(np.array([s]))[0]) for m, s in zip(self.marginals, z, strict=True)
        ]
        return np.array(derivatives)[:, None] * self.root

    def rows(self, values: np.ndarray, nominal: np.ndarray) -> np.ndarray:
        """Values of all parameters of the mechanism, one row for each of `values`; fixed parameters
        have the values in `nominal`.
        """
        rows = np.tile(np.asarray(nominal, dtype=float), (len(values), 1))
        rows[:, self.indices] = values
        return rows

    def described(self) -> dict[str, Any]:
        """Description as plain data: the distribution of each parameter as text, its mean, sigma
        and some quantiles, and R.
        """
        parameters = [
            {
                "name": name,
                "unit": unit,
                "distribution": m.description,
                "mean": m.mean,
                "sigma": m.sigma,
                "quantiles": {str(p): float(m.from_uniform(np.array(p))) for p in QUANTILES},
            }
            for name, unit, m in zip(self.names, self.units, self.marginals, strict=True)
        ]
        return {"parameters": parameters, "correlation": self.correlation.tolist()}

    @cached_property
    def root(self) -> np.ndarray:
        """Cholesky factor L of the correlation L Lᵀ."""
        return np.linalg.cholesky(self.correlation)


def distributions_of(
    parameters: Mapping[str, Parameter],
    given: Given | None = None,
    correlation: Correlation | None = None,
) -> ParameterDistributions:
    """Check and return the distributions: those of the parameters, replaced or supplemented by the
    given ones.

    Args:
        parameters: parameters of the mechanism.
        given: distributions by parameter; None for a fixed parameter.
        correlation: numbers by pairs of names, or a matrix in the order of the varying parameters.

    Raises:
        ModelError: if there is no distribution, or a distribution or the correlation is invalid.

    >>> import varimech as vm
    >>> from scipy.stats import uniform
    >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    >>> L = m.parameter("L", 1.0, unit="m", distribution=vm.Tolerance(0.03))
    >>> mass = m.parameter("mass", 3.0, unit="kg")
    >>> distributions_of(m.parameters, {"mass": uniform(2.9, 0.2)}, {("L", "mass"): 0.5}).names
    ('L', 'mass')
    """
    if given is not None and not isinstance(given, Mapping):
        problem = "must be distributions by parameter, such as {'L': varimech.Tolerance(0.01)}"
        raise ModelError(problem, field="distributions", value=given)
    requested = {name: p.distribution for name, p in parameters.items()}
    for name, distribution in (given or {}).items():
        if name not in parameters:
            raise unknown_name("parameter", name, parameters)
        requested[name] = distribution
    varying = {
        name: marginal(parameters[name], distribution)
        for name, distribution in requested.items()
        if distribution is not None
    }
    if not varying:
        raise ModelError("no parameter has a distribution", remedy=_define(parameters))
    for name, m in varying.items():
        parameters[name].check(m.mean)
    names, every = tuple(varying), list(parameters)
    R = np.eye(len(names)) if correlation is None else _correlation(names, correlation)
    units = tuple(parameters[name].unit for name in names)
    return ParameterDistributions(
        names, units, [every.index(name) for name in names], tuple(varying.values()), R
    )


def _define(parameters: Iterable[str]) -> Message:
    example = next(iter(parameters), "L")
    return Message(
        "define it with {}, or give {} or a distribution of scipy.stats with its numbers",
        PerInterface(
            "parameter(…, distribution=varimech.Tolerance(0.01))", "parameters: {tolerance: 0.01}"
        ),
        f"distributions={{{example!r}: varimech.Tolerance(0.01)}}",
    )


def _correlation(names: tuple[str, ...], given: Correlation) -> np.ndarray:
    """Return R after checks: symmetric, with unit diagonal, positive definite."""
    R = _from_pairs(names, given) if isinstance(given, Mapping) else _from_matrix(names, given)
    for i, j in combinations(range(len(names)), 2):
        if not -1 < R[i, j] < 1:
            raise _wrong((names[i], names[j]), f"is {R[i, j]:g}; it must lie between −1 and 1")
    values, vectors = np.linalg.eigh(R)
    if values[0] < 1e-12:
        i, j = sorted(np.argsort(-np.abs(vectors[:, 0]))[:2])
        problem = f": the matrix is not positive definite (smallest eigenvalue {values[0]:.2g})"
        remedy = (
            f"check first {names[i]!r} with {names[j]!r}, {R[i, j]:g}, and the correlations"
            " of each with the others"
        )
        raise ModelError(problem, field="correlation", remedy=remedy)
    return R


def _from_pairs(names: tuple[str, ...], given: Mapping[Any, object]) -> np.ndarray:
    R = np.eye(len(names))
    entries: dict[frozenset[str], Real] = {}
    for pair, r in given.items():
        if not (isinstance(pair, tuple) and len(pair) == 2):
            problem = f": {pair!r} must be a pair of parameters, such as ('a', 'b')"
            raise ModelError(problem, field="correlation")
        for name in pair:
            if name not in names:
                raise unknown_name("varying parameter", name, names)
        if pair[0] == pair[1]:
            problem = f": {pair!r} is a parameter with itself; name two"
            raise ModelError(problem, field="correlation")
        if not isinstance(r, Real) or isinstance(r, bool) or math.isnan(r):
            raise _wrong(pair, f"is {r!r}; it must be a number between −1 and 1")
        if entries.setdefault(frozenset(pair), r) != r:
            raise _wrong(pair, f"is given twice: {entries[frozenset(pair)]!r} and {r!r}")
        i, j = (names.index(name) for name in pair)
        R[i, j] = R[j, i] = float(r)
    return R


def _from_matrix(names: tuple[str, ...], given: object) -> np.ndarray:
    d = len(names)
    order = ", ".join(map(repr, names))
    try:
        R = np.array(given, dtype=float)
    except (TypeError, ValueError):
        R = np.empty(0)
    if R.shape != (d, d):
        problem = f"must be a {d}×{d} matrix in the order {order}, or numbers by pairs of names"
        raise ModelError(problem, field="correlation", value=given)
    for i, j in combinations(range(d), 2):
        if not abs(R[i, j] - R[j, i]) < 1e-12:
            raise _wrong(
                (names[i], names[j]),
                f"is {R[i, j]:g}, and the other way round {R[j, i]:g}; the matrix must be symmetric",
            )
    for name, r in zip(names, R.diagonal(), strict=True):
        if not abs(r - 1) < 1e-12:
            problem = (
                f"of {name!r} with itself is {r:g}; it must be 1 (give correlations, not"
                " covariances)"
            )
            raise ModelError(problem, field="correlation")
    return (R + R.T) / 2


def _wrong(pair: tuple[str, str], problem: str) -> ModelError:
    """Error about the correlation of two parameters."""
    return ModelError(f"of {pair[0]!r} with {pair[1]!r} {problem}", field="correlation")


def _covariance(a: Marginal, b: Marginal, r: float) -> float:
    """Covariance of two parameters whose normal variables have the correlation r."""
    if isinstance(a, Normal) and isinstance(b, Normal):
        return r * a.sigma * b.sigma
    z, w = np.polynomial.hermite_e.hermegauss(NODES)
    w = w / w.sum()
    both = r * z[:, None] + np.sqrt(1 - r**2) * z
    value = float(
        np.einsum("i,j,i,ij->", w, w, a.from_normal(z) - a.mean, b.from_normal(both) - b.mean)
    )
    if not math.isfinite(value):
        problem = (
            f"of {a.description} with {b.description} yields no covariance: quantiles far out in their"
            " tails are not finite"
        )
        remedy = "truncate the distributions"
        raise ModelError(problem, field="correlation", remedy=remedy)
    return value
