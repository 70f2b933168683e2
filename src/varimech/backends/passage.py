"""Passing events in a run with given steps, in the interpreted loop; passage.c does the same.
`sensitivity/event_map` has the equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .chain_calls import AttemptFailure, ChainCalls
from .failures import NOT_FINITE
from .program import Program


@dataclass(frozen=True)
class PassageRecord:
    """Data of a passage that the reverse sweep needs."""

    begin: float
    end: float
    states: np.ndarray
    """The state before the event, as the only row."""
    row: np.ndarray
    """Data of the event."""

    @property
    def length(self) -> float:
        """Length of a passage: it is no step of an integrator."""
        return 0.0


class PassageCalls:
    """The event map, bound to arrays."""

    def __init__(
        self, program: Program, parameters: np.ndarray, penalty: np.ndarray, max_iterations: int
    ):
        passage = program.passage
        assert passage is not None
        self._program, self._modes = program, passage.modes
        n, rows = 2 * program.coordinates, program.state_size + program.objective_count
        self._place = parameters[passage.mode_place : passage.mode_place + passage.modes]
        self._state, self._sensitivities = np.zeros(n), np.zeros((n, program.row_length))
        self._row, self._time = np.zeros(passage.size), np.zeros(1)
        self._result, self._result_ = np.zeros(rows), np.zeros((rows, program.row_length))
        settings = [penalty, self._row, parameters, self._time]
        arrays = self._state, self._sensitivities, settings, self._result, self._result_
        self._calls = ChainCalls(passage.chain, *arrays, max_iterations, program.seeds)

    def execute(
        self, time: float, row: np.ndarray, state: np.ndarray, sensitivities: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return state and increments of integrals after an event, and their derivatives; modes
        change.

        Args:
            time: time of the event.
            row: its data.
            state: state before it.
            sensitivities: derivatives of this state.

        Raises:
            AttemptFailure: if results are not finite.
        """
        n = self._state.size
        self._time[0], self._row[:] = time, row
        self._state[:], self._sensitivities[:] = state[:n], sensitivities[:n]
        self._calls.solve()
        if not np.isfinite(self._result).all():
            raise AttemptFailure(NOT_FINITE)
        self._place[:] = row[self._modes : 2 * self._modes]
        return self._result, self._result_
