"""Requests for the derivatives that a program computes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.memory import check_memory
from ..core.messages import Message


@dataclass(frozen=True, eq=False)
class DerivativeRequest:
    """Derivatives that a program has to compute."""

    directions: np.ndarray | None = None
    """Directions in the space of all parameters, one per column, for derivatives along the motion.
    """
    adjoint: bool = False
    """Whether to compute an adjoint, with respect to all parameters, by a backward sweep."""
    objectives: int = 0
    passages: bool = False
    """Whether events are passed by a map of the state (`sensitivity/event_map`)."""

    @property
    def key(self) -> tuple[object, ...]:
        """Key that is equal for requests with equal functions of chains."""
        directions = (
            None
            if self.directions is None
            else (self.directions.shape[1], self.directions.tobytes())
        )
        objectives = self.objectives if self.adjoint else 0
        return directions, self.adjoint, objectives, self.passages

    @property
    def moved(self) -> list[int]:
        """Parameters that change in any of the directions."""
        return (
            [] if self.directions is None else np.flatnonzero(self.directions.any(axis=1)).tolist()
        )

    @property
    def columns(self) -> int:
        """Number of directions."""
        return 0 if self.directions is None else self.directions.shape[1]


def unit_directions(total: int, indices: list[int]) -> np.ndarray:
    """Return directions in the space of all parameters, (parameter, selected), in each of which one
    selected parameter changes by 1.

    Raises:
        ModelError: if they do not fit into memory.
    """
    check_memory(
        f"{len(indices)} derivatives of a mechanism with {total} parameters",
        float(total) * len(indices),
        Message(
            "differentiate for fewer of them ({wrt}), or by {method}", wrt=[...], method="adjoint"
        ),
    )
    directions = np.zeros((total, len(indices)))
    directions[indices, np.arange(len(indices))] = 1.0
    return directions
