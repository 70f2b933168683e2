"""Explicit Runge–Kutta schemes.

    k_i = f(t + c_i h, y + h Σ_j a_ij k_j),     y_new = y + h Σ_i b_i k_i

An embedded scheme estimates its error as h Σ e_i k_i, where the last k is the rate at the end of
the step; dense output is y(t + θh) = y + h Σ_i b_i(θ) k_i with polynomials b_i, which may need
further stages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.errors import ModelError, check_numbers
from .integrator import IntegratorTraits

GROWTH = 1e-4
"""Growth per step that counts as none."""
CONSISTENT = 1e-10
"""Error of sums of coefficients that counts as rounding: published ones have 15 digits or more."""
MOST_STAGES = 64
"""Largest number of stages, the end of the step and further stages included: the array size of the
compiled driver.
"""
Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class RungeKutta:
    """An explicit Runge–Kutta scheme by its coefficients; c follows from a.

    Args:
        name: by which calls, files and commands find it.
        title: for results and messages.
        order: of convergence.
        a: rows below the diagonal: row i has one number for each stage before stage i.
        b: weights of the stages in the step.
        error: e, one for each stage and one for the end of the step; empty for a scheme without
            error estimate, which supports equal steps only.
        second_error: a coarser estimate that makes the first one safe; see `dop853`.
        error_order: the estimate is of size h to this power.
        extra: weights of all stages, the end and earlier ones of these in further stages that dense
            output needs.
        dense: b_i(θ) by powers of θ, from the first on: a row for each stage, the end, and each
            further stage. A scheme that estimates its error needs it; see `hermite`.
        suits: what it is good for, in a line of `varimech methods`.

    Raises:
        ModelError: for coefficients whose numbers or sums cannot be right.

    >>> RungeKutta("heun", "Heun", 2, ((), (1.0,)), (0.5, 0.5)).c
    (0, 1.0)
    """

    name: str
    title: str
    order: int
    a: Rows
    b: tuple[float, ...]
    error: tuple[float, ...] = ()
    second_error: tuple[float, ...] = ()
    error_order: int = 0
    extra: Rows = ()
    dense: Rows = ()
    suits: str = ""
    difference = continuous = None

    def __post_init__(self) -> None:
        if faults := coefficient_faults(self):
            raise ModelError("; ".join(faults), element=f"RungeKutta {self.name!r}")

    def __hash__(self) -> int:
        # short, since solvers are looked up by it in every run
        return hash((self.name, self.order))

    @property
    def coefficients(self) -> RungeKutta:
        """The scheme itself, which states the coefficients."""
        return self

    @cached_property
    def traits(self) -> IntegratorTraits:
        """Everything is supported; chosen steps only with an error estimate."""
        return IntegratorTraits(adaptive=bool(self.error))

    @property
    def c(self) -> tuple[float, ...]:
        """Times of its stages, relative to the step."""
        return tuple(sum(row) for row in self.a)

    @property
    def longest_vibration_step(self) -> float:
        """Largest ω h for which a vibration of frequency ω does not grow by more than `GROWTH` per
        step, |R(iωh)| ≤ 1, with R(z) = 1 + z bᵀ (1 − z a)⁻¹ 1.
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


def hermite(b: tuple[float, ...]) -> Rows:
    """Return dense output of order 3 for any scheme: the cubic with the positions and rates of both
    ends of a step.

        y(θ) = y₀ + h [θ(1−θ)² k₁ + θ²(3−2θ) Σ b_i k_i − θ²(1−θ) k_end]

    Args:
        b: weights of the stages in the step.
    """
    rows = [(0.0, 3 * weight, -2 * weight) for weight in b]
    rows[0] = (1.0, rows[0][1] - 2.0, rows[0][2] + 1.0)
    return (*rows, (0.0, -1.0, 1.0))


def coefficient_faults(s: RungeKutta) -> list[str]:
    """List what is wrong with coefficients: their numbers, and sums that hold for every scheme."""
    stages, further = len(s.b), len(s.extra)
    faults = []

    def expect(good: bool, text: str) -> None:
        if not good:
            faults.append(text)

    for name in ("b", "error", "second_error"):
        check_numbers(f"RungeKutta {s.name!r}", **{name: sum(getattr(s, name))})
    expect(stages > 0 and len(s.a) == stages, f"a has {len(s.a)} rows and b {stages} numbers")
    count = stages + 1 + further
    expect(count <= MOST_STAGES, f"{count} stages are more than {MOST_STAGES}")
    for i, row in enumerate(s.a):
        expect(len(row) == i, f"row {i} of a has {len(row)} numbers, an explicit scheme has {i}")
    expect(abs(sum(s.b) - 1) < CONSISTENT, f"b adds up to {sum(s.b):.6g}, not to 1")
    for name in ("error", "second_error"):
        weights: tuple[float, ...] = getattr(s, name)
        expect(
            len(weights) in (0, stages + 1),
            f"{name} has {len(weights)} numbers, not {stages + 1}: {stages} stages and the end",
        )
        expect(abs(sum(weights)) < CONSISTENT, f"{name} adds up to {sum(weights):.6g}, not to 0")
    expect(not s.error or s.error_order > 0, "error needs its error_order, which is positive")
    expect(
        not s.error or bool(s.dense), "error needs dense, such as hermite(b), for stored results"
    )
    for i, row in enumerate(s.extra):
        expect(
            len(row) == stages + 1 + i,
            f"row {i} of extra has {len(row)} numbers, not {stages + 1 + i}",
        )
    if s.dense:
        expect(len(s.dense) == count, f"dense has {len(s.dense)} rows, not {count}")
        expect(len({len(row) for row in s.dense}) == 1, "rows of dense are of different lengths")
        end = sum(sum(row) for row in s.dense)
        expect(
            abs(end - 1) < CONSISTENT, f"dense adds up to {end:.6g} at the end of a step, not to 1"
        )
    return faults
