"""Conducting the studies of a model file: its settings, with changes, become calls of the verbs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..coordinates.systems import Relative
from ..core.errors import ModelError, unknown_name
from ..core.expressions import fixed_number
from ..model.parameter import Tolerance
from ..optimization.quantities import Path
from ..schemes import find_coordinates, find_formulation, find_integrator
from ..sensitivity.objective import Objective
from .studies import KINDS, Bound, Studies

if TYPE_CHECKING:
    from ..uncertainty.analyses import Uncertain

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
"""Method of uncertainty → settings that belong to the other one."""


def conduct(mechanism: Any, studies: Studies, kind: str, changes: Mapping[str, Any]) -> Any:
    """Carry out a study; returns what its verb returns."""
    duration, how = resolved(mechanism, studies, kind, changes)
    if kind == "simulate":
        return mechanism.simulate(duration, **how)
    return _VERBS[kind](mechanism, studies, duration, how)


def resolved(
    mechanism: Any, studies: Studies, kind: str, changes: Mapping[str, Any]
) -> tuple[float, dict[str, Any]]:
    """Duration (s) and all other settings of a study, in SI units and in the words of its verb."""
    if kind not in KINDS:
        raise unknown_name("kind of study", kind, KINDS)
    given = _settings(studies, kind, changes)
    if given.get("duration") is None:
        raise ModelError(
            f"study {kind!r} of {mechanism.name!r} has no duration; give studies.simulate.duration,"
            " such as 2 s"
        )
    duration = _seconds(given.pop("duration"), "duration")
    return duration, _how(mechanism, given)


def _settings(studies: Studies, kind: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a study: those of `simulate`, its own over them, and changes over both. A step
    replaces a tolerance, and the other way.
    """
    found: dict[str, Any] = {}
    own = getattr(studies, kind)
    for part in (studies.simulate, own if kind != "simulate" else None):
        _take(found, part.given() if part is not None else {})
    if (
        kind == "uncertainty"
    ):  # what a file says about the other method is for when that is asked for
        for name in OTHERS.get(changes.get("method") or found.get("method", "moments"), ()):
            found.pop(name, None)
    _take(found, {name: value for name, value in changes.items() if value is not None})
    return found


def _take(found: dict[str, Any], new: Mapping[str, Any]) -> None:
    for name in new:
        found.pop(EXCLUSIVE.get(name, ""), None)
        if name in ("step", "tolerance"):
            for other in ("output", "longest_step") if name == "step" else ("every",):
                found.pop(other, None)
    parameters = {**(found.get("parameters") or {}), **(new.get("parameters") or {})}
    found.update(new)
    if parameters:  # each value by itself
        found["parameters"] = parameters


def with_changes(studies: Studies, kind: str, changes: Mapping[str, Any]) -> Studies:
    """Studies whose own settings are those that one was carried out with; values of parameters are
    left to the model.
    """
    data = studies.model_dump(exclude_unset=True, by_alias=True)
    own = data[kind] = data.get(kind) or {}
    _take(own, {name: value for name, value in changes.items() if value is not None})
    for part in ("simulate", kind):
        (data.get(part) or {}).pop("parameters", None)
    if kind == "optimize":
        _check_goal(own)
    try:
        return Studies.model_validate(data)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise ModelError(
            f"{'.'.join(map(str, wrong['loc']))} = {wrong['input']!r}: {wrong['msg'].lower()}"
        ) from None


def _check_goal(how: Mapping[str, Any]) -> None:
    if "minimize" not in how:
        raise ModelError(
            "there is nothing to minimise; give studies.optimize.minimize, the name of an objective"
        )


def _how(mechanism: Uncertain, given: dict[str, Any]) -> dict[str, Any]:
    """Settings in SI units, and integrators and such with their constants."""
    how = dict(given)
    for name in ("step", "longest_step", "output"):
        if how.get(name) is not None:
            value = how[name]
            how[name] = (
                [_seconds(t, name) for t in value]
                if isinstance(value, list)
                else _seconds(value, name)
            )
    for name, find in (
        ("integrator", find_integrator),
        ("formulation", find_formulation),
        ("coordinates", find_coordinates),
    ):
        if isinstance(how.get(name), dict):
            how[name] = _with_constants(name, how[name], find)
    for name in ("parameters", "start"):
        if how.get(name):
            how[name] = {p: _of_parameter(mechanism, p, value) for p, value in how[name].items()}
    if how.get("bounds"):
        how["bounds"] = {
            p: tuple(_of_parameter(mechanism, p, b) for b in pair)
            for p, pair in how["bounds"].items()
        }
    return how


def _with_constants(what: str, told: dict[str, Any], find: Any) -> Any:
    if len(told) != 1:
        raise ModelError(
            f"{what} = {told!r} must be one name with its constants, such as {{newmark: {{gamma:"
            " 0.7}}"
        )
    name, constants = next(iter(told.items()))
    known = find(name)
    try:
        if isinstance(known, Relative):
            cut = constants.get("cut", ())
            return replace(
                known,
                **{**constants, "cut": tuple(map(str, cut if isinstance(cut, list) else [cut]))},
            )
        return type(known)(**constants)
    except TypeError:
        raise ModelError(
            f"{what} {name!r} does not have all of the constants {', '.join(constants)}"
        ) from None


