"""What the words of a model have in common: names are checked, changes are counted and remembered,
and a word that fails leaves no trace.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from .body import Body
from .driver import Driver
from .element import Element
from .force import ForceLaw
from .joint import Joint
from .model_data import ModelData
from .trial import try_out

M = TypeVar("M", bound="ModelBuilder")
P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=Element)
Number = Any
"""A number, a `Parameter`, an expression of parameters, or a text: a quantity ("30 mm") or an
expression ("L/2").
"""


def change(method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """A method that changes the model: counted and recorded when it succeeds, without any trace
    when it fails.
    """
    return _changing(method, None)


def element_method(
    kind: type[Element],
) -> Callable[[Callable[Concatenate[M, P], R]], Callable[Concatenate[M, P], R]]:
    """The same for a method that adds an element."""
    return lambda method: _changing(method, kind)


def _changing(
    method: Callable[Concatenate[M, P], R], kind: type[Element] | None
) -> Callable[Concatenate[M, P], R]:
    signature = inspect.signature(method)

    @wraps(method)
    def changing(self: M, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = signature.bind(self, *args, **kwargs).arguments
        except TypeError as error:
            raise _bad_call(method.__name__, signature, kwargs, error) from None
        before = len(self.data.parameter_set.requirements)
        try:
            result = method(self, *args, **kwargs)
        except BaseException:
            del self.data.parameter_set.requirements[before:]
            raise
        arguments = {name: value for name, value in given.items() if name != "self"}
        self.data.record(method.__name__, arguments, kind)
        return result

    return changing


def _bad_call(
    name: str, signature: inspect.Signature, given: Mapping[str, Any], error: TypeError
) -> TypeError:
    unknown = next((key for key in given if key not in signature.parameters), None)
    reason = error if unknown is None else f"has no argument {unknown!r}"
    return TypeError(f"{name}: {reason}; say {name}{_without_types(signature)}")


def _without_types(signature: inspect.Signature) -> str:
    """The arguments as one would write them."""
    asked = [
        p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"
    ]
    return str(inspect.Signature(asked))


class ModelBuilder:
    """A mechanism that is being written: its words fill `data`, which everybody else reads."""

    def __init__(self, name: str, *, gravity: Any = None, dimension: int | None = None):
        self.data = ModelData(name, gravity=gravity, dimension=dimension)
        """What the mechanism consists of."""

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return self.data.name

    @property
    def dimension(self) -> int:
        """2 if it is planar, 3 if it is spatial."""
        return self.data.dimension

    @property
    def bodies(self) -> Mapping[str, Body]:
        """Bodies and beams by name, the ground among them."""
        return self.data.bodies

    @property
    def joints(self) -> Mapping[str, Joint]:
        """Joints by name."""
        return self.data.joints

    @property
    def forces(self) -> Mapping[str, ForceLaw]:
        """Forces, torques, springs and dampers by name."""
        return self.data.forces

    @property
    def drivers(self) -> Mapping[str, Driver]:
        """Drivers by name."""
        return self.data.drivers

    def _add(self, kind: type[E], arguments: Mapping[str, Any]) -> E:
        """Make an element from the arguments of its builder method, and take it into the model."""
        given = {key: value for key, value in arguments.items() if key != "self"}
        name = given.pop("name")
        self.data.check_new(kind.noun(), name, kind.reserved)
        element = kind(self.data, name, given)
        if kind.is_guarded:
            try_out(element, self.data)
        element.add_to(self.data)
        return element
