"""MuJoCo's side of the comparison of machines: a tree of bodies, hinges, slides and balls, whose
loops are closed by `connect` constraints as stiff as the step allows; RK4.

A universal joint is two hinges; a revolute joint that closes a loop is two `connect` constraints
on its axis. Bodies are given where they start, so that all coordinates begin with zero.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
from machines import FRAME, GROUND, Joint, Machine, Placed, fixed_axes, spatial, split
from machines_peers import report
from mujoco_side import STIFF, mujoco

STEPS = (2e-3, 1e-3, 5e-4, 2e-4, 1e-4)
ITERATIONS = {"Newton": 1, "CG": 100}
"""Of its solvers; Newton's method needs one for equations, but fails for many redundant ones."""
SETTINGS = [(step, solver) for solver in ITERATIONS for step in STEPS]
APART = 0.2
"""Distance (m) of the two points of a revolute joint that closes a loop."""


class Model:
    def __init__(self, machine: Machine, placed: dict[str, Placed]):
        self.machine, self.placed = machine, placed
        self.frames = {GROUND: FRAME, **{name: body.frame for name, body in placed.items()}}
        self.root = Element("mujoco")
        SubElement(self.root, "compiler", autolimits="true", boundmass="0", inertiafromgeom="false")
        option = SubElement(
            self.root,
            "option",
            gravity=text(spatial(machine.gravity)),
            integrator="RK4",
            tolerance="1e-15",
        )
        SubElement(option, "flag", contact="disable")
        self.elements = {GROUND: SubElement(self.root, "worldbody")}
        self.equality = Element("equality")
        self.sites = 0
        self._add_tree()
        self._add_springs()
        self.root.append(self.equality)
        self.model = mujoco().MjModel.from_xml_string(tostring(self.root, encoding="unicode"))
        self.data = mujoco().MjData(self.model)
        self.speeds = self._speeds()

    def _add_tree(self) -> None:
        """Bodies that joints reach, in turn; the others close loops."""
        for body in self.machine.bodies:
            if body.floating:
                SubElement(self._add(body.name, GROUND), "freejoint")
        left = list(self.machine.joints)
        while left:
            reached = [
                j for j in left if {split(p)[0] for p in (j.first, j.second)} & set(self.elements)
            ]
            joint = next((j for j in reached if self._open(j)), reached[0])
            left.remove(joint)
            self._join(joint) if self._open(joint) else self._close(joint)

    def _open(self, joint: Joint) -> bool:
        """Whether exactly one of its bodies is in the tree."""
        return sum(split(p)[0] in self.elements for p in (joint.first, joint.second)) == 1

    def _add(self, name: str, parent: str) -> Element:
        """A body within its parent, where it starts."""
        placed, frame = self.placed[name], self.frames[parent]
        at = np.zeros(3) if parent == GROUND else self.placed[parent].position
        element = SubElement(
            self.elements[parent],
            "body",
            name=name,
            pos=text(frame.T @ (placed.position - at)),
            xyaxes=text((frame.T @ placed.frame)[:, :2].T.ravel()),
        )
        self.elements[name] = element
        return element

    def _join(self, joint: Joint) -> None:
        places = [joint.first, joint.second]
        known = [split(p)[0] in self.elements for p in places]
        parent, child = (split(places[k])[0] for k in (known.index(True), known.index(False)))
        element, placed = self._add(child, parent), self.placed[child]
        where = text(placed.frame.T @ (self._place(joint.first) - placed.position))
        axes = self._axes(joint)
        if joint.kind == "spherical":
            SubElement(element, "joint", type="ball", pos=where)
        elif joint.kind != "fixed":
            kind = "slide" if joint.kind == "prismatic" else "hinge"
            inner = axes if known[0] else axes[::-1]
            for axis in inner if joint.kind == "universal" else inner[:1]:
                local = text(placed.frame.T @ axis)
                SubElement(element, "joint", type=kind, axis=local, pos=where)

    def _close(self, joint: Joint) -> None:
        apart = [0.0, APART] if joint.kind == "revolute" and joint.axis is not None else [0.0]
        for offset in apart:
            shift = offset * self._axes(joint)[0] if offset else np.zeros(3)
            sites = [self._site(p, shift) for p in (joint.first, joint.second)]
            SubElement(self.equality, "connect", site1=sites[0], site2=sites[1])

    def _axes(self, joint: Joint) -> tuple[np.ndarray, np.ndarray]:
        if joint.axis is None:  # a plane
            return FRAME[2], FRAME[2]
        return fixed_axes(joint, self.frames)

    def _site(self, place: str, shift: np.ndarray | None = None) -> str:
        """A new site at a point, shifted in the fixed frame."""
        body, _ = split(place)
        at = self._place(place) + (np.zeros(3) if shift is None else shift)
        origin = np.zeros(3) if body == GROUND else self.placed[body].position
        self.sites += 1
        name = f"site{self.sites}"
        SubElement(
            self.elements[body], "site", name=name, pos=text(self.frames[body].T @ (at - origin))
        )
        return name

    def _place(self, place: str) -> np.ndarray:
        body, point = split(place)
        if body == GROUND:
            return spatial(self.machine.ground[point])
        return self.placed[body].place(point)

    def _add_springs(self) -> None:
        for name, element in self.elements.items():
            if name != GROUND:
                placed = self.placed[name]
                inertia = text(placed.inertia)
                SubElement(
                    element,
                    "inertial",
                    pos="0 0 0",
                    mass=f"{placed.body.mass!r}",
                    diaginertia=inertia,
                )
        tendons = Element("tendon")
        for spring in self.machine.springs:
            law = {"stiffness": spring.stiffness, "springlength": spring.natural_length}
            law["damping"] = spring.damping
            tendon = SubElement(tendons, "spatial", {key: f"{x!r}" for key, x in law.items()})
            for place in (spring.first, spring.second):
                SubElement(tendon, "site", site=self._site(place))
        if len(tendons):
            self.root.append(tendons)

    def _speeds(self) -> np.ndarray:
        """Rates of all coordinates that give bodies their initial velocities."""
        m, d, module = self.model, self.data, mujoco()
        module.mj_forward(m, d)
        rows, given = [], []
        for name, placed in self.placed.items():
            linear, angular = np.zeros((3, m.nv)), np.zeros((3, m.nv))
            module.mj_jacBodyCom(m, d, linear, angular, m.body(name).id)
            rows += [linear, angular]
            given += [placed.velocity, placed.turning]
        return np.linalg.lstsq(np.vstack(rows), np.concatenate(given), rcond=None)[0]

    def run(self, step: float, solver: str) -> np.ndarray:
        m, d, module = self.model, self.data, mujoco()
        m.opt.timestep, m.opt.iterations = step, ITERATIONS[solver]
        m.opt.solver = getattr(module.mjtSolver, f"mjSOL_{solver.upper()}")
        m.eq_solref[:] = (STIFF * step, 1.0)
        m.eq_solimp[:, :3] = (0.9999, 0.9999, 0.001)
        module.mj_resetData(m, d)
        d.qvel[:] = self.speeds
        for _, of, torque in self.machine.torques:
            d.xfrc_applied[m.body(of).id, 3:] = torque if np.ndim(torque) else (0, 0, torque)
        module.mj_step(m, d, round(self.machine.duration / step))
        module.mj_kinematics(m, d)
        body, point = split(self.machine.watched)
        own = d.body(body)
        return own.xpos + own.xmat.reshape(3, 3) @ self.placed[body].local(point)


def text(vector: np.ndarray) -> str:
    return " ".join(f"{float(x)!r}" for x in vector)


if __name__ == "__main__":
    report(Model, SETTINGS, f"mujoco {mujoco().__version__}")
