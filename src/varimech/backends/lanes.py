"""Vectors of samples: C code of a program's functions for as many samples as a vector register
holds.

Each number of a function becomes a vector with one entry for each sample, its lane. Operations and
their order are those of the bytecode, so each lane has the result of a single run to the last bit;
functions that vectors lack (powers, exponentials) are called lane by lane. Sines and cosines are
those of lane_math.c, which differ from a C library's by rounding. lanes.c executes these functions,
or interprets the bytecode until they are compiled.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..stages.plan import row_length
from .bytecode import bytecode_of, operations
from .c_pieces import BINARY, LONGEST, PIECE, UNARY, with_live_places
from .lane_maps import ARGUMENTS, PORT, lane_map
from .plan_tables import Kernels, yields_results

if TYPE_CHECKING:
    from .program import Program

WIDTH = """#if defined(__AVX512F__)
#define VM_WIDTH 8
#elif defined(__AVX__)
#define VM_WIDTH 4
#else
#define VM_WIDTH 2
#endif"""
"""Numbers in a vector register of the processor that the compiler builds for."""
CHAINS, PER_CHAIN, TANGENT = 3, 6, 3
"""Number of chains that vectors execute (step, assembly and rates), number of functions of a chain,
and number of the tangent among them.
"""
INTEGRANDS = 32
"""Slot of the integrands; that of their tangent follows."""
EXECUTED = (
    *(PER_CHAIN * chain + k for chain in range(CHAINS) for k in range(TANGENT + 1)),
    *(INTEGRANDS, INTEGRANDS + 1),
)
"""Slots of the functions that steps of vectors call (see `Program.slots`)."""
IN_VECTORS = ("FABS", "FMIN", "FMAX", "SQRT", "SIN", "COS")
"""Functions that lane_math.c implements for vectors."""
EACH = tuple(name for name in (*UNARY, *BINARY, "POW") if name not in IN_VECTORS)
"""Functions that are called lane by lane."""
FORMS = {
    "ASSIGN": "{a}",
    "LIFT": "{a}",
    "ADD": "{a}+{b}",
    "SUB": "{a}-{b}",
    "MUL": "{a}*{b}",
    "DIV": "{a}/{b}",
    "NEG": "-{a}",
    "SQ": "{a}*{a}",
    "TWICE": "2.*{a}",
    "INV": "1./{a}",
    "LT": "vm_ones({a}<{b})",
    "LE": "vm_ones({a}<={b})",
    "EQ": "vm_ones({a}=={b})",
    "NE": "vm_ones({a}!={b})",
    "NOT": "vm_ones({a}==0)",
    "AND": "vm_ones(({a}!=0)&({b}!=0))",
    "OR": "vm_ones(({a}!=0)|({b}!=0))",
    "SIGN": "vm_pick({a}<0,vm_all(-1.),vm_pick({a}>0,vm_all(1.),{a}))",
    "IF_ELSE_ZERO": "vm_pick({a}!=0,{b},vm_all(0.))",
    "FABS": "vm_magnitudes({a})",
    "CONSTPOW": "vm_pow({a},{b})",
    "POW": "vm_pow({a},{b})",
    **{name: f"vm_{name.lower()}({{a}})" for name in UNARY if name != "FABS"},
    **{name: f"vm_{name.lower()}({{a}},{{b}})" for name in BINARY},
}
"""C expressions of operations on vectors."""
SIGNATURE = "const vm_vector *const *arg, vm_vector *const *res, vm_vector *w"


MOST_STAGES = 32
"""Size of the arrays of stages in lanes.c, the end of the step included; schemes of order 8 have
13.
"""


def suits(program: Program) -> bool:
    """Return whether vectors of samples can execute a program: its stages fit into the arrays of
    lanes.c, and there is no reverse sweep.
    """
    scheme = program.scheme
    return not (program.adjoint or (scheme is not None and len(scheme.b) >= MOST_STAGES))


def lane_slots(program: Program, cold: frozenset[int]) -> list[int]:
    """Return the slots of the functions that are compiled for vectors."""
    return [k for k in EXECUTED if k not in cold and yields_results(program.slots[k])]


def bits(slots: Sequence[int]) -> int:
    """Return a number with the bits of these slots set."""
    return sum(1 << k for k in slots)


