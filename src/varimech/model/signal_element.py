"""Signals: outputs of blocks, available to functions of the state as `s.signal(name)`.

A block has an input, a function of the state, and may own first-order states:

    ẋ = f(x, u, t),     y = g(x, u, t)

If g depends on u, the output depends on the present input (direct feedthrough). Signals that depend
on each other in a loop without a state (an algebraic loop) are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.errors import ModelError
from ..core.symbols import SX
from .body import Frames
from .fields import Field
from .force import Force
from .signal_fields import SignalFunction, Unit
from .state import State
from .user_functions import collecting, trial_state

if TYPE_CHECKING:
    from .model_data import ModelData


class SignalElement(Force):
    """A block with one output of its name; by itself it does not affect the motion."""

    file_section = "signals"
    input = SignalFunction(
        "Input: a number, a function of the state, or a string with an expression in t and the state. It may"
        " use any signals and states, even if they are defined later.",
        size="scalar",
        positional=True,
    )
    unit = Unit("Unit of the output.")

    @classmethod
    def leading(cls) -> tuple[Field[object], ...]:
        """In a file, its input is the value of the key of the block."""
        return tuple(f for f in cls.fields() if f.name == "input" and f.file_type == "Number")

    def add_to(self, model: ModelData) -> None:
        """Add it to the model, unless its signals form an algebraic loop."""
        super().add_to(model)
        state = trial_state(model, self.label, later=collecting([]))
        try:
            for name in self.signal_units():  # a loop is detected when its last element is added
                state.signal(name)
        except ModelError as error:
            del model.forces[self.name]
            error.element = error.element or self.label
            raise

    def check_references(self, model: ModelData) -> None:
        """Check names of states and signals in its functions."""
        state = trial_state(model, self.label)
        self.input(state)
        for name in self.signal_units():
            state.signal(name)

    def signal_units(self) -> dict[str, str]:
        """Unit of its output."""
        return {self.name: self.unit}

    def signals(self, frames: Frames, state: State) -> Sequence[SX]:
        """Its output."""
        return [self.output(state)]

    def output(self, state: State) -> SX:
        """y."""
        raise NotImplementedError
