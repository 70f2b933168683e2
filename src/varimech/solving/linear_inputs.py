"""Inputs of linear equations: forces and torques, drivers, and parameters.

    force, torque   its components change by u: a further effort u at the same rate
    driver          its motion changes by u(t), with ü as the input, and u and u̇ as states
    parameter       changes by u

A driver prescribes u, u̇ and ü at once. With ü as the input the equations are proper: u and u̇
follow from it. The change of the driver's motion is written as δ₀ + δ₁ (t − t̂) + δ₂ (t − t̂)²/2
about the instant t̂ = t, so that its time derivatives there are δ₁ and δ₂.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from ..coordinates.dynamics import Constraint, Element
from ..coordinates.equations import Equations
from ..core.errors import ModelError, unknown_name
from ..core.symbols import SX
from ..model.force import ForceLaw

COMPONENTS = "xyz"


@dataclass(frozen=True, eq=False)
class Input:
    """One scalar input."""

    name: str
    unit: str
    symbols: SX
    """Symbols of the change: one, or δ₀, δ₁ and δ₂ of a driver."""
    of: str
    """Kind of the input: "force", "driver" or "parameter"."""


@dataclass(frozen=True, eq=False)
class InputEquations:
    """Equations that contain symbols of inputs."""

    equations: Equations
    inputs: tuple[Input, ...]
    since: SX
    """The symbol t̂, which takes the value of t."""

    @property
    def symbols(self) -> SX:
        """Symbols of inputs that are no parameters; their values are zero."""
        own = [i.symbols for i in self.inputs if i.of != "parameter"]
        return ca.vertcat(SX(0, 1), *own)

    @property
    def has_forces(self) -> bool:
        """Whether any input is a force."""
        return any(i.of == "force" for i in self.inputs)


def with_inputs(equations: Equations, names: Sequence[str]) -> InputEquations:
    """Add inputs, by name, to equations.

    Raises:
        ModelError: for an unknown name, or a force to which no input can be added.
    """
    model, since = equations.model, SX.sym("t of the motion")
    if len(set(names)) < len(names):
        raise ModelError("names an input twice", field="inputs", value=list(names))
    inputs: list[Input] = []
    elements = {k: e for k, e in enumerate(equations.elements)}
    parameters = model.parameter_set.parameters
    for given in names:
        name, component = _component(equations, given)
        places = [k for k, e in elements.items() if e.name == name and not e.initial]
        if name in model.forces:
            made, changed = _force(equations, model.forces[name], elements[places[0]], component)
        elif name in model.drivers:
            made, changed = _driver(equations, name, elements[places[0]], since)
        elif name in parameters:
            inputs.append(Input(name, parameters[name].unit, parameters[name].symbol, "parameter"))
            continue
        else:
            valid_names = [*_forces(equations), *model.drivers, *parameters]
            raise unknown_name("input", name, valid_names)
        if known := {i.name for i in inputs} & {i.name for i in made}:
            raise ModelError(f"names {min(known)!r} twice", field="inputs", value=list(names))
        inputs += made
        elements[places[0]] = changed
    if all(i.of == "parameter" for i in inputs):
        return InputEquations(equations, tuple(inputs), since)
    return InputEquations(
        replace(equations, elements=tuple(elements.values())), tuple(inputs), since
    )


def _forces(equations: Equations) -> list[str]:
    return [n for n, f in equations.model.forces.items() if hasattr(f, "value")]


def _component(equations: Equations, given: str) -> tuple[str, int | None]:
    """Return the name of an input, and the component of a force or torque that it names: "push.x"
    is the component 0 of "push".
    """
    model = equations.model
    name, dot, letter = given.rpartition(".")
    taken = given in model.forces or given in model.drivers
    if taken or not dot or letter not in COMPONENTS or name not in _forces(equations):
        return given, None
    return name, COMPONENTS.index(letter)


def _force(
    e: Equations, force: ForceLaw, element: Element, component: int | None
) -> tuple[list[Input], Element]:
    """Create the inputs of a force or torque, or of one component; return them, and its element with
    the change added.
    """
    if not hasattr(force, "value") or len(element.efforts) != 1:
        raise ModelError(
            f"force {force.name!r} has no components that an input could add to",
            element="linearize",
            field="inputs",
            value=force.name,
            remedy="name a force, a torque or a driver, or a parameter of this element",
        )
    rate, effort = element.efforts[0]
    count = rate.numel()
    names = [force.name] if count == 1 else [f"{force.name}.{c}" for c in COMPONENTS[:count]]
    u, chosen = SX.sym(force.name, count), [*range(count)]
    if component is not None:
        if count == 1 or component >= count:
            raise unknown_name("input", f"{force.name}.{COMPONENTS[component]}", names)
        u, chosen = ca.vertcat(*[u[k] if k == component else 0 for k in chosen]), [component]
    attributes: Any = force
    turned = attributes.frame == "body" and count > 1
    body = attributes.point.body if hasattr(attributes, "point") else attributes.body
    more = e.frames[body].direction(u) if turned else u
    unit = "N" if hasattr(attributes, "point") else "N·m"
    made = [Input(names[k], unit, u[k], "force") for k in chosen]
    return made, replace(element, efforts=((rate, effort + more),))


def _driver(e: Equations, name: str, element: Element, since: SX) -> tuple[list[Input], Element]:
    """Create the input of a driver; return it, and the driver's element with the change added."""
    driver, δ, τ = e.model.drivers[name], SX.sym(name, 3), e.t - since
    motion = driver.motion(e.t) + δ[0] + δ[1] * τ + δ[2] * τ**2 / 2
    residuals = driver.output.deviation(e.frames, motion)
    block = element.constraints[0]
    changed = Constraint(block.name, residuals, block.joints, block.at_start)
    made = Input(name, driver.output.unit, δ, "driver")
    return [made], replace(element, constraints=(changed,))
