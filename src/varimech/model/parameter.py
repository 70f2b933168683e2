"""Named design parameters: numbers of a model that may vary, and with respect to which results are
differentiated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from ..core.errors import Label, ModelError
from ..core.expressions import fixed_number
from ..core.markup import Displayed, html_table
from ..core.symbols import NOT_SYMBOLIC, SX
from ..core.units import is_si, si_unit, split_quantity
from .iso_grades import grade_named, grade_width, is_grade
from .tolerance_cost import Cost, cost_of

ROUNDING = 1e-9
"""Relative difference of two tolerances that counts as rounding."""
DECADE = 10.0
"""Ratio of the widest and of the finest tolerance to the given one if these are not given; a round
value, about five grades of ISO 286-1.
"""
COST_CHECKS = 200
"""Intervals, of equal ratios, at whose ends a cost is checked between its bounds: at ten times the
tolerance and at a tenth of it they are 2 % long.
"""


@dataclass(frozen=True)
class Tolerance:
    """A bilateral tolerance ±width of a normal distribution: width = `sigmas` standard deviations
    (3: 99.73 % inside). With bounds and a cost it can be chosen (`Problem.allocate`).

    A width in text has a unit, "0.1 mm", or names a grade of ISO 286-1 by the nominal value, "IT7"
    (± half of its zone); it is a number once it belongs to a parameter.

    >>> Tolerance(0.03).sigma
    0.01
    """

    width: float | str
    sigmas: float = 3.0
    at_least: float | str | None = None
    """Finest tolerance that can be made."""
    at_most: float | str | None = None
    """Widest tolerance that is allowed."""
    cost: Cost | None = None
    """What it costs; a text or a function of t is taken as an expression."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", cost_of(self.cost))
        numbers: dict[str, Any] = {"sigmas": self.sigmas}
        for label, width in self._widths.items():
            if not isinstance(width, str):
                numbers[label] = width
            elif is_grade(width):
                grade_named(width, Label("tolerance", label))
            elif split_quantity(width) is None:
                fixed_number(width, "", Label("tolerance", label))
        for label, value in numbers.items():
            if not (_is_number(value) and math.isfinite(value) and value > 0):
                problem = "must be a positive finite number"
                raise ModelError(problem, element="tolerance", field=label, value=value)
        if not self._has_texts:
            _check_widths("tolerance", self._widths, (0.0, math.inf))

    @property
    def sigma(self) -> float:
        """Standard deviation, in the parameter's unit."""
        if isinstance(self.width, str):
            remedy = "give it to a parameter, or write a number"
            raise ModelError(
                "is a text", element="tolerance", field="width", value=self.width, remedy=remedy
            )
        return self.width / self.sigmas

    def in_unit_of(self, name: str, unit: str, nominal: float = math.nan) -> Tolerance:
        """The same tolerance with its widths and its cost as numbers.

        Args:
            name: name of the parameter, for messages.
            unit: its unit.
            nominal: its nominal value, which chooses the zones of grades.

        Returns:
            The tolerance.

        Raises:
            ModelError: if widths and bounds contradict each other, or the cost is not finite, or rises
                with the width, somewhere within the bounds.
        """
        widths = {
            label: _width(name, width, unit, nominal) for label, width in self._widths.items()
        }
        cost = None if self.cost is None else self.cost.of_parameter(name, unit, nominal)
        reach = (0.0, math.inf) if cost is None else cost.range
        _check_widths(f"tolerance of {name!r}", widths, reach)
        unchanged = cost is self.cost and not self._has_texts
        known = self if unchanged else replace(self, **widths, cost=cost)
        if cost is not None:
            _check_cost(f"tolerance of {name!r}", cost, known.limits, unit)
        return known

    @property
    def limits(self) -> tuple[float, float]:
        """Finest and widest tolerance that may be chosen, in the parameter's unit: the bounds that
        are given, and a tenth and ten times the width otherwise, within the range of the cost.
        """
        assert not self._has_texts
        width = float(self.width)
        finest, widest = (0.0, math.inf) if self.cost is None else self.cost.range
        low = width / DECADE if self.at_least is None else float(self.at_least)
        high = width * DECADE if self.at_most is None else float(self.at_most)
        low = max(low, finest) if self.at_least is None else low
        return low, min(high, widest) if self.at_most is None else high

    @property
    def _widths(self) -> dict[str, float | str]:
        bounds = {"at_least": self.at_least, "at_most": self.at_most}
        given = {label: bound for label, bound in bounds.items() if bound is not None}
        return {"width": self.width, **given}

    @property
    def _has_texts(self) -> bool:
        return any(isinstance(width, str) for width in self._widths.values())


