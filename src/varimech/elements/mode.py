"""Mode: a number that only events change (`event`), available in expressions as `s.mode(name)`.

A mode whose values are plain numbers is data of the equations (`model/contact_law`). If one of its
values is an expression of parameters or of the state, the mode is a first-order state with ċ = 0 that
events reset. Like any other state, it is then differentiated.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import casadi as ca

from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.force import Force
from ..model.model_data import ModelData
from ..model.own_coordinates import OwnCoordinate
from ..model.state import State


class Mode(Force):
    """A number that only events change: whether a motor is on, which spring acts, the force of a
    latch.

    Forces and objectives refer to it as `s.mode("motor")`, strings as `mode('motor')`.
    """

    kind = "mode"
    file_section = "modes"
    initial = fields.Scalar("Initial value.", default=0.0)

    @classmethod
    def file_key(cls) -> None:
        """All entries of its section are modes."""
        return

    def prepare(self, model: ModelData) -> None:
        model.check_free(self.name, [{c.name for c in model.own_coordinates}])
        first = float(model.parameter_set.evaluate(self.initial).item())
        self._first, self._size = first, None if self.initial.is_constant() else size_of(first)

    def add_to(self, model: ModelData) -> None:
        super().add_to(model)
        model.parameter_set.add_modes([self.name], self._first)

    @property
    def varies(self) -> bool:
        """Whether it is a state, because one of its values is an expression."""
        return self._size is not None

    def varying(self, size: float) -> Mode:
        """The same mode as a state, with values of the given size."""
        mode = copy.copy(self)
        mode._size = max(size_of(self._first) if self._first else 0.0, size)
        return mode

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        if self._size is None:
            return ()
        return (OwnCoordinate(self.name, initial=self.initial, size=self._size),)

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        return [SX(0)] if self.varies else []


def size_of(value: float) -> float:
    """The scale of a value, used to measure its differences; 1 for zero, whose scale is unknown."""
    return abs(value) or 1.0


def plain_number(value: Any) -> float | None:
    """A value as a plain number; None for an expression or a function."""
    if isinstance(value, ca.SX) and not value.is_constant():
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError):
        return None
    return number if math.isfinite(number) else None
