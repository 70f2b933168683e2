"""Tolerances of a design: standard deviations by first-order moments at once, and distributions
from samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError
from ..files.objective_fields import limit_of
from ..files.studies import Studies
from ..model.parameter import Tolerance
from ..optimization.quantities import of_runs
from ..problem import Problem
from ..uncertainty.parameter_distributions import ParameterDistributions, distributions_of

if TYPE_CHECKING:
    from .engine import Engine

SAMPLES = 2000
"""Runs of a live histogram: the sampling error is some 10 % for its bars, 2 % of σ for its
quantiles.
"""
SEED = 0
"""Fixed, so that a histogram changes with the design only."""
ACCURACY = 1e-6
"""Relative error of the runs of samples, far below the sampling error."""
BINS = 32
QUANTILES = (0.00135, 0.05, 0.5, 0.95, 0.99865)
"""Probabilities: ±3 σ of a normal distribution, 90 % and the median."""
OF_STEPS = ("step", "every", "tolerance", "longest_step", "output", "integrator", "formulation")
"""Settings of a study that `ACCURACY` replaces for samples."""


def moment_rows(engine: Engine, values: Mapping[str, float]) -> list[dict[str, object]]:
    """Variance σ² = g C gᵀ of each objective, with its gradient g and the covariance C of the
    parameters, and the contribution of each parameter.
    """
    varying = _varying(engine, values)
    if varying is None or not engine.objectives:
        return []
    gradient = engine.gradient(values)
    names = list(gradient.parameter_names)
    columns = [names.index(name) if name in names else None for name in varying.names]
    rows = []
    for name, unit, value, derivatives in zip(
        gradient.objective_names,
        gradient.units,
        gradient.final_values,
        np.asarray(gradient.final_gradient),
        strict=True,
    ):
        g = np.array([0.0 if k is None else derivatives[k] for k in columns])
        contributions = g * (varying.covariance @ g)
        variance = float(contributions.sum())
        shares = contributions / variance if variance > 0 else np.zeros(len(contributions))
        rows.append(
            {
                "name": name,
                "unit": unit,
                "value": float(value),
                "deviation": float(np.sqrt(max(0.0, variance))),
                "shares": dict(zip(varying.names, shares.tolist(), strict=True)),
                "limits": _limits(engine.studies, name),
                "without": [n for n, k in zip(varying.names, columns, strict=True) if k is None],
            }
        )
    return rows


def sampled(engine: Engine, values: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Values of each objective, sorted, one for each sample that succeeded."""
    varying = _varying(engine, values)
    objectives = of_runs(engine.objectives)
    if varying is None or not objectives:
        return {}
    fixed = {name: x for name, x in values.items() if name not in varying.names}
    if engine.of_samples is None:
        engine.of_samples = _sampling_problem(engine, objectives)
    normal = np.random.default_rng(SEED).standard_normal((SAMPLES, len(varying.names)))
    rows = dict(zip(varying.names, varying.from_normal(normal).T, strict=True))
    ensemble = engine.of_samples.with_options(parameters=fixed).ensemble(rows)
    values_of = np.asarray(ensemble.values.transpose("sample", "objective"))
    return {
        name: np.sort(column[np.isfinite(column)])
        for name, column in zip(objectives, values_of.T, strict=True)
    }


def summary(values: np.ndarray) -> dict[str, Any]:
    """Mean, standard deviation, quantiles and a histogram of sorted samples."""
    if values.size < 2:
        return {"count": int(values.size)}
    low, high = float(values[0]), float(values[-1])
    width = (high - low) / BINS or abs(low) * np.spacing(1.0) or 1.0
    counts, _ = np.histogram(values, BINS, (low, low + BINS * width))
    quantiles = np.quantile(values, QUANTILES)
    return {
        "count": int(values.size),
        "mean": float(values.mean()),
        "deviation": float(values.std(ddof=1)),
        "quantiles": [
            {"probability": p, "value": float(q)} for p, q in zip(QUANTILES, quantiles, strict=True)
        ],
        "histogram": {"start": low, "width": width, "counts": counts.tolist()},
    }


def _sampling_problem(engine: Engine, objectives: Mapping[str, Any]) -> Problem:
    """The problem of the samples: with error control if the mechanism supports it, with the steps
    of the study otherwise.
    """
    settings = engine.settings()
    fast = {name: value for name, value in settings.items() if name not in OF_STEPS}
    try:
        return engine.mechanism.problem(
            objectives, **{**fast, "tolerance": ACCURACY, "output": settings["duration"]}
        )
    except ModelError:
        return engine.mechanism.problem(objectives, **settings)


def _varying(engine: Engine, values: Mapping[str, float]) -> ParameterDistributions | None:
    """The joint distribution about a design; None if no parameter has a distribution."""
    parameters = engine.mechanism.data.parameter_set.parameters
    if all(p.distribution is None for p in parameters.values()):
        return None
    return distributions_of(parameters, _moved(engine, values), _correlation(engine.studies))


def _moved(engine: Engine, values: Mapping[str, float]) -> dict[str, Any]:
    """Tolerances centred on values that differ from the nominal ones; distributions with a mean of
    their own are unchanged.
    """
    from scipy.stats import norm

    parameters = engine.mechanism.data.parameter_set.parameters
    distributions = {name: parameters[name].distribution for name in values}
    return {
        name: norm(values[name], tolerance.sigma)
        for name, tolerance in distributions.items()
        if isinstance(tolerance, Tolerance)
    }


def _correlation(studies: Studies) -> dict[tuple[str, str], float] | None:
    study = studies.uncertainty
    correlation = None if study is None else study.correlation
    return (
        {(c.between[0], c.between[1]): float(c.value) for c in correlation} if correlation else None
    )


def _limits(studies: Studies, objective: str) -> list[float | None]:
    """Lower and upper limit of an objective, from the constraints of the optimisation or of a
    probability.
    """
    study = studies.optimize
    bound = ((study.constraints if study is not None else None) or {}).get(objective)
    for entry in studies.objectives.values():
        bound = bound or (entry.probability or {}).get(objective)
    if bound is None:
        return [None, None]
    entry = studies.objectives[objective]
    return [
        limit_of(entry, getattr(bound, key), f"bound of {objective!r}: {key}")
        for key in ("at_least", "at_most")
    ]
