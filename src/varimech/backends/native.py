"""The native backend: generated C for the functions of a step, and a small fixed driver (driver.c)
that loops over them.

One library a program, with step size, number of steps, stride, parameters and start as run-time
arguments: a longer run or another value never compiles again. Calls go through ctypes, which frees
the interpreter's lock, so threads scale.
"""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import casadi as ca

from ..core.progress import ProgressCallback
from ..stages.plan import Plan
from .batch import DONE
from .columns import column_source
from .compiler import cached_library, load_library
from .constants import definitions
from .failures import (
    NO_CONVERGENCE,
    NOT_FINITE,
    SINGULAR,
    STALLED,
    UNDERFLOW,
    Amplified,
    StartFailure,
)
from .inputs import Inputs
from .native_run import NativeRun
from .plan_tables import Kernels, PlanTables
from .program import Program
from .scheme_tables import SchemeTables
from .slices import next_slice
from .tape import Tape
from .trajectory import Trajectory, broken_off

NO_MEMORY, NOT_ASSEMBLED, AMPLIFIED = 3, 4, 7
REASONS = {1: NO_CONVERGENCE, 2: NOT_FINITE, 5: UNDERFLOW, 6: SINGULAR, 8: STALLED}
DRIVER = ("newton.c", "chain.c", "selection.c", "explicit.c", "adjoint.c", "driver.c", "samples.c")
"""The same text for the processor, where host.c follows, and for cards."""


