"""Allocation in steps: each tolerance is that of a grade of ISO 286-1.

The cheapest continuous tolerances are rounded down to grades. A local search then moves up to three
of them at once by a grade, and one by two, as long as that is cheaper and the constraints hold.
Which neighbours are worth an evaluation is judged by the derivatives of the constraints.
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
"""Error of a linear prediction, as a share of the predicted change, up to which a neighbour that
seems to miss a constraint is evaluated all the same: constraints are convex in ln t, so that a step
of a grade changes them by up to half as much again.
"""
MOST = 200
"""Most designs that are evaluated; a round value, some ten for each tolerance of a large model."""

FEW = 12
"""Most tolerances of which three are moved at once: their combinations stay below some thousand."""

Steps = tuple[int, ...]
"""The grade of each tolerance that has grades, by its number among them."""


@dataclass(frozen=True, eq=False)
class Graded:
    """A design whose tolerances are those of grades."""

    x: np.ndarray
    grades: Mapping[str, str]
    """Parameter → grade."""
    evaluations: int


@dataclass(eq=False)
class GradeSearch:
    """A local search over grades; tolerances without grades stay."""

    task: AllocationTask
    x: np.ndarray
    """The continuous optimum."""
    grades: Mapping[str, Mapping[str, float]]
    """Parameter → grade → tolerance, the finest first."""
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
        """The cheapest design that the search reaches.

        Raises:
            InfeasibleError: if none with grades meets the constraints.
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
        """The optimum rounded down; finer where that still misses a constraint."""
        continuous = self.x[self.places]
        steps = tuple(
            max(int(np.searchsorted(w, t * (1 + 1e-9), side="right")) - 1, 0)
            for w, t in zip(self.widths, continuous, strict=True)
        )
        while self._violation(steps) > FEASIBLE:
            finer = [k for k, step in enumerate(steps) if step > 0]
            if not finer:
                raise self._none(steps)
            # the one whose step helps most for what it costs more
            steps = max(
                (self._moved(steps, {k: -1}) for k in finer),
                key=lambda s: (
                    self._relief(steps, s) / max(self._cost(s) - self._cost(steps), 1e-300)
                ),
            )
        return steps

    def _cheaper(self, current: Steps) -> Steps | None:
        """The cheapest neighbour that is cheaper and meets the constraints; None where there is
        none.
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
        """Up to three tolerances (two of many) moved by a grade, or one by two; at least one of them
        is opened.
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
        """Change of the constraints, by their derivatives at the current design."""
        z = self._z(current)
        return self.problem.constraints_jac(z) @ (self._z(steps) - z)

    def _promising(self, current: Steps, steps: Steps) -> bool:
        """Whether a neighbour may meet the constraints."""
        if steps in self.seen:
            return self.seen[steps] <= FEASIBLE
        c, change = self.problem.constraints(self._z(current)), self._change(current, steps)
        lower, upper = self.problem.constraint_bounds
        slack = DOUBT * np.abs(change) + FEASIBLE * self.sizes
        return bool(((c + change <= upper + slack) & (c + change >= lower - slack)).all())

    def _relief(self, current: Steps, steps: Steps) -> float:
        """Decrease of the violated constraints, predicted."""
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
    """The cheapest design in grades near a continuous one.

    Args:
        task: what is allocated.
        continuous: the cheapest continuous design.
        names: parameters whose tolerances come in grades.

    Raises:
        ModelError: for what has no grades within its bounds.
        InfeasibleError: if no grades meet the constraints.
    """
    grades = {c.name: c.grades for c in task.choices if c.name in names}
    return GradeSearch(task, continuous.x, grades).best()
