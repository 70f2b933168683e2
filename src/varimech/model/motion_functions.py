"""Relative motions by functions, for trees that contain a joint with a motion law of its own.

With S_k = (∂C/∂z_k) Cᵀ, which is skew-symmetric, column k of W is the vector of S_k; D = ∂d/∂z. Both,
and their rates, follow from C and d by differentiation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..core.errors import ModelError
from ..core.mathematics import rotation as rotation_matrix
from ..core.symbols import NOT_SYMBOLIC, SX, symbols_in
from .relative_motion import Relation, RelativeMotion

STARTS = (0.0, 1.0, -1.0, 2.0, -2.0)
"""Initial guesses (quarter turns, and displacements) for fitting coordinates to a pose: no rotation
is further than a quarter turn from one of them.
"""


class MotionFunctions(RelativeMotion):
    """A relative motion by any two functions of the coordinates.

    A screw that advances by p a turn about the z axis of both bodies:
    `MotionFunctions({"angle": "rad"}, lambda z: rotation((0, 0, 1), z[0]), lambda z: (0, 0, p * z[0]
    / (2 * pi)))`.

    Args:
        units: coordinates by name, each with its unit: "rad" or "m".
        rotation: C(z): a 3×3 matrix in space, in the plane the angle (rad).
        displacement: d(z), components along the axes of the first body (m).

    Raises:
        ModelError: for functions that cannot be computed, or whose values have the wrong shape.
    """

    def __init__(
        self,
        units: Mapping[str, str],
        rotation: Callable[[SX], SX],
        displacement: Callable[[SX], SX | Sequence[Any]],
    ):
        self._units = dict(units)
        self._z, self._rates = (SX.sym(name, len(units)) for name in ("z", "ż"))
        try:
            self._turn, d = SX(rotation(self._z)), displacement(self._z)
            self._d = d if isinstance(d, SX) else ca.vertcat(*[SX(x) for x in d])
        except NOT_SYMBOLIC as error:
            raise ModelError(f"cannot be computed: {error}", field="relative_motion") from error
        self.dimension = 2 if self._turn.is_scalar() else 3
        if self._turn.shape not in ((1, 1), (3, 3)) or self._d.shape != (self.dimension, 1):
            problem = (
                f": the rotation has shape {self._turn.shape} and the displacement"
                f" {self._d.numel()} components; in space these are (3, 3) and 3, in the plane an"
                " angle and 2"
            )
            raise ModelError(problem, field="relative_motion")
        if wrong := sorted(set(self._units.values()) - {"rad", "m"}):
            raise ModelError(f": unit {wrong[0]!r} must be 'rad' or 'm'", field="relative_motion")
        own = symbols_in(self._z)
        symbols = ca.symvar(ca.veccat(self._turn, self._d))
        self.geometry = tuple(x for x in symbols if x.element_hash() not in own)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._units)

    @property
    def lengths(self) -> tuple[bool, ...]:
        return tuple(unit == "m" for unit in self._units.values())

    @property
    def key(self) -> Hashable:
        return None

    def restated(self, geometry: Sequence[SX]) -> RelativeMotion:
        return self

    @cached_property
    def _relation(self) -> Relation:
        """The relation in symbols of its own."""
        z, ż, C = self._z, self._rates, self._matrix
        if self.dimension == 2:
            W = ca.jacobian(self._turn, z)
        else:
            derivatives = ca.horzsplit(ca.jacobian(ca.vec(C), z)) if z.numel() else []
            spins = [ca.reshape(x, 3, 3) @ C.T for x in derivatives]
            W = ca.horzcat(SX(3, 0), *[ca.inv_skew((S - S.T) / 2) for S in spins])
        D = ca.jacobian(self._d, z)
        Ẇż, Ḋż = (ca.jtimes(x @ ż, z, ż) for x in (W, D))
        return Relation(C, self._turn if self.dimension == 2 else None, self._d, W, Ẇż, D, Ḋż)

    def relation(self, z: SX, ż: SX) -> Relation:
        stated = {name: x for name, x in vars(self._relation).items() if x is not None}
        values = ca.substitute(list(stated.values()), [self._z, self._rates], [z, ż])
        return replace(self._relation, **dict(zip(stated, map(ca.densify, values), strict=True)))

    def values(self, geometry: Sequence[np.ndarray], C: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Fit the coordinates, from several initial guesses because rotations repeat with every
        turn.
        """
        from scipy.optimize import least_squares

        # lengths are scaled by the displacement, so that both residuals have the same weight
        size = float(np.linalg.norm(d)) or 1.0
        rows = ca.densify(ca.veccat(self._matrix - C, (self._d - d) / size))
        residual = ca.Function("fit", [self._z, *self.geometry], [rows, ca.jacobian(rows, self._z)])
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
            for start in STARTS
        ]
        return np.asarray(min(fits, key=lambda fit: round(float(fit.cost), 12)).x)

    def rotation_at(self, geometry: Sequence[np.ndarray], angle: float) -> np.ndarray:
        at = [angle if name == "angle" else 0.0 for name in self.names]
        function = ca.Function("C", [self._z, *self.geometry], [self._matrix])
        return np.array(function(at, *geometry))

    @property
    def _matrix(self) -> SX:
        """Return C as a matrix."""
        return rotation_matrix(None, self._turn) if self.dimension == 2 else self._turn
