"""Common base of stops, contacts and joints with clearance: gaps, rigid or compliant, with or
without friction.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ..core.errors import Label, ModelError
from ..core.symbols import SX
from ..core.units import is_of_kind
from . import compliance, fields, friction_law
from .body import Frames
from .compliance import Compliance
from .contact_law import Contact, ContactLabel
from .force import Force, StatedEvent
from .model_data import ModelData
from .own_coordinates import OwnCoordinate
from .state import State


@dataclass(frozen=True, eq=False)
class Gap:
    """A gap and the slip velocity at it."""

    gap: SX
    slip: SX | None = None
    """A scalar in the plane, along the tangent; components in space."""
    normal: SX | None = None
    """Unit normal of the surfaces, where the slip has three components."""


class ContactElement(Force):
    """Surfaces that cannot penetrate: rigid, with impacts, or compliant if a stiffness is given."""

    restitution = fields.Scalar(
        'Coefficient of restitution, for rigid surfaces and for the law "lankarani-nikravesh".',
        rule="share",
        default=0.0,
    )
    stiffness = fields.OptionalScalar(
        "Stiffness K of compliant surfaces. Without a stiffness, the surfaces are rigid.",
        unit="N/m",
        rule="positive",
        units=("N/m", "N·m/rad"),
    )
    exponent = fields.OptionalScalar(
        'Exponent n of compliant surfaces. By default, it is 1.5 for "lankarani-nikravesh" and 1 for'
        " the other laws.",
        rule="positive",
    )
    damping = fields.Scalar(
        'Damping of compliant surfaces: D (s/m) for "hunt-crossley", C (N·s/m) for "kelvin-voigt".',
        rule="non-negative",
        default=0.0,
        units=("s/m", "N·s/m", "s/rad", "N·m·s/rad"),
    )
    law = fields.Choice(
        'Force law of compliant surfaces: "hunt-crossley", "kelvin-voigt" or "lankarani-nikravesh".',
        options=compliance.LAWS,
        default=compliance.LAWS[0],
    )
    least_impact_speed = fields.Scalar(
        'Lower bound of the impact speed in the law "lankarani-nikravesh", also for surfaces that'
        " overlap initially.",
        unit="m/s",
        rule="positive",
        default=1e-3,
        units=("m/s", "rad/s"),
    )
    friction = fields.Scalar("Sliding friction coefficient.", rule="non-negative", default=0.0)
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
        "Characteristic velocity of a smooth friction law.",
        unit="m/s",
        rule="positive",
        default=1e-3,
    )

    @abstractmethod
    def gap_names(self) -> tuple[str, ...]:
        """Name of each gap; the element's own name if there is only one."""

    @abstractmethod
    def gaps(self, frames: Frames, state: State) -> Sequence[Gap]:
        """Each gap, with its slip velocity where there is friction."""

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
        """Whether impacts occur."""
        return self.stiffness is None

    @property
    def remembers(self) -> bool:
        """Whether its force depends on the speed of the last impact."""
        return not self.is_rigid and self.law == compliance.LANKARANI_NIKRAVESH

    @property
    def has_friction(self) -> bool:
        """Whether it has friction."""
        return not self.friction.is_zero() or self.static_friction is not None

    @property
    def sticks(self) -> bool:
        """Whether its friction has stick and slip modes."""
        return self.has_friction and self.friction_law == friction_law.COULOMB

    def prepare(self, model: ModelData) -> None:
        """Check that the fields are consistent."""
        if self.has_friction and not self.is_rigid and self.sticks:
            raise ModelError(
                "needs rigid surfaces, but a stiffness is given",
                label=Label(self.label, "friction_law"),
                value=self.friction_law,
                remedy='use friction_law="tanh", or omit the stiffness',
            )
        if self.has_friction and self.is_rigid and not self.sticks:
            raise ModelError(
                "needs compliant surfaces, but no stiffness is given",
                label=Label(self.label, "friction_law"),
                value=self.friction_law,
                remedy='use friction_law="coulomb", or give a stiffness',
            )
        self._check_law()
        self._check_units(model)
        if self.static_friction is not None:
            more = self.static_friction - self.friction
            model.parameter_set.require(
                more, "non-negative", f"{self.label}: static_friction − friction"
            )

    def _check_law(self) -> None:
        """Check that restitution and damping belong to the contact law."""
        if not self.is_rigid and not self.remembers and not self.restitution.is_zero():
            raise ModelError(
                "applies to rigid surfaces, but a stiffness is given",
                label=Label(self.label, "restitution"),
                remedy=f"give damping instead, or law={compliance.LANKARANI_NIKRAVESH!r}, or omit the"
                " stiffness",
            )
        if self.is_rigid and not self.damping.is_zero():
            raise ModelError(
                "applies to compliant surfaces, but no stiffness is given",
                label=Label(self.label, "damping"),
                remedy="give a stiffness as well, or a restitution instead",
            )
        if self.remembers and not self.damping.is_zero():
            raise ModelError(
                f"does not belong to {compliance.LANKARANI_NIKRAVESH!r}, which follows from the"
                " restitution",
                label=Label(self.label, "damping"),
                remedy=f"give restitution instead, or law={compliance.HUNT_CROSSLEY!r}",
            )
        if self.is_rigid and self.law != compliance.LAWS[0]:
            raise ModelError(
                "is a law for compliant surfaces, but no stiffness is given",
                label=Label(self.label, "law"),
                value=self.law,
                remedy="give a stiffness as well, or omit the law",
            )

    @property
    def _exponent(self) -> SX:
        default = compliance.EXPONENTS.get(self.law, 1.0)
        return SX(default) if self.exponent is None else self.exponent

    def _check_units(self, model: ModelData) -> None:
        """Check the units of coefficients whose dimension depends on the law."""
        if self.is_rigid:
            return
        n = self._exponent
        units: dict[str, tuple[str, ...]] = {
            "stiffness": ("N/m", "N·m/rad") if n.is_constant() and float(n) == 1 else (),
            "damping": ("s/m", "s/rad")
            if self.law == compliance.HUNT_CROSSLEY
            else ("N·s/m", "N·m·s/rad"),
        }
        for name, accepted in units.items():
            own = model.parameter_set.unit_of(self.given[name])
            if not own or any(is_of_kind(own, unit) for unit in accepted):
                continue
            if accepted:
                problem = f"has the wrong unit for the law {self.law!r}"
                remedy = f"use {' or '.join(accepted)}"
            else:
                power = f"{float(n):g}" if n.is_constant() else str(n)
                problem = (
                    f"has the unit of a force law with exponent 1, but the exponent is {power}"
                )
                remedy = f"give the number in N/m**{power}, without a unit"
            label = Label(self.label, name)
            raise ModelError(problem, label=label, value=self.given[name], remedy=remedy)

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        """Impact speeds that its law stores, one for each gap."""
        return self._impact_speeds

    @property
    def _impact_speeds(self) -> tuple[OwnCoordinate, ...]:
        initial, unit = self.least_impact_speed, f"{self.gap_unit}/s"
        return tuple(
            OwnCoordinate(f"impact speed of {name}", initial=initial, unit=unit)
            for name in self._remembered
        )

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        """Impact speeds are constant between impacts."""
        return [SX(0) for _ in self._remembered]

    def events(self) -> tuple[StatedEvent, ...]:
        """Events at which its surfaces touch: the law stores their speed there."""
        return tuple(
            StatedEvent(name, "falling", resets=1, of_states=True, at_start=True, what="contact")
            for name in self._remembered
        )

    def event_functions(self, frames: Frames, state: State) -> Sequence[SX]:
        """Event functions: its gaps."""
        return [g.gap for g in self.gaps(frames, state)] if self.remembers else []

    def resets(self, frames: Frames, state: State) -> Sequence[Sequence[tuple[SX, SX]]]:
        """Resets of the stored impact speeds."""
        gaps = self.gaps(frames, state) if self.remembers else []
        return [
            [(state.state(c.name), ca.fmax(-state.rate(g.gap), self.least_impact_speed))]
            for c, g in zip(self._impact_speeds, gaps, strict=True)
        ]

    @property
    def _remembered(self) -> tuple[str, ...]:
        return self.gap_names() if self.remembers else ()

    def surface_gaps(self, frames: Frames, state: State) -> Sequence[SX]:
        """Its gaps."""
        return [g.gap for g in self.gaps(frames, state)]

    def contact_labels(self) -> tuple[ContactLabel, ...]:
        """Labels of its gaps, if it is rigid."""
        if not self.is_rigid:
            return ()
        d = self.slip_components
        return tuple(
            ContactLabel(name, self.gap_unit, friction=self.sticks, components=d)
            for name in self.gap_names()
        )

    def contacts(self, frames: Frames, state: State) -> Sequence[Contact]:
        """Gaps, restitution and friction of its contacts."""
        if not self.is_rigid:
            return ()
        if not self.sticks:
            return [Contact(g.gap, self.restitution) for g in self.gaps(frames, state)]
        μ, μ0 = self._coefficients
        return [
            Contact(g.gap, self.restitution, g.slip, g.normal, μ, μ0)
            for g in self.gaps(frames, state)
        ]

    rates_by_state = True

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        """Forces of compliant surfaces."""
        if self.stiffness is None:
            return []
        μ, μ0 = self._coefficients
        law = Compliance(self.law, self.stiffness, self._exponent, self.damping, self.restitution)
        speeds = [state.state(c.name) for c in self._impact_speeds]
        efforts = []
        for k, g in enumerate(self.gaps(frames, state)):
            rate = state.rate(g.gap)
            normal = law.normal_force(g.gap, rate, speeds[k] if speeds else None)
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
