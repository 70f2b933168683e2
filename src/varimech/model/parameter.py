"""Named design parameters: numbers of a model that may change, and with respect to which everything
can be differentiated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ..core.errors import Label, ModelError
from ..core.expressions import fixed_number
from ..core.markup import Displayed, html_table
from ..core.symbols import NOT_SYMBOLIC, SX
from ..core.units import is_si, si_unit, split_quantity


@dataclass(frozen=True)
class Tolerance:
    """A bilateral tolerance ±width of a normal distribution: width = `sigmas` standard deviations
    (3: 99.73 % inside).

    A width in text has a unit, "0.1 mm", and is a number once it belongs to a parameter.

    >>> Tolerance(0.03).sigma
    0.01
    """

    width: float | str
    sigmas: float = 3.0

    def __post_init__(self) -> None:
        numbers: dict[str, Any] = {"width": self.width, "sigmas": self.sigmas}
        if isinstance(self.width, str):
            del numbers["width"]
            if split_quantity(self.width) is None:
                fixed_number(self.width, "", Label("tolerance", "width"))
        for label, value in numbers.items():
            if not (_is_number(value) and math.isfinite(value) and value > 0):
                problem = "must be a positive finite number"
                raise ModelError(problem, element="tolerance", field=label, value=value)

    @property
    def sigma(self) -> float:
        """Standard deviation, in the parameter's unit."""
        if isinstance(self.width, str):
            remedy = "give it to a parameter, or write a number"
            raise ModelError(
                "is a text", element="tolerance", field="width", value=self.width, remedy=remedy
            )
        return self.width / self.sigmas

    def in_unit_of(self, name: str, unit: str) -> Tolerance:
        """The same tolerance with its width as a number.

        Args:
            name: name of the parameter, for messages.
            unit: its unit.

        Returns:
            The tolerance.
        """
        if not isinstance(self.width, str):
            return self
        return Tolerance(_number(name, self.width, unit, "tolerance"), self.sigmas)


class Parameter:
    """A named number of one mechanism: use it wherever a number goes, and in arithmetic.

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
        if isinstance(distribution, Tolerance):
            distribution = distribution.in_unit_of(name, self.unit)
        self.distribution = distribution
        self._value = _finite(name, _number(name, value, self.unit, "value"))
        self.bounds = checked_bounds(name, bounds, self.unit)
        self.symbol = SX.sym(
            f" {name}" if name.startswith("[") else name
        )  # CasADi takes [a, b] for two names
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
        """Nominal value; a run with another one takes it from its `parameters` argument."""
        return self._value

    def check(self, value: Any) -> float:
        """Convert a value of this parameter to a number and check it.

        Args:
            value: a number in the parameter's unit, or a quantity as text, such as "30 mm".

        Returns:
            The value in the parameter's unit.

        Raises:
            ModelError: for what is no finite number, or outside the bounds.
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
        """Whether it is the same parameter; it is never a number."""
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
    """The unit that is given, or that of a value in text, as one of the SI: a label must not make
    30 m of 30 mm.
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
    """A value in text as a number in the parameter's unit; other values as they are."""
    if not isinstance(value, str):
        return value
    return fixed_number(value, unit, Label(f"parameter {name!r}", what))


def checked_bounds(name: str, bounds: Any, unit: str = "") -> tuple[float | None, float | None]:
    """The bounds themselves, if they are some; open ones where none are given."""
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
            f"bounds ({lower}, {upper}) leave no room",
            element=f"parameter {name!r}",
            remedy="give lower < upper",
        )
    return (None if lower == -math.inf else lower, None if upper == math.inf else upper)


Number = Any
"""A number, a `Parameter`, an expression of parameters, or a text: a quantity ("30 mm") or an
expression ("L/2"). Not a union: numbers of NumPy and whatever converts to one are fine, too.
"""
Vector = Any
"""Components, each a `Number`, or an expression of all of them."""
