"""What the words of a model have in common: names are checked, changes are counted, and a word that fails leaves no trace."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..errors import ModelError
from .parts import Parts

M = TypeVar("M", bound=Parts)
P = ParamSpec("P")
R = TypeVar("R")
Number = Any
"""A number, a `Parameter`, or an expression of parameters."""


def change(method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """A method that changes the model: counted when it succeeds, without any trace when it fails."""

    @wraps(method)
    def changing(self: M, *args: P.args, **kwargs: P.kwargs) -> R:
        before = len(self.numbers.requirements)
        try:
            result = method(self, *args, **kwargs)
        except BaseException:
            del self.numbers.requirements[before:]
            raise
        self.revision += 1
        return result

    return changing


class Writing(Parts):
    """Parts that are being written."""

    def _check_name(self, kind: str, name: Any, taken: Any) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ModelError(f"a {kind} needs a name (a non-empty text), not {name!r}")
        if name in taken:
            raise ModelError(f"two things are called {name!r} in mechanism {self.name!r}; choose another name")

    def _check_new(self, name: Any) -> None:
        for taken in (self.bodies, self.joints, self.forces, self.drivers, ("gravity",)):
            self._check_name("thing", name, taken)
