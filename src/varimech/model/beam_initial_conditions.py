"""Initial conditions that keep the nodes of a beam on its shape.

All points of a shape follow from few of them. Of a straight one, and of any in the plane, two:
between nodes p and q lies

    r = r_p + f (r_q − r_p)  (straight),     r = r_p + x c + y c⊥,  c = r_q − r_p  (plane),

so a beam whose ends are held at another distance than they were made for starts out stretched,
evenly. Nodes are held between those that halve the beam, then each half, and so on: that is as well
conditioned as it is sparse. In space a curved shape follows from three nodes.
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
    """Where the shape has a vector s (given by its local components), from two or three nodes that
    it is seen from.
    """

    beam: Beam
    seen_from: tuple[int, ...]

    def vector(self, frames: Frames, s: SX, fraction: float | None, *, rate: bool = False) -> SX:
        """s as it stands, or its rate; `fraction` of the line between the two nodes where that is
        what it is.
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
    """A node is where the shape has it."""

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
        """The direction of the unstressed shape at that end, in its local components."""
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
    """The nodes from which the whole shape follows."""
    n = beam.segments
    ends = (0, n)
    return _Placing(
        beam, ends if beam.shape.straight or beam.dimension == 2 else (*ends, beam.shape.middle)
    )


def reference_pairs(beam: Beam) -> list[tuple[int, int]]:
    """Nodes whose distances the shape knows and nothing else holds."""
    seen_from = placing(beam).seen_from
    return [(p, q) for i, p in enumerate(seen_from) for q in seen_from[i + 1 :]]


def node_conditions(
    beam: Beam, attached: Sequence[int]
) -> tuple[list[NodeCondition], list[NodeCondition]]:
    """Conditions for nodes that nothing else touches, and for those that joints or initial values
    may have placed already (`attached`).
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
