"""Costs of a tolerance ±t, each with its exact derivative.

    reciprocal      C(t) = a + b/tᵖ
    exponential     C(t) = a + b exp(−k t)
    by grades       C given for grades of ISO 286-1; a monotone cubic (PCHIP) in ln t between them
    a function      any expression of t, differentiated symbolically

t is in the unit of the parameter. Reciprocal costs (p = 1, 2) and the exponential one are those of
tolerance synthesis: F. H. Speckhart, J. Eng. Ind. 94 (1972) 521–526; M. F. Spotts, J. Eng. Ind. 95
(1973) 762–764; K. W. Chase et al., Manuf. Rev. 3 (1990) 49–59.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any

import casadi as ca

from ..core.errors import Label, ModelError
from ..core.expressions import Expression, Scope, fixed_number
from ..core.symbols import NOT_SYMBOLIC, SX
from .iso_grades import GRADES, grade_named, grade_width

if TYPE_CHECKING:
    from scipy.interpolate import PchipInterpolator


@dataclass(frozen=True)
class Cost(ABC):
    """Cost of a tolerance; `value` and `derivative` are numbers once the tolerance belongs to a
    parameter.
    """

    @abstractmethod
    def value(self, t: float) -> float:
        """C(t).

        Args:
            t: tolerance ±, in the unit of the parameter.

        Returns:
            The cost.
        """

    @abstractmethod
    def derivative(self, t: float) -> float:
        """dC/dt.

        Args:
            t: tolerance ±, in the unit of the parameter.

        Returns:
            The derivative, negative where a wider tolerance is cheaper.
        """

    def of_parameter(self, name: str, unit: str, nominal: float) -> Cost:
        """The same cost with texts as numbers in the unit of a parameter.

        Args:
            name: name of the parameter, for messages.
            unit: its unit.
            nominal: its nominal value.

        Returns:
            The cost.
        """
        return self

    @property
    def range(self) -> tuple[float, float]:
        """Least and largest tolerance for which it is defined."""
        return 0.0, math.inf


@dataclass(frozen=True)
class ReciprocalCost(Cost):
    """C = a + b/tᵖ."""

    a: float
    b: float | str
    power: float = 1.0

    def __post_init__(self) -> None:
        _check("cost", a=(self.a, 0.0), power=(self.power, None), b=(self.b, None))

    def of_parameter(self, name: str, unit: str, nominal: float) -> Cost:
        """The same cost with b as a number."""
        if not isinstance(self.b, str):
            return self
        return replace(self, b=_number(self.b, _power(unit, self.power), name, "b"))

    def value(self, t: float) -> float:
        """a + b/tᵖ."""
        return self.a + _as_number(self.b) * t**-self.power

    def derivative(self, t: float) -> float:
        """−p b/tᵖ⁺¹."""
        return -self.power * _as_number(self.b) * t ** -(self.power + 1)


@dataclass(frozen=True)
class ExponentialCost(Cost):
    """C = a + b exp(−k t)."""

    a: float
    b: float
    k: float | str

    def __post_init__(self) -> None:
        _check("exponential_cost", a=(self.a, 0.0), b=(self.b, None), k=(self.k, None))

    def of_parameter(self, name: str, unit: str, nominal: float) -> Cost:
        """The same cost with k as a number."""
        if not isinstance(self.k, str):
            return self
        return replace(self, k=_number(self.k, _power(unit, -1), name, "k"))

    def value(self, t: float) -> float:
        """a + b exp(−k t)."""
        return self.a + self.b * math.exp(-_as_number(self.k) * t)

    def derivative(self, t: float) -> float:
        """−k b exp(−k t)."""
        k = _as_number(self.k)
        return -k * self.b * math.exp(-k * t)


@dataclass(frozen=True)
class GradeCost(Cost):
    """Costs of grades of ISO 286-1; between two of them a monotone cubic in ln t."""

    costs: tuple[tuple[str, float], ...]
    """(grade, cost), the finest grade first."""
    size: float | str | None = None
    """Nominal size (m) that determines the tolerances of the grades; that of the parameter if None.
    """
    widths: tuple[float, ...] = field(default=(), repr=False)
    """Tolerances ± of the grades (m); empty until the cost belongs to a parameter."""

    @property
    def grades(self) -> tuple[str, ...]:
        """The grades with a given cost, the finest first."""
        return tuple(grade for grade, _ in self.costs)

    def of_parameter(self, name: str, unit: str, nominal: float) -> Cost:
        """The same cost with the tolerances of its grades."""
        label = Label(f"parameter {name!r}", "cost")
        if unit != "m":
            problem = f"is by grades, which lengths have, and its unit is {unit or 'none'}"
            remedy = "give the parameter in m, or a cost such as varimech.cost(a, b)"
            raise ModelError(problem, label=label, remedy=remedy)
        size = self.size if self.size is not None else nominal
        number = fixed_number(size, "m", label) if isinstance(size, str) else float(size)
        widths = tuple(grade_width(number, grade, label) for grade in self.grades)
        return replace(self, size=number, widths=widths)

    def value(self, t: float) -> float:
        """The interpolated cost."""
        return float(self._interpolant(math.log(t)))

    def derivative(self, t: float) -> float:
        """Derivative of the interpolated cost."""
        return float(self._interpolant(math.log(t), 1)) / t

    @property
    def range(self) -> tuple[float, float]:
        """From the finest to the coarsest grade."""
        self._check_has_widths()
        return self.widths[0], self.widths[-1]

    @cached_property
    def _interpolant(self) -> PchipInterpolator:
        from scipy.interpolate import PchipInterpolator

        self._check_has_widths()
        return PchipInterpolator([math.log(t) for t in self.widths], [c for _, c in self.costs])

    def _check_has_widths(self) -> None:
        if not self.widths:
            problem = "its grades have no tolerances before it belongs to a parameter"
            raise ModelError(problem, element="grade_cost", remedy="give it to m.tolerance")


@dataclass(frozen=True)
class CostFunction(Cost):
    """C by an expression of t: a text, or a Python function of varimech's mathematics."""

    function: str | Callable[[Any], Any]

    def __post_init__(self) -> None:
        self._functions  # noqa: B018 - a wrong expression fails where it is given

    def value(self, t: float) -> float:
        """Value of the expression."""
        return float(self._functions[0](t))

    def derivative(self, t: float) -> float:
        """Its symbolic derivative."""
        return float(self._functions[1](t))

    @cached_property
    def _functions(self) -> tuple[ca.Function, ca.Function]:
        t = SX.sym("t")
        label = Label("tolerance", "cost")
        try:
            C = SX(_expression(self.function)(t))
        except ModelError as error:
            raise ModelError(f"{error}", label=label) from None
        except NOT_SYMBOLIC as error:
            problem = f"cannot be computed: {str(error).splitlines()[-1]}"
            remedy = "use varimech.exp, varimech.where, … (not math or numpy) on the tolerance t"
            raise ModelError(problem, label=label, remedy=remedy) from None
        if not C.is_scalar():
            raise ModelError("must be a single number", label=label, value=self.function)
        return ca.Function("C", [t], [C]), ca.Function("dC", [t], [ca.gradient(C, t)])

    def __getstate__(self) -> dict[str, Any]:
        """State without CasADi functions, which other processes build themselves."""
        return {"function": self.function}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def cost(a: float, b: float | str, *, power: float = 1.0) -> Cost:
    """Cost of a tolerance ±t:  a + b/tᵖ.

    Args:
        a: cost of the widest possible tolerance.
        b: factor; in the unit of the parameter to the power p, or as text, "0.2 mm".
        power: p.

    Returns:
        The cost.

    Raises:
        ModelError: for a < 0, b ≤ 0 or p ≤ 0.

    >>> import varimech as vm
    >>> turned = vm.cost(1.5, 2e-4)  # for t in m
    >>> round(turned.value(1e-4), 6), round(turned.derivative(1e-4), 6)
    (3.5, -20000.0)
    """
    return ReciprocalCost(a, b, power)


