"""Random mechanisms built from recipes, with initial conditions that are consistent with the poses
of bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from newton_euler import turned
from random_constraints import couple, drive_pose
from random_control import control
from random_geometry import Fitted, Geometry, direction_of, geometry, rotation_argument, strengths
from random_recipes import BLOCKS, CLAMP, EQUATIONS, FREE, GROUND, Load, Recipe

import varimech as vm
from varimech.model.frame import Frame
from varimech.model.scalar_outputs import ScalarOutput

Array = np.ndarray
SX = ca.SX
DURATION = 0.02
"""Simulated time (s) of a mechanism of 1 m; larger or smaller ones are scaled like the period of a
pendulum.
"""
FIXES = (0.3, 0.1, 0.03)
"""Minimum independence of an initial value from the others; the values are tried in order."""


@dataclass(frozen=True)
class Built:
    """A mechanism with its known properties."""

    mechanism: vm.Mechanism
    objectives: dict[str, vm.Objective]
    places: dict[str, Array]
    """Initial positions of points."""
    dofs: int | None
    """Degrees of freedom; None if there are beams."""
    regular: bool
    condition: float
    """Ratio of the largest to the smallest nonzero singular value of the held rows."""
    duration: float
    cuts: tuple[str, ...]
    """Joints that close loops."""


def build(recipe: Recipe) -> Built:
    return Builder(recipe).built()


class Builder:
    """Builds a mechanism from a recipe."""

    def __init__(self, recipe: Recipe):
        self.recipe = recipe
        self.g: Geometry = geometry(recipe)
        self.rng = np.random.default_rng([recipe.seed, 1])
        self.left = recipe.parameters
        gravity = (
            tuple(self.rng.uniform(-10, 10, recipe.dimension)) if self.rng.random() < 0.8 else None
        )
        self.m = vm.Mechanism("random", gravity=gravity, dimension=recipe.dimension)
        self.names = {GROUND: "ground"} | {k: f"b{k}" for k in range(len(recipe.parts))}
        self.places: dict[str, Array] = {}
        self.rows = self.g.held
        self.speed_rows = np.zeros((0, self.rows.shape[1]))
        """Rows that constrain velocities only."""
        self.duration = DURATION * float(np.sqrt(self.g.scale))
        self.signals: list[str] = []
        self.states: set[str] = set()
        self.start: dict[str, dict[Any, Any]] = {}
        self.speeds: dict[Any, Any] = {}
        self.coupled = 0

    def built(self) -> Built:
        for k in range(len(self.recipe.parts)):
            self._body(k)
        self._point(GROUND, "end", self.g.scale * self.rng.uniform(-1, 1, self.recipe.dimension))
        for joint in self.g.joints:
            self._joint(joint)
        for k, method in enumerate(self.recipe.drivers):
            self._driver(f"D{k}", method)
        for k, method in enumerate(self.recipe.couplings):
            self._coupling(f"G{k}", method)
        for k, load in enumerate(self.recipe.loads):
            self._load(f"F{k}", load)
        self._start()
        held = strengths(self.rows)
        return Built(
            self.m,
            self._objectives(),
            self.places,
            None if self.g.segments else self.g.dofs - self.coupled,
            self.g.regular,
            float(held.max(initial=1.0) / max(held[held > 1e-9].min(initial=1.0), 1e-300)),
            self.duration,
            tuple(j.name for j in self.g.joints if j.name.startswith("C")),
        )

    # numbers, some of which are parameters

    def number(self, value: float, *, length: bool = False) -> Any:
        """A number, or an expression of a parameter with this value; lengths become parameters only
        if the mechanism stays assembled.
        """
        if self.left <= 0 or self.rng.random() > 0.3 or (length and not self.g.regular):
            return value
        self.left -= 1
        factor = float(self.rng.choice([1.0, 1.0, 2.0]))
        return factor * self.m.parameter(f"p{self.recipe.parameters - self.left}", value / factor)

    def vector(self, values: Array, *, length: bool = False) -> tuple[Any, ...]:
        return tuple(self.number(float(x), length=length) for x in values)

    # bodies

    def _body(self, k: int) -> None:
        part, name, n = self.recipe.parts[k], self.names[k], self.recipe.dimension
        rng = np.random.default_rng([self.recipe.seed, part.seed, 2])
        mass, scale = float(np.exp(rng.uniform(-1, 1))), self.g.scale
        if k == 0 and "light" in self.recipe.edges:
            mass *= 1e-6
        if k == 0 and "heavy" in self.recipe.edges:
            mass *= 1e6
        floating = part.joint == FREE
        if part.kind == "beam":
            E, area = (1e8 if "stiff" in self.recipe.edges else 1e6), scale * 1e-4
            length = self.number(self.g.lengths[k], length=True)
            self.m.beam(
                name,
                "from",
                "to",
                segments=self.g.segments[k],
                E=self.number(E),
                area=area,
                inertia=self.number(scale**3 * 1e-7),
                mass=self.number(mass),
                length=length,
                material=str(rng.choice(["logarithmic", "linear"])),
                masses=str(rng.choice(["consistent", "lumped"])),
                damping=(0.0, 0.0) if rng.random() < 0.5 else (self.number(0.5), 1e-3),
                floating=floating,
            )
            self.places |= {
                f"{name}.{node}": self.g.poses[k].place(x) for node, x in self.g.nodes(k).items()
            }
            return
        x = scale * rng.uniform(-0.4, 0.4, (5, n))
        matrix = mass / 5 * ((x**2).sum() * np.eye(n) - x.T @ x)
        thin = "thin" in self.recipe.edges
        inertia: Any = (
            self.number(0.0 if thin else float(np.trace(matrix)))
            if n == 2
            else (matrix if not thin else (0.0, 0.0, 0.0))
        )
        if part.kind == "bar":
            L = self.g.lengths[k]
            given: dict[str, Any] = {} if n == 2 or thin else {"radius": self.number(0.1 * L)}
            self.m.bar(
                name,
                "from",
                "to",
                length=self.number(L, length=True),
                mass=self.number(mass),
                floating=floating,
                **given,
            )
            ends = {"from": 0.0, "to": L, "com": L / 2}
            self.places |= {
                f"{name}.{end}": self.g.poses[k].place(np.eye(n)[0] * at)
                for end, at in ends.items()
            }
        else:
            com = scale * rng.uniform(-0.3, 0.3, n)
            self.m.body(
                name,
                mass=self.number(mass),
                inertia=inertia,
                com=self.vector(com),
                floating=floating or self.g.dofs == 0,
            )
            self.places[f"{name}.com"] = self.g.poses[k].place(com)
        for name in ("end", "side"):
            self._point(k, name, self.g.poses[k].place(scale * rng.uniform(-0.6, 0.6, n)))

    def _point(self, body: int, name: str, place: Array) -> str:
        local = self.vector(self.g.poses[body].local(place), length=True)
        self.m.point(self.names[body], name, local)
        label = f"{self.names[body]}.{name}"
        self.places[label] = place
        return label

    # joints

    def _joint(self, joint: Fitted) -> None:
        ends = [
            f"{self.names[body]}.{node}" if node else self._point(body, joint.name, place)
            for body, place, node in zip(joint.bodies, joint.places, joint.nodes, strict=True)
        ]
        getattr(self.m, joint.kind.replace("-", "_"))(joint.name, *ends, **self._geometry_of(joint))

    def _geometry_of(self, joint: Fitted) -> dict[str, Any]:
        """Arguments of the element method of a joint besides its points."""
        first, second = (self.g.poses[body].rotation.T for body in joint.bodies)
        assert joint.axis is not None
        axis = joint.axis
        other = axis if joint.other_axis is None else joint.other_axis

        def local(rotation: Array, direction: Array) -> tuple[Any, ...]:
            return self.vector(
                float(self.rng.uniform(0.5, 2)) * (rotation @ direction), length=True
            )

        if joint.kind in ("fixed", "spherical"):
            return {"rotation": rotation_argument(self.g, joint)} if joint.kind == "fixed" else {}
        if joint.kind == "distance":
            return {
                "length": self.number(
                    float(np.linalg.norm(joint.places[1] - joint.places[0])), length=True
                )
            }
        if joint.kind == CLAMP:
            return {"direction": tuple(first @ axis)}
        if joint.kind == "prismatic":
            return {"axis": local(first, axis), "rotation": rotation_argument(self.g, joint)}
        if joint.kind in ("planar", "point-on-plane"):
            return {"normal": local(first, axis)} | (
                {"normal_on_second": local(second, axis)} if joint.kind == "planar" else {}
            )
        if joint.kind == "point-on-line":
            return {"axis": local(first, axis)}
        return (
            {"axis": local(first, axis), "axis_on_second": local(second, other)}
            if self.recipe.dimension == 3
            else {}
        )

    # outputs

    def _value(self, measure: ScalarOutput) -> float:
        """Value of an output at the poses of the bodies."""
        n = self.recipe.dimension
        frames = {
            self.m.bodies[name]: Frame(
                SX(self.g.poses[k].origin),
                SX(self.g.poses[k].rotation),
                SX.zeros(n),
                SX.zeros(n, n),
            )
            for k, name in self.names.items()
        }
        return float(
            self.m.data.parameter_set.evaluate(
                measure.value(frames), self.m.data.parameter_set.nominal
            ).item()
        )

    @property
    def _turns(self) -> list[tuple[str, Array, float]]:
        """Available angles: name, row and value."""
        planar = self.recipe.dimension == 2
        results = [
            (self.names[k], self.g.row(self.g.turns(1.0), k), self._angle(k))
            for k in range(len(self.recipe.parts))
            if planar
        ]
        for joint in self.g.joints:
            turn = self.m.joints[joint.name].angle()
            if turn is not None and not set(joint.bodies) & set(self.g.segments):
                assert joint.axis is not None
                measure = self.g.turns(1.0 if planar else joint.axis)
                results.append(
                    (
                        joint.name,
                        self.g.row(measure, joint.bodies[1], joint.bodies[0]),
                        self._value(turn),
                    )
                )
        return results

    def _angle(self, body: int) -> float:
        R = self.g.poses[body].rotation
        return float(np.arctan2(R[1, 0], R[0, 0]))

    @property
    def _slides(self) -> list[tuple[str, Array, float]]:
        """Available displacements: name, row and value."""
        results = []
        for joint in self.g.joints:
            if self.m.joints[joint.name].displacement() is not None:
                assert joint.axis is not None
                row = self.g.row(
                    self.g.moves(joint.places[1], joint.axis), joint.bodies[1], joint.bodies[0]
                )
                results.append(
                    (joint.name, row, float(joint.axis @ (joint.places[1] - joint.places[0])))
                )
        return results

    @property
    def _labels(self) -> list[tuple[str, int]]:
        """Points of moving bodies, with the index of the body."""
        bodies = {name: k for k, name in self.names.items()}
        results = [(label, bodies[label.partition(".")[0]]) for label in self.places]
        return [(label, k) for label, k in results if k != GROUND]

    def _spans(self) -> list[tuple[tuple[str, str], Array, float]]:
        """Some of the distances between points of different bodies."""
        computed, all_ = [], [*self._labels, ("ground.end", GROUND)]
        for _ in range(6):
            (a, first), (b, second) = (all_[int(self.rng.integers(len(all_)))] for _ in range(2))
            gap = self.places[b] - self.places[a]
            L = float(np.linalg.norm(gap))
            if first != second and 0.05 * self.g.scale < L:
                computed.append(
                    ((a, b), self.g.row(self.g.moves(self.places[b], gap / L), second, first), L)
                )
        return computed

    def _says(self, row: Array, held: Array | None = None) -> float:
        """Independence of a row from the held rows."""
        held = np.vstack([self.rows, self.speed_rows]) if held is None else held
        if not np.linalg.norm(row):
            return 0.0
        row = row / np.linalg.norm(row)
        if not len(held):
            return 1.0
        _, values, Vt = np.linalg.svd(
            held / np.linalg.norm(held, axis=1, keepdims=True), full_matrices=False
        )
        kept = Vt[values > 1e-9]
        return float(np.linalg.norm(row - kept.T @ (kept @ row)))

    def are_free(self, rows: list[Array], move: int = 0) -> bool:
        """Whether all rows are independent, one after the other, and leave `move` velocities
        free.
        """
        held = np.vstack([self.rows, self.speed_rows])
        for row in rows:
            if self._says(row, held) <= FIXES[0]:
                return False
            held = np.vstack([held, row])
        return held.shape[1] - np.linalg.matrix_rank(held, tol=1e-9) >= move

    def hold(self, rows: list[Array], speeds: list[Array] | tuple[()] = ()) -> None:
        """Mark rows of positions, and rows of velocities only, as held from now on."""
        self.rows = np.vstack([self.rows, *rows])
        self.speed_rows = np.vstack([self.speed_rows, *speeds])

    # drivers and forces

    def _driver(self, name: str, method: str) -> None:
        """Drive a free DOF of the kind, if there is one."""
        if method == "drive_pose":
            drive_pose(self, name)
            return
        candidates = self._driven(method)
        for k in self.rng.permutation(len(candidates)):
            what, row, at = candidates[int(k)]
            if self._says(row) > FIXES[0]:
                motion = self._motion(at, 1.0 if method == "drive_angle" else self.g.scale)
                getattr(self.m, method)(name, *what, motion)
                self.rows = np.vstack([self.rows, row])
                return

    def _driven(self, method: str) -> list[tuple[tuple[Any, ...], Array, float]]:
        """Outputs that a driver could drive: arguments, row and value."""
        if method == "drive_angle":
            return [((turn,), row, at) for turn, row, at in self._turns]
        if method == "drive_displacement":
            return [((joint,), row, at) for joint, row, at in self._slides]
        if method == "drive_distance":
            return [(pair, row, at) for pair, row, at in self._spans()]
        results: list[tuple[tuple[Any, ...], Array, float]] = []
        for label, body in self._labels:
            d, place = direction_of(self.recipe, self.rng), self.places[label]
            results.append(
                ((label, tuple(d)), self.g.row(self.g.moves(place, d), body), float(d @ place))
            )
        return results

    def _motion(self, at: float, unit: float) -> Any:
        """Motion of a driver, starting at its initial value."""
        rate, amplitude = (
            self.number(unit * self.rng.uniform(-1, 1)),
            unit * self.rng.uniform(0, 0.1),
        )
        if self.rng.random() < 0.3:
            return f"{at!r} + {unit * 0.3!r}*t + {amplitude!r}*sin(5*t)"
        return lambda t: at + rate * t + amplitude * vm.sin(5 * t)

    def _end(self, body: int, rng: np.random.Generator) -> str:
        if body in self.g.segments:
            return f"{self.names[body]}.{rng.choice([*self.g.nodes(body)])}"
        return f"{self.names[body]}.end"

    def _load(self, name: str, load: Load) -> None:
        rng = np.random.default_rng([self.recipe.seed, load.seed])
        acted, other = (
            (load.first, load.second) if load.first != GROUND else (load.second, load.first)
        )
        if acted == GROUND:
            return
        other = GROUND if other == acted else other
        first, second = self._end(acted, rng), self._end(other, rng)
        stiffness = 1e6 if "stiff" in self.recipe.edges else float(np.exp(rng.uniform(1, 6)))
        damping = float(rng.choice([0.0, rng.uniform(0, 3)]))
        if load.method in ("spring", "damper"):
            if "together" in self.recipe.edges and not {acted, other} & set(self.g.segments):
                second = self._point(other, name, self.places[first])
            if load.method == "spring":
                rest = float(rng.choice([0.0, rng.uniform(0.2, 1.0) * self.g.scale]))
                self.m.spring(
                    name,
                    first,
                    second,
                    stiffness=self.number(stiffness),
                    natural_length=self.number(rest),
                    damping=damping,
                )
            else:
                self.m.damper(name, first, second, damping=self.number(damping))
        elif load.method.startswith("torsional"):
            turns = self._turns
            if not turns:
                return
            turn, _, at = turns[int(rng.integers(len(turns)))]
            k = stiffness * self.g.scale**2
            if load.method == "torsional_damper":
                self.m.torsional_damper(name, turn, damping=self.number(damping * self.g.scale**2))
            else:
                rest = float(np.clip(at + rng.uniform(-1, 1), -np.pi, np.pi))
                self.m.torsional_spring(
                    name, turn, stiffness=self.number(k), rest_angle=self.number(rest), damping=0.0
                )
        elif load.method == "bushing":
            if not {acted, other} & set(self.g.segments):
                self._bushing(name, second, first, stiffness, rng)
        elif load.method == "table":
            self._table(name, first, rng)
        elif load.method in BLOCKS:
            control(self, name, load.method, first, rng)
        elif load.method == "force":
            self._force(name, first, second, acted, rng)
        else:
            self._torque(name, acted, other, rng)

    def _bushing(
        self, name: str, first: str, second: str, stiffness: float, rng: np.random.Generator
    ) -> None:
        n, turning = self.recipe.dimension, stiffness * self.g.scale**2
        about: Any = self.number(turning) if n == 2 else self.vector(turning * rng.uniform(0, 1, 3))
        numbers = {name: k for k, name in self.names.items()}
        bodies = [self.g.poses[numbers[x.partition(".")[0]]] for x in (first, second)]
        given: dict[str, Any] = {}
        if n == 3:  # unloaded near where they are: a rotation vector is for less than half a turn
            given["rotation"] = bodies[0].rotation.T @ bodies[1].rotation
        self.m.bushing(
            name,
            first,
            second,
            stiffness=self.vector(stiffness * rng.uniform(0, 1, n)),
            damping=self.vector(rng.uniform(0, 2, n)),
            rotational_stiffness=about,
            preload=tuple(rng.uniform(-3, 3, n)),
            **given,
        )

    def _table(self, name: str, first: str, rng: np.random.Generator) -> None:
        """Add a force by a table over time."""
        t = np.linspace(-1, 1, 5) * self.duration * 2
        kind: Any = str(rng.choice(["linear", "pchip", "cubic"]))
        self.m.table(f"{name}table", t, self.vector(rng.uniform(-3, 3, 5)), kind=kind)
        d = direction_of(self.recipe, self.rng)
        self.m.force(name, first, tuple(f"{x!r}*{name}table(t)" for x in d.tolist()))

    def _coupling(self, name: str, method: str) -> None:
        """Couple two free outputs, if there are any; some with a compliant mesh."""
        if method == "curve_contact":
            self._touch(name)
            return
        if method in EQUATIONS:
            couple(self, name, method)
            return
        turns = [("angle", *turn) for turn in self._turns]
        others = {"gear": [], "belt": []}.get(method, [("displacement", *x) for x in self._slides])
        if method == "belt":  # a belt needs parallel axes: those of planar bodies
            turns = [x for x in turns if self.recipe.dimension == 2 and x[1] in self.m.bodies]
        others += [] if method == "rack_and_pinion" else turns
        pairs = [(a, b) for a in turns for b in others if a[1] != b[1]]
        for k in self.rng.permutation(len(pairs))[:4]:
            (_, first, row1, at1), (output, second, row2, at2) = pairs[int(k)]
            i = (self.g.scale if output == "displacement" else 1.0) * self.rng.uniform(0.5, 2)
            if self._says(row2 - i * row1) > FIXES[0] and self._says(row1) > FIXES[0]:
                compliant = method != "constraint" and self.rng.random() < 0.3
                if method == "constraint":
                    self._equation(name, first, at1, output, second, at2, i)
                else:
                    self._couple(name, method, (first, second), i, at2 - i * at1, compliant)
                if not compliant:
                    self.rows = np.vstack([self.rows, row2 - i * row1])
                    self.coupled += 1
                return

    def _touch(self, name: str) -> None:
        """Add contact between two ellipses if it is an independent condition; one of them may be
        fixed.
        """
        rigid = [k for k in self.names if k not in self.g.segments]
        free = self.rows.shape[1] - np.linalg.matrix_rank(self.rows, tol=1e-9)
        if self.recipe.dimension != 2 or len(rigid) < 2 or free < 2:  # a DOF has to remain
            return
        for _ in range(4):
            first, second = (int(k) for k in self.rng.permutation(rigid)[:2])
            normal = direction_of(self.recipe, self.rng)
            place = self.g.scale * self.rng.uniform(-0.5, 0.5, 2)
            row = self.g.row(self.g.moves(place, normal), second, first)
            if self._says(row) <= FIXES[0]:
                continue
            given: dict[str, Any] = {}
            points = []
            for which, body, n in (("first", first, normal), ("second", second, -normal)):
                a, b = (float(x) for x in self.g.scale * self.rng.uniform(0.2, 0.6, 2))
                across, along = self.g.poses[body].rotation.T @ n
                u = np.arctan2(b * along, a * across)  # where the normal is n
                at = self.g.poses[body].local(place) - (a * np.cos(u), b * np.sin(u))
                points.append(self._point(body, f"{name}{which}", self.g.poses[body].place(at)))
                x, y = (self.number(r, length=True) for r in (a, b))
                given[f"{which}_curve"] = lambda u, x=x, y=y: (x * vm.cos(u), y * vm.sin(u))
                given |= {f"{which}_closed": True, f"{which}_interval": (0, 2 * np.pi)}
            self.m.curve_contact(name, *points, **given)
            self.rows = np.vstack([self.rows, row])
            self.coupled += 1
            return

    def _equation(
        self, name: str, first: str, at1: float, output: str, second: str, at2: float, i: float
    ) -> None:
        factor = self.number(i, length=True)
        self.m.constraint(
            name, lambda s: getattr(s, output)(second) - at2 - factor * (s.angle(first) - at1)
        )

    def _couple(
        self,
        name: str,
        method: str,
        joints: tuple[str, str],
        i: float,
        rest: float,
        compliant: bool,
    ) -> None:
        unit = 1.0 if method == "rack_and_pinion" else self.g.scale**2
        given: dict[str, Any] = {}
        if compliant:
            given = {"stiffness": self.number(50.0 * unit), "damping": 0.3 * unit}
        if method == "gear":
            if compliant:
                given |= {"backlash": 0.01, "efficiency": self.number(0.9)}
            self.m.gear(name, *joints, ratio=self.number(i, length=True), phase=rest, **given)
        elif method == "rack_and_pinion":
            radius = self.number(i, length=True)
            self.m.rack_and_pinion(name, *joints, radius=radius, offset=rest, **given)
        else:
            if compliant:
                given = {"stiffness": self.number(50.0), "damping": 0.3, "tension": 1.0}
            radii = self.number(i * self.g.scale, length=True), self.g.scale
            self.m.belt(name, *joints, radii=radii, phase=rest, **given)

    def _force(
        self, name: str, first: str, second: str, acted: int, rng: np.random.Generator
    ) -> None:
        f = rng.uniform(-5, 5, self.recipe.dimension)
        scheme = int(rng.integers(5))
        if scheme == 0:
            frame = "global" if acted in self.g.segments else "body"
            self.m.force(name, first, self.vector(f), frame=frame)
        elif scheme == 1:
            size = self.number(2.0)
            self.m.force(name, first, lambda s: [size * x * vm.sin(3 * s.time + 1) for x in f])
        elif scheme == 2:  # drag that grows with the speed
            c = self.number(0.5)
            self.m.force(
                name, first, lambda s: -c * vm.norm(s.velocity(first) + 0.1) * s.velocity(first)
            )
        elif scheme == 3:  # reads one body and acts on another
            c = self.number(1.0)
            self.m.force(
                name, first, lambda s: c * (s.position(second) - s.position(first)) * (1 + s.time)
            )
        else:
            self.m.force(name, first, tuple(f"{x!r}*cos(2*t)" for x in f.tolist()))

    def _torque(self, name: str, acted: int, other: int, rng: np.random.Generator) -> None:
        n = self.recipe.dimension
        size = self.number(float(rng.uniform(-2, 2)) * self.g.scale**2)
        value: Any = size if n == 2 else tuple(size * x for x in rng.uniform(-1, 1, 3))
        if rng.random() < 0.4:
            constant = value
            value = (
                (lambda s: constant * vm.cos(s.time))
                if n == 2
                else (lambda s: [x * vm.cos(s.time) for x in constant])
            )
        on = self._end(acted, rng) if acted in self.g.segments else self.names[acted]
        given: dict[str, Any] = {}
        if other != GROUND or rng.random() < 0.3:
            given["against"] = (
                self._end(other, rng) if other in self.g.segments else self.names[other]
            )
        if n == 3 and acted not in self.g.segments and rng.random() < 0.5:
            given["frame"] = "body"
        self.m.torque(name, on, value, **given)

    # initial conditions

    def _start(self) -> None:
        candidates, self.determined = self._holds(), np.vstack([self.rows, self.speed_rows])
        order, free = self.rng.permutation(len(candidates)), self.rows.shape[1]
        for least in FIXES:
            for k in order:
                if np.linalg.matrix_rank(self.rows, tol=1e-9) < free:
                    self._hold(*candidates[int(k)], least)
        near: dict[str, Any] = {}
        for k, name in self.names.items():
            if k == GROUND:
                continue
            shift = self.rng.uniform(-0.01, 0.01)
            if self.recipe.dimension == 2:
                near[name] = self._angle(k) + shift
            else:
                near[name] = self.g.poses[k].rotation @ turned(np.array([0, 0, 1]), shift)
            label = next(label for label, body in self._labels if body == k)
            near[label] = tuple(self.places[label])
        if self.start or near:
            self.m.start(**self.start, speed=self.speeds, near=near)

    def _holds(self) -> list[tuple[str, Any, Array, Any]]:
        """Possible initial conditions: kind, argument, rows and value."""
        results: list[tuple[str, Any, Array, Any]] = []
        results += [("angle", name, row[None, :], at) for name, row, at in self._turns]
        results += [("displacement", name, row[None, :], at) for name, row, at in self._slides]
        results += [("distance", pair, row[None, :], at) for pair, row, at in self._spans()]
        for label, body in self._labels:
            rows = np.array(
                [
                    self.g.row(self.g.moves(self.places[label], d), body)
                    for d in np.eye(self.recipe.dimension)
                ]
            )
            results += [
                ("position", (label, k), rows[[k]], self.places[label][k]) for k in range(len(rows))
            ]
        if self.recipe.dimension == 3:
            for k in set(range(len(self.recipe.parts))) - set(self.g.segments):
                rows = np.array([self.g.row(self.g.turns(d), k) for d in np.eye(3)])
                results.append(("orientation", self.names[k], rows, self.g.poses[k].rotation))
        return results

    def _hold(self, method: str, what: Any, rows: Array, at: Any, least: float) -> None:
        """Add an initial condition if it is independent of the others."""
        before = self.rows
        for row in rows:
            if self._says(row, self.rows) < least:
                self.rows = before
                return
            self.rows = np.vstack([self.rows, row])
        given = self._speeds_given(rows)
        fast = (
            0.0 if "at rest" in self.recipe.edges else 50.0 if "fast" in self.recipe.edges else 2.0
        )
        unit = 1.0 if method in ("angle", "orientation") else self.g.scale
        speed = [unit * fast * float(x) for x in self.rng.uniform(-1, 1, len(rows))]
        if given:
            speed = [self.number(x) for x in speed]
        if method == "orientation":
            self.start.setdefault(method, {})[what] = at
            if given:
                self.speeds[what] = tuple(speed)
        elif method == "position":
            label, k = what
            place = list(
                self.start.setdefault(method, {}).get(label, [None] * self.recipe.dimension)
            )
            rate = list(self.speeds.get(label, [None] * self.recipe.dimension))
            place[k], rate[k] = self.number(float(at)), speed[0] if given else None
            self.start[method][label], self.speeds[label] = tuple(place), tuple(rate)
        else:
            self.start.setdefault(method, {})[what] = self.number(float(at))
            both = what in self.start.get("angle", {}) and what in self.start.get(
                "displacement", {}
            )
            if not given:
                self.speeds.pop(what, None)
            elif both and what in self.speeds:
                earlier = self.speeds[what]
                self.speeds[what] = (
                    (speed[0], earlier) if method == "angle" else (earlier, speed[0])
                )
            elif not both:
                self.speeds[what] = speed[0]

    def _speeds_given(self, rows: Array) -> bool:
        """Whether initial speeds are given, too: not if velocity constraints determine them."""
        if not len(self.speed_rows):
            return True
        determined = self.determined
        for row in rows:
            if self._says(row, determined) < FIXES[-1]:
                return False
            determined = np.vstack([determined, row])
        self.determined = determined
        return True

    # objectives

    def _objectives(self) -> dict[str, vm.Objective]:
        labels = [label for label, _ in self._labels]
        point, other = (labels[int(self.rng.integers(len(labels)))] for _ in range(2))
        d = direction_of(self.recipe, self.rng)
        results = {
            "place": vm.final(lambda s: vm.dot(d, s.position(point))),
            "motion": vm.integral(lambda s: vm.dot(s.velocity(other), s.velocity(other))),
        }
        more: list[tuple[str, vm.Objective]] = [
            ("energy", vm.final(lambda s: s.energy)),
            ("acceleration", vm.integral(lambda s: vm.dot(d, s.acceleration(point)))),
        ]
        if self.g.joints and self.g.regular:
            joint = self.g.joints[int(self.rng.integers(len(self.g.joints)))].name
            more.append(("reaction", vm.integral(lambda s: vm.dot(d, s.reaction(joint)))))
        if self.m.drivers and self.g.regular:
            driver = next(iter(self.m.drivers))
            more.append(("effort", vm.final(lambda s: s.effort(driver))))
        name, objective = more[int(self.rng.integers(len(more)))]
        return results | {name: objective}
