"""Values that are computed on first use, without a lock. The lock of Python 3.11's
`cached_property` is shared by all objects of a class, and stays locked in a process that is forked
meanwhile. Threads that ask at the same time may compute a value twice, and get the same object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801, as other decorators
    """A property that is computed once for each object."""

    def __init__(self, compute: Callable[..., T]):
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> lazy[T] | T:
        if instance is None:
            return self
        value: T = instance.__dict__.setdefault(self._name, self._compute(instance))
        return value
