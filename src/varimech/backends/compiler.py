"""Compilation of shared libraries from C: finding a compiler, and caching the libraries it builds."""

from __future__ import annotations

import _ctypes
import ctypes
import hashlib
import importlib.util
import logging
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import ModelError
from ..core.interrupts import deferred_interrupts
from ..core.progress import progress_bar
from .background import after_fork
from .library_cache import LIBRARY, add_library, cache_folder, find_library

FLAGS: tuple[str, ...] = (
    "-O2",
    "-march=native",
    "-ffp-contract=off",
    "-fno-tree-slp-vectorize",
    "-fno-math-errno",
    "-fPIC",
    "-fvisibility=hidden",
    "-shared",
    "-std=c11",
    "-w",
)
"""Options of the compiler. Products and sums are not contracted, so that compiled and interpreted
runs agree to the last bit. GCC 12 still contracts some where it finds vectors in straight-line code
(vfmsubadd), so it must not look for vectors.
"""
MODEST = ("--param", "ggc-min-expand=30", "--param", "ggc-min-heapsize=131072")
"""Options that make GCC collect garbage sooner: 299 instead of 503 MB for the gradient of an RUS
platform, 343 instead of 473 MB for that of a vehicle, in the same time and with the same code.
"""
LONG_SOURCE = 1_000_000
"""Length of a source (characters) from which on it is optimised less (-O1). The gradient of a
double wishbone (2.8 million) compiles in 7.9 instead of 11.6 s, and a call takes 19.1 instead of
17.5 ms.
"""
NICE = 10
"""Priority of a compiler in the background, out of 19: low, so that it does not slow down other
work.
"""
LONGEST_BUILD = 600.0
"""Time after which a background compiler is ended (s), so that other builds get their turn."""
NO_COMPILER = (
    "no C compiler found (CC, cc, gcc, clang); `pip install ziglang` brings one for every platform"
)


_log = logging.getLogger("varimech")
_explained = False


@dataclass(frozen=True, eq=False)
class Source:
    """C text that is written only when it is compiled, and an identity by which its library is
    found before.
    """

    identity: str
    write: Callable[[], str]


class BuildError(Exception):
    """A library cannot be built or loaded; the message quotes the compiler."""


def explain_once(consequence: str, error: BuildError) -> None:
    """Warn, the first time only, that there is no compiled code, and why."""
    global _explained
    if not _explained:
        _explained = True
        _log.warning("varimech: %s: %s", consequence, " ".join(str(error).splitlines()[:2]))


def find_compiler() -> list[str] | None:
    """Return the command of the first available C compiler: $CC, cc, gcc, clang, or the `ziglang`
    package; None if there is none.
    """
    with suppress(ValueError):  # quotes that do not close
        command = shlex.split(os.environ.get("CC", ""))
        if command and shutil.which(command[0]):
            return command
    for name in ("cc", "gcc", "clang"):
        if path := shutil.which(name):
            return [path]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    return None


def cached_library(source: str | Source) -> Path | None:
    """Return the library built from this source, if it is in the cache and intact."""
    return find_library(_key(source))


def flags(source: str) -> tuple[str, ...]:
    """Return the compiler options for a source."""
    return FLAGS if len(source) < LONG_SOURCE else ("-O1", *FLAGS[1:])


def load_library(source: str | Source, *, in_background: bool = False) -> ctypes.CDLL:
    """Load the library for this source. In the background, the compiler shows no progress and runs
    with low priority.

    Raises:
        BuildError: if there is no compiler, it fails, or its library cannot be loaded.
    """
    for _ in range(3):
        path = build_library(source, in_background=in_background)
        try:
            library = ctypes.CDLL(str(path))
            weakref.finalize(
                library, _ctypes.dlclose, library._handle
            ).atexit = False  # ctypes would never unload it
            return library
        except OSError as error:
            reason = str(error)
            if path.exists():  # else another process has just evicted it
                shutil.rmtree(path.parent, ignore_errors=True)
                break
    raise BuildError(
        f"the library that {shlex.join(find_compiler() or ['the compiler'])} builds cannot be loaded:"
        f" {reason}"
    )


