"""GPUs: whether there is one, and a program on it."""

from __future__ import annotations

import numpy as np

from ..core.errors import ModelError, VarimechError
from ..core.messages import Message
from .batch import Batch, Gpu
from .cuda_source import FIELDS_ON_GPU
from .gpu_kernel import gpu_kernel
from .sampler import Sampler

USE_THREADS = Message("leave {executor} out to use threads")
LAUNCHED = 1 << 20
"""Samples of a launch: many times as many as an H200 runs at once, so that what a launch costs
beside, about a millisecond, does not count.
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
    except ImportError as error:  # it is there, and a library that it needs is not
        raise ModelError(
            f"executor 'cuda': cupy cannot be imported: {error}",
            remedy="install the cupy of the CUDA version that nvidia-smi shows",
        ) from None
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:  # cupy's own kinds of it depend on its version
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
    """The runs of a sampler on a GPU.

    Raises:
        ModelError: where its program is not one for GPUs.
    """
    if sampler.native.kernels.loops:
        raise ModelError(
            "executor 'cuda' takes small mechanisms, whose functions are unrolled",
            remedy=USE_THREADS,
        )
    import cupy

    kernel = gpu_kernel(sampler, int(cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]))
    return _ReportingGpu(Batch(kernel.description, FIELDS_ON_GPU), kernel.source)


class _ReportingGpu(Gpu):
    """A GPU whose lack of memory is an error of Varimech."""

    def __call__(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """See `Gpu`."""
        try:
            return super().__call__(rows)
        except MemoryError as error:
            raise VarimechError(
                f"executor 'cuda': {error}",
                remedy=Message("end other programs on the GPU, or leave {executor} out"),
            ) from None
