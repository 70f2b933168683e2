"""The top of a report, the most important results first: peaks and travel of a run; for each
objective its value, the most influential parameter, and its standard deviation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..coordinates.redundancy import LOADS
from ..identification.fit import Fit
from ..identification.posterior import Posterior
from ..optimization.optimum import Optimum
from ..results.gradient import Gradient
from ..results.modes import Modes
from ..results.run import Run
from ..robust.allocation import Allocation
from ..robust.statistics_result import Statistics
from ..uncertainty.moments import Moments
from ..uncertainty.study import Study
from ..web.encoding import escaped
from ..web.units import degrees, engineering
from .outputs import at_most_times
from .provenance import parameter_scales

MOST = 12
"""Largest number of facts: as many as can be read at a glance."""
MOST_JOINTS = 30
"""Largest number of joints whose reactions are compared; for more joints, only the plotted
reactions are.
"""
STILL = 1e-9
"""Fraction of the largest number of their kind below which loads and travels are rounding errors.
"""


@dataclass(frozen=True)
class Fact:
    """A number with its name, and a remark."""

    name: str
    value: str
    note: str = ""


def glance(results: Iterable[object], run: Run | None, outputs: Mapping[str, list[str]]) -> str:
    """Return the block as HTML; empty if there are no facts."""
    facts = [fact for result in results for fact in _of_result(result)]
    lead = ""
    if run is not None and run.time.size > 1:
        facts += _of_run(run, outputs)
        lead = '<p class="lead">Peaks and ranges are those of the stored times.</p>'
    if not facts:
        return ""
    tiles = "".join(
        f"<div><dt>{escaped(f.name)}</dt><dd>{escaped(f.value)}<small>{escaped(f.note)}</small></dd></div>"
        for f in facts[:MOST]
    )
    return (
        f'<section id="glance"><h2>At a glance</h2><dl class="glance">{tiles}</dl>{lead}</section>'
    )


def _of_result(result: object) -> Iterator[Fact]:
    if isinstance(result, Optimum):
        yield _optimum(result)
    elif isinstance(result, Fit):
        yield from _fit(result)
    elif isinstance(result, Posterior):
        yield from _posterior(result)
    elif isinstance(result, Gradient):
        yield from _gradient(result)
    elif isinstance(result, Moments):
        yield from _moments(result)
    elif isinstance(result, Study):
        yield from _study(result)
    elif isinstance(result, Modes):
        yield from _modes(result)
    elif isinstance(result, Statistics):
        yield from _statistics(result)
    elif isinstance(result, Allocation):
        yield from _allocation(result)


def _gradient(g: Gradient) -> Iterator[Fact]:
    """Objectives, and the first-order effect of 1 % of the most influential parameter."""
    values, scales = g.run.info["parameters"], parameter_scales(g.run)
    for k, name in enumerate(g.objective_names):
        value = engineering(float(g.final_values[k]), g.units[k], digits=4)
        effects = 0.01 * g.final_gradient[k] * [scales[n] for n in g.parameter_names]
        if not effects.any():
            yield Fact(name, value)
            continue
        most = int(np.argmax(np.abs(effects)))
        parameter, unit = g.parameter_names[most], g.parameter_units[most]
        change = "1 %" if values[parameter] else engineering(0.01 * scales[parameter], unit)
        effect = engineering(float(effects[most]), g.units[k], sign=True)
        yield Fact(name, value, f"most by {parameter}: {effect} for {change} more")


def _moments(m: Moments) -> Iterator[Fact]:
    last = m.dataset.isel(time=-1)
    for k, name in enumerate(m.objective_names):
        shares = m.contributions.isel(time=-1, objective=k).to_numpy()
        mean, σ = (float(last[which].to_numpy()[k]) for which in ("mean", "std"))
        note = f"mean {engineering(mean, m.units[k], digits=4)}"
        if σ > 0:
            most = int(np.argmax(shares))
            note += f"; {100 * shares[most]:.3g} % of the variance by {m.distributions.names[most]}"
        yield Fact(f"σ of {name}", engineering(σ, m.units[k]), note)


def _study(study: Study) -> Iterator[Fact]:
    ends = study.quantile([0.05, 0.95]).to_numpy()[:, -1]
    deviation = study.std.to_numpy()[-1]
    for k, (name, unit) in enumerate(zip(study.objective_names, study.units, strict=True)):
        low, high = (engineering(float(x), unit, digits=5) for x in ends[:, k])
        value = engineering(float(deviation[k]), unit)
        yield Fact(f"σ of {name}, sampled", value, f"5 % to 95 %: {low} to {high}")


def _optimum(o: Optimum) -> Fact:
    unit, before, after = o.problem.goal.unit, float(o.objective_before), float(o.objective)
    share = f" ({100 * (after - before) / abs(before):+.3g} %)".replace("-", "−") if before else ""
    return Fact(
        f"optimal {o.problem.name}",
        engineering(after, unit, digits=4),
        f"{engineering(before, unit, digits=4)} before{share}",
    )


def _fit(fit: Fit) -> Iterator[Fact]:
    for name, row in fit.intervals.iterrows():
        value = engineering(float(row["value"]), row["unit"], digits=5)
        error = engineering(float(row["standard_error"]), row["unit"], digits=2)
        yield Fact(str(name), value, f"fitted, ± {error} (standard error)")


def _posterior(p: Posterior) -> Iterator[Fact]:
    for name, row in p.table().iterrows():
        value = engineering(float(row["std"]), row["unit"], digits=3)
        low, high = (engineering(float(row[k]), row["unit"], digits=5) for k in ("lower", "upper"))
        yield Fact(f"σ of {name}", value, f"posterior; {100 * p.level:g} %: {low} to {high}")


def _modes(modes: Modes) -> Iterator[Fact]:
    """Slowest and least damped oscillation."""
    d = modes.dataset
    swings = np.flatnonzero(d["frequency"].to_numpy() > 0)
    if swings.size:
        first = int(swings[0])
        ζ = d["damping_ratio"].to_numpy()
        percent = round(100 * float(ζ[first]), 6) + 0.0  # neither rounding errors nor −0
        note = f"damping ratio {percent:.3g} %".replace("-", "−")
        frequency = float(d["frequency"].to_numpy()[first])
        yield Fact("lowest frequency", engineering(frequency, "Hz", digits=4), note)
    growth = float(d["growth_rate"].to_numpy().max(initial=-np.inf))
    if growth > 0:
        yield Fact("unstable", engineering(growth, "1/s"), "largest growth rate")


def _statistics(s: Statistics) -> Iterator[Fact]:
    for name, statistic in s.statistics.items():
        if not statistic.over_time:
            value = engineering(s[name], statistic.unit, digits=6)
            yield Fact(name, value, f"{statistic.label}, by {s.methods[name]}")


def _allocation(a: Allocation) -> Iterator[Fact]:
    yield Fact("cost of the tolerances", f"{a.cost:.4g}", f"{a.cost_before:.4g} before")
    if a.equal is not None:
        yield Fact(
            "less than equal tolerances", f"{100 * max(a.saving, 0.0):.1f} %", "at equal risk"
        )
    for b in a.constraints:
        note = f"{b.rule}; {b.before:.6g} before"
        yield Fact(b.name, engineering(b.value, b.unit, digits=6), note)


def _of_run(run: Run, outputs: Mapping[str, list[str]]) -> list[Fact]:
    """Peak loads, travel of joints, and events."""
    run = at_most_times(run)
    facts = [*_loads(run, outputs), *_travel(run, outputs)]
    if run.events:
        first = run.events[0]
        note = f"the first: {first.what} of {first.name} at {engineering(first.time, 's')}"
        facts.append(Fact("events", f"{len(run.events):,}", note))
    return facts


def _loads(run: Run, outputs: Mapping[str, list[str]]) -> Iterator[Fact]:
    """The largest reaction, efforts of drivers, and loads that are plotted."""
    names: dict[str, list[str]] = {}
    if run.is_live and not run.redundant_reactions:
        joints, drivers = run.names_of("joint"), run.names_of("driver")
        names = {"reaction": joints if len(joints) <= MOST_JOINTS else [], "effort": drivers[:3]}
    for kind in LOADS:
        if kind in outputs:
            names[kind] = outputs[kind]
    for kind, of in names.items():
        peaks = {name: _peak(run, kind, name) for name in of}
        largest = max((peak for peak, _ in peaks.values()), default=0.0)
        shown = peaks if kind == "effort" else sorted(peaks, key=lambda n: -peaks[n][0])[:1]
        for name in shown:
            peak, time = peaks[name]
            if peak > STILL * largest:
                text = engineering(peak, run.unit_of(kind, [name]))
                note = f"{name}, at {engineering(time, 's')}"
                yield Fact(f"peak {kind.replace('_', ' ')}", text, note)


def _peak(run: Run, kind: str, name: str) -> tuple[float, float]:
    """Largest magnitude, and its time (s)."""
    array: Any = getattr(run, kind)(name).to_numpy()
    size = np.linalg.norm(array.reshape(run.time.size, -1), axis=1)
    k = int(size.argmax())
    return float(size[k]), float(run.time[k])


def _travel(run: Run, outputs: Mapping[str, list[str]]) -> Iterator[Fact]:
    """Ranges of the angles and displacements that are plotted."""
    for kind in ("displacement", "angle"):
        for name in outputs.get(kind, []):
            curve = getattr(run, kind)(name).to_numpy()
            low, high = float(curve.min()), float(curve.max())
            if high - low > STILL * max(abs(low), abs(high)):
                ends = [0.0 if abs(x) < STILL * (high - low) else x for x in (low, high)]
                texts = [
                    degrees(x) if kind == "angle" else engineering(x, "m")
                    for x in (high - low, *ends)
                ]
                subject = "range of the angle" if kind == "angle" else "travel"
                yield Fact(f"{subject}, {name}", texts[0], f"{texts[1]} to {texts[2]}")
