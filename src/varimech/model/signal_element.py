"""Signals: outputs of blocks that functions of the state know as `s.signal(name)`.

A block has an input, a function of the state, and may own first-order states:

    ẋ = f(x, u, t),     y = g(x, u, t)

Where g depends on u, the output follows the input at once (direct feedthrough). Signals that depend
on each other in a loop without a state in it are refused.
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
    """A block with one output, which has its name; it does nothing to the motion by itself."""

    file_section = "signals"
    input = SignalFunction(
        "Input: a number, a function of the state, or a string with an expression of t and the state. It may"
        " use signals and states that are defined later.",
        size="scalar",
        positional=True,
    )
    unit = Unit("Unit of the output.")

    @classmethod
    def leading(cls) -> tuple[Field[object], ...]:
        """A file has its input under the key of the block."""
        return tuple(f for f in cls.fields() if f.name == "input" and f.file_type == "Number")

    def add_to(self, model: ModelData) -> None:
        """Take it into the model, unless its signals close a loop."""
        super().add_to(model)
        state = trial_state(model, self.label, later=collecting([]))
        try:
            for name in self.signal_units():  # loops are found where the last part of one is added
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
        """Its output."""
        return {self.name: self.unit}

    def signals(self, frames: Frames, state: State) -> Sequence[SX]:
        """Its output."""
        return [self.output(state)]

    def output(self, state: State) -> SX:
        """y."""
        raise NotImplementedError
