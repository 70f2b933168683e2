"""Where bodies are, in numbers."""

from __future__ import annotations

import numpy as np

from ..model.relative_motion import planar

Pose = tuple[np.ndarray, np.ndarray]
"""Origin and rotation matrix."""


def swing(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The smallest rotation that turns one direction into another."""
    lengths = np.linalg.norm(source) * np.linalg.norm(target)
    if lengths == 0:
        return np.eye(source.size)
    c = float(source @ target) / lengths
    if source.size == 2:
        return planar(np.arctan2(source[0] * target[1] - source[1] * target[0], source @ target))
    axis = np.cross(source, target) / lengths
    if np.linalg.norm(axis) < 1e-12 and c > 0:
        return np.eye(3)
    if np.linalg.norm(axis) < 1e-12:  # half a turn about any axis across
        across = np.cross(source, np.eye(3)[np.abs(source).argmin()])
        return 2 * np.outer(across, across) / (across @ across) - np.eye(3)
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + K + K @ K / (1 + c)
