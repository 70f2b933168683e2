"""Scales of the variables of CVODES and IDAS, which give their absolute tolerances and thresholds
the same meaning for every mechanism.

With lengths L, speeds V and times T of the run,  q̂ = q/Q, v̂ = v/V, τ = t/T  are of the order of one,
and

    dq̂/dτ = (T/Q) v,     dv̂/dτ = (T/V) a(q, v, t).

Lengths and dimensionless coordinates (angles, Euler parameters, components of unit vectors) have
separate scales; those of all lengths are equal, so that a coordinate that happens to be zero is
measured by the others. Scales before a run are estimates; values from the run correct those that
were too large.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

UNCONTROLLED = 1e100
"""Scale of integrals before their magnitude is known: with it no error counts, and results with it
are not used.
"""
TOO_LARGE = 10.0
"""Ratio of a scale to the largest value of a run beyond which the run is repeated; the safety
factor of the tolerance covers smaller ratios.
"""


@dataclass(frozen=True)
class Scales:
    """Scales of positions, velocities, algebraic unknowns (accelerations and multipliers) and
    integrals.
    """

    positions: np.ndarray
    velocities: np.ndarray
    algebraic: np.ndarray
    integrals: np.ndarray

    @property
    def differential(self) -> np.ndarray:
        """Scales of the integrated state: positions, velocities and integrals."""
        return np.concatenate([self.positions, self.velocities, self.integrals])

    @property
    def rate(self) -> float:
        """Rate at which the motion passes through its own size (1/s)."""
        return float((self.velocities / self.positions).max(initial=0.0))

    def corrected(self, observed: Scales) -> Scales | None:
        """Replace scales that were too large by the observed values; return None if none was."""
        pairs = {
            name: (getattr(self, name), getattr(observed, name))
            for name in ("positions", "velocities", "integrals")
        }
        excessive = {
            name: (used > TOO_LARGE * least) & (least > 0) for name, (used, least) in pairs.items()
        }
        if not any(rows.any() for rows in excessive.values()):
            return None
        return replace(
            self,
            **{
                name: np.where(excessive[name], least, used)
                for name, (used, least) in pairs.items()
            },
        )


@dataclass(frozen=True)
class Scaling:
    """Estimates and corrects the scales of the runs of one mechanism."""

    lengths: np.ndarray
    """Whether each coordinate is a length; the others are dimensionless."""
    rates_only: np.ndarray
    """Whether only the rate of a coordinate counts."""
    size: float
    """Size of the mechanism (m); 0 if only its coordinates show it."""
    duration: float

    def expected(self, state: np.ndarray, stiffest: float, integrals: int) -> Scales:
        """Estimate scales from the initial state; `stiffest` is the largest mass that a constraint
        works against.
        """
        n = self.lengths.size
        q, v, a = (np.abs(state[k * n : (k + 1) * n]) for k in range(3))
        λ = np.abs(state[3 * n :])
        length = max(_largest(q, self.lengths), self.size)
        if not length:  # at the origin: distance of the initial motion, or any length if it rests
            length = (
                max(
                    _largest(v, self.lengths) * self.duration,
                    _largest(a, self.lengths) * self.duration**2,
                )
                or 1.0
            )
        Q, V, A = np.ones(n), np.zeros(n), np.zeros(n)
        for rows, typical in zip(self._kinds, (length, 1.0, 1.0), strict=True):
            speed, acceleration = _largest(v, rows), _largest(a, rows)
            gained = min(acceleration * self.duration, np.sqrt(acceleration * typical))
            Q[rows], V[rows] = typical, max(speed, gained, typical / self.duration)
            A[rows] = np.maximum(acceleration, V[rows] ** 2 / typical)
        Q[self.rates_only] = UNCONTROLLED
        Λ = max(float(λ.max(initial=0.0)), stiffest * float(A.max(initial=0.0))) or 1.0
        return Scales(
            Q, V, np.concatenate([A, np.full(λ.size, Λ)]), np.full(integrals, UNCONTROLLED)
        )

    def observed(self, scales: Scales, states: np.ndarray, integrands: np.ndarray) -> Scales:
        """Return scales with the largest values of a run; states and integrands have a column for
        each time.
        """
        n = self.lengths.size
        q, v = (np.abs(states[k * n : (k + 1) * n]).max(axis=1, initial=0.0) for k in range(2))
        Q, V = scales.positions.copy(), scales.velocities.copy()
        Q[self.lengths] = _largest(q, self.lengths)
        for rows in self._kinds:
            typical = np.where(self.rates_only, 1.0, Q)[rows]
            V[rows] = np.maximum(_largest(v, rows), typical / self.duration)
        ψ = self.duration * np.abs(integrands).max(axis=1, initial=0.0)
        return replace(scales, positions=Q, velocities=V, integrals=np.where(ψ > 0, ψ, 1.0))

    @property
    def _kinds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lengths, dimensionless coordinates, and coordinates of which only the rate counts."""
        return self.lengths, ~self.lengths & ~self.rates_only, self.rates_only


def _largest(values: np.ndarray, rows: np.ndarray) -> float:
    return float(values[rows].max(initial=0.0))
