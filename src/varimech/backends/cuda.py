"""Execution of programs on GPUs, and the check that a GPU is available."""

from __future__ import annotations

import numpy as np

from ..core.errors import ModelError, VarimechError
from ..core.messages import Message
from .batch import SHARE, Gpu
from .cuda_plans import LARGEST_THREAD, thread_size
from .cuda_source import FIELDS_ON_GPU
from .gpu_kernel import gpu_kernel
from .sampler import Sampler
from .sweeps import AdjointSampler, SweepBatch

USE_THREADS = Message("leave {executor} out to use threads")
UNDER_WAY, IN_TURN = 256, 4
"""Number of runs with a reverse sweep that a multiprocessor executes concurrently (each takes the
255 registers that a thread may have, and there are 65,536), and ratio of runs in a launch to
concurrent runs: few enough for their storage, many enough that multiprocessors do not wait for the
last ones.
"""
LAUNCHED = 1 << 20
"""Samples of a launch: many times as many as an H200 executes concurrently, so that the overhead of
a launch, about a millisecond, is negligible.
"""


def check_gpu() -> None:
    """Raise `ModelError` unless a GPU can be used."""
    try:
        import cupy
    except ModuleNotFoundError:
        raise ModelError(
            "executor 'cuda' needs cupy, which is not installed",
            remedy="pip install 'varimech[cuda]', or cupy-cuda13x for CUDA 13",
        ) from None
    except ImportError as error:  # cupy is installed, and a library that it needs is missing
        raise ModelError(
            f"executor 'cuda': cupy cannot be imported: {error}",
            remedy="install the cupy of the CUDA version that nvidia-smi shows",
        ) from None
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:  # types of cupy's exceptions depend on its version
        if "insufficient" in str(error).lower():
            raise ModelError(
                f"executor 'cuda': the NVIDIA driver is too old for this cupy: {error}",
                remedy="update the driver, or install the cupy of the CUDA version that nvidia-smi"
                " shows",
            ) from None
        raise ModelError(
            f"executor 'cuda': no NVIDIA GPU can be used: {error}", remedy=USE_THREADS
        ) from None
    if count == 0:
        raise ModelError("executor 'cuda': this machine has no NVIDIA GPU", remedy=USE_THREADS)


def gpu_for(sampler: Sampler) -> Gpu:
    """Return a GPU executor for the runs of a sampler.

    Raises:
        ModelError: if GPUs cannot execute its program.
    """
    if sampler.native.kernels.loops:
        _check_plans(sampler)
    import cupy

    kernel = gpu_kernel(sampler, int(cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]))
    batch = sampler.batch(kernel.description, FIELDS_ON_GPU, shared=False)
    kind = SweepingGpu if isinstance(batch, SweepBatch) else _ReportingGpu
    return kind(batch, kernel.source, sampler.entry)


def _check_plans(sampler: Sampler) -> None:
    """Check that a GPU can execute the program of a large mechanism."""
    if isinstance(sampler, AdjointSampler):
        raise ModelError(
            "executor 'cuda': adjoints of large mechanisms run on the CPU only",
            remedy=Message("use {method}, or leave {executor} out", method="direct"),
        )
    if (size := thread_size(sampler.native.generated_sizes)) > LARGEST_THREAD:
        raise ModelError(
            f"executor 'cuda': a run of this mechanism needs {size} bytes, and a thread of a GPU has"
            f" {LARGEST_THREAD}",
            remedy=Message(
                "differentiate with respect to fewer parameters, or leave {executor} out"
            ),
        )


class _ReportingGpu(Gpu):
    """A GPU executor that reports a lack of memory as an error of Varimech."""

    def __call__(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """See `Gpu`."""
        try:
            return super().__call__(rows)
        except MemoryError as error:
            raise VarimechError(
                f"executor 'cuda': {error}",
                remedy=Message("end other programs on the GPU, or leave {executor} out"),
            ) from None


class SweepingGpu(_ReportingGpu):
    """A GPU executor for runs with reverse sweeps. Where memory is short, runs are divided into
    sections that are executed twice, so that memory suffices for as many runs as the GPU executes
    concurrently.
    """

    def __call__(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """See `Gpu`."""
        self.fit(len(rows))
        return super().__call__(rows)

    def fit(self, count: int) -> None:
        """Choose sections for this number of runs."""
        assert isinstance(self.batch, SweepBatch)
        runs = max(1, min(count, self._under_way))
        self.batch.fit(SHARE * (self._free - self._reserved) / runs / 8)

    @property
    def most(self) -> int:
        """See `Gpu`."""
        return min(super().most, IN_TURN * self._under_way)

    @property
    def _under_way(self) -> int:
        return UNDER_WAY * int(self._cupy.cuda.Device().attributes["MultiProcessorCount"])
