"""Types of values in model files: names, numbers, vectors and matrices, each with an error message
for values of other types.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StrictBool,
    StrictFloat,
    StrictInt,
    create_model,
)

from ..core.errors import MOST, ModelError
from ..core.tables import MOST as MOST_VALUES
from ..model.sections import SHAPES, Section
from ..model.solids import KINDS, ORIGIN, Solid

A_NUMBER = "a number, a quantity such as 30 mm, or an expression such as L/2"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, str)) and not isinstance(value, bool)


def _only(is_valid: Callable[[object], bool], what: str, schema: object) -> PlainValidator:
    """Accept only valid values; the error describes them as `what`, and `schema` is their JSON
    type.
    """

    def check(value: object) -> object:
        if not is_valid(value):
            raise ValueError(f"must be {what}")
        return value

    return PlainValidator(check, json_schema_input_type=schema)


def _is_list(value: object, sizes: range, is_valid: Callable[[object], bool] = _is_number) -> bool:
    return isinstance(value, list) and len(value) in sizes and all(map(is_valid, value))


def _is_open(value: object) -> bool:
    return value is None or _is_number(value)


def _is_place(value: object) -> bool:
    """Whether a value is a vector, with null for a free component."""
    return isinstance(value, str) or _is_list(value, range(2, 4), _is_open)


def _is_matrix(value: object) -> bool:
    return isinstance(value, str) or _is_list(
        value, range(1, 10_000), lambda row: _is_list(row, range(1, 10))
    )


def _name(value: object) -> str:
    """Convert a name to text: numeric names such as 1 and 12 need no quotes."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError("must be a name; put quotes around it if it looks like a number")
    return str(value)


def _pair(value: object) -> list[str]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("must be two names in brackets, such as [O, P]")
    return [_name(each) for each in value]


_NUMBERS = list[float | str]
Name = Annotated[str, PlainValidator(_name, json_schema_input_type=str | int)]
Pair = Annotated[list[str], PlainValidator(_pair, json_schema_input_type=list[str | int])]
_OPEN = list[float | str | None]
Number = Annotated[Any, _only(_is_number, A_NUMBER, float | str)]
Vector = Annotated[
    Any,
    _only(
        lambda x: isinstance(x, str) or _is_list(x, range(2, 4)),
        "a vector of two or three numbers, such as [0, -9.81]",
        _NUMBERS | str,
    ),
]
Matrix = Annotated[
    Any,
    _only(
        _is_matrix,
        "rows of numbers, or an expression such as rotation([0, 0, 1], 0.5)",
        list[_NUMBERS] | str,
    ),
]
Row = Annotated[
    Any, _only(lambda x: _is_list(x, range(MOST_VALUES)), "a list of numbers", _NUMBERS)
]
Rows = Annotated[
    Any,
    _only(
        lambda x: _is_list(x, range(MOST_VALUES), lambda row: _is_list(row, range(MOST_VALUES))),
        "rows of numbers",
        list[_NUMBERS],
    ),
]
Inertia = Annotated[
    Any,
    _only(
        lambda x: _is_number(x) or _is_list(x, range(3, 4)) or _is_matrix(x),
        "a number, three principal values or a 3×3 matrix",
        float | str | _NUMBERS | list[_NUMBERS],
    ),
]
Two = Annotated[Any, _only(lambda x: _is_list(x, range(2, 3)), "a pair of numbers", _NUMBERS)]
TwoOpen = Annotated[
    Any,
    _only(
        lambda x: _is_list(x, range(2, 3), _is_open),
        "a pair [lower, upper], null where open",
        _OPEN,
    ),
]
Place = Annotated[
    Any, _only(_is_place, "the components of a position, null where open", _OPEN | str)
]
Anything = Annotated[
    Any,
    _only(
        lambda x: _is_number(x) or _is_place(x) or _is_matrix(x),
        "a number, a vector or a matrix",
        float | str | _OPEN | list[_NUMBERS],
    ),
]
Every = Annotated[StrictInt, Field(ge=1, le=MOST["every"])]
Occurrence = Annotated[StrictInt, Field(ge=0)]
Segments = Annotated[StrictInt, Field(ge=1, le=MOST["segments"])]
Samples = Annotated[StrictInt, Field(ge=1, le=MOST["samples"])]
Chunk = Annotated[StrictInt, Field(ge=1, le=MOST["chunk"])]
Starts = Annotated[StrictInt, Field(ge=1, le=MOST["starts"])]
Iterations = Annotated[StrictInt, Field(ge=1, le=MOST["max_iterations"])]
Seed = Annotated[StrictInt, Field(ge=0, le=MOST["seed"])]
Share = Annotated[StrictFloat | StrictInt, Field(gt=0, lt=1)]
Positive = Annotated[StrictFloat | StrictInt, Field(gt=0, allow_inf_nan=False)]
Finite = Annotated[StrictFloat | StrictInt, Field(allow_inf_nan=False)]
Points = dict[Name, Vector]
Names = list[Name]
Flag = StrictBool
Rotation = Number | Matrix
NumberOrVector = Number | Vector
NumberOrList = Annotated[
    Any,
    _only(
        lambda x: _is_number(x) or _is_list(x, range(1, 10_000)),
        "an expression, or a list of them",
        float | str | _NUMBERS,
    ),
]
Shape = Matrix | Vector


