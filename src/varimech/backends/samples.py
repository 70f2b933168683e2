"""Values at events, and extrema, along an interpreted run; events.c does the same.

A sample h is taken at an event of its unit, or, for extrema, where it is larger (smaller) than
before: at the start, before and after every event (its extrema are events, too), and at the end.
With t*' the derivative of the time of the event,

    dh/dρ = h_x (S + ẋ t*') + h_ρ + h_t t*',

without the terms of t*' at the start, at the end, and at extrema, where ḣ = 0.
"""

from __future__ import annotations

import math

import numpy as np

from ..sensitivity.objective import AT_EVENT, PEAK
from .bound import bound
from .program import Program

AT_START, AT_END, NOWHERE = -1, -2, -3
"""Place where a sample was taken; at events twice the number of the event, plus 1 after it."""


class Samples:
    """Samples of one run: values, derivatives, and the places where they were taken."""

    def __init__(self, program: Program, parameters: np.ndarray):
        functions = program.samples
        assert functions is not None
        self.table, self.factors, self.count = functions.table, functions.factors, functions.count
        self._state, self._time = np.zeros(program.state_size), np.zeros(1)
        self._values = np.zeros(self.count)
        arguments = [self._state, parameters, self._time]
        self._evaluate = bound(functions.values, arguments, [self._values])
        columns = program.direction_count or 0
        self.values, self.gradient = np.full(self.count, math.nan), np.zeros((self.count, columns))
        self.places = np.full(self.count, NOWHERE)
        self._occurrences = np.zeros(self.count, dtype=int)
        self.function_gradients: list[np.ndarray] = []
        self._differentiate = None
        if functions.gradient is not None:
            f = functions.gradient
            sizes = [f.numel_out(k) // self.count for k in range(4)]
            self.function_gradients = [np.zeros((self.count, size)) for size in sizes]
            self._differentiate = bound(f, arguments, self.function_gradients)

    def at(self, time: float, state: np.ndarray) -> np.ndarray:
        """Evaluate all functions at a state."""
        self._time[0], self._state[:] = time, state
        self._evaluate()
        return self._values.copy()

    def differentiate(self, time: float, state: np.ndarray) -> None:
        """Evaluate the gradients of all functions at a state, as `function_gradients`: with respect to the
        state, in directions, with respect to parameters, and to time.
        """
        assert self._differentiate is not None
        self._time[0], self._state[:] = time, state
        self._differentiate()

    def exceeds(self, k: int, value: float) -> bool:
        """Return whether a value is the new extremum."""
        kind, kept = self.table[k, 0], self.values[k]
        if kind == AT_EVENT:
            return False
        return bool(math.isnan(kept) or (value > kept if kind == PEAK else value < kept))

    def due(self, k: int, value: float, trigger: int) -> bool:
        """Return whether a sample is taken at a state, at the event of `trigger` or none."""
        kind, unit, occurrence = self.table[k]
        if kind != AT_EVENT or trigger < 0 or unit != trigger:
            return self.exceeds(k, value)
        self._occurrences[k] += 1
        return bool(occurrence == 0 or self._occurrences[k] == occurrence)

    def derivative(self, k: int, S: np.ndarray) -> np.ndarray:
        """Return the derivatives of a function in all directions at a state with derivatives S, at
        fixed time; its gradients must have been evaluated.
        """
        return np.asarray(self.function_gradients[1][k] + self.function_gradients[0][k] @ S)

    def rate(self, k: int, motion: np.ndarray) -> float:
        """Return the rate of a function along the motion; its gradients must have been evaluated."""
        return float(self.function_gradients[0][k] @ motion + self.function_gradients[3][k, 0])
