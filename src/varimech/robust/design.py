"""Robust design problems: statistics as objective and as constraints, nominal values and tolerance
widths as variables; their optimisation and its verification.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

import numpy as np

from ..analyses.simulation import Simulation
from ..core.errors import ModelError, VarimechError, check_numbers, check_whole
from ..core.expressions import fixed_number
from ..core.messages import Message
from ..model.parameter import checked_bounds
from ..model.parameter_set import listed
from ..optimization.checks import check_derivatives, check_influence
from ..optimization.design import (
    DesignOptions,
    SearchOptions,
    check_gradients_of_paths,
    of_mechanism,
    solved,
    split_options,
)
from ..optimization.design_problem import DesignProblem, quantities_of
from ..optimization.optimum import Optimum
from ..optimization.quantities import Constraints, DesignQuantity, Target, named_constraints
from ..optimization.space import Bounds, Over, Space, space_of
from ..results.result import Description
from ..sensitivity.comparison import Constraint
from ..uncertainty.parameter_distributions import Correlation, Given
from .before_after import TwoDesigns
from .chaos import ChaosMethod
from .evaluator import StatisticsEvaluator
from .inner_bounds import with_inner_bounds
from .random_design import WIDTH, RandomDesign, random_design
from .sampled_statistics import check_resolved
from .samples import SamplesMethod
from .settings import StatisticsSettings
from .statistic import Probability
from .verification import Verification, verified


class StatisticsOptions(TypedDict, total=False):
    """Options that control how statistics are computed, shared by all analyses with statistics."""

    distributions: Given | None
    correlation: Correlation | None
    statistics: str
    order: int | None
    samples: int | None
    degree: int | None


class RobustDesignOptions(DesignOptions, StatisticsOptions, total=False):
    """Options of `Problem.design_problem` with statistics."""


class RobustOptions(SearchOptions, StatisticsOptions, total=False):
    """Options of `Problem.optimize` with statistics."""

    verify: bool | int


@dataclass(frozen=True, eq=False, repr=False)
class RobustOptimum(Optimum):
    """A locally optimal design by statistics, verified by an independent Monte Carlo study."""

    verification: Verification | None = None
    """None if it was not requested, or the search was interrupted."""

    @property
    def evaluator(self) -> StatisticsEvaluator:
        """Evaluator that computed the statistics; `.counts` holds the numbers of runs."""
        assert isinstance(self.problem.evaluator, StatisticsEvaluator)
        return self.problem.evaluator

    @property
    def parameters(self) -> dict[str, float]:
        """Parameter → optimal nominal value, including parameters that were held fixed."""
        return {n: v for n, v in super().parameters.items() if not n.startswith(WIDTH)}

    @property
    def widths(self) -> dict[str, float]:
        """Parameter → optimal tolerance width, where widths are variables."""
        every = super().parameters.items()
        return {n.removeprefix(WIDTH): v for n, v in every if n.startswith(WIDTH)}

    @property
    def designs(self) -> TwoDesigns | None:
        """Designs before and after; `.distributions()` samples both. None without statistics."""
        if not self.evaluator.statistics:
            return None
        return TwoDesigns(self.evaluator.task, self.problem.space.start, self.best.x)

    @property
    def info(self) -> dict[str, Any]:
        """Fields of an `Optimum`, the methods that computed the statistics, and the numbers of
        runs.
        """
        c = self.evaluator.counts
        runs = {"runs": c.total, "gradient_runs": c.gradients, "second_order_runs": c.products}
        return {**super().info, "statistics": self.evaluator.titles, **runs}

    def _described(self) -> Description:
        described = super()._described()
        methods = ", ".join(sorted(set(self.evaluator.titles.values())))
        summary = [*described.summary, f"statistics by {methods}: {self.evaluator.counts}"]
        if self.verification is None:
            return replace(described, summary=[*summary, "not verified by samples"])
        own = self.verification._described()
        return replace(
            described,
            summary=[*summary, own.title],
            tables=[*described.tables, *own.tables],
            notes=[*described.notes, *own.notes],
        )


def is_robust(goal: Target, constraints: Constraints, options: Iterable[str]) -> bool:
    """Whether a design problem contains statistics (or other quantities of designs).

    Raises:
        ModelError: for options of statistics in a problem without statistics.
    """
    bounded = [c.of for c in named_constraints(constraints).values()]
    if any(isinstance(q, DesignQuantity) for q in (goal, *bounded)):
        return True
    own = [n for n in (*StatisticsOptions.__annotations__, "verify") if n in options]
    if own:
        problem = "is for statistics, and neither the objective nor a constraint is one"
        remedy = "leave it out, or minimise vm.worst(f), bound vm.std(f), …"
        raise ModelError(problem, element="optimize", field=own[0], remedy=remedy)
    return False


def robust_problem(
    s: Simulation,
    name: str,
    goal: Target,
    over: Over,
    options: DesignOptions,
    statistics: StatisticsOptions,
    *,
    analysis: str = "design_problem",
) -> DesignProblem:
    """Check the input and state the problem; evaluate all quantities once, at the initial design."""
    named = named_constraints(options.get("constraints", ()))
    space = _space(analysis, s, over, options, statistics)
    nominals = [n for n in space.names if not n.startswith(WIDTH)]
    widths = [n.removeprefix(WIDTH) for n in space.names if n.startswith(WIDTH)]
    design = random_design(
        s,
        statistics.get("distributions"),
        statistics.get("correlation"),
        nominals=nominals,
        widths=widths,
    )
    space = with_inner_bounds(
        space, design, s.solvers.data.parameter_set.parameters, _widest(space, design)
    )
    scalars, paths = quantities_of(name, goal, named)
    plain, plain_paths = of_mechanism(scalars, paths)
    method = options.get("method", "auto")
    check_gradients_of_paths(analysis, plain_paths, method)
    settings = settings_of(analysis, statistics)
    by = statistics.get("statistics", "auto")
    evaluator = StatisticsEvaluator(s, design, scalars, paths, by, settings, method)
    with_jumps = set[str]()
    if plain or plain_paths:
        own = evaluator.nominal
        with_jumps = check_derivatives(own.equations, own.of_runs, plain_paths)
    check_targets_resolved(evaluator, named)
    problem = DesignProblem(evaluator, space, name, goal, named)
    check_influence(analysis, problem, with_jumps)
    return problem


def _widest(space: Space, design: RandomDesign) -> dict[str, float]:
    """Largest standard deviation of each random parameter whose width is a bounded variable."""
    sigmas = dict(zip(design.distributions.names, design.sigmas, strict=True))
    tops = dict(zip(space.names, space.upper.tolist(), strict=True))
    named = {n: tops[WIDTH + n] / sigmas[n] for n in design.widths}
    return {n: σ for n, σ in named.items() if np.isfinite(σ)}


def check_targets_resolved(
    evaluator: StatisticsEvaluator, constraints: Mapping[str, Constraint]
) -> None:
    """Refuse bounds of probabilities that the samples of a method cannot resolve."""
    for method in evaluator.methods if evaluator.statistics else []:
        if not isinstance(method, (SamplesMethod, ChaosMethod)):
            continue
        for name, c in constraints.items():
            if name in method.task.statistics and isinstance(c.of, Probability):
                for bound in (c.lower, c.upper):
                    if 0 < bound < 1:
                        check_resolved(name, bound, method.resolution)


def optimize_robustly(
    s: Simulation, name: str, goal: Target, over: Over, **options: Unpack[RobustOptions]
) -> RobustOptimum:
    """State the problem, solve it, and verify the optimum."""
    statistics, rest = split_statistics(options)
    verify = rest.pop("verify", True)
    if not isinstance(verify, bool):
        check_whole("optimize", 100, verify=verify)
    design, searching = split_options(rest)

    def stated() -> DesignProblem:
        return robust_problem(s, name, goal, over, design, statistics, analysis="optimize")

    best = solved(s, stated, RobustOptimum, **searching)
    if verify is False:
        return best
    count = None if verify is True else int(verify)
    return replace(best, verification=_verified(s, best, count, searching.get("seed", 0)))


def split_statistics(options: Mapping[str, Any]) -> tuple[StatisticsOptions, Any]:
    """Split options into those of statistics and all others."""
    own: Any = {n: v for n, v in options.items() if n in StatisticsOptions.__annotations__}
    return own, {n: v for n, v in options.items() if n not in own}


def settings_of(analysis: str, options: StatisticsOptions, seed: int = 0) -> StatisticsSettings:
    """Return the checked settings of the methods."""
    keys = ("order", "samples", "degree")
    values: Any = {key: options.get(key) for key in keys}
    settings = StatisticsSettings(**values, seed=seed)
    settings.check(analysis, options.get("statistics", "auto"))
    return settings


def _verified(
    s: Simulation, best: RobustOptimum, samples: int | None, seed: int
) -> Verification | None:
    """Verify the optimum by independent samples; None if the problem has no statistic."""
    evaluator, p = best.evaluator, best.problem
    if not evaluator.statistics:
        return None
    outcome = p.outcome(best.best.x)
    assert outcome is not None
    claimed = {n: outcome.values[k : k + 1] for k, n in enumerate(p.scalars)}
    claimed |= {n: outcome.paths[k] for k, n in enumerate(p.paths)}
    bounds: dict[str, Constraint] = {r.name: r.constraint for r in p.rows}
    try:
        return verified(
            s.name, evaluator.task, best.best.x, claimed, bounds, samples, seed + 1, s.progress
        )
    except VarimechError as error:
        raise VarimechError(
            f"{s.name!r}: the optimum could not be verified: {error}",
            remedy=Message("narrow the tolerances, or give {verify}", verify=False),
        ) from error


def _space(
    analysis: str,
    s: Simulation,
    over: Over,
    options: DesignOptions,
    statistics: StatisticsOptions,
) -> Space:
    """Return the space of the nominal values followed by the tolerance widths."""
    numbers = s.solvers.data.parameter_set
    chosen = None if over is None else listed(over, "over", Message("give {bounds} of their own"))
    widths = [n for n in chosen or () if isinstance(n, str) and n.startswith(WIDTH)]
    nominals: Any = None if chosen is None else [n for n in chosen if n not in widths]
    bounds, start = dict(options.get("bounds") or {}), dict(options.get("start") or {})
    given = {n: bounds.pop(n) for n in list(bounds) if n.startswith(WIDTH)}
    begin = {n: start.pop(n) for n in list(start) if n.startswith(WIDTH)}
    for name in (*given, *begin):
        if name not in widths:
            problem = Message("names {!r}, which {over} does not", name)
            raise ModelError(
                problem, element=analysis, field="bounds" if name in given else "start"
            )
    if nominals == [] and widths:
        none = np.zeros(0)
        held = {name: numbers.parameters[name].check(v) for name, v in (s.given or {}).items()}
        base = Space((), (), none, none, none, held)
    else:
        base = space_of(analysis, numbers, nominals, bounds, start, s.given)
    if not widths:
        return base
    own = random_design(
        s,
        statistics.get("distributions"),
        statistics.get("correlation"),
        widths=[n.removeprefix(WIDTH) for n in widths],
    )
    return _with_widths(analysis, base, own, widths, given, begin)


def _with_widths(
    analysis: str,
    base: Space,
    design: RandomDesign,
    names: Sequence[str],
    given: Bounds,
    begin: Mapping[str, float | str],
) -> Space:
    """Return the space extended by widths, each with its own bounds."""
    units = dict(zip(design.distributions.names, design.distributions.units, strict=True))
    lower, upper, start = [], [], []
    for name, reference in zip(names, design.start.tolist(), strict=True):
        unit, value = units[name.removeprefix(WIDTH)], begin.get(name, reference)
        low, high = checked_bounds(name, given.get(name), unit)
        if isinstance(value, str):
            value = fixed_number(value, unit, f"start of {name!r}")
        check_numbers(analysis, start=value)
        first = float(value)
        if low is None or not low > 0:
            problem = (
                f"of {name!r} need a positive lower one: a tolerance of zero has no distribution"
            )
            remedy = Message("give {bounds}", bounds={name: (reference / 10, reference * 10)})
            raise ModelError(problem, element=analysis, field="bounds", value=low, remedy=remedy)
        top = np.inf if high is None else float(high)
        if not low <= first <= top:
            problem = f"{name!r} starts at {first:g}, outside its bounds ({low:g}, {top:g})"
            raise ModelError(
                problem, element=analysis, remedy=Message("give {start}", start={name: ...})
            )
        lower.append(float(low))
        upper.append(top)
        start.append(first)
    return Space(
        (*base.names, *names),
        (*base.units, *(units[n.removeprefix(WIDTH)] for n in names)),
        np.concatenate([base.start, start]),
        np.concatenate([base.lower, lower]),
        np.concatenate([base.upper, upper]),
        base.held,
    )
