"""Steps of explicit Runge–Kutta schemes in Python; explicit.c does the same, operation by
operation.

A state is q, v, a, λ, so its rates (v, a) are part of it, and only the states at the stages are
stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..integrators.runge_kutta import RungeKutta
from .inputs import Inputs
from .scheme_tables import SchemeTables

SAFETY = 0.01
"""Share of the tolerance that is allowed for the error of one step."""
BLUR = 1e-15
"""Relative change of a state whose effect on integrands is the lower bound of their error scales,
over the tolerance.
"""
FORESEEN = 1e-11
"""Share of the foreseen motion that is the lower bound of error scales, over the tolerance, for a
mechanism at rest at the origin: rounding of time makes forces of short pulses uncertain by that
much.
"""
MOST_FORESEEN = 1e-3
"""Upper limit of this share: springs may prevent the foreseen motion."""
SHORTEST = 1e-14
"""Shortest step, as a share of the run: a kink of a derivative may need that."""
BRIDGE = 1e-14
"""Longest step that bridges a jump, as a share of the run: a few floating-point numbers."""
TRIES = 2000
"""Steps, accepted or rejected, between two progress checks of a run that chooses its steps."""
PROGRESS = 1e-8
"""Smallest progress between two checks, as a share of the run: a run of 200 billion steps is not
worth waiting for.
"""
ROUNDING = 1e-12
"""Largest residual of velocities, relative to velocities, where projections are exact."""
UNYIELDING = 1e-8
"""Largest residual of accelerations, relative to accelerations, where constraints do not yield to
forces.
"""
OFF = 10
"""Largest residual after projections, in tolerances."""

Stages = tuple[np.ndarray, np.ndarray, np.ndarray]
"""States at all stages, their derivatives without padding, and integrands."""


RESTING = 1e-6
"""Smallest length scale (m) of a mechanism with contacts or friction that has no length of its own
and begins at the origin: friction may hold it there, and rounding is no motion.
"""


class ExplicitScheme:
    """Combinations of stages, the error of a step and the length of the next one. Each row of
    derivatives has `width` numbers.
    """

    def __init__(
        self,
        scheme: RungeKutta,
        coordinates: int,
        inputs: Inputs,
        sensitivity_floors: np.ndarray,
        objectives: int,
        *,
        may_rest: bool = False,
    ):
        self.may_rest = may_rest
        self.tables = SchemeTables(scheme)
        self.coordinates = coordinates
        self.schedule = inputs.schedule
        self.mixed = inputs.sizes is not None
        self.turn_sizes = np.zeros(coordinates) if inputs.sizes is None else inputs.sizes.turns
        self.turns = self.turn_sizes > 0
        self.kinds = self.turns.astype(int) + (self.turn_sizes > 1)
        """Kind of each coordinate: length (0), angle (1), or a coordinate of which only the rate
        counts (2).
        """
        self.smallest_size = 0.0 if inputs.sizes is None else inputs.sizes.length
        self.sensitivity_floors = sensitivity_floors
        self.position_scale = self.velocity_scale = 0.0
        self.velocity_scales = np.zeros(coordinates)
        self.sensitivity_scales, self.integrand_scales = (
            np.zeros((3, 2, sensitivity_floors.size)),
            np.zeros(objectives),
        )

    def error(self, stages: Stages, h: float) -> float:
        """Return the error of a step over the allowed one. For a mechanism at rest at the origin,
        the step itself sets the scales.
        """
        blind = self.position_scale == 0
        if blind:
            self._scale_motion(stages, self.tables.stages)
        error = self._error_so_far(stages, h)
        if blind and not error <= 1:
            self._reset_scales(0.0, 0.0)
        return error

    def _error_so_far(self, stages: Stages, h: float) -> float:
        """Return the error of a step over the allowed one, with the present scales."""
        error = self._norm(stages, self.tables.error)
        if self.tables.second_error.size:
            second = self._norm(stages, self.tables.second_error)
            both = error * error + 0.01 * second * second
            error = error * error / math.sqrt(both) if both > 0 else 0.0
        return h * error / (SAFETY * self.schedule.tolerance)

    def _norm(self, stages: Stages, weights: np.ndarray) -> float:
        """Return the largest scaled error estimate, by some weights: of positions, velocities,
        their derivatives and integrals.
        """
        n, (X, S, G) = self.coordinates, stages
        count = len(weights)
        state, sensitivity = (
            _weighted(X[:count, n : 3 * n], weights),
            _weighted(S[:count, n : 3 * n], weights),
        )
        ends = np.maximum(np.abs(G[count - 1]), self.integrand_scales) * self.schedule.duration
        parts: list[tuple[np.ndarray, Any]] = [
            (state[:n], np.where(self.turns, self.turn_sizes, self.position_scale)),
            (state[n:], self.velocity_scales if self.mixed else self.velocity_scale),
            (_weighted(G[:count], weights), ends),
        ]
        controlled = self.kinds < 2
        parts += [
            (sensitivity[:n][controlled], self.sensitivity_scales[self.kinds[controlled], 0]),
            (sensitivity[n : 2 * n], self.sensitivity_scales[self.kinds, 1]),
        ]
        largest = 0.0
        for change, scale in parts:
            scales = np.broadcast_to(scale, change.shape)
            ratios = np.abs(change[scales > 0]) / scales[scales > 0]
            largest = float(np.max(ratios, initial=largest))  # NaN persists
        return largest

    def scale(self, stages: Stages) -> None:
        """Raise the scales to the largest values of accepted steps."""
        self._scale_motion(stages, 0)
        np.maximum(self.integrand_scales, np.abs(stages[2][0]), out=self.integrand_scales)

    def _scale_motion(self, stages: Stages, stage: int) -> None:
        n, (X, S, _) = self.coordinates, stages
        x, sensitivity = np.abs(X[stage]), np.abs(S[stage])
        self.position_scale = max(self.position_scale, self.largest(x[:n], turns=False))
        self.velocity_scale = max(self.velocity_scale, float(x[n : 2 * n].max(initial=0.0)))
        np.maximum(self.velocity_scales, x[n : 2 * n], out=self.velocity_scales)
        self._raise_sensitivity_floors()
        for kind in range(3):
            chosen = self.kinds == kind
            for k in range(2):
                scales = self.sensitivity_scales[kind, k]
                np.maximum(
                    scales,
                    sensitivity[k * n : (k + 1) * n][chosen].max(axis=0, initial=0.0),
                    out=scales,
                )

    def _raise_sensitivity_floors(self) -> None:
        """Raise the scales of derivatives to their lower bounds: a change of a parameter by its
        magnitude moves positions by their scale.
        """
        floor = self.position_scale * self.sensitivity_floors
        np.maximum(
            self.sensitivity_scales[0],
            [floor, floor / self.schedule.duration],
            out=self.sensitivity_scales[0],
        )

    def _reset_scales(self, length: float, velocity: float) -> None:
        """Set lower bounds of all scales but those of integrands, for a mechanism of a given length
        and smallest velocity.
        """
        duration = self.schedule.duration
        self.position_scale, self.velocity_scale = length, velocity
        self.velocity_scales[:] = np.where(self.turns, 1 / duration, velocity)
        self.sensitivity_scales[0] = (
            np.zeros_like(self.sensitivity_floors),
            velocity * self.sensitivity_floors,
        )
        self.sensitivity_scales[1:] = self.sensitivity_floors, self.sensitivity_floors / duration
        self._raise_sensitivity_floors()

    def _foreseen(
        self, state: np.ndarray, accelerations_at: Callable[[float], np.ndarray | None]
    ) -> tuple[float, float]:
        """Return lower bounds of length and velocity for a mechanism at the origin.

        The velocity is the one that it would reach if the explicit functions of time acted in its
        initial state; the length is the distance in the time that the largest acceleration needs to
        reach that velocity.
        """
        n, probes = self.coordinates, self.schedule.probes
        fastest, strongest, v = self.largest(state[n : 2 * n], turns=False), 0.0, np.zeros(n)
        foreseen = self._share_foreseen
        length = foreseen * fastest * self.schedule.duration
        for t, dt in np.zeros((0, 2)) if probes is None else probes.reshape(2, -1).T:
            a = accelerations_at(t)
            if a is None:
                continue
            v += dt * a
            fastest, strongest = (
                max(fastest, self.largest(v, turns=False)),
                max(strongest, self.largest(a, turns=False)),
            )
        velocity = foreseen * fastest
        return max(length, velocity * (fastest / strongest)) if strongest > 0 else length, velocity

    def largest(self, x: np.ndarray, *, turns: bool) -> float:
        """Return the largest magnitude among angles (`turns`), or among the other coordinates, or
        among their rates.
        """
        return float(np.abs(x[self.turns == turns]).max(initial=0.0))

    def projections_failed(self, residuals: np.ndarray) -> bool:
        """Return whether the end of a step violates the constraints although it was projected."""
        allowed = OFF * self.schedule.tolerance
        position, velocity = (
            allowed * self.position_scale + 1e-12,
            allowed * self.velocity_scale + 1e-9,
        )
        return not (residuals[0] <= position and residuals[1] <= velocity)

    def amplified(self, X: np.ndarray, residuals: np.ndarray) -> bool:
        """Return whether a nearly singular position has amplified rounding, or constraints yield:
        one pass leaves 1e-12 of the unconstrained accelerations, which are large for light bodies.
        """
        n, end = self.coordinates, np.abs(X[self.tables.stages])
        velocity, acceleration = (float(end[k * n : (k + 1) * n].max(initial=0.0)) for k in (1, 2))
        return bool(
            residuals[1] > ROUNDING * (1e-2 + velocity)
            or residuals[2] > UNYIELDING * (1.0 + acceleration)
        )

    def growth(self, error: float) -> float:
        """Return the growth factor of the next step, between a fifth and five."""
        factor = 0.9 * error ** (-1 / self.tables.error_order) if error > 0 else 5.0
        return min(5.0, max(0.2, factor))

    def _changed(self, state: np.ndarray, length: float, share: float) -> np.ndarray:
        """Return a state changed by a share of the mechanism's size; neighbouring coordinates
        change by different amounts, so that distances change too.
        """
        n, duration = self.coordinates, self.schedule.duration
        q = np.where(self.turns, 1.0, length)
        sizes = np.concatenate([q, q / duration, q / duration / duration, np.abs(state[3 * n :])])
        return np.asarray(state + share * (np.arange(state.size) * 7 % 4 - 1.5) * sizes)

    def _integrand_floors(
        self, state: np.ndarray, length: float, integrands: Callable[..., np.ndarray]
    ) -> np.ndarray:
        """Return the effect of rounding of the state on integrands, over the tolerance: smaller
        errors are noise.
        """
        changed = self._changed(state, length, BLUR / self.schedule.tolerance)
        return np.abs(integrands(changed) - integrands(state))

    @property
    def _share_foreseen(self) -> float:
        """Share of the foreseen motion that is the lower bound of error scales."""
        return min(MOST_FORESEEN, FORESEEN / self.schedule.tolerance)

    def _foreseen_integrands(
        self, state: np.ndarray, length: float, integrands: Callable[..., np.ndarray]
    ) -> np.ndarray:
        """Return lower bounds for the scales of integrands that explicit functions of time raise
        from zero: a share of their values in an approximate state within the run.
        """
        n, largest, probes = (
            self.coordinates,
            np.zeros_like(self.integrand_scales),
            self.schedule.probes,
        )
        changed = self._changed(state, length, 0.7)
        changed[:n] += 0.37 * self.schedule.duration * state[n : 2 * n]
        for t in [] if probes is None else probes[: probes.size // 2]:
            values = np.abs(integrands(changed, t))
            largest = np.maximum(largest, np.where(values <= 1e300, values, 0.0))
        return self._share_foreseen * largest

    def first_step(
        self,
        stages: Stages,
        integrands: Callable[..., np.ndarray],
        accelerations_at: Callable[[float], np.ndarray | None],
    ) -> float:
        """Set the initial scales, and return a first step from the time scale of the initial state.

        The lower bound of a scale corresponds to a change of the quantity by its own magnitude
        within the run, or of a parameter by its magnitude.
        """
        n, duration, state = self.coordinates, self.schedule.duration, stages[0][0]
        length = max(self.largest(state[:n], turns=False), self.smallest_size)
        velocity = length / duration
        if length == 0:
            length, velocity = self._foreseen(state, accelerations_at)
            if self.may_rest:
                length, velocity = max(length, RESTING), max(velocity, RESTING / duration)
        self._reset_scales(length, velocity)
        times = [duration]
        for turns in (False, True):
            q = 1.0 if turns else length
            v, a = (self.largest(state[k * n : (k + 1) * n], turns=turns) for k in (1, 2))
            if v > 0:
                times.append(q / v)
            if a > 0:
                times.append(math.sqrt(q / a))
            if a > 0 and v > 0:
                times.append(v / a)
        self.scale(stages)
        floors = self._integrand_floors(state, length, integrands)
        self.integrand_scales = np.where(
            floors > self.integrand_scales, floors, self.integrand_scales
        )
        np.maximum(
            self.integrand_scales,
            self._foreseen_integrands(state, length, integrands),
            out=self.integrand_scales,
        )
        time = min(times) * (0.01 * self.schedule.tolerance ** (1 / self.tables.error_order))
        return max(time, 1e-9 * duration)

    def dense_weights(self, θ: float) -> np.ndarray:
        """Return the weights of dense output at θ, the share of the step."""
        total = np.zeros(len(self.tables.dense))
        for column in self.tables.dense.T[::-1]:
            total = (total + column) * θ
        return total


def combined(states: np.ndarray, coordinates: int, h: float, weights: np.ndarray) -> np.ndarray:
    """Return (q, v) of the first stage + h Σ weights_j (v, a) of stage j."""
    n = coordinates
    return np.asarray(states[0, : 2 * n] + added(states[:, n : 3 * n], h, weights))


def added(stages: np.ndarray, h: float, weights: np.ndarray) -> Any:
    """Return h Σ weights_j of stage j."""
    return h * _weighted(stages, weights)


def _weighted(stages: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Σ weights_j of stage j, added up in the order of the stages as in explicit.c. Stages of
    weight zero are not read: a last one may not have been computed.
    """
    used = np.flatnonzero(weights[: len(stages)])
    if used.size == 0:
        return np.zeros_like(stages[0])
    terms = weights[used].reshape(-1, *[1] * (stages.ndim - 1)) * stages[used]
    return np.add.accumulate(terms, axis=0)[-1] + 0.0  # a sum that begins with 0 is never −0
