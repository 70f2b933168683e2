"""Jumps of forces and integrands in the interpreted loop; switching.c does the same, operation by
operation, and sensitivity/switching.py has the equations.

A step within which a switching function changes sides is not accepted. Cubic interpolation of the
function, whose values and rates are known at both ends, locates the change; steps are shortened
until one of the length of rounding passes the jump, so that both its sides are ends of steps.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.schedule import Schedule
from .bound import bound
from .program import Program
from .units import dip

ACROSS = 5e-14
"""Length of the step across a jump, as a share of the run: a few hundred floating-point numbers."""
GIVEN = 1e-11
"""Longest step across a jump, as a share of the run, if steps are given: they may come from a
longer run, of which this one is a part, and are then longer shares of it. Far below any step that
an error estimate would choose.
"""
JUMP = 1e-9
"""Relative change of accelerations or integrands across such a step that is a jump: far above
rounding, far below any jump that matters.
"""
TOGETHER = 1e-9
"""Largest relative difference of the derivatives of the times of two switches that change together:
beyond, they do not move together.
"""
NEARER = 0.75
"""Share of a given step that is tried if a stage lies beyond a jump, and the end does not. The rest of
the step is a quarter as long, so its stages pass its end by a sixteenth as much, or less.
"""
PATIENCE = 8
"""Attempts in a row to end a step before a change of sides, after which the next length is at most
half of the last. Interpolation takes two to five attempts if the step resolves the motion. If it does
not, as where a contact lasts a hundredth of the step, the state at its end is meaningless and roots
approach the change by less than a thousandth of the step at a time.
"""
IMMINENT = 1e3
"""Steps across a jump within which a function has to reach zero at its present rate for such a step to
be taken: far more than rounding of its value needs, far fewer than until a change that only a step
without meaning suggests.
"""
SHORT = 1e-5
"""Longest short step of an implicit integrator, as a share of a given step, which uses the
accelerations at its beginning: rounding of positions over the square of a shorter length would be
an acceleration, and the error, 1e-10 of that of a whole step, is far below that of the scheme.
"""


class Switches:
    """Switching functions along a run, and their gradients."""

    def __init__(self, program: Program, parameters: np.ndarray, schedule: Schedule):
        switching = program.switching
        assert switching is not None
        self._across = ACROSS * schedule.duration
        self._longest_across = (
            1.5 * self._across if schedule.tolerance else GIVEN * schedule.duration
        )
        self.count, self.of_forces = switching.count, switching.of_forces
        self.state, self.time = np.zeros(switching.values.numel_in(0)), np.zeros(1)
        self._result = np.zeros((3, self.count))
        arguments = [self.state, parameters, self.time]
        self._evaluate = bound(switching.values, arguments, [self._result])
        self.before, self.after = np.zeros((3, self.count)), np.zeros((3, self.count))
        self.gradients: list[np.ndarray] = []
        self._differentiate = None
        if switching.gradient is not None:
            f = switching.gradient
            self.gradients = [
                np.zeros((self.count, f.numel_out(k) // self.count)) for k in range(3)
            ]
            self._differentiate = bound(f, arguments, self.gradients)

    def at(self, time: float, state: np.ndarray) -> np.ndarray:
        """Evaluate sides, values and rates at a state."""
        self.time[0], self.state[:] = time, state[: self.state.size]
        self._evaluate()
        return self._result.copy()

    def differentiate(self, time: float, state: np.ndarray) -> None:
        """Evaluate the gradients at a state, as `gradients`."""
        assert self._differentiate is not None
        self.time[0], self.state[:] = time, state[: self.state.size]
        self._differentiate()

    @property
    def changed(self) -> np.ndarray:
        """Switches that have changed sides during the step. Kinks are at ±2, or at 0, which is
        both.
        """
        before, after = self.before[0], self.after[0]
        return np.flatnonzero((before != after) & (np.abs(before + after) != 2))

    @property
    def moving(self) -> np.ndarray:
        """The changed switches whose functions move: one that was zero until now, and is not any
        more, has no time of its own.
        """
        changed = self.changed
        return changed[(self.before[1, changed] != 0) | (self.before[2, changed] != 0)]

    def changes_at(self, time: float, state: np.ndarray) -> bool:
        """Return whether a state within the step is on another side of a switch."""
        return bool((self.before[0] != self.at(time, state)[0]).any())

    def hidden(self, h: float) -> float:
        """Return the share of a given step at which a function may have another sign than at both
        ends; 0 if none may.
        """
        (_, g, rate), (_, g_next, rate_next) = self.before, self.after
        shares = [
            dip(
                abs(g[i]), σ * h * rate[i], math.nan, abs(g_next[i]), σ * h * rate_next[i], math.nan
            )
            for i in np.flatnonzero(g * g_next > 0)
            for σ in [math.copysign(1.0, g[i])]
        ]
        return min((share for share in shares if share > 0), default=0.0)

    def is_across(self, h: float) -> bool:
        """Return whether a step is as short as one across a jump; rounding of time makes it a
        little longer or shorter.
        """
        return h <= self._longest_across

    def approach(self, h: float) -> float:
        """Return the length of a step that ends just before the first change of sides within a step
        of length h, or of the step across it.
        """
        distance = h
        if not self.changed.size:  # a stage may have changed sides, and the end not
            return (self.hidden(h) or NEARER) * h
        for i in self.changed:
            (_, g, rate), (_, g_next, rate_next) = self.before[:, i], self.after[:, i]
            share = 0.5  # sides of periodic functions may change twice
            if g == 0 and rate != 0:
                share = 0.0
            elif g != 0 and g * g_next <= 0:
                share = _cubic_root(g, h * rate, g_next, h * rate_next)
                at_once = share * h <= 2 * self._across
                imminent = g * rate <= 0 and abs(g) <= IMMINENT * self._across * abs(rate)
                if at_once and not imminent:
                    share = 0.5
            distance = min(distance, share * h)
        return distance - 0.5 * self._across if distance > 0.75 * self._across else self._across

    def shifts(self, S: np.ndarray) -> np.ndarray:
        """Return derivatives of the time of a jump in all directions, at the beginning of the step
        across it, where the state has derivatives S; NaN if switches change together that do not
        move together.
        """
        x = S[: self.gradients[0].shape[1]]
        every = [
            -_row_times(self.gradients[1][i], self.gradients[0][i], x) / self.before[2, i]
            for i in self.moving
        ]
        if not every:
            return np.full(S.shape[1], math.nan)
        first = every[0]
        for other in every[1:]:
            apart = ~(np.abs(other - first) <= TOGETHER * (np.abs(first) + np.abs(other)))
            first = np.where(apart, math.nan, first)
        return first


def is_short(program: Program, h: float, schedule: Schedule) -> bool:
    """Return whether a step of an implicit integrator is too short for it: rounding of positions
    over the square of its length would be an acceleration. Such a step uses the rates at its
    beginning.
    """
    implicit = program.scheme is None and program.rates is not None
    return implicit and h <= short_step(schedule)


def short_step(schedule: Schedule) -> float:
    """Return the length of a step up to which it is short."""
    return SHORT * schedule.duration / schedule.steps if schedule.steps else 0.0


def ahead(X: np.ndarray, n: int, h: float) -> np.ndarray:
    """Return (q + h v + h²/2 a, v + h a) of a state."""
    q, v, a = X[:n], X[n : 2 * n], X[2 * n : 3 * n]
    return np.concatenate([q + h * (v + h / 2 * a), v + h * a])


def jumps(a: np.ndarray, b: np.ndarray, scale: float) -> bool:
    """Return whether accelerations jump across such a step, and not only their derivatives; `scale`
    is one of accelerations.
    """
    size = JUMP * (np.abs(a).max(initial=0.0) + np.abs(b).max(initial=0.0) + scale)
    return bool((np.abs(a - b) > size).any())


def integrands_jump(g: np.ndarray, g_next: np.ndarray, scales: np.ndarray) -> bool:
    """Return whether integrands jump across such a step."""
    return bool((np.abs(g - g_next) > JUMP * (np.abs(g) + np.abs(g_next) + scales)).any())


def _row_times(start: np.ndarray, row: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return start + Σ row_j columns_j, added in order."""
    total = start.copy()
    for factor, column in zip(row, columns, strict=True):
        total += factor * column
    return total


def _cubic_root(g0: float, d0: float, g1: float, d1: float) -> float:
    """Return the root of the cubic with values g and changes d at both ends of an interval, as a
    share of it.
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        x = (low + high) / 2
        y = 1 - x
        value = y * y * (g0 * (1 + 2 * x) + d0 * x) + x * x * (g1 * (1 + 2 * y) - d1 * y)
        if (value > 0) == (g0 > 0):
            low = x
        else:
            high = x
    return low
