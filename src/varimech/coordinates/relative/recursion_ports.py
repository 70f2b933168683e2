"""Blocks of vectors as maps of sweeps read and write them."""

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
        """The blocks of some bodies, one after the other."""
        return port_of(self.vector, [self._rows[body] for body in bodies], mode)


def port_of(
    vector: Vector, rows: np.ndarray | Sequence[np.ndarray | range], mode: Mode = Mode.SET
) -> Port:
    """Rows of a vector, those of each element in turn."""
    table = np.array(rows, dtype=np.int32).reshape(len(rows), -1)
    return Port(vector, table.shape[1], table, mode=mode)


def whole(vector: Vector) -> Port:
    """All rows of a vector, for a single element."""
    return Port(vector, vector.rows)