class Parameter:
    """A named number of a mechanism, which can be used in place of numbers and in arithmetic.

    Made by `Mechanism.parameter`. Attributes: `name`, `value` (nominal), `unit`, `bounds` (lower,
    upper; None if open), `distribution` (a `Tolerance`, a distribution with its numbers, or
    None) and `symbol`.
    """

    def __init__(
        self,
        name: str,
        value: float | str,
        *,
        unit: str = "",
        bounds: tuple[float | str | None, float | str | None] | None = None,
        distribution: Any = None,
    ):
        self.name = name
        self.unit = _unit(name, value, unit)
        self._value = _finite(name, _number(name, value, self.unit, "value"))
        if isinstance(distribution, Tolerance):
            distribution = distribution.in_unit_of(name, self.unit, self._value)
        self.distribution = distribution
        self.bounds = checked_bounds(name, bounds, self.unit)
        self.symbol = SX.sym(
            f" {name}" if name.startswith("[") else name
        )  # CasADi would read [a, b] as two names
        self.check(self._value)
        if distribution is not None and not (
            isinstance(distribution, Tolerance)
            or any(hasattr(distribution, f) for f in ("rvs", "ppf", "icdf"))
        ):
            problem = (
                "is neither a varimech.Tolerance nor a distribution, such as those of scipy.stats"
            )
            raise ModelError(
                problem, element=f"parameter {name!r}", field="distribution", value=distribution
            )

    @property
    def value(self) -> float:
        """Nominal value; the argument `parameters` of a run gives other values."""
        return self._value

    def check(self, value: Any) -> float:
        """Convert a value of this parameter to a number and check it.

        Args:
            value: a number in the parameter's unit, or a quantity as text, such as "30 mm".

        Returns:
            The value in the parameter's unit.

        Raises:
            ModelError: if the value is not a finite number, or outside the bounds.
        """
        number = _finite(self.name, _number(self.name, value, self.unit, "value"), self.unit)
        lower, upper = self.bounds
        if (lower is not None and number < lower) or (upper is not None and number > upper):
            unit = f" {self.unit}" if self.unit else ""
            problem = f"value {number:g}{unit} is outside its bounds ({lower}, {upper}){unit}"
            raise ModelError(problem, element=f"parameter {self.name!r}")
        return number

    def __repr__(self) -> str:
        return (
            f"Parameter({self.name!r},"
            f" {self.value!r}{f', unit={self.unit!r}' if self.unit else ''})"
        )

    def __float__(self) -> float:
        raise self._no_number(
            "so it has no fixed float", "varimech.sin, varimech.sqrt, … in expressions"
        )

    def __eq__(self, other: object) -> bool:
        """Whether it is the same parameter; a parameter is never equal to a number."""
        if isinstance(other, (Real, SX)) and not isinstance(other, bool):
            raise self._no_number(
                f"so it neither is nor is not {other}", "< and > in varimech.where"
            )
        return self is other

    __hash__ = object.__hash__

    def _no_number(self, so: str, otherwise: str) -> TypeError:
        return TypeError(
            f"parameter {self.name!r} stands for a number that may change, {so}; use .value for its"
            f" nominal value, or {otherwise}"
        )

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> object:
        if method != "__call__" or kwargs:
            return NotImplemented
        return ufunc(*[x.symbol if isinstance(x, Parameter) else x for x in inputs])

    def __SX__(self) -> SX:  # noqa: N802 - the name CasADi looks for when it converts an operand
        return self.symbol

    def __add__(self, other: Any) -> SX:
        return self.symbol + other

    def __radd__(self, other: Any) -> SX:
        return other + self.symbol

    def __sub__(self, other: Any) -> SX:
        return self.symbol - other

    def __rsub__(self, other: Any) -> SX:
        return other - self.symbol

    def __mul__(self, other: Any) -> SX:
        return self.symbol * other

    def __rmul__(self, other: Any) -> SX:
        return other * self.symbol

    def __truediv__(self, other: Any) -> SX:
        return self.symbol / other

    def __rtruediv__(self, other: Any) -> SX:
        return other / self.symbol

    def __pow__(self, other: Any) -> SX:
        return self.symbol**other

    def __rpow__(self, other: Any) -> SX:
        return other**self.symbol

    def __lt__(self, other: Any) -> SX:
        return self.symbol < other

    def __le__(self, other: Any) -> SX:
        return self.symbol <= other

    def __gt__(self, other: Any) -> SX:
        return self.symbol > other

    def __ge__(self, other: Any) -> SX:
        return self.symbol >= other

    def __neg__(self) -> SX:
        return -self.symbol

    def __pos__(self) -> SX:
        return self.symbol

    def __abs__(self) -> SX:
        return abs(self.symbol)


