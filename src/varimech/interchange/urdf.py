"""A URDF file written in the words of a mechanism.

Links with mass are bodies, joints keep their names and their zeros, and each is a point of both its
bodies. `revolute` and `continuous` are revolute joints, a `floating` one is no joint. Limits are
not enforced; meshes, transmissions and other tags are not read.
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
from .urdf_file import Connection, LoopJoint, Robot, read_urdf
from .urdf_tree import GROUND, JOINT_DOFS, Tree, check_values, tree_of

KINDS = ("mass", "com", "origin", "damping")
"""Of what parameters are made, if asked for."""


def load(path: str | os.PathLike[str], parameters: Sequence[str]) -> tuple[Tree, tuple[str, ...]]:
    """The tree of a file, and which of its numbers become parameters."""
    chosen = (parameters,) if isinstance(parameters, str) else tuple(parameters)
    for kind in chosen:
        if kind not in KINDS:
            raise unknown_name("kind of parameter of a URDF file", kind, KINDS)
    return tree_of(read_urdf(path)), chosen


class Writer:
    """Writes a tree into a model."""

    def __init__(self, model: Model, tree: Tree, parameters: Sequence[str]):
        self.m, self.tree, self.robot = model, tree, tree.robot
        self._parameters = parameters
        self._joints = {j.name: j for j in tree.joints}
        self._offsets: dict[str, SX] = {}
        """Place of each link's origin in the frame of its carrier."""
        self._steps: dict[str, SX] = {}
        """Place of each joint's origin, seen from its parent's."""

    def write(self) -> None:
        """Bodies, joints, dampers and loops."""
        self._measure_out()
        points = self._points()
        loose = {self.tree.carriers[j.child] for j in self.tree.joints if j.type == "floating"}
        for name, place in points[GROUND].items():
            self.m.ground_point(name, place)
        for link, carrier in self.tree.carriers.items():
            if link == carrier:
                with _of(self.robot, f"link {link!r}"):
                    self._body(link, points[link], floating=link in loose)
        if self.tree.carriers[self.tree.root] != GROUND:
            self.m.fixed(f"{self.tree.root}.base", "ground.base", f"{self.tree.root}.base")
        for joint in self.tree.joints:
            with _of(self.robot, f"joint {joint.name!r}"):
                self._joint(joint)
        for loop in self.robot.loops:
            with _of(self.robot, f"loop_joint {loop.name!r}"):
                self._loop(loop)

    def start(
        self, positions: Mapping[str, Any], speeds: Mapping[str, Any], near: Mapping[str, Any]
    ) -> None:
        """One value for each freedom: all joint values, or those given where loops tie joints to
        each other.
        """
        given, rates, rough = (
            check_values(label, values, self._joints)
            for label, values in (("positions", positions), ("speeds", speeds), ("near", near))
        )
        if not self.robot.loops:
            if rough:
                raise ModelError(
                    f"near = {dict(near)!r} means nothing without loops; give these joint values as"
                    " positions=…"
                )
            given = {
                n: given.get(n, np.zeros(JOINT_DOFS[j.type]))
                for n, j in self._joints.items()
                if JOINT_DOFS[j.type]
            }
        if unheld := [n for n in rates if n not in given]:
            raise ModelError(
                f"speeds: {unheld[0]!r} has a speed, but no position; give it in positions=…"
            )
        zero = {n: np.zeros(JOINT_DOFS[j.type]) for n, j in self._joints.items()}
        motions = self.tree.motions({**zero, **rough, **given}, {**zero, **rates})
        words: dict[str, dict[Any, Any]] = {
            k: {} for k in ("angle", "displacement", "position", "orientation", "speed", "near")
        }
        for name, value in given.items():
            self._hold(self._joints[name], value, rates.get(name, zero[name]), motions, words)
        if self.robot.loops:
            words["near"] |= {
                link: motions[link].R
                for link, carrier in self.tree.carriers.items()
                if link == carrier
            }
            words["near"] |= {
                f"{c}.com": self._com_near(link, motions)
                for link, c in self.tree.carriers.items()
                if link == c
            }
        self.m.start(**words)

    def _measure_out(self) -> None:
        """Where links are in the bodies that carry them, with parameters among these numbers."""
        turned, carriers = self.tree.turned, self.tree.carriers
        for j in self.tree.joints:
            self._steps[j.name] = SX(turned[j.parent]) @ self._vector(
                "origin", j.name, j.origin.xyz
            )
        self._offsets = {
            link: SX.zeros(3) for link, carrier in carriers.items() if carrier in (link, GROUND)
        }
        ties = [j for j in self.tree.joints if carriers[j.parent] == carriers[j.child]]
        for j in (
            *ties,
            *reversed(ties),
            *ties,
        ):  # down from carriers, up to what they carry above them, and down from there
            if j.parent in self._offsets and j.child not in self._offsets:
                self._offsets[j.child] = self._offsets[j.parent] + self._steps[j.name]
            elif j.child in self._offsets and j.parent not in self._offsets:
                self._offsets[j.parent] = self._offsets[j.child] - self._steps[j.name]

    def _points(self) -> dict[str, dict[str, Any]]:
        """Body → its named points: where joints are, and the origins of links that it carries."""
        carriers = self.tree.carriers
        found: dict[str, dict[str, Any]] = {GROUND: {}, **{body: {} for body in carriers.values()}}
        if carriers[self.tree.root] != GROUND:
            found[GROUND]["base"] = found[carriers[self.tree.root]]["base"] = SX.zeros(3)
        for j in self.tree.joints:
            parent, child = carriers[j.parent], carriers[j.child]
            if parent != child:
                found[child][j.name] = self._offsets[j.child]
                found[parent][j.name] = self._offsets[j.parent] + self._steps[j.name]
        for link, carrier in carriers.items():
            if link != carrier:
                found[carrier][link] = self._offsets[link]
        for loop in self.robot.loops:
            for link, frame in zip(loop.links, loop.frames, strict=True):
                found[carriers[link]][loop.name] = self._offsets[link] + SX(
                    self.tree.turned[link] @ frame.xyz
                )
        return found

    def _body(self, link: str, points: Mapping[str, Any], *, floating: bool) -> None:
        inertial, C = self.robot.links[link], self.tree.turned[link]
        assert inertial is not None
        turn = C @ inertial.origin.rotation
        mass = self._number("mass", f"{link}.mass", inertial.mass, "kg")
        com = SX(C) @ self._vector("com", f"{link}.com", inertial.origin.xyz)
        spine = tuple(points) if len(points) > 1 else (*points, "com")
        inertia = turn @ inertial.inertia @ turn.T
        inertia = (inertia + inertia.T) / 2  # symmetric beyond rounding
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
                self._damp_slide(
                    j, parent, ends, self._number("damping", damped, j.damping, "N·s/m")
                )
        else:
            m.revolute(j.name, *ends, axis=axis)
            if j.damping:
                m.torsional_damper(
                    damped, j.name, damping=self._number("damping", damped, j.damping, "N·m·s/rad")
                )

    def _damp_slide(self, j: Connection, parent: str, ends: tuple[str, str], damping: Any) -> None:
        """Opposite forces along the axis, which both points lie on."""
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
            word = m.cylindrical if loop.type == "cylindrical" else m.revolute
            word(loop.name, *ends, axis=first, axis_on_second=second)

    def _hold(
        self,
        j: Connection,
        value: np.ndarray,
        rate: np.ndarray,
        motions: Mapping[str, Any],
        words: dict[str, Any],
    ) -> None:
        """What the words of a start say of a joint; places of planar and floating joints are
        global.
        """
        child, at = self.tree.carriers[j.child], motions[j.child]
        place = f"{child}.{j.name}"
        if j.type in ("revolute", "continuous", "prismatic"):
            words["displacement" if j.type == "prismatic" else "angle"][j.name] = float(value[0])
            words["speed"][j.name] = float(rate[0])
        elif j.type == "planar":
            words["angle"][j.name], words["speed"][j.name] = float(value[2]), float(rate[2])
            open_ = int(
                np.abs(motions[j.parent].R @ self.tree.axis(j)).argmax()
            )  # the plane tells this component
            words["position"][place] = [
                None if k == open_ else float(x) for k, x in enumerate(at.p)
            ]
            words["speed"][place] = [None if k == open_ else float(x) for k, x in enumerate(at.v)]
        elif j.type == "floating":
            words["position"][place], words["speed"][place] = at.p.tolist(), at.v.tolist()
            words["orientation"][child], words["speed"][child] = at.R, at.ω.tolist()

    def _com_near(self, link: str, motions: Mapping[str, Any]) -> list[float]:
        inertial, at = self.robot.links[link], motions[link]
        assert inertial is not None
        return list((at.p + at.R @ self.tree.turned[link] @ inertial.origin.xyz).tolist())

    def _number(self, kind: str, name: str, value: float, unit: str) -> Any:
        return self.m.parameter(name, value, unit=unit) if kind in self._parameters else value

    def _vector(self, kind: str, name: str, value: np.ndarray) -> SX:
        """Components, those that are not zero as parameters where these are asked for."""
        return vector(
            *[
                self._number(kind, f"{name}.{c}", float(x), "m") if x else 0.0
                for c, x in zip("xyz", value, strict=True)
            ]
        )


@contextmanager
def _of(robot: Robot, thing: str) -> Iterator[None]:
    """Errors say which file and what in it they are about."""
    try:
        yield
    except ModelError as error:
        raise ModelError(f"{robot.file}: {thing}: {error}") from None
