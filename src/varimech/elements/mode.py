"""Mode: a number that only events change (`event`); expressions know it as `s.mode(name)`."""

from __future__ import annotations

import math
from typing import Any

from ..core.errors import ModelError
from ..model import fields
from ..model.force import Force
from ..model.model_data import ModelData


class Mode(Force):
    """A number that only events change: whether a motor is on, which spring acts.

    Forces and objectives use it as `s.mode("motor")`, in texts as `mode('motor')`.
    """

    kind = "mode"
    file_section = "modes"
    initial = fields.Scalar("Value at the start of a run.", default=0.0)

    @classmethod
    def file_key(cls) -> None:
        """All entries of its section are modes."""
        return

    def prepare(self, model: ModelData) -> None:
        check_number(self.initial, f"{self.label}: initial")

    def add_to(self, model: ModelData) -> None:
        super().add_to(model)
        model.parameter_set.add_modes([self.name], float(self.initial))


def check_number(value: Any, label: str) -> None:
    """Refuse what is no plain number: modes have no derivatives."""
    try:
        plain = math.isfinite(float(value))
    except (TypeError, ValueError, RuntimeError):
        plain = False
    if not plain:
        remedy = "multiply the mode with a parameter where it is used"
        raise ModelError("must be a plain number", label=label, value=value, remedy=remedy)
