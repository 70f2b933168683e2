"""Translation of a URDF file into the elements of a mechanism.

Links with mass become bodies; joints keep their names and their zero positions, and each is a point
of both its bodies. `revolute` and `continuous` become revolute joints, a `floating` joint becomes
no joint. Limits are not enforced; meshes, transmissions and other tags are not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core.errors import ModelError, unknown_name
from ..core.mathematics import vector
from ..core.symbols import SX
from ..elements.builder import Model
from .urdf_file import Connection, LoopJoint, Robot, located, read_urdf
from .urdf_tree import GROUND, JOINT_DOFS, Tree, check_values, tree_of

KINDS = ("mass", "com", "origin", "damping")
"""Quantities that can become parameters."""


def load(path: str | os.PathLike[str], parameters: Sequence[str]) -> tuple[Tree, tuple[str, ...]]:
    """Read a file; returns its tree and the quantities that become parameters."""
    requested = (parameters,) if isinstance(parameters, str) else tuple(parameters)
    for kind in requested:
        if kind not in KINDS:
            raise unknown_name("kind of parameter of a URDF file", kind, KINDS)
    return tree_of(read_urdf(path)), requested


class Writer:
    """Writes a URDF tree into a model."""

    def __init__(self, model: Model, tree: Tree, parameters: Sequence[str]):
        self.m, self.tree, self.robot = model, tree, tree.robot
        self._parameters = parameters
        self._joints = {j.name: j for j in tree.joints}
        self._offsets: dict[str, SX] = {}
        """Position of each link's origin in the frame of its carrier (m)."""
        self._steps: dict[str, SX] = {}
        """Position of each joint's origin relative to its parent's (m)."""

    def write(self) -> None:
        """Add bodies, joints, dampers and loops."""
        self._compute_offsets()
        points = self._points()
        floating = {self.tree.carriers[j.child] for j in self.tree.joints if j.type == "floating"}
        for name, place in points[GROUND].items():
            self.m.ground_point(name, place)
        for link, carrier in self.tree.carriers.items():
            if link == carrier:
                with _of(self.robot, f"link {link!r}"):
                    self._body(link, points[link], floating=link in floating)
        if self.tree.carriers[self.tree.root] != GROUND:
            self.m.fixed(f"{self.tree.root}.base", "ground.base", f"{self.tree.root}.base")
        for joint in self.tree.joints:
            with _of(self.robot, f"joint {joint.name!r}"):
                self._joint(joint)
        for loop in self.robot.loops:
            with _of(self.robot, f"loop_joint {loop.name!r}"):
                self._loop(loop)

    def start(
        self,
        positions: Mapping[str, object],
        speeds: Mapping[str, object],
        near: Mapping[str, object],
    ) -> None:
        """Set the initial conditions, one value for each degree of freedom.

        Without loops these are all joint values; with loops, those that are given.
        """
        known_positions, rates, approximate = (
            check_values(label, values, self._joints)
            for label, values in (("positions", positions), ("speeds", speeds), ("near", near))
        )
        if not self.robot.loops:
            if approximate:
                remedy = "give these joint values as positions=…"
                raise ModelError(
                    "has no effect without loops", field="near", value=dict(near), remedy=remedy
                )
            known_positions = {
                n: known_positions.get(n, np.zeros(JOINT_DOFS[j.type]))
                for n, j in self._joints.items()
                if JOINT_DOFS[j.type]
            }
        if without_position := [n for n in rates if n not in known_positions]:
            problem = f"{without_position[0]!r} has a speed but no position"
            raise ModelError(
                problem, element="speeds", value=without_position[0], remedy="add it to positions=…"
            )
        zero = {n: np.zeros(JOINT_DOFS[j.type]) for n, j in self._joints.items()}
        motions = self.tree.motions({**zero, **approximate, **known_positions}, {**zero, **rates})
        conditions: dict[str, dict[Any, Any]] = {
            k: {} for k in ("angle", "displacement", "position", "orientation", "speed", "near")
        }
        for name, value in known_positions.items():
            self._initial_condition(
                self._joints[name], value, rates.get(name, zero[name]), motions, conditions
            )
        if self.robot.loops:
            conditions["near"] |= {
                link: motions[link].R
                for link, carrier in self.tree.carriers.items()
                if link == carrier
            }
            conditions["near"] |= {
                f"{c}.com": self._com_near(link, motions)
                for link, c in self.tree.carriers.items()
                if link == c
            }
        self.m.start(**conditions)

    def _compute_offsets(self) -> None:
        """Compute the positions of links in the bodies that carry them, including parameters."""
        turned, carriers = self.tree.turned, self.tree.carriers
        for j in self.tree.joints:
            self._steps[j.name] = SX(turned[j.parent]) @ self._vector(
                "origin", j.name, j.origin.xyz
            )
        self._offsets = {
            link: SX.zeros(3) for link, carrier in carriers.items() if carrier in (link, GROUND)
        }
        ties = [j for j in self.tree.joints if carriers[j.parent] == carriers[j.child]]
        # down from carriers, up to the links they carry above them, and down from there
        for j in (*ties, *reversed(ties), *ties):
            if j.parent in self._offsets and j.child not in self._offsets:
                self._offsets[j.child] = self._offsets[j.parent] + self._steps[j.name]
            elif j.child in self._offsets and j.parent not in self._offsets:
                self._offsets[j.parent] = self._offsets[j.child] - self._steps[j.name]

    def _points(self) -> dict[str, dict[str, object]]:
        """Body → its named points: joints, and origins of the links that it carries."""
        carriers = self.tree.carriers
        points: dict[str, dict[str, object]] = {
            GROUND: {},
            **{body: {} for body in carriers.values()},
        }
        if carriers[self.tree.root] != GROUND:
            points[GROUND]["base"] = points[carriers[self.tree.root]]["base"] = SX.zeros(3)
        for j in self.tree.joints:
            parent, child = carriers[j.parent], carriers[j.child]
            if parent != child:
                points[child][j.name] = self._offsets[j.child]
                points[parent][j.name] = self._offsets[j.parent] + self._steps[j.name]
        for link, carrier in carriers.items():
            if link != carrier:
                points[carrier][link] = self._offsets[link]
        for loop in self.robot.loops:
            for link, frame in zip(loop.links, loop.frames, strict=True):
                points[carriers[link]][loop.name] = self._offsets[link] + SX(
                    self.tree.turned[link] @ frame.xyz
                )
        return points

    def _body(self, link: str, points: Mapping[str, object], *, floating: bool) -> None:
        inertial, C = self.robot.links[link], self.tree.turned[link]
        assert inertial is not None
        turn = C @ inertial.origin.rotation
        mass = self._number("mass", f"{link}.mass", inertial.mass, "kg")
        com = SX(C) @ self._vector("com", f"{link}.com", inertial.origin.xyz)
        spine = tuple(points) if len(points) > 1 else (*points, "com")
        inertia = turn @ inertial.inertia @ turn.T
        inertia = (inertia + inertia.T) / 2  # remove rounding errors
        self.m.body(
            link, mass=mass, inertia=inertia, com=com, points=points, floating=floating, spine=spine
        )

    def _joint(self, j: Connection) -> None:
        m, (parent, child) = self.m, (self.tree.carriers[j.parent], self.tree.carriers[j.child])
        if parent == child or j.type == "floating":
            return
        ends, axis = (f"{parent}.{j.name}", f"{child}.{j.name}"), self.tree.axis(j).tolist()
        damped = f"{j.name}.damping"
        if j.type == "fixed":
            m.fixed(j.name, *ends)
        elif j.type == "planar":
            m.planar(j.name, *ends, normal=axis)
        elif j.type == "prismatic":
            m.prismatic(j.name, *ends, axis=axis)
            if j.damping:
                self._damp_displacement(
                    j, parent, ends, self._number("damping", damped, j.damping, "N·s/m")
                )
        else:
            m.revolute(j.name, *ends, axis=axis)
            if j.damping:
                m.torsional_damper(
                    damped, j.name, damping=self._number("damping", damped, j.damping, "N·m·s/rad")
                )

    def _damp_displacement(
        self, j: Connection, parent: str, ends: tuple[str, str], damping: object
    ) -> None:
        """Apply opposite forces along the axis, which both points lie on."""
        axis = vector(*self.tree.axis(j))

        def pull(s: Any) -> Any:
            along = axis if parent == GROUND else s.rotation(parent) @ axis
            return damping * s.displacement_rate(j.name) * along

        self.m.force(f"{j.name}.damping", ends[1], lambda s: -pull(s))
        if parent != GROUND:
            self.m.force(f"{j.name}.damping on {parent}", ends[0], pull)

    def _loop(self, loop: LoopJoint) -> None:
        m, bodies = self.m, [self.tree.carriers[link] for link in loop.links]
        ends = [f"{body}.{loop.name}" for body in bodies]
        turns = [
            self.tree.turned[link] @ frame.rotation
            for link, frame in zip(loop.links, loop.frames, strict=True)
        ]
        first, second = ((turn @ loop.axis).tolist() for turn in turns)
        rotation = turns[0] @ turns[1].T
        if loop.type == "fixed":
            m.fixed(loop.name, *ends, rotation=rotation)
        elif loop.type == "prismatic":
            m.prismatic(loop.name, *ends, axis=first, rotation=rotation)
        elif loop.type == "spherical":
            m.spherical(loop.name, *ends)
        elif loop.type == "planar":
            m.planar(loop.name, *ends, normal=first, normal_on_second=second)
        else:
            joint = m.cylindrical if loop.type == "cylindrical" else m.revolute
            joint(loop.name, *ends, axis=first, axis_on_second=second)

    def _initial_condition(
        self,
        j: Connection,
        value: np.ndarray,
        rate: np.ndarray,
        motions: Mapping[str, Any],
        conditions: dict[str, Any],
    ) -> None:
        """Set the initial conditions of a joint; positions of planar and floating joints are
        global.
        """
        child, at = self.tree.carriers[j.child], motions[j.child]
        place = f"{child}.{j.name}"
        if j.type in ("revolute", "continuous", "prismatic"):
            conditions["displacement" if j.type == "prismatic" else "angle"][j.name] = float(
                value[0]
            )
            conditions["speed"][j.name] = float(rate[0])
        elif j.type == "planar":
            conditions["angle"][j.name], conditions["speed"][j.name] = (
                float(value[2]),
                float(rate[2]),
            )
            # the plane determines this component
            dependent = int(np.abs(motions[j.parent].R @ self.tree.axis(j)).argmax())
            conditions["position"][place] = [
                None if k == dependent else float(x) for k, x in enumerate(at.p)
            ]
            conditions["speed"][place] = [
                None if k == dependent else float(x) for k, x in enumerate(at.v)
            ]
        elif j.type == "floating":
            conditions["position"][place], conditions["speed"][place] = at.p.tolist(), at.v.tolist()
            conditions["orientation"][child], conditions["speed"][child] = at.R, at.ω.tolist()

    def _com_near(self, link: str, motions: Mapping[str, Any]) -> list[float]:
        inertial, at = self.robot.links[link], motions[link]
        assert inertial is not None
        return list((at.p + at.R @ self.tree.turned[link] @ inertial.origin.xyz).tolist())

    def _number(self, kind: str, name: str, value: float, unit: str) -> object:
        return self.m.parameter(name, value, unit=unit) if kind in self._parameters else value

    def _vector(self, kind: str, name: str, value: np.ndarray) -> SX:
        """Components; nonzero ones become parameters if these are requested."""
        return vector(
            *[
                self._number(kind, f"{name}.{c}", float(x), "m") if x else 0.0
                for c, x in zip("xyz", value, strict=True)
            ]
        )


@contextmanager
def _of(robot: Robot, subject: str) -> Iterator[None]:
    """Prefix errors with the file and the element that they concern."""
    try:
        yield
    except ModelError as error:
        raise located(f"{robot.file}: {subject}", error) from None
