"""Curves that are fixed to a body, c(u) in its frame: cubic splines through points, or expressions of
the parameter u.

A spline has two continuous derivatives; its parameter is the length of the chords up to a point, at
nominal values of the parameters, so that |c′| is close to one. Its points may depend on parameters. All
components share the selection of the piece that u is in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..core.errors import Label, ModelError
from ..core.piecewise import Selection, pieces_of, wrapped_argument
from ..core.symbols import SX, symbols_in
from .body import Body, Point
from .parameter_set import evaluated
from .user_functions import as_column, called

if TYPE_CHECKING:
    from .model_data import ModelData

SAMPLES = 1440
"""Number of samples for checks of a curve and for the search of its nearest point: every quarter of
a degree of a cam.
"""
CUSP = 1e-6
"""Smallest ratio of |c′| to its largest value: below it the direction of the tangent is lost. Near
a cusp, |c′| passes zero between two samples, and is about 1/1440 of the largest value at them.
"""
CLOSED = 1e-9
"""Largest gap between the ends of a closed curve, relative to its size: rounding of texts with ten
digits.
"""
MARGIN = 1e-6
"""Fraction of the range by which the parameter may leave an open curve, because iterations of a
step overshoot.
"""
Poses = Mapping[Body, tuple[np.ndarray, np.ndarray]]


class Curve:
    """A curve in the frame of a body.

    Args:
        model: the mechanism, for values of parameters.
        label: its name in messages.
        formula: c(u), a column of symbols (m).
        span: first and last parameter.
        closed: whether it goes on after the last parameter as after the first.
    """

    def __init__(
        self,
        model: ModelData,
        label: str,
        formula: Callable[[SX], SX],
        span: tuple[float, float],
        closed: bool,
    ):
        self._numbers, self.label = model.parameter_set, label
        self._formula, self.span, self.closed = formula, span, closed
        self._check()

    def at(self, u: SX) -> SX:
        """Return c(u); NaN beyond the ends of an open curve."""
        first, last = self.span
        if self.closed:
            return self._formula(u)
        margin = MARGIN * (last - first)
        beyond = ca.fmax(u - last, first - u) > margin
        return self._formula(u + SX.binary(ca.OP_IF_ELSE_ZERO, beyond, SX(np.nan)))

    def tangent(self, u: SX) -> SX:
        """Return c′(u), which is not normalised."""
        return ca.jacobian(self.at(u), u)

    @cached_property
    def samples(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """u, c, c′ and c″ at the samples, by rows, at nominal values."""
        u = np.linspace(*self.span, SAMPLES + 1)
        symbol = SX.sym("u")
        c = self._formula(symbol)
        c1 = ca.jacobian(c, symbol)
        c2 = ca.jacobian(c1, symbol)
        f = ca.Function(
            "curve", [symbol, self._numbers.vector], [ca.densify(x) for x in (c, c1, c2)]
        )
        values = f.map(u.size)(u.reshape(1, -1), ca.repmat(self._numbers.nominal, 1, u.size))
        places, tangents, bends = (np.array(x).T for x in values)
        return u, places, tangents, bends

    @property
    def curvature(self) -> np.ndarray:
        """Curvature at the samples of a curve in the plane, positive where it turns left (1/m)."""
        _, _, c1, c2 = self.samples
        speed = np.hypot(*c1.T)
        return np.asarray((c1[:, 0] * c2[:, 1] - c1[:, 1] * c2[:, 0]) / speed**3)

    @property
    def orientation(self) -> float:
        """1 where a closed curve in the plane runs anticlockwise, −1 where it runs clockwise."""
        c = self.samples[1]
        return float(np.sign(np.sum(c[:-1, 0] * c[1:, 1] - c[1:, 0] * c[:-1, 1])))

    def nearest(self, place: np.ndarray) -> float:
        """Return the parameter of the sample nearest to a position in the body's frame; NaN where
        the position is unknown.
        """
        if not np.isfinite(place).all():
            return math.nan
        u, c, _, _ = self.samples
        return float(u[np.linalg.norm(c - place, axis=1).argmin()])

    def _check(self) -> None:
        u, c, tangent, _ = self.samples
        with np.errstate(over="ignore"):  # a square that overflows is not finite either
            speed = np.linalg.norm(tangent, axis=1)
        wrong = np.flatnonzero(~np.isfinite(np.column_stack([c, tangent, speed])).all(axis=1))
        if wrong.size:
            problem = f"is not finite at u = {u[wrong[0]]:.6g}"
            raise ModelError(
                problem, label=self.label, remedy="check its expressions and its range"
            )
        slowest = int(speed.argmin())
        if speed[slowest] <= CUSP * speed.max():
            raise ModelError(
                f"has no tangent at u = {u[slowest]:.6g}: c′ has the length {speed[slowest]:.3g} there, and up to"
                f" {speed.max():.3g} elsewhere",
                label=self.label,
                remedy="remove the cusp, or choose a parametrisation that moves along the curve everywhere",
            )
        apart = float(np.linalg.norm(c[-1] - c[0]))
        if self.closed and apart > CLOSED * np.abs(c).max():
            raise ModelError(
                f"does not close: its ends, at u = {u[0]:.6g} and {u[-1]:.6g}, are {apart:.6g} m apart",
                label=self.label,
                remedy="a closed curve ends where it begins",
            )


def spline_through(model: ModelData, label: Label, points: Any, closed: bool) -> Curve:
    """Return the cubic spline through points: periodic, or open and not-a-knot.

    Raises:
        ModelError: for too few points, and for neighbours at the same place.
    """
    numbers, n = model.parameter_set, model.dimension
    rows = [
        numbers.vector_of(point, n, label.component(k), unit="m") for k, point in enumerate(points)
    ]
    values = [value.ravel() for value in numbers.evaluate_all(rows)] if rows else []
    if closed and len(rows) > 1 and (values[0] == values[-1]).all():
        rows, values = rows[:-1], values[:-1]
    least = 3 if closed else 2
    if len(rows) < least:
        raise ModelError(
            f"has {len(rows)} points", label=label, remedy=f"give {least} or more, better 8 or more"
        )
    if closed:
        rows, values = [*rows, rows[0]], [*values, values[0]]
    chords = np.linalg.norm(np.diff(values, axis=0), axis=1)
    again = np.flatnonzero(~(chords > 0))
    if again.size:
        k = int(again[0])
        raise ModelError(
            f"has points {k} and {k + 1} at the same position {values[k].tolist()}",
            label=label,
            remedy="keep one of them",
        )
    knots = np.concatenate([[0.0], np.cumsum(chords)])
    outside, ends = ("repeat", "periodic") if closed else ("linear", "not-a-knot")
    pieces = [
        pieces_of(knots, [_entry(row[j]) for row in rows], "cubic", outside, ends) for j in range(n)
    ]

    def formula(u: SX) -> SX:
        selection = Selection(wrapped_argument(u, knots) if closed else u, pieces[0])
        return ca.vertcat(*[selection.value(each) for each in pieces])

    return Curve(model, label, formula, (0.0, float(knots[-1])), closed)


def _entry(x: SX) -> Any:
    return float(x) if x.is_constant() else x


def function_of_parameter(
    model: ModelData, value: Any, size: int, label: str
) -> Callable[[SX], SX]:
    """Return numbers, texts of u, or a Python function of u as one function, after a trial call."""
    u, numbers = SX.sym("u"), model.parameter_set
    scope = numbers.scope_with("u", u, "the parameter of the curve")
    if callable(value):
        value = called(value, u, label, "parameter u")
    components = list(value) if isinstance(value, (list, tuple)) else [value]
    values = [
        evaluated(component, scope, label) if isinstance(component, str) else component
        for component in components
    ]
    column = as_column(values if len(values) > 1 else values[0], size, label)
    numbers.check_symbols(column, label, symbols_in(u))
    return lambda at: ca.substitute(column, u, at)


def place_in(poses: Poses, body: Body, point: Point, numbers: Any) -> np.ndarray:
    """Position of any point in the frame of another body, at guessed poses."""
    origin, R = poses[body]
    o, turned = poses[point.body]
    return np.asarray(R.T @ (o + turned @ numbers.evaluate(point.local).ravel() - origin))
