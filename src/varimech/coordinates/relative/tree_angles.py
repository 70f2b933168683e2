"""Angles that count turns, as relative coordinates know them.

The angle of a joint in the tree is its coordinate, that of a planar body the sum along its path.
Coordinates are assembled in (−π, π], and made to include the turns of angles that are given. So a
sum is the angle where that is given; a single coordinate also where it is not, unless it takes the
turns of another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from ...core.symbols import SX
from ...model.scalar_outputs import Turn
from ..counted_angles import GivenAngles, GivenTurns
from ..own_coordinates import OwnCoordinates
from .recursion import Recursion


class TreeAngles:
    """The angles of some bodies and joints.

    Attributes:
        known: those that follow from joint coordinates, by name.
        missing: names of those that need a coordinate of their own.
    """

    def __init__(self, recursion: Recursion, names: Sequence[str]):
        self._recursion, self._model = recursion, recursion.model
        self.given = GivenAngles(self._model)
        self._given_sums = self._sums_of_given() if names else []
        self.known: dict[str, SX] = {}
        self.missing: list[str] = []
        for name in names:
            angle = self._sum(self._model.find_angle(name))
            if angle is not None and (self.given(name) is not None or self._single(angle)):
                self.known[name] = angle
            else:
                self.missing.append(name)

    def turn_of(self, turn: Turn, own: OwnCoordinates) -> SX | None:
        """A given angle without jumps, where turns matter."""
        known = (angle for given, angle, _ in self._given_sums if given is turn)
        return next(known, own.turn_of(turn))

    def given_turns(self, q: SX, own: OwnCoordinates) -> GivenTurns:
        """Turns of all angles that are given."""
        pairs = [(angle, at) for _, angle, at in self._given_sums]
        pairs += [(a.θ, a.given) for a in own.angles.values() if a.given is not None]
        angles, given = zip(*pairs, strict=True) if pairs else ((), ())
        return GivenTurns(q, self._model.parameter_set.vector, angles, given)

    def _sums_of_given(self) -> list[tuple[Turn, SX, SX]]:
        """Angles that are given as sums of coordinates, nearest to the root first."""
        sums = [(turn, self._sum(turn), at) for turn, at in self.given.turns]
        given = [(turn, angle, at) for turn, angle, at in sums if angle is not None]
        targets = GivenTurns(
            self._recursion.q,
            self._model.parameter_set.vector,
            tuple(angle for _, angle, _ in given),
            tuple(at for _, _, at in given),
        ).targets
        return [x for _, x in sorted(zip(targets, given, strict=True), key=lambda pair: pair[0])]

    @cached_property
    def _shifted(self) -> set[int]:
        """Hashes of coordinates that take the turns of sums of several ones."""
        sums = tuple(angle for _, angle, _ in self._given_sums if _coordinate(angle) is None)
        q = self._recursion.q
        targets = GivenTurns(q, self._model.parameter_set.vector, sums, sums).targets
        return {q[k].element_hash() for k, _ in targets}

    def _single(self, angle: SX) -> bool:
        """Whether an angle is one coordinate, or its opposite, and in (−π, π] at the start."""
        coordinate = _coordinate(angle)
        return coordinate is not None and coordinate.element_hash() not in self._shifted

    def _sum(self, turn: Turn) -> SX | None:
        """An angle as a sum of joint coordinates; None where it is none."""
        recursion, tree = self._recursion, self._recursion.tree
        for body in turn.bodies:
            link = tree.link_of.get(body)
            own = None if link is None or link.joint is None else link.joint.angle()
            if own is not None and own.same(turn):
                return self._linear(recursion.joint_angle(body))
        if self._model.dimension == 3:
            return None
        carrier = tree.carrier(turn.bodies)
        total = SX(0)
        for body, sign in zip(turn.bodies, (-1, 1), strict=True):
            path = tree.path(body)
            for between in reversed(path[: path.index(carrier)]):
                angle = recursion.joint_angle(between)
                if angle is None:
                    return None
                total += (sign if tree.link_of[between].forward else -sign) * angle
        return self._linear(total)

    def _linear(self, angle: SX | None) -> SX | None:
        """The same where it is a sum of coordinates, each added or subtracted."""
        if angle is None:
            return None
        signs = ca.jacobian(angle, self._recursion.q)
        if signs.nnz() == 0 or not signs.is_constant():
            return None
        return angle if np.all(np.abs(ca.DM(signs).nonzeros()) == 1) else None


def _coordinate(angle: SX) -> SX | None:
    """The only coordinate that an angle is, or is the opposite of."""
    return next((x for x in (angle, -angle) if x.is_symbolic()), None)
