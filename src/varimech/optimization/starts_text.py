"""Text about a local optimum: its check to second order, what was left on the way, other local
optima, and how to look for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.messages import Message, Text
from ..results.result import Table

if TYPE_CHECKING:
    from .optimum import Optimum

MOST_LISTED = 10
"""Local optima that are printed; all of them are in `Optimum.local_optima`."""


def local_optima_table(optimum: Optimum) -> list[Table]:
    """The distinct local optima, where there are several."""
    if len(optimum.optima) < 2:
        return []
    frame = optimum.local_optima.head(MOST_LISTED)
    body = [
        [str(rank), *row]
        for rank, row in zip(frame.index, frame.itertuples(index=False), strict=True)
    ]
    return [(["local optimum", *map(str, frame.columns)], body)]


def notes(optimum: Optimum) -> list[Text]:
    """Sentences about the check to second order, stationary designs that were left, and the
    searches from all starts.
    """
    p = optimum.problem
    lines: list[Text] = [] if optimum.second_order is None else [optimum.second_order.message]
    for s in optimum.left:
        kind = {"saddle": "saddle point", "stationary": "stationary design that is no minimum"}.get(
            s.kind, s.kind
        )
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


def _searches(optimum: Optimum, count: int) -> str:
    found, open_ = len(optimum.optima), len(optimum.starts) - sum(o.reached for o in optimum.optima)
    infeasible = sum(not a.feasible for a in optimum.starts)
    lines = [f"{count} starts led to {found} local {'optimum' if found == 1 else 'optima'}"]
    if open_ - infeasible:
        lines.append(f"{open_ - infeasible} did not converge")
    if infeasible:
        lines.append(f"{infeasible} ended at designs that do not meet all constraints")
    if optimum.failed_starts:
        first = optimum.failed_starts[0]
        at = ", ".join(
            f"{name} = {value:.6g}"
            for name, value in zip(optimum.problem.names, first.x, strict=True)
        )
        lines.append(f"{len(optimum.failed_starts)} could not be run (at {at}: {first.error})")
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
