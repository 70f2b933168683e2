"""Selection of the methods that compute statistics.

A method selected by name computes the statistics that it can; FORM leaves means and standard
deviations to moments. Otherwise the first method with small estimated errors at the reference
design is taken: for means and standard deviations moments of order 1, moments of order 2,
polynomial chaos; for quantiles and probabilities FORM, polynomial chaos; samples if none of these
is accurate and the probabilities can be resolved by samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import VarimechError, unknown_name
from .chaos import ChaosMethod
from .first_moments import FirstMoments, KnownMoments, sigmas_of
from .form import FormMethod
from .method import METHODS, StatisticsMethod, StatisticsTask, Values
from .sampled_statistics import FEWEST_BEYOND
from .samples import AMPLE, SamplesMethod
from .second_moments import SecondMoments
from .settings import MOST_SAMPLES, SAMPLES, StatisticsSettings
from .statistic import Probability, Quantile, Statistic

GOOD = 0.02
"""Largest acceptable error of a mean or a standard deviation, in standard deviations: about the
error of a standard deviation by the default number of samples.
"""
GOOD_QUANTILE, GOOD_SHARE = 0.05, 0.1
"""Largest acceptable error of a quantile by FORM, in standard deviations; and the largest
acceptable second-order correction of a probability, relative to it or to its complement.
"""


@dataclass(frozen=True)
class Chosen:
    """A method for some statistics, and the reason for its selection."""

    method: StatisticsMethod
    reason: str = ""


def methods_of(task: StatisticsTask, method: str, settings: StatisticsSettings) -> list[Chosen]:
    """Return the methods that compute the statistics of a task, for a method name.

    Raises:
        ModelError: for an unknown method, or a statistic that the method cannot compute.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if method == "samples":
        return [Chosen(SamplesMethod(task, settings))]
    if method == "chaos":
        return [Chosen(ChaosMethod(task, settings))]
    if method == "moments":
        return [Chosen(_moments(task, settings))]
    soft, rare = _parts(task)
    if method == "form":
        reason = "FORM has probabilities and quantiles only" if rare and soft else ""
        if soft and not rare:
            FormMethod(soft, settings)  # whose error states what FORM computes
        chosen = [Chosen(FormMethod(rare, settings))] if rare else []
        return chosen + ([Chosen(_moments(soft, settings), reason)] if soft else [])
    by_rare = _for_rare(rare, settings) if rare else None
    # samples and polynomials that are computed anyway yield all statistics
    if by_rare is not None and isinstance(by_rare.method, (SamplesMethod, ChaosMethod)):
        same = type(by_rare.method)
        return [Chosen(same(task, by_rare.method.settings), by_rare.reason)]
    chosen = [by_rare] if by_rare is not None else []
    return [_for_moments(soft, settings), *chosen] if soft else chosen


def _moments(task: StatisticsTask, settings: StatisticsSettings) -> StatisticsMethod:
    """Moments of order 1, or of order 2 on request."""
    return SecondMoments(task) if settings.order == 2 else FirstMoments(task)


def _parts(task: StatisticsTask) -> tuple[StatisticsTask | None, StatisticsTask | None]:
    """Split a task into means and standard deviations (and bands of quantiles), and probabilities
    and quantiles.
    """
    rare = {n: s for n, s in task.statistics.items() if _is_rare(s)}
    soft = {n: s for n, s in task.statistics.items() if n not in rare}
    return (
        replace(task, statistics=soft) if soft else None,
        replace(task, statistics=rare) if rare else None,
    )


def _is_rare(s: Statistic) -> bool:
    return isinstance(s, (Probability, Quantile)) and not s.over_time


