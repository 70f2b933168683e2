"""Location of switches and fast changes of explicit functions of time before a run, by bisection
with interval bounds.

An interval of time is resolved when no switch (a comparison, sign, floor, the argument of abs,
maximum, minimum) can change within it, and every nonlinear operation f varies over it by no more
than a share of its whole range:

    width [f](interval) ≤ VARIATION · max(range f, SMALL · max |f|)

Unresolved intervals are halved; a switch is followed down to neighbouring floating-point numbers.
Bounds hold for the whole of an interval, so a pulse cannot hide between samples. Operations whose
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
"""Initial number of intervals: shorter than the steps of a run without fast features."""
VARIATION = 0.25
"""Share of its range by which an operation may vary over an interval: a sine is divided into twelve
intervals per period.
"""
SMALL = 0.1
"""Share of its largest value that counts as the range of an operation that hardly varies."""
STEPS = 8.0
"""Resolved intervals that one step may span: two thirds of the period of a sine, twice the width of
a bell. The error estimate detects such slow variation; closer limits would cost steps without
benefit.
"""
FEW = 16
"""Number of unresolved intervals up to which each is divided into as many parts at once: for so few
the number of passes determines the cost, not their length.
"""
MOST = 1 << 15
"""Largest number of intervals: some thousand periods or pulses. Functions that vary faster
everywhere are not hidden from the error estimate.
"""
WORK = 10_000_000
"""Largest number of intervals times operations that are bounded at once; each takes 16 bytes."""
FINEST = 2.0**-52
"""Share of the duration below which a switch is not followed: neighbouring floating-point numbers
at its end.
"""
HUGE = 1e200
"""Larger values are all equal: overflow on one branch does not affect the other."""
SHORTEST = 1e-10
"""Least limit of steps, as a share of the duration."""
NO_JUMP = 1e-9
"""Share of a function's largest value by which it may change across an edge where only its
derivative jumps.
"""
CONTRAST = 4.0
"""Ratio of neighbouring limits at which a new piece begins."""

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
"""Operations without nonlinear features of their own."""


@dataclass(frozen=True)
class Jump:
    """A jump of an explicit function of time."""

    time: float
    owner: str
    """The force, driver or objective that jumps."""
    parameters: frozenset[int]
    """Parameters that move the jump."""


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
    """Longest step in each interval, infinite where there is no limit."""
    parameters: frozenset[int]
    """Parameters on which edges and limits depend."""
    jumps: tuple[Jump, ...]
    """Jumps that parameters move."""

    @property
    def probes(self) -> np.ndarray:
        """Times at which functions are probed, followed by the duration that each represents."""
        return np.concatenate([(self.bounds[1:] + self.bounds[:-1]) / 2, np.diff(self.bounds)])

    def pieces(self, longest: float) -> Pieces | None:
        """Divide the run into pieces, each with a longest step; None where one step limit serves
        all and no step has to end at an edge.
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
    """Find all switches and narrow features over a run, for given values of the parameters."""
    tape = functions.tape
    search = _Search(tape, duration, values)
    points = _first_points(tape.thresholds(), duration)
    low, high = points[:-1], points[1:]
    leaves: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    edges: list[tuple[float, float]] = []
    count, most = 0, max(4 * COARSE, min(MOST, WORK // len(tape.operations)))
    while low.size:
        limits, rough, switching = search.look(low, high)
        if count + low.size > most:  # the error estimate has to detect the rest
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
    # a kink at the end of the run needs no step end: nothing follows
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
    """Return the ends of the initial intervals: equidistant, and on both sides of times that are
    compared with constants, which need no search (a table has hundreds of them).
    """
    even = np.append(np.arange(COARSE) * (duration / COARSE), duration)
    c = thresholds[(thresholds >= 0) & (thresholds <= duration)]
    after = np.maximum(np.nextafter(c, np.inf), np.where(c == 0, FINEST * duration, 0.0))
    points = np.unique(np.concatenate([even, np.nextafter(c, -np.inf), c, after]))
    return np.asarray(points[(points >= 0) & (points <= duration)])


def _cut(low: np.ndarray, high: np.ndarray, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Divide each interval into equal parts, as far as there are floating-point numbers between its
    ends.
    """
    shares = np.arange(parts + 1) / parts
    bounds = np.maximum.accumulate(low[:, None] + shares * (high - low)[:, None], axis=1)
    bounds[:, -1] = high
    bounds = np.minimum(bounds, high[:, None])
    begins, ends = bounds[:, :-1].ravel(), bounds[:, 1:].ravel()
    return begins[ends > begins], ends[ends > begins]


class _Search:
    """Bounds of all operations, and the intervals in which each of them matters."""

    def __init__(self, tape: Tape, duration: float, values: np.ndarray):
        self.tape, self.values = tape, values
        self.decisive: set[int] = set()
        count = len(tape.operations)
        self.lowest, self.highest = np.full(count, np.inf), np.full(count, -np.inf)
        times = np.linspace(0.0, duration, 4 * COARSE + 1)
        self._sample(tape.bounds(times, times, values))

    def _sample(self, points: list[Bounds]) -> None:
        """Update the range of each operation from its values at points."""
        for k, (value, _) in enumerate(points):
            finite = np.clip(value[~np.isnan(value)], -HUGE, HUGE)
            if finite.size:
                self.lowest[k], self.highest[k] = (
                    min(self.lowest[k], finite.min()),
                    max(self.highest[k], finite.max()),
                )

    def look(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the longest steps in intervals; whether an interval is too wide to determine them;
        and whether something may switch within it.
        """
        parts = -(-low.size * len(self.tape.operations) // WORK)
        each = zip(np.array_split(low, parts), np.array_split(high, parts), strict=True)
        limits, rough, switching = zip(*[self._look(*part) for part in each], strict=True)
        return np.concatenate(limits), np.concatenate(rough), np.concatenate(switching)

    def _look(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Examine as many intervals as fit into memory at once; results as those of `look`."""
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
            else:  # its arguments may vary
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
        """(output, edge): whether the output jumps there; true where it is not known."""
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
        """Yield jumps that parameters move."""
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
        """Return the variation of an operation over each interval, relative to the allowed
        variation; zero where it is unbounded.
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


def _undecided(code: int, arguments: list[Bounds], own: Bounds) -> np.ndarray:
    """Return for each interval whether an operation may switch within it."""
    if code in TRUTH:
        return np.asarray(own[0] != own[1])
    if code in (ca.OP_SIGN, ca.OP_FABS):
        return np.asarray(np.sign(arguments[0][0]) != np.sign(arguments[0][1]))
    if code in (ca.OP_FLOOR, ca.OP_CEIL):
        return np.asarray(own[0] != own[1])
    if code in (ca.OP_FMIN, ca.OP_FMAX):
        (a, b), (c, d) = arguments
        return np.asarray(np.sign(a - d) != np.sign(b - c))
    if code == ca.OP_COPYSIGN:
        return np.asarray(np.sign(arguments[1][0]) != np.sign(arguments[1][1]))
    if code in (ca.OP_FMOD, ca.OP_REMAINDER):
        with np.errstate(all="ignore"):
            return np.asarray(
                np.trunc(arguments[0][0] / arguments[1][0])
                != np.trunc(arguments[0][1] / arguments[1][1])
            )
    return np.zeros(own[0].size, bool)


def _relevant(tape: Tape, bounds: list[Bounds]) -> np.ndarray:
    """(operation, interval): whether the result of the operation can affect an output."""
    relevant = np.zeros((len(tape.operations), bounds[0][0].size), bool)
    relevant[tape.outputs] = True
    for k in range(len(tape.operations) - 1, -1, -1):
        operation = tape.operations[k]
        for place, argument in enumerate(operation.arguments):
            used = relevant[k]
            if operation.code == ca.OP_MUL or (operation.code == ca.OP_IF_ELSE_ZERO and place == 1):
                low, high = bounds[operation.arguments[1 - place]]
                used = used & ~((low == 0) & (high == 0))
            relevant[argument] |= used
    return relevant


def _adjacent_merged(edges: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Merge neighbouring intervals of one switch."""
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
    """Remove bounds inside of edges."""
    inside = np.zeros(bounds.size, bool)
    for low, high in edges:
        inside |= (bounds > low) & (bounds < high)
    return bounds[~inside], limits[~inside[:-1]]
