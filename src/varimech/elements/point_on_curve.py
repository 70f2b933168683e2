"""Point on a curve: a point P of one body stays on a curve c(u) that is fixed to another body.

    Φ = Rᵀ (r_P − o) − c(u) = 0

with the frame (o, R) of the curve's body and the element's own coordinate u. The efforts `name.x`, `name.y`
(and `name.z`) are the components −λ of the force on the point in the frame of the curve's body. The equation
of u, λ·c′ = 0, makes this force normal to the curve, so there is no friction. u has no mass (`Force.ties`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import Label, ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.curve import Curve, Poses, function_of_parameter, place_in, spline_through
from ..model.force import Force
from ..model.model_data import ModelData
from ..model.own_coordinates import OwnCoordinate
from ..model.state import State


class PointOnCurve(Force):
    """A point that stays on a curve of another body, in the plane or in space.

    A spline through points: `m.point_on_curve("wire", "bead.P", "ground", curve=[(0, 0), (1, 0.2), (2,
    0)])`. Expressions of a parameter: `curve=("cos(u)", "sin(u)"), interval=(0, 2 * pi), closed=True`.
    `state("wire parameter")` is the curve parameter of the point. A run fails at the end of an open curve.
    """

    kind = "point-on-curve"
    assembly_hint = "the curve has to reach to where the point is"
    point = fields.Point("Point that stays on the curve.")
    body = fields.CurveBody("Body to which the curve is fixed.")
    curve = fields.Raw(
        "The curve in the frame of the body: either points (m), which a cubic spline interpolates, or"
        " the components as functions of the parameter u, in Python or as strings.",
        file_type="Shape",
        default=fields.REQUIRED,
    )
    closed = fields.Flag("Whether the curve is closed.")
    interval = fields.Raw(
        "First and last parameter of a curve that is defined by expressions. A spline needs no interval:"
        " its parameter is the cumulative chord length (m).",
        file_type="Two",
    )

    def prepare(self, model: ModelData) -> None:
        if self.point.body is self.body:
            raise ModelError(
                f"point and curve belong to {self.body.name!r}",
                element=self.label,
                remedy="give a point of another body",
            )
        self._numbers = model.parameter_set
        self._curve = curve_of(model, self, self.curve, self.interval, self.closed)

    @property
    def parameter_name(self) -> str:
        """Name of the parameter u as a state."""
        return f"{self.name} parameter"

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        first, last = self._curve.span
        unit = "m" if is_points(self.curve) else "1"
        size = float(np.abs([first, last]).max())
        return (
            OwnCoordinate(
                self.parameter_name,
                2,
                initial=None,
                unit=unit,
                size=size,
                guess=self._guess,
                is_tied=True,
            ),
        )

    def _guess(self, poses: Poses) -> float:
        return self._curve.nearest(place_in(poses, self.body, self.point, self._numbers))

    def effort_names(self) -> dict[str, str]:
        return {f"{self.name}.{axis}": "m" for axis in "xyz"[: self.dimension]}

    def constraints(self, frames: Frames, state: State) -> SX:
        frame = frames[self.body]
        place = frame.rotation.T @ (
            frames[self.point.body].position(self.point.local) - frame.origin
        )
        return place - self._curve.at(state.state(self.parameter_name))

    def ties(self, frames: Frames, state: State) -> SX:
        return self.constraints(frames, state)


def is_points(curve: Any) -> bool:
    """Whether a curve is given by points instead of expressions."""
    if callable(curve) or isinstance(curve, str):
        return False
    try:
        return all(hasattr(row, "__len__") and not isinstance(row, str) for row in curve)
    except TypeError:
        return False


def curve_of(
    model: ModelData, element: Force, given: Any, span: Any, closed: bool, prefix: str = ""
) -> Curve:
    """Read a curve from points, or from components as functions of u. The fields are `curve` and
    `interval`, with a prefix if the element has several curves.

    Raises:
        ModelError: if the values do not define a curve, or the interval is missing or empty.
    """
    label = Label(element.label, f"{prefix}curve")
    if is_points(given):
        if span is not None:
            raise ModelError(
                "belongs to a curve by expressions",
                label=Label(element.label, f"{prefix}interval"),
                value=span,
                remedy="leave it out: the parameter of a spline is the length of its chords",
            )
        return spline_through(model, label, given, closed)
    formula = function_of_parameter(model, given, model.dimension, label)
    limits = Label(element.label, f"{prefix}interval")
    if span is None:
        raise ModelError("is missing", label=limits, remedy="give the first and last parameter")
    ends = model.parameter_set.vector_of(span, 2, limits)
    if not ends.is_constant():
        raise ModelError("depends on parameters", label=limits, remedy="give two numbers")
    first, last = float(ends[0]), float(ends[1])
    if not first < last:
        remedy = "give the smaller one first"
        raise ModelError("is empty", label=limits, value=(first, last), remedy=remedy)
    return Curve(model, label, formula, (first, last), closed)
