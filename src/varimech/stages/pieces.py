"""Large systems assembled from pieces: a statement for one element of each kind becomes operations
over all elements of that kind.

A system is a sum over elements. Elements of one kind differ in their numbers and in the positions
of their entries, so one of them, in local symbols, represents all; entrywise operations
(prediction, update) are stated for a single entry. A `Writer` turns such statements into the
operations of a plan: each vector has a name, and each local object (a chain, for example) has
symbols under the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from ..core.symbols import SX, symbols_in
from .chain import SCALAR
from .column_maps import append_maps
from .plan import Mode, Plan, Port, Table, Vector, Zero

Name = Any
"""Name of a vector; any hashable value."""
T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, eq=False)
class Piece(Generic[T]):
    """All elements of one kind: one representative in local symbols, and index tables of the
    entries of each element, by space.
    """

    local: T
    count: int
    tables: Mapping[str, Table]
    constants: SX
    """Symbols of the constants in which the elements differ."""
    values: np.ndarray
    """Values of the constants: (element, number)."""


@dataclass(frozen=True, eq=False)
class Pieces(Generic[T]):
    """All kinds of elements, a local object with a single entry in each space, and the sizes of the
    spaces.
    """

    kinds: tuple[Piece[T], ...]
    point: T
    sizes: Mapping[str, int]

    def mapped(self, build: Callable[[T], U]) -> Pieces[U]:
        """Return the pieces with a function applied to each local object."""
        kinds = tuple(
            Piece(build(p.local), p.count, p.tables, p.constants, p.values) for p in self.kinds
        )
        return Pieces(kinds, build(self.point), self.sizes)

    def doubled(self, space: str) -> Pieces[T]:
        """Return the pieces with every entry of a space duplicated: all entries, followed by their
        copies.
        """
        size = self.sizes[space]
        tables = [
            {**p.tables, space: np.hstack([p.tables[space], p.tables[space] + size])}
            for p in self.kinds
        ]
        kinds = tuple(
            Piece(p.local, p.count, t, p.constants, p.values)
            for p, t in zip(self.kinds, tables, strict=True)
        )
        return Pieces(kinds, self.point, {**self.sizes, space: 2 * size})


@dataclass(frozen=True, eq=False)
class Stored:
    """Storage of the entries of a space: the rows of a vector, or the rows listed by `place`."""

    space: str
    vector: Vector
    place: np.ndarray | None = None


@dataclass(frozen=True)
class Output(Generic[T]):
    """A result of a map: an expression of a local object (one column of it if the destination has
    several), and its mode.
    """

    expression: Callable[[T], SX]
    to: Stored
    mode: Mode = Mode.SET
    table: Callable[[Piece[T]], Table] | None = None
    """Returns an index table that replaces that of the space."""


class Writer(Generic[T]):
    """Writer of a plan. Vectors are registered by name as they are created."""

    def __init__(self, name: str, pieces: Pieces[T], symbols: Callable[[T], Mapping[Name, SX]]):
        self.plan = Plan(name)
        self.pieces = pieces
        self.stored: dict[Name, Stored] = {}
        self._own = symbols
        self._symbols: dict[int, dict[Name, SX]] = {}
        self._hashes: dict[tuple[int, Name], set[int]] = {}
        self._tables: dict[tuple[int, str, int], Table] = {}
        self._constants = [self.plan.constant(p.values.reshape(-1, 1)) for p in pieces.kinds]

    def size(self, space: str) -> int:
        """Number of entries of a space."""
        return self.pieces.sizes.get(space, 1)

    def new(self, name: Name, space: str, width: int = 1) -> Stored:
        """Create and register a vector."""
        self.stored[name] = Stored(space, self.plan.vector(self.size(space), width))
        return self.stored[name]

    def symbol(self, local: T, name: Name) -> SX:
        """Return symbols for those entries of a vector, of one column, that belong to a local
        object.
        """
        symbols = self._symbols_of(local)
        if name not in symbols:
            stored = self.stored[name]
            symbols[name] = SX.sym("x", self._rows(local, stored.space))
        return symbols[name]

    def missing(self, name: Name) -> None:
        """Create a vector that is needed but not registered yet. Subclasses override this hook."""
        raise KeyError(name)

    def zero(self, *targets: Stored) -> None:
        """Set vectors to zero."""
        self.plan.operations += [Zero(target.vector) for target in targets]

    def over_kinds(self, *outputs: Output[T]) -> None:
        """Evaluate outputs for all elements of all kinds."""
        for piece, constants in zip(self.pieces.kinds, self._constants, strict=True):
            expressions = [(o, o.expression(piece.local)) for o in outputs]
            nonzero = [
                (o, x)
                for o, x in expressions
                if x.numel() and not (o.mode == Mode.ADD and x.is_zero())
            ]
            if not nonzero:
                continue
            inputs = [
                (symbol, self._read(piece, name, symbol))
                for name, symbol in self._needed(piece.local, [x for _, x in nonzero])
            ]
            if not symbols_in(piece.constants).isdisjoint(symbols_in(*[x for _, x in nonzero])):
                inputs.append((piece.constants, Port(constants, piece.constants.numel())))
            results = [(x, self._write(piece, output, x)) for output, x in nonzero]
            append_maps(self.plan, piece.count, inputs, results)

    def over_entries(self, space: str, *outputs: Output[T]) -> None:
        """Evaluate outputs for each entry of a space."""
        if not self.size(space):
            return
        point = self.pieces.point
        expressions = [o.expression(point) for o in outputs]

        def port(stored: Stored, *, same: bool = False, mode: Mode = Mode.SET) -> Port:
            table = None if stored.place is None else stored.place[:, None]
            return Port(stored.vector, 1, table, same, mode)

        inputs = [
            (symbol, port(stored, same=stored.space == SCALAR and space != SCALAR))
            for name, symbol in self._needed(point, expressions)
            for stored in [self.stored[name]]
        ]
        results = [(x, port(o.to, mode=o.mode)) for x, o in zip(expressions, outputs, strict=True)]
        append_maps(self.plan, self.size(space), inputs, results)

    def _symbols_of(self, local: T) -> dict[Name, SX]:
        if id(local) not in self._symbols:
            self._symbols[id(local)] = dict(self._own(local))
        return self._symbols[id(local)]

    def _rows(self, local: T, space: str) -> int:
        if local is self.pieces.point or space == SCALAR:
            return 1
        piece = next(p for p in self.pieces.kinds if p.local is local)
        return piece.tables[space].shape[1]

    def _needed(self, local: T, expressions: list[SX]) -> list[tuple[Name, SX]]:
        """Return the names and symbols that occur in expressions."""
        used = symbols_in(*expressions)
        needed = [
            (name, x)
            for name, x in self._symbols_of(local).items()
            if not used.isdisjoint(self._hashes_of(local, name, x))
        ]
        for name, _ in needed:
            if name not in self.stored:
                self.missing(name)
        return needed

    def _hashes_of(self, local: T, name: Name, symbol: SX) -> set[int]:
        key = id(local), name
        if key not in self._hashes:
            self._hashes[key] = symbols_in(symbol)
        return self._hashes[key]

    def _read(self, piece: Piece[T], name: Name, symbol: SX) -> Port:
        stored = self.stored[name]
        if stored.space == SCALAR:
            return Port(stored.vector, 1, same=True)
        return Port(stored.vector, symbol.numel(), self._table(piece, stored))

    def _write(self, piece: Piece[T], output: Output[T], expression: SX) -> Port:
        rows = expression.numel()
        if output.mode == Mode.LARGEST:
            return Port(output.to.vector, rows, mode=output.mode)
        table = self._table(piece, output.to) if output.table is None else output.table(piece)
        return Port(output.to.vector, rows, table, mode=output.mode)

    def _table(self, piece: Piece[T], stored: Stored) -> Table:
        table = piece.tables[stored.space]
        if stored.place is None:
            return table
        key = (id(piece), stored.space, id(stored.place))
        if key not in self._tables:
            self._tables[key] = stored.place[table]
        return self._tables[key]
