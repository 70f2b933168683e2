"""Safe reading of XML files from any source: no declarations, no entities, limited size."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from ..core.errors import ModelError

LARGEST = 16 * 2**20
"""Largest file (bytes), a round value far beyond any description of a mechanism."""
DEEPEST = 64
"""Deepest nesting of tags; URDF needs fewer than ten."""


def xml_root(path: str | os.PathLike[str]) -> ElementTree.Element:
    """The root element of a file.

    Raises:
        ModelError: for a file that is missing, too large or not XML, and for one with a DOCTYPE:
            the entities that it declares could grow without bound, or refer to other files.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise ModelError(
                f"larger than the limit of {LARGEST:,} bytes",
                element=str(path),
                remedy="check the file",
            )
    except OSError as error:
        raise ModelError(
            f"cannot be read: {error.strerror}", element=str(path), remedy="check the path"
        ) from None
    try:
        _scanner(path).Parse(text, True)
        return ElementTree.fromstring(text)
    except (expat.ExpatError, ElementTree.ParseError, LookupError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"is not XML: {error}", element=str(path)) from None


def _scanner(path: Path) -> Any:
    """A first parser, which builds nothing and rejects what the second one must not see."""
    parser, depth = expat.ParserCreate(), 0

    def declared(*_: object) -> None:
        line = parser.CurrentLineNumber
        problem = "a DOCTYPE can declare entities, which are not supported"
        raise ModelError(problem, element=f"{path}, line {line}", remedy="remove it")

    def opened(tag: str, _: object) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            problem = f"<{tag}> is nested more than {DEEPEST} deep"
            raise ModelError(
                problem, element=f"{path}, line {parser.CurrentLineNumber}", remedy="check the file"
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
