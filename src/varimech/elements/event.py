"""Event: an action when a function of the state vanishes.

    g(x, t, ρ) = 0     →     modes change, velocities or states are reset, or the run ends

A velocity is reset by an impulse in its own direction, M (v⁺ − v⁻) + Jᵀ Λ = 0, with the new value as a
condition. The velocities therefore satisfy all constraints and closed contacts after the event
(`formulations/impact`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from operator import methodcaller
from typing import Any, NamedTuple

from ..core.errors import Label, ModelError, unknown_name
from ..core.symbols import SX, symbols_in
from ..model import fields
from ..model.body import Frames
from ..model.force import Force, StatedEvent
from ..model.model_data import ModelData
from ..model.state import State
from ..model.user_functions import function_of_state, trial_state
from .mode import Mode, plain_number, size_of

DIRECTIONS = ("both", "falling", "rising")
STOP = "stop"


class Reset(NamedTuple):
    """A quantity that takes a new value at an event."""

    rate: Callable[[State], SX]
    """A speed, a state, or a mode that is a state."""
    target: Callable[[State], SX]
    size: float = 1.0
    of_state: bool = False


class Event(Force):
    """An action when a function of the state vanishes: modes change, speeds or states are reset, the run
    ends, or only the time is recorded.

    `m.event("switch off", lambda s: s.angle("A") - 1.0, direction="rising", do={"motor": 0})` sets a mode
    to a number, and `do={"motor": F / 2}` to an expression. `do={"guide": lambda s: -0.5 *
    s.displacement_rate("guide")}` resets the speed of a joint. `do="stop"` ends the run.
    """

    kind = "event"
    file_section = "events"
    when = fields.StateFunction(
        "Function that vanishes at the event: a function of the state, or a string with an expression in t and"
        " the state. It may depend on reactions.",
        size="scalar",
        positional=True,
        of_a_run=True,
    )
    direction = fields.Choice(
        'Sign change that triggers the event: "rising", "falling" or "both".',
        options=DIRECTIONS,
        default="both",
    )
    do = fields.Raw(
        'Action: "stop", or a dictionary of new values. Its keys are names of modes, of states of'
        " elements, or of joints and planar bodies, whose speeds are set. Its values are numbers,"
        " expressions or functions of the state. Without an action, only the time is recorded.",
        file_type="Actions",
    )

    @classmethod
    def file_key(cls) -> None:
        """All entries of its section are events."""
        return

    def prepare(self, model: ModelData) -> None:
        self._modes: dict[str, float] = {}
        self._resets: list[Reset] = []
        self._promoted: dict[str, float] = {}
        if self.do is None or self.do == STOP:
            return
        if not isinstance(self.do, Mapping):
            raise ModelError(
                "is not an action",
                label=Label(self.label, "do"),
                value=self.do,
                remedy='use "stop", or values by name such as {"motor": 0}',
            )
        for name, value in self.do.items():
            self._read(model, str(name), value)

    def _read(self, model: ModelData, name: str, value: Any) -> None:
        label, mode = Label(self.label, "do", repr(name)), model.forces.get(name)
        if isinstance(mode, Mode):
            self._read_mode(model, mode, value, label)
            return
        states = {c.name: c.size for c in model.own_coordinates if c.order == 1}
        target = function_of_state(model, value, 1, label, "")
        if name in states:
            self._resets.append(Reset(methodcaller("state", name), target, states[name], True))
        elif name in model.joints and model.joints[name].displacement() is not None:
            self._resets.append(Reset(methodcaller("displacement_rate", name), target))
        elif name in model.joints or name in model.bodies:
            model.find_angle(name)
            self._resets.append(Reset(methodcaller("angular_velocity", name), target))
        else:
            modes = [x.name for x in model.forces.values() if isinstance(x, Mode)]
            known = [*modes, *states, *model.joints, *model.bodies]
            raise unknown_name("mode, state, joint or body", name, known)

    def _read_mode(self, model: ModelData, mode: Mode, value: Any, label: Label) -> None:
        """Set a mode to a number, or, as a state, to an expression."""
        number = plain_number(value)
        if number is not None and not mode.varies:
            self._modes[mode.name] = number
            return
        target = function_of_state(model, value, 1, label, "")
        tried = target(trial_state(model, label))
        known = symbols_in(tried) <= symbols_in(model.parameter_set.vector)
        size = size_of(float(model.parameter_set.evaluate(tried).item())) if known else 1.0
        self._resets.append(Reset(methodcaller("mode", mode.name), target, size, True))
        if not mode.varies:
            self._promoted[mode.name] = size

    def add_to(self, model: ModelData) -> None:
        super().add_to(model)
        for name, size in self._promoted.items():
            mode = model.forces[name]
            assert isinstance(mode, Mode)
            model.forces[name] = mode.varying(
                size
            )  # a copy, because frozen models keep the original
            for other in list(model.forces.values()):
                if isinstance(other, Event) and name in other._modes:
                    other._resetting(name).replace_in(model)

    def _resetting(self, name: str) -> Event:
        """The same event, for a mode that has become a state."""
        event = copy.copy(self)
        event._modes = {mode: x for mode, x in self._modes.items() if mode != name}
        value = SX(self._modes[name])
        reset = Reset(methodcaller("mode", name), lambda state: value, of_state=True)
        event._resets = [*self._resets, reset]
        return event

    def replace_in(self, model: ModelData) -> None:
        """Replace the event of the same name."""
        before = {event.reset_mode for event in model.forces[self.name].events()}
        model.forces[self.name] = self
        new = [e.reset_mode for e in self.events() if e.reset_mode is not None]
        model.parameter_set.add_modes([mode for mode in new if mode not in before])

    def events(self) -> tuple[StatedEvent, ...]:
        stops, resets = self.do == STOP, len(self._resets)
        of_states = all(reset.of_state for reset in self._resets)
        return (StatedEvent(self.name, self.direction, self._modes, stops, resets, of_states),)

    def event_functions(self, frames: Frames, state: State) -> Sequence[SX]:
        return [self.when(state)]

    def resets(self, frames: Frames, state: State) -> Sequence[Sequence[tuple[SX, SX]]]:
        # the condition is scaled to values of order one
        return [[(r.rate(state) / r.size, r.target(state) / r.size) for r in self._resets]]
