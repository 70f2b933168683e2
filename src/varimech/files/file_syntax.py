"""How model files write what Python says with arguments and calls: as keys.

    formulation='ali3p'   formulation: ali3p        start(near=…)   start: {near: …}

Arguments that are no keys are written as Python does.
"""

from __future__ import annotations

from functools import cache

from ..core.messages import BARE, Call, PerInterface, PythonSyntax, alternatives

SECTIONS = {"start": "start", "parameter": "parameters", "table": "tables"}
"""Methods that make no element → the key of a model file."""


class FileSyntax(PythonSyntax):
    """Keys of a model file."""

    def argument(self, name: str, value: object = BARE) -> str:
        """As a key, where it is one."""
        if name not in keys():
            return super().argument(name, value)
        return f"`{name}:`" if value is BARE else f"{name}: {alternatives(value, quoted=False)}"

    def call(self, call: Call) -> str:
        """As a section of the file, where it builds a model."""
        from ..elements.registry import ELEMENTS  # the help of commands needs no elements

        kind = ELEMENTS.get(call.method)
        section = SECTIONS.get(call.method) if kind is None else kind.file_section
        if section is None:
            return super().call(call)
        named = ", ".join(self.argument(*each) for each in call.arguments.items())
        return f"{section}: {{{named}}}" if named else f"{section}:"

    def per_interface(self, text: PerInterface) -> str:
        """As files write it."""
        return text.file


def keys() -> set[str]:
    """All keys that a model file may have."""
    from ..elements.registry import registered

    return _keys(registered())


@cache
def _keys(kinds: tuple[type[object], ...]) -> set[str]:
    """The same with these kinds of elements."""
    from .document import json_schema

    def below(node: object) -> set[str]:
        if isinstance(node, list):
            return set().union(*map(below, node))
        if not isinstance(node, dict):
            return set()
        return set(node.get("properties", ())).union(*map(below, node.values()))

    return below(json_schema())
