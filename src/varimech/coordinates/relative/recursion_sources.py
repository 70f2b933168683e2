"""Sources of the positions and velocities of a recursion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca

from ...core.symbols import SX
from ...stages.forward import Forward
from ...stages.plan import Map, Mode, Operation, Plan, Port, Vector, Zero
from ...stages.reverse import Reverse
from .recursion_ports import port_of, whole

if TYPE_CHECKING:
    from .recursion_writer import RecursionWriter


@dataclass(frozen=True)
class StateArgument:
    """Positions and velocities are arguments of the plan; those of Euler parameters may have
    `drifted` off unit length.
    """

    drifted: bool

    def arguments(self, plan: Plan, n: int) -> list[Vector]:
        """Create the first arguments of a plan."""
        return [plan.argument(2 * n)]

    def penalties(self, constraints: int) -> int:
        """Return the number of penalty factors."""
        return constraints

    def write(self, w: RecursionWriter, arguments: list[Vector]) -> None:
        """Write positions and velocities to the first part of the result."""
        state, n = arguments[0], w.q.rows
        both = SX.sym("x")
        w.map([both], [both], 2 * n, [Port(state, 1)], [Port(w.result.part(0, 2 * n), 1)])
        if self.drifted and (rows := w.euler_rows):
            p, ṗ = SX.sym("p", 4), SX.sym("ṗ", 4)
            unit = p / ca.norm_2(p)
            inputs = [port_of(state.part(first, n), rows) for first in (0, n)]
            w.map(
                [p, ṗ],
                [unit, ṗ - unit * ca.dot(unit, ṗ)],
                len(rows),
                inputs,
                [port_of(w.q, rows), port_of(w.v, rows)],
            )

    def differentiate(
        self,
        w: RecursionWriter,
        arguments: list[Vector],
        argument_derivatives: Vector,
        derivatives: Vector,
    ) -> None:
        """Write derivatives of positions and velocities, from those of the arguments."""
        forward = Forward(w.plan)
        forward.bind(arguments[0], argument_derivatives)
        forward.bind(w.result, derivatives)
        forward.differentiate([op for op in w.plan.operations if isinstance(op, (Map, Zero))])

    def pull_back(
        self,
        w: RecursionWriter,
        reverse: Reverse,
        operations: list[Operation],
        arguments: list[Vector],
        pulled: Vector,
    ) -> None:
        """Write the costate of the arguments, from those of positions and velocities."""
        reverse.bind(arguments[0], pulled)
        reverse.sweep(operations)


@dataclass(frozen=True)
class SolvedStart:
    """Positions and velocities are computed by a function from a guess."""

    moving: ca.Function
    tangent: ca.Function | None = None
    """Function (arguments of `moving`…, ρ') → derivatives in one direction."""
    pullback: ca.Function | None = None
    """Function (arguments of `moving`…, μ) → ρ̄ of one objective."""

    def arguments(self, plan: Plan, n: int) -> list[Vector]:
        """Create the first arguments of a plan."""
        return [plan.argument(int(self.moving.numel_in(k))) for k in range(3)]

    def penalties(self, constraints: int) -> int:
        """Return the number of penalty factors."""
        return int(self.moving.numel_in(3))

    def write(self, w: RecursionWriter, arguments: list[Vector]) -> None:
        """Write positions and velocities to the first part of the result."""
        x, state = self.moving.sx_in(), w.result.part(0, 2 * w.q.rows)
        w.map(x, self.moving.call(x)[:1], 1, [whole(v) for v in arguments], [whole(state)])

    def differentiate(
        self,
        w: RecursionWriter,
        arguments: list[Vector],
        argument_derivatives: Vector,
        derivatives: Vector,
    ) -> None:
        """Write derivatives of positions and velocities; nothing depends on those of the guess."""
        assert self.tangent is not None
        x, state = self.tangent.sx_in(), derivatives.part(0, 2 * w.q.rows)
        ports = [whole(v) for v in (*arguments, w.directions)]
        w.map(x, self.tangent.call(x), 1, ports, [whole(state)])

    def pull_back(
        self,
        w: RecursionWriter,
        reverse: Reverse,
        operations: list[Operation],
        arguments: list[Vector],
        pulled: Vector,
    ) -> None:
        """Add the contribution of the parameters, from the costates of positions and velocities."""
        costate, gradient = reverse.of(w.result.part(0, 2 * w.q.rows)), reverse.of(w.ρ)
        assert self.pullback is not None and costate is not None and gradient is not None
        x = self.pullback.sx_in()
        to = replace(port_of(gradient, [range(gradient.rows)]), mode=Mode.ADD)
        w.map(x, self.pullback.call(x), 1, [whole(v) for v in (*arguments, costate)], [to])
