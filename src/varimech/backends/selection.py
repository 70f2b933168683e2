"""The choice of independent coordinates; selection.c does the same.

Gaussian elimination of Φ_q with full pivoting: columns that get a pivot are dependent, the others
independent. Redundant rows get none.
"""

from __future__ import annotations

import numpy as np

POOR = 0.5
"""The present choice is kept until its smallest pivot falls below this share of the best one's."""
SINGULAR = 1e-5
"""Smaller pivots than this share of the largest entry amplify errors too much."""
DEPENDENT = 1e-9
"""Pivots below this share of the largest entry are zero."""


def select(J: np.ndarray, present: np.ndarray | None) -> tuple[np.ndarray, bool]:
    """1 for independent coordinates, else 0; the present choice itself if it is still good. And
    whether the position is nearly singular.
    """
    largest = float(np.abs(J).max(initial=0.0))
    best, reachable, rank = _eliminate(J.copy(), np.zeros(J.shape[1]), None, largest)
    if present is not None and _eliminate(J.copy(), present, rank, largest)[1] >= POOR * reachable:
        best = present
    return best, rank > 0 and reachable < SINGULAR * largest


def _eliminate(
    J: np.ndarray, avoid: np.ndarray, rank: int | None, largest: float
) -> tuple[np.ndarray, float, int]:
    """Columns without a pivot (1) and with one (0), the smallest pivot, and the rank; a pivot of 0
    where a given rank is not reached.
    """
    independent, smallest = np.ones(J.shape[1]), 0.0
    most = min(J.shape) if rank is None else rank
    for k in range(most):
        sizes = np.abs(J[k:]) * ((independent == 1) & (avoid == 0))
        # by columns, so that of equal ones the first column counts, as in C
        column, row = divmod(int(np.argmax(sizes.T)), sizes.shape[0])
        pivot = float(sizes[row, column])
        if pivot <= DEPENDENT * largest:
            return (independent, smallest, k) if rank is None else (independent, 0.0, k)
        smallest = pivot
        independent[column] = 0
        J[[k, k + row]] = J[[k + row, k]]
        J[k + 1 :] -= np.outer(J[k + 1 :, column] / J[k, column], J[k])
    return independent, smallest, most
