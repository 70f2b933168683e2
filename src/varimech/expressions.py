"""Text as mathematics: expressions are read by a parser that knows numbers, names and a list of functions, and nothing else of Python.

    L_A1/2      3*sin(4*t)      dot(velocity("2"), velocity("2"))      where(distance("P", "Q") < 0.1, k, 0)

They have + − * / **, comparisons, brackets for vectors, [0] for a component, and the functions of `symbols`; what names and further
functions mean is told by a `Scope`. Python's grammar is only read (`ast.parse`), never executed; numbers are floats, so that no power grows
without end.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import casadi as ca

from .errors import ModelError, unknown_name
from .mathematics import FUNCTIONS
from .symbols import NOT_SYMBOLIC, SX

LONGEST, RATES = 10_000, 3
"""Characters of an expression, and time derivatives within each other."""
CONSTANTS = {"pi": math.pi}
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
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
    """What names and functions mean besides the common ones."""

    names: Mapping[str, Any]
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    ambiguous: Mapping[str, str] = field(default_factory=dict)
    """Names of parameters that mean something else here: what."""


@dataclass(frozen=True)
class Expression:
    """A text that was read; what it is worth depends on what its names mean.

    >>> Expression("2*a**2 + 1").value(Scope({"a": SX(3.0)}))
    SX(19)
    """

    text: str
    _tree: ast.expr = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tree", _read(self.text))

    def value(self, scope: Scope) -> Any:
        """Its value: a number, an expression in symbols, or a vector of them.

        Raises:
            ModelError: for names and functions that do not exist, and for what makes no sense.
        """
        try:
            return _Evaluation(self.text, scope).of(self._tree)
        except RecursionError:
            raise _refused(self.text, "nested too deeply; give its parts names of their own") from None


def _nested_rates(node: ast.AST) -> int:
    """How many time derivatives are one in the other: each makes an expression several times as long."""
    here = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "rate"
    return here + max(map(_nested_rates, ast.iter_child_nodes(node)), default=0)


@lru_cache(maxsize=512)
def _read(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise _refused(text, f"an expression of {len(text)} characters; {LONGEST} are allowed")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        for node in ast.walk(tree):
            _check(text, node)
            if isinstance(node, ast.Name):  # as it is written: Python would take µ and μ for the same
                node.id = ast.get_source_segment(text.strip(), node) or node.id
        if _nested_rates(tree) > RATES:
            raise _refused(text, f"rate of rate of rate …: {RATES} are allowed, one in the other")
    except ModelError:
        raise
    except SyntaxError as error:
        unit = "; a unit goes with a number alone, in expressions numbers are SI" if re.search(r"\d\s*[A-Za-zµ°]", text) else ""
        raise _refused(text, f"cannot be read: {error.msg}{unit}") from None
    except (RecursionError, MemoryError, ValueError):
        raise _refused(text, "nested too deeply, or with characters that no expression has") from None
    return tree


_KNOWN = (
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Name, ast.Constant, ast.Subscript, ast.List, ast.Tuple),
    *(ast.operator, ast.unaryop, ast.cmpop, ast.expr_context),
)
_REMEDIES: dict[type, str] = {
    ast.Attribute: 'a dot, which expressions do not have; call functions of names, such as velocity("P")[0]',
    ast.BitXor: "^ is not known; a power is written **",
    ast.Eq: "== is not known; expressions compare with <, <=, > and >=",
    ast.IfExp: "if is not known; write where(condition, yes, no)",
    ast.BoolOp: "and/or is not known; write where(condition, yes, no), one in the other",
}


def _check(text: str, node: ast.AST) -> None:
    known = isinstance(node, _KNOWN)
    if isinstance(node, (ast.operator, ast.cmpop)):
        known = type(node) in _OPERATORS
    elif isinstance(node, ast.unaryop):
        known = isinstance(node, (ast.USub, ast.UAdd))
    elif isinstance(node, ast.Call):
        known = isinstance(node.func, (ast.Name, ast.Attribute)) and not node.keywords  # the latter is refused by itself
    elif isinstance(node, ast.Constant):
        known = isinstance(node.value, (int, float, str)) and not isinstance(node.value, bool)
    elif isinstance(node, ast.Compare):
        known = len(node.ops) == 1
    if not known:
        raise _refused(text, _REMEDIES.get(type(node), "something that expressions do not have"))


class _Evaluation:
    def __init__(self, text: str, scope: Scope):
        self._text = text
        self._scope = scope

    def of(self, node: ast.expr) -> Any:
        """The value of a node that `_check` let pass."""
        match node:
            case ast.Constant(value=value):
                return value if isinstance(value, str) else self._float(value)
            case ast.Name(id=name):
                return self._name(name)
            case ast.UnaryOp(op=sign, operand=operand):
                value = self._number(operand)
                return -value if isinstance(sign, ast.USub) else value
            case ast.BinOp(left=left, op=sign, right=right):
                return self._combined(_OPERATORS[type(sign)], self._number(left), self._number(right))
            case ast.Compare(left=left, ops=[sign], comparators=[right]):
                return self._combined(_OPERATORS[type(sign)], self._number(left), self._number(right))
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return self._combined(_stacked, *[self._number(item) for item in items])
            case ast.Subscript(value=vector, slice=index):
                return self._component(self._number(vector), self.of(index))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(name, [self.of(a) for a in arguments])
        raise _refused(self._text, "something that expressions do not have")  # _check refused it before

    def _float(self, value: Any) -> float:
        try:
            return float(value)
        except OverflowError:
            raise _refused(self._text, "a number that is too large") from None

    def _name(self, name: str) -> Any:
        if name in self._scope.ambiguous:
            meaning = self._scope.ambiguous[name]
            raise _refused(
                self._text, f"{name!r} is {meaning} here, and a parameter too: write parameter({name!r}), or rename it"
            )
        for known in (self._scope.names, CONSTANTS):
            if name in known:
                return known[name]
        raise _refused(self._text, str(unknown_name("parameter or quantity", name, [*self._scope.names, *CONSTANTS])))

    def _number(self, node: ast.expr) -> Any:
        value = self.of(node)
        if isinstance(value, str):
            raise _refused(
                self._text, f'{value!r} is a text, not a number; texts are names within functions, as in position("P")'
            )
        return value

    def _combined(self, operator: Callable[..., Any], *values: Any) -> Any:
        try:
            return operator(*values)
        except (*NOT_SYMBOLIC, ZeroDivisionError, OverflowError) as error:
            raise _refused(self._text, f"cannot be computed: {_first_line(error)}") from None

    def _component(self, vector: Any, index: Any) -> Any:
        vector = SX(vector)
        if not isinstance(index, float) or not 0 <= index < vector.numel() or index != int(index):
            raise _refused(self._text, f"component [{index}] of {vector.numel()}; they are counted from 0")
        return vector[int(index)]

    def _call(self, name: str, arguments: list[Any]) -> Any:
        known = {**FUNCTIONS, **self._scope.functions}
        if name not in known:
            raise _refused(self._text, str(unknown_name("function", name, known)))
        try:
            return known[name](*arguments)
        except ModelError as error:
            raise _refused(self._text, str(error)) from None
        except (*NOT_SYMBOLIC, KeyError, ZeroDivisionError, OverflowError) as error:
            raise _refused(self._text, f"{name} does not take this: {_first_line(error)}") from None


def _stacked(*items: Any) -> SX:
    """A column of numbers; a matrix of rows."""
    return ca.vertcat(*[x.T if x.is_column() and x.numel() > 1 else x for x in map(SX, items)])


def _refused(text: str, reason: str) -> ModelError:
    return ModelError(f"{_shown(text)}: {reason}")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}…")


def _first_line(error: Exception) -> str:
    """CasADi and Python tell much about their own insides; what is left of the first sentence is enough."""
    text = (str(error).strip().splitlines() or [""])[0]
    inside = any(word in text for word in ("casadi", "::", "GenSharedObject", ".hpp", "argument", "<lambda>"))
    return "these do not go together" if inside or not text else text[:160]
