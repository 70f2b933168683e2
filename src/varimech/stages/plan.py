"""Plans: functions of large models, as operations on vectors that are carried out one after the
other.

    zero     a vector ← 0
    map      a generated kernel over all elements of a kind: entries of vectors are gathered by index, results set or added by index;
             where it goes `in_turn`, each element reads what those before it have written
    factor   a sparse matrix ← its factors L and U (rows and columns in an order of little fill, without pivoting)
    solve    a vector ← the solution of the factored system, or of the transposed one

A plan is data; only its kernels are code, and their number and size depend on the kinds of
elements, not on how many there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import casadi as ca
import numpy as np


class Mode(IntEnum):
    """What a map does with a result."""

    SET = 0
    ADD = 1
    LARGEST = 2
    """Keep the largest absolute value of all entries."""


@dataclass(frozen=True)
class Vector:
    """Rows of numbers, `width` a row, somewhere in a base: the workspace (0), the constants (1), an
    argument or a result.
    """

    base: int
    offset: int
    rows: int
    width: int = 1

    def part(self, first: int, rows: int) -> Vector:
        """Some of its rows."""
        return Vector(self.base, self.offset + first * self.width, rows, self.width)


Table = np.ndarray
"""Rows of a vector, for each element (element, row)."""


@dataclass(frozen=True, eq=False)
class Port:
    """How a kernel reads or writes a vector: `rows` of it for each element, by a table or one after
    another, or the same for all.
    """

    vector: Vector
    rows: int
    table: Table | None = None
    same: bool = False
    mode: Mode = Mode.SET

    @cached_property
    def adjacent(self) -> bool:
        """Whether a table tells rows next to each other, for every element."""
        return (
            self.table is not None
            and self.rows > 1
            and bool((np.diff(self.table, axis=1) == 1).all())
        )

    def places(self, count: int) -> np.ndarray:
        """Where the numbers of so many elements stand in the base, element after element."""
        v = self.vector
        rows = (
            np.arange(count * self.rows)
            if self.table is None
            else self.table.ravel().astype(np.int64)
        )
        return (v.offset + rows[:, None] * v.width + np.arange(v.width)).ravel()


@dataclass(frozen=True)
class Zero:
    """vector ← 0."""

    vector: Vector


@dataclass(frozen=True)
class Map:
    """kernel over `count` elements; each port is an argument or a result of it (width × rows)."""

    kernel: ca.Function
    count: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    in_turn: bool = False


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where L and U, by rows and without their diagonals, are not zero."""

    upper_start: np.ndarray
    upper: np.ndarray
    lower_start: np.ndarray
    lower: np.ndarray
    below: np.ndarray
    """For each entry (k, i) of U, where (i, k) stands among those of L."""
    targets: np.ndarray
    """For each row k, what changes when it is eliminated: for its columns i ≤ j (if not symmetric,
    all i and j) where (i, j) is stored.
    """

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.upper_start.size - 1

    @property
    def entries(self) -> int:
        """Of diagonal, U and L together, as they are stored one after the other."""
        return self.size + self.upper.size + self.lower.size


@dataclass(frozen=True)
class Factors:
    """A matrix, or its factors: diagonal (of U, inverted), U and L."""

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


OVERHEAD = 1000
"""Of an operation that is interpreted, in scalar operations."""


@dataclass
class Plan:
    """A function in operations; it can stand wherever a CasADi function with the same arguments and
    results can.
    """

    name: str
    arguments: list[int] = field(default_factory=list)
    results: list[tuple[int, int]] = field(default_factory=list)
    """Width and rows of each."""
    operations: list[Operation] = field(default_factory=list)
    constants: list[np.ndarray] = field(default_factory=list)
    workspace: int = 0

    def argument(self, rows: int, width: int = 1) -> Vector:
        """The next argument."""
        self.arguments.append(rows * width)
        return Vector(1 + len(self.arguments), 0, rows, width)

    def result(self, rows: int, width: int = 1) -> Vector:
        """The next result; all arguments are to be named before."""
        self.results.append((width, rows))
        return Vector(1 + len(self.arguments) + len(self.results), 0, rows, width)

    def vector(self, rows: int, width: int = 1) -> Vector:
        """A vector to work with."""
        self.workspace += rows * width
        return Vector(0, self.workspace - rows * width, rows, width)

    def constant(self, values: np.ndarray) -> Vector:
        """A constant, by rows."""
        offset = sum(c.size for c in self.constants)
        self.constants.append(np.ascontiguousarray(values, dtype=float).ravel())
        return Vector(1, offset, values.shape[0], values.shape[1])

    @property
    def maps(self) -> list[Map]:
        """Those of its operations that are maps."""
        return [op for op in self.operations if isinstance(op, Map)]

    # what backends ask of any function

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
        """Scalar operations of one call, roughly."""
        maps = sum(
            op.count * (op.kernel.n_instructions() + (OVERHEAD if op.in_turn else 0))
            for op in self.maps
        )
        systems = sum(
            4 * op.factors.pattern.entries
            for op in self.operations
            if isinstance(op, (Factor, Solve))
        )
        return maps + systems + OVERHEAD * len(self.operations)
