"""Messages as data: text with the caller's arguments in it, which each interface writes in its own
syntax.

    Message("{step} sets a fixed step size and {tolerance} selects adaptive steps")
    Message("mechanism {!r} has a beam: use {coordinates}", name, coordinates="natural")
    Message("give {} rough angles", Call("start", near=...))

Named holes are arguments: by name alone, or with a value (several: alternatives; `...` where it is
the user's). Positional holes are values, formatted as `str.format` does; calls and `PerInterface`
among them are rendered, too. Python writes `coordinates='natural'`, a model file `coordinates: natural`
(`files.file_syntax`), a command `--coordinates natural` (`cli.command_syntax`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

BARE = object()
"""Value of an argument that is named without a value."""


class Call:
    """A call of a method of a mechanism, with some of its arguments."""

    def __init__(self, method: str, /, **arguments: object):
        self.method = method
        self.arguments = arguments


@dataclass(frozen=True)
class PerInterface:
    """A text that Python and model files write in different ways."""

    python: str
    file: str


class PythonSyntax:
    """Syntax in which an interface writes arguments and calls; this one is Python's."""

    def argument(self, name: str, value: object = BARE) -> str:
        """An argument, with its value if there is one: `tolerance=`, `tolerance=1e-6`."""
        return f"{name}={'' if value is BARE else alternatives(value, quoted=True)}"

    def given(self, name: str, value: object) -> str:
        """An argument with the value that the user gave: `step = -1.0`."""
        return f"{name} = {shortened(value)}"

    def call(self, call: Call) -> str:
        """A call: `start(near=…)`, `monte_carlo(…)`."""
        named = [self.argument(*each) for each in call.arguments.items()]
        rest = [] if call.method in STANDS_ALONE and named else ["…"]
        return f"{call.method}({', '.join([*rest, *named])})"

    def per_interface(self, text: PerInterface) -> str:
        """Return the text of this interface."""
        return text.python

    def __repr__(self) -> str:
        return type(self).__name__


STANDS_ALONE = ("start", "body", "bar")
"""Methods all of whose arguments are keywords."""
PYTHON = PythonSyntax()


class Message:
    """A message template with arguments that each interface writes in its own syntax."""

    def __init__(self, template: str, /, *values: object, **arguments: object):
        self.template = template
        self.values = values
        self.arguments = arguments

    def text(self, syntax: PythonSyntax) -> str:
        """Return the message in the syntax of an interface."""
        values = [rendered(value, syntax) for value in self.values]
        return Formatter().vformat(self.template, values, _Arguments(self.arguments, syntax))

    def __str__(self) -> str:
        return self.text(PYTHON)


Text = str | Message


def rendered(value: object, syntax: PythonSyntax) -> Any:
    """Render a message or a part of one; return other values unchanged."""
    if isinstance(value, Message):
        return value.text(syntax)
    if isinstance(value, Call):
        return syntax.call(value)
    return syntax.per_interface(value) if isinstance(value, PerInterface) else value


class _Arguments(dict[str, object]):
    """Arguments by name, in the syntax of an interface."""

    def __init__(self, arguments: Mapping[str, object], syntax: PythonSyntax):
        super().__init__({n: syntax.argument(n, value) for n, value in arguments.items()})
        self._syntax = syntax

    def __missing__(self, name: str) -> str:
        return self._syntax.argument(name)


def alternatives(value: object, *, quoted: bool) -> str:
    """Return a value, or several to choose from, as code or as plain text."""
    several = value if isinstance(value, tuple) else (value,)
    return " or ".join(_code(each, quoted) for each in several)


def _code(value: object, quoted: bool) -> str:
    if value is ...:
        return "…"
    if isinstance(value, bool):
        return str(value) if quoted else str(value).lower()
    if isinstance(value, float):
        return f"{value:g}".replace("e-0", "e-").replace("e+0", "e")
    if isinstance(value, list):
        return f"[{', '.join(_code(each, quoted) for each in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k!r}: {_code(v, quoted)}' for k, v in value.items())}}}"
    return repr(value) if quoted and isinstance(value, str) else str(value)


def _numpy_text(value: Any) -> str:
    import numpy as np  # the help of commands needs no arrays

    if np.ndim(value):
        return np.array2string(value, separator=", ")
    return f"{value:g}" if isinstance(value, np.number) else repr(value)


def shortened(value: object, most: int = 120) -> str:
    """Return the user's value as code, long values truncated."""
    text = _numpy_text(value) if type(value).__module__ == "numpy" else repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def first_and_last(texts: Sequence[str], most: int) -> list[str]:
    """Return the first and the last of many texts, with the number of omitted ones between them."""
    if len(texts) <= most:
        return list(texts)
    ends = (most - 1) // 2
    return [
        *texts[: most - 1 - ends],
        f"⋮ {len(texts) - most + 1} more",
        *texts[len(texts) - ends :],
    ]
