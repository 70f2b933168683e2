"""Steps of explicit Runge–Kutta schemes in Python; explicit.c does the same, operation by operation.

A state is q, v, a, λ, so its rates (v, a) are part of it, and the states at all stages are all there is to keep.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..integrators.runge_kutta import RungeKutta
from ..schedule import Schedule
from .scheme_tables import SchemeTables

SAFETY = 0.01
"""Share of the tolerance that is allowed for the error of one step."""
ROUNDING = 1e-12
"""Largest residual of velocities over velocities where projections are exact."""
OFF = 10
"""Shares of the tolerance by which projections may fail."""


class ExplicitScheme:
    """Combinations of stages, the error of a step and the next one's length. `width` numbers belong to each row of derivatives."""

    def __init__(self, scheme: RungeKutta, coordinates: int, schedule: Schedule):
        self.tables = SchemeTables(scheme)
        self.coordinates = coordinates
        self.schedule = schedule
        self.position_scale = self.velocity_scale = 0.0

    def combined(self, X: np.ndarray, h: float, weights: np.ndarray) -> np.ndarray:
        """(q, v) of the first stage + h Σ weights_j (v, a) of stage j."""
        n = self.coordinates
        total = np.zeros_like(X[0, : 2 * n])
        for w, stage in zip(weights, X, strict=False):
            if w != 0:
                total += w * stage[n : 3 * n]
        return np.asarray(X[0, : 2 * n] + h * total)

    def error(self, X: np.ndarray, h: float) -> float:
        """The error of a step over the one allowed."""
        t, n = self.tables, self.coordinates
        end = X[t.stages]
        self.position_scale = max(self.position_scale, float(np.abs(end[:n]).max(initial=0.0)))
        self.velocity_scale = max(self.velocity_scale, float(np.abs(end[n : 2 * n]).max(initial=0.0)))
        error = self._norm(self._weighted(X, t.error))
        if t.second_error.size:
            second = self._norm(self._weighted(X, t.second_error))
            both = error * error + 0.01 * second * second
            error = error * error / math.sqrt(both) if both > 0 else 0.0
        return h * error / (SAFETY * self.schedule.tolerance)

    def _weighted(self, X: np.ndarray, weights: np.ndarray) -> np.ndarray:
        n = self.coordinates
        total = np.zeros(2 * n)
        for w, stage in zip(weights, X, strict=False):
            if w != 0:
                total += w * stage[n : 3 * n]
        return total

    def _norm(self, change: np.ndarray) -> float:
        """Of positions and velocities, by their scales."""
        n = self.coordinates
        parts = (self.position_scale, change[:n]), (self.velocity_scale, change[n:])
        return max((float((np.abs(part) / scale).max(initial=0.0)) for scale, part in parts if scale > 0), default=0.0)

    def projections_failed(self, residuals: np.ndarray) -> bool:
        """Whether the end of a step is off the constraints."""
        allowed = OFF * self.schedule.tolerance
        position, velocity = allowed * self.position_scale + 1e-12, allowed * self.velocity_scale + 1e-9
        return not (residuals[0] <= position and residuals[1] <= velocity)

    def amplified(self, X: np.ndarray, residuals: np.ndarray) -> bool:
        """Whether the end of a step shows rounding that a nearly singular position has amplified."""
        n = self.coordinates
        return bool(residuals[1] > ROUNDING * (1e-2 + float(np.abs(X[self.tables.stages, n : 2 * n]).max(initial=0.0))))

    def growth(self, error: float) -> float:
        """How much longer the next step may be: at least a fifth, at most five times."""
        factor = 0.9 * error ** (-1 / self.tables.error_order) if error > 0 else 5.0
        return min(5.0, max(0.2, factor))

    def first_step(self, state: np.ndarray) -> float:
        """From the time in which the state would change by itself."""
        n, duration = self.coordinates, self.schedule.duration
        q, v, a = (float(np.abs(state[k * n : (k + 1) * n]).max(initial=0.0)) for k in range(3))
        self.position_scale, self.velocity_scale = q, v
        times = [duration]
        if v > 0:
            times.append(q / v)
        if a > 0:
            times.append(math.sqrt(q / a))
        if a > 0 and v > 0:
            times.append(v / a)
        time = min(times) * (0.01 * self.schedule.tolerance ** (1 / self.tables.error_order))
        return max(time, 1e-9 * duration)

    def dense_weights(self, θ: float) -> np.ndarray:
        """Weights of all stages at a share of a step."""
        total = np.zeros(len(self.tables.dense))
        for column in self.tables.dense.T[::-1]:
            total = (total + column) * θ
        return total


def added(G: np.ndarray, h: float, weights: np.ndarray) -> Any:
    """h Σ weights_j G_j."""
    total = np.zeros_like(G[0])
    for w, value in zip(weights, G, strict=False):
        if w != 0:
            total += w * value
    return h * total
