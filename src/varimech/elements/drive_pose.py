"""Driven pose: a point and the orientation of its body follow functions of time.

    r_P − p(t) = 0,     2 tan(α/2) n = 0

Here α and n are the angle and axis of the rotation from the given orientation D to the orientation R of
the body. With σ = ½ Σ dₖ × rₖ = n sin α and cos α = ½ (tr DᵀR − 1), the second equation is
2σ/(1 + cos α) = 0. Its derivative with respect to a small rotation is the identity, so its multiplier is
the torque; a deviation of half a turn does not satisfy it. In space, D = R_z(yaw) R_y(pitch) R_x(roll).
"""

from __future__ import annotations

import casadi as ca

from ..core.errors import ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames, RigidBody
from ..model.equation_element import velocities_of
from ..model.force import Force
from ..model.model_data import ModelData
from ..model.state import State
from ..model.user_functions import trial_state


class DrivePose(Force):
    """Prescribe the position of a point and the orientation of its body as functions of time.

    Example: `m.drive_pose("hand", "gripper.P", lambda s: (s.time, 0.2), lambda s: 0.5 * s.time)`. The
    required force and torque are outputs: `effort("hand.x")`, … and, in the plane,
    `effort("hand.torque")` or, in space, `effort("hand.torque_x")`, ….
    """

    kind = "drive pose"
    is_driver = True
    point = fields.Point(
        "Point whose position is prescribed. The orientation of its body is prescribed, too."
    )
    position = fields.StateFunction(
        "Position of the point in global components: a function of s.time, or strings in t.",
        size="vector",
        unit="m",
        positional=True,
    )
    orientation = fields.StateFunction(
        "Orientation of the body: a function of s.time, or strings in t. In the plane, it is the angle; in"
        " space, roll, pitch and yaw about the global x, y and z axes, in this order.",
        size="torque",
        unit="rad",
        positional=True,
    )

    def prepare(self, model: ModelData) -> None:
        body = self.point.body
        if body.is_ground or not isinstance(body, RigidBody):
            raise ModelError(
                f"{body.name!r} is not a moving rigid body",
                element=self.label,
                remedy="name a point of a moving rigid body",
            )
        state = trial_state(model, self.label)
        given = ca.vertcat(self.position(state), self.orientation(state))
        q, _, _ = state.coordinates
        if ca.depends_on(given, ca.vertcat(q, *velocities_of(model, state))):
            raise ModelError(
                "depends on more than time and parameters",
                element=self.label,
                remedy="use m.constraint for equations between positions",
            )

    def constraints(self, frames: Frames, state: State) -> SX:
        frame = frames[self.point.body]
        off = frame.position(self.point.local) - self.position(state)
        R, turned = frame.rotation, self.orientation(state)
        if self.dimension == 2:
            C, S = ca.cos(turned), ca.sin(turned)
            sine, cosine = R[1, 0] * C - R[0, 0] * S, R[0, 0] * C + R[1, 0] * S
            return ca.vertcat(off, 2 * sine / (1 + cosine))
        D = roll_pitch_yaw(turned)
        σ = sum((ca.cross(D[:, k], R[:, k]) for k in range(3)), SX.zeros(3)) / 2
        return ca.vertcat(off, 2 * σ / (1 + (ca.trace(D.T @ R) - 1) / 2))

    def effort_names(self) -> dict[str, str]:
        axes = "xyz"[: self.dimension]
        forces = {f"{self.name}.{c}": "m" for c in axes}
        if self.dimension == 2:
            return {**forces, f"{self.name}.torque": "rad"}
        return {**forces, **{f"{self.name}.torque_{c}": "rad" for c in axes}}


def roll_pitch_yaw(angles: SX) -> SX:
    """R_z(yaw) R_y(pitch) R_x(roll)."""
    a, b, c = (angles[k] for k in range(3))
    X = ca.vertcat(
        ca.horzcat(1, 0, 0),
        ca.horzcat(0, ca.cos(a), -ca.sin(a)),
        ca.horzcat(0, ca.sin(a), ca.cos(a)),
    )
    Y = ca.vertcat(
        ca.horzcat(ca.cos(b), 0, ca.sin(b)),
        ca.horzcat(0, 1, 0),
        ca.horzcat(-ca.sin(b), 0, ca.cos(b)),
    )
    Z = ca.vertcat(
        ca.horzcat(ca.cos(c), -ca.sin(c), 0),
        ca.horzcat(ca.sin(c), ca.cos(c), 0),
        ca.horzcat(0, 0, 1),
    )
    return Z @ Y @ X
