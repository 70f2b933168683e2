"""A folder of compiled libraries, kept by content, for any number of processes at once.

An entry is a folder named by the hash of everything its library depends on. It is made under
another name and renamed when complete, so that it is either whole or not there; a checksum of key
and library reveals a damaged or exchanged one. When all of them take more room than they may, those
that were not used for longest go.

Loading a library executes it, so nobody else may be able to put one there (`private_folders.py`): a
cache that others can write to is left alone, and a folder of this process is used in its place.
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
"""How folders begin that are no entries yet, or not any more."""
FORGOTTEN, FRESH = 3600.0, 60.0
"""Seconds after which such a folder is that of a process that was killed, and in which an entry may
be on its way to be loaded.
"""
ROOM = 1000.0
"""MB that the cache may take, where VARIMECH_CACHE_MB does not say otherwise."""


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


def cache_space() -> float:
    """MB that they may take: $VARIMECH_CACHE_MB, else ROOM.

    Raises:
        ModelError: if that is not a number.
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


def found_library(key: str) -> Path | None:
    """The library of this key, if it is there and whole."""
    for folder in (*_private(cache_folder()), *_own):
        if _whole(entry := folder / key):
            with suppress(OSError):
                os.utime(entry)  # used last
            return entry / LIBRARY
    return None


def add_library(key: str, make: Callable[[Path], None]) -> Path:
    """A new entry; `make` writes its library into the folder that it is given.

    Raises:
        OSError: if it cannot be written.
        ModelError: if the room of the cache is no number.
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
    """Give a complete entry its name; if another process was faster and its entry is whole, take
    that one.
    """
    for _ in range(3):
        try:
            fresh.rename(entry)
            return entry / LIBRARY
        except OSError:
            if _whole(entry):
                return entry / LIBRARY
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                with suppress(OSError):
                    entry.unlink()
    raise OSError(f"the damaged entry {entry.name} cannot be replaced")


def _whole(entry: Path) -> bool:
    """Whether an entry is one of this user, undamaged, and made for its own key."""
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
    """Entries of a cache: when each was used last, and its bytes; what goes in this moment is left
    out.
    """
    found = {}
    with suppress(OSError):
        for entry in folder.iterdir():
            with suppress(OSError):
                if entry.is_dir() and not entry.name.startswith("."):
                    found[entry] = (
                        entry.stat().st_mtime,
                        sum(file.stat().st_size for file in entry.iterdir()),
                    )
    return found


def _allocate(folder: Path, room: float) -> None:
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


def builds_under_way(folder: Path) -> list[float]:
    """Seconds that the builds of all processes in a cache have taken so far."""
    now, ages = time.time(), list[float]()
    for begun in folder.glob(f"{BUILDING}*"):
        with suppress(OSError):
            ages.append(now - begun.stat().st_mtime)
    return [age for age in ages if age < FORGOTTEN]


_own: list[Path] = []
"""The folder of this process, where it has one."""
_temporary: set[Path] = set()
"""Folders that go with this process."""
_reported: set[Path] = set()
"""Folders that were reported as not private, or not writable."""


def _private(folder: Path) -> list[Path]:
    """The folder with all links resolved, if it exists and only this user can write to it; else
    none, and why is reported once.
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
    """Warn of a folder; the first time only."""
    if folder not in _reported:
        _reported.add(folder)
        warnings.warn(f"the cache of compiled libraries {folder} {problem}", stacklevel=3)


def _writable(folder: Path) -> Path:
    """The folder itself where it is private, or one of this process alone where it is not, or
    cannot be written.
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
    for folder in list(_temporary):  # a build may end in this moment
        shutil.rmtree(folder, ignore_errors=True)


@after_fork
def _leave_temporary() -> None:
    """They belong to the process that made them."""
    _temporary.clear()
    _own.clear()
