"""Least effort of redundant actuators for a motion that drivers prescribe.

Drivers exert the generalised force g = −Φ_dᵀ λ_d. Actuators with rates w = Gᵀ q̇ exert G u. They
produce the same motion if both forces differ by joint forces Jᵀ μ only. Among all such u, the one
with the least ½ uᵀ W u follows from

    W u + Gᵀ ν = 0,     J ν = 0,     G u − Jᵀ μ = g.

With S from Φ_q S = (0, 1), B = Sᵀ G and as many driver efforts τ as degrees of freedom, this is u =
W⁻¹ Bᵀ (B W⁻¹ Bᵀ)⁻¹ τ. Derivatives follow from the same matrix.

Y. Nakamura and M. Ghodoussi, IEEE Trans. Robotics and Automation 5 (1989) 294–302.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..coordinates.equations import Equations
from ..core.errors import ModelError, VarimechError
from ..core.symbols import SX
from ..model.kinematic_driver import find_input
from ..model.model_data import ModelData
from ..model.scalar_outputs import effort_unit
from .labels import COMPONENTS

if TYPE_CHECKING:
    from .live_run import LiveRun

MISSED = 1e-8
"""Fraction of the driver force that actuators may fail to reproduce: rounding of motions is far
below.
"""
SINGULAR = 1e-12
"""Singular values relative to the largest one that count as zero."""


@dataclass(frozen=True)
class Actuators:
    """The actuators that replace the drivers."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    directions: SX
    """G, (coordinate, actuator)."""
    weights: np.ndarray


def read_actuators(e: Equations, actuators: object, weights: object) -> Actuators:
    """Read actuators by name, with their weights.

    Raises:
        ModelError: for unknown names, and weights that are not positive.
    """
    listed = [actuators] if isinstance(actuators, str) else list(actuators)  # type: ignore[call-overload]
    if not listed:
        raise ModelError("names no actuator", element="actuation", field="actuators")
    names, units, columns, own = [], [], [], []
    for k, each in enumerate(listed):
        made = _read(e, each)
        label = made[0][0] if len(made) == 1 else str(each)
        weight = _weight(weights, k, label, len(listed))
        for name, unit, power in made:
            if name in names:
                raise ModelError(
                    "is named twice", element="actuation", field="actuators", value=name
                )
            names.append(name)
            units.append(unit)
            columns.append(ca.gradient(power, e.v))
            own.append(weight)
    if isinstance(weights, Mapping):
        valid_names = {*names, *map(str, listed)}
        for name in weights:
            if name not in valid_names:
                raise ModelError(
                    "is not one of the actuators", element="actuation", field="weights", value=name
                )
    return Actuators(tuple(names), tuple(units), ca.horzcat(*columns), np.array(own))


def _read(e: Equations, actuator: Any) -> list[tuple[str, str, SX]]:
    """Name, unit and power per unit effort of an actuator, for each of its components."""
    model = e.model
    name = getattr(actuator, "name", actuator)
    if isinstance(name, str) and name in model.forces:
        force: Any = model.forces[name]
        efforts = force.efforts(e.frames, e.state) if hasattr(force, "value") else []
        if len(efforts) != 1:
            raise ModelError(
                f"force {name!r} has no components that an actuator could exert",
                element="actuation",
                remedy="name a force, a torque, a joint, a driver or a pair of points",
            )
        rate = efforts[0][0]
        unit = "N" if hasattr(force, "point") else "N·m"
        if rate.numel() == 1:
            return [(name, unit, rate)]
        body = force.point.body if hasattr(force, "point") else force.body
        axes = SX.eye(rate.numel())
        if force.frame == "body":
            axes = ca.horzcat(*[e.frames[body].direction(axis) for axis in ca.horzsplit(axes)])
        return [
            (f"{name}.{c}", unit, ca.dot(rate, axes[:, k]))
            for k, c in enumerate(COMPONENTS[: rate.numel()])
        ]
    name, output = find_input(model, actuator)
    return [(name, effort_unit(output.unit), output.rate(e.frames))]


