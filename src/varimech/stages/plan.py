"""Plans: functions of large models as a sequence of operations on vectors.

    zero     a vector ← 0
    map      a generated kernel over all elements of a kind: inputs are gathered by index, results
             are set or added by index; with `in_turn`, each element reads the results of the
             elements before; with `shared`, for each column of derivatives (`column_maps`)
    factor   a sparse matrix ← its factors L and U (ordered for little fill, without pivoting)
    solve    a vector ← the solution of the factored system, or of the transposed one

A plan is data; only its kernels are code, and their number and size depend on the kinds of
elements, not on the number of elements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import casadi as ca
import numpy as np

from ..core.lazy import lazy

LARGEST = 8
"""Numbers in a SIMD vector: as many as the widest registers hold. Compilers split it for processors
with shorter ones.
"""


def lanes(columns: int) -> int:
    """Return how many numbers a SIMD vector has for this number of columns: a power of two."""
    return min(LARGEST, 1 << max(0, columns - 1).bit_length())


def row_length(columns: int) -> int:
    """Return the length of a row: whole SIMD vectors, filled up with zeros."""
    return -(-columns // lanes(columns)) * lanes(columns)


def padded(columns: np.ndarray) -> np.ndarray:
    """Pad columns with zeros up to the length of a row."""
    return np.pad(columns, ((0, 0), (0, row_length(columns.shape[1]) - columns.shape[1])))


class Mode(IntEnum):
    """Treatment of a map's result."""

    SET = 0
    ADD = 1
    LARGEST = 2
    """Keep the largest absolute value of all entries."""


@dataclass(frozen=True)
class Vector:
    """Rows of `width` numbers within a base: the workspace (0), the constants (1), an argument or a
    result.
    """

    base: int
    offset: int
    rows: int
    width: int = 1

    def part(self, first: int, rows: int) -> Vector:
        """Return a range of its rows."""
        return Vector(self.base, self.offset + first * self.width, rows, self.width)


Table = np.ndarray
"""Row indices of a vector, for each element: (element, row)."""


@dataclass(frozen=True, eq=False)
class Port:
    """Access of a kernel to a vector: `rows` rows for each element, by index table, consecutively,
    or the same rows for all elements.
    """

    vector: Vector
    rows: int
    table: Table | None = None
    same: bool = False
    mode: Mode = Mode.SET

    @lazy
    def adjacent(self) -> bool:
        """Whether the table lists consecutive rows for every element."""
        return (
            self.table is not None
            and self.rows > 1
            and bool((np.diff(self.table, axis=1) == 1).all())
        )

    def element_rows(self, count: int) -> np.ndarray:
        """Return the rows of the vector that `count` elements access: (element, row)."""
        if self.same:
            return np.tile(np.arange(self.rows), (count, 1))
        if self.table is None:
            return np.arange(count * self.rows).reshape(count, self.rows)
        return self.table.astype(np.int64).reshape(count, self.rows)

    def places(self, count: int) -> np.ndarray:
        """Return the indices, within the base, of all numbers that `count` elements access."""
        v, rows = self.vector, self.element_rows(count).ravel()
        return (v.offset + rows[:, None] * v.width + np.arange(v.width)).ravel()


@dataclass(frozen=True)
class Zero:
    """vector ← 0."""

    vector: Vector


@dataclass(frozen=True)
class Map:
    """A kernel over `count` elements; each port is an argument or a result."""

    kernel: ca.Function
    count: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    in_turn: bool = False
    shared: int | None = None
    """Number of leading inputs that all columns share, for a kernel of one column; None for a
    kernel of plain values.
    """

    @property
    def width(self) -> int:
        """Number of columns: the kernel is executed for each of them."""
        return 1 if self.shared is None else self.outputs[0].vector.width

    @property
    def lanes(self) -> int:
        """Number of columns that are executed together."""
        return lanes(self.width)


@dataclass(frozen=True, eq=False)
class Pattern:
    """Nonzero pattern of L and U, by rows and without their diagonals."""

    upper_start: np.ndarray
    upper: np.ndarray
    lower_start: np.ndarray
    lower: np.ndarray
    below: np.ndarray
    """For each entry (k, i) of U, the index of (i, k) among those of L."""
    targets: np.ndarray
    """For each row k, the indices of the entries that its elimination updates: (i, j) for its
    columns i ≤ j (for all i and j if not symmetric).
    """

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.upper_start.size - 1

    @property
    def entries(self) -> int:
        """Number of stored entries: diagonal, U and L, one after the other."""
        return self.size + self.upper.size + self.lower.size


