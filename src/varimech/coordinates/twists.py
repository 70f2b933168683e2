"""Translations and rotations of all bodies, in separate symbols, as virtual motions."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from ..core.symbols import SX
from ..model.beam import Beam
from ..model.body import Body, Frames, Point
from ..model.frame import Frame, known_points, spin
from ..model.model_data import ModelData


class Twists:
    """Frames in separate symbols, with rates  ȯ = u,  Ṙ = ω̃ R: the independent motions of each
    body.
    """

    def __init__(self, bodies: list[Body], model: ModelData):
        self._bodies = bodies
        n = model.dimension
        self.size = 0
        self.turning: list[int] = []
        """1 for rotations, 0 for translations."""
        self.frames: dict[Body, Frame] = {model.ground: model.ground_frame()}
        self._pose: list[SX] = []
        self._motion: list[SX] = []
        self._offsets: dict[Body, int] = {}
        for body in bodies:
            if isinstance(body, Beam):
                motion = [SX.sym("u", n) for _ in body.nodes]
                known = known_points(
                    (p.local, SX.sym("r", n), u) for p, u in zip(body.nodes, motion, strict=True)
                )
                frame = body.frame(known)
            else:
                origin, rotation = SX.sym("o", n), SX.sym("R", n, n)
                motion = [SX.sym("u", n), SX.sym("ω", 1 if n == 2 else 3)]
                frame = Frame(origin, rotation, motion[0], spin(motion[1]) @ rotation)
            self.frames[body] = frame
            self._pose += _pose(body, frame)
            self._motion += motion
            self._offsets[body] = self.size
            self.size += sum(x.numel() for x in motion)
            self.turning += [
                int(x is motion[-1] and not isinstance(body, Beam))
                for x in motion
                for _ in range(x.numel())
            ]

    def columns(self, point: Point) -> slice:
        """Return the columns of the translation and rotation of a point's body; for a point of a
        beam, of its translation alone.
        """
        body, n = point.body, point.body.dimension
        offset = self._offsets[body]
        if isinstance(body, Beam):
            offset += n * body.nodes.index(point)
            return slice(offset, offset + n)
        return slice(offset, offset + (3 if n == 2 else 6))

    def jacobian(self, expression: SX, actual: Frames) -> SX:
        """Return the derivative of a function of the poses with respect to translations and
        rotations, at the actual frames.
        """
        return self.rate_jacobian(self.rate(expression), actual)

    def rate(self, expression: SX) -> SX:
        """Return the rate of a function of the poses due to translations and rotations."""
        moved = ca.vertcat(*[x for b in self._bodies for x in _pose(b, self.frames[b], rate=True)])
        return ca.jtimes(expression, ca.vertcat(*self._pose), moved)

    def rate_jacobian(self, rate: SX, actual: Frames) -> SX:
        """Return the derivative of a rate that is linear in translations and rotations with respect
        to these.
        """
        return self._at(ca.jacobian(rate, ca.vertcat(*self._motion)), actual)

    def coefficients(self, rate: SX, actual: Frames, effort: SX | None = None) -> SX:
        """Return the generalised force of an effort at a rate that is linear in translations and
        rotations.
        """
        weighted = rate if effort is None else ca.dot(rate, effort)
        return self._at(ca.gradient(weighted, ca.vertcat(*self._motion)), actual)

    def _at(self, expression: SX, actual: Frames) -> SX:
        pose = ca.vertcat(*[x for b in self._bodies for x in _pose(b, actual[b])])
        still = SX.zeros(self.size)
        return ca.substitute(
            [expression],
            [ca.vertcat(*self._pose), ca.vertcat(*self._motion)],
            [ca.densify(pose), still],
        )[0]


def _pose(body: Body, frame: Frame, *, rate: bool = False) -> list[SX]:
    """Return the pose of a body, or its rate: origin and rotation, or the positions of all nodes of
    a beam.
    """
    if isinstance(body, Beam):
        return [(frame.velocity if rate else frame.position)(p.local) for p in body.nodes]
    return (
        [frame.origin_rate, ca.vec(frame.rotation_rate)]
        if rate
        else [frame.origin, ca.vec(frame.rotation)]
    )


def accelerated(actual: Frame, virtual: Frame, differentiate: Callable[[SX], SX]) -> Frame:
    """Return a frame whose rates are the sums of accelerations and virtual rates."""
    R̈ = ca.reshape(differentiate(ca.vec(actual.rotation_rate)), actual.rotation.shape)
    known = {
        key: (local, position, differentiate(velocity) + virtual.velocity(local))
        for key, (local, position, velocity) in actual.known.items()
    }
    rates = differentiate(actual.origin_rate) + virtual.origin_rate, R̈ + virtual.rotation_rate
    return Frame(actual.origin, actual.rotation, *rates, known)
