"""Text output of a posterior, with warnings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..plotting.table import number
from ..results.result import Description
from .diagnostics import LEAST_ESS, MOST_R_HAT
from .fit_text import warnings as fit_warnings

if TYPE_CHECKING:
    from .posterior import Posterior

METHODS = {"laplace": "Laplace approximation", "nuts": "No-U-Turn Sampler"}


def described(p: Posterior) -> Description:
    """The posterior as text."""
    chains, draws = p.samples_array.shape[:2]
    sampled = f"{draws} draws"
    if p.method == "nuts":
        sampled = (
            f"{chains} chains of {draws} draws, acceptance {p.acceptance:.2f},"
            f" {p.divergences} divergences"
        )
    failed = f" ({p.failed} failed)" if p.failed else ""
    frame = p.table()
    columns = ["mode", "mean", "std", "lower", "upper"]
    more = ["r_hat", "ess_bulk", "ess_tail"] if p.diagnostics is not None else []
    body = [
        [
            name,
            *[float(row[c]) for c in columns],
            row["unit"],
            p.prior.descriptions[str(name)],
            *([f"{row['r_hat']:.3f}", *(f"{row[c]:.0f}" for c in more[1:])] if more else []),
            row["at"],
        ]
        for name, row in frame.iterrows()
    ]
    interval = [f"{100 * p.level:g} % from", "to"]
    head = ["parameter", "mode", "mean", "std", *interval, "unit", "prior"]
    head += ["R̂", "ESS", "ESS of tails"] if more else []
    shown = len(head) + bool(p.at_bounds)
    notes = []
    if (noise := p.noise) is not None:
        middle, deviation = (number(float(f"{noise[key]:.4g}")) for key in ("mean", "std"))
        notes.append(f"noise: standard deviation {middle} ± {deviation}")
    return Description(
        f"Posterior of {p.label!r} from {p.fit.weighted_residuals.size} numbers,"
        f" {METHODS[p.method]}",
        summary=[f"{sampled}, {p.evaluations} runs{failed}, {p.seconds:.2g} s"],
        tables=[([*head, "at"][:shown], [row[:shown] for row in body])],
        notes=[*notes, *(f"WARNING: {w}" for w in p.warnings)],
    )


def warnings(p: Posterior) -> Iterator[str]:
    """Warnings about chains, and about the fit and its data."""
    d = p.diagnostics
    if d is not None:
        for name, r, ess in zip(p.fit.space.names, d.r_hat, d.ess_bulk, strict=True):
            if r > MOST_R_HAT or ess < LEAST_ESS:
                yield (
                    f"chains of {name!r} are too short (R̂ = {r:.3f}, {ess:.0f} effective draws):"
                    " take more draws"
                )
    if p.divergences:
        yield (
            f"{p.divergences} divergences: the draws may miss a part of the posterior; take a longer"
            " warm-up, or informative priors"
        )
    for name, side in p.at_bounds.items():
        yield (
            f"the most probable value of {name!r} is at its {side} bound: its interval is"
            " one-sided, and the data may favour values beyond it"
        )
    at_bounds = {f"{name!r} is at" for name in p.fit.at_bounds}
    for text in fit_warnings(p.fit):
        if not any(text.startswith(each) for each in at_bounds):
            yield f"of the fit: {text}"
