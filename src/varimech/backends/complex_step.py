"""Derivatives of a run by complex steps: an independent method that shares no derivative code with
the others.

    dψ/dρᵢ = Im ψ(ρ + i δ eᵢ) / δ,     δ = 1e-30 · |ρᵢ|

The whole program is executed in complex numbers: assembly, all iterations and stages, integrals and
final terms. Nothing is subtracted, so δ can be so small that its square vanishes beside 1, and the
result is exact to rounding (W. Squire and G. Trapp, SIAM Review 40 (1998) 110–112).

The instructions of CasADi's functions are data for complex_step.c, which is the same for every
program and therefore compiled only once.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from ..core.errors import ModelError, SimulationError
from ..core.messages import Message
from ..core.progress import ProgressCallback
from .bytecode import NotInterpretable, bytecode_of, operation_definitions, places_of
from .compiler import BuildError, load_library
from .constants import definitions
from .inputs import Inputs
from .program import ChainFunctions, Function, Program
from .scheme_tables import SchemeTables
from .switching import short_step

PERTURBATION = 1e-30
"""δ relative to the parameter."""
EXTRA_ITERATIONS = 2
"""Iterations after the real parts have converged: imaginary parts are one iteration behind, and
matrices may contain a regularisation.
"""
SLICE = 20_000_000
"""Instructions executed in one call, so that progress can be shown and Ctrl-C works."""
REMEDY = Message("use {method}", method="direct")
DONE, NO_MEMORY = 0, 1


class _Code(ctypes.Structure):
    _fields_ = [("code", ctypes.c_void_p), ("count", ctypes.c_longlong)]


class _Chain(ctypes.Structure):
    _fields_ = [("predict", _Code), ("iterate", _Code), ("finish", _Code)]


SIZES = (
    "coordinates",
    "states",
    "unknowns",
    "multipliers",
    "objectives",
    "parameters",
    "penalties",
    "places",
    "passage_size",
    "passage_modes",
    "mode_place",
    "stages",
)


OF_STEPS = ("passages", "passage_rows", "ends", "lengths")


class _Record(ctypes.Structure):
    """`vm_complex_run` of complex_step.c."""

    _fields_ = [
        *[(name, _Chain) for name in ("step", "start", "rates", "passage")],
        *[(name, _Code) for name in ("integrands", "finals")],
        *[(name, ctypes.c_longlong) for name in SIZES],
        *[(name, ctypes.c_void_p) for name in ("a", "b", "c")],
        ("short_step", ctypes.c_double),
        *[(name, ctypes.c_void_p) for name in OF_STEPS],
        *[
            (name, ctypes.c_longlong)
            for name in ("steps", "done", "last", "max_iterations", "extra_iterations")
        ],
        *[
            (name, ctypes.c_void_p)
            for name in ("guess", "penalty", "values", "state", "integral", "outcome")
        ],
    ]


def complex_step(
    program: Program,
    inputs: Inputs,
    indices: list[int],
    name: str,
    progress: ProgressCallback | None = None,
) -> np.ndarray:
    """Compute derivatives (objective, parameter) at the end of a run with given steps, by complex
    steps.

    The program contains no derivatives. Its initial state is assembled from a guess, and its
    functions are unrolled. `name` is the name of the mechanism.

    Raises:
        ModelError: if the program cannot be executed in complex numbers, with the reason.
        SimulationError: if a step does not converge.
    """
    return _ComplexProgram(program, name).derivatives(inputs, indices, progress)


class _ComplexProgram:
    """A program as instructions on complex numbers."""

    def __init__(self, program: Program, name: str):
        self.program, self.name = program, name
        self._arrays: list[np.ndarray] = []
        self._places = 1
        p = program
        if p.jacobian is not None:
            raise refusal(
                name,
                "chooses independent coordinates along the run",
                Message("use {method} or {formulation}", method="direct", formulation="index1"),
            )
        self._record = r = _Record()
        passage = None if p.passage is None else p.passage.chain
        chains = {"step": p.step, "start": p.start, "rates": p.rates, "passage": passage}
        for label, chain in chains.items():
            setattr(r, label, _Chain() if chain is None else self._chain(chain))
        r.integrands, r.finals = (
            self._code(p.objectives.integrands),
            self._code(p.objectives.finals),
        )
        r.coordinates, r.states, r.objectives, r.places = (
            p.coordinates,
            p.state_size,
            p.objective_count,
            self._places,
        )
        (r.unknowns, r.multipliers), r.penalties = p.solved_sizes, p.penalty.numel_out(0)
        if p.passage is not None:
            r.passage_size, r.passage_modes = p.passage.size, p.passage.modes
            r.mode_place = p.passage.mode_place
        if p.scheme is not None:
            tables = SchemeTables(p.scheme)
            r.stages = tables.stages
            r.a, r.b, r.c = self._kept(tables.a), self._kept(tables.b), self._kept(tables.c)
        r.extra_iterations = EXTRA_ITERATIONS
        counts = sum(f.n_instructions() for f in p.functions)
        self._slice = max(1, SLICE // (counts * (r.stages or 4)))

    def derivatives(
        self, inputs: Inputs, indices: list[int], progress: ProgressCallback | None
    ) -> np.ndarray:
        """Compute derivatives at the end of a run with the steps of a schedule."""
        call, r, schedule = _library(self.name), self._record, inputs.schedule
        assert inputs.guess is not None
        ends = np.ascontiguousarray(schedule.known_ends, dtype=float)
        lengths = (
            np.diff(ends) if schedule.ends is not None else np.full(schedule.steps, schedule.step)
        )
        assert isinstance(self.program.penalty, ca.Function)
        anchor = inputs.guess if inputs.anchor is None else inputs.anchor
        penalty = np.array(self.program.penalty(anchor, inputs.nominal, 0.0)).ravel()
        inputs_of_run = {
            "ends": ends,
            "lengths": lengths,
            "guess": inputs.guess,
            "penalty": penalty,
        }
        if schedule.passages is not None:
            inputs_of_run |= {
                "passages": schedule.passages.numbers,
                "passage_rows": schedule.passages.rows,
            }
        own = {name: np.ascontiguousarray(x, dtype=float) for name, x in inputs_of_run.items()}
        own |= {"values": inputs.parameters.astype(complex), "state": np.zeros(r.states, complex)}
        own |= {name: np.zeros(r.objectives, complex) for name in ("integral", "outcome")}
        for name, array in own.items():
            setattr(r, name, array.ctypes.data)
        r.steps, r.parameters, r.max_iterations = (
            lengths.size,
            inputs.parameters.size,
            inputs.max_iterations,
        )
        r.short_step = short_step(schedule)
        columns = []
        for k, index in enumerate(indices):
            δ = PERTURBATION * (abs(inputs.parameters[index]) or 1.0)
            own["values"][:] = inputs.parameters
            own["values"][index] += 1j * δ
            own["integral"][:], r.done = 0, 0
            while r.done < r.steps:
                r.last = r.done + self._slice
                status = call(ctypes.byref(r))
                if status == NO_MEMORY:
                    raise MemoryError("not enough memory for the working storage of a run")
                if status != DONE:
                    raise self._failure(int(r.done) + 1, float(ends[r.done + 1]))
                if progress is not None:
                    progress((k + r.done / r.steps) / len(indices))
            columns.append(own["outcome"].imag / δ)
        return np.stack(columns, axis=-1)

    def _chain(self, chain: ChainFunctions) -> _Chain:
        functions = (chain.predict, chain.iterate, chain.finish)
        return _Chain(*[_Code() if f is None else self._code(f) for f in functions])

    def _code(self, function: Function) -> _Code:
        assert isinstance(function, ca.Function) and function.is_a("SXFunction")
        try:
            code = bytecode_of(function, "complex_step.c")
        except NotInterpretable as unknown:
            text = f"has an operation ({unknown}) that complex numbers are not provided for"
            raise refusal(self.name, text) from None
        self._places = max(self._places, places_of(code))
        return _Code(self._kept(code), code.size)

    def _kept(self, array: np.ndarray) -> int:
        """Keep an array and return its address."""
        self._arrays.append(array)
        return array.ctypes.data

    def _failure(self, step: int, time: float) -> SimulationError:
        text = f"{self.name!r}: step {step}, t = {time:.6g} s: no convergence in complex numbers"
        return SimulationError(text, time=time, step=step, worst="complex step", remedy=REMEDY)


def refusal(name: str, reason: str, remedy: Message = REMEDY) -> ModelError:
    """Create the error for a mechanism that complex steps do not support, with an alternative."""
    return ModelError(
        f"mechanism {name!r} {reason}, which method 'complex-step' does not take", remedy=remedy
    )


@cache
def _call() -> Callable[[Any], int]:
    files = (Path(__file__).with_name(name) for name in ("newton.c", "complex_step.c"))
    texts = [file.read_text(encoding="utf-8") for file in files]
    library = load_library("\n".join([operation_definitions(), definitions(), *texts]))
    library.vm_run_complex.argtypes = [ctypes.POINTER(_Record)]
    library.vm_run_complex.restype = ctypes.c_int
    call: Callable[[Any], int] = library.vm_run_complex
    return call


def _library(name: str) -> Callable[[Any], int]:
    try:
        return _call()
    except BuildError as error:
        raise ModelError(
            f"mechanism {name!r}: method 'complex-step' needs a C compiler: {error}", remedy=REMEDY
        ) from None
