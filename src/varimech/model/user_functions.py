"""Functions of the state that a user writes, in Python or as text: they are tried when they are
given, called, and their results checked.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca

from ..core.errors import ModelError, unknown_name
from ..core.symbols import NOT_SYMBOLIC, SX, symbols_in
from .body import Body
from .frame import Frame
from .own_coordinates import OwnCoordinate
from .parameter import Parameter
from .parameter_set import evaluated
from .state import State, rate_without_acceleration

if TYPE_CHECKING:
    from .model_data import ModelData


CASADI_ERRORS = {
    "not iterable": (
        "takes a vector apart by iterating over it, which symbols do not allow",
        "take its components, x = p[0], y = p[1]",
    ),
    "SX_get": (
        "takes a component by an index that is not a whole number",
        "they are counted from 0: p[0], p[1]",
    ),
    "ut of bounds": (
        "takes a component that a vector does not have",
        "they are counted from 0, and there are two in the plane, three in space",
    ),
    "imension": (
        "combines vectors or matrices whose sizes do not match",
        "varimech.dot is the scalar product",
    ),
    "Wrong number or type of arguments": (
        "computes with something that is neither a number, a parameter nor a quantity of the state",
        "",
    ),
}
"""Fragments of CasADi's messages, which carry no structured data, with the problem and its remedy.
"""


@dataclass(frozen=True)
class StateExpression:
    """An expression in text as a function of the state: `vm.integral("norm(velocity('P'))")`."""

    text: str

    def __call__(self, state: State) -> object:
        """Evaluate the expression in a state."""
        return evaluated(self.text, state.scope, "text")


class AnyMultipliers(dict[str, SX]):
    """Multipliers under any name."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> SX:
        return SX.sym("λ")


@dataclass(frozen=True)
class AnyReactions:
    """Reactions of the existing joints and drivers, as free symbols."""

    model: ModelData

    def force(self, joint: str) -> SX:
        """Components of a force."""
        return self._of(joint, "joint", self.model.joints, self.model.dimension)

    def torque(self, joint: str) -> SX:
        """Components of a torque."""
        return self._of(joint, "joint", self.model.joints, 1 if self.model.dimension == 2 else 3)

    def effort(self, driver: str) -> SX:
        """An effort."""
        return self._of(driver, "driver", self.model.effort_units, 1)

    def _of(self, name: str, kind: str, known: Mapping[str, object], size: int) -> SX:
        if name not in known:
            raise unknown_name(kind, name, known)
        return SX.sym("f", size)


def trial_frames(model: ModelData) -> dict[Body, Frame]:
    """Frames of free symbols."""
    n = model.dimension
    free = {
        body: Frame(SX.sym("o", n), SX.sym("R", n, n), SX.sym("u", n), SX.sym("V", n, n))
        for body in model.moving_bodies
    }
    return {model.ground: model.ground_frame(), **free}


def trial_state(
    model: ModelData,
    user: str,
    *,
    of_a_run: bool = False,
    own: tuple[OwnCoordinate, ...] = (),
    frames: Mapping[Body, Frame] | None = None,
    later: Callable[[str], SX] | None = None,
) -> State:
    """Return a state of free symbols, on which a user's function can be tried at the call; with
    `of_a_run` it includes accelerations and reactions. It includes coordinates that elements own,
    and additional ones; `later` provides symbols for states and signals of later elements.
    """
    frames = trial_frames(model) if frames is None else frames
    pose: list[SX] = []
    motion: list[SX] = []
    for body in model.moving_bodies:
        frame = frames[body]
        pose += [frame.origin, ca.vec(frame.rotation)]
        motion += [frame.origin_rate, ca.vec(frame.rotation_rate)]
    states: dict[str, SX] = {}
    for c in (*model.own_coordinates, *own):
        y, ẏ = SX.sym(c.name), SX.sym(c.name)
        pose.append(y)
        motion.append(ẏ)
        states[c.name] = ẏ if c.order == 1 else y
    q, v, t = ca.vertcat(SX(0, 1), *pose), ca.vertcat(SX(0, 1), *motion), SX.sym("t")
    if of_a_run:
        return State(
            model,
            frames,
            t,
            lambda x: SX.sym("rate", *SX(x).shape),
            multipliers=AnyMultipliers(),
            reactions=lambda: AnyReactions(model),
            coordinates=(q, v, t),
            own=states,
            user=user,
        )
    return State(
        model,
        frames,
        t,
        lambda x: rate_without_acceleration(x, q, v, t, user),
        coordinates=(q, v, t),
        own=states,
        later=later,
        user=user,
    )


def call_user(function: Callable[[State], object], state: State, label: str) -> object:
    """Evaluate a user's function of the state."""
    if isinstance(function, StateExpression):
        return evaluated(function.text, state.scope, label)
    return called(function, state, label, "state s (its time is s.time)")