def _weight(weights: object, k: int, name: str, count: int) -> float:
    if weights is None:
        return 1.0
    if isinstance(weights, Mapping):
        value: Any = weights.get(name, 1.0)
    elif isinstance(weights, Sequence | np.ndarray) and len(weights) == count:
        value = weights[k]
    else:
        raise ModelError(
            f"must be {count} numbers, or {{actuator: number}}",
            element="actuation",
            field="weights",
            value=weights,
        )
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) and number > 0):
        raise ModelError(
            f"weight of {name!r} must be a positive number",
            element="actuation",
            field="weights",
            value=value,
        )
    return number


def least_effort(
    live: LiveRun, actuators: Actuators, *, differentiate: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Compute u, (time, actuator), and its derivatives, (time, actuator, parameter).

    Raises:
        ModelError: for models without drivers, and with forces that depend on joint forces.
        VarimechError: where the actuators cannot exert what the motion requires.
    """
    e = live.equations
    _check(e)
    J, g = _joints_and_drivers(e)
    n, m, c = e.q.numel(), len(actuators.names), J.shape[0]
    terms = ca.vertcat(ca.vec(actuators.directions), ca.vec(J), g)
    K0 = np.zeros((m + c + n, m + c + n))
    K0[:m, :m] = np.diag(actuators.weights)

    def assembled(row: np.ndarray, K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        G = row[: n * m].reshape(n, m, order="F")
        J = row[n * m : n * (m + c)].reshape(c, n, order="F")
        K = K.copy()
        K[m + c :, :m], K[:m, m + c :] = G, G.T
        K[m + c :, m : m + c], K[m : m + c, m + c :] = -J.T, -J
        return K, np.concatenate([np.zeros(m + c), row[n * (m + c) :]])

    values = live.evaluate(terms)
    changes = live.derivative(terms) if differentiate else None
    u = np.zeros((len(values), m))
    u_ = None if changes is None else np.zeros((len(values), m, changes.shape[2]))
    for k, row in enumerate(values):
        K, right = assembled(row, K0)
        inverse = np.linalg.pinv(K, rcond=SINGULAR, hermitian=True)
        z = inverse @ right
        _check_balance(K @ z - right, right, actuators, e, float(live.time[k]))
        u[k] = z[:m]
        if u_ is None or changes is None:
            continue
        for p in range(changes.shape[2]):
            K_, right_ = assembled(changes[k, :, p], np.zeros_like(K0))
            u_[k, :, p] = (inverse @ (right_ - K_ @ z))[:m]
    return u, u_


def _check(e: Equations) -> None:
    model = e.model
    if not _drivers(model):
        raise ModelError(
            "no driver prescribes its motion",
            element=f"actuation of {model.label}",
            remedy="state the motion with m.drive_angle, m.drive_displacement, m.drive_pose, …",
        )
    if e.loads or any(force.contact_labels() for force in model.forces.values()):
        raise ModelError(
            "contacts and friction depend on the forces of joints, which other actuators change",
            element=f"actuation of {model.label}",
            remedy="state motors as torques, and simulate",
        )


def _drivers(model: ModelData) -> set[str]:
    return {*model.drivers, *[n for n, f in model.forces.items() if f.is_driver]}


def _joints_and_drivers(e: Equations) -> tuple[SX, SX]:
    """Rows of Φ_q of all constraints except the drivers, and the generalised force of the drivers."""
    drivers, begin = _drivers(e.model), 0
    held: list[int] = []
    driven: list[int] = []
    for element in e.elements:
        for block in element.constraints:
            rows = range(begin, begin + block.residuals.numel())
            (driven if element.name in drivers else held).extend(rows)
            begin += len(rows)
    J = e.rate_jacobian
    return J[held, :], -J[driven, :].T @ e.λ[driven]


def _check_balance(
    missed: np.ndarray, right: np.ndarray, actuators: Actuators, e: Equations, time: float
) -> None:
    if np.abs(missed).max() <= MISSED * max(np.abs(right).max(), np.finfo(float).tiny):
        return
    raise VarimechError(
        f"{e.model.label}: actuators {', '.join(map(repr, actuators.names))} cannot exert what the"
        f" motion takes at t = {time:.6g} s",
        remedy="name more of them, at least as many as drivers, that move all degrees of freedom",
    )
