"""The GPU kernel for the runs of a sampler: its text, and its launch parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .cuda_source import THREADS, cuda_source, for_gpu
from .gradient_source import gradient_source, launch_of, suits
from .sampler import Sampler

SHARED = 99 * 1024
"""Shared memory of a block (bytes) that every NVIDIA GPU has from compute capability 8.0 (2020) on.
"""


@dataclass(frozen=True)
class GpuKernel:
    """Text of a kernel for NVRTC, and the description of its runs (`Batch`)."""

    source: str
    description: dict[str, Any]


def gpu_kernel(sampler: Sampler, shared: int = SHARED) -> GpuKernel:
    """Build the kernel of a sampler: one thread for each run; with derivatives along equal steps,
    warps that follow a leading warp, as far as the shared memory of the GPU allows.

    Args:
        sampler: sampler of the program.
        shared: shared memory that a block may have (bytes).
    """
    native, schedule = for_gpu(sampler.native), sampler.inputs.schedule
    launch = {"threads": THREADS, "samples": THREADS, "groups": 1, "shared": 0}
    own_steps = bool(sampler.given_steps or sampler.kept_steps)
    small = not (own_steps or native.kernels.loops)
    follows = small and suits(native.program, schedule)
    if follows and (following := launch_of(native.program))["shared"] <= shared:
        source, launch = gradient_source(native), following
    else:
        source = cuda_source(native, own_steps=own_steps)
    return GpuKernel(
        source, {**sampler.description(native, native.generated_sizes), "launch": launch}
    )
