"""The rule by which Newton's iteration of a chain has converged, stated once for every backend.

An iteration yields the ratio r of its correction to the allowed one. Corrections of Newton's method
decrease as  r, C r², …, so two of them predict the next as about  r³ / r_last².  Iteration k of at
most K is the last one if

    r ≤ 1                                  the correction is as small as required,
    r³ ≤ NEGLIGIBLE r_last²                the next one would be rounding,
    r ≤ NOISE and (r ≥ r_last after two    corrections are small and no longer decrease, or there
                   others, or k = K)       are no further ones;

a ratio that is not finite, or larger than LARGEST, is a failure, as is k = K otherwise.

newton.c implements the rule for compiled code, with the constants of this module (`constants`).
`test_newton_rule_is_the_same_in_c` compares both, as does every test that compares backends.
"""

from __future__ import annotations

NEGLIGIBLE = 1e-4
"""Ratio below which a correction is only rounding: ratios of converged iterations are some 1e-3 to
1e-2.
"""
NOISE = 1e3
"""Ratio up to which corrections that hardly decrease are those of a nearly singular mechanism: they
are rounding, and positions are accurate to 1e-11 of its size.
"""
LARGEST = 1e300
"""Ratio beyond which numbers overflow in the next operation."""


def converged(ratio: float, last: float, k: int, most: int) -> bool:
    """Return whether iteration k (from 1) of at most `most` is the last one; `last` is the previous
    ratio, 0 at first.
    """
    return (
        ratio <= 1.0
        or ratio * ratio * ratio <= NEGLIGIBLE * last * last
        or (ratio <= NOISE and ((k > 2 and ratio >= last) or k == most))
    )
