"""The state of a study in a folder, so that it can go on after a break.

`state.npz` is what is known after the last chunk that was added up, and is replaced as a whole: whenever a process ends, it is that of some
chunk. It carries a description of everything that decides the numbers, and a study that differs in any of it does not go on from there.
Samples that are kept are in a file for each chunk, `samples-….npz`.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError
from .tally import Failure, Tally

STATE = "state.npz"


class Checkpoint:
    """A folder with the state of a study."""

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        self._about: dict[str, Any] = {}

    def load(self) -> tuple[dict[str, Any], Tally] | None:
        """What the study there is about, and how far it came; None if there is none.

        Raises:
            ModelError: if it cannot be read.
        """
        path = self.folder / STATE
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                about, failures = (json.loads(str(arrays[name])) for name in ("about", "failures"))
                return about, Tally.restored(arrays, [Failure(**f) for f in failures])
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            raise ModelError(f"checkpoint: {path} cannot be read ({error}); delete it, or give another folder") from None

    def begin(self, about: Mapping[str, Any]) -> None:
        """Make the folder ready for a study about this."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(
                f"checkpoint: {self.folder} cannot be made ({error}); give a folder that can be written to"
            ) from None
        self._about = dict(about)

    def save(self, tally: Tally) -> None:
        """Put this state in place of the last one."""
        told = {"about": json.dumps(self._about), "failures": json.dumps([asdict(f) for f in tally.failures])}
        self._write(STATE, {**tally.stored(), **told})

    def keep(self, first: int, parameters: np.ndarray, values: np.ndarray) -> None:
        """Keep the samples of a chunk that begins with this number."""
        self._write(f"samples-{first:012d}.npz", {"parameters": parameters, "values": values})

    def kept(self, taken: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Parameters and values of the first samples, chunk by chunk."""
        for path in sorted(self.folder.glob("samples-*.npz")):
            if int(path.stem.partition("-")[2]) < taken:
                with np.load(path, allow_pickle=False) as arrays:
                    yield arrays["parameters"], arrays["values"]

    def _write(self, name: str, arrays: Mapping[str, Any]) -> None:
        half_done = self.folder / f".{name}.half-done"
        with half_done.open("wb") as file:
            np.savez(file, **arrays)
        os.replace(half_done, self.folder / name)


def check_same(folder: Path, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """A study goes on only as what it was."""
    there, here = (json.loads(json.dumps(about)) for about in (there, here))
    if different := [
        _told(name, there.get(name), here.get(name)) for name in {**there, **here} if there.get(name) != here.get(name)
    ]:
        raise ModelError(
            f"checkpoint: {folder} belongs to another study, which differs in {'; '.join(different)}. Ask for the same, give another folder, "
            "or delete this one"
        )


def _told(name: str, there: Any, here: Any) -> str:
    short = all(isinstance(x, (str, int, float, bool)) or x is None for x in (there, here)) and "digest" not in name
    return f"{name} ({there!r} there, {here!r} here)" if short else name.removesuffix(" (digest)")
