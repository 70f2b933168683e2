"""Generation of plans from the recursive passes over a tree."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from ...core.symbols import SX
from ...model.body import Body
from ...stages.column_maps import append_maps
from ...stages.forward import Forward
from ...stages.plan import Map, Mode, Operation, Plan, Port, Vector, Zero, padded, row_length
from ...stages.reverse import Reverse
from ..similar_expressions import Restated
from .applied_forces import PARAMETER
from .articulated import (
    ACCELERATION,
    BEFORE,
    BIAS,
    EULER,
    EULER_RATE,
    HINGE,
    INERTIA,
    SOLVED,
    TWIST,
    Form,
    Kernel,
    inward,
    outward,
)
from .recursion_ports import Blocks, port_of
from .recursion_sources import SolvedStart, StateArgument
from .recursive_tree import JOINT, PARENT, RATE, RecursiveTree
from .spanning_tree import Link

MOTION = "motion"


class RecursionWriter:
    """Writer of the plan of one recursion over the bodies."""

    def __init__(self, tree: RecursiveTree, name: str, source: StateArgument | SolvedStart):
        self._tree, self.plan, self._source = tree, Plan(name), source
        self._n, self._m = tree.equations.q.numel(), tree.equations.λ.numel()
        self.forms: dict[Body, Form] = {
            link.body: Form(
                len(self._columns(link.body)),
                bool(tree.recursion.hinges[link.body].euler),
                link.parent.is_ground,
            )
            for link in tree.links
        }

    def forward(self, directions: np.ndarray | None) -> Plan:
        """Write the state, and its derivatives in the given directions in the space of the
        parameters.
        """
        n, size = self._n, 3 * self._n + self._m
        arguments = self._source.arguments(self.plan, n)
        seeds = None if directions is None else padded(directions)
        argument_derivatives = (
            None if seeds is None else self.plan.argument(arguments[0].rows, seeds.shape[1])
        )
        settings = self._settings()
        self.result, self.residuals = self.plan.result(size), self.plan.result(3)
        derivatives = None if seeds is None else self.plan.result(size, seeds.shape[1])
        self._source.write(self, [*arguments, *settings])
        if seeds is not None:
            self.directions = self.plan.constant(seeds)
        if derivatives is not None and argument_derivatives is not None:
            self._source.differentiate(
                self, [*arguments, *settings], argument_derivatives, derivatives
            )
        first = len(self.plan.operations)
        self._passes()
        self._residuals(self._m)
        if derivatives is not None:
            self._differentiate(self.plan.operations[first:], derivatives)
        return self.plan

    def backward(self, objectives: int) -> Plan:
        """Write the costates of the arguments and of the parameters."""
        n, size, width = self._n, 3 * self._n + self._m, row_length(objectives)
        arguments = self._source.arguments(self.plan, n)
        costate = self.plan.argument(size, width)
        settings = self._settings()
        pulled, gradient = (
            self.plan.result(arguments[0].rows, width),
            self.plan.result(self.ρ.rows, width),
        )
        self.result = self.plan.vector(size)
        self._source.write(self, [*arguments, *settings])
        first = len(self.plan.operations)
        self._passes()
        before, recursive = self.plan.operations[:first], self.plan.operations[first:]
        reverse, own = Reverse(self.plan), self.plan.vector(size, width)
        reverse.bind(self.ρ, gradient)
        reverse.bind(self.result, own)
        costates = [self.plan.vector(block.vector.rows, width) for block in self.blocks.values()]
        for block, vector in zip(self.blocks.values(), costates, strict=True):
            reverse.bind(block.vector, vector)
        self.plan.operations += [Zero(v) for v in (pulled, gradient, *costates)]
        x = SX.sym("x")
        self.map([x], [x], size, [Port(costate, 1)], [Port(own, 1)])
        reverse.sweep(recursive)
        self._source.pull_back(self, reverse, before, [*arguments, *settings], pulled)
        return self.plan

    def _settings(self) -> list[Vector]:
        """Create the last arguments of the plan: α, ρ and t."""
        e = self._tree.equations
        α = self.plan.argument(self._source.penalties(self._m))
        self.ρ, self.t = self.plan.argument(e.ρ.numel()), self.plan.argument(1)
        return [α, self.ρ, self.t]

    def _passes(self) -> None:
        layout = self._tree.layout
        sizes = {
            MOTION: {body: layout.size for body in self.forms},
            INERTIA: {body: layout.inertias for body in self.forms},
            BIAS: {body: layout.twists for body in self.forms},
            TWIST: {body: layout.twists for body in self.forms},
            HINGE: {body: layout.hinge_size(form.count) for body, form in self.forms.items()},
            SOLVED: {body: form.solved(layout) for body, form in self.forms.items()},
        }
        self.blocks = {name: Blocks(self.plan, size) for name, size in sizes.items()}
        self._first_pass()
        self._forces()
        self._inward()
        self._outward()

    @property
    def q(self) -> Vector:
        """Positions in the result."""
        return self.result.part(0, self._n)

    @property
    def v(self) -> Vector:
        """Velocities in the result."""
        return self.result.part(self._n, self._n)

    @property
    def a(self) -> Vector:
        """Accelerations in the result."""
        return self.result.part(2 * self._n, self._n)

    def _differentiate(self, operations: list[Operation], derivatives: Vector) -> None:
        forward = Forward(self.plan)
        forward.bind(self.result, derivatives)
        forward.bind(self.ρ, self.directions)
        for block in self.blocks.values():
            forward.bind(block.vector, self.plan.vector(block.vector.rows, derivatives.width))
        forward.differentiate([op for op in operations if isinstance(op, (Map, Zero))])

    def _columns(self, body: Body) -> range:
        return self._tree.recursion.columns[body]

    def map(
        self,
        symbols: list[SX],
        expressions: list[SX],
        count: int,
        inputs: list[Port],
        outputs: list[Port],
        in_turn: bool = False,
    ) -> None:
        """Append one map; empty symbols and expressions are left out."""
        bound_inputs = [(x, port) for x, port in zip(symbols, inputs, strict=True) if x.numel()]
        results = [(x, port) for x, port in zip(expressions, outputs, strict=True) if x.numel()]
        if results:
            append_maps(self.plan, count, bound_inputs, results, in_turn=in_turn)

    def _map_in_turn(
        self, kernel: Kernel, count: int, inputs: list[Port], outputs: list[Port]
    ) -> None:
        """Append a kernel of the recursion for several bodies, executed in sequence."""
        symbols, expressions = list(kernel.inputs.values()), list(kernel.outputs.values())
        self.map(symbols, expressions, count, inputs, outputs, in_turn=True)

    @property
    def euler_rows(self) -> list[range]:
        """Rows of the Euler parameters of each joint that has them."""
        return [self._columns(body)[:4] for body, form in self.forms.items() if form.euler]

    def _residuals(self, m: int) -> None:
        """Write the residuals of the lengths of Euler parameters; their multipliers vanish."""
        self.plan.operations.append(Zero(self.residuals))
        if rows := self.euler_rows:
            self.plan.operations.append(Zero(self.result.part(3 * self.q.rows, m)))
            p, ṗ, p̈ = (SX.sym(name, 4) for name in ("p", "ṗ", "p̈"))
            levels = [(ca.dot(p, p) - 1) / 2, ca.dot(p, ṗ), ca.dot(p, p̈) + ca.dot(ṗ, ṗ)]
            inputs = [port_of(vector, rows) for vector in (self.q, self.v, self.a)]
            outputs = [Port(self.residuals.part(k, 1), 1, mode=Mode.LARGEST) for k in range(3)]
            self.map([p, ṗ, p̈], levels, len(rows), inputs, outputs)

    # passes

    def _first_pass(self) -> None:
        kinds = self._tree.outward
        place = {
            link.body: (k, i) for k, kind in enumerate(kinds) for i, link in enumerate(kind.links)
        }
        for links in self._runs({body: k for body, (k, _) in place.items()}):
            bodies = [link.body for link in links]
            kind, chosen = kinds[place[bodies[0]][0]], [place[body][1] for body in bodies]
            symbols = [kind.symbols[JOINT], kind.symbols[RATE]]
            columns = [self._columns(body) for body in bodies]
            inputs = [port_of(self.q, columns), port_of(self.v, columns)]
            if not links[0].parent.is_ground:
                symbols.append(kind.symbols[PARENT])
                inputs.append(self.blocks[MOTION].port([link.parent for link in links]))
            self._append_parameters(
                kind.symbols[PARAMETER],
                kind.parameters[chosen],
                kind.restated,
                chosen,
                symbols,
                inputs,
            )
            outputs = [self.blocks[name].port(bodies) for name in (MOTION, HINGE, INERTIA, BIAS)]
            self.map(symbols, kind.restated.expressions, len(links), inputs, outputs, in_turn=True)

    def _append_parameters(
        self,
        parameters: SX,
        rows: np.ndarray,
        restated: Restated,
        chosen: list[int],
        symbols: list[SX],
        inputs: list[Port],
    ) -> None:
        """Append parameters and varying numbers of elements of equal structure to the inputs."""
        symbols += [parameters, restated.constants]
        numbers = self.plan.constant(restated.values[chosen].reshape(-1, 1))
        inputs += [port_of(self.ρ, rows), Port(numbers, restated.constants.numel())]

    def _forces(self) -> None:
        for kind in self._tree.forces:
            count = len(kind.involved)
            symbols = list(kind.bodies)
            inputs = [
                self.blocks[MOTION].port(bodies) for bodies in zip(*kind.involved, strict=True)
            ]
            if ca.depends_on(ca.veccat(*kind.restated.expressions), kind.time):
                symbols.append(kind.time)
                inputs.append(Port(self.t, 1, same=True))
            self._append_parameters(
                kind.parameters,
                kind.parameter_rows,
                kind.restated,
                list(range(count)),
                symbols,
                inputs,
            )
            outputs = [
                self.blocks[BIAS].port(bodies, Mode.ADD) for bodies in zip(*kind.acted, strict=True)
            ]
            self.map(symbols, kind.restated.expressions, count, inputs, outputs)

    def _inward(self) -> None:
        for links in reversed(self._runs(self.forms)):
            bodies, parents = (
                [link.body for link in links[::-1]],
                [link.parent for link in links[::-1]],
            )
            kernel = inward(self._tree.layout, self.forms[bodies[0]])
            rows = [self._columns(body)[:4] for body in bodies]
            euler_ports = {EULER: port_of(self.q, rows), EULER_RATE: port_of(self.v, rows)}
            inputs = [
                euler_ports[name] if name in euler_ports else self.blocks[name].port(bodies)
                for name in kernel.inputs
            ]
            outputs = [
                self.blocks[name].port(bodies)
                if name == SOLVED
                else self.blocks[name].port(parents, Mode.ADD)
                for name in kernel.outputs
            ]
            self._map_in_turn(kernel, len(bodies), inputs, outputs)

    def _outward(self) -> None:
        for links in self._runs(self.forms):
            bodies = [link.body for link in links]
            kernel = outward(self._tree.layout, self.forms[bodies[0]])
            inputs = [
                self.blocks[TWIST].port([link.parent for link in links])
                if name == BEFORE
                else self.blocks[name].port(bodies)
                for name in kernel.inputs
            ]
            outputs = [
                port_of(self.a, [self._columns(body) for body in bodies])
                if name == ACCELERATION
                else self.blocks[name].port(bodies)
                for name in kernel.outputs
            ]
            self._map_in_turn(kernel, len(bodies), inputs, outputs)

    def _runs(self, kind_of: Mapping[Body, object]) -> list[list[Link]]:
        """Divide all links, parents first, into few runs of one kind each."""
        children: dict[Body, list[Link]] = {}
        for link in self._tree.links:
            children.setdefault(link.parent, []).append(link)
        ready: dict[object, list[Link]] = {}
        for link in children.get(self._tree.model.ground, []):
            ready.setdefault(kind_of[link.body], []).append(link)
        runs = []
        while ready:
            kind = max(ready, key=lambda k: len(ready[k]))
            run = ready.pop(kind)
            for link in run:  # the run grows during the loop
                for child in children.get(link.body, []):
                    other = kind_of[child.body]
                    (run if other == kind else ready.setdefault(other, [])).append(child)
            runs.append(run)
        return runs
