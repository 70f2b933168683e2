"""Cam with a follower, in the plane. The profile c(u) in the frame (o, R) of the cam has the unit tangent t
and the outward unit normal n. The element's own coordinate u is the parameter of the point where the
follower touches the profile or, without contact, is nearest to it:

    knife, roller   t·(p − c) = 0,     g = n·(p − c) − r        p: tip, or centre of the roller, in (o, R)
    flat            L t·m = 0,         g = m·(c − p)            m: normal of the face, towards the cam

∂g/∂u = 0 wherever the first equation holds, so that equation exerts no force. With form closure, g = 0, and
`effort` is the force −λ that pushes the follower off the cam. With force closure, g ≥ 0 is a contact. The
profile is one of
from a function of the angle u about the cam's point, e = (cos u, sin u):

    radius     c = f(u) e
    support    c = f(u) e + f′(u) e′,   n = e        f: distance of the tangent line (lift of a flat face)
"""

from __future__ import annotations

import math

import casadi as ca
import numpy as np

from ..core.errors import Label, ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.closure_element import ClosureElement
from ..model.curve import Curve, Poses, function_of_parameter, place_in, spline_through
from ..model.figures import Figure
from ..model.model_data import ModelData
from ..model.own_coordinates import OwnCoordinate
from ..model.state import State
from .point_on_curve import is_points

PROFILES = ("radius", "support")
PROFILE_EVERY = 8
"""Drawings contain every eighth sample of a profile: one in two degrees of a circle."""


