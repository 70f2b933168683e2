"""A folder of compiled libraries, addressed by content, for any number of concurrent processes.

An entry is a folder named by the hash of everything its library depends on. It is built under
another name and renamed when complete, so that it is either whole or absent; a checksum of key and
library reveals a damaged or exchanged library. When the cache exceeds its size limit, the least
recently used entries are deleted.

Loading a library executes it, so nobody else may be able to put one there (`private_folders.py`): a
cache that others can write to is not used, and a temporary folder of this process replaces it.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..core.errors import ModelError
from .background import after_fork
from .private_folders import exposure, is_private

LIBRARY, CHECKSUM = "program.so", "sha256"
BUILDING, GOING = ".building-", ".going-"
"""Prefixes of folders that are being built, or being deleted."""
FORGOTTEN, FRESH = 3600.0, 60.0
"""Age (s) from which on such a folder belongs to a process that was killed, and age below which an
entry is kept because it may be about to be loaded.
"""
ROOM = 1000.0
"""Size limit of the cache (MB), unless VARIMECH_CACHE_MB sets another one."""


def cache_folder() -> Path:
    """Return the folder of the cache: $VARIMECH_CACHE, else `varimech` in the user's cache folder."""
    if given := os.environ.get("VARIMECH_CACHE"):
        return Path(given)
    if base := os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA"):
        return Path(base) / "varimech"
    try:
        return Path.home() / ".cache" / "varimech"
    except RuntimeError:  # a user without a home: nothing can be kept
        return Path(os.devnull) / "varimech"


def cache_space() -> float:
    """Return the size limit of the cache (MB): $VARIMECH_CACHE_MB, else ROOM.

    Raises:
        ModelError: if it is not a number.
    """
    given = os.environ.get("VARIMECH_CACHE_MB", "")
    try:
        room = float(given or ROOM)
    except ValueError:
        room = -1.0
    if not room >= 0:
        raise ModelError(
            f"VARIMECH_CACHE_MB = {given!r} must be a number of megabytes that the cache may take,"
            " or inf"
        )
    return room


def find_library(key: str) -> Path | None:
    """Return the library of this key, if it exists and is intact."""
    for folder in (*_private(cache_folder()), *_own):
        if _is_intact(entry := folder / key):
            with suppress(OSError):
                os.utime(entry)  # it is the most recently used one
            return entry / LIBRARY
    return None


def add_library(key: str, make: Callable[[Path], None]) -> Path:
    """Add an entry; `make` writes its library into the folder that it receives.

    Raises:
        OSError: if it cannot be written.
        ModelError: if the size limit of the cache is not a number.
    """
    room, folder = cache_space(), _writable(cache_folder())
    made = _temporary_folder(BUILDING, folder)
    try:
        fresh = made / "entry"
        fresh.mkdir(mode=0o700)
        make(fresh)
        (fresh / CHECKSUM).write_text(_digest(key, fresh / LIBRARY), encoding="utf-8")
        for path in fresh.iterdir():  # whatever the umask was
            with suppress(OSError):  # a file system without modes
                path.chmod(0o600)
        library = _install(fresh, folder / key)
    finally:
        shutil.rmtree(made, ignore_errors=True)
        _temporary.discard(made)
    _allocate(folder, room)
    return library


def _install(fresh: Path, entry: Path) -> Path:
    """Rename a complete entry to its final name; if another process was faster and its entry is
    intact, use that one.
    """
    for _ in range(3):
        try:
            fresh.rename(entry)
            return entry / LIBRARY
        except OSError:
            if _is_intact(entry):
                return entry / LIBRARY
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                with suppress(OSError):
                    entry.unlink()
    raise OSError(f"the damaged entry {entry.name} cannot be replaced")


def _is_intact(entry: Path) -> bool:
    """Return whether an entry belongs to this user, is undamaged, and was built for its own key."""
    try:
        private = all(is_private(path) for path in (entry, entry / LIBRARY, entry / CHECKSUM))
        return (
            private
            and (entry / CHECKSUM).read_bytes() == _digest(entry.name, entry / LIBRARY).encode()
        )
    except OSError:
        return False


