"""Elements grouped by kind: elements whose expressions differ only in numbers, and in the
coordinates and parameters on which they depend.

Elements are of one kind if their expressions have the same structure (`alike`). One element of each
kind is restated in local symbols; numbers that differ between the elements become symbols too. So
any element, also a user-defined force, is grouped with similar ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ..core.symbols import SX
from ..stages.chain import CONSTRAINTS, COORDINATES, INITIAL_CONDITIONS, PARAMETERS, SCALAR
from ..stages.pieces import Name, Piece, Pieces, Stored, Writer
from .dynamics import Constraint, Dynamics, Element
from .equations import Equations
from .similar_expressions import Reading, Roles, read, restate, roles_of

POSITION, RATE, PARAMETER, TIME = "position", "rate", "parameter", "time"
MULTIPLIER = "multiplier"
LOCAL = {POSITION: COORDINATES, RATE: COORDINATES, PARAMETER: PARAMETERS}
"""Numberings in which an element has local indices."""


def pieces_of(equations: Equations) -> Pieces[Dynamics]:
    """Divide the equations into pieces, one for each kind of element."""
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
    """Return a writer of a function of (q, ρ, t)."""

    def symbols(e: Dynamics) -> dict[Name, SX]:
        return {"q": e.q, "ρ": e.ρ, "t": e.t}

    writer = Writer(name, pieces, symbols)
    for key, space in (("q", COORDINATES), ("ρ", PARAMETERS), ("t", SCALAR)):
        writer.stored[key] = Stored(space, writer.plan.argument(writer.size(space)))
    return writer


@dataclass
class _Rows:
    """Counter of rows of constraints and initial conditions over successive elements."""

    conditions: int
    constraints: int = 0

    def next(self, constraints: int, conditions: int) -> tuple[list[int], list[int]]:
        """Return the rows of the next element."""
        first, second = self.constraints, self.conditions
        self.constraints, self.conditions = first + constraints, second + conditions
        return list(range(first, self.constraints)), list(range(second, self.conditions))


@dataclass(frozen=True)
class _Read:
    """The structure of an element, and its rows of constraints and initial conditions."""

    element: Element
    reading: Reading
    rows: tuple[list[int], list[int]]


def _read(element: Element, roles: Roles, rows: _Rows) -> _Read:
    own_rows = rows.next(
        sum(c.residuals.numel() for c in element.constraints),
        element.initial[0].numel() if element.initial else 0,
    )
    stands = {s.element_hash(): (MULTIPLIER, k) for k, s in enumerate(_stands(element))}
    return _Read(element, read(list(_expressions(element)), {**roles, **stands}, LOCAL), own_rows)


def _stands(element: Element) -> list[SX]:
    """Symbols of the multipliers of its contacts and frictions."""
    return [c.contact.multiplier for c in element.constraints if c.contact is not None]


def _expressions(element: Element) -> Iterator[SX]:
    yield element.kinetic
    yield element.potential
    for pair in (*element.efforts, *element.impulses):
        yield from pair
    for block in element.constraints:
        yield block.residuals
        yield from (x for x in _further(block) if x is not None)
    if element.initial is not None:
        yield from element.initial


def _further(block: Constraint) -> tuple[SX | None, ...]:
    """Expressions that a block may define in addition to its residuals."""
    return block.at_start, block.rate, block.impact, block.bounce


def _form(element: Element) -> tuple[object, ...]:
    """Key of the expressions that an element defines."""
    blocks = tuple(
        (c.contact is not None, *[x is not None for x in _further(c)]) for c in element.constraints
    )
    return len(element.efforts), len(element.impulses), blocks, element.initial is not None


def _with_expressions(
    element: Element, expressions: Iterator[SX], multipliers: Iterator[SX]
) -> Element:
    """Return an element of the same form with other expressions, in the order of `_expressions`,
    and other symbols of multipliers.
    """
    kinetic, potential = next(expressions), next(expressions)
    efforts, impulses = (
        tuple((next(expressions), next(expressions)) for _ in pairs)
        for pairs in (element.efforts, element.impulses)
    )
    blocks = []
    for c in element.constraints:
        residuals = next(expressions)
        at_start, rate, impact, bounce = (
            None if x is None else next(expressions) for x in _further(c)
        )
        # watched functions depend on the whole state
        unit = None if c.contact is None else replace(c.contact, multiplier=next(multipliers))
        blocks.append(Constraint(c.name, residuals, c.joints, at_start, rate, impact, bounce, unit))
    initial = None if element.initial is None else (next(expressions), next(expressions))
    return replace(
        element,
        kinetic=kinetic,
        potential=potential,
        efforts=efforts,
        impulses=impulses,
        constraints=tuple(blocks),
        initial=initial,
    )


def _piece(reads: list[_Read]) -> Piece[Dynamics]:
    """Build the piece of one kind from all its elements."""
    first, count = reads[0], len(reads)
    n, k = (len(first.reading.entries[space]) for space in (COORDINATES, PARAMETERS))
    symbols = {
        POSITION: SX.sym("q", n),
        RATE: SX.sym("v", n),
        PARAMETER: SX.sym("ρ", k),
        TIME: SX.sym("t"),
        MULTIPLIER: SX.sym("λ", len(_stands(first.element))),
    }
    restated = restate([r.reading for r in reads], lambda role, place: symbols[role][place])
    local = Dynamics(
        symbols[POSITION],
        symbols[RATE],
        symbols[PARAMETER],
        symbols[TIME],
        (
            _with_expressions(
                first.element,
                iter(restated.expressions),
                iter(ca.vertsplit(symbols[MULTIPLIER]) if symbols[MULTIPLIER].numel() else []),
            ),
        ),
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
    """One coordinate with one constraint: the template of operations that act entry by entry."""
    q, v = SX.sym("q"), SX.sym("v")
    particle = Element("particle", v**2 / 2, constraints=(Constraint("particle", q),))
    return Dynamics(q, v, SX(0, 1), SX.sym("t"), (particle,))
