"""Numerical joint geometry: the coordinates that correspond to poses of bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.coordinate_scales import CoordinateScales
from ...model.body import Body, RigidBody
from ..guess import Pose
from .joints import Place, motion_of
from .spanning_tree import SpanningTree


@dataclass(frozen=True)
class PlaceValues:
    """Numerical points and geometry of a joint."""

    first: np.ndarray
    second: np.ndarray
    geometry: Sequence[np.ndarray]


class JointValues:
    """Numerical geometry of all joints: converts poses of bodies to coordinates, and yields the
    sizes of coordinates.
    """

    def __init__(self, tree: SpanningTree, places: Mapping[RigidBody, Place]):
        self._tree = tree
        here = [places[link.body] for link in tree.links]
        parts = [x for p in here for x in (p.first, p.second, *p.motion.geometry)]
        values = iter(tree.model.parameter_set.evaluate_all(parts))
        self._places = [
            PlaceValues(
                next(values).ravel(),
                next(values).ravel(),
                [next(values) for _ in place.motion.geometry],
            )
            for place in here
        ]

    def sizes(self) -> CoordinateScales:
        """Return which coordinates are lengths, and the longest arm between joints."""
        arms = [
            float(np.linalg.norm(s)) for place in self._places for s in (place.first, place.second)
        ]
        lengths = [x for link in self._tree.links for x in motion_of(link.joint, link.body).lengths]
        return CoordinateScales(1.0 - np.array(lengths, dtype=float), max(arms, default=0.0))

    def coordinates(self, poses: Mapping[Body, Pose]) -> np.ndarray:
        """Return the values of all coordinates."""
        values = [np.zeros(0)]
        for link, place in zip(self._tree.links, self._places, strict=True):
            pair = (link.parent, link.body) if link.forward else (link.body, link.parent)
            (o1, R1), (o2, R2) = (poses[body] for body in pair)
            d = R1.T @ (o2 + R2 @ place.second - o1 - R1 @ place.first)
            motion = motion_of(link.joint, link.body)
            values.append(motion.values(place.geometry, R1.T @ R2, d))
        return np.concatenate(values)
