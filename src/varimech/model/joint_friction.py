"""Friction in joints: a torque μ r |R| in a hinge with a pin of radius r, a force μ |R| in a
slider. In a ball joint the torque is a vector opposite to the angular velocity; on a plane the
force is opposite to the slip. Their magnitudes follow the same laws, and all components stick or
slide together.

R is the force of the joint across its motion, from its own multipliers. Natural coordinates
therefore keep the equations of such a joint instead of sharing points, and trees are cut there. The
load N = |R| enters the forces as a symbol, which the accelerations determine
(`formulations/loads`). It has no impulse: joint friction does not act in an impact.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import casadi as ca

from ..core.errors import ModelError
from ..core.symbols import SX
from . import fields, friction_law
from .body import Body, Frames
from .conditions import Condition
from .contact_law import Contact, ContactLabel
from .force import ForceLaw
from .frame import Frame
from .joint import Joint

if TYPE_CHECKING:
    from .model_data import ModelData
    from .state import State

LIGHT = 1e-12
"""Load (N) below which its direction does not matter; it smooths the corner of |R| at zero."""


class FrictionJoint(Joint):
    """A joint with optional friction."""

    friction = fields.Scalar(
        "Sliding friction coefficient. Friction is proportional to the joint force perpendicular to the"
        " motion.",
        rule="non-negative",
        default=0.0,
    )
    static_friction = fields.OptionalScalar(
        "Static friction coefficient; the sliding coefficient if not given.", rule="non-negative"
    )
    friction_law = fields.Choice(
        'Friction law: "coulomb", with sticking and sliding, or one of the smooth laws "tanh",'
        ' "stribeck" and "brown-mcphee".',
        options=friction_law.LAWS,
        default=friction_law.COULOMB,
    )
    slip_velocity = fields.Scalar(
        "Characteristic rate (m/s or rad/s) of a smooth friction law.",
        rule="positive",
        default=1e-3,
    )

    @property
    def has_friction(self) -> bool:
        """Whether friction is given."""
        return not self.friction.is_zero() or self.static_friction is not None

    @cached_property
    def multipliers(self) -> SX:
        """Symbols that represent the multipliers of all its equations."""
        return SX.sym("λ", sum(self._rows))

    @property
    def _rows(self) -> list[int]:
        """Number of equations of each of its conditions."""
        n = self.dimension
        frames = {
            body: Frame(SX.sym("o", n), SX.sym("R", n, n), SX.sym("u", n), SX.sym("V", n, n))
            for body in self.bodies
        }
        return [condition.residuals(frames).numel() for condition in self.conditions()]

    slip_components: ClassVar[int] = 1
    """Number of components of each rate that friction resists."""
    friction_places: ClassVar[tuple[str, ...]] = ("",)
    """Suffixes of the names of its frictions, one for each rate."""

    @property
    @abstractmethod
    def loaded(self) -> tuple[Condition, ...]:
        """The conditions whose force is the load, a subset of `conditions`."""

    @property
    @abstractmethod
    def friction_arm(self) -> SX:
        """Lever arm of the friction force (m), 1 if friction is a force."""

    @property
    def load(self) -> SX:
        """Load |R| (N), in the symbols that represent the multipliers."""
        return ca.sqrt(ca.sumsqr(ca.vertcat(*self.load_components)) + LIGHT**2)

    @property
    def load_components(self) -> list[SX]:
        """Forces of each of the loaded conditions; forces of different conditions are
        perpendicular.
        """
        conditions, own = self.conditions(), []
        for k in (conditions.index(condition) for condition in self.loaded):
            first = sum(self._rows[:k])
            own.append(self.multipliers[first : first + self._rows[k]])
        return own

    def slips(self, frames: Frames) -> tuple[SX, ...]:
        """Rates that friction resists, each with `slip_components`."""
        output = self.displacement() or self.angle()
        assert output is not None
        return (output.rate(frames),)

    def prepare(self, model: ModelData) -> None:
        """Check the fields of friction."""
        super().prepare(model)
        if self.static_friction is not None:
            more = self.static_friction - self.friction
            label = f"{self.label}: static_friction − friction"
            model.parameter_set.require(more, "non-negative", label)
        if self.has_friction and any(not body.is_rigid for body in self.bodies):
            raise ModelError(
                "friction needs rigid bodies on both sides",
                element=self.label,
                remedy="leave it out",
            )

    def add_to(self, model: ModelData) -> None:
        """Add it to the model, followed by its friction."""
        super().add_to(model)
        if self.has_friction:
            model.add_joint_force(JointFriction(self))


class PinJoint(FrictionJoint):
    """A joint that turns, with friction at a radius."""

    turning_part: ClassVar[str] = "hinge needs the radius of its pin"
    """Beginning of the error for a missing radius."""

    friction_radius = fields.Scalar(
        "Radius of the pin or ball, at which friction acts.",
        unit="m",
        rule="non-negative",
        default=0.0,
    )

    @property
    def friction_arm(self) -> SX:
        """The radius at which friction acts."""
        return self.friction_radius

    def prepare(self, model: ModelData) -> None:
        """Check that a radius is given if there is friction."""
        super().prepare(model)
        if self.has_friction and self.friction_radius.is_zero():
            raise ModelError(
                f"friction in a {self.turning_part}",
                element=self.label,
                remedy='give friction_radius, such as friction_radius="5 mm"',
            )


class JointFriction(ForceLaw):
    """The friction of a joint."""

    def __init__(self, joint: FrictionJoint):
        self.name = f"friction of {joint.name}"
        self._joint = joint
        self._load = SX.sym("N")

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies of the joint."""
        return self._joint.bodies

    def loads(self) -> tuple[tuple[SX, SX], ...]:
        """The load N = |R|."""
        return ((self._load, self._joint.load),)

    @property
    def _sticks(self) -> bool:
        return self._joint.friction_law == friction_law.COULOMB

    @property
    def _coefficients(self) -> tuple[SX, SX]:
        j = self._joint
        return j.friction, j.friction if j.static_friction is None else j.static_friction

    def contact_labels(self) -> tuple[ContactLabel, ...]:
        """A contact label for each rate with stick and slip; none if the law is smooth."""
        j = self._joint
        return tuple(
            ContactLabel(
                self.name + place, normal=False, friction=True, components=j.slip_components
            )
            for place in j.friction_places
            if self._sticks
        )

    def contacts(self, frames: Frames, state: State) -> Sequence[Contact]:
        """Slip and friction forces of the joint."""
        if not self._sticks:
            return ()
        (μ, μ0), arm = self._coefficients, self._joint.friction_arm
        return [
            Contact(slip=slip, sliding=μ * arm * self._load, static=μ0 * arm * self._joint.load)
            for slip in self._joint.slips(frames)
        ]

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        """Friction force of a smooth law."""
        if self._sticks:
            return []
        j, (μ, μ0) = self._joint, self._coefficients
        return [
            (
                slip,
                -friction_law.resistance(j.friction_law, slip, μ, μ0, j.slip_velocity)
                * j.friction_arm
                * self._load,
            )
            for slip in j.slips(frames)
        ]
