"""Writing tolerances of parameters into the text of a model file."""

from __future__ import annotations

import yaml

from ..core.errors import ModelError
from .editing import _found, _pairs, _replaced, _root, in_unit_of, shortest


def with_tolerance(text: str, name: str, width: float) -> str:
    """The text with another bilateral tolerance of a parameter, in the unit of its value.

    Args:
        text: of a model file.
        name: of the parameter.
        width: half of the tolerance zone, in SI units.

    Raises:
        ModelError: for a parameter that the text does not have, or one with a distribution.
    """
    if not width > 0:
        raise ModelError(f"the tolerance of {name!r} is {width:g}", remedy="give a positive one")
    node = _found(_root(text), ("parameters", name))
    if not isinstance(node, yaml.MappingNode):
        entry = f"{{value: {_source(text, node)}, tolerance: {in_unit_of(node.value, width)}}}"
        return _replaced(text, node, entry)
    known = dict(_pairs(node))
    if "distribution" in known:
        raise ModelError(
            f"parameter {name!r} has a distribution", remedy="change it in the text instead"
        )
    value = known.get("value")
    if "tolerance" in known:
        before = known["tolerance"]
        return _replaced(text, before, in_unit_of(before.value, width))
    entry = shortest(width) if value is None else in_unit_of(value.value, width)
    last = node.value[-1][1]
    if node.flow_style:
        end = last.end_mark.index
        return f"{text[:end]}, tolerance: {entry}{text[end:]}"
    indent = " " * node.value[0][0].start_mark.column
    begin = node.value[0][0].start_mark.index
    return f"{text[:begin]}tolerance: {entry}\n{indent}{text[begin:]}"


def _source(text: str, node: yaml.Node) -> str:
    return text[node.start_mark.index : node.end_mark.index]
