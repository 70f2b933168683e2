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

import itertools
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

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
ROUNDED = 0.03
"""Share of that below which a value is zero: one or two floating-point numbers."""
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
values at its ends: interpolation over a step is more exact than that.
"""
INSTANT = 1e-15
"""Share of the run to which events are located: a few floating-point numbers."""
NEVER = 1e300
"""Value of a function that is not watched."""
NUDGE = 1e-6
"""Share of the run by which a state is moved to find the rate of a function that depends on
accelerations: between rounding and curvature, for motions that change within a hundredth of the run.
"""
CHANGED = 1e-14
"""Relative change of a function over that time that is more than rounding."""
ATTEMPTS = 60
"""Steps to locate one event at most; bisection to rounding would take so many."""
PROBED = 8
"""Parts of a step at whose ends interpolation is looked at for values below zero."""
THIRDS = 25
"""Reductions of the interval around the lowest of these to two thirds: to 1e-5 of a step."""
EDGE = 1e-4
"""Share of a step at whose ends a minimum is one at the end."""
MOST_UNDECIDED = 8
"""Units whose modes are all tried out, at most: 6,561 combinations of frictions."""
NOTED = 7
"""Numbers that are noted of an event: see `Trajectory.notes`."""
ACCUMULATED = 1e-9
"""Rate of a stated function, over the largest speed, at which resets have accumulated."""
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


class Phase(NamedTuple):
    """Where the modes of an impact, or of the motion after it, are."""

    impact: bool
    acts: int
    sticks: int
    slides: int


IN_IMPACT, IN_MOTION = Phase(True, 1, 2, 3), Phase(False, 0, 0, 1)


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
        self.sizes = np.zeros(self.count)
        """Its largest magnitude so far."""
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
        np.fmax(self.sizes, np.abs(self.before[:, 0]), out=self.sizes)

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
            return float(BLURRED * self.sizes[i])
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
            elif i != self.sought and (
                g > self._blur(self.before, i) or g_next > self._blur(self.after, i)
            ):
                c, c_next = (h * h * self._second_rate(x, i) for x in (self.before, self.after))
                share = _dip(max(g, 0.0), h * rate, c, g_next, h * rate_next, c_next)
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
        g, rate = self.watched(self.after, first)
        rounding = 0.0 if math.isnan(rate) else ROUNDED * self._blur(self.after, first)
        return first, self._narrowed(h, g, rate, rounding)

    def _second_rate(self, values: np.ndarray, i: int) -> float:
        """Second rate of a watched value: known of gaps."""
        is_gap = self.kind[i] == CONTACT and not self.mode(i, 0)
        return float(values[i, GAP_ACCELERATION]) if is_gap else math.nan

    def _narrowed(self, h: float, g: float, rate: float, rounding: float) -> float:
        """Note the result of an attempt; returns the length of the next one, or 0 if this will
        do.
        """
        if abs(g) <= abs(rate) * self.instant or abs(g) <= rounding:
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

    @property
    def any_at_start(self) -> bool:
        """Whether there is something to settle at the start of a run."""
        return any(
            self.touches(self.before, i, NONE)
            if self.kind[i] == CONTACT
            else self.pressed(i, IN_MOTION)
            for i in np.flatnonzero(self.kind < EVENT).tolist()
        )

    def first_sides(self) -> None:
        """On which side of zero stated functions begin."""
        g, rate = self.before[:, 0], self.before[:, 1]
        self.sides[:] = (self.kind >= EVENT) & ((g < 0) | ((g == 0) & (rate < 0)))

    def renew_sides(self, trigger: int) -> None:
        """Sides of zero of stated functions after an event. That of `trigger`: where it is, or, at
        zero, where it moves to, which a reset may have turned. Those of events that never fire follow
        a jump; all others have their own event then.
        """
        for i in np.flatnonzero(self.kind >= EVENT).tolist():
            value, rate = self.before[i, 0], self.before[i, 1]
            if math.isnan(value):
                continue
            quiet = self.kind[i] == EXTREMUM or self.direction[i] == NEVER_FIRES
            if abs(value) > self._blur(self.before, i) and (quiet or i == trigger):
                self.sides[i] = value < 0
            elif i == trigger:
                self.sides[i] = not self.sides[i] if math.isnan(rate) or rate == 0 else rate < 0

    def accumulates(self, rate: float) -> bool:
        """Whether resets of a stated event have become so slow that they would never end."""
        return bool(abs(rate) <= ACCUMULATED * self.speed)

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

    @property
    def closing(self) -> int:
        """Number of contacts that close in an impact."""
        contacts = np.flatnonzero(self.kind == CONTACT).tolist()
        return sum(bool(self.mode(i, 1) and not self.mode(i, 0)) for i in contacts)

    def _bounces(self, i: int) -> bool:
        """Whether an impact has restitution: it is fast enough, and what follows is a flight higher
        than rounding.
        """
        _, rate, acceleration, _, restitution = self.before[i]
        after, height = restitution * rate, LOWEST * self.length
        fast = rate < -self.rest_tolerance * self.speed
        return bool(fast and after * after > -2 * height * acceleration)

    def modes_by_velocity(self, trigger: int, over: bool) -> None:
        """Modes that follow from velocities alone, after an event: contacts that part are open,
        friction that slides has a direction; all others are closed and stick, but for the mode of
        `trigger` if that is `over`.
        """
        slow = SLOW * self.speed
        for i in np.flatnonzero(self.kind < EVENT).tolist():
            mine, u = i == trigger and over, self.after[i]
            if self.kind[i] == CONTACT:
                touches = self.touches(self.after, i, trigger)
                self.set_mode(i, 0, float(touches and abs(u[GAP_RATE]) <= slow and not mine))
                continue
            pressed = self.pressed(i, IN_MOTION)
            σ = float(np.sign(u[SLIP])) if abs(u[SLIP]) > slow else 0.0
            if mine:
                σ = -1.0 if self.before[i, TANGENTIAL] > 0 else 1.0
            self.set_mode(i, 0, float(pressed and σ == 0))
            self.set_mode(i, 1, σ if pressed else 0.0)

    def pressed(self, i: int, phase: Phase) -> bool:
        """Whether friction has a normal force, or impulse."""
        if self.parent[i] < 0:
            return not phase.impact
        return bool(self.mode(self.parent[i], phase.acts))

    def _contact_consistent(self, i: int, phase: Phase, force: float, acceleration: float) -> bool:
        """Whether a contact that touches presses if it acts, and its surfaces do not approach, or
        bounce too little, if not.
        """
        u, slow = self.after[i], SLOW * self.speed
        if self.mode(i, phase.acts):
            return bool(u[NORMAL] >= -CONSISTENT * force)
        if phase.impact:
            bounce = self.mode(i, 2) * u[RESTITUTION] * self.before[i, GAP_RATE]
            return bool(u[GAP_RATE] + bounce >= -slow)
        closes = abs(u[GAP_RATE]) <= slow and u[GAP_ACCELERATION] < -CONSISTENT * acceleration
        return not closes  # if they approach, an impact follows

    def _holds(self, i: int, phase: Phase, force: float) -> bool:
        """Whether friction that sticks holds."""
        u = self.after[i]
        sticks = self.mode(i, phase.sticks)
        return bool(not sticks or abs(u[TANGENTIAL]) <= u[LIMIT] + CONSISTENT * force)

    def _slides_ahead(self, i: int, phase: Phase, acceleration: float) -> bool:
        """Whether friction that slides moves, or begins to move, as its mode says."""
        u, σ, slow = self.after[i], self.mode(i, phase.slides), SLOW * self.speed
        if not σ:
            return True
        if phase.impact or abs(u[SLIP]) > slow:
            return bool(σ * u[SLIP] >= -slow)
        return bool(σ * u[SLIP_RATE] >= -CONSISTENT * acceleration)

    def mend(self, phase: Phase, trigger: int, over: bool, acceleration: float) -> int:
        """Change the first inconsistent unit, but for a mode that is over; `NONE` if there is
        none.
        """
        force = self._largest_normal(self.after)
        for i in np.flatnonzero(self.kind < EVENT).tolist():
            if i == trigger and over:
                continue
            if self.kind[i] == CONTACT:
                touches = self.touches(self.after, i, trigger)
                if touches and not self._contact_consistent(i, phase, force, acceleration):
                    self.set_mode(i, phase.acts, 1 - self.mode(i, phase.acts))
                    return i
                continue
            sticks, slides = self.mode(i, phase.sticks), self.mode(i, phase.slides)
            pressed = self.pressed(i, phase)
            if not pressed and not sticks and not slides:
                continue
            if pressed and (sticks or slides) and self._holds(i, phase, force):
                continue
            gives_way = pressed and sticks
            σ = (-1.0 if self.after[i, TANGENTIAL] > 0 else 1.0) if gives_way else 0.0
            self.set_mode(i, phase.slides, σ)
            self.set_mode(i, phase.sticks, float(pressed and not gives_way))
            return i
        return NONE

    def consistent(self, phase: Phase, trigger: int, over: bool, acceleration: float) -> bool:
        """Whether all units are consistent, sliding included."""
        force = self._largest_normal(self.after)
        for i in np.flatnonzero(self.kind < EVENT).tolist():
            if i == trigger and over:
                continue
            if self.kind[i] == CONTACT:
                if self.touches(self.after, i, trigger) and not self._contact_consistent(
                    i, phase, force, acceleration
                ):
                    return False
            elif self.pressed(i, phase) and not (
                self._holds(i, phase, force) and self._slides_ahead(i, phase, acceleration)
            ):
                return False
        return True

    def choices(self, phase: Phase, trigger: int, over: bool) -> Iterator[None]:
        """Give the units that velocities leave open all modes, one combination after the other."""
        values = self.before if phase.impact else self.after
        sliding: dict[int, float] = {}
        undecided: list[int] = []
        slow = SLOW * self.speed
        for i in np.flatnonzero(self.kind < EVENT).tolist():
            contact, u = self.kind[i] == CONTACT, values[i]
            if i == trigger and over:
                if not contact:
                    sliding[i] = self.mode(i, phase.slides)
            elif contact:
                parts = not phase.impact and abs(u[GAP_RATE]) > slow
                if self.touches(values, i, trigger) and not parts:
                    undecided.append(i)
            elif not phase.impact and abs(u[SLIP]) > slow:
                sliding[i] = float(np.sign(u[SLIP]))
            elif not phase.impact or self.parent[i] >= 0:
                undecided.append(i)
        if len(undecided) > MOST_UNDECIDED:
            return
        options = [range(2 if self.kind[i] == CONTACT else 3) for i in reversed(undecided)]
        for combination in itertools.product(*options):
            if self._choose(phase, undecided, combination[::-1], sliding):
                yield

    def _choose(
        self,
        phase: Phase,
        undecided: list[int],
        options: tuple[int, ...],
        sliding: dict[int, float],
    ) -> bool:
        """One combination; returns whether it is one of its own: friction without a normal force
        has no choice.
        """
        own = True
        for i, option in zip(undecided, options, strict=True):
            if self.kind[i] == CONTACT:
                self.set_mode(i, phase.acts, float(option == 0))
                continue
            pressed = self.pressed(i, phase)
            self.set_mode(i, phase.sticks, float(pressed and option == 0))
            self.set_mode(i, phase.slides, (0.0, 1.0, -1.0)[option] if pressed else 0.0)
            own = own and (pressed or option == 0)
        for i, σ in sliding.items():
            self.set_mode(i, phase.slides, σ if self.pressed(i, phase) else 0.0)
        return own


def _unknown_rate(time: float, state: np.ndarray, sample: int) -> float:
    raise AssertionError("extrema are sought by a run")


class EventCalls:
    """What an event makes of a state: impact, modes, and the state that follows."""

    def __init__(self, units: Units, impact: ChainCalls | None, rates: ChainCalls, at: np.ndarray):
        self._units, self._impact, self._rates, self._at = units, impact, rates, at

    def impact(self, x: np.ndarray, trigger: int, time: float, new: np.ndarray) -> np.ndarray:
        """Positions and velocities after an impact, with impulses, from the state x before it."""
        assert self._impact is not None
        self._units.begin_impact(trigger)
        return self._found(IN_IMPACT, self._impact, x, trigger, False, time, new)

    def settle(self, z: np.ndarray, trigger: int, time: float, new: np.ndarray) -> np.ndarray:
        """The whole state after an event, with its modes, from positions and velocities z."""
        units = self._units
        stated = trigger >= 0 and units.kind[trigger] >= EVENT
        over = trigger >= 0 and not stated and bool(units.mode(trigger, 0))
        units.after = units.at(time, z)
        units.modes_by_velocity(trigger, over)
        return self._found(IN_MOTION, self._rates, z, trigger, over, time, new)

    def _found(
        self,
        phase: Phase,
        chain: ChainCalls,
        x: np.ndarray,
        trigger: int,
        over: bool,
        time: float,
        new: np.ndarray,
    ) -> np.ndarray:
        """The answer of a chain for consistent modes, from the present ones on: the first
        inconsistent one is changed until none is; else all are tried out.
        """
        units, n = self._units, self._units.program.coordinates
        culprit = NONE

        def answer() -> float:
            self._at[:] = x[: self._at.size]
            self._solve(chain, new)
            units.after = units.at(time, new)
            return float(np.abs(new[2 * n : 3 * n]).max(initial=0.0))

        for _ in range(REVISIONS * (units.count + 1)):
            acceleration = answer()
            changed = units.mend(phase, trigger, over, acceleration)
            if changed == NONE:
                if units.consistent(phase, trigger, over, acceleration):
                    return new.copy()
                break
            culprit = changed
        for _ in units.choices(phase, trigger, over):
            try:
                acceleration = answer()
            except Trouble:
                continue
            if units.consistent(phase, trigger, over, acceleration):
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


def _dip(g0: float, d0: float, c0: float, g1: float, d1: float, c1: float) -> float:
    """Share of a step at which a value that is positive at both ends may be negative: where it is
    lowest; 0 if it is not.
    """
    if math.isnan(d0) or math.isnan(d1) or (d0 >= 0 and d1 <= 0 and not c0 + c1 > 0):
        return 0.0

    def value(x: float) -> float:
        return _interpolated(x, g0, d0, c0, g1, d1, c1)

    least, share = min(g0, g1), 0.0 if g0 < g1 else 1.0
    lowest = least
    for k in range(1, PROBED):
        if (here := value(k / PROBED)) < lowest:
            lowest, share = here, k / PROBED
    low, high = max(share - 1 / PROBED, 0.0), min(share + 1 / PROBED, 1.0)
    for _ in range(THIRDS):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        if value(a) < value(b):
            high = b
        else:
            low = a
    share = (low + high) / 2
    found = EDGE < share < 1 - EDGE and value(share) < DIP * least
    return share if found else 0.0


def _interpolated(
    x: float, g0: float, d0: float, c0: float, g1: float, d1: float, c1: float
) -> float:
    """Value at a share of an interval, from values g, changes d and second differences c at both
    ends: a polynomial of degree five, or of degree three where the latter are not known.
    """
    if math.isnan(c0) or math.isnan(c1):
        return _cubic(x, g0, d0, g1, d1)
    y = 1 - x
    first = g0 * (1 + 3 * x + 6 * x * x) + d0 * x * (1 + 3 * x) + c0 * x * x / 2
    second = g1 * (1 + 3 * y + 6 * y * y) - d1 * y * (1 + 3 * y) + c1 * y * y / 2
    return y * y * y * first + x * x * x * second


def _cubic(x: float, g0: float, d0: float, g1: float, d1: float) -> float:
    """The same from values and changes alone."""
    y = 1 - x
    return y * y * (g0 * (1 + 2 * x) + d0 * x) + x * x * (g1 * (1 + 2 * y) - d1 * y)
