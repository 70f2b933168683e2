"""What measurements on a GPU share: times of kernels, samples about the nominal values, differences
from the processor, and the file of results.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import varimech as vm
from varimech.backends.batch import Gpu
from varimech.backends.cuda import check_gpu

HALF_WIDTH = 0.01
COMPARED = 10_000
REPETITIONS = 3


def timed(what: Callable[[], object]) -> float:
    began = time.perf_counter()
    what()
    return time.perf_counter() - began


def rows_of(m: vm.Mechanism, count: int) -> np.ndarray:
    """Values of all parameters within 1 % of the nominal ones."""
    nominal = m.data.parameter_set.nominal
    shares = np.random.default_rng(8).uniform(-1, 1, (count, nominal.size))
    return np.asarray(nominal * (1 + HALF_WIDTH * shares))


def launches(gpu: Gpu, rows: np.ndarray, rate: str) -> dict[str, Any]:
    """Times a kernel alone, with values that are on the GPU already, the fastest of three launches.

    Args:
        gpu: with its kernel.
        rows: as many as fit are run.
        rate: what runs per second are called.
    """
    import cupy

    most = min(len(rows), gpu.most)
    values = cupy.asarray(rows[:most])

    def launch() -> None:
        gpu.launch(values)
        cupy.cuda.runtime.deviceSynchronize()

    first = timed(launch)
    seconds = min(timed(launch) for _ in range(REPETITIONS))
    return {
        "samples": most,
        "first_launch_seconds": first,
        "seconds": seconds,
        rate: most / seconds,
        "local_memory_bytes_per_thread": int(gpu._kernel.local_size_bytes),
        "registers": int(gpu._kernel.num_regs),
    }


def difference(here: np.ndarray, there: np.ndarray) -> float:
    """The largest one, over the largest value of each column among the samples."""
    return float((np.abs(here - there).max(axis=0) / np.abs(here).max(axis=0)).max())


class Results:
    """Results by kind in a file that is written after each, so that an interruption loses only the
    current one.
    """

    def __init__(self, path: Path, **about: Any):
        check_gpu()
        import cupy

        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        self._path = path
        self._content: dict[str, Any] = {
            "device": name,
            "date": date.today().isoformat(),
            **about,
        }

    def add(self, kind: str, row: dict[str, Any]) -> None:
        """Prints and writes a result."""
        self._content.setdefault(kind, []).append(row)
        print(kind, json.dumps(row, ensure_ascii=False), flush=True)
        text = json.dumps(self._content, indent=1, ensure_ascii=False) + "\n"
        self._path.write_text(text, encoding="utf-8")
