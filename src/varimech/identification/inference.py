"""Posterior distribution of fitted parameters: checks of the input, the mode, and the method."""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from ..core.coordinate_scales import TINY
from ..core.errors import Interrupted, ModelError, check_level, check_whole, unknown_name
from ..core.messages import Message
from ..core.progress import progress_bar
from .confidence import confidence
from .diagnostics import convergence
from .fit_text import EXACT
from .laplace import Laplace, laplace
from .log_posterior import Expansion, LogPosterior
from .mode import mode_of
from .nuts import Chains, Coordinates, nuts
from .output_runs import OutputRuns
from .posterior import Posterior
from .priors import Priors, prior_of

if TYPE_CHECKING:
    from .fit import Fit

METHODS = ("laplace", "nuts")
RUNS = {"laplace": 1, "nuts": 10_000}
"""Approximate number of runs of each method, which decides whether compilation pays."""
DRAWS = {"laplace": 4000, "nuts": 1000}
CHAINS, WARMUP = 4, 300
"""Default numbers of chains and warm-up draws: as usual; because of the curvature at the mode a
short warm-up suffices.
"""
FEWEST_DRAWS = 4
"""Smallest number of draws of a chain, for which its halves have a variance."""
SPARE = 3
"""Number of data in excess of the parameters that is required to estimate the noise: with fewer,
the posterior has no variance.
"""


class PosteriorOptions(TypedDict, total=False):
    """Options of a posterior, with the argument names of `Fit.posterior`."""

    prior: Priors | None
    method: str
    draws: int | None
    chains: int | None
    warmup: int | None
    level: float | None
    seed: int


def posterior(
    fit: Fit,
    *,
    prior: Priors | None = None,
    method: str = "laplace",
    draws: int | None = None,
    chains: int | None = None,
    warmup: int | None = None,
    level: float | None = None,
    seed: int = 0,
) -> Posterior:
    """The posterior of the parameters of a fit; `Fit.posterior` documents the arguments."""
    began = time.perf_counter()
    count = _checked(method, draws, chains, warmup, seed)
    share = fit.level if level is None else level
    check_level("posterior", share)
    log = _log_posterior(fit, prior, RUNS[method])
    _check_noise(fit)
    mode, s = mode_of(log, fit.x)
    _check_determined(fit, log, mode, s, method)
    approximation: Laplace | None = None
    interrupted = False
    if method == "laplace":
        sigma_known = log.noise_known
        approximation = laplace(mode, s, log.count, log.prior, seed, sigma_known=sigma_known)
        x, logs = approximation.draws(count)
        sampled = Chains(x[None], logs[None], 0, 1.0)
    else:
        sampled = _sampled(fit, log, mode, s, (chains or CHAINS, warmup or WARMUP, count), seed)
        interrupted = sampled.interrupted
    result = Posterior(
        fit,
        log.prior,
        method,
        float(share),
        seed,
        mode.x,
        sampled.x,
        None if log.noise_known else np.exp(sampled.s),
        approximation,
        convergence(sampled.x) if method == "nuts" else None,
        sampled.divergences,
        sampled.acceptance,
        log.evaluations,
        log.failed,
        time.perf_counter() - began,
    )
    if interrupted:
        kept = sampled.x.shape[1]
        raise Interrupted(f"stopped after {kept} of {count} draws of each chain", result)
    return result


def _checked(
    method: str, draws: int | None, chains: int | None, warmup: int | None, seed: int
) -> int:
    """Return the number of draws; raise an error if options are inconsistent."""
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    count = DRAWS[method] if draws is None else draws
    check_whole("posterior", FEWEST_DRAWS, draws=count)
    check_whole("posterior", 0, seed=seed)
    for name, value in (("chains", chains), ("warmup", warmup)):
        if value is None:
            continue
        check_whole("posterior", 1, **{name: value})
        if method != "nuts":
            raise ModelError(
                Message("belongs to {method}", method="nuts"),
                element="posterior",
                field=name,
                value=value,
                remedy="leave it out",
            )
    if method == "nuts":
        for package in ("jax", "blackjax"):
            if _missing(package):
                raise ModelError(
                    Message("{method} needs {}", package, method="nuts"),
                    element="posterior",
                    remedy=Message(
                        "pip install 'varimech[nuts]', or use {method}", method="laplace"
                    ),
                )
    return count


