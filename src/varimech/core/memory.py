"""How much memory there is, and a refusal of what needs more before anything is allocated."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from .errors import ModelError
from .messages import Text

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux lists what a container may have."""

LITTLE = 1e6
"""Numbers that fit anywhere: small runs do not ask the system."""


def check_memory(what: str, numbers: float, remedy: Text) -> None:
    """Refuse what needs more memory than this machine has.

    Args:
        what: is to be stored, as the beginning of a sentence: "chunk = 1000000000 samples of 3
            parameters".
        numbers: how many numbers of eight bytes.
        remedy: what to change, in the interface of the caller.

    Raises:
        ModelError: with both sizes.
    """
    if numbers > LITTLE and 8.0 * numbers > (most := memory_bytes()):
        raise ModelError(
            f"{what} would take {8e-9 * numbers:.3g} GB of memory, and this process may have"
            f" {1e-9 * most:.3g} GB",
            remedy=remedy,
        )


def memory_bytes() -> float:
    """Bytes that this process may have: those of the machine, less where its container or `ulimit
    -v` allows less.
    """
    most = _of_the_machine()
    try:
        import resource
    except ImportError:  # Windows
        return most
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return most if soft == resource.RLIM_INFINITY else min(most, float(soft))


@cache
def _of_the_machine() -> float:
    try:
        most = float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (
        AttributeError,
        ValueError,
        OSError,
    ):  # a system that does not know: what a large workstation has
        most = 256e9
    for path in LIMITS:
        try:
            most = min(most, float(Path(path).read_text(encoding="ascii")))
        except (OSError, ValueError):  # not there, or "max"
            continue
    return most
