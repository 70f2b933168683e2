"""Atomic writing of files: into a temporary file beside the target, which replaces it when
complete.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import ModelError

TEMPORARY = re.compile(r"\.[0-9a-f]{8}\.")
"""Beginning of the names of temporary files; a process that is killed leaves one behind."""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path; on success the file there replaces `path`.

    An error or interrupt leaves no temporary file and keeps the previous file.

    Args:
        path: the file to write; missing folders are created.

    Raises:
        ModelError: if it cannot be written.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # pipes and devices are written directly; a folder raises an error
        if target.exists() and not target.is_file():
            yield target
            return
        target = target.resolve()  # keeps symbolic links
        temporary = target.with_name(f".{uuid.uuid4().hex[:8]}.{target.name}")  # matches TEMPORARY
        try:
            yield temporary
            if target.exists():
                shutil.copymode(target, temporary)  # keep a private file private
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error.strerror or error}") from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file atomically (UTF-8).

    Raises:
        ModelError: if it cannot be written.
    """
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