def _is_action(value: object) -> bool:
    """Whether a value is the word stop, or a mapping of names to values."""
    return value == "stop" or (isinstance(value, dict) and all(map(_is_number, value.values())))


Actions = Annotated[
    Any,
    _only(_is_action, "stop, or values by name such as {motor: 0}", str | dict[str, float | str]),
]


def names_of(count: int) -> Any:
    """Type of a list of exactly `count` names: null for none, a single one without brackets,
    several in brackets.
    """
    if count < 2:
        return Name if count else type(None)
    return Pair if count == 2 else Annotated[Names, Field(min_length=count, max_length=count)]


class Strict(BaseModel):
    """An entry that accepts known keys only."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    def given(self, *without: str) -> dict[str, Any]:
        """Keys that the file contains, with their values."""
        names = [
            name
            for name in type(self).model_fields
            if name in self.model_fields_set and name not in without
        ]
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class _SectionEntry(Strict):
    """A cross-section: one key for its shape, with its dimensions in m."""

    def section(self) -> Section:
        """Build the cross-section of the model."""
        given = self.given()
        if len(given) != 1:
            keys = ", ".join(SHAPES)
            raise ModelError(f"a section has one of the keys {keys}", remedy="circle: 10 mm is one")
        shape, sizes = next(iter(given.items()))
        return Section(shape, tuple(sizes) if isinstance(sizes, list) else (sizes,))


class SolidEntry(Strict):
    """A shape of a body in drawings: one of the keys box, cylinder, extrusion and mesh, and its
    pose.
    """

    box: Vector | None = Field(None, description="Sides along x, y and z (m).")
    cylinder: Two | None = Field(None, description="[radius, length] (m), along z.")
    extrusion: Matrix | None = Field(None, description="Corners [x, y] of an outline (m).")
    thickness: Number | None = Field(None, description="Thickness of an extrusion, along z (m).")
    mesh: str | None = Field(
        None, description="File: STL, OBJ, PLY or glTF (.glb); from the folder of the model file."
    )
    scale: Number | None = Field(None, description="Scale of a mesh: metres per unit of its file.")
    at: Vector | None = Field(None, description="Centre, or origin, in the frame of the body (m).")
    rotation: Matrix | None = Field(
        None, description="Rotation from its axes to those of the body."
    )

    def solid(self, folder: Path) -> Solid:
        """Build the shape of the model; paths of meshes are relative to `folder`."""
        given = self.given()
        kinds = [kind for kind in KINDS if kind in given]
        if len(kinds) != 1:
            keys = ", ".join(KINDS)
            raise ModelError(
                f"a shape has one of the keys {keys}", remedy="box: [0.1, 0.1, 0.3] is one"
            )
        kind = kinds[0]
        further = {"extrusion": ("thickness", None), "mesh": ("scale", 1.0)}.get(kind)
        if further is None:
            sizes = tuple(given[kind])
        else:
            first = str(folder / given[kind]) if kind == "mesh" else given[kind]
            sizes = (first, given.get(*further))
        if kind == "extrusion" and sizes[1] is None:
            raise ModelError("an extrusion needs a thickness", remedy="thickness: 5 mm is one")
        return Solid(kind, sizes, given.get("at", ORIGIN), given.get("rotation"))


SolidEntries = SolidEntry | list[SolidEntry]


def _size_field(sizes: tuple[str, ...]) -> Any:
    description = sizes[0] if len(sizes) == 1 else f"[{', '.join(sizes)}]"
    return (Number if len(sizes) == 1 else Two) | None, Field(None, description=description)


SectionEntry: Any = create_model(
    "SectionEntry",
    __base__=_SectionEntry,
    __doc__=_SectionEntry.__doc__,
    **{name: _size_field(shape.sizes) for name, shape in SHAPES.items()},
)
