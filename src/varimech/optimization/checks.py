"""Checks before an optimisation: objectives without a gradient, parameters without influence,
constraints that no parameter affects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import casadi as ca
import numpy as np

from ..coordinates.equations import Equations
from ..core.errors import ModelError
from ..core.messages import Message
from ..core.symbols import SX
from ..model.user_functions import as_column, call_user
from ..sensitivity.objective import Objective
from ..sensitivity.objective_functions import objective_expressions
from ..sensitivity.smoothness import check_slope
from .design_problem import DesignProblem
from .quantities import Path

NOTHING = 1e-11
"""Relative change over the whole range of a parameter below which it counts as rounding."""
ASIDE = 0.01
"""Perturbation, relative to a parameter's size, that distinguishes a stationary initial design from
a parameter without influence; a round value.
"""


def check_derivatives(
    equations: Equations, scalars: Mapping[str, Objective], paths: Mapping[str, Path]
) -> set[str]:
    """Refuse quantities that depend on the motion or on parameters through jumps only.

    Returns:
        Names of quantities that have jumps besides smooth dependence.
    """
    return {
        name
        for name, expression in _expressions(equations, scalars, paths)
        if check_slope(name, expression, equations)
    }


def check_influence(analysis: str, problem: DesignProblem, with_jumps: set[str]) -> None:
    """Check that every parameter has an influence, and that every quantity depends on a parameter,
    at the initial design or next to it.

    Raises:
        ModelError: with the name of the parameter or quantity.
    """
    space = problem.space
    moves = _moves(problem, space.start)
    if not moves.all():
        step = (
            np.where(space.start + ASIDE * space.sizes <= space.upper, ASIDE, -ASIDE) * space.sizes
        )
        moves |= _moves(problem, space.inside(space.start + step))
    quantities = [*problem.scalars, *problem.paths]
    jumps = (
        f"; {', '.join(map(repr, sorted(with_jumps)))} may depend on it through jumps, which have"
        " no derivative"
        if with_jumps
        else ""
    )
    for name, influences in zip(space.names, list(np.any(moves, axis=0)), strict=True):
        if not influences:
            raise ModelError(
                f"nothing depends on parameter {name!r}: all derivatives of"
                f" {', '.join(map(repr, quantities))} with respect to it vanish{jumps}",
                element=analysis,
                remedy=Message("remove it from {over}"),
            )
    for name, influences in zip(quantities, list(np.any(moves, axis=1)), strict=True):
        if not influences:
            kind = "objective" if name == problem.name else "constraint"
            raise ModelError(
                f"{kind} {name!r} depends on none of {', '.join(map(repr, space.names))}{jumps}",
                element=analysis,
            )


def _moves(problem: DesignProblem, x: np.ndarray) -> np.ndarray:
    """Whether each quantity changes by more than rounding with each parameter, (quantity,
    parameter); true for all if the run fails.
    """
    outcome, sizes = problem.outcome(x), problem.space.sizes
    if outcome is None:
        return np.ones((len(problem.scalars) + len(problem.paths), sizes.size), dtype=bool)
    values = [*outcome.values[:, None], *outcome.paths]
    derivatives = [*outcome.derivatives[:, None, :], *outcome.path_derivatives]
    changes = np.array([np.abs(s * sizes).max(axis=0) for s in derivatives])
    size = np.maximum([np.abs(v).max() for v in values], changes.max(axis=1))
    return changes > NOTHING * size[:, None]


def _expressions(
    e: Equations, scalars: Mapping[str, Objective], paths: Mapping[str, Path]
) -> Iterator[tuple[str, SX]]:
    for column in objective_expressions(e, scalars):
        yield from zip(scalars, ca.vertsplit(column) if scalars else [], strict=True)
    for name, path in paths.items():
        yield (
            name,
            as_column(call_user(path.function, e.state, f"path {name!r}"), 1, f"path {name!r}"),
        )
