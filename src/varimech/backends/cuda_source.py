"""A program as CUDA: the same generated functions and the same driver.

Sizes and coefficients are constants, so that the compiler can keep what a run works with in registers.
"""

from __future__ import annotations

import re

import numpy as np

from .native import DRIVER, NativeProgram, driver_text
from .native_run import FIELDS, SIZES
from .scheme_tables import MATRICES, SchemeTables

THREADS = 128
"""In a block."""


CONSTANT = {"scheme", *SIZES}
FIELDS_ON_CARD = [(name, kind) for name, kind in FIELDS if name not in CONSTANT]
"""Of `vm_run` there."""


def cuda_source(native: NativeProgram, threads: int = THREADS) -> str:
    """The whole text, for NVRTC."""
    sizes = ", ".join(f"{name} = {native.sizes[name]}" for name in SIZES)
    constants = [
        f"#define VM_THREADS {threads}",
        f"#define VM_SIZES static constexpr long long {sizes};",
    ]
    functions = native.functions_source.replace("#include <math.h>", "")
    text = "\n".join(
        [*constants, functions, driver_text("scheme.c"), _scheme(native.scheme), *map(driver_text, (*DRIVER, "kernel.cu"))]
    )
    return re.sub(
        r"^(static|CASADI_SYMBOL_EXPORT) (?:inline )?(\w[\w ]*[ *]+\w+\([^;=]*\) ?{)",
        r"\1 __forceinline__ \2",
        text,
        flags=re.MULTILINE,
    )


def _scheme(scheme: SchemeTables | None) -> str:
    if scheme is None:
        return "#define VM_SCHEME static constexpr const vm_scheme *scheme = 0;"
    tables = {name: np.asarray(getattr(scheme, name)) for name in MATRICES}
    lines = [
        f"static constexpr double vm_scheme_{name}[] = {{{', '.join(map(repr, t.ravel().tolist()))}}};"
        for name, t in tables.items()
        if t.size
    ]
    degree = tables["dense"].shape[1] if tables["dense"].size else 0
    fields = ", ".join(f"vm_scheme_{name}" if t.size else "0" for name, t in tables.items())
    table = f"{{{scheme.stages}, {scheme.extra}, {degree}, {fields}, {float(scheme.error_order)!r}}}"
    lines.append(f"static constexpr vm_scheme vm_table = {table};")
    lines.append("#define VM_SCHEME static constexpr const vm_scheme *scheme = &vm_table;")
    return "\n".join(lines)
