"""Continuation of initial states from the nominal one, at once or in several parts, so that a
mechanism stays in the same configuration.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..coordinates.initial_state import InitialStateSolver
from ..core.coordinate_scales import TINY
from ..core.errors import VarimechError

CLOSE = 0.1
"""Largest change of positions, over the mechanism's size, for which the nominal initial state
serves directly as the initial guess.
"""
FURTHEST = 20
"""Largest number of parts of a continuation; samples.c has the same limit."""
ANYWHERE = 1e300
"""Allowed change of a parameter on which no position depends."""


class StartContinuation:
    """The nominal initial state, and the range of parameters for which it is an initial guess."""

    def __init__(self, start: InitialStateSolver):
        self._start = start
        self._numbers, self._sizes = start.model.parameter_set, start.equations.sizes

    @cached_property
    def positions(self) -> np.ndarray | None:
        """Positions of the nominal initial state, which are the initial guess for similar parameter
        values; None if there is none, or it is not regular.
        """
        ρ = self._numbers.nominal
        try:
            q = self._start.assemble(ρ)
        except VarimechError:
            return None
        return q if self._start.regular(q, ρ) else None

    def followed(self, ρ: np.ndarray) -> np.ndarray | None:
        """Return an initial guess of positions, by continuation from the nominal initial state."""
        parts, near = self.parts(ρ), self.positions
        if parts is None or near is None:
            return None
        return near if parts == 1 else self._start.followed(near, self._numbers.nominal, ρ, parts)

    def parts(self, ρ: np.ndarray) -> int | None:
        """Return the number of parts of the continuation from nominal values; None if there are too
        many.
        """
        nominal = self._numbers.nominal
        if self.positions is None or np.array_equal(ρ, nominal):
            return 1
        parts = np.ceil((np.abs(ρ - nominal) / self.reach).max(initial=1.0))
        return int(parts) if parts <= FURTHEST else None

    @cached_property
    def reach(self) -> np.ndarray:
        """Largest distance of each parameter from its nominal value for which the nominal initial
        state serves directly as the initial guess.
        """
        nominal, near, sizes = self._numbers.nominal, self.positions, self._sizes
        if near is None:
            return np.zeros(nominal.size)
        size = max(float(np.abs(near).max(initial=0.0)), TINY)
        relative_sensitivities = (
            np.abs(self._start.position_sensitivities(near, nominal))
            / (np.full(near.size, size) if sizes is None else sizes.typical)[:, None]
        )
        most = relative_sensitivities.max(axis=0, initial=0.0)
        largest = np.maximum(
            np.abs(nominal), size
        )  # positions that do not change at first may change further away
        reach = CLOSE / np.maximum(most, CLOSE / largest)
        return np.where(self._start.placing, reach, ANYWHERE)
