"""CVODES and IDAS of the SUNDIALS suite: variable order and step, for smooth and for stiff
problems.

CVODES (Adams or BDF) solves the rates as an ordinary differential equation; IDAS (BDF) keeps
accelerations and multipliers as algebraic unknowns. Derivatives are their own forward sensitivities
(of the continuous problem, to the tolerance), not those of the discrete solution.

A. C. Hindmarsh et al., ACM Trans. Math. Softw. 31 (2005) 363–396.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sundials:
    """One of its solvers."""

    name: str
    title: str


CVODES = Sundials("cvodes", "CVODES")
IDAS = Sundials("idas", "IDAS")
