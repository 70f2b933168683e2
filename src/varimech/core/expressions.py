"""Text as mathematics: expressions are read by a parser that knows numbers, names and a list of
functions, and nothing else of Python.

    L_A1/2      3*sin(4*t)      dot(velocity("2"), velocity("2"))      where(distance("P", "Q") < 0.1, k, 0)

They have + − * / **, comparisons, brackets for vectors, [0] for a component, and the functions of
`symbols`; what names and further functions mean is defined by a `Scope`. Python's grammar is only
read (`ast.parse`), never executed; numbers are floats, so that no power grows without end. Reading
takes time in proportion to the text, and evaluating has a budget: no text of a few thousand
characters takes a second or more than a few megabytes.
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
from .units import in_unit, split_quantity

LONGEST, DEPTH, OPERATIONS = 10_000, 500, 100_000
"""Budget of an expression: its characters, operations within each other (Python's parser has an
end, too, at some thousand), and scalar operations, those on the components of vectors and matrices
counted one by one (about 0.1 µs and 100 bytes each).
"""
RATES, ALL_RATES = 3, 20
"""Time derivatives within each other, each of which makes an expression several times as long, and
in all: one may have to differentiate the whole model.
"""
KEPT = 500
"""Characters of texts whose programs are kept for the next time; one takes up to 200 bytes a
character.
"""
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
    _program: tuple[ast.expr, ...] = field(init=False, repr=False, compare=False)
    """What is computed, operands before operations: no text is nested too deeply for this."""

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "_program", (_kept if len(self.text) <= KEPT else _read)(self.text)
        )

    @property
    def names(self) -> set[str]:
        """Parameters and other names that it uses; not those of functions, nor texts."""
        return {node.id for node in self._program if isinstance(node, ast.Name)}

    def value(self, scope: Scope) -> Any:
        """Its value: a number, an expression in symbols, or a vector of them.

        Raises:
            ModelError: for names and functions that do not exist, for what makes no sense, and for
                more than `OPERATIONS`.
        """
        return _Evaluation(self.text, scope).of(self._program)


def fixed_number(text: str, unit: str, label: str) -> float:
    """The number that a text without names stands for, in SI units: a quantity, or an expression of
    numbers.

    >>> fixed_number("30 mm", "m", "length"), fixed_number("3*pi/4", "rad", "angle")
    (0.03, 2.356194490192345)
    """
    if (quantity := split_quantity(text)) is not None:
        return in_unit(*quantity, unit, label)
    try:
        value = SX(Expression(text).value(Scope({})))
        if not value.is_scalar() or not math.isfinite(float(value)):
            raise _refused(text, "is not a single finite number")
    except (ModelError, *NOT_SYMBOLIC):
        raise ModelError(
            f"is not a number{unit and f' in {unit}'}, nor a quantity such as"
            f" {_EXAMPLES.get(unit, '30 mm')!r}, nor an expression of numbers such as 'pi/4'",
            label=label,
            value=text,
        ) from None
    return float(value)


_EXAMPLES = {"s": "20 ms", "rad": "2 deg", "kg": "300 g", "N": "2 kN"}


def _read(text: str) -> tuple[ast.expr, ...]:
    if len(text) > LONGEST:
        raise _refused(text, f"an expression of {len(text)} characters; {LONGEST} are allowed")
    line = text.translate(_ONE_LINE).strip()
    try:
        tree = ast.parse(line, mode="eval").body
        written = line.encode()
        for node in ast.walk(tree):
            _check(text, node)
            if isinstance(
                node, ast.Name
            ):  # as it is written: Python would take µ and μ for the same
                node.id = written[node.col_offset : node.end_col_offset].decode()
    except ModelError:
        raise
    except SyntaxError as error:
        unit = (
            "; a unit goes with a number alone, in expressions numbers are SI"
            if re.search(r"\d\s*[A-Za-zµ°]", text)
            else ""
        )
        reason = (
            "a number that is too large"
            if "integer string" in error.msg
            else f"cannot be read: {error.msg}{unit}"
        )
        raise _refused(text, reason) from None
    except (RecursionError, MemoryError, ValueError):
        raise _refused(
            text, "nested too deeply, or with characters that no expression has"
        ) from None
    return _program(text, tree)


_kept = lru_cache(maxsize=512)(_read)
_ONE_LINE = str.maketrans("\n\r\f", "   ")


def _program(text: str, tree: ast.expr) -> tuple[ast.expr, ...]:
    """All operations, operands first."""
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
            raise _refused(
                text, f"nested too deeply: {DEPTH} operations are allowed, one in the other"
            )
        if within > RATES or rates > ALL_RATES:
            raise _refused(
                text,
                f"rate of rate of rate …: {RATES} are allowed, one in the other, and {ALL_RATES}"
                " in all",
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
    ast.Attribute: (
        'a dot, which expressions do not have; call functions of names, such as velocity("P")[0]'
    ),
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
        known = (
            isinstance(node.func, (ast.Name, ast.Attribute)) and not node.keywords
        )  # the latter is refused by itself
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
        self._left = OPERATIONS
        self._called: dict[tuple[str, ...], Any] = {}
        """Values of functions of names alone, such as energy() and position("P"): the state is one
        and the same.
        """

    def of(self, program: Sequence[ast.expr]) -> Any:
        """The value of a program that `_read` made."""
        values: list[Any] = []
        for node in program:
            first = len(values) - len(_operands(node))
            values[first:] = [self._one(node, values[first:])]
        return values[0]

    def _one(self, node: ast.expr, given: list[Any]) -> Any:
        match node:
            case ast.Constant(value=value):
                return value if isinstance(value, str) else self._float(value)
            case ast.Name(id=name):
                return self._name(name)
            case ast.UnaryOp(op=ast.USub()):
                return self._combined(lambda a: -a, given)
            case ast.UnaryOp():
                return self._combined(lambda a: a, given)
            case ast.BinOp(op=sign) | ast.Compare(ops=[sign]):
                return self._combined(_OPERATORS[type(sign)], given)
            case ast.List() | ast.Tuple():
                return self._combined(_stacked, given)
            case ast.Subscript():
                return self._component(self._numbers(given[:1])[0], given[1])
            case ast.Call(func=ast.Name(id=name)):
                return self._call(name, given)
        raise _refused(
            self._text, "something that expressions do not have"
        )  # _check refused it before

    def _spend(self, operations: int) -> None:
        self._left -= operations
        if self._left < 0:
            raise _refused(
                self._text,
                f"more than {OPERATIONS} operations on numbers, those on components of vectors and"
                " matrices counted one by one",
            )

    def _float(self, value: Any) -> float:
        try:
            return float(value)
        except OverflowError:
            raise _refused(self._text, "a number that is too large") from None

    def _name(self, name: str) -> Any:
        if name in self._scope.ambiguous:
            meaning = self._scope.ambiguous[name]
            raise _refused(
                self._text,
                f"{name!r} is {meaning} here, and a parameter too: write parameter({name!r}), or"
                " rename it",
            )
        for known in (self._scope.names, CONSTANTS):
            if name in known:
                return known[name]
        raise _refused(
            self._text,
            str(unknown_name("parameter or quantity", name, [*self._scope.names, *CONSTANTS])),
        )

    def _numbers(self, values: list[Any]) -> list[Any]:
        for value in values:
            if isinstance(value, str):
                raise _refused(
                    self._text,
                    f"{value!r} is a text, not a number; texts are names within functions, as in"
                    ' position("P")',
                )
        return values

    def _combined(self, operator: Callable[..., Any], given: list[Any]) -> Any:
        values = self._numbers(given)
        self._spend(
            _products(*values) if operator is _OPERATORS[ast.MatMult] else sum(map(_size, values))
        )
        try:
            return operator(*values)
        except (*NOT_SYMBOLIC, ZeroDivisionError, OverflowError) as error:
            raise _refused(self._text, f"cannot be computed: {_first_line(error)}") from None

    def _component(self, vector: Any, index: Any) -> Any:
        vector = SX(vector)
        if not isinstance(index, float) or not 0 <= index < vector.numel() or index != int(index):
            raise _refused(
                self._text, f"component [{index}] of {vector.numel()}; they are counted from 0"
            )
        return vector[int(index)]

    def _call(self, name: str, arguments: list[Any]) -> Any:
        function = self._scope.functions.get(name) or FUNCTIONS.get(name)
        if function is None:
            raise _refused(
                self._text,
                str(unknown_name("function", name, {**FUNCTIONS, **self._scope.functions})),
            )
        of_names = (name, *arguments) if all(isinstance(each, str) for each in arguments) else None
        if of_names in self._called:
            return self._called[of_names]
        self._spend(1 + sum(map(_size, arguments)))
        try:
            value = function(*arguments)
        except ModelError as error:
            raise _refused(self._text, str(error)) from None
        except (*NOT_SYMBOLIC, KeyError, ZeroDivisionError, OverflowError) as error:
            raise _refused(self._text, f"{name} does not take this: {_first_line(error)}") from None
        if of_names is not None:
            self._called[of_names] = value
        return value


def _size(value: Any) -> int:
    """Components of a value."""
    return int(value.numel()) if hasattr(value, "numel") else 1


def _products(a: Any, b: Any) -> int:
    """Multiplications of a @ b."""
    return _size(a) * (b.shape[1] if hasattr(b, "shape") and _size(a) > 1 else _size(b))


def _stacked(*items: Any) -> SX:
    """A column of numbers; a matrix of rows."""
    return ca.vertcat(*[x.T if x.is_column() and x.numel() > 1 else x for x in map(SX, items)])


def _refused(text: str, reason: str) -> ModelError:
    return ModelError(f"{_shown(text)}: {reason}", value=text)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}…")


def _first_line(error: Exception) -> str:
    """CasADi and Python tell much about their own insides; what is left of the first sentence is
    enough.
    """
    text = (str(error).strip().splitlines() or [""])[0]
    inside = any(
        word in text for word in ("casadi", "::", "GenSharedObject", ".hpp", "argument", "<lambda>")
    )
    return "these do not go together" if inside or not text else text[:160]
