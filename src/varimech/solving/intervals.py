"""Interval arithmetic for scalar expressions: bounds of every intermediate value over many
intervals of one variable at once.

    [f]([t₀, t₁]) ⊇ {f(t) : t₀ ≤ t ≤ t₁}

Natural interval extension (Moore, Kearfott and Cloud, Introduction to Interval Analysis, SIAM 2009,
ch. 5): each operation is replaced by its bounds, so nothing that happens inside an interval can be
missed, however narrow. Bounds are not rounded outwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

Bounds = tuple[np.ndarray, np.ndarray]
"""Lower and upper bounds, one of each for every interval."""

TRUTH = frozenset((ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR))
INCREASING: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    ca.OP_ASSIGN: np.positive,
    ca.OP_TWICE: lambda x: 2 * x,
    ca.OP_EXP: np.exp,
    ca.OP_EXPM1: np.expm1,
    ca.OP_LOG: np.log,
    ca.OP_LOG1P: np.log1p,
    ca.OP_SQRT: np.sqrt,
    ca.OP_ASIN: np.arcsin,
    ca.OP_ATAN: np.arctan,
    ca.OP_SINH: np.sinh,
    ca.OP_TANH: np.tanh,
    ca.OP_ASINH: np.arcsinh,
    ca.OP_ACOSH: np.arccosh,
    ca.OP_ATANH: np.arctanh,
    ca.OP_FLOOR: np.floor,
    ca.OP_CEIL: np.ceil,
    ca.OP_SIGN: np.sign,
}


@dataclass(frozen=True)
class Operation:
    """One scalar operation: its code, and the indices of its arguments among earlier results."""

    code: int
    arguments: tuple[int, ...]


class Tape:
    """Sequence of the operations of scalar expressions of one variable and of parameters; each
    result has an index.
    """

    def __init__(self, variable: ca.SX, parameters: ca.SX, expressions: Sequence[ca.SX]):
        f = ca.Function("tape", [variable, parameters], [ca.vertcat(*expressions)])
        self.operations: list[Operation] = []
        self.constants: dict[int, float] = {}
        self.variable: list[int] = []
        self.parameters: dict[int, int] = {}
        """Result → parameter, for results that are a parameter."""
        self.outputs: list[int] = []
        place: dict[int, int] = {}
        for k in range(f.n_instructions()):
            code, arguments_of_operation, to = (
                f.instruction_id(k),
                f.instruction_input(k),
                f.instruction_output(k),
            )
            if code == ca.OP_OUTPUT:
                self.outputs.append(place[arguments_of_operation[0]])
                continue
            number = len(self.operations)
            arguments: tuple[int, ...] = ()
            if code == ca.OP_CONST:
                self.constants[number] = f.instruction_constant(k)
            elif code == ca.OP_INPUT:
                if arguments_of_operation[0] == 0:
                    self.variable.append(number)
                else:
                    self.parameters[number] = arguments_of_operation[1]
            else:
                arguments = tuple(place[x] for x in arguments_of_operation)
            self.operations.append(Operation(code, arguments))
            place[to[0]] = number

    def bounds(self, low: np.ndarray, high: np.ndarray, values: np.ndarray) -> list[Bounds]:
        """Compute bounds of every result over intervals of the variable, for given values of the
        parameters.
        """
        results: list[Bounds] = []
        for number, operation in enumerate(self.operations):
            if number in self.constants:
                results.append(_constant(self.constants[number], low))
            elif number in self.parameters:
                results.append(_constant(values[self.parameters[number]], low))
            elif operation.code == ca.OP_INPUT:
                results.append((low, high))
            else:
                results.append(_bounds(operation.code, [results[k] for k in operation.arguments]))
        return results

    def thresholds(self) -> np.ndarray:
        """Return the constants with which the variable itself is compared: in c < t, max(t, c),
        max(c − t, 0).
        """
        constants = [
            value
            for operation in self.operations
            if operation.code in (ca.OP_LT, ca.OP_LE, ca.OP_FMAX, ca.OP_FMIN)
            and (value := self._threshold(*operation.arguments)) is not None
        ]
        return np.unique(constants)

    def _threshold(self, a: int, b: int) -> float | None:
        if self.constants.get(b) == 0.0 and self.operations[a].code == ca.OP_SUB:
            a, b = self.operations[a].arguments
        for variable, constant in ((a, b), (b, a)):
            if variable in self.variable and constant in self.constants:
                return self.constants[constant]
        return None

    @cached_property
    def parameters_of(self) -> list[frozenset[int]]:
        """Parameters on which each result depends."""
        dependencies: list[frozenset[int]] = []
        for number, operation in enumerate(self.operations):
            own = (
                frozenset({self.parameters[number]})
                if number in self.parameters
                else frozenset[int]()
            )
            dependencies.append(own.union(*[dependencies[k] for k in operation.arguments]))
        return dependencies


def _constant(value: float, like: np.ndarray) -> Bounds:
    array = np.full_like(like, value)
    return array, array


def _bounds(code: int, arguments: list[Bounds]) -> Bounds:
    """Compute bounds of one operation; unbounded where it is not finite or not supported."""
    with np.errstate(all="ignore"):
        low, high = (
            _of_one(code, *arguments[0])
            if len(arguments) == 1
            else _of_two(code, arguments[0], arguments[1])
        )
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


def _of_one(code: int, low: np.ndarray, high: np.ndarray) -> Bounds:
    if code in INCREASING:
        return INCREASING[code](low), INCREASING[code](high)
    if code == ca.OP_NEG:
        return -high, -low
    if code == ca.OP_ACOS:
        return np.arccos(high), np.arccos(low)
    if code in (ca.OP_FABS, ca.OP_SQ, ca.OP_COSH):
        near = np.where((low < 0) & (high > 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
        far = np.maximum(np.abs(low), np.abs(high))
        even = {ca.OP_FABS: np.positive, ca.OP_SQ: np.square, ca.OP_COSH: np.cosh}[code]
        return even(near), even(far)
    if code == ca.OP_INV:
        return _quotient(_constant(1.0, low), (low, high))
    if code == ca.OP_SIN:
        return _cosine(low - np.pi / 2, high - np.pi / 2)
    if code == ca.OP_COS:
        return _cosine(low, high)
    if code == ca.OP_TAN:
        pole = np.floor(low / np.pi - 0.5) != np.floor(high / np.pi - 0.5)
        return np.where(pole, -np.inf, np.tan(low)), np.where(pole, np.inf, np.tan(high))
    if code == ca.OP_NOT:
        certain, possible = _truth(low, high)
        return 1.0 - possible, 1.0 - certain
    if code == ca.OP_ERF:
        from scipy.special import erf  # imported late: it is slow to import, and rarely needed

        return erf(low), erf(high)
    return np.full_like(low, -np.inf), np.full_like(high, np.inf)


def _of_two(code: int, a: Bounds, b: Bounds) -> Bounds:
    if code == ca.OP_ADD:
        return a[0] + b[0], a[1] + b[1]
    if code == ca.OP_SUB:
        return a[0] - b[1], a[1] - b[0]
    if code == ca.OP_MUL:
        return _product(a, b)
    if code == ca.OP_DIV:
        return _quotient(a, b)
    if code in (ca.OP_POW, ca.OP_CONSTPOW):
        return _power(a, b)
    if code == ca.OP_FMIN:
        return np.minimum(a[0], b[0]), np.minimum(a[1], b[1])
    if code == ca.OP_FMAX:
        return np.maximum(a[0], b[0]), np.maximum(a[1], b[1])
    if code in TRUTH:
        return _compared(code, a, b)
    if code == ca.OP_IF_ELSE_ZERO:
        certain, possible = _truth(*a)
        none, every = possible == 0, certain == 1
        low, high = np.minimum(b[0], 0.0), np.maximum(b[1], 0.0)
        return np.where(none, 0.0, np.where(every, b[0], low)), np.where(
            none, 0.0, np.where(every, b[1], high)
        )
    if code == ca.OP_HYPOT:
        squares = [_of_one(ca.OP_SQ, *x) for x in (a, b)]
        return np.sqrt(squares[0][0] + squares[1][0]), np.sqrt(squares[0][1] + squares[1][1])
    if code == ca.OP_ATAN2:
        corners = [np.arctan2(y, x) for y in a for x in b]
        cut = (b[0] <= 0) & (a[0] <= 0) & (a[1] >= 0) & ~((a[0] == a[1]) & (b[0] == b[1]))
        low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
        return np.where(cut, -np.pi, low), np.where(cut, np.pi, high)
    if code in (ca.OP_FMOD, ca.OP_REMAINDER):
        turns, far = _quotient(a, b), np.maximum(np.abs(b[0]), np.abs(b[1]))
        whole = (np.trunc(turns[0]) == np.trunc(turns[1])) & (b[0] == b[1]) & (code == ca.OP_FMOD)
        return np.where(whole, np.fmod(a[0], b[0]), -far), np.where(whole, np.fmod(a[1], b[0]), far)
    return np.full_like(a[0], -np.inf), np.full_like(a[0], np.inf)


def _product(a: Bounds, b: Bounds) -> Bounds:
    corners = [
        np.where((x == 0) | (y == 0), 0.0, x * y) for x in a for y in b
    ]  # 0 · ∞ = 0: infinite bounds are not attained
    return np.minimum.reduce(corners), np.maximum.reduce(corners)


def _quotient(a: Bounds, b: Bounds) -> Bounds:
    pole = (b[0] <= 0) & (b[1] >= 0)
    low, high = _product(a, (1 / b[1], 1 / b[0]))
    return np.where(pole, -np.inf, low), np.where(pole, np.inf, high)


def _power(a: Bounds, b: Bounds) -> Bounds:
    corners = [np.asarray(np.power(x, y)) for x in a for y in b]
    low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
    even = (
        (a[0] < 0) & (a[1] > 0) & (b[0] == b[1]) & (b[0] > 0)
    )  # the bounds of an odd power of such an interval are wider than necessary
    return np.asarray(np.where(even, np.minimum(low, 0.0), low)), high


def _cosine(low: np.ndarray, high: np.ndarray) -> Bounds:
    at_ends = np.cos(low), np.cos(high)
    top = np.floor(high / (2 * np.pi)) > np.floor(np.nextafter(low, -np.inf) / (2 * np.pi))
    bottom = np.floor(high / (2 * np.pi) - 0.5) > np.floor(
        np.nextafter(low, -np.inf) / (2 * np.pi) - 0.5
    )
    return np.where(bottom, -1.0, np.minimum(*at_ends)), np.where(top, 1.0, np.maximum(*at_ends))


def _truth(low: np.ndarray, high: np.ndarray) -> Bounds:
    """Return 1 where a condition holds on all of an interval, and 1 where it may hold on some of
    it.
    """
    return ((low > 0) | (high < 0)).astype(float), ((low != 0) | (high != 0)).astype(float)


def _compared(code: int, a: Bounds, b: Bounds) -> Bounds:
    if code == ca.OP_LT:
        return (a[1] < b[0]).astype(float), (a[0] < b[1]).astype(float)
    if code == ca.OP_LE:
        return (a[1] <= b[0]).astype(float), (a[0] <= b[1]).astype(float)
    if code in (ca.OP_EQ, ca.OP_NE):
        same = ((a[0] == a[1]) & (b[0] == b[1]) & (a[0] == b[0])).astype(float)
        possible = ((a[0] <= b[1]) & (b[0] <= a[1])).astype(float)
        return (same, possible) if code == ca.OP_EQ else (1.0 - possible, 1.0 - same)
    first, second = _truth(*a), _truth(*b)
    join = np.minimum if code == ca.OP_AND else np.maximum
    return join(first[0], second[0]), join(first[1], second[1])
