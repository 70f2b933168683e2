"""Plans for the native backend: their maps as C or as bytecode, everything else as the numbers that
plan.c reads.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeGuard

import casadi as ca
import numpy as np

from ..core.lazy import lazy
from ..stages.plan import Factor, Map, Mode, Pattern, Plan, Port, Solve, Zero, lanes, row_length
from .bytecode import NotInterpretable, bytecode_of, places_of
from .c_pieces import in_pieces
from .columns import column_source

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
        *[(name, ctypes.c_longlong) for name in ("inputs", "outputs", "shared", "places")],
        ("shapes", ctypes.c_void_p),
    ]


class Kernels:
    """Maps of all plans: equal kernels once, and one loop for each distinct use of a kernel."""

    def __init__(self, maps: list[Map]):
        self._read: dict[int, tuple[ca.Function, bytes]] = {}
        self._codes: dict[bytes, np.ndarray] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        self.loops: list[Map] = []
        """One of the maps that each loop executes."""
        for operation in maps:
            if (key := self._key(operation)) not in self._numbers:
                self._numbers[key] = len(self.loops)
                self.loops.append(operation)

    @lazy
    def _distinct(self) -> dict[tuple[object, ...], tuple[ca.Function, Map]]:
        """Distinct kernels under names of their own, with a map that uses each."""
        maps = {self._kernel(m): m for m in self.loops}
        return {
            key: (ca.Function(f"kernel{k}", x := m.kernel.sx_in(), m.kernel.call(x)), m)
            for k, (key, m) in enumerate(maps.items())
        }

    @property
    def distinct(self) -> list[ca.Function]:
        """All kernels, each once."""
        return [f for f, _ in self._distinct.values()]

    def kernel_of(self, operation: Map) -> ca.Function:
        """Return the kernel of a map, under its name among the distinct ones."""
        return self._distinct[self._kernel(operation)][0]

    @property
    def of_numbers(self) -> list[ca.Function]:
        """Kernels that are not column functions, each once."""
        return [f for f, m in self._distinct.values() if m.shared is None]

    def source(self, columns: int | None = None) -> list[str]:
        """Return the C text of the kernels of columns, and of all loops.

        Args:
            columns: number of columns, which are executed one by one; in vectors by default.
        """
        kernels = [
            (in_pieces(f, m.lanes, m.shared) or column_source(f, m.lanes, m.shared))
            if columns is None
            else column_source(f, 1, m.shared, 1)
            for f, m in self._distinct.values()
            if m.shared is not None
        ]
        loops = [
            _loop(f"map{k}", self.kernel_of(m).name(), m, columns) for k, m in enumerate(self.loops)
        ]
        return [*kernels, *loops]

    @property
    def list_source(self) -> str:
        """C text of the list of all loops."""
        maps = [f"map{k}" for k in range(len(self.loops))] or ["0"]
        return f"static const vm_map vm_maps[] = {{{', '.join(maps)}}};"

    def number(self, operation: Map) -> int:
        """Return the number of the loop of a map."""
        return self._numbers[self._key(operation)]

    def _key(self, operation: Map) -> tuple[object, ...]:
        ports = (*operation.inputs, *operation.outputs)
        return (
            *self._kernel(operation),
            *[(p.rows, p.table is None, p.adjacent, p.same, p.mode) for p in ports],
        )

    def _kernel(self, operation: Map) -> tuple[object, ...]:
        return self._text(operation.kernel), operation.shared, operation.lanes

    def code(self, kernel: ca.Function) -> np.ndarray | None:
        """Return the bytecode of a kernel, the same array for equal kernels; None if it has none."""
        return self._codes.get(self._text(kernel))

    def _text(self, kernel: ca.Function) -> bytes:
        """Return a key that equal kernels share; cached, because plans use each kernel several
        times.
        """
        key = kernel.__hash__()
        if key not in self._read:
            try:
                code = bytecode_of(kernel)
            except NotInterpretable:
                text = kernel.serialize().encode()
            else:
                shapes = [kernel.numel_in(k) for k in range(kernel.n_in())]
                shapes += [-kernel.numel_out(k) for k in range(kernel.n_out())]
                text = np.array(shapes, np.int32).tobytes() + code.tobytes()
                self._codes.setdefault(text, code)
            self._read[key] = kernel, text
        return self._read[key][1]


def _loop(name: str, kernel: str, operation: Map, columns: int | None) -> str:
    """Return the C text of one map. All its sizes except the length of a row are constants, so that
    the compiler can fuse gathering, kernel and scattering.
    """
    if operation.shared is None:
        return _loop_over_numbers(name, kernel, operation)
    return _loop_over_columns(name, kernel, operation, columns)


HEAD = (
    "static void {name}(long long count, long long width, const vm_port *ports, double *const"
    " *bases, const int *const *tables, double *w) {{"
)


def _loop_over_columns(name: str, kernel: str, operation: Map, columns: int | None) -> str:
    """Return a loop over all columns of an element, a vector of them at a time, before those of the
    next element; or over `columns` columns one by one, without the padding of rows.
    """
    vector, n = f"{kernel}_vector", operation.lanes
    begin = [f"typedef double {vector} __attribute__((vector_size({8 * n}), aligned(8)));"]
    every = f"for (long long c = 0; c < width; c += {n})"
    if columns is not None:
        begin, every = [f"typedef double {vector};"], f"for (int c = 0; c < {columns}; ++c)"
    gather, scatter, step = list[str](), list[str](), list[str]()
    for k, port in enumerate((*operation.inputs, *operation.outputs)):
        begin.append(f"double *p{k} = bases[ports[{k}].base] + ports[{k}].offset;")
        shared = k < (operation.shared or 0)
        if port.table is None:
            row = "r"
            if not port.same:
                step.append(f"p{k} += {port.rows}{'' if shared else ' * width'};")
        else:
            row = f"t{k}[r]"
            begin.append(f"const int *t{k} = tables[ports[{k}].table];")
            step.append(f"t{k} += {port.rows};")
        if shared:
            gather.append(f"double *b{k} = p{k};")
            continue
        loop = f"for (int r = 0; r < {port.rows}; ++r)"
        place = f"*({vector} *)(p{k} + {row} * width + c)"
        gather.append(f"{vector} b{k}[{port.rows}];")
        if k < len(operation.inputs):
            gather.append(f"{loop} b{k}[r] = {place};")
        else:
            scatter.append(f"{loop} {place} {'+=' if port.mode == Mode.ADD else '='} b{k}[r];")
    inputs = len(operation.inputs)
    arguments = ", ".join(f"(const double *)b{k}" for k in range(inputs)) or "0"
    results = ", ".join(f"(double *)b{inputs + k}" for k in range(len(operation.outputs)))
    body = "\n      ".join(
        [
            *gather,
            f"const double *arg[] = {{{arguments}}};",
            f"double *res[] = {{{results}}};",
            f"{kernel}(arg, res, 0, w, 0);",
            *scatter,
        ]
    )
    return "\n  ".join(
        [
            HEAD.format(name=name),
            *begin,
            "for (long long e = 0; e < count; ++e) {",
            f"  {every} {{\n      {body}\n    }}",
            *[f"  {line}" for line in step],
            "}\n}",
        ]
    )


def _loop_over_numbers(name: str, kernel: str, operation: Map) -> str:
    begin: list[str] = []
    gather: list[str] = []
    scatter: list[str] = []
    step: list[str] = []
    arguments: list[str] = []
    results: list[str] = []
    for k, port in enumerate((*operation.inputs, *operation.outputs)):
        rows = port.rows
        reading = k < len(operation.inputs)
        begin.append(f"double *p{k} = bases[ports[{k}].base] + ports[{k}].offset;")
        (arguments if reading else results).append(f"b{k}")
        if port.table is None and (reading or port.mode == Mode.SET):
            gather.append(f"double *b{k} = p{k};")
            if not port.same:
                step.append(f"p{k} += {rows};")
            continue
        if port.adjacent and (reading or port.mode == Mode.SET):
            begin.append(f"const int *t{k} = tables[ports[{k}].table];")
            gather.append(f"double *b{k} = p{k} + t{k}[0];")
            step.append(f"t{k} += {rows};")
            continue
        gather.append(f"double b{k}[{rows}];")
        if port.mode == Mode.LARGEST:
            scatter.append(f"for (int r = 0; r < {rows}; ++r) vm_largest(p{k}, b{k}[r]);")
            continue
        begin.append(f"const int *t{k} = tables[ports[{k}].table];")
        step.append(f"t{k} += {rows};")
        # short loops are unrolled by the compiler on request, which it would not do by itself
        unrolled = '_Pragma("GCC unroll 16") ' if rows <= 16 else ""
        loop = f"{unrolled}for (int r = 0; r < {rows}; ++r)"
        if reading:
            gather.append(f"{loop} b{k}[r] = p{k}[t{k}[r]];")
        else:
            sign = "+=" if port.mode == Mode.ADD else "="
            scatter.append(f"{loop} p{k}[t{k}[r]] {sign} b{k}[r];")
    call = [
        f"const double *arg[] = {{{', '.join(arguments) or '0'}}};",
        f"double *res[] = {{{', '.join(results)}}};",
        f"{kernel}(arg, res, 0, w, 0);",
    ]
    head = HEAD.format(name=name)
    body = "\n    ".join([*gather, *call, *scatter, *step])
    return (
        "\n  ".join([head, *begin, f"for (long long e = 0; e < count; ++e) {{\n    {body}\n  }}"])
        + "\n}"
    )


class Bytecode:
    """Functions and kernels of a program as data for bytecode.c.

    Raises:
        NotInterpretable: if one has an operation that bytecode.c does not support.
    """

    def __init__(
        self, functions: Sequence[object], kernels: Kernels, columns: Mapping[str, int]
    ) -> None:
        self._kept: list[object] = []
        self._places: list[int] = []
        self.places = 0
        """Working storage of the largest function (numbers)."""
        self.lane_places = 0
        """Working storage of the largest kernel for vectors of samples (vectors), which gather all
        that kernels read and write.
        """
        self._digest = hashlib.sha256()
        self.functions: list[_Code | None] = []
        for k, f in enumerate(functions):
            code = None
            if yields_results(f):
                self._digest.update(f"\0function {k}".encode())
                code = self._code(bytecode_of(f), columns.get(f.name()))
            self.functions.append(code)
        records = [self._kernel(operation, kernels) for operation in kernels.loops]
        self._kernels = (_Kernel * max(1, len(records)))(*records)

    @property
    def identity(self) -> str:
        """A hash that is equal for functions and kernels that are executed alike."""
        return self._digest.hexdigest()

    @property
    def kernels(self) -> int:
        """Address of the records of the kernels."""
        return ctypes.addressof(self._kernels)

    def _code(self, code: np.ndarray, columns: int | None = None, shared: int = 1) -> _Code:
        width = lanes(columns) if columns else 1
        blocks = row_length(columns) // width if columns else 1
        self._places.append(places_of(code) * width)
        self.places = max(self.places, self._places[-1])
        bytecode = _Code(code.ctypes.data, code.size, shared, blocks, width)
        self._digest.update(f"\0{shared} {blocks} {width} {code.size} ".encode() + code.tobytes())
        self._kept += [code, bytecode]
        return bytecode

    def _kernel(self, operation: Map, kernels: Kernels) -> _Kernel:
        ports = (*operation.inputs, *operation.outputs)
        shapes = np.zeros((len(ports), 5), np.int32)
        shared, width = operation.shared, operation.lanes
        gathered = 0
        for k, p in enumerate(ports):
            in_place = k < len(operation.inputs) or p.mode == Mode.SET
            in_place &= shared is None or k < shared
            direct, adjacent = p.table is None and in_place, p.adjacent and in_place
            shapes[k] = p.rows, p.same, direct, adjacent, p.mode
            gathered += 0 if direct or adjacent else p.rows * width
        self._kept.append(shapes)
        tables = [(p.table is None, p.adjacent) for p in ports]
        self._digest.update(f"\0kernel {len(operation.inputs)} {tables}".encode())
        self._digest.update(shapes.tobytes())
        columns = None if shared is None else width
        if (code := kernels.code(operation.kernel)) is None:
            raise NotInterpretable(operation.kernel.name())
        bytecode = self._code(code, columns, shared or 0)
        places = self._places[-1]
        self.places = max(self.places, places + gathered)
        self.lane_places = max(self.lane_places, places + sum(p.rows for p in ports))
        counts = len(operation.inputs), len(operation.outputs), -1 if shared is None else shared
        return _Kernel(bytecode, *counts, places, shapes.ctypes.data)


def yields_results(function: object) -> TypeGuard[ca.Function]:
    """Return whether a function is not a plan and has any result: others are never called."""
    return isinstance(function, ca.Function) and any(
        function.numel_out(k) for k in range(function.n_out())
    )


class PlanTables:
    """One record for each function of a program. Records of functions that are not plans are empty,
    unless the functions are bytecode.
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
            encoded = EncodedPlan(function, kernels)
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
        """Address of the first record."""
        return ctypes.addressof(self._records)


