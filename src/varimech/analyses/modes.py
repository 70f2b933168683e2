"""Modes of small motions about a motion: eigenvalues, shapes, and their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..backends.trajectory import Trajectory
from ..core.errors import VarimechError
from ..core.symbols import SX
from ..results.labels import Wrt
from ..results.mode_motion import ModeCoordinates
from ..results.modes import DRAWN, Modes
from ..results.plan import drawing_plan
from ..results.run import Run
from ..solving.eigenvalues import eigenvalues
from ..solving.linearization import Place
from .linear import Derived, linearized
from .simulation import Values
from .solvers import ModelSolvers

if TYPE_CHECKING:
    from ..coordinates.systems import Coordinates


def modes(
    solvers: ModelSolvers,
    at: str | Run,
    time: float | None,
    wrt: Wrt,
    parameters: Values | None,
    coordinates: str | Coordinates,
    kept: dict[int, Derived] | None = None,
) -> Modes:
    """Compute eigenvalues, shapes and their derivatives; `kept` as for `linearized`.

    Raises:
        VarimechError: for derivatives of eigenvalues that have none.
    """
    linearized_motion = linearized(solvers, at, time, (), None, wrt, parameters, coordinates, kept)
    linear, place = linearized_motion.linear, linearized_motion.point.place
    s, e = linear.state_count, linear.equations
    A_ = None if linearized_motion.derivatives is None else linearized_motion.derivatives[:s, :s]
    result = eigenvalues(linearized_motion.matrices.S[:s, :s], A_, linear.position_count)
    if A_ is not None and result.missing:
        k = [i + 1 for group in result.missing for i in group]
        raise VarimechError(
            f"{e.model.name!r}: modes {', '.join(map(str, k))} have the eigenvalue"
            f" {result.values[k[0] - 1]:.6g} 1/s in common, and too few shapes: such eigenvalues"
            " have no derivatives (as at critical damping)",
            remedy="leave out wrt, or change a parameter a little",
        )
    points = [p.label for b in e.model.moving_bodies for p in e.model.points_of(b).values()]
    fixed = [p.label for p in e.model.points_of(e.model.ground).values()]
    positions = ca.vertcat(SX(0, 1), *[e.state.position(p) for p in points])
    still = ca.vertcat(SX(0, 1), *[e.state.position(p) for p in fixed])
    P = ca.Function(
        "P",
        [e.q, e.ρ, e.t],
        [ca.densify(x) for x in (ca.jacobian(positions, e.q), positions, still)],
    )
    n, size = e.q.numel(), e.model.dimension
    moves, places, ground = (np.array(x) for x in P(place.x[:n], place.ρ, place.t))
    shapes = linearized_motion.matrices.seeds[:n, :s] @ result.vectors
    U = moves @ shapes
    largest = U[np.abs(U).argmax(axis=0), range(U.shape[1])] if U.size else np.ones(U.shape[1])
    largest = np.where(np.abs(largest) > 0, largest, 1.0)
    U, shapes = U / largest, shapes / largest
    chosen = [] if wrt is None else solvers.parameters(solvers.indices(wrt))
    return Modes(
        solvers.data.name,
        linearized_motion.point.kind,
        place.t,
        linearized_motion.steady,
        result.values,
        tuple(points),
        U.T.reshape(U.shape[1], len(points), size),
        tuple(p.name for p in chosen),
        result.derivatives,
        tuple(tuple(i + 1 for i in g) for g in result.repeated if len(g) > 1),
        places.reshape(-1, size),
        {
            **{key: drawing_plan(e.model)[key] for key in DRAWN},
            "ground": dict(zip(fixed, ground.reshape(-1, size).tolist(), strict=True)),
        },
        ModeCoordinates(e, place.x, place.ρ, shapes, _info(solvers, place)),
    )


def _info(solvers: ModelSolvers, place: Place) -> dict[str, Any]:
    """Return the facts about their mechanism that runs of modes carry."""
    still = Trajectory(np.zeros(1), place.x[None], np.zeros((1, 0)), np.zeros(3), 0, np.zeros(1))
    return solvers.info("modes", still, place.ρ, {})
