"""Records of an interpreted adjoint run: what the sweep backwards needs to know of each step and event."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.errors import ModelError
from ..core.messages import Message
from .inputs import Inputs
from .passage import PassageRecord
from .program import Program


@dataclass(frozen=True, eq=False)
class Record:
    """What the sweep needs to know of a step."""

    begin: float
    length: float
    end: float
    states: np.ndarray
    """At its stages."""
    solved: list[np.ndarray]
    """Unknowns and multipliers of iterated chains, at its stages and its end."""
    chosen: np.ndarray


STOPS = 2
"""Kind of an event that ends the run."""


@dataclass(frozen=True, eq=False)
class EventRecord:
    """What the sweep needs to know of an event."""

    end: float
    states: np.ndarray
    """Before it, and after its impact."""
    function: int
    """The function that vanishes there; −1 at the start of a run."""
    rate: float
    kind: int
    """1 for an impact, `STOPS` where it ends the run, else 0."""
    modes: np.ndarray
    """Before it."""
    number: int
    """Of the event among the ends of steps."""

    @property
    def length(self) -> float:
        """It takes no time."""
        return 0.0


AnyRecord = Record | EventRecord | PassageRecord


class Records:
    """Records of one run, as long as they fit into the allowed memory."""

    def __init__(self, program: Program, inputs: Inputs):
        self._most = inputs.memory / (8 * program.record_size)
        self._memory = inputs.memory
        self.list: list[AnyRecord] = []

    def append(self, record: AnyRecord) -> None:
        """Add a record.

        Raises:
            ModelError: if it does not fit.
        """
        if len(self.list) >= self._most:
            raise ModelError(
                f"MB holds {len(self.list)} steps of an adjoint that is interpreted",
                field="memory",
                value=self._memory / 1e6,
                remedy=Message(
                    "give more, or {backend}, which takes long runs with little memory",
                    backend="native",
                ),
            )
        self.list.append(record)
