"""What the words of a model have in common: names are checked, changes are counted and remembered,
and a word that fails leaves no trace.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..core.errors import ModelError
from ..core.names import DOT, SLASH, check_name
from .body import Body
from .call_record import said
from .drivers import Driver
from .forces import Force
from .joints import Joint
from .model_data import ModelData

M = TypeVar("M", bound="ModelBuilder")
P = ParamSpec("P")
R = TypeVar("R")
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
            said(method.__name__, {name: value for name, value in given.items() if name != "self"})
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

    def _check_point(self, name: Any, taken: Container[str]) -> None:
        check_name("point", name, SLASH + DOT)
        self._check_free(name, [taken])

    def _check_new(self, kind: str, name: Any, without: str = SLASH) -> None:
        check_name(kind, name, without)
        self._check_free(name, [self.bodies, self.joints, self.forces, self.drivers, ("gravity",)])

    def _check_free(self, name: str, taken: Iterable[Container[str]]) -> None:
        if any(name in names for names in taken):
            raise ModelError(
                f"two things are called {name!r} in mechanism {self.name!r}; choose another name"
            )
