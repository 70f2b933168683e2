"""Checkpoints: the state of a study in a folder, from which it can be resumed.

`state.npz` holds the state after the last added chunk and is replaced atomically, so that it is
complete whenever a process ends. It contains a description of everything that determines the
numbers; a study that differs in any of it is not resumed. Kept samples are stored in one file for
each chunk, `samples-….npz`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from ..core.atomic_files import TEMPORARY, atomic_write
from ..core.errors import ModelError
from .accumulator import Accumulator, Failure

STATE, SEAL = "state.npz", "sha256"
FORMAT = 3
"""Version of the file format; version 1, which did not store its number, had neither sketches nor
32 replicates.
"""
SAMPLES = re.compile(r"samples-(\d{12,})\.npz")
UNFINISHED = re.compile(rf"{TEMPORARY.pattern}(state|samples-\d{{12,}})\.npz")
"""Temporary files of interrupted writes."""
UNREADABLE = (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile)
"""Exceptions from reading truncated, empty or foreign files."""


class Checkpoint:
    """A folder with the state of a study."""

    def __init__(self, folder: str | os.PathLike[str]):
        try:
            self.folder = Path(folder)
        except TypeError:
            problem = "must be the path of a folder"
            raise ModelError(problem, field="checkpoint", value=folder) from None
        self._about: dict[str, object] = {}

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Create the folder and lock it while a study is running; the system releases the lock when
        the process ends.

        Raises:
            ModelError: if the folder cannot be created, or another study is running in it.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"{self.folder} cannot be created ({error})"
            raise _wrong(problem, "give a writable folder") from None
        with _locked(self.folder):
            yield

    def load(self) -> tuple[dict[str, Any], Accumulator] | None:
        """Return description and state of the stored study; None if there is none.

        Raises:
            ModelError: if the stored study cannot be read.
        """
        path = self.folder / STATE
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                _check_format(path, arrays)
                stored = _unsealed(arrays)
                about, failures = (json.loads(str(stored[name])) for name in ("about", "failures"))
                return about, Accumulator.restored(stored, [Failure(**f) for f in failures])
        except ModelError:
            raise
        except UNREADABLE as error:
            raise _unreadable(
                path, error, "delete it to start again, or give another folder"
            ) from None

    def begin(self, about: Mapping[str, Any]) -> None:
        """Prepare the folder for a study with this description. Samples without a state belong to
        another study and are deleted.
        """
        try:
            for path in self.folder.iterdir():
                # left by a process that was killed while writing; no other study runs here
                if UNFINISHED.fullmatch(path.name):
                    path.unlink()
            if not (self.folder / STATE).exists():
                for path in self._files().values():
                    path.unlink()
        except OSError as error:
            problem = f"{self.folder} cannot be prepared ({error})"
            raise _wrong(problem, "give another folder") from None
        self._about = dict(about)

    def save(self, accumulator: Accumulator) -> None:
        """Replace the stored state."""
        texts = {
            "format": FORMAT,
            "about": json.dumps(self._about),
            "failures": json.dumps([asdict(f) for f in accumulator.failures]),
        }
        self._write(STATE, _sealed({**accumulator.stored(), **texts}))

    def keep(self, first: int, parameters: np.ndarray, values: np.ndarray) -> None:
        """Store the samples of a chunk; `first` is the index of its first sample."""
        self._write(_name(first), _sealed({"parameters": parameters, "values": values}))

    def kept(self, taken: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield parameters and values of the first `taken` samples, chunk by chunk.

        Raises:
            ModelError: if samples are missing or cannot be read.
        """
        at, files = 0, self._files()
        while at < taken:
            path = self.folder / _name(at)
            if at not in files:
                problem = f"{path} is missing, with the samples from number {at} on"
                raise _wrong(problem, RESTART)
            try:
                with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                    stored = _unsealed(arrays)
                    parameters, values = stored["parameters"], stored["values"]
                    whole = 0 < len(parameters) == len(values) <= taken - at
            except UNREADABLE as error:
                raise _unreadable(path, error, RESTART) from None
            if not whole:
                problem = f"{path} has {len(values)} samples, which do not add up to {taken}"
                raise _wrong(problem, RESTART)
            yield parameters, values
            at += len(parameters)

    def _files(self) -> dict[int, Path]:
        """Sample files by the index of their first sample; other files may be present."""
        matches = ((SAMPLES.fullmatch(path.name), path) for path in self.folder.iterdir())
        return {int(match[1]): path for match, path in matches if match}

    def _write(self, name: str, arrays: Mapping[str, Any]) -> None:
        with atomic_write(self.folder / name) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())  # a power failure could leave an empty file otherwise


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other studies, where the system supports locks."""
    if fcntl is None:
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise _wrong(
                    f"another study is running in {folder}",
                    "wait until it has ended, or give another folder",
                ) from None
        yield
    finally:
        os.close(opened)


def _sealed(arrays: Mapping[str, object]) -> dict[str, object]:
    """Return the arrays with a digest."""
    return {**arrays, SEAL: _digest(arrays)}


def _unsealed(stored: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the arrays of a file without the digest.

    Raises:
        ValueError: if the arrays do not match the digest.
    """
    arrays = {name: stored[name] for name in stored}
    if str(arrays.pop(SEAL, "")) != _digest(arrays):
        raise ValueError("it was changed after it was written")
    return arrays


def _digest(arrays: Mapping[str, object]) -> str:
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        total.update(repr((name, array.dtype.str, array.shape)).encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def _check_format(path: Path, arrays: Mapping[str, Any]) -> None:
    stored = int(arrays["format"]) if "format" in arrays else 1
    if "about" in arrays and stored != FORMAT:
        raise _wrong(
            f"{path} has format {stored}, of another version of Varimech; this one continues"
            f" format {FORMAT}",
            "finish the study with that version, delete the file to start again, or give another"
            " folder",
        )


RESTART = "delete the folder to start again, or restore the file"


def _name(first: int) -> str:
    return f"samples-{first:012d}.npz"


def _unreadable(path: Path, error: Exception, remedy: str) -> ModelError:
    return _wrong(f"{path} cannot be read ({type(error).__name__}: {error})", remedy)


def _wrong(problem: str, remedy: str) -> ModelError:
    return ModelError(f": {problem}", field="checkpoint", remedy=remedy)


def check_same(folder: Path, stored: Mapping[str, object], requested: Mapping[str, object]) -> None:
    """Check that a stored study has the same description.

    Raises:
        ModelError: if they differ, with the differences.
    """
    stored, requested = (json.loads(json.dumps(about)) for about in (stored, requested))
    if differences := [
        _difference(name, stored.get(name), requested.get(name))
        for name in {**stored, **requested}
        if stored.get(name) != requested.get(name)
    ]:
        problem = f"{folder} belongs to another study, which differs in {'; '.join(differences)}"
        raise _wrong(problem, "use the same settings, give another folder, or delete this one")


def _difference(name: str, there: object, here: object) -> str:
    short = all(isinstance(x, (str, int, float, bool, NoneType)) for x in (there, here))
    return f"{name} ({there!r} there, {here!r} here)" if short else name
