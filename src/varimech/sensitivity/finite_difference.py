"""Central differences with a sweep of perturbations: an independent method for every derivative.

    dψ/dρᵢ ≈ (ψ(ρᵢ + δ) − ψ(ρᵢ − δ)) / 2δ,     δ = s · max(|ρᵢ|, 1 if ρᵢ = 0)

The truncation error falls with δ², the rounding error grows with 1/δ. For each derivative the sweep
keeps the estimate where two neighbouring perturbations agree best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Outcome = tuple[np.ndarray, np.ndarray]
"""Results of runs: objectives (run, time, objective) and states (run, time, state)."""

RELATIVE_STEPS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
"""Perturbations around the optimum of central differences, ε^(1/3) ≈ 6e-6, extended towards large
ones for runs whose errors exceed rounding.
"""


@dataclass(frozen=True)
class Differences:
    """Estimates over the sweep: (perturbation, time, objective, parameter), the perturbations
    selected, and sensitivities of the state.
    """

    steps: tuple[float, ...]
    gradients: np.ndarray
    best: np.ndarray
    """Index of the selected perturbation, by (objective, parameter), judged at the end of the run.
    """
    sensitivities: np.ndarray
    """(time, state, parameter), for the perturbation selected most often."""

    @property
    def gradient_history(self) -> np.ndarray:
        """(time, objective, parameter) with the selected perturbation."""
        objectives, parameters = np.indices(self.best.shape)
        return self.gradients[self.best, :, objectives, parameters].transpose(2, 0, 1)


def central_differences(
    run: Callable[[np.ndarray], Outcome],
    ρ: np.ndarray,
    indices: list[int],
    steps: Sequence[float] = RELATIVE_STEPS,
) -> Differences:
    """Differentiate runs with respect to the parameters at `indices`.

    Args:
        run: returns the outcomes of runs for rows of parameter values; called once with all rows.
        ρ: parameter values.
        indices: parameters to differentiate for.
        steps: relative perturbations.
    """
    rows = _perturbed(ρ, indices, steps)
    sides = rows[..., indices].diagonal(axis1=1, axis2=3)  # (perturbation, side, parameter)
    widths = sides[:, 0] - sides[:, 1]

    def quotients(results: np.ndarray) -> np.ndarray:
        """Return difference quotients: (perturbation, time, number, parameter)."""
        both = results.reshape(*rows.shape[:3], *results.shape[1:])
        return np.moveaxis((both[:, :, 0] - both[:, :, 1]) / widths[..., None, None], 1, -1)

    estimates, states = map(quotients, run(rows.reshape(-1, ρ.size)))
    best = _plateau(estimates[:, -1])
    return Differences(tuple(steps), estimates, best, _kept_states(states, best))


def _perturbed(ρ: np.ndarray, indices: list[int], steps: Sequence[float]) -> np.ndarray:
    """Return values of all parameters: (perturbation, parameter, above and below, value)."""
    rows = np.tile(ρ, (len(steps), len(indices), 2, 1))
    for i, index in enumerate(indices):
        δ = np.array(steps) * (abs(ρ[index]) or 1.0)
        rows[:, i, 0, index] += δ
        rows[:, i, 1, index] -= δ
    return rows


def _plateau(estimates: np.ndarray) -> np.ndarray:
    """For each derivative, return the index after the smallest change along the sweep (axis 0);
    estimates from failed runs are NaN.
    """
    if len(estimates) == 1:
        return np.zeros(estimates.shape[1:], dtype=int)
    changes = np.abs(np.diff(estimates, axis=0))
    return np.where(np.isnan(changes), np.inf, changes).argmin(axis=0) + 1


def _kept_states(states: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Select state sensitivities: for each parameter, those of the perturbation selected for its
    objectives (the middle one without objectives).
    """
    middle = len(states) // 2
    out = np.empty_like(states[0])
    for p in range(out.shape[-1]):
        k = int(np.median(best[:, p])) if best.shape[0] else middle
        out[..., p] = states[k][..., p]
    return out
