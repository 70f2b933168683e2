"""The design problem in scaled form for solvers: variables, objective and constraints of magnitude
one.

    x = x₀ + s z,    ψ̂ = ψ / |s ∇ψ|₀,    ĉ = c / |s ∇c|₀

A peak adds a variable y, its bound:  min y  with  h(tᵢ)/|s ∇h|₀ − y ≤ 0.
"""

from __future__ import annotations

import numpy as np

from .design_problem import DesignProblem

FLAT = 1e-3
"""Smallest scale of a quantity, relative to its value, because its initial gradient may vanish; a
round value.
"""


class Scaled:
    """A design problem in scaled variables z, relative to one initial design."""

    def __init__(self, problem: DesignProblem, start: np.ndarray):
        self.problem = problem
        self.start = start
        self.sizes = problem.space.sizes
        self.slack = int(problem.is_peak)
        assert problem.outcome(start) is not None
        self.objective_size = _size(
            problem.fun(start), _objective_derivatives(problem, start) * self.sizes
        )
        values, derivatives = (
            problem.constraints(start),
            problem.constraints_jac(start) * self.sizes,
        )
        self.row_sizes = np.ones(problem.row_count)
        for r in problem.rows:
            self.row_sizes[r.rows] = _size(np.abs(values[r.rows]).max(), derivatives[r.rows])
        n, s = start.size, problem.space
        y0 = [problem.fun(start) / self.objective_size] * self.slack
        self.z0 = np.array([*np.zeros(n), *y0])
        self.lower = np.array([*((s.lower - start) / self.sizes), *[-np.inf] * self.slack])
        self.upper = np.array([*((s.upper - start) / self.sizes), *[np.inf] * self.slack])
        low, high = (b / self.row_sizes for b in problem.constraint_bounds)
        times = problem.time.size * self.slack
        self.row_lower = np.concatenate([np.full(times, -np.inf), low])
        self.row_upper = np.concatenate([np.zeros(times), high])

    def x_of(self, z: np.ndarray) -> np.ndarray:
        """Parameter values of z."""
        return self.problem.space.inside(self.start + self.sizes * np.asarray(z)[: self.start.size])

    def works(self, z: np.ndarray) -> bool:
        """Whether the run at this design succeeds."""
        return self.problem.outcome(self.x_of(z)) is not None

    def objective(self, z: np.ndarray) -> float:
        """ψ̂; not finite if the run fails."""
        return float(z[-1]) if self.slack else self.problem.fun(self.x_of(z)) / self.objective_size

    def gradient(self, z: np.ndarray) -> np.ndarray:
        """∂ψ̂/∂z."""
        if self.slack:
            return np.eye(z.size)[-1]
        return self.problem.jac(self.x_of(z)) * self.sizes / self.objective_size

    def constraints(self, z: np.ndarray) -> np.ndarray:
        """ĉ."""
        x = self.x_of(z)
        rows = self.problem.constraints(x) / self.row_sizes
        if not self.slack:
            return rows
        outcome = self.problem.outcome(x)
        h = (
            np.full(self.problem.time.size, np.inf)
            if outcome is None
            else self.problem.peak_path(outcome)[0]
        )
        return np.concatenate([h / self.objective_size - z[-1], rows])

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        """∂ĉ/∂z."""
        x = self.x_of(z)
        rows = self.problem.constraints_jac(x) * self.sizes / self.row_sizes[:, None]
        if not self.slack:
            return rows
        outcome, count = self.problem.outcome(x), self.problem.time.size
        h = (
            np.full((count, x.size), np.nan)
            if outcome is None
            else self.problem.peak_path(outcome)[1] * self.sizes
        )
        above = np.hstack([h / self.objective_size, -np.ones((count, 1))])
        return np.vstack([above, np.hstack([rows, np.zeros((len(rows), 1))])])

    def hessian(self, z: np.ndarray, weight: float, weights: np.ndarray) -> np.ndarray:
        """Second derivatives of weight ψ̂ + Σ weights ĉ."""
        x, n = self.x_of(z), self.start.size
        total = np.zeros((z.size, z.size))
        times = self.problem.time.size * self.slack
        if not self.slack and weight:
            total[:n, :n] = weight * self.problem.hess(x) / self.objective_size
        if self.slack and weights.size:
            total[:n, :n] = self.problem.peak_hess(x, weights[:times] / self.objective_size)
        if self.problem.row_count and weights.size:
            total[:n, :n] += self.problem.constraints_hess(x, weights[times:] / self.row_sizes)
        total[:n, :n] *= np.outer(self.sizes, self.sizes)
        return total

    def shortfall(self, x: np.ndarray) -> float:
        """Largest violation of the scaled constraints of the original problem, for parameter
        values.
        """
        return float((self.problem.violations(x) / self.row_sizes).max(initial=0.0))

    def violation(self, z: np.ndarray) -> float:
        """Largest violation of scaled constraints."""
        c = self.constraints(z)
        return float(np.maximum(self.row_lower - c, c - self.row_upper).max(initial=0.0))


def _objective_derivatives(problem: DesignProblem, x: np.ndarray) -> np.ndarray:
    """Derivatives that scale the objective; for a peak, those at all times."""
    outcome = problem.outcome(x)
    assert outcome is not None
    return problem.peak_path(outcome)[1] if problem.is_peak else problem.jac(x)


def _size(value: float, derivatives: np.ndarray) -> float:
    return float(max(np.abs(derivatives).max(initial=0.0), FLAT * abs(value))) or 1.0
