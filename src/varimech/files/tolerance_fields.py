"""Tolerances in model files: a width, or a width with bounds and a cost."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, StrictFloat, StrictInt, StrictStr, Tag

from ..core.errors import ModelError
from ..model.parameter import Tolerance
from ..model.tolerance_cost import (
    Cost,
    CostFunction,
    ExponentialCost,
    GradeCost,
    ReciprocalCost,
    cost,
    exponential_cost,
    grade_cost,
)
from . import field_types as ft

Plain = StrictFloat | StrictInt


class CostEntry(ft.Strict):
    """Cost of a tolerance t: a + b/t^power; a + b exp(−k t); or by grades of ISO 286-1."""

    a: Plain | None = Field(None, description="Cost of the widest possible tolerance.")
    b: ft.Number | None = Field(
        None, description="Factor of 1/t^power, such as 0.2 mm; or of the exponential function."
    )
    power: ft.Positive | None = Field(None, description="Exponent of t; 1 if not given.")
    k: ft.Number | None = Field(None, description="Rate of the exponential function: 20 1/mm.")
    grades: dict[StrictInt | StrictStr, Plain] | None = Field(
        None, description="Cost of each grade, such as {6: 12, 7: 8}."
    )
    size: ft.Number | None = Field(
        None, description="Nominal size of the grades; that of the parameter if not given."
    )

    def made(self) -> Cost:
        """Build the cost."""
        given = self.given()
        keys = set(given)
        if self.grades is not None and keys <= {"grades", "size"}:
            return grade_cost(self.grades, size=self.size)
        if {"a", "b", "k"} == keys:
            return exponential_cost(**given)
        if {"a", "b"} <= keys <= {"a", "b", "power"}:
            return cost(**given)
        raise ModelError(
            "a cost has a and b (and power), or a, b and k, or grades (and size)",
            remedy="{a: 1, b: 0.2 mm} is one; or write an expression of t",
        )


class ToleranceEntry(ft.Strict):
    """A tolerance that can be chosen, with its bounds and its cost."""

    width: ft.Number | None = Field(
        None, description="± about the nominal value: a length, or a grade such as IT7."
    )
    at_least: ft.Number | None = Field(None, description="Finest tolerance that can be made.")
    at_most: ft.Number | None = Field(None, description="Widest tolerance that is allowed.")
    cost: CostEntry | StrictStr | None = Field(
        None, description="Its cost; or an expression of t, such as 2 + 1e-4/t."
    )

    def made(self) -> dict[str, Any]:
        """Arguments of `Mechanism.tolerance`."""
        given = self.given("cost")
        if self.cost is not None:
            given["cost"] = self.cost if isinstance(self.cost, str) else self.cost.made()
        return given


ToleranceOrWidth = Annotated[
    Annotated[ft.Number, Tag("width")] | Annotated[ToleranceEntry, Tag("entry")],
    Discriminator(lambda given: "entry" if isinstance(given, dict) else "width"),
]
"""Error paths use the keys of the entry, for any kind of error."""


def tolerance_entry(given: dict[str, Any], number: Any) -> object:
    """Return the file entry of a tolerance: its width alone if it has neither bounds nor a cost.

    Args:
        given: width, at_least, at_most and cost, as far as they exist.
        number: converts a number to plain data.
    """
    stated = {key: value for key, value in given.items() if value is not None}
    entry = {key: value if key == "cost" else number(value) for key, value in stated.items()}
    if "cost" in entry:
        entry["cost"] = _cost_entry(stated["cost"], number)
    return entry["width"] if list(entry) == ["width"] else entry


def tolerance_fields(tolerance: Tolerance) -> dict[str, Any]:
    """Width, bounds and cost of a tolerance."""
    names = ("width", "at_least", "at_most", "cost")
    return {name: getattr(tolerance, name) for name in names}


def _cost_entry(given: Any, number: Any) -> object:
    function = given.function if isinstance(given, CostFunction) else given
    if isinstance(function, str):
        return function
    if isinstance(given, ReciprocalCost):
        power = {} if given.power == 1 else {"power": number(given.power)}
        return {"a": number(given.a), "b": number(given.b), **power}
    if isinstance(given, ExponentialCost):
        return {"a": number(given.a), "b": number(given.b), "k": number(given.k)}
    if isinstance(given, GradeCost):
        grades = {_grade(name): number(value) for name, value in given.costs}
        size = {} if given.size is None else {"size": number(given.size)}
        return {"grades": grades, **size}
    raise ModelError(
        "is a Python function, which a file cannot hold",
        element="tolerance",
        field="cost",
        value=given,
        remedy="write it as a text: an expression of t",
    )


def _grade(name: str) -> int | str:
    """Name of a grade in a file: 01 stays a text."""
    return name if name == "01" else int(name)
