"""Contacts, frictions and stated events along an interpreted run: their values, and when the mode
of one ends within a step. units.c does the same; `events` has the equations.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..core.schedule import Schedule
from .bound import bound
from .events import (
    ACCUMULATED,
    AT_START,
    ATTEMPTS,
    BEGUN,
    BLURRED,
    BLURRED_FORCE,
    CONTACT,
    DIP,
    EDGE,
    ENDING,
    ENTERED,
    EVENT,
    EXTREMUM,
    FRICTION,
    GAP,
    GAP_ACCELERATION,
    GAP_RATE,
    INSTANT,
    JUMPED,
    LIMIT,
    NEARLY,
    NEVER,
    NEVER_FIRES,
    NONE,
    NORMAL,
    OF_VELOCITIES,
    ONSET,
    PROBED,
    ROUNDED,
    SHORTER,
    SLIP,
    SLIP_RATE,
    SLIP_RATES,
    SLIPS,
    SLOW,
    SLOWEST,
    TANGENTIAL,
    THIRDS,
    TOUCH,
    TURNED,
    UNIT_VALUES,
)
from .explicit import SHORTEST
from .program import Program


class Units:
    """Contacts and frictions along a run: their values, modes and events."""

    def __init__(self, program: Program, parameters: np.ndarray, schedule: Schedule):
        functions = program.units
        assert functions is not None
        self.program, self.parameters = program, parameters
        self.rest_tolerance, self.instant = (
            schedule.rest_tolerance,
            INSTANT * schedule.duration,
        )
        self.shortest, self.duration = 2 * SHORTEST * schedule.duration, schedule.duration
        self.count = functions.count
        self.kind = functions.table[:, 0].astype(int)
        self.parent = functions.table[:, 1].astype(int)
        self.first_mode = functions.table[:, 2].astype(int)
        self.direction = functions.table[:, 3].astype(int)
        self.resets = functions.table[:, 4].astype(int)
        self.actions = functions.actions
        self.sides = np.zeros(self.count, dtype=bool)
        """Whether the function of each stated event is negative."""
        self.sizes = np.zeros(self.count)
        """Largest magnitude of this function so far."""
        self.modes = parameters[parameters.size - functions.modes :]
        """All modes: a view of the parameters."""
        self.state, self.time = np.zeros(program.state_size), np.zeros(1)
        arguments = [self.state, parameters, self.time]
        self._values = np.zeros((self.count, UNIT_VALUES))
        self._evaluate = bound(functions.values, arguments, [self._values])
        self.before, self.after = np.zeros((2, self.count, UNIT_VALUES))
        self.length = self.speed = self.force = 0.0
        self.sought, self.attempts = NONE, 0
        self._last_direction: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        """The last direction of each slip that was tried, and the acceleration of the slip."""
        self.unconstrained_acceleration: dict[int, float] = {}
        """Accelerations that slips at their onset would have without friction."""
        self.short = self.long = (0.0, 0.0, 0.0)
        self.sample_rate: Callable[[float, np.ndarray, int], float] = _unknown_rate
        """Rate of a sampled function along the motion."""
        self.gradients: list[np.ndarray] = []
        self._differentiate = None
        if functions.gradient is not None:
            f, rows = functions.gradient, 3 * self.count
            self.gradients = [np.zeros((rows, f.numel_out(k) // rows)) for k in range(4)]
            self._differentiate = bound(f, arguments, self.gradients)

    def at(self, time: float, state: np.ndarray) -> np.ndarray:
        """Evaluate all units at a state."""
        self.time[0], self.state[:] = time, state
        self._evaluate()
        values = self._values.copy()
        for i in np.flatnonzero(self.kind == EXTREMUM):
            values[i, :2] = self.sample_rate(time, state, int(self.parent[i])), math.nan
        return values

    def differentiate(self, time: float, state: np.ndarray) -> None:
        """Evaluate the gradients of the watched functions at a state, as `gradients`: with respect
        to the state, in directions, with respect to parameters, and to time.
        """
        assert self._differentiate is not None
        self.time[0], self.state[:] = time, state
        self._differentiate()

    def mode(self, i: int, which: int) -> float:
        """Return a mode of a unit."""
        return float(self.parameters[self.first_mode[i] + which])

    def set_mode(self, i: int, which: int, value: float) -> None:
        """Set a mode of a unit."""
        self.parameters[self.first_mode[i] + which] = value

    def components(self, i: int) -> int:
        """Return the number of components of a slip."""
        return int(self.direction[i])

    def slip_direction(self, i: int, first: int) -> np.ndarray:
        """Return the mode that is the direction of sliding, a view, from place `first` on."""
        place = self.first_mode[i] + first
        return self.parameters[place : place + self.components(i)]

    @property
    def ending_speed(self) -> float:
        """Speed E at which sliding with several components begins or ends."""
        return max(ONSET * self.rest_tolerance, ENDING) * self.speed

    def moves(self, values: np.ndarray, i: int) -> bool:
        """Return whether a slip is more than rounding."""
        return bool(abs(values[i, SLIP]) > SLOW * self.speed)

    def blend(self, i: int) -> float:
        """Return ε of a slip of several components."""
        return self.mode(i, 2 * self.components(i) + 2)

    def halts(self, i: int) -> bool:
        """Return whether a slip of several components ends."""
        if not self._slides_freely(i):
            return False
        d, ε = self.components(i), self.blend(i)
        along = float(self.slip_direction(i, 1) @ self.before[i, SLIPS : SLIPS + d])
        return bool(2 * along < BEGUN * ε and self.before[i, SLIP] <= NEARLY * ε)

    def turns(self, i: int) -> bool:
        """Return whether the only effect of an event is that a direction of sliding is renewed."""
        return self._slides_freely(i) and not self.halts(i)

    def _slides_freely(self, i: int) -> bool:
        friction = self.kind[i] == FRICTION and self.components(i) > 1
        return bool(friction and not self.mode(i, 0))

    def slide(self, i: int, first: int, direction: np.ndarray) -> None:
        """Let friction slide in a direction, whose modes begin at `first`."""
        d = self.components(i)
        self.slip_direction(i, first)[:] = direction
        if d == 1:
            return
        if first > 1:
            self.set_mode(i, 2 * d + 3, 0.0)
            return
        slow = self.after[i, SLIP] <= 1.5 * ENTERED * self.ending_speed
        self.set_mode(i, 2 * d + 2, self.ending_speed if slow else 0.0)

    def _watched_slip(self, values: np.ndarray, i: int) -> tuple[float, float]:
        """Return a value that is positive as long as friction slides near the direction of its
        mode, and its rate.
        """
        d, m = self.components(i), self.slip_direction(i, 1)
        if not m.any():
            return NEVER, math.nan
        if d == 1:
            return m[0] * values[i, SLIP], m[0] * values[i, SLIP_RATE]
        s, rates = values[i, SLIPS : SLIPS + d], values[i, SLIP_RATES : SLIP_RATES + d]
        along, moves, ε = float(m @ s), float(m @ rates), self.blend(i)
        if ε > 0:
            ahead = BEGUN * ε - along
            return (along, moves) if along <= ahead else (ahead, -moves)
        size, share = float(np.sqrt(s @ s)), TURNED if along >= 0 else -TURNED
        grows = float(s @ rates) / size if size > 0 else 0.0
        left = along - share * size - (1 - TURNED) * ENTERED * self.ending_speed
        return left, moves - share * grows

    def scale(self, length: float, speed: float) -> None:
        """Raise the scales by which contacts are judged."""
        self.length = max(self.length, length)
        self.speed = max(self.speed, speed, SLOWEST)
        self.force = max(self.force, self._largest_normal(self.before))
        np.fmax(self.sizes, np.abs(self.before[:, 0]), out=self.sizes)

    def _largest_normal(self, values: np.ndarray) -> float:
        return float(np.abs(values[self.kind == CONTACT, NORMAL]).max(initial=0.0))

    def watched(self, values: np.ndarray, i: int) -> tuple[float, float]:
        """Return the watched value of a unit, positive as long as its mode holds, and its rate, NaN
        if that depends on multipliers.
        """
        u = values[i]
        if self.kind[i] >= EVENT:
            side = -1.0 if self.sides[i] else 1.0
            return side * u[0], side * u[1]
        if self.kind[i] == CONTACT:
            return (u[NORMAL], math.nan) if self.mode(i, 0) else (u[GAP], u[GAP_RATE])
        if self.mode(i, 0):
            return u[LIMIT] - abs(u[TANGENTIAL]), math.nan
        return self._watched_slip(values, i)

    def _blur(self, values: np.ndarray, i: int) -> float:
        if self.kind[i] >= EVENT:
            return float(BLURRED * self.sizes[i])
        if not self.mode(i, 0):
            return BLURRED * (self.length if self.kind[i] == CONTACT else self.speed)
        force = abs(values[i, NORMAL])
        if self.kind[i] == FRICTION:
            force = max(force, abs(values[i, TANGENTIAL]))
        return BLURRED_FORCE * max(force, self.force)

    def first_event(self, h: float) -> tuple[int, float]:
        """Return the unit whose mode ends first within a step of length h, `NONE`, or `SHORTER` if
        two events may be hidden in the step; and the length of the next attempt, 0 if the step ends
        at the event.
        """
        first, earliest, length = NONE, 2 * h, h
        for i in range(self.count):
            (g, rate), (g_next, rate_next) = (
                self.watched(values, i) for values in (self.before, self.after)
            )
            if g >= NEVER:
                continue
            if g_next < -self._blur(self.after, i):
                time = h * _root(g, h * rate, g_next, h * rate_next)
                if time < earliest:
                    earliest, first = time, i
            elif i != self.sought and (
                g > self._blur(self.before, i) or g_next > self._blur(self.after, i)
            ):
                c, c_next = (h * h * self._second_rate(x, i) for x in (self.before, self.after))
                share = dip(max(g, 0.0), h * rate, c, g_next, h * rate_next, c_next)
                if 0 < share * h < length:
                    length = share * h
        if first < 0 and self.sought >= 0 and self.long[0] >= h:
            first = self.sought  # the attempt was too short, or ended at the event
        if first < 0:
            return (SHORTER if length < h else NONE), length
        if first != self.sought:
            g, rate = self.watched(self.before, first)
            self.sought, self.attempts = first, 0
            self.short, self.long = (0.0, max(g, 0.0), rate), (NEVER, 0.0, 0.0)
        g, rate = self.watched(self.after, first)
        rounding = 0.0 if math.isnan(rate) else ROUNDED * self._blur(self.after, first)
        return first, self._narrowed(h, g, rate, rounding)

    def _second_rate(self, values: np.ndarray, i: int) -> float:
        """Return the second rate of a watched value, which is known for gaps only."""
        is_gap = self.kind[i] == CONTACT and not self.mode(i, 0)
        return float(values[i, GAP_ACCELERATION]) if is_gap else math.nan

    def _narrowed(self, h: float, g: float, rate: float, rounding: float) -> float:
        """Note the result of an attempt; return the length of the next one, or 0 if this one
        suffices.
        """
        if abs(g) <= abs(rate) * self.instant or abs(g) <= rounding:
            return 0.0
        halved = math.isnan(rate)  # otherwise one end of the interval would not move
        if g > 0:
            if halved and self.short[0] > 0:
                self.long = self.long[0], 0.5 * self.long[1], self.long[2]
            self.short = h, g, rate
        else:
            if halved and self.long[0] < NEVER:
                self.short = self.short[0], 0.5 * self.short[1], self.short[2]
            self.long = h, g, rate
        between = self.long[0] - self.short[0]
        self.attempts += 1
        if between <= self.instant or self.attempts > ATTEMPTS:
            return 0.0
        share = _root(self.short[1], between * self.short[2], self.long[1], between * self.long[2])
        return self.short[0] + (share if 0 < share < 1 else 0.5) * between

    def touches(self, values: np.ndarray, i: int, trigger: int) -> bool:
        """Return whether the surfaces of a contact touch; those of `trigger` do."""
        return bool(
            self.kind[i] == CONTACT
            and (i == trigger or self.mode(i, 0) or values[i, GAP] <= TOUCH * self.length)
        )

    def first_sides(self) -> None:
        """Determine the initial sides of zero of stated functions."""
        g, rate = self.before[:, 0], self.before[:, 1]
        self.sides[:] = (self.kind >= EVENT) & ((g < 0) | ((g == 0) & (rate < 0)))

    def renew_sides(self, trigger: int, *, jumps: bool) -> None:
        """Update the sides of zero of stated functions after an event. The side of `trigger` is its
        sign, or, at zero, the sign of its rate, which a reset may have reversed. Sides of events
        that never fire are updated if the state `jumps`; all others have their own event then.
        """
        for i in np.flatnonzero(self.kind >= EVENT).tolist():
            value, rate = self.before[i, 0], self.before[i, 1]
            if math.isnan(value) or (i != trigger and not jumps):
                continue
            quiet = self.kind[i] == EXTREMUM or self.direction[i] == NEVER_FIRES
            if quiet and i == trigger:
                self.sides[i] = not self.sides[i]
            elif abs(value) > JUMPED * self.sizes[i] and (quiet or i == trigger):
                self.sides[i] = value < 0
            elif i == trigger:
                self.sides[i] = not self.sides[i] if math.isnan(rate) or rate == 0 else rate < 0

    def accumulates(self, i: int, rate: float) -> bool:
        """Return whether resets of velocities have become so slow that they would never end."""
        return bool(self.resets[i] == OF_VELOCITIES and abs(rate) <= ACCUMULATED * self.speed)

    def fires(self, i: int) -> bool:
        """Return whether anything happens at an event."""
        if self.kind[i] < EVENT:
            friction = self.kind[i] == FRICTION
            return not self.turns(i) if friction else not self.mode(i, 0)
        direction = self.direction[i]
        if self.kind[i] == EXTREMUM or direction == NEVER_FIRES:
            return False
        return bool(direction == 0 or (direction < 0) == (not self.sides[i]))

    def act(self, i: int) -> bool:
        """Set the modes of a stated event; return whether it ends the run."""
        stopped = False
        for unit, place, value in self.actions:
            if unit == i and place >= 0:
                self.parameters[int(place)] = value
            stopped |= unit == i and place < 0
        return bool(stopped)

    def function_of(self, i: int) -> int:
        """Return the number of the watched function of a unit: gap or slip; normal force, or limit
        − T; limit + T.
        """
        if self.kind[i] >= EVENT or not self.mode(i, 0):
            return 3 * i
        return 3 * i + (2 if self.kind[i] == FRICTION and self.before[i, TANGENTIAL] < 0 else 1)

    def first_impacts(self) -> bool:
        """Return whether surfaces that touch at the start of a run approach each other, or an event
        resets something there.
        """
        return any(
            self.touches(self.before, i, NONE) and self.before[i, GAP_RATE] < -SLOW * self.speed
            for i in range(self.count)
        ) or any(map(self.resets_at_start, range(self.count)))

    def resets_at_start(self, i: int) -> bool:
        """Return whether a stated event resets something at the start of a run."""
        return bool(self.kind[i] == EVENT and self.resets[i] == AT_START and self.before[i, 0] <= 0)


def _unknown_rate(time: float, state: np.ndarray, sample: int) -> float:
    raise AssertionError("extrema are sought by a run")


def _root(g0: float, d0: float, g1: float, d1: float) -> float:
    """Return the share of an interval at which a value vanishes that is positive at its beginning
    and negative at its end; by a cubic if rates are known.
    """
    g0 = max(g0, 0.0)
    if math.isnan(d0) or math.isnan(d1):
        return g0 / (g0 - g1)
    low, high = 0.0, 1.0
    for _ in range(60):
        x = (low + high) / 2
        if _cubic(x, g0, d0, g1, d1) > 0:
            low = x
        else:
            high = x
    return high


def dip(g0: float, d0: float, c0: float, g1: float, d1: float, c1: float) -> float:
    """Return the share of a step at which a value that is positive at both ends may be negative:
    where it is lowest; 0 if it stays positive.
    """
    if math.isnan(d0) or math.isnan(d1) or (d0 >= 0 and d1 <= 0 and not c0 + c1 > 0):
        return 0.0

    def value(x: float) -> float:
        return _interpolated(x, g0, d0, c0, g1, d1, c1)

    least, share = min(g0, g1), 0.0 if g0 < g1 else 1.0
    if _lower_bound(g0, d0, c0, g1, d1, c1) >= DIP * least:
        return 0.0  # as in most steps, it is not low anywhere
    lowest = least
    for k in range(1, PROBED):
        if (probed := value(k / PROBED)) < lowest:
            lowest, share = probed, k / PROBED
    low, high = max(share - 1 / PROBED, 0.0), min(share + 1 / PROBED, 1.0)
    for _ in range(THIRDS):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        if value(a) < value(b):
            high = b
        else:
            low = a
    share = (low + high) / 2
    inside = EDGE < share < 1 - EDGE and value(share) < DIP * least
    return share if inside else 0.0


def _lower_bound(g0: float, d0: float, c0: float, g1: float, d1: float, c1: float) -> float:
    """Return the least of Bernstein's coefficients of `_interpolated`, a lower bound of its values."""
    if math.isnan(c0) or math.isnan(c1):
        return min(g0, g1, g0 + d0 / 3, g1 - d1 / 3)
    inner = (g0 + 0.4 * d0 + c0 / 20, g1 - 0.4 * d1 + c1 / 20)
    return min(g0, g1, g0 + d0 / 5, g1 - d1 / 5, *inner)


def _interpolated(
    x: float, g0: float, d0: float, c0: float, g1: float, d1: float, c1: float
) -> float:
    """Interpolate at a share of an interval, from values g, changes d and second differences c at
    both ends, by a polynomial of degree five, or of degree three if the second differences are not
    known.
    """
    if math.isnan(c0) or math.isnan(c1):
        return _cubic(x, g0, d0, g1, d1)
    y = 1 - x
    first = g0 * (1 + 3 * x + 6 * x * x) + d0 * x * (1 + 3 * x) + c0 * x * x / 2
    second = g1 * (1 + 3 * y + 6 * y * y) - d1 * y * (1 + 3 * y) + c1 * y * y / 2
    return y * y * y * first + x * x * x * second


def _cubic(x: float, g0: float, d0: float, g1: float, d1: float) -> float:
    """Interpolate from values and changes alone."""
    y = 1 - x
    return y * y * (g0 * (1 + 2 * x) + d0 * x) + x * x * (g1 * (1 + 2 * y) - d1 * y)
