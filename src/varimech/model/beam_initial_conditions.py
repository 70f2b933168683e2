"""Initial conditions that keep the nodes of a beam on its shape.

A few nodes determine all points of a shape. For a straight shape, and for any shape in the plane,
two nodes p and q suffice:

    r = r_p + f (r_q − r_p)  (straight),     r = r_p + x c + y c⊥,  c = r_q − r_p  (plane),

so a beam whose ends are assembled at a distance other than its own starts with uniform stretch.
Each node is placed relative to the nodes at the ends of an interval that it halves: first the whole
beam, then each half, and so on. That is both well conditioned and sparse. In space, three nodes
determine a curved shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ..core.symbols import SX, wedge
from .beam import Beam
from .body import Frames, Point
from .conditions import Axis
from .initial_conditions import InitialCondition


@dataclass(frozen=True)
class _Placing:
    """Map from a vector s of the shape, in local components, to its present value, from the two or
    three nodes that determine the shape.
    """

    beam: Beam
    seen_from: tuple[int, ...]

    def vector(self, frames: Frames, s: SX, fraction: float | None, *, rate: bool = False) -> SX:
        """Return the present vector of s, or its rate. With `fraction`, it is that fraction of the
        line between the two nodes.
        """
        frame, nodes, local = (
            frames[self.beam],
            [self.beam.nodes[k] for k in self.seen_from],
            self.beam.shape.places,
        )
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
class NodeCondition(InitialCondition):
    """A node is at its place on the shape."""

    node: int
    placing: _Placing

    def deviation(self, frames: Frames) -> SX:
        return self._deviation(frames, rate=False)

    def rate_deviation(self, frames: Frames) -> SX:
        return self._deviation(frames, rate=True)

    def _deviation(self, frames: Frames, *, rate: bool) -> SX:
        beam, (p, q, *_) = self.placing.beam, self.placing.seen_from
        frame, shape = frames[beam], beam.shape
        here, from_ = (
            (frame.velocity if rate else frame.position)(beam.nodes[k].local)
            for k in (self.node, p)
        )
        fraction = (self.node - p) / (q - p) if shape.straight else None
        s = shape.places[self.node] - shape.places[p]
        return here - from_ - self.placing.vector(frames, s, fraction, rate=rate)


@dataclass(frozen=True)
class DirectionCondition(InitialCondition):
    """The shape leaves an end along a direction of another body."""

    axis: Axis
    end: Point
    placing: _Placing

    @property
    def tangent(self) -> SX:
        """Direction of the unstressed shape at that end, in local components."""
        beam = self.placing.beam
        return beam.shape.tangent(self.end is beam.nodes[0])

    def alignment(self, frames: Frames) -> SX:
        d = frames[self.axis.body].direction(self.axis.direction)
        return 3 * ca.dot(d, self._tangent(frames, rate=False))

    def deviation(self, frames: Frames) -> SX:
        t, frame = self._tangent(frames, rate=False), frames[self.axis.body]
        return ca.vertcat(*[ca.dot(frame.direction(n), t) for n in self.axis.normals])

    def rate_deviation(self, frames: Frames) -> SX:
        frame, (t, ṫ) = (
            frames[self.axis.body],
            (self._tangent(frames, rate=rate) for rate in (False, True)),
        )
        return ca.vertcat(
            *[
                ca.dot(frame.direction(n), ṫ) + ca.dot(frame.rotation_rate @ n, t)
                for n in self.axis.normals
            ]
        )

    def _tangent(self, frames: Frames, *, rate: bool) -> SX:
        beam = self.placing.beam
        if beam.shape.straight:
            sign = 1.0 if self.end is beam.nodes[0] else -1.0
            return self.placing.vector(frames, SX(0), sign, rate=rate) / beam.shape.chord(
                0, beam.segments
            )
        return self.placing.vector(frames, self.tangent, None, rate=rate)


def placing(beam: Beam) -> _Placing:
    """The nodes that determine the whole shape."""
    n = beam.segments
    ends = (0, n)
    return _Placing(
        beam, ends if beam.shape.straight or beam.dimension == 2 else (*ends, beam.shape.middle)
    )


def reference_pairs(beam: Beam) -> list[tuple[int, int]]:
    """Pairs of nodes whose distances are set by the shape and by no other condition."""
    seen_from = placing(beam).seen_from
    return [(p, q) for i, p in enumerate(seen_from) for q in seen_from[i + 1 :]]


def node_conditions(
    beam: Beam, attached: Sequence[int]
) -> tuple[list[NodeCondition], list[NodeCondition]]:
    """Conditions for nodes that no joint or initial value touches, and for nodes that joints or
    initial values may have placed already (`attached`).
    """
    whole = placing(beam)
    placed = {*whole.seen_from, *attached}
    touched = [k for k in sorted(placed) if k not in whole.seen_from]
    between = beam.shape.straight or beam.dimension == 2
    free: list[NodeCondition] = []
    spans = [(0, beam.segments)]
    while spans:
        p, q = spans.pop()
        if q - p < 2:
            continue
        k = (p + q) // 2
        if k not in placed:
            free.append(
                NodeCondition(_label(beam, k), k, _Placing(beam, (p, q)) if between else whole)
            )
        spans += [(p, k), (k, q)]
    return free, [NodeCondition(_label(beam, k), k, whole) for k in touched]


def _label(beam: Beam, k: int) -> str:
    return f"shape of {beam.name!r} at {beam.nodes[k].name!r}"
