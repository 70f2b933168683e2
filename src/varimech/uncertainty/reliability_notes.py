"""Warnings about probabilities of failure: methods that disagree, limits that are not planes,
failed runs.
"""

from __future__ import annotations

import math

from .first_order import FirstOrder
from .sampled import Sampled

FACTOR = 2.0
"""Ratio of probabilities of first and second order up to which there is no warning."""
RESOLVED = 20
"""Number of samples in the event below which only the order of magnitude of a probability is
known.
"""


def notes_of(form: FirstOrder, drawn: Sampled | None, level: float) -> tuple[str, ...]:
    """Reasons to doubt the numbers, for the rarer one of the event and its complement."""
    notes = [*form.remarks, *_of_points(form, drawn is not None)]
    if drawn is not None:
        first, second = form.probability, form.sorms["Hohenbichler"]
        best, name = (second, "SORM") if math.isfinite(second) else (first, "FORM")
        if not drawn.lower <= best <= drawn.upper:
            notes.append(
                f"{name} lies outside the {100 * level:g} % interval of the samples: believe"
                " samples only"
            )
        notes += notes_of_samples(drawn)
    return tuple(notes)


def _of_points(form: FirstOrder, checked: bool) -> list[str]:
    """Warnings about the design points."""
    notes, points, check = [], form.points, "" if checked else "; check with samples=…"
    first, second = form.probability, form.sorms["Hohenbichler"]
    kinks = sum(not p.stationary for p in points)
    if kinks:
        notes.append(
            f"the limit has a kink at {kinks} of {len(points)} design points, as where another peak"
            f" becomes the largest one: FORM and SORM are doubtful there{check}"
        )
    elif bending := sum(not p.nearest for p in points):
        at = "this point" if bending == len(points) == 1 else f"{bending} of {len(points)} points"
        notes.append(
            f"the limit bends around the origin at {at}, so other points are nearer or as near:"
            " rely on samples only"
        )
    elif first == 0:
        nearest = min(abs(p.beta) for p in points)
        notes.append(
            f"the limit is out of reach, {nearest:.3g} standard deviations away: the probability is"
            " smaller than the smallest number; check the value and the unit of the limit"
        )
    elif not 1 / FACTOR < second / first < FACTOR and math.isfinite(second):
        notes.append(
            f"SORM differs from FORM by a factor of {second / first:.3g}: the limit is"
            f" curved{check}"
        )
    if rough := next((p.rough for p in points if p.rough), ""):
        notes.append(f"no SORM: {rough}")
    if not form.system.series:
        notes.append(f"curvatures of limits that are exceeded together are neglected{check}")
    return notes


def notes_of_samples(drawn: Sampled) -> list[str]:
    """Warnings about samples of any method."""
    notes = []
    if not drawn.hits:
        notes.append(
            "no sample belongs to the event: its probability is known by its upper bound only;"
            " draw more samples"
        )
    elif drawn.hits < RESOLVED:
        notes.append(
            f"only {drawn.hits} of the samples belong to the event: draw more, or use another method"
        )
    if drawn.failed:
        notes.append(
            f"the runs of {drawn.failed} samples failed; the interval allows for either outcome"
        )
    return notes
