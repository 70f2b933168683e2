"""Events of contacts and dry friction in the interpreted loop; events.c does the same.

A unit is a contact or the friction of one (`model/contact_law`). A function of the state is positive
as long as its mode holds:

    contact    open: g;   closed: N         friction    sliding: σ s;   sticking: μ₀ N − |T|

A step within which one of them falls below zero is shortened until it ends there, by cubic
interpolation where the rate is known (g, s), else by bracketing. Steps do not look beyond their
modes, so all pieces of a motion are smooth.

**Impact.** Of all contacts that touch, those take part whose impulse is not negative, and which would
close otherwise: 0 ≤ Λ ⊥ ġ⁺ + ε ġ⁻ ≥ 0, a linear complementarity problem. It is solved by changing the
first unit that is inconsistent until none is (K. G. Murty, Opsearch 11 (1974) 118–135: this ends for
every P-matrix). Friction sticks in an impact unless its impulse exceeds μ₀ Λ; it slides then. Impacts
slower than the tolerance times the largest speed, or followed by a flight lower than rounding, have
no restitution, so that impacts which accumulate end in contact.

**Modes after an event** follow from velocities (surfaces that part, friction that slides), then from
accelerations by the same scheme: 0 ≤ N ⊥ g̈ ≥ 0, |T| ≤ μ₀ N.

**Stated events** have a function that changes its sign; its side is kept beside the modes. Extrema of
objectives are events at which the rate of a function vanishes and nothing happens.

**Derivatives.** An event at t* maps the state x⁻ to x⁺ = R(x⁻, t, ρ). With w the function that
vanishes there, f = (v, a) the rates before and after it, and S = ∂x/∂ρ at fixed time,

    t*' = −(w_x S⁻ + w_ρ) / ẇ,     S⁺ = R_x (S⁻ + f⁻ t*') + R_ρ + R_t t*' − f⁺ t*',
    ψ' ← ψ' + (g⁻ − g⁺) t*'

(saltation; R. I. Leine and H. Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems,
Springer 2004, chapter 7). R is the chain of an impact, or the identity; it is differentiated as every
chain. w may depend on accelerations and multipliers: their rates are derivatives of the same chain
along (v, a) and time. The adjoint is the transpose of these lines.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..core.schedule import Schedule
from .bound import bound
from .chain_calls import ChainCalls, Trouble
from .explicit import SHORTEST
from .failures import NOT_FINITE, UNSETTLED
from .program import Program

TOUCH = 1e-11
"""Gap, over the size of the mechanism, below which surfaces touch: a thousand roundings."""
SLOW = 1e-11
"""Speed, over the largest one so far, below which surfaces neither part nor slide."""
BLURRED = 1e-14
"""The same for values below zero that are only rounding."""
BLURRED_FORCE = 1e-10
"""The same for forces, over the largest one: multipliers are less exact than positions."""
LOWEST = 1e-13
"""Height of a flight between two impacts, over the size of the mechanism, that rounding of
positions does not hide: some hundred floating-point numbers.
"""
OVERLAPS = 1e-9
"""Gap, over the size of the mechanism, below which shapes overlap at the start: ten times as exact
as an assembly is asked to be.
"""
DIP = 0.1
"""A minimum of a watched function within a step is looked at if it is below this share of the
values at its ends: interpolation over a step is far more exact than that.
"""
INSTANT = 1e-15
"""Share of the run to which events are located: a few floating-point numbers."""
NEVER = 1e300
"""Value of a function that is not watched."""
NUDGE = 5e-8
"""Share of the run by which a state is moved to find the rate of a function that depends on
accelerations: between rounding and curvature, for motions that change within a hundredth of the run.
"""
ATTEMPTS = 60
"""Steps to locate one event at most; bisection to rounding would take so many."""
REVISIONS = 20
"""Changes of modes for each unit until an event is settled, and events at one instant, at most."""
CONSISTENT = 1e-9
"""Relative error of forces and accelerations by which modes are judged."""
NONE, SHORTER = -1, -2
CONTACT, FRICTION, EVENT, EXTREMUM = range(4)
NEVER_FIRES = 2
"""Direction of an event that only ends steps."""
GAP, GAP_RATE, GAP_ACCELERATION, NORMAL, RESTITUTION = range(5)
SLIP, SLIP_RATE, TANGENTIAL, LIMIT = range(4)


class EventFailure(Trouble):
    """Modes that do not settle, or shapes that overlap, with the unit that it is about."""

    def __init__(self, reason: str, culprit: int):
        super().__init__(reason)
        self.culprit = culprit


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
        self.shortest = 2 * SHORTEST * schedule.duration
        self.count = functions.count
        self.kind = functions.table[:, 0].astype(int)
        self.parent = functions.table[:, 1].astype(int)
        self.first_mode = functions.table[:, 2].astype(int)
        self.direction = functions.table[:, 3].astype(int)
        self.resets = functions.table[:, 4].astype(bool)
        self.actions = functions.actions
        self.sides = np.zeros(self.count, dtype=bool)
        """Whether the function of a stated event is negative."""
        self.modes = parameters[parameters.size - functions.modes :]
        """All modes: a view of the parameters."""
        self.state, self.time = np.zeros(program.state_size), np.zeros(1)
        given = [self.state, parameters, self.time]
        self._values = np.zeros((self.count, 5))
        self._evaluate = bound(functions.values, given, [self._values])
        self.before, self.after = np.zeros((self.count, 5)), np.zeros((self.count, 5))
        self.length = self.speed = self.force = 0.0
        self.sought, self.attempts = NONE, 0
        self.short = self.long = (0.0, 0.0, 0.0)
        self.sample_rate: Callable[[float, np.ndarray, int], float] = _unknown_rate
        """Rate of a sampled function along the motion."""
        self.slopes: list[np.ndarray] = []
        self._differentiate = None
        if functions.gradient is not None:
            f, rows = functions.gradient, 3 * self.count
            self.slopes = [np.zeros((rows, f.numel_out(k) // rows)) for k in range(4)]
            self._differentiate = bound(f, given, self.slopes)

    def at(self, time: float, state: np.ndarray) -> np.ndarray:
        """Values of all units at a state."""
        self.time[0], self.state[:] = time, state
        self._evaluate()
        values = self._values.copy()
        for i in np.flatnonzero(self.kind == EXTREMUM):
            values[i, :2] = self.sample_rate(time, state, int(self.parent[i])), math.nan
        return values

    def differentiate(self, time: float, state: np.ndarray) -> None:
        """Gradients of the watched functions at a state, as `slopes`."""
        assert self._differentiate is not None
        self.time[0], self.state[:] = time, state
        self._differentiate()

    def mode(self, i: int, which: int) -> float:
        """A mode of a unit."""
        return float(self.parameters[self.first_mode[i] + which])

    def set_mode(self, i: int, which: int, value: float) -> None:
        """Change it."""
        self.parameters[self.first_mode[i] + which] = value

    def scale(self, length: float, speed: float) -> None:
        """Raise the scales by which contacts are judged."""
        self.length, self.speed = max(self.length, length), max(self.speed, speed)
        self.force = max(self.force, self._largest_normal(self.before))

    def _largest_normal(self, values: np.ndarray) -> float:
        return float(np.abs(values[self.kind == CONTACT, NORMAL]).max(initial=0.0))

    def watched(self, values: np.ndarray, i: int) -> tuple[float, float]:
        """What is positive as long as the mode of a unit holds, and its rate, not a number where
        that depends on multipliers.
        """
        u = values[i]
        if self.kind[i] >= EVENT:
            side = -1.0 if self.sides[i] else 1.0
            return side * u[0], side * u[1]
        if self.kind[i] == CONTACT:
            return (u[NORMAL], math.nan) if self.mode(i, 0) else (u[GAP], u[GAP_RATE])
        if self.mode(i, 0):
            return u[LIMIT] - abs(u[TANGENTIAL]), math.nan
        σ = self.mode(i, 1)
        return (σ * u[SLIP], σ * u[SLIP_RATE]) if σ else (NEVER, math.nan)

    def _blur(self, values: np.ndarray, i: int) -> float:
        if self.kind[i] >= EVENT:
            return 0.0
        if not self.mode(i, 0):
            return BLURRED * (self.length if self.kind[i] == CONTACT else self.speed)
        force = abs(values[i, NORMAL])
        if self.kind[i] == FRICTION:
            force = max(force, abs(values[i, TANGENTIAL]))
        return BLURRED_FORCE * max(force, self.force)

    def first_event(self, h: float) -> tuple[int, float]:
        """The unit whose mode ends first within a step of length h, `NONE`, or `SHORTER` where two
        events may be hidden in it; and the length of the next attempt, 0 if the step ends there.
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
            elif i != self.sought:
                share = _dip(g, h * rate, g_next, h * rate_next)
                if 0 < share * h < length:
                    length = share * h
        if first < 0 and self.sought >= 0 and self.long[0] >= h:
            first = self.sought  # the attempt was too short, or just right
        if first < 0:
            return (SHORTER if length < h else NONE), length
        if first != self.sought:
            g, rate = self.watched(self.before, first)
            self.sought, self.attempts = first, 0
            self.short, self.long = (0.0, max(g, 0.0), rate), (NEVER, 0.0, 0.0)
        return first, self._narrowed(h, *self.watched(self.after, first))

    def _narrowed(self, h: float, g: float, rate: float) -> float:
        """Note the result of an attempt; returns the length of the next one, or 0 if this will
        do.
        """
        if abs(g) <= abs(rate) * self.instant:
            return 0.0
        halved = math.isnan(rate)  # or one end of the interval would not move
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
        """Whether the surfaces of a contact touch; those of `trigger` do."""
        return bool(
            self.kind[i] == CONTACT
            and (i == trigger or self.mode(i, 0) or values[i, GAP] <= TOUCH * self.length)
        )

    def presses(self, i: int) -> bool:
        """Whether friction has a normal force: its contact is closed, or the force is given."""
        return bool(self.parent[i] < 0 or self.mode(self.parent[i], 0))

    def takes_part(self, contact: int) -> bool:
        """Whether a contact takes part in an impact; −1 stands for none."""
        return bool(contact >= 0 and self.mode(contact, 1))

    @property
    def any_at_start(self) -> bool:
        """Whether there is something to settle at the start of a run."""
        return any(
            self.touches(self.before, i, NONE) if self.kind[i] == CONTACT else self.presses(i)
            for i in np.flatnonzero(self.kind < EVENT)
        )

    def first_sides(self) -> None:
        """On which side of zero stated functions begin."""
        g, rate = self.before[:, 0], self.before[:, 1]
        self.sides[:] = (self.kind >= EVENT) & ((g < 0) | ((g == 0) & (rate < 0)))

    def side_after(self, i: int) -> bool:
        """Side of zero of a stated function after its event: the one that it moves to, which a reset
        may have turned.
        """
        rate = self.before[i, 1]
        return not self.sides[i] if math.isnan(rate) or rate == 0 else bool(rate < 0)

    def fires(self, i: int) -> bool:
        """Whether something happens at an event."""
        if self.kind[i] < EVENT:
            return bool(self.kind[i] == FRICTION or not self.mode(i, 0))
        direction = self.direction[i]
        if self.kind[i] == EXTREMUM or direction == NEVER_FIRES:
            return False
        return bool(direction == 0 or (direction < 0) == (not self.sides[i]))

    def act(self, i: int) -> bool:
        """Set the modes of a stated event; returns whether it ends the run."""
        stopped = False
        for unit, place, value in self.actions:
            if unit == i and place >= 0:
                self.parameters[int(place)] = value
            stopped |= unit == i and place < 0
        return bool(stopped)

    def function_of(self, i: int) -> int:
        """Number of the function that is watched of a unit: gap or slip; normal force, or limit −
        T; limit + T.
        """
        if self.kind[i] >= EVENT or not self.mode(i, 0):
            return 3 * i
        return 3 * i + (2 if self.kind[i] == FRICTION and self.before[i, TANGENTIAL] < 0 else 1)

    def first_impacts(self) -> bool:
        """Whether surfaces that touch at the start of a run approach each other."""
        return any(
            self.touches(self.before, i, NONE) and self.before[i, GAP_RATE] < -SLOW * self.speed
            for i in range(self.count)
        )

    def begin_impact(self, trigger: int) -> None:
        """Contacts that take part at first: all that touch and do not part."""
        for i in range(self.count):
            if self.kind[i] >= EVENT:
                if self.resets[i]:
                    self.set_mode(i, 0, float(i == trigger))
                continue
            if self.kind[i] == FRICTION:
                self.set_mode(i, 2, 0.0)
                self.set_mode(i, 3, 0.0)
                continue
            touches, rate = self.touches(self.before, i, trigger), self.before[i, GAP_RATE]
            closed = bool(self.mode(i, 0))
            self.set_mode(i, 1, float(touches and (closed or rate < 0 or i == trigger)))
            self.set_mode(i, 2, float(touches and not closed and self._bounces(i)))

    def _bounces(self, i: int) -> bool:
        """Whether an impact has restitution: it is fast enough, and what follows is a flight higher
        than rounding.
        """
        _, rate, acceleration, _, restitution = self.before[i]
        after, height = restitution * rate, LOWEST * self.length
        fast = rate < -self.rest_tolerance * self.speed
        return bool(fast and after * after > -2 * height * acceleration)

    def mend_impact(self, trigger: int) -> int:
        """Change the first unit that is inconsistent in an impact, from `before` to `after`; `NONE`
        if there is none.
        """
        impulse = CONSISTENT * self._largest_normal(self.after)
        for i in range(self.count):
            u = self.after[i]
            if self.kind[i] == CONTACT:
                if not self.touches(self.before, i, trigger):
                    continue
                part = u[GAP_RATE] + self.mode(i, 2) * u[RESTITUTION] * self.before[i, GAP_RATE]
                takes_part = self.mode(i, 1)
                if u[NORMAL] < -impulse if takes_part else part < -SLOW * self.speed:
                    self.set_mode(i, 1, 1 - takes_part)
                    return i
            elif self.kind[i] == FRICTION and self._mend_friction(
                i, 2, self.takes_part(self.parent[i]), impulse
            ):
                return i
        return NONE

    def _mend_friction(self, i: int, first: int, active: bool, force: float) -> bool:
        """Change the modes of friction, from number `first` on, if they are inconsistent."""
        sticks, slides = self.mode(i, first), self.mode(i, first + 1)
        if not active:
            self.set_mode(i, first, 0.0)
            self.set_mode(i, first + 1, 0.0)
            return bool(sticks or slides)
        if not sticks and not slides:
            self.set_mode(i, first, 1.0)
            return True
        if sticks and abs(self.after[i, TANGENTIAL]) > self.after[i, LIMIT] + force:
            self.set_mode(i, first, 0.0)
            self.set_mode(i, first + 1, -1.0 if self.after[i, TANGENTIAL] > 0 else 1.0)
            return True
        return False

    def modes_by_velocity(self, trigger: int, ended: bool) -> None:
        """Modes that follow from velocities alone, after an event: contacts that part are open,
        friction that slides has a direction; all others are closed and stick, but for the mode of
        `trigger` if that has `ended`.
        """
        slow = SLOW * self.speed
        for i in range(self.count):
            over, u = i == trigger and ended, self.after[i]
            if self.kind[i] >= EVENT:
                continue
            if self.kind[i] == CONTACT:
                touches = self.touches(self.after, i, trigger)
                self.set_mode(i, 0, float(touches and u[GAP_RATE] <= slow and not over))
                continue
            closed = self.presses(i)
            σ = float(np.sign(u[SLIP])) if abs(u[SLIP]) > slow else 0.0
            if over:
                σ = -1.0 if self.before[i, TANGENTIAL] > 0 else 1.0
            self.set_mode(i, 0, float(closed and σ == 0))
            self.set_mode(i, 1, σ if closed else 0.0)

    def mend_modes(self, trigger: int, ended: bool, acceleration: float) -> int:
        """Change the first unit whose mode is inconsistent with the accelerations that follow from
        it; `NONE` if there is none.
        """
        force, slow = CONSISTENT * self._largest_normal(self.after), SLOW * self.speed
        for i in np.flatnonzero(self.kind < EVENT).tolist():
            u, first = self.after[i], self.mode(i, 0)
            if i == trigger and ended and not first:
                continue
            if self.kind[i] == CONTACT:
                if not self.touches(self.after, i, trigger):
                    continue
                closes = u[GAP_RATE] <= slow and u[GAP_ACCELERATION] < -CONSISTENT * acceleration
                if u[NORMAL] < -force if first else closes:
                    self.set_mode(i, 0, 1 - first)
                    return i
            elif self._mend_friction(i, 0, self.presses(i), force):
                return i
        return NONE


