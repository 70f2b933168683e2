"""Verbs of a mechanism that exchange it with other programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from ..analyses.solved import Solved
from ..coordinates.systems import Coordinates
from ..model.state import State
from ..schemes import choose

if TYPE_CHECKING:
    from .motion_equations import MotionEquations


class Exchanging(Solved):
    """The model with what other programs give it, and what it gives them."""

    @classmethod
    def from_urdf(
        cls,
        path: str | os.PathLike[str],
        *,
        gravity: Any = (0.0, 0.0, -9.81),
        positions: Mapping[str, Any] | None = None,
        speeds: Mapping[str, Any] | None = None,
        near: Mapping[str, Any] | None = None,
        parameters: Sequence[str] = (),
        name: str | None = None,
    ) -> Self:
        """A mechanism from a URDF file, read by urdf_parser_py (`pip install 'varimech[urdf]'`);
        docs/interchange.md.

        The root link stands on the ground. Links with mass are bodies, those without are part of
        what they are fixed to. Joints keep their names, and their angles and displacements are
        those of the file; each is also a point of both its bodies. Loops are closed by <loop_joint>
        tags. Limits are not enforced.

        Args:
            path: the file.
            gravity: m/s², in the frame of the root link.
            positions: joint values at the start, zero if not given: rad or m; (x, y, angle) of
                planar joints, (x, y, z, roll, pitch, yaw) of floating ones. Where there are loops,
                as many values as the mechanism has freedoms; the rest is assembled.
            speeds: their rates, rad/s or m/s; of floating joints velocity and angular velocity in
                the joint's frame.
            near: rough values of other joints, that choose between two ways to close a loop.
            parameters: what becomes parameters: any of "mass" (`link.mass`), "com" (`link.com.x`,
                …), "origin" (of joints: `joint.x`, …) and "damping" (`joint.damping`); of places,
                components that are not zero.
            name: of the mechanism; the robot's if not given.

        Raises:
            ModelError: with the file, the link or joint, and the remedy.
        """
        from .urdf import Writer, load

        tree, chosen = load(path, parameters)
        mechanism = cls(tree.robot.name if name is None else name, gravity=gravity, dimension=3)
        writer = Writer(mechanism, tree, chosen)
        writer.write()
        writer.start(positions or {}, speeds or {}, near or {})
        return mechanism

    def equations(
        self,
        *,
        coordinates: str | Coordinates = "natural",
        measures: Mapping[str, Callable[[State], Any]] | None = None,
    ) -> MotionEquations:
        """The equations of motion as a CasADi function, for programs of your own; `.to_c(folder)`
        writes them as plain C.

        Args:
            coordinates: as for `simulate`; "rtdyn1" has fewest.
            measures: further outputs by name, functions of the state without accelerations.

        Returns:
            `MotionEquations`: `.function(q, v, t, rho)` gives M, Q, Phi, Phi_q and gamma of M a +
            Phi_qᵀ λ = Q, Phi_q a = gamma; `.q`, `.v` and `.parameters` are those of the start,
            `.coordinate_names`, `.constraint_names` and `.parameter_names` tell what is what.

        >>> import varimech as vm
        >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
        >>> O = m.ground_point("O", (0, 0))
        >>> rod = m.bar("rod", "O", "tip", length=1.0, mass=3.0)
        >>> joint = m.revolute("O")
        >>> m.start(angle={"rod": 0.0})
        >>> found = m.equations(coordinates="rtdyn1")
        >>> M, Q, *_ = found.function(found.q, found.v, 0.0, found.parameters)
        >>> f"{float(Q / M):.3f}"  # −3 g / 2 L
        '-14.715'
        """
        from .motion_equations import motion_equations

        solver = self._solver(choose(1.0, coordinates=coordinates)[0])
        ρ = self.data.parameter_set.nominal
        solver.start.check_closure(ρ)
        start = solver.start.complete(solver.start.assemble(ρ), ρ)
        return motion_equations(solver.equations, start.q, start.v, measures or {})
