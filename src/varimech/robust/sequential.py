"""Allocation by a sequence of explicit problems, if only tolerances change.

Around the tolerances t⁰, with r_i = (t_i/t_i⁰)² and the derivatives s_i = ∂c/∂ln t_i there, a
statistic is assumed to vary as that of a linear function of independent normal parameters does:

    standard deviation   c = c⁰ √(1 + Σ s_i/c⁰ (r_i − 1))
    reliability index    β = β⁰ / √(1 − Σ s_i/β⁰ (r_i − 1))
    quantile, worst      c = c⁰ + D (√(1 + Σ s_i/D (r_i − 1)) − 1),   D = Σ s_i
    mean and others      c = c⁰ + ½ Σ s_i (r_i − 1)

so that the cheapest tolerances follow without runs. At these tolerances the statistics are computed
again, with their derivatives, until the optimality conditions hold for the statistics themselves.
For linear functions the first problem yields the answer; otherwise a few problems do, each with one
evaluation of the statistics, whereas a search takes one for each of its steps and finite
differences.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import InfeasibleError, VarimechError
from ..optimization.attempt import Attempt, judged
from ..optimization.design_problem import DesignProblem
from ..optimization.evaluation import Outcome, Second
from ..optimization.scaled import Scaled
from ..optimization.search import Searches, Stopped, search
from ..optimization.settings import Settings
from .log_widths import COST, Index
from .method import first_derivatives_only
from .statistic import Quantile, Std, Worst

CLOSE = 1e-7
"""Residual of the optimality conditions and violation of the constraints, both scaled, at which the
sequence ends: a tenth of the tolerance that counts as converged.
"""
MOST = 15
"""Maximum number of problems: a sequence that converges takes three to six."""


@dataclass(eq=False)
class ExplicitStatistics:
    """An evaluator of statistics that vary around a design as those of linear functions do."""

    problem: DesignProblem
    """Problem of the statistics themselves, in ln t."""
    z: np.ndarray
    outcome: Outcome
    """Values of the statistics at the design."""

    @property
    def roughness(self) -> float:
        """Relative rounding error."""
        return 1e-14

    def run(self, z: np.ndarray) -> Outcome:
        """Values and derivatives with respect to ln t."""
        o, r = self.outcome, np.exp(2 * (z - self.z))
        values, derivatives = o.values.copy(), o.derivatives.copy()
        for k, (name, quantity) in enumerate(self.problem.scalars.items()):
            if name != COST:
                own = slice(k, k + 1)
                values[own], derivatives[own] = _varied(
                    quantity, o.values[own], o.derivatives[own], r
                )
        paths, path_derivatives = o.paths.copy(), o.path_derivatives.copy()
        for k, path in enumerate(self.problem.paths.values()):
            paths[k], path_derivatives[k] = _varied(path, o.paths[k], o.path_derivatives[k], r)
        row = list(self.problem.scalars).index(COST)
        values[row], derivatives[row] = self.problem.evaluator.cost(z)  # type: ignore[attr-defined]
        return Outcome(values, derivatives, o.time, paths, path_derivatives)

    def second(self, z: np.ndarray) -> Second:
        """Raise an error, as for statistics.

        Raises:
            ModelError: always.
        """
        raise first_derivatives_only("allocate")


def _varied(
    quantity: object, c: np.ndarray, s: np.ndarray, r: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Values, (row,), and derivatives, (row, variable), at squared ratios r of the tolerances."""
    root = isinstance(quantity, (Std, Index, Quantile, Worst))
    index = isinstance(quantity, Index)
    D = s.sum(axis=1) if isinstance(quantity, (Quantile, Worst)) else -c if index else c
    with np.errstate(divide="ignore", invalid="ignore"):
        w = s / D[:, None]
        # a variance: no contribution is negative, and nothing remains without all contributions
        linear = root & np.isfinite(w).all(axis=1) & (w >= 0).all(axis=1)
        linear &= w.sum(axis=1) <= 1 + 1e-9
    w = np.where(linear[:, None], w, 0.0)
    q, dq = np.sqrt(np.maximum(1 + w @ (r - 1), 1e-300)), w * r
    value, slope = c + s @ (r - 1) / 2, s * r
    if index:
        own, slopes = c / q, -c[:, None] * dq / q[:, None] ** 3
    else:
        own, slopes = c + D * (q - 1), D[:, None] * dq / q[:, None]
    return np.where(linear, own, value), np.where(linear[:, None], slopes, slope)


def sequence(problem: DesignProblem, settings: Settings, label: str) -> Attempt | None:
    """Find the cheapest design by a sequence of explicit problems; None if it does not converge.

    Args:
        problem: problem of the statistics themselves, in ln t.
        settings: settings of the search for each explicit problem.
        label: name of the mechanism.

    Raises:
        Stopped: on Ctrl-C after the first problem, with the best design.
    """
    z, scaled = problem.space.start, Scaled(problem, problem.space.start)
    trace = list[np.ndarray]()
    best: Attempt | None = None
    try:
        for k in range(MOST):
            outcome = problem.outcome(z)
            if outcome is None:
                return None
            trace.append(np.array([problem.fun(z), problem.infeasibility(z), *z]))
            at = np.asarray((z - scaled.start) / scaled.sizes)
            best = judged(scaled, at, "explicit problems converged", k, trace)
            if best.optimality.residual <= CLOSE and best.violation <= CLOSE:
                return replace(best, converged=True)
            explicit = problem.with_evaluator(ExplicitStatistics(problem, z, outcome))
            z = search(explicit, settings, [z], label, False)[0].x
    except (InfeasibleError, VarimechError):  # an explicit problem failed: the search has to decide
        return None
    except KeyboardInterrupt:
        if best is None:
            raise
        stopped = replace(best, converged=False, message="stopped", stopped=True)
        raise Stopped(problem, stopped, Searches([stopped])) from None
    return None
