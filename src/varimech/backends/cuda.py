"""Cards: whether there is one, and a program on it."""

from __future__ import annotations

from ..core.errors import ModelError
from ..core.messages import Message
from .batch import Batch, Gpu
from .cuda_source import FIELDS_ON_GPU, THREADS, cuda_source
from .sampler import Sampler

USE_THREADS = Message("leave {executor} out to use threads")


def check_gpu() -> None:
    """Raise `ModelError` unless a card can be used."""
    try:
        import cupy
    except ImportError:
        raise ModelError(
            "executor 'cuda' needs cupy, which is not installed",
            remedy="pip install 'varimech[cuda]', or cupy-cuda13x for CUDA 13",
        ) from None
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:  # cupy's own kinds of it depend on its version
        raise ModelError(
            f"executor 'cuda': no NVIDIA GPU can be used: {error}", remedy=USE_THREADS
        ) from None
    if count == 0:
        raise ModelError("executor 'cuda': this machine has no NVIDIA GPU", remedy=USE_THREADS)


def gpu_for(sampler: Sampler) -> Gpu:
    """The runs of a sampler on a card.

    Raises:
        ModelError: where its program is not one for cards.
    """
    if sampler.native.kernels.loops:
        raise ModelError(
            "executor 'cuda' takes small mechanisms, whose functions are unrolled",
            remedy=USE_THREADS,
        )
    batch = Batch({**sampler.description, "threads": THREADS}, FIELDS_ON_GPU)
    return Gpu(batch, cuda_source(sampler.native))
