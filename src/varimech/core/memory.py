"""Available memory, and an early error for arrays that would exceed it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from .errors import ModelError
from .messages import Text

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Files in which Linux states the memory limit of a container."""

LITTLE = 1e6
"""Number of values (8 MB) that is always accepted, so that small runs need no system call."""


def check_memory(array: str, numbers: float, remedy: Text) -> None:
    """Raise an error if an array would exceed the available memory.

    Args:
        array: the array, as the beginning of a sentence: "chunk = 1000000000 samples of 3
            parameters".
        numbers: its size in numbers of eight bytes.
        remedy: what the caller can change, in the caller's interface.

    Raises:
        ModelError: with the required and the available size.
    """
    if numbers > LITTLE and 8.0 * numbers > (most := memory_bytes()):
        problem = (
            f"{array} needs {8e-9 * numbers:.3g} GB of memory, and {1e-9 * most:.3g} GB are"
            " available to this process"
        )
        raise ModelError(problem, remedy=remedy)


def memory_bytes() -> float:
    """Memory available to this process (bytes): that of the machine, or the limit of its container
    or of `ulimit -v`.
    """
    most = _machine_bytes()
    try:
        import resource
    except ImportError:  # Windows
        return most
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return most if soft == resource.RLIM_INFINITY else min(most, float(soft))


@cache
def _machine_bytes() -> float:
    try:
        most = float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        most = 256e9  # unknown: the memory of a large workstation
    for path in LIMITS:
        try:
            most = min(most, float(Path(path).read_text(encoding="ascii")))
        except (OSError, ValueError):  # not there, or "max"
            continue
    return most
