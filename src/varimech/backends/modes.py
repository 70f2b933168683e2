"""Modes of contacts and friction in an interpreted run: which contacts take part in an impact, and
which modes follow an event. modes.c does the same; `events` has the equations.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .chain_calls import AttemptFailure, ChainCalls
from .events import (
    ALIGNED,
    CONSISTENT,
    CONTACT,
    EVENT,
    FRICTION,
    GAP_ACCELERATION,
    GAP_RATE,
    GATHERED,
    LIMIT,
    LOWEST,
    MOST_UNDECIDED,
    NONE,
    NORMAL,
    REFINED,
    RESTITUTION,
    REVISIONS,
    SLIP,
    SLIP_RATE,
    SLIP_RATES,
    SLIPS,
    SLOW,
    TANGENTIAL,
    TANGENTIALS,
)
from .failures import NOT_FINITE, UNSETTLED
from .units import Units


class Phase(NamedTuple):
    """An impact, or the motion after it, with the place of the mode by which contacts act."""

    impact: bool
    acts: int


IN_IMPACT, IN_MOTION = Phase(True, 1), Phase(False, 0)


class EventFailure(AttemptFailure):
    """No consistent modes, or overlapping shapes, with the unit that causes the failure."""

    def __init__(self, reason: str, culprit: int):
        super().__init__(reason)
        self.culprit = culprit


class ModalUnits(Units):
    """Units with the rules that determine their modes."""

    def stick_place(self, i: int, phase: Phase) -> int:
        """Return the place of the mode of friction that sticks; the modes of the direction follow."""
        return self.components(i) + 1 if phase.impact else 0

    def sticks(self, i: int, phase: Phase) -> bool:
        """Return whether friction sticks."""
        return bool(self.mode(i, self.stick_place(i, phase)))

    def direction_in(self, i: int, phase: Phase) -> np.ndarray:
        """Return the direction of sliding, a view; zero if friction does not slide."""
        return self.slip_direction(i, self.stick_place(i, phase) + 1)

    def set_friction(
        self, i: int, phase: Phase, *, sticks: bool, direction: np.ndarray | float = 0.0
    ) -> None:
        """Let friction stick, slide in a direction, or neither."""
        place = self.stick_place(i, phase)
        self.set_mode(i, place, float(sticks))
        self.slide(i, place + 1, np.asarray(direction))

    def parts_of(self, values: np.ndarray, i: int, first: int) -> np.ndarray:
        """Return the components of slip, its rate or the friction force, which begin at `first`."""
        d = self.components(i)
        if d == 1:
            first = {SLIPS: SLIP, SLIP_RATES: SLIP_RATE, TANGENTIALS: TANGENTIAL}[first]
        return values[i, first : first + d]

    @property
    def any_at_start(self) -> bool:
        """Whether modes must be determined at the start of a run."""
        return any(
            self.touches(self.before, i, NONE)
            if self.kind[i] == CONTACT
            else self.pressed(i, IN_MOTION)
            for i in np.flatnonzero(self.kind < EVENT).tolist()
        ) or any(map(self.resets_at_start, range(self.count)))

    def begin_impact(self, trigger: int) -> None:
        """Set the contacts that take part in an impact at first: all that touch and do not part."""
        for i in range(self.count):
            if self.kind[i] >= EVENT:
                if self.resets[i]:
                    starts = trigger < 0 and self.resets_at_start(i)
                    self.set_mode(i, 0, float(i == trigger or starts))
                continue
            if self.kind[i] == FRICTION:
                self.set_friction(i, IN_IMPACT, sticks=False)
                continue
            touches, rate = self.touches(self.before, i, trigger), self.before[i, GAP_RATE]
            closed = bool(self.mode(i, 0))
            self.set_mode(i, 1, float(touches and (closed or rate < 0 or i == trigger)))
            self.set_mode(i, 2, float(touches and not closed and self._bounces(i)))

    def begin_halt(self, trigger: int) -> None:
        """Set the modes of the impact that removes the remaining slip: contacts stay closed,
        friction that sticks keeps sticking, and nothing else acts.
        """
        for i in range(self.count):
            if self.kind[i] >= EVENT:
                if self.resets[i]:
                    self.set_mode(i, 0, 0.0)
            elif self.kind[i] == FRICTION:
                self.set_friction(i, IN_IMPACT, sticks=i == trigger or bool(self.mode(i, 0)))
            else:
                self.set_mode(i, 1, self.mode(i, 0))
                self.set_mode(i, 2, 0.0)

    @property
    def closing(self) -> int:
        """Number of contacts that close in an impact."""
        contacts = np.flatnonzero(self.kind == CONTACT).tolist()
        return sum(bool(self.mode(i, 1) and not self.mode(i, 0)) for i in contacts)

    def _bounces(self, i: int) -> bool:
        """Return whether an impact has restitution: it is fast enough, and the flight after it is
        higher than rounding.
        """
        _, rate, acceleration, _, restitution = self.before[i, :5]
        after, height = restitution * rate, LOWEST * self.length
        fast = rate < -self.rest_tolerance * self.speed
        return bool(fast and after * after > -2 * height * acceleration)

    def modes_by_velocity(self, trigger: int, over: bool) -> None:
        """Set modes by velocities alone, after an event: contacts that part are open, friction that
        slides has a direction; all others are closed and stick, except the mode of `trigger` if
        that is `over`.
        """
        slow = SLOW * self.speed
        for i in np.flatnonzero(self.kind < EVENT).tolist():
            ending, u = i == trigger and over, self.after[i]
            if self.kind[i] == CONTACT:
                touches = self.touches(self.after, i, trigger)
                self.set_mode(i, 0, float(touches and abs(u[GAP_RATE]) <= slow and not ending))
                continue
            pressed = self.pressed(i, IN_MOTION)
            moves = ending or self.moves(self.after, i)
            along = self._opposite(self.before, i) if ending else self._ahead(self.after, i)
            self.set_friction(
                i,
                IN_MOTION,
                sticks=pressed and not moves,
                direction=along if pressed and moves else 0.0,
            )

    def _ahead(self, values: np.ndarray, i: int) -> np.ndarray:
        """Return the direction of a slip."""
        s = self.parts_of(values, i, SLIPS)
        return _unit(s)

    def _opposite(self, values: np.ndarray, i: int) -> np.ndarray:
        """Return the direction opposite to the friction force."""
        T = self.parts_of(values, i, TANGENTIALS)
        if self.components(i) == 1:
            return np.array([-1.0 if T[0] > 0 else 1.0])
        return _unit(-T)

    def pressed(self, i: int, phase: Phase) -> bool:
        """Return whether friction has a normal force, or impulse."""
        if self.parent[i] < 0:
            return not phase.impact
        return bool(self.mode(self.parent[i], phase.acts))

    def _contact_consistent(self, i: int, phase: Phase, force: float, acceleration: float) -> bool:
        """Return whether a touching contact is consistent: if it acts, it presses; otherwise its
        surfaces do not approach, or bounce too little.
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
        """Return whether friction that sticks stays below its limit."""
        u = self.after[i]
        sticks = self.sticks(i, phase)
        return bool(not sticks or abs(u[TANGENTIAL]) <= u[LIMIT] + CONSISTENT * force)

    def _slides_ahead(self, i: int, phase: Phase, acceleration: float) -> bool:
        """Return whether friction that slides moves, or begins to move, in the direction of its
        mode.
        """
        m, slow = self.direction_in(i, phase), SLOW * self.speed
        if not m.any():
            return True
        if phase.impact or self.moves(self.after, i):
            return bool(m @ self.parts_of(self.after, i, SLIPS) >= -slow)
        return bool(m @ self.parts_of(self.after, i, SLIP_RATES) >= -CONSISTENT * acceleration)

    def correct_first_inconsistent(
        self, phase: Phase, trigger: int, over: bool, acceleration: float
    ) -> int:
        """Change the mode of the first inconsistent unit, except a mode that is over; return the
        unit, or `NONE`.
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
            sticks, slides = self.sticks(i, phase), self.direction_in(i, phase).any()
            pressed = self.pressed(i, phase)
            if not pressed and not sticks and not slides:
                continue
            if pressed and (sticks or slides) and self._holds(i, phase, force):
                continue
            gives_way = pressed and sticks
            along = self._opposite(self.after, i) if gives_way else 0.0
            self.set_friction(i, phase, sticks=pressed and not gives_way, direction=along)
            return i
        return NONE

    def refine(self, phase: Phase, acceleration: float) -> bool:
        """Correct the directions in which slips of several components begin, or leave an impact;
        return whether one has changed.
        """
        changed = False
        for i in np.flatnonzero((self.kind == FRICTION) & (self.direction > 1)).tolist():
            m = self.direction_in(i, phase)
            if not m.any() or not self.pressed(i, phase):
                continue
            if phase.impact:
                changed |= self._refine_impact(i, m)
            elif not self.moves(self.after, i):
                changed |= self._refine_onset(i, m, acceleration)
        return changed

    def _refine_impact(self, i: int, m: np.ndarray) -> bool:
        """Iterate the direction of the slip after an impact by Newton's method; return whether it
        changed.
        """
        s, place = self.parts_of(self.after, i, SLIPS), 2 * self.components(i) + 3
        if self.after[i, SLIP] <= SLOW * self.speed or m @ s <= 0:
            return False
        new, ratio = _unit(s), self.after[self.parent[i], NORMAL] / self.after[i, SLIP]
        off = np.abs(new - m).max() > ALIGNED
        off |= abs(ratio - self.mode(i, place)) > CONSISTENT * abs(ratio)
        if off:
            m[:] = new
            self.set_mode(i, place, ratio)
        return bool(off)

    def _refine_onset(self, i: int, m: np.ndarray, acceleration: float) -> bool:
        """Step towards the direction of the slip's acceleration; return whether the direction
        changed.
        """
        rates = self.parts_of(self.after, i, SLIP_RATES).copy()
        size = float(np.sqrt(rates @ rates))
        acceleration = max(acceleration, self.unconstrained_acceleration.get(i, 0.0))
        if size <= CONSISTENT * acceleration or np.abs(rates / size - m).max() <= ALIGNED:
            return False
        b, last = size, self._last_direction.get(i)
        if last is not None and (step := np.sqrt(np.sum((m - last[0]) ** 2))) > 0:
            b = float(np.sqrt(np.sum((rates - last[1]) ** 2)) / step) or size
        self._last_direction[i] = m.copy(), rates
        m[:] = _unit(m + rates / b)
        return True

    def forget_directions(self) -> None:
        """Restart the refinement of directions."""
        self._last_direction.clear()

    def consistent(self, phase: Phase, trigger: int, over: bool, acceleration: float) -> bool:
        """Return whether all units are consistent, sliding included."""
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
        """Set all combinations of modes of the units that velocities leave undecided, one after the
        other.
        """
        values = self.before if phase.impact else self.after
        sliding: dict[int, np.ndarray] = {}
        undecided: list[int] = []
        slow = SLOW * self.speed
        for i in np.flatnonzero(self.kind < EVENT).tolist():
            contact, u = self.kind[i] == CONTACT, values[i]
            if i == trigger and over:
                if not contact:
                    sliding[i] = self.direction_in(i, phase).copy()
            elif contact:
                parts = not phase.impact and abs(u[GAP_RATE]) > slow
                if self.touches(values, i, trigger) and not parts:
                    undecided.append(i)
            elif self.parent[i] >= 0 and not self.touches(values, int(self.parent[i]), trigger):
                self.set_friction(i, phase, sticks=False)
            elif not phase.impact and self.moves(values, i):
                sliding[i] = self._ahead(values, i)
            elif not phase.impact or self.parent[i] >= 0:
                undecided.append(i)
        if len(undecided) > MOST_UNDECIDED:
            return
        options = [range(self._options(i)) for i in reversed(undecided)]
        for combination in itertools.product(*options):
            if self._choose(phase, undecided, combination[::-1], sliding):
                yield

    def _options(self, i: int) -> int:
        """Return the number of modes of an undecided unit; a slip of several components finds its
        direction.
        """
        return 2 if self.kind[i] == CONTACT or self.components(i) > 1 else 3

    def _choose(
        self,
        phase: Phase,
        undecided: list[int],
        options: tuple[int, ...],
        sliding: dict[int, np.ndarray],
    ) -> bool:
        """Set one combination of modes; return whether it is a distinct one: friction without a
        normal force has no choice.
        """
        own = True
        for i, option in zip(undecided, options, strict=True):
            if self.kind[i] == CONTACT:
                self.set_mode(i, phase.acts, float(option == 0))
                continue
            pressed = self.pressed(i, phase)
            along = np.zeros(self.components(i))
            if pressed:
                along[0] = (0.0, 1.0, -1.0)[option]
            if pressed and option and along.size > 1 and self.before[i, SLIP] > SLOW * self.speed:
                along = self._ahead(self.before, i)
            self.set_friction(i, phase, sticks=pressed and option == 0, direction=along)
            own = own and (pressed or option == 0)
        for i, along in sliding.items():
            self.slide(i, self.stick_place(i, phase) + 1, along * self.pressed(i, phase))
        return own


def _unit(x: np.ndarray) -> np.ndarray:
    """Return the direction of a vector, or zero."""
    size = np.sqrt(x @ x)
    return x / size if size > 0 else x.copy()


class EventCalls:
    """Effects of an event on a state: impact, modes, and the state that follows."""

    def __init__(
        self, units: ModalUnits, impact: ChainCalls | None, rates: ChainCalls, at: np.ndarray
    ):
        self._units, self._impact, self._rates, self._at = units, impact, rates, at

    def impact(self, x: np.ndarray, trigger: int, time: float, new: np.ndarray) -> np.ndarray:
        """Return positions and velocities after an impact, with impulses, from the state x before
        it.
        """
        assert self._impact is not None
        self._units.begin_impact(trigger)
        return self._solve_consistently(IN_IMPACT, self._impact, x, trigger, False, time, new)

    def halt(self, x: np.ndarray, trigger: int, new: np.ndarray) -> np.ndarray:
        """Return the state without the remaining slip of several components where sliding ends."""
        assert self._impact is not None
        self._units.begin_halt(trigger)
        self._at[:] = x[: self._at.size]
        self._solve(self._impact, new)
        return new.copy()

    def settle(self, z: np.ndarray, trigger: int, time: float, new: np.ndarray) -> np.ndarray:
        """Return the whole state after an event, and set its modes, from positions and velocities
        z.
        """
        units = self._units
        stated = trigger >= 0 and units.kind[trigger] >= EVENT
        over = trigger >= 0 and not stated and bool(units.mode(trigger, 0))
        units.after = units.at(time, z)
        units.modes_by_velocity(trigger, over)
        units.unconstrained_acceleration.clear()
        if over and units.kind[trigger] == FRICTION and units.components(trigger) > 1:
            self._begin_sliding(z, trigger, time, new)
        return self._solve_consistently(IN_MOTION, self._rates, z, trigger, over, time, new)

    def _begin_sliding(self, z: np.ndarray, trigger: int, time: float, new: np.ndarray) -> None:
        """Set ε of a slip that begins, from the acceleration that it would have without friction."""
        units = self._units
        m = units.direction_in(trigger, IN_MOTION)
        kept, m[:] = m.copy(), 0.0
        self._at[:] = z[: self._at.size]
        self._solve(self._rates, new)
        m[:] = kept
        rates = units.parts_of(units.at(time, new), trigger, SLIP_RATES)
        units.unconstrained_acceleration[trigger] = float(np.sqrt(rates @ rates))
        more = GATHERED * units.unconstrained_acceleration[trigger] * units.duration / units.speed
        ε = units.ending_speed * max(1.0, more)
        units.set_mode(trigger, 2 * units.components(trigger) + 2, ε)

    def _solve_consistently(
        self,
        phase: Phase,
        chain: ChainCalls,
        x: np.ndarray,
        trigger: int,
        over: bool,
        time: float,
        new: np.ndarray,
    ) -> np.ndarray:
        """Return the solution of a chain with consistent modes. The first inconsistent mode is
        changed until all are consistent; if that fails, all combinations are tried.
        """
        units, n = self._units, self._units.program.coordinates
        culprit, refined = NONE, 0
        units.forget_directions()

        def solve() -> float:
            self._at[:] = x[: self._at.size]
            self._solve(chain, new)
            units.after = units.at(time, new)
            return float(np.abs(new[2 * n : 3 * n]).max(initial=0.0))

        for _ in range(REVISIONS * (units.count + 1) + REFINED):
            acceleration = solve()
            changed = units.correct_first_inconsistent(phase, trigger, over, acceleration)
            if changed == NONE and refined < REFINED and units.refine(phase, acceleration):
                refined += 1
                continue
            if changed == NONE:
                if units.consistent(phase, trigger, over, acceleration):
                    return new.copy()
                break
            culprit = changed
        for _ in units.choices(phase, trigger, over):
            units.forget_directions()
            try:
                acceleration = solve()
                for _ in range(REFINED):
                    if not units.refine(phase, acceleration):
                        break
                    acceleration = solve()
            except AttemptFailure:
                continue
            if units.consistent(phase, trigger, over, acceleration):
                return new.copy()
        raise EventFailure(UNSETTLED, culprit)

    def _solve(self, chain: ChainCalls, new: np.ndarray) -> None:
        chain.solve()
        if not np.isfinite(new).all():
            raise AttemptFailure(NOT_FINITE)
