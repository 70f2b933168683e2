"""Reliability: the probability that an objective lies beyond a limit.

In the space of independent standard normal variables u behind the parameters, the design point u*
is the point of the limit ψ = ψ_lim that is nearest to the origin, and β = |u*|. FORM replaces the
limit by its tangent plane there, P ≈ Φ(−β); SORM by a paraboloid with the same curvatures (formulas
of Breitung, of Hohenbichler and Rackwitz, and of Tvedt). Other design points are searched for
(`design_points.py`), and samples drawn around all of them (`importance.py`) check both.

    importance factors   α_i² = (u*_i/β)²

Of an event that holds at the origin, the contrary is looked at: it is the rarer one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError
from ..results.labels import with_units
from ..results.result import Description, Result
from ..sensitivity.comparison import Constraint
from .design_points import FORMULAS, DesignPoint, Limit, design_points, union
from .global_study import seeded
from .importance import Sampled, importance_sampling

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from .global_study import GlobalStudy

FACTOR = 2.0
"""By which probabilities of first and second order may differ without a word."""


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(Result):
    """The probability of an event, and the values of the parameters by which it is most likely to
    happen.
    """

    label: str
    event: str
    beta: float
    """Reliability index; negative where the event is more likely than not."""
    form: float
    """Probability of first order, of the union of what lies beyond all design points."""
    sorms: dict[str, float]
    """Probabilities of second order, by formula; not a number where the limit is curved too much
    for one.
    """
    design: dict[str, float]
    """The design point: parameter → value."""
    importance: dict[str, float]
    """Parts of 1 by which the variables behind the parameters share in it; of correlated ones, in
    order, what those before leave over.
    """
    units: tuple[str, ...]
    curvatures: np.ndarray = field(repr=False)
    """Of the limit at the design point, in the standard space."""
    sampled: Sampled | None
    calls: dict[str, int]
    """Values, gradients and Hessians that were computed."""
    result: object = field(repr=False)
    """`openturns.SORMResult` at the design point; of the contrary event where β is negative."""
    points: tuple[DesignPoint, ...] = field(repr=False)
    """All design points that were found and count, the nearest first; `beta`, `design`, … are those
    of the first.
    """
    notes: tuple[str, ...]
    """What speaks against the numbers: methods that disagree, limits that bend around the origin,
    runs that failed.
    """

    @property
    def sorm(self) -> float:
        """Probability of second order, by Hohenbichler and Rackwitz."""
        return self.sorms["Hohenbichler"]

    @property
    def nearest(self) -> bool:
        """Whether the design point is the nearest one around it: the limit is curved less than a
        sphere about the origin would be there.
        """
        return self.points[0].nearest

    _dims = ("parameter",)

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, event, reliability index, and numbers of runs."""
        return {"mechanism": self.label, "event": self.event, "beta": self.beta, **self.calls}

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`design` and `importance` by parameter, `probability` (with `lower` and `upper` of
        samples) by method.
        """
        import xarray as xr

        frame = self.table().rename_axis("method")
        points = {"design": self.design, "importance": self.importance}
        return xr.Dataset(
            {name: ("parameter", [*values.values()]) for name, values in points.items()},
            coords=with_units("parameter", [*self.design], self.units),
        ).merge(frame.to_xarray())

    def table(self) -> pd.DataFrame:
        """Probabilities of all methods.

        Returns:
            A row for each method.
        """
        import pandas as pd

        rows: dict[str, list[float]] = {"FORM": [self.form]}
        rows |= {f"SORM, {name}": [p] for name, p in self.sorms.items()}
        frame = pd.DataFrame.from_dict(rows, orient="index", columns=["probability"])
        if self.sampled is not None:
            s = self.sampled
            frame.loc[f"{s.samples} samples", ["probability", "lower", "upper"]] = [
                s.probability,
                s.lower,
                s.upper,
            ]
        return frame

    def _described(self) -> Description:
        calls = ", ".join(f"{n} {what}" for what, n in self.calls.items())
        frame = self.table()
        rows = [
            [name, *(float(f"{x:.5g}") for x in row)]
            for name, row in zip(frame.index, frame.to_numpy().tolist(), strict=True)
        ]
        shares = [f"{100 * a:.1f} %" for a in self.importance.values()]
        points = list(zip(self.design, self.design.values(), self.units, shares, strict=True))
        others = []
        for other in self.points[1:]:
            at = ", ".join(f"{n} = {x:.6g}" for n, x in zip(self.design, other.values, strict=True))
            others.append(f"another design point: β = {other.beta:.6g} at {at}")
        return Description(
            f"Reliability of {self.label!r}: {self.event}; β = {self.beta:.6g}; {calls}",
            tables=[
                (["method", *frame.columns], rows),
                (["parameter", "design point", "unit", "importance"], points),
            ],
            notes=[*others, *self.notes],
        )


def reliability(
    study: GlobalStudy, event: Constraint, samples: int, level: float, seed: int
) -> Reliability:
    """FORM and SORM at all design points that are found, and samples around these."""
    runs = study.runs
    k, value, above = _limit(study, event)
    what, before = f"probability of {study.objective_names[k]} {event.rule}", runs.calls.copy()
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed)))
    with seeded(seed), runs.own_errors(what):
        limit = Limit(study, what, k, value, above)
        likely = (study.function(limit.middle)[k] >= value) == above
        limit = replace(limit, above=above != likely)
        points = design_points(limit, rng)
        drawn = None
        if samples:
            centres, chances = (
                np.array([p.standard for p in points]),
                np.array([p.form for p in points]),
            )
            drawn = importance_sampling(limit, centres, chances, samples, level, rng)
    first = union(points, [p.form for p in points])
    sorms = {formula: union(points, [p.sorms[formula] for p in points]) for formula in FORMULAS}
    nearest = points[0]
    notes = _notes(points, first, sorms["Hohenbichler"], drawn, level)
    if likely:
        first, sorms = 1 - first, {formula: 1 - p for formula, p in sorms.items()}
        drawn = drawn and drawn.contrary
    return Reliability(
        study.label,
        f"{study.objective_names[k]} {event.rule}",
        -nearest.beta if likely else nearest.beta,
        first,
        sorms,
        dict(zip(study.names, nearest.values.tolist(), strict=True)),
        dict(zip(study.names, nearest.importance.tolist(), strict=True)),
        study.distributions.units,
        nearest.curvatures,
        drawn,
        dict(runs.calls - before),
        nearest.result,
        tuple(points),
        notes,
    )


def _notes(
    points: list[DesignPoint], first: float, second: float, drawn: Sampled | None, level: float
) -> tuple[str, ...]:
    """What speaks against the numbers; of the rarer one of the event and its contrary."""
    notes = []
    check = "" if drawn is not None else "; check with samples=…"
    if not points[0].nearest:
        notes.append(
            "the limit bends around the origin at this point, so others are nearer or as near:"
            " believe samples only"
        )
    elif not 1 / FACTOR < second / first < FACTOR:
        notes.append(
            f"SORM differs from FORM by a factor of {second / first:.3g}: the limit is"
            f" curved{check}"
        )
    if drawn is not None:
        best, name = (second, "SORM") if math.isfinite(second) else (first, "FORM")
        if not drawn.lower <= best <= drawn.upper:
            notes.append(
                f"{name} lies outside the {100 * level:g} % interval of the samples: believe"
                " samples only"
            )
        if not drawn.hits:
            notes.append(
                "no sample belongs to the event: its probability is known by its upper bound only;"
                " draw more samples"
            )
        if drawn.failed:
            notes.append(
                f"the runs of {drawn.failed} samples failed; the interval counts them for both"
                " sides"
            )
    return tuple(notes)


def _limit(study: GlobalStudy, event: object) -> tuple[int, float, bool]:
    """Which objective, its limit, and whether the event is above it."""
    if not isinstance(event, Constraint):
        problem = (
            f"{event!r} is no event; compare an objective of the study with a number, as in"
            " ψ >= 3.0"
        )
        raise ModelError(problem, element="probability")
    objectives = list(study.runs.rows.objectives.values())
    if event.of not in objectives:
        names = ", ".join(map(repr, study.objective_names))
        problem = f"what is compared is none of the objectives of this study ({names})"
        raise ModelError(
            problem, element="probability", remedy="compare the same object that openturns(…) got"
        )
    above, below = math.isfinite(event.lower), math.isfinite(event.upper)
    if above and below:
        remedy = "ask for both and subtract, or use monte_carlo(…)"
        raise ModelError(
            f"{event.rule} has two limits, and FORM takes one", element="probability", remedy=remedy
        )
    return objectives.index(event.of), event.lower if above else event.upper, above
