"""Accelerations of an open tree in a time proportional to its size, for trees of any length: three sweeps over its bodies.

    outward   positions, velocities, and what each body resists with at zero acceleration: (I, p) about its reference point
    inward    (I, p) of a body and all that hangs on it, free to swing:  U = I b,  D = bᵀ U,  I' = I − U D⁻¹ Uᵀ,  p' = p + I' d − U D⁻¹ bᵀ p,
              moved to the parent's reference point and added to its (I, p)
    outward   z̈ = −D⁻¹ (bᵀ p + Uᵀ (B Ż_p + d)),  Ż = B Ż_p + d + b z̈

with b, d and B as in `recursion`; forces act on (I, p) between the first two. Each sweep is a few maps, carried out in turn, whose kernels depend on
the kinds of joints only; derivatives are swept along (`stages/forward`).

R. Featherstone, Int. J. Robotics Research 2 (1983) 13–30; Rigid Body Dynamics Algorithms, Springer 2008, chapter 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ...elimination import Factorisation
from ...model.body import Body
from ...model.frame import Frame, spin
from ...model.state import State
from ...stages.forward import Forward
from ...stages.plan import Map, Mode, Plan, Port, Vector, Zero
from ...symbols import SX
from ..alike import Reading, Restated, read, restate
from ..equations import Equations
from .recursion import CENTRE_OF_MASS, Motion, Recursion, cross, inertia_about, moment, move, still, stretch, wrench
from .topology import Link

PARENT, JOINT, RATE, PARAMETER, TIME = "parent", "joint", "rate", "parameter", "time"


class Sweeps:
    """Rates of an open tree, and the state at the end of a step, as plans."""

    def __init__(self, equations: Equations):
        assert isinstance(equations.inertia, Recursion)
        self.equations = equations
        self.tree = equations.inertia
        self.model = equations.model
        self.links = self.tree.topology.links
        self.layout = _Layout(self.model.dimension, self.tree.reference)
        self.slots = {body: k for k, body in enumerate([self.model.ground, *[link.body for link in self.links]])}

    def rates(self, indices: list[int] | None) -> Plan:
        """(q and q̇[, their derivatives], α, ρ, t) → q, q̇, q̈, λ and residuals[, derivatives]."""
        return _Writer(self, "rates", indices).plan

    def end(self, indices: list[int] | None) -> Plan:
        """The same from positions and velocities that have drifted: Euler parameters are given unit length."""
        return _Writer(self, "step", indices, drifted=True).plan

    # kinds of bodies and of forces

    @cached_property
    def outward(self) -> list[_Kind]:
        """Kernels of the first sweep."""
        parent = self.layout.symbols("parent")
        roles = self._parameter_roles | _roles(PARENT, parent)
        kinds: dict[object, list[tuple[Link, Reading]]] = {}
        same: dict[object, Reading] = {}
        for link in self.links:
            count = len(self.tree.columns[link.body])
            if (numbers := self._numbers(link)) not in same:
                z, ż = SX.sym("z", count), SX.sym("ż", count)
                expressions = self._first_sweep(link, self.layout.motion(parent), z, ż)
                same[numbers] = read(expressions, roles | _roles(JOINT, z) | _roles(RATE, ż), {PARAMETER: PARAMETER})
            kinds.setdefault((count, same[numbers].key), []).append((link, same[numbers]))
        return [self._kind(alike, parent) for alike in kinds.values()]

    def _numbers(self, link: Link) -> object:
        """Equal for links that differ in nothing but where they are; the link itself where parameters are involved."""
        place, body = self.tree.places[link.body], link.body
        given = [*vars(place).values(), body.com, body.mass, body.inertia]
        if not all(x.is_constant() for x in given):
            return link
        kind = link.joint.kind if link.joint else None
        return kind, link.forward, np.concatenate([np.array(ca.DM(x)).ravel() for x in given]).tobytes()

    def _first_sweep(self, link: Link, parent: Motion, z: SX, ż: SX) -> list[SX]:
        """A body's motion, its hinge, and (I, p)."""
        place = self.tree.places[link.body]
        here, hinge = move(link, place, self.tree.reference, parent, z, ż)
        parts = [hinge.motions, hinge.axes, hinge.drift, hinge.turning]
        if self.tree.reference == CENTRE_OF_MASS:
            parts.append(hinge.arm)
        if hinge.euler:
            parts.append(stretch(link, place))
        inertia = inertia_about(link.body, here)
        weight = link.body.mass * self.model.gravity
        f, n = wrench(link.body, here, SX.zeros(here.velocity.numel()), SX.zeros(here.spin.numel()))
        p = ca.vertcat(f - weight, n - moment(here.com - here.reference, weight))
        packed = self.layout.pack(_matrix(inertia.mass, inertia.moment, inertia.about))
        return [self.layout.flat(here), ca.veccat(*parts), packed, p]

    def _kind(self, members: list[tuple[Link, Reading]], parent: SX) -> _Kind:
        links, readings = [link for link, _ in members], [reading for _, reading in members]
        count = len(self.tree.columns[links[0].body])
        symbols = {PARENT: parent, JOINT: SX.sym("z", count), RATE: SX.sym("ż", count)}
        symbols[PARAMETER] = SX.sym("ρ", len(readings[0].entries[PARAMETER]))
        found = restate(readings, lambda role, place: symbols[role][place])
        return _Kind(links, symbols, found, np.array([r.entries[PARAMETER] for r in readings], dtype=np.int32))

    @cached_property
    def forces(self) -> list[_Acting]:
        """Kernels of all forces that are alike: wrenches on the bodies they act on."""
        if not self.model.forces:
            return []
        blocks = {body: self.layout.symbols(body.name) for body in self.model.moving_bodies}
        motions = {self.model.ground: still(self.model.ground), **{b: self.layout.motion(x) for b, x in blocks.items()}}
        frames = {body: motion.frame for body, motion in motions.items()}
        t, poses = (
            self.equations.t,
            {body: ca.vertcat(f.origin, ca.vec(f.rotation)) for body, f in frames.items() if not body.is_ground},
        )
        rates = {body: ca.vertcat(frames[body].origin_rate, ca.vec(frames[body].rotation_rate)) for body in poses}
        roles = self._parameter_roles | {t.element_hash(): (TIME, 0)}
        owner = {s.element_hash(): body for body, block in blocks.items() for s in ca.vertsplit(block)}

        def rate(x: SX) -> SX:
            """Time derivative of what depends on positions and time."""
            involved = dict.fromkeys(owner[s.element_hash()] for s in ca.symvar(x) if s.element_hash() in owner)
            return sum((ca.jtimes(x, poses[b], rates[b]) for b in involved), ca.jtimes(x, t, SX(1)))

        state = State(self.model, frames, t, rate, user="a force")
        readings: dict[object, list[tuple[list[Body], list[Body], Reading]]] = {}
        for force in self.model.forces.values():
            pairs = force.efforts(frames, state)
            symbols = [SX.sym("f", effort.numel()) for _, effort in pairs]
            power = sum((ca.dot(w, f) for (w, _), f in zip(pairs, symbols, strict=True)), -rate(force.potential_energy(frames)))
            efforts = [effort for _, effort in pairs]
            acted = list(dict.fromkeys(owner[s.element_hash()] for s in ca.symvar(power) if s.element_hash() in owner))
            wrenches = [ca.gradient(power, self.layout.twist(blocks[body])) for body in acted]
            if symbols:
                wrenches = ca.substitute(wrenches, symbols, efforts)
            involved = list(
                dict.fromkeys(
                    [*acted, *(owner[s.element_hash()] for w in wrenches for s in ca.symvar(w) if s.element_hash() in owner)]
                )
            )
            if not acted:
                continue
            local = {
                s.element_hash(): (f"body {k}", i) for k, b in enumerate(involved) for i, s in enumerate(ca.vertsplit(blocks[b]))
            }
            reading = read([-w for w in wrenches], roles | local, {PARAMETER: PARAMETER})
            readings.setdefault((len(involved), len(acted), reading.key), []).append((involved, acted, reading))
        return [self._acting(members) for members in readings.values()]

    def _acting(self, members: list[tuple[list[Body], list[Body], Reading]]) -> _Acting:
        involved, _, first = members[0]
        symbols = {f"body {k}": self.layout.symbols("body") for k in range(len(involved))}
        symbols |= {PARAMETER: SX.sym("ρ", len(first.entries[PARAMETER])), TIME: SX.sym("t")}
        found = restate([reading for *_, reading in members], lambda role, place: symbols[role][place])
        parameters = np.array([reading.entries[PARAMETER] for *_, reading in members], dtype=np.int32)
        bodies = [np.array([self.slots[m[which][k]] for m in members]) for which in (0, 1) for k in range(len(members[0][which]))]
        return _Acting(symbols, found, parameters, bodies[: len(involved)], bodies[len(involved) :])

    @property
    def _parameter_roles(self) -> dict[int, tuple[str, int]]:
        return _roles(PARAMETER, self.equations.ρ)


