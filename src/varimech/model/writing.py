"""What the words of a model have in common: names are checked, changes are counted and remembered,
and a word that fails leaves no trace.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from .body import Body
from .call_record import said
from .drivers import Driver
from .element import Element
from .forces import Force
from .joint import Joint
from .model_data import ModelData

M = TypeVar("M", bound="ModelBuilder")
P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=Element)
Number = Any
"""A number, a `Parameter`, an expression of parameters, or a text: a quantity ("30 mm") or an
expression ("L/2").
"""


def change(method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """A word, which changes the model: counted and remembered when it succeeds, without any trace
    when it fails.
    """
    signature = inspect.signature(method)

    @wraps(method)
    def changing(self: M, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = signature.bind(self, *args, **kwargs).arguments
        except TypeError as error:
            unknown = next(
                (
                    f"has no argument {name!r}"
                    for name in kwargs
                    if name not in signature.parameters
                ),
                error,
            )
            raise TypeError(
                f"{method.__name__}: {unknown}; say {method.__name__}{_without_types(signature)}"
            ) from None
        before = len(self.data.parameter_set.requirements)
        try:
            result = method(self, *args, **kwargs)
        except BaseException:
            del self.data.parameter_set.requirements[before:]
            raise
        self.data.revision += 1
        self.data.sentences.append(
            said(
                method.__name__,
                {name: value for name, value in given.items() if name != "self"},
                type(result) if isinstance(result, Element) else None,
            )
        )
        return result

    return changing


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
    def forces(self) -> Mapping[str, Force]:
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
        element.add_to(self.data)
        return element
