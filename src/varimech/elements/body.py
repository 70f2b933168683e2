"""Rigid body: T = ½ m ṙ_G·ṙ_G + ½ ω·I ω (mechanics: `model/body.py`)."""

from __future__ import annotations

from ..core.errors import unknown_name
from ..model import fields
from ..model.body import RigidBody
from ..model.body_element import BodyElement, rigid_body
from ..model.model_data import ModelData


class RigidBodyElement(BodyElement[RigidBody]):
    """A rigid body."""

    kind = "body"
    mass = fields.Scalar("Mass.", unit="kg", rule="positive")
    inertia = fields.Inertia(
        "About the centre of mass: a number (planar); three principal values or a 3×3 matrix in body"
        " axes (spatial)."
    )
    com = fields.Vector(
        "Centre of mass in the body's frame; its origin if not given. It is also the point 'com'.",
        unit="m",
        default=None,
    )
    points = fields.NewPoints("Named points in the body's frame.", example="P")
    floating = fields.Flag("True for a body that is meant to have no path of joints to the ground.")
    spine = fields.PointNames("Points to join by a line in drawings; all of them if not given.")

    @classmethod
    def file_key(cls) -> None:
        """Entries without the key of another kind are rigid bodies."""

    def build(self, model: ModelData) -> RigidBody:
        points = {"com": self.com, **self.points}
        spine = tuple(self.points) if self.spine is None else self.spine
        if missing := [name for name in spine if name not in points]:
            raise unknown_name(f"point of {self.label}", missing[0], points)
        assert self.inertia is not None
        return rigid_body(self, self.mass, self.inertia, points, spine, floating=self.floating)
