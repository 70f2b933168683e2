"""Bytecode: the scalar instructions of a CasADi function as an array, for the interpreters in C
(bytecode.c, complex_step.c).

An instruction is four 32-bit integers: operation, destination, and two operands (for a constant its
8 bytes). This is the layout in which CasADi serialises instructions: reading them one by one
through its interface takes 10 µs each, reading the whole array a tenth of that.
"""

from __future__ import annotations

import ctypes
import re
from functools import cache
from pathlib import Path
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from ..core.symbols import CSE_LONGEST
from .compiler import BuildError, load_library

INSTRUCTION = np.dtype([(name, np.int32) for name in ("operation", "to", "a", "b")])


class NotInterpretable(Exception):
    """A function contains an operation that the interpreters do not support."""


def bytecode_of(function: ca.Function, interpreter: str = "bytecode.c") -> np.ndarray:
    """Return the instructions of a function of scalar expressions.

    Raises:
        NotInterpretable: if the interpreter does not support one of them.
    """
    bytecode = _instructions(function)
    known = np.isin(bytecode["operation"], list(operations(interpreter).values()))
    if not known.all():
        number = int(bytecode["operation"][~known][0])
        raise NotInterpretable(f"{function.name()}, number {number}")
    return bytecode


_read: WeakKeyDictionary[ca.Function, np.ndarray] = WeakKeyDictionary()
"""Bytecode of functions that programs share."""


def _instructions(function: ca.Function) -> np.ndarray:
    if (bytecode := _read.get(function)) is None:
        count = function.n_instructions()
        bytecode = _serialised(function, count)
        if bytecode is None:
            bytecode = np.array([_instruction(function, k) for k in range(count)], INSTRUCTION)
        if count > CSE_LONGEST:
            bytecode = _simplified(bytecode)
        bytecode.flags.writeable = False
        _read[function] = bytecode
    return bytecode


def places_of(bytecode: np.ndarray) -> int:
    """Return the number of places that bytecode needs."""
    results = bytecode["operation"] != ca.OP_OUTPUT
    return int(bytecode["to"][results].max(initial=-1)) + 1


def _simplified(bytecode: np.ndarray) -> np.ndarray:
    """Return bytecode without repeated instructions; CasADi's elimination of common subexpressions
    would take a hundred times as long. Without a compiler, the bytecode is returned unchanged.
    """
    try:
        library = _simplifier()
    except BuildError:
        return bytecode
    instructions, out = np.ascontiguousarray(bytecode), np.empty_like(bytecode)
    count = library.vm_simplify(
        ctypes.c_void_p(instructions.ctypes.data),
        instructions.size,
        places_of(instructions),
        ctypes.c_void_p(out.ctypes.data),
    )
    return bytecode if count < 0 else out[:count].copy()


@cache
def _simplifier() -> ctypes.CDLL:
    text = Path(__file__).with_name("simplify.c").read_text(encoding="utf-8")
    return load_library(f"{operation_definitions()}\n{text}")


@cache
def operations(interpreter: str = "bytecode.c") -> dict[str, int]:
    """Return CasADi's numbers of the operations that an interpreter supports, by name."""
    text = Path(__file__).with_name(interpreter).read_text(encoding="utf-8")
    names = dict.fromkeys(re.findall(r"VM_OP_([A-Z][A-Z0-9_]*)", text))
    return {name: int(getattr(ca, f"OP_{name}")) for name in names}


@cache
def operation_definitions() -> str:
    """Return `#define VM_OP_NAME number` for each operation."""
    return "\n".join(f"#define VM_OP_{name} {number}" for name, number in operations().items())


def _serialised(function: ca.Function, count: int) -> np.ndarray | None:
    """Return the instructions within the serialised function, or None if they are not found there,
    which may happen with another version of CasADi.
    """
    nibbles = np.frombuffer(function.serialize().encode("ascii"), np.uint8) - ord("a")
    data = (nibbles[0::2] | (nibbles[1::2] << 4)).astype(np.uint8).tobytes()
    size = INSTRUCTION.itemsize
    sampled = sorted({*range(min(4, count)), *range(0, count, max(1, count // 8)), count - 1})
    expected = {k: np.array(_instruction(function, k), INSTRUCTION).tobytes() for k in sampled}
    head = b"".join(expected[k] for k in range(min(4, count)))
    at = data.rfind(head)
    if count == 0 or at < 0 or at + size * count > len(data):
        return None
    if any(data[at + size * k : at + size * (k + 1)] != text for k, text in expected.items()):
        return None
    return np.frombuffer(data, INSTRUCTION, count, at)


def _instruction(function: ca.Function, k: int) -> tuple[int, int, int, int]:
    operation, to = function.instruction_id(k), function.instruction_output(k)
    if operation == ca.OP_CONST:
        a, b = np.array([function.instruction_constant(k)]).view(np.int32).tolist()
        return operation, to[0], a, b
    sources = function.instruction_input(k)
    if operation == ca.OP_OUTPUT:
        return operation, to[0], sources[0], to[1]
    return operation, to[0], sources[0], sources[-1]
