"""Passing events in a run with given steps, in the interpreted loop; passage.c does the same.
`sensitivity/event_map` has the equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .chain_calls import ChainCalls, Trouble
from .failures import NOT_FINITE
from .program import Program


@dataclass(frozen=True)
class PassageRecord:
    """What a sweep backwards needs to know of a passage."""

    begin: float
    end: float
    states: np.ndarray
    """The state before it, as the only row."""
    row: np.ndarray
    """Its data."""

    @property
    def length(self) -> float:
        """No step of an integrator."""
        return 0.0


class PassageCalls:
    """The map over an event, bound to arrays."""

    def __init__(
        self, program: Program, parameters: np.ndarray, penalty: np.ndarray, max_iterations: int
    ):
        passage = program.passage
        assert passage is not None
        self._program, self._modes = program, passage.modes
        n, rows = 2 * program.coordinates, program.state_size + program.objective_count
        self._place = parameters[passage.mode_place : passage.mode_place + passage.modes]
        self._state, self._slopes = np.zeros(n), np.zeros((n, program.row_length))
        self._row, self._time = np.zeros(passage.size), np.zeros(1)
        self._result, self._result_ = np.zeros(rows), np.zeros((rows, program.row_length))
        settings = [penalty, self._row, parameters, self._time]
        arrays = self._state, self._slopes, settings, self._result, self._result_
        self._calls = ChainCalls(passage.chain, *arrays, max_iterations, program.seeds)

    def execute(
        self, time: float, row: np.ndarray, state: np.ndarray, slopes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """State and additions to integrals after an event, and their derivatives; modes change.

        Raises:
            Trouble: if they are not finite.
        """
        n = self._state.size
        self._time[0], self._row[:] = time, row
        self._state[:], self._slopes[:] = state[:n], slopes[:n]
        self._calls.solve()
        if not np.isfinite(self._result).all():
            raise Trouble(NOT_FINITE)
        self._place[:] = row[self._modes : 2 * self._modes]
        return self._result, self._result_
