"""Non-smooth points in the expressions of a mechanism, identified symbolically, before any
numerical evaluation: at a kink the derivative jumps, at a jump there is none. They are derived from
the elements, which contain all equations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..coordinates.equations import Equations
from ..core.errors import ModelError
from ..core.symbols import SX, replayed, symbols_in
from .objective import Objective
from .objective_functions import REMEMBERED, objective_expressions

KINKS = {ca.OP_FABS: "absolute", ca.OP_FMAX: "maximum", ca.OP_FMIN: "minimum"}
JUMPS = {
    ca.OP_SIGN: "sign",
    ca.OP_COPYSIGN: "copysign",
    ca.OP_LT: "comparison",
    ca.OP_LE: "comparison",
    ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil",
    ca.OP_FMOD: "fmod",
    ca.OP_REMAINDER: "remainder",
}


STEPS = frozenset((*JUMPS, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR)) - {
    ca.OP_COPYSIGN,
    ca.OP_FMOD,
    ca.OP_REMAINDER,
}
"""Operations that are piecewise constant."""


def check_slope(name: str, expression: SX, equations: Equations) -> bool:
    """Refuse an expression that depends on the motion or on parameters only through jumps;
    otherwise return whether it has jumps in addition to a derivative.
    """
    u = ca.vertcat(equations.packed, equations.ρ)
    if not ca.depends_on(expression, u):
        return False
    function = ca.Function("f", [u, equations.t], [expression])
    if not any(function.instruction_id(k) in STEPS for k in range(function.n_instructions())):
        return False
    if ca.sparsify(ca.jacobian(expression, u)).nnz() == 0:
        raise ModelError(
            f"{name!r} has no gradient: it is constant but for jumps (floor, ceil, sign, a"
            " comparison, where between constants), so its derivative is zero everywhere; use a"
            " smooth function instead, such as varimech.tanh(x / width) for sign(x)"
        )
    return True


def check_gradients(equations: Equations, objectives: Mapping[str, Objective]) -> None:
    """Refuse objectives without a gradient: their computed derivatives would be zero, and wrong."""
    accepted, key = equations.differentiable, tuple(objectives.values())
    if key and key not in accepted:
        g, w = objective_expressions(equations, objectives)
        for name, integrand, last in zip(objectives, ca.vertsplit(g), ca.vertsplit(w), strict=True):
            check_slope(name, integrand, equations)
            check_slope(name, last, equations)
        if len(accepted) >= REMEMBERED:
            accepted.clear()
        accepted.add(key)


@dataclass(frozen=True)
class Switch:
    """A non-smooth point of an expression, where `at` changes its sign."""

    place: str
    """The force, body, joint or driver to which it belongs; or the objective."""
    operation: str
    jump: bool
    """Whether a value may jump there, not only its derivative."""
    objective: str | None
    """Name of the objective, if the expression belongs to one."""
    final: bool
    """Whether it is in a final term, where only the end of the run counts."""
    timed: bool
    """Whether it depends on time only, so that parameters do not shift it."""
    at: SX
    side: SX
    """A value that changes exactly where the operation takes the other branch; `at` may round
    there.
    """


def switches(equations: Equations, objectives: Mapping[str, Objective]) -> list[Switch]:
    """Return all switches of the equations and objectives that depend on the motion or on time."""
    e = equations
    moving, timed, parameters = symbols_in(e.packed), symbols_in(e.t), symbols_in(e.ρ)
    switches = []
    for place, objective, final, expressions in _expressions(e, objectives):
        for operation, at, side in _non_smooth(expressions):
            own = symbols_in(at)
            if own.isdisjoint(moving) and own.isdisjoint(timed):
                continue
            jump = operation in JUMPS
            name = JUMPS[operation] if jump else KINKS[operation]
            timed_only = own.isdisjoint(moving | parameters)
            switches.append(Switch(place, name, jump, objective, final, timed_only, at, side))
    return switches


def _expressions(
    e: Equations, objectives: Mapping[str, Objective]
) -> Iterator[tuple[str, str | None, bool, list[SX]]]:
    """Yield place, objective, whether it is a final term, and its expressions."""
    for element in e.elements:
        if element.initial is None:
            yield element.name, None, False, element.stated_between_impacts
    for values, final in zip(objective_expressions(e, objectives), (False, True), strict=True):
        for name, value in zip(objectives, ca.vertsplit(values) if objectives else [], strict=True):
            yield name, name, final, [value]


def _non_smooth(expressions: Sequence[SX]) -> list[tuple[int, SX, SX]]:
    """Return each non-smooth operation once, with the expression that changes its sign there, and a
    value that changes with it.
    """
    everything = ca.densify(ca.veccat(*expressions))
    own = ca.symvar(everything)
    f = ca.Function("stated", own, [everything])
    switching = KINKS.keys() | JUMPS.keys()
    if not any(f.instruction_id(k) in switching for k in range(f.n_instructions())):
        return []
    return [
        (op, at := _switching(op, values), _side(op, values, at))
        for op, values, _ in replayed(f, own)
        if op in switching
    ]


def _side(operation: int, values: list[SX], at: SX) -> SX:
    """Return the result of a comparison, which includes the side to which zero belongs; for other
    operations, the sign.
    """
    return SX.binary(operation, *values) if operation in (ca.OP_LT, ca.OP_LE) else ca.sign(at)


def _switching(operation: int, values: list[SX]) -> SX:
    """Return the expression that changes its sign where an operation is not smooth."""
    if operation in (ca.OP_FLOOR, ca.OP_CEIL):
        return ca.sin(np.pi * values[0])
    if operation in (ca.OP_FMOD, ca.OP_REMAINDER):
        return ca.sin(np.pi * values[0] / values[1])
    if operation == ca.OP_COPYSIGN:
        return values[1]
    return values[0] - values[1] if len(values) == 2 else values[0]
