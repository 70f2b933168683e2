"""Joint design points: for several limits that all have to be exceeded, the nearest point u* at
which they are,

    min ½ u'u   subject to   g_i(u) ≥ 0,

by sequential quadratic programming with exact gradients. Each limit is replaced by its tangent
plane at u*, including limits that are exceeded there without being active. (M. Hohenbichler and R.
Rackwitz, First-order concepts in system reliability, Structural Safety 1 (1983) 177–188.)

Searches start at the medians, at the design points of the limits, and where rays first meet the
event; each may end at another joint design point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import VarimechError
from .design_points import (
    APART,
    ENOUGH,
    ERROR,
    FORMULAS,
    MOST,
    NEGLIGIBLE,
    RADII,
    RAYS,
    DesignPoint,
)
from .tangent_planes import TangentPlanes

if TYPE_CHECKING:
    from .limits import System

STARTS = 4
"""Maximum number of searches that start where rays meet the event."""


def joint_points(
    system: System, starts: Sequence[np.ndarray], scales: np.ndarray
) -> list[DesignPoint]:
    """Find the joint design points of a parallel system, the likeliest first.

    Args:
        system: limits that all have to be exceeded.
        starts: initial points in the standard space, besides the origin.
        scales: standard deviation of the objective of each limit.

    Raises:
        VarimechError: if there is no joint design point.
    """
    points = list[DesignPoint]()
    runs = system.study.runs
    for start in [np.zeros(len(system.study.names)), *starts]:
        try:
            point = _searched(system, start, scales)
        # runs may fail during a search; other initial points may be better
        except (VarimechError, RuntimeError):
            if isinstance(runs.error, KeyboardInterrupt):
                raise
            runs.error = None
            continue
        if point is not None and all(
            np.linalg.norm(point.standard - other.standard) > APART for other in points
        ):
            points.append(point)
    if not points:
        problem = (
            f"probability of {system.name}: no point was found at which all of these limits are"
            " exceeded. They may exclude each other"
        )
        raise VarimechError(problem, remedy='ask for each limit by itself, or use method="samples"')
    points.sort(key=lambda p: -p.form)
    return [p for p in points if p.form >= NEGLIGIBLE * points[0].form]


def _searched(system: System, start: np.ndarray, scales: np.ndarray) -> DesignPoint | None:
    """Search for a joint design point; None if the search does not end at one."""
    from scipy.optimize import minimize

    study, kept = system.study, dict[bytes, tuple[np.ndarray, np.ndarray]]()
    places = [limit.objective for limit in system.limits]
    signs = np.array([limit.sign for limit in system.limits])

    def at(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values of the limits and their gradients with respect to the parameters."""
        key = u.tobytes()
        if key not in kept:
            x = study.distributions.from_normal(u[None])[0]
            values = study.runs.values(x)
            g = np.array([limit.of_values(values)[0] for limit in system.limits])
            kept[key] = g, signs[:, None] * study.runs.gradient(x)[places]
        return kept[key]

    def jacobian(u: np.ndarray) -> np.ndarray:
        return at(u)[1] @ study.distributions.jacobian(u) / scales[:, None]

    solution = minimize(
        lambda u: (u @ u / 2, u),
        start,
        jac=True,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda u: at(u)[0] / scales, "jac": jacobian},
        options={"maxiter": MOST // 2, "ftol": ERROR**2},
    )
    u = np.asarray(solution.x)
    g, gradients = at(u)
    if not (np.isfinite(g).all() and (g / scales > -ENOUGH).all()):
        return None
    planes = TangentPlanes.at(study.distributions, u, gradients, g)
    x, β = study.distributions.from_normal(u[None])[0], float(np.linalg.norm(u))
    unknown = dict.fromkeys(FORMULAS, math.nan)
    return DesignPoint(β, u, x, unknown, np.empty(0), None, planes)


def ray_starts(system: System, rng: np.random.Generator) -> list[np.ndarray]:
    """Points on rays from the origin at which the event occurs, the nearest one of each
    direction.
    """
    drawn = rng.standard_normal((RAYS, len(system.study.names)))
    rays = drawn / np.linalg.norm(drawn, axis=1)[:, None]
    points = (RADII[:, None, None] * rays).reshape(-1, drawn.shape[1])
    occurs = (system.occurs(system.beyond(points)) == 1).reshape(RADII.size, -1)
    first = np.where(occurs.any(axis=0), RADII[occurs.argmax(axis=0)], np.inf)
    starts = list[np.ndarray]()
    while np.isfinite(first).any() and len(starts) < STARTS:
        k = int(first.argmin())
        starts.append(first[k] * rays[k])
        first[rays @ rays[k] > np.cos(np.pi / 6)] = np.inf
    return starts