def _missing(package: str) -> bool:
    try:
        return find_spec(package) is None
    except ValueError:  # as where tests put None into sys.modules
        return True


def _log_posterior(fit: Fit, prior: Priors | None, runs: int) -> LogPosterior:
    s = fit.evaluator.simulation
    parameters = s.solvers.data.parameter_set.parameters
    checked = prior_of(fit.space, parameters, prior, "posterior")
    held = {**(s.given or {})}
    functions = {name: (m.function, m.components) for name, m in fit.measured.items()}
    outputs = OutputRuns(s.at(held), fit.space.names, functions, runs)
    return LogPosterior(outputs, fit.measured, fit.space, checked, fit.sigma_known)


def _check_noise(fit: Fit) -> None:
    """Require noise that is known, or that can be estimated from the residuals."""
    if fit.sigma_known:
        return
    r = fit.weighted_residuals
    if fit.confidence.dof < SPARE:
        directions = r.size - fit.confidence.dof
        raise ModelError(
            f"the noise cannot be estimated from {r.size} numbers with {directions} parameters",
            element="posterior",
            remedy=Message(
                "give {sigma} to the measurements, or at least {} numbers", directions + SPARE
            ),
        )
    size = max(float(np.abs(m.values).max()) for m in fit.measured.values())
    if np.sqrt(np.mean(r**2)) <= EXACT * size:
        raise ModelError(
            "the data have no noise that could be estimated: the model reproduces them to rounding",
            element="posterior",
            remedy=Message("give {sigma} to the measurements"),
        )


def _check_determined(fit: Fit, log: LogPosterior, mode: Expansion, s: float, method: str) -> None:
    """Require that data and priors determine each parameter; for NUTS, bounds count as a prior."""
    J = mode.jacobian * np.exp(-s)
    widths = log.prior.widths()
    informative = np.isfinite(widths)
    J = np.concatenate([J, np.diag(1 / widths)[informative]])
    reach = float(np.sqrt(sum((m.values**2).sum() for m in fit.measured.values())))
    reach = max(reach * np.exp(-s), TINY) if fit.sigma_known is False else _weighted_reach(fit)
    groups = confidence(J, np.zeros(len(J)), fit.space.sizes, reach, sigma_given=True).undetermined
    bounded = np.isfinite(log.prior.upper - log.prior.lower)
    for group in groups:
        if method == "nuts" and all(bounded[k] for k in group):
            continue
        names = ", ".join(repr(fit.space.names[k]) for k in group)
        first = fit.space.names[next((k for k in group if not informative[k]), group[0])]
        separately = " separately: only a combination matters" if len(group) > 1 else ""
        raise ModelError(
            f"the data do not determine {names}{separately}, and the prior of {first!r} is flat",
            element="posterior",
            remedy=Message(
                "give {prior}, leave it out of {over}, or use {method} with {bounds} on both sides",
                prior={first: ...},
                method="nuts",
            ),
        )


def _weighted_reach(fit: Fit) -> float:
    weighted = [m.values if m.sigma is None else m.values / m.sigma for m in fit.measured.values()]
    return max(float(np.sqrt(sum((y**2).sum() for y in weighted))), TINY)


def _sampled(
    fit: Fit, log: LogPosterior, mode: Expansion, s: float, sizes: tuple[int, int, int], seed: int
) -> Chains:
    chains, warmup, draws = sizes
    label, shown = f"{fit.label}: posterior", fit.evaluator.simulation.progress
    with progress_bar(label, warmup + draws, shown) as report:
        return nuts(Coordinates(log, mode, s), chains, warmup, draws, seed, report)
