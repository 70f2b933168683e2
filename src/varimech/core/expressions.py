"""Expressions as text: a parser that accepts numbers, names and a list of functions, and no other
Python.

    L_A1/2      3*sin(4*t)      dot(velocity("2"), velocity("2"))
    where(distance("P", "Q") < 0.1, k, 0)

    60 rpm * t       30 mm + x       2 N/(m*s)*velocity("2")[0]

Expressions have + − * / **, comparisons, quantities with units (converted to SI units), brackets for vectors, [0] for a component, and the
functions of `mathematics`; a `Scope` defines names and further functions. Python's grammar is only
parsed (`ast.parse`), never executed; numbers are floats, so powers cannot grow without bound.
Parsing time is proportional to the length of the text, and evaluation has a budget: no text of a
few thousand characters takes a second or more than a few megabytes.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import casadi as ca

from .errors import ModelError, unknown_name
from .mathematics import FUNCTIONS
from .symbols import NOT_SYMBOLIC, SX
from .units import LONGEST_TEXT as LONGEST
from .units import in_unit, si_value, split_quantity, without_units, words_of

DEPTH, OPERATIONS = 500, 100_000
"""Limits of an expression, beside its characters: nesting depth (Python's parser fails at some thousand), and
scalar operations, counting those on each component of vectors and matrices (about 0.1 µs and 100
bytes each).
"""
RATES, ALL_RATES = 3, 20
"""Limits of nested time derivatives, each of which makes an expression several times as long, and
of all time derivatives in an expression: one may differentiate the whole model.
"""
KEPT = 500
"""Longest text (characters) whose program is cached; a program takes up to 200 bytes for each
character.
"""
CONSTANTS = {"pi": math.pi}
_OPERATORS: dict[type, Callable[[object, Any], object]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
    ast.MatMult: lambda a, b: a @ b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}


@dataclass(frozen=True)
class Scope:
    """Names and functions that are available besides the common ones."""

    names: Mapping[str, object]
    functions: Mapping[str, Callable[..., object]] = field(default_factory=dict)
    ambiguous: Mapping[str, str] = field(default_factory=dict)
    """Parameters whose names have another meaning in this scope: name → that meaning."""


@dataclass(frozen=True)
class Expression:
    """A parsed expression; its value depends on the scope.

    >>> Expression("2*a**2 + 1").value(Scope({"a": SX(3.0)}))
    SX(19)
    """

    text: str
    _program: tuple[ast.expr, ...] = field(init=False, repr=False, compare=False)
    """Operations in order of evaluation, operands first; evaluation needs no recursion."""

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "_program", (_read_cached if len(self.text) <= KEPT else _read)(self.text)
        )

    @property
    def names(self) -> set[str]:
        """Parameters and other names in the expression, without function names and
        text arguments.
        """
        return {
            node.id
            for node in self._program
            if isinstance(node, ast.Name) and not isinstance(node, _Unit)
        }

    @property
    def unit_words(self) -> set[str]:
        """Unit names that occur in the expression."""
        units = [words_of(node.id) for node in self._program if isinstance(node, _Unit)]
        return set[str]().union(*units)

    def value(self, scope: Scope) -> Any:
        """Evaluate the expression.

        Returns:
            A number, a symbolic expression, or a vector of them.

        Raises:
            ModelError: for unknown names and functions, for invalid operations, and for more than
                `OPERATIONS` operations.
        """
        return _Evaluation(self.text, scope).of(self._program)


def fixed_number(text: str, unit: str, label: str) -> float:
    """Value in SI units of a text without names: a quantity, or an expression of numbers.

    Args:
        text: the text, such as "30 mm" or "3*pi/4".
        unit: SI unit of the result.
        label: name of the value in error messages.

    Raises:
        ModelError: if the text is not a single finite number.

    >>> fixed_number("30 mm", "m", "length"), fixed_number("3*pi/4", "rad", "angle")
    (0.03, 2.356194490192345)
    """
    if (quantity := split_quantity(text)) is not None:
        return in_unit(*quantity, unit, label)
    try:
        expression = Expression(text)
        value = SX(expression.value(Scope({})))
        if expression.unit_words:  # 2 m + 1: nothing checks dimensions there
            raise _invalid(text, "has a unit within an expression")
        if not value.is_scalar() or not math.isfinite(float(value)):
            raise _invalid(text, "is not a single finite number")
    except (ModelError, *NOT_SYMBOLIC):
        problem = (
            f"is not a number{unit and f' in {unit}'}, nor a quantity such as"
            f" {_EXAMPLES.get(unit, f'30 {unit}' if unit else '30 mm')!r}, nor an expression of numbers such as 'pi/4'"
        )
        raise ModelError(problem, label=label, value=text) from None
    return float(value)


_EXAMPLES = {"m": "30 mm", "s": "20 ms", "rad": "2 deg", "kg": "300 g", "N": "2 kN"}


class _Unit(ast.Name):
    """A unit after a number; its `id` is the text of the unit."""


def _read(text: str) -> tuple[ast.expr, ...]:
    if len(text) > LONGEST:
        raise _invalid(text, f"has {len(text)} characters; at most {LONGEST} are allowed")
    line, units = without_units(text.translate(_ONE_LINE).strip())
    try:
        tree = ast.parse(line, mode="eval").body
        written = line.encode()
        for node in ast.walk(tree):
            _check(text, node)
            if isinstance(node, ast.Name):  # as written: Python would identify µ with μ
                node.id = written[node.col_offset : node.end_col_offset].decode()
                if node.id in units:
                    node.__class__, node.id = _Unit, units[node.id]
    except ModelError:
        raise
    except SyntaxError as error:
        unit = (
            "; a unit follows its number, without blanks in it, as in 5 N/m * x; after a slash, write x/(2 mm)"
            if units or re.search(r"\d\s*[A-Za-zµ°]", text)
            else ""
        )
        reason = (
            "a number that is too large"
            if "integer string" in error.msg
            else f"cannot be read: {error.msg}{unit}"
        )
        raise _invalid(text, reason) from None
    except (RecursionError, MemoryError, ValueError):
        raise _invalid(text, "nested too deeply, or contains invalid characters") from None
    return _program(text, tree)


_read_cached = lru_cache(maxsize=512)(_read)
_ONE_LINE = str.maketrans("\n\r\f", "   ")


def _program(text: str, tree: ast.expr) -> tuple[ast.expr, ...]:
    """Return all operations, operands first."""
    order: list[ast.expr] = []
    rates = 0
    waiting = [(tree, 1, 0)]
    while waiting:
        node, depth, within = waiting.pop()
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "rate"
        ):
            rates, within = rates + 1, within + 1
        if depth > DEPTH:
            raise _invalid(text, f"nested too deeply; at most {DEPTH} levels are allowed")
        if within > RATES or rates > ALL_RATES:
            raise _invalid(
                text, f"too many rates: at most {RATES} nested and {ALL_RATES} in total are allowed"
            )
        order.append(node)
        waiting += [(operand, depth + 1, within) for operand in _operands(node)]
    return tuple(reversed(order))


def _operands(node: ast.expr) -> Sequence[ast.expr]:
    match node:
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return [left, right]
        case ast.Subscript(value=array, slice=ast.Tuple(elts=indices)):
            return [array, *indices]
        case ast.Subscript(value=vector, slice=index):
            return [vector, index]
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Call(args=items):
            return items
    return []


_KNOWN = (
    *(
        ast.BinOp,
        ast.UnaryOp,
        ast.Compare,
        ast.Call,
        ast.Name,
        ast.Constant,
        ast.Subscript,
        ast.List,
        ast.Tuple,
    ),
    *(ast.operator, ast.unaryop, ast.cmpop, ast.expr_context),
)
_REMEDIES: dict[type, str] = {
    ast.Attribute: ('a dot is not supported; call functions of names, such as velocity("P")[0]'),
    ast.BitXor: "^ is not supported; write ** for a power",
    ast.Eq: "== is not supported; compare with <, <=, > or >=",
    ast.IfExp: "if is not supported; write where(condition, yes, no)",
    ast.BoolOp: "and/or is not supported; nest where(condition, yes, no)",
}


def _check(text: str, node: ast.AST) -> None:
    known = isinstance(node, _KNOWN)
    if isinstance(node, (ast.operator, ast.cmpop)):
        known = type(node) in _OPERATORS
    elif isinstance(node, ast.unaryop):
        known = isinstance(node, (ast.USub, ast.UAdd))
    elif isinstance(node, ast.Call):
        # an attribute has an error message of its own
        known = isinstance(node.func, (ast.Name, ast.Attribute)) and not node.keywords
    elif isinstance(node, ast.Constant):
        known = isinstance(node.value, (int, float, str)) and not isinstance(node.value, bool)
    elif isinstance(node, ast.Compare):
        known = len(node.ops) == 1
    if not known:
        raise _invalid(
            text, _REMEDIES.get(type(node), "contains syntax that expressions do not support")
        )


class _Evaluation:
    def __init__(self, text: str, scope: Scope):
        self._text = text
        self._scope = scope
        self._budget = OPERATIONS
        self._called: dict[tuple[str, ...], object] = {}
        """Values of functions of names alone, such as energy() and position("P"), which are the
        same for each call.
        """

    def of(self, program: Sequence[ast.expr]) -> object:
        """Evaluate a program that `_read` has built."""
        values: list[object] = []
        for node in program:
            first = len(values) - len(_operands(node))
            values[first:] = [self._one(node, values[first:])]
        return values[0]

    def _one(self, node: ast.expr, operands: list[object]) -> object:
        match node:
            case ast.Constant(value=value):
                return value if isinstance(value, str) else self._float(value)
            case _Unit(id=unit):
                return self._unit(unit)
            case ast.Name(id=name):
                return self._name(name)
            case ast.UnaryOp(op=ast.USub()):
                return self._combined(lambda a: -a, operands)
            case ast.UnaryOp():
                return self._combined(lambda a: a, operands)
            case ast.BinOp(op=sign) | ast.Compare(ops=[sign]):
                return self._combined(_OPERATORS[type(sign)], operands)
            case ast.List() | ast.Tuple():
                return self._combined(_stacked, operands)
            case ast.Subscript():
                return self._component(self._numbers(operands[:1])[0], operands[1:])
            case ast.Call(func=ast.Name(id=name)):
                return self._call(name, operands)
        raise AssertionError(node)  # _check has refused all other nodes

    def _spend(self, operations: int) -> None:
        self._budget -= operations
        if self._budget < 0:
            raise _invalid(
                self._text,
                f"more than {OPERATIONS} scalar operations, counting each component of vectors and"
                " matrices",
            )

    def _float(self, value: Any) -> float:
        try:
            return float(value)
        except OverflowError:
            raise _invalid(self._text, "a number that is too large") from None

    def _name(self, name: str) -> object:
        if name in self._scope.ambiguous:
            meaning = self._scope.ambiguous[name]
            raise _invalid(
                self._text,
                f"{name!r} is ambiguous: {meaning}, and also a parameter; write"
                f" parameter({name!r}) for the parameter, or rename it",
            )
        for known in (self._scope.names, CONSTANTS):
            if name in known:
                return known[name]
        raise _invalid(
            self._text,
            str(unknown_name("parameter or quantity", name, [*self._scope.names, *CONSTANTS])),
        )

    def _unit(self, unit: str) -> float:
        """Return the factor of a unit to SI units."""
        if both := sorted(words_of(unit) & {*self._scope.names, *self._scope.ambiguous}):
            raise _invalid(
                self._text,
                f"{both[0]!r} follows a number as units do, and is a name here; write * for a product with {both[0]}, put a"
                " quantity before a slash in parentheses, or give the number in SI units",
            )
        try:
            return si_value(1.0, unit, "")
        except ModelError as error:
            known = str(error).lstrip(": ")
            raise _invalid(self._text, f"{known}; write * for a product") from None

    def _numbers(self, values: list[object]) -> list[object]:
        for value in values:
            if isinstance(value, str):
                raise _invalid(
                    self._text,
                    f"{value!r} is a text, not a number; texts are only allowed as function"
                    ' arguments, as in position("P")',
                )
        return values

    def _combined(self, operator: Callable[..., object], operands: list[object]) -> object:
        values = self._numbers(operands)
        self._spend(
            _products(*values) if operator is _OPERATORS[ast.MatMult] else sum(map(_size, values))
        )
        try:
            return operator(*values)
        except (*NOT_SYMBOLIC, ZeroDivisionError, OverflowError) as error:
            raise _invalid(self._text, f"cannot be computed: {_first_line(error)}") from None

    def _component(self, array: Any, indices: list[Any]) -> object:
        array = SX(array)
        sizes = array.shape if array.shape[1] > 1 else array.shape[:1]
        if len(indices) != len(sizes):
            raise _invalid(
                self._text,
                f"a {sizes[0]}×{sizes[1]} matrix needs a row and a column, such as [0, 1]"
                if len(sizes) == 2
                else f"a vector of {sizes[0]} components needs one index, such as [0]",
            )
        if not all(
            isinstance(index, float) and index in range(size)
            for index, size in zip(indices, sizes, strict=True)
        ):
            place = ", ".join(
                f"{index:g}" if isinstance(index, float) else str(index) for index in indices
            )
            raise _invalid(
                self._text,
                f"no component [{place}] of {'×'.join(map(str, sizes))}; indices start at 0",
            )
        return array[tuple(map(int, indices))]

    def _call(self, name: str, arguments: list[Any]) -> object:
        function = self._scope.functions.get(name) or FUNCTIONS.get(name)
        if function is None:
            raise _invalid(
                self._text,
                str(unknown_name("function", name, {**FUNCTIONS, **self._scope.functions})),
            )
        of_names = (name, *arguments) if all(isinstance(each, str) for each in arguments) else None
        if of_names in self._called:
            return self._called[of_names]
        self._spend(getattr(function, "operations", 1) + sum(map(_size, arguments)))
        try:
            value = function(*arguments)
        except ModelError as error:
            raise _invalid(self._text, str(error)) from None
        except (*NOT_SYMBOLIC, KeyError, ZeroDivisionError, OverflowError) as error:
            raise _invalid(
                self._text, f"invalid arguments of {name}: {_first_line(error)}"
            ) from None
        if of_names is not None:
            self._called[of_names] = value
        return value


def _size(value: object) -> int:
    """Return the number of components of a value."""
    return int(value.numel()) if hasattr(value, "numel") else 1


def _products(a: object, b: object) -> int:
    """Return the number of multiplications in a @ b."""
    return _size(a) * (b.shape[1] if hasattr(b, "shape") and _size(a) > 1 else _size(b))


def _stacked(*items: Any) -> SX:
    """Return a column vector from numbers, or a matrix from rows."""
    return ca.vertcat(*[x.T if x.is_column() and x.numel() > 1 else x for x in map(SX, items)])


def _invalid(text: str, reason: str) -> ModelError:
    return ModelError(f"{_shown(text)}: {reason}", value=text)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}…")


def _first_line(error: Exception) -> str:
    """Return the first line of an error of CasADi or Python; a generic text if it only describes
    internals.
    """
    text = (str(error).strip().splitlines() or [""])[0]
    inside = any(
        word in text for word in ("casadi", "::", "GenSharedObject", ".hpp", "argument", "<lambda>")
    )
    return "the operands do not match" if inside or not text else text[:160]
