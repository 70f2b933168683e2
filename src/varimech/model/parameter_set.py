"""The numbers of a model: its parameters, and the checks that every given number must pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import casadi as ca
import numpy as np

from ..core.errors import ModelError, about, check_named, component, unknown_name
from ..core.expressions import Expression, Scope
from ..core.messages import Call, Message
from ..core.symbols import NOT_SYMBOLIC, SX
from ..core.tables import Table
from ..core.units import (
    has_expression,
    in_unit,
    is_of_kind,
    of_one_kind,
    split_quantity,
    words_of,
)
from .parameter import Parameter
from .requirements import Allowed, Requirement


class ParameterSet:
    """Parameters by name, and the requirements that their values must satisfy."""

    def __init__(self, owner: str):
        self.owner = owner
        self.parameters: dict[str, Parameter] = {}
        self.modes: dict[str, SX] = {}
        """Numbers that change at events only, by name. They follow the parameters in `vector`, so
        that all functions of the parameters are functions of the modes, too.
        """
        self.tables: dict[str, Table] = {}
        """Tabulated functions, which texts call by name."""
        self._first_modes: dict[str, float] = {}
        """Values of the modes at the start of a run."""
        self.requirements: list[Requirement] = []
        self._allowed: tuple[int, Allowed] | None = None
        self._scope: Scope | None = None
        self._accepted: dict[int, tuple[SX, float]] = {}
        """Scalar expressions that have been checked, by identity, with their nominal values."""

    def add(self, parameter: Parameter) -> Parameter:
        """Add a new parameter."""
        if parameter.name in self.parameters:
            raise ModelError(
                f"mechanism {self.owner!r} already has a parameter {parameter.name!r}",
                remedy="choose another name",
            )
        self.parameters[parameter.name] = parameter
        self._allowed = self._scope = None
        return parameter

    def add_modes(self, names: Iterable[str], initial: float = 0.0) -> None:
        """Add new modes."""
        for name in names:
            self.modes[name], self._first_modes[name] = SX.sym(name), initial
        self._allowed = None

    def add_table(self, name: str, table: Table) -> Table:
        """Add a new table."""
        if name in self.tables:
            raise ModelError(
                f"mechanism {self.owner!r} already has a table {name!r}",
                remedy="choose another name",
            )
        for value in table.values.ravel() if table.values.dtype == object else ():
            self.check_symbols(value, f"table {name!r}")
        self.tables[name] = table
        self._scope = None
        return table

    def mode_place(self, name: str) -> int:
        """Index of a mode in `vector`."""
        return len(self.parameters) + list(self.modes).index(name)

    @property
    def vector(self) -> SX:
        """Symbols of all parameters, in order of creation, followed by those of the modes."""
        symbols = [p.symbol for p in self.parameters.values()]
        return ca.vertcat(SX(0, 1), *symbols, *self.modes.values())

    @property
    def nominal(self) -> np.ndarray:
        """Nominal values of `vector`."""
        values = [p.value for p in self.parameters.values()]
        return np.array([*values, *self._first_modes.values()], dtype=float)

    def indices(self, names: Any) -> list[int]:
        """Indices of the named parameters in `vector`."""
        order = list(self.parameters)
        out = []
        for item in names:
            name = item.name if isinstance(item, Parameter) else item
            if name not in self.parameters:
                raise unknown_name(f"parameter of mechanism {self.owner!r}", name, order)
            if isinstance(item, Parameter) and self.parameters[name] is not item:
                raise ModelError(
                    f"parameter {name!r} belongs to another mechanism than {self.owner!r}"
                )
            out.append(order.index(name))
        return out

    def frozen(self) -> ParameterSet:
        """Return a frozen copy."""
        kept = ParameterSet(self.owner)
        kept.parameters = dict(self.parameters)
        kept.modes, kept._first_modes = dict(self.modes), dict(self._first_modes)
        kept.tables = dict(self.tables)
        kept.requirements = list(self.requirements)
        return kept

    def values(self, changed: Mapping[str, float | str] | Mapping[str, float] | None) -> np.ndarray:
        """Nominal values with some replaced, also by texts, checked against bounds and
        requirements.
        """
        check_named("parameters", changed, "{'L': 0.3}")
        values, parameters = self.nominal, list(self.parameters.values())
        for name, value in (changed or {}).items():
            index = self.indices([name])[0]
            values[index] = parameters[index].check(value)
        if changed:
            self.check(values)
        return values

    def check(self, values: np.ndarray) -> None:
        """Check bounds and requirements for a set of values.

        Raises:
            ModelError: for the first one that is violated.
        """
        if self.allowed(values[None, :])[0]:
            return
        for parameter, value in zip(self.parameters.values(), values, strict=False):
            parameter.check(value)
        for requirement, number in zip(
            self.requirements,
            self.evaluate_all([r.expression for r in self.requirements], values),
            strict=True,
        ):
            requirement.enforce(number)

    @property
    def allowed(self) -> Allowed:
        """Return a test of many sets of values at once against bounds and requirements."""
        if self._allowed is None or self._allowed[0] != len(self.requirements):
            bounds = [p.bounds for p in self.parameters.values()]
            bounds += [(-np.inf, np.inf) for _ in self.modes]
            self._allowed = len(self.requirements), Allowed(self.vector, self.requirements, bounds)
        return self._allowed[1]

    def evaluate(self, expression: SX, values: np.ndarray | None = None) -> np.ndarray:
        """Evaluate an expression of parameters."""
        return self.evaluate_all([expression], values)[0]

    def evaluate_all(
        self, expressions: list[SX], values: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Evaluate many expressions, constant or of parameters."""
        if all(x.is_constant() for x in expressions):  # most are, and a function takes longer
            # by columns, as below: the order in memory determines how products are rounded
            return [np.asfortranarray(np.array(ca.evalf(x))) for x in expressions]
        function = ca.Function("values", [self.vector], [ca.densify(ca.veccat(*expressions))])
        numbers = np.array(function(self.nominal if values is None else values)).ravel()
        parts = np.split(numbers, np.cumsum([x.numel() for x in expressions])[:-1])
        return [
            part.reshape(x.shape, order="F") for part, x in zip(parts, expressions, strict=True)
        ]

    def scalar(self, value: object, label: str, rule: str | None = None, *, unit: str = "") -> SX:
        """Return a checked scalar: finite, a function of this mechanism's parameters only, and
        obeying the rule; a text is a quantity or an expression.
        """
        expression = self._expression(value, label, unit)
        if expression.numel() != 1:
            raise ModelError("must be a single number", label=label, value=value)
        number = np.array([[self._nominal(expression)]])
        for each in ("finite", *([rule] if rule else [])):
            self._keep(Requirement(expression, each, label), number)
        return expression

    def unit_among(self, value: object, units: tuple[str, ...]) -> str:
        """Return the unit, among several, of a quantity or a parameter; the first one if the value
        has none.
        """
        if len(units) < 2:
            return units[0]
        own = self.unit_of(value)
        return next((unit for unit in units if own and is_of_kind(own, unit)), units[0])

    def unit_of(self, value: object) -> str:
        """Return the unit of a quantity or a parameter; empty for other values."""
        if isinstance(value, str) and value in self.parameters:
            value = self.parameters[value]
        if isinstance(value, Parameter):
            return value.unit
        return (split_quantity(value) or (0.0, ""))[1] if isinstance(value, str) else ""

    def _nominal(self, expression: SX) -> float:
        """Nominal value of a scalar."""
        if expression.is_constant():
            return float(expression)
        key = expression.element_hash()
        if key not in self._accepted:
            self._accepted[key] = expression, float(self.evaluate(expression).item())
        return self._accepted[key][1]

    def vector_of(self, value: Any, size: int, label: str, *, unit: str = "") -> SX:
        """Return a checked column vector with `size` components."""
        if isinstance(value, str):
            value = self._expression(value, label, unit)
        if isinstance(value, SX) and value.numel() == size:
            components = [value[k] for k in range(size)]
        else:
            try:
                components = list(value)
            except TypeError:
                problem = f"must have {size} components"
                raise ModelError(problem, label=label, value=value) from None
        if len(components) != size:
            plane = "planar" if size == 2 else "spatial"
            problem = f"has {len(components)} components; this mechanism is {plane}, give {size}"
            raise ModelError(problem, label=label, value=value)
        return ca.vertcat(
            *[self.scalar(c, component(label, k), unit=unit) for k, c in enumerate(components)]
        )

    def matrix_of(self, value: Any, size: int, label: str, *, unit: str = "") -> SX:
        """Return a checked square matrix."""

        def entry(value: Any) -> SX:
            return self._expression(value, label, unit) if isinstance(value, str) else SX(value)

        try:
            whole = isinstance(value, (SX, str))
            rows = (
                entry(value)
                if whole
                else ca.vertcat(*[ca.horzcat(*map(entry, row)) for row in value])
            )
            shape = rows.shape
        except ModelError:
            raise
        except NOT_SYMBOLIC:
            shape = None
        if shape != (size, size):
            problem = f"must be a {size}×{size} matrix of numbers"
            raise ModelError(problem, label=label, value=value)
        matrix = ca.densify(self._expression(rows, label))
        self.require(matrix, "finite", label)
        return matrix

    def require(self, expression: SX, rule: str, label: str) -> None:
        """Check a rule now, and again whenever parameters change."""
        self._keep(Requirement(expression, rule, label), self.evaluate(expression))

    def _keep(self, requirement: Requirement, number: np.ndarray) -> None:
        requirement.enforce(number)
        if not requirement.expression.is_constant():
            self.requirements.append(requirement)

    def quantity(
        self, text: str, unit: str, label: str, scope: Scope | None = None
    ) -> float | None:
        """Return a text that is a quantity as a number in the required unit; None for an
        expression. The names in the text decide which of them it is:

            30 m      a quantity; refused where m is a name in `scope`, such as a parameter
            21/s      a quantity where no name in it is in `scope`; else an expression, refused if it could be the required quantity, too
            60 rpm*t  likewise: an expression where t is a name in `scope`
            (21/s)    an expression, as are all texts that do not begin with a number

        Raises:
            ModelError: for a quantity of the wrong kind, and for a text that could be both.
        """
        if (split := split_quantity(text)) is None:
            return None
        number, own = split
        names = (scope or self.scope).names
        if both := sorted(words_of(own) & set(names)):
            product = has_expression(text, set(names))
            if (own.startswith("/") or product) and not is_of_kind(own, unit):
                return None
            expression = (
                f"({text.strip()})"
                if own.startswith("/") or product
                else f"{text[: text.index(own)].strip()}*{both[0]}"
            )
            meaning = "a parameter" if both[0] in self.parameters else "a name in expressions"
            problem = (
                f": {both[0]!r} is a unit and {meaning}; write {expression} for the expression, or the"
                f" number in {unit or 'SI units'} without a unit for the quantity"
            )
            raise ModelError(problem, label=label, value=text)
        return in_unit(number, own, unit, label)

    @property
    def scope(self) -> Scope:
        """Names that texts may use: parameters by name, and those with unusual names as
        parameter("…").
        """
        if self._scope is None:
            symbols = {p.name: p.symbol for p in self.parameters.values()}
            self._scope = Scope(symbols, {**self.tables, "parameter": self._symbol})
        return self._scope

    def _symbol(self, name: object) -> SX:
        if not isinstance(name, str) or name not in self.parameters:
            raise unknown_name(f"parameter of mechanism {self.owner!r}", name, self.parameters)
        return self.parameters[name].symbol

    def scope_with(self, name: str, value: object, meaning: str) -> Scope:
        """The same scope with one more name, or with another meaning of a name."""
        scope = self.scope
        return Scope(
            {**scope.names, name: value},
            scope.functions,
            {name: meaning} if name in self.parameters else {},
        )

    def _expression(self, value: Any, label: str, unit: str = "") -> SX:
        if isinstance(value, Parameter):
            value = value.symbol
        if isinstance(value, str):
            quantity = self.quantity(value, unit, label)
            value = evaluated(value, self.scope, label) if quantity is None else quantity
        if isinstance(value, bool) or value is None:
            raise ModelError("is not a number", label=label, value=value)
        try:
            expression = SX(value)
        except NOT_SYMBOLIC:
            problem = "is not a number, a parameter or an expression of parameters"
            raise ModelError(problem, label=label, value=value) from None
        self.check_symbols(expression, label)
        self._check_kind(expression, unit, label)
        return expression

    def _check_kind(self, expression: SX, unit: str, label: str) -> None:
        """Check that a single parameter, or several in brackets, have the required dimension, if
        both have a unit; the dimension of other expressions is unknown.
        """
        if not unit or not expression.is_symbolic():
            return
        alone = {symbol.element_hash() for symbol in ca.symvar(expression)}
        for parameter in self.parameters.values():
            if (
                parameter.unit
                and parameter.symbol.element_hash() in alone
                and not of_one_kind(parameter.unit, unit)
            ):
                problem = f"= parameter {parameter.name!r}, which is in {parameter.unit}"
                raise ModelError(problem, label=label, remedy=f"expected a value in {unit}")

    def check_symbols(self, expression: SX, label: str, also: Set[int] = frozenset()) -> None:
        """Refuse symbols that are neither parameters of this mechanism nor among `also` (see
        `symbols_in`).
        """
        if expression.is_constant() or (
            expression.numel() == 1 and expression.element_hash() in self._accepted
        ):
            return
        symbols = {p.symbol.element_hash() for p in self.parameters.values()}
        symbols |= {symbol.element_hash() for symbol in self.modes.values()}
        used = [(s.element_hash(), s.name()) for s in ca.symvar(expression)]
        foreign = [name for symbol, name in used if symbol not in symbols and symbol not in also]
        if foreign:
            names = ", ".join(repr(n) for n in foreign)
            problem = (
                f"uses {names} of another mechanism, which mechanism {self.owner!r} does not have"
            )
            remedy = Message(
                "a parameter belongs to one mechanism: make it there with {}", Call("parameter")
            )
            raise ModelError(problem, label=label, remedy=remedy)


def evaluated(text: str, scope: Scope, label: str) -> Any:
    """Evaluate a text; errors name what the text belongs to."""
    try:
        return Expression(text).value(scope)
    except ModelError as error:
        with about(label):
            raise ModelError(f"{label} = {error}", value=text) from None


def listed(names: Any, field: str, remedy: Message) -> list[object]:
    """Return a parameter, its name, or any number of these, as a list.

    Raises:
        ModelError: for a mapping, whose values would be ignored.
    """
    if isinstance(names, Mapping) and not all(isinstance(p, Parameter) for p in names.values()):
        raise ModelError("names parameters, not values", field=field, value=names, remedy=remedy)
    alone = isinstance(names, (str, Parameter)) or not isinstance(names, Iterable)
    return [names] if alone else list(names)
