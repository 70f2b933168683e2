"""Linear systems of an assembled chain: their nonzero pattern and the storage of their entries."""

from __future__ import annotations

import numpy as np

from ..core.symbols import SX
from .chain import COORDINATES, Chain, Stage
from .elimination import minimum_degree
from .pieces import Piece, Pieces
from .plan import Pattern, Table


class System:
    """Storage of a linear system's entries, in an elimination order with little fill, for the
    stages that share it.
    """

    def __init__(self, pieces: Pieces[Chain], stages: list[int], space: str):
        self.space = space
        self._saddle = pieces.point.saddle
        self._regular = self._saddle.regular
        self._sizes = pieces.sizes[COORDINATES], pieces.sizes[space] if self._regular else 0
        self.symmetric = all(p.local.stages[i].symmetric for p in pieces.kinds for i in stages)
        self._entries = {
            (id(p), i): self._local_entries(p, i) for p in pieces.kinds for i in stages
        }
        self._analyse(
            np.unique(
                np.concatenate([pairs.reshape(-1, 2) for _, pairs in self._entries.values()]),
                axis=0,
            )
        )

    @property
    def size(self) -> int:
        """Number of rows."""
        return sum(self._sizes)

    def matrix(self, stage: Stage) -> SX:
        """Return the matrix of a local stage, in local order."""
        return self._saddle.matrix(stage)

    def entries(self, piece: Piece[Chain], i: int) -> SX:
        """Return the stored entries of that matrix."""
        nonzeros, _ = self._entries[id(piece), i]
        return self.matrix(piece.local.stages[i]).nz[nonzeros.tolist()]

    def table(self, piece: Piece[Chain], i: int) -> Table:
        """Return the storage indices of these entries, for each element."""
        _, pairs = self._entries[id(piece), i]
        row, column = self.place[pairs[..., 0]], self.place[pairs[..., 1]]
        if self.symmetric:
            row, column = np.minimum(row, column), np.maximum(row, column)
        return self._stored(row, column)

    def _stored(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the storage index of entries: diagonal, rows of U, rows of L."""
        upper, lower = row < column, row > column
        target = row.astype(np.int64)
        target[upper] = self.size + np.searchsorted(
            self._upper_keys, target[upper] * self.size + column[upper]
        )
        first = self.size + self._upper_keys.size
        target[lower] = first + np.searchsorted(
            self._lower_keys, target[lower] * self.size + column[lower]
        )
        return target.astype(np.int32)

    def _local_entries(self, piece: Piece[Chain], i: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of the stored nonzeros of the local matrix, and (row, column) of each
        for every element, before ordering.
        """
        rows, columns = (
            np.array(x, dtype=int)
            for x in self.matrix(piece.local.stages[i]).sparsity().get_triplet()
        )
        kept = np.flatnonzero(rows <= columns) if self.symmetric else np.arange(rows.size)
        places = piece.tables[COORDINATES].astype(np.int64)
        if self._regular and self.space in piece.tables:
            places = np.hstack([places, self._sizes[0] + piece.tables[self.space].astype(np.int64)])
        return kept, np.stack([places[:, rows[kept]], places[:, columns[kept]]], axis=-1)

    def _analyse(self, pairs: np.ndarray) -> None:
        neighbours: list[set[int]] = [set() for _ in range(self.size)]
        for i, j in pairs.tolist():
            if i != j:
                neighbours[i].add(j)
                neighbours[j].add(i)
        order = minimum_degree(neighbours, range(self._sizes[0], self.size))
        self.place = np.empty(self.size, dtype=np.int32)
        self.place[[k for k, _ in order]] = np.arange(self.size)
        counts = [len(after) for _, after in order]
        rows = np.repeat(np.arange(self.size), counts)
        columns = self.place[np.array([j for _, after in order for j in after], dtype=int)]
        by_row = np.lexsort((columns, rows))
        rows, columns = rows[by_row], columns[by_row]
        by_column = np.lexsort((rows, columns))
        self._upper_keys = rows * self.size + columns
        self._lower_keys = columns[by_column] * self.size + rows[by_column]

        def starts(of: np.ndarray) -> np.ndarray:
            return np.concatenate([[0], np.cumsum(np.bincount(of, minlength=self.size))])

        below = np.empty_like(by_column)
        below[by_column] = np.arange(by_column.size)
        parts = (
            starts(rows),
            columns,
            starts(columns),
            rows[by_column],
            below,
            self._targets(starts(rows), columns),
        )
        self.pattern = Pattern(*[np.ascontiguousarray(x, dtype=np.int32) for x in parts])

    def _targets(self, start: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Compute `Pattern.targets`; rows of equal length are processed together."""
        lengths = np.diff(start)
        counts = lengths * (lengths + 1) // 2 if self.symmetric else lengths**2
        first = np.concatenate([[0], np.cumsum(counts)])
        targets = np.empty(first[-1], dtype=np.int32)
        for length in np.unique(lengths[lengths > 0]):
            rows = np.flatnonzero(lengths == length)
            of = columns[start[rows][:, None] + np.arange(length)]
            i, j = (
                np.triu_indices(length)
                if self.symmetric
                else (x.ravel() for x in np.indices((length, length)))
            )
            targets[first[rows][:, None] + np.arange(i.size)] = self._stored(of[:, i], of[:, j])
        return targets
