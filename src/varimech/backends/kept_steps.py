"""Runs that keep the ends of the steps they choose, so that others can take the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sampler import Sampler, Samples


class StepSampler(Sampler):
    """Carries out a program for rows of parameter values; of each run it yields its steps, as
    `Sampler.given_steps` wants them.

    Args:
        common: what any sampler takes.
        steps: that a run may take at most; runs that need more are not done.
    """

    def __init__(self, *common: Any, steps: int):
        super().__init__(*common)
        self.kept_steps = steps

    def _sorted_out(self, taken: np.ndarray, **outcomes: np.ndarray) -> Samples:  # type: ignore[override]
        return Samples(taken[:, None], super()._sorted_out(**outcomes).done)
