"""Central differences with a sweep of perturbations: a second road to every derivative.

    dψ/dρᵢ ≈ (ψ(ρᵢ + δ) − ψ(ρᵢ − δ)) / 2δ,     δ = s · max(|ρᵢ|, 1 if ρᵢ = 0)

The truncation error falls with δ², the rounding error grows with 1/δ. For each number the sweep
keeps the estimate where two neighbouring perturbations agree best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Outcome = tuple[np.ndarray, np.ndarray]
"""What a run yields: objectives (time, objective) and states (time, state)."""

RELATIVE_STEPS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
"""Perturbations about the best one of central differences, ε^(1/3) ≈ 6e-6, towards large ones for
runs with errors above rounding.
"""


@dataclass(frozen=True)
class Differences:
    """Estimates over the sweep: (perturbation, time, objective, parameter), the choice made, and
    sensitivities of the state.
    """

    steps: tuple[float, ...]
    gradients: np.ndarray
    best: np.ndarray
    """Which perturbation was kept, by (objective, parameter), judged at the end of the run."""
    sensitivities: np.ndarray
    """(time, state, parameter), from the perturbation kept most often."""

    @property
    def gradient_history(self) -> np.ndarray:
        """(time, objective, parameter) with the perturbation that was kept."""
        objectives, parameters = np.indices(self.best.shape)
        return self.gradients[self.best, :, objectives, parameters].transpose(2, 0, 1)


def central_differences(
    run: Callable[[np.ndarray], Outcome],
    ρ: np.ndarray,
    indices: list[int],
    steps: Sequence[float] = RELATIVE_STEPS,
    tell: Callable[[int], None] | None = None,
) -> Differences:
    """Differentiate a run with respect to the parameters at `indices`."""
    gradients, states = [], []
    for k, relative in enumerate(steps):
        columns = []
        for i, index in enumerate(indices):
            δ = relative * (abs(ρ[index]) or 1.0)
            columns.append(_difference(run, ρ, index, δ))
            if tell is not None:
                tell(k * len(indices) + i + 1)
        gradients.append(np.stack([c[0] for c in columns], axis=-1))
        states.append(np.stack([c[1] for c in columns], axis=-1))
    estimates = np.stack(gradients)
    best = _plateau(estimates[:, -1])
    return Differences(tuple(steps), estimates, best, _kept_states(states, best))


def _difference(
    run: Callable[[np.ndarray], Outcome], ρ: np.ndarray, index: int, δ: float
) -> tuple[np.ndarray, np.ndarray]:
    above, below = ρ.copy(), ρ.copy()
    above[index] += δ
    below[index] -= δ
    (ψ_high, x_high), (ψ_low, x_low) = run(above), run(below)
    width = above[index] - below[index]
    return (ψ_high - ψ_low) / width, (x_high - x_low) / width


def _plateau(estimates: np.ndarray) -> np.ndarray:
    """For each number, the index after the smallest change along the sweep (axis 0); perturbations
    that failed are NaN.
    """
    if len(estimates) == 1:
        return np.zeros(estimates.shape[1:], dtype=int)
    changes = np.abs(np.diff(estimates, axis=0))
    return np.where(np.isnan(changes), np.inf, changes).argmin(axis=0) + 1


def _kept_states(states: list[np.ndarray], best: np.ndarray) -> np.ndarray:
    """State sensitivities with, for each parameter, the perturbation its objectives kept (the
    middle one without objectives).
    """
    middle = len(states) // 2
    out = np.empty_like(states[0])
    for p in range(out.shape[-1]):
        k = int(np.median(best[:, p])) if best.shape[0] else middle
        out[..., p] = states[k][..., p]
    return out
