"""Changes to the text of a model file in place: everything else in it, including comments and
layout, is preserved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ..core.errors import FileError, ModelError
from ..core.units import si_value, split_quantity
from .source_map import parse_yaml

DIGITS = 7
"""Significant digits of numbers that are written: more than a drawing resolves."""
INDENT = "  "
ORDER = (
    *("parameters", "tables", "ground", "bodies", "points", "joints", "forces", "drivers"),
    *("modes", "events", "start", "studies"),
)
"""Order of the sections in files that are written from scratch."""
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")


def with_values(text: str, values: Mapping[str, float], digits: int = DIGITS) -> str:
    """Return the text with other nominal values of parameters, each in its existing unit.

    Args:
        text: of a model file.
        values: by parameter, in SI units.
        digits: largest number of significant digits.

    Raises:
        ModelError: for a parameter that the text does not have.
    """
    for name, value in values.items():
        text = with_scalar(text, ("parameters", name, "value"), value, digits)
    return text


def with_scalar(text: str, where: tuple[str, ...], value: float, digits: int = DIGITS) -> str:
    """Replace a number in the text; a number with a unit keeps the unit."""
    node = _node_at(_root(text), where)
    if isinstance(node, yaml.MappingNode):
        raise ModelError(f"{'.'.join(where)} is not a number in the text")
    return _replaced(text, node, in_unit_of(node.value, value, digits))


def in_unit_of(before: str, value: float, digits: int = DIGITS) -> str:
    """Write a number (SI) as a text, in the unit of the text that it replaces."""
    quantity = split_quantity(before)
    if quantity is None:
        return shortest(value, digits)
    unit = quantity[1]
    return f"{shortest(value / si_value(1.0, unit, 'unit'), digits)} {unit}".rstrip()


def shortest(value: float, digits: int = DIGITS) -> str:
    """Write a number with as many significant digits as it needs, `digits` at most."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    return f"{value:.{digits}g}"


def with_tolerance(text: str, name: str, width: float) -> str:
    """Return the text with another bilateral tolerance of a parameter, in the unit of its value.

    Args:
        text: of a model file.
        name: of the parameter.
        width: half of the tolerance zone, in SI units.

    Raises:
        ModelError: for a parameter that the text does not have, or one with a distribution.
    """
    if not 0 < width < math.inf:
        problem = f"the tolerance of {name!r} is {width:g}"
        raise ModelError(problem, remedy="give a positive finite one")
    node = _node_at(_root(text), ("parameters", name))
    if not isinstance(node, yaml.MappingNode):
        entry = f"{{value: {text[node.start_mark.index : node.end_mark.index]}, tolerance: {in_unit_of(node.value, width)}}}"
        return _replaced(text, node, entry)
    children = dict(_pairs(node))
    if "distribution" in children:
        raise ModelError(
            f"parameter {name!r} has a distribution", remedy="change it in the text instead"
        )
    value = children.get("value")
    if "tolerance" in children:
        before = children["tolerance"]
        if isinstance(before, yaml.MappingNode):  # a tolerance with bounds and a cost, which stay
            return _with_width(text, before, width)
        return _replaced(text, before, in_unit_of(before.value, width))
    entry = shortest(width) if value is None else in_unit_of(value.value, width)
    last = node.value[-1][1]
    if node.flow_style:
        end = last.end_mark.index
        return f"{text[:end]}, tolerance: {entry}{text[end:]}"
    indent = " " * node.value[0][0].start_mark.column
    begin = node.value[0][0].start_mark.index
    return f"{text[:begin]}tolerance: {entry}\n{indent}{text[begin:]}"


def _with_width(text: str, node: yaml.MappingNode, width: float) -> str:
    """Replace the width in a tolerance that has bounds or a cost."""
    children = dict(_pairs(node))
    if "width" in children:
        return _replaced(text, children["width"], in_unit_of(children["width"].value, width))
    begin, column = node.value[0][0].start_mark.index, node.value[0][0].start_mark.column
    after = ", " if node.flow_style else "\n" + " " * column
    return f"{text[:begin]}width: {shortest(width)}{after}{text[begin:]}"


def with_entry(text: str, section: str, name: str, entry: str) -> str:
    """Append an entry to a section, which is added if it does not exist.

    Args:
        text: of a model file.
        section: "parameters", "ground", "bodies", ….
        name: of the entry.
        entry: the text after the name, such as "{bar: [A, B], length: 0.1}".

    Raises:
        ModelError: if an entry of that name exists.
    """
    key = quoted(name)
    mapping = dict(_pairs(_root(text)))
    node = mapping.get(section)
    if node is None or not isinstance(node, yaml.MappingNode):
        line = f"{section}:\n{INDENT}{key}: {entry}\n"
        if node is not None:  # an empty section, such as `bodies:`
            return _replaced(text, node, f"\n{INDENT}{key}: {entry}")
        return _in_order(text, mapping, section, line)
    if name in dict(_pairs(node)):
        raise ModelError(f"{section}.{name} is there already", remedy="choose another name")
    if node.flow_style:
        inner = f"{key}: {entry}" if not node.value else f", {key}: {entry}"
        end = node.end_mark.index - 1
        return text[:end].rstrip() + inner + text[end:]
    last_key, last_value = node.value[-1]
    end = _line_end(text, _last(last_value))
    return f"{text[:end]}\n{' ' * last_key.start_mark.column}{key}: {entry}{text[end:]}"


