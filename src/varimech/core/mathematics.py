"""Mathematical functions for forces, objectives and drivers: CasADi's, under the usual names.

Every function takes numbers, parameters and state quantities, or vectors of them (also as lists and
tuples), and raises a ModelError for anything else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import reduce, wraps
from numbers import Real
from typing import Any

import casadi as ca
import numpy as np

from .errors import ModelError
from .symbols import NOT_SYMBOLIC, SX, wedge


def _checked(function: Callable[..., SX]) -> Callable[..., SX]:
    """Wrap a function: convert its arguments to expressions, and describe errors."""
    name, signature = function.__name__, inspect.signature(function)

    @wraps(function)
    def call(*positional: object, **named: object) -> SX:
        converted = (
            [_expression(name, x) for x in positional],
            {key: _expression(name, x) for key, x in named.items()},
        )
        try:
            values = signature.bind(*converted[0], **converted[1]).args
        except TypeError as error:
            names = [str(p.replace(annotation=p.empty)) for p in signature.parameters.values()]
            raise ModelError(f"{name}: {error}", remedy=f"it takes ({', '.join(names)})") from None
        try:
            return function(*values)
        except ModelError:
            raise
        except NOT_SYMBOLIC:
            sizes = " and ".join(SX(x).dim() for x in values)
            raise ModelError(f"{name} cannot be computed for sizes {sizes}") from None

    return call


def _expression(name: str, value: Any) -> Any:
    """Return a number, a vector of numbers, or an expression."""
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, (list, tuple)):
        return _stacked(name, value)
    numbers = isinstance(value, ca.DM) or (isinstance(value, np.ndarray) and value.dtype != object)
    try:
        return (ca.DM if numbers else SX)(value)
    except NOT_SYMBOLIC:
        hint = "; the largest value along a run is varimech.peak" if callable(value) else ""
        message = (
            f"{name}: {value!r} is not a number, a parameter, a state quantity or a vector"
            f" of these{hint}"
        )
    raise ModelError(message)


def _stacked(name: str, values: Sequence[object]) -> SX:
    """Return a column vector from numbers, or a matrix from rows."""
    rows = [
        _expression(name, x).T if isinstance(x, (list, tuple)) else _expression(name, x)
        for x in values
    ]
    try:
        return ca.vertcat(*rows)
    except NOT_SYMBOLIC:
        raise ModelError(f"{name}: {values!r} has rows of different lengths") from None


ARGUMENT = """Args:
    x: a number, an expression, or a vector of these.

Returns:
    The value, entry by entry.
