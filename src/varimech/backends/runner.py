"""Choosing how a program is carried out.

    auto         interpreted until compiling would have paid, native from then on (and at once where the cache has the library)
    interpreted  by CasADi's virtual machine; needs nothing
    native       compiled; an error if there is no compiler

Both give the same numbers to the last bit, so the choice is one of time only.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from functools import cached_property

from ..core.errors import VarimechError
from ..core.progress import ProgressCallback
from ..stages.plan import Plan
from .compiler import NO_COMPILER, BuildError, find_compiler
from .inputs import Inputs
from .interpreted import OutOfTime, run_interpreted
from .native import NativeProgram
from .program import Function, Program
from .trajectory import BrokenOff, Trajectory

SECONDS_PER_INSTRUCTION = 12e-9
"""Of the virtual machine, measured."""
COMPILE_SECONDS, COMPILE_SECONDS_PER_INSTRUCTION, COMPILE_SECONDS_PER_MAP = 0.2, 2.5e-4, 1e-2
"""Of gcc -O2 on generated code, measured."""

Timed = tuple[Trajectory, float]
"""What a run yields, and the seconds it took."""

_log = logging.getLogger("varimech")
_explained = False


class Runner:
    """Carries out one program, any number of times; remembers what interpreting it has
    cost so far.
    """

    def __init__(self, program: Program):
        self.program = program
        self.native = NativeProgram(program)
        self._interpreted_seconds = 0.0

    def prepare(
        self, inputs: Inputs, backend: str, *, runs: int = 1
    ) -> Callable[[ProgressCallback | None], Timed]:
        """Choose a backend for so many such runs and build what it needs; the result carries out
        one of them.

        Raises:
            VarimechError: if the backend cannot be had.
        """
        if backend == "native" or (
            backend == "auto" and self._compiling_pays(inputs.schedule.estimated_steps * runs)
        ):
            try:
                self.native.build()
            except BuildError as error:
                if backend == "native":
                    raise VarimechError(f"backend='native' cannot be had: {error}") from None
                _explain_once(str(error))
            else:
                return lambda progress: timed(lambda: self.native.run(inputs, progress))
        if backend == "auto" and inputs.schedule.tolerance and find_compiler() is not None:
            return lambda progress: self._interpret_or_compile(inputs, progress)
        return lambda progress: self._interpret(inputs, progress)

    def compiled_for(self, inputs: Inputs, backend: str, *, runs: int) -> bool:
        """Whether so many such runs are carried out compiled; then they can be."""
        if backend == "interpreted" or not (
            backend == "native" or self._compiling_pays(inputs.schedule.estimated_steps * runs)
        ):
            return False
        try:
            self.native.build()
        except BuildError:
            return False  # `prepare` says why
        return True

    def _interpret_or_compile(self, inputs: Inputs, progress: ProgressCallback | None) -> Timed:
        """Interpret, unless there are so many steps that compiling pays, which shows only on the
        way.
        """
        try:
            return self._interpret(inputs, progress, self._compile_seconds)
        except OutOfTime:
            try:
                self.native.build()
            except BuildError:
                return self._interpret(inputs, progress)
            return timed(lambda: self.native.run(inputs, progress))

    def _interpret(
        self, inputs: Inputs, progress: ProgressCallback | None, limit: float = math.inf
    ) -> Timed:
        began = (
            time.thread_time()
        )  # threads that interpret wait for each other, and compiling is not the faster for it
        try:
            return timed(lambda: run_interpreted(self.program, inputs, progress, limit))
        finally:
            self._interpreted_seconds += time.thread_time() - began

    @cached_property
    def _compile_seconds(self) -> float:
        return sum(map(_compile_seconds, self.program.functions), COMPILE_SECONDS)

    def _compiling_pays(self, steps: int) -> bool:
        if self.native.built:
            return True
        instructions = sum(f.n_instructions() for f in self.program.functions)
        stages = len(self.program.scheme.b) if self.program.scheme else 1
        ahead = steps * stages * instructions * SECONDS_PER_INSTRUCTION
        worth = self._interpreted_seconds + ahead > self._compile_seconds
        if worth and find_compiler() is None:
            _explain_once(NO_COMPILER)
            return False
        return worth


def _compile_seconds(function: Function) -> float:
    if not isinstance(function, Plan):
        return function.n_instructions() * COMPILE_SECONDS_PER_INSTRUCTION
    kernels = sum(m.kernel.n_instructions() for m in function.maps)
    return kernels * COMPILE_SECONDS_PER_INSTRUCTION + len(function.maps) * COMPILE_SECONDS_PER_MAP


def _explain_once(reason: str) -> None:
    """Why runs are interpreted that would be worth compiling."""
    global _explained
    if not _explained:
        _explained = True
        _log.warning(
            "varimech: interpreting, which is some 25 times slower than compiled code: %s",
            reason.splitlines()[0],
        )


def timed(run: Callable[[], Trajectory]) -> Timed:
    """What a run yields, and how long it takes."""
    began = time.perf_counter()
    try:
        trajectory = run()
    except BrokenOff as stopped:
        stopped.seconds = time.perf_counter() - began
        raise
    return trajectory, time.perf_counter() - began
