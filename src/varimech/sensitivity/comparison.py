"""Comparisons as constraints:  `final(f) <= 0.1`,  `integral(g) >= 2`,  `path(h).between(-1, 1)`,
`final(f).equals(0)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

from ..core.errors import ModelError


class Comparable:
    """A quantity of a run that can be bounded; `<=` and `<` mean the same, as do `>=` and `>`."""

    unit: str

    def __le__(self, upper: Any) -> Constraint:
        return self._bounded(-math.inf, _number("<=", upper))

    def __ge__(self, lower: Any) -> Constraint:
        return self._bounded(_number(">=", lower), math.inf)

    __lt__ = __le__
    __gt__ = __ge__

    def between(self, lower: float, upper: float) -> Constraint:
        """Bound the quantity on both sides.

        Args:
            lower: lower bound, in the unit of the quantity.
            upper: upper bound, larger than the lower one.

        Returns:
            The constraint.

        Raises:
            ModelError: unless lower < upper.
        """
        low, high = _number("between", lower), _number("between", upper)
        if not low < high:
            raise ModelError(
                f"between({low:g}, {high:g}) is empty",
                remedy="give lower < upper, or equals(value)",
            )
        return self._bounded(low, high)

    def equals(self, value: float) -> Constraint:
        """Constrain the quantity to a value (`==` compares objects in Python).

        Args:
            value: in the unit of the quantity.

        Returns:
            The constraint.
        """
        number = _number("equals", value)
        return self._bounded(number, number)

    def _bounded(self, lower: float, upper: float) -> Constraint:
        """Return the constraint, unless the quantity refuses such bounds."""
        return Constraint(self, lower, upper)


@dataclass(frozen=True)
class Constraint:
    """lower ≤ quantity ≤ upper; created by comparing a quantity with a number."""

    of: Comparable
    lower: float
    upper: float

    @property
    def rule(self) -> str:
        """The bounds as text, with the unit."""
        unit = f" {self.of.unit}" if self.of.unit else ""
        if self.lower == self.upper:
            return f"= {self.lower:g}{unit}"
        if math.isinf(self.lower):
            return f"≤ {self.upper:g}{unit}"
        return (
            f"≥ {self.lower:g}{unit}"
            if math.isinf(self.upper)
            else f"between {self.lower:g} and {self.upper:g}{unit}"
        )

    def __bool__(self) -> bool:
        raise ModelError(
            "a constraint is neither true nor false",
            remedy="for two bounds (a <= f <= b) write f.between(a, b)",
        )


def _number(comparison: str, value: Any) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ModelError(
            f"{comparison} {value!r}: a quantity is compared with a finite number",
            remedy="bring what depends on parameters to the left, as in vm.final(lambda s: s.energy"
            " - s.parameter('E')) <= 0",
        )
    return float(value)
