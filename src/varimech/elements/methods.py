"""Builder methods, created from the fields of elements. `methods.pyi` contains the types of the built-in
methods for editors and type checkers; `python tools/write_elements.py` writes that file.
"""

from __future__ import annotations

from functools import cache

from ..model.body_element import BodyElement
from ..model.element import Element
from ..model.model_data import ModelData
from ..model.trial import try_out
from ..model.writing import Builder, change
from .registry import BUILT_IN


@cache
def method_of(kind: type[Element]) -> object:
    """The builder method of a kind of element. It returns the element, or the body that it defines."""
    signature = kind.signature()

    def build(self: Builder, *args: object, **kwargs: object) -> object:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = {key: value for key, value in bound.arguments.items() if key != "self"}
        element = _added(self.data, kind, given.pop("name"), given)
        return element.body if isinstance(element, BodyElement) else element

    build.__name__ = kind.method()
    build.__doc__ = kind.documentation()
    vars(build)["__signature__"] = signature
    return change(build, kind)


def _added(model: ModelData, kind: type[Element], name: str, given: dict[str, object]) -> Element:
    """Create an element and add it to a model."""
    model.check_new(kind.noun(), name, kind.reserved)
    element = kind(model, name, given)
    if kind.is_guarded:
        try_out(element, model)
    element.add_to(model)
    return element


class ElementMethods:
    """A method for every built-in element."""


for _kind in BUILT_IN:
    setattr(ElementMethods, _kind.method(), method_of(_kind))
