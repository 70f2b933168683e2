"""Chains of an interpreted program, bound to arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .bound import bound
from .columns import all_columns
from .failures import NO_CONVERGENCE, NOT_FINITE
from .newton import LARGEST, converged
from .program import ChainFunctions


class AttemptFailure(Exception):
    """A step or chain that failed, with the reason."""


class ChainCalls:
    """A chain bound to arrays: from `state` (and its derivatives S) to `result` (and its
    derivatives).
    """

    def __init__(
        self,
        chain: ChainFunctions,
        state: np.ndarray,
        S: np.ndarray | None,
        settings: list[np.ndarray],
        result: np.ndarray,
        S_new: np.ndarray,
        max_iterations: int,
        seeds: np.ndarray,
    ):
        self.max_iterations = max_iterations
        self.ratio, self.residuals = np.zeros(1), np.zeros(3)
        arguments, results = [state], [result, self.residuals]
        self.iterated = chain.predict is not None and chain.iterate is not None
        self._unknowns: list[np.ndarray] = []
        if chain.predict is not None and chain.iterate is not None:
            x, y = np.zeros(chain.iterate.numel_out(0)), np.zeros(chain.iterate.numel_out(1))
            self.predict = bound(chain.predict, [state, *settings], [x, y])
            self.iterate = bound(chain.iterate, [state, x, y, *settings], [x, y, self.ratio])
            arguments += [x, y]
            self._unknowns = [x, y]
        sensitivities = np.zeros((state.size, S_new.shape[1])) if S is None else S
        self.tangent: Callable[[], None] | None = None
        if chain.tangent is not None:
            coefficients = np.zeros(chain.tangent.numel_in(0))
            results.append(coefficients)
            every = all_columns(chain.tangent, S_new.shape[1], 1)
            self.tangent = bound(every, [coefficients, sensitivities, seeds], [S_new])
        elif chain.finish.n_out() == 3:
            arguments += [sensitivities, seeds] if chain.seeded else [sensitivities]
            results.append(S_new)
        self.finish = bound(chain.finish, [*arguments, *settings], results)

    def solve(self) -> int:
        """Solve the chain; return the number of iterations."""
        iterations = self._iterate() if self.iterated else 0
        self.finish()
        if self.tangent is not None:
            self.tangent()
        return iterations

    def solved(self, sizes: tuple[int, int]) -> np.ndarray:
        """Return unknowns and multipliers of an iterated chain, each padded to a size."""
        filled = np.zeros(sum(sizes))
        for first, values in zip((0, sizes[0]), self._unknowns, strict=False):
            filled[first : first + values.size] = values
        return filled

    def _iterate(self) -> int:
        self.predict()
        last = 0.0
        for k in range(1, self.max_iterations + 1):
            self.iterate()
            ratio = float(self.ratio[0])
            if converged(ratio, last, k, self.max_iterations):
                return k
            if not ratio <= LARGEST:
                raise AttemptFailure(NOT_FINITE)
            last = ratio
        raise AttemptFailure(NO_CONVERGENCE)
