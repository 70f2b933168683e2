"""Runs that keep the ends of the steps they choose, so that others can take the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sampler import Sampler, Samples


class StepSampler(Sampler):
    """Executes a program for rows of parameter values and returns the steps of each run, in the
    format of `Sampler.given_steps`.

    Args:
        common: arguments of `Sampler`.
        steps: largest number of steps of a run; runs that need more are not done.
    """

    def __init__(self, *common: Any, steps: int):
        super().__init__(*common)
        self.kept_steps = steps

    def _without_failed(self, taken: np.ndarray, **outcomes: np.ndarray) -> Samples:  # type: ignore[override]
        return Samples(taken[:, None], super()._without_failed(**outcomes).done)