def without_entry(text: str, section: str, name: str) -> str:
    """Remove an entry from a section, and the section if it has no other entry."""
    root = _root(text)
    node = _node_at(root, (section,))
    entries = _pairs(node)
    if name not in dict(entries):
        raise ModelError(f"{section}.{name} is not in the text")
    if len(entries) == 1:
        return _without(text, root, section)
    return _without(text, node, name)


def _without(text: str, mapping: yaml.MappingNode, name: str) -> str:
    place = [key.value for key, _ in mapping.value].index(name)
    key, value = mapping.value[place]
    if mapping.flow_style:
        follows = (
            mapping.value[place + 1][0].start_mark.index if place + 1 < len(mapping.value) else None
        )
        begin = (
            key.start_mark.index
            if follows is not None or place == 0
            else mapping.value[place - 1][1].end_mark.index
        )
        return text[:begin] + text[follows if follows is not None else value.end_mark.index :]
    begin = text.rfind("\n", 0, key.start_mark.index) + 1
    end = _line_end(text, _last(value))
    return text[:begin] + text[end + 1 :]


def _last(node: yaml.Node) -> int:
    """Index of the end of a node; block mappings end where the next node begins."""
    while (
        isinstance(node, (yaml.MappingNode, yaml.SequenceNode))
        and not node.flow_style
        and node.value
    ):
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)


def quoted(name: str) -> str:
    """Quote a name for use as a key, if necessary."""
    plain = name and set(name) <= PLAIN and not name[0].isdigit() and name[0] not in "-."
    return name if plain else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _root(text: str) -> yaml.MappingNode:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ModelError(f"the text is not YAML: {error}") from None
    if not isinstance(root, yaml.MappingNode):
        raise ModelError("the text is not a model file: it has no keys")
    return root


def _pairs(node: yaml.Node | None) -> list[tuple[str, yaml.Node]]:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return [(str(key.value), value) for key, value in pairs]


def _node_at(root: yaml.Node, where: tuple[str, ...]) -> yaml.Node:
    """Return the node at a path of keys; a parameter may be a plain number instead of a mapping
    with a value.
    """
    node = root
    for depth, key in enumerate(where):
        if key == "value" and not isinstance(node, yaml.MappingNode):
            return node
        children = dict(_pairs(node))
        if key not in children:
            raise ModelError(f"{'.'.join(where[: depth + 1])} is not in the text")
        node = children[key]
    return node


def _replaced(text: str, node: yaml.Node, new: str) -> str:
    return text[: node.start_mark.index] + new + text[node.end_mark.index :]


def _line_end(text: str, index: int) -> int:
    """Index of the end of the line, including its comment."""
    end = text.find("\n", index)
    return len(text) if end < 0 else end


def _in_order(text: str, mapping: Mapping[str, yaml.Node], section: str, lines: str) -> str:
    """Insert a section, before the sections that follow it in the usual order."""
    later = ORDER[ORDER.index(section) + 1 :] if section in ORDER else ORDER[-1:]
    places = [node.start_mark.index for key, node in mapping.items() if key in later]
    if not places:
        return text + ("" if text.endswith("\n") else "\n") + lines
    first = min(places)
    key = next(key for key, node in mapping.items() if node.start_mark.index == first)
    begin = text.rfind(f"\n{key}", 0, first) + 1
    blank = "\n" if text[:begin].endswith("\n\n") else ""
    return f"{text[:begin]}{lines}{blank}{text[begin:]}"


def with_value(text: str, where: tuple[str, str], entry: str) -> str:
    """Replace an entry of a section, or add it if it does not exist."""
    section = dict(_pairs(_root(text))).get(where[0])
    node = dict(_pairs(section)).get(where[1])
    if node is None:
        return with_entry(text, *where, entry)
    return text[: node.start_mark.index] + entry + text[_last(node) :]


def plain(text: str) -> dict[str, Any]:
    """The text as plain data, read like a model; empty if it is not YAML."""
    try:
        data = parse_yaml(text, Path()).data
    except FileError:
        return {}
    return data if isinstance(data, dict) else {}


def scalars(text: str) -> list[tuple[tuple[str, ...], bool, yaml.ScalarNode]]:
    """All scalars of the text in order: the keys and indices that lead to them, whether they are
    keys, and the nodes.
    """

    def below(node: yaml.Node, where: tuple[str, ...]) -> list[Any]:
        if isinstance(node, yaml.ScalarNode):
            return [(where, False, node)]
        if isinstance(node, yaml.SequenceNode):
            return [s for k, item in enumerate(node.value) for s in below(item, (*where, str(k)))]
        return [
            s
            for key, value in node.value
            for s in ((where, True, key), *below(value, (*where, str(key.value))))
        ]

    return below(_root(text), ())