def stated_tolerance(
    parameter: Parameter,
    before: Tolerance | None,
    width: float | str | None,
    at_least: float | str | None,
    at_most: float | str | None,
    sigmas: float | None,
    cost: Any,
) -> Tolerance:
    """Return the tolerance of a parameter that is a variable; whatever is not given is taken from
    `before`.

    Raises:
        ModelError: if there is no width, or the cost is not defined, or rises, within the bounds.
    """
    if width is None:
        width = before.width if before is not None else at_most
    element = f"tolerance of {parameter.name!r}"
    if width is None:
        remedy = "give it, or at_most"
        raise ModelError("is missing", element=element, field="width", remedy=remedy)
    if before is not None:
        sigmas = before.sigmas if sigmas is None else sigmas
        at_least = before.at_least if at_least is None else at_least
        at_most = before.at_most if at_most is None else at_most
        cost = before.cost if cost is None else cost
    stated = Tolerance(width, 3.0 if sigmas is None else sigmas, at_least, at_most, cost)
    return stated.in_unit_of(parameter.name, parameter.unit, parameter.value)


class Parameters(Displayed, dict[str, Parameter]):
    """Parameters by name; printed, and shown in notebooks, as a table."""

    def __str__(self) -> str:
        rows = [[str(x) for x in row] for row in ([*HEAD], *self._rows())]
        widths = [max(len(row[k]) for row in rows) for k in range(len(HEAD))]
        return "\n".join(
            "  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)).rstrip() for row in rows
        )

    def _display(self) -> str:
        return html_table(HEAD, self._rows())

    def _rows(self) -> list[list[Any]]:
        return [
            [
                p.name,
                p.value,
                p.unit,
                *("" if b is None else b for b in p.bounds),
                _distribution(p.distribution),
            ]
            for p in self.values()
        ]


HEAD = ("parameter", "value", "unit", "lower", "upper", "distribution")


def _distribution(distribution: object) -> str:
    """Short text of a distribution."""
    if distribution is None:
        return ""
    return (
        f"± {distribution.width:g} ({distribution.sigmas:g}σ)"
        if isinstance(distribution, Tolerance)
        else type(distribution).__name__
    )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _finite(name: str, value: Any, unit: str = "") -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except NOT_SYMBOLIC:
        raise ModelError(
            f"value {value!r} is not a number{unit and f' (in {unit})'}",
            element=f"parameter {name!r}",
        ) from None
    if not math.isfinite(number):
        raise ModelError(f"value {number} is not finite", element=f"parameter {name!r}")
    return number


def _unit(name: str, value: object, unit: str) -> str:
    """The unit that is given, or that of a value in text, as an SI unit: a label must not turn 30
    mm into 30 m.
    """
    quantity = split_quantity(value) if isinstance(value, str) else None
    own = quantity is not None and quantity[1]
    if unit and not (isinstance(unit, str) and is_si(unit)):
        shown = str(unit)[:60]
        number = (
            f"a number is in SI units: write '{value} {shown}' as a text, or leave the unit out"
        )
        remedy = f"leave it out, the value {value!r} has its own" if own else number
        raise ModelError(
            "is not one of the SI",
            element=f"parameter {name!r}",
            field="unit",
            value=shown,
            remedy=remedy,
        )
    return unit or (si_unit(own, f"parameter {name!r}") if own else "")


def _number(name: str, value: object, unit: str, what: str) -> Any:
    """Convert a value in text to a number in the parameter's unit; return other values unchanged."""
    if not isinstance(value, str):
        return value
    return fixed_number(value, unit, Label(f"parameter {name!r}", what))


