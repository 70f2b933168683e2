"""Allocation: find the cheapest tolerances, and nominal values where these may change, that satisfy
constraints on statistics.

    min Σ Cᵢ(tᵢ)   with   lower ≤ s(x, t) ≤ upper,   at_least ≤ t ≤ at_most
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..core.errors import InfeasibleError, VarimechError
from ..core.messages import Message
from ..optimization.attempt import Attempt
from ..optimization.curvature import STRONG
from ..optimization.design_problem import DesignProblem, quantities_of
from ..optimization.evaluation import Evaluator, Outcome
from ..optimization.scaled import Scaled
from ..optimization.search import search
from ..optimization.settings import Settings
from ..sensitivity.comparison import Constraint
from .log_widths import COST, Variables, index_of, search_problem, shift_of
from .sequential import sequence
from .statistic import Probability
from .tolerance_choice import ToleranceChoice, TotalCost

ELEMENT = "allocate"
SHARES = (0.1, 0.01, 1e-3)
"""Half widths of the ranges of nominal values, relative to the distance of their bounds, for a
search that is restarted because it failed where statistics are far from normal or constant.
"""
MOVES = 20
"""Maximum number of ranges of one size, each centred at the design where the last search ended; a
round value, with which the widest ranges cross the whole space twice.
"""


@dataclass(frozen=True, eq=False)
class AllocationTask:
    """An allocation problem: tolerances, their variables, and constraints in the user's units."""

    label: str
    """Name of the mechanism."""
    choices: tuple[ToleranceChoice, ...]
    nominals: tuple[str, ...]
    """Parameters whose nominal values may change; they are the first design variables."""
    variables: Variables
    evaluator: Evaluator
    """Evaluator of the cost and the constraints, in the user's variables."""
    constraints: Mapping[str, Constraint]
    settings: Settings
    progress: bool | None = None

    @property
    def cost(self) -> TotalCost:
        """Total cost of the tolerances, which is minimised."""
        return TotalCost(self.choices)

    @property
    def widths(self) -> slice:
        """Slice of the tolerances among the design variables."""
        return slice(len(self.nominals), None)

    def cost_at(self, x: np.ndarray) -> float:
        """Total cost of a design."""
        return float(
            sum(c.cost.value(t) for c, t in zip(self.choices, x[self.widths], strict=True))
        )

    @cached_property
    def _places(self) -> tuple[list[str], list[str]]:
        """Names of the scalars and of the paths of the evaluator, in the order of its results."""
        scalars, paths = quantities_of(COST, self.cost, self.constraints)
        return list(scalars), list(paths)

    def values(self, outcome: Outcome, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Values of the quantity of a constraint, (row,), and their derivatives, (row, variable),
        in the user's units.
        """
        scalars, paths = self._places
        if name in paths:
            k = paths.index(name)
            return outcome.paths[k], outcome.path_derivatives[k]
        k = scalars.index(name)
        return outcome.values[k : k + 1], outcome.derivatives[k : k + 1]

    def search_values(self, name: str, values: np.ndarray) -> np.ndarray:
        """Values of the quantity of a constraint in the scale of the search."""
        if not isinstance(self.constraints[name].of, Probability):
            return values
        return np.array([index_of(v)[0] for v in values])

    def search_derivatives(self, name: str, values: np.ndarray) -> np.ndarray:
        """Derivatives of the values in the scale of the search with respect to those in the user's
        units.
        """
        if not isinstance(self.constraints[name].of, Probability):
            return np.ones_like(values)
        return np.array([index_of(v)[1] for v in values])

    def uncorrected(self, corrected: AllocationTask, name: str, values: np.ndarray) -> np.ndarray:
        """Values of the quantity of a constraint without the shift of its target, that is, without
        the error of the method that samples showed.
        """
        shift = shift_of(self.constraints[name], corrected.constraints[name])
        if shift == 0:
            return values
        z = self.search_values(name, values) - shift
        if not isinstance(self.constraints[name].of, Probability):
            return z
        from scipy.special import ndtr

        return np.asarray(ndtr(z))

    def uncorrected_derivatives(
        self, corrected: AllocationTask, name: str, values: np.ndarray
    ) -> np.ndarray:
        """Derivatives of the uncorrected values with respect to the corrected ones, dP/dP' =
        φ(β)/φ(β') for a probability; the correction itself is held fixed.
        """
        if not isinstance(self.constraints[name].of, Probability):
            return np.ones_like(values)
        β = self.search_values(name, values)
        shift = shift_of(self.constraints[name], corrected.constraints[name])
        return np.asarray(np.exp((β**2 - (β - shift) ** 2) / 2))

    def is_active(self, optimum: Found, name: str) -> bool:
        """Whether a constraint is active (has a significant multiplier) at an optimum."""
        rows = next(r.rows for r in optimum.problem.rows if r.name == name)
        return bool(np.abs(optimum.attempt.optimality.scaled[rows]).max() > STRONG)

    def problem(self, x: np.ndarray, free: np.ndarray | None = None) -> DesignProblem:
        """Design problem of a search that starts from a design, over all variables or only the free
        ones.
        """
        chosen = np.ones(x.size, dtype=bool) if free is None else free
        return search_problem(
            self.evaluator, self.variables, chosen, x, self.cost, self.constraints
        )


@dataclass(frozen=True, eq=False)
class Found:
    """A design at which a search ended."""

    x: np.ndarray
    """Design variables in the user's units."""
    outcome: Outcome
    """Values of the quantities at the design, in the user's variables and units."""
    attempt: Attempt
    problem: DesignProblem


def cheapest(
    task: AllocationTask, x: np.ndarray, free: np.ndarray | None = None, *, warm: bool = False
) -> Found:
    """Find the cheapest design that satisfies the constraints, starting from one design.

    Raises:
        InfeasibleError: if no design satisfies them, with the design that violates them least.
        Stopped: on Ctrl-C after an iteration or more.
    """
    problem = task.problem(x, free)
    settings = replace(task.settings, warm=warm)
    if not task.nominals:
        best = sequence(problem, task.settings, task.label)
        if best is not None:
            return found(task, problem, best)
        _check_reachable(task, x)
    try:
        best, _ = search(problem, settings, [problem.space.start], task.label, task.progress)
    except InfeasibleError as error:
        if (met := _met(task, x)) is not None:
            if (near := _near(task, met, free, settings)) is not None:
                return near
            raise _lost(task, met) from None
        z = np.array([error.nearest[name] for name in problem.names])
        raise unreachable(task, problem.evaluator.x_of(z)) from None  # type: ignore[attr-defined]
    return found(task, problem, best)


def _near(
    task: AllocationTask, met: np.ndarray, free: np.ndarray | None, settings: Settings
) -> Found | None:
    """Find the cheapest design by a sequence of searches within narrow ranges of the nominal
    values, from a design that satisfies the constraints; None if these searches fail, too.
    """
    own, nominals = task.variables, slice(0, len(task.nominals))
    span = own.upper - own.lower
    span = np.where(np.isfinite(span), span, np.maximum(np.abs(met), 1.0))
    for share in SHARES:
        x = met
        for _ in range(MOVES):
            lower, upper = own.lower.copy(), own.upper.copy()
            reach = share * span[nominals]
            lower[nominals] = np.maximum(lower[nominals], x[nominals] - reach)
            upper[nominals] = np.minimum(upper[nominals], x[nominals] + reach)
            narrow = replace(task, variables=replace(own, lower=lower, upper=upper))
            problem = narrow.problem(x, free)
            try:
                best, _ = search(
                    problem, settings, [problem.space.start], task.label, task.progress
                )
            except InfeasibleError:
                break
            design = found(task, problem, best)
            x = design.x
            at_edge = (x <= lower + 1e-9 * span) & (lower > own.lower)
            at_edge |= (x >= upper - 1e-9 * span) & (upper < own.upper)
            if not at_edge[nominals].any():
                return design
    return None


def found(task: AllocationTask, problem: DesignProblem, best: Attempt) -> Found:
    """Convert the result of a search to the user's variables."""
    x = problem.evaluator.x_of(best.x)  # type: ignore[attr-defined]
    return Found(x, task.evaluator.run(x), best, problem)


def _check_reachable(task: AllocationTask, x: np.ndarray) -> None:
    """Refuse targets that the finest tolerances miss and that any wider tolerance misses by more.

    Where finer tolerances improve one constraint and worsen another, the search has to decide.

    Raises:
        InfeasibleError: with the values that the finest tolerances reach.
    """
    finest = _finest(task, x)
    problem = task.problem(finest)
    z = problem.space.start
    lower, upper = problem.constraint_bounds
    c, J = problem.constraints(z), problem.constraints_jac(z)
    missed = Scaled(problem, z).shortfall(z) > 0
    sign = np.where(c > upper, 1.0, np.where(c < lower, -1.0, 0.0))
    if missed and (sign[:, None] * J >= 0).all():
        raise unreachable(task, finest)


def _finest(task: AllocationTask, x: np.ndarray) -> np.ndarray:
    """Return the design with the finest tolerances."""
    finest = x.copy()
    finest[task.widths] = task.variables.lower[task.widths]
    return finest


def _met(task: AllocationTask, x: np.ndarray) -> np.ndarray | None:
    """Return the given design or that with the finest tolerances, whichever satisfies the
    constraints; None if neither does.
    """
    for design in (x, _finest(task, x)):
        problem = task.problem(design)
        if not Scaled(problem, problem.space.start).shortfall(problem.space.start) > 0:
            return design
    return None


def _lost(task: AllocationTask, met: np.ndarray) -> VarimechError:
    """Error of a search that ended outside the constraints although designs inside exist."""
    named = zip(task.variables.names, met.tolist(), strict=True)
    return VarimechError(
        f"{ELEMENT}: the search ended where the constraints do not hold, though they do at"
        f" {', '.join(f'{name} = {value:.4g}' for name, value in named)}",
        remedy=Message(
            "keep tolerances where the statistics are reliable (at_most of the tolerance), or"
            " compute them by {statistics}",
            statistics="samples",
        ),
    )


def unreachable(task: AllocationTask, nearest: np.ndarray) -> InfeasibleError:
    """Error that states how close tolerances come to a target."""
    problem = task.problem(nearest)
    outcome, amounts, parts = task.evaluator.run(nearest), {}, []
    for r in problem.rows:
        values = problem.constraints(problem.space.start)[r.rows]
        c = r.constraint
        beyond = np.maximum(np.maximum(c.lower - values, values - c.upper), 0.0)
        k = int(beyond.argmax())
        if beyond[k] > 0:
            own = task.constraints[r.name]
            value = float(task.values(outcome, r.name)[0][k])
            amounts[r.name] = float(max(own.lower - value, value - own.upper))
            unit = f" {own.of.unit}" if own.of.unit else ""
            parts.append(f"{r.name!r} ({own.rule}) comes to {value:.4g}{unit}")
    named = dict(zip(task.variables.names, nearest.tolist(), strict=True))
    finest = nearest[task.widths] <= task.variables.lower[task.widths] * (1 + 1e-6)
    which = "the finest tolerances" if finest.all() else "the tolerances that come nearest"
    at = ", ".join(f"{name} = {value:.4g}" for name, value in named.items())
    return InfeasibleError(
        f"{ELEMENT}: no tolerances within their bounds reach the target: with {which} ({at})"
        f" {'; '.join(parts)}",
        amounts,
        named,
        remedy=Message(
            "relax the target, allow finer tolerances (at_least), or let nominal values change"
            " ({over})"
        ),
    )
