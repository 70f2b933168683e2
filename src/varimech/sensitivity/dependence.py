"""Structural dependence of objectives on parameters, derived from the elements of a mechanism,
which contain all of its equations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import casadi as ca
import numpy as np

from ..coordinates.equations import Equations
from ..core.symbols import SX, symbols_in
from .objective import AT_EVENT, Objective
from .objective_functions import objective_expressions, scalar_of


def dependence(
    equations: Equations, objectives: Mapping[str, Objective], indices: Sequence[int]
) -> np.ndarray:
    """Whether each objective can depend on each parameter at `indices`: through its own expression,
    or through coordinates that elements with this parameter couple to its own coordinates. Where
    the result is False, the derivative is exactly zero.
    """
    e = equations
    coordinate = {s: k for vector in (e.q, e.v, e.a) for k, s in enumerate(_hashes(vector))}
    parameter = {s: k for k, s in enumerate(_hashes(e.ρ))}
    groups = _Groups(e.q.numel())
    entering: list[tuple[int, set[int]]] = []
    rows: list[int | None] = []
    for element in e.elements:
        own = symbols_in(*element.stated)
        touched = sorted(coordinate[s] for s in own & coordinate.keys())
        groups.join(touched)
        if touched:
            entering.append((touched[0], {parameter[s] for s in own & parameter.keys()}))
        rows += [touched[0] if touched else None] * sum(
            c.residuals.numel() for c in element.constraints
        )
    coordinate |= {s: k for s, k in zip(_hashes(e.λ), rows, strict=True) if k is not None}
    behind: dict[int, set[int]] = {}
    for first, parameters in entering:
        behind.setdefault(groups.of(first), set()).update(parameters)
    g, w = objective_expressions(e, objectives)
    depends = np.zeros((len(objectives), len(indices)), dtype=bool)
    watched = [unit.watched for _, unit in e.units] + [event.function for event in e.events]
    for k, (name, objective) in enumerate(objectives.items()):
        sampled = [scalar_of(e, name, sample.function) for sample in objective.samples]
        # the time of an event depends on the functions that are watched for events
        sampled += watched if any(s.kind == AT_EVENT for s in objective.samples) else []
        own = symbols_in(g[k], w[k], *sampled)
        reached = {parameter[s] for s in own & parameter.keys()}
        for s in own & coordinate.keys():
            reached |= behind.get(groups.of(coordinate[s]), set())
        depends[k] = [i in reached for i in indices]
    return depends


def _hashes(vector: SX) -> list[int]:
    return [s.element_hash() for s in ca.vertsplit(vector)] if vector.numel() else []


class _Groups:
    """Disjoint groups of numbered items (union-find)."""

    def __init__(self, count: int):
        self._next = list(range(count))

    def of(self, item: int) -> int:
        """Return the representative of the group of an item."""
        while self._next[item] != item:
            self._next[item] = self._next[self._next[item]]
            item = self._next[item]
        return item

    def join(self, items: Iterable[int]) -> None:
        """Merge the groups of the given items."""
        items = list(items)
        for item in items[1:]:
            self._next[self.of(item)] = self.of(items[0])
