"""Conversion of a mechanism to a file: the calls that built it, sorted into sections."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import ModelError
from ..core.expressions import Expression
from ..core.symbols import SX
from ..core.tables import Table
from ..core.units import si_value, split_quantity, words_of
from ..model.body import Body, Point
from ..model.element import Element
from ..model.fields import Field
from ..model.joint import Joint
from ..model.model_data import CallRecord, ModelData
from ..model.parameter import Parameter, Tolerance
from ..model.parameter_set import evaluated
from ..model.sections import Section
from ..model.solids import ORIGIN, Solid
from ..model.user_functions import StateExpression
from .distribution_fields import distribution_entry
from .formula import formula, named
from .source_map import plain
from .studies import Studies
from .tolerance_fields import tolerance_entry, tolerance_fields

HEADING = (
    "# A mechanism for Varimech. Numbers are in SI units; texts may have others (30 mm, 2 deg) or"
    " be expressions (L/2).\n"
)


def document_of(
    model: ModelData, studies: Studies | None, values: Mapping[str, float]
) -> dict[str, object]:
    """Return the contents of a model file as plain data, with other values of some parameters.

    Raises:
        ModelError: for Python functions, which a file cannot contain.
    """
    return _Writer(model, values).document(studies)


def to_text(data: Mapping[str, object]) -> str:
    """Write plain data as YAML."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

        def text(self, text: str) -> object:  # quoted where YAML would read another type
            return self.represent_scalar(
                "tag:yaml.org,2002:str", text, style=None if isinstance(plain(text), str) else "'"
            )

    Dumper.add_representer(str, Dumper.text)
    return HEADING + yaml.dump(
        dict(data),
        Dumper=Dumper,
        sort_keys=False,
        default_flow_style=None,
        allow_unicode=True,
        width=130,
    )