def exponential_cost(a: float, b: float, k: float | str) -> Cost:
    """Cost of a tolerance ±t:  a + b exp(−k t).

    Args:
        a: cost of the widest possible tolerance.
        b: additional cost of the finest possible tolerance.
        k: rate; per unit of the parameter, or as text, "20 1/mm".

    Returns:
        The cost.

    Raises:
        ModelError: for a < 0, b ≤ 0 or k ≤ 0.
    """
    return ExponentialCost(a, b, k)


def grade_cost(
    costs: Mapping[int, float] | Mapping[str, float] | Mapping[int | str, float],
    *,
    size: float | str | None = None,
) -> Cost:
    """Cost of a tolerance by its grade of ISO 286-1, for parameters in m.

    The tolerance is ±IT/2. Between grades, the cost is a monotone cubic in ln t.

    Args:
        costs: grade → cost, such as {6: 12.0, 7: 8.0, 8: 5.0}; finer grades cost more.
        size: nominal size (m, or as text) that the grades belong to; the nominal value of the
            parameter if not given.

    Returns:
        The cost.

    Raises:
        ModelError: for fewer than two grades, unknown ones, or costs that increase with the
            tolerance.
    """
    element = "grade_cost"
    if not isinstance(costs, Mapping) or len(costs) < 2:
        problem = "must be costs of two grades or more, such as {6: 12.0, 7: 8.0}"
        raise ModelError(problem, element=element, field="costs", value=costs)
    label = Label(element, "costs")
    named = {grade_named(grade, label): float(_checked(c, label)) for grade, c in costs.items()}
    pairs = tuple((grade, named[grade]) for grade in GRADES if grade in named)
    for (fine, more), (coarse, less) in pairwise(pairs):
        if not more > less:
            problem = f": IT{coarse} costs {less:g}, not less than IT{fine} ({more:g})"
            remedy = "leave out a grade that costs more than a finer one"
            raise ModelError(problem, element=element, field="costs", remedy=remedy)
    return GradeCost(pairs, size)


