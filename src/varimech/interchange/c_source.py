"""Plain C code of a CasADi function, with one readable signature: arrays in, arrays out, no memory
allocation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import casadi as ca

from ..core.atomic_files import write_text
from ..core.names import comment_text


@dataclass(frozen=True)
class Signature:
    """Name of the C function, its mechanism, and the names of the entries of its arrays."""

    name: str
    mechanism: str
    entries: Mapping[str, tuple[str, ...]]


def write_c(folder: Path, signature: Signature, function: ca.Function) -> Path:
    """Write `name`.c and `name`.h into a folder; returns the path of the source."""
    name = signature.name
    generator = ca.CodeGenerator(f"{name}.c", {"casadi_int": "int"})
    work = ca.Function(f"{name}_work", function.sx_in(), function.call(function.sx_in()))
    generator.add(work)
    write_text(folder / f"{name}.h", _header(signature, function))
    source = folder / f"{name}.c"
    write_text(
        source,
        "\n".join([f'#include "{name}.h"', generator.dump(), _wrapper(name, function, work)]),
    )
    return source


def _declaration(name: str, function: ca.Function) -> str:
    ins = [f"double {x}" if x == "t" else f"const double *{x}" for x in function.name_in()]
    outs = [f"double *{x}" for x in function.name_out()]
    return f"void {name}({', '.join([*ins, *outs])})"


def _header(signature: Signature, function: ca.Function) -> str:
    guard = f"{signature.name.upper()}_H"
    sizes = [f" *   {x}: {function.size1_in(k)}" for k, x in enumerate(function.name_in())]
    for k, x in enumerate(function.name_out()):
        rows, columns = function.size_out(k)
        sizes.append(
            f" *   {x}: {rows}"
            if columns == 1
            else f" *   {x}: {rows} x {columns}, column by column"
        )
    entries = [
        f" * {array}:\n" + "\n".join(f" *   [{k}] {comment_text(n)}" for k, n in enumerate(names))
        for array, names in signature.entries.items()
        if names
    ]
    lines = [
        "/*",
        f" * Equations of motion of {comment_text(signature.mechanism)}, SI units:",
        " *   M a + Phi_q' lambda = Q,   Phi = 0,   Phi_q a = gamma",
        " * Sizes of the arguments; outputs that are not needed may be 0:",
        *sizes,
        *entries,
        " */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        f"{_declaration(signature.name, function)};",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def _wrapper(name: str, function: ca.Function, work: ca.Function) -> str:
    ins = ", ".join("&t" if x == "t" else x for x in function.name_in())
    return "\n".join(
        [
            f"{_declaration(name, function)}",
            "{",
            f"  const casadi_real *arg[{work.sz_arg()}] = {{{ins}}};",
            f"  casadi_real *res[{work.sz_res()}] = {{{', '.join(function.name_out())}}};",
            f"  casadi_int iw[{work.sz_iw() + 1}];",
            f"  casadi_real w[{work.sz_w() + 1}];",
            f"  {name}_work(arg, res, iw, w, 0);",
            "}",
            "",
        ]
    )
