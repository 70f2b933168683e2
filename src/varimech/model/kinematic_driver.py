"""Drivers of kinematics: scalar outputs of a model become inputs with arbitrary values,

    output = u + u̇ t + ü t²/2          at t = 0,

with u, u̇ and ü as parameters of a separate model. That model has the joints and all other position
constraints, but no forces, which have no part in kinematics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..core.errors import ModelError, unknown_name
from ..core.symbols import SX
from .driver import Driver
from .force import ForceLaw
from .initial_conditions import Start
from .model_data import ModelData
from .parameter import Parameter
from .scalar_outputs import ScalarOutput


class KinematicDriver(Driver):
    """An imposed output with a name of its own."""

    kind = "kinematic driver"

    def __init__(self, name: str, dimension: int, output: ScalarOutput, motion: Callable[[SX], SX]):
        self.name, self.dimension = name, dimension
        self.given: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        self._output = output
        self.motion = motion  # type: ignore[misc]  # a field of other drivers

    @property
    def output(self) -> ScalarOutput:
        """The output that it imposes."""
        return self._output


def find_input(model: ModelData, driver: object) -> tuple[str, ScalarOutput]:
    """Return the name of a driver and the output that it imposes: an existing driver, the angle or
    displacement of a joint, the angle of a planar body, or the distance of two points.

    Raises:
        ModelError: for an unknown name, and for a joint that neither turns nor slides, or both.
    """
    if isinstance(driver, Driver):
        driver = driver.name
    if isinstance(driver, (tuple, list)):
        if len(driver) != 2:
            raise ModelError(
                "must be a name, or a pair of points whose distance is driven",
                element="kinematics",
                field="driver",
                value=driver,
            )
        first, second = driver
        span = model.find_distance(first, second, "kinematics")
        return f"{span.first.label}–{span.second.label}", span
    name = model.name_of(driver)  # type: ignore[arg-type]
    if name in model.drivers:
        return name, model.drivers[name].output
    if name in model.joints:
        return name, _of_joint(model, name)
    if name in model.bodies and model.dimension == 2 and not model.bodies[name].is_ground:
        return name, model.find_angle(name)
    candidates = [*model.drivers, *model.joints]
    candidates += [b.name for b in model.moving_bodies] if model.dimension == 2 else []
    raise unknown_name("driver, joint or planar body", name, candidates)


def _of_joint(model: ModelData, name: str) -> ScalarOutput:
    joint = model.joints[name]
    turn, slide = joint.angle(), joint.displacement()
    if (turn is None) == (slide is None):
        problem = "neither turns about an axis nor slides" if turn is None else "turns and slides"
        raise ModelError(
            f"joint {name!r} ({joint.kind}) {problem}",
            element="kinematics",
            field="driver",
            value=name,
            remedy="add the intended driver, such as m.drive_angle or m.drive_coordinate, and"
            " name it",
        )
    output = slide if turn is None else turn
    assert output is not None
    return output


def kinematic_model(
    model: ModelData, inputs: Mapping[str, ScalarOutput]
) -> tuple[ModelData, ModelData]:
    """Return the model with the inputs as drivers (u, u̇ and ü of each are its last parameters, in
    this order), and the model without them, which is assembled first. Drivers that are not inputs
    keep their values at t = 0.

    Raises:
        ModelError: for beams and constraints of velocities.
    """
    if model.beams:
        raise ModelError(
            f"mechanism {model.name!r} has beams, whose shape follows from forces",
            element="kinematics",
            remedy="make them rigid bars, or use equilibrium or simulate",
        )
    bare = model.frozen()
    bare.forces = {name: f for name, f in model.forces.items() if _constrains_positions(f)}
    for force in model.forces.values():
        if force.velocity_rows:
            raise ModelError(
                f"{force.name!r} constrains velocities, but not positions",
                element="kinematics",
                remedy="leave it out, or simulate",
            )
    bare.drivers = {d.name: _still(d, model) for d in model.drivers.values()}
    driven = bare.frozen()
    driven.drivers = {n: d for n, d in bare.drivers.items() if n not in inputs}
    start = model.start_conditions or Start()
    driven.start_conditions = Start((), start.near_rotation, start.near_position)
    parameters = driven.parameter_set
    symbols = []
    for label in ("", " rate", " acceleration"):
        added = [parameters.add(Parameter(f"driver {n}{label}", 0.0)) for n in inputs]
        symbols.append([p.symbol for p in added])
    for (name, output), u, rate, acceleration in zip(inputs.items(), *symbols, strict=True):
        label = name if name in model.drivers else f"driver {name}"
        motion = partial(_moved, u, rate, acceleration)
        driven.drivers[label] = KinematicDriver(label, model.dimension, output, motion)
    return driven, bare


def _moved(u: SX, rate: SX, acceleration: SX, t: SX) -> SX:
    """Return u + u̇ t + ü t²/2."""
    return u + rate * t + acceleration * t**2 / 2


def _constrains_positions(force: ForceLaw) -> bool:
    """Whether it imposes position constraints, or owns coordinates that occur in such constraints."""
    return type(force).constraints is not ForceLaw.constraints


def _still(driver: Driver, model: ModelData) -> Driver:
    value = driver.motion(SX(0))
    return KinematicDriver(driver.name, model.dimension, driver.output, lambda t: SX(value))
