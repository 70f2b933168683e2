"""Builder methods: arguments are checked, calls are recorded, and a call that fails changes
nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from .element import Element
from .model_data import ModelData


class Builder(Protocol):
    """What has builder methods."""

    data: ModelData


M = TypeVar("M", bound=Builder)
P = ParamSpec("P")
R = TypeVar("R")


def change(
    method: Callable[Concatenate[M, P], R], kind: type[Element] | None = None
) -> Callable[Concatenate[M, P], R]:
    """A method that changes the model: recorded when it succeeds, without any trace when it fails.

    Args:
        method: the method.
        kind: the kind of element that it adds, if any.
    """
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
    name: str, signature: inspect.Signature, given: Mapping[str, object], error: TypeError
) -> TypeError:
    unknown = next((key for key in given if key not in signature.parameters), None)
    reason = error if unknown is None else f"has no argument {unknown!r}"
    return TypeError(f"{name}: {reason}; call {name}{_without_types(signature)}")


def _without_types(signature: inspect.Signature) -> str:
    """The arguments as one would write them."""
    asked = [
        p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"
    ]
    return str(inspect.Signature(asked))