@dataclass(frozen=True)
class _Kind:
    """Bodies whose first sweep is alike."""

    links: list[Link]
    symbols: dict[str, SX]
    found: Restated
    parameters: np.ndarray


@dataclass(frozen=True)
class _Acting:
    """Forces that are alike: slots of the bodies they depend on and of those they act on, an array for each such body."""

    symbols: dict[str, SX]
    found: Restated
    parameters: np.ndarray
    involved: list[np.ndarray]
    acted: list[np.ndarray]


def _roles(role: str, symbols: SX) -> dict[int, tuple[str, int]]:
    return {s.element_hash(): (role, k) for k, s in enumerate(ca.vertsplit(symbols) if symbols.numel() else [])}


def _matrix(m: SX, h: SX, J: SX) -> SX:
    """(f, n) = I (u̇, ω̇)."""
    n = h.numel()
    H = ca.vertcat(-h[1], h[0]) if n == 2 else ca.skew(h).T
    return ca.blockcat([[m * SX.eye(n), H], [H.T, J]])


@dataclass(frozen=True)
class _Layout:
    """How the motion of a body is stored: o, R (in the plane its cosine and sine), the angle (plane), u, ω; and r, ṙ if that is not the origin."""

    n: int
    reference: str

    @property
    def spins(self) -> int:
        """Components of ω."""
        return 1 if self.n == 2 else 3

    @property
    def twists(self) -> int:
        """Components of (u, ω)."""
        return self.n + self.spins

    @property
    def inertias(self) -> int:
        """Entries of I that are stored."""
        return self.twists * (self.twists + 1) // 2

    @property
    def size(self) -> int:
        """Numbers for each body."""
        return self._sizes[-1]

    @property
    def _sizes(self) -> list[int]:
        rotation = 3 if self.n == 2 else 9
        reference = 2 * self.n if self.reference == CENTRE_OF_MASS else 0
        return np.cumsum([0, self.n, rotation, self.n, self.spins, reference]).tolist()

    def symbols(self, name: str) -> SX:
        """One body in symbols."""
        return SX.sym(name, self.size)

    def twist(self, block: SX) -> SX:
        """(u, ω)."""
        return block[self._sizes[2] : self._sizes[4]]

    def motion(self, block: SX) -> Motion:
        """What is stored, as a motion; of its centre of mass only where that is the reference point."""
        sizes, at_com = self._sizes, self.reference == CENTRE_OF_MASS
        o, turn, u, ω, reference = (block[sizes[k] : sizes[k + 1]] for k in range(5))
        r, ṙ = (reference[: self.n], reference[self.n :]) if at_com else (SX.zeros(self.n), SX.zeros(self.n))
        if self.n == 2:
            c, s, angle = turn[0], turn[1], turn[2]
            R = ca.vertcat(ca.horzcat(c, -s), ca.horzcat(s, c))
        else:
            R, angle = ca.reshape(turn, 3, 3), SX(0)
        frame = Frame(o, R, u + cross(ω, o - r), spin(ω) @ R)
        return Motion(frame, angle, r, ṙ, r, ṙ, u, ω)

    def flat(self, motion: Motion) -> SX:
        """A motion as it is stored."""
        R = motion.frame.rotation
        turn = ca.vertcat(R[0, 0], R[1, 0], motion.angle) if self.n == 2 else ca.vec(R)
        reference = (motion.reference, motion.reference_rate) if self.reference == CENTRE_OF_MASS else ()
        return ca.densify(ca.vertcat(motion.frame.origin, turn, motion.velocity, motion.spin, *reference))

    def pack(self, matrix: SX) -> SX:
        """The upper half of a symmetric matrix, by columns."""
        return ca.densify(ca.vertcat(*[matrix[i, j] for j in range(self.twists) for i in range(j + 1)]))

    def unpack(self, packed: SX) -> SX:
        """The matrix."""
        matrix, k = SX(self.twists, self.twists), 0
        for j in range(self.twists):
            for i in range(j + 1):
                matrix[i, j] = matrix[j, i] = packed[k]
                k += 1
        return matrix

    def hinge_size(self, count: int, euler: bool) -> int:
        """Numbers for a hinge with so many coordinates."""
        arm = self.n if self.reference == CENTRE_OF_MASS else 0
        return self.twists * (count + 1) + arm + int(euler)

    def hinge(self, block: SX, count: int, euler: bool) -> tuple[SX, SX, SX, SX]:
        """b, d, the arm and μ."""
        n, w = self.n, self.spins
        sizes = np.cumsum([0, n * count, w * count, n, w, self.n if self.reference == CENTRE_OF_MASS else 0, int(euler)]).tolist()
        motions, axes, drift, turning, arm, μ = (block[sizes[k] : sizes[k + 1]] for k in range(6))
        b = ca.vertcat(ca.reshape(motions, n, count), ca.reshape(axes, w, count))
        return b, ca.vertcat(drift, turning), arm if arm.numel() else SX.zeros(n), μ