class EncodedPlan:
    """One plan as numbers: its operations, the tables that they refer to, and its constants."""

    def __init__(self, plan: Plan, kernels: Kernels):
        self.tables: list[np.ndarray] = []
        self._numbers: dict[int, int] = {}
        self._patterns: dict[int, int] = {}
        self._kernels = kernels
        self.constants = (
            np.concatenate([np.zeros(1), *plan.constants])[1:] if plan.constants else np.zeros(1)
        )
        code = [number for operation in plan.operations for number in self._encode(operation)]
        self.code = np.array([*code, END], dtype=np.int64)
        self.pointers = (ctypes.c_void_p * max(1, len(self.tables)))(
            *[t.ctypes.data for t in self.tables]
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
            head = [self._kernels.number(operation), operation.count, operation.width]
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
            self._numbers[id(table)] = len(self.tables)
            self.tables.append(np.ascontiguousarray(table, dtype=np.int32))
        return self._numbers[id(table)]

    def _pattern(self, pattern: Pattern) -> int:
        if id(pattern) not in self._patterns:
            self._patterns[id(pattern)] = len(self.tables)
            self.tables += [
                pattern.upper_start,
                pattern.upper,
                pattern.lower_start,
                pattern.lower,
                pattern.below,
                pattern.targets,
            ]
        return self._patterns[id(pattern)]
