"""Allocation in discrete steps: each tolerance is that of a grade of ISO 286-1.

The cheapest continuous tolerances are rounded down to grades. A local search then changes up to
three of them at once by one grade, or one of them by two grades, as long as this reduces the cost
and the constraints are satisfied. Derivatives of the constraints decide which neighbours are worth
an evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np

from ..core.errors import InfeasibleError
from ..optimization.attempt import FEASIBLE
from ..optimization.design_problem import DesignProblem
from ..optimization.scaled import Scaled
from .allocating import AllocationTask, Found, unreachable

DOUBT = 0.5
"""Error of a linear prediction, relative to the predicted change, up to which a neighbour that is
predicted to violate a constraint is evaluated all the same: constraints are convex in ln t, so that
a step of one grade changes them by up to half as much again.
"""
MOST = 200
"""Maximum number of evaluated designs; a round value, some ten for each tolerance of a large
model.
"""

FEW = 12
"""Maximum number of tolerances of which three are changed at once: the number of combinations stays
below some thousand.
"""

Steps = tuple[int, ...]
"""Index of the grade of each tolerance that has grades."""


@dataclass(frozen=True, eq=False)
class Graded:
    """A design with tolerances of grades."""

    x: np.ndarray
    grades: Mapping[str, str]
    """Parameter → grade."""
    evaluations: int


@dataclass(eq=False)
class GradeSearch:
    """A local search over grades; tolerances without grades are held fixed."""

    task: AllocationTask
    x: np.ndarray
    """The continuous optimum."""
    grades: Mapping[str, Mapping[str, float]]
    """Parameter → grade → tolerance, the finest grade first."""
    seen: dict[Steps, float] = field(default_factory=dict)
    """Largest violation of the scaled constraints, by design."""

    def __post_init__(self) -> None:
        task = self.task
        self.problem: DesignProblem = task.problem(self.x)
        self.sizes = Scaled(self.problem, self.problem.space.start).row_sizes
        self.places = [
            task.widths.start + k for k, c in enumerate(task.choices) if c.name in self.grades
        ]
        self.widths = [
            np.array(list(self.grades[c.name].values()))
            for c in task.choices
            if c.name in self.grades
        ]

    def best(self) -> Graded:
        """Return the cheapest design that the search reaches.

        Raises:
            InfeasibleError: if no design with grades satisfies the constraints.
        """
        current = self._first()
        while len(self.seen) < MOST:
            better = self._cheaper(current)
            if better is None:
                break
            current = better
        named = {
            name: list(widths)[k] for (name, widths), k in zip(self._named(), current, strict=True)
        }
        return Graded(self._at(current), named, len(self.seen))

    def _named(self) -> list[tuple[str, Mapping[str, float]]]:
        return [(c.name, self.grades[c.name]) for c in self.task.choices if c.name in self.grades]

    def _first(self) -> Steps:
        """Round the optimum down to grades; choose finer grades while a constraint is violated."""
        continuous = self.x[self.places]
        steps = tuple(
            max(int(np.searchsorted(w, t * (1 + 1e-9), side="right")) - 1, 0)
            for w, t in zip(self.widths, continuous, strict=True)
        )
        while self._violation(steps) > FEASIBLE:
            finer = [k for k, step in enumerate(steps) if step > 0]
            if not finer:
                raise self._none(steps)
            # the step with the largest improvement of the constraints per additional cost
            steps = max(
                (self._moved(steps, {k: -1}) for k in finer),
                key=lambda s: (
                    self._relief(steps, s) / max(self._cost(s) - self._cost(steps), 1e-300)
                ),
            )
        return steps

    def _cheaper(self, current: Steps) -> Steps | None:
        """Return the cheapest neighbour that costs less and satisfies the constraints; None if
        there is none.
        """
        candidates = sorted(
            (s for s in self._neighbours(current) if self._cost(s) < self._cost(current)),
            key=self._cost,
        )
        for steps in candidates:
            if len(self.seen) >= MOST:
                break
            if self._promising(current, steps) and self._violation(steps) <= FEASIBLE:
                return steps
        return None

    def _neighbours(self, current: Steps) -> Iterator[Steps]:
        """Yield neighbours: up to three tolerances (two if there are many) changed by one grade, or
        one by two grades; at least one tolerance is widened.
        """
        most = 3 if len(current) <= FEW else 2
        for size in range(1, most + 1):
            for places in combinations(range(len(current)), size):
                for by in product((1, -1, 2, -2), repeat=size):
                    if (
                        max(by) > 0
                        and sum(map(abs, by)) <= most + 1
                        and self._inside(current, places, by)
                    ):
                        yield self._moved(current, dict(zip(places, by, strict=True)))

    def _inside(self, steps: Steps, places: Sequence[int], by: Sequence[int]) -> bool:
        return all(0 <= steps[k] + d < len(self.widths[k]) for k, d in zip(places, by, strict=True))

    def _moved(self, steps: Steps, by: Mapping[int, int]) -> Steps:
        return tuple(step + by.get(k, 0) for k, step in enumerate(steps))

    def _at(self, steps: Steps) -> np.ndarray:
        x = self.x.copy()
        x[self.places] = [w[k] for w, k in zip(self.widths, steps, strict=True)]
        return x

    def _cost(self, steps: Steps) -> float:
        return self.task.cost_at(self._at(steps))

    def _z(self, steps: Steps) -> np.ndarray:
        return self.task.variables.z_of(self._at(steps))

    def _violation(self, steps: Steps) -> float:
        if steps not in self.seen:
            z = self._z(steps)
            self.seen[steps] = float((self.problem.violations(z) / self.sizes).max(initial=0.0))
        return self.seen[steps]

    def _change(self, current: Steps, steps: Steps) -> np.ndarray:
        """Predict the change of the constraints by their derivatives at the current design."""
        z = self._z(current)
        return self.problem.constraints_jac(z) @ (self._z(steps) - z)

    def _promising(self, current: Steps, steps: Steps) -> bool:
        """Whether a neighbour is likely to satisfy the constraints."""
        if steps in self.seen:
            return self.seen[steps] <= FEASIBLE
        c, change = self.problem.constraints(self._z(current)), self._change(current, steps)
        lower, upper = self.problem.constraint_bounds
        slack = DOUBT * np.abs(change) + FEASIBLE * self.sizes
        return bool(((c + change <= upper + slack) & (c + change >= lower - slack)).all())

    def _relief(self, current: Steps, steps: Steps) -> float:
        """Predict the decrease of the violation of constraints."""
        c = self.problem.constraints(self._z(current))
        lower, upper = self.problem.constraint_bounds
        sign = np.where(c > upper, 1.0, np.where(c < lower, -1.0, 0.0))
        return float(-(sign * self._change(current, steps) / self.sizes).sum())

    def _none(self, steps: Steps) -> InfeasibleError:
        error = unreachable(self.task, self._at(steps))
        error.remedy = (
            "allow finer grades (at_least, or costs of finer grades), relax the target, or leave"
            " grades out"
        )
        return error


def in_grades(task: AllocationTask, continuous: Found, names: tuple[str, ...]) -> Graded:
    """Find the cheapest design in grades near a continuous one.

    Args:
        task: the allocation task.
        continuous: the cheapest continuous design.
        names: parameters whose tolerances are chosen in grades.

    Raises:
        ModelError: if a tolerance has no grades within its bounds.
        InfeasibleError: if no grades satisfy the constraints.
    """
    grades = {c.name: c.grades for c in task.choices if c.name in names}
    return GradeSearch(task, continuous.x, grades).best()
