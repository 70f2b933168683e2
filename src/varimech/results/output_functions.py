"""Functions that evaluate outputs at many times at once. Runs of the same equations share them,
because building one takes longer than evaluating it at some hundred times.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import casadi as ca

from ..coordinates.equations import Equations

MOST = 64
"""Number of functions that are kept for equations: a page of curves has about ten; a round value.
"""


class OutputFunction:
    """An output as a function of time-independent and time-dependent arguments."""

    def __init__(self, function: ca.Function):
        self.size: int = function.nnz_out(0)
        """Number of components."""
        self._function = function
        self._mapped: dict[tuple[int, bool], ca.Function] = {}

    def at_times(self, count: int, *, shares_first: bool) -> ca.Function:
        """Return the function mapped over a number of times.

        Args:
            count: number of times.
            shares_first: whether the first argument is the same at all of them.
        """
        key = (count, shares_first)
        if key not in self._mapped:
            shared = [0] if shares_first else []
            # the last slice of a run is shorter, and other runs have other lengths
            self._mapped = dict(list(self._mapped.items())[-1:])
            self._mapped[key] = self._function.map("slice", "serial", count, shared, [])
        return self._mapped[key]


_KEPT: WeakKeyDictionary[Equations, dict[object, OutputFunction]] = WeakKeyDictionary()


def kept(equations: Equations, key: object, build: Callable[[], OutputFunction]) -> OutputFunction:
    """Return the function of equations with a key, built if it does not exist yet."""
    functions = _KEPT.setdefault(equations, {})
    function = functions.get(key)
    if function is None:
        if len(functions) >= MOST:
            functions.clear()
        function = functions[key] = build()
    return function
