"""Functions of chains as straight-line code, derived once for equal chains.

Deriving and simplifying the functions takes most of the time before a first run. A model that is
built again, as by a notebook cell that is executed again or by a function that is called twice,
states the same chains in other symbols. They share their functions, and so also bytecode, generated
code and compiled libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from ..backends.program import ChainFunctions
from ..sensitivity.adjoint import pullback_of
from ..sensitivity.direct import tangent_of
from ..stages.chain import Chain

MOST_INSTRUCTIONS = 2_000_000
"""Instructions that are kept, of the functions used last: some 100 MB, as CasADi needs about 50 bytes
for each.
"""

Key = tuple[object, ...]


class FunctionStore:
    """Functions by the statement that they follow from; those used last are kept."""

    def __init__(self, most_instructions: int = MOST_INSTRUCTIONS):
        self.most_instructions = most_instructions
        self._functions: dict[Key, ChainFunctions] = {}
        self._lock = Lock()

    def of(self, key: Key, derive: Callable[[], ChainFunctions]) -> ChainFunctions:
        """The functions for a key, derived if they are not kept. Threads that ask for the same ones
        at the same time may derive them twice.
        """
        with self._lock:
            functions = self._functions.pop(key, None)
            if functions is not None:
                self._functions[key] = functions  # used last
                return functions
        functions = derive()
        with self._lock:
            self._functions[key] = functions
            total = sum(f.instructions for f in self._functions.values())
            while total > self.most_instructions and len(self._functions) > 1:
                total -= self._functions.pop(next(iter(self._functions))).instructions
        return functions


_store = FunctionStore()


def unrolled(
    chain: Chain,
    moved: list[int] | None,
    *,
    adjoint: bool,
    state_varies: bool,
    along_time: bool,
) -> ChainFunctions:
    """The functions of a chain.

    Args:
        chain: the statement.
        moved: parameters along which the tangent is taken; None without a tangent.
        adjoint: whether to add the pullback.
        state_varies: whether the result depends on the state at the beginning, which is only a
            guess otherwise.
        along_time: whether derivatives include those with respect to time.
    """
    requested = None if moved is None else tuple(moved)
    return _store.of(
        (chain.digest, requested, adjoint, state_varies, along_time),
        lambda: _derived(chain, moved, adjoint, state_varies, along_time),
    )


def _derived(
    chain: Chain, moved: list[int] | None, adjoint: bool, state_varies: bool, along_time: bool
) -> ChainFunctions:
    tangent = (
        None
        if moved is None
        else tangent_of(chain, moved, state_varies=state_varies, along_time=along_time)
    )
    pullback = (
        pullback_of(chain, state_varies=state_varies, along_time=along_time) if adjoint else None
    )
    return ChainFunctions(
        chain.predict if chain.iterated else None,
        chain.iterate if chain.iterated else None,
        chain.finish(None if tangent is None else tangent.coefficients),
        None if tangent is None else tangent.column,
        None if pullback is None else chain.linearise(pullback.coefficients),
        None if pullback is None else pullback.column,
    )
