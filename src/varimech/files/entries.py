"""Entries of a model file: parameters, and all elements, generated from the fields of each kind.

The key that holds the leading names of an element identifies its kind (`bar: [O, P]`); all other
keys are the arguments of the builder method.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from pydantic import Field, StrictInt, StrictStr, create_model

from ..core.errors import ModelError
from ..core.tables import Ends, Kind, Outside
from ..elements.builder import Model
from ..elements.registry import registered
from ..model.element import Element
from ..model.fields import Choice
from ..model.fields import Field as ElementField
from . import field_types
from .distribution_fields import Distribution
from .field_types import (
    Number,
    Positive,
    Row,
    Rows,
    SectionEntry,
    SolidEntry,
    Strict,
    TwoOpen,
    names_of,
)
from .tolerance_fields import ToleranceOrWidth


class Entry(Strict):
    """An element of a file."""

    element: ClassVar[type[Element]]

    def add_to(self, model: Model, name: str, folder: Path) -> None:
        """Call the builder method; paths of files in the entry are relative to `folder`."""
        key = self.element.file_key()
        names = None if key is None else getattr(self, key)
        leading = [] if names is None else names if isinstance(names, list) else [names]
        keys = self.given(*([] if key is None else [key]))
        keywords = {name: _argument(value, folder) for name, value in keys.items()}
        getattr(model, self.element.method())(name, *leading, **keywords)


def _argument(value: object, folder: Path) -> object:
    """Convert a value to an argument of the builder method."""
    if isinstance(value, SectionEntry):
        return value.section()
    if isinstance(value, SolidEntry):
        return value.solid(folder)
    if isinstance(value, list):
        return [_argument(each, folder) for each in value]
    return value


class ParameterEntry(Strict):
    """A parameter of the mechanism."""

    value: Number = Field(
        description="Nominal value: a number in SI units, or a quantity such as 30 mm."
    )
    unit: StrictStr = Field("", description="SI unit; that of a quantity if not given.")
    bounds: TwoOpen | None = Field(None, description="[lower, upper]; null where open.")
    tolerance: ToleranceOrWidth | None = Field(
        None,
        description="Bilateral tolerance ±, read as a normal distribution: a number, a quantity, a"
        " grade such as IT7; or with bounds and a cost.",
    )
    sigmas: Positive | None = Field(
        None, description="Standard deviations in the tolerance; 3 if not given."
    )
    distribution: Distribution | None = Field(
        None, description="A distribution of scipy.stats, instead of a tolerance."
    )


class TableEntry(Strict):
    """A function by a table: x and y, x, y and z, or a CSV file."""

    file: StrictStr | None = Field(
        None, description="A CSV file, by its path from the folder of the model file."
    )
    x: Row | None = Field(None, description="Arguments, increasing.")
    y: Row | None = Field(None, description="Values; second arguments if z is given.")
    z: Rows | None = Field(None, description="Values in two variables, a row for each x.")
    kind: Literal[get_args(Kind)] = Field("linear", description="Interpolation method.")  # type: ignore[valid-type]
    outside: Literal[get_args(Outside)] | list[Literal[get_args(Outside)]] = Field(  # type: ignore[valid-type]
        "linear", description="Extrapolation outside of its range; a pair in two variables."
    )
    ends: Literal[get_args(Ends)] | None = Field(  # type: ignore[valid-type]
        None, description="Conditions of a cubic spline at its ends; not-a-knot if not given."
    )
    columns: list[StrictStr | StrictInt] | None = Field(
        None, description="Two columns of the file, by name or by number from 0."
    )
    units: list[StrictStr] | None = Field(None, description="Units of x, y and z, if not SI.")

    def arguments(self, folder: Path) -> dict[str, Any]:
        """Arguments of `Mechanism.table`, with paths relative to a folder."""
        keys = self.given("file")
        if (self.file is None) == (self.x is None):
            raise ModelError("a table has either x or a file", remedy="give one of x: and file:")
        if self.file is not None:
            keys["x"] = folder / self.file
        return keys


def entry_of(kind: type[Element]) -> type[Entry]:
    """Build the entry class of an element from its fields."""
    leading, key = kind.leading(), kind.file_key()
    entries: dict[str, Any] = {}
    if key is not None:
        optional = not any(f.required for f in leading)
        names, about = names_of(len(leading)), ", ".join(f.description for f in leading)
        description = {0: "No value: the kind of the element.", 1: about}.get(
            len(leading), f"[{about}]"
        )
        default: Any = None if optional else ...
        entries[key] = (
            names | None if optional and leading else names,
            Field(default, description=description),
        )
    entries |= {f.name: _file_field(f) for f in kind.fields() if f not in leading}
    entry = create_model(
        f"{kind.method().title().replace('_', '')}Entry",  # unique, because method names are
        __base__=Entry,
        __doc__=" ".join(inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].split()),
        **entries,
    )
    entry.element = kind
    return entry


def _file_field(field: ElementField[object]) -> object:
    type_: Any = (
        Literal[field.options]
        if isinstance(field, Choice)
        else getattr(field_types, field.file_type)
    )
    about = f"{field.description.rstrip('.')} ({field.unit})." if field.unit else field.description
    optional = field.default is None
    return type_ | None if optional else type_, Field(field.default, description=about)


def entries_of(section: str) -> dict[str, type[Entry]]:
    """Entry classes of a section by the keys of their kinds."""
    return {kind.file_key() or kind.method(): entry_of(kind) for kind in registered(section)}
