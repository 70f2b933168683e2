"""The selection of independent coordinates; selection.c does the same.

Gaussian elimination of Φ_q with full pivoting: columns that get a pivot are dependent, the others
independent. Redundant rows get no pivot.
"""

from __future__ import annotations

import numpy as np

from .bound import bound
from .failures import SINGULAR as SINGULAR_POSITION
from .step_log import StepLog
from .workspace import Workspace

POOR = 0.5
"""The present selection is kept until its smallest pivot falls below this share of the best one's.
"""
SINGULAR = 1e-5
"""Smallest pivot, relative to the largest entry: smaller ones amplify errors too much."""
DEPENDENT = 1e-9
"""Pivots below this share of the largest entry are zero."""


class IndependentCoordinates:
    """The selection of a run, which is checked after each step."""

    def __init__(self, workspace: Workspace):
        self._workspace = w = workspace
        self.selections = int(w.inputs.chosen is not None)
        """Number of selections so far."""
        jacobian, q = w.program.jacobian, w.program.coordinates
        self._evaluate = None
        if jacobian is not None:
            self._jacobian = np.zeros((q, jacobian.size1_out(0)))
            arguments = [w.new[:q], w.parameters, w.time]
            self._evaluate = bound(jacobian, arguments, [self._jacobian])

    def renew(self, log: StepLog) -> None:
        """Select coordinates again at the new state if the present selection has become poor.

        Raises:
            StepFailure: at a singular position.
        """
        if self._evaluate is None:
            return
        self._evaluate()
        present = self._workspace.chosen
        best, singular = select(self._jacobian.T, present if self.selections else None)
        if best is not present:
            present[:] = best
            self.selections += 1
        if singular:
            raise self._workspace.failure(len(log.ends), log.time, 0.0, SINGULAR_POSITION)


def select(J: np.ndarray, present: np.ndarray | None) -> tuple[np.ndarray, bool]:
    """Return 1 for independent coordinates, else 0 (the present selection itself if it is still
    good), and whether the position is nearly singular.
    """
    largest = float(np.abs(J).max(initial=0.0))
    best, reachable, rank = _eliminate(J.copy(), np.zeros(J.shape[1]), None, largest)
    if present is not None and _eliminate(J.copy(), present, rank, largest)[1] >= POOR * reachable:
        best = present
    return best, rank > 0 and reachable < SINGULAR * largest


def _eliminate(
    J: np.ndarray, avoid: np.ndarray, rank: int | None, largest: float
) -> tuple[np.ndarray, float, int]:
    """Return columns without a pivot (1) and with one (0), the smallest pivot, and the rank; the
    pivot is 0 if a given rank is not reached.
    """
    independent, smallest = np.ones(J.shape[1]), 0.0
    most = min(J.shape) if rank is None else rank
    for k in range(most):
        sizes = np.abs(J[k:]) * ((independent == 1) & (avoid == 0))
        # by columns, so that the first of equal columns is chosen, as in C
        column, row = divmod(int(np.argmax(sizes.T)), sizes.shape[0])
        pivot = float(sizes[row, column])
        if pivot <= DEPENDENT * largest:
            return (independent, smallest, k) if rank is None else (independent, 0.0, k)
        smallest = pivot
        independent[column] = 0
        J[[k, k + row]] = J[[k + row, k]]
        J[k + 1 :] -= np.outer(J[k + 1 :, column] / J[k, column], J[k])
    return independent, smallest, most