"""


def _of_one(name: str, function: Callable[[SX], SX], description: str) -> Callable[..., SX]:
    """Create a function of one argument, evaluated entry by entry, under its public name."""

    def call(x: SX) -> SX:
        return function(x)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{description}\n\n{ARGUMENT}"
    return _checked(call)


sin = _of_one("sin", ca.sin, "Sine of an angle (rad).")
cos = _of_one("cos", ca.cos, "Cosine of an angle (rad).")
tan = _of_one("tan", ca.tan, "Tangent of an angle (rad).")
asin = _of_one("asin", ca.asin, "Angle between −π/2 and π/2 (rad) with a given sine.")
acos = _of_one("acos", ca.acos, "Angle between 0 and π (rad) with a given cosine.")
atan = _of_one("atan", ca.atan, "Angle between −π/2 and π/2 (rad) with a given tangent.")
sinh = _of_one("sinh", ca.sinh, "Hyperbolic sine.")
cosh = _of_one("cosh", ca.cosh, "Hyperbolic cosine.")
tanh = _of_one("tanh", ca.tanh, "Hyperbolic tangent; tanh(x / width) is a smooth sign of x.")
exp = _of_one("exp", ca.exp, "e to the power x.")
log = _of_one("log", ca.log, "Natural logarithm.")
sqrt = _of_one("sqrt", ca.sqrt, "Square root; at 0 it has no derivative.")
absolute = _of_one("absolute", ca.fabs, "Absolute value; it has a kink at 0.")
sign = _of_one("sign", ca.sign, "−1, 0 or 1; it jumps at 0, so it has no gradient of its own.")


@_checked
def atan2(y: SX, x: SX) -> SX:
    """Angle of the vector (x, y) between −π and π.

    Args:
        y: second component.
        x: first component.

    Returns:
        The angle, rad.
    """
    return ca.atan2(y, x)


@_checked
def minimum(a: SX, b: SX, *more: SX) -> SX:
    """The smallest of two or more values; it has a kink where they are equal.

    Args:
        a: a number or expression.
        b: another one.
        more: further ones.

    Returns:
        The smallest.
    """
    return reduce(ca.fmin, (a, b, *more))


@_checked
def maximum(a: SX, b: SX, *more: SX) -> SX:
    """The largest of two or more values; it has a kink where they are equal. `varimech.peak` is the
    largest value along a run.

    Args:
        a: a number or expression.
        b: another one.
        more: further ones.

    Returns:
        The largest.
    """
    return reduce(ca.fmax, (a, b, *more))


@_checked
def where(condition: SX, yes: SX, no: SX) -> SX:
    """Choose between two values. It replaces Python's `if`, which cannot decide on symbols.

    Args:
        condition: a comparison of expressions.
        yes: value where it holds.
        no: value where it does not.

    Returns:
        The chosen value.
    """
    return ca.if_else(condition, yes, no)


@_checked
def saturation(x: SX, low: SX, high: SX) -> SX:
    """x, kept between two limits.

    Args:
        x: an expression.
        low: lower limit, in its unit.
        high: upper limit, above the lower one.

    Returns:
        min(max(x, low), high).

    Raises:
        ModelError: for limits, given as numbers, that leave nothing between them.

    >>> import varimech as vm
    >>> vm.saturation(3.0, -1, 2)
    SX(2)
    """
    low, high = SX(low), SX(high)
    if low.is_constant() and high.is_constant() and not float(low) < float(high):
        raise ModelError(
            f"the lower limit must be below the upper one, not {low} and {high}",
            element="saturation",
        )
    return ca.fmin(ca.fmax(x, low), high)


@_checked
def dead_band(x: SX, width: SX) -> SX:
    """Zero around zero, and x less half the width beyond.

    Args:
        x: an expression.
        width: width of the band where the result is zero, in its unit.

    Returns:
        x − width/2 above width/2, x + width/2 below −width/2, 0 between.

    Raises:
        ModelError: for a negative width, given as a number.

    >>> import varimech as vm
    >>> vm.dead_band(3.0, 2.0)
    SX(2)
    """
    width = SX(width)
    if width.is_constant() and float(width) < 0:
        raise ModelError(f"the width must not be negative, as {width} is", element="dead_band")
    half = width / 2
    return ca.fmax(x - half, 0) + ca.fmin(x + half, 0)


@_checked
def dot(a: SX, b: SX) -> SX:
    """The scalar product of two vectors.

    Args:
        a: a vector.
        b: another one of the same length.

    Returns:
        A scalar.
    """
    return ca.dot(a, b)


@_checked
def cross(a: SX, b: SX) -> SX:
    """The cross product of two vectors.

    Args:
        a: a vector of 2 or 3 components.
        b: another one of the same length.

    Returns:
        A scalar in the plane, a vector in space.

    >>> import varimech as vm
    >>> vm.cross((2, 0), (1, 3))
    SX(6)
    """
    a, b = SX(a), SX(b)
    if a.numel() != b.numel() or a.numel() not in (2, 3):
        raise ValueError
    return wedge(a, b)


@_checked
def norm(vector: SX) -> SX:
    """Euclidean norm of a vector. At zero, where it is not differentiable, its derivative is taken
    as
    zero.

    Args:
        vector: numbers or expressions.

    Returns:
        A scalar.
    """
    square = ca.sumsqr(SX(vector))
    zero = square == 0
    return ca.if_else(zero, 0, ca.sqrt(ca.if_else(zero, 1, square)))


@_checked
def vector(*components: SX) -> SX:
    """A column vector from its components.

    Args:
        components: numbers or expressions.

    Returns:
        The column.
    """
    return ca.vertcat(*components)


def rotation(axis: object, angle: object) -> SX:
    """Rotation matrix about an axis.

    Args:
        axis: 3 components, of any length; None in the plane.
        angle: rad.

    Returns:
        3×3, or 2×2 in the plane.

    Raises:
        ModelError: for an axis or angle of another size.

    >>> import varimech as vm
    >>> vm.rotation((0, 0, 1), 0.0)
    SX(@1=1, @2=0,
    [[@1, @2, @2],
     [@2, @1, @2],
     [@2, @2, @1]])
    """
    θ = SX(_expression("rotation", angle))
    n = SX(0, 1) if axis is None else SX(_expression("rotation", axis))
    if not θ.is_scalar() or (axis is not None and n.numel() != 3):
        remedy = "an axis has 3 components, or is None in the plane"
        raise ModelError(
            f", angle = {angle!r}", element="rotation", field="axis", value=axis, remedy=remedy
        )
    c, s = ca.cos(θ), ca.sin(θ)
    if axis is None:
        return ca.vertcat(ca.horzcat(c, -s), ca.horzcat(s, c))
    n = n / norm(n)
    return ca.densify(c * SX.eye(3) + s * ca.skew(n) + (1 - c) * (n @ n.T))


FUNCTIONS: dict[str, Callable[..., SX]] = {
    **{
        "sin": sin,
        "cos": cos,
        "tan": tan,
        "asin": asin,
        "acos": acos,
        "atan": atan,
        "atan2": atan2,
    },
    **{"sinh": sinh, "cosh": cosh, "tanh": tanh, "exp": exp, "log": log, "sqrt": sqrt},
    **{"minimum": minimum, "maximum": maximum, "where": where, "absolute": absolute, "sign": sign},
    **{"saturation": saturation, "dead_band": dead_band},
    **{"dot": dot, "norm": norm, "cross": cross, "rotation": rotation},
}
"""Functions that are available in text expressions."""
