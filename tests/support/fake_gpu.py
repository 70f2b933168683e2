"""A simulated GPU: functions of CuPy on arrays of this machine, and kernels compiled once as C++
for its CPU and kept in the cache of compiled libraries. Threads of a block are executed one after
the other or, if they synchronise at barriers, as threads of the CPU.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from varimech.backends.library_cache import LIBRARY, add_library, find_library

HEADER = """
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <thread>
#include <vector>
#define __forceinline__ inline
#define __noinline__
#define __device__
#define __global__
#define __launch_bounds__(threads)
#define __shared__
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned __int128)a * b >> 64; }
struct place { long long x, y; };
static place blockIdx, blockDim;
static thread_local place threadIdx;
static pthread_barrier_t barrier;
static void __syncthreads() { pthread_barrier_wait(&barrier); }
"""
FOOTER = """
double vm_shared[1 << 16];
template <typename Job> static void of_all(void (*kernel)(const Job *, long long), const void *job, long long count) {{ kernel((const Job *)job, count); }}
static void one_by_one(const void *job, long long count, long long threads) {{
  for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) of_all({kernel}, job, count);
}}
static void side_by_side(const void *job, long long count, long long threads) {{
  std::vector<std::thread> block;
  pthread_barrier_init(&barrier, 0, threads);
  for (long long k = 0; k < threads; ++k) block.emplace_back([=] {{ threadIdx.x = k; of_all({kernel}, job, count); }});
  for (std::thread &thread : block) thread.join();
  pthread_barrier_destroy(&barrier);
}}
extern "C" void every_thread(const void *job, long long count, const long long *blocks, long long threads) {{
  blockDim.x = threads;
  for (blockIdx.y = 0; blockIdx.y < blocks[1]; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < blocks[0]; ++blockIdx.x) {order}(job, count, threads);
}}
"""
COMPILER = shutil.which("g++") or shutil.which("c++")


class DeviceArray(np.ndarray):
    """An array with its address in the form that CuPy provides."""

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ctypes.data)


def on_device(array: Any, dtype: Any = None) -> DeviceArray:
    return np.ascontiguousarray(array, dtype=dtype).view(DeviceArray)


FLAGS = ["-std=c++17", "-O0", "-ffp-contract=off", "-w", "-fPIC", "-shared", "-pthread"]


def built(text: str) -> Path:
    """Compile C++ source text and return the library."""
    assert COMPILER is not None
    command = [COMPILER, *FLAGS]

    def build(folder: Path) -> None:
        file = folder / "kernel.cpp"
        file.write_text(text, encoding="utf-8")
        subprocess.run([*command, str(file), "-o", str(folder / LIBRARY)], check=True)

    key = hashlib.sha256("\0".join([*command, text]).encode()).hexdigest()[:32]
    return find_library(key) or add_library(key, build)


class Kernel:
    def __init__(self, source: str, name: str):
        order = "side_by_side" if "__syncthreads" in source else "one_by_one"
        footer = FOOTER.format(kernel=name, order=order)
        self._call = ctypes.CDLL(str(built(HEADER + source + footer))).every_thread
        self._call.argtypes = [
            ctypes.c_void_p,
            ctypes.c_longlong,
            ctypes.POINTER(ctypes.c_longlong),
            ctypes.c_longlong,
        ]

    local_size_bytes = max_dynamic_shared_size_bytes = 0

    def __call__(
        self,
        blocks: tuple[int, ...],
        threads: tuple[int],
        arguments: tuple[Any, Any],
        shared_mem: int = 0,
    ) -> None:
        assert shared_mem <= self.max_dynamic_shared_size_bytes
        job, count = arguments
        grid = (ctypes.c_longlong * 2)(*blocks, *(2 - len(blocks)) * [1])
        self._call(job.ctypes.data, int(count), grid, threads[0])


class Cupy(ModuleType):
    """A module whose array functions are those of NumPy."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        function = getattr(np, name)

        def on_arrays(*arguments: Any, **options: Any) -> Any:
            result = function(*arguments, **options)
            return result.view(DeviceArray) if isinstance(result, np.ndarray) else result

        return on_arrays


def fake_cupy(memory: int = 10**9, shared: int = 227 * 1024) -> ModuleType:
    """Module with the parts of CuPy that are used; `memory` is the memory of the GPU, `shared` that
    of a block, in bytes.
    """
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
    attributes = {
        "MultiProcessorCount": 1,
        "MaxThreadsPerMultiProcessor": 1024,
        "MaxSharedMemoryPerBlockOptin": shared,
    }
    device = SimpleNamespace(mem_info=(memory, memory), attributes=attributes)
    module.cuda = SimpleNamespace(Device=lambda: device, runtime=runtime)
    computed: ModuleType = module
    return computed
