"""Event: something happens where a function of the state vanishes.

    g(x, t, ρ) = 0     →     modes change, velocities or states are reset, or the run ends

Velocities are reset by an impulse along what is reset: M (v⁺ − v⁻) + Jᵀ Λ = 0 with the new value as
a condition, so constraints, and contacts that are closed, hold after it (`formulations/impact`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import methodcaller
from typing import Any

from ..core.errors import Label, ModelError, unknown_name
from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.force import Force, StatedEvent
from ..model.model_data import ModelData
from ..model.state import State
from ..model.user_functions import function_of_state
from .mode import check_number

DIRECTIONS = ("both", "falling", "rising")
STOP = "stop"


class Event(Force):
    """What happens where a function of the state vanishes: nothing but a note of the time, modes that
    change, speeds or states that are reset, or the end of the run.

    `m.event("switch off", lambda s: s.angle("A") - 1.0, direction="rising", do={"motor": 0})` sets a
    mode; `do={"guide": lambda s: -0.5 * s.displacement_rate("guide")}` resets the speed of a joint;
    `do="stop"` ends the run.
    """

    kind = "event"
    file_section = "events"
    when = fields.StateFunction(
        "Function of the state that vanishes (of t and the state as text); it may depend on"
        " reactions.",
        size="scalar",
        positional=True,
        of_a_run=True,
    )
    direction = fields.Choice(
        "Whether it counts where the function is rising, falling or both.",
        options=DIRECTIONS,
        default="both",
    )
    do = fields.Raw(
        '"stop", or new values by name: of modes (numbers), of states of elements, and of the'
        " speeds of joints and planar bodies (numbers or functions of the state); nothing if not"
        " given.",
        file_type="Actions",
    )

    @classmethod
    def file_key(cls) -> None:
        """All entries of its section are events."""
        return

    def prepare(self, model: ModelData) -> None:
        self._modes: dict[str, float] = {}
        self._resets: list[tuple[Callable[[State], SX], Callable[[State], SX], float]] = []
        if self.do is None or self.do == STOP:
            return
        if not isinstance(self.do, Mapping):
            raise ModelError(
                "is no action",
                label=Label(self.label, "do"),
                value=self.do,
                remedy='use "stop", or values by name such as {"motor": 0}',
            )
        for name, value in self.do.items():
            self._read(model, str(name), value)

    def _read(self, model: ModelData, name: str, value: Any) -> None:
        label = Label(self.label, "do", repr(name))
        if name in model.parameter_set.modes:
            check_number(value, label)
            self._modes[name] = float(value)
            return
        states = {c.name: c.size for c in model.own_coordinates if c.order == 1}
        target = function_of_state(model, value, 1, label, "")
        size = 1.0
        if name in states:
            rate, size = methodcaller("state", name), states[name]
        elif name in model.joints and model.joints[name].displacement() is not None:
            rate = methodcaller("displacement_rate", name)
        elif name in model.joints or name in model.bodies:
            model.find_angle(name)
            rate = methodcaller("angular_velocity", name)
        else:
            known = [*model.parameter_set.modes, *states, *model.joints, *model.bodies]
            raise unknown_name("mode, state, joint or body", name, known)
        self._resets.append((rate, target, size))

    def events(self) -> tuple[StatedEvent, ...]:
        stops, resets = self.do == STOP, len(self._resets)
        return (StatedEvent(self.name, self.direction, self._modes, stops, resets),)

    def event_functions(self, frames: Frames, state: State) -> Sequence[SX]:
        return [self.when(state)]

    def resets(self, frames: Frames, state: State) -> Sequence[Sequence[tuple[SX, SX]]]:
        # a condition for numbers of the size of one, by which it is scaled in the equations
        return [[(rate(state) / x, target(state) / x) for rate, target, x in self._resets]]
