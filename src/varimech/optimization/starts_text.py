"""Text on a local optimum: second-order check, stationary designs that were left, other local
optima, and how to search for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.messages import Message, Text
from ..results.result import Table

if TYPE_CHECKING:
    from .optimum import Optimum

MOST_LISTED = 10
"""Maximum number of local optima that are printed; all of them are in `Optimum.local_optima`."""


def local_optima_table(optimum: Optimum) -> list[Table]:
    """Table of the distinct local optima, if there are several."""
    if len(optimum.optima) < 2:
        return []
    frame = optimum.local_optima.head(MOST_LISTED)
    body = [
        [str(rank), *row]
        for rank, row in zip(frame.index, frame.itertuples(index=False), strict=True)
    ]
    return [(["local optimum", *map(str, frame.columns)], body)]


def notes(optimum: Optimum) -> list[Text]:
    """Sentences on the second-order check, stationary designs that were left, and all searches."""
    p = optimum.problem
    lines: list[Text] = [] if optimum.second_order is None else [optimum.second_order.message]
    for s in optimum.left:
        kind = {
            "saddle": "saddle point",
            "stationary": "stationary design that is not a minimum",
        }.get(s.kind, s.kind)
        at = ", ".join(f"{name} = {value:.6g}" for name, value in zip(p.names, s.x, strict=True))
        lines.append(
            f"the search had converged to a {kind} ({p.name} = {s.objective:.6g} at {at}) and"
            " left it"
        )
    count = len(optimum.starts) + len(optimum.failed_starts)
    if count > 1:
        lines.append(_searches(optimum, count))
    elif optimum.converged:
        lines.append(_further(optimum))
    return lines


def _searches(optimum: Optimum, searches: int) -> str:
    distinct, unconverged = (
        len(optimum.optima),
        len(optimum.starts) - sum(o.reached for o in optimum.optima),
    )
    infeasible = sum(not a.feasible for a in optimum.starts)
    lines = [
        f"{searches} starts led to {distinct} local {'optimum' if distinct == 1 else 'optima'}"
    ]
    if unconverged - infeasible:
        lines.append(f"{unconverged - infeasible} did not converge")
    if infeasible:
        lines.append(f"{infeasible} ended at designs that do not meet all constraints")
    if optimum.failed_starts:
        first = optimum.failed_starts[0]
        at = ", ".join(
            f"{name} = {value:.6g}"
            for name, value in zip(optimum.problem.names, first.x, strict=True)
        )
        lines.append(f"{len(optimum.failed_starts)} failed (at {at}: {first.error})")
    return "; ".join(lines)


def _further(optimum: Optimum) -> Message:
    s = optimum.problem.space
    unbounded = [
        name for name, r in zip(s.names, s.upper - s.lower, strict=True) if not np.isfinite(r)
    ]
    needs = Message("with {bounds} for {}, ", ", ".join(map(repr, unbounded)))
    return Message(
        "other local optima may be better: {}{starts} searches from eight designs within the"
        " bounds",
        needs if unbounded else "",
        starts=8,
    )