def _of_parameter(mechanism: Uncertain, name: str, value: Any) -> Any:
    known = mechanism.data.parameter_set.parameters
    if name not in known:
        raise unknown_name(f"parameter of mechanism {mechanism.name!r}", name, known)
    return (
        fixed_number(value, known[name].unit, f"parameter {name!r}")
        if isinstance(value, str)
        else value
    )


def _seconds(value: Any, label: str) -> Any:
    return fixed_number(value, "s", label) if isinstance(value, str) else value


def objectives_of(studies: Studies, names: Any = None) -> dict[str, Objective]:
    """Those that are named; all that are numbers of a whole run if none is."""
    found = {name: _objective(studies, name) for name in names or studies.objectives}
    chosen = {name: made for name, made in found.items() if isinstance(made, Objective)}
    if names and len(chosen) < len(found):
        raise ModelError(
            f"objective {next(n for n in found if n not in chosen)!r} is a path or a peak, which"
            " only optimize takes"
        )
    if not chosen:
        raise ModelError(
            "there are no objectives; give some under studies.objectives, such as {final:"
            ' angle("rod")}'
        )
    return chosen


def _objective(studies: Studies, name: str) -> Any:
    if name not in studies.objectives:
        raise unknown_name("objective", name, studies.objectives)
    try:
        return studies.objectives[name].made()
    except ModelError as error:
        raise ModelError(f"objective {name!r}: {error}") from None


def _sensitivity(mechanism: Any, studies: Studies, duration: float, how: dict[str, Any]) -> Any:
    how.pop("certify", None)
    objectives, wrt = objectives_of(studies, how.pop("objectives", None)), how.pop("wrt", None)
    return mechanism.sensitivity(objectives, wrt or "all", duration=duration, **how)


def _uncertainty(mechanism: Any, studies: Studies, duration: float, how: dict[str, Any]) -> Any:
    method = how.pop("method", "moments")
    if method not in OTHERS:
        raise unknown_name("method of uncertainty", method, OTHERS)
    objectives = objectives_of(studies, how.pop("objectives", None))
    if how.get("correlation"):
        pairs = [tuple(c.between) for c in how["correlation"]]
        if doubled := next((pair for pair in pairs if pairs.count(pair) > 1), None):
            raise ModelError(
                f"uncertainty: the correlation between {doubled[0]!r} and {doubled[1]!r} is given"
                " twice"
            )
        how["correlation"] = {tuple(c.between): float(c.value) for c in how["correlation"]}
    for name in OTHERS[method]:
        if how.pop(name, None) is not None:
            raise ModelError(
                f"uncertainty: {name} does not go with method {method!r}; leave it out"
            )
    how["parameters"], spreads = _moved(mechanism, how.get("parameters") or {})
    verb = mechanism.moments if method == "moments" else mechanism.monte_carlo
    return verb(objectives, spreads, duration=duration, **how)


def _moved(
    mechanism: Any, parameters: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Values of what does not vary, and spreads of what does: a tolerance is about the value that
    is given.
    """
    from scipy.stats import norm

    carried = {name: mechanism.data.parameter_set.parameters[name].spread for name in parameters}
    for name, spread in carried.items():
        if spread is not None and not isinstance(spread, Tolerance):
            raise ModelError(
                f"uncertainty: parameter {name!r} is given the value {parameters[name]!r}, and has"
                " a distribution with a mean of its own; change its spread in the file instead"
            )
    fixed = {name: value for name, value in parameters.items() if carried[name] is None}
    spreads = {
        name: norm(value, carried[name].sigma)
        for name, value in parameters.items()
        if carried[name] is not None
    }
    return fixed, spreads


def _optimize(mechanism: Any, studies: Studies, duration: float, how: dict[str, Any]) -> Any:
    _check_goal(how)
    goal, constraints = how.pop("minimize"), how.pop("constraints", None) or {}
    compared = {
        name: _constraint(_objective(studies, name), name, bound)
        for name, bound in constraints.items()
    }
    over, given = how.pop("over", None), how.pop("parameters", None) or {}
    begins = {
        name: value for name, value in given.items() if over is None or name in over
    }  # what may change begins there
    how["start"] = {**begins, **(how.get("start") or {})}
    how["parameters"] = {name: value for name, value in given.items() if name not in begins}
    return mechanism.optimize(
        {goal: _objective(studies, goal)}, over, duration=duration, constraints=compared, **how
    )


def _constraint(quantity: Any, name: str, bound: Bound) -> Any:
    low, high, value = bound.at_least, bound.at_most, bound.equals
    if value is not None and low is None and high is None:
        if isinstance(quantity, (Objective, Path)):
            return quantity.equals(value)
    elif value is None and low is not None and high is not None:
        if isinstance(quantity, (Objective, Path)):
            return quantity.between(low, high)
    elif value is None and (low is not None or high is not None):
        return quantity >= low if high is None else quantity <= high
    raise ModelError(
        f"constraint {name!r} needs at_least, at_most, both of them, or equals; a peak takes"
        " at_most only"
    )


_VERBS = {"sensitivity": _sensitivity, "uncertainty": _uncertainty, "optimize": _optimize}
