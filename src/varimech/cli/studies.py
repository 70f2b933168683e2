"""Study commands: run, sensitivity, uncertainty, reliability, optimize, fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.atomic_files import write_text
from ..core.errors import Interrupted
from . import completion as c
from . import options as o
from .command_syntax import CommandSyntax
from .output_files import model_text
from .study_output import StudyOutput, StudyRequest, conduct, run_data

if TYPE_CHECKING:
    from ..identification.fit import Fit
    from ..identification.posterior import Posterior
    from ..optimization.optimum import Optimum
    from ..results.certificate import Certificate
    from ..results.gradient import Gradient
    from ..results.run import Run
    from ..uncertainty.moments import Moments
    from ..uncertainty.reliability import Reliability
    from ..uncertainty.study import Study

    Certified = tuple[Gradient, Certificate | None]

WANTED = 3.0
"""Number of digits that a trusted derivative must have: engineering accuracy."""


@o.running()
def run(context: typer.Context) -> None:
    """Simulate a mechanism.

    Options override the settings of the model file (studies: simulate). With --out, the command
    writes a report for any browser (animation, outputs, energies, method), and the run as netCDF
    and CSV.

    Exit codes: 0: success; 2: failed; 130: stopped by Ctrl-C, partial results are kept.

    Examples:

      varimech new my.yaml && varimech run my.yaml --out out/run

      varimech run five-bar --duration 2 --set L_A1=1.5 --json
    """
    request = StudyRequest.of(context, "simulate")
    conduct(request, request.executed, _run_output)


def _run_output(run: Run) -> StudyOutput:
    live, info = run.live, run.info
    energy = live.evaluate(live.equations.state.energy)[:, 0]  # labels would import xarray
    drift = abs(energy - energy[0]).max()
    seconds = info["seconds"]
    text = (
        f"{run!r}\nenergy {energy[0]:.6g} J initially, changes by at most {drift:.2g} J; "
        f"{seconds['build']:.2f} s to build, {seconds['run']:.3g} s to run"
    )
    data = {**run_data(run), "energy_change": float(drift)}
    return StudyOutput(text, data, (run,), run=run)


@o.running()
def sensitivity(
    context: typer.Context,
    objective: o.Objective = None,
    wrt: o.Wrt = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Derivative method: auto (default), direct, adjoint, composite, finite-difference"
            " or complex-step."
        ),
    ] = None,
    certify: Annotated[
        bool,
        typer.Option(help="Also determine how many digits are reliable; this takes longer."),
    ] = False,
) -> None:
    """Compute objectives and their derivatives with respect to parameters.

    The model file defines the objectives (studies: objectives). Derivatives are in units of the
    objective per SI unit of the parameter.

    Exit codes: 0: success; 1: the certificate does not trust the gradient; 2: failed; 130: stopped
    by Ctrl-C.

    Examples:

      varimech sensitivity my.yaml --out out/sensitivity

      varimech sensitivity five-bar --objective psi2 --wrt L_A1 --method adjoint
    """
    request = StudyRequest.of(context, "sensitivity")
    in_file = None if request.mechanism.studies is None else request.mechanism.studies.sensitivity
    wanted = WANTED if certify or (in_file is not None and in_file.certify) else None
    conduct(request, lambda: certified(request.executed(), wanted), gradient_output)


def certified(gradient: Gradient, wanted: float | None) -> Certified:
    """A gradient and, if a number of digits is requested, its certificate; Ctrl-C keeps the
    gradient.
    """
    try:
        return gradient, None if wanted is None else gradient.certify(wanted=wanted)
    except KeyboardInterrupt:
        raise Interrupted("stopped before the gradient was certified", (gradient, None)) from None


def gradient_output(result: Certified) -> StudyOutput:
    """Output of a gradient, and of its certificate if there is one."""
    gradient, certificate = result if isinstance(result, tuple) else (result, None)
    data = {
        **run_data(gradient.run),
        "objectives": {
            name: float(x)
            for name, x in zip(gradient.objective_names, gradient.final_values, strict=True)
        },
        "gradient": {
            name: {p: float(x) for p, x in zip(gradient.parameter_names, row, strict=True)}
            for name, row in zip(gradient.objective_names, gradient.final_gradient, strict=True)
        },
    }
    if gradient.not_unique:
        data["not_unique"] = {
            "objectives": list(gradient.not_unique),
            "redundant_reactions": gradient.run.redundant_reactions,
        }
    text = str(gradient)
    if certificate is not None:
        data["certificate"] = certificate.to_json()
        text = f"{text}\n\n{certificate}"
    code = 0 if certificate is None or certificate.trusted else 1
    return StudyOutput(
        text, data, (gradient,), certificate=certificate, code=code, run=gradient.run
    )


@o.running()
def uncertainty(
    context: typer.Context,
    objective: o.Objective = None,
    method: Annotated[
        str | None,
        typer.Option(help="Method: moments (exact derivatives) or monte-carlo (many runs)."),
    ] = None,
    order: Annotated[int | None, typer.Option(help="Order of the moments: 1 or 2.")] = None,
    samples: Annotated[int | None, typer.Option(help="Number of Monte Carlo samples.")] = None,
    sampling: Annotated[
        str | None, typer.Option(help="Sampling method: random, latin-hypercube or sobol.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the random numbers.")] = None,
) -> None:
    """Propagate parameter tolerances: mean, standard deviation and the contribution of each
    parameter.

    The model file defines the distributions of parameters (tolerance: 0.1 mm, or distribution: …).
    With --out, a Monte Carlo study stores its samples in the folder. Repeat the command to resume
    it after Ctrl-C, or to add samples.

    Exit codes: 0: success; 2: failed; 130: stopped by Ctrl-C, partial results are kept.

    Examples:

      varimech uncertainty my.yaml --out out/uncertainty

      varimech uncertainty my.yaml --method monte-carlo --samples 4096
    """
    request = StudyRequest.of(context, "uncertainty")
    in_file = None if request.mechanism.studies is None else request.mechanism.studies.uncertainty
    method_used = request.given.get("method") or (
        in_file.method if in_file is not None else "moments"
    )
    kept: dict[str, object] = {}
    if request.out is not None and method_used == "monte-carlo":
        kept["checkpoint"] = str(request.out / "samples")
    requested = request.given.get("samples") or (in_file.samples if in_file is not None else None)
    conduct(
        request,
        lambda: request.executed(**kept),
        lambda result: _uncertainty_output(result, requested),
    )


def _uncertainty_output(result: Moments | Study, requested: int | None) -> StudyOutput:
    end = {
        name: {"mean": float(result.mean.values[-1, k]), "std": float(result.std.values[-1, k])}
        for k, name in enumerate(str(n) for n in result.mean["objective"].to_numpy())
    }
    data: dict[str, Any] = {"at_end": end}
    if hasattr(result, "contributions"):
        shares = result.contributions
        data["method"] = result.run.info["method"]
        last = shares.isel(time=-1)
        data["contributions"] = {
            name: {
                str(p): float(last.sel(objective=name, parameter=p))
                for p in last["parameter"].to_numpy()
            }
            for name in end
        }
    else:
        data |= {"samples": int(result.accumulator.taken), "failed": int(result.accumulator.failed)}
        if result.count:
            data["quantiles"] = _quantiles(result)
    name = "moments" if hasattr(result, "contributions") else "study"
    text = str(result)
    if requested is not None and data.get("samples", 0) > requested:
        data["notes"] = [
            f"{data['samples']:,} samples from earlier runs exceed the {requested:,} requested;"
            " all of them count"
        ]
        text = f"{text}\n{data['notes'][0]}"
    return StudyOutput(
        text, data, (result,), {f"{name}.nc": result.save, f"{name}.csv": result.save}
    )


def _quantiles(study: Study) -> dict[str, dict[str, dict[str, float]]]:
    """Quantiles at the end of the run with their 95 % intervals, as far as the samples determine
    them.
    """
    last = study.dataset.isel(time=-1)
    names = {"value": "quantiles", "lower": "quantiles_lower", "upper": "quantiles_upper"}
    return {
        str(name): {
            f"{p:g}": {
                key: float(x)
                for key, of in names.items()
                if math.isfinite(x := last[of].sel(objective=name, quantile=p).item())
            }
            for p in last["quantile"].to_numpy().tolist()
        }
        for name in last["objective"].to_numpy()
    }


@o.running()
def reliability(
    context: typer.Context,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="Failure limit of an objective, such as 'force>=500' or 'force>=0.5 kN'; may be"
            " repeated.",
            autocompletion=c.named("studies", "objectives", ending=">="),
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(help="Failure if any (default) limit is exceeded, or only if all are."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Method: form (default), importance, subset or samples.",
            autocompletion=c.one_of("form", "importance", "subset", "samples"),
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            help="Number of samples (subset: of each level). With form, they check its result."
        ),
    ] = None,
    level: Annotated[
        float | None, typer.Option(help="Level of the confidence interval. Default: 0.95.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the random numbers.")] = None,
) -> None:
    """Compute the probability that limits are exceeded, at the end or at any time of a run.

    The model file defines the distributions of parameters (tolerance: 0.1 mm, or distribution: …)
    and may define the limits (studies: reliability). Limits of peaks and paths apply at any time of
    the run, those of other objectives to their final value.

    Exit codes: 0: success; 2: failed; 130: stopped by Ctrl-C.

    Examples:

      varimech reliability my.yaml --limit 'travel>=0.34'

      varimech reliability my.yaml --limit 'travel>=0.34' --method importance
    """
    request = StudyRequest.of(context, "reliability")
    conduct(request, request.executed, _reliability_output)


def _reliability_output(result: Reliability) -> StudyOutput:
    drawn = result.sampled
    data: dict[str, Any] = {
        "event": result.event,
        "probability": result.probability,
        "beta": result.beta,
        "form": result.form,
        "sorm": result.sorms,
        "design": result.design,
        "importance": result.importance,
        "sensitivity": result.sensitivity_table().to_dict("index"),
        "samples": None if drawn is None else {"method": result.sampling, **asdict(drawn)},
        "limits": result.limit_table().to_dict("index"),
        "calls": result.calls,
        "notes": list(result.notes),
    }
    files: dict[str, Callable[[Path], Any]] = {
        "reliability.nc": result.save,
        "reliability.csv": lambda path: write_text(path, result.table().to_csv()),
    }
    return StudyOutput(str(result), data, (result,), files)


@o.running()
def optimize(
    context: typer.Context,
    minimize: Annotated[
        str | None,
        typer.Option(
            help="Objective to minimise.", autocompletion=c.named("studies", "objectives")
        ),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            help="Parameter to optimise; may be repeated. Default: all.",
            autocompletion=c.named("parameters"),
        ),
    ] = None,
    starts: Annotated[
        int | None,
        typer.Option(
            help="Number of local searches: from the values of the file, then from other designs"
            " within the bounds."
        ),
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(help="Optimiser: ipopt, scipy, or a method of scipy.optimize.minimize."),
    ] = None,
    hessian: Annotated[
        str | None, typer.Option(help="Second derivatives: approximate or exact.")
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option(help="Largest number of iterations of each search.")
    ] = None,
) -> None:
    """Minimise an objective over parameters, subject to constraints.

    The model file defines objectives, bounds and constraints (studies: optimize). With --out, the
    command writes a report that compares the designs before and after, and best.yaml, the model
    with the optimal values.

    Each search ends at a local optimum, which may not be the best one. --starts 8 searches from
    the values of the file and from seven other designs within the bounds, and lists the distinct
    local optima.

    Exit codes: 0: success; 1: no local optimum was reached, the best design is shown; 2: failed;
    130: stopped by Ctrl-C.

    Examples:

      varimech optimize my.yaml --out out/optimum

      varimech optimize my.yaml --minimize wear --over crank --over rod
    """
    request = StudyRequest.of(context, "optimize")
    syntax = CommandSyntax.of(context.command.params)
    conduct(request, request.executed, lambda best: _optimum_output(best, request, syntax))


def _optimum_output(best: Optimum, request: StudyRequest, syntax: CommandSyntax) -> StudyOutput:
    data = {
        "objective": float(best.objective),
        "objective_before": float(best.objective_before),
        "parameters": best.parameters,
        "converged": bool(best.converged),
        "iterations": int(best.iterations),
        "message": best.message,
        "second_order": "unchecked" if best.second_order is None else best.second_order.kind,
        "left": [{"kind": s.kind, "objective": float(s.objective)} for s in best.left],
        "local_optima": best.local_optima.to_dict("records"),
        "failed_starts": [str(failed.error) for failed in best.failed_starts],
    }
    better = model_text(request.mechanism, request.kind, request.given, best.parameters)
    files = {"best.yaml": lambda path: write_text(path, better)}
    return StudyOutput(best.text(syntax), data, (best,), files, code=0 if best.converged else 1)


@o.running()
def fit(
    context: typer.Context,
    over: Annotated[
        list[str] | None,
        typer.Option(
            help="Parameter to fit; may be repeated. Default: all.",
            autocompletion=c.named("parameters"),
        ),
    ] = None,
    level: Annotated[
        float | None, typer.Option(help="Level of the confidence intervals. Default: 0.95.")
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option(help="Largest number of iterations.")
    ] = None,
    posterior: Annotated[
        str | None,
        typer.Option(
            help="Also compute the posterior distribution: laplace (a few runs) or nuts (Markov"
            " chains)."
        ),
    ] = None,
    draws: Annotated[int | None, typer.Option(help="Number of draws of each chain.")] = None,
    chains: Annotated[int | None, typer.Option(help="Number of chains of nuts.")] = None,
    warmup: Annotated[
        int | None, typer.Option(help="Number of discarded warm-up draws of each chain.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the random numbers.")] = None,
) -> None:
    """Fit parameters to measured motion.

    The model file names the data (studies: fit), such as data: {swing: {value: angle("rod"), unit:
    rad, file: swing.csv}} for a CSV file with times in s and angles in rad. With --out, the command
    writes a report with the curves and the data, and fitted.yaml, the model with the fitted values.

    Exit codes: 0: success; 1: not converged, the best values are shown; 2: failed; 130: stopped by
    Ctrl-C.

    Examples:

      varimech fit my.yaml --out out/fit

      varimech fit my.yaml --over k --over c
    """
    request = StudyRequest.of(context, "fit")
    syntax = CommandSyntax.of(context.command.params)
    conduct(request, request.executed, lambda fitted: _fit_output(fitted, request, syntax))


def _fit_output(
    result: Fit | Posterior, request: StudyRequest, syntax: CommandSyntax
) -> StudyOutput:
    from ..identification.posterior import Posterior

    drawn = result if isinstance(result, Posterior) else None
    fitted = result.fit if isinstance(result, Posterior) else result
    data: dict[str, Any] = {
        "parameters": fitted.parameters,
        "intervals": fitted.intervals.reset_index().to_dict("records"),
        "converged": bool(fitted.converged),
        "message": fitted.message,
    }
    text = model_text(request.mechanism, request.kind, request.given, fitted.parameters)
    files: dict[str, Any] = {"fitted.yaml": lambda path: write_text(path, text)}
    shown = fitted.text(syntax)
    if drawn is not None:
        table = drawn.table().to_dict("index")
        data["posterior"] = {**drawn.info, "table": table, "warnings": list(drawn.warnings)}
        files["posterior.nc"] = drawn.save
        shown = f"{shown}\n\n{drawn.text(syntax)}"
    code = 0 if fitted.converged else 1
    results = (fitted,) if drawn is None else (fitted, drawn)
    return StudyOutput(shown, data, results, files, code=code)
