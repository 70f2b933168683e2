"""Continuous angles from values that are known up to full turns."""

from __future__ import annotations

import numpy as np


def unwrapped(
    angle: np.ndarray, rate: np.ndarray, time: np.ndarray, first: float | None = None
) -> np.ndarray:
    """Add full turns such that each change is the one closest to the change that the rate predicts.

    Args:
        angle: angles (rad), (time, angle).
        rate: their rates (rad/s), of the same shape.
        time: times (s).
        first: angle (rad) to which the first value is shifted as closely as full turns allow; by
            default it is not shifted.

    Returns:
        The continuous angles (rad), of the shape of `angle`.

    >>> t = np.array([0.0, 1.0])
    >>> unwrapped(np.array([[0.0], [0.5]]), np.full((2, 1), 12.0), t)[1].round(3)
    array([13.066])
    """
    turn = 2 * np.pi
    predicted = (rate[1:] + rate[:-1]) / 2 * np.diff(time)[:, None]
    surplus = np.diff(angle, axis=0) - predicted
    surplus -= turn * np.round(surplus / turn)
    begin = angle[:1] + (0.0 if first is None else turn * np.round((first - angle[:1]) / turn))
    return np.concatenate([begin, begin + np.cumsum(predicted + surplus, axis=0)])
