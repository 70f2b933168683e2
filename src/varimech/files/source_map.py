"""YAML as plain data, with the line of every entry; built from the parser's events, so that no file
can do harm.

Only mappings, lists and scalars of YAML are accepted. Numbers, true, false and null are those of
YAML 1.2 (yes, no, on and off are texts); keys are texts. Aliases may repeat complete nodes, up to a
bound on the whole; tags and several documents in a file are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import FileError, ModelError
from .file_syntax import FileSyntax

BYTES, DEPTH, NODES, CHARACTERS = 8_000_000, 40, 400_000, 100
"""Limits: bytes of a file; its nesting depth; number of nodes after aliases are expanded; and
number of characters of a text that count as one more node.
"""
LONGEST = 600
"""Largest number of characters in an error message."""
_NUMBER = re.compile(
    r"[-+]?(0|[1-9][0-9]*)|[-+]?(\.[0-9]+|(?:0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
)
_WORDS: dict[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}
Where = tuple[str | int, ...]
"""Path of an entry: the keys and indices that lead to it."""


@dataclass
class SourceMap:
    """Plain data with the line of each entry, by its path of keys and indices."""

    path: Path
    data: object = None
    lines: dict[Where, int] = field(default_factory=dict)

    def line(self, where: Where) -> int:
        """Line of an entry, or of the entry that should contain it."""
        while where and where not in self.lines:
            where = where[:-1]
        return self.lines.get(where, 1)

    def error(self, where: Where, message: str) -> FileError:
        """Return an error about an entry of the file."""
        return FileError(brief(message), self.path, self.line(where), brief(_joined(where)))


@contextmanager
def placing_errors(marked: SourceMap, where: Where) -> Iterator[None]:
    """Add the position in the file to errors of element methods."""
    try:
        yield
    except FileError:
        raise
    except ModelError as error:
        error.syntax = FileSyntax()
        located = marked.error((*where, *_place(marked, where, error)), str(error))
        located.element, located.value, located.remedy = error.element, error.value, error.remedy
        raise located from None


def _place(marked: SourceMap, where: Where, error: ModelError) -> Where:
    """Path of the key that an error is about: its field, or the one that holds its value."""
    data = marked.data
    for key in where:
        data = data[key] if isinstance(data, dict) and key in data else None
    entry = data if isinstance(data, dict) else {}
    for name in (error.field, error.element):
        if name in entry:
            return (name,)
    if isinstance(value_in_error := error.value, str):
        for key, value in entry.items():
            if isinstance(value, dict) and value_in_error in value:
                return key, value_in_error
            if value_in_error == value or (isinstance(value, list) and value_in_error in value):
                return (key,)
    return ()


def read_yaml(path: Path) -> SourceMap:
    """Read a file.

    Raises:
        FileError: with file and line, if the file is not plain YAML.
    """
    try:
        with path.open("rb") as file:
            content = file.read(BYTES + 1)
        if len(content) > BYTES:
            raise FileError(
                f"has more than {BYTES / 1e6:.0f} MB, which is all that a model file may have", path
            )
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", path) from None
    except UnicodeDecodeError:
        raise FileError("is not UTF-8 text; save it as UTF-8", path) from None
    return parse_yaml(text, path)


def parse_yaml(text: str, path: Path) -> SourceMap:
    """Parse a text; `path` is its name in errors."""
    import yaml

    builder = _Builder(SourceMap(path))
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(filter(None, (error.context, error.problem)))
        line = mark.line if mark else 0
        raise FileError(
            f"is not YAML: {reason}; {_remedy(reason, text.splitlines()[line : line + 1])}",
            path,
            line + 1,
        ) from None
    except yaml.YAMLError as error:
        raise FileError(f"is not YAML: {' '.join(str(error).split())[:200]}", path) from None
    return builder.marked


def _remedy(reason: str, line: list[str]) -> str:
    """Remedy for the probable mistake where YAML cannot be parsed."""
    if any(re.match(r" *\t", each) for each in line):
        return "the line begins with a tab: indent by spaces"
    if "flow" in reason:
        return (
            "brackets and braces are closed, and a text that has some, or quotes, stands in '…' as"
            " a whole"
        )
    return "entries of one section are indented alike, and a space belongs after each colon"


@dataclass
class _Open:
    """A mapping or list that is being read."""

    data: dict[str, object] | list[object]
    where: Where
    anchor: str | None
    nodes: int = 1
    key: str | None = None


class _Builder:
    """Builds plain data from a stream of events. No recursion: depth is only a number here."""

    def __init__(self, marked: SourceMap):
        self.marked = marked
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[object, int]] = {}
        self._documents = 0

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        line = event.start_mark.line + 1
        if kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                raise self._refused(
                    line, "has a second document after ---; write it to a separate file"
                )
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._check_tag(event, line)
            if len(self._open) >= DEPTH:
                raise self._refused(line, f"is nested more than {DEPTH} deep")
            where = self._enter(line)
            self._open.append(_Open({} if kind[0] == "M" else [], where, event.anchor))
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            done = self._open.pop()
            self._put(done.data, done.nodes, done.anchor, line)
        elif kind == "ScalarEvent":
            self._scalar(event, line)
        elif kind == "AliasEvent":
            if event.anchor not in self._anchors:
                raise self._refused(
                    line,
                    f"*{event.anchor} refers to an entry that contains it, or is not defined before",
                )
            self._enter(line)
            self._put(*self._anchors[event.anchor], None, line)

    def _scalar(self, event: Any, line: int) -> None:
        self._check_tag(event, line)
        here = self._open[-1] if self._open else None
        if here is not None and isinstance(here.data, dict) and here.key is None:
            key = str(event.value)
            if key in here.data:
                raise self._refused(
                    line,
                    f"the key {key!r} stands twice in {_named(here.where)}, at first on line"
                    f" {self.marked.line((*here.where, key))}",
                )
            here.key = key
            self.marked.lines[(*here.where, key)] = line
            return
        self._enter(line)
        weight = 1 + len(event.value) // CHARACTERS
        self._put(
            plain(event.value) if event.implicit[0] else event.value, weight, event.anchor, line
        )

    def _enter(self, line: int) -> Where:
        """Path of the next node."""
        if not self._open:
            self.marked.lines[()] = line
            return ()
        here = self._open[-1]
        if isinstance(here.data, list):
            where = (*here.where, len(here.data))
            self.marked.lines[where] = line
            return where
        if here.key is None:
            raise self._refused(line, "a key must be a simple text")
        return (*here.where, here.key)

    def _put(self, data: object, nodes: int, anchor: str | None, line: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = data, nodes
        if not self._open:
            self.marked.data = data
            return
        here = self._open[-1]
        here.nodes += nodes
        if here.nodes > NODES:
            raise self._refused(line, f"has more than {NODES} entries, aliases written out")
        if isinstance(here.data, list):
            here.data.append(data)
        else:
            assert here.key is not None
            here.data[here.key] = data
            here.key = None

    def _check_tag(self, event: Any, line: int) -> None:
        if event.tag is not None and event.tag != "!":
            raise self._refused(line, f"has the tag {event.tag}; model files have none")

    def _refused(self, line: int, message: str) -> FileError:
        return FileError(brief(message), self.marked.path, line)


def plain(text: str) -> Any:
    """Convert a scalar without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text
    return int(text) if match[1] is not None and len(text) < 16 else float(text)


def brief(text: str, most: int = LONGEST) -> str:
    """Shorten a message to its beginning and its end, which contains the remedy: a text from a file
    may be as long as the file.
    """
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-(most // 2) :]}"


def _joined(where: Where) -> str:
    """Join keys into one text; non-printable characters are escaped as in Python, so that a key
    cannot affect a terminal.
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in ".".join(map(str, where)))


def _named(where: Where) -> str:
    return _joined(where) or "the file"
