"""Cards: whether there is one, and a program on it."""

from __future__ import annotations

from ..core.errors import ModelError
from .batch import Batch, Gpu
from .cuda_source import FIELDS_ON_GPU, THREADS, cuda_source
from .sampler import Sampler


def check_gpu() -> None:
    """Raise `ModelError` unless a card can be used."""
    try:
        import cupy
    except ImportError:
        raise ModelError(
            "executor='cuda' needs cupy, which is not installed: pip install 'varimech[cuda]', or"
            " cupy-cuda13x for CUDA 13"
        ) from None
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:  # cupy's own kinds of it depend on its version
        raise ModelError(
            f"executor='cuda': no NVIDIA card can be used: {error}; leave executor out to use"
            " threads"
        ) from None
    if count == 0:
        raise ModelError(
            "executor='cuda': this machine has no NVIDIA card; leave executor out to use threads"
        )


def gpu_for(sampler: Sampler) -> Gpu:
    """The runs of a sampler on a card.

    Raises:
        ModelError: where its program is not one for cards.
    """
    if sampler.native.kernels.functions:
        raise ModelError(
            "executor='cuda' takes small mechanisms, whose functions are written out; leave"
            " executor out to use threads"
        )
    batch = Batch({**sampler.description, "threads": THREADS}, FIELDS_ON_GPU)
    return Gpu(batch, cuda_source(sampler.native))
