"""C code of large functions, split into pieces: a compiler's time grows faster than linearly with
the length of a function, so that one of 38,000 instructions takes five times as long as its pieces.

A piece reads the places that are live at its beginning from the work vector into variables, and
writes back those that later pieces read. Operations and their order are those of the bytecode, so
results are the same to the last bit.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..stages.plan import lanes, row_length
from .bytecode import INSTRUCTION, bytecode_of, operations

LONGEST = 8000
"""Longest function (instructions) that is left in one piece, as CasADi writes it: those of the
spatial slider-crank with derivatives ran 11 to 27 % slower in pieces, and compile within seconds
anyway.
"""
PIECE = 150
"""Instructions of a piece. The gradient of a double wishbone (75,000 instructions in steps) takes
gcc -O2 9.6 s in pieces of 150, 11.9 s of 300, 13 s of 500; a call takes 27 ms each. Pieces of 75
compile no faster, and calls take 31 ms.
"""
UNARY = ("EXP", "LOG", "SQRT", "SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN", "FLOOR", "CEIL", "FABS",
         "ERF", "SINH", "COSH", "TANH", "ASINH", "ACOSH", "ATANH", "LOG1P", "EXPM1")  # fmt: skip
BINARY = ("FMOD", "COPYSIGN", "FMIN", "FMAX", "ATAN2", "HYPOT", "REMAINDER")
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
    "POW": "pow({a},{b})",
    "CONSTPOW": "pow({a},{b})",
    "INV": "1./{a}",
    "LT": "{a}<{b}",
    "LE": "{a}<={b}",
    "EQ": "{a}=={b}",
    "NE": "{a}!={b}",
    "NOT": "!{a}",
    "AND": "{a}&&{b}",
    "OR": "{a}||{b}",
    "SIGN": "{a}<0?-1:{a}>0?1:{a}",
    "IF_ELSE_ZERO": "{a}?{b}:0",
    **{name: f"{name.lower()}({{a}})" for name in UNARY},
    **{name: f"{name.lower()}({{a}},{{b}})" for name in BINARY},
}
"""C expressions of scalar operations, as in bytecode.c."""
OF_VECTORS = ("ASSIGN", "LIFT", "ADD", "SUB", "MUL", "DIV", "NEG", "SQ", "TWICE")
"""Operations that the compiler supports for vectors, too."""


def in_pieces(function: ca.Function, columns: int | None = None, shared: int = 0) -> str | None:
    """Return C functions of the pieces of a function, and one under its name that calls them.

    Args:
        function: function of scalar instructions.
        columns: number of columns of a column function (`columns.py`), else None.
        shared: number of its leading arguments that all columns share.

    Returns:
        The text; None where the function is small, or a column function has an operation that
        vectors do not support.
    """
    if function.n_instructions() <= LONGEST:
        return None
    code = bytecode_of(function)
    names = {number: name for name, number in operations().items()}
    used = {names[k] for k in np.unique(code["operation"]).tolist()}
    if columns and not used <= {*OF_VECTORS, "INPUT", "OUTPUT", "CONST"}:
        return None
    width = lanes(columns) if columns else 1
    blocks = row_length(columns) // width if columns else 1
    kind = "vector" if columns else "double"
    pieces = [code[k : k + PIECE] for k in range(0, code.size, PIECE)]
    name, head = function.name(), []
    if columns:
        vectors = f"vector_size({8 * width}), aligned(8)"
        head.append(f"typedef double {name}_vector __attribute__(({vectors}));")
        kind = f"{name}_vector"
    signature = f"const double **arg, double **res, {kind} *w, long long block"
    texts = [
        "\n".join(
            [
                f"static void {name}_{k}({signature}) {{",
                *_body(piece, live_in, live_out, names, kind, blocks, shared if columns else None),
                "}",
            ]
        )
        for k, (piece, live_in, live_out) in enumerate(with_live_places(pieces))
    ]
    calls = " ".join(f"{name}_{k}(arg, res, ({kind} *)w, block);" for k in range(len(pieces)))
    whole = (
        f"static int {name}(const double **arg, double **res, long long *iw, double *w, int mem) {{"
        f"\n  for (long long block = 0; block < {blocks}; ++block) {{ {calls} }}\n  return 0;\n}}"
    )
    return "\n".join([*head, *texts, whole])


def with_live_places(
    pieces: list[np.ndarray],
) -> list[tuple[np.ndarray, list[int], list[int]]]:
    """Return each piece with the places that it reads and earlier pieces wrote, and the places that
    it writes and later pieces read.
    """
    flows = [_flow(piece) for piece in pieces]
    live: set[int] = set()
    with_live = []
    for piece, (read, written) in zip(reversed(pieces), reversed(flows), strict=True):
        with_live.append((piece, sorted(read), sorted(live & written)))
        live = (live - written) | read
    return with_live[::-1]


def _flow(piece: np.ndarray) -> tuple[set[int], set[int]]:
    """Return the places that a piece reads before it writes them, and those that it writes."""
    read: set[int] = set()
    written: set[int] = set()
    number = operations()
    for operation, to, a, b in piece.tolist():
        if operation not in (number["INPUT"], number["CONST"]):
            read |= {a} - written
            if operation == number["OUTPUT"]:
                continue
            read |= {b} - written
        written.add(to)
    return read, written


def _body(
    piece: np.ndarray,
    live_in: list[int],
    live_out: list[int],
    names: dict[int, str],
    kind: str,
    blocks: int,
    shared: int | None,
) -> list[str]:
    """Return the statements of a piece; `shared` is None for scalars."""
    forms = {number: FORMS.get(name, "") for number, name in names.items()}
    number = operations()
    constants = piece.view(np.dtype([*[(n, np.int32) for n in ("o", "t")], ("x", "<f8")]))["x"]
    lines, used = [f"a{k}=w[{k}];" for k in live_in], set(live_in)
    for k, (operation, to, a, b) in enumerate(piece.tolist()):
        if operation == number["OUTPUT"]:
            place = f"res[{to}][{b}]"
            if shared is not None:
                place = f"(({kind} *)res[{to}])[{b * blocks}+block]"
            lines.append(f"{place}=a{a};")
            continue
        used.add(to)
        if operation == number["INPUT"]:
            value = f"arg[{a}][{b}]"
            if shared is not None and a >= shared:
                value = f"((const {kind} *)arg[{a}])[{b * blocks}+block]"
            elif shared is not None:
                value = f"({kind}){{0}}+{value}"
        elif operation == number["CONST"]:
            value = f"{float(constants[k])!r}".replace("inf", "INFINITY").replace("nan", "NAN")
            value = value if shared is None else f"({kind}){{0}}+{value}"
        else:
            value = forms[operation].format(a=f"a{a}", b=f"a{b}")
        lines.append(f"a{to}={value};")
    declared = f"{kind} {', '.join(f'a{k}' for k in sorted(used))};" if used else ""
    return [declared, *lines, *[f"w[{k}]=a{k};" for k in live_out]]


assert INSTRUCTION.itemsize == 16
