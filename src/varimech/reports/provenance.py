"""Report sections on the computation: page head, method, residuals, times, versions
and parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.markup import counted
from ..model.parameter import Parameter, Tolerance
from ..results.plan import composition
from ..results.run import Run, step_text
from ..web.encoding import printed
from ..web.plots import Plots
from .outputs import at_most_times, energy_plots
from .tables import facts, folded, section, table

LEVELS = {"position": "m", "velocity": "m/s", "acceleration": "m/s²"}


def summary(run: Run) -> str:
    """One line about the mechanism: its elements, and its degrees of freedom if known."""
    kind, *counts = composition(run.info["dimension"], run.drawing_plan.get("counts", {}))
    if dofs := _dofs(run):
        counts.append(counted(dofs, "degree of freedom", "degrees of freedom"))
    return f"{kind.capitalize()} mechanism" + (f": {', '.join(counts)}" if counts else "")


def _dofs(run: Run) -> int:
    """Number of initial conditions, one for each degree of freedom; 0 if unknown."""
    model = run.live.equations.model if run.is_live else None
    if model is None or model.start_conditions is None or model.beams:
        return 0
    return sum(
        int(h.deviation(run.live.equations.frames).numel())
        for h in model.start_conditions.conditions
    )


def duration(run: Run) -> str:
    """Duration of the motion, as text."""
    stopped = run.info.get("stopped")
    if stopped is not None:
        return f"stopped at {run.time[-1]:g} s of {stopped['duration']:g} s"
    return "at rest" if run.time.size < 2 else f"{run.time[-1]:g} s"


def computed_section(run: Run, plots: Plots) -> str:
    """Method, steps, residuals, energies, times, versions and parameters."""
    i, drawn = run.info, at_most_times(run).time.size
    residuals = ", ".join(
        f"{name} {printed(r, 2)} {unit}"
        for (name, unit), r in zip(LEVELS.items(), i["residuals"], strict=False)
    )
    entries: dict[str, object] = {"method": i["method"], "duration": duration(run)}
    if "configuration" in i:
        entries["configuration"] = i["configuration"]
    if "steps" in i:
        entries |= {
            "time steps": f"{counted(i['steps'], 'step', 'steps')} of {step_text(i)}",
            "stored times": (
                f"{run.time.size:,}"
                + (f", curves are of {drawn:,}" if drawn < run.time.size else "")
            ),
        }
    if "tolerance" in i:
        entries |= {"tolerance": f"{i['tolerance']:g} (relative)", "steps rejected": i["rejected"]}
    if i["iterations"]:  # explicit schemes have none
        entries["iterations"] = f"{i['iterations']:,}"
    entries["largest constraint residuals"] = residuals
    entries |= {f"time to {name}": f"{s:.3g} s" for name, s in i["seconds"].items()}
    entries |= {f"version of {name}": v for name, v in i["versions"].items()}
    parts = [facts(entries)]
    if run.time.size > 1:
        parts.append(energy_plots(run, plots))
    if rows := parameter_rows(run):
        parts.append(
            folded(
                "parameters",
                table(
                    ["parameter", "value", "unit", "lower bound", "upper bound", "distribution"],
                    rows,
                ),
            )
        )
    lead = (
        "Residuals are the largest violations of the constraints and of their first and second"
        " derivatives over the run. The total energy is constant only without drivers and"
        " damping."
    )
    return section("computed", "How it was computed", *parts, lead=lead)


def parameter_rows(run: Run) -> list[list[object]]:
    """Values of this run, with unit, bounds and distribution if the mechanism is available."""
    parameters = run.live.equations.model.parameter_set.parameters if run.is_live else {}
    units = parameter_units(run)
    rows = []
    for name, value in run.info["parameters"].items():
        lower, upper, distribution = None, None, ""
        if name in parameters:
            (lower, upper), given = parameters[name].bounds, parameters[name].distribution
            distribution = (
                f"± {printed(given.width)} ({given.sigmas:g} σ)"
                if isinstance(given, Tolerance)
                else _distribution(given)
            )
        rows.append([name, value, units.get(name, ""), lower, upper, distribution])
    return rows


def parameter_units(run: Run) -> dict[str, str]:
    """Units of the parameters, as far as the run contains them."""
    if run.is_live:
        return {
            name: p.unit for name, p in run.live.equations.model.parameter_set.parameters.items()
        }
    if "parameter_unit" not in run.dataset.coords:
        return {}
    return dict(
        zip(
            run.parameter_names,
            map(str, np.atleast_1d(run.dataset["parameter_unit"].to_numpy())),
            strict=True,
        )
    )


def parameter_scales(run: Run) -> dict[str, float]:
    """Factors that make derivatives comparable: parameter values; for zeros the width of bounds or
    tolerances, or one unit.
    """
    parameters = run.live.equations.model.parameter_set.parameters if run.is_live else {}
    return {
        name: float(value) or _width(parameters.get(name))
        for name, value in run.info["parameters"].items()
    }


def _width(parameter: Parameter | None) -> float:
    if parameter is None:
        return 1.0
    lower, upper = (np.nan if bound is None else float(bound) for bound in parameter.bounds)
    if np.isfinite(upper - lower):
        return float(upper - lower)
    return (
        float(parameter.distribution.width)
        if isinstance(parameter.distribution, Tolerance)
        else 1.0
    )


def _distribution(distribution: Any) -> str:
    """Short text of a distribution."""
    if distribution is None:
        return ""
    name = getattr(getattr(distribution, "dist", None), "name", "") or type(distribution).__name__
    return (
        f"{name}, σ = {printed(float(distribution.std()))}"
        if callable(getattr(distribution, "std", None))
        else name
    )
