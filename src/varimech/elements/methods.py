"""Builder methods, made from the fields of elements. The types of the built-in ones are in
`methods.pyi`, for editors and type checkers; `python tools/write_elements.py` writes that file.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..model.body_element import BodyElement
from ..model.element import Element
from ..model.writing import ModelBuilder, element_method
from .registry import BUILT_IN


@cache
def method_of(kind: type[Element]) -> Any:
    """The builder method of a kind: it returns the element, or the body that the element makes."""
    signature = kind.signature()

    def build(self: ModelBuilder, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        element = self._add(kind, bound.arguments)
        return element.body if isinstance(element, BodyElement) else element

    build.__name__ = kind.method()
    build.__doc__ = kind.documentation()
    vars(build)["__signature__"] = signature
    return element_method(kind)(build)


class ElementMethods(ModelBuilder):
    """A method for every built-in element."""


for _kind in BUILT_IN:
    setattr(ElementMethods, _kind.method(), method_of(_kind))
