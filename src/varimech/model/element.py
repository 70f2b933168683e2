"""Elements of a mechanism. Each kind is a class that declares its fields and its mechanics; bodies,
joints, forces and drivers each have a base class.

Each element is one instance: `element.values` holds its fields after reading, `element.given` the
arguments as the user passed them. To add a kind, write one subclass and register it
(`elements/registry`).
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar

from ..core.names import SLASH, Named
from .fields import Field

if TYPE_CHECKING:
    from .model_data import ModelData


class Element(Named, ABC):
    """A part of a mechanism, made of its fields."""

    kind: ClassVar[str]
    """Name of the kind, such as "point-on-line"; its builder method has underscores instead of
    hyphens.
    """
    file_section: ClassVar[str]
    """Section of a model file that contains it: "bodies", "joints", "forces" or "drivers"."""
    reserved: ClassVar[str] = SLASH
    """Characters that its name must not contain."""
    is_guarded: ClassVar[bool] = False
    """Whether another package registered it: each element is then tried out (`trial`)."""

    def __init__(self, model: ModelData, name: str, given: Mapping[str, Any]):
        self.name = name
        self.dimension = model.dimension
        self.given = dict(given)
        self.values: dict[str, Any] = {}
        self.check_given(model)
        for field in self.fields():
            self.values[field.name] = field.read(model, self, self.given[field.name])
        self.prepare(model)

    @classmethod
    @cache
    def fields(cls) -> tuple[Field[object], ...]:
        """All fields, those of base classes first."""
        fields: dict[str, Field[object]] = {}
        for base in reversed(cls.__mro__):
            fields |= {name: x for name, x in vars(base).items() if isinstance(x, Field)}
        return tuple(fields.values())

    @classmethod
    def noun(cls) -> str:
        """The noun for it in messages about its name."""
        return cls.kind

    @classmethod
    def method(cls) -> str:
        """Name of the builder method."""
        return cls.kind.replace("-", "_").replace(" ", "_")

    @classmethod
    def file_key(cls) -> str | None:
        """Key of a file that identifies the kind of an entry and holds its leading names."""
        return cls.method()

    @classmethod
    def leading(cls) -> tuple[Field[object], ...]:
        """Fields whose names are the value of that key."""
        return tuple(f for f in cls.fields() if f.names_something and f.positional)

    @classmethod
    def signature(cls) -> inspect.Signature:
        """Arguments of the builder method."""
        P = inspect.Parameter
        arguments = [P("self", P.POSITIONAL_OR_KEYWORD), P("name", P.POSITIONAL_OR_KEYWORD)]
        for field in sorted(cls.fields(), key=lambda f: not f.positional):
            arguments.append(
                P(
                    field.name,
                    P.POSITIONAL_OR_KEYWORD if field.positional else P.KEYWORD_ONLY,
                    default=P.empty if field.required else field.default,
                )
            )
        return inspect.Signature(arguments)

    @classmethod
    def documentation(cls) -> str:
        """Docstring of the builder method: the docstring of the class, and its arguments."""
        lines = [inspect.cleandoc(cls.__doc__ or ""), "", "Args:", "    name: its name."]
        for field in cls.fields():
            unit = f" ({field.unit})" if field.unit else ""
            argument = f"{field.name}: {field.description.rstrip('.')}{unit}."
            lines.append(fill(argument, 92, initial_indent="    ", subsequent_indent="        "))
        return "\n".join(lines)

    @property
    def label(self) -> str:
        """Name of the element in messages."""
        return f"{self.kind} {self.name!r}"

    def check_given(self, model: ModelData) -> None:
        """Check, or complete, `given` before the fields are read."""

    def prepare(self, model: ModelData) -> None:
        """Check fields against each other, and compute quantities derived from them."""

    @abstractmethod
    def add_to(self, model: ModelData) -> None:
        """Add it to the model."""
