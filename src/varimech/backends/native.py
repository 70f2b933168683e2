"""The native backend: a small fixed driver in C (driver.c) that loops over the functions of a step.

The driver's library, the *machine*, is the same for every program and compiled only once. The
functions are generated C, one library for each program, or bytecode, which the machine interprets
some five times slower. Both yield the same bits, and use the same records, so that one can continue
a run of the other. Step size, number of steps, stride, parameters and initial conditions are
run-time arguments: a longer run or another value never compiles again. Calls go through ctypes,
which releases the interpreter's lock, so threads scale.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import re
import time
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

import casadi as ca

from ..core.lazy import lazy
from ..core.progress import ProgressCallback
from ..core.symbols import CSE_LONGEST, for_writing
from ..stages.plan import Plan, lanes
from .background import Work, in_background
from .batch import DONE
from .bytecode import NotInterpretable
from .c_pieces import in_pieces
from .columns import column_source
from .compiler import BuildError, Source, cached_library, explain_once, load_library
from .failures import (
    ENDLESS,
    NO_CONVERGENCE,
    NOT_FINITE,
    OVERLAP,
    SINGULAR,
    STALLED,
    UNDERFLOW,
    UNSETTLED,
    Amplified,
    StartFailure,
)
from .inputs import Inputs
from .lanes import address_of, bits, lane_slots, lane_source, suits
from .machine import driver_text, lane_machine, machine, warm_up
from .native_run import NativeRun
from .plan_tables import Bytecode, Kernels, PlanTables, yields_results
from .program import Program
from .scheme_tables import SchemeTables
from .slices import next_slice
from .tape import Tape
from .trajectory import Trajectory, broken_off

NO_MEMORY, NOT_ASSEMBLED, AMPLIFIED = 3, 4, 7
REASONS = {
    **{1: NO_CONVERGENCE, 2: NOT_FINITE, 5: UNDERFLOW, 6: SINGULAR, 8: STALLED},
    **{10: OVERLAP, 11: UNSETTLED, 12: ENDLESS},
}


NOT_COMPILED: Mapping[str, int] = {}
"""Entry points of a program without a library of its own."""
FIRST_SLICE = 64
"""Steps after which a run first checks for Ctrl-C and for compiled code."""
ONCE, COLD = (*range(6, 12), *range(24, 31)), 5000
"""Slots of a program's functions that a run calls once, or once for each event (see
`Program.slots`), and the number of their instructions from which on they stay bytecode: compiling
them takes seconds and saves some 10 µs for each run.
"""
STEP, MOST = range(6), 350_000
"""Slots of the functions that complete a step, and the number of instructions up to which they are
compiled together with those that a step calls at all its stages: GCC takes some 3.5 kB for each
instruction.
"""
CALL_GENERATED = """static void vm_call_generated(
    int function, const double **arg, double **res, long long *iw, double *w) {{
  switch (function) {{
{calls}  }}
}}"""


class NativeProgram:
    """A program with its C source; its library is built, or loaded from the cache, on first use.
    Safe to use from many threads.
    """

    def __init__(self, program: Program):
        self.program = program
        self._plans: list[PlanTables] = []
        self._work: Work | None = None
        self._lane_work: Work | None = None

    @lazy
    def source(self) -> str:
        """The whole C text: generated functions and kernels, which the machine calls."""
        return "\n".join([self.functions_source(self.cold, split=True), driver_text("library.c")])

    @lazy
    def cold(self) -> frozenset[int]:
        """Slots of functions that stay bytecode because a run, or a step, calls them once: assembly
        and penalty, if they are large; the functions that complete a step, if all functions
        together would take the compiler too much memory.
        """
        slots = self.program.slots
        counts = {k: f.n_instructions() for k, f in enumerate(slots) if yields_results(f)}
        cold = frozenset(k for k in ONCE if k in counts)
        if sum(counts[k] for k in cold) <= COLD or not self.interpretable:
            cold = frozenset()
        stages = self.program.scheme is not None and self.program.rates is not None
        step = frozenset(k for k in STEP if k in counts and stages)
        if sum(counts.values()) - sum(counts[k] for k in cold) > MOST and self.interpretable:
            cold |= step
        return cold

    def functions_source(
        self,
        without: frozenset[int] = frozenset(),
        *,
        split: bool = False,
        width: int | None = None,
    ) -> str:
        """Return the C text of functions, and of lists of them.

        Args:
            without: slots of functions that are omitted.
            split: whether large functions are written in pieces.
            width: number of columns in a vector (see `column_source`).
        """
        generator = ca.CodeGenerator(
            "program", {"with_header": False, "casadi_int": "long long int"}
        )
        names, pieces = list[str](), list[str]()
        for k, function in enumerate(self.program.slots):
            if not yields_results(function) or k in without:
                names.append("")  # a plan, bytecode, or never called
                continue
            names.append(name := function.name())
            columns = self._columns.get(name)
            if split and (text := in_pieces(function, columns, 1)) is not None:
                pieces.append(text)
            elif columns is not None:
                pieces.append(column_source(function, columns, 1, width))
            else:
                generator.add(for_writing(function))
        for kernel in self.kernels.of_numbers:
            generator.add(kernel)
        p = self.program
        one_by_one = (p.direction_count or 1) if width else None
        iterated = [c is not None and c.iterate is not None for c in p.all_chains]
        calls = "".join(
            f"    case {k}: {name}(arg, res, iw, w, 0); break;\n"
            for k, name in enumerate(names)
            if name
        )
        lists = [
            f"#define VM_ITERATED {_bits(iterated)}",
            f"#define VM_GENERATED {_bits(names)}",
            f"#define VM_FUNCTIONS {', '.join(name or '0' for name in names)}",
            CALL_GENERATED.format(calls=calls),
            *([] if width else [self.kernels.list_source]),
        ]
        # functions that CasADi exports besides would only cost compile time
        symbols = "#define CASADI_SYMBOL_EXPORT static"
        generated = _unchecked(generator.dump())
        plans = [driver_text("plan.c"), *self.kernels.source(one_by_one)]
        return "\n".join([symbols, generated, *plans, *pieces, *lists])

    @lazy
    def _columns(self) -> dict[str, int]:
        """Number of columns of the functions that are executed in vectors, by name."""
        p = self.program
        tangents = [(c.tangent, p.direction_count or 0) for c in p.chains]
        pullbacks = [(c.pullback, p.objective_count) for c in p.chains]
        return {f.name(): n for f, n in (*tangents, *pullbacks) if isinstance(f, ca.Function)}

    @lazy
    def kernels(self) -> Kernels:
        """Kernels of all plans, equal ones once."""
        return Kernels([k for f in self.program.functions if isinstance(f, Plan) for k in f.maps])

    @property
    def compiled(self) -> bool:
        """Whether its own library is loaded."""
        return "_compiled" in self.__dict__

    def load(self) -> bool:
        """Load its own library if it is in the cache; return whether it is loaded."""
        if not self.compiled and cached_library(self._library_source) is not None:
            _ = self._compiled
        return self.compiled

    def build(self) -> None:
        """Compile its library, or load it from the cache; likewise the machine, which calls it.

        Raises:
            BuildError: if there is no compiler, or it fails.
        """
        warm_up()  # the machine is built beside the library
        _ = self._compiled
        machine(math.inf)

    def build_in_background(self, estimated: float = 0.0) -> None:
        """Build its library while runs continue; they use it as soon as it is loaded.

        Args:
            estimated: estimated build time (s).
        """
        if self._work is None and not self.compiled:
            self._work = in_background(self._build_quietly, estimated)

    def _build_quietly(self) -> None:
        try:
            self.__dict__["_compiled"] = load_library(self._library_source, in_background=True)
        except BuildError as error:
            explain_once("runs continue as bytecode, some 5 times slower than compiled code", error)

    @property
    def building(self) -> Work | None:
        """Its build in the background, while that is in progress."""
        return None if self._work is None or self._work.is_set() else self._work

    @property
    def interpretable(self) -> bool:
        """Whether the machine can interpret it: bytecode.c supports all its operations."""
        try:
            return self._bytecode is not None
        except NotInterpretable:
            return False

    def run(self, inputs: Inputs, progress: ProgressCallback | None = None) -> Trajectory:
        """Execute the program; `progress` receives the completed share of the duration from time to
        time.

        Raises:
            StartFailure: if no initial state is found from the guess.
            StepFailure: if a step fails.
            Amplified: if a sharp program approaches a singular position.
            BrokenOff: on Ctrl-C, with the stored results, unless there is a reverse sweep.
        """
        run = NativeRun(self, inputs)
        return (
            Tape(self, run).execute(progress)
            if self.program.adjoint
            else self._forward(run, progress)
        )

    def _forward(self, run: NativeRun, progress: ProgressCallback | None) -> Trajectory:
        size = FIRST_SLICE
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
        """Execute a run up to a step, by the code that is compiled now."""
        run.record["last"] = last
        run.take_over(self.entry_points)
        run.executed_by["compiled code" if run.entry_points else "bytecode"] = None
        machine().vm_run_forward(run.record.ctypes.data)
        self._check(run)

    def go_back(self, run: NativeRun) -> None:
        """Execute the reverse sweep over the recorded steps of a run."""
        run.take_over(self.entry_points)
        machine().vm_run_backward(run.record.ctypes.data)
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

    @property
    def entry_points(self) -> Mapping[str, int]:
        """Addresses of the functions of its own library; empty while that is not loaded."""
        return self._entry_points if self.compiled else NOT_COMPILED

    @cached_property
    def _entry_points(self) -> Mapping[str, int]:
        functions = ctypes.c_void_p.in_dll(self._compiled, "vm_functions")
        return {
            "functions": ctypes.addressof(functions),
            "execute_plan": address_of(self._compiled.vm_execute_plan),
        }

    @lazy
    def has_lanes(self) -> bool:
        """Whether vectors of samples can execute it (`lanes`)."""
        if not (suits(self.program) and self.interpretable):
            return False
        try:
            lane_machine()
        except BuildError as error:
            explain_once("samples are executed one by one", error)
            return False
        return True

    @property
    def lanes_compiled(self) -> bool:
        """Whether the library of its functions of vectors is loaded."""
        return "_lanes" in self.__dict__

    def load_lanes(self) -> bool:
        """Load its functions of vectors if they are in the cache; return whether they are loaded."""
        if not self.lanes_compiled and cached_library(self._lane_source) is not None:
            self.build_lanes()
        return self.lanes_compiled

    def build_lanes(self) -> None:
        """Compile its functions of vectors, or load them from the cache.

        Raises:
            BuildError: if there is no compiler, or it fails.
        """
        _ = self._lanes

    def build_lanes_in_background(self, estimated: float = 0.0) -> None:
        """Build its functions of vectors while runs continue."""
        if self._lane_work is None and not self.lanes_compiled:
            self._lane_work = in_background(self._build_lanes_quietly, estimated)

    def _build_lanes_quietly(self) -> None:
        try:
            self.__dict__["_lanes"] = load_library(self._lane_source, in_background=True)
        except BuildError as error:
            explain_once("runs continue as bytecode, slower than compiled code", error)

    @cached_property
    def _lanes(self) -> ctypes.CDLL:
        return load_library(self._lane_source)

    @lazy
    def _lane_slots(self) -> list[int]:
        return lane_slots(self.program, self.cold)

    @lazy
    def _lane_source(self) -> Source:
        parts = ("lanes", self._bytecode.identity, repr(self._lane_slots), writers_digest())
        return Source(
            "\0".join(parts),
            lambda: lane_source(self.program, self._lane_slots, self._columns, self.kernels),
        )

    @property
    def lane_tables(self) -> dict[str, int]:
        """Addresses of the code that executes vectors of samples: bytecode, and compiled functions
        if there are any.
        """
        tables = {
            "plans": self._interpretable_plans.address,
            "scheme": self.scheme.address if self.scheme else 0,
            **self.entry_points,
        }
        if self.lanes_compiled:
            address = address_of(self._lanes.vm_lane_functions)
            tables |= {"lane_functions": address, "lane_bits": bits(self._lane_slots)}
            if self.kernels.loops:
                tables["lane_maps"] = address_of(self._lanes.vm_lane_maps)
        return tables

    @property
    def lane_sizes(self) -> dict[str, int]:
        """Sizes of the arrays of runs that vectors of samples execute."""
        places = self._bytecode.places, self._bytecode.lane_places
        return {**self.generated_sizes, "reals": max(self.generated_sizes["reals"], *places)}

    @cached_property
    def _compiled(self) -> ctypes.CDLL:
        return load_library(self._library_source)

    @lazy
    def _library_source(self) -> str | Source:
        """The C text, or its identity where there is bytecode: writing the text takes a second for
        a large program, and the library can be found in the cache without it.
        """
        if not self.interpretable:
            return self.source
        p, versions = self.program, (ca.CasadiMeta.version(), writers_digest())
        iterated = [c is None or c.iterate is None for c in p.all_chains]
        parts = [self._bytecode.identity, repr(sorted(self.cold)), repr(iterated), *versions]
        return Source("\0".join(parts), lambda: self.source)

    @lazy
    def _bytecode(self) -> Bytecode:
        return Bytecode(self.program.slots, self.kernels, self._columns)

    @lazy
    def _simplified(self) -> bool:
        """Whether any function has bytecode without repetitions, which may need more storage."""
        functions = (*self.program.functions, *[m.kernel for m in self.kernels.loops])
        return any(f.n_instructions() > CSE_LONGEST for f in functions)

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the arrays of a run, and of its working storage."""
        if self.compiled and not self.cold and not self._simplified:
            return self.generated_sizes
        return {
            **self.generated_sizes,
            "reals": max(self.generated_sizes["reals"], self._bytecode.places),
        }

    @lazy
    def generated_sizes(self) -> dict[str, int]:
        """Sizes if all functions are generated."""
        p, chains, columns = self.program, self.program.chains, self._columns
        loops = self.kernels.loops
        generated = [
            f for f in (*p.functions, *[m.kernel for m in loops]) if isinstance(f, ca.Function)
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
            "switches": 0 if p.switching is None else p.switching.count,
            "force_switches": 0 if p.switching is None else p.switching.of_forces,
            "units": 0 if p.units is None else p.units.count,
            "modes": 0 if p.units is None else p.units.modes,
            "seed_rows": len(p.seeds) if p.along_time else 0,
            "samples": 0 if p.samples is None else p.samples.count,
            "actions": 0 if p.units is None else len(p.units.actions),
            "passage_size": 0 if p.passage is None else p.passage.size,
            "passage_modes": 0 if p.passage is None else p.passage.modes,
            "mode_place": 0 if p.passage is None else p.passage.mode_place,
            "numbers": p.parameter_count,
            "penalties": p.penalty.numel_out(0),
            "stages": len(p.scheme.b) + 1 + len(p.scheme.extra) if p.scheme else 2,
            "arguments": max([f.sz_arg() for f in generated] + [len(f.arguments) for f in plans]),
            "results": max([f.sz_res() for f in generated] + [len(f.results) for f in plans]),
            "integers": max(f.sz_iw() for f in generated),
            "reals": max(
                *[f.sz_w() * lanes(columns.get(f.name(), 1)) for f in generated],
                *[m.kernel.sz_w() * m.lanes for m in loops],
                0,
            ),
            "bases": max((2 + len(f.arguments) + len(f.results) for f in plans), default=0),
            "workspace": max((f.workspace for f in plans), default=0),
        }

    @property
    def tables(self) -> dict[str, int]:
        """Addresses of plans and coefficients."""
        return {"plans": self.plans.address, "scheme": self.scheme.address if self.scheme else 0}

    @property
    def plans(self) -> PlanTables:
        """The plans, and bytecode if there is no library of its own, as the driver reads them."""
        if not self.compiled or self.cold:
            return self._interpretable_plans
        if not self._plans:
            self._plans.append(PlanTables(self.program.slots, self.kernels, None))
        return self._plans[-1]

    @property
    def _interpretable_plans(self) -> PlanTables:
        tables = self._plans  # all tables are kept: runs may use them
        if not tables or not tables[-1].interpretable:
            tables.append(PlanTables(self.program.slots, self.kernels, self._bytecode))
        return tables[-1]

    @lazy
    def scheme(self) -> SchemeTables | None:
        """The coefficients of an explicit integrator as the driver reads them."""
        return None if self.program.scheme is None else SchemeTables(self.program.scheme)


@cache
def writers_digest() -> str:
    """Return a hash of the files of this package that contain C text or write it."""
    files = sorted(Path(__file__).parent.glob("*.[pc]*"))
    texts = [path.read_bytes() for path in files if path.suffix in (".py", ".c")]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def _bits(which: Sequence[object]) -> str:
    """Return a number with a bit set for each item that is true."""
    return f"{sum(1 << k for k, item in enumerate(which) if item)}LL"


def _unchecked(text: str) -> str:
    """Remove checks for omitted arguments and results from generated code: none are omitted."""
    text = re.sub(r"arg\[(\d+)\]\? (arg\[\1\]\[\d+\]) : 0", r"\2", text)
    return re.sub(r"if \(res\[\d+\]!=0\) ", "", text)
