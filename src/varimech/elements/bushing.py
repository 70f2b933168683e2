"""Bushing: compliance between two bodies along and about the axes of the first body.

    d = R₁ᵀ (r₂ − r₁) − d₀,                      F = −K d − C ḋ + F₀
    θ: rotation vector of R₁ᵀ R₂ R₀ᵀ,            T = −∂/∂θ (½ θ·K_θ θ) − C_θ ω + T₀ (as work on θ̇)
    V = ½ d·K d + ½ θ·K_θ θ − F₀·d − T₀·θ

F acts on the second body at r₂, and −F on the first body at the same place. K, C, K_θ and C_θ are
diagonal; ω = R₁ᵀ (ω₂ − ω₁). θ is the angle times the axis of the rotation of the second body from its
unloaded orientation. It is exact for a rotation about any single axis by less than half a turn. In the
plane, θ is the angle, which counts turns. For small angles, the components of θ are the angles about the
three axes.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from ..core.errors import Label, ModelError
from ..core.symbols import SX, traced
from ..model import fields
from ..model.body import Body, Frames, Point, gap, gap_rate
from ..model.force import Force
from ..model.model_data import ModelData
from ..model.state import State

NEARLY_ONE = 1e-3
"""Value of sin² θ below which θ/sin θ is computed as a series of six terms: the seventh term is
below 1e-19.
"""
SERIES = (1.0, 1 / 6, 3 / 40, 5 / 112, 35 / 1152, 63 / 2816)
"""Coefficients of asin(s)/s in powers of s²."""
NEEDED = ("stiffness", "damping", "rotational_stiffness", "rotational_damping")


class Bushing(Force):
    """Springs and dampers between points of two bodies, along and about the axes of the first body.

    Example: `m.bushing("mount", "frame.A", "engine.A", stiffness=(2e5, 2e5, 8e5), damping=(100, 100, 400))`.
    """

    kind = "bushing"
    first = fields.Point(
        "Point of the first body, whose axes define the directions of the bushing."
    )
    second = fields.Point("Point of the second body, on which the force acts.")
    stiffness = fields.Vector(
        "Force per displacement along each axis of the first body.", unit="N/m", default=None
    )
    damping = fields.Vector("Force per velocity along each axis.", unit="N·s/m", default=None)
    rotational_stiffness = fields.Turning(
        "Torque per angle about each axis; in the plane, a number.", unit="N·m/rad"
    )
    rotational_damping = fields.Turning(
        "Torque per angular velocity about each axis; in the plane, a number.", unit="N·m·s/rad"
    )
    offset = fields.Vector(
        "Offset of the second point from the first at zero elastic force, along the axes of the"
        " first body.",
        unit="m",
        default=None,
    )
    rotation = fields.Rotation(
        "Orientation of the second body relative to the first at zero elastic torque: an angle in"
        " the plane, a matrix in space; aligned if not given."
    )
    preload = fields.Vector(
        "Force on the second body at the given offset, along the axes of the first body.",
        unit="N",
        default=None,
    )
    preload_torque = fields.Turning(
        "Torque on the second body at the given orientation.", unit="N·m"
    )

    def check_given(self, model: ModelData) -> None:
        if all(self.given[name] is None for name in NEEDED):
            raise ModelError(
                "has neither stiffness nor damping",
                element=self.label,
                remedy="give stiffness, damping, rotational_stiffness or rotational_damping",
            )

    def prepare(self, model: ModelData) -> None:
        for name in NEEDED:
            for k, value in enumerate(ca.vertsplit(ca.densify(getattr(self, name)))):
                label = Label(self.label, name).component(k)
                model.parameter_set.require(value, "non-negative", label)
        if self.first.body is self.second.body:
            raise ModelError(
                f"both points belong to {self.first.body.name!r}",
                element=self.label,
                remedy="name points of two bodies",
            )
        for point in (self.first, self.second):
            if not point.body.is_rigid:
                raise ModelError(
                    f"{point.body.name!r} is a beam, which has no single orientation",
                    element=self.label,
                    remedy="fix a rigid body to its end with a clamp, or use springs",
                )

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.first.body, self.second.body

    def acts_at(self) -> tuple[Point, ...]:
        return (self.first if self.second.body.is_ground else self.second,)

    def is_gradual(self, frames: Frames, state: State) -> bool:
        return True  # linear in d and θ, which are part of the motion

    def effort_names(self) -> dict[str, str]:
        axes = "xy" if self.dimension == 2 else "xyz"
        turns = ("torque",) if self.dimension == 2 else ("torque x", "torque y", "torque z")
        return {f"{self.name}.{axis}": "m" for axis in axes} | {
            f"{self.name}.{turn}": "rad" for turn in turns
        }

    def potential_energy(self, frames: Frames, state: State) -> SX:
        d, θ = self._displacement(frames), self._angles(frames, state)
        stored = ca.dot(self.stiffness, d**2) + ca.dot(self.rotational_stiffness, θ**2)
        return stored / 2 - ca.dot(self.preload, d) - ca.dot(self.preload_torque, θ)

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        ḋ, ω = self._rates(frames)
        pairs = ((ḋ, self.damping), (ω, self.rotational_damping))
        return [(rate, -c * rate) for rate, c in pairs if not c.is_zero()]

    def explicit_efforts(self, frames: Frames, state: State) -> Mapping[str, SX]:
        d, θ = self._displacement(frames), self._angles(frames, state)
        ḋ, ω = self._rates(frames)
        force = self.preload - self.stiffness * d - self.damping * ḋ
        torque = self._torque(θ) - self.rotational_damping * ω
        return dict(zip(self.effort_names(), ca.vertsplit(ca.vertcat(force, torque)), strict=True))

    def _torque(self, θ: SX) -> SX:
        """Torque on the second body in the axes of the first: −∂V/∂θ on θ̇ is −J⁻ᵀ ∂V/∂θ on ω."""
        along = self.preload_torque - self.rotational_stiffness * θ
        if self.dimension == 2:
            return along
        # ω = J θ̇ in the axes of the first body, with the left Jacobian J of rotations; the terms with
        # θ × along vanish if the torque is parallel to the axis of rotation
        u = ca.dot(θ, θ)
        small = u < NEARLY_ONE
        safe = ca.if_else(small, 1.0, u)
        half = ca.sqrt(safe) / 2
        exact = (1 - half * ca.cos(half) / ca.sin(half)) / safe
        factor = ca.if_else(small, 1 / 12 + u / 720 + u**2 / 30240 + u**3 / 1209600, exact)
        cross = ca.cross(θ, along)
        return along + cross / 2 + factor * ca.cross(θ, cross)

    def _displacement(self, frames: Frames) -> SX:
        """d."""
        R1 = frames[self.first.body].rotation
        return R1.T @ gap(frames, self.first, self.second) - self.offset

    def _rates(self, frames: Frames) -> tuple[SX, SX]:
        """ḋ and ω."""
        first, second = frames[self.first.body], frames[self.second.body]
        ḋ = first.rotation.T @ gap_rate(frames, self.first, self.second)
        ḋ += first.rotation_rate.T @ gap(frames, self.first, self.second)
        ω = second.angular_velocity - first.angular_velocity
        return ḋ, ω if self.dimension == 2 else first.rotation.T @ ω

    def _angles(self, frames: Frames, state: State) -> SX:
        """θ."""
        if self.dimension == 3:
            first, second = frames[self.first.body].rotation, frames[self.second.body].rotation
            return _rotation_vector(first, second, self.rotation)
        second, first = (
            SX(0) if body.is_ground else state.angle(body.name)
            for body in (self.second.body, self.first.body)
        )
        return second - first - ca.atan2(self.rotation[1, 0], self.rotation[0, 0])


@traced
def _rotation_vector(first: SX, second: SX, unloaded: SX) -> SX:
    """Angle times axis of the rotation R₁ᵀ R₂ R₀ᵀ, in the axes of the first body."""
    R = first.T @ second @ unloaded.T
    w = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / 2
    square, cosine = ca.dot(w, w), (ca.trace(R) - 1) / 2
    small = ca.logic_and(square < NEARLY_ONE, cosine > 0)
    sine = ca.sqrt(ca.if_else(small, 1.0, square))  # its derivative would be infinite at zero
    series = sum((c * square**k for k, c in enumerate(SERIES)), SX(0))
    return w * ca.if_else(small, series, ca.atan2(sine, cosine) / sine)
