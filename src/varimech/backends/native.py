"""The native backend: generated C for the functions of a step, and a small fixed driver (driver.c) that loops over them.

One library a program, with step size, number of steps, stride, parameters and start as run-time arguments: a longer run or another value
never compiles again. Calls go through ctypes, which frees the interpreter's lock, so threads scale.
"""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import casadi as ca
import numpy as np

from ..stages.plan import Plan
from .columns import seeds, tangent_source
from .compiler import build_library, cached_library
from .plan_tables import Kernels, PlanTables
from .program import (
    NO_CONVERGENCE,
    NOT_FINITE,
    OVERWOUND,
    SINGULAR,
    UNDERFLOW,
    Amplified,
    Inputs,
    Program,
    StartFailure,
    StepFailure,
    Trajectory,
)
from .scheme_tables import SchemeTables

DONE, NO_MEMORY, NO_START, AMPLIFIED = 0, 3, 4, 8
REASONS = {1: NO_CONVERGENCE, 2: NOT_FINITE, 5: OVERWOUND, 6: UNDERFLOW, 7: SINGULAR}
DRIVER = ("chain.c", "selection.c", "explicit.c", "driver.c")
SLICE_SECONDS = 0.1
"""Steps are done in slices of about this time, so that progress can be shown and Ctrl-C works."""


