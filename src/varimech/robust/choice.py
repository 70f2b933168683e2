"""The choice of the methods that compute statistics."""

from __future__ import annotations

from ..core.errors import unknown_name
from .first_moments import FirstMoments
from .method import METHODS, StatisticsMethod, StatisticsTask


def methods_of(task: StatisticsTask, method: str) -> list[StatisticsMethod]:
    """The methods for statistics by the name of a method.

    Raises:
        ModelError: for an unknown method.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    return [FirstMoments(task)]
