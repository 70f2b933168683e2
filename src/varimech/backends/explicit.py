"""Steps of explicit Runge–Kutta schemes in Python; explicit.c does the same, operation by
operation.

A state is q, v, a, λ, so its rates (v, a) are part of it, and the states at all stages are all
there is to keep.
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
"""Over the tolerance, the relative change of a state by which integrands are measured at least."""
FORESEEN = 1e-11
"""Over the tolerance, the share of the motion foreseen by which a mechanism at rest at the origin
is measured: rounding of time makes forces of short pulses uncertain by that much.
"""
MOST_FORESEEN = 1e-3
"""No more than that: springs may hold back what is foreseen."""
SHORTEST = 1e-14
"""Share of a run that a step takes at least: a kink of a derivative may need that."""
BRIDGE = 1e-14
"""Share of a run that lies between both sides of a jump at most: a few floating-point numbers."""
TRIES = 2000
"""Steps, taken or rejected, between two looks at the progress of a run that chooses its steps."""
PROGRESS = 1e-8
"""Share of a run that so many have to bring: 200 billion steps for all of it are no run to wait
for.
"""
ROUNDING = 1e-12
"""Largest residual of velocities over velocities where projections are exact."""
UNYIELDING = 1e-8
"""Largest residual of accelerations over accelerations where constraints do not give
way to forces.
"""
OFF = 10
"""Shares of the tolerance by which projections may fail."""

Stages = tuple[np.ndarray, np.ndarray, np.ndarray]
"""States at all stages, their derivatives without what fills rows up, and integrands."""


RESTING = 1e-6
"""Length (m) by which a mechanism with contacts or friction is measured at least if it has no length of
its own and begins at the origin: friction may hold it there, and rounding is no motion.
"""


class ExplicitScheme:
    """Combinations of stages, the error of a step and the next one's length. `width` numbers belong
    to each row of derivatives.
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
        """Lengths, angles, and coordinates of which only the rate counts."""
        self.smallest_size = 0.0 if inputs.sizes is None else inputs.sizes.length
        self.sensitivity_floors = sensitivity_floors
        self.position_scale = self.velocity_scale = 0.0
        self.velocity_scales = np.zeros(coordinates)
        self.sensitivity_scales, self.integrand_scales = (
            np.zeros((3, 2, sensitivity_floors.size)),
            np.zeros(objectives),
        )

    def error(self, stages: Stages, h: float) -> float:
        """The error of a step over the one allowed. A mechanism at rest at the origin is measured
        by the step itself.
        """
        blind = self.position_scale == 0
        if blind:
            self._scale_motion(stages, self.tables.stages)
        error = self._error_so_far(stages, h)
        if blind and not error <= 1:
            self._reset_scales(0.0, 0.0)
        return error

    def _error_so_far(self, stages: Stages, h: float) -> float:
        """By the scales so far."""
        error = self._norm(stages, self.tables.error)
        if self.tables.second_error.size:
            second = self._norm(stages, self.tables.second_error)
            both = error * error + 0.01 * second * second
            error = error * error / math.sqrt(both) if both > 0 else 0.0
        return h * error / (SAFETY * self.schedule.tolerance)

    def _norm(self, stages: Stages, weights: np.ndarray) -> float:
        """The largest of the errors by some weights: of positions, velocities, their derivatives
        and of integrals, each by its scale.
        """
        n, (X, S, G) = self.coordinates, stages
        count = len(weights)
        state, slope = (
            _weighted(X[:count, n : 3 * n], weights),
            _weighted(S[:count, n : 3 * n], weights),
        )
        ends = np.maximum(np.abs(G[count - 1]), self.integrand_scales) * self.schedule.duration
        parts: list[tuple[np.ndarray, Any]] = [
            (state[:n], np.where(self.turns, self.turn_sizes, self.position_scale)),
            (state[n:], self.velocity_scales if self.mixed else self.velocity_scale),
            (_weighted(G[:count], weights), ends),
        ]
        looked_at = self.kinds < 2
        parts += [
            (slope[:n][looked_at], self.sensitivity_scales[self.kinds[looked_at], 0]),
            (slope[n : 2 * n], self.sensitivity_scales[self.kinds, 1]),
        ]
        largest = 0.0
        for change, scale in parts:
            scales = np.broadcast_to(scale, change.shape)
            ratios = np.abs(change[scales > 0]) / scales[scales > 0]
            largest = float(np.max(ratios, initial=largest))  # not a number stays so
        return largest

    def scale(self, stages: Stages) -> None:
        """Scales follow the largest values of accepted steps."""
        self._scale_motion(stages, 0)
        np.maximum(self.integrand_scales, np.abs(stages[2][0]), out=self.integrand_scales)

    def _scale_motion(self, stages: Stages, stage: int) -> None:
        n, (X, S, _) = self.coordinates, stages
        x, slope = np.abs(X[stage]), np.abs(S[stage])
        self.position_scale = max(self.position_scale, self.largest(x[:n], turns=False))
        self.velocity_scale = max(self.velocity_scale, float(x[n : 2 * n].max(initial=0.0)))
        np.maximum(self.velocity_scales, x[n : 2 * n], out=self.velocity_scales)
        self._raise_sensitivity_floors()
        for kind in range(3):
            chosen = self.kinds == kind
            for k in range(2):
                scales = self.sensitivity_scales[kind, k]
                np.maximum(
                    scales, slope[k * n : (k + 1) * n][chosen].max(axis=0, initial=0.0), out=scales
                )

    def _raise_sensitivity_floors(self) -> None:
        """Derivatives are measured by no less than what would take a parameter through its size, by
        the positions so far.
        """
        floor = self.position_scale * self.sensitivity_floors
        np.maximum(
            self.sensitivity_scales[0],
            [floor, floor / self.schedule.duration],
            out=self.sensitivity_scales[0],
        )

    def _reset_scales(self, length: float, velocity: float) -> None:
        """Floors of all scales but those of integrands, for a mechanism of some length that moves
        with some velocity at least.
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
        """Floors for a mechanism at the origin. How fast it would go if it felt at its start what
        explicit functions of time bring later; and how far in the time that the largest
        acceleration takes to bring that velocity about.
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
        """The largest of coordinates, or of rates of them, that turn, or that do not."""
        return float(np.abs(x[self.turns == turns]).max(initial=0.0))

    def projections_failed(self, residuals: np.ndarray) -> bool:
        """Whether the end of a step is off the constraints."""
        allowed = OFF * self.schedule.tolerance
        position, velocity = (
            allowed * self.position_scale + 1e-12,
            allowed * self.velocity_scale + 1e-9,
        )
        return not (residuals[0] <= position and residuals[1] <= velocity)

    def amplified(self, X: np.ndarray, residuals: np.ndarray) -> bool:
        """Whether the end of a step shows rounding that a nearly singular position has amplified,
        or constraints that give way: one pass leaves 1e-12 of the accelerations that there were
        without them, which light bodies have in plenty.
        """
        n, end = self.coordinates, np.abs(X[self.tables.stages])
        velocity, acceleration = (float(end[k * n : (k + 1) * n].max(initial=0.0)) for k in (1, 2))
        return bool(
            residuals[1] > ROUNDING * (1e-2 + velocity)
            or residuals[2] > UNYIELDING * (1.0 + acceleration)
        )

    def growth(self, error: float) -> float:
        """How much longer the next step may be: at least a fifth, at most five times."""
        factor = 0.9 * error ** (-1 / self.tables.error_order) if error > 0 else 5.0
        return min(5.0, max(0.2, factor))

    def _changed(self, state: np.ndarray, length: float, share: float) -> np.ndarray:
        """A state changed by a share of the mechanism's size; neighbouring coordinates by different
        amounts, so that distances change too.
        """
        n, duration = self.coordinates, self.schedule.duration
        q = np.where(self.turns, 1.0, length)
        sizes = np.concatenate([q, q / duration, q / duration / duration, np.abs(state[3 * n :])])
        return np.asarray(state + share * (np.arange(state.size) * 7 % 4 - 1.5) * sizes)

    def _integrand_floors(
        self, state: np.ndarray, length: float, integrands: Callable[..., np.ndarray]
    ) -> np.ndarray:
        """What rounding of the state, over the tolerance, makes of integrands: errors below cannot
        be told from noise.
        """
        changed = self._changed(state, length, BLUR / self.schedule.tolerance)
        return np.abs(integrands(changed) - integrands(state))

    @property
    def _share_foreseen(self) -> float:
        """Share of what is foreseen that errors are measured by at least."""
        return min(MOST_FORESEEN, FORESEEN / self.schedule.tolerance)

    def _foreseen_integrands(
        self, state: np.ndarray, length: float, integrands: Callable[..., np.ndarray]
    ) -> np.ndarray:
        """An integrand that explicit functions of time let begin from nothing is measured by no
        less than a share of what it comes to, in a state on the way through the run, roughly.
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
        """Scales at the start, and a first step from the time in which the state would change by
        itself.

        Nothing is measured by less than what would take it through its own size within the run, or
        a parameter through its.
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
        """Weights of all stages at a share of a step."""
        total = np.zeros(len(self.tables.dense))
        for column in self.tables.dense.T[::-1]:
            total = (total + column) * θ
        return total


def combined(states: np.ndarray, coordinates: int, h: float, weights: np.ndarray) -> np.ndarray:
    """(q, v) of the first stage + h Σ weights_j (v, a) of stage j."""
    n = coordinates
    return np.asarray(states[0, : 2 * n] + added(states[:, n : 3 * n], h, weights))


def added(stages: np.ndarray, h: float, weights: np.ndarray) -> Any:
    """h Σ weights_j of stage j."""
    return h * _weighted(stages, weights)


def _weighted(stages: np.ndarray, weights: np.ndarray) -> np.ndarray:
    total = np.zeros_like(stages[0])
    for w, stage in zip(weights, stages, strict=False):
        if w != 0:
            total += w * stage
    return total
