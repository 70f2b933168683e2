"""Text output of a fit, with warnings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..core.coordinate_scales import TINY
from ..plotting.table import number
from ..results.result import Description
from .goodness import serial_correlation
from .measurement import Measurement, component_suffix

if TYPE_CHECKING:
    from .fit import Fit

MOST_LISTED = 5
"""Outliers named in a warning; all of them are in `Fit.outliers`."""
EXACT = 1e-8
"""Residuals, relative to the data, that are errors of runs: their order is meaningless."""


def described(fit: Fit) -> Description:
    """The fit as text."""
    failed = f" ({len(fit.failures)} failed)" if fit.failures else ""
    state = "converged" if fit.converged else "NOT converged"
    columns = ["value", "standard_error", "lower", "upper"]
    body = [
        [name, *[float(row[c]) for c in columns], row["unit"], row["at"]]
        for name, row in fit.intervals.iterrows()
    ]
    head = ["parameter", "value", "std. error", f"{100 * fit.level:g} % from", "to", "unit", "at"]
    shown = len(head) if fit.at_bounds else -1
    notes = []
    for group in fit.undetermined:
        names = ", ".join(map(repr, group))
        notes.append(
            f"the data do not determine {names}: no measurement depends on it"
            if len(group) == 1
            else f"the data do not determine {names} separately: only a combination matters"
        )
    for name, deviation in fit.residual_deviation.items():
        unit = fit.measured[name].unit
        notes.append(
            f"{name}: residual standard deviation"
            f" {number(float(f'{deviation:.4g}'))}{f' {unit}' if unit else ''}"
        )
    return Description(
        f"Fit of {fit.label!r} to {fit.weighted_residuals.size} numbers",
        summary=[f"{state} in {fit.evaluations} runs{failed}, {fit.seconds:.2g} s: {fit.message}"],
        tables=[(head[:shown], [row[:shown] for row in body])],
        notes=[*notes, *goodness_text(fit), *(f"WARNING: {w}" for w in fit.warnings)],
    )


def goodness_text(fit: Fit) -> Iterator[str]:
    """The goodness-of-fit test in one sentence, if there is one."""
    g = fit.goodness
    if g.chi2 is not None:
        yield (
            f"χ² = {g.chi2:.4g} for {g.degrees_of_freedom} degrees of freedom (reduced"
            f" {g.reduced_chi2:.4g}), p = {g.p_value:.2g}"
        )


def warnings(fit: Fit) -> Iterator[str]:
    """Warnings about contradictions between the fit, its intervals and the data."""
    g = fit.goodness
    if g.degrees_of_freedom <= 0:
        yield (
            "there are not more samples than parameters: the model is not tested, and the"
            " intervals assume that it is correct"
        )
    if g.too_large:
        yield (
            "χ² is impossibly large: the model, sigma= or some samples are wrong; intervals are"
            f" widened by √(χ²/ν) = {g.deviation:.3g} and valid only if all residuals are noise"
        )
    if g.too_small:
        yield (
            f"χ² is impossibly small: sigma= is about {1 / max(g.deviation, TINY):.3g} times too"
            " large, and so are the intervals"
        )
    yield from _outliers(fit)
    yield from _order(fit)
    for name, side in fit.at_bounds.items():
        yield (
            f"{name!r} is at its {side} bound: its interval is one-sided, and the data may favour"
            " values beyond it"
        )


def _outliers(fit: Fit) -> Iterator[str]:
    frame = fit.outliers
    if not len(frame) or all(_exact(m, fit.residuals[name]) for name, m in fit.measured.items()):
        return
    named = []
    for o in frame.head(MOST_LISTED).to_dict("records"):
        place = (
            f"{o['measurement']} row"
            f" {o['row']}{component_suffix(fit.measured[o['measurement']], o['component'])}"
        )
        named.append(
            f"{place} (t = {o['time']:.6g} s, {o['standardised_residual']:+.3g} standard"
            " deviations)"
        )
    more = (
        f" and {len(frame) - MOST_LISTED} more (fit.outliers)" if len(frame) > MOST_LISTED else ""
    )
    yield (
        f"{len(frame)} outlier{'s' if len(frame) > 1 else ''}: {'; '.join(named)}{more}; check"
        " or remove these samples"
    )


def _exact(m: Measurement, residuals: np.ndarray) -> bool:
    """Whether the residuals of a measurement are only errors of runs."""
    return bool(np.sqrt(np.mean(residuals**2)) <= EXACT * np.abs(m.values).max(initial=0.0))


def _order(fit: Fit) -> Iterator[str]:
    for name, residuals in fit.residuals.items():
        m = fit.measured[name]
        order = np.argsort(m.times, kind="stable")
        for c in range(m.components):
            correlation = None if _exact(m, residuals) else serial_correlation(residuals[order, c])
            if correlation is not None:
                yield (
                    f"residuals of {name}{component_suffix(m, c)} are not random (lag-one correlation"
                    f" {correlation:.2f}): the model is incomplete, or the noise is correlated;"
                    " intervals are too narrow"
                )
