"""Bar: a rigid body along its own x axis, uniform unless its inertia is given."""

from __future__ import annotations

import casadi as ca

from ..core.errors import Label, ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.body import RigidBody
from ..model.body_element import BodyElement, rigid_body
from ..model.model_data import ModelData


class Bar(BodyElement[RigidBody]):
    """A straight bar along its own x axis, with a named point at each end."""

    kind = "bar"
    start = fields.NewPoint("Name of the point at the start of the bar, the origin of its frame.")
    end = fields.NewPoint("Name of the point at the other end, x = length.")
    length = fields.Scalar("Length of the bar.", unit="m", rule="positive")
    mass = fields.Mass()
    com = fields.OptionalScalar(
        "Distance of the centre of mass from `start`. If not given, it is half the length.",
        unit="m",
    )
    inertia = fields.Inertia(
        "Inertia about the centre of mass. If not given, it is the inertia of a uniform bar (m L²/12 in"
        " the plane, a solid cylinder in space).",
        default=None,
    )
    radius = fields.Scalar(
        "Radius of the solid cylinder (spatial bars only).",
        unit="m",
        rule="non-negative",
        default=0.0,
    )
    points = fields.NewPoints("Further named points.", example="middle")
    floating = fields.Flag("True for a bar that no chain of joints connects to the ground.")
    shape = fields.Shape(
        "One or more shapes for solid views, such as `varimech.box((0.3, 0.04, 0.02), at=(0.15,"
        " 0, 0))`."
    )

    def build(self, model: ModelData) -> RigidBody:
        L, x = self.length, self.length / 2 if self.com is None else self.com
        names = ["com", self.start, self.end, *self.points]
        if len(set(names)) < len(names):
            problem = f"two of its points have the same name: {names!r}"
            raise ModelError(problem, element=self.label, remedy="give them different names")
        if self.dimension == 2 and not self.radius.is_zero():
            raise ModelError(
                "has no meaning in a planar mechanism",
                label=Label(self.label, "radius"),
                value=self.given["radius"],
                remedy="give the inertia instead",
            )
        rest = SX.zeros(self.dimension - 1)
        points = {
            "com": ca.vertcat(x, rest),
            self.start: ca.vertcat(SX(0), rest),
            self.end: ca.vertcat(L, rest),
            **self.points,
        }
        if self.inertia is not None and self.mass.is_zero():
            raise ModelError(
                "has an inertia, and no mass",
                element=self.label,
                remedy="give both, or neither (for kinematics)",
            )
        inertia = self._uniform() if self.inertia is None else self.inertia
        ends = (self.start, self.end)
        return rigid_body(
            self,
            self.mass,
            ca.densify(inertia),
            points,
            ends,
            floating=self.floating,
            surfaces=self.shape,
        )

    def _uniform(self) -> SX:
        """Inertia of a uniform bar about its centre."""
        m, L, r = self.mass, self.length, self.radius
        transverse = m * (L**2 + 3 * r**2) / 12
        if self.dimension == 2:
            return transverse
        return ca.diag(ca.vertcat(m * r**2 / 2, transverse, transverse))
