"""Composition of a self-contained page from the sections of any results."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from ..coordinates.redundancy import RedundantReactionWarning
from ..core.atomic_files import write_text
from ..core.errors import ModelError, VarimechError
from ..files.writing import document_of, to_text
from ..identification.fit import Fit
from ..identification.posterior import Posterior
from ..optimization.optimum import Optimum
from ..results.certificate import Certificate
from ..results.gradient import Gradient
from ..results.modes import Modes
from ..results.run import Run
from ..robust.allocation import Allocation
from ..robust.allocation_curve import AllocationCurve
from ..robust.design import RobustOptimum
from ..robust.statistics_result import Statistics
from ..uncertainty.moments import Moments
from ..uncertainty.reliability import Reliability
from ..uncertainty.study import Study
from ..web.animation import moving
from ..web.encoding import escaped, printed, script_json
from ..web.modules import asset, in_one
from ..web.plots import Plots
from .designs import fit_section, optimum_section
from .equilibrium import rest_section
from .glance import glance
from .gradients import certificate_section, gradient_section
from .identification import posterior_section
from .outputs import chosen, events_section, output_plots
from .provenance import computed_section, duration, parameter_scales, parameter_units, summary
from .reliability import reliability_section
from .robust import (
    allocation_section,
    curve_section,
    statistics_section,
    verification_part,
)
from .tables import section, table
from .uncertainty import SIGMAS, moments_section, study_section
from .vibrations import modes_section

OF_TOLERANCES = (Statistics, Allocation, AllocationCurve)
KINDS = (Run, Gradient, Moments, Study, Reliability, Optimum, Fit, Posterior, Modes, *OF_TOLERANCES)
Reported = (
    Run
    | Gradient
    | Moments
    | Study
    | Reliability
    | Optimum
    | Fit
    | Posterior
    | Modes
    | Statistics
    | Allocation
    | AllocationCurve
)
CLOSED = 1e-6
"""Largest constraint residual, relative to the mechanism's size, that is marked as good; a round
value.
"""
Tables = Mapping[str, tuple[Sequence[str], Sequence[Sequence[object]]]]
"""Heading → (column titles, rows)."""


def report(
    path: str | Path,
    *results: Reported,
    title: str | None = None,
    model: str | None = None,
    certificate: Certificate | None = None,
    show: Mapping[str, object] | None = None,
    tables: Tables | None = None,
) -> Path:
    """Write a self-contained HTML page about results: animation, plots, tables, and the method.

    Args:
        path: the HTML file.
        results: results of one mechanism, at most one of each kind: runs, gradients, moments,
            studies, reliabilities, optima, fits, posteriors, modes, statistics, allocations and
            their curves.
        title: title of the page; by default the name of the mechanism.
        model: text of a model file that the page offers for download; by default written from the
            mechanism if possible.
        certificate: certificate of a gradient, from `Gradient.certify`.
        show: outputs to plot, as for `Run.plot`, and "trace": points whose paths are drawn; such
            as `{"position": ["2"], "reaction": ["B"], "trace": ["2"]}`. By default the outputs
            that change most. Energies are always shown.
        tables: heading → (column titles, rows), shown first; such as results with reference values.

    Returns:
        The path of the file.

    Raises:
        ModelError: if a result is of another kind, or the file cannot be written.

    >>> import varimech as vm, tempfile
    >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    >>> origin = m.ground_point("O", (0, 0))
    >>> rod = m.bar("rod", "O", "tip", length=1.0, mass=3.0)
    >>> joint = m.revolute("O")
    >>> m.start(angle={"rod": -1.0})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     vm.report(f"{folder}/pendulum.html", m.simulate(1.0, step=0.01)).name
    'pendulum.html'
    """
    _check(results, model, certificate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundantReactionWarning)  # the page has its own note
        text = page(results, title, model, certificate, show, tables)
    path = Path(path)
    write_text(path, text)
    return path


def _check(results: tuple[object, ...], model: object, certificate: object) -> None:
    names = ", ".join(kind.__name__ for kind in KINDS)
    if not results:
        raise ModelError("no results", element="report", remedy=f"give one or more of {names}")
    for result in results:
        if not isinstance(result, KINDS):
            problem = f"{type(result).__name__} {result!r:.60} is not a reportable result"
            raise ModelError(problem, element="report", value=result, remedy=f"give any of {names}")
    kinds = [type(result).__name__ for result in results]
    if doubled := next((kind for kind in kinds if kinds.count(kind) > 1), None):
        problem = f"there are {kinds.count(doubled)} results of kind {doubled}"
        remedy = "give one of each kind, and write separate pages for the others"
        raise ModelError(problem, element="report", remedy=remedy)
    if len(mechanisms := {mechanism_of(result) for result in results}) > 1:
        problem = (
            f"results belong to several mechanisms ({', '.join(map(repr, sorted(mechanisms)))})"
        )
        raise ModelError(problem, element="report", remedy="write a page for each")
    if model is not None and not isinstance(model, str):
        remedy = "read it with Path(…).read_text()"
        problem = "must be the text of a model file"
        raise ModelError(problem, element="report", field="model", value=model, remedy=remedy)
    if certificate is not None and not isinstance(certificate, Certificate):
        problem = "must be a result of Gradient.certify()"
        raise ModelError(problem, element="report", field="certificate", value=certificate)


def _model(run: Run | None) -> str | None:
    """Model file of a run of this session; None if the model contains Python functions."""
    if run is None or not run.is_live:
        return None
    try:
        return to_text(document_of(run.live.equations.model, None, {}))
    except ModelError:
        return None


def mechanism_of(result: Any) -> str:
    """Name of the mechanism of a result."""
    if isinstance(result, Gradient):
        result = result.run
    return str(result.info["mechanism"] if isinstance(result, (Run, Modes)) else result.label)


def page(
    results: tuple[object, ...],
    title: str | None = None,
    model: str | None = None,
    certificate: Certificate | None = None,
    show: Mapping[str, object] | None = None,
    tables: Tables | None = None,
) -> str:
    """The page as text; `report` documents the arguments."""
    content = _content(results, title, model, certificate, show, tables)
    return Template(asset("page.html")).substitute(content, scripts=in_one("report.js"))


def framed_page(results: tuple[object, ...], show: Mapping[str, object] | None = None) -> str:
    """Motion, plots and tables as a page for a frame in a notebook; arguments as of `report`.

    Raises:
        ModelError: if a result is of another kind.
    """
    _check(results, None, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundantReactionWarning)
        content = _content(results, show=show)
    return Template(asset("view.html")).substitute(content, scripts=in_one("report_frame.js"))


def _content(
    results: tuple[object, ...],
    title: str | None = None,
    model: str | None = None,
    certificate: Certificate | None = None,
    show: Mapping[str, object] | None = None,
    tables: Tables | None = None,
) -> dict[str, str]:
    """Sections of a page, by their names in templates."""
    plots = Plots()
    run = _subject(results)
    model = _model(run) if model is None else model
    moments = next((r for r in results if isinstance(r, Moments)), None)
    optimum = next((r for r in results if isinstance(r, Optimum)), None)
    parts = [
        section(f"table-{k}", heading, table(*content))
        for k, (heading, content) in enumerate((tables or {}).items(), 1)
    ]
    parts += [_section(result, plots) for result in results if not isinstance(result, Run)]
    data: dict[str, Any] = {
        "animation": None,
        "parameters": [],
        "tolerances": False,
        "sigmas": SIGMAS,
        "model": model,
    }
    name = mechanism_of(results[0])
    outputs: dict[str, list[str]] = {}
    if run is not None:
        outputs, traces = chosen(run, show)
        covariance = _covariance(run, moments)
        data["animation"] = moving(run, traces, None if optimum is None else optimum.before)
        data["parameters"] = _parameters(run)
        data["tolerances"] = covariance is not None
        if run.time.size == 1:
            parts.append(rest_section(run))
        elif outputs:
            parts.append(
                section("outputs", "Outputs", output_plots(run, outputs, plots, covariance))
            )
        parts.append(events_section(run))
    if certificate is not None:
        parts.append(certificate_section(certificate, plots))
    sections = "".join(parts)
    computed = "" if run is None else computed_section(run, plots)
    data["plots"], data["name"] = plots.specs, name
    return {
        "title": escaped(title or name),
        "summary": escaped("" if run is None else summary(run)),
        "chips": _chips(results, run, certificate, data["animation"]),
        "style": asset("style.css"),
        "glance": glance(results, run, outputs),
        "motion": "" if run is None else _motion(name, data["animation"]["warning"]),
        "sections": sections,
        "computed": computed,
        "model": _model_section(model),
        "data": script_json(data),
    }


def _motion(name: str, warning: str) -> str:
    return Template(asset("motion.html")).substitute(
        name=escaped(name), warning=escaped(warning), sigmas=f"{SIGMAS:g}"
    )


def _subject(results: tuple[object, ...]) -> Run | None:
    """The run that is animated: the run of an optimum, or preferably one with sensitivities."""
    if (optimum := next((r for r in results if isinstance(r, Optimum)), None)) is not None:
        return optimum.after
    # all other results contain a run
    others = [result for result in results if not isinstance(result, Study)] or results
    runs = [r for result in others if (r := _run_of(result)) is not None]
    return next((r for r in runs if r.parameter_names), runs[0] if runs else None)


def _run_of(result: object) -> Run | None:
    """Run of a result. The run of a study is simulated here if possible: its mechanism may have
    changed, or fail at the parameter means.
    """
    if isinstance(result, Study):
        try:
            return result.run
        except VarimechError:
            return None
    return result if isinstance(result, Run) else getattr(result, "run", None)


def _section(result: Any, plots: Plots) -> str:
    if isinstance(result, Gradient):
        return gradient_section(result, plots) if result.objective_names else ""
    if isinstance(result, Moments):
        return moments_section(result, plots)
    if isinstance(result, Study):
        return study_section(result, plots)
    if isinstance(result, Reliability):
        return reliability_section(result, plots)
    if isinstance(result, Posterior):
        return posterior_section(result, plots)
    if isinstance(result, Modes):
        return modes_section(result)
    if isinstance(result, Statistics):
        return statistics_section(result, plots)
    if isinstance(result, Allocation):
        verified = verification_part(result.verification, result.designs, plots)
        return allocation_section(result, plots) + verified
    if isinstance(result, AllocationCurve):
        return curve_section(result, plots)
    if isinstance(result, RobustOptimum):
        verified = verification_part(result.verification, result.designs, plots)
        return optimum_section(result, plots) + verified
    return (
        optimum_section(result, plots)
        if isinstance(result, Optimum)
        else fit_section(result, plots)
    )


def _covariance(run: Run, moments: Moments | None) -> np.ndarray | None:
    """Covariance of the parameters for which the run has sensitivities."""
    if moments is None or not set(moments.distributions.names) <= set(run.parameter_names):
        return None
    C = np.zeros((len(run.parameter_names),) * 2)
    place = [run.parameter_names.index(n) for n in moments.distributions.names]
    C[np.ix_(place, place)] = moments.distributions.covariance
    return C


def _parameters(run: Run) -> list[dict[str, Any]]:
    units = parameter_units(run)
    values, scales = run.info["parameters"], parameter_scales(run)
    return [
        {"name": n, "unit": units.get(n, ""), "value": values[n], "scale": scales[n]}
        for n in run.parameter_names
    ]


def _chips(
    results: tuple[object, ...], run: Run | None, certificate: Certificate | None, animation: Any
) -> str:
    """Method, duration, and the status of each result in a few words."""
    chips = (
        []
        if run is None
        else [("", run.info["method"]), ("warn" if "stopped" in run.info else "", duration(run))]
    )
    if run is not None:
        residual, size = (
            run.info["residuals"][0],
            float(np.linalg.norm(np.ptp(animation["box"], axis=0))),
        )
        chips.append(
            (
                "good" if residual <= CLOSED * size else "bad",
                f"constraint error {printed(residual, 1)} m",
            )
        )
        if animation["warning"]:
            chips.append(("warn", "too few stored times for a smooth animation"))
    for result in results:
        if isinstance(result, Optimum) and result.best.stopped:
            chips.append(("warn", f"stopped after {result.iterations} iterations"))
        elif isinstance(result, (Optimum, Fit, Allocation)):
            chips.append(("good", "converged") if result.converged else ("bad", "not converged"))
        elif isinstance(result, Moments):
            holds = bool((result.horizons >= result.time[-1]).all())
            chips.append(
                ("good", "moments valid to the end")
                if holds
                else ("bad", f"moments valid to {result.horizons.min():.3g} s")
            )
        elif isinstance(result, Study):
            chips.append(
                (
                    "bad" if result.failed else "good",
                    f"{result.count:,} samples, {result.failed} failed",
                )
            )
            if result.stopped is not None:
                chips.append(("warn", f"stopped before {result.stopped:,} samples"))
        elif isinstance(result, Reliability):
            doubts = len(result.notes)
            chips.append(("warn" if doubts else "good", f"P ≈ {result.probability:.3g}"))
    if certificate is not None:
        chips.append(
            ("good", "gradient trusted") if certificate.trusted else ("bad", "gradient not trusted")
        )
    return "".join(f'<li class="{kind}">{escaped(text)}</li>' for kind, text in chips)


def _model_section(model: str | None) -> str:
    if model is None:
        return ""
    lines = "".join(f"<li><code>{escaped(line) or ' '}</code></li>" for line in model.splitlines())
    button = '<p><button type="button" id="download-model">Download the model file</button></p>'
    shown = (
        f"<details><summary>Show it ({len(model.splitlines())} lines)</summary><ol"
        f' class="code">{lines}</ol></details>'
    )
    return section("model", "Model file", button, shown)
