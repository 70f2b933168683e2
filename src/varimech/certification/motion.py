"""Evidence in the motion itself: chaos, singular positions, and crossings of non-smooth places of
the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..results.certificate_evidence import Growth, Singularity
from ..sensitivity.smoothness import Switch

if TYPE_CHECKING:
    from ..results.live_run import LiveRun

SVD_WORK = 5e8
"""Operations spent on the search for singular positions: some seconds."""
UNMOVED = 1e-9
"""Share of a switch's range below which a parameter counts as not moving it."""
NEARLY = 0.2
"""Share of its median below which the smallest singular value is followed through zero."""


@dataclass(frozen=True)
class Crossing:
    """A switch that the motion crosses."""

    switch: Switch
    time: float
    """Time of the first crossing."""
    moved: np.ndarray
    """For each parameter, whether it moves the switch."""


def growth_of(live: LiveRun) -> Growth | None:
    """Compare growth like exp(rate t) with growth like a power of t, for the running maximum of the
    derivatives of positions and velocities.
    """
    S, t = live.derivatives.sensitivities, live.time
    if S is None or not np.isfinite(S).all() or t.size < 20:
        return None
    ρ = np.abs(live.parameters[live.indices])
    size = np.linalg.norm(
        S[:, : 2 * live.equations.q.numel()] * np.where(ρ > 0, ρ, 1.0), axis=(1, 2)
    )
    size = np.maximum.accumulate(size)
    late = (t >= t[-1] / 5) & (size > 0)
    if late.sum() < 10:
        return None
    x, y = t[late], np.log(size[late])
    rate, misfit = _line(x, y)
    _, other = _line(np.log(x), y)
    factor = float(np.exp(y[-1] - y[0]))
    # derivatives of a regular motion grow like t or t²: 25 times from a fifth of the run on; and a
    # single event is no growth
    sudden = np.diff(y).max() > 0.3 * (y[-1] - y[0])
    return Growth(factor, rate, bool(factor > 200 and misfit < 2 * other and not sudden))


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Fit a line through points; return its slope and the sum of squared residuals."""
    slope, offset = np.polyfit(x, y, 1)
    return float(slope), float(np.square(y - slope * x - offset).sum())


def singularity_of(live: LiveRun) -> Singularity | None:
    """Find where constraints come closest to losing rank beyond any permanent redundancy."""
    e, T = live.equations, live.trajectory
    m, n = e.λ.numel(), e.q.numel()
    if m == 0 or T.time.size < 10:
        return None
    few = max(10, int(SVD_WORK / (m * n * min(m, n))))
    rows = np.unique(np.linspace(0, T.time.size - 1, min(T.time.size, few)).astype(int))
    f = ca.Function("jacobian", [e.q, e.ρ, e.t], [ca.densify(e.force_directions)])
    J = (
        np.array(f(T.states[rows, :n].T, live.parameters, T.time[None, rows]))
        .reshape(m, rows.size, n)
        .transpose(1, 0, 2)
    )
    σ = np.linalg.svd(J, compute_uv=False)
    rank = int((np.median(σ, axis=0) > 1e-9 * σ.max()).sum())
    if rank == 0:
        return None
    least = σ[:, rank - 1] / np.median(σ[:, rank - 1])
    k = int(least.argmin())
    if 0 < k < rows.size - 1 and least[k] < NEARLY:
        before, here, after = least[k - 1 : k + 2]
        # a value that crosses zero between two instants continues with the other sign
        if min(abs(before - 2 * here - after), abs(before + 2 * here - after)) < 0.05 * (
            before + after
        ):
            return Singularity(0.0, float(T.time[rows[k]]))
    return Singularity(float(least[k]), float(T.time[rows[k]]))


def crossings_of(live: LiveRun, candidates: Sequence[Switch]) -> list[Crossing]:
    """Return the switches that change sign between stored instants, each with its first time."""
    if not candidates:
        return []
    at = ca.vertcat(*[s.at for s in candidates])
    values, T = live.evaluate(at), live.trajectory
    derivatives = None
    crossings = []
    for k, switch in enumerate(candidates):
        sign = np.sign(values[:, k])
        first = int((sign != 0).argmax())  # starting on a switch is no crossing
        passed = first + np.flatnonzero(sign[first + 1 :] != sign[first:-1])
        if not passed.size:
            continue
        moved = np.full(len(live.indices), not switch.timed)
        if live.differentiated and not switch.timed:
            derivatives = live.derivative(at) if derivatives is None else derivatives
            near = np.union1d(passed, passed + 1)
            change = np.abs(derivatives[near, k]).max(axis=0) * np.abs(
                live.parameters[live.indices]
            )
            moved = change > UNMOVED * np.ptp(values[:, k])
        crossings.append(Crossing(switch, float(T.time[passed[0] + 1]), moved))
    return crossings
