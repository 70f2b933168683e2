"""Servo: a position-controlled actuator on an angle or displacement x (`model/pid_law`).

e = target − x,     torque or force  y = min(max(k_p e + z + k_d ė, −limit), limit)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.element import Element
from ..model.force import Force
from ..model.model_data import ModelData
from ..model.own_coordinates import OwnCoordinate
from ..model.pid_law import PidLaw
from ..model.scalar_outputs import Slide, Turn
from ..model.signal_fields import OptionalSignalFunction, SignalFunction
from ..model.state import State
from ..model.user_functions import collecting, trial_frames, trial_state


class Actuated(fields.Reference[Turn | Slide]):
    """The angle of a joint or planar body, or the displacement of a joint that has no angle."""

    annotation = "Joint | Body | str"

    def read(self, model: ModelData, element: Element, value: Any) -> Turn | Slide:
        name = model.name_of(value)
        joint = model.joints.get(name)
        if joint is not None and joint.angle() is None:
            return model.find_displacement(name)
        return model.find_angle(name)


class Servo(Force):
    """A position-controlled actuator with a limit: a PID law computes a torque on an angle, or a force
    on a displacement.

    The torque or force is the signal `name`; the integral of the PID law is the state `name integral`.
    """

    kind = "servo"
    joint = Actuated("Rotating or sliding joint, or planar body, that the servo moves.")
    target = SignalFunction(
        "Target value (rad or m): a number, a function of the state, or a string with an expression in t and"
        " the state.",
        size="scalar",
        positional=True,
    )
    kp = fields.Scalar("Proportional gain: torque or force per error.")
    ki = fields.Scalar("Integral gain; the number 0 omits the integral.", default=0.0)
    kd = fields.Scalar("Derivative gain; the number 0 omits the derivative.", default=0.0)
    limit = fields.OptionalScalar(
        "Largest torque (N·m) or force (N), in both directions; unlimited if not given.",
        rule="positive",
    )
    tracking_time = fields.OptionalScalar(
        "Time constant of back-calculation while the output is limited; kp/ki if not given.",
        unit="s",
        rule="positive",
    )
    target_rate = OptionalSignalFunction(
        "Rate of the target. Give it if the target depends on velocities or states; otherwise, the exact"
        " derivative of the target is used."
    )

    def prepare(self, model: ModelData) -> None:
        low = None if self.limit is None else -self.limit
        self._law = PidLaw(self.kp, self.ki, self.kd, low, self.limit, self.tracking_time)
        self._law.check(model, self)
        self._size = 1.0
        if self.limit is not None:
            self._size = float(model.parameter_set.evaluate(self.limit).item())
        frames = trial_frames(model)
        self._demand(frames, trial_state(model, self.label, frames=frames, later=collecting([])))

    def check_references(self, model: ModelData) -> None:
        self.target(trial_state(model, self.label))

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        if not self._law.integrates:
            return ()
        return (OwnCoordinate(f"{self.name} integral", 1, unit=self._unit, size=self._size),)

    @property
    def _unit(self) -> str:
        return "N·m" if isinstance(self.joint, Turn) else "N"

    def signal_units(self) -> dict[str, str]:
        return {self.name: self._unit}

    def signals(self, frames: Frames, state: State) -> Sequence[SX]:
        return [self._law.output(self._demand(frames, state))]

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        if not self._law.integrates:
            return []
        return [self._law.integral_rate(self._error(state), self._demand(frames, state))]

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        return [(self.joint.rate(frames), self._law.output(self._demand(frames, state)))]

    def _error(self, state: State) -> SX:
        return self.target(state) - state.output(self.joint)

    def _demand(self, frames: Frames, state: State) -> SX:
        z = state.state(f"{self.name} integral") if self._law.integrates else SX(0)
        rate = SX(0)
        if self._law.differentiates:
            rate = self._target_rate(state) - self.joint.rate(frames)
        return self._law.demand(self._error(state), rate, z)

    def _target_rate(self, state: State) -> SX:
        if self.target_rate is not None:
            return self.target_rate(state)
        try:
            return state.rate(self.target(state))
        except ModelError:
            raise ModelError(
                "the target depends on velocities or states, so its rate is not known",
                element=self.label,
                remedy="give target_rate=…",
            ) from None
