"""Angles that count turns, as functions of relative coordinates.

The angle of a joint in the tree is its coordinate, that of a planar body the sum along its path.
Coordinates are assembled in (−π, π], and extended by the turns of prescribed angles. So a sum
equals the angle where that is prescribed; a single coordinate also where it is not, unless it takes
the turns of another one.
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
    """The angles of given bodies and joints.

    Attributes:
        known: angles that follow from joint coordinates, by name.
        missing: names of angles that need an additional coordinate.
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
        """Return a prescribed angle as a continuous function, where turns matter."""
        matching = (angle for given, angle, _ in self._given_sums if given is turn)
        return next(matching, own.turn_of(turn))

    def given_turns(self, q: SX, own: OwnCoordinates) -> GivenTurns:
        """Return the turns of all prescribed angles."""
        pairs = [(angle, at) for _, angle, at in self._given_sums]
        pairs += [(a.θ, a.given) for a in own.angles.values() if a.given is not None]
        angles, prescribed = zip(*pairs, strict=True) if pairs else ((), ())
        return GivenTurns(q, self._model.parameter_set.vector, angles, prescribed)

    def _sums_of_given(self) -> list[tuple[Turn, SX, SX]]:
        """Return prescribed angles as sums of coordinates, nearest to the root first."""
        sums = [(turn, self._sum(turn), at) for turn, at in self.given.turns]
        prescribed = [(turn, angle, at) for turn, angle, at in sums if angle is not None]
        targets = GivenTurns(
            self._recursion.q,
            self._model.parameter_set.vector,
            tuple(angle for _, angle, _ in prescribed),
            tuple(at for _, _, at in prescribed),
        ).targets
        return [
            x for _, x in sorted(zip(targets, prescribed, strict=True), key=lambda pair: pair[0])
        ]

    @cached_property
    def _shifted(self) -> set[int]:
        """Hashes of coordinates that take the turns of sums of several coordinates."""
        sums = tuple(angle for _, angle, _ in self._given_sums if _coordinate(angle) is None)
        q = self._recursion.q
        targets = GivenTurns(q, self._model.parameter_set.vector, sums, sums).targets
        return {q[k].element_hash() for k, _ in targets}

    def _single(self, angle: SX) -> bool:
        """Whether an angle is ± one coordinate, and initially in (−π, π]."""
        coordinate = _coordinate(angle)
        return coordinate is not None and coordinate.element_hash() not in self._shifted

    def _sum(self, turn: Turn) -> SX | None:
        """Return an angle as a sum of joint coordinates; None where it is not such a sum."""
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
        """Return the angle if it is a sum of coordinates with coefficients ±1; None otherwise."""
        if angle is None:
            return None
        signs = ca.jacobian(angle, self._recursion.q)
        if signs.nnz() == 0 or not signs.is_constant():
            return None
        return angle if np.all(np.abs(ca.DM(signs).nonzeros()) == 1) else None


def _coordinate(angle: SX) -> SX | None:
    """Return the coordinate that equals an angle or its opposite; None if there is none."""
    return next((x for x in (angle, -angle) if x.is_symbolic()), None)
