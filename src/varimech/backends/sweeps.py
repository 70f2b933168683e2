"""Adjoint gradients of many compiled runs that differ in parameter values only: sweeps.c executes
each run forwards and backwards, within a memory limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .batch import Batch
from .sampler import Fields, Sampler

WORKING = ("storage", "wrt", "gradients")
"""Pointers of a job beyond those of runs without a sweep."""


class SweepBatch(Batch):
    """Data that runs share if a reverse sweep follows each of them.

    Args:
        description, fields: as for `Batch`.
        wrt: parameters of the gradient, by position.
        steps: largest number of steps of a run.
        shared: whether runs, one after the other, use the same storage.
    """

    def __init__(
        self,
        description: Mapping[str, Any],
        fields: Fields,
        wrt: Sequence[int],
        steps: int,
        *,
        shared: bool,
    ):
        super().__init__(description, fields)
        self.arrays["wrt"] = np.array(wrt, dtype=float)
        self._chosen, self._steps, self._shared = len(wrt), steps, shared
        self.section = steps
        """Steps between two checkpoints, whose records fit into the storage of a run."""
        pointers = [(name, np.uintp) for name in WORKING]
        counts = [(name, np.int64) for name in ("stride", "section", "most", "chosen")]
        self._sweep = np.dtype([("job", self._job), *pointers, *counts], align=True)

    def storage(self, section: int) -> int:
        """Return the size of the storage of a run for its sweep (numbers); see `vm_tape_of` in
        sweeps.c.
        """
        s = self.description["sizes"]
        records = (section + 1) * int(s["record_size"])
        times = 3 * (self._steps + 2)
        return records + times + 3 * int(s["samples"]) + self._sections(section) * self._checkpoint

    def fit(self, numbers: float) -> None:
        """Choose sections: the longest ones for which the storage of a run does not exceed
        `numbers`, or those with the least storage.
        """
        record = int(self.description["sizes"]["record_size"])
        least = math.ceil(math.sqrt(self._steps * self._checkpoint / record))
        fixed = self.storage(0) - record
        fixed += (self._sections(least) - self._sections(0)) * self._checkpoint
        longest = int((numbers - fixed) // record) - 1
        self.section = self._steps
        if self.storage(self._steps) > numbers:
            self.section = min(max(least, longest), self._steps)

    def _sections(self, section: int) -> int:
        return math.ceil(self._steps / max(1, section)) + 1

    @property
    def _checkpoint(self) -> int:
        """Size of a checkpoint, from which a section begins (numbers)."""
        s = self.description["sizes"]
        return 2 + sum(
            int(s[name]) for name in ("states", "coordinates", "modes", "units", "units")
        )

    @property
    def run_size(self) -> int:
        """Size of the arguments, storage and results of one run (bytes)."""
        return super().run_size + 8 * (
            self.objectives * self._chosen + (0 if self._shared else self.storage(self.section))
        )

    def empty(self, count: int, zeros: Callable[..., Any] = np.zeros) -> dict[str, Any]:
        """See `Batch`; gradients are those at the end of runs only."""
        gradients = zeros((count, 1, self.objectives, self._chosen))
        return {**super().empty(count, zeros), "gradients": gradients}

    def working(self, count: int, empty: Callable[..., Any] = np.empty) -> dict[str, Any]:
        """Allocate storage, and the forward derivatives by which steps are chosen."""
        runs = min(1, count) if self._shared else count
        return {
            "storage": empty((runs, self.storage(self.section))),
            "carried": empty((count, self.rows, self.objectives, self.parameters)),
        }

    def job(self, addresses: Mapping[str, int]) -> np.ndarray:
        """See `Batch`."""
        own = {name: addresses[name] for name in WORKING}
        others = {name: at for name, at in addresses.items() if name not in (*WORKING, "carried")}
        sweep = np.zeros((), dtype=self._sweep)
        sweep["job"] = super().job({**others, "gradients": addresses["carried"]})
        for name, address in own.items():
            sweep[name] = address
        sweep["stride"] = 0 if self._shared else self.storage(self.section)
        sweep["section"], sweep["most"] = self.section, self._steps
        sweep["chosen"] = self._chosen
        return sweep


class AdjointSampler(Sampler):
    """Executes an adjoint program for rows of parameter values.

    Args:
        common: arguments of `Sampler`.
        wrt: parameters of the gradient, by position.
        steps: largest number of steps of a run; runs that need more are not done.
    """

    entry = "vm_sweep_all"

    def __init__(self, *common: Any, wrt: Sequence[int], steps: int):
        super().__init__(*common)
        self._wrt, self._steps = list(wrt), steps

    def batch(self, description: dict[str, Any], fields: Fields, *, shared: bool) -> SweepBatch:
        """See `Sampler`."""
        batch = SweepBatch(description, fields, self._wrt, self._steps, shared=shared)
        batch.fit(self.inputs.memory / 8)
        return batch
