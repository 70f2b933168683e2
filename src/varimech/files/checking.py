"""Checks of the studies of a file against its mechanism: unknown names are reported on reading,
with their positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..core.errors import unknown_name
from ..core.names import check_name
from ..elements.builder import Model
from ..model.user_functions import StateExpression, as_column, call_user, trial_state
from ..optimization.quantities import Path
from ..results.catalog import OUTPUTS, names_in
from ..robust.random_design import WIDTH
from ..robust.statistic import Statistic
from ..schemes import find_coordinates, find_formulation, find_integrator
from ..sensitivity.objective import Objective, functions_of
from ..sensitivity.stability_objective import StabilityObjective
from .source_map import SourceMap, Where, placing_errors
from .studies import KINDS, RobustStudy, Solving, Studies


def check_studies(marked: SourceMap, studies: Studies, model: Model) -> None:
    """Try every expression, and look up every name.

    Raises:
        FileError: with the position of the first error.
    """
    for name, entry in studies.objectives.items():
        with placing_errors(marked, ("studies", "objectives", name)):
            check_name("objective", name, without="")
            state = trial_state(model.data, f"objective {name!r}", of_a_run=True)
            made = entry.made(studies.objectives)
            if isinstance(made, StabilityObjective):
                _check_parameter(made, model)
                continue
            for text in _texts(made):
                as_column(call_user(text, state, f"objective {name!r}"), 1, f"objective {name!r}")
    for name, data in ({} if studies.fit is None else studies.fit.data).items():
        with placing_errors(marked, ("studies", "fit", "data", name)):
            label = f"data {name!r}"
            check_name("data", name, without="")
            state = trial_state(model.data, label, of_a_run=True)
            as_column(call_user(StateExpression(data.value), state, label), 1, label)
    for kind in KINDS:
        study = getattr(studies, kind)
        if study is not None:
            _check_names(marked, ("studies", kind), study, studies, model)
            _check_method(marked, ("studies", kind), study)
    for kind, names in (studies.show or {}).items():
        with placing_errors(marked, ("studies", "show", kind)):
            for name in names:
                _find(model, kind)(name)


def _texts(made: Objective | Path | Statistic) -> Iterator[StateExpression]:
    if isinstance(made, Statistic):
        for of in made.functions:
            yield from _texts(of)
        return
    functions = functions_of(made) if isinstance(made, Objective) else (made.function,)
    yield from (function for function in functions if isinstance(function, StateExpression))


def _check_parameter(made: StabilityObjective, model: Model) -> None:
    """Check the parameter of a critical speed, and its values."""
    parameters = model.data.parameter_set.parameters
    if made.kind == "critical_speed":
        if made.parameter not in parameters:
            raise unknown_name("parameter", made.parameter, parameters)
        for value in made.bracket:
            parameters[made.parameter].check(value)


def _check_names(
    marked: SourceMap, where: Where, study: Solving, studies: Studies, model: Model
) -> None:
    parameters, objectives = model.data.parameter_set.parameters, studies.objectives
    valid_names: dict[str, tuple[str, Iterable[str]]] = {
        **dict.fromkeys(
            ("wrt", "over", "bounds", "start", "parameters"), ("parameter", parameters)
        ),
        **dict.fromkeys(
            ("objectives", "constraints", "limits", "minimize", "curve"),
            ("objective", objectives),
        ),
        "tolerances": ("parameter", parameters),
        "grades": ("parameter", parameters),
    }
    if isinstance(study, RobustStudy):  # tolerance widths can be variables, too
        varying = [*parameters, *(WIDTH + name for name in parameters)]
        valid_names |= dict.fromkeys(("over", "bounds", "start"), ("parameter", varying))
    for field, (noun, names) in valid_names.items():
        names_given = getattr(study, field, None) or ()
        if isinstance(names_given, bool):
            continue
        for name in [names_given] if isinstance(names_given, str) else names_given:
            if name not in names:
                with placing_errors(marked, (*where, field)):
                    raise unknown_name(noun, name, names)


def _check_method(marked: SourceMap, where: Where, study: Solving) -> None:
    finders: dict[str, Callable[[Any], Any]] = {
        "integrator": find_integrator,
        "formulation": find_formulation,
        "coordinates": find_coordinates,
    }
    for field, find in finders.items():
        given = getattr(study, field)
        with placing_errors(marked, (*where, field)):
            for name in given if isinstance(given, dict) else [given] if given is not None else ():
                find(name)


def _find(model: Model, kind: str) -> Callable[[str], object]:
    """Return the lookup function for the objects that have an output."""
    of, names_by_kind = "point" if kind == "trace" else OUTPUTS[kind].of, names_in(model.data)
    # spatial bodies have an angular velocity, but no angle
    turning = names_by_kind["body"] if kind.startswith("angular_") else ()
    finders: dict[str, Callable[[str], object]] = {
        "point": model.data.find_point,
        "turn": lambda name: None if name in turning else model.data.find_angle(name),
        "slide": model.data.find_displacement,
        "constraint": lambda name: None,  # names of constraints depend on the coordinates
    }

    def check(name: str) -> None:
        if name not in names_by_kind[of]:
            raise unknown_name("energy" if of == "energy_kind" else of, name, names_by_kind[of])

    return finders.get(of, check)
