"""Analyses of a model that does not move: a drawing, its equilibrium, and small vibrations about
it.
"""

from __future__ import annotations

import time
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from ..backends.trajectory import Trajectory
from ..core.errors import ModelError
from ..results.live_run import LiveRun
from ..results.run import Run
from .simulation import Values
from .solvers import ModelSolvers, Wrt, seconds_of

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def draw(
    solvers: ModelSolvers, parameters: Values | None, title: str | None, style: str | None
) -> Figure:
    """Draw the mechanism in its initial position.

    Raises:
        AssemblyError: if the mechanism cannot be assembled there.
    """
    name = solvers.data.name
    run = at_start(solvers, parameters)
    return run.draw(title=name if title is None and style is None else title, style=style)


def at_start(solvers: ModelSolvers, parameters: Values | None = None) -> Run:
    """Assemble the mechanism at t = 0; return a run with one state, without velocities and forces.

    Raises:
        AssemblyError: if the mechanism cannot be assembled there.
    """
    ρ, solver = solvers.data.parameter_set.values(parameters), solvers.default
    solver.start.check_closure(ρ)
    q, e = solver.start.assemble(ρ), solver.equations
    state = np.concatenate([q, np.zeros(e.packed.numel() - q.size)])[None]
    trajectory = Trajectory(np.zeros(1), state, np.zeros((1, 0)), np.zeros(3), 0, np.zeros(1))
    return Run(LiveRun(e, trajectory, ρ, []), solvers.info("start", trajectory, ρ, {}))


def equilibrium(solvers: ModelSolvers, wrt: Wrt, parameters: Values | None) -> Run:
    """Find the stable equilibrium downhill of the initial position; return a run with one state.

    Raises:
        VarimechError: if no equilibrium is found.
    """
    began = time.perf_counter()
    solvers.check_masses("equilibrium")
    solvers.check_continuous("equilibrium")
    ρ, solver = solvers.data.parameter_set.values(parameters), solvers.default
    indices = None if wrt is None else solvers.indices(wrt)
    rest, e = solver.statics.equilibrium(ρ, indices), solver.equations
    n, still = e.q.numel(), np.zeros(e.q.numel())
    sensitivities = None
    if rest.sensitivities is not None:
        sensitivities = np.vstack(
            [
                rest.sensitivities[: 2 * n],
                np.zeros((n, len(indices or []))),
                rest.sensitivities[2 * n :],
            ]
        )[None]
    trajectory = Trajectory(
        np.zeros(1),
        np.concatenate([rest.q, rest.v, still, rest.λ])[None],
        np.zeros((1, 0)),
        np.array([rest.residual, 0, 0]),
        rest.iterations,
        np.zeros(1),
        sensitivities=sensitivities,
    )
    seconds = seconds_of(began, 0.0)
    info = solvers.info("equilibrium, natural coordinates", trajectory, ρ, seconds)
    return Run(LiveRun(e, trajectory, ρ, indices or []), info)


def frequencies(solvers: ModelSolvers, count: int, parameters: Values | None) -> xr.DataArray:
    """Compute natural frequencies (Hz) about the equilibrium, the lowest first.

    Raises:
        ModelError: if a driver or an unresisted speed moves the mechanism.
        VarimechError: if no stable equilibrium is found.
    """
    import xarray as xr

    if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
        raise ModelError(
            "must be a whole number, 1 or more", element="frequencies", field="count", value=count
        )
    solvers.check_masses("frequencies")
    ρ = solvers.data.parameter_set.values(parameters)
    ω = solvers.default.statics.frequencies(ρ, int(count))
    modes = np.arange(1, ω.size + 1)
    return xr.DataArray(
        ω / (2 * np.pi),
        coords={"mode": modes},
        dims=["mode"],
        name="frequency",
        attrs={"units": "Hz"},
    )
