"""A simulated GPU: cupy's functions on arrays of this machine, and kernels built as C++ for its
processor, one sample after the other.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

HEADER = """
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define __forceinline__ inline
#define __noinline__
#define __device__
#define __global__
#define __launch_bounds__(threads)
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned __int128)a * b >> 64; }
struct place { long long x; };
static place blockIdx, blockDim, threadIdx;
"""
FOOTER = """
template <typename Job> static void of_all(void (*kernel)(const Job *, long long), const void *job, long long count) {{ kernel((const Job *)job, count); }}
extern "C" void every_thread(const void *job, long long count, long long blocks, long long threads) {{
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) of_all({kernel}, job, count);
}}
"""
COMPILER = shutil.which("g++") or shutil.which("c++")


class DeviceArray(np.ndarray):
    """An array with an address as cupy gives it."""

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ctypes.data)


def on_device(array: Any, dtype: Any = None) -> DeviceArray:
    return np.ascontiguousarray(array, dtype=dtype).view(DeviceArray)


class Kernel:
    def __init__(self, source: str, name: str):
        assert COMPILER is not None
        flags = ["-std=c++17", "-O0", "-ffp-contract=off", "-w", "-fPIC", "-shared"]
        # the library stays loaded without its file
        with tempfile.TemporaryDirectory(prefix="gpu-") as folder:
            text, library = Path(folder, "kernel.cpp"), Path(folder, "kernel.so")
            text.write_text(HEADER + source + FOOTER.format(kernel=name), encoding="utf-8")
            subprocess.run([COMPILER, *flags, str(text), "-o", str(library)], check=True)
            self._call = ctypes.CDLL(str(library)).every_thread
        self._call.argtypes = [ctypes.c_void_p, *3 * [ctypes.c_longlong]]

    local_size_bytes = 0

    def __call__(self, blocks: tuple[int], threads: tuple[int], arguments: tuple[Any, Any]) -> None:
        job, count = arguments
        self._call(job.ctypes.data, int(count), blocks[0], threads[0])


class Cupy(ModuleType):
    """Functions of arrays are NumPy's."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        function = getattr(np, name)

        def on_arrays(*arguments: Any, **options: Any) -> Any:
            result = function(*arguments, **options)
            return result.view(DeviceArray) if isinstance(result, np.ndarray) else result

        return on_arrays


def fake_cupy(memory: int = 10**9) -> ModuleType:
    """A module with what is used of cupy; `memory` is that of the GPU, in bytes."""
    module: Any = Cupy("cupy")
    module.ndarray = DeviceArray
    module.asarray = module.ascontiguousarray = on_device
    module.zeros = lambda shape, dtype=float: np.zeros(shape, dtype).view(DeviceArray)
    module.asnumpy = np.array
    pool = SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None)
    module.get_default_memory_pool = lambda: pool
    module.RawModule = lambda code, backend, options: SimpleNamespace(
        get_function=lambda name: Kernel(code, name)
    )
    runtime = SimpleNamespace(getDeviceCount=lambda: 1)
    attributes = {"MultiProcessorCount": 1, "MaxThreadsPerMultiProcessor": 1024}
    device = SimpleNamespace(mem_info=(memory, memory), attributes=attributes)
    module.cuda = SimpleNamespace(Device=lambda: device, runtime=runtime)
    computed: ModuleType = module
    return computed
