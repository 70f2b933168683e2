"""Plans for the compiled backend: their maps as C, everything else as the numbers that plan.c
reads.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..stages.plan import Factor, Map, Mode, Pattern, Plan, Port, Solve, Zero

END, ZERO, MAP, FACTOR, SOLVE = range(5)


class _Record(ctypes.Structure):
    """`vm_plan` of plan.c."""

    _fields_ = [
        ("code", ctypes.c_void_p),
        ("tables", ctypes.c_void_p),
        ("constants", ctypes.c_void_p),
        ("arguments", ctypes.c_longlong),
        ("results", ctypes.c_longlong),
    ]


class Kernels:
    """Maps of all plans as C: equal kernels once, and one loop for each way they are used."""

    def __init__(self, maps: list[Map]):
        self.functions: list[ca.Function] = []
        self._names: dict[str, str] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        self.loops: list[str] = []
        for operation in maps:
            if (key := self._key(operation)) not in self._numbers:
                self._numbers[key] = len(self.loops)
                self.loops.append(
                    _loop(f"map{len(self.loops)}", self._name(operation.kernel), operation)
                )

    def number(self, operation: Map) -> int:
        """Of a map that is one of them."""
        return self._numbers[self._key(operation)]

    def _key(self, operation: Map) -> tuple[object, ...]:
        ports = (*operation.inputs, *operation.outputs)
        return (
            operation.kernel.serialize(),
            *[(p.rows, p.vector.width, p.table is None, p.adjacent, p.same, p.mode) for p in ports],
        )

    def _name(self, kernel: ca.Function) -> str:
        text = kernel.serialize()
        if text not in self._names:
            self._names[text] = f"kernel{len(self.functions)}"
            inputs = kernel.sx_in()
            self.functions.append(ca.Function(self._names[text], inputs, kernel.call(inputs)))
        return self._names[text]


def _loop(name: str, kernel: str, operation: Map) -> str:
    """C text of one map: its sizes are constants, so that the compiler can make one piece of
    gathering, kernel and scattering.
    """
    begin: list[str] = []
    gather: list[str] = []
    scatter: list[str] = []
    step: list[str] = []
    arguments: list[str] = []
    results: list[str] = []
    for k, port in enumerate((*operation.inputs, *operation.outputs)):
        size, width = port.rows * port.vector.width, port.vector.width
        reading = k < len(operation.inputs)
        begin.append(f"double *p{k} = bases[ports[{k}].base] + ports[{k}].offset;")
        (arguments if reading else results).append(f"b{k}")
        if port.table is None and (reading or port.mode == Mode.SET):
            gather.append(f"double *b{k} = p{k};")
            if not port.same:
                step.append(f"p{k} += {size};")
            continue
        if port.adjacent and (reading or port.mode == Mode.SET):
            begin.append(f"const int *t{k} = tables[ports[{k}].table];")
            gather.append(f"double *b{k} = p{k} + t{k}[0] * {width};")
            step.append(f"t{k} += {port.rows};")
            continue
        gather.append(f"double b{k}[{size}];")
        if port.mode == Mode.LARGEST:
            scatter.append(f"for (int r = 0; r < {size}; ++r) vm_largest(p{k}, b{k}[r]);")
            continue
        begin.append(f"const int *t{k} = tables[ports[{k}].table];")
        step.append(f"t{k} += {port.rows};")
        place, here = (
            (f"p{k}[t{k}[r]]", f"b{k}[r]")
            if width == 1
            else (f"p{k}[t{k}[r] * {width} + c]", f"b{k}[r * {width} + c]")
        )
        # short loops are written out by the compiler when told so, which it would not do by itself
        unrolled = '_Pragma("GCC unroll 16") ' if port.rows <= 16 and width == 1 else ""
        loop = f"{unrolled}for (int r = 0; r < {port.rows}; ++r) " + (
            f"for (int c = 0; c < {width}; ++c) " if width > 1 else ""
        )
        if reading:
            gather.append(f"{loop}{here} = {place};")
        else:
            scatter.append(f"{loop}{place} {'+=' if port.mode == Mode.ADD else '='} {here};")
    call = [
        f"const double *arg[] = {{{', '.join(arguments) or '0'}}};",
        f"double *res[] = {{{', '.join(results)}}};",
        f"{kernel}(arg, res, 0, w, 0);",
    ]
    head = (
        f"static void {name}(long long count, const vm_port *ports, double *const *bases, const int"
        " *const *tables, double *w) {"
    )
    body = "\n    ".join([*gather, *call, *scatter, *step])
    return (
        "\n  ".join([head, *begin, f"for (long long e = 0; e < count; ++e) {{\n    {body}\n  }}"])
        + "\n}"
    )


class PlanTables:
    """One record for each function of a program; those that are not plans stay empty."""

    def __init__(self, functions: Sequence[object], kernels: Kernels):
        self._kept: list[object] = []
        records = []
        for function in functions:
            if not isinstance(function, Plan):
                records.append(_Record())
                continue
            encoded = _Encoded(function, kernels)
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
    """One plan."""

    def __init__(self, plan: Plan, kernels: Kernels):
        self._tables: list[np.ndarray] = []
        self._numbers: dict[int, int] = {}
        self._patterns: dict[int, int] = {}
        self._kernels = kernels
        self.constants = (
            np.concatenate([np.zeros(1), *plan.constants])[1:] if plan.constants else np.zeros(1)
        )
        code = [number for operation in plan.operations for number in self._encode(operation)]
        self.code = np.array([*code, END], dtype=np.int64)
        self.pointers = (ctypes.c_void_p * max(1, len(self._tables)))(
            *[t.ctypes.data for t in self._tables]
        )

    def _encode(self, operation: object) -> list[int]:
        if isinstance(operation, Zero):
            v = operation.vector
            return [ZERO, 5, v.base, v.offset, v.rows * v.width]
        if isinstance(operation, Map):
            ports = [
                number
                for port in (*operation.inputs, *operation.outputs)
                for number in self._port(port)
            ]
            head = [self._kernels.number(operation), operation.count]
            return [MAP, 2 + len(head) + len(ports), *head, *ports]
        assert isinstance(operation, (Factor, Solve))
        f = operation.factors
        tables, n = self._pattern(f.pattern), f.pattern.size
        d = f.values.offset
        u, l = d + n, d + n + f.pattern.upper.size
        if isinstance(operation, Factor):
            return [FACTOR, 6, n, int(f.symmetric), tables, d]
        return [
            SOLVE,
            10,
            n,
            operation.x.width,
            tables,
            u,
            l,
            d,
            operation.x.offset,
            int(operation.transposed),
        ]

    def _port(self, port: Port) -> list[int]:
        v = port.vector
        table = -1 if port.table is None else self._table(port.table)
        return [v.base, v.offset, table]

    def _table(self, table: np.ndarray) -> int:
        if id(table) not in self._numbers:
            self._numbers[id(table)] = len(self._tables)
            self._tables.append(np.ascontiguousarray(table, dtype=np.int32))
        return self._numbers[id(table)]

    def _pattern(self, pattern: Pattern) -> int:
        if id(pattern) not in self._patterns:
            self._patterns[id(pattern)] = len(self._tables)
            self._tables += [
                pattern.upper_start,
                pattern.upper,
                pattern.lower_start,
                pattern.lower,
                pattern.below,
                pattern.targets,
            ]
        return self._patterns[id(pattern)]
