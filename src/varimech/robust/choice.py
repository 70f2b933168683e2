"""The choice of the methods that compute statistics."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.errors import unknown_name
from .first_moments import FirstMoments
from .method import METHODS, StatisticsMethod, StatisticsTask
from .samples import SamplesMethod
from .settings import StatisticsSettings


@dataclass(frozen=True)
class Chosen:
    """A method for some statistics, and why it was chosen."""

    method: StatisticsMethod
    reason: str = ""


def methods_of(task: StatisticsTask, method: str, settings: StatisticsSettings) -> list[Chosen]:
    """The methods for statistics by the name of a method.

    Raises:
        ModelError: for an unknown method.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if method == "samples":
        return [Chosen(SamplesMethod(task, settings))]
    return [Chosen(FirstMoments(task))]