def _unknown_rate(time: float, state: np.ndarray, sample: int) -> float:
    raise AssertionError("extrema are sought by a run")


class EventCalls:
    """What an event makes of a state: impact, modes, and the state that follows."""

    def __init__(self, units: Units, impact: ChainCalls | None, rates: ChainCalls, at: np.ndarray):
        self._units, self._impact, self._rates, self._at = units, impact, rates, at

    def impact(self, x: np.ndarray, trigger: int, time: float, new: np.ndarray) -> np.ndarray:
        """Positions and velocities after an impact, with impulses, from the state x before it."""
        units = self._units
        assert self._impact is not None
        units.begin_impact(trigger)
        for _ in range(REVISIONS * (units.count + 1)):
            self._at[:] = x[: self._at.size]
            self._solve(self._impact, new)
            units.after = units.at(time, new)
            if (culprit := units.mend_impact(trigger)) == NONE:
                return new.copy()
        raise EventFailure(UNSETTLED, culprit)

    def settle(self, z: np.ndarray, trigger: int, time: float, new: np.ndarray) -> np.ndarray:
        """The whole state after an event, with its modes, from positions and velocities z."""
        units = self._units
        stated = trigger >= 0 and units.kind[trigger] >= EVENT
        ended = trigger >= 0 and not stated and bool(units.mode(trigger, 0))
        units.after = units.at(time, z)
        units.modes_by_velocity(trigger, ended)
        n = units.program.coordinates
        for _ in range(REVISIONS * (units.count + 1)):
            self._at[:] = z[: self._at.size]
            self._solve(self._rates, new)
            units.after = units.at(time, new)
            largest = float(np.abs(new[2 * n : 3 * n]).max(initial=0.0))
            if (culprit := units.mend_modes(trigger, ended, largest)) == NONE:
                return new.copy()
        raise EventFailure(UNSETTLED, culprit)

    def _solve(self, chain: ChainCalls, new: np.ndarray) -> None:
        chain.solve()
        if not np.isfinite(new).all():
            raise Trouble(NOT_FINITE)


def _root(g0: float, d0: float, g1: float, d1: float) -> float:
    """Share of an interval at which a value vanishes that is positive at its beginning and negative
    at its end; by a cubic where rates are known.
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


def _dip(g0: float, d0: float, g1: float, d1: float) -> float:
    """Share of a step at which a value that is positive at both ends has a minimum that may be
    negative; 0 if there is none.
    """
    if not (d0 < 0 < d1):
        return 0.0
    a, b = 3 * (d0 + d1) + 6 * (g0 - g1), -2 * (2 * d0 + d1) - 6 * (g0 - g1)
    root = math.sqrt(max(b * b - 4 * a * d0, 0.0))
    x = (-b + root) / (2 * a) if abs(a) > 1e-12 * abs(b) else -d0 / b
    if not 1e-3 < x < 1 - 1e-3:
        return 0.0
    return x if _cubic(x, g0, d0, g1, d1) < DIP * min(g0, g1) else 0.0


def _cubic(x: float, g0: float, d0: float, g1: float, d1: float) -> float:
    """Value at a share of an interval, from values g and changes d at both ends."""
    y = 1 - x
    return y * y * (g0 * (1 + 2 * x) + d0 * x) + x * x * (g1 * (1 + 2 * y) - d1 * y)
