"""A study in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..markup import counted
from ..view.table import table
from .estimates import LEVEL

if TYPE_CHECKING:
    from .study import Study

TOLD = 3
"""Failures that are told when a study is printed."""


def in_words(study: Study) -> str:
    """As it is printed."""
    failed = f", {study.failed} failed" if study.failed else ""
    stopped = f" of {study.stopped:,}" if study.stopped is not None else ""
    words = f"{study.sampling.kind}, seed {study.sampling.seed}{', control' if study.controlled else ''}"
    taken = f"{counted(study.count, 'sample', 'samples')}{stopped}"
    lines = [f"<Study of {study.label!r}: {taken} ({words}){failed}, at t = {study.time[-1]:g} s>"]
    if study.count:
        frame = study.table()
        frame["±"] = [float(f"{half:.2g}") for half in frame["±"]]
        rows = [[name, *row] for name, row in zip(frame.index, frame.to_numpy().tolist(), strict=True)]
        lines.append(table(["objective", *frame.columns], rows))
    if study.controlled and study.failed:
        lines.append(f"  {counted(study.failed, 'sample', 'samples')} failed, so the control is not used")
    elif study.controlled and study.count:
        factors = zip(study.objective_names, study.reduction[-1].to_numpy(), strict=True)
        lines.append(f"  the control saves samples by a factor of: {', '.join(f'{n} {r:.3g}' for n, r in factors)}")
    lines += [f"  sample {f.sample} failed: {f.kind}: {f.message}" for f in study.failures[:TOLD]]
    seconds = study.seconds["run"]
    return "\n".join([*lines, f"  {seconds:.3g} s, {study.count / max(seconds, 1e-9):.0f} samples/s"])


def so_far(study: Study) -> str:
    """In few words: the first objective at the end, as far as it is known."""
    if not study.count:
        return ""
    found, unit = study.last_mean(), study.units[0]
    half = found.half_width(LEVEL)[0]
    return f"{study.objective_names[0]} = {found.value[0]:.6g} ± {half:.2g}{f' {unit}' if unit else ''}"
