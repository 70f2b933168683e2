"""Text output of a study."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..core.markup import counted
from ..plotting.table import number
from ..results.result import Description
from .estimates import LEVEL

if TYPE_CHECKING:
    from .study import Study

QUANTILES = (0.05, 0.5, 0.95)
"""Probabilities of the quantiles that are printed and stored."""
FAILURES_SHOWN = 3
"""Number of failures that are shown when a study is printed."""


def described(study: Study) -> Description:
    """Printed text of a study."""
    failed = f", {study.failed} failed" if study.failed else ""
    stopped = f" of {study.stopped:,}" if study.stopped is not None else ""
    kind = f"{study.sampling.kind}, seed {study.sampling.seed}"
    control = ", control" if study.controlled else ""
    taken = f"{counted(study.count, 'sample', 'samples')}{stopped} ({kind}{control}){failed}"
    notes = []
    if study.controlled and study.failed:
        notes.append(
            f"{counted(study.failed, 'sample', 'samples')} failed, so the control variate is not used"
        )
    elif study.controlled and study.count:
        factors = zip(study.objective_names, study.reduction[-1].to_numpy(), strict=True)
        notes.append(
            "the control variate saves samples by a factor of:"
            f" {', '.join(f'{n} {r:.3g}' for n, r in factors)}"
        )
    notes += [
        f"sample {f.sample} failed: {f.kind}: {f.message}" for f in study.failures[:FAILURES_SHOWN]
    ]
    seconds = study.seconds["run"]
    notes.append(f"{seconds:.3g} s, {study.count / max(seconds, 1e-9):.0f} samples/s")
    return Description(
        f"Study of {study.label!r}: {taken}, at t = {study.time[-1]:g} s",
        tables=[known_table(study)] if study.count else [],
        notes=notes,
    )


def known_table(study: Study) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of a study, each number with the digits that its 95 % interval
    supports.
    """
    frame, rows = study.table(), []
    for k, (name, row) in enumerate(zip(frame.index, frame.to_dict("records"), strict=True)):
        cells = {"mean": known(row["mean"], row["±"], digits=2), "±": number(row["±"], 2)}
        others: dict[str, str | float] = {"std": "std", **{f"{100 * p:g} %": p for p in QUANTILES}}
        for label, of in others.items():
            bounds = study.interval(of=of).isel(time=-1, objective=k)
            sides = np.abs(
                [bounds["lower"].item() - row[label], bounds["upper"].item() - row[label]]
            )
            cells[label] = known(
                row[label],
                (
                    float(np.max(sides[np.isfinite(sides)], initial=0.0))
                    if sides.min() < np.inf
                    else np.inf
                ),
            )
        rows.append([str(name), *cells.values(), str(row["unit"])])
    return ["objective", *map(str, frame.columns)], rows


def known(value: float, half: float, digits: int = 1) -> str:
    """Format a number without digits beyond the leading ones of its error; "–" if the error is
    unknown.
    """
    if not math.isfinite(value) or not math.isfinite(half):
        return "–"
    if half == 0:
        return number(value)
    place = math.floor(math.log10(half)) + 1 - digits
    size = math.floor(math.log10(abs(value))) if value else place
    if -5 <= size < 8:
        return f"{round(value, -place) + 0.0:.{max(0, -place)}f}"
    return f"{value:.{max(0, size - place)}e}"


def so_far(study: Study) -> str:
    """Short text for the progress bar: the first objective at the end of the run, with its
    error.
    """
    if not study.count:
        return ""
    mean, unit = study.last_mean(), study.units[0]
    half = mean.half_width(LEVEL)[0]
    return (
        f"{study.objective_names[0]} = {mean.value[0]:.6g} ± {half:.2g}{f' {unit}' if unit else ''}"
    )
