"""Failures of a run of a program."""

from __future__ import annotations

import numpy as np

(
    NO_CONVERGENCE,
    NOT_FINITE,
    UNDERFLOW,
    SINGULAR,
    STALLED,
    TOO_MANY_STEPS,
    STEPPED_OVER,
    OVERLAP,
    UNSETTLED,
    ENDLESS,
) = (
    "no convergence",
    "not finite",
    "step-size underflow",
    "singular position",
    "no progress",
    "too many steps",
    "singular position stepped over",
    "overlap at the start",
    "no consistent modes",
    "events without end",
)
OF_EVENTS = OVERLAP, UNSETTLED, ENDLESS
"""Failures of contacts and friction."""


class Amplified(Exception):
    """The mechanism came so close to a singular position that its constraints should be relaxed
    there, or its constraints yielded to forces.
    """


class StartFailure(Exception):
    """No initial state was found from the guess."""


class StepFailure(Exception):
    """A step did not converge, produced a value that is not finite, became too short, made no
    progress, ended at or beyond a singular position, or the run took too many steps.
    """

    def __init__(
        self,
        step: int,
        time: float,
        length: float,
        state: np.ndarray,
        penalty: np.ndarray,
        reason: str,
        culprit: int = -1,
    ):
        super().__init__(f"step {step} to t = {time:g} s")
        self.step = step
        self.time = time
        """Time at the end of the step."""
        self.length = length
        self.state = state
        """State at the beginning of the step."""
        self.penalty = penalty
        self.reason = reason
        self.culprit = culprit
        """Number of the contact or friction that caused the failure, for `OF_EVENTS`."""
