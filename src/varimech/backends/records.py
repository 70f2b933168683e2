"""Records of an interpreted adjoint run: the data of each step and event for the reverse sweep."""

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
    """Data of a step that the reverse sweep needs."""

    begin: float
    length: float
    end: float
    states: np.ndarray
    """States at its stages."""
    solved: list[np.ndarray]
    """Unknowns and multipliers of iterated chains, at its stages and its end."""
    chosen: np.ndarray


STOPS = 2
"""Kind of an event that ends the run."""


@dataclass(frozen=True, eq=False)
class EventRecord:
    """Data of an event that the reverse sweep needs."""

    end: float
    states: np.ndarray
    """States before the event, and after its impact."""
    function: int
    """Number of the function that vanishes at the event; −1 at the start of a run."""
    rate: float
    kind: int
    """1 for an impact, `STOPS` if it ends the run, else 0."""
    modes: np.ndarray
    """Modes before the event."""
    number: int
    """Number of the event among the ends of steps."""

    @property
    def length(self) -> float:
        """Length of an event: it takes no time."""
        return 0.0


AnyRecord = Record | EventRecord | PassageRecord


class Records:
    """Records of one run, limited by the allowed memory."""

    def __init__(self, program: Program, inputs: Inputs):
        self._most = inputs.memory / (8 * program.record_size)
        self._memory = inputs.memory
        self.list: list[AnyRecord] = []

    def append(self, record: AnyRecord) -> None:
        """Add a record.

        Raises:
            ModelError: if the memory limit is exceeded.
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
