"""Derivatives by solvers that choose their own steps, CVODES and IDAS, across jumps: no step ends
there, so the contribution of a jump whose time parameters move is not included.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..backends.trajectory import Trajectory
from ..coordinates.equations import Equations
from ..core.errors import ModelError
from ..core.messages import Message
from ..schemes import Method
from ..sensitivity.objective_functions import objective_expressions
from ..sensitivity.smoothness import Switch
from ..sensitivity.switching import jumps_of
from .task import Task

NEAR = 1e-12
"""Share of the time between two stored results to which a change of sides is located."""
JUMP = 1e-6
"""Relative change of forces or integrands over that time that counts as a jump: rounding of a state
between two stored results, times stiffness, is far below.
"""


def refuse_jumps(
    equations: Equations, method: Method, task: Task, ρ: np.ndarray, trajectory: Trajectory
) -> None:
    """Refuse derivatives of a run that has passed a jump.

    Raises:
        ModelError: naming the force or objective, the time, and a remedy.
    """
    if task.indices is None or method.integrator.continuous is None:
        return
    e, T = equations, trajectory
    jumps = [s for s in jumps_of(e, task.objectives) if s.jump]
    if not jumps:
        return
    sides = ca.vertcat(*[s.side for s in jumps])
    values = ca.vertcat(e.forces, objective_expressions(e, task.objectives)[0])
    f = ca.Function("sides", [e.packed, e.ρ, e.t], [ca.densify(sides), ca.densify(values)])
    stored_sides = np.array(f(T.states.T, ρ, T.time[None])[0]).T
    for row, k in np.argwhere(stored_sides[1:] != stored_sides[:-1]):
        if _is_jump(f, T, ρ, int(row), int(k)):
            raise _refusal(e, method, jumps[k], float(T.time[row + 1]))


def _is_jump(f: ca.Function, T: Trajectory, ρ: np.ndarray, row: int, k: int) -> bool:
    """Whether forces or integrands actually jump where side k changes between two stored results
    (an expression may have a comparison and still be continuous); by bisection along a straight
    line.
    """

    def at(share: float) -> tuple[float, np.ndarray]:
        x, t = (y[row] + share * (y[row + 1] - y[row]) for y in (T.states, T.time))
        sides, values = f(x, ρ, t)
        return float(sides[k]), np.array(values).ravel()

    low, high = 0.0, 1.0
    first = at(low)[0]
    while high - low > NEAR:
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle)[0] == first else (low, middle)
    a, b = at(low)[1], at(high)[1]
    return bool((np.abs(a - b) > JUMP * (1e-6 + np.abs(a).max() + np.abs(b).max())).any())


def _refusal(e: Equations, method: Method, jump: Switch, time: float) -> ModelError:
    return ModelError(
        f"mechanism {e.model.name!r}: {jump.place!r} jumps ({jump.operation}) before t ="
        f" {time:.6g} s; derivatives by {method.integrator.title} do not include its"
        " contribution",
        remedy=Message("use {integrator}", integrator=("dop853", "trapezoidal")),
    )
