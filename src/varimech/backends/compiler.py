"""Building shared libraries from C, once: found compiler, cache on disk by content, safe when several processes build at once.

A cache entry is a folder named by the hash of everything the library depends on. It is made under another name and renamed when complete, so
that it is either whole or not there; a checksum beside the library tells a damaged one, which is then built anew. When all of them take more
room than they may, those that were not used for longest go.
"""

from __future__ import annotations

import _ctypes
import atexit
import ctypes
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path

from ..interrupts import held_back
from ..progress import progress_bar

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
"""No contraction of products and sums: compiled and interpreted runs then agree to the last bit. GCC 12 contracts some all the same where it
finds vectors in straight-line code (vfmsubadd), so it must not look for them."""
LIBRARY, CHECKSUM = "program.so", "sha256"
BUILDING, GOING = ".building-", ".going-"
"""How folders begin that are no entries yet, or not any more."""
FORGOTTEN, FRESH = 3600.0, 60.0
"""Seconds after which such a folder is that of a process that was killed, and in which an entry may be on its way to be loaded."""
ROOM = 1000.0
"""MB that the cache may take, where VARIMECH_CACHE_MB does not say otherwise."""
NO_COMPILER = "no C compiler found (CC, cc, gcc, clang); `pip install ziglang` brings one for every platform"


class BuildError(Exception):
    """The compiler refused; its own words are in the message."""


def find_compiler() -> list[str] | None:
    """The command of the first C compiler found: $CC, cc, gcc, clang, or the `ziglang` package; None if there is none."""
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


def cache_folder() -> Path:
    """Where libraries are kept: $VARIMECH_CACHE, else `varimech` in the user's cache folder."""
    if given := os.environ.get("VARIMECH_CACHE"):
        return Path(given)
    if base := os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA"):
        return Path(base) / "varimech"
    try:
        return Path.home() / ".cache" / "varimech"
    except RuntimeError:  # a user without a home: nothing can be kept
        return Path(os.devnull) / "varimech"


def cache_room() -> float:
    """MB that they may take: $VARIMECH_CACHE_MB, else ROOM.

    Raises:
        BuildError: if that is not a number.
    """
    given = os.environ.get("VARIMECH_CACHE_MB", "")
    try:
        room = float(given or ROOM)
    except ValueError:
        room = -1.0
    if not room >= 0:
        raise BuildError(f"VARIMECH_CACHE_MB = {given!r} must be a number of megabytes that the cache may take, or inf")
    return room


def cached_library(source: str) -> Path | None:
    """The library built from this source, if it is in the cache and whole."""
    for folder in (cache_folder(), *_own):
        if _whole(entry := folder / _key(source)):
            with suppress(OSError):
                os.utime(entry)  # used last
            return entry / LIBRARY
    return None


def load_library(source: str) -> ctypes.CDLL:
    """The library for this source, ready to be called.

    Raises:
        BuildError: if there is no compiler, it fails, or what it makes cannot be loaded.
    """
    for _ in range(3):
        path = build_library(source)
        try:
            library = ctypes.CDLL(str(path))
            weakref.finalize(library, _ctypes.dlclose, library._handle).atexit = False  # ctypes would keep it loaded for good
            return library
        except OSError as error:
            reason = str(error)
            if path.exists():  # else another process made room in this moment
                shutil.rmtree(path.parent, ignore_errors=True)
                break
    raise BuildError(f"what {shlex.join(find_compiler() or ['the compiler'])} makes cannot be loaded: {reason}")


def build_library(source: str) -> Path:
    """The library for this source, from the cache or built now.

    Raises:
        BuildError: if there is no compiler, it fails, or there is no room for what it makes.
    """
    if (found := cached_library(source)) is not None:
        return found
    compiler, room = find_compiler(), cache_room()
    if compiler is None:
        raise BuildError(NO_COMPILER)
    folder = cache_folder()
    try:
        folder = _writable(folder)
        with tempfile.TemporaryDirectory(prefix=BUILDING, dir=folder) as made:
            fresh = Path(made) / "entry"
            fresh.mkdir()
            _compile(compiler, source, fresh)
            library = _install(fresh, folder / _key(source))
    except OSError as error:
        raise BuildError(
            f"cannot build in {folder}: {error.strerror or error}; set VARIMECH_CACHE to a folder with room, and CC to a compiler that works"
        ) from None
    _make_room(folder, room)
    return library


