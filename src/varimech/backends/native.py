"""The native backend: generated C for the functions of a step, and a small fixed driver (driver.c) that loops over them.

One library a program, with step size, number of steps, stride, parameters and start as run-time arguments: a longer run or another value
never compiles again. Calls go through ctypes, which frees the interpreter's lock, so threads scale.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from .compiler import build_library, cached_library
from .program import NO_CONVERGENCE, NOT_FINITE, OVERWOUND, Inputs, Program, StartFailure, StepFailure, Store, Trajectory

DONE, NO_MEMORY, NO_START = 0, 3, 4
REASONS = {1: NO_CONVERGENCE, 2: NOT_FINITE, 5: OVERWOUND}
SLICE_SECONDS = 0.1
"""Steps are done in slices of about this time, so that progress can be shown and Ctrl-C works."""


class NativeProgram:
    """A program with its C source; the library is built, or found in the cache, when first used. Safe to use from many threads."""

    def __init__(self, program: Program):
        self.program = program

    @cached_property
    def source(self) -> str:
        """The whole C text: sizes, generated functions, driver."""
        functions = self.program.functions
        generator = ca.CodeGenerator("program", {"with_header": False, "casadi_int": "long long int"})
        for function in functions:
            generator.add(function)
        sizes = "\n".join(f"#define VM_{name} {value}" for name, value in self._sizes().items())
        export = "#ifdef _WIN32\n#define VM_EXPORT __declspec(dllexport)\n#else\n#define VM_EXPORT\n#endif"
        driver = Path(__file__).with_name("driver.c").read_text(encoding="utf-8")
        return "\n".join([generator.dump(), sizes, export, driver])

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

    def run(self, inputs: Inputs, progress: Callable[[int], None] | None = None) -> Trajectory:
        """Carry out the program; `progress` is told the number of steps done, now and then.

        Raises:
            StartFailure: if no start is found from the guess.
            StepFailure: if a step fails.
        """
        call = self._call
        state = _Run(self.program, inputs)
        r, done, size = state.record, 0, 64
        while done < inputs.steps:
            r.first, r.last = done, min(inputs.steps, done + size)
            began = time.perf_counter()
            status = call(ctypes.byref(r))
            if status == NO_MEMORY:
                raise MemoryError("not enough memory for the working storage of a run")
            if status == NO_START:
                raise StartFailure
            if status != DONE:
                raise state.failure(REASONS[status])
            done = r.last
            seconds = max(1e-6, time.perf_counter() - began)
            size = max(1, int(size * min(100.0, SLICE_SECONDS / seconds)))
            if progress is not None:
                progress(done)
        return state.trajectory()

    @cached_property
    def _call(self) -> Callable[..., int]:
        library = ctypes.CDLL(str(build_library(self.source)))
        library.vm_carry_out.argtypes = [ctypes.POINTER(_Record)]
        library.vm_carry_out.restype = ctypes.c_int
        call: Callable[..., int] = library.vm_carry_out
        return call

    def _sizes(self) -> dict[str, int]:
        p, functions = self.program, self.program.functions
        chains = p.chains
        return {
            "START": int(p.start is not None),
            "G": p.twist.numel_out(0),
            "X": p.state_size,
            "U": max(c.iterate.numel_out(0) for c in chains),
            "Y": max(c.iterate.numel_out(1) for c in chains),
            "O": p.objective_count,
            "P": p.parameter_count or 0,
            "ARG": max(f.sz_arg() for f in functions),
            "RES": max(f.sz_res() for f in functions),
            "IW": max(f.sz_iw() for f in functions),
            "RW": max(f.sz_w() for f in functions),
        }


class _Record(ctypes.Structure):
    """`vm_run` of driver.c."""

    _fields_ = [
        *[
            (name, ctypes.c_void_p)
            for name in ("guess", "state", "state_sensitivity", "integral", "integral_gradient", "parameters", "penalty")
        ],
        ("step", ctypes.c_double),
        *[(name, ctypes.c_longlong) for name in ("first", "last", "stride", "total", "max_iterations")],
        *[(name, ctypes.c_void_p) for name in ("times", "states", "sensitivities", "objectives", "gradients")],
        ("row", ctypes.c_longlong),
        ("residuals", ctypes.c_void_p),
        ("iterations", ctypes.c_longlong),
        ("failed_step", ctypes.c_longlong),
        ("failed_spring", ctypes.c_longlong),
    ]


class _Run:
    """The arrays of one run and the record that points to them."""

    def __init__(self, program: Program, inputs: Inputs):
        self.inputs = inputs
        p, o, n = program.parameter_count or 0, program.objective_count, program.state_size
        self.store = s = Store(inputs, program)
        S = np.zeros((n, p)) if inputs.sensitivities is None else inputs.sensitivities
        self.arrays: dict[str, Any] = {
            "state": np.zeros(n) if inputs.state is None else inputs.state.astype(float).copy(),
            "state_sensitivity": S.ravel(order="F").copy(),
            "integral": np.zeros(o),
            "integral_gradient": np.zeros(o * p),
            "parameters": inputs.parameters.astype(float).copy(),
            "penalty": np.zeros(program.penalty.numel_out(0)),
            "times": s.time,
            "states": s.states,
            "objectives": s.objectives,
            "sensitivities": np.zeros((s.time.size, p, n)),
            "gradients": np.zeros((s.time.size, p, o)),
            "residuals": np.zeros(3),
        }
        if inputs.guess is not None:
            self.arrays["guess"] = inputs.guess.astype(float).copy()
        self.record = _Record(
            **{name: array.ctypes.data for name, array in self.arrays.items()},
            step=inputs.step,
            stride=inputs.stride,
            total=inputs.steps,
            max_iterations=inputs.max_iterations,
        )

    def trajectory(self) -> Trajectory:
        if self.store.sensitivities is not None and self.store.gradients is not None:
            self.store.sensitivities = self.arrays["sensitivities"].transpose(0, 2, 1)
            self.store.gradients = self.arrays["gradients"].transpose(0, 2, 1)
        return self.store.trajectory(self.arrays["residuals"], int(self.record.iterations))

    def failure(self, reason: str) -> StepFailure:
        step, which = int(self.record.failed_step), int(self.record.failed_spring)
        return StepFailure(step, step * self.inputs.step, self.arrays["state"], self.arrays["penalty"], reason, which)
