"""What stops, contacts and joints with clearance have in common: gaps, rigid or compliant, with or
without friction.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.errors import Label, ModelError
from ..core.symbols import SX
from . import compliance, fields, friction_law
from .body import Frames
from .contact_law import Contact, ContactLabel
from .force import Force
from .model_data import ModelData
from .state import State


@dataclass(frozen=True, eq=False)
class Gap:
    """A gap and the slip velocity there."""

    gap: SX
    slip: SX | None = None
    """A scalar in the plane, along the tangent; components in space."""
    normal: SX | None = None
    """Unit normal of the surfaces, where the slip has three components."""


class ContactElement(Force):
    """Surfaces that keep apart: rigid, with impacts, or compliant if a stiffness is given."""

    restitution = fields.Scalar(
        "Speed after an impact over that before it, of rigid surfaces.", rule="share", default=0.0
    )
    stiffness = fields.OptionalScalar(
        "K of compliant surfaces; rigid ones have none.", unit="N/m", rule="positive"
    )
    exponent = fields.Scalar("n of compliant surfaces.", rule="positive", default=1.0)
    damping = fields.Scalar(
        "D (s/m) or C (N·s/m) of compliant surfaces.", rule="non-negative", default=0.0
    )
    law = fields.Choice(
        "Law of compliant surfaces.", options=compliance.LAWS, default=compliance.LAWS[0]
    )
    friction = fields.Scalar("Sliding friction coefficient.", rule="non-negative", default=0.0)
    static_friction = fields.OptionalScalar(
        "Static friction coefficient, that of sliding if not given.", rule="non-negative"
    )
    friction_law = fields.Choice(
        'Friction that sticks and slides ("coulomb"), or a smooth law.',
        options=friction_law.LAWS,
        default=friction_law.COULOMB,
    )
    slip_velocity = fields.Scalar(
        "Velocity of a smooth friction law.", unit="m/s", rule="positive", default=1e-3
    )

    @abstractmethod
    def gap_names(self) -> tuple[str, ...]:
        """Name of each gap; the element's own for a single one."""

    @abstractmethod
    def gaps(self, frames: Frames, state: State) -> Sequence[Gap]:
        """Each gap, with the slip velocity where there is friction."""

    @property
    def slip_components(self) -> int:
        """Number of components of each slip."""
        return 1

    @property
    def gap_unit(self) -> str:
        """Unit of the gaps."""
        return "m"

    @property
    def is_rigid(self) -> bool:
        """Whether it has impacts."""
        return self.stiffness is None

    @property
    def has_friction(self) -> bool:
        """Whether anything resists sliding."""
        return not self.friction.is_zero() or self.static_friction is not None

    @property
    def sticks(self) -> bool:
        """Whether its friction has modes."""
        return self.has_friction and self.friction_law == friction_law.COULOMB

    def prepare(self, model: ModelData) -> None:
        """Check that fields belong together."""
        if self.has_friction and not self.is_rigid and self.sticks:
            raise ModelError(
                "needs rigid surfaces, and there is a stiffness",
                label=Label(self.label, "friction_law"),
                value=self.friction_law,
                remedy='use friction_law="tanh", or leave the stiffness out',
            )
        if self.has_friction and self.is_rigid and not self.sticks:
            raise ModelError(
                "needs compliant surfaces, and there is no stiffness",
                label=Label(self.label, "friction_law"),
                value=self.friction_law,
                remedy='use friction_law="coulomb", or give a stiffness',
            )
        if not self.is_rigid and not self.restitution.is_zero():
            raise ModelError(
                "belongs to rigid surfaces, and there is a stiffness",
                label=Label(self.label, "restitution"),
                remedy="give damping instead, or leave the stiffness out",
            )
        if self.is_rigid and not self.damping.is_zero():
            raise ModelError(
                "belongs to compliant surfaces, and there is no stiffness",
                label=Label(self.label, "damping"),
                remedy="give a stiffness too, or restitution instead",
            )
        if self.static_friction is not None:
            more = self.static_friction - self.friction
            model.parameter_set.require(
                more, "non-negative", f"{self.label}: static_friction − friction"
            )

    def contact_labels(self) -> tuple[ContactLabel, ...]:
        """Its gaps, if it is rigid."""
        if not self.is_rigid:
            return ()
        d = self.slip_components
        return tuple(
            ContactLabel(name, self.gap_unit, friction=self.sticks, components=d)
            for name in self.gap_names()
        )

    def contacts(self, frames: Frames, state: State) -> Sequence[Contact]:
        """What it states of them."""
        if not self.is_rigid:
            return ()
        if not self.sticks:
            return [Contact(g.gap, self.restitution) for g in self.gaps(frames, state)]
        μ, μ0 = self._coefficients
        return [
            Contact(g.gap, self.restitution, g.slip, g.normal, μ, μ0)
            for g in self.gaps(frames, state)
        ]

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        """Forces of compliant surfaces."""
        if self.stiffness is None:
            return []
        μ, μ0 = self._coefficients
        efforts = []
        for g in self.gaps(frames, state):
            rate = state.rate(g.gap)
            normal = compliance.normal_force(
                self.law, g.gap, rate, self.stiffness, self.exponent, self.damping
            )
            efforts.append((rate, normal))
            if g.slip is not None and self.has_friction:
                share = friction_law.resistance(
                    self.friction_law, g.slip, μ, μ0, self.slip_velocity
                )
                efforts.append((g.slip, -share * normal))
        return efforts

    @property
    def _coefficients(self) -> tuple[SX, SX]:
        static = self.friction if self.static_friction is None else self.static_friction
        return self.friction, static
