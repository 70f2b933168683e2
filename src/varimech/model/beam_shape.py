"""The shape of a beam at t = 0: a straight line or any curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from ..core.errors import Label, ModelError
from ..core.messages import Message
from ..core.symbols import SX
from .parameter_set import ParameterSet, evaluated


@dataclass(frozen=True)
class BeamShape:
    """Local coordinates of all nodes (m), and the length along them."""

    places: tuple[SX, ...]
    straight: bool
    middle: int
    """Node farthest from the line between the ends; in space the ends and this node determine the
    pose of a curved beam.
    """
    bent: tuple[bool, ...]
    """For each node, whether the shape is bent there."""
    given_length: SX | None = None

    @cached_property
    def length(self) -> SX:
        """Length along the segments (m)."""
        if self.given_length is not None:
            return self.given_length
        return sum((self.segment_length(k) for k in range(len(self.places) - 1)), SX(0))

    def segment_length(self, k: int) -> SX:
        """Length of segment k (m)."""
        return ca.norm_2(self.places[k + 1] - self.places[k])

    def tangent(self, at_start: bool) -> SX:
        """Unit tangent of the curve at an end, extrapolated from the directions of the first two
        segments, which are the tangents at their midpoints.
        """
        places = self.places if at_start else self.places[::-1]
        first = places[1] - places[0]
        if len(places) == 2 or self.straight:
            return first / ca.norm_2(first)
        second = places[2] - places[1]
        one, two = ca.norm_2(first), ca.norm_2(second)
        tangent = first / one - (second / two - first / one) * (one / (one + two))
        return tangent / ca.norm_2(tangent)

    def segments_at(self, k: int) -> tuple[SX, SX]:
        """Vectors of the two segments that meet at a node between the ends."""
        return self.places[k] - self.places[k - 1], self.places[k + 1] - self.places[k]

    def chord(self, first: int, second: int) -> SX:
        """Distance between two nodes (m)."""
        if self.straight and self.given_length is not None:
            return self.given_length * (abs(second - first) / (len(self.places) - 1))
        return ca.norm_2(self.places[second] - self.places[first])


def shape_of(
    numbers: ParameterSet, length: object, shape: object, segments: int, dimension: int, label: str
) -> BeamShape:
    """Build a shape from the length of a straight beam, a function of s in [0, 1], or the positions
    of all nodes.
    """
    if (length is None) == (shape is None):
        raise ModelError(
            Message(
                "{} needs either {length} (m) or, if it is curved, {shape}",
                label,
                length=...,
                shape=...,
            )
        )
    if length is not None:
        L = numbers.scalar(length, Label(label, "length"), "positive", unit="m")
        places = [
            ca.vertcat(k * L / segments, SX.zeros(dimension - 1)) for k in range(segments + 1)
        ]
        return BeamShape(
            tuple(ca.densify(p) for p in places), True, segments // 2, (False,) * (segments + 1), L
        )
    return _curved(numbers, _curve(numbers, shape, segments, dimension, label), label)


def _curve(
    numbers: ParameterSet, shape: Any, segments: int, dimension: int, label: str
) -> list[SX]:
    """Positions of all nodes; consecutive ones must differ."""
    if isinstance(shape, (list, tuple)) and any(isinstance(x, str) for x in shape):
        shape = _function_of_texts(numbers, shape, label)
    positions = [shape(k / segments) for k in range(segments + 1)] if callable(shape) else shape
    if not hasattr(positions, "__len__") or len(positions) != segments + 1:
        raise ModelError(
            f": shape must be a function of s in [0, 1], or {segments + 1} places, one for each"
            " node",
            label=label,
        )
    curve = [
        numbers.vector_of(x, dimension, f"{label}: shape[{k}]", unit="m")
        for k, x in enumerate(positions)
    ]
    for k, (first, second) in enumerate(pairwise(curve)):
        numbers.require(
            ca.sumsqr(second - first),
            "positive",
            f"{label}: squared distance of shape[{k}] and shape[{k + 1}]",
        )
    numbers.require(
        ca.sumsqr(curve[-1] - curve[0]), "positive", f"{label}: squared distance of its ends"
    )
    return curve


def _curved(numbers: ParameterSet, curve: list[SX], label: str) -> BeamShape:
    """Build the shape through these positions, with the properties that follow from nominal values."""
    dimension = curve[0].numel()
    values = np.array([x.ravel() for x in numbers.evaluate_all(curve)])
    chord = (values[-1] - values[0]) / np.linalg.norm(values[-1] - values[0])
    offsets = np.linalg.norm(
        values - values[0] - np.outer((values - values[0]) @ chord, chord), axis=1
    )
    size = float(np.abs(values - values[0]).max())
    if np.linalg.norm(values[-1] - values[0]) < 1e-9 * size:
        raise ModelError(
            ": its ends are at one place",
            label=label,
            remedy="a beam does not close by itself: make it of two",
        )
    if dimension == 3 and offsets.max() < 1e-9 * size:
        raise ModelError(
            "is straight",
            label=Label(label, "shape"),
            remedy=Message("give {length} instead", length=...),
        )
    a = np.diff(values, axis=0)
    lengths = np.linalg.norm(a, axis=1)
    cosines = (a[:-1] * a[1:]).sum(axis=1) / (lengths[:-1] * lengths[1:])
    bent = (False, *[bool(dimension == 2 or c < 1 - 1e-15) for c in cosines], False)
    return BeamShape(tuple(ca.densify(x) for x in curve), False, int(offsets.argmax()), bent)


def _function_of_texts(
    numbers: ParameterSet, components: Sequence[object], label: str
) -> Callable[[float], list[object]]:
    """Return a function of s for a shape that is given as texts, one for each component."""

    scope = numbers.scope_with("s", None, "the place along the beam")
    quantities = [
        numbers.quantity(x, "m", Label(label, "shape"), scope) if isinstance(x, str) else None
        for x in components
    ]
    values = [
        x if number is None else number for x, number in zip(components, quantities, strict=True)
    ]

    def shape(s: float) -> list[object]:
        scope = numbers.scope_with("s", s, "the place along the beam")
        return [
            evaluated(x, scope, Label(label, "shape")) if isinstance(x, str) else x for x in values
        ]

    return shape
