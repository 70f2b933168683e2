"""Where explicit functions of time switch or change fast, found before a run by bisection with
interval bounds.

An interval of time is resolved when no switch (a comparison, sign, floor, the argument of abs,
maximum, minimum) can change within it, and every nonlinear operation f varies over it by no more
than a share of its whole range:

    width [f](interval) ≤ VARIATION · max(range f, SMALL · max |f|)

What is not resolved is halved; a switch is followed down to neighbouring floating-point numbers.
Bounds of an interval hold for all of it, so a pulse cannot hide between samples. Operations whose
result is not used there (the other branch of `where`, a factor of zero) do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..core.schedule import Pieces
from .explicit_time import ExplicitTime
from .intervals import TRUTH, Bounds, Tape

COARSE = 64
"""Intervals to begin with: shorter than the steps of any run would be without a reason."""
VARIATION = 0.25
"""Of its range that an operation may vary over an interval: a sine is cut twelve times a period."""
SMALL = 0.1
"""Share of its largest value that counts as range where an operation hardly varies."""
STEPS = 8.0
"""Resolved intervals that one step may take: two thirds of the period of a sine, twice the width of
a bell. The error estimate sees what varies so slowly; closer limits would cost steps where nothing
is gained.
"""
FEW = 16
"""Intervals that are cut into as many parts at once: for so few the number of passes counts, not
their length.
"""
MOST = 1 << 15
"""Intervals to follow at most: some thousand periods or pulses. What varies faster everywhere is
not hidden from the error estimate.
"""
WORK = 10_000_000
"""Intervals times operations that are bounded at once at most, each of which takes 16 bytes."""
FINEST = 2.0**-52
"""Share of the duration below which a switch is not followed: neighbouring floating-point numbers
at its end.
"""
HUGE = 1e200
"""Larger values are all the same: what overflows on one branch does no harm on the other."""
SHORTEST = 1e-10
"""Share of the duration that is the least limit of steps."""
NO_JUMP = 1e-9
"""Share of a function's largest value by which it may change across an edge where only its
derivative jumps.
"""
CONTRAST = 4.0
"""Ratio of neighbouring limits that makes a new piece."""

LINEAR = TRUTH | {
    ca.OP_ADD,
    ca.OP_SUB,
    ca.OP_NEG,
    ca.OP_TWICE,
    ca.OP_ASSIGN,
    ca.OP_IF_ELSE_ZERO,
    ca.OP_CONST,
    ca.OP_INPUT,
}
"""Operations that bring no features of their own."""


@dataclass(frozen=True)
class Jump:
    """A jump of an explicit function of time."""

    time: float
    owner: str
    """The force, driver or objective that jumps."""
    parameters: frozenset[int]
    """Those that move it."""


@dataclass(frozen=True, eq=False)
class TimeResolution:
    """Edges and limits of explicit functions of time over a run."""

    edges: np.ndarray
    """(edge, 2): the last time before each switch and the first after it."""
    jump: np.ndarray
    """Whether a value jumps at each edge, not only a derivative."""
    bounds: np.ndarray
    """Ends of resolved intervals, from 0 to the duration."""
    limits: np.ndarray
    """Longest step in each of them, infinite where nothing is known."""
    parameters: frozenset[int]
    """Parameters on which edges and limits depend."""
    jumps: tuple[Jump, ...]
    """Jumps that parameters move."""

    @property
    def probes(self) -> np.ndarray:
        """Times that show what happens, followed by the time that each stands for."""
        return np.concatenate([(self.bounds[1:] + self.bounds[:-1]) / 2, np.diff(self.bounds)])

    def pieces(self, longest: float) -> Pieces | None:
        """Pieces of the run with a longest step each; None where one step limit serves all and no
        step has to end anywhere.
        """
        stops: list[float] = []
        limits: list[float] = []

        def close(stop: float, limit: float) -> None:
            stops.append(stop)
            limits.append(limit)

        bridges = dict(zip(self.edges[:, 0].tolist(), self.jump.tolist(), strict=True))
        current: float | None = None  # limit of the present piece
        first = 0.0  # limit of its first interval
        for begin, end, own in zip(
            self.bounds, self.bounds[1:], np.minimum(self.limits, longest), strict=False
        ):
            if begin in bridges:
                if current is not None:
                    close(begin, current)
                if bridges[begin]:
                    close(end, longest)
                current = None
                continue
            if current is not None and (
                own < first / CONTRAST or (own > CONTRAST * current and end - begin >= 2 * current)
            ):
                close(begin, current)
                current = None
            current, first = (own, own) if current is None else (min(current, own), first)
        if current is not None:
            close(self.bounds[-1], current)
        if len(stops) == 1 and limits[0] >= longest:
            return None
        return Pieces(np.array(stops), np.array(limits))


def resolve(functions: ExplicitTime, duration: float, values: np.ndarray) -> TimeResolution:
    """Find all switches and narrow features over a run, for some values of the parameters."""
    tape = functions.tape
    search = _Search(tape, duration, values)
    points = _first_points(tape.thresholds(), duration)
    low, high = points[:-1], points[1:]
    leaves: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    edges: list[tuple[float, float]] = []
    count, most = 0, max(4 * COARSE, min(MOST, WORK // len(tape.operations)))
    while low.size:
        limits, rough, switching = search.look(low, high)
        if count + low.size > most:  # the error estimate has to see what is left
            limits[rough], rough[:] = np.inf, False
        last = high - low <= FINEST * duration
        edges += list(
            zip(low[switching & last].tolist(), high[switching & last].tolist(), strict=True)
        )
        split = (rough | switching) & ~last
        leaves.append((low[~split], high[~split], limits[~split]))
        count += int((~split).sum())
        low, high = _cut(low[split], high[split], FEW if split.sum() <= FEW else 2)
    starts, ends, longest = (np.concatenate([leaf[k] for leaf in leaves]) for k in range(3))
    order = np.argsort(starts)
    merged = np.array(_adjacent_merged(sorted(edges))).reshape(-1, 2)
    # a kink at the end of the run needs no end of a step: nothing follows
    at_end = merged[:, 1] >= duration
    merged = merged[~at_end | search.jumps(merged).any(axis=0)]
    bounds, limits = _without_inner(
        np.append(starts[order], ends[order][-1]), longest[order], merged
    )
    jumping = search.jumps(merged)
    moving = tuple(search.moving_jumps(functions.owners, merged, jumping))
    limits = np.maximum(limits, SHORTEST * duration)
    return TimeResolution(
        merged, np.asarray(jumping.any(axis=0)), bounds, limits, frozenset(search.decisive), moving
    )


def _first_points(thresholds: np.ndarray, duration: float) -> np.ndarray:
    """Ends of intervals to begin with: equidistant, and on both sides of times that are compared with
    constants, which need no search (a table has hundreds of them).
    """
    even = np.append(np.arange(COARSE) * (duration / COARSE), duration)
    c = thresholds[(thresholds >= 0) & (thresholds <= duration)]
    after = np.maximum(np.nextafter(c, np.inf), np.where(c == 0, FINEST * duration, 0.0))
    points = np.unique(np.concatenate([even, np.nextafter(c, -np.inf), c, after]))
    return np.asarray(points[(points >= 0) & (points <= duration)])


def _cut(low: np.ndarray, high: np.ndarray, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Each interval in equal parts, as far as there are floating-point numbers between."""
    shares = np.arange(parts + 1) / parts
    bounds = np.maximum.accumulate(low[:, None] + shares * (high - low)[:, None], axis=1)
    bounds[:, -1] = high
    bounds = np.minimum(bounds, high[:, None])
    begins, ends = bounds[:, :-1].ravel(), bounds[:, 1:].ravel()
    return begins[ends > begins], ends[ends > begins]


