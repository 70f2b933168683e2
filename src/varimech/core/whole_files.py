"""Files that are written as a whole or not at all: beside their place first, and put there when
they are complete.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import ModelError

BESIDE = re.compile(r"\.[0-9a-f]{8}\.")
"""How names of files begin that are not complete yet; a process that is killed leaves one."""


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Where to write what becomes the file. What fails or is stopped leaves nothing, and what was
    there before as it was.

    Raises:
        ModelError: where it cannot be written.
    """
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if (
            place.exists() and not place.is_file()
        ):  # a pipe or a device stays what it is, and a folder says no
            yield place
            return
        place = place.resolve()  # a link stays one, too
        beside = place.with_name(f".{uuid.uuid4().hex[:8]}.{place.name}")  # as BESIDE has it
        try:
            yield beside
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error.strerror or error}") from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text.

    Raises:
        ModelError: where it cannot be written.
    """
    with written_whole(path) as beside:
        beside.write_text(text, encoding="utf-8")
