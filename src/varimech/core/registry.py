"""Registries by name, to which other packages may add.

A package offers elements, integrators and formulations by an entry point of the group
`varimech.plugins` that names a module; the module registers them when it is imported. Modules are
imported when an unknown name is looked up, and by `varimech methods` and `varimech schema`, so that
model files and commands can use these schemes.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Protocol, TypeVar

from .errors import ModelError, unknown_name

GROUP = "varimech.plugins"
"""Group of entry points of packages that extend Varimech."""

T = TypeVar("T")


class Scheme(Protocol):
    """Properties common to every formulation, integrator and coordinate system."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name in files, commands and calls."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Name for results and messages, with its constants."""

    @property
    @abstractmethod
    def suits(self) -> str:
        """Recommended use, in a line of `varimech methods`."""


S = TypeVar("S", bound=Scheme)


class Registry(dict[str, T]):
    """Objects of one kind by name.

    Args:
        kind: their kind, for messages: "integrator".
        built_in: Varimech's own objects of this kind.
    """

    def __init__(self, kind: str, built_in: Mapping[str, T]):
        super().__init__(built_in)
        self.kind = kind

    def find(self, name: str) -> T | None:
        """Return the object with this name, importing plugins if necessary; None if there is none."""
        if name not in self:
            load_plugins()
        return self.get(name)

    def register(self, name: object, thing: T, faults: Sequence[str]) -> T:
        """Add an object under its name.

        Args:
            name: its name, a text.
            thing: the object.
            faults: descriptions of what is wrong with it, if anything.

        Returns:
            The object.

        Raises:
            ModelError: if anything is wrong with it, or its name is taken.
        """
        label = f"{self.kind} {repr(name) if isinstance(name, str) else described(thing)}"
        if faults:
            problem = f"cannot be registered: {'; '.join(faults)}"
            raise ModelError(
                problem, element=label, value=thing, remedy="docs/extending.md shows an example"
            )
        assert isinstance(name, str)
        if (existing := self.get(name)) is not None:
            problem = f"is registered already ({described(existing)})"
            raise ModelError(problem, element=label, value=thing, remedy="choose another name")
        self[name] = thing
        return thing


class SchemeRegistry(Registry[S]):
    """Formulations, integrators or coordinate systems by name.

    Args:
        kind: their kind, for messages: "integrator".
        built_in: Varimech's own schemes.
        faults: function that lists what a scheme lacks or where it contradicts itself.
        constructed: an example of a scheme that is given as an object, for messages.
    """

    def __init__(
        self,
        kind: str,
        built_in: Iterable[S],
        faults: Callable[[S], list[str]],
        constructed: str,
    ):
        super().__init__(kind, {scheme.name: scheme for scheme in built_in})
        self._faults, self._constructed = faults, constructed

    def add(self, scheme: S) -> S:
        """Register a scheme that has no faults and a recommended use (`suits`)."""
        suits = getattr(scheme, "suits", "")
        purpose = [] if suits else [f"suits = {suits!r} must be a text: what it is suited for"]
        return self.register(getattr(scheme, "name", None), scheme, self._faults(scheme) or purpose)

    def choose(self, scheme: str | S) -> S:
        """Return a scheme by name, or the given object; unregistered objects are checked here."""
        if isinstance(scheme, str):
            if (known := self.find(scheme)) is not None:
                return known
        elif hasattr(scheme, "traits") and not isinstance(scheme, type):
            registered = self.get(getattr(scheme, "name", "")) is scheme
            if not registered and (faults := self._faults(scheme)):
                raise ModelError("; ".join(faults), element=f"{self.kind} {described(scheme)}")
            return scheme
        raise unknown_name(self.kind, scheme, [*self, self._constructed])


def described(thing: object) -> str:
    """Describe a class by its module and name, an object by its class."""
    if isinstance(thing, type):
        return f"{thing.__module__}.{thing.__qualname__}"
    return "None" if thing is None else f"{type(thing).__name__}(…)"


def lacking(scheme: object, names: Sequence[str]) -> list[str]:
    """List the required attributes that a scheme lacks, those that must be texts and are not, and a
    missing hash, by which cached programs are looked up.
    """
    if isinstance(scheme, type):
        return [f"it is a class: register an object, {scheme.__name__}(…)"]
    missing = [name for name in names if not hasattr(scheme, name)]
    faults = [f"it lacks {', '.join(missing)}"] if missing else []
    for name in ("name", "title"):
        if name not in missing and not (isinstance(text := getattr(scheme, name), str) and text):
            faults.append(f"{name} = {text!r} must be a text")
    if type(scheme).__hash__ is None:
        faults.append("it is not hashable: a frozen dataclass is")
    return faults


@cache
def load_plugins() -> None:
    """Import the modules by which installed packages extend Varimech, once."""
    for entry in entry_points(group=GROUP):
        try:
            entry.load()
        except Exception as error:  # a broken package must not keep the others from working
            warnings.warn(
                f"the Varimech plugin {entry.value} cannot be imported:"
                f" {type(error).__name__}: {error}",
                stacklevel=2,
            )
