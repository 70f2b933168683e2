"""Two curves in contact, in the plane: c₁(u) fixed to one body, c₂(w) to another. t₁ and t₂ are their unit
tangents, n₁ is the unit normal out of the first body, and d leads from the point at u to the point at w. The
element's own coordinates u and w are the parameters of the points where the curves touch or are nearest:

    t₁·d = 0,     L t₁ × t₂ = 0,     g = n₁·d

∂g/∂u and ∂g/∂w vanish wherever the first two equations hold (the curves have a common normal), so these two
equations exert no force. They determine u and w if the relative curvature κ₁ + κ₂ + g κ₁ κ₂ of the curves is
not zero; κ is positive where a body is convex.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import casadi as ca
import numpy as np

from ..core.errors import Label, ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames, Point
from ..model.closure_element import ClosureElement
from ..model.curve import Curve, Poses
from ..model.figures import Figure
from ..model.model_data import ModelData
from ..model.own_coordinates import OwnCoordinate
from ..model.state import State
from .point_on_curve import curve_of, is_points

SIDES = ("inside", "outside", "left", "right")
CORNER = 1e-6
"""Largest sine of the angle between the two ends of a closed curve: rounding errors of strings with seven
digits.
"""
FLAT = 1e-9
"""Smallest relative curvature, as a share of the largest curvature: rounding errors of second derivatives, for
example those of a straight spline.
"""
EVERY = 4
"""Every fourth sample of both curves is tried as a guess: one degree of a circle is close enough for Newton's
method and already gives 361² pairs.
"""
CURVE = (
    "The {0} curve, relative to the {0} point: either points (m), which a cubic spline interpolates,"
    " or the components as functions of the parameter u, in Python or as strings."
)
CLOSED = "Whether the {} curve is closed."
INTERVAL = "First and last parameter of the {} curve, if it is defined by expressions."
SIDE = (
    'Side of the curve on which the {} body lies: "inside" or "outside" for a closed curve, "left" or'
    ' "right" for an open curve, as seen in the direction of increasing u.'
)


@dataclass(frozen=True)
class _Side:
    """One curve with its body and the side on which the body lies."""

    point: Point
    curve: Curve
    left: float
    """1 if the body is to the left of its curve, −1 if it is to the right."""
    unit: str
    state_name: str

    @property
    def samples(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """u, c and the unit normal out of the body at sampled points."""
        u, c, c1, _ = (x[::EVERY] for x in self.curve.samples)
        t = c1 / np.linalg.norm(c1, axis=1, keepdims=True)
        return u, c, self.left * np.column_stack([t[:, 1], -t[:, 0]])

    @property
    def hollow(self) -> tuple[float, float]:
        """Parameter and curvature of the most concave, or least convex, point."""
        curvature = self.left * self.curve.curvature
        k = int(curvature.argmin())
        return float(self.curve.samples[0][k]), float(curvature[k])

    @property
    def size(self) -> float:
        return float(np.ptp(self.curve.samples[1], axis=0).max())

    def placed(self, frames: Frames, state: State) -> tuple[SX, SX]:
        """Point of the curve at its parameter, and tangent there, in the global frame."""
        u, frame, at = SX.sym("u"), frames[self.point.body], state.state(self.state_name)
        c, c1 = ca.substitute([self.curve.at(u), self.curve.tangent(u)], [u], [at])
        return frame.position(self.point.local + c), frame.rotation @ c1

    @property
    def speed(self) -> float:
        """Mean |c′| at nominal values."""
        return float(np.linalg.norm(self.curve.samples[2], axis=1).mean())


class CurveContact(ClosureElement):
    """Two touching curves on two bodies in planar models, with form closure, or with force closure so
    that they can separate.

    An ellipse on a line: `m.curve_contact("touch", "wheel.C", "ground.O", first_curve=("2*cos(u)",
    "sin(u)"), first_interval=(0, 2 * pi), first_closed=True, second_curve=[(0, 0), (9, 0)],
    second_side="right")`. `state("touch first parameter")` and `state("touch second parameter")` are the
    curve parameters of the contact point. A run fails at the end of an open curve.
    """

    kind = "curve contact"
    spatial_remedy = "model it in the plane, or use m.point_on_curve"
    assembly_hint = "both curves have to reach to where they touch"
    friction_remedy = "leave it out; circles and lines have friction in m.contact"
    first = fields.Point("Point of the first body, the origin of its curve.")
    second = fields.Point("Point of the second body, the origin of its curve.")
    first_curve = fields.Raw(CURVE.format("first"), file_type="Shape", default=fields.REQUIRED)
    second_curve = fields.Raw(CURVE.format("second"), file_type="Shape", default=fields.REQUIRED)
    first_closed = fields.Flag(CLOSED.format("first"))
    second_closed = fields.Flag(CLOSED.format("second"))
    first_interval = fields.Raw(INTERVAL.format("first"), file_type="Two")
    second_interval = fields.Raw(INTERVAL.format("second"), file_type="Two")
    first_side = fields.Choice(SIDE.format("first"), options=SIDES, default="inside")
    second_side = fields.Choice(SIDE.format("second"), options=SIDES, default="inside")

    def prepare(self, model: ModelData) -> None:
        super().prepare(model)
        if self.first.body is self.second.body:
            problem = f"both curves belong to {self.first.body.name!r}"
            raise ModelError(problem, element=self.label, remedy="give points of two bodies")
        self._numbers = model.parameter_set
        self._sides = tuple(self._side(model, which) for which in ("first", "second"))
        self._length = min(side.size for side in self._sides)
        self._check_curvature()

    def figures(self, model: ModelData) -> list[Figure]:
        return [
            Figure("outline", side.point, outline=side.samples[1], closed=bool(self.values[closed]))
            for side, closed in zip(self._sides, ("first_closed", "second_closed"), strict=True)
        ]

    def _side(self, model: ModelData, which: str) -> _Side:
        v = self.values
        given, closed, side = (v[f"{which}_{x}"] for x in ("curve", "closed", "side"))
        curve = curve_of(model, self, given, v[f"{which}_interval"], closed, f"{which}_")
        wanted = SIDES[:2] if closed else SIDES[2:]
        if side not in wanted:
            what = "a closed" if closed else "an open"
            raise ModelError(
                f"is not a side of {what} curve",
                label=Label(self.label, f"{which}_side"),
                value=side,
                remedy=f"give {wanted[0]!r} or {wanted[1]!r}, or {which}_closed={not closed}",
            )
        if closed:
            self._check_closed(curve)
            left = curve.orientation * (1 if side == "inside" else -1)
        else:
            left = 1.0 if side == "left" else -1.0
        unit, name = "m" if is_points(given) else "1", f"{self.name} {which} parameter"
        return _Side(v[which], curve, left, unit, name)

    def _check_closed(self, curve: Curve) -> None:
        """Refuse a corner where a closed curve ends: the contact point would jump there."""
        u, _, tangents, _ = curve.samples
        (ax, ay), (bx, by) = tangents[0], tangents[-1]
        sine = (ax * by - ay * bx) / (np.hypot(ax, ay) * np.hypot(bx, by))
        if abs(sine) > CORNER or ax * bx + ay * by < 0:
            angle = np.degrees(np.arctan2(ax * by - ay * bx, ax * bx + ay * by))
            raise ModelError(
                f"has a corner of {abs(angle):.4g}° where it closes, at u = {u[-1]:.6g}",
                label=curve.label,
                remedy="round it off, or give an open curve",
            )

    def _check_curvature(self) -> None:
        """Refuse curves that would touch at two points or along a line: a concave part must be wider than
        the part that touches it.
        """
        places = [side.hollow for side in self._sides]
        (_, κ1), (_, κ2) = places
        sharpest = max(float(np.abs(side.curve.curvature).max()) for side in self._sides)
        if κ1 + κ2 > FLAT * max(sharpest, 1 / self._length):
            return
        k = 0 if κ1 <= κ2 else 1
        which, other = ("first", "second") if k == 0 else ("second", "first")
        u, κ = places[k]
        w, μ = places[1 - k]
        raise ModelError(
            f"has {_bend(κ)} at u = {u:.6g}, and {other}_curve has {_bend(μ)} at u = {w:.6g}, which"
            " cannot follow it (undercutting)",
            label=Label(self.label, f"{which}_curve"),
            remedy="widen the concave part, sharpen the other curve, or give only those parts that touch; check"
            f" first_side = {self.first_side!r} and second_side = {self.second_side!r}",
        )

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        own = [
            OwnCoordinate(
                side.state_name,
                2,
                initial=None,
                unit=side.unit,
                size=float(np.abs(side.curve.span).max()),
                guess=partial(self._guess, k),
                is_tied=True,
            )
            for k, side in enumerate(self._sides)
        ]
        return (*own, *super().coordinates())

    def _guess(self, k: int, poses: Poses) -> float:
        """Parameter of a curve where both curves are close and their normals are opposite."""
        u, places, normals = [], [], []
        for side in self._sides:
            origin, R = poses[side.point.body]
            at, c, n = side.samples
            u.append(at)
            places.append(origin + (self._numbers.evaluate(side.point.local).ravel() + c) @ R.T)
            normals.append(n @ R.T)
        apart = ((places[0][:, None, :] - places[1][None, :, :]) ** 2).sum(axis=2)
        cost = apart + self._length**2 * (1 + normals[0] @ normals[1].T)
        nearest = np.unravel_index(int(cost.argmin()), cost.shape)
        return float(u[k][nearest[k]])

    def contact(self, frames: Frames, state: State) -> tuple[SX, SX]:
        (p1, t1), (p2, t2) = (side.placed(frames, state) for side in self._sides)
        t1, d = t1 / ca.norm_2(t1), p2 - p1
        n1 = self._sides[0].left * ca.vertcat(t1[1], -t1[0])
        across = (t1[0] * t2[1] - t1[1] * t2[0]) / self._sides[1].speed
        return ca.dot(n1, d), ca.vertcat(ca.dot(t1, d), self._length * across)


def _bend(κ: float) -> str:
    if κ == 0:
        return "no curvature"
    return f"a {'convex' if κ > 0 else 'concave'} radius of curvature of {abs(1 / κ):.4g} m"