def build_library(source: str | Source, *, in_background: bool = False) -> Path:
    """Return the library for this source, from the cache or built now.

    Raises:
        BuildError: if there is no compiler, it fails, or there is no space for the library.
    """
    if (library := cached_library(source)) is not None:
        return library
    compiler = find_compiler()
    if compiler is None:
        raise BuildError(NO_COMPILER)
    try:
        text = source if isinstance(source, str) else source.write()
        return add_library(
            _key(source), lambda folder: _compile(compiler, text, folder, in_background)
        )
    except ModelError as error:  # VARIMECH_CACHE_MB is not a number
        raise BuildError(str(error)) from None
    except OSError as error:
        raise BuildError(
            f"cannot build in {cache_folder()}: {error.strerror or error}; set VARIMECH_CACHE to a"
            " folder with room, and CC to a compiler that works"
        ) from None


def _compile(compiler: list[str], source: str, folder: Path, in_background: bool) -> None:
    text = folder / "program.c"
    text.write_text(source, encoding="utf-8")
    options = (*flags(source), *(MODEST if _is_gcc(compiler) else ()))
    command = [*compiler, *options, str(text), "-o", str(folder / LIBRARY), "-lm"]
    failed, complaints = (_executed_in_background if in_background else _executed)(command)
    if failed:
        raise BuildError(f"{shlex.join(compiler)} failed:\n{complaints.strip()[-2000:]}")


def _is_gcc(compiler: list[str]) -> bool:
    """Return whether a compiler is GCC, by its name; other compilers reject some of its options."""
    return "gcc" in os.path.basename(os.path.realpath(shutil.which(compiler[0]) or ""))


def _executed(command: list[str]) -> tuple[bool, str]:
    """Execute a command; return whether it failed, and its error output. A progress bar is shown if
    it takes long.
    """
    with (
        progress_bar("compiling", None) as report,
        deferred_interrupts() as held,
        _started(command) as process,
    ):
        try:
            with held.allowed():
                while True:
                    try:
                        _, complaints = process.communicate(timeout=0.25)
                        return process.returncode != 0, complaints
                    except subprocess.TimeoutExpired:
                        report(0)
        except BaseException:  # Ctrl-C: leave no process behind
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise


def _executed_in_background(command: list[str]) -> tuple[bool, str]:
    with _started(command) as process:
        with suppress(OSError):  # it may have ended
            os.setpriority(os.PRIO_PGRP, process.pid, NICE)
        try:
            _, complaints = process.communicate(timeout=LONGEST_BUILD)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            return True, f"it has not finished within {LONGEST_BUILD:g} s"
        return process.returncode != 0, complaints


WATCHED = (
    "exec 3<&0; { cat; kill -9 0; } <&3 >/dev/null 2>&1 &"
    ' "$@" 3<&- </dev/null; status=$?; kill $!; exit $status'
)
"""A shell script that executes a command beside a process that ends both when standard input is
closed.
"""
_watched: set[int] = set()
"""Our ends of the pipes that these processes read."""


@after_fork
def _leave_watched() -> None:
    """Close the pipes in a forked process, which would keep the compiler of a killed process alive."""
    while _watched:
        os.close(_watched.pop())


@contextmanager
def _started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Start a command in its own process group, since compilers consist of several programs. A
    process beside them waits until the pipe from this process breaks, and then ends the group: a
    killed Python leaves no compiler behind.
    """
    ours = theirs = -1
    if os.name == "posix" and shutil.which("sh"):
        theirs, ours = os.pipe()
        _watched.add(ours)
        command = ["sh", "-c", WATCHED, "sh", *command]
    try:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL if theirs < 0 else theirs,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,
        ) as process:
            yield process
    finally:
        _watched.discard(ours)
        for end in (ours, theirs):
            if end >= 0:
                os.close(end)


def _key(source: str | Source) -> str:
    text, options = (
        (source, flags(source))
        if isinstance(source, str)
        else (source.identity, (*FLAGS, str(LONG_SOURCE)))
    )
    parts = (text, " ".join(options), sys.platform, platform.machine(), _processor())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _processor() -> str:
    """Return the processor features that `-march=native` depends on; a cache may be shared between
    machines.
    """
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")