def cost_of(given: object) -> Cost | None:
    """Return a cost unchanged, and a function of t as a cost.

    Raises:
        ModelError: for anything else.
    """
    if given is None or isinstance(given, Cost):
        return given
    if isinstance(given, str) or callable(given):
        return CostFunction(given)
    problem = "is not a cost"
    remedy = (
        "give varimech.cost(a, b), varimech.exponential_cost(a, b, k), varimech.grade_cost({…}),"
    )
    raise ModelError(
        problem,
        element="tolerance",
        field="cost",
        value=given,
        remedy=f"{remedy} or a function of t",
    )


def _expression(function: str | Callable[[Any], Any]) -> Callable[[SX], Any]:
    """Return a text or a function of t as a function of t."""
    if isinstance(function, str):
        return lambda t: Expression(function).value(Scope({"t": t}))
    return function


def _check(element: str, **given: tuple[object, float | None]) -> None:
    """Check numbers: not below a limit, or positive if the limit is None; texts are read later."""
    for name, (value, least) in given.items():
        if isinstance(value, str) and name in ("b", "k"):
            continue
        number = _checked(value, Label(element, name))
        if number < least if least is not None else number <= 0:
            problem = "must be positive" if least is None else "must not be negative"
            raise ModelError(problem, element=element, field=name, value=value)


def _checked(value: object, label: Label) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ModelError("must be a finite number", label=label, value=value)
    return float(value)


def _number(value: str, unit: str, name: str, what: str) -> float:
    """Value of a text in a unit."""
    label = Label(f"parameter {name!r}", f"cost: {what}")
    number = fixed_number(value, unit, label)
    if not number > 0:
        raise ModelError("must be positive", label=label, value=value)
    return number


def _power(unit: str, power: float) -> str:
    """Power of a unit as text; the exponent must be an integer."""
    if not unit or power == 1:
        return unit
    if power != int(power):
        raise ModelError(
            f"with a power of {power:g} is a number, not a text", element="cost", field="b"
        )
    return f"1/({unit})" if power == -1 else f"({unit})**{int(power)}"


def _as_number(value: float | str) -> float:
    """Assert that a value is a number and no longer a text."""
    if isinstance(value, str):
        remedy = "give it to m.tolerance, or write a number"
        raise ModelError("is a text", element="cost", value=value, remedy=remedy)
    return value