class Cam(ClosureElement):
    """A cam with a knife-edge, roller or flat-faced follower that slides or swings, for planar models.

    Example, with a periodic table `lift`: `m.cam("cam", "shaft.O", "tappet.T", profile="0.02 +
    lift(u)", roller=0.008)`. A flat face has its normal towards the cam: `face=(0, -1)`. With
    `closure="force"`, the follower can lift off. `state("cam parameter")` is the curve parameter of the
    contact point.
    """

    kind = "cam"
    spatial_remedy = "model it in the plane, or use m.point_on_curve"
    friction_remedy = "leave it out, or add a torque of friction to the cam"
    first = fields.Point("Point of the cam, the origin of the profile.")
    second = fields.Point(
        "Point of the follower: its edge, the centre of its roller, or a point on its face."
    )
    profile = fields.Raw(
        "Either the distance from the cam's point (m) as a function of the angle u in the cam's frame"
        " (a Python function or a string), or points of the profile relative to the cam's point,"
        " which a closed spline interpolates.",
        file_type="Rotation",
        default=fields.REQUIRED,
    )
    profile_kind = fields.Choice(
        'Meaning of the profile function: "radius" is the distance to the profile point at the angle'
        ' u; "support" is the distance to the tangent line whose normal has the angle u, which is'
        " the lift of a flat face.",
        options=PROFILES,
        default="radius",
    )
    roller = fields.OptionalScalar("Radius of the roller.", unit="m", rule="positive")
    face = fields.OptionalDirection(
        "Normal of a flat face, towards the cam, in the follower's frame.", of="second"
    )

    def check_given(self, model: ModelData) -> None:
        super().check_given(model)
        if self.given["roller"] is not None and self.given["face"] is not None:
            problem = "the follower has a roller and a flat face"
            raise ModelError(problem, element=self.label, remedy="give one of them")

    def prepare(self, model: ModelData) -> None:
        super().prepare(model)
        if self.first.body is self.second.body:
            problem = f"cam and follower are both {self.first.body.name!r}"
            raise ModelError(problem, element=self.label, remedy="give points of two bodies")
        self._numbers = model.parameter_set
        self._curve = self._read_profile(model)
        self._check_radius()
        self._check_curvature()

    def _read_profile(self, model: ModelData) -> Curve:
        label = Label(self.label, "profile")
        if is_points(self.profile):
            if self.profile_kind != "radius":
                remedy = "leave out profile_kind, or give a function of u"
                raise ModelError("is given by points", label=label, remedy=remedy)
            return spline_through(model, label, self.profile, True)
        f = function_of_parameter(model, self.profile, 1, label)

        def formula(u: SX) -> SX:
            e, across = ca.vertcat(ca.cos(u), ca.sin(u)), ca.vertcat(-ca.sin(u), ca.cos(u))
            if self.profile_kind == "radius":
                return f(u) * e
            at = SX.sym("u")
            slope = ca.substitute(ca.jacobian(f(at), at), at, u)
            return f(u) * e + slope * across

        return Curve(model, label, formula, (0.0, 2 * math.pi), True)

    def _check_radius(self) -> None:
        """Refuse a radius that is not positive: the profile would cross itself at the centre."""
        if self.profile_kind != "radius" or is_points(self.profile):
            return
        u, c, _, _ = self._curve.samples
        radius = c[:, 0] * np.cos(u) + c[:, 1] * np.sin(u)
        k = int(radius.argmin())
        if not radius[k] > 0:
            raise ModelError(
                f"has a radius of {radius[k]:.4g} m at u = {u[k]:.6g} rad"
                f" ({math.degrees(u[k]):.4g}°), and radii are positive",
                label=Label(self.label, "profile"),
                remedy="make the cam larger, or its lift smaller",
            )

    def _check_curvature(self) -> None:
        """Refuse a profile that the follower cannot follow: a flat face needs a convex profile, and a
        roller needs concave radii larger than its own.
        """
        u, _, c1, _ = self._curve.samples
        self._left = self._curve.orientation
        curvature = self._left * self._curve.curvature
        if self.profile_kind == "support":  # c′ = (f + f″) e′, so the sign is lost above
            radius = -c1[:, 0] * np.sin(u) + c1[:, 1] * np.cos(u)
            curvature = 1 / radius
        if self.face is None and self.roller is None:
            return
        k = int(curvature.argmin())
        if self.face is not None and not curvature[k] > 0:
            raise ModelError(
                f"is hollow at u = {u[k]:.6g} rad ({math.degrees(u[k]):.4g}°), with a radius of curvature"
                f" of {1 / curvature[k]:.4g} m, so a flat face cannot follow it",
                label=Label(self.label, "profile"),
                remedy="make the cam larger or the lift smoother, or use a roller",
            )
        if self.roller is None:
            return
        r = float(self._numbers.evaluate(self.roller).item())
        if not 1 + r * curvature[k] > 0:
            raise ModelError(
                f"has a hollow with a radius of {-1 / curvature[k]:.4g} m at u = {u[k]:.6g} rad"
                f" ({math.degrees(u[k]):.4g}°), which a roller of {r:.4g} m cannot follow (undercutting)",
                label=Label(self.label, "profile"),
                remedy="take a smaller roller, or a larger cam",
            )

    @property
    def parameter_name(self) -> str:
        """Name of the parameter u as a state."""
        return f"{self.name} parameter"

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        last = self._curve.span[1]
        points = is_points(self.profile)
        u = OwnCoordinate(
            self.parameter_name,
            2,
            initial=None,
            unit="m" if points else "rad",
            size=last if points else 1.0,
            guess=self._guess,
            is_tied=True,
        )
        return (u, *super().coordinates())

    def figures(self, model: ModelData) -> list[Figure]:
        profile = self._curve.samples[1][::PROFILE_EVERY]
        figures = [Figure("outline", self.first, outline=profile)]
        return figures + [
            Figure("wheel", self.second, radius=r) for r in (self.roller,) if r is not None
        ]

    def _guess(self, poses: Poses) -> float:
        place = place_in(poses, self.first.body, self.second, self._numbers)
        if self.face is None:
            return self._curve.nearest(place - self._numbers.evaluate(self.first.local).ravel())
        turned = poses[self.first.body][1].T @ poses[self.face.body][1]
        u, c, _, _ = self._curve.samples
        m = turned @ self._numbers.evaluate(self.face.direction).ravel()
        return float(u[(c @ m).argmin()])

    def contact(self, frames: Frames, state: State) -> tuple[SX, SX]:
        """g, and the equation that determines u, in lengths."""
        cam, follower, u = frames[self.first.body], frames[self.second.body], SX.sym("u")
        c = self._curve.at(u)
        t = self._unit_tangent(u)
        here = state.state(self.parameter_name)
        c, t = (ca.substitute(x, u, here) for x in (c, t))
        n = self._left * ca.vertcat(t[1], -t[0])
        p = cam.rotation.T @ (follower.position(self.second.local) - cam.position(self.first.local))
        if self.face is None:
            r = SX(0) if self.roller is None else self.roller
            return ca.dot(n, p - c) - r, ca.dot(t, p - c)
        m = cam.rotation.T @ frames[self.face.body].direction(self.face.direction)
        length = float(np.abs(self._curve.samples[1]).max())
        return ca.dot(m, c - p), length * ca.dot(t, m)

    def _unit_tangent(self, u: SX) -> SX:
        if self.profile_kind == "support":
            return ca.vertcat(-ca.sin(u), ca.cos(u))
        tangent = self._curve.tangent(u)
        return tangent / ca.norm_2(tangent)
