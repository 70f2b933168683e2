"""Transmissions: an output y₂ keeps a ratio i to an angle y₁, over any number of turns.

    rigid       y₂ = i y₁ + y₀
    compliant   δ = i y₁ + y₀ − y₂,     F₂ = f(δ − b/2, δ̇) − f(−δ − b/2, −δ̇)
                f(x, ẋ) = max(k x + c ẋ min(x/d, 1), 0) for x > 0, and 0 otherwise

F₂ acts along y₂, and F₁ = −i F₂ along y₁. b is the backlash; without one, F₂ = k δ + c δ̇. Damping
grows to its full value over the depth d: a force that jumped where teeth touch would not be
differentiable there.

With an efficiency η, the mesh takes more from the driving side than it transmits:

    F₁ = −i F₂ (1 + (1/η − 1) u)  if y₁ drives,     F₁ = −i F₂ (1 − (1 − η) u)  if y₂ drives

where u = |tanh(ẏ₁/w)| is 1 for all but very slow motion, and y₁ drives if i F₂ ẏ₁ > 0.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress

import casadi as ca
import numpy as np

from ..core.errors import Label, ModelError
from ..core.symbols import SX
from . import fields
from .body import Body, Frames
from .conditions import Axis
from .force import Force
from .model_data import ModelData
from .scalar_outputs import ScalarOutput, Turn
from .state import State

PARALLEL = 1e-6
"""Sine of the angle between axes below which they count as parallel: it allows for digits that
users round.
"""


def efficiency() -> fields.OptionalScalar:
    """Return the field of the efficiency η."""
    return fields.OptionalScalar(
        "Efficiency: ratio of output power to input power, in (0, 1], whichever side drives. Requires a"
        " stiffness.",
        rule="positive share",
    )


def slip_velocity() -> fields.OptionalScalar:
    """Return the field of the slip velocity w."""
    return fields.OptionalScalar(
        "Rate of the first angle below which losses decrease gradually to zero; 1e-3 rad/s if not given.",
        unit="rad/s",
        rule="positive",
    )


class Transmission(Force):
    """A pair of outputs with a constant ratio."""

    compliant_only = ("damping", "damping_depth", "backlash", "efficiency", "slip_velocity")
    """Fields that require a stiffness."""

    stiffness: fields.OptionalScalar
    damping: fields.OptionalScalar
    backlash: fields.OptionalScalar
    damping_depth: fields.OptionalScalar
    efficiency: fields.OptionalScalar
    slip_velocity: fields.OptionalScalar

    @property
    @abstractmethod
    def outputs(self) -> tuple[Turn, ScalarOutput]:
        """y₁ and y₂."""

    @abstractmethod
    def law(self) -> tuple[SX, SX]:
        """Ratio i and offset y₀."""

    @property
    def is_rigid(self) -> bool:
        """Whether it is a constraint."""
        return self.stiffness is None

    def check_given(self, model: ModelData) -> None:
        """Refuse fields that require a stiffness if there is none."""
        if self.given["stiffness"] is not None:
            return
        for name in self.compliant_only:
            if self.given[name] is not None:
                remedy = "give a stiffness as well"
                if name == "backlash":
                    remedy += ", or model rigid flanks with impacts as a stop for φ₂ − i φ₁"
                raise ModelError(
                    "needs a compliant mesh, but no stiffness is given",
                    label=Label(self.label, name),
                    value=self.given[name],
                    remedy=remedy,
                )

    def effort_names(self) -> dict[str, str]:
        """Units of F₂, and of F₁ if it does not follow from F₂ alone."""
        names = {self.name: self.outputs[1].unit}
        return names if self.is_rigid else names | {f"{self.name}.first": "rad"}

    def constraints(self, frames: Frames, state: State) -> SX:
        """y₂ − i y₁ − y₀."""
        return -self._deflection(state) if self.is_rigid else SX(0, 1)

    def potential_energy(self, frames: Frames, state: State) -> SX:
        """½ k x² of each flank."""
        if self.stiffness is None:
            return SX(0)
        return sum((self.stiffness * x**2 / 2 for x, _ in self._flanks(frames, state)), SX(0))

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        """Damping along δ, losses along y₁."""
        if self.stiffness is None:
            return []
        efforts, elastic = [], self._elastic(frames, state)
        if self.damping is not None:
            efforts.append((self._rate(frames), elastic - self._force(frames, state)))
        if self.efficiency is not None:
            efforts.append((self.outputs[0].rate(frames), -self._loss(frames, state)))
        return efforts

    def explicit_efforts(self, frames: Frames, state: State) -> Mapping[str, SX]:
        """F₂ and F₁."""
        if self.stiffness is None:
            return {}
        i, _ = self.law()
        force = self._force(frames, state)
        first = -i * force - self._loss(frames, state)
        return {self.name: force, f"{self.name}.first": first}

    def _deflection(self, state: State) -> SX:
        (y1, y2), (i, y0) = self.outputs, self.law()
        return i * state.output(y1) + y0 - state.output(y2)

    def _rate(self, frames: Frames) -> SX:
        (y1, y2), (i, _) = self.outputs, self.law()
        return i * y1.rate(frames) - y2.rate(frames)

    def _flanks(self, frames: Frames, state: State) -> list[tuple[SX, float]]:
        """Compression x of each flank and the sign of its force; a single flank without backlash."""
        δ = self._deflection(state)
        if self.backlash is None:
            return [(δ, 1.0)]
        half = self.backlash / 2
        return [(ca.fmax(δ - half, 0), 1.0), (ca.fmax(-δ - half, 0), -1.0)]

    def _elastic(self, frames: Frames, state: State) -> SX:
        assert self.stiffness is not None
        k = self.stiffness
        return sum((sign * k * x for x, sign in self._flanks(frames, state)), SX(0))

    def _force(self, frames: Frames, state: State) -> SX:
        """F₂."""
        return sum((sign * f for f, sign in self._tooth_forces(frames, state)), SX(0))

    def _tooth_forces(self, frames: Frames, state: State) -> list[tuple[SX, float]]:
        """Force of each flank, and its sign in F₂; without backlash the force of the single flank
        may be negative.
        """
        flanks, k = self._flanks(frames, state), self.stiffness
        assert k is not None
        if self.damping is None:
            return [(k * x, sign) for x, sign in flanks]
        rate, c = self._rate(frames), self.damping
        if self.backlash is None:
            return [(k * flanks[0][0] + c * rate, 1.0)]
        d = self._depth
        return [
            (ca.fmax(k * x + c * sign * rate * ca.fmin(x / d, 1), 0), sign) for x, sign in flanks
        ]

    @property
    @abstractmethod
    def _depth(self) -> SX:
        """d."""

    def _loss(self, frames: Frames, state: State) -> SX:
        """Losses, subtracted from F₁ along y₁."""
        if self.efficiency is None:
            return SX(0)
        (i, _), η = self.law(), self.efficiency
        w = SX(1e-3) if self.slip_velocity is None else self.slip_velocity
        teeth = self._tooth_forces(frames, state)
        if self.backlash is None:
            ((force, _),) = teeth
            teeth = [(ca.fmax(force, 0), 1.0), (ca.fmax(-force, 0), -1.0)]
        u, loss = ca.tanh(self.outputs[0].rate(frames) / w), SX(0)
        # flank by flank, because the direction of power is then that of ẏ₁ alone: it does not
        # switch where
        # teeth are apart, where there is no power at all
        for force, sign in teeth:
            drives = sign * i / ca.fabs(i) * u
            share = (1 / η - 1) * ca.fmax(drives, 0) - (1 - η) * ca.fmax(-drives, 0)
            loss += sign * i * force * share
        return loss


def sense(model: ModelData, first: Turn, second: Turn, label: str) -> float:
    """1 if both angles increase in the same sense in space, seen from the body relative to which
    both turn, and −1 if they increase in opposite senses.

    Raises:
        ModelError: where there is no such body, or the axes are not parallel.
    """
    carriers = [body for body in first.bodies if body in second.bodies]
    if not carriers:
        raise ModelError(
            "its two angles have no body in common, against which both wheels turn",
            element=label,
            remedy="use joints of both wheels with one carrier (or the ground), or give ratio",
        )
    signs = [1.0 if turn.first is carriers[0] else -1.0 for turn in (first, second)]
    if model.dimension == 2:
        return signs[0] * signs[1]
    axes = [_axis_on(model, turn, carriers[0], label) for turn in (first, second)]
    a, b = (np.ravel(model.parameter_set.evaluate(ca.densify(axis))) for axis in axes)
    if np.linalg.norm(np.cross(a, b)) > PARALLEL:
        raise ModelError(
            "the axes of its two joints are not parallel",
            element=label,
            remedy='use mesh="crossed" for bevel and worm gears, or give ratio',
        )
    return signs[0] * signs[1] * float(np.sign(a @ b))


def _axis_on(model: ModelData, turn: Turn, carrier: Body, label: str) -> SX:
    """Axis of an angle in the frame of one of its bodies."""
    if turn.first is carrier:
        return ca.cross(turn.reference, turn.quarter)
    joint = model.joints.get(model.name_of_angle(turn) or "")
    axis = getattr(joint, "axis_on_second", None) or getattr(joint, "normal_on_second", None)
    if not isinstance(axis, Axis):
        raise ModelError(
            "the axis of one of its joints is not known in the frame of the carrier",
            element=label,
            remedy="make the carrier the first body of both joints, or give ratio",
        )
    return axis.direction


def wheel_axis(model: ModelData, turn: Turn, wheel: Body) -> SX | None:
    """Axis of a wheel in its own frame, for drawings; None in the plane, or if it is unknown."""
    with suppress(ModelError):
        return None if model.dimension == 2 else _axis_on(model, turn, wheel, "")
    return None
