"""Which objectives can depend on which parameters at all, as the elements of a mechanism show,
which state all physics.
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
    or through coordinates that elements with this parameter connect with its own. Where this says
    no, the derivative is zero, exactly.
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
        # the time of an event depends on what is watched
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
    """Things that are joined into groups."""

    def __init__(self, count: int):
        self._next = list(range(count))

    def of(self, thing: int) -> int:
        """The group of a thing."""
        while self._next[thing] != thing:
            self._next[thing] = self._next[self._next[thing]]
            thing = self._next[thing]
        return thing

    def join(self, things: Iterable[int]) -> None:
        """Make one group of those of some things."""
        things = list(things)
        for thing in things[1:]:
            self._next[self.of(thing)] = self.of(things[0])
