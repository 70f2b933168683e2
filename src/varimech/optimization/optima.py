"""Distinct local optima of searches from several initial designs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..core.errors import InfeasibleError
from .attempt import Attempt, best_of
from .design_problem import DesignProblem
from .refinement import refined_search
from .search import Searches, Stopped, same_optimum
from .settings import Settings


@dataclass(frozen=True, eq=False)
class LocalOptimum:
    """A local optimum, and the number of searches that reached it."""

    problem: DesignProblem
    """Problem with the instants at which its paths are bounded."""
    attempt: Attempt
    reached: int


def distinct(problem: DesignProblem, searches: Searches) -> list[LocalOptimum]:
    """Group converged searches by their final designs; the best first."""
    groups: list[list[Attempt]] = []
    for candidate in sorted(
        (a for a in searches.attempts if a.converged), key=lambda a: a.objective
    ):
        group = next((g for g in groups if same_optimum(problem, g[0], candidate)), None)
        if group is None:
            groups.append([candidate])
        else:
            group.append(candidate)
    return [LocalOptimum(problem, group[0], len(group)) for group in groups]


def refined_optima(
    problem: DesignProblem,
    settings: Settings,
    best: Attempt,
    searches: Searches,
    label: str,
    progress: bool | None,
) -> tuple[DesignProblem, Attempt, list[LocalOptimum]]:
    """Return the best design with its problem, and all local optima, each checked between stored
    times.

    Raises:
        Stopped: on Ctrl-C, with the best completed optimum.
        InfeasibleError: if no optimum satisfies the bounds between stored times.
    """
    optima = distinct(problem, searches)
    others = [] if best.converged else [LocalOptimum(problem, best, 1)]
    done: list[LocalOptimum] = []
    infeasible: InfeasibleError | None = None
    for each in [*others, *optima]:
        try:
            finer, refined = refined_search(problem, settings, each.attempt, label, progress)
        except InfeasibleError as error:
            infeasible = error
            continue
        except Stopped as stopped:
            last = _best(done) if done else LocalOptimum(stopped.problem, stopped.best, 1)
            raise Stopped(last.problem, last.attempt, searches) from None
        done.append(replace(each, problem=finer, attempt=refined))
    if not done:
        assert infeasible is not None
        raise infeasible
    chosen = _best(done)
    kept = sorted((o for o in done if o.attempt.converged), key=lambda o: o.attempt.objective)
    return chosen.problem, chosen.attempt, kept


def _best(optima: list[LocalOptimum]) -> LocalOptimum:
    best = best_of([o.attempt for o in optima])
    return next(o for o in optima if o.attempt is best)
