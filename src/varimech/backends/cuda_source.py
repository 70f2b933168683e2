"""A program as CUDA code: the same generated functions and the same driver as on the processor.

Sizes and coefficients are constants, so that the compiler can keep the working storage of a run in
registers. Derivatives with respect to parameters are computed column by column, in rows without
padding: a thread has no vectors, and its memory limits its speed. Large models, whose functions are
plans, work in memory: see `cuda_plans`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import casadi as ca
import numpy as np

from .constants import definitions
from .cuda_plans import plans_source
from .machine import DRIVER, driver_text
from .native import NativeProgram
from .native_run import FIELDS, SIZES
from .program import Function
from .scheme_tables import MATRICES, SchemeTables

THREADS = 128
"""Threads of a block."""


NOT_A_NUMBER = """#ifndef NAN
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#endif"""
"""NVRTC has no math.h that would define NAN."""
CONSTANT = {"scheme", *SIZES}
FIELDS_ON_GPU = [(name, kind) for name, kind in FIELDS if name not in CONSTANT]
"""Fields of `vm_run` on a GPU."""


FUNCTION = re.compile(
    r"^(static|CASADI_SYMBOL_EXPORT) (?:inline )?(\w[\w ]*[ *]+\w+\([^;={]*\) ?{)", re.MULTILINE
)
SHARED = re.compile(
    r"^(static) (?:inline )?(\w+ (?:vm_execute|vm_call_generated|map\d+)\([^;{]*\) ?{)",
    re.MULTILINE,
)
"""Functions of a program with plans that all callers share, not inlined: its arrays are in memory
anyway.
"""
DIVISION = re.compile(r"=\((a\d+|1\.)/(a\d+)\);")
"""A division as CasADi writes it."""


def for_gpu(native: NativeProgram) -> NativeProgram:
    """Return the program with rows of derivatives, and of costates, that have no padding; plans
    keep their padding.
    """
    p = native.program
    if native.kernels.loops:
        return native
    o, columns, costates = p.objectives, p.direction_count or 0, p.objective_count
    if p.direction_count is not None:
        objectives = replace(
            o,
            integrand_tangent=_without_padding(o.integrand_tangent, columns),
            final_tangent=_without_padding(o.final_tangent, columns),
        )
        p = replace(p, objectives=objectives, row_length=columns)
    if p.adjoint:
        objectives = replace(
            p.objectives,
            integrand_pullback=_shortened(o.integrand_pullback, costates),
            final_pullback=_shortened(o.final_pullback, costates),
        )
        p = replace(p, objectives=objectives, costate_row=costates)
    return native if p is native.program else NativeProgram(p)


def _without_padding(tangent: Function | None, columns: int) -> Function | None:
    """Build (state, state', ρ, t) → g' with rows of state' as long as there are columns."""
    if not isinstance(tangent, ca.Function):
        return tangent
    state, S, ρ, t = (ca.SX.sym("x", tangent.sparsity_in(k)) for k in range(tangent.n_in()))
    symbols = ca.SX.sym("S", columns, S.size2())
    padded = ca.vertcat(symbols, ca.SX(S.size1() - columns, S.size2()))
    results = tangent.call([state, padded, ρ, t])
    return ca.Function(tangent.name(), [state, symbols, ρ, t], results)


def _shortened(pullback: ca.Function | None, costates: int) -> ca.Function | None:
    """Build (state, ρ, t) → g_s, g_ρ with rows as long as there are objectives."""
    if pullback is None:
        return None
    symbols = [ca.SX.sym("x", pullback.sparsity_in(k)) for k in range(pullback.n_in())]
    results = [result[:costates, :] for result in pullback.call(symbols)]
    return ca.Function(pullback.name(), symbols, results)


def cuda_source(native: NativeProgram, threads: int = THREADS, *, own_steps: bool = False) -> str:
    """Return the whole text of a program `for_gpu` with one thread for each run, for NVRTC. With
    `own_steps`, each run may be given its steps, or keeps the steps that it takes.
    """
    adjoint, plans = native.program.adjoint, bool(native.kernels.loops)
    known = {"SHARED_STEPS": not own_steps, "SWEEPS": adjoint, "PLANS": plans}
    constants: dict[str, int | str] = {"THREADS": threads}
    constants |= {name: "" for name, holds in known.items() if holds}
    files = ("sweeps.c", "kernel.cu") if adjoint else ("kernel.cu",)
    return cuda_text(native, native.functions_source(width=1), constants, *files)


def cuda_text(
    native: NativeProgram, functions: str, constants: Mapping[str, int | str], *files: str
) -> str:
    """Return the text of a kernel: constants (VM_…), generated functions, the driver and further
    files, the kernel last.
    """
    sizes = ", ".join(f"{name} = {native.generated_sizes[name]}" for name in SIZES)
    table = "&vm_table" if native.scheme else "0"
    parts = [
        NOT_A_NUMBER,
        definitions(),
        *[f"#define VM_{name} {value}" for name, value in constants.items()],
        f"#define VM_SIZES static constexpr long long {sizes};",
        driver_text("quotient.cu"),
        DIVISION.sub(r"=VM_QUOTIENT(\1,\2);", functions.replace("#include <math.h>", "")),
        *plans_source(native),
        driver_text("scheme.c"),
        scheme_source(native.scheme, "constexpr"),
        f"#define VM_SCHEME static constexpr const vm_scheme *scheme = {table};",
        *map(driver_text, (*DRIVER, *files)),
    ]
    text = "\n".join(parts)
    if native.kernels.loops:
        text = SHARED.sub(r"\1 __noinline__ \2", text)
        text = text.replace('_Pragma("GCC unroll 16")', '_Pragma("unroll")')
    return FUNCTION.sub(
        r"\1 __forceinline__ \2", text
    )  # only inlined functions let arrays that they receive stay in registers


def scheme_source(scheme: SchemeTables | None, constant: str) -> str:
    """Return the coefficients of an explicit integrator as C text; empty without a scheme."""
    if scheme is None:
        return ""
    tables = {name: np.asarray(getattr(scheme, name)) for name in MATRICES}
    lines = [
        f"static {constant} double vm_scheme_{name}[] ="
        f" {{{', '.join(map(repr, t.ravel().tolist()))}}};"
        for name, t in tables.items()
        if t.size
    ]
    degree = tables["dense"].shape[1] if tables["dense"].size else 0
    fields = ", ".join(f"vm_scheme_{name}" if t.size else "0" for name, t in tables.items())
    table = (
        f"{{{scheme.stages}, {scheme.extra}, {degree}, {fields}, {float(scheme.error_order)!r}}}"
    )
    return "\n".join([*lines, f"static {constant} vm_scheme vm_table = {table};"])