class _Writer:
    """Writes one plan."""

    def __init__(self, sweeps: Sweeps, name: str, indices: list[int] | None, *, drifted: bool = False):
        self.s, self.plan = sweeps, Plan(name)
        e, layout = sweeps.equations, sweeps.layout
        n, m, count = e.q.numel(), e.λ.numel(), e.ρ.numel()
        width = None if indices is None else len(indices)
        self.state = self.plan.argument(2 * n)
        slopes = None if width is None else self.plan.argument(2 * n, width)
        self.plan.argument(m)
        self.ρ, self.t = self.plan.argument(count), self.plan.argument(1)
        self.result, self.residuals = self.plan.result(3 * n + m), self.plan.result(3)
        result_slopes = None if width is None else self.plan.result(3 * n + m, width)
        self.q, self.v, self.a = (self.result.part(k * n, n) for k in range(3))
        bodies = len(sweeps.slots)
        self.motions = self.plan.vector(bodies * layout.size)
        self.inertias = self.plan.vector(bodies * layout.inertias)
        self.biases = self.plan.vector(bodies * layout.twists)
        self.twists = self.plan.vector(bodies * layout.twists)
        self._hinges()
        self._complete_positions(drifted)
        self._first_sweep()
        self._forces()
        self._inward()
        self._outward()
        self._residuals(m)
        if width is not None and indices is not None and slopes is not None and result_slopes is not None:
            seeds = np.zeros((count, width))
            seeds[indices, range(width)] = 1.0
            forward = Forward(self.plan, width)
            forward.know(self.state, slopes)
            forward.know(self.result, result_slopes)
            forward.know(self.ρ, self.plan.constant(seeds))
            own = [self.motions, self.inertias, self.biases, self.twists, self.hinges, self.solved]
            for vector in own:
                forward.know(vector, self.plan.vector(vector.rows, width))
            forward.differentiate([op for op in self.plan.operations if isinstance(op, (Map, Zero))])

    def _hinges(self) -> None:
        """Where what is known of each joint stands: its hinge, and then G and g of  z̈ = g − G (B Ż_p + d)."""
        layout, tree = self.s.layout, self.s.tree
        self.hinge_rows: dict[Body, np.ndarray] = {}
        self.solved_rows: dict[Body, np.ndarray] = {}
        hinges = solved = 0
        for link in self.s.links:
            count, euler = self._form(link)
            size, more = layout.hinge_size(count, euler), count * (layout.twists + 1)
            self.hinge_rows[link.body] = np.arange(hinges, hinges + size)
            self.solved_rows[link.body] = np.arange(solved, solved + more)
            hinges, solved = hinges + size, solved + more
        self.hinges, self.solved = self.plan.vector(hinges), self.plan.vector(solved)
        self.columns = {body: np.array(columns) for body, columns in tree.columns.items()}

    def _form(self, link: Link) -> tuple[int, bool]:
        return len(self.s.tree.columns[link.body]), bool(self.s.tree.hinges[link.body].euler)

    def _rows(self, bodies: Sequence[Body], size: int) -> np.ndarray:
        return np.array([self.s.slots[body] for body in bodies])[:, None] * size + np.arange(size)

    def _map(
        self,
        symbols: list[SX],
        expressions: list[SX],
        count: int,
        inputs: list[Port],
        outputs: list[Port],
        *,
        in_turn: bool = False,
    ) -> None:
        kernel = ca.Function("sweep", symbols, ca.cse([ca.densify(x) for x in expressions]))
        self.plan.operations.append(Map(kernel, count, tuple(inputs), tuple(outputs), in_turn))

    def _port(self, vector: Vector, table: np.ndarray, mode: Mode = Mode.SET) -> Port:
        return Port(vector, table.shape[1], np.ascontiguousarray(table, dtype=np.int32), mode=mode)

    # positions and velocities

    def _complete_positions(self, drifted: bool) -> None:
        both = SX.sym("x")
        size = self.state.rows
        self._map([both], [both], size, [Port(self.state, 1)], [Port(self.result.part(0, size), 1)])
        rows = self._euler_rows()
        if drifted and rows.size:
            p, ṗ = SX.sym("p", 4), SX.sym("ṗ", 4)
            unit = p / ca.norm_2(p)
            ports = [self._port(self.state, rows), self._port(self.state, rows + size // 2)]
            results = [self._port(self.q, rows), self._port(self.v, rows)]
            self._map([p, ṗ], [unit, ṗ - unit * ca.dot(unit, ṗ)], len(rows), ports, results)

    def _euler_rows(self) -> np.ndarray:
        tree = self.s.tree
        found = [np.array(tree.columns[b])[list(hinge.euler)] for b, hinge in tree.hinges.items() if hinge.euler]
        return np.array(found, dtype=int).reshape(len(found), 4)

    def _residuals(self, m: int) -> None:
        """Of the Euler parameters' lengths; their multipliers vanish."""
        n = self.q.rows
        self.plan.operations.append(Zero(self.residuals))
        if m:
            self.plan.operations.append(Zero(self.result.part(3 * n, m)))
        rows = self._euler_rows()
        if rows.size:
            p, ṗ, p̈ = (SX.sym(name, 4) for name in ("p", "ṗ", "p̈"))
            levels = [(ca.dot(p, p) - 1) / 2, ca.dot(p, ṗ), ca.dot(p, p̈) + ca.dot(ṗ, ṗ)]
            inputs = [self._port(vector, rows) for vector in (self.q, self.v, self.a)]
            outputs = [Port(self.residuals.part(k, 1), 1, mode=Mode.LARGEST) for k in range(3)]
            self._map([p, ṗ, p̈], levels, len(rows), inputs, outputs)

    # sweeps

    def _first_sweep(self) -> None:
        layout, ground = self.s.layout, still(self.s.model.ground)
        self._map([], [layout.flat(ground)], 1, [], [Port(self.motions.part(0, layout.size), layout.size)])
        kind_of = {link.body: k for k, kind in enumerate(self.s.outward) for link in kind.links}
        place_of = {link.body: i for kind in self.s.outward for i, link in enumerate(kind.links)}
        for links in self._runs(kind_of):
            kind = self.s.outward[kind_of[links[0].body]]
            chosen = [place_of[link.body] for link in links]
            bodies = [link.body for link in links]
            symbols = [kind.symbols[PARENT]]
            inputs = [self._port(self.motions, self._rows([link.parent for link in links], layout.size))]
            if kind.symbols[JOINT].numel():
                columns = np.array([self.columns[body] for body in bodies])
                symbols += [kind.symbols[JOINT], kind.symbols[RATE]]
                inputs += [self._port(self.q, columns), self._port(self.v, columns)]
            self._given(kind.symbols[PARAMETER], kind.parameters[chosen], kind.found, chosen, symbols, inputs)
            outputs = [
                self._port(self.motions, self._rows(bodies, layout.size)),
                self._port(self.hinges, np.array([self.hinge_rows[body] for body in bodies])),
                self._port(self.inertias, self._rows(bodies, layout.inertias)),
                self._port(self.biases, self._rows(bodies, layout.twists)),
            ]
            self._map(symbols, kind.found.expressions, len(links), inputs, outputs, in_turn=True)

    def _given(
        self, parameters: SX, table: np.ndarray, found: Restated, chosen: list[int], symbols: list[SX], inputs: list[Port]
    ) -> None:
        """Parameters and numbers of things that are alike."""
        if parameters.numel():
            symbols.append(parameters)
            inputs.append(self._port(self.ρ, table))
        if found.constants.numel():
            symbols.append(found.constants)
            inputs.append(Port(self.plan.constant(found.values[chosen].reshape(-1, 1)), found.constants.numel()))

    def _forces(self) -> None:
        layout = self.s.layout
        for kind in self.s.forces:
            count = len(kind.parameters)
            symbols = [kind.symbols[f"body {k}"] for k in range(len(kind.involved))]
            inputs = [self._port(self.motions, slots[:, None] * layout.size + np.arange(layout.size)) for slots in kind.involved]
            if ca.depends_on(ca.veccat(*kind.found.expressions), kind.symbols[TIME]):
                symbols.append(kind.symbols[TIME])
                inputs.append(Port(self.t, 1, same=True))
            self._given(kind.symbols[PARAMETER], kind.parameters, kind.found, list(range(count)), symbols, inputs)
            outputs = [
                self._port(self.biases, slots[:, None] * layout.twists + np.arange(layout.twists), Mode.ADD)
                for slots in kind.acted
            ]
            self._map(symbols, kind.found.expressions, count, inputs, outputs)

    def _inward(self) -> None:
        layout = self.s.layout
        for vector, size in ((self.inertias, layout.inertias), (self.biases, layout.twists)):
            self.plan.operations.append(Zero(vector.part(0, size)))  # the ground takes all and does not move
        for links in reversed(self._runs({link.body: self._form(link) for link in self.s.links})):
            links = links[::-1]
            count, euler = self._form(links[0])
            bodies, parents = [link.body for link in links], [link.parent for link in links]
            I_packed, p = SX.sym("I", layout.inertias), SX.sym("p", layout.twists)
            hinge = SX.sym("hinge", layout.hinge_size(count, euler))
            symbols, inputs = (
                [I_packed, p, hinge],
                [
                    self._port(self.inertias, self._rows(bodies, layout.inertias)),
                    self._port(self.biases, self._rows(bodies, layout.twists)),
                    self._port(self.hinges, np.array([self.hinge_rows[body] for body in bodies])),
                ],
            )
            b, d, arm, μ = layout.hinge(hinge, count, euler)
            I = layout.unpack(I_packed)
            U, right = I @ b, -b.T @ p
            D = b.T @ U
            if euler:
                e, ė = SX.sym("e", 4), SX.sym("ė", 4)
                symbols += [e, ė]
                rows = np.array([self.columns[body][:4] for body in bodies])
                inputs += [self._port(self.q, rows), self._port(self.v, rows)]
                D[:4, :4] += μ * (e @ e.T)
                right[:4] -= μ * e * ca.dot(ė, ė)
            solved = (
                Factorisation(ca.densify(D), symmetric=True).solve(ca.horzcat(U.T, right)) if count else SX(0, layout.twists + 1)
            )
            G, g = solved[:, :-1], solved[:, -1]
            I_beyond = layout.unpack(layout.pack(I - U @ G))
            p_beyond = p + I @ d + U @ (g - G @ d)
            B = _shift(arm)
            outputs = [
                self._port(self.solved, np.array([self.solved_rows[body] for body in bodies])),
                self._port(self.inertias, self._rows(parents, layout.inertias), Mode.ADD),
                self._port(self.biases, self._rows(parents, layout.twists), Mode.ADD),
            ]
            expressions = [ca.vec(solved), layout.pack(B.T @ I_beyond @ B), B.T @ p_beyond]
            keep = slice(None) if count else slice(1, None)
            self._map(symbols, expressions[keep], len(links), inputs, outputs[keep], in_turn=True)

    def _outward(self) -> None:
        layout = self.s.layout
        self.plan.operations.append(Zero(self.twists.part(0, layout.twists)))
        for links in self._runs({link.body: self._form(link) for link in self.s.links}):
            count, euler = self._form(links[0])
            bodies = [link.body for link in links]
            before, hinge = SX.sym("Ż", layout.twists), SX.sym("hinge", layout.hinge_size(count, euler))
            solved = SX.sym("solved", count * (layout.twists + 1))
            b, d, arm, _ = layout.hinge(hinge, count, euler)
            G_g = ca.reshape(solved, count, layout.twists + 1)
            carried = _shift(arm) @ before + d
            z̈ = G_g[:, -1] - G_g[:, :-1] @ carried
            inputs = [
                self._port(self.twists, self._rows([link.parent for link in links], layout.twists)),
                self._port(self.hinges, np.array([self.hinge_rows[body] for body in bodies])),
                self._port(self.solved, np.array([self.solved_rows[body] for body in bodies])),
            ]
            columns = np.array([self.columns[body] for body in bodies]).reshape(len(bodies), -1)
            outputs = [self._port(self.a, columns), self._port(self.twists, self._rows(bodies, layout.twists))]
            symbols, expressions = [before, hinge, solved], [z̈, carried + b @ z̈]
            if not count:
                symbols, inputs, expressions, outputs = symbols[:2], inputs[:2], expressions[1:], outputs[1:]
            self._map(symbols, expressions, len(links), inputs, outputs, in_turn=True)

    def _runs(self, kind_of: Mapping[Body, object]) -> list[list[Link]]:
        """All links, parents first, in few runs of one kind each."""
        children: dict[Body, list[Link]] = {}
        for link in self.s.links:
            children.setdefault(link.parent, []).append(link)
        ready: dict[object, list[Link]] = {}
        for link in children.get(self.s.model.ground, []):
            ready.setdefault(kind_of[link.body], []).append(link)
        runs = []
        while ready:
            kind = max(ready, key=lambda k: len(ready[k]))
            run = ready.pop(kind)
            for link in run:  # grows as it goes
                for child in children.get(link.body, []):
                    other = kind_of[child.body]
                    (run if other == kind else ready.setdefault(other, [])).append(child)
            runs.append(run)
        return runs


def _shift(arm: SX) -> SX:
    """B."""
    n = arm.numel()
    w = 1 if n == 2 else 3
    corner = ca.vertcat(-arm[1], arm[0]) if n == 2 else -ca.skew(arm)
    return ca.blockcat([[SX.eye(n), corner], [SX(w, n), SX.eye(w)]])
