"""XML files from anywhere, read without following where they point: no declarations, no entities,
nothing huge.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from ..core.errors import ModelError

LARGEST = 16 * 2**20
"""Bytes of a file."""
DEEPEST = 64
"""Tags within tags."""


def xml_root(path: str | os.PathLike[str]) -> ElementTree.Element:
    """The outermost element of a file.

    Raises:
        ModelError: for a file that is missing, too large or no XML, and for one that declares a
            document type: entities declared there could grow without bound, or stand for other
            files.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise ModelError(
                f"{path}: more than {LARGEST:,} bytes are more than a description of a mechanism"
                " has; check the file"
            )
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}; check the path") from None
    try:
        _scanner(path).Parse(text, True)
        return ElementTree.fromstring(text)
    except (expat.ExpatError, ElementTree.ParseError, LookupError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{path} is no XML: {error}") from None


def _scanner(path: Path) -> Any:
    """A first reader, which builds nothing, and refuses what a second should not see."""
    parser, depth = expat.ParserCreate(), 0

    def declared(*_: Any) -> None:
        line = parser.CurrentLineNumber
        raise ModelError(
            f"{path}, line {line}: a DOCTYPE can declare entities, which are not followed;"
            " remove it"
        )

    def opened(tag: str, _: Any) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise ModelError(
                f"{path}, line {parser.CurrentLineNumber}: <{tag}> stands within {DEEPEST} others;"
                " check the file"
            )

    def closed(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartDoctypeDeclHandler, parser.StartElementHandler, parser.EndElementHandler = (
        declared,
        opened,
        closed,
    )
    return parser
