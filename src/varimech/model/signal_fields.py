"""Fields of signals and states: functions that may refer to later elements, units, coefficients and
matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..core.errors import ModelError
from ..core.symbols import SX
from ..core.units import is_si
from .fields import REQUIRED, Field, StateFunction
from .state import State
from .user_functions import function_of_state

if TYPE_CHECKING:
    from .element import Element
    from .model_data import ModelData


class SignalFunction(StateFunction):
    """A function of the state that may refer to states and signals of later elements.

    Args:
        description: its meaning in one sentence.
        size: "scalar" or "any".
        unit: of its value.
        positional: whether it may be given without its name.
        default: value if it is not given.
    """

    def read(self, model: ModelData, element: Element, value: object) -> Callable[[State], SX]:
        """Read a given value."""
        size = 1 if self.size == "scalar" else None
        return function_of_state(model, value, size, self.label(element), self.unit, forward=True)


class OptionalSignalFunction(Field[Callable[[State], SX] | None]):
    """An optional `SignalFunction`, None by default."""

    def __init__(self, description: str, *, unit: str = ""):
        super().__init__(description, unit=unit, default=None)

    def read(
        self, model: ModelData, element: Element, value: object
    ) -> Callable[[State], SX] | None:
        """Read a given value."""
        if value is None:
            return None
        return function_of_state(model, value, 1, element.label, self.unit, forward=True)


class Unit(Field[str]):
    """An SI unit, as text."""

    file_type = "Name"
    annotation = "str"
    is_plain = True

    def __init__(self, description: str):
        super().__init__(description, default="1")

    def read(self, model: ModelData, element: Element, value: object) -> str:
        """Read a given value."""
        if not isinstance(value, str) or not (value in ("", "1") or is_si(value)):
            raise ModelError("is not an SI unit", label=self.label(element), value=value)
        return value or "1"


class Coefficients(Field[list[SX]]):
    """Numbers, parameters or expressions of parameters in a list of any length."""

    file_type = "Row"
    annotation = "Sequence[Number]"

    def __init__(self, description: str, *, default: object = REQUIRED, positional: bool = False):
        super().__init__(description, default=default, positional=positional)

    def read(self, model: ModelData, element: Element, value: Any) -> list[SX]:
        """Read a given value."""
        return _row(model, value, self.label(element))


class MatrixOf(Field[SX]):
    """Rows of numbers, parameters or expressions of parameters; a single row or number is a matrix
    of one row.
    """

    file_type = "Rows"
    annotation = "Sequence[Sequence[Number]] | None"

    def __init__(self, description: str, *, default: object = REQUIRED, positional: bool = False):
        super().__init__(description, default=default, positional=positional)

    def read(self, model: ModelData, element: Element, value: Any) -> SX:
        """Read a given value."""
        label = self.label(element)
        if value is None:
            return SX(0, 0)
        if not _is_list(value) or not len(value) or not all(_is_list(row) for row in value):
            raise ModelError(
                "must be rows of numbers", label=label, value=value, remedy="use [[0, 1], [-2, -3]]"
            )
        rows = [_row(model, row, f"{label}[{k}]") for k, row in enumerate(value)]
        if len({len(row) for row in rows}) > 1:
            raise ModelError("has rows of different lengths", label=label)
        return ca.densify(ca.vertcat(*[ca.horzcat(*row) for row in rows]))


def _is_list(value: object) -> bool:
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)


def _row(model: ModelData, value: Any, label: str) -> list[SX]:
    if not _is_list(value) or not len(value):
        raise ModelError("must be a list of numbers", label=label, value=value)
    return [
        model.parameter_set.scalar(each, f"{label}[{k}]", unit="") for k, each in enumerate(value)
    ]