def _check_widths(element: str, widths: Mapping[str, Any], reach: tuple[float, float]) -> None:
    """Check that a width lies within its bounds, and that all of them lie within the range of the
    cost.
    """
    width, low, high = widths["width"], widths.get("at_least", 0.0), widths.get("at_most", math.inf)
    if not low <= width <= high or low == high:
        problem = f"= {width:g} is not within its bounds ({low:g}, {high:g})"
        remedy = "give at_least ≤ width ≤ at_most, and at_least < at_most"
        raise ModelError(problem, element=element, field="width", remedy=remedy)
    finest, widest = reach
    for label, given in widths.items():
        # a width that was computed from the width of a grade differs from it by rounding
        if not finest * (1 - ROUNDING) <= given <= widest * (1 + ROUNDING):
            problem = f"= {given:g} is outside the tolerances with a cost, {finest:g} to {widest:g}"
            remedy = "give costs of more grades, or other bounds"
            raise ModelError(problem, element=element, field=label, remedy=remedy)


def _check_cost(element: str, cost: Cost, limits: tuple[float, float], unit: str) -> None:
    """Check that a cost is finite and does not rise with the width, between the bounds."""
    low, high = limits
    # a width at an end of the range of grades, but for rounding
    finest, widest = cost.range
    low, high = max(low, finest), min(high, widest)
    ratio = (high / low) ** (1 / COST_CHECKS)
    before: tuple[float, float] | None = None
    for k in range(COST_CHECKS + 1):
        t = high if k == COST_CHECKS else low * ratio**k
        value, derivative = cost.value(t), cost.derivative(t)
        if not (math.isfinite(value) and math.isfinite(derivative)):
            problem = f"is {value:g} for a tolerance of {t:g}, with the derivative {derivative:g}"
            remedy = "give a function that is finite and smooth within the bounds"
            raise ModelError(problem, element=element, field="cost", remedy=remedy)
        rounding = ROUNDING * abs(value)
        rises = before is not None and value > before[1] + rounding
        if rises or derivative * t > rounding:
            least, less = before if before is not None and rises else (t / ratio, math.nan)
            what = f" from {less:g} to {value:g} as the tolerance widens from {least:g} to"
            if not rises:
                what = f" with the tolerance (by {derivative:g} per unit, from {value:g}) at"
            problem = f"rises{what} {t:g}{f' {unit}' if unit else ''}"
            remedy = (
                "give a cost that falls as the tolerance widens, such as varimech.cost(a, b),"
                " a + b/t, or bounds (at_least, at_most) within which it falls"
            )
            raise ModelError(problem, element=element, field="cost", remedy=remedy)
        before = (t, value)


def _width(name: str, width: float | str, unit: str, nominal: float) -> float:
    """Return a tolerance ± as a number, also from a quantity or from the grade of a length."""
    if not is_grade(width):
        return float(_number(name, width, unit, "tolerance"))
    label = Label(f"parameter {name!r}", "tolerance")
    if unit != "m":
        problem = f"is a grade of ISO 286-1, which lengths have, and its unit is {unit or 'none'}"
        remedy = "give the parameter in m, or the tolerance as a number"
        raise ModelError(problem, label=label, value=width, remedy=remedy)
    return grade_width(nominal, width, label)


def checked_bounds(name: str, bounds: Any, unit: str = "") -> tuple[float | None, float | None]:
    """Return the bounds, each None if it is open."""
    if bounds is None:
        return (None, None)
    try:
        lower, upper = (_number(name, bound, unit, "bound") for bound in bounds)
    except ModelError as error:
        raise ModelError(f"{error} (bounds = {bounds!r})") from None
    except (TypeError, ValueError):
        raise ModelError(
            "must be a pair (lower, upper)",
            element=f"parameter {name!r}",
            field="bounds",
            value=bounds,
        ) from None
    for bound in (lower, upper):
        if bound is not None and (not _is_number(bound) or math.isnan(bound)):
            raise ModelError(
                "must be numbers, or None where open",
                element=f"parameter {name!r}",
                field="bounds",
                value=bounds,
            )
    if lower is not None and upper is not None and not lower < upper:
        raise ModelError(
            f"bounds ({lower}, {upper}) are empty",
            element=f"parameter {name!r}",
            remedy="give lower < upper",
        )
    return (None if lower == -math.inf else lower, None if upper == math.inf else upper)


Number = Any
"""A number, a `Parameter`, an expression of parameters, or a text: a quantity ("30 mm") or an
expression ("L/2"). Not a union, because NumPy scalars and all objects that convert to a float are
allowed, too.
"""
Vector = Any
"""Components, each a `Number`, or an expression of all of them."""
