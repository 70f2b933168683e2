"""Modes of contacts and friction in an interpreted run: which contacts take part in an impact, and which
modes follow an event; modes.c does the same. `events` has the equations.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .chain_calls import ChainCalls, Trouble
from .events import (
    CONSISTENT,
    CONTACT,
    EVENT,
    FRICTION,
    GAP_ACCELERATION,
    GAP_RATE,
    LIMIT,
    LOWEST,
    MOST_UNDECIDED,
    NONE,
    NORMAL,
    RESTITUTION,
    REVISIONS,
    SLIP,
    SLIP_RATE,
    SLOW,
    TANGENTIAL,
)
from .failures import NOT_FINITE, UNSETTLED
from .units import Units


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


class ModalUnits(Units):
    """Units with the rules by which their modes are found."""

    @property
    def any_at_start(self) -> bool:
        """Whether there is something to settle at the start of a run."""
        return any(
            self.touches(self.before, i, NONE)
            if self.kind[i] == CONTACT
            else self.pressed(i, IN_MOTION)
            for i in np.flatnonzero(self.kind < EVENT).tolist()
        ) or any(map(self.resets_at_start, range(self.count)))

    def begin_impact(self, trigger: int) -> None:
        """Contacts that take part at first: all that touch and do not part."""
        for i in range(self.count):
            if self.kind[i] >= EVENT:
                if self.resets[i]:
                    starts = trigger < 0 and self.resets_at_start(i)
                    self.set_mode(i, 0, float(i == trigger or starts))
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


class EventCalls:
    """What an event makes of a state: impact, modes, and the state that follows."""

    def __init__(
        self, units: ModalUnits, impact: ChainCalls | None, rates: ChainCalls, at: np.ndarray
    ):
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