class NativeProgram:
    """A program with its C source; the library is built, or found in the cache, when first used.
    Safe to use from many threads.
    """

    def __init__(self, program: Program):
        self.program = program

    @cached_property
    def source(self) -> str:
        """The whole C text: generated functions and kernels, and what carries them out."""
        return "\n".join(
            [
                self.functions_source,
                definitions(),
                *map(driver_text, ("scheme.c", *DRIVER, "host.c")),
            ]
        )

    @cached_property
    def functions_source(self) -> str:
        """C of all functions, and lists of them."""
        generator = ca.CodeGenerator(
            "program", {"with_header": False, "casadi_int": "long long int"}
        )
        names, columns = list[str](), self._columns
        for function in self.program.slots:
            if not isinstance(function, ca.Function) or not any(
                function.numel_out(k) for k in range(function.n_out())
            ):
                names.append("")  # a plan, or never called
                continue
            if function.name() not in columns:
                generator.add(function)
            names.append(function.name())
        for kernel in self.kernels.functions:
            generator.add(kernel)
        maps = [f"map{k}" for k in range(len(self.kernels.loops))] or ["0"]
        p = self.program
        iterated = [c is not None and c.iterate is not None for c in (p.step, p.start, p.rates)]
        calls = "".join(
            f"    case {k}: {name}(arg, res, iw, w, 0); break;\n"
            for k, name in enumerate(names)
            if name
        )
        lists = [
            f"static int vm_iterated(int chain) {{ return {_bits(iterated)} >> chain & 1; }}",
            f"static int vm_generated(int function) {{ return {_bits(names)} >> function & 1; }}",
            (
                "static void vm_call_generated(int function, const double **arg, double **res,"
                f" long long *iw, double *w) {{\n  switch (function) {{\n{calls}  }}\n}}"
            ),
            f"static const vm_map vm_maps[] = {{{', '.join(maps)}}};",
        ]
        # what CasADi exports beside the functions would only cost the compiler time
        symbols = "#define CASADI_SYMBOL_EXPORT static"
        generated = _unchecked(generator.dump())
        return "\n".join(
            [
                symbols,
                generated,
                driver_text("plan.c"),
                *self.kernels.loops,
                *columns.values(),
                *lists,
            ]
        )

    @property
    def _columns(self) -> dict[str, str]:
        """C of the functions that are carried out in vectors, by name."""
        p = self.program
        tangents = [(c.tangent, p.direction_count or 0) for c in p.chains]
        pullbacks = [(c.pullback, p.objective_count) for c in p.chains]
        return {
            f.name(): column_source(f, n, 1)
            for f, n in (*tangents, *pullbacks)
            if isinstance(f, ca.Function)
        }

    @cached_property
    def kernels(self) -> Kernels:
        """Kernels of all plans, equal ones once."""
        return Kernels([k for f in self.program.functions if isinstance(f, Plan) for k in f.maps])

    @property
    def built(self) -> bool:
        """Whether running it needs no compiler any more."""
        return "library" in self.__dict__ or cached_library(self.source) is not None

    def build(self) -> None:
        """Compile it, or find it in the cache.

        Raises:
            BuildError: if there is no compiler, or it fails.
        """
        _ = self.library

    def run(self, inputs: Inputs, progress: ProgressCallback | None = None) -> Trajectory:
        """Carry out the program; `progress` is told the share of the time that is done, now and
        then.

        Raises:
            StartFailure: if no start is found from the guess.
            StepFailure: if a step fails.
            Amplified: if a sharp program comes near a singular position.
            BrokenOff: on Ctrl-C, with what is stored, unless there is a sweep backwards.
        """
        run = NativeRun(self, inputs)
        return (
            Tape(self, run).execute(progress)
            if self.program.adjoint
            else self._forward(run, progress)
        )

    def _forward(self, run: NativeRun, progress: ProgressCallback | None) -> Trajectory:
        size = 64
        try:
            while not run.finished:
                done = int(run.record["done"])
                run.allocate(done + size)
                began = time.perf_counter()
                self.advance(run, done + size)
                size = next_slice(size, time.perf_counter() - began)
                if progress is not None:
                    progress(run.share_done)
        except KeyboardInterrupt:  # between two slices
            raise broken_off(run.trajectory, int(run.record["stored"])) from None
        return run.trajectory

    def advance(self, run: NativeRun, last: int) -> None:
        """Carry out a run up to a step."""
        run.record["last"] = last
        self.library.vm_run_forward(run.record.ctypes.data)
        self._check(run)

    def go_back(self, run: NativeRun) -> None:
        """Sweep back over the recorded steps of a run."""
        self.library.vm_run_backward(run.record.ctypes.data)
        self._check(run)

    def _check(self, run: NativeRun) -> None:
        status = int(run.record["status"])
        if status == NO_MEMORY:
            raise MemoryError("not enough memory for the working storage of a run")
        if status == NOT_ASSEMBLED:
            raise StartFailure
        if status == AMPLIFIED:
            raise Amplified
        if status != DONE:
            raise run.failure(REASONS[status])

    @cached_property
    def library(self) -> ctypes.CDLL:
        """The compiled program."""
        library = load_library(self.source)
        library.vm_run_forward.argtypes = library.vm_run_backward.argtypes = [ctypes.c_void_p]
        library.vm_sample_all.argtypes = [ctypes.c_void_p, ctypes.c_longlong]
        library.vm_run_forward.restype = library.vm_run_backward.restype = (
            library.vm_sample_all.restype
        ) = None
        return library

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Sizes of the arrays of a run, and of its working storage."""
        p, chains = self.program, self.program.chains
        generated = [
            f for f in (*p.functions, *self.kernels.functions) if isinstance(f, ca.Function)
        ]
        plans = [f for f in p.functions if isinstance(f, Plan)]
        return {
            "coordinates": p.coordinates,
            "states": p.state_size,
            "unknowns": p.solved_sizes[0],
            "multipliers": p.solved_sizes[1],
            "objectives": p.objective_count,
            "parameters": p.direction_count or 0,
            "row": p.row_length,
            "coefficients": max(
                f.numel_in(0) if isinstance(f, ca.Function) else 0
                for c in chains
                for f in (c.tangent, c.pullback)
            ),
            "conditions": p.jacobian.size1_out(0) if p.jacobian else 0,
            "rates": int(p.rates is not None),
            "selects": int(p.jacobian is not None),
            "sharp": int(p.sharp),
            "columns": p.costate_row,
            "pulled": p.pulled,
            "measured": p.objectives.integrands.numel_in(0),
            "record_size": p.record_size if p.adjoint else 0,
            "numbers": p.parameter_count,
            "penalties": p.penalty.numel_out(0),
            "stages": len(p.scheme.b) + 1 + len(p.scheme.extra) if p.scheme else 2,
            "arguments": max([f.sz_arg() for f in generated] + [len(f.arguments) for f in plans]),
            "results": max([f.sz_res() for f in generated] + [len(f.results) for f in plans]),
            "integers": max(f.sz_iw() for f in generated),
            "reals": max(f.sz_w() for f in generated),
            "bases": max((2 + len(f.arguments) + len(f.results) for f in plans), default=0),
            "workspace": max((f.workspace for f in plans), default=0),
        }

    @property
    def tables(self) -> dict[str, int]:
        """Where the driver finds plans and coefficients."""
        return {"plans": self.plans.address, "scheme": self.scheme.address if self.scheme else 0}

    @cached_property
    def plans(self) -> PlanTables:
        """The plans as the driver reads them."""
        return PlanTables(self.program.slots, self.kernels)

    @cached_property
    def scheme(self) -> SchemeTables | None:
        """The coefficients of an explicit integrator as the driver reads them."""
        return None if self.program.scheme is None else SchemeTables(self.program.scheme)


def driver_text(name: str) -> str:
    """One of the fixed files of the driver."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _bits(which: Sequence[object]) -> str:
    """A number whose bits tell which of them are something."""
    return f"{sum(1 << k for k, something in enumerate(which) if something)}LL"


def _unchecked(text: str) -> str:
    """Generated code without its checks for arguments and results that are not wanted: all of them
    are.
    """
    text = re.sub(r"arg\[(\d+)\]\? (arg\[\1\]\[\d+\]) : 0", r"\2", text)
    return re.sub(r"if \(res\[\d+\]!=0\) ", "", text)
