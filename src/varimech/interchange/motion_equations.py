"""Equations of motion for other programs, as one CasADi function and as plain C:

    M(q) q̈ + Φ_qᵀ λ = Q(q, q̇, t),     Φ(q, t) = 0,     Φ_q q̈ = γ(q, q̇, t),

all depending on the parameters ρ. γ collects the remaining terms of the second time derivative of
Φ = 0. The first and the last equation determine q̈ and λ; with redundant constraints λ is not
unique, but q̈ is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..analyses.solvers import ModelSolvers
from ..core.errors import ModelError
from ..core.symbols import SX, symbols_in
from ..model.state import State
from ..model.user_functions import column_of
from ..schemes import choose
from .c_source import Signature, write_c

if TYPE_CHECKING:
    from ..coordinates.equations import Equations
    from ..coordinates.systems import Coordinates

INPUTS = ("q", "v", "t", "rho")
OUTPUTS = ("M", "Q", "Phi", "Phi_q", "gamma")


@dataclass(frozen=True, eq=False)
class MotionEquations:
    """The equations of motion of a mechanism; created by `Mechanism.equations`."""

    mechanism: str
    function: ca.Function
    """(q, v, t, rho) → (M, Q, Phi, Phi_q, gamma, and further outputs by name), all dense."""
    coordinate_names: tuple[str, ...]
    """Names of the entries of q and of its rates v."""
    constraint_names: tuple[str, ...]
    """Names of the rows of Phi, Phi_q and gamma, and of λ."""
    parameter_names: tuple[str, ...]
    parameter_units: tuple[str, ...]
    parameters: np.ndarray
    """Nominal values of rho."""
    q: np.ndarray
    """Initial coordinates, for the nominal parameters."""
    v: np.ndarray
    """Initial rates of the coordinates."""

    def to_c(self, folder: str | os.PathLike[str], name: str | None = None) -> Path:
        """Write the function as plain C: a source, and a header that documents the arrays.

        Args:
            folder: target folder, created if missing.
            name: name of the function and of both files; by default that of the mechanism with
                `_equations`.

        Returns:
            Path of the source.

        Raises:
            ModelError: if `name` is not a C identifier.
        """
        name = _identifier(f"{self.mechanism}_equations") if name is None else name
        if not _is_name(name):
            remedy = "use letters, digits and single underscores"
            raise ModelError(
                "is not a C identifier", element="to_c", field="name", value=name, remedy=remedy
            )
        entries = {
            "q, v": self.coordinate_names,
            "rows of Phi, Phi_q, gamma": self.constraint_names,
            "rho": tuple(
                f"{n} = {x!r} {u}".rstrip()
                for n, x, u in zip(
                    self.parameter_names,
                    self.parameters.tolist(),
                    self.parameter_units,
                    strict=True,
                )
            ),
        }
        return write_c(Path(folder), Signature(name, self.mechanism, entries), self.function)

    def __repr__(self) -> str:
        counts = (
            f"{len(self.coordinate_names)} coordinates, {len(self.constraint_names)} constraints"
        )
        return (
            f"<MotionEquations of {self.mechanism!r}: {counts}, {len(self.parameter_names)}"
            f" parameters; {self.function}>"
        )


def motion_equations(
    solvers: ModelSolvers,
    coordinates: str | Coordinates,
    outputs: Mapping[str, Callable[[State], object]],
) -> MotionEquations:
    """The equations of a model in some coordinates, with further outputs."""
    solvers.check_masses("equations")
    solver, ρ = (
        solvers.of(choose(1.0, coordinates=coordinates)[0]),
        solvers.data.parameter_set.nominal,
    )
    solver.start.check_closure(ρ)
    start = solver.start.complete(solver.start.assemble(ρ), ρ)
    e = solver.equations
    if e.has_events or e.loads:
        raise ModelError(
            f"mechanism {e.model.name!r} has contacts, dry friction or events, which no single set"
            " of equations states",
            element="equations",
            remedy="leave them out, or make contacts compliant and friction smooth",
        )
    at_rest = ca.substitute(
        ca.vertcat(e.constraint_acceleration, e.resistance), e.a, SX.zeros(e.a.numel())
    )
    rows = e.constraints.numel()
    γ, inertia = -at_rest[:rows], at_rest[rows:]
    expressions = [e.mass, e.forces - inertia, e.constraints, e.force_directions, γ]
    names = list(OUTPUTS)
    for name, function in outputs.items():
        if not _is_name(name) or name in (*INPUTS, *names):
            problem = (
                f"output {name!r} needs a unique name of letters, digits and single underscores"
            )
            raise ModelError(problem, element="equations", value=name)
        expressions.append(_output(e, name, function))
        names.append(name)
    parameters = e.model.parameter_set.parameters
    return MotionEquations(
        e.model.name,
        ca.Function(
            "equations",
            [e.q, e.v, e.t, e.ρ],
            [ca.densify(x) for x in expressions],
            list(INPUTS),
            names,
        ),
        e.coordinate_names,
        e.constraint_names,
        tuple(parameters),
        tuple(p.unit for p in parameters.values()),
        ρ,
        start.q,
        start.v,
    )


def _output(e: Equations, name: str, function: Callable[[State], object]) -> SX:
    label = f"output {name!r}"
    expression = column_of(function, e.state, label)
    if symbols_in(expression) & symbols_in(e.a, e.λ):
        problem = "depends on accelerations or reactions, which are unknowns of the equations"
        raise ModelError(problem, element=label, remedy="leave it out")
    e.model.parameter_set.check_symbols(expression, label, symbols_in(e.q, e.v, e.t))
    return expression


def _is_name(text: str) -> bool:
    """Whether CasADi and C accept a name."""
    return re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*", text) is not None


def _identifier(text: str) -> str:
    """A valid C identifier from a text."""
    identifier = re.sub(r"[\W_]+", "_", text, flags=re.ASCII).strip("_")
    return identifier if identifier[:1].isalpha() else f"mechanism_{identifier}"
