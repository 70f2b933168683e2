"""Vectors that go with those of a plan: derivatives with values, costates with slopes."""

from __future__ import annotations

from .plan import Vector


class TangentMap:
    """For each row of some vectors, a row of another."""

    def __init__(self) -> None:
        self._known: dict[int, list[tuple[Vector, Vector]]] = {}

    def know(self, vector: Vector, companion: Vector) -> None:
        """Tell what goes with a vector."""
        self._known.setdefault(vector.base, []).append((vector, companion))

    def of(self, vector: Vector) -> Vector | None:
        """What goes with a vector that lies within a known one."""
        for whole, companion in self._known.get(vector.base, []):
            first = vector.offset - whole.offset
            if first >= 0 and first + vector.rows * vector.width <= whole.rows * whole.width:
                return companion.part(first // whole.width, vector.rows)
        return None