def called(function: Callable[[Any], object], argument: object, label: str, of: str) -> object:
    """Call a user's function. CasADi's own errors, and a state mistaken for a time, would give
    messages that do not help; replace them.
    """
    try:
        inspect.signature(function).bind(argument)
    except TypeError as error:
        raise ModelError(f"must be a function of the {of} alone: {error}", label=label) from None
    except ValueError:
        pass  # the signatures of some functions written in C cannot be inspected
    try:
        return function(argument)
    except NOT_SYMBOLIC as error:
        if "truth value" in str(error):
            raise ModelError(
                f"decides with `if`, `and`, `or`, min or max on a quantity of the {of.split()[0]}",
                label=label,
                remedy="use varimech.where(condition, yes, no), varimech.minimum or"
                " varimech.maximum instead",
            ) from None
        if re.search(r"\bState\b(?!\.)", str(error)):
            raise ModelError(
                f"computes with its argument as if it were a number, but that is the {of}",
                label=label,
            ) from None
        for part, (problem, remedy) in CASADI_ERRORS.items():
            if part in str(error):
                raise ModelError(problem, label=label, remedy=remedy) from error
        if "casadi/core" in str(error):
            raise ModelError(
                f"cannot be computed: {str(error).splitlines()[-1]}", label=label
            ) from error
        raise
    except AttributeError as error:
        if error.obj is argument and not isinstance(argument, State):
            raise ModelError(
                f"is a function of the {of}, which has no {error.name!r}", label=label
            ) from None
        raise


def as_column(value: Any, size: int | None, label: str) -> SX:
    """Return the result of a user's function as a column, of the right size if one is given."""
    try:
        column = SX(value.symbol if isinstance(value, Parameter) else value)
    except NOT_SYMBOLIC:
        try:
            column = ca.vertcat(*[SX(v) for v in value])
        except NOT_SYMBOLIC:
            problem = f"returned {value!r}, which is neither a number nor a vector of numbers"
            raise ModelError(problem, label=label) from None
    if size not in (None, column.numel()):
        required = "a scalar (varimech.dot or varimech.norm make one)" if size == 1 else str(size)
        plural = "" if column.numel() == 1 else "s"
        problem = f"returned {column.numel()} component{plural}; it must return {required}"
        raise ModelError(problem, label=label)
    if any(
        entry.is_constant() and not math.isfinite(float(entry))
        for entry in ca.vertsplit(ca.vec(ca.densify(column)))
    ):
        remedy = (
            "check for divisions by zero, and use varimech.sin, varimech.sqrt, …, not math or numpy"
        )
        raise ModelError("has a value that is not finite", label=label, remedy=remedy)
    return column.reshape((column.numel(), 1))


def column_of(function: Callable[[State], object], state: State, label: str) -> SX:
    """Evaluate a user's function of a state as a column, for a number or a vector."""
    return as_column(call_user(function, state, label), None, label)


def function_of_state(
    model: ModelData,
    value: object,
    size: int | None,
    label: str,
    unit: str,
    *,
    of_a_run: bool = False,
    forward: bool = False,
) -> Callable[[State], SX]:
    """Return numbers, texts, or a user's function, as a function of the state that has been tried,
    of any size if `size` is None. With `of_a_run` it may depend on accelerations and reactions;
    with `forward` it may refer to states and signals of later elements.
    """
    numbers = model.parameter_set
    value = _with_texts(model, value, label, unit)
    if callable(value):

        def function(state: State) -> SX:
            return as_column(call_user(value, state, label), size, label)

        later: list[SX] = []
        trial = trial_state(
            model, label, of_a_run=of_a_run, later=collecting(later) if forward else None
        )
        tried = function(trial)
        if not of_a_run:  # in functions of a run, rates and reactions are free symbols
            numbers.check_symbols(tried, label, symbols_in(*trial.coordinates, *later))
        return function
    if size is None:
        size = len(value) if isinstance(value, (list, tuple)) else 1
    constant = numbers.scalar(value, label) if size == 1 else numbers.vector_of(value, size, label)
    return lambda state: constant


def collecting(symbols: list[SX]) -> Callable[[str], SX]:
    """Return a function that makes symbols for states and signals of later elements, and collects
    them.
    """

    def later(name: str) -> SX:
        symbols.append(SX.sym(name))
        return symbols[-1]

    return later


def _with_texts(model: ModelData, value: object, label: str, unit: str) -> object:
    """Texts, alone or as components, as a function of the state; quantities as numbers."""
    texts = value if isinstance(value, (list, tuple)) else [value]
    if not any(isinstance(text, str) for text in texts):
        return value
    numbers = model.parameter_set
    scope = numbers.scope_with("t", None, "the time")
    quantities = [
        numbers.quantity(text, unit, label, scope) if isinstance(text, str) else None
        for text in texts
    ]
    components = [
        text if number is None else number for text, number in zip(texts, quantities, strict=True)
    ]

    def function(state: State) -> object:
        values = [
            evaluated(text, state.scope, label) if isinstance(text, str) else text
            for text in components
        ]
        return values if isinstance(value, (list, tuple)) else values[0]

    return function


def function_of_time(
    model: ModelData, motion: object, label: str, unit: str, rule: str | None
) -> Callable[[SX], SX]:
    """A given number, text, or user's function, as a function of time that was tried at t = 0."""
    numbers, t = model.parameter_set, SX.sym("t")
    scope = numbers.scope_with("t", t, "the time")
    if isinstance(motion, str):
        quantity = numbers.quantity(motion, unit, label, scope)
        motion = motion if quantity is None else quantity
    if isinstance(motion, str):
        path = as_column(evaluated(motion, scope, label), 1, label)
    elif callable(motion) and not isinstance(motion, Parameter):
        path = as_column(called(motion, t, label, "time t"), 1, label)
    else:
        path = numbers.scalar(motion, label, unit=unit)
    numbers.check_symbols(path, label, symbols_in(t))
    numbers.scalar(ca.substitute(path, t, SX(0)), f"{label} at t = 0", rule)
    return lambda time: ca.substitute(path, t, time)
