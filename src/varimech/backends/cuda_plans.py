"""Plans as CUDA code: tables and constants are in the GPU's memory, the same for all threads.

The workspace of a plan is an array of the kernel. CUDA interleaves such arrays over the threads of
a warp, which execute the same operations on the same places, so that their accesses are coalesced;
no number of a plan stays in a register for long. A thread has 512 KiB at most.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..stages.plan import Plan
from .native import NativeProgram
from .plan_tables import EncodedPlan, Kernels

LARGEST_THREAD = 500 * 1024
"""Largest size of the large arrays of a thread (bytes): CUDA allows 512 KiB in all, and spilled
registers took 3 kB beside them.
"""
CALL_MAP = """static void vm_call_map(long long map, long long count, long long width, const vm_port *ports,
    double *const *bases, const int *const *tables, double *w) {{
  switch (map) {{
{calls}  }}
}}"""


def thread_size(sizes: Mapping[str, int]) -> int:
    """Return the size of the large arrays of a thread (bytes; kernel.cu)."""
    s = sizes
    derivatives, objectives = s["states"] * s["row"], s["objectives"] * (1 + s["parameters"])
    stages = s["stages"] * (s["states"] + derivatives + objectives)
    states = 6 * s["states"] + (3 if s["units"] else 2) * derivatives
    solved = 2 * (s["unknowns"] + s["multipliers"]) + s["penalties"]
    selection = s["conditions"] * s["coordinates"] if s["selects"] else 0
    gradients = (3 * s["units"] + s["samples"]) * (s["states"] + s["parameters"] + s["numbers"])
    working = s["workspace"] + s["reals"] + s["coefficients"]
    return 8 * (stages + states + solved + selection + gradients + working)


def plans_source(native: NativeProgram) -> list[str]:
    """Return C++ of the plans of a program, and of a function that calls their maps; empty without
    plans.
    """
    if not native.kernels.loops:
        return []
    texts, records = list[str](), list[str]()
    for k, function in enumerate(native.program.slots):
        if isinstance(function, Plan):
            texts += _plan_source(k, EncodedPlan(function, native.kernels))
            sizes = f"{len(function.arguments)}, {len(function.results)}"
            records.append(f"{{plan{k}_code, plan{k}_tables, plan{k}_constants, {sizes}, 0, 0}}")
        else:
            records.append("{0, 0, 0, 0, 0, 0, 0}")
    plans = f"static __device__ const vm_plan vm_plans[] = {{{', '.join(records)}}};"
    return [_call_source(native.kernels), *texts, plans]


def _plan_source(number: int, plan: EncodedPlan) -> list[str]:
    name = f"plan{number}"
    tables = [_array("int", f"{name}_table{k}", t.ravel()) for k, t in enumerate(plan.tables)]
    names = ", ".join(f"{name}_table{k}" for k in range(len(plan.tables))) or "0"
    return [
        _array("long long", f"{name}_code", plan.code),
        _array("double", f"{name}_constants", plan.constants),
        *tables,
        f"static __device__ const int *const {name}_tables[] = {{{names}}};",
    ]


def _array(kind: str, name: str, numbers: np.ndarray) -> str:
    entries = ", ".join(map(repr, numbers.tolist())).replace("inf", "1e999") or "0"
    return f"static __device__ const {kind} {name}[] = {{{entries}}};"


def _call_source(kernels: Kernels) -> str:
    calls = "".join(
        f"    case {k}: map{k}(count, width, ports, bases, tables, w); break;\n"
        for k in range(len(kernels.loops))
    )
    return CALL_MAP.format(calls=calls)
