"""Dry friction that opposes a rate ẏ: a force or torque of given magnitude.

    coulomb   sticking: ẏ = 0, |T| ≤ F₀;   sliding: T = −F sign(ẏ)
    smooth    functions of ẏ (`model/friction_law`)
    lugre     ż = ẏ − |ẏ| z σ₀ / G(ẏ),  T = −(σ₀ z + σ₁ ż),  G = F + (F₀ − F) exp(−(ẏ/v)²)

C. Canudas de Wit, H. Olsson, K. J. Åström and P. Lischinsky, IEEE Trans. Autom. Control 40 (1995)
419–425 (LuGre).
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..core.errors import Label, ModelError
from ..core.symbols import SX
from ..model import fields, friction_law
from ..model.body import Frames
from ..model.contact_law import Contact, ContactLabel
from ..model.force import Force
from ..model.model_data import ModelData
from ..model.own_coordinates import OwnCoordinate
from ..model.state import State
from ..model.trial_lengths import grows_with_lengths

LUGRE = "lugre"
EFFORTS = ("N", "N·m")


class DryFriction(Force):
    """Dry friction that opposes a rate: that of a joint angle, displacement or distance, or any
    expression that is linear in the velocities.

    Example: `m.dry_friction("rub", lambda s: s.displacement_rate("guide"), sliding=2.0, static=2.5)`.
    """

    kind = "dry friction"
    rate = fields.StateFunction(
        "Rate that friction opposes, linear in the velocities.", size="scalar", positional=True
    )
    sliding = fields.Scalar(
        "Sliding friction: a force (N), or a torque (N·m) for an angular rate.",
        rule="non-negative",
        units=EFFORTS,
    )
    static = fields.OptionalScalar(
        "Largest friction force or torque during sticking; equal to `sliding` if not given.",
        rule="non-negative",
        units=EFFORTS,
    )
    law = fields.Choice(
        'Friction law: "coulomb", with sticking and sliding; one of the smooth laws "tanh", "stribeck"'
        ' and "brown-mcphee"; or "lugre".',
        options=(*friction_law.LAWS, LUGRE),
        default=friction_law.COULOMB,
    )
    slip_velocity = fields.Scalar(
        "Characteristic rate of the transition to sliding, for the smooth laws and LuGre.",
        rule="positive",
        default=1e-3,
        units=("m/s", "rad/s"),
    )
    bristle_stiffness = fields.Scalar(
        "Bristle stiffness σ₀ of the LuGre law.",
        rule="positive",
        default=1e5,
        units=("N/m", "N·m/rad"),
    )
    bristle_damping = fields.Scalar(
        "Bristle damping σ₁ of the LuGre law.",
        rule="non-negative",
        default=0.0,
        units=("N·s/m", "N·m·s/rad"),
    )

    def prepare(self, model: ModelData) -> None:
        self._check_units(model)
        if self.static is not None:
            more = self.static - self.sliding
            model.parameter_set.require(more, "non-negative", f"{self.label}: static − sliding")
        if self.law == LUGRE:
            model.parameter_set.require(self.sliding, "positive", f"{self.label}: sliding")

    def _check_units(self, model: ModelData) -> None:
        """Refuse torques that oppose velocities. Forces may oppose angular rates, because a radius
        times such a rate is a velocity.
        """
        for name in ("sliding", "static"):
            value = self.given[name]
            if model.parameter_set.unit_among(value, EFFORTS) == EFFORTS[0]:
                continue
            if grows_with_lengths(model, self.rate, self.label):
                raise ModelError(
                    "is a torque, and the rate that it resists is a velocity",
                    label=Label(self.label, name),
                    value=value,
                    remedy="give a force in N, or an angular rate such as angular_velocity('hinge')",
                )

    def contact_labels(self) -> tuple[ContactLabel, ...]:
        if self.law != friction_law.COULOMB:
            return ()
        return (ContactLabel(self.name, normal=False, friction=True),)

    def contacts(self, frames: Frames, state: State) -> Sequence[Contact]:
        if self.law != friction_law.COULOMB:
            return ()
        return [Contact(slip=self.rate(state), sliding=self.sliding, static=self._static)]

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        if self.law != LUGRE:
            return ()
        return (OwnCoordinate(self._bristle, size=1e-6),)

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        return [self._deflection_rate(state)] if self.law == LUGRE else []

    rates_by_state = True

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        if self.law == friction_law.COULOMB:
            return []
        rate = self.rate(state)
        if self.law == LUGRE:
            z, ż = state.state(self._bristle), self._deflection_rate(state)
            return [(rate, -(self.bristle_stiffness * z + self.bristle_damping * ż))]
        arguments = rate, self.sliding, self._static, self.slip_velocity
        return [(rate, -friction_law.coefficient(self.law, *arguments))]

    def _deflection_rate(self, state: State) -> SX:
        rate, z = self.rate(state), state.state(self._bristle)
        more = self._static - self.sliding
        G = self.sliding + more * ca.exp(-((rate / self.slip_velocity) ** 2))
        return rate - ca.fabs(rate) * z * self.bristle_stiffness / G

    @property
    def _static(self) -> SX:
        return self.sliding if self.static is None else self.static

    @property
    def _bristle(self) -> str:
        return f"deflection of {self.name}"
