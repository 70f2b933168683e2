"""Blocks of vectors that maps of recursive passes read and write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...model.body import Body
from ...stages.plan import Mode, Plan, Port, Vector


class Blocks:
    """A vector with a block of rows for each body."""

    def __init__(self, plan: Plan, sizes: Mapping[Body, int]):
        first = np.cumsum([0, *sizes.values()]).tolist()
        self._rows = {
            body: np.arange(start, start + size)
            for (body, size), start in zip(sizes.items(), first, strict=False)
        }
        self.vector = plan.vector(first[-1])

    def port(self, bodies: Sequence[Body], mode: Mode = Mode.SET) -> Port:
        """Return a port to the blocks of the given bodies, in order."""
        return port_of(self.vector, [self._rows[body] for body in bodies], mode)


def port_of(
    vector: Vector, rows: np.ndarray | Sequence[np.ndarray | range], mode: Mode = Mode.SET
) -> Port:
    """Return a port to rows of a vector, those of each element in order."""
    table = np.array(rows, dtype=np.int32).reshape(len(rows), -1)
    return Port(vector, table.shape[1], table, mode=mode)


def whole(vector: Vector) -> Port:
    """Return a port to all rows of a vector, for a single element."""
    return Port(vector, vector.rows)
