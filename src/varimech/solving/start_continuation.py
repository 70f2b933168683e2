"""Starts close to the nominal one: it leads to them, at once or in parts of the way, so that a
mechanism stays assembled as it is.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..coordinates.initial_state import InitialStateSolver
from ..core.coordinate_scales import TINY
from ..core.errors import VarimechError

CLOSE = 0.1
"""By how much of the mechanism's size places may change for the nominal start to lead to the one
wanted at once.
"""
FURTHEST = 20
"""Parts of the way in which it is followed; samples.c has the same."""
ANYWHERE = 1e300
"""Change of a parameter that places do not depend on."""


class StartContinuation:
    """The nominal start, and how far it leads."""

    def __init__(self, start: InitialStateSolver):
        self._start = start
        self._numbers, self._sizes = start.model.parameter_set, start.equations.sizes

    @cached_property
    def positions(self) -> np.ndarray | None:
        """Positions of the nominal start, from which those for values close by are found; None if
        there is none, or it is not regular.
        """
        ρ = self._numbers.nominal
        try:
            q = self._start.assemble(ρ)
        except VarimechError:
            return None
        return q if self._start.regular(q, ρ) else None

    def followed(self, ρ: np.ndarray) -> np.ndarray | None:
        """Positions close to those of a start to which the nominal one leads."""
        parts, near = self.parts(ρ), self.positions
        if parts is None or near is None:
            return None
        return near if parts == 1 else self._start.followed(near, self._numbers.nominal, ρ, parts)

    def parts(self, ρ: np.ndarray) -> int | None:
        """In how many parts of the way from nominal values the start is followed; None for too
        many.
        """
        nominal = self._numbers.nominal
        if self.positions is None or np.array_equal(ρ, nominal):
            return 1
        parts = np.ceil((np.abs(ρ - nominal) / self.reach).max(initial=1.0))
        return int(parts) if parts <= FURTHEST else None

    @cached_property
    def reach(self) -> np.ndarray:
        """How far each parameter may be from its nominal value for the nominal start to lead to the
        one wanted at once.
        """
        nominal, near, sizes = self._numbers.nominal, self.positions, self._sizes
        if near is None:
            return np.zeros(nominal.size)
        size = max(float(np.abs(near).max(initial=0.0)), TINY)
        slopes = (
            np.abs(self._start.position_sensitivities(near, nominal))
            / (np.full(near.size, size) if sizes is None else sizes.typical)[:, None]
        )
        most = slopes.max(axis=0, initial=0.0)
        largest = np.maximum(
            np.abs(nominal), size
        )  # where places do not change at first, they may further away
        reach = CLOSE / np.maximum(most, CLOSE / largest)
        return np.where(self._start.placing, reach, ANYWHERE)
