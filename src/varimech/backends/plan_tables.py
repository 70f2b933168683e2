"""Plans for the native backend: their maps as C or as bytecode, everything else as the numbers that
plan.c reads.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TypeGuard

import casadi as ca
import numpy as np

from ..core.lazy import lazy
from ..stages.plan import Factor, Map, Mode, Pattern, Plan, Port, Solve, Zero
from .bytecode import bytecode_of
from .columns import lanes, row_length

END, ZERO, MAP, FACTOR, SOLVE = range(5)


class _Record(ctypes.Structure):
    """`vm_plan` of plan.c."""

    _fields_ = [
        ("code", ctypes.c_void_p),
        ("tables", ctypes.c_void_p),
        ("constants", ctypes.c_void_p),
        ("arguments", ctypes.c_longlong),
        ("results", ctypes.c_longlong),
        ("bytecode", ctypes.c_void_p),
        ("kernels", ctypes.c_void_p),
    ]


class _Code(ctypes.Structure):
    """`vm_bytecode` of bytecode.c."""

    _fields_ = [
        ("code", ctypes.c_void_p),
        *[(name, ctypes.c_longlong) for name in ("count", "shared", "blocks", "lanes")],
    ]


class _Kernel(ctypes.Structure):
    """`vm_kernel` of plan.c."""

    _fields_ = [
        ("bytecode", _Code),
        *[(name, ctypes.c_longlong) for name in ("inputs", "outputs", "places")],
        ("shapes", ctypes.c_void_p),
    ]


class Kernels:
    """Maps of all plans: equal kernels once, and one loop for each way they are used."""

    def __init__(self, maps: list[Map]):
        self._texts: dict[int, tuple[ca.Function, str]] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        self.loops: list[Map] = []
        """One of the maps that each loop serves."""
        for operation in maps:
            if (key := self._key(operation)) not in self._numbers:
                self._numbers[key] = len(self.loops)
                self.loops.append(operation)

    @lazy
    def functions(self) -> list[ca.Function]:
        """The kernels under names of their own, each once."""
        different = {self._text(m.kernel): m.kernel for m in self.loops}.values()
        return [
            ca.Function(f"kernel{k}", inputs := f.sx_in(), f.call(inputs))
            for k, f in enumerate(different)
        ]

    @property
    def source(self) -> list[str]:
        """C of all loops."""
        names = {
            text: k
            for k, text in enumerate(dict.fromkeys(self._text(m.kernel) for m in self.loops))
        }
        return [
            _loop(f"map{k}", f"kernel{names[self._text(m.kernel)]}", m)
            for k, m in enumerate(self.loops)
        ]

    def number(self, operation: Map) -> int:
        """Of a map that is one of them."""
        return self._numbers[self._key(operation)]

    def _key(self, operation: Map) -> tuple[object, ...]:
        ports = (*operation.inputs, *operation.outputs)
        return (
            self._text(operation.kernel),
            *[(p.rows, p.vector.width, p.table is None, p.adjacent, p.same, p.mode) for p in ports],
        )

    def _text(self, kernel: ca.Function) -> str:
        """What equal kernels have in common; kept, because plans use each of them several times."""
        key = kernel.__hash__()
        if key not in self._texts:
            self._texts[key] = kernel, kernel.serialize()
        return self._texts[key][1]


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


class Bytecode:
    """Functions and kernels of a program as data for bytecode.c.

    Raises:
        NotInterpretable: if one has an operation that bytecode.c does not know.
    """

    def __init__(
        self, functions: Sequence[object], kernels: Kernels, columns: Mapping[str, int]
    ) -> None:
        self._kept: list[object] = []
        self.places = 0
        """Working storage of the largest one, in numbers."""
        self.functions = [
            self._code(f, columns.get(f.name())) if yields_results(f) else None for f in functions
        ]
        records = [self._kernel(operation) for operation in kernels.loops]
        self._kernels = (_Kernel * max(1, len(records)))(*records)

    @property
    def kernels(self) -> int:
        """Address of the kernels' records."""
        return ctypes.addressof(self._kernels)

    def _code(self, function: ca.Function, columns: int | None = None) -> _Code:
        code = bytecode_of(function)
        width = lanes(columns) if columns else 1
        blocks = row_length(columns) // width if columns else 1
        self.places = max(self.places, function.sz_w() * width)
        bytecode = _Code(code.ctypes.data, code.size, 1, blocks, width)
        self._kept += [code, bytecode]
        return bytecode

    def _kernel(self, operation: Map) -> _Kernel:
        ports = (*operation.inputs, *operation.outputs)
        shapes = np.zeros((len(ports), 6), np.int32)
        gathered = 0
        for k, p in enumerate(ports):
            in_place = k < len(operation.inputs) or p.mode == Mode.SET
            direct, adjacent = p.table is None and in_place, p.adjacent and in_place
            shapes[k] = p.rows, p.vector.width, p.same, direct, adjacent, p.mode
            gathered += 0 if direct or adjacent else p.rows * p.vector.width
        self._kept.append(shapes)
        bytecode, places = self._code(operation.kernel), operation.kernel.sz_w()
        self.places = max(self.places, places + gathered)
        counts = len(operation.inputs), len(operation.outputs)
        return _Kernel(bytecode, *counts, places, shapes.ctypes.data)


def yields_results(function: object) -> TypeGuard[ca.Function]:
    """Whether a function is no plan, and has any result: others are never called."""
    return isinstance(function, ca.Function) and any(
        function.numel_out(k) for k in range(function.n_out())
    )


class PlanTables:
    """One record for each function of a program; those that are not plans stay empty, unless they
    are bytecode.
    """

    def __init__(self, functions: Sequence[object], kernels: Kernels, bytecode: Bytecode | None):
        self._kept: list[object] = [bytecode]
        self.interpretable = bytecode is not None
        records = []
        for k, function in enumerate(functions):
            code = None if bytecode is None else bytecode.functions[k]
            if not isinstance(function, Plan):
                address = None if code is None else ctypes.addressof(code)
                called = function is None or yields_results(function)
                records.append(_Record(arguments=0 if called else -1, bytecode=address))
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
                    None,
                    None if bytecode is None else bytecode.kernels,
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
