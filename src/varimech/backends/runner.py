"""Selection of the backend that executes a program.

    auto         the machine, which interprets programs in C, at once; code that is compiled in the
                 background if that pays, as soon as it is loaded; without a compiler as
                 "interpreted"
    interpreted  CasADi's virtual machine; needs nothing
    native       compiled code; an error if there is no compiler

All yield the same numbers to the last bit, so the choice affects only the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property

import casadi as ca

from ..core.errors import VarimechError
from ..core.progress import ProgressCallback
from ..stages.plan import Plan
from .c_pieces import LONGEST
from .compiler import BuildError, explain_once
from .inputs import Inputs
from .interpreted import run_interpreted
from .machine import machine
from .native import NativeProgram
from .program import Function, Program
from .trajectory import BrokenOff, Trajectory

SECONDS_PER_INSTRUCTION = 2e-9
"""Time of the machine for an instruction (s), measured on 4 to 16 columns of derivatives and on
none.
"""
LANE_SPEED, PLAN_LANE_SPEED = 10, 3
"""Speed of interpreting vectors of samples relative to single runs: 4,096 runs of the five-bar take
1.25 instead of 13.4 s; with plans, 2 (gradients, whose columns single runs have in vectors) to 4.6
times.
"""
COMPILE_SECONDS, COMPILE_SECONDS_PER_INSTRUCTION, COMPILE_SECONDS_PER_MAP = 0.2, 2.5e-4, 1e-2
"""Compile times of gcc -O2 on generated code (s), measured."""
COMPILE_SECONDS_IN_PIECES = 1e-4
"""Compile time of gcc -O1 for an instruction of a function in pieces (s), measured."""
SEARCH_SECONDS = 0.01
"""Time of searching the cache and loading a library (s), roughly."""

PATIENCE = 0.05
"""Time of interpreting (s) after which code is built in the background, whatever the build time:
such runs are long enough to notice, and a compiler at low priority disturbs nobody.
"""

Timed = tuple[Trajectory, float]
"""Result of a run, and the time it took (s)."""


class Runner:
    """Executes one program, any number of times, and keeps the time spent on interpreting it so
    far.
    """

    def __init__(self, program: Program):
        self.program = program
        self.native = NativeProgram(program)
        self._interpreted_seconds = 0.0

    def prepare(
        self, inputs: Inputs, backend: str, *, runs: int = 1
    ) -> Callable[[ProgressCallback | None], Timed]:
        """Choose a backend for a number of such runs and build the code it needs; the result
        executes one of them.

        Raises:
            VarimechError: if the backend is not available.
        """
        if backend == "native":
            try:
                self.native.build()
            except BuildError as error:
                raise VarimechError(f"backend 'native' is not available: {error}") from None
        elif backend != "auto" or not self._machine_is_ready():
            return lambda progress: self._interpret(inputs, progress)
        else:
            self._consider_compiling(inputs.schedule.estimated_steps * runs)
        return lambda progress: self._execute(inputs, progress)

    def compiled_for(self, inputs: Inputs, backend: str, *, runs: int) -> bool:
        """Return whether native code executes a number of such runs, after making that possible."""
        if backend == "interpreted":
            return False
        steps = inputs.schedule.estimated_steps * runs
        if backend == "auto":
            if not self._machine_is_ready():
                return False
            if self.native.has_lanes:
                self._consider_compiling_lanes(steps)
            else:
                self._consider_compiling(steps)
            return True
        try:
            if (
                not self.native.has_lanes
                or self._lane_interpretation_seconds(steps) > self._compile_seconds
            ):
                self.native.build()
            if self.native.has_lanes:
                self.native.build_lanes()
        except BuildError:
            return False  # `prepare` reports why
        return True

    def interpreted_vectors(self, seconds: float) -> None:
        """Add the time that interpreting vectors of samples took; beyond `PATIENCE`, code is built
        for the next ones.
        """
        self._interpreted_seconds += seconds
        if self._interpreted_seconds > PATIENCE:
            self.native.build_lanes_in_background(self._compile_seconds)
            self.native.build_in_background(self._compile_seconds)

    def _machine_is_ready(self) -> bool:
        """Return whether the machine, or the program's own library, can execute the program."""
        if self.native.compiled:
            return True
        try:
            machine()
        except BuildError as error:
            explain_once("interpreting, which is some 25 times slower than compiled code", error)
            return False
        return self.native.interpretable

    def _consider_compiling(self, steps: int) -> None:
        """Load compiled code from the cache, or begin to build it, if that pays."""
        if self.native.compiled:
            return
        spent = self._interpreted_seconds + self._interpretation_seconds(steps)
        if spent > self._compile_seconds:
            self.native.build_in_background(self._compile_seconds)
        elif spent > SEARCH_SECONDS:
            self.native.load()

    def _consider_compiling_lanes(self, steps: int) -> None:
        """Load or begin to build functions of vectors of samples, if that pays. Their events,
        outputs and initial states are executed by code of single runs: without it, they take a
        sixth more time, with events a third.
        """
        ahead = self._lane_interpretation_seconds(steps)
        if ahead > self._compile_seconds:
            self.native.build_lanes_in_background(self._compile_seconds)
            self.native.build_in_background(self._compile_seconds)
        elif ahead > SEARCH_SECONDS:
            self.native.load_lanes()

    def _lane_interpretation_seconds(self, steps: int) -> float:
        """Estimate the time of interpreting a number of steps in vectors (s)."""
        speed = PLAN_LANE_SPEED if self.native.kernels.loops else LANE_SPEED
        return self._interpretation_seconds(steps) / speed

    def _interpretation_seconds(self, steps: int) -> float:
        """Estimate the time of interpreting a number of steps (s)."""
        instructions = sum(f.n_instructions() for f in self.program.functions)
        stages = len(self.program.scheme.b) if self.program.scheme else 1
        return steps * stages * instructions * SECONDS_PER_INSTRUCTION

    def _execute(self, inputs: Inputs, progress: ProgressCallback | None) -> Timed:
        compiled = self.native.compiled
        trajectory, seconds = timed(lambda: self.native.run(inputs, progress))
        if not compiled:
            self._interpreted_seconds += seconds
            if self._interpreted_seconds > PATIENCE:
                self.native.build_in_background(self._compile_seconds)
        if (work := self.native.building) is not None:
            trajectory.execution["building"] = {
                "seconds": work.seconds,
                "estimated": work.estimated,
            }
        return trajectory, seconds

    def _interpret(self, inputs: Inputs, progress: ProgressCallback | None) -> Timed:
        return timed(lambda: run_interpreted(self.program, inputs, progress))

    @cached_property
    def _compile_seconds(self) -> float:
        slots, cold = self.program.slots, self.native.cold
        compiled = [f for k, f in enumerate(slots) if f is not None and k not in cold]
        return sum(map(_compile_seconds, compiled), COMPILE_SECONDS)


def _compile_seconds(function: Function) -> float:
    if not isinstance(function, Plan):
        return _seconds_of(function)
    return sum(_seconds_of(m.kernel) + COMPILE_SECONDS_PER_MAP for m in function.maps)


def _seconds_of(function: ca.Function) -> float:
    count = function.n_instructions()
    in_pieces = count > LONGEST
    return count * (COMPILE_SECONDS_IN_PIECES if in_pieces else COMPILE_SECONDS_PER_INSTRUCTION)


def timed(run: Callable[[], Trajectory]) -> Timed:
    """Execute a run and measure its time."""
    began = time.perf_counter()
    try:
        trajectory = run()
    except BrokenOff as stopped:
        stopped.seconds = time.perf_counter() - began
        raise
    return trajectory, time.perf_counter() - began
