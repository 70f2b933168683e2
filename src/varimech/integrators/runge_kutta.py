"""Explicit Runge–Kutta schemes.

    k_i = f(t + c_i h, y + h Σ_j a_ij k_j),     y_new = y + h Σ_i b_i k_i

An embedded scheme estimates its error as h Σ e_i k_i, the rate at the end of the step being the
last k; dense output is y(t + θh) = y + h Σ_i b_i(θ) k_i with polynomials b_i, which may need some
more stages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GROWTH = 1e-4
"""Growth a step that counts as none."""
Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class RungeKutta:
    """A scheme by its coefficients: a (rows below the diagonal) and b; c follows from a."""

    name: str
    title: str
    order: int
    a: Rows
    b: tuple[float, ...]
    error: tuple[float, ...] = ()
    """e, one for each stage and one for the end of the step; empty if it estimates none."""
    second_error: tuple[float, ...] = ()
    """A coarser estimate that makes the first one safe; see `dop853`."""
    error_order: int = 0
    """The estimate is of size h to this power."""
    extra: Rows = ()
    """Weights of all stages, the end and earlier ones of these in further stages that dense output
    needs.
    """
    dense: Rows = ()
    """b_i(θ) by powers of θ, from the first on: a row for each stage, the end, and each further
    stage.
    """

    def __hash__(self) -> int:
        return hash(
            (self.name, self.order)
        )  # solvers are looked up by it in every run, and coefficients are many

    @property
    def c(self) -> tuple[float, ...]:
        """Where in a step its stages are."""
        return tuple(sum(row) for row in self.a)

    @property
    def longest_vibration_step(self) -> float:
        """Largest ω h for which a vibration of frequency ω does not grow: |R(iωh)| ≤ 1 but for
        `GROWTH`,  R(z) = 1 + z bᵀ (1 − z a)⁻¹ 1.
        """
        s = len(self.b)
        a = np.zeros((s, s))
        for i, row in enumerate(self.a):
            a[i, : len(row)] = row
        powers, stages = [1.0], np.ones(s)
        for _ in range(s):
            powers.append(float(np.dot(self.b, stages)))
            stages = a @ stages
        ωh = np.arange(1, 2000) * 0.01
        unstable = np.abs(np.polyval(powers[::-1], 1j * ωh)) > 1 + GROWTH
        return float(ωh[unstable.argmax()] - 0.01)

    @property
    def adaptive(self) -> bool:
        """Whether it can choose its steps."""
        return bool(self.error)
