"""Remedies in the words of the interface that a caller used.

Messages are written for Python: `step=`, `formulation='ali3p'`, `start(near=…)`. A model file has
keys for these (`formulation: ali3p`, `start: {near: …}`), a command has options (`--formulation
ali3p`). What neither has is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

ANALYSES = {
    "simulate": "varimech run",
    "sensitivity": "varimech sensitivity",
    "moments": "varimech uncertainty --method moments",
    "monte_carlo": "varimech uncertainty --method monte-carlo",
    "optimize": "varimech optimize",
}
"""Methods that analyse a model → the command."""
_VALUE = r"'[^']*'|\"[^\"]*\"|…|\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)|[-+]?\d[\w.+-]*|True|False"
_ARGUMENT = re.compile(rf"(?<![\w.'\"-])([a-z_]+)=(?!=)({_VALUE})?")
_GIVEN = re.compile(rf"(?<![\w.'\"-])([a-z_]+) = ({_VALUE})")
_TOLERANCE = re.compile(r"\bspread=varimech\.Tolerance\(([^()]*)\)")
_CALL = re.compile(
    r"(?<![\w.])(?:m\.|varimech\.|Mechanism\.)?([a-z_]+)\((…, |…)?((?:[a-z_]+=[^()]*)?)\)"
)


def in_keys(text: str) -> str:
    """A message in keys of a model file."""
    return _ARGUMENT.sub(_as_key, _calls(_TOLERANCE.sub(r"tolerance=\1", text), _as_section))


def in_options(text: str, options: Mapping[str, str]) -> str:
    """A message in options of a command, argument → option, and in keys of the model file for what
    is no option.
    """

    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        if name not in options:
            return found.group()
        return options[name] if value in (None, "…") else f"{options[name]} {_plain(value)}"

    def analysis(name: str, arguments: str) -> str | None:
        return (
            None
            if name not in ANALYSES
            else f"`{' '.join(filter(None, (ANALYSES[name], _as_flags(arguments))))}`"
        )

    text = _calls(
        _TOLERANCE.sub(r"tolerance=\1", text), _as_section
    )  # keys of the model have no options
    return in_keys(_GIVEN.sub(option, _ARGUMENT.sub(option, _calls(text, analysis))))


def _calls(text: str, written: Callable[[str, str], str | None]) -> str:
    """The text with calls of methods, with their keyword arguments, written otherwise."""

    def call(found: re.Match[str]) -> str:
        name, _, arguments = found.groups()
        return written(name, arguments) or found.group()

    return _CALL.sub(call, text)


def _as_section(name: str, arguments: str) -> str | None:
    from ..elements.registry import find_kind

    kind = find_kind(name)
    own = {"start": "start", "parameter": "parameters"}
    section = own.get(name) if kind is None else kind.file_section
    if section is None:
        return None
    return f"{section}: {{{_ARGUMENT.sub(_as_key, arguments)}}}" if arguments else f"{section}:"


def _as_flags(arguments: str) -> str:
    return _ARGUMENT.sub(
        lambda found: f"--{found[1].replace('_', '-')} {_plain(found[2] or '…')}", arguments
    )


def _as_key(found: re.Match[str]) -> str:
    name, value = found.groups()
    if name not in _keys():
        return found.group()
    return f"{name}: {_plain(value)}" if value else f"`{name}:`"


def _plain(value: str) -> str:
    """A value as files and commands have it: texts without quotes, and truth in small letters."""
    return (
        value.lower() if value in ("True", "False") else value[1:-1] if value[0] in "'\"" else value
    )


@cache
def _keys() -> set[str]:
    """All keys that a model file may have."""
    from .document import json_schema

    def below(node: Any) -> set[str]:
        if isinstance(node, list):
            return set().union(*map(below, node))
        if not isinstance(node, dict):
            return set()
        return set(node.get("properties", ())).union(*map(below, node.values()))

    return below(json_schema())
