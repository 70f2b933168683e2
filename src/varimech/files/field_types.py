"""Kinds of values in model files: names, numbers, vectors and matrices, each with one sentence for
what it is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StrictBool,
    StrictFloat,
    StrictInt,
)

from ..core.errors import MOST, ModelError
from ..model.sections import SHAPES, Section

A_NUMBER = "a number, a quantity such as 30 mm, or an expression such as L/2"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, str)) and not isinstance(value, bool)


def _checked(fits: Callable[[Any], bool], what: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if not fits(value):
            raise ValueError(f"must be {what}")
        return value

    return check


def _kind(fits: Callable[[Any], bool], what: str, schema: Any) -> PlainValidator:
    return PlainValidator(_checked(fits, what), json_schema_input_type=schema)


def _is_list(value: Any, sizes: range, fits: Callable[[Any], bool] = _is_number) -> bool:
    return isinstance(value, list) and len(value) in sizes and all(map(fits, value))


def _is_vector(value: Any) -> bool:
    return isinstance(value, str) or _is_list(value, range(2, 4))


def _is_place(value: Any) -> bool:
    """A vector, with null where nothing is said."""
    return isinstance(value, str) or _is_list(
        value, range(2, 4), lambda each: each is None or _is_number(each)
    )


def _is_matrix(value: Any) -> bool:
    return isinstance(value, str) or _is_list(
        value, range(1, 10_000), lambda row: _is_list(row, range(1, 10))
    )


def _name(value: Any) -> str:
    """Names such as 1 and 12 need no quotes."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError("must be a name; put quotes around it if it looks like a number")
    return str(value)


def _pair(value: Any) -> list[str]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("must be two names in brackets, such as [O, P]")
    return [_name(each) for each in value]


_NUMBERS = list[float | str]
Name = Annotated[str, PlainValidator(_name, json_schema_input_type=str | int)]
Pair = Annotated[list[str], PlainValidator(_pair, json_schema_input_type=list[str | int])]
Number = Annotated[Any, _kind(_is_number, A_NUMBER, float | str)]
Vector = Annotated[
    Any, _kind(_is_vector, "a vector of two or three numbers, such as [0, -9.81]", _NUMBERS | str)
]
Matrix = Annotated[
    Any,
    _kind(
        _is_matrix,
        "rows of numbers, or an expression such as rotation([0, 0, 1], 0.5)",
        list[_NUMBERS] | str,
    ),
]
Inertia = Annotated[
    Any,
    _kind(
        lambda x: _is_number(x) or _is_list(x, range(3, 4)) or _is_matrix(x),
        "a number, three principal values or a 3×3 matrix",
        float | str | _NUMBERS | list[_NUMBERS],
    ),
]
Two = Annotated[Any, _kind(lambda x: _is_list(x, range(2, 3)), "a pair of numbers", _NUMBERS)]
TwoOpen = Annotated[
    Any,
    _kind(
        lambda x: _is_list(x, range(2, 3), lambda y: y is None or _is_number(y)),
        "a pair [lower, upper], null where open",
        list[float | str | None],
    ),
]
Place = Annotated[
    Any,
    _kind(
        _is_place,
        "the components of a position, null where open",
        list[float | str | None] | str,
    ),
]
Anything = Annotated[
    Any,
    _kind(
        lambda x: _is_number(x) or _is_place(x) or _is_matrix(x),
        "a number, a vector or a matrix",
        float | str | list[float | str | None] | list[_NUMBERS],
    ),
]
Every = Annotated[StrictInt, Field(ge=1, le=MOST["every"])]
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
Shape = Matrix | Vector


def names_of(count: int) -> Any:
    """So many names: null for none, one alone, several in brackets."""
    if count < 2:
        return Name if count else type(None)
    return Pair if count == 2 else Annotated[Names, Field(min_length=count, max_length=count)]


class Strict(BaseModel):
    """An entry with known keys only."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    def given(self, *without: str) -> dict[str, Any]:
        """What was written, by keyword."""
        names = [
            name
            for name in type(self).model_fields
            if name in self.model_fields_set and name not in without
        ]
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class SectionEntry(Strict):
    """A cross-section by its shape: one key, its sizes in m."""

    circle: Number | None = Field(None, description="diameter")
    tube: Two | None = Field(None, description="[outer, inner] diameter")
    rectangle: Two | None = Field(None, description="[width, height]")
    square: Number | None = Field(None, description="side")

    def section(self) -> Section:
        """As the model has it."""
        given = self.given()
        if len(given) != 1:
            raise ModelError(
                f"a section has one of the keys {', '.join(SHAPES)}, such as circle: 10 mm"
            )
        shape, sizes = next(iter(given.items()))
        return Section(shape, tuple(sizes) if isinstance(sizes, list) else (sizes,))