@dataclass(frozen=True)
class Factors:
    """Storage of a matrix and then of its factors: diagonal (of U, inverted), U and L."""

    pattern: Pattern
    symmetric: bool
    values: Vector


@dataclass(frozen=True)
class Factor:
    """A ← L U."""

    factors: Factors


@dataclass(frozen=True)
class Solve:
    """x ← A⁻¹ x, or A⁻ᵀ x."""

    factors: Factors
    x: Vector
    transposed: bool = False


Operation = Zero | Map | Factor | Solve


class TangentMap:
    """Companion vectors, row by row: the derivatives of values, or the costates of derivatives."""

    def __init__(self) -> None:
        self._companions: dict[int, list[tuple[Vector, Vector]]] = {}

    def bind(self, vector: Vector, companion: Vector) -> None:
        """Set the companion of a vector."""
        self._companions.setdefault(vector.base, []).append((vector, companion))

    def of(self, vector: Vector) -> Vector | None:
        """Return the companion of a vector that lies within a bound one; None if there is none."""
        for whole, companion in self._companions.get(vector.base, []):
            first = vector.offset - whole.offset
            if first >= 0 and first + vector.rows * vector.width <= whole.rows * whole.width:
                return companion.part(first // whole.width, vector.rows)
        return None


OVERHEAD = 1000
"""Cost of interpreting one operation, in scalar operations; a round value, since only its order of
magnitude is known.
"""


@dataclass
class Plan:
    """A function as a list of operations; interchangeable with a CasADi function of the same
    arguments and results.
    """

    name: str
    arguments: list[int] = field(default_factory=list)
    results: list[tuple[int, int]] = field(default_factory=list)
    """Width and rows of each result."""
    operations: list[Operation] = field(default_factory=list)
    constants: list[np.ndarray] = field(default_factory=list)
    workspace: int = 0
    _scratch: Vector | None = None

    def argument(self, rows: int, width: int = 1) -> Vector:
        """Declare the next argument."""
        self.arguments.append(rows * width)
        return Vector(1 + len(self.arguments), 0, rows, width)

    def result(self, rows: int, width: int = 1) -> Vector:
        """Declare the next result, after all arguments."""
        self.results.append((width, rows))
        return Vector(1 + len(self.arguments) + len(self.results), 0, rows, width)

    def vector(self, rows: int, width: int = 1) -> Vector:
        """Allocate a vector in the workspace."""
        self.workspace += rows * width
        return Vector(0, self.workspace - rows * width, rows, width)

    def scratch(self, rows: int) -> Vector:
        """Return a vector in the workspace whose values the next operation but one may overwrite."""
        if self._scratch is None or self._scratch.rows < rows:
            self._scratch = self.vector(rows)
        return self._scratch.part(0, rows)

    def constant(self, values: np.ndarray) -> Vector:
        """Add a constant (rows, width)."""
        offset = sum(c.size for c in self.constants)
        self.constants.append(np.ascontiguousarray(values, dtype=float).ravel())
        return Vector(1, offset, values.shape[0], values.shape[1])

    @property
    def maps(self) -> list[Map]:
        """The operations that are maps."""
        return [op for op in self.operations if isinstance(op, Map)]

    # the part of CasADi's function interface that backends use

    def n_out(self) -> int:
        """Number of results."""
        return len(self.results)

    def numel_in(self, k: int) -> int:
        """Size of an argument."""
        return self.arguments[k]

    def numel_out(self, k: int) -> int:
        """Size of a result."""
        return self.results[k][0] * self.results[k][1]

    def n_instructions(self) -> int:
        """Estimated number of scalar operations of one call."""
        maps = sum(
            op.count
            * (
                op.kernel.n_instructions() * -(-op.width // LARGEST)
                + (OVERHEAD if op.in_turn else 0)
            )
            for op in self.maps
        )
        systems = sum(
            4 * op.factors.pattern.entries
            for op in self.operations
            if isinstance(op, (Factor, Solve))
        )
        return maps + systems + OVERHEAD * len(self.operations)