def lane_source(
    program: Program, slots: Sequence[int], columns: Mapping[str, int], kernels: Kernels
) -> str:
    """Return the whole C text of a library of functions of vectors, and of kernels of plans."""
    once = [f"VM_UNARY({name.lower()})" for name in UNARY if name in EACH]
    twice = [f"VM_BINARY({name.lower()})" for name in (*BINARY, "POW") if name in EACH]
    functions, calls = [], []
    for k in slots:
        f = program.slots[k]
        assert isinstance(f, ca.Function)
        functions.append(_function(f"lanes{k}", f, columns.get(f.name())))
        calls.append(f"    case {k}: lanes{k}(arg, res, w); break;")
    mathematics = Path(__file__).with_name("lane_math.c").read_text(encoding="utf-8")
    dispatch = _dispatch("vm_lane_functions", SIGNATURE, calls)
    return "\n".join(
        [WIDTH, mathematics, *once, *twice, *functions, dispatch, *_maps_source(kernels)]
    )


def _maps_source(kernels: Kernels) -> list[str]:
    """Return the C text of the maps of plans."""
    functions = [_function(f.name(), f, None) for f in kernels.distinct]
    loops = [
        lane_map(f"lane_map{k}", kernels.kernel_of(m).name(), m)
        for k, m in enumerate(kernels.loops)
    ]
    arguments = "count, width, columns, ports, bases, constants, tables, w"
    calls = [f"    case {k}: lane_map{k}({arguments}); break;" for k in range(len(loops))]
    return [PORT, *functions, *loops, _dispatch("vm_lane_maps", ARGUMENTS, calls)]


def _dispatch(name: str, arguments: str, calls: Sequence[str]) -> str:
    """Return the C text of a function that calls others by number."""
    return "\n".join(
        [
            '__attribute__((visibility("default")))',
            f"void {name}(int number, {arguments}) {{",
            "  switch (number) {",
            *calls,
            "  }",
            "}",
        ]
    )


def _function(name: str, function: ca.Function, columns: int | None) -> str:
    """Return the C text of one function, in pieces where it is large; a column function loops over
    its columns.
    """
    code = bytecode_of(function)
    size = PIECE if code.size > LONGEST else max(1, code.size)
    pieces = [code[k : k + size] for k in range(0, code.size, size)]
    texts = [
        "\n".join(
            [
                f"static void {name}_{k}({SIGNATURE}, long long c) {{",
                *_body(piece, live_in, live_out, columns),
                "}",
            ]
        )
        for k, (piece, live_in, live_out) in enumerate(with_live_places(pieces))
    ]
    calls = " ".join(f"{name}_{k}(arg, res, w, c);" for k in range(len(pieces)))
    whole = (
        f"static void {name}({SIGNATURE}) {{\n"
        f"  for (long long c = 0; c < {columns or 1}; ++c) {{ {calls} }}\n}}"
    )
    return "\n".join([*texts, whole])


def _body(
    piece: np.ndarray, live_in: list[int], live_out: list[int], columns: int | None
) -> list[str]:
    """Return the statements of a piece."""
    number = operations()
    forms = {number[name]: form for name, form in FORMS.items() if name in number}
    constants = piece.view(np.dtype([*[(n, np.int32) for n in ("o", "t")], ("x", "<f8")]))["x"]
    row = row_length(columns) if columns else 0
    lines, used = [f"a{k}=w[{k}];" for k in live_in], set(live_in)
    for k, (operation, to, a, b) in enumerate(piece.tolist()):
        if operation == number["OUTPUT"]:
            lines.append(f"res[{to}][{f'{b * row}+c' if columns else b}]=a{a};")
            continue
        used.add(to)
        if operation == number["INPUT"]:
            value = f"arg[{a}][{b}]"
            if columns and a == 1:
                value = f"arg[{a}][{b * row}+c]"
            elif columns and a > 1:  # derivatives of the parameters are the same for all lanes
                value = f"vm_all(((const double *)arg[{a}])[{b * row}+c])"
        elif operation == number["CONST"]:
            x = f"{float(constants[k])!r}".replace("inf", "INFINITY").replace("nan", "NAN")
            value = f"vm_all({x})"
        else:
            value = forms[operation].format(a=f"a{a}", b=f"a{b}")
        lines.append(f"a{to}={value};")
    declared = f"vm_vector {', '.join(f'a{k}' for k in sorted(used))};" if used else ""
    return [declared, *lines, *[f"w[{k}]=a{k};" for k in live_out]]


def address_of(function: Any) -> int:
    """Return the address of a function of a library."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0
