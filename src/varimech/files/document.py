"""A complete model file: its sections, and the schema."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import islice
from typing import Annotated, Any, ClassVar, Literal, Union

from pydantic import BeforeValidator, Discriminator, Field, StrictStr, Tag, create_model

from ..core.errors import near_names
from ..elements.registry import registered
from ..model.element import Element
from .entries import Entry, ParameterEntry, TableEntry, entries_of
from .field_types import Anything, Matrix, Name, Number, Pair, Place, Points, Strict, Vector
from .studies import Studies

SECTIONS = ("bodies", "joints", "modes", "states", "signals", "forces", "drivers", "events")
ALONE = {"bodies": "body", "modes": "mode", "states": "state", "events": "event"}
"""Kind of the entries of a section if no key names another."""
MOST_KEYS = 20
"""Largest number of keys of an entry of unknown kind that are compared with the known kinds; no
kind has more.
"""


def _one_of(kinds: Mapping[str, type[Entry]], otherwise: str | None = None) -> object:
    """Type of an entry; one of its keys identifies the kind."""

    def kind(value: object) -> str | None:
        if isinstance(value, Entry):
            return type(value).element.file_key() or otherwise
        keys = value if isinstance(value, dict) else ()
        return next((key for key in keys if key in kinds), otherwise)

    def check(value: object) -> object:
        key = kind(value)
        if key not in (None, otherwise):
            return value
        first = islice(value if isinstance(value, dict) else (), MOST_KEYS)
        fields = kinds[otherwise].model_fields if otherwise is not None else ()
        near = [match for each in first if each not in fields for match in near_names(each, kinds)]
        if key is None or near or not isinstance(value, (dict, Entry)):
            hint = (
                f"did you mean {near[0]!r}?"
                if near
                else f"use one of the keys {', '.join(kinds)}, or install the package that has it"
            )
            raise ValueError(f"is of no known kind: {hint}")
        return value

    union: object = Union[tuple(Annotated[entry, Tag(name)] for name, entry in kinds.items())]  # noqa: UP007 - made from a table
    return Annotated[union, Discriminator(kind), BeforeValidator(check)]


def _short_joint(value: object) -> object:
    """Expand the short form `A: revolute`, which joins the two bodies that have a point A."""
    return {value: None} if isinstance(value, str) else value


def _short_parameter(value: object) -> object:
    """Expand the short form `L: 30 mm`, a parameter with this value."""
    return value if isinstance(value, (dict, ParameterEntry)) else {"value": value}


ParameterOf = Annotated[
    ParameterEntry,
    BeforeValidator(_short_parameter, json_schema_input_type=ParameterEntry | float | str),
]


class DistanceStart(Strict):
    """Initial distance of two points."""

    between: Pair
    value: Number = Field(description="m")
    speed: Number = Field(0.0, description="m/s")


class StartEntry(Strict):
    """Initial conditions: one value for each degree of freedom; assembly determines everything
    else.
    """

    angle: dict[Name, Number] = Field(
        {}, description="Angles of planar bodies or of joints that turn, rad."
    )
    displacement: dict[Name, Number] = Field(
        {}, description="Displacements of joints that slide, m."
    )
    distance: list[DistanceStart] = Field([], description="Distances between two points.")
    position: dict[Name, Place] = Field(
        {}, description="Positions of points, m; null leaves a component free."
    )
    orientation: dict[Name, Matrix] = Field(
        {}, description="Orientations of spatial bodies: a matrix, or rotation([…], angle)."
    )
    speed: dict[Name, Anything] = Field({}, description="Rates of any of these, by the same name.")
    near: dict[Name, Anything] = Field(
        {},
        description="Rough angles, orientations or positions that select an assembly configuration.",
    )

    def keywords(self) -> dict[str, Any]:
        """Arguments of `Mechanism.start`."""
        arguments: dict[str, Any] = self.given("distance")
        if self.distance:
            arguments["distance"] = {tuple(d.between): d.value for d in self.distance}
            speeds = {
                tuple(d.between): d.speed for d in self.distance if "speed" in d.model_fields_set
            }
            arguments["speed"] = {**arguments.get("speed", {}), **speeds}
        return arguments


class Document(Strict):
    """A mechanism and its studies."""

    kinds: ClassVar[dict[str, dict[str, type[Entry]]]] = {}
    """Sections with entries of several kinds → key → entry."""
    varimech: Literal[1] = Field(description="Version of this format: 1.")
    name: StrictStr = Field(description="Name of the mechanism.")
    dimension: Literal[2, 3] | None = Field(
        None, description="2 (planar) or 3 (spatial); that of gravity if not given."
    )
    gravity: Vector | None = Field(
        None, description="m/s²; two components make the mechanism planar, three spatial."
    )
    parameters: dict[Name, ParameterOf] = Field({}, description="Named numbers that may change.")
    tables: dict[Name, TableEntry] = Field(
        {}, description="Tabulated functions, which expressions call by name."
    )
    ground: Points = Field({}, description="Points of the ground, m.")
    bodies: dict[Name, Entry] = Field({}, description="Bars, beams and rigid bodies.")
    points: dict[Name, Points] = Field({}, description="Further points, by body, m.")
    joints: dict[Name, Entry] = Field({}, description="How bodies are connected.")
    modes: dict[Name, Entry] = Field({}, description="Numbers that only events change.")
    states: dict[Name, Entry] = Field({}, description="States with a rate of their own.")
    signals: dict[Name, Entry] = Field(
        {}, description="Named expressions, controllers and other blocks."
    )
    forces: dict[Name, Entry] = Field(
        {}, description="Springs, dampers, forces and torques, contacts and friction."
    )
    drivers: dict[Name, Entry] = Field({}, description="Imposed motions.")
    events: dict[Name, Entry] = Field({}, description="Events where functions vanish.")
    start: StartEntry | None = None
    studies: Studies = Field(
        default_factory=lambda: Studies.model_validate({}),
        description="Analyses and their settings.",
    )


def document_class() -> type[Document]:
    """Return the class of model files with all kinds of elements that are registered now."""
    return _document_class(registered())


@cache
def _document_class(kinds: tuple[type[Element], ...]) -> type[Document]:
    kinds_of = {section: entries_of(section) for section in SECTIONS}
    fields: dict[str, Any] = {}
    for section, entries in kinds_of.items():
        one: Any = _one_of(entries, ALONE.get(section))
        if section == "joints":
            alone = BeforeValidator(
                _short_joint, json_schema_input_type=one | Literal[tuple(entries)]
            )
            one = Annotated[one, alone]
        about = Document.model_fields[section].description
        fields[section] = (dict[Name, one], Field({}, description=about))
    document = create_model("Document", __base__=Document, __doc__=Document.__doc__, **fields)
    document.kinds = kinds_of
    return document


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of model files, for editors."""
    schema = document_class().model_json_schema(mode="validation")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Varimech model file",
    }
