"""Parameter distributions as distributions of OpenTURNS: native ones where available, others
through the methods of SciPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError
from .marginals import Frozen, Marginal, Normal
from .sampling import SMALLEST_POINT

if TYPE_CHECKING:
    from .parameter_distributions import ParameterDistributions


def openturns() -> Any:
    """Import the OpenTURNS package, which is optional and slow to import.

    Raises:
        ModelError: if OpenTURNS is not installed.
    """
    try:
        import openturns as ot
    except ImportError:
        problem = "chaos, Sobol indices and reliability need OpenTURNS: pip install 'varimech[uq]'"
        raise ModelError(problem, element="openturns") from None
    return ot


def distribution_of(distributions: ParameterDistributions) -> Any:
    """Joint distribution of the varying parameters: their marginals under a Gaussian copula."""
    ot = openturns()
    marginals = [_marginal(ot, m) for m in distributions.marginals]
    copula = ot.IndependentCopula(len(marginals))
    if not distributions.independent:
        copula = ot.NormalCopula(ot.CorrelationMatrix(distributions.correlation.tolist()))
    joint = ot.JointDistribution(marginals, copula)
    joint.setDescription(distributions.names)
    return joint


def _marginal(ot: Any, marginal: Marginal) -> object:
    if isinstance(marginal, Normal):
        return ot.Normal(marginal.mean, marginal.sigma)
    if isinstance(marginal.distribution, Frozen):
        problem = (
            f"{marginal.description} is not a frozen distribution of scipy.stats, such as"
            " scipy.stats.uniform(0.9, 0.2)"
        )
        raise ModelError(problem, element="openturns")
    if marginal.distribution.dist.name == "uniform":
        return ot.Uniform(*(float(x) for x in marginal.distribution.support()))
    return ot.Distribution(_wrapped(ot, marginal.distribution))


def _wrapped(ot: Any, frozen: Any) -> object:
    """Wrap a SciPy distribution so that it draws by the generator of OpenTURNS, whose seed then
    applies, and resolves the upper tail.
    """

    class Wrapped(ot.SciPyDistribution):
        def getRealization(self) -> list[float]:  # noqa: N802 - method names of OpenTURNS
            return [float(x) for x in self.getSample(1)[0]]

        def getSample(self, size: int) -> np.ndarray:  # noqa: N802
            u = np.maximum(np.array(ot.RandomGenerator.Generate(size)), SMALLEST_POINT)
            return np.asarray(frozen.ppf(u)).reshape(size, 1)

        def computeComplementaryCDF(self, point: Any) -> float:  # noqa: N802
            return float(frozen.sf(point[0]))

        def computeScalarQuantile(self, p: float, tail: bool = False) -> float:  # noqa: N802
            return float(frozen.isf(p) if tail else frozen.ppf(p))

        def computeQuantile(self, p: float, tail: bool = False) -> list[float]:  # noqa: N802
            return [self.computeScalarQuantile(p, tail)]

    return Wrapped(frozen)
