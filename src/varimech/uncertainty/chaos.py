"""Polynomial chaos:  ψ(x) ≈ Σ_k a_k Ψ_k(x)  with polynomials that are orthogonal under the
distribution of x.

The mean is a_0, the variance is the sum of the squares of the other coefficients, and Sobol indices
are partial sums of it. The significant polynomials are chosen by least angle regression; a
leave-one-out error determines their number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError
from ..results.result import Description, Result, Variable
from .global_study import check_varies, labelled
from .openturns_distributions import openturns
from .sampling import Sampling
from .sobol import SobolIndices, check_independent, indices_dataset

if TYPE_CHECKING:
    import xarray as xr

    from .global_study import GlobalStudy

HIGHEST = 12
"""Highest default degree: for one or two parameters, the number of runs would allow a higher
one.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Chaos(Result):
    """Objectives as sums of orthogonal polynomials."""

    study: GlobalStudy = field(repr=False)
    degree: int
    runs: int
    checks: int
    result: Any = field(repr=False)
    """`openturns.FunctionalChaosResult`"""
    predictivity: np.ndarray = field(repr=False)

    @property
    def metamodel(self) -> Any:
        """`openturns.Function` that evaluates the polynomials."""
        return self.result.getMetaModel()

    mean = Variable("Means by objective.")
    variance = Variable("Variances by objective, in the squares of their units.")
    std = Variable("Standard deviations by objective.")
    q2 = Variable(
        "1 − (mean square of the error) / variance, at runs that were not used for the fit: 1 for a"
        " perfect fit, 0 for one no better than the mean."
    )
    _dims = ("objective",)

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, degree, numbers of runs for the fit and for its validation."""
        own = {"degree": self.degree, "runs": self.runs, "checks": self.checks}
        return {"mechanism": self.study.label, **own}

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`mean`, `variance`, `std` and `q2` by objective."""
        import xarray as xr

        vector = openturns().FunctionalChaosRandomVector(self.result)
        variance = np.diag(np.array(vector.getCovariance()))
        arrays = {
            "mean": np.array(vector.getMean()),
            "variance": variance,
            "std": np.sqrt(variance),
            "q2": self.predictivity,
        }
        return xr.Dataset(
            {name: ("objective", array) for name, array in arrays.items()}, labelled(self.study)
        )

    @property
    def terms(self) -> int:
        """Number of polynomials chosen, for all objectives together."""
        return int(self.result.getIndices().getSize())

    @cached_property
    def sobol(self) -> SobolIndices:
        """Sobol indices of the polynomial sums."""
        check_independent(self.study)
        indices, d = openturns().FunctionalChaosSobolIndices(self.result), len(self.study.names)
        objectives = range(len(self.study.objective_names))
        first = [[indices.getSobolIndex(i, k) for i in range(d)] for k in objectives]
        total = [[indices.getSobolTotalIndex(i, k) for i in range(d)] for k in objectives]
        second = np.full((len(objectives), d, d), np.nan)
        for k in objectives:
            for i in range(d):
                for j in range(i):
                    second[k, i, j] = second[k, j, i] = indices.getSobolIndex([j, i], k)
        arrays = {"first": np.array(first), "total": np.array(total), "second": second}
        return SobolIndices(
            self.study.label,
            f"polynomial chaos from {self.runs} runs",
            indices_dataset(self.study, **arrays),
        )

    def _described(self) -> Description:
        s, q2 = self.study, [float(f"{q:.6f}") for q in self.predictivity]
        columns = (s.objective_names, self.mean.values, self.std.values, q2, s.units)
        return Description(
            f"Chaos of {s.label!r}: degree {self.degree}, {self.terms} polynomials, {self.runs}"
            f" runs and {self.checks} to check",
            tables=[(["objective", "mean", "std", "Q²", "unit"], list(zip(*columns, strict=True)))],
        )


def chaos_of(study: GlobalStudy, runs: int, checks: int, degree: int | None, seed: int) -> Chaos:
    """Fit polynomial chaos to runs and validate it by further runs."""
    ot, d = openturns(), len(study.names)
    highest = _degree(d, runs) if degree is None else int(degree)
    if (candidates := math.comb(d + highest, d)) > runs:
        problem = (
            f": there are {candidates} polynomials of degree {highest} in {d} parameters, more than"
            f" runs ({runs})"
        )
        remedy = f"give a smaller degree, or runs={2 * candidates}"
        raise ModelError(problem, element="chaos", field="degree", remedy=remedy)
    # two streams of the same seed: a space-filling set for the fit, an independent set to validate it
    size = 1 << (runs - 1).bit_length()
    fitted = study.distributions.from_uniform(Sampling("sobol", seed, size, d).points(0)[:runs])
    others = study.distributions.from_uniform(Sampling("random", seed, checks, d).points(1))
    with study.runs.own_errors("polynomial chaos"):
        y = study.function(ot.Sample(fitted))
        check_varies(study, y)
        basis = ot.OrthogonalProductPolynomialFactory(
            [study.distribution.getMarginal(i) for i in range(d)]
        )
        choice = ot.LeastSquaresMetaModelSelectionFactory(ot.LARS(), ot.CorrectedLeaveOneOut())
        strategy = ot.FixedStrategy(
            basis, basis.getEnumerateFunction().getBasisSizeFromTotalDegree(highest)
        )
        algorithm = ot.FunctionalChaosAlgorithm(
            ot.Sample(fitted), y, study.distribution, strategy, ot.LeastSquaresStrategy(choice)
        )
        algorithm.run()
        result = algorithm.getResult()
        predicted, true = (
            np.array(result.getMetaModel()(ot.Sample(others))),
            np.array(study.function(ot.Sample(others))),
        )
        q2 = np.array(
            ot.MetaModelValidation(ot.Sample(true), ot.Sample(predicted)).computeR2Score()
        )
    return Chaos(study, highest, runs, checks, result, q2)


def _degree(d: int, runs: int) -> int:
    """Highest degree with at most half as many polynomials as runs."""
    degree = 1
    while degree < HIGHEST and 2 * math.comb(d + degree + 1, d) <= runs:
        degree += 1
    return degree