def _for_moments(task: StatisticsTask, settings: StatisticsSettings) -> Chosen:
    """Return the first method with acceptable errors."""
    x, why = task.design.start, list[str]()
    σ: KnownMoments = FirstMoments(task).moments(x)
    orders: dict[int, Callable[[], StatisticsMethod]] = {
        1: lambda: FirstMoments(task),
        2: lambda: SecondMoments(task),
    }
    makers = [make for k, make in orders.items() if settings.order in (None, k)]
    for make in [*makers, lambda: _chaos(task, settings)]:
        try:
            method = make()
            results = method.evaluate(x, errors=True)
            if isinstance(method, (FirstMoments, SecondMoments)):
                σ = method.moments(x)
            worst = _largest_error(task, results, σ)
        except VarimechError as refused:  # distributions, paths, too many parameters, failing runs
            why.append(refused.without_remedy())
            continue
        if worst <= GOOD:
            return Chosen(method, f"estimated errors are up to {worst:.1g} standard deviations")
        why.append(f"{method.title}: off by up to {worst:.2g} standard deviations")
    return Chosen(SamplesMethod(task, settings), "; ".join(why))


def _for_rare(task: StatisticsTask, settings: StatisticsSettings) -> Chosen:
    """Return FORM or, where the limits are too curved for it, polynomial chaos or samples."""
    x, why = task.design.start, list[str]()
    σ = FirstMoments(task).moments(x)
    form, needed = FormMethod(task, settings), math.inf
    makers: list[Callable[[], StatisticsMethod]] = [lambda: form, lambda: _chaos(task, settings)]
    for make in makers:
        try:
            method = make()
            results = method.evaluate(x, errors=True)
        except VarimechError as refused:
            why.append(refused.without_remedy())
            continue
        # np.max keeps NaN, which fails the comparison below
        off = float(np.max([_rare_error(task, name, v, σ) for name, v in results.items()]))
        if off <= 1:
            return Chosen(method, "; ".join(why))
        why.append(f"{method.title}: estimated errors are too large")
        needed = min(needed, max(_samples(s, results[n]) for n, s in task.statistics.items()))
    count = max(SAMPLES, needed) if settings.samples is None else settings.samples
    if count > MOST_SAMPLES:
        why.append(f"{count:.2g} samples would be needed")
        return Chosen(form, "; ".join(why))
    samples = replace(settings, samples=int(count))
    return Chosen(SamplesMethod(task, samples), "; ".join(why))


def _chaos(task: StatisticsTask, settings: StatisticsSettings) -> ChaosMethod:
    return ChaosMethod(task, replace(settings, samples=None))


def _rarer(statistic: Statistic, value: float) -> float:
    """The smaller one of the probability of a statistic and its complement."""
    p = statistic.p if isinstance(statistic, Quantile) else value
    return min(p, 1 - p)


def _rare_error(task: StatisticsTask, name: str, v: Values, σ: KnownMoments) -> float:
    """Error of a quantile or a probability, divided by the acceptable error."""
    s = task.statistics[name]
    value, error = float(v.values[0]), float(v.errors[0])
    allowed = GOOD_SHARE * _rarer(s, value)
    if isinstance(s, Quantile):
        allowed = GOOD_QUANTILE * σ.std(int(task.columns(s)[0][0]))
    if error == 0:
        return 0.0
    return error / allowed if allowed > 0 else math.inf


def _samples(statistic: Statistic, v: Values) -> float:
    """Number of samples that amply resolve a probability."""
    p = _rarer(statistic, float(v.values[0]))
    return AMPLE * FEWEST_BEYOND / p if p > 0 else math.inf


def _largest_error(task: StatisticsTask, results: Mapping[str, Values], σ: KnownMoments) -> float:
    """Largest error, in standard deviations of the objectives."""
    worst = 0.0
    for name, s in task.statistics.items():
        scale = 1 + abs(sigmas_of(s))
        deviations = np.array([σ.std(int(c)) for c in task.columns(s)[0]])
        # over time, deviations grow from zero at a fixed initial state
        deviations = np.full_like(deviations, deviations.max())
        errors = results[name].errors
        off = np.divide(errors, deviations, out=np.full_like(errors, np.inf), where=deviations > 0)
        worst = max(worst, float(np.where(errors > 0, off, 0.0).max()) / scale)
    return worst
