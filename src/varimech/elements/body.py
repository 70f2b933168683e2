"""Rigid body: T = ½ m ṙ_G·ṙ_G + ½ ω·I ω (mechanics: `model/body.py`)."""

from __future__ import annotations

from ..core.errors import Label, ModelError, unknown_name
from ..core.symbols import SX
from ..model import fields
from ..model.body import RigidBody
from ..model.body_element import BodyElement, rigid_body
from ..model.geometry import inertia_of
from ..model.model_data import ModelData


class RigidBodyElement(BodyElement[RigidBody]):
    """A rigid body."""

    kind = "body"
    mass = fields.Mass()
    inertia = fields.Inertia(
        "Inertia about the centre of mass: a number in planar models; three principal values or a 3×3"
        " matrix in body axes in spatial models. A body with a mass needs it.",
        default=None,
    )
    com = fields.Vector(
        "Centre of mass in the body's frame; the origin if not given. It is also the point 'com'.",
        unit="m",
        default=None,
    )
    points = fields.NewPoints("Named points in the body's frame.", example="P")
    floating = fields.Flag("True for a body that no chain of joints connects to the ground.")
    spine = fields.PointNames("Points that a line connects in drawings; all points if not given.")
    shape = fields.Shape(
        "One or more shapes for solid views, such as `varimech.box((0.1, 0.1, 0.3))`."
    )

    @classmethod
    def file_key(cls) -> None:
        """Entries without the key of another kind are rigid bodies."""

    def build(self, model: ModelData) -> RigidBody:
        points = {"com": self.com, **self.points}
        spine = tuple(self.points) if self.spine is None else self.spine
        if missing := [name for name in spine if name not in points]:
            raise unknown_name(f"point of {self.label}", missing[0], points)
        return rigid_body(
            self,
            self.mass,
            self._inertia(model),
            points,
            spine,
            floating=self.floating,
            surfaces=self.shape,
        )

    def _inertia(self, model: ModelData) -> SX:
        """The given inertia, or zero for a body without mass.

        Raises:
            ModelError: for a mass without an inertia, or the reverse.
        """
        if not self.mass.is_zero():
            if self.given["inertia"] is None:
                shape = (
                    "a number" if self.dimension == 2 else "three principal values or a 3×3 matrix"
                )
                raise ModelError(
                    "inertia is missing: a body with a mass needs one",
                    element=self.label,
                    remedy=f"give {shape}, or leave out the mass where only kinematics is asked for",
                )
            label = Label(self.label, "inertia")
            return inertia_of(model.parameter_set, self.given["inertia"], self.dimension, label)
        if self.inertia is not None:
            raise ModelError(
                "must be positive",
                label=Label(self.label, "mass"),
                value=self.given["mass"],
                remedy="leave out the inertia, too, where only kinematics is asked for",
            )
        return SX(0) if self.dimension == 2 else SX.zeros(3, 3)
