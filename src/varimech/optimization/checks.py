"""What is said before an optimisation begins: objectives without a gradient, parameters that change
nothing, constraints nobody can move.
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
"""Change over the whole range of a parameter, relative to the value, that is rounding."""
ASIDE = 0.01
"""Share of its size by which a start is moved to tell a stationary one from one that changes
nothing.
"""


def check_slopes(
    equations: Equations, scalars: Mapping[str, Objective], paths: Mapping[str, Path]
) -> set[str]:
    """Refuse quantities that depend on the motion or on parameters by jumps only; names of those
    that have jumps beside slopes.
    """
    return {
        name
        for name, expression in _expressions(equations, scalars, paths)
        if check_slope(name, expression, equations)
    }


def check_influence(verb: str, problem: DesignProblem, stepped: set[str]) -> None:
    """Every parameter has to change something, and every quantity has to be changed by a parameter:
    at the start, or beside it.
    """
    space = problem.space
    moves = _moves(problem, space.start)
    if not moves.all():
        away = (
            np.where(space.start + ASIDE * space.sizes <= space.upper, ASIDE, -ASIDE) * space.sizes
        )
        moves |= _moves(problem, space.inside(space.start + away))
    quantities = [*problem.scalars, *problem.paths]
    jumps = (
        f"; {', '.join(map(repr, sorted(stepped)))} may do so by jumps, which have no derivative"
        if stepped
        else ""
    )
    for name, some in zip(space.names, list(np.any(moves, axis=0)), strict=True):
        if not some:
            raise ModelError(
                f"{verb}: nothing depends on parameter {name!r}: all derivatives of"
                f" {', '.join(map(repr, quantities))} with respect to it vanish{jumps}",
                remedy=Message("leave it out of {over}"),
            )
    for name, some in zip(quantities, list(np.any(moves, axis=1)), strict=True):
        if not some:
            kind = "objective" if name == problem.name else "constraint"
            raise ModelError(
                f"{verb}: {kind} {name!r} depends on none of"
                f" {', '.join(map(repr, space.names))}{jumps}"
            )


def _moves(problem: DesignProblem, x: np.ndarray) -> np.ndarray:
    """(quantity, parameter): whether it changes by more than rounding; where a run fails, nothing
    can be told.
    """
    found, sizes = problem.outcome(x), problem.space.sizes
    if found is None:
        return np.ones((len(problem.scalars) + len(problem.paths), sizes.size), dtype=bool)
    values = [*found.values[:, None], *found.paths]
    slopes = [*found.slopes[:, None, :], *found.path_slopes]
    changes = np.array([np.abs(s * sizes).max(axis=0) for s in slopes])
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
