"""A program with derivatives as CUDA code in which warps follow a leading warp: see
gradient_kernel.cu.

It supports equal steps of explicit schemes, without events or jumps; other programs have one thread
for each run (`cuda_source`). Generated functions are for one column; coefficients that warps hand
over are interleaved in shared memory, one number for each lane.
"""

from __future__ import annotations

import re
from dataclasses import replace

import casadi as ca
import numpy as np

from ..core.schedule import Schedule
from .columns import column_source
from .cuda_source import cuda_text
from .native import NativeProgram
from .program import ChainFunctions, Program

LANES = 32
"""Samples of a block: the threads of a warp."""
MOST_FOLLOWERS = 7
"""Most columns of a block: with the leading warp it has 8 warps, as many as a multiprocessor can
give 255 registers each. Other blocks compute further columns, and the motion once more.
"""


def suits(program: Program, schedule: Schedule) -> bool:
    """Return whether warps can follow: equal steps of an explicit scheme, stored at their ends,
    without events or jumps.
    """
    p = program
    others = (p.switching, p.units, p.samples, p.passage, p.impact, p.jacobian)
    return (
        bool(p.direction_count)
        and p.objective_count > 0
        and p.scheme is not None
        and p.start is not None
        and all(x is None for x in others)
        and all(c.tangent is not None for c in p.chains)
        and not (p.adjoint or p.along_time)
        and schedule.step > 0
        and schedule.ends is None
        and schedule.outputs is None
    )


def launch_of(program: Program) -> dict[str, int]:
    """Return the launch parameters of the kernel: see `Gpu`."""
    columns = program.direction_count or 0
    groups = -(-columns // MOST_FOLLOWERS)
    followers = -(-columns // groups)
    numbers = _coefficients(program) + 2 * program.state_size
    return {
        "threads": LANES * (1 + followers),
        "samples": LANES,
        "groups": groups,
        "shared": 8 * LANES * numbers,
    }


def gradient_source(native: NativeProgram) -> str:
    """Return the whole text of a program `for_gpu`, for NVRTC."""
    p = native.program
    leading, launch, columns = NativeProgram(_leading(p)), launch_of(p), p.direction_count or 0
    constants: dict[str, int | str] = {
        "THREADS": launch["threads"],
        "SHARED_STEPS": "",
        "LANES": LANES,
        "FOLLOWERS": launch["threads"] // LANES - 1,
        "PARAMETERS": columns,
        "COEFFICIENTS": _coefficients(p),
        "HALF": _tangent(p.rates or p.step).numel_in(0),
        "STAGE_TANGENT": _tangent(p.rates or p.step).name(),
        "STEP_TANGENT": _tangent(p.step).name(),
        "START_TANGENT": _tangent(p.start).name(),
    }
    text = leading.functions_source(width=1)
    for c in p.chains:
        assert isinstance(c.finish, ca.Function)
        tangent = _tangent(c)
        text += column_source(tangent, 1, 1, width=1)
        text = _strided(text, c.finish.name(), "res[2]", LANES)
        text = _strided(text, tangent.name(), "arg[0]", LANES)
        text = _strided(text, tangent.name(), "x2", columns)
    for name in ("integrand_tangent", "final_tangent"):
        text = _strided(text, name, "arg[0]", LANES)
        text = _strided(text, name, "arg[4]", columns)
    return cuda_text(leading, text, constants, "gradient_kernel.cu")


def _tangent(chain: ChainFunctions | None) -> ca.Function:
    assert chain is not None
    assert chain.tangent is not None
    return chain.tangent


def _coefficients(program: Program) -> int:
    """Return the number of coefficients that shared memory holds: of two stages, of the end of a
    step, or of the assembly.
    """
    p = program
    stage = _tangent(p.rates or p.step)
    return max(2 * int(stage.numel_in(0)), *[int(_tangent(c).numel_in(0)) for c in p.chains])


def _leading(program: Program) -> Program:
    """Return the program of the leading warp: the motion alone, with the coefficients of its
    linearisation, and derivatives of objectives for one column.
    """
    p, o = program, program.objectives

    def alone(chain: ChainFunctions | None) -> ChainFunctions | None:
        return None if chain is None else replace(chain, tangent=None)

    objectives = replace(
        o,
        integrand_tangent=_objective_column(p, o.integrands, "integrand_tangent"),
        final_tangent=_objective_column(p, o.finals, "final_tangent"),
    )
    return replace(
        p,
        step=replace(p.step, tangent=None),
        start=alone(p.start),
        rates=alone(p.rates),
        objectives=objectives,
        direction_count=None,
        directions=None,
        row_length=0,
    )


def _objective_column(program: Program, values: ca.Function, name: str) -> ca.Function:
    """Build (state, state', ρ, t, ρ' in the order of the seeds) → g'."""
    assert program.directions is not None
    state, ρ, t = (ca.SX.sym("x", values.sparsity_in(k)) for k in range(values.n_in()))
    moved = np.flatnonzero(program.directions.any(axis=1)).tolist()
    state_, seeds = ca.SX.sym("x'", state.numel()), ca.SX.sym("e", len(moved))
    ρ_ = ca.SX(ρ.numel(), 1)
    for place, seed in zip(moved, ca.vertsplit(seeds), strict=True):
        ρ_[place] = seed
    (g,) = values.call([state, ρ, t])
    g_ = ca.jtimes(g, ca.vertcat(state, ρ), ca.vertcat(state_, ρ_))
    return ca.Function(name, [state, state_, ρ, t, seeds], [ca.cse(ca.densify(g_))])


def _strided(text: str, function: str, array: str, stride: int) -> str:
    """Return generated text in which entries of an argument or result of a function are `stride`
    apart.
    """
    wrapped = re.search(rf"\b{function}\([^)]*\) ?{{\s*return (casadi_f\d+)\(", text)
    name = wrapped[1] if wrapped else function
    body = re.search(rf"^static int {name}\([^)]*\) ?{{$.*?^}}$", text, re.DOTALL | re.MULTILINE)
    assert body, "CasADi's generated code has changed"
    entry = re.compile(rf"\b{re.escape(array)}\[(\d+)(?: \* 1)?\]")
    return text.replace(body[0], entry.sub(rf"{array}[\1 * {stride}]", body[0]))
