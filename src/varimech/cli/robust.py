"""Study commands about statistics over the tolerances: robust, allocate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.atomic_files import write_text
from ..core.errors import Interrupted
from . import completion as c
from . import options as o
from .command_syntax import CommandSyntax
from .output_files import tolerances_text
from .study_output import StudyOutput, StudyRequest, conduct

if TYPE_CHECKING:
    from ..core.messages import PythonSyntax
    from ..robust.allocation import Allocation
    from ..robust.allocation_curve import AllocationCurve
    from ..robust.design import RobustOptimum
    from ..robust.statistics_result import Statistics
    from ..robust.verification import Verification

    Allocated = tuple[Allocation, AllocationCurve | None]

Files = dict[str, Callable[[Path], Any]]
Method = Annotated[
    str | None,
    typer.Option(
        "--statistics",
        help="Method for the statistics: auto (default), moments, samples, form or chaos.",
        autocompletion=c.one_of("auto", "moments", "samples", "form", "chaos"),
    ),
]
Order = Annotated[int | None, typer.Option(help="Order of the moments: 1 or 2.")]
Samples = Annotated[
    int | None, typer.Option(help="Number of runs with gradients, for samples and chaos.")
]
Over = Annotated[
    list[str] | None,
    typer.Option(
        help="Parameter whose nominal value is optimised; may be repeated.",
        autocompletion=c.named("parameters"),
    ),
]


def _count(text: str) -> int | bool:
    """A number of samples, or False for none."""
    if text in ("false", "none"):
        return False
    if not text.isdecimal():
        raise typer.BadParameter(f"{text!r} is neither a number of samples nor false")
    return int(text)


Verify = Annotated[
    Any,
    typer.Option(
        parser=_count,
        metavar="<int>|false",
        help="Number of independent samples that verify the result; false: none. Default:"
        " automatic.",
    ),
]
Seed = Annotated[int | None, typer.Option(help="Seed of the random numbers.")]
Solver = Annotated[
    str | None,
    typer.Option(help="Optimiser: ipopt, scipy, or a method of scipy.optimize.minimize."),
]
Iterations = Annotated[
    int | None, typer.Option(help="Largest number of iterations of each search.")
]


@o.running()
def robust(
    context: typer.Context,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            help="Name of a statistic among the objectives; may be repeated. Default: all.",
            autocompletion=c.named("studies", "objectives"),
        ),
    ] = None,
    minimize: Annotated[
        str | None,
        typer.Option(
            help="Objective or statistic to minimise. Default: only compute statistics.",
            autocompletion=c.named("studies", "objectives"),
        ),
    ] = None,
    over: Over = None,
    starts: Annotated[
        int | None, typer.Option(help="Number of local searches, as for varimech optimize.")
    ] = None,
    statistics: Method = None,
    order: Order = None,
    samples: Samples = None,
    verify: Verify = None,
    solver: Solver = None,
    max_iterations: Iterations = None,
    seed: Seed = None,
) -> None:
    """Compute statistics over the tolerances with their derivatives, or find a robust design.

    Statistics are objectives of the model file: {mean: load}, {std: load}, {quantile: load, p:
    0.999}, {worst: load, sigma: 3}, {probability: {load: {at_most: 500}}}, where load is the name of
    another objective, such as {peak: …}. They are differentiated with respect to nominal values and
    tolerances (± name). With --minimize, the command optimises nominal values subject to the
    constraints of the file (studies: robust), and verifies the result with independent samples.

    Exit codes: 0: success; 1: no local optimum was reached, or samples contradict it; 2: failed;
    130: stopped by Ctrl-C.

    Examples:

      varimech examples crank_slider_tolerances

      varimech robust crank_slider_tolerances.yaml --out out/robust

      varimech robust crank_slider_tolerances.yaml --minimize deviation --over rod
    """
    request = StudyRequest.of(context, "robust")
    syntax = CommandSyntax.of(context.command.params)
    conduct(request, request.executed, lambda result: _robust_output(result, request, syntax))


def _robust_output(
    result: Statistics | RobustOptimum, request: StudyRequest, syntax: PythonSyntax
) -> StudyOutput:
    from ..robust.design import RobustOptimum

    if isinstance(result, RobustOptimum):
        return _optimum_output(result, request, syntax)
    data: dict[str, object] = {
        "statistics": {
            str(name): {
                "value": float(row["value"]),
                "error": float(row["error"]),
                "unit": row["unit"],
                "method": row["method"],
            }
            for name, row in result.table().iterrows()
        },
        "derivatives": _derivatives(result),
    }
    files: Files = {"statistics.nc": result.save, "statistics.csv": result.save}
    return StudyOutput(result.text(syntax), data, (result,), files)


def _derivatives(result: Statistics) -> dict[str, dict[str, float]]:
    """Derivatives of each scalar statistic: by parameter, and by tolerance as "± name"."""
    names = result.design.variables
    return {
        name: dict(zip(names, map(float, v.derivatives[0]), strict=False))
        for name, v in result.found.items()
        if not result.statistics[name].over_time
    }


def _optimum_output(
    best: RobustOptimum, request: StudyRequest, syntax: PythonSyntax
) -> StudyOutput:
    data = {
        "objective": float(best.objective),
        "objective_before": float(best.objective_before),
        "parameters": best.parameters,
        "tolerances": best.widths,
        "converged": bool(best.converged),
        "message": best.message,
        "verification": _verified(best.verification),
    }
    text = tolerances_text(
        request.mechanism, request.kind, request.given, best.parameters, best.widths
    )
    files = {"best.yaml": lambda path: write_text(path, text)}
    good = best.converged and not _contradicted(best.verification)
    return StudyOutput(best.text(syntax), data, (best,), files, code=0 if good else 1)


@o.running()
def allocate(
    context: typer.Context,
    over: Over = None,
    grades: Annotated[
        bool | None,
        typer.Option("--grades", help="Choose tolerance grades of ISO 286-1, such as IT7."),
    ] = None,
    curve: Annotated[
        bool,
        typer.Option(
            "--curve", help="Also compute cost against risk, for the targets of curve: in the file."
        ),
    ] = False,
    statistics: Method = None,
    order: Order = None,
    samples: Samples = None,
    verify: Verify = None,
    solver: Solver = None,
    max_iterations: Iterations = None,
    seed: Seed = None,
) -> None:
    """Find the cheapest tolerances that satisfy constraints on statistics.

    Parameters of the model file define the cost of their tolerances: tolerance: {width: 0.2 mm,
    at_least: 0.05 mm, at_most: 1 mm, cost: {a: 2, b: 0.4 mm}} costs a + b/tolerance. Constraints
    (studies: allocate) bound statistics, such as {probability: {load: {at_most: 500}}} with
    at_least: 0.999. Independent samples verify the result. With --out, the command writes a report,
    tolerances.csv for the workshop, and allocated.yaml, the model with the allocated tolerances.

    Exit codes: 0: success; 1: not converged, or samples contradict it; 2: failed, or no tolerances
    meet the target; 130: stopped by Ctrl-C, the best tolerances are kept.

    Examples:

      varimech examples crank_slider_tolerances

      varimech allocate crank_slider_tolerances.yaml --curve --out out/allocate

      varimech allocate crank_slider_tolerances.yaml --grades
    """
    request = StudyRequest.of(context, "allocate")
    syntax = CommandSyntax.of(context.command.params)
    conduct(
        request,
        lambda: _allocated(request, curve),
        lambda result: _allocation_output(result, request, syntax),
    )


def _allocated(request: StudyRequest, curve: bool) -> Allocated:
    """The tolerances, and the curve if it is requested; Ctrl-C keeps partial results."""
    try:
        allocation = request.executed()
    except Interrupted as stop:
        raise Interrupted(stop.reached, (stop.result, None)) from None
    if not curve:
        return allocation, None
    try:
        return allocation, request.mechanism.study("allocation_curve", **request.given)
    except Interrupted as stop:
        raise Interrupted(stop.reached, (allocation, stop.result)) from None
    except KeyboardInterrupt:
        raise Interrupted("stopped before the curve", (allocation, None)) from None


def _allocation_output(
    result: Allocated, request: StudyRequest, syntax: PythonSyntax
) -> StudyOutput:
    a, curve = result
    data: dict[str, Any] = {
        "cost": a.cost,
        "cost_before": a.cost_before,
        "cost_of_equal_tolerances": None if a.equal is None else a.equal.cost,
        "tolerances": a.tolerances,
        "tolerances_before": dict(zip(a.names, a.before.tolist(), strict=True)),
        "grades": dict(a.grades),
        "nominals": {name: after for name, (_, after) in a.nominals.items()},
        "constraints": {
            b.name: {"before": b.before, "value": b.value, "multiplier": b.multiplier}
            for b in a.constraints
        },
        "tighten_first": a.tighten_first,
        "may_relax": a.may_relax,
        "converged": bool(a.converged),
        "message": a.message,
        "verification": _verified(a.verification),
    }
    texts = [a.text(syntax)]
    if curve is not None:
        data["curve"] = [
            {"target": float(target), "cost": float(cost)}
            for target, cost in zip(curve.targets, curve.cost.to_numpy(), strict=True)
        ]
        texts.append(curve.text(syntax))
    nominals = {name: after for name, (_, after) in a.nominals.items()}
    text = tolerances_text(request.mechanism, request.kind, request.given, nominals, a.tolerances)
    files: Files = {
        "tolerances.csv": a.to_csv,
        "allocated.yaml": lambda path: write_text(path, text),
        "allocation.nc": a.save,
    }
    good = a.converged and not _contradicted(a.verification)
    results = (a,) if curve is None else (a, curve)
    return StudyOutput("\n\n".join(texts), data, results, files, code=0 if good else 1)


def _contradicted(check: Verification | None) -> bool:
    return check is not None and bool(check.contradictions)


def _verified(check: Verification | None) -> object:
    """A verification as plain data."""
    if check is None:
        return None
    return {
        "samples": check.samples,
        "statistics": {
            s.name: {
                "value": s.claimed,
                "sampled": s.estimate,
                "interval": [s.lower, s.upper],
                "verdict": s.verdict,
            }
            for s in check.checked
        },
    }
