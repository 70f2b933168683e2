"""Relative motions by functions: what a joint with a law of its own states for trees.

With S_k = (∂C/∂z_k) Cᵀ, which is skew-symmetric, column k of W is the vector of S_k; D = ∂d/∂z. Both,
and their rates, follow from C and d by differentiation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..core.errors import ModelError
from ..core.mathematics import rotation as rotation_matrix
from ..core.symbols import NOT_SYMBOLIC, SX
from .relative_motion import Relation, RelativeMotion

STARTS = (0.0, 1.0, -1.0, 2.0, -2.0)
"""Quarter turns, and displacements, from which coordinates are fitted to a pose: no rotation is
further than a quarter turn from one of them.
"""


@dataclass(frozen=True, eq=False)
class MotionFunctions(RelativeMotion):
    """A motion by any two functions of the coordinates.

    A screw that advances by p a turn about the z axis of both bodies:
    `MotionFunctions({"angle": "rad"}, lambda z: rotation((0, 0, 1), z[0]), lambda z: (0, 0, p * z[0]
    / (2 * pi)))`.
    """

    units: Mapping[str, str]
    """Coordinates by name, each with its unit: "rad" or "m"."""
    rotation: Callable[[SX], SX]
    """C(z): a matrix in space, in the plane the angle (rad)."""
    displacement: Callable[[SX], SX | Sequence[SX]]
    """d(z), along the axes of the first body (m)."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.units)

    @property
    def lengths(self) -> tuple[bool, ...]:
        return tuple(unit == "m" for unit in self.units.values())

    @cached_property
    def _stated(self) -> tuple[SX, SX, SX]:
        """z, what it turns by, and d."""
        z = SX.sym("z", len(self.units))
        try:
            turn, d = SX(self.rotation(z)), self.displacement(z)
            d = d if isinstance(d, SX) else ca.vertcat(*d)
        except NOT_SYMBOLIC as error:
            raise ModelError(f"its relative motion cannot be computed: {error}") from error
        n = 2 if turn.is_scalar() else 3
        if turn.shape not in ((1, 1), (3, 3)) or d.shape != (n, 1):
            raise ModelError(
                f"its relative motion has a rotation of shape {turn.shape} and a displacement of"
                f" {d.numel()} components; in space these are (3, 3) and 3, in the plane an angle"
                " and 2"
            )
        return z, turn, d

    @cached_property
    def geometry(self) -> tuple[SX, ...]:
        """The parameters."""
        z, turn, d = self._stated
        own = {x.element_hash() for x in ca.vertsplit(z)} if z.numel() else set()
        symbols = ca.symvar(ca.veccat(turn, d))
        return tuple(x for x in symbols if x.element_hash() not in own)

    @property
    def key(self) -> Hashable:
        return None

    def restated(self, geometry: Sequence[SX]) -> RelativeMotion:
        return self

    def relation(self, z: SX, ż: SX) -> Relation:
        own, turn, d = self._stated
        turn, d = ca.substitute([turn, d], [own], [z])
        if turn.is_scalar():
            angle, C = turn, rotation_matrix(None, turn)
            W = ca.jacobian(angle, z)
        else:
            angle, C = None, turn
            slopes = ca.horzsplit(ca.jacobian(ca.vec(C), z)) if z.numel() else []
            spins = [ca.reshape(x, 3, 3) @ C.T for x in slopes]
            W = ca.horzcat(SX(3, 0), *[ca.inv_skew((S - S.T) / 2) for S in spins])
        D = ca.jacobian(d, z)
        Ẇż, Ḋż = (ca.densify(ca.jtimes(x @ ż, z, ż)) for x in (W, D))
        return Relation(C, angle, d, ca.densify(W), Ẇż, ca.densify(D), Ḋż)

    def values(self, geometry: Sequence[np.ndarray], C: np.ndarray, d: np.ndarray) -> np.ndarray:
        """The closest fit, from several starts: rotations repeat with every turn."""
        from scipy.optimize import least_squares

        z, turn, displacement = self._stated
        R = rotation_matrix(None, turn) if turn.is_scalar() else turn
        # lengths count as much as turns where they are as long as the displacement
        size = float(np.linalg.norm(d)) or 1.0
        rows = ca.densify(ca.veccat(R - C, (displacement - d) / size))
        residual = ca.Function("fit", [z, *self.geometry], [rows, ca.jacobian(rows, z)])
        scale = np.array([size if length else np.pi / 2 for length in self.lengths])
        fits = [
            least_squares(
                lambda x: np.array(residual(x, *geometry)[0]).ravel(),
                start * scale,
                jac=lambda x: np.array(residual(x, *geometry)[1]),
                xtol=1e-14,
                ftol=1e-14,
                gtol=1e-14,
            )
            for start in (0.0, 1.0, -1.0, 2.0, -2.0)
        ]
        return np.asarray(min(fits, key=lambda fit: round(float(fit.cost), 12)).x)

    def rotation_at(self, geometry: Sequence[np.ndarray], angle: float) -> np.ndarray:
        z, turn, _ = self._stated
        R = rotation_matrix(None, turn) if turn.is_scalar() else turn
        at = [angle if name == "angle" else 0.0 for name in self.names]
        return np.array(ca.Function("C", [z, *self.geometry], [R])(at, *geometry))
