"""The state of a study in a folder, so that it can go on after a break.

`state.npz` is what is known after the last chunk that was added up, and is replaced as a whole:
whenever a process ends, it is that of some chunk. It carries a description of everything that
decides the numbers, and a study that differs in any of it does not go on from there. Samples that
are kept are in a file for each chunk, `samples-….npz`.
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
FORMAT = 2
"""Of what is stored; 1, which was not stored itself, had neither sketches nor 32 replicates."""
SAMPLES = re.compile(r"samples-(\d{12,})\.npz")
UNFINISHED = re.compile(rf"{TEMPORARY.pattern}(state|samples-\d{{12,}})\.npz")
"""Files that were being written."""
UNREADABLE = (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile)
"""What becomes of reading files that are cut, empty, or something else."""


class Checkpoint:
    """A folder with the state of a study."""

    def __init__(self, folder: str | os.PathLike[str]):
        try:
            self.folder = Path(folder)
        except TypeError:
            raise ModelError(f"checkpoint = {folder!r} must be the path of a folder") from None
        self._about: dict[str, Any] = {}

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Make the folder, and keep others out of it as long as a study is under way; the system
        does so, whenever the process ends.

        Raises:
            ModelError: if it cannot be made, or another study is under way there.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(
                f"checkpoint: {self.folder} cannot be made ({error}); give a folder that can be"
                " written to"
            ) from None
        with _locked(self.folder):
            yield

    def load(self) -> tuple[dict[str, Any], Accumulator] | None:
        """What the study there is about, and how far it came; None if there is none.

        Raises:
            ModelError: if it cannot be read.
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
                path, error, "delete it to begin anew, or give another folder"
            ) from None

    def begin(self, about: Mapping[str, Any]) -> None:
        """Make the folder ready for a study about this. Samples that no state knows of are those of
        another study, and go.
        """
        try:
            for path in self.folder.iterdir():
                if UNFINISHED.fullmatch(
                    path.name
                ):  # of a process that was killed while it wrote: this one is alone here
                    path.unlink()
            if not (self.folder / STATE).exists():
                for path in self._files().values():
                    path.unlink()
        except OSError as error:
            raise ModelError(
                f"checkpoint: {self.folder} cannot be made ready ({error}); give another folder"
            ) from None
        self._about = dict(about)

    def save(self, tally: Accumulator) -> None:
        """Put this state in place of the last one."""
        texts = {
            "format": FORMAT,
            "about": json.dumps(self._about),
            "failures": json.dumps([asdict(f) for f in tally.failures]),
        }
        self._write(STATE, _sealed({**tally.stored(), **texts}))

    def keep(self, first: int, parameters: np.ndarray, values: np.ndarray) -> None:
        """Keep the samples of a chunk that begins with this number."""
        self._write(_name(first), _sealed({"parameters": parameters, "values": values}))

    def kept(self, taken: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Parameters and values of the first samples, chunk by chunk.

        Raises:
            ModelError: if some are missing, or cannot be read.
        """
        at, files = 0, self._files()
        while at < taken:
            path = self.folder / _name(at)
            if at not in files:
                raise ModelError(
                    f"checkpoint: {path} is missing, with the samples from number {at} on; {ANEW}"
                )
            try:
                with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                    stored = _unsealed(arrays)
                    parameters, values = stored["parameters"], stored["values"]
                    whole = 0 < len(parameters) == len(values) <= taken - at
            except UNREADABLE as error:
                raise _unreadable(path, error, ANEW) from None
            if not whole:
                raise ModelError(
                    f"checkpoint: {path} has {len(values)} samples, which do not add up to {taken};"
                    f" {ANEW}"
                )
            yield parameters, values
            at += len(parameters)

    def _files(self) -> dict[int, Path]:
        """Files with samples, by the number of the first; files of others may lie beside them."""
        found = ((SAMPLES.fullmatch(path.name), path) for path in self.folder.iterdir())
        return {int(match[1]): path for match, path in found if match}

    def _write(self, name: str, arrays: Mapping[str, Any]) -> None:
        with atomic_write(self.folder / name) as beside, beside.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())  # or a power failure could leave a name without its content


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """A folder that no other study has; where the system has no such locks, that is
    not looked at.
    """
    if fcntl is None:
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ModelError(
                    f"checkpoint: another study is under way in {folder}; wait until it has ended,"
                    " or give another folder"
                ) from None
        yield
    finally:
        os.close(opened)


def _sealed(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The same with a digest of all."""
    return {**arrays, SEAL: _digest(arrays)}


def _unsealed(stored: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """All arrays of a file.

    Raises:
        ValueError: if they are not those that were written.
    """
    arrays = {name: stored[name] for name in stored}
    if str(arrays.pop(SEAL, "")) != _digest(arrays):
        raise ValueError("it was changed after it was written")
    return arrays


def _digest(arrays: Mapping[str, Any]) -> str:
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        total.update(repr((name, array.dtype.str, array.shape)).encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def _check_format(path: Path, arrays: Mapping[str, Any]) -> None:
    there = int(arrays["format"]) if "format" in arrays else 1
    if "about" in arrays and there != FORMAT:
        raise ModelError(
            f"checkpoint: {path} has format {there}, of another version of Varimech; this one"
            f" continues format {FORMAT}. Finish the study with that version, delete the file to"
            " begin anew, or give another folder"
        )


ANEW = "delete the folder to begin anew, or put the file back"


def _name(first: int) -> str:
    return f"samples-{first:012d}.npz"


def _unreadable(path: Path, error: Exception, remedy: str) -> ModelError:
    return ModelError(
        f"checkpoint: {path} cannot be read ({type(error).__name__}: {error}); {remedy}"
    )


def check_same(folder: Path, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """A study goes on only as what it was."""
    there, here = (json.loads(json.dumps(about)) for about in (there, here))
    if different := [
        _told(name, there.get(name), here.get(name))
        for name in {**there, **here}
        if there.get(name) != here.get(name)
    ]:
        raise ModelError(
            f"checkpoint: {folder} belongs to another study, which differs in"
            f" {'; '.join(different)}. Ask for the same, give another folder, or delete this one"
        )


def _told(name: str, there: Any, here: Any) -> str:
    short = (
        all(isinstance(x, (str, int, float, bool)) or x is None for x in (there, here))
        and "digest" not in name
    )
    return f"{name} ({there!r} there, {here!r} here)" if short else name.removesuffix(" (digest)")
