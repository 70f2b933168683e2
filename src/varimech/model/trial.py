"""Checks of elements that other packages register: their methods are guarded, and tried on free
symbols.

`guard` wraps the methods of a class once. The engine then receives the types in `RETURNS`, whatever
form a method returns (numbers, lists, numpy arrays, expressions), and an error names the element,
its class and the method. `try_out` checks each new element: shapes, and whether its mechanics
satisfies the assumptions of Lagrange's equations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import casadi as ca
import numpy as np

from ..core.errors import Label, ModelError, VarimechError
from ..core.mathematics import rotation
from ..core.symbols import SX, symbols_in
from .body import Body, Point
from .body_element import BodyElement
from .conditions import Condition
from .driver import Driver
from .element import Element
from .force import SHAPES, Force
from .frame import Frame
from .joint import Joint
from .model_data import ModelData
from .own_coordinates import OwnCoordinate
from .relative_motion import RelativeMotion
from .scalar_outputs import Distance, Slide, Turn
from .user_functions import as_column, trial_frames, trial_state

Convert = Callable[[Any, Label], Any]
TRIALS = 2
"""Number of random values of a joint's coordinates at which its conditions are evaluated: at a
single one, a wrong condition could be satisfied by chance.
"""
CLOSED = 1e-9
"""Largest residual of conditions (m, rad) that counts as satisfied: rounding at 1 km."""


def _one_of(what: str, *kinds: type, more: Callable[[Any], bool] = lambda value: True) -> Convert:
    def convert(value: Any, label: Label) -> object:
        if not isinstance(value, kinds) or not more(value):
            raise ModelError(f"must be {what}", label=label, value=value)
        return value

    return convert


def _each(what: str, convert: Convert) -> Convert:
    def convert_all(values: object, label: Label) -> tuple[object, ...]:
        if not isinstance(values, (Sequence, np.ndarray)) or isinstance(values, str):
            raise ModelError(f"must be a list of {what}", label=label, value=values)
        return tuple(convert(value, label.component(k)) for k, value in enumerate(values))

    return convert_all


def _scalar(value: object, label: Label) -> SX:
    return as_column(value, 1, label)


def _column(value: object, label: Label) -> SX:
    return as_column(value, None, label)


def _pair(value: object, label: Label) -> tuple[SX, SX]:
    if not isinstance(value, Sequence) or len(value) != 2:
        raise ModelError("must be a pair (rate, effort)", label=label, value=value)
    rate, effort = (as_column(each, None, label) for each in value)
    if rate.shape != effort.shape:
        problem = f"has {rate.numel()} rates and {effort.numel()} efforts; each rate needs one"
        raise ModelError(problem, label=label)
    return rate, effort


def _has_bodies(condition: Condition) -> bool:
    return all(isinstance(body, Body) for body in condition.oriented())


OUTPUT = ("unit", "points", "bodies", "value", "rate", "difference", "deviation")
"""Members of every scalar output."""
RETURNS: dict[type, dict[str, Convert]] = {
    Element: {"check_given": lambda value, label: None, "prepare": lambda value, label: None},
    BodyElement: {"build": _one_of("a body, such as vm.elements.rigid_body(…)", Body)},
    Joint: {
        "conditions": _each(
            "conditions",
            _one_of("a condition (Coincident, Aligned, …)", Condition, more=_has_bodies),
        ),
        "relative_motion": _one_of(
            "a RelativeMotion (MotionFunctions, TurnAndSlide), or None", RelativeMotion, type(None)
        ),
        "angle": _one_of("a Turn, or None", Turn, type(None)),
        "displacement": _one_of("a Slide, or None", Slide, type(None)),
    },
    Force: {
        "bodies": _each("bodies", _one_of("a body", Body)),
        "coordinates": _each(
            "coordinates",
            _one_of(
                "an OwnCoordinate of order 1 or 2", OwnCoordinate, more=lambda c: c.order in (1, 2)
            ),
        ),
        "potential_energy": _scalar,
        "kinetic_energy": _scalar,
        "constraints": _column,
        "velocity_constraints": _column,
        "rates": _each("rates", _scalar),
        "efforts": _each("pairs (rate, effort)", _pair),
        "span": _one_of("a Distance, or None", Distance, type(None)),
        "drawn_as": _one_of(
            f"one of {SHAPES}, or None", str, type(None), more=(None, *SHAPES).__contains__
        ),
    },
    Driver: {
        "output": _one_of(
            f"a scalar output, with {', '.join(OUTPUT)}",
            object,
            more=lambda output: all(hasattr(output, name) for name in OUTPUT),
        )
    },
}
"""Base class → method or property → conversion of the value that it returns."""


def _overridden(kind: type[Element]) -> list[tuple[str, Any, Any, Convert]]:
    """Methods and properties that a class overrides: name, its own member, the member of the base
    class, the conversion.
    """
    overridden = []
    for base, returns in RETURNS.items():
        for name, convert in returns.items() if issubclass(kind, base) else ():
            own, general = (inspect.getattr_static(each, name) for each in (kind, base))
            if own is not general:
                overridden.append((name, own, general, convert))
    return overridden


def signature_faults(kind: type[Element]) -> list[str]:
    """List methods of a class whose signatures do not fit the calls of the engine."""
    faults = []
    for name, own, general, _ in _overridden(kind):
        if isinstance(general, property) != isinstance(own, property):
            faults.append(
                f"{name} must be a {'property' if isinstance(general, property) else 'method'}"
            )
        elif not isinstance(general, property):
            arguments = inspect.signature(general).parameters
            try:
                inspect.signature(own).bind(*arguments)
            except TypeError:
                faults.append(f"{name}() must take ({', '.join(arguments)})")
    return faults


def guard(kind: type[Element]) -> None:
    """Convert the return values of the methods of a class, and name the method where one fails."""
    if "is_guarded" in vars(kind):
        return
    for name, own, _, convert in _overridden(kind):
        if isinstance(own, property):
            assert own.fget is not None
            setattr(kind, name, property(_guarded(name, own.fget, convert), doc=own.__doc__))
        else:
            setattr(kind, name, _guarded(name, own, convert))
    kind.is_guarded = True


def _guarded(name: str, method: Callable[..., object], convert: Convert) -> Callable[..., object]:
    @wraps(method)
    def guarded(element: Element, *arguments: object) -> object:
        def converted() -> object:
            return convert(method(element, *arguments), _label(element, name))

        return _called(element, name, converted)

    return guarded


def _label(element: Element, method: str) -> Label:
    return Label(element.label, method, f"{type(element).__name__}.{method}")


def _called(element: Element, name: str, method: Callable[..., object], *arguments: object) -> Any:
    try:
        return method(*arguments)
    except VarimechError as error:
        error.element = error.element or element.label
        raise
    except Exception as error:
        problem = f"fails: {type(error).__name__}: {error}"
        raise ModelError(problem, label=_label(element, name)) from error


def try_out(element: Element, model: ModelData) -> None:
    """Check an element on free symbols.

    Raises:
        ModelError: naming the element, the method, and the fault of its value.
    """
    if isinstance(element, BodyElement):
        _try_body(element, model)
    elif isinstance(element, Joint):
        _try_joint(element, model)
    elif isinstance(element, Force):
        _try_force(element, model)
    elif isinstance(element, Driver):
        _try_driver(element, model)


def _require(holds: bool, element: Element, method: str, problem: str) -> None:
    if not holds:
        raise ModelError(problem, label=_label(element, method))


def _try_body(element: BodyElement[Any], model: ModelData) -> None:
    body = element.body
    _require(body.name == element.name, element, "build", f"must be called {element.name!r}")
    points = all(isinstance(p, Point) and p.body is body for p in body.points.values())
    _require(points, element, "build", "has points that are not its own")
    if body.is_rigid:
        n = model.dimension
        frame = Frame(SX.sym("o", n), SX.sym("R", n, n), SX.sym("u", n), SX.sym("V", n, n))
        _scalar(_called(element, "build", body.kinetic_energy, frame), _label(element, "build"))


def _try_driver(driver: Driver, model: ModelData) -> None:
    frames, label, output = trial_frames(model), _label(driver, "output"), driver.output
    for method, arguments in (("value", ()), ("rate", ()), ("deviation", (SX(1),))):
        _scalar(_called(driver, "output", getattr(output, method), frames, *arguments), label)


def _try_joint(joint: Joint, model: ModelData) -> None:
    joint.angle()
    joint.displacement()
    frames = trial_frames(model)
    q, v, t = trial_state(model, joint.label, frames=frames).coordinates
    equations = 0
    for k, condition in enumerate(joint.conditions()):
        label = _label(joint, "conditions").component(k)
        Φ = _called(joint, "conditions", condition.residuals, frames)
        if not isinstance(Φ, SX) or Φ.shape[1] != 1 or not Φ.shape[0]:
            problem = f"must have residuals(frames) that are a column, not {Φ!r}"
            raise ModelError(problem, label=label, remedy="varimech.vector(…) makes one")
        _check_residuals(Φ, q, v, label)
        model.parameter_set.check_symbols(Φ, label, symbols_in(q, t))
        equations += Φ.numel()
    _require(equations > 0, joint, "conditions", "must be one condition or more")
    if joint.motion is not None:
        _try_motion(joint, joint.motion, model, equations)


def _only_positions(expression: SX, v: SX, label: Label) -> None:
    if ca.depends_on(expression, v):
        raise ModelError("depends on velocities; it may depend on positions and time", label=label)


def _check_residuals(Φ: SX, q: SX, v: SX, label: Label) -> None:
    _only_positions(Φ, v, label)
    if not all(ca.which_depends(Φ, q, 1, True)):
        raise ModelError("has an equation that no position can satisfy or violate", label=label)


def _try_motion(joint: Joint, motion: RelativeMotion, model: ModelData, equations: int) -> None:
    n, count = joint.dimension, len(motion.names)
    relation = _called(
        joint, "relative_motion", motion.relation, SX.sym("z", count), SX.sym("ż", count)
    )
    place = "the plane" if n == 2 else "space"
    fits = relation.displacement.numel() == n
    _require(fits, joint, "relative_motion", f"must be a motion in {place}")
    left = (3 if n == 2 else 6) - equations
    problem = f"has {motion.dofs} DOF, but the {equations} equations of its conditions leave {left}"
    _require(motion.dofs == left, joint, "relative_motion", problem)
    if not all(body.is_rigid for body in joint.bodies):
        return
    for seed in range(TRIALS):
        z = sample_coordinates(motion, seed)
        Φ = model.parameter_set.evaluate(joint.residuals(posed_bodies(joint, z)))
        residual = np.abs(Φ[np.isfinite(Φ)]).max(initial=0.0)
        shown = ", ".join(
            f"{name} = {value:.3g}" for name, value in zip(motion.names, z, strict=True)
        )
        problem = (
            f"contradicts its conditions: their residual is {residual:.3g} at {shown or 'rest'}"
        )
        _require(bool(residual < CLOSED), joint, "relative_motion", problem)


def sample_coordinates(motion: RelativeMotion, seed: int) -> np.ndarray:
    """Random coordinates of a joint, Euler parameters of unit length among them."""
    z = np.random.default_rng(seed).uniform(-1, 1, len(motion.names))
    if motion.has_euler_parameters:
        z[:4] /= np.linalg.norm(z[:4]) * np.sign(z[np.abs(z[:4]).argmax()])
    return z


def posed_bodies(joint: Joint, z: np.ndarray) -> Mapping[Body, Frame]:
    """Frames of the bodies of a joint at rest: the first anywhere, the second at coordinates z."""
    assert joint.motion is not None
    n, rng = joint.dimension, np.random.default_rng(5)
    R = SX(rotation(None if n == 2 else rng.standard_normal(3), 0.7))
    o, still, fixed = SX(rng.standard_normal(n)), SX.zeros(n), SX.zeros(n, n)
    relation = joint.motion.relation(SX(z), SX.zeros(len(z)))
    R2 = R @ relation.rotation
    x = o + R @ (joint.first.local + relation.displacement)
    first, second = joint.bodies
    return {
        first: Frame(o, R, still, fixed),
        second: Frame(x - R2 @ joint.second.local, R2, still, fixed),
    }


def _try_force(force: Force, model: ModelData) -> None:
    own = force.coordinates()
    added = () if model.forces.get(force.name) is force else own
    frames = trial_frames(model)
    state = trial_state(model, force.label, own=added, frames=frames)
    q, v, t = state.coordinates
    first_order = {c.name for c in (*model.own_coordinates, *added) if c.order == 1}
    z = ca.vertcat(SX(0, 1), *map(state.state, sorted(first_order)))
    states = symbols_in(z)  # these are velocities only inside the equations
    speeds = [x for x in ca.vertsplit(v) if x.element_hash() not in states]
    V, T = force.potential_energy(frames, state), force.kinetic_energy(frames, state)
    Φ, ż = force.constraints(frames, state), force.rates(frames, state)
    pairs = force.efforts(frames, state)
    returned = {"potential_energy": [V], "kinetic_energy": [T], "constraints": [Φ], "rates": ż}
    returned["efforts"] = [x for pair in pairs for x in pair]
    for name, expressions in returned.items():
        for expression in expressions:
            label = _label(force, name)
            model.parameter_set.check_symbols(expression, label, symbols_in(q, v, t))
    _only_positions(V, ca.vertcat(SX(0, 1), *speeds), _label(force, "potential_energy"))
    _check_residuals(Φ, q, v, _label(force, "constraints"))
    problem = f"must be a single residual, as constraint_unit = {force.constraint_unit!r} states"
    _require(not force.constraint_unit or Φ.numel() == 1, force, "constraints", problem)
    count = sum(c.order == 1 for c in own)
    problem = f"has {len(ż)} values; its {count} first-order coordinates need one each"
    _require(len(ż) == count, force, "rates", problem)
    for k, (rate, _) in enumerate(pairs):
        if ca.depends_on(ca.jacobian(rate, v), v) or ca.depends_on(rate, z):
            problem = "has a rate that is not linear in the velocities of bodies and coordinates"
            remedy = "put such factors into the effort"
            raise ModelError(problem, label=_label(force, "efforts").component(k), remedy=remedy)
    for c in own:
        if c.order == 2:
            y = state.state(c.name)
            ẏ = v[[x.element_hash() for x in ca.vertsplit(q)].index(y.element_hash())]
            inert = not ca.jacobian(ca.jacobian(T, ẏ), ẏ).is_zero()
            problem = f"has {c.name!r} of order 2 with neither an inertia nor a constraint"
            _require(inert or ca.depends_on(Φ, y), force, "coordinates", problem)
    _ = force.bodies, force.span(), force.drawn_as()  # evaluated for the checks of the guards