def _digest(key: str, library: Path) -> str:
    return hashlib.sha256(key.encode() + b"\0" + library.read_bytes()).hexdigest()


def entries_of(folder: Path) -> dict[Path, tuple[float, int]]:
    """Return the entries of a cache with their times of last use and sizes (bytes), without those
    that are being deleted.
    """
    entries = {}
    with suppress(OSError):
        for entry in folder.iterdir():
            with suppress(OSError):
                if entry.is_dir() and not entry.name.startswith("."):
                    entries[entry] = (
                        entry.stat().st_mtime,
                        sum(file.stat().st_size for file in entry.iterdir()),
                    )
    return entries


def _allocate(folder: Path, room: float) -> None:
    """Delete the least recently used entries beyond the size limit, and the remains of killed
    processes.
    """
    entries, now = entries_of(folder), time.time()
    taken = sum(size for _, size in entries.values())
    for entry, (used, size) in sorted(entries.items(), key=lambda item: item[1][0]):
        if taken <= room * 1e6 or now - used < FRESH:
            break
        _remove(entry)
        taken -= size
    for prefix in (BUILDING, GOING):
        for left in folder.glob(f"{prefix}*"):
            with suppress(OSError):
                if now - left.stat().st_mtime > FORGOTTEN:
                    shutil.rmtree(left, ignore_errors=True)


def _remove(entry: Path) -> None:
    """Delete an entry such that other processes find it whole or not at all."""
    with suppress(OSError):
        deleted = entry.with_name(f"{GOING}{os.getpid()}-{entry.name}")
        entry.rename(deleted)
        shutil.rmtree(deleted, ignore_errors=True)


def builds_under_way(folder: Path) -> list[float]:
    """Return for how long (s) the builds of all processes in a cache have been running."""
    now, ages = time.time(), list[float]()
    for building in folder.glob(f"{BUILDING}*"):
        with suppress(OSError):
            ages.append(now - building.stat().st_mtime)
    return [age for age in ages if age < FORGOTTEN]


_own: list[Path] = []
"""The temporary cache of this process, if it has one."""
_temporary: set[Path] = set()
"""Folders that are deleted when this process ends."""
_reported: set[Path] = set()
"""Folders that were reported as not private, or not writable."""


def _private(folder: Path) -> list[Path]:
    """Return the folder with all links resolved, if it exists and only this user can write to it;
    otherwise an empty list, after reporting the reason once.
    """
    try:
        place = folder.resolve(strict=True)
        reason = exposure(place)
    except (OSError, RuntimeError):  # not there; or links in a circle
        return []
    if reason is None:
        return [place]
    _report(
        folder,
        f"is not used, because {reason}: they could plant code there. Libraries are built anew for"
        " each process until it is private (`chmod 700`, by its owner, after deleting what is in"
        " it), or VARIMECH_CACHE names another folder",
    )
    return []


def _report(folder: Path, problem: str) -> None:
    """Warn about a folder, the first time only."""
    if folder not in _reported:
        _reported.add(folder)
        warnings.warn(f"the cache of compiled libraries {folder} {problem}", stacklevel=3)


def _writable(folder: Path) -> Path:
    """Return the folder itself if it is private and can be written, otherwise a temporary folder of
    this process.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        for place in _private(folder):
            with tempfile.TemporaryFile(dir=place):
                return place
    except OSError as error:
        _report(
            folder,
            f"cannot be written ({error.strerror or error}): libraries are built anew for each"
            " process until it can, or VARIMECH_CACHE names another folder",
        )
    if not _own:
        _own.append(_temporary_folder("varimech-"))
    return _own[0]


def _temporary_folder(prefix: str, within: Path | None = None) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=within)).resolve()
    _temporary.add(folder)
    return folder


@atexit.register
def _remove_temporary() -> None:
    for folder in list(_temporary):  # a build may end at this moment
        shutil.rmtree(folder, ignore_errors=True)


@after_fork
def _leave_temporary() -> None:
    """Forget temporary folders in a forked process: they belong to the process that created them."""
    _temporary.clear()
    _own.clear()
