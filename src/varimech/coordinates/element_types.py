"""Elements sorted by kind: those whose expressions differ only in numbers, and in the coordinates
and parameters they are of.

Elements are alike whose expressions read the same (`alike`). One of each kind is stated anew in
local symbols; numbers that differ between the others become symbols too. So any element, also a
user's own force, finds its like.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..core.symbols import SX
from ..stages.chain import CONSTRAINTS, COORDINATES, INITIAL_CONDITIONS, PARAMETERS, SCALAR
from ..stages.pieces import Name, Piece, Pieces, Stored, Writer
from .dynamics import Constraint, Dynamics, Element
from .equations import Equations
from .similar_expressions import Reading, Roles, read, restate, roles_of

POSITION, RATE, PARAMETER, TIME = "position", "rate", "parameter", "time"
LOCAL = {POSITION: COORDINATES, RATE: COORDINATES, PARAMETER: PARAMETERS}
"""Numberings in which an element has its own."""


def pieces_of(equations: Equations) -> Pieces[Dynamics]:
    """The equations as pieces, one for each kind of element."""
    e = equations
    roles = (
        roles_of(TIME, e.t)
        | roles_of(POSITION, e.q)
        | roles_of(RATE, e.v)
        | roles_of(PARAMETER, e.ρ)
    )
    kinds: dict[object, list[_Read]] = {}
    rows = _Rows(e.constraints.numel())
    for element in e.elements:
        instance = _read(element, roles, rows)
        kinds.setdefault((_form(element), instance.reading.key), []).append(instance)
    sizes = {
        COORDINATES: e.q.numel(),
        CONSTRAINTS: e.constraints.numel(),
        INITIAL_CONDITIONS: e.start_positions.numel(),
        PARAMETERS: e.ρ.numel(),
    }
    return Pieces(
        tuple(_piece(reads) for reads in kinds.values() if reads[0].reading.symbols),
        _particle(),
        sizes,
    )


def position_writer(name: str, pieces: Pieces[Dynamics]) -> Writer[Dynamics]:
    """Writes a function of (q, ρ, t)."""

    def symbols(e: Dynamics) -> dict[Name, SX]:
        return {"q": e.q, "ρ": e.ρ, "t": e.t}

    writer = Writer(name, pieces, symbols)
    for key, space in (("q", COORDINATES), ("ρ", PARAMETERS), ("t", SCALAR)):
        writer.stored[key] = Stored(space, writer.plan.argument(writer.size(space)))
    return writer


@dataclass
class _Rows:
    """Counts rows of constraints and initial conditions as elements come."""

    conditions: int
    constraints: int = 0

    def next(self, constraints: int, conditions: int) -> tuple[list[int], list[int]]:
        """Rows of the next element."""
        first, second = self.constraints, self.conditions
        self.constraints, self.conditions = first + constraints, second + conditions
        return list(range(first, self.constraints)), list(range(second, self.conditions))


@dataclass(frozen=True)
class _Read:
    """An element as it reads, and the rows of constraints and initial conditions that it has."""

    element: Element
    reading: Reading
    rows: tuple[list[int], list[int]]


def _read(element: Element, roles: Roles, rows: _Rows) -> _Read:
    own_rows = rows.next(
        sum(c.residuals.numel() for c in element.constraints),
        element.initial[0].numel() if element.initial else 0,
    )
    return _Read(element, read(list(_expressions(element)), roles, LOCAL), own_rows)


def _expressions(element: Element) -> Iterator[SX]:
    yield element.kinetic
    yield element.potential
    for pair in element.efforts:
        yield from pair
    for block in element.constraints:
        yield block.residuals
        if block.at_start is not None:
            yield block.at_start
    if element.initial is not None:
        yield from element.initial


def _form(element: Element) -> tuple[object, ...]:
    """Which expressions it has."""
    blocks = tuple(c.at_start is not None for c in element.constraints)
    return len(element.efforts), blocks, element.initial is not None


def _with_expressions(element: Element, expressions: Iterator[SX]) -> Element:
    """An element of the same form with other expressions, in the order of `_expressions`."""
    kinetic, potential = next(expressions), next(expressions)
    efforts = tuple((next(expressions), next(expressions)) for _ in element.efforts)
    blocks = tuple(
        Constraint(
            c.name, next(expressions), c.joints, None if c.at_start is None else next(expressions)
        )
        for c in element.constraints
    )
    initial = None if element.initial is None else (next(expressions), next(expressions))
    return replace(
        element,
        kinetic=kinetic,
        potential=potential,
        efforts=efforts,
        constraints=blocks,
        initial=initial,
    )


def _piece(reads: list[_Read]) -> Piece[Dynamics]:
    """One kind, from all its elements."""
    first, count = reads[0], len(reads)
    n, k = (len(first.reading.entries[space]) for space in (COORDINATES, PARAMETERS))
    symbols = {
        POSITION: SX.sym("q", n),
        RATE: SX.sym("v", n),
        PARAMETER: SX.sym("ρ", k),
        TIME: SX.sym("t"),
    }
    restated = restate([r.reading for r in reads], lambda role, place: symbols[role][place])
    local = Dynamics(
        symbols[POSITION],
        symbols[RATE],
        symbols[PARAMETER],
        symbols[TIME],
        (_with_expressions(first.element, iter(restated.expressions)),),
    )
    tables = {
        COORDINATES: [r.reading.entries[COORDINATES] for r in reads],
        PARAMETERS: [r.reading.entries[PARAMETERS] for r in reads],
        CONSTRAINTS: [r.rows[0] for r in reads],
        INITIAL_CONDITIONS: [[*r.rows[0], *r.rows[1]] for r in reads],
    }
    arrays = {
        space: np.array(table, dtype=np.int32).reshape(count, -1) for space, table in tables.items()
    }
    return Piece(local, count, arrays, restated.constants, restated.values)


def _particle() -> Dynamics:
    """One coordinate with one constraint: what is done entry by entry is read off it."""
    q, v = SX.sym("q"), SX.sym("v")
    particle = Element("particle", v**2 / 2, constraints=(Constraint("particle", q),))
    return Dynamics(q, v, SX(0, 1), SX.sym("t"), (particle,))
