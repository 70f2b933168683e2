"""YAML as plain data, with the line of everything in it; built from the parser's events, so that no
file can do harm.

Of YAML it takes mappings, lists and scalars. Numbers, true, false and null are those of YAML 1.2
(yes, no, on and off are texts); keys are texts. Aliases may repeat what is complete, up to a bound
on the whole; tags and several documents in a file are refused.
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
"""Of a file, of its nesting, of all that is in it when aliases are written out; and of a text that
counts as one more entry there.
"""
LONGEST = 600
"""Characters of a message about a mistake."""
_NUMBER = re.compile(
    r"[-+]?(0|[1-9][0-9]*)|[-+]?(\.[0-9]+|(?:0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
)
_WORDS: dict[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}
Where = tuple[str | int, ...]
"""Keys and indices on the way to something."""


@dataclass
class SourceMap:
    """Plain data with the lines that things stand on, by the keys and indices on the
    way to them.
    """

    path: Path
    data: object = None
    lines: dict[Where, int] = field(default_factory=dict)

    def line(self, where: Where) -> int:
        """The line of something, or of what it should be in."""
        while where and where not in self.lines:
            where = where[:-1]
        return self.lines.get(where, 1)

    def error(self, where: Where, message: str) -> FileError:
        """An error about something in the file."""
        return FileError(brief(message), self.path, self.line(where), brief(_joined(where)))


@contextmanager
def placing_errors(marked: SourceMap, where: Where) -> Iterator[None]:
    """Errors of element methods get the place in the file."""
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
    """The key of an entry that an error is about: its field, or the one that holds its value."""
    data = marked.data
    for key in where:
        data = data[key] if isinstance(data, dict) and key in data else None
    entry = data if isinstance(data, dict) else {}
    for name in (error.field, error.element):
        if name in entry:
            return (name,)
    if isinstance(given := error.value, str):
        for key, value in entry.items():
            if isinstance(value, dict) and given in value:
                return key, given
            if given == value or (isinstance(value, list) and given in value):
                return (key,)
    return ()


def read_yaml(path: Path) -> SourceMap:
    """Read a file.

    Raises:
        FileError: with file and line, for whatever is not plain YAML.
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
        raise FileError("is not text in UTF-8; save it so", path) from None
    return parse_yaml(text, path)


def parse_yaml(text: str, path: Path) -> SourceMap:
    """The same of a text; `path` is what errors call it."""
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
    """What is likely meant where YAML cannot be read."""
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
    """Takes events one after the other. No recursion: depth is a number here."""

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
                    line, "has a second document after ---; write it to a file of its own"
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
                    line, f"*{event.anchor} repeats what contains it, or is not said before"
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
        """Where the next thing belongs."""
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
    """What a scalar without quotes means."""
    if text in _WORDS:
        return _WORDS[text]
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text
    return int(text) if found[1] is not None and len(text) < 16 else float(text)


def brief(text: str, most: int = LONGEST) -> str:
    """Its beginning and its end, where the remedy is: what a file holds may be as long
    as the file.
    """
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-(most // 2) :]}"


def _joined(where: Where) -> str:
    """Keys as one text; what cannot be seen is written as in Python, so that a key does nothing to
    a terminal.
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in ".".join(map(str, where)))


def _named(where: Where) -> str:
    return _joined(where) or "the file"
