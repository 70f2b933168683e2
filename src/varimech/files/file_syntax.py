"""Model-file syntax for arguments and calls in messages: they become keys.

    formulation='ali3p'   formulation: ali3p        start(near=…)   start: {near: …}

Arguments that are not keys are written as in Python.
"""

from __future__ import annotations

from functools import cache

from ..core.messages import BARE, Call, PerInterface, PythonSyntax, alternatives

SECTIONS = {"start": "start", "parameter": "parameters", "table": "tables"}
"""Methods that add no element → section of the model file."""


class FileSyntax(PythonSyntax):
    """Syntax of model files."""

    def argument(self, name: str, value: object = BARE) -> str:
        """Write an argument as a key, if it is one."""
        if name not in keys():
            return super().argument(name, value)
        return f"`{name}:`" if value is BARE else f"{name}: {alternatives(value, quoted=False)}"

    def call(self, call: Call) -> str:
        """Write a call as a section of the file, if it builds a model."""
        from ..elements.registry import ELEMENTS  # the help of commands needs no elements

        kind = ELEMENTS.get(call.method)
        section = SECTIONS.get(call.method) if kind is None else kind.file_section
        if section is None:
            return super().call(call)
        named = ", ".join(self.argument(*each) for each in call.arguments.items())
        return f"{section}: {{{named}}}" if named else f"{section}:"

    def per_interface(self, text: PerInterface) -> str:
        """Return the text for model files."""
        return text.file


def keys() -> set[str]:
    """All keys that a model file may have."""
    from ..elements.registry import registered

    return _keys(registered())


@cache
def _keys(kinds: tuple[type[object], ...]) -> set[str]:
    """Keys of the sections, with these kinds of elements."""
    from .document import json_schema

    def below(node: object) -> set[str]:
        if isinstance(node, list):
            return set().union(*map(below, node))
        if not isinstance(node, dict):
            return set()
        return set(node.get("properties", ())).union(*map(below, node.values()))

    return below(json_schema())