def entries_of(folder: Path) -> dict[Path, tuple[float, int]]:
    """Entries of a cache: when each was used last, and its bytes; what goes in this moment is left out."""
    found = {}
    with suppress(OSError):
        for entry in folder.iterdir():
            with suppress(OSError):
                if entry.is_dir() and not entry.name.startswith("."):
                    found[entry] = entry.stat().st_mtime, sum(file.stat().st_size for file in entry.iterdir())
    return found


def _make_room(folder: Path, room: float) -> None:
    """Let those go that were not used for longest, and what killed processes left."""
    entries, now = entries_of(folder), time.time()
    taken = sum(size for _, size in entries.values())
    for entry, (used, size) in sorted(entries.items(), key=lambda item: item[1][0]):
        if taken <= room * 1e6 or now - used < FRESH:
            break
        _remove(entry)
        taken -= size
    for begun in (BUILDING, GOING):
        for left in folder.glob(f"{begun}*"):
            with suppress(OSError):
                if now - left.stat().st_mtime > FORGOTTEN:
                    shutil.rmtree(left, ignore_errors=True)


def _remove(entry: Path) -> None:
    """Others find it whole, or not at all."""
    with suppress(OSError):
        going = entry.with_name(f"{GOING}{os.getpid()}-{entry.name}")
        entry.rename(going)
        shutil.rmtree(going, ignore_errors=True)


def _compile(compiler: list[str], source: str, folder: Path) -> None:
    text = folder / "program.c"
    text.write_text(source, encoding="utf-8")
    command = [*compiler, *FLAGS, str(text), "-o", str(folder / LIBRARY), "-lm"]
    failed, complaints = _carried_out(command)
    if failed:
        raise BuildError(f"{shlex.join(compiler)} failed:\n{complaints.strip()[-2000:]}")
    (folder / CHECKSUM).write_text(_digest(folder / LIBRARY), encoding="utf-8")


def _carried_out(command: list[str]) -> tuple[bool, str]:
    """Whether a command fails, and what it complains of; told on the terminal where it takes long."""
    with progress_bar("compiling", None) as tell, held_back() as held, _started(command) as process:
        try:
            with held.let_through():
                while True:
                    try:
                        _, complaints = process.communicate(timeout=0.25)
                        return process.returncode != 0, complaints
                    except subprocess.TimeoutExpired:
                        tell(0)
        except BaseException:  # Ctrl-C: nothing is left behind
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise


def _started(command: list[str]) -> subprocess.Popen[str]:
    """In a group of processes of its own: compilers are several programs."""
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace", process_group=0)


def _install(fresh: Path, entry: Path) -> Path:
    """Give a complete entry its name; if another process was faster and its entry is whole, take that one."""
    for _ in range(3):
        try:
            fresh.rename(entry)
            return entry / LIBRARY
        except OSError:
            if _whole(entry):
                return entry / LIBRARY
            shutil.rmtree(entry, ignore_errors=True)
    raise BuildError(f"cannot replace the damaged cache entry {entry}; remove it by hand")


def _whole(entry: Path) -> bool:
    try:
        return (entry / CHECKSUM).read_bytes() == _digest(entry / LIBRARY).encode()
    except OSError:
        return False


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _key(source: str) -> str:
    parts = (source, " ".join(FLAGS), sys.platform, platform.machine(), _processor())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _processor() -> str:
    """What `-march=native` depends on; a cache may be shared between machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


_own: list[Path] = []
"""The folder of this process, where it has one."""


def _writable(folder: Path) -> Path:
    """The folder itself, or one of this process alone where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        if not _own:  # it goes with the process
            _own.append(Path(tempfile.mkdtemp(prefix="varimech-")))
            atexit.register(shutil.rmtree, _own[0], ignore_errors=True)
        return _own[0]
