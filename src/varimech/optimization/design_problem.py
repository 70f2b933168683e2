"""A design problem as functions of a vector:  min ψ(x)  with  lower ≤ c(x) ≤ upper  and
bounds on x, in the user's units.

A path is one constraint for each stored time. One run yields all quantities at one x; the most
recent runs are cached.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeGuard

import numpy as np

from ..core.errors import ModelError, VarimechError
from ..sensitivity.comparison import Constraint
from .evaluation import Evaluator, Outcome, Second
from .quantities import DesignQuantity, Path, Peak, Target
from .space import Space


@dataclass(eq=False)
class RunLog:
    """Number of runs and their failures, counted across threads."""

    evaluations: int = 0
    failures: list[tuple[np.ndarray, VarimechError]] = field(default_factory=list)
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def count(self) -> None:
        """Count one run."""
        with self._counting:
            self.evaluations += 1


KEPT = 8
"""Number of cached evaluations: solvers return to previous points."""


@dataclass(frozen=True)
class Rows:
    """A constraint, and its rows among the rows of all constraints."""

    name: str
    constraint: Constraint
    rows: slice


def quantities_of(
    name: str, goal: Target, constraints: Mapping[str, Constraint]
) -> tuple[dict[str, Target], dict[str, Path | DesignQuantity]]:
    """Scalars and paths by name that one run has to provide."""
    if name in constraints:
        problem = f": objective and a constraint are both called {name!r}; rename one of them"
        raise ModelError(problem, field="constraints")
    scalars: dict[str, Target] = {}
    paths: dict[str, Path | DesignQuantity] = {}
    if isinstance(goal, DesignQuantity) and goal.over_time:
        problem = "it has a value at every stored time"
        remedy = "minimise a statistic of vm.peak, vm.integral or vm.final of it, or bound it"
        raise ModelError(problem, element=f"objective {name!r}", remedy=remedy)
    if isinstance(goal, Peak):
        paths[name] = Path(goal.function, goal.unit)
    else:
        scalars[name] = goal
    for key, constraint in constraints.items():
        if isinstance(constraint.of, Path) or _over_time(constraint.of):
            paths[key] = constraint.of
        elif isinstance(constraint.of, Target):
            scalars[key] = constraint.of
        else:
            problem = f"it bounds {constraint.of!r}, which is neither an objective nor a path"
            raise ModelError(problem, element=f"constraint {key!r}")
    return scalars, paths


def _over_time(of: object) -> TypeGuard[DesignQuantity]:
    """Whether a quantity is a statistic or similar quantity with a value at every stored time."""
    return isinstance(of, DesignQuantity) and of.over_time


class DesignProblem:
    """Functions of x for any optimiser; `fun` and `jac` at the same x cost one run.

    If a run fails (for example because the mechanism cannot be assembled), values are infinite and
    derivatives NaN; `failures` contains the reasons.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        space: Space,
        name: str,
        goal: Target,
        constraints: Mapping[str, Constraint],
        log: RunLog | None = None,
    ):
        self.evaluator = evaluator
        self.space = space
        self.name = name
        self.goal = goal
        self.named_constraints = constraints
        self.scalars, self.paths = quantities_of(name, goal, constraints)
        self._log = log or RunLog()
        self._kept: dict[bytes, Outcome | None] = {}
        self._hessians: tuple[bytes, Second] | None = None
        first = self._evaluated(space.start)
        if first is None:
            raise self.failures[0][1]
        self.time = first.time
        """Stored times, at each of which a path is bounded (s)."""
        count, self.rows = 0, []
        for key, constraint in constraints.items():
            size = self.time.size if key in self.paths else 1
            self.rows.append(Rows(key, constraint, slice(count, count + size)))
            count += size
        self.row_count = count

    def with_evaluator(self, evaluator: Evaluator) -> DesignProblem:
        """Return the same problem with another evaluator; the counts of evaluations and failures
        continue.

        Args:
            evaluator: evaluator that runs the mechanism at a design.

        Returns:
            Another problem.
        """
        return DesignProblem(
            evaluator, self.space, self.name, self.goal, self.named_constraints, self._log
        )

    def _separate(self, evaluator: Evaluator) -> DesignProblem:
        """Return the same problem for a search in another thread, with its own cache and an
        evaluator that yields the same results; the counts of evaluations and failures continue.
        """
        other = copy(self)
        other.evaluator, other._kept, other._hessians = evaluator, dict(self._kept), None
        return other

    @property
    def evaluations(self) -> int:
        """Number of runs so far."""
        return self._log.evaluations

    @property
    def failures(self) -> list[tuple[np.ndarray, VarimechError]]:
        """Designs at which runs failed, with the errors."""
        return self._log.failures

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters in the order of x."""
        return self.space.names

    @property
    def x0(self) -> np.ndarray:
        """The initial design."""
        return self.space.start.copy()

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """(lower, upper) of each parameter, infinite if unbounded."""
        return list(zip(self.space.lower.tolist(), self.space.upper.tolist(), strict=True))

    @cached_property
    def constraint_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of the rows of `constraints`."""
        lower, upper = np.zeros(self.row_count), np.zeros(self.row_count)
        for r in self.rows:
            lower[r.rows], upper[r.rows] = r.constraint.lower, r.constraint.upper
        return lower, upper

    def fun(self, x: np.ndarray) -> float:
        """The objective.

        Args:
            x: design, in the order of `names`.

        Returns:
            Its value; infinite if the run fails.
        """
        outcome = self._evaluated(x)
        if outcome is None:
            return np.inf
        return float(
            self.peak_path(outcome)[0].max()
            if self.is_peak
            else outcome.values[self._scalar(self.name)]
        )

    def jac(self, x: np.ndarray) -> np.ndarray:
        """Gradient of the objective; for a peak, that at the instant of the largest value.

        Args:
            x: design, in the order of `names`.

        Returns:
            (parameter); NaN if the run fails.
        """
        outcome = self._evaluated(x)
        if outcome is None:
            return np.full(len(self.names), np.nan)
        if self.is_peak:
            values, derivatives = self.peak_path(outcome)
            return derivatives[values.argmax()].copy()
        return outcome.derivatives[self._scalar(self.name)].copy()

    def hess(self, x: np.ndarray) -> np.ndarray:
        """Second derivatives of the objective; for a peak, those at the instant of the largest
        value.

        Args:
            x: design, in the order of `names`.

        Returns:
            (parameter, parameter).
        """
        if self.is_peak:
            outcome = self._evaluated(x)
            at = 0 if outcome is None else int(self.peak_path(outcome)[0].argmax())
            return self.second(x).paths[self._path(self.name), at].copy()
        return self.second(x).scalars[self._scalar(self.name)].copy()

    def peak_hess(self, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Weighted second derivatives of the path whose largest value is minimised.

        Args:
            x: design, in the order of `names`.
            weights: one for each stored time.

        Returns:
            Σ weight · second derivatives, (parameter, parameter).
        """
        return np.tensordot(weights, self.second(x).paths[self._path(self.name)], 1)

    def constraints(self, x: np.ndarray) -> np.ndarray:
        """Values that `constraint_bounds` bounds.

        Args:
            x: design, in the order of `names`.

        Returns:
            (row); infinite if the run fails.
        """
        outcome, values = self._evaluated(x), np.full(self.row_count, np.inf)
        if outcome is not None:
            for r in self.rows:
                values[r.rows] = (
                    outcome.paths[self._path(r.name)]
                    if r.name in self.paths
                    else outcome.values[self._scalar(r.name)]
                )
        return values

    def constraints_jac(self, x: np.ndarray) -> np.ndarray:
        """Derivatives of the constraints.

        Args:
            x: design, in the order of `names`.

        Returns:
            (row, parameter); NaN if the run fails.
        """
        outcome, derivatives = (
            self._evaluated(x),
            np.full((self.row_count, len(self.names)), np.nan),
        )
        if outcome is not None:
            for r in self.rows:
                by_time = r.name in self.paths
                derivatives[r.rows] = (
                    outcome.path_derivatives[self._path(r.name)]
                    if by_time
                    else outcome.derivatives[self._scalar(r.name)]
                )
        return derivatives

    def constraints_hess(self, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Weighted second derivatives of the constraints.

        Args:
            x: design, in the order of `names`.
            weights: one for each row.

        Returns:
            Σ weight · second derivatives, (parameter, parameter).
        """
        total = np.zeros((len(self.names), len(self.names)))
        for r in self.rows:
            by_time = r.name in self.paths
            second = (
                self.second(x).paths[self._path(r.name)]
                if by_time
                else self.second(x).scalars[None, self._scalar(r.name)]
            )
            total += np.tensordot(weights[r.rows], second, 1)
        return total

    def outcome(self, x: np.ndarray) -> Outcome | None:
        """All quantities of one run.

        Args:
            x: design, in the order of `names`.

        Returns:
            Scalars and paths with their derivatives; None if the run fails.
        """
        return self._evaluated(x)

    def infeasibility(self, x: np.ndarray) -> float:
        """Largest violation of a constraint.

        Args:
            x: design, in the order of `names`.

        Returns:
            The violation, in the unit of the constraint; 0 if all constraints are satisfied.
        """
        return float(self.violations(x).max(initial=0.0))

    def violations(self, x: np.ndarray) -> np.ndarray:
        """Violation of each row of `constraints`.

        Args:
            x: design, in the order of `names`.

        Returns:
            Violations, (row); 0 for satisfied rows.
        """
        lower, upper = self.constraint_bounds
        values = self.constraints(x)
        return np.maximum(np.maximum(lower - values, values - upper), 0.0)

    @property
    def is_peak(self) -> bool:
        """Whether the objective is the largest value of a path."""
        return isinstance(self.goal, Peak)

    def peak_path(self, outcome: Outcome) -> tuple[np.ndarray, np.ndarray]:
        """The path whose largest value is minimised.

        Args:
            outcome: quantities of a run.

        Returns:
            Its values, (time), and derivatives, (time, parameter).
        """
        k = self._path(self.name)
        return outcome.paths[k], outcome.path_derivatives[k]

    def _scalar(self, name: str) -> int:
        return list(self.scalars).index(name)

    def _path(self, name: str) -> int:
        return list(self.paths).index(name)

    def _evaluated(self, x: np.ndarray) -> Outcome | None:
        x = np.asarray(x, dtype=float)
        key = x.tobytes()
        if key not in self._kept:
            if len(self._kept) >= KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._log.count()
            try:
                self._kept[key] = self.evaluator.run(x)
            except VarimechError as error:
                self.failures.append((x.copy(), error))
                self._kept[key] = None
        return self._kept[key]

    def second(self, x: np.ndarray) -> Second:
        """Second derivatives of all scalars and paths.

        Args:
            x: design, in the order of `names`.

        Returns:
            (scalar, parameter, parameter) and (path, time, parameter, parameter).
        """
        key = np.asarray(x, dtype=float).tobytes()
        if self._hessians is None or self._hessians[0] != key:
            self._hessians = key, self.evaluator.second(x)
        return self._hessians[1]

    def __repr__(self) -> str:
        kinds = (
            f"{len(self.rows)} constraints in {self.row_count} rows"
            if self.rows
            else "no constraints"
        )
        return (
            f"<DesignProblem: {self.name!r} over {', '.join(self.names)}; {kinds};"
            f" {self.evaluations} runs so far>"
        )
