"""Statistics of objectives with their derivatives, at the nominal design."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ..analyses.simulation import Simulation
from ..core.errors import ModelError
from ..core.names import check_name
from ..core.progress import progress_bar
from ..optimization.quantities import Target
from ..uncertainty.parameter_distributions import Correlation, Given
from .evaluator import StatisticsEvaluator
from .method import Values
from .random_design import RandomDesign, random_design
from .settings import StatisticsSettings
from .statistic import Statistic
from .statistics_result import Statistics

Wanted = Statistic | Sequence[Statistic] | Mapping[str, Statistic]


class StatisticsArguments(TypedDict, total=False):
    """Arguments of `Problem.statistics` besides the statistics and distributions."""

    correlation: Correlation | None
    method: str
    order: int | None
    samples: int | None
    degree: int | None
    seed: int


def statistics_of(
    s: Simulation,
    named: Mapping[str, Statistic],
    wrt: Sequence[str] | None,
    given: Given | None,
    *,
    correlation: Correlation | None = None,
    method: str = "auto",
    order: int | None = None,
    samples: int | None = None,
    degree: int | None = None,
    seed: int = 0,
) -> Statistics:
    """Compute statistics; `Problem.statistics` documents the arguments."""
    began = time.perf_counter()
    settings = StatisticsSettings(order, samples, degree, seed)
    settings.check("statistics", method)
    design = _design(s, wrt, given, correlation)
    scalars = {n: q for n, q in named.items() if not q.over_time}
    paths = {n: q for n, q in named.items() if q.over_time}
    evaluator = StatisticsEvaluator(s, design, scalars, paths, method, settings)
    results: dict[str, Values] = {}
    with progress_bar(f"{s.name}: statistics", 2, s.progress) as report:
        methods = evaluator.methods
        report(1, "method chosen")
        for each in methods:
            results |= each.evaluate(design.start, errors=True)
        report(2, str(evaluator.counts))
    return Statistics(
        s.name,
        dict(named),
        design,
        evaluator.task.runs.time,
        {name: results[name] for name in named},
        evaluator.titles,
        evaluator.reasons,
        evaluator.counts,
        time.perf_counter() - began,
    )


def named_statistics(
    statistics: Wanted | None, objectives: Mapping[str, Target]
) -> dict[str, Statistic]:
    """Return the checked statistics by name; the default are the statistics of the problem.

    Raises:
        ModelError: if there is no statistic, or if an item is not a statistic.
    """
    if statistics is None:
        named: dict[str, Any] = dict(objectives)
    elif isinstance(statistics, Mapping):
        named = dict(statistics)
    else:
        several = list(statistics) if isinstance(statistics, (list, tuple)) else [statistics]
        named = {f"s{k + 1}": each for k, each in enumerate(several)}
    if not named:
        remedy = "give some, such as {'deviation': vm.std(vm.final(f))}"
        raise ModelError("there is no statistic", element="statistics", remedy=remedy)
    for name, statistic in named.items():
        check_name("statistic", str(name), without="")
        if not isinstance(statistic, Statistic):
            problem = "is not a statistic"
            remedy = "make one with vm.mean, vm.std, vm.quantile, vm.worst or vm.probability"
            field = f"statistic {name!r}"
            raise ModelError(problem, field=field, value=statistic, remedy=remedy)
    return {str(name): statistic for name, statistic in named.items()}


def _design(
    s: Simulation, wrt: Sequence[str] | None, given: Given | None, correlation: Correlation | None
) -> RandomDesign:
    """Random design with the nominal values of all random parameters and of `wrt`, all widths and
    all correlations as variables.
    """
    every = list(s.solvers.data.parameter_set.parameters)
    first = random_design(s, given, correlation)
    random = first.distributions.names
    chosen = {*random, *(every if wrt is None else wrt)}
    return random_design(
        s,
        given,
        correlation,
        nominals=[n for n in every if n in chosen],
        widths=random,
        with_correlations=True,
    )
