"""Requests of pages other than values and texts: handles, tolerances, jobs and designs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..core.errors import ModelError, unknown_name
from ..core.expressions import fixed_number
from ..files.editing import with_tolerance
from .handles import LIVE_STEPS, BodyTarget, ObjectiveTarget, PointTarget, Target, brought, pulled
from .session import Session
from .worker import OPTIONAL

GOALS = {"point": 1e-8, "objective": 1e-9}
"""Tolerance of a pull: distance in m; fraction of the target value of an objective."""
DIGITS = 10
"""Significant digits of values that result from a handle: a point stays within 1e-8 of its target.
"""


def pull(
    session: Session, final: bool = False, over: list[str] | None = None, **where: Any
) -> None:
    """Move a handle: {point, place, time} (without a time: its path), {points, places, time} for a
    whole bar, or {objective, value}.
    """
    engine, values = session.engine, session.values
    if engine is None:
        raise ModelError("the model has errors", remedy="correct its text first")
    target, goal = _target(**where)
    reached = (
        brought(engine, values, target, over, goal=goal)
        if final
        else pulled(engine, values, target, over, steps=LIVE_STEPS, goal=goal)
    )
    if session.engine is not engine:
        return  # another model was loaded meanwhile
    followed = {n: x for n, x in reached.values.items() if n in (over or engine.wrt)}
    session.set_values(followed, final=final, digits=DIGITS)
    session.handle = {
        **where,
        "left": reached.distance,
        "reached": reached.distance <= 100 * goal,
        "at_bounds": list(reached.at_bounds),
    }


def _target(
    point: str | None = None,
    place: list[float] | None = None,
    points: list[str] | None = None,
    places: list[list[float]] | None = None,
    time: float | None = None,
    objective: str | None = None,
    value: float | None = None,
) -> tuple[Target, float]:
    numbers = [
        *(place or ()),
        *(x for each in places or () for x in each),
        *(x for x in (time, value) if x is not None),
    ]
    if not all(isinstance(x, (int, float)) and math.isfinite(x) for x in numbers):
        raise ModelError("a handle is pulled to finite numbers")
    if objective is not None and value is not None:
        return ObjectiveTarget(objective, value), GOALS["objective"] * (abs(value) or 1.0)
    if point is not None and place is not None:
        return PointTarget(point, tuple(place), time), GOALS["point"]
    if points and places and time is not None and len(points) == len(places):
        pairs = zip(points, places, strict=True)
        return BodyTarget(tuple(PointTarget(p, tuple(at), time) for p, at in pairs)), GOALS["point"]
    raise ModelError(
        "a handle is a point with a place, a bar with places of its points, or an objective with a"
        " value",
        remedy="give point and place, points and places at a time, or objective and value",
    )


def set_tolerance(session: Session, name: str, width: float | str) -> None:
    """Write the tolerance of a parameter into the text."""
    parameters = (
        {} if session.engine is None else session.engine.mechanism.data.parameter_set.parameters
    )
    if name not in parameters:
        raise unknown_name("parameter", name, parameters)
    if width == "":
        raise ModelError(f"{name!r} has no new tolerance", remedy="to remove it, edit the text")
    if isinstance(width, str):
        width = fixed_number(width, parameters[name].unit, f"tolerance of {name!r}")
    session.change(lambda text: with_tolerance(text, name, float(width)))


def take_result(session: Session) -> None:
    """Adopt the values, and the tolerances, that a job has found."""
    result = session.jobs.state() or {}
    values, tolerances = result.get("values"), result.get("tolerances")
    if not values and not tolerances:
        remedy = "optimise, allocate or fit first"
        raise ModelError("there is no design to take over", remedy=remedy)
    if tolerances:
        session.change(lambda text: _with_tolerances(text, tolerances))
    if values:
        session.set_values(values, final=True, digits=DIGITS)


def _with_tolerances(text: str, tolerances: Mapping[str, float]) -> str:
    for name, width in tolerances.items():
        text = with_tolerance(text, name, float(width))
    return text


def watch(session: Session, what: str, on: bool) -> bool:
    """Compute results only while they are shown."""
    if what not in OPTIONAL:
        raise unknown_name("result", what, OPTIONAL)
    (session.watched.add if on else session.watched.discard)(what)
    return False


LIVE_ACTIONS: dict[str, Callable[..., Any]] = {
    "pull": pull,
    "tolerance": set_tolerance,
    "watch": watch,
    "job": lambda session, what: session.start_job(str(what)),
    "cancel": lambda session: session.jobs.cancel(),
    "take_result": take_result,
    "linear": lambda session, **choice: session.look_at(**choice),
    "compare": lambda session, name: session.compare(None if name is None else str(name)),
    "forget": lambda session, name: session.forget(str(name)),
}
