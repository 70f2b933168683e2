"""A folder of compiled libraries, kept by content, for any number of processes at once.

An entry is a folder named by the hash of everything its library depends on. It is made under another name and renamed when complete, so that
it is either whole or not there; a checksum beside the library tells a damaged one. When all of them take more room than they may, those that
were not used for longest go.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..errors import ModelError

LIBRARY, CHECKSUM = "program.so", "sha256"
BUILDING, GOING = ".building-", ".going-"
"""How folders begin that are no entries yet, or not any more."""
FORGOTTEN, FRESH = 3600.0, 60.0
"""Seconds after which such a folder is that of a process that was killed, and in which an entry may be on its way to be loaded."""
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


def cache_room() -> float:
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
        raise ModelError(f"VARIMECH_CACHE_MB = {given!r} must be a number of megabytes that the cache may take, or inf")
    return room


def found_library(key: str) -> Path | None:
    """The library of this key, if it is there and whole."""
    for folder in (cache_folder(), *_own):
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
    room, folder = cache_room(), _writable(cache_folder())
    with tempfile.TemporaryDirectory(prefix=BUILDING, dir=folder) as made:
        fresh = Path(made) / "entry"
        fresh.mkdir()
        make(fresh)
        (fresh / CHECKSUM).write_text(_digest(fresh / LIBRARY), encoding="utf-8")
        library = _install(fresh, folder / key)
    _make_room(folder, room)
    return library


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
    raise OSError(f"the damaged entry {entry.name} cannot be replaced")


def _whole(entry: Path) -> bool:
    try:
        return (entry / CHECKSUM).read_bytes() == _digest(entry / LIBRARY).encode()
    except OSError:
        return False


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


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
