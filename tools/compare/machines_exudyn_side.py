"""Exudyn's side of the comparison of machines: rigid bodies with Euler parameters, or planar ones,
and generic joints; trapezoidal rule with index-2 constraints, one thread, sparse solver.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from exudyn_side import exudyn, implicit
from machines import FRAME, GROUND, Joint, Machine, Placed, fixed_axes, spatial, split
from machines_peers import report

SETTINGS = [(step, "EigenSparse") for step in (5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4)]
TOLERANCE = 1e-6
CONSTRAINED = {
    "revolute": [1, 1, 1, 1, 1, 0],
    "prismatic": [1, 1, 0, 1, 1, 1],
    "spherical": [1, 1, 1, 0, 0, 0],
    "universal": [1, 1, 1, 0, 0, 1],
    "fixed": [1, 1, 1, 1, 1, 1],
}
"""Displacements and rotations that a joint prevents; its axis is the third one, those of a
universal joint are the first and the second.
"""


class Model:
    def __init__(self, machine: Machine, placed: dict[str, Placed]):
        self.exu, self.u = exudyn(), import_module("exudyn.utilities")
        self.machine, self.placed = machine, placed
        self.container = self.exu.SystemContainer()
        self.system = self.container.AddSystem()
        self.planar = len(machine.gravity) == 2
        self.bodies = {GROUND: self.system.AddObject(self.u.ObjectGround())}
        for body in placed.values():
            add = self._planar_body if self.planar else self._body
            self.bodies[body.body.name] = add(body)
        for joint in machine.joints:
            (self._pin if self.planar else self._join)(joint)
        for spring in machine.springs:
            self.system.CreateSpringDamper(
                itemNumbers=[self.bodies[split(p)[0]] for p in (spring.first, spring.second)],
                localPosition0=self._local(spring.first),
                localPosition1=self._local(spring.second),
                referenceLength=spring.natural_length,
                stiffness=spring.stiffness,
                damping=spring.damping,
            )
        for _, of, torque in machine.torques:
            vector = [0, 0, torque] if self.planar else list(torque)
            marker = self.system.AddMarker(self.u.MarkerBodyRigid(bodyNumber=self.bodies[of]))
            self.system.AddLoad(self.u.LoadTorqueVector(markerNumber=marker, loadVector=vector))
        self.system.Assemble()

    def _body(self, placed: Placed) -> Any:
        inertia = self.u.RigidBodyInertia(placed.body.mass, np.diag(placed.inertia))
        return self.system.CreateRigidBody(
            referencePosition=placed.position,
            referenceRotationMatrix=placed.frame,
            initialVelocity=placed.velocity,
            initialAngularVelocity=placed.turning,
            inertia=inertia,
            gravity=list(self.machine.gravity),
        )

    def _planar_body(self, placed: Placed) -> Any:
        angle = float(np.arctan2(placed.frame[1, 0], placed.frame[0, 0]))
        node = self.u.NodeRigidBody2D(
            referenceCoordinates=[*placed.position[:2], angle],
            initialVelocities=[*placed.velocity[:2], placed.turning[2]],
        )
        mass = placed.body.mass
        body = self.system.AddObject(
            self.u.ObjectRigidBody2D(
                mass=mass, inertia=placed.inertia[2], nodeNumber=self.system.AddNode(node)
            )
        )
        weight = self.system.AddMarker(self.u.MarkerBodyPosition(bodyNumber=body))
        load = [0, mass * self.machine.gravity[1], 0]
        self.system.AddLoad(self.u.LoadForceVector(markerNumber=weight, loadVector=load))
        return body

    def _pin(self, joint: Joint) -> None:
        markers = [
            self.system.AddMarker(
                self.u.MarkerBodyPosition(
                    bodyNumber=self.bodies[split(place)[0]], localPosition=self._local(place)
                )
            )
            for place in (joint.first, joint.second)
        ]
        self.system.AddObject(self.u.ObjectJointRevolute2D(markerNumbers=markers))

    def _join(self, joint: Joint) -> None:
        bodies = [self.bodies[split(place)[0]] for place in (joint.first, joint.second)]
        self.system.CreateGenericJoint(
            itemNumbers=bodies,
            position=self._place(joint.first),
            rotationMatrixAxes=self._axes(joint),
            constrainedAxes=CONSTRAINED[joint.kind],
        )

    def _axes(self, joint: Joint) -> np.ndarray:
        if joint.axis is None:
            return FRAME
        frames = {GROUND: FRAME, **{name: body.frame for name, body in self.placed.items()}}
        first, second = fixed_axes(joint, frames)
        if joint.kind == "universal":
            return np.column_stack([first, second, np.cross(first, second)])
        side = np.cross(first, FRAME[int(np.argmin(abs(first)))])
        side /= np.linalg.norm(side)
        return np.column_stack([side, np.cross(first, side), first])

    def _local(self, place: str) -> list[float]:
        body, point = split(place)
        if body == GROUND:
            return list(spatial(self.machine.ground[point]))
        return list(self.placed[body].local(point))

    def _place(self, place: str) -> np.ndarray:
        body, point = split(place)
        if body == GROUND:
            return spatial(self.machine.ground[point])
        return self.placed[body].place(point)

    def run(self, step: float, solver: str) -> np.ndarray:
        duration = self.machine.duration
        settings = implicit(round(duration / step), duration, TOLERANCE, solver)
        settings.solution.sensors.active = False
        settings.linearSolver.reuseAnalyzedPattern = True
        self.system.SolveDynamic(
            settings, solverType=self.exu.DynamicSolverType.TrapezoidalIndex2, showHints=False
        )
        body, _ = split(self.machine.watched)
        return np.array(
            self.system.GetObjectOutputBody(
                self.bodies[body],
                self.exu.OutputVariableType.Position,
                self._local(self.machine.watched),
            )
        )


if __name__ == "__main__":
    report(Model, SETTINGS, f"exudyn {exudyn().__version__}")