class _Writer:
    def __init__(self, model: ModelData, values: Mapping[str, float]):
        self._model = model
        self._values = values
        self._parameters = {p.name: p.symbol for p in model.parameter_set.parameters.values()}
        self._places = _places(model)
        self._earlier: set[str] = set()
        """Parameters that existed at the current call; a file contains all of them before it."""
        self._written: list[tuple[str, SX, str]] = []

    def document(self, studies: Studies | None) -> dict[str, object]:
        gravity = [
            float(x) for x in self._model.parameter_set.evaluate(self._model.gravity).ravel()
        ]
        sections: dict[str, dict[str, object]] = {
            name: {}
            for name in (
                "parameters",
                "tables",
                "ground",
                "bodies",
                "points",
                "joints",
                "modes",
                "states",
                "signals",
                "forces",
                "drivers",
                "events",
                "start",
            )
        }
        for call in self._model.calls:
            self._take(sections, call)
        self._check_written()
        data: dict[str, object] = {"varimech": 1, "name": self._model.name, "gravity": gravity}
        data |= {name: entries for name, entries in sections.items() if entries}
        if studies is not None and (
            written := studies.model_dump(exclude_unset=True, by_alias=True)
        ):
            data["studies"] = written
        return data

    def _take(self, sections: dict[str, dict[str, Any]], call: CallRecord) -> None:
        arguments = dict(call.arguments)
        if call.method == "start":
            sections["start"] = self._start(arguments)
        elif call.method == "parameter":
            name = arguments.pop("name")
            self._earlier.add(name)
            if name in self._values:
                arguments |= {
                    "value": float(self._values[name]),
                    "unit": self._model.parameter_set.parameters[name].unit,
                }
            sections["parameters"][name] = self._parameter(arguments)
        elif call.method == "tolerance":
            self._state_tolerance(sections["parameters"], arguments)
        elif call.method == "table":
            name = arguments["name"]
            sections["tables"][name] = self._table(self._model.parameter_set.tables[name], name)
        elif call.method == "point":
            body, name = self._name(arguments["body"]), arguments["name"]
            place = self._value(arguments["local"], f"point {name!r}")
            section = (
                sections["ground"] if body == "ground" else sections["points"].setdefault(body, {})
            )
            section[name] = place
        else:
            assert call.element is not None
            name = arguments.pop("name")
            entry = self._entry(call.element, name, arguments)
            sections[call.element.file_section][name] = entry

    def _entry(self, kind: type[Element], name: str, arguments: dict[str, object]) -> object:
        label, key, leading = f"{kind.method()} {name!r}", kind.file_key(), kind.leading()
        entry: dict[str, Any] = {}
        if key is not None:
            entry[key] = (
                self._ends(name, arguments)
                if issubclass(kind, Joint)
                else [self._argument(field, arguments[field.name], label) for field in leading]
            )
            if entry[key] is not None and len(leading) < 2:
                entry[key] = entry[key][0] if leading else None
        entry |= {
            field.name: self._argument(field, value, f"{label}: {field.name}")
            for field in kind.fields()
            if field not in leading and (value := arguments.get(field.name)) is not None
        }
        return key if issubclass(kind, Joint) and entry == {key: None} else entry

    def _argument(self, field: Field[object], value: object, label: str) -> object:
        if field.is_plain:
            return value
        if field.names_something:
            return self._name(value)
        if isinstance(value, Mapping):
            return {name: self._value(place, f"{label} {name!r}") for name, place in value.items()}
        return self._value(value, label)

    def _ends(self, joint: str, arguments: dict[str, object]) -> list[str] | None:
        """The points of a joint; None if they are the ones that a file finds by the joint's name."""
        element = self._model.joints[joint]
        ends = [element.first.label, element.second.label]
        by_name = [point.label for point in self._places.get(joint, [])]
        return None if arguments.get("first") is None and by_name == ends else ends

    def _name(self, reference: object) -> str:
        """A name that refers to the same object in a file."""
        if isinstance(reference, Point):
            return reference.label
        if isinstance(reference, (Body, Joint)):
            return reference.name
        if (
            reference in self._model.bodies
            or reference in self._model.joints
            or reference not in self._places
        ):
            return str(reference)
        point = self._model.find_point(reference)
        return str(reference) if point is self._places[reference][0] else point.label

    def _table(self, table: Table, name: str) -> dict[str, object]:
        """Entry of a table with its numbers, whatever their source, so that the file is
        self-contained.
        """
        label = f"table {name!r}"
        entry: dict[str, object] = {"x": table.x.tolist()}
        if table.z is None:
            entry["y"] = self._value(table.y, label)
        else:
            entry |= {"y": table.y.tolist(), "z": [self._value(row, label) for row in table.z]}
        entry["kind"] = table.kind
        if set(table.outside) != {"linear"}:
            same = len(set(table.outside)) == 1
            entry["outside"] = table.outside[0] if same else list(table.outside)
        if table.ends not in ("not-a-knot", "periodic"):
            entry["ends"] = table.ends
        return entry

    def _parameter(self, arguments: dict[str, Any]) -> Any:
        entry: dict[str, object] = {"value": _plain(arguments["value"])}
        if unit := arguments.get("unit"):
            entry["unit"] = unit
        if arguments.get("bounds") is not None:
            entry["bounds"] = [
                None if bound in (None, math.inf, -math.inf) else _plain(bound)
                for bound in arguments["bounds"]
            ]
        distribution = arguments.get("distribution")
        if arguments.get("tolerance") is not None:
            entry["tolerance"] = _plain(arguments["tolerance"])
        if isinstance(distribution, Tolerance):
            entry["tolerance"] = tolerance_entry(tolerance_fields(distribution), _plain)
            if distribution.sigmas != 3.0:
                entry["sigmas"] = _plain(distribution.sigmas)
        elif distribution is not None:
            entry["distribution"] = distribution_entry(distribution)
        return entry if len(entry) > 1 else entry["value"]

    def _state_tolerance(self, entries: dict[str, Any], arguments: dict[str, Any]) -> None:
        """Write bounds and cost of a tolerance that was set after its parameter."""
        parameter = arguments.pop("parameter")
        name = parameter.name if isinstance(parameter, Parameter) else parameter
        tolerance = self._model.parameter_set.parameters[name].distribution
        entry = entries[name] if isinstance(entries[name], dict) else {"value": entries[name]}
        before = entry.pop("tolerance", {})
        stated = before if isinstance(before, dict) else {"width": before}
        keys = ("width", "at_least", "at_most", "cost")
        new = tolerance_entry({key: arguments.get(key) for key in keys}, _plain)
        stated |= new if isinstance(new, dict) else {"width": new}
        width = {"width": stated.get("width", _plain(tolerance.width))}  # at_most if none is given
        merged = width | stated
        entry["tolerance"] = merged["width"] if list(merged) == ["width"] else merged
        entry.pop("sigmas", None)
        entries[name] = entry | (
            {} if tolerance.sigmas == 3.0 else {"sigmas": _plain(tolerance.sigmas)}
        )

    def _start(self, arguments: dict[str, Any]) -> dict[str, object]:
        entry: dict[str, Any] = {}
        speeds = dict(arguments.get("speed") or {})
        for kind, values in arguments.items():
            if not values or kind in ("speed", "distance"):
                continue
            entry[kind] = {
                self._name(name): self._value(value, f"start: {kind} of {name!r}")
                for name, value in values.items()
            }
        for pair, value in (arguments.get("distance") or {}).items():
            each = {
                "between": [self._name(p) for p in pair],
                "value": self._value(value, "start: distance"),
            }
            if pair in speeds:
                each["speed"] = self._value(speeds.pop(pair), "start: speed")
            entry.setdefault("distance", []).append(each)
        if speeds:
            entry["speed"] = {
                self._name(name): self._value(value, f"start: speed of {name!r}")
                for name, value in speeds.items()
            }
        return entry

    def _value(self, value: Any, label: str) -> object:
        """Convert a value to plain data."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value, label)
        if isinstance(value, StateExpression):
            return self._text(value.text, label)
        if isinstance(value, Parameter):
            return named(value.name)
        if isinstance(value, Section):
            sizes = [self._value(size, label) for size in value.sizes]
            return {value.shape: sizes if len(sizes) > 1 else sizes[0]}
        if isinstance(value, Solid):
            return self._solid(value, label)
        if isinstance(value, (list, tuple, range)):
            return [self._value(each, label) for each in value]
        if isinstance(value, np.ndarray):
            return self._value((value.ravel() if 1 in value.shape else value).tolist(), label)
        if isinstance(value, SX):
            return self._symbolic(value, label)
        if isinstance(value, Table):
            remedy = 'name it, m.table("lift", …), and write "lift(t)"'
            raise ModelError("is a table without a name", label=label, remedy=remedy)
        if callable(value):
            remedy = 'write it as a text, such as "3*sin(4*t)" or "-5*velocity(\'P\')[0]"'
            raise ModelError(
                "is a Python function, which a model file cannot hold", label=label, remedy=remedy
            )
        try:
            return _plain(value)
        except (TypeError, ValueError):
            raise ModelError(
                "cannot be written to a file",
                label=label,
                value=value,
                remedy="give a list of numbers",
            ) from None

    def _solid(self, solid: Solid, label: str) -> dict[str, object]:
        first, second = solid.sizes[:2]
        entry: dict[str, object]
        if solid.kind == "extrusion":
            entry = {
                "extrusion": self._value(first, label),
                "thickness": self._value(second, label),
            }
        elif solid.kind == "mesh":
            file = str(Path(first).absolute())  # the text may be written to another folder
            entry = {"mesh": file, "scale": self._value(second, label)}
        else:
            entry = {solid.kind: self._value(solid.sizes, label)}
        if tuple(solid.at) != ORIGIN:
            entry["at"] = self._value(solid.at, label)
        if solid.rotation is not None:
            entry["rotation"] = self._value(solid.rotation, label)
        return entry

    def _text(self, text: str, label: str) -> float | str:
        """Write a text as it was given, unless parameters that were added later would change its
        meaning.
        """
        later = {*self._parameters} - self._earlier
        if (quantity := split_quantity(text)) is None:
            expression = Expression(text)
            if both := sorted((expression.names | expression.unit_words) & later):
                problem = (
                    f": a parameter {both[0]!r} was made later, and a file has all parameters"
                    " first, where the text would mean two things"
                )
                raise ModelError(problem, label=label, value=text, remedy="rename the parameter")
            return text
        names = words_of(quantity[1])
        return si_value(*quantity, label) if names & later and not names & self._earlier else text

    def _check_written(self) -> None:
        """Check that expressions that were written as texts have the same bits when they are read
        again.
        """
        numbers = self._model.parameter_set
        again = [SX(evaluated(text, numbers.scope, label)) for label, _, text in self._written]
        if not again:
            return
        both = zip(
            numbers.evaluate_all([x for _, x, _ in self._written]),
            numbers.evaluate_all(again),
            strict=True,
        )
        for (label, _, text), (first, second) in zip(self._written, both, strict=True):
            if first.tobytes() != second.tobytes():
                problem = (
                    f": its expression cannot be written such that {text!r} has the same value"
                )
                raise ModelError(problem, label=label, remedy="give it as a text")

    def _symbolic(self, value: SX, label: str) -> object:
        def entry(x: SX) -> float | str:
            text = formula(x, self._parameters, label)
            if isinstance(text, str):
                self._written.append((label, x, text))
            return text

        if value.numel() == 1:
            return entry(value)
        if value.is_vector():
            return [entry(value[k]) for k in range(value.numel())]
        return [[entry(value[i, j]) for j in range(value.shape[1])] for i in range(value.shape[0])]


def _places(model: ModelData) -> dict[str, list[Point]]:
    """Points by their own names, in the order in which a file creates them."""
    later = {
        (_body_name(s.arguments["body"]), s.arguments["name"])
        for s in model.calls
        if s.method == "point"
    } - {("ground", "")}
    first = [p for p in model.all_points if p.body.is_ground or (p.body.name, p.name) not in later]
    last = [p for p in model.all_points if p not in first]
    places: dict[str, list[Point]] = {}
    for point in [*first, *last]:
        if point.label not in {p.label for p in places.get(point.name, [])}:
            places.setdefault(point.name, []).append(point)
    return places


def _body_name(body: object) -> str:
    return body.name if isinstance(body, Body) else str(body)


def _plain(value: Any) -> int | float | str:
    """Convert a number to a Python number."""
    if isinstance(value, str):
        return value
    return (
        int(value) if isinstance(value, Integral) and not isinstance(value, bool) else float(value)
    )
