"""When Newton's iteration of a chain has converged: the rule, once, for every backend.

An iteration yields the ratio r of its correction to the one allowed. Corrections of Newton's method
shrink as  r, C r², …, so from two of them the next is known to be about  r³ / r_last².  Iteration k
of at most K is the last one if

    r ≤ 1                                  the correction is as small as it has to be,
    r³ ≤ NEGLIGIBLE r_last²                the next one would be rounding,
    r ≤ NOISE and (r ≥ r_last after two    corrections are small and shrink no more, or there
                   others, or k = K)       are no further ones;

a ratio that is not finite, or larger than LARGEST, is a failure, as is k = K otherwise.

newton.c states it for compiled code; its constants are written from here (`constants`). The two are
compared by `test_newton_rule_is_the_same_in_c`, and by every test that compares backends.
"""

from __future__ import annotations

NEGLIGIBLE = 1e-4
"""Ratio below which a correction is only rounding: those of converged iterations are some 1e-3 to
1e-2.
"""
NOISE = 1e3
"""Ratio up to which corrections that do not shrink any more, or hardly, are those of a mechanism
that is nearly singular: rounding, and positions to 1e-11 of its size.
"""
LARGEST = 1e300
"""Ratio beyond which numbers overflow at the next operation."""


def converged(ratio: float, last: float, k: int, most: int) -> bool:
    """Whether iteration k (from 1) of at most `most` is the last one; `last` is the ratio before,
    0 at first.
    """
    return (
        ratio <= 1.0
        or ratio * ratio * ratio <= NEGLIGIBLE * last * last
        or (ratio <= NOISE and ((k > 2 and ratio >= last) or k == most))
    )
