"""Warning about objectives that depend on reactions that are not unique."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..backends.trajectory import Trajectory
from ..coordinates.equations import Equations
from ..coordinates.redundancy import RedundantReactionWarning, not_unique
from ..core.caller_warnings import warn_caller
from ..sensitivity.objective import Objective, functions_of


def warn_of_redundant_reactions(
    equations: Equations, objectives: Mapping[str, Objective], trajectory: Trajectory, ρ: np.ndarray
) -> None:
    """Name the objectives that depend on how redundant constraints share a load, and these
    constraints.

    Warns:
        RedundantReactionWarning: if there are any.
    """
    sampled = lambda: (*trajectory.sampled, ρ)  # noqa: E731
    names = [
        n for n, o in objectives.items() if equations.redundancy.concerns(functions_of(o), sampled)
    ]
    if names:
        shared = equations.redundancy.shared(*sampled())
        text = str(shared) if shared else _multipliers(equations)
        warn_caller(RedundantReactionWarning(not_unique(map(repr, names), text)))


def _multipliers(equations: Equations) -> str:
    """Describe constraints that are dependent in these coordinates, though no joints share a load."""
    return (
        f"mechanism {equations.model.name!r}: multipliers of constraints that depend on each other"
        " in these coordinates are not unique; reactions are"
    )
