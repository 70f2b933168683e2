"""Rates of whole states along the motion, which derivatives across events need; vm_motion in
events.c does the same.
"""

from __future__ import annotations

import numpy as np

from .chain_calls import ChainCalls
from .inputs import Inputs
from .program import Program


class Motion:
    """The rates of a run, bound to arrays of their own."""

    def __init__(self, program: Program, settings: list[np.ndarray], inputs: Inputs):
        self._n = program.coordinates
        self._Y, self._Y_ = np.zeros(2 * self._n), np.zeros((2 * self._n, program.row_length))
        self._new = np.zeros(program.state_size)
        self._new_ = np.zeros((program.state_size, program.row_length))
        self._known = program.along_time and bool(program.direction_count)
        self._sizes = program.solved_sizes
        seeds = np.zeros_like(program.seeds)
        if self._known:
            seeds[-1, 0] = 1.0
        arrays = self._Y, self._Y_, settings, self._new, self._new_
        chain = program.step if program.rates is None else program.rates
        self.chain = ChainCalls(chain, *arrays, inputs.max_iterations, seeds)

    def solved_at(self, positions_and_velocities: np.ndarray) -> np.ndarray:
        """Return unknowns and multipliers of iterated rates."""
        self._Y[:] = positions_and_velocities
        self.chain.solve()
        return self.chain.solved(self._sizes)

    def at(self, state: np.ndarray) -> np.ndarray:
        """Return ẋ at a state; zero for accelerations and multipliers if their rates are not known."""
        n, motion = self._n, np.zeros(state.size)
        motion[: 2 * n] = state[n : 3 * n]
        if self._known:
            self._Y[:], self._Y_[:, 0] = state[: 2 * n], state[n : 3 * n]
            self.chain.solve()
            motion[2 * n :] = self._new_[2 * n :, 0]
        return motion
