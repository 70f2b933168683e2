"""Plans as numbers: the operations and tables that plan.c reads."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from ..stages.plan import Factor, Map, Pattern, Plan, Port, Solve, Zero

END, ZERO, MAP, FACTOR, SOLVE = range(5)
ONE_AFTER_ANOTHER, SAME_FOR_ALL = -1, -2


class _Record(ctypes.Structure):
    """`vm_plan` of plan.c."""

    _fields_ = [
        ("code", ctypes.c_void_p),
        ("tables", ctypes.c_void_p),
        ("constants", ctypes.c_void_p),
        ("arguments", ctypes.c_longlong),
        ("results", ctypes.c_longlong),
    ]


class PlanTables:
    """One record for each function of a program; those that are not plans stay empty."""

    def __init__(self, functions: Sequence[object]):
        kernels = 0
        self._kept: list[object] = []
        records = []
        for function in functions:
            if not isinstance(function, Plan):
                records.append(_Record())
                continue
            encoded = _Encoded(function, kernels)
            kernels += len(function.kernels)
            self._kept.append(encoded)
            records.append(
                _Record(
                    encoded.code.ctypes.data,
                    ctypes.addressof(encoded.pointers),
                    encoded.constants.ctypes.data,
                    len(function.arguments),
                    len(function.results),
                )
            )
        self._records = (_Record * len(records))(*records)

    @property
    def address(self) -> int:
        """Of the first record."""
        return ctypes.addressof(self._records)


class _Encoded:
    """One plan; its kernels are counted from `first` on."""

    def __init__(self, plan: Plan, first: int):
        self._tables: list[np.ndarray] = []
        self._numbers: dict[int, int] = {}
        self._patterns: dict[int, int] = {}
        self._kernel = first
        self._buffer = plan.workspace
        self.constants = np.concatenate([np.zeros(1), *plan.constants])[1:] if plan.constants else np.zeros(1)
        code = [number for operation in plan.operations for number in self._encode(operation)]
        self.code = np.array([*code, END], dtype=np.int64)
        self.pointers = (ctypes.c_void_p * max(1, len(self._tables)))(*[t.ctypes.data for t in self._tables])

    def _encode(self, operation: object) -> list[int]:
        if isinstance(operation, Zero):
            v = operation.vector
            return [ZERO, 5, v.base, v.offset, v.rows * v.width]
        if isinstance(operation, Map):
            ports = [number for port in (*operation.inputs, *operation.outputs) for number in self._port(port)]
            head = [self._kernel, operation.count, len(operation.inputs), len(operation.outputs), self._buffer]
            self._kernel += 1
            return [MAP, 2 + len(head) + len(ports), *head, *ports]
        assert isinstance(operation, (Factor, Solve))
        f = operation.factors
        tables, n = self._pattern(f.pattern), f.pattern.size
        d = f.values.offset
        u, l = d + n, d + n + f.pattern.upper.size
        if isinstance(operation, Factor):
            return [FACTOR, 9, n, int(f.symmetric), tables, u, l, d, f.row.offset]
        return [SOLVE, 9, n, operation.x.width, tables, u, l, d, operation.x.offset]

    def _port(self, port: Port) -> list[int]:
        v = port.vector
        table = self._table(port.table) if port.table is not None else SAME_FOR_ALL if port.same else ONE_AFTER_ANOTHER
        return [v.base, v.offset, table, port.rows, v.width, int(port.mode)]

    def _table(self, table: np.ndarray) -> int:
        if id(table) not in self._numbers:
            self._numbers[id(table)] = len(self._tables)
            self._kept = table  # an id is only unique while its owner lives
            self._tables.append(np.ascontiguousarray(table, dtype=np.int32))
        return self._numbers[id(table)]

    def _pattern(self, pattern: Pattern) -> int:
        if id(pattern) not in self._patterns:
            self._patterns[id(pattern)] = len(self._tables)
            self._tables += [pattern.upper_start, pattern.upper, pattern.lower_start, pattern.lower, pattern.above]
        return self._patterns[id(pattern)]
