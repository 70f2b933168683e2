"""Units in which a model text gives the values of its parameters, and in which pages show them."""

from __future__ import annotations

from ..core.units import si_value, split_quantity
from ..files.editing import scalars


def units_of(text: str) -> dict[str, dict[str, object]]:
    """Unit, and its size in SI units, of each parameter whose value has a unit in the text."""
    units: dict[str, dict[str, object]] = {}
    for where, is_key, node in scalars(text):
        if is_key or where[:1] != ("parameters",) or where[2:] not in ((), ("value",)):
            continue
        quantity = split_quantity(str(node.value))
        if quantity is not None and quantity[1]:
            unit = quantity[1]
            units[where[1]] = {"unit": unit, "factor": si_value(1.0, unit, "unit")}
    return units
