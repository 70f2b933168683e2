"""Joints in numbers: the coordinates that belong to given poses of their bodies."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...model.joints import Joint
from ..poses import Pose, about_third
from .joints import CROSS, Sliding, Turning, dofs_of


@dataclass(frozen=True)
class PlaceValues:
    """A place in numbers, and the coordinates of poses that fit it."""

    first: np.ndarray
    second: np.ndarray
    first_triad: np.ndarray
    second_triad: np.ndarray
    relative: np.ndarray

    def coordinates(self, joint: Joint | None, first: Pose, second: Pose) -> np.ndarray:
        """z for given origins and rotations of both bodies, as far as these fit the joint."""
        (o1, R1), (o2, R2) = first, second
        turning, sliding = dofs_of(joint)
        C = R1.T @ R2
        d = R1.T @ (o2 + R2 @ self.second - o1 - R1 @ self.first)
        n = d.size
        along = {
            Sliding.NOT: np.zeros((n, 0)),
            Sliding.AXIS: self.first_triad[:, n - 1 :],
            Sliding.NORMALS: self.first_triad[:, :2],
            Sliding.ALL: np.eye(n),
        }[sliding]
        return np.concatenate([self._turns(turning, C), along.T @ d])

    def _turns(self, turning: Turning, C: np.ndarray) -> np.ndarray:
        if turning is Turning.NOT:
            return np.zeros(0)
        if C.shape[0] == 2:
            return np.array([np.arctan2(C[1, 0], C[0, 0])])
        if turning is Turning.FREELY:
            return euler_parameters(C)
        T = self.first_triad.T @ C @ self.second_triad
        if turning is Turning.ABOUT_AXIS:
            return np.array([np.arctan2(T[1, 0] - T[0, 1], T[0, 0] + T[1, 1])])
        first = np.arctan2(T[1, 2], T[0, 2])
        U = np.array(ca.DM(CROSS)).T @ about_third(-first) @ T
        return np.array([first, np.arctan2(U[1, 0], U[0, 0])])


def euler_parameters(R: np.ndarray) -> np.ndarray:
    """p with R = R(p), from the largest of its components, which is at least one half."""
    trace = np.trace(R)
    squares = np.array([1 + trace, *(1 - trace + 2 * np.diag(R))]) / 4
    k = int(squares.argmax())
    cross = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    p = np.empty(4)
    if k == 0:
        p[0], p[1:] = squares[0], cross / 4
    else:
        p[0], p[1:] = cross[k - 1] / 4, (R[k - 1] + R[:, k - 1]) / 4
        p[k] = squares[k]
    return np.asarray(p / np.linalg.norm(p))