class _Search:
    """Bounds of all operations, and which of them matter where."""

    def __init__(self, tape: Tape, duration: float, values: np.ndarray):
        self.tape, self.values = tape, values
        self.decisive: set[int] = set()
        count = len(tape.operations)
        self.lowest, self.highest = np.full(count, np.inf), np.full(count, -np.inf)
        times = np.linspace(0.0, duration, 4 * COARSE + 1)
        self._sample(tape.bounds(times, times, values))

    def _sample(self, points: list[Bounds]) -> None:
        """Values at points tell what range each operation has at least."""
        for k, (value, _) in enumerate(points):
            known = np.clip(value[~np.isnan(value)], -HUGE, HUGE)
            if known.size:
                self.lowest[k], self.highest[k] = (
                    min(self.lowest[k], known.min()),
                    max(self.highest[k], known.max()),
                )

    def look(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Longest steps of some intervals; whether they are too wide for that to be known; whether
        something may switch within.
        """
        parts = -(-low.size * len(self.tape.operations) // WORK)
        each = zip(np.array_split(low, parts), np.array_split(high, parts), strict=True)
        limits, rough, switching = zip(*[self._look(*part) for part in each], strict=True)
        return np.concatenate(limits), np.concatenate(rough), np.concatenate(switching)

    def _look(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same for as many as fit into memory at once."""
        tape = self.tape
        middle = low + (high - low) / 2
        self._sample(tape.bounds(middle, middle, self.values))
        bounds = tape.bounds(low, high, self.values)
        relevant = _relevant(tape, bounds)
        limits, rough, switching = (
            np.full(low.size, np.inf),
            np.zeros(low.size, bool),
            np.zeros(low.size, bool),
        )
        unresolved: dict[int, np.ndarray] = {}
        for k, operation in enumerate(tape.operations):
            if not operation.arguments or not relevant[k].any():
                continue
            undecided = (
                _undecided(operation.code, [bounds[a] for a in operation.arguments], bounds[k])
                & relevant[k]
            )
            if undecided.any():
                switching |= undecided
                self.decisive |= tape.parameters_of[k]
            if operation.code not in LINEAR:
                width = self._variation(k, bounds[k])
                with np.errstate(all="ignore"):
                    limits = np.where(
                        relevant[k], np.minimum(limits, STEPS * (high - low) / width), limits
                    )
                unresolved[k] = undecided | (relevant[k] & (width > 1))
            else:  # what it is given may vary
                unresolved[k] = np.logical_or.reduce(
                    [undecided, *[unresolved[a] for a in operation.arguments if a in unresolved]]
                )
        for k, where in unresolved.items():
            rough |= where
            inner = [unresolved[a] for a in tape.operations[k].arguments if a in unresolved]
            if (where & ~np.logical_or.reduce(inner) if inner else where).any():
                self.decisive |= tape.parameters_of[k]
        return limits, rough, switching

    def jumps(self, edges: np.ndarray) -> np.ndarray:
        """(output, edge): whether it jumps there; what is not known does."""
        tape = self.tape
        before, after = (tape.bounds(times, times, self.values) for times in edges.T)
        rows = []
        for output in tape.outputs:
            size = max(abs(self.lowest[output]), abs(self.highest[output]))
            with np.errstate(invalid="ignore"):
                rows.append(~(np.abs(after[output][0] - before[output][0]) <= NO_JUMP * size))
        return np.array(rows)

    def moving_jumps(
        self, owners: Sequence[str], edges: np.ndarray, jumping: np.ndarray
    ) -> Iterator[Jump]:
        """Jumps that parameters move."""
        tape = self.tape
        across = tape.bounds(edges[:, 0], edges[:, 1], self.values)
        for k, time in enumerate(edges[:, 1].tolist()):
            switching = [
                number
                for number, o in enumerate(tape.operations)
                if o.arguments
                and _undecided(o.code, [across[a] for a in o.arguments], across[number])[k]
            ]
            parameters = frozenset[int]().union(
                *[tape.parameters_of[number] for number in switching]
            )
            if parameters and jumping[:, k].any():
                yield Jump(time, owners[int(jumping[:, k].argmax())], parameters)

    def _variation(self, k: int, bounds: Bounds) -> np.ndarray:
        """How much an operation may vary over each interval, over what is allowed; nothing where it
        may be anything.
        """
        low, high = (np.clip(x, -HUGE, HUGE) for x in bounds)
        size = max(abs(self.lowest[k]), abs(self.highest[k]))
        allowed = (
            VARIATION * max(self.highest[k] - self.lowest[k], SMALL * size)
            if np.isfinite(size)
            else 0.0
        )
        unknown = (bounds[0] == -np.inf) & (bounds[1] == np.inf)
        with np.errstate(all="ignore"):
            return np.where(unknown | (low == high), 0.0, (high - low) / allowed)


def _undecided(code: int, given: list[Bounds], own: Bounds) -> np.ndarray:
    """Intervals within which an operation may switch."""
    if code in TRUTH:
        return np.asarray(own[0] != own[1])
    if code in (ca.OP_SIGN, ca.OP_FABS):
        return np.asarray(np.sign(given[0][0]) != np.sign(given[0][1]))
    if code in (ca.OP_FLOOR, ca.OP_CEIL):
        return np.asarray(own[0] != own[1])
    if code in (ca.OP_FMIN, ca.OP_FMAX):
        (a, b), (c, d) = given
        return np.asarray(np.sign(a - d) != np.sign(b - c))
    if code == ca.OP_COPYSIGN:
        return np.asarray(np.sign(given[1][0]) != np.sign(given[1][1]))
    if code in (ca.OP_FMOD, ca.OP_REMAINDER):
        with np.errstate(all="ignore"):
            return np.asarray(
                np.trunc(given[0][0] / given[1][0]) != np.trunc(given[0][1] / given[1][1])
            )
    return np.zeros(own[0].size, bool)


def _relevant(tape: Tape, bounds: list[Bounds]) -> np.ndarray:
    """(operation, interval): whether its result can make a difference."""
    found = np.zeros((len(tape.operations), bounds[0][0].size), bool)
    found[tape.outputs] = True
    for k in range(len(tape.operations) - 1, -1, -1):
        operation = tape.operations[k]
        for place, argument in enumerate(operation.arguments):
            used = found[k]
            if operation.code == ca.OP_MUL or (operation.code == ca.OP_IF_ELSE_ZERO and place == 1):
                low, high = bounds[operation.arguments[1 - place]]
                used = used & ~((low == 0) & (high == 0))
            found[argument] |= used
    return found


def _adjacent_merged(edges: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Neighbouring intervals of one switch as one."""
    merged: list[tuple[float, float]] = []
    for low, high in edges:
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], high
        else:
            merged.append((low, high))
    return merged


def _without_inner(
    bounds: np.ndarray, limits: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same without bounds inside of an edge."""
    inside = np.zeros(bounds.size, bool)
    for low, high in edges:
        inside |= (bounds > low) & (bounds < high)
    return bounds[~inside], limits[~inside[:-1]]
