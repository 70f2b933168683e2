"""Explicit functions of time in a model: the largest subexpressions of its forces, drivers and
integrands that depend on time (and parameters) alone.

They are known before a run, so their jumps, kinks and narrow features can be located before a step
is taken (`time_resolution`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import casadi as ca

from ..coordinates.equations import Equations
from ..core.symbols import SX, symbols_in
from ..sensitivity.objective import Objective
from ..sensitivity.objective_functions import objective_expressions
from .intervals import Tape


class ExplicitTime:
    """The explicit functions of time of a mechanism and of given objectives, as one sequence of
    operations.
    """

    def __init__(self, tape: Tape, owners: Sequence[str]):
        self.tape = tape
        self.owners = tuple(owners)
        """The force, driver or objective to which each output of the tape belongs."""
        self.parameters = tuple(sorted(set(tape.parameters.values())))
        """Parameters on which the functions depend."""


def explicit_time(equations: Equations, objectives: Mapping[str, Objective]) -> ExplicitTime | None:
    """Collect the explicit functions of time; None where there are none, or where time enters only
    as itself.
    """
    e = equations
    time_and_parameters = symbols_in(e.t, e.ρ)
    owners: list[str] = []
    functions: list[SX] = []
    for name, expressions in _stated(e, objectives):
        for function in _timed(expressions, e.t, time_and_parameters):
            owners.append(name)
            functions.append(function)
    if not functions:
        return None
    return ExplicitTime(Tape(e.t, e.ρ, functions), owners)


def _stated(e: Equations, objectives: Mapping[str, Objective]) -> Iterator[tuple[str, list[SX]]]:
    """Yield expressions that depend on time, by name; only drivers, forces and integrands can."""
    time = symbols_in(e.t)
    possible = e.model.drivers.keys() | e.model.forces.keys()
    for element in e.elements:
        if element.name in possible and element.initial is None:
            expressions = [x for x in element.stated if not time.isdisjoint(symbols_in(x))]
            if expressions:
                yield element.name, expressions
    integrands = ca.vertsplit(objective_expressions(e, objectives)[0]) if objectives else []
    for name, integrand in zip(objectives, integrands, strict=True):
        if not time.isdisjoint(symbols_in(integrand)):
            yield name, [integrand]


def _timed(expressions: Sequence[SX], t: SX, time_and_parameters: set[int]) -> list[SX]:
    """Return the largest subexpressions of time and parameters alone, except time itself."""
    everything = ca.densify(ca.veccat(*expressions))
    own = ca.symvar(everything)
    f = ca.Function("stated", own, [everything])
    time, time_only = (
        t.element_hash(),
        [symbol.element_hash() in time_and_parameters for symbol in own],
    )
    work: dict[int, SX | None] = {}  # None for values that depend on the motion
    functions: dict[int, SX] = {}
    for k in range(f.n_instructions()):
        code, places, to = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if code == ca.OP_CONST:
            work[to[0]] = SX(f.instruction_constant(k))
            continue
        if code == ca.OP_INPUT:
            work[to[0]] = own[places[0]] if time_only[places[0]] else None
            continue
        values = [value for place in places if (value := work[place]) is not None]
        if code != ca.OP_OUTPUT and len(values) == len(places):
            work[to[0]] = SX.unary(code, *values) if len(values) == 1 else SX.binary(code, *values)
            continue
        for value in values:
            if value.element_hash() != time and time in symbols_in(value):
                functions[value.element_hash()] = value
        if code != ca.OP_OUTPUT:
            work[to[0]] = None
    return list(functions.values())
