"""Many runs of one program, for rows of parameter values: on the processor, or on a card with one thread a run.

This file stands alone: it needs numpy, and cupy for cards. `varimech export` puts it beside a program's source and its description, so that
these runs can be had where Varimech is not.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

DONE = 0
"""Status of a run that went well."""
OUTCOMES = ("objectives", "gradients", "residuals", "status")
INPUTS = ("values", "given", "given_sensitivity", "independent")
SHARE = 0.8
"""Of a card's free memory that results of one launch may take."""


class Batch:
    """What runs share, as plain data (see `description` in sampler.py), and the record by which the driver finds it."""

    def __init__(self, description: Mapping[str, Any], fields: list[tuple[str, str]]):
        self.description = description
        self.rows, self.objectives = int(description["rows"]), int(description["sizes"]["objectives"])
        self.parameters, self.numbers = int(description["sizes"]["parameters"]), int(description["sizes"]["numbers"])
        record = np.dtype(fields, align=True)
        pointers = [(name, np.uintp) for name in (*INPUTS, *OUTCOMES)]
        self._job = np.dtype([("common", record), *pointers, ("rows", np.int64)], align=True)
        self.arrays = {name: np.array(a, dtype=float) for name, a in description["arrays"].items()}
        """What all runs only read."""

    @property
    def run_size(self) -> int:
        """Bytes of what one run takes and yields."""
        return 8 * (self.numbers + self.rows * self.objectives * (1 + self.parameters) + 4)

    def empty(self, count: int, zeros: Callable[..., Any] = np.zeros) -> dict[str, Any]:
        """Where so many runs write to."""
        shape = (count, self.rows, self.objectives)
        return {
            "objectives": zeros(shape),
            "gradients": zeros((*shape, self.parameters)),
            "residuals": zeros((count, 3)),
            "status": zeros(count, dtype=np.int64),
        }

    def job(self, addresses: Mapping[str, int]) -> np.ndarray:
        """The record, with arrays at these addresses."""
        job = np.zeros((), dtype=self._job)
        common = job["common"]
        names = common.dtype.names or ()
        for name, value in {**self.description["sizes"], **self.description["settings"]}.items():
            if name in names:
                common[name] = value
        for name, address in addresses.items():
            (job if name in (*INPUTS, *OUTCOMES) else common)[name] = address
        common["last"], job["rows"] = np.iinfo(np.int64).max, self.rows
        return job


class Processor:
    """Runs on the processor by a compiled library; each call takes one core, and others may go on beside it."""

    def __init__(self, batch: Batch, library: ctypes.CDLL, tables: Mapping[str, int]):
        self.batch, self._tables = batch, tables
        self._call = library.vm_sample_all
        self._call.argtypes, self._call.restype = [ctypes.c_void_p, ctypes.c_longlong], None

    def __call__(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Outcomes for rows of values of all parameters."""
        found = self.batch.empty(len(rows))
        arrays = {**self.batch.arrays, "values": np.ascontiguousarray(rows, dtype=float), **found}
        job = self.batch.job({**self._tables, **{name: a.ctypes.data for name, a in arrays.items()}})
        self._call(job.ctypes.data, len(rows))
        return found


class Card:
    """Runs on a card by a kernel that NVRTC builds; as many at a launch as its memory holds."""

    def __init__(self, batch: Batch, source: str):
        import cupy

        self.batch, self._cupy = batch, cupy
        options = ("-std=c++17", "--device-as-default-execution-space", "-w")
        self._kernel = cupy.RawModule(code=source, backend="nvrtc", options=options).get_function("vm_sample_all")
        self._arrays = {name: cupy.asarray(a) for name, a in batch.arrays.items()}
        self._threads = int(batch.description["threads"])

    @property
    def most(self) -> int:
        """How many runs fit at once."""
        free = int(self._cupy.cuda.Device().mem_info[0]) + int(self._cupy.get_default_memory_pool().free_bytes())
        return max(1, int(SHARE * free) // self.batch.run_size)

    def __call__(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Outcomes for rows of values of all parameters."""
        cupy, parts, most = self._cupy, [], self.most
        for first in range(0, len(rows), most):
            found = self.launch(cupy.asarray(rows[first : first + most], dtype=float))
            parts.append({name: cupy.asnumpy(a) for name, a in found.items()})
        return {name: np.concatenate([part[name] for part in parts]) for name in OUTCOMES}

    def launch(self, values: Any) -> dict[str, Any]:
        """The same with values, and outcomes, that are on the card; all at once."""
        cupy, count = self._cupy, len(values)
        found = self.batch.empty(count, cupy.zeros)
        arrays = {**self._arrays, "values": cupy.ascontiguousarray(values), **found}
        job = cupy.asarray(
            np.frombuffer(self.batch.job({name: a.data.ptr for name, a in arrays.items()}).tobytes(), dtype=np.uint8)
        )
        self._kernel((-(-count // self._threads),), (self._threads,), (job, np.int64(count)))
        return found
