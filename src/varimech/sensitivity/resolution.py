"""Whether time steps resolve functions of time, and which steps would.

The integrals ∫ g dt and ∫ g² dt over a step, from samples far finer than the steps, are compared
with  h Σ b_i g(t + c_i h)  and  h Σ b_i g(t + c_i h)²,  the quadrature by which the stages of a
scheme (nodes c_i, weights b_i) sample g. A pulse between two stages changes both. A vibration whose
period divides the step may leave the first unchanged, but never both: g² has another mean.

Samples are equidistant, with clusters around given times, where spacing grows in proportion to the
distance: a feature there is resolved whatever its width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Evaluate = Callable[[np.ndarray], np.ndarray]
"""Times → values, (time, function)."""
NOTICED = 0.02
"""Relative discrepancy of an integral over a step that counts as unresolved: clusters of samples
integrate a bell curve to 0.3 %.
"""
JUDGED = 8
"""Samples in a step from which on their integral can be compared with that of the stages."""
SHORTEST = 1e-13
"""Share of the duration below which no step is halved: refinement at a jump ends there."""
MOST = 200_000
"""Number of steps beyond which functions count as unresolvable."""
CLUSTER = 1.2 ** -np.arange(150.0)
"""Distances of clustered samples, in units of the equidistant spacing: down to 1e-12 of it."""


@dataclass(frozen=True)
class Stages:
    """Quadrature rule of a step."""

    nodes: tuple[float, ...]
    weights: tuple[float, ...]


ENDS = Stages((0.0, 1.0), (0.5, 0.5))
"""Quadrature of a scheme that evaluates forces at the ends of its steps."""


@dataclass(frozen=True, eq=False)
class SampledFunctions:
    """Functions of time with their integrals over samples."""

    evaluate: Evaluate
    times: np.ndarray
    integrals: np.ndarray
    """(time, 3, function): integrals of g, g² and |g| from 0 to each time."""

    @classmethod
    def sampled(
        cls, evaluate: Evaluate, duration: float, count: int, about: np.ndarray
    ) -> SampledFunctions:
        """Sample functions at `count` equal intervals from 0 to the duration, and in clusters
        around the times `about`.
        """
        even = np.linspace(0.0, duration, count + 1)
        near = about[:, None] + np.concatenate([-CLUSTER, [0.0], CLUSTER[::-1]]) * even[1]
        times = np.unique(np.concatenate([even, near[(near > 0) & (near < duration)]]))
        values = evaluate(times)
        stacked = np.stack([values, values**2, np.abs(values)], axis=1)
        pieces = 0.5 * (stacked[1:] + stacked[:-1]) * np.diff(times)[:, None, None]
        return cls(
            evaluate,
            times,
            np.concatenate([np.zeros((1, *stacked.shape[1:])), np.cumsum(pieces, axis=0)]),
        )

    def missed(self, begin: np.ndarray, end: np.ndarray, stages: Stages) -> np.ndarray:
        """Compute the relative discrepancy between the quadrature of the stages and the integral of
        the samples: (step, function).
        """
        before, after = self._up_to(begin), self._up_to(end)
        off = np.abs(after - before - self._seen(begin, end, stages))[:, :2] / self._scale(
            before, after, end - begin
        )
        enough = np.searchsorted(self.times, end) - np.searchsorted(self.times, begin) >= JUDGED
        return np.where(enough[:, None], off.max(axis=1), 0.0)

    def resolved(
        self, ends: np.ndarray, stages: Stages, accuracy: float | None
    ) -> np.ndarray | None:
        """Halve steps until the stages resolve the samples and, if an accuracy is given, until
        halving changes no integral by more.

        Returns:
            Ends of the steps; None where there would be too many.
        """
        begin, end, done, count = ends[:-1], ends[1:], [ends[-1:]], 0
        while begin.size:
            rough = (self.missed(begin, end, stages) > NOTICED).any(axis=1)
            if accuracy is not None:
                rough |= (self._changed(begin, end, stages) > accuracy).any(axis=1)
            rough &= end - begin > SHORTEST * ends[-1]
            done.append(begin[~rough])
            count += begin.size + int(rough.sum())
            if count > MOST:
                return None
            middle = 0.5 * (begin[rough] + end[rough])
            begin, end = (
                np.concatenate([begin[rough], middle]),
                np.concatenate([middle, end[rough]]),
            )
        return np.unique(np.concatenate(done))

    def _changed(self, begin: np.ndarray, end: np.ndarray, stages: Stages) -> np.ndarray:
        """Compute the relative change of the quadrature when each step is halved: (step, function)."""
        middle = 0.5 * (begin + end)
        halves = self._seen(begin, middle, stages) + self._seen(middle, end, stages)
        scale = self._scale(self._up_to(begin), self._up_to(end), end - begin)
        return (np.abs(halves - self._seen(begin, end, stages))[:, :2] / scale).max(axis=1)

    def _seen(self, begin: np.ndarray, end: np.ndarray, stages: Stages) -> np.ndarray:
        """Compute the quadrature of g, g² and |g| by the stages in each step: (step, 3, function)."""
        length, b = end - begin, np.array(stages.weights)
        values = self.evaluate((begin[:, None] + length[:, None] * np.array(stages.nodes)).ravel())
        values = values.reshape(begin.size, b.size, -1)
        return (
            np.stack(
                [np.einsum("i,nif->nf", b, x) for x in (values, values**2, np.abs(values))], axis=1
            )
            * length[:, None, None]
        )

    def _up_to(self, times: np.ndarray) -> np.ndarray:
        """Return integrals from 0 to the given times: (time, 3, function)."""
        k = np.clip(np.searchsorted(self.times, times) - 1, 0, self.times.size - 2)
        share = ((times - self.times[k]) / (self.times[k + 1] - self.times[k]))[:, None, None]
        return self.integrals[k] + share * (self.integrals[k + 1] - self.integrals[k])

    def _scale(self, before: np.ndarray, after: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Return the reference values for discrepancies of ∫ g and ∫ g²: ∫ |g| and ∫ g² over the
        step, or their means if these are larger.
        """
        mean = self.integrals[-1][None] * (length / self.times[-1])[:, None, None]
        own = np.maximum(after - before, mean)[:, [2, 1]]
        return np.where(own > 0, own, 1.0)
