"""The machine: a library that executes any program. It is the same for every program and compiled
once for each computer. It interprets bytecode, and calls the functions of a program's own library
where that is loaded. Its driver is fixed text, from which GPU programs and bundles are built, too.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable
from pathlib import Path

from .background import Work, after_fork, in_background
from .bytecode import operation_definitions
from .compiler import BuildError, Source, load_library
from .constants import definitions
from .lanes import MOST_STAGES, WIDTH

DRIVER = (
    "newton.c",
    "chain.c",
    "selection.c",
    "explicit.c",
    "switching.c",
    "units.c",
    "modes.c",
    "events.c",
    "passage.c",
    "adjoint.c",
    "driver.c",
    "samples.c",
)
"""Files of the driver: the same text for the processor, where `HOST` follows, and for GPUs."""
HOST = ("sweeps.c", "host.c")
"""Files with runs with reverse sweeps, and entry points of the library."""

MACHINE_SECONDS = 10.0
"""Longest time that runs wait for the compilation of the machine (s), which takes 1 to 2 s; runs
are interpreted in Python until it is loaded.
"""
MACHINE_ESTIMATE, LANE_MACHINE_ESTIMATE = 1.5, 3.0
"""Usual compile time of the machine (s), without and with vectors of samples, measured."""


def driver_text(name: str) -> str:
    """Return the text of one of the fixed files of the driver."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def loaded_driver(source: str | Source, *, in_background: bool = False) -> ctypes.CDLL:
    """Load a library that contains the driver.

    Raises:
        BuildError: if there is no compiler, or it fails.
    """
    library = load_library(source, in_background=in_background)
    library.vm_run_forward.argtypes = library.vm_run_backward.argtypes = [ctypes.c_void_p]
    library.vm_sample_all.argtypes = [ctypes.c_void_p, ctypes.c_longlong]
    for entry in (library.vm_run_forward, library.vm_run_backward, library.vm_sample_all):
        entry.restype = None
    return library


class _Machine:
    """A library that interprets any program, built in the background on first use.

    Args:
        source: function that returns its C text.
        estimated: estimated build time (s).
    """

    def __init__(self, source: Callable[[], str], estimated: float) -> None:
        self._source, self._estimated = source, estimated
        self._work: Work | None = None
        self._library: ctypes.CDLL | None = None
        self._error = ""

    def begin(self) -> Work:
        if self._work is None:
            self._work = in_background(self._build, self._estimated)
            self._began = time.monotonic()
        return self._work

    def library(self, patience: float) -> ctypes.CDLL:
        if self._library is not None:
            return self._library
        work = self.begin()
        left = self._began + patience - time.monotonic()
        if not work.wait(None if left == math.inf else max(0.0, left)):
            raise BuildError(f"the compiler has not finished within {patience:g} s")
        if self._library is None:
            raise BuildError(self._error)
        return self._library

    def loaded_within(self, seconds: float) -> bool:
        """Return whether the library is loaded within a number of seconds."""
        self.begin().wait(seconds)
        return self._library is not None

    def _build(self) -> None:
        try:
            self._library = loaded_driver(self._source())
        except BuildError as error:
            self._error = str(error)

    def forget_unfinished(self) -> None:
        """Forget an unfinished build in a forked process, which has no thread that would finish it."""
        if self._library is None and not self._error:
            self._work = None


def machine_source() -> str:
    """Return the whole C text of the machine."""
    parts = [operation_definitions(), driver_text("bytecode.c"), driver_text("plan.c")]
    none = ["static const vm_map *vm_maps = 0;"]
    files = ("scheme.c", *DRIVER, *HOST)
    return "\n".join(["#define VM_MACHINE", *parts, *none, definitions(), *map(driver_text, files)])


def lane_machine_source() -> str:
    """Return the C text of the machine for vectors of samples."""
    stages = f"#define VM_MOST_STAGES {MOST_STAGES}"
    files = ("lane_math.c", "lanes.c", "lane_plans.c")
    return "\n".join([WIDTH, stages, machine_source(), *map(driver_text, files)])


_machine = _Machine(machine_source, MACHINE_ESTIMATE)
_lane_machine = _Machine(lane_machine_source, LANE_MACHINE_ESTIMATE)
after_fork(_machine.forget_unfinished)
after_fork(_lane_machine.forget_unfinished)


def machine(patience: float | None = None) -> ctypes.CDLL:
    """Return the library that executes any program.

    Args:
        patience: longest time to wait for its compiler (s).

    Raises:
        BuildError: if there is no compiler, or it fails or hangs.
    """
    return _machine.library(MACHINE_SECONDS if patience is None else patience)


def lane_machine() -> ctypes.CDLL:
    """Return the library that executes any program for vectors of samples. It is separate because
    it takes twice as long to build, and single runs do not need it.

    Raises:
        BuildError: if there is no compiler, or it fails or hangs.
    """
    return _lane_machine.library(MACHINE_SECONDS)


def has_lane_machine(within: float) -> bool:
    """Return whether this library is loaded within a number of seconds; otherwise its build
    continues in the background.
    """
    return _lane_machine.loaded_within(within)


def warm_up() -> None:
    """Begin to build the machine in the background: there is time while a first model is being
    built.
    """
    _machine.begin()
