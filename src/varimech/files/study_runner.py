"""Execution of the studies of a model file: its settings, with changes, define a problem, and one
of the problem's analyses solves it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import ValidationError

from ..analyses.solvers import Wrt
from ..coordinates.systems import Relative
from ..core.errors import Interrupted, ModelError, VarimechError, unknown_name
from ..core.expressions import fixed_number
from ..core.messages import Message
from ..model.model_data import ModelData
from ..model.parameter import Tolerance
from ..optimization.quantities import Goal, Goals
from ..problem import Problem
from ..robust.random_design import WIDTH
from ..robust.statistic import Statistic
from ..schemes import RunOptions, find_coordinates, find_formulation, find_integrator
from ..sensitivity.comparison import Constraint
from ..sensitivity.failure import all_of, any_of
from ..uncertainty.limits import goal_of
from .objective_fields import limit_of
from .studies import KINDS, Bound, Studies

if TYPE_CHECKING:
    from ..identification.fit import Fit
    from ..identification.posterior import Posterior
    from ..optimization.optimum import Optimum
    from ..results.gradient import Gradient
    from ..results.run import Run
    from ..robust.allocation import Allocation
    from ..robust.allocation_curve import AllocationCurve
    from ..robust.design import RobustOptimum
    from ..robust.statistics_result import Statistics
    from ..uncertainty.moments import Moments
    from ..uncertainty.reliability import Reliability
    from ..uncertainty.study import Study

    StudyResult = (
        Run
        | Gradient
        | Moments
        | Study
        | Reliability
        | Optimum
        | Fit
        | Posterior
        | Statistics
        | Allocation
        | AllocationCurve
    )

OF_PROBLEMS = ("duration", "parameters", *RunOptions.__annotations__)
"""Settings that define a problem; the others belong to its analysis."""
EXCLUSIVE = {"step": "tolerance", "tolerance": "step"}
OTHERS = {
    "moments": (
        "samples",
        "sampling",
        "seed",
        "control",
        "target",
        "allowed_failures",
        "keep",
        "checkpoint",
        "chunk",
    ),
    "monte-carlo": ("order", "accuracy"),
}
"""Method of uncertainty → settings that belong to the other method."""


OF_POSTERIORS = ("draws", "chains", "warmup", "seed")
"""Settings of a fit that belong to its posterior."""
SYSTEMS = {"any": any_of, "all": all_of}
"""Systems of limits by their names in files."""


class Stating(Protocol):
    """The interface of a mechanism that studies use."""

    data: ModelData

    @property
    def problem(self) -> Callable[..., Problem]:
        """The method that defines a problem."""
        ...


def conduct(
    mechanism: Stating, studies: Studies, kind: str, changes: Mapping[str, object]
) -> StudyResult:
    """Execute a study and return the result of its analysis."""
    section = "allocate" if kind == "allocation_curve" else kind
    settings = resolved(mechanism.data, studies, section, changes)
    return _ANALYSES[kind](mechanism, studies, settings)


def resolved(
    data: ModelData, studies: Studies, kind: str, changes: Mapping[str, object]
) -> dict[str, Any]:
    """Settings of a study, in SI units and by the argument names of `Problem`."""
    if kind not in KINDS:
        raise unknown_name("kind of study", kind, KINDS)
    settings = _settings(studies, kind, changes)
    if settings.get("duration") is None and kind != "fit":  # a fit ends with its data
        raise ModelError(
            f"study {kind!r} of {data.name!r} has no duration",
            remedy="give studies.simulate.duration, such as 2 s",
        )
    return _in_si(data, settings)


def problem_of(
    mechanism: Stating, objectives: Goals, settings: dict[str, Any], wrt: Wrt = None
) -> Problem:
    """Define the problem of the settings; settings of its analysis are left in the dictionary."""
    own = {name: settings.pop(name) for name in OF_PROBLEMS if name in settings}
    return mechanism.problem(objectives, wrt, **own)


def _settings(studies: Studies, kind: str, changes: Mapping[str, Any]) -> dict[str, object]:
    """Settings of a study: those of `simulate`, overridden by its own, overridden by changes. A
    step replaces a tolerance, and vice versa.
    """
    settings: dict[str, Any] = {}
    own = getattr(studies, kind)
    for part in (studies.simulate, own if kind != "simulate" else None):
        _take(settings, part.given() if part is not None else {})
    if kind == "uncertainty":
        # settings of the file for the other method apply only if that one is requested
        for name in OTHERS.get(changes.get("method") or settings.get("method", "moments"), ()):
            settings.pop(name, None)
    _take(settings, {name: value for name, value in changes.items() if value is not None})
    return settings


def _take(settings: dict[str, Any], new: Mapping[str, Any]) -> None:
    for name in new:
        settings.pop(EXCLUSIVE.get(name, ""), None)
        if name in ("step", "tolerance"):
            for other in ("output", "longest_step") if name == "step" else ("every",):
                settings.pop(other, None)
    parameters = {**(settings.get("parameters") or {}), **(new.get("parameters") or {})}
    settings.update(new)
    if parameters:  # merge parameter values one by one
        settings["parameters"] = parameters


def with_changes(studies: Studies, kind: str, changes: Mapping[str, object]) -> Studies:
    """Studies whose own settings are those of an executed study; values of parameters remain in the
    model.
    """
    data = studies.model_dump(exclude_unset=True, by_alias=True)
    own = data[kind] = data.get(kind) or {}
    _take(own, {name: value for name, value in changes.items() if value is not None})
    for part in ("simulate", kind):
        (data.get(part) or {}).pop("parameters", None)
    if kind == "optimize":
        _check_goal(own)
    if studies.fit is not None:  # the new studies may be written into another folder
        for name, entry in studies.fit.data.items():
            if entry.path is not None:
                data["fit"]["data"][name]["file"] = str(entry.path.resolve())
    try:
        return Studies.model_validate(data)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise ModelError(
            f"{'.'.join(map(str, wrong['loc']))} = {wrong['input']!r}: {wrong['msg'].lower()}"
        ) from None


def _check_goal(how: Mapping[str, object]) -> None:
    if "minimize" not in how:
        raise ModelError(
            "there is nothing to minimise",
            remedy="give studies.optimize.minimize, the name of an objective",
        )


def _in_si(data: ModelData, given: Mapping[str, Any]) -> dict[str, Any]:
    """Convert settings to SI units, and integrators and similar settings to objects with their
    constants.
    """
    settings = dict(given)
    for name in ("duration", "step", "longest_step", "output"):
        value = settings.get(name)
        if isinstance(value, list):
            settings[name] = [_seconds(t, name) for t in value]
        elif value is not None:
            settings[name] = _seconds(value, name)
    for name, find in (
        ("integrator", find_integrator),
        ("formulation", find_formulation),
        ("coordinates", find_coordinates),
    ):
        if isinstance(settings.get(name), dict):
            settings[name] = _with_constants(name, settings[name], find)
    for name in ("parameters", "start"):
        if settings.get(name):
            settings[name] = {p: _of_parameter(data, p, x) for p, x in settings[name].items()}
    if settings.get("bounds"):
        settings["bounds"] = {
            p: tuple(_of_parameter(data, p, b) for b in pair)
            for p, pair in settings["bounds"].items()
        }
    return settings


def _with_constants(subject: str, entry: dict[str, Any], find: Any) -> object:
    if len(entry) != 1:
        raise ModelError(
            f"{subject} = {entry!r} must be one name with its constants, such as {{newmark: {{gamma:"
            " 0.7}}"
        )
    name, constants = next(iter(entry.items()))
    scheme = find(name)
    try:
        if isinstance(scheme, Relative):
            cut = constants.get("cut", ())
            return replace(
                scheme,
                **{**constants, "cut": tuple(map(str, cut if isinstance(cut, list) else [cut]))},
            )
        return type(scheme)(**constants)
    except TypeError:
        raise ModelError(
            f"{subject} {name!r} does not have all of the constants {', '.join(constants)}"
        ) from None


def _of_parameter(data: ModelData, key: str, value: object) -> object:
    """Convert a value of a parameter, or of its tolerance ("± crank")."""
    parameters, name = data.parameter_set.parameters, key.removeprefix(WIDTH)
    if name not in parameters:
        raise unknown_name(f"parameter of mechanism {data.name!r}", name, parameters)
    return (
        fixed_number(value, parameters[name].unit, f"parameter {name!r}")
        if isinstance(value, str)
        else value
    )


def _seconds(value: object, label: str) -> object:
    return fixed_number(value, "s", label) if isinstance(value, str) else value


def objectives_of(studies: Studies, names: Any = None) -> dict[str, Goal]:
    """Objectives by name; without names, all objectives that are results of a whole run or of small
    motions.
    """
    objectives = {name: objective_of(studies, name) for name in names or studies.objectives}
    chosen = {name: made for name, made in objectives.items() if isinstance(made, Goal)}
    if names and len(chosen) < len(objectives):
        other = next(n for n in objectives if n not in chosen)
        kind = (
            "a statistic, which only robust and allocate take"
            if isinstance(objectives[other], Statistic)
            else "a path, which only optimize takes"
        )
        raise ModelError(f"objective {other!r} is {kind}")
    if not chosen:
        raise ModelError(
            "there are no objectives",
            remedy='give some under studies.objectives, such as {final: angle("rod")}',
        )
    return chosen


def objective_of(studies: Studies, name: str) -> Any:
    """Build an objective, path or statistic of a file for analyses."""
    if name not in studies.objectives:
        raise unknown_name("objective", name, studies.objectives)
    try:
        return studies.objectives[name].made(studies.objectives)
    except ModelError as error:
        raise ModelError(f"objective {name!r}: {error}") from None


def _simulate(mechanism: Stating, studies: Studies, settings: dict[str, object]) -> Run:
    return problem_of(mechanism, (), settings).run(**settings)


def _sensitivity(mechanism: Stating, studies: Studies, settings: dict[str, Any]) -> Gradient:
    settings.pop("certify", None)
    objectives = objectives_of(studies, settings.pop("objectives", None))
    problem = problem_of(mechanism, objectives, settings, settings.pop("wrt", None) or "all")
    return problem.gradient(**settings)


def _uncertainty(mechanism: Stating, studies: Studies, settings: dict[str, Any]) -> Moments | Study:
    method = settings.pop("method", "moments")
    if method not in OTHERS:
        raise unknown_name("method of uncertainty", method, OTHERS)
    objectives = objectives_of(studies, settings.pop("objectives", None))
    correlate("uncertainty", settings)
    for name in OTHERS[method]:
        if settings.pop(name, None) is not None:
            raise ModelError(
                f"uncertainty: {name} does not go with method {method!r}", remedy="leave it out"
            )
    settings["parameters"], distributions = _moved(mechanism.data, settings.get("parameters") or {})
    problem = problem_of(mechanism, objectives, settings)
    if method == "moments":
        return problem.moments(distributions, **settings)
    return problem.monte_carlo(distributions, **settings)


def correlate(kind: str, settings: dict[str, Any]) -> None:
    """Convert the correlations of a file to those of `Problem`."""
    if not settings.get("correlation"):
        return
    pairs = [tuple(c.between) for c in settings["correlation"]]
    if doubled := next((pair for pair in pairs if pairs.count(pair) > 1), None):
        raise ModelError(
            f"{kind}: the correlation between {doubled[0]!r} and {doubled[1]!r} is given twice"
        )
    settings["correlation"] = {tuple(c.between): float(c.value) for c in settings["correlation"]}


def _reliability(mechanism: Stating, studies: Studies, settings: dict[str, Any]) -> Reliability:
    system = settings.pop("system", None) or "any"
    if system not in SYSTEMS:
        raise unknown_name("system of limits", system, SYSTEMS)
    limits = settings.pop("limits", None)
    if not limits:
        raise ModelError(
            "reliability: there is no limit",
            remedy="give some under studies.reliability.limits, such as {force: {above: 500}}",
        )
    quantities = {name: objective_of(studies, name) for name in limits}
    compared, named = list[Constraint](), dict[str, Goal]()
    for name, limit in limits.items():
        of_one = _failures(name, quantities[name], limit)
        compared += of_one
        for k, comparison in enumerate(of_one):
            goal = goal_of(comparison)
            if goal not in named.values():
                named[name if k == 0 else f"largest {name}"] = goal
    event = compared[0] if len(compared) == 1 else SYSTEMS[system](*compared)
    correlate("reliability", settings)
    settings["parameters"], distributions = _moved(mechanism.data, settings.get("parameters") or {})
    return problem_of(mechanism, named, settings).reliability(event, distributions, **settings)


def _failures(name: str, quantity: Any, limit: Any) -> list[Constraint]:
    """Comparisons of one entry: above, below, or both."""
    bounds = limit if isinstance(limit, Mapping) else limit.given()
    if not set(bounds) & {"above", "below"} or set(bounds) - {"above", "below"}:
        raise ModelError(
            f"reliability: limit {name!r} has above, below, or both of them, not {dict(bounds)!r}"
        )
    compared = []
    if (low := limit_of(quantity, bounds.get("below"), f"limit {name!r}: below")) is not None:
        compared.append(quantity <= low)
    if (high := limit_of(quantity, bounds.get("above"), f"limit {name!r}: above")) is not None:
        compared.append(quantity >= high)
    return compared


def _moved(
    data: ModelData, parameters: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, object]]:
    """Values of constant parameters and distributions of varying ones, whose tolerances are centred
    on the given values.
    """
    from scipy.stats import norm

    own = {name: data.parameter_set.parameters[name].distribution for name in parameters}
    for name, distribution in own.items():
        if distribution is not None and not isinstance(distribution, Tolerance):
            problem = (
                f"parameter {name!r} is given the value {parameters[name]!r}, and"
                " has a distribution with a mean of its own"
            )
            raise ModelError(problem, remedy="change it in the file instead")
    fixed = {name: value for name, value in parameters.items() if own[name] is None}
    distributions = {
        name: norm(value, own[name].sigma)
        for name, value in parameters.items()
        if own[name] is not None
    }
    return fixed, distributions


def _optimize(mechanism: Stating, studies: Studies, settings: dict[str, Any]) -> Optimum:
    _check_goal(settings)
    goal, constraints = settings.pop("minimize"), compared(studies, settings)
    for name in (goal, *constraints):
        if isinstance(objective_of(studies, name), Statistic):
            problem = f"optimize: objective {name!r} is a statistic over the tolerances"
            raise ModelError(problem, remedy="state the same under studies.robust")
    over = _begins_at_values(settings)
    stated = problem_of(mechanism, {goal: objective_of(studies, goal)}, settings)
    return stated.optimize(over, constraints=constraints, **settings)


def compared(studies: Studies, settings: dict[str, Any]) -> dict[str, Constraint]:
    """Constraints of a study."""
    bounds: Mapping[str, Bound] = settings.pop("constraints", None) or {}
    return {
        name: bound.constraint(objective_of(studies, name), name) for name, bound in bounds.items()
    }


def _robust(
    mechanism: Stating, studies: Studies, settings: dict[str, Any]
) -> Statistics | RobustOptimum:
    from .robust_runner import robust

    return robust(mechanism, studies, settings)


def _allocate(mechanism: Stating, studies: Studies, settings: dict[str, Any]) -> Allocation:
    from .robust_runner import allocate

    return allocate(mechanism, studies, settings)


def _allocation_curve(
    mechanism: Stating, studies: Studies, settings: dict[str, Any]
) -> AllocationCurve:
    from .robust_runner import allocation_curve

    return allocation_curve(mechanism, studies, settings)


def _fit(mechanism: Stating, studies: Studies, settings: dict[str, Any]) -> Fit | Posterior:
    if studies.fit is None:
        raise ModelError(
            "there are no measured data",
            remedy='state some under studies.fit.data, such as swing: {value: angle("rod"),'
            " file: swing.csv}",
        )
    settings.pop("data", None)
    measured = {name: entry.made(name) for name, entry in studies.fit.data.items()}
    if settings.get("duration") is None:
        from ..identification.fitting import last_sample

        settings["duration"] = last_sample(measured)
    over = _begins_at_values(settings)
    method = settings.pop("posterior", None)
    own = {name: settings.pop(name) for name in OF_POSTERIORS if name in settings}
    if method is None and own:
        raise ModelError(
            f"fit: {next(iter(own))} belongs to the posterior",
            remedy=Message("give {posterior}, or leave it out", posterior="laplace"),
        )
    fitted = problem_of(mechanism, (), settings).fit(measured, over, **settings)
    if method is None:
        return fitted
    try:
        return fitted.posterior(method=method, **own)
    except Interrupted:
        raise
    except KeyboardInterrupt:
        raise Interrupted("stopped before the posterior was computed", fitted) from None
    except VarimechError as error:
        error.result = fitted
        raise


def _begins_at_values(settings: dict[str, Any]) -> Any:
    """Variable parameters that begin at the given values."""
    over, values = settings.pop("over", None), settings.pop("parameters", None) or {}
    begins = {name: value for name, value in values.items() if over is None or name in over}
    settings["start"] = {**begins, **(settings.get("start") or {})}
    settings["parameters"] = {name: value for name, value in values.items() if name not in begins}
    return over


_ANALYSES: dict[str, Callable[[Stating, Studies, dict[str, Any]], StudyResult]] = {
    "simulate": _simulate,
    "sensitivity": _sensitivity,
    "uncertainty": _uncertainty,
    "reliability": _reliability,
    "optimize": _optimize,
    "robust": _robust,
    "allocate": _allocate,
    "allocation_curve": _allocation_curve,
    "fit": _fit,
}
