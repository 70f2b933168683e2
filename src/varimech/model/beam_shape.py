"""The shape of a beam at the start, and how it holds the nodes there.

All points of a shape follow from few of them. Of a straight one, and of any in the plane, two: between nodes p and q lies

    r = r_p + f (r_q − r_p)  (straight),     r = r_p + x c + y c⊥,  c = r_q − r_p  (plane),

so a beam whose ends are held at another distance than they were made for starts out stretched, evenly. Nodes are held between those that
halve the beam, then each half, and so on: that is as well conditioned as it is sparse. In space a curved shape follows from three nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..errors import ModelError
from ..symbols import SX, wedge
from .body import Frames, Point
from .conditions import Axis
from .numbers import Numbers, evaluated

if TYPE_CHECKING:
    from .beam import Beam


@dataclass(frozen=True)
class BeamShape:
    """Local coordinates of all nodes (m), and the length along them."""

    places: tuple[SX, ...]
    straight: bool
    middle: int
    """The node that is farthest from the line between the ends; in space it tells, with them, where a curved beam is."""
    bent: tuple[bool, ...]
    """For each node whether the shape is bent there."""
    given_length: SX | None = None

    @cached_property
    def length(self) -> SX:
        """Along the segments (m)."""
        if self.given_length is not None:
            return self.given_length
        return sum((self.segment_length(k) for k in range(len(self.places) - 1)), SX(0))

    def segment_length(self, k: int) -> SX:
        """Of one segment (m)."""
        return ca.norm_2(self.places[k + 1] - self.places[k])

    def tangent(self, at_start: bool) -> SX:
        """Unit vector along the curve as it leaves an end: directions of two segments, which are those at their middles, extrapolated."""
        places = self.places if at_start else self.places[::-1]
        first = places[1] - places[0]
        if len(places) == 2 or self.straight:
            return first / ca.norm_2(first)
        second = places[2] - places[1]
        one, two = ca.norm_2(first), ca.norm_2(second)
        found = first / one - (second / two - first / one) * (one / (one + two))
        return found / ca.norm_2(found)

    def segments_at(self, k: int) -> tuple[SX, SX]:
        """Both segments that meet at a node between the ends."""
        return self.places[k] - self.places[k - 1], self.places[k + 1] - self.places[k]

    def chord(self, first: int, second: int) -> SX:
        """Distance of two nodes (m)."""
        if self.straight and self.given_length is not None:
            return self.given_length * (abs(second - first) / (len(self.places) - 1))
        return ca.norm_2(self.places[second] - self.places[first])


def segment_count(segments: Any, label: str) -> int:
    """A number of segments, checked."""
    if isinstance(segments, bool) or not isinstance(segments, Integral) or segments < 1:
        raise ModelError(f"{label}: segments = {segments!r} must be a whole number, 1 or more")
    return int(segments)


def pair_of(value: Any, label: str) -> tuple[Any, Any]:
    """Two numbers."""
    if not hasattr(value, "__len__") or len(value) != 2:
        raise ModelError(f"{label} = {value!r} must be a pair (γ in 1/s, β in s)")
    return value[0], value[1]


def shape_of(numbers: Numbers, length: Any, shape: Any, segments: int, dimension: int, label: str) -> BeamShape:
    """A shape from the length of a straight beam, a function of s in [0, 1], or the places of all nodes."""
    if (length is None) == (shape is None):
        raise ModelError(f"{label} needs either length=… (m) or, if it is curved, shape=…")
    if length is not None:
        L = numbers.scalar(length, f"{label}: length", "positive", unit="m")
        places = [ca.vertcat(k * L / segments, SX.zeros(dimension - 1)) for k in range(segments + 1)]
        return BeamShape(tuple(ca.densify(p) for p in places), True, segments // 2, (False,) * (segments + 1), L)
    if isinstance(shape, (list, tuple)) and any(isinstance(x, str) for x in shape):
        shape = _told(numbers, shape, label)
    found = [shape(k / segments) for k in range(segments + 1)] if callable(shape) else shape
    if not hasattr(found, "__len__") or len(found) != segments + 1:
        raise ModelError(f"{label}: shape must be a function of s in [0, 1], or {segments + 1} places, one for each node")
    curve = [numbers.vector_of(x, dimension, f"{label}: shape[{k}]", unit="m") for k, x in enumerate(found)]
    for k, (first, second) in enumerate(pairwise(curve)):
        numbers.require(ca.sumsqr(second - first), "positive", f"{label}: squared distance of shape[{k}] and shape[{k + 1}]")
    numbers.require(ca.sumsqr(curve[-1] - curve[0]), "positive", f"{label}: squared distance of its ends")
    values = np.array([x.ravel() for x in numbers.evaluate_all(curve)])
    chord = (values[-1] - values[0]) / np.linalg.norm(values[-1] - values[0])
    offsets = np.linalg.norm(values - values[0] - np.outer((values - values[0]) @ chord, chord), axis=1)
    size = float(np.abs(values - values[0]).max())
    if np.linalg.norm(values[-1] - values[0]) < 1e-9 * size:
        raise ModelError(f"{label}: its ends are at one place; a beam does not close by itself: make it of two")
    if dimension == 3 and offsets.max() < 1e-9 * size:
        raise ModelError(f"{label}: shape is straight; give length=… instead")
    a = np.diff(values, axis=0)
    lengths = np.linalg.norm(a, axis=1)
    cosines = (a[:-1] * a[1:]).sum(axis=1) / (lengths[:-1] * lengths[1:])
    bent = (False, *[bool(dimension == 2 or c < 1 - 1e-15) for c in cosines], False)
    return BeamShape(tuple(ca.densify(x) for x in curve), False, int(offsets.argmax()), bent)


def _told(numbers: Numbers, components: Sequence[Any], label: str) -> Callable[[float], list[Any]]:
    """A shape told as texts, one a component, that speak of s."""

    def shape(s: float) -> list[Any]:
        scope = numbers.scope_with("s", s, "the place along the beam")
        return [evaluated(x, scope, f"{label}: shape") if isinstance(x, str) else x for x in components]

    return shape


@dataclass(frozen=True)
class _Placing:
    """Where the shape has a vector s (given by its local components), from two or three nodes that it is seen from."""

    beam: Beam
    seen_from: tuple[int, ...]

    def vector(self, frames: Frames, s: SX, fraction: float | None, *, rate: bool = False) -> SX:
        """s as it stands, or its rate; `fraction` of the line between the two nodes where that is what it is."""
        frame, nodes, local = frames[self.beam], [self.beam.nodes[k] for k in self.seen_from], self.beam.shape.places
        r = [frame.position(n.local) for n in nodes]
        v = [frame.velocity(n.local) for n in nodes]
        c, ċ = r[1] - r[0], v[1] - v[0]
        moved = ċ if rate else c
        if fraction is not None:
            return fraction * moved
        d = local[self.seen_from[1]] - local[self.seen_from[0]]
        if self.beam.dimension == 2:
            x, y = ca.dot(s, d) / ca.dot(d, d), wedge(d, s) / ca.dot(d, d)
            return x * moved + y * ca.vertcat(-moved[1], moved[0])
        e = local[self.seen_from[2]] - local[self.seen_from[0]]
        x = ca.solve(ca.horzcat(d, e, ca.cross(d, e)), s)
        b, ḃ = r[2] - r[0], v[2] - v[0]
        if rate:
            return x[0] * ċ + x[1] * ḃ + x[2] * (ca.cross(ċ, b) + ca.cross(c, ḃ))
        return x[0] * c + x[1] * b + x[2] * ca.cross(c, b)


@dataclass(frozen=True)
class HeldNode:
    """A node is where the shape has it."""

    label: str
    node: int
    placing: _Placing

    @property
    def bodies(self) -> tuple[()]:
        return ()

    def deviation(self, frames: Frames) -> SX:
        return self._deviation(frames, rate=False)

    def rate_deviation(self, frames: Frames) -> SX:
        return self._deviation(frames, rate=True)

    def _deviation(self, frames: Frames, *, rate: bool) -> SX:
        beam, (p, q, *_) = self.placing.beam, self.placing.seen_from
        frame, shape = frames[beam], beam.shape
        here, from_ = ((frame.velocity if rate else frame.position)(beam.nodes[k].local) for k in (self.node, p))
        fraction = (self.node - p) / (q - p) if shape.straight else None
        s = shape.places[self.node] - shape.places[p]
        return here - from_ - self.placing.vector(frames, s, fraction, rate=rate)


@dataclass(frozen=True)
class HeldDirection:
    """The shape leaves an end along a direction of another body."""

    label: str
    axis: Axis
    end: Point
    placing: _Placing

    @property
    def bodies(self) -> tuple[()]:
        return ()

    def alignment(self, frames: Frames) -> SX:
        """1 where it is met, −1 where the shape leaves the other way."""
        return ca.dot(frames[self.axis.body].direction(self.axis.direction), self._tangent(frames, rate=False))

    def deviation(self, frames: Frames) -> SX:
        t, frame = self._tangent(frames, rate=False), frames[self.axis.body]
        return ca.vertcat(*[ca.dot(frame.direction(n), t) for n in self.axis.normals])

    def rate_deviation(self, frames: Frames) -> SX:
        frame, (t, ṫ) = frames[self.axis.body], (self._tangent(frames, rate=rate) for rate in (False, True))
        return ca.vertcat(*[ca.dot(frame.direction(n), ṫ) + ca.dot(frame.rotation_rate @ n, t) for n in self.axis.normals])

    def _tangent(self, frames: Frames, *, rate: bool) -> SX:
        beam = self.placing.beam
        at_start = self.end is beam.nodes[0]
        if beam.shape.straight:
            sign = 1.0 if at_start else -1.0
            return self.placing.vector(frames, SX(0), sign, rate=rate) / beam.shape.chord(0, beam.segments)
        return self.placing.vector(frames, beam.shape.tangent(at_start), None, rate=rate)


def placing(beam: Beam) -> _Placing:
    """What tells where the whole shape is."""
    n = beam.segments
    ends = (0, n)
    return _Placing(beam, ends if beam.shape.straight or beam.dimension == 2 else (*ends, beam.shape.middle))


def reference_pairs(beam: Beam) -> list[tuple[int, int]]:
    """Nodes whose distances the shape knows and nothing else holds."""
    seen_from = placing(beam).seen_from
    return [(p, q) for i, p in enumerate(seen_from) for q in seen_from[i + 1 :]]


def held_nodes(beam: Beam, attached: Sequence[int]) -> tuple[list[HeldNode], list[HeldNode]]:
    """Holds of nodes that nothing else touches, and of those that joints or the start may have placed already (`attached`)."""
    whole = placing(beam)
    placed = {*whole.seen_from, *attached}
    touched = [k for k in sorted(placed) if k not in whole.seen_from]
    between = beam.shape.straight or beam.dimension == 2
    free: list[HeldNode] = []
    spans = [(0, beam.segments)]
    while spans:
        p, q = spans.pop()
        if q - p < 2:
            continue
        k = (p + q) // 2
        if k not in placed:
            free.append(HeldNode(_label(beam, k), k, _Placing(beam, (p, q)) if between else whole))
        spans += [(p, k), (k, q)]
    return free, [HeldNode(_label(beam, k), k, whole) for k in touched]


def _label(beam: Beam, k: int) -> str:
    return f"shape of {beam.name!r} at {beam.nodes[k].name!r}"
