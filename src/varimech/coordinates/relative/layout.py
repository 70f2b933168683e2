"""Layout of the vectors in which recursive passes over a tree store bodies and joints."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...core.symbols import SX
from ...model.frame import Frame, spin
from .body_motion import Motion, cross
from .choice import CENTRE_OF_MASS


@dataclass(frozen=True)
class Layout:
    """Layout of the motion of a body: o, R (in the plane cosine, sine and angle), u, ω; r, ṙ where
    that is not the origin; and in space, where turns are counted, the angle of its joint.
    """

    n: int
    reference: str
    turns: bool = False

    @property
    def spins(self) -> int:
        """Number of components of ω."""
        return 1 if self.n == 2 else 3

    @property
    def twists(self) -> int:
        """Number of components of (u, ω)."""
        return self.n + self.spins

    @property
    def inertias(self) -> int:
        """Number of stored entries of I."""
        return self.twists * (self.twists + 1) // 2

    @property
    def size(self) -> int:
        """Size of the block of each body."""
        return self._sizes[-1]

    @property
    def _sizes(self) -> list[int]:
        rotation = 3 if self.n == 2 else 9
        reference = 2 * self.n if self.reference == CENTRE_OF_MASS else 0
        angle = int(self.turns and self.n == 3)
        return np.cumsum([0, self.n, rotation, self.n, self.spins, reference, angle]).tolist()

    def angle(self, block: SX) -> SX:
        """Return the angle of a planar body, or in space of the joint that carries it."""
        return block[self.n + 2] if self.n == 2 else block[self._sizes[5]]

    def symbols(self, name: str) -> SX:
        """Return symbols for the block of one body."""
        return SX.sym(name, self.size)

    def twist(self, block: SX) -> SX:
        """Return (u, ω)."""
        return block[self._sizes[2] : self._sizes[4]]

    def pose(self, block: SX) -> SX:
        """Return o and R."""
        return block[: self._sizes[2]]

    def pose_rate(self, block: SX) -> SX:
        """Return the rates of o and R."""
        here = self.motion(block)
        Ṙ = here.frame.rotation_rate
        turn = ca.vertcat(Ṙ[0, 0], Ṙ[1, 0], here.spin) if self.n == 2 else ca.vec(Ṙ)
        return ca.vertcat(here.frame.origin_rate, turn)

    def motion(self, block: SX) -> Motion:
        """Unpack a block as a motion; its centre of mass is valid only where that is the reference
        point.
        """
        sizes, at_com = self._sizes, self.reference == CENTRE_OF_MASS
        o, turn, u, ω, reference = (block[sizes[k] : sizes[k + 1]] for k in range(5))
        r, ṙ = (
            (reference[: self.n], reference[self.n :])
            if at_com
            else (SX.zeros(self.n), SX.zeros(self.n))
        )
        if self.n == 2:
            c, s, angle = turn[0], turn[1], turn[2]
            R = ca.vertcat(ca.horzcat(c, -s), ca.horzcat(s, c))
        else:
            R, angle = ca.reshape(turn, 3, 3), SX(0)
        frame = Frame(o, R, u + cross(ω, o - r), spin(ω) @ R)
        return Motion(frame, angle, r, ṙ, r, ṙ, u, ω)

    def flat(self, motion: Motion) -> SX:
        """Pack a motion into a block."""
        R = motion.frame.rotation
        turn = ca.vertcat(R[0, 0], R[1, 0], motion.angle) if self.n == 2 else ca.vec(R)
        reference = (
            (motion.reference, motion.reference_rate) if self.reference == CENTRE_OF_MASS else ()
        )
        angle = (motion.angle,) if self.turns and self.n == 3 else ()
        return ca.densify(
            ca.vertcat(motion.frame.origin, turn, motion.velocity, motion.spin, *reference, *angle)
        )

    def pack(self, matrix: SX) -> SX:
        """Pack the upper half of a symmetric matrix, by columns."""
        return ca.densify(
            ca.vertcat(*[matrix[i, j] for j in range(self.twists) for i in range(j + 1)])
        )

    def unpack(self, packed: SX) -> SX:
        """Unpack a symmetric matrix."""
        matrix, k = SX(self.twists, self.twists), 0
        for j in range(self.twists):
            for i in range(j + 1):
                matrix[i, j] = matrix[j, i] = packed[k]
                k += 1
        return matrix

    def hinge_size(self, count: int) -> int:
        """Return the size of the block of a hinge with `count` coordinates."""
        return self.twists * (count + 1) + (self.n if self.reference == CENTRE_OF_MASS else 0)

    def hinge(self, block: SX, count: int) -> tuple[SX, SX, SX]:
        """Unpack b, d and the arm."""
        n, w = self.n, self.spins
        sizes = np.cumsum(
            [0, n * count, w * count, n, w, self.n if self.reference == CENTRE_OF_MASS else 0]
        ).tolist()
        motions, axes, drift, turning, arm = (block[sizes[k] : sizes[k + 1]] for k in range(5))
        b = ca.vertcat(ca.reshape(motions, n, count), ca.reshape(axes, w, count))
        return b, ca.vertcat(drift, turning), arm if arm.numel() else SX.zeros(n)