class NativeProgram:
    """A program with its C source; the library is built, or found in the cache, when first used. Safe to use from many threads."""

    def __init__(self, program: Program):
        self.program = program

    @cached_property
    def source(self) -> str:
        """The whole C text: generated functions and kernels, and what carries them out."""
        generator = ca.CodeGenerator("program", {"with_header": False, "casadi_int": "long long int"})
        names = []
        tangents = [chain.tangent for chain in self.program.chains if chain.tangent is not None]
        for function in self.program.slots:
            if not isinstance(function, ca.Function) or not any(function.numel_out(k) for k in range(function.n_out())):
                names.append("0")  # a plan, or never called
                continue
            if function not in tangents:
                generator.add(function)
            names.append(function.name())
        vectors = [tangent_source(f, self.program.parameter_count or 0) for f in tangents]
        for kernel in self.kernels.functions:
            generator.add(kernel)
        maps = [f"map{k}" for k in range(len(self.kernels.loops))] or ["0"]
        p = self.program
        iterated = [str(int(c is not None and c.iterate is not None)) for c in (p.step, p.start, p.rates)]
        lists = [
            f"static const int vm_iterated[] = {{{', '.join(iterated)}}};",
            f"static const vm_function vm_functions[] = {{{', '.join(names)}}};",
            f"static const vm_map vm_maps[] = {{{', '.join(maps)}}};",
        ]
        plan, *driver = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("plan.c", *DRIVER))
        # what CasADi exports beside the functions would only cost the compiler time
        return "\n".join(
            [
                "#define CASADI_SYMBOL_EXPORT static",
                _unchecked(generator.dump()),
                plan,
                *self.kernels.loops,
                *vectors,
                *lists,
                *driver,
            ]
        )

    @cached_property
    def kernels(self) -> Kernels:
        """Kernels of all plans, equal ones once."""
        return Kernels([k for f in self.program.functions if isinstance(f, Plan) for k in f.maps])

    @property
    def built(self) -> bool:
        """Whether running it needs no compiler any more."""
        return "_call" in self.__dict__ or cached_library(self.source) is not None

    def build(self) -> None:
        """Compile it, or find it in the cache.

        Raises:
            BuildError: if there is no compiler, or it fails.
        """
        _ = self._call

    def run(self, inputs: Inputs, progress: Callable[[float], None] | None = None) -> Trajectory:
        """Carry out the program; `progress` is told the share of the time that is done, now and then.

        Raises:
            StartFailure: if no start is found from the guess.
            StepFailure: if a step fails.
            Amplified: if a sharp program comes near a singular position.
        """
        call, runs = self._call, _Runs(self, inputs, inputs.parameters[None, :])
        r, schedule, size = runs.records, inputs.schedule, 64
        while not runs.finished:
            done = int(r["done"][0])
            r["last"] = runs.make_room(done + size)
            began = time.perf_counter()
            call(r.ctypes.data, 1)
            status = int(r["status"][0])
            if status == NO_MEMORY:
                raise MemoryError("not enough memory for the working storage of a run")
            if status == NO_START:
                raise StartFailure
            if status == AMPLIFIED:
                raise Amplified
            if status != DONE:
                raise runs.failure(REASONS[status])
            seconds = max(1e-6, time.perf_counter() - began)
            size = max(1, int(size * min(100.0, SLICE_SECONDS / seconds)))
            if progress is not None:
                progress(float(r["time"][0]) / schedule.duration)
        return runs.trajectory(0)

    def run_all(self, inputs: Inputs, values: np.ndarray) -> list[Trajectory | None]:
        """Carry it out for many sets of parameter values, one a row, at one call; None for those that failed, or are not finite."""
        call, runs = self._call, _Runs(self, inputs, values)
        runs.records["last"] = np.iinfo(np.int64).max
        call(runs.records.ctypes.data, len(values))
        return [runs.trajectory(k) if good else None for k, good in enumerate(runs.good.tolist())]

    @cached_property
    def _call(self) -> Callable[[int, int], None]:
        library = ctypes.CDLL(str(build_library(self.source)))
        library.vm_carry_out_all.argtypes = [ctypes.c_void_p, ctypes.c_longlong]
        library.vm_carry_out_all.restype = None
        call: Callable[[int, int], None] = library.vm_carry_out_all
        return call

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Sizes of the arrays of a run, and of its working storage."""
        p, chains = self.program, self.program.chains
        generated = [f for f in (*p.functions, *self.kernels.functions) if isinstance(f, ca.Function)]
        plans = [f for f in p.functions if isinstance(f, Plan)]
        return {
            "coordinates": p.coordinates,
            "states": p.state_size,
            "unknowns": max((c.iterate.numel_out(0) for c in chains if c.iterate), default=0),
            "multipliers": max((c.iterate.numel_out(1) for c in chains if c.iterate), default=0),
            "objectives": p.objective_count,
            "parameters": p.parameter_count or 0,
            "row": p.row_length,
            "coefficients": max(c.tangent.numel_in(0) if c.tangent else 0 for c in chains),
            "springs": p.twist.numel_out(0),
            "conditions": p.jacobian.size1_out(0) if p.jacobian else 0,
            "rates": int(p.rates is not None),
            "selects": int(p.jacobian is not None),
            "sharp": int(p.sharp),
            "arguments": max([f.sz_arg() for f in generated] + [len(f.arguments) for f in plans]),
            "results": max([f.sz_res() for f in generated] + [len(f.results) for f in plans]),
            "integers": max(f.sz_iw() for f in generated),
            "reals": max(f.sz_w() for f in generated),
            "bases": max((2 + len(f.arguments) + len(f.results) for f in plans), default=0),
            "workspace": max((f.workspace for f in plans), default=0),
        }

    @cached_property
    def plans(self) -> PlanTables:
        """The plans as the driver reads them."""
        return PlanTables(self.program.slots, self.kernels)

    @cached_property
    def scheme(self) -> SchemeTables | None:
        """The coefficients of an explicit integrator as the driver reads them."""
        return None if self.program.scheme is None else SchemeTables(self.program.scheme)


def _unchecked(text: str) -> str:
    """Generated code without its checks for arguments and results that are not wanted: all of them are."""
    text = re.sub(r"arg\[(\d+)\]\? (arg\[\1\]\[\d+\]) : 0", r"\2", text)
    return re.sub(r"if \(res\[\d+\]!=0\) ", "", text)


STORAGE = ("arguments", "results", "integers", "reals", "bases", "workspace")


SIZES = (
    "coordinates",
    "states",
    "unknowns",
    "multipliers",
    "objectives",
    "parameters",
    "row",
    "coefficients",
    "springs",
    "conditions",
)
FIELDS: list[tuple[type, tuple[str, ...]]] = [
    (np.uintp, ("plans", "scheme")),
    (np.int64, (*SIZES, "rates", "selects", "sharp", *STORAGE)),
    (np.uintp, ("seeds", "guess", "state", "state_sensitivity", "integral", "integral_gradient")),
    (np.uintp, ("values", "nominal", "penalty", "chosen")),
    (np.float64, ("duration", "step", "tolerance")),
    (np.uintp, ("ends", "outputs", "taken")),
    (np.int64, ("last", "stride", "total", "max_iterations")),
    (np.uintp, ("times", "states_stored", "sensitivities", "objectives_stored", "gradients")),
    (np.int64, ("stored",)),
    (np.uintp, ("residuals",)),
    (np.uintp, ("turns", "slope_floors", "slope_scales", "integrand_scales", "velocity_scales")),
    (np.float64, ("mixed", "smallest_size", "time", "proposal", "position_scale", "velocity_scale")),
    (np.int64, ("done", "rejected", "selections", "iterations", "failed_spring", "status")),
]
RECORD = np.dtype([(name, kind) for kind, names in FIELDS for name in names], align=True)
"""`vm_run` of chain.c."""


class _Runs:
    """The arrays of some runs that differ in parameter values only, and the records that point to them."""

    def __init__(self, native: NativeProgram, inputs: Inputs, values: np.ndarray):
        self.inputs = i = inputs
        program, count, schedule = native.program, len(values), inputs.schedule
        p, o, n, rows = program.parameter_count, program.objective_count, program.state_size, schedule.stored_count
        self._differentiated = p is not None
        self.arrays: dict[str, np.ndarray] = {
            "state": np.zeros((count, n)),
            "state_sensitivity": np.zeros((count, n, program.row_length)),
            "integral": np.zeros((count, o)),
            "integral_gradient": np.zeros((count, o, p or 0)),
            "values": np.ascontiguousarray(values, dtype=float),
            "penalty": np.zeros((count, program.penalty.numel_out(0))),
            "chosen": np.zeros((count, program.coordinates)),
            "times": np.zeros((count, rows)),
            "states_stored": np.zeros((count, rows, n)),
            "objectives_stored": np.zeros((count, rows, o)),
            "sensitivities": np.zeros((count, rows, n, p or 0)),
            "gradients": np.zeros((count, rows, o, p or 0)),
            "residuals": np.zeros((count, 3)),
            "slope_scales": np.zeros((count, 2, 2, p or 0)),
            "velocity_scales": np.zeros((count, program.coordinates)),
            "integrand_scales": np.zeros((count, o)),
        }
        if i.state is not None:
            self.arrays["state"][:] = i.state
        if i.chosen is not None:
            self.arrays["chosen"][:] = i.chosen
        if i.sensitivities is not None:
            self.arrays["state_sensitivity"][:, :, :p] = i.sensitivities
        common = {
            "seeds": seeds(p or 0),
            "guess": i.guess,
            "nominal": i.nominal,
            "outputs": schedule.outputs,
            "ends": schedule.ends,
            "turns": np.zeros(program.coordinates) if i.sizes is None else i.sizes.turns,
            "slope_floors": i.slope_floors,
        }
        self._common = {name: np.ascontiguousarray(x, dtype=float) for name, x in common.items() if x is not None}
        self._taken = np.zeros(1)
        self.records = np.zeros(count, dtype=RECORD)
        for name, array in self.arrays.items():
            self.records[name] = array.ctypes.data + np.arange(count) * array.strides[0]
        for name, array in self._common.items():
            self.records[name] = array.ctypes.data
        settings = {
            "duration": schedule.duration,
            "step": schedule.step,
            "tolerance": schedule.tolerance,
            "mixed": float(i.sizes is not None),
            "smallest_size": 0.0 if i.sizes is None else i.sizes.length,
            "stride": schedule.every,
            "total": schedule.steps,
            "max_iterations": i.max_iterations,
            "selections": int(i.chosen is not None),
            "plans": native.plans.address,
            "scheme": native.scheme.address if native.scheme else 0,
        }
        for name, value in {**native.sizes, **settings}.items():
            self.records[name] = value

    @property
    def finished(self) -> bool:
        """Whether a single run has come to its end."""
        r, schedule = self.records, self.inputs.schedule
        return bool(r["done"][0] >= schedule.steps if schedule.steps else r["time"][0] >= schedule.duration)

    def make_room(self, steps: int) -> int:
        """Let a single run note the ends of so many steps, where it chooses them."""
        if self.inputs.schedule.tolerance:
            self._taken = np.concatenate([self._taken, np.zeros(max(0, steps + 1 - self._taken.size))])
            self.records["taken"] = self._taken.ctypes.data
        return steps

    @property
    def good(self) -> np.ndarray:
        """Which of them are done, with finite objectives and gradients."""
        done = self.records["status"] == DONE
        for name in ("objectives_stored", "gradients"):
            done &= np.isfinite(self.arrays[name]).reshape(len(done), -1).all(axis=1)
        return done

    def trajectory(self, k: int) -> Trajectory:
        """What one of them yields."""
        a, r = self.arrays, self.records[k]
        slopes = (a["sensitivities"][k], a["gradients"][k]) if self._differentiated else (None, None)
        ends = self._taken[: int(r["done"]) + 1] if r["taken"] else self.inputs.schedule.known_ends
        counts = int(r["rejected"]), int(r["selections"])
        stored = a["times"][k], a["states_stored"][k], a["objectives_stored"][k]
        return Trajectory(*stored, a["residuals"][k], int(r["iterations"]), ends, *counts, None, *slopes)

    def failure(self, reason: str) -> StepFailure:
        """Why a single run failed."""
        r, schedule = self.records[0], self.inputs.schedule
        step, begin = min(int(r["done"]) + 1, schedule.steps or int(r["done"]) + 1), float(r["time"])
        planned = float(schedule.known_ends[step]) if schedule.steps else begin + float(r["proposal"])
        end = begin if reason == SINGULAR else planned  # such a step has come to its end
        state, penalty = self.arrays["state"][0], self.arrays["penalty"][0]
        return StepFailure(step, end, end - begin, state, penalty, reason, int(r["failed_spring"]))
