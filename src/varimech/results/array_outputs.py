"""Outputs of many objects of a run at once, as plain arrays, for drawings and animations: faster
than one labelled array per object.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..coordinates.redundancy import RedundantReactionWarning
from ..core.symbols import SX
from .catalog import OUTPUTS
from .labels import components, labels_along
from .named_outputs import NamedOutputs

TURNING: tuple[str, ...] = ("angular_velocity", "angular_acceleration")
PLAIN: tuple[str, ...] = ("position", "velocity", "acceleration", "angle", *TURNING)
PLAIN += ("displacement", "displacement_rate", "deviation")
"""Outputs whose names need no further check and whose values need no warning."""


class ArrayOutputs(NamedOutputs):
    """Paths of points, and curves of all joints and bodies that rotate or slide."""

    def paths(self, points: list[str]) -> dict[str, np.ndarray]:
        """Positions of many points.

        Args:
            points: their names.

        Returns:
            Name → (time, component), m.
        """
        return self._of_points("position", points)

    def path_rates(self, points: list[str]) -> dict[str, np.ndarray]:
        """Velocities of many points.

        Args:
            points: their names.

        Returns:
            Name → (time, component), m/s.
        """
        return self._of_points("velocity", points)

    def path_derivatives(self, points: list[str]) -> dict[str, np.ndarray]:
        """Derivatives of the positions of many points with respect to all `parameter_names`.

        Args:
            points: their names.

        Returns:
            Name → (time, component, parameter).
        """
        self._selected("all")
        if self._live is None:
            dims = ("time", "component", "parameter")
            return {p: self.position(p, wrt="all").transpose(*dims).to_numpy() for p in points}
        derivatives = self._live.derivative(self._live.column("position", points))
        return dict(zip(points, np.split(derivatives, len(points), axis=1), strict=True))

    def curves(self, kind: str) -> dict[str, np.ndarray]:
        """Curves of an output for all objects that have it.

        Args:
            kind: "angle" or "displacement".

        Returns:
            Name → (time), rad or m.
        """
        names, live = self.names_of(OUTPUTS[kind].of), self._live
        if live is None or not names:
            return {n: self._output(kind, n, None).to_numpy() for n in names}
        values = live.angles(names) if kind == "angle" else live.evaluate_named(kind, names)
        return dict(zip(names, values.T, strict=True))

    def columns(self, kind: str, names: Sequence[str]) -> list[tuple[str, np.ndarray]]:
        """Curves of an output for some objects, one for each component: the curves that `plot`
        draws.

        Args:
            kind: the output, such as "velocity".
            names: of the objects.

        Returns:
            Label and (time) of each.
        """
        if self._live is None or kind not in PLAIN:
            arrays = {name: getattr(self, kind)(name) for name in names}
            return [column for name, array in arrays.items() for column in components(name, array)]
        if kind == "angle":
            return list(zip(names, self._live.angles(names).T, strict=True))
        curves = []
        for name in names:
            values = self._live.evaluate_named(self._kind_of(kind, name), [name])
            labels = labels_along("component", values.shape[1])
            curves += [
                (name if values.shape[1] == 1 else f"{name} {label}", column)
                for label, column in zip(labels, values.T, strict=True)
            ]
        return curves

    def loads_on(self, joints: Sequence[str]) -> np.ndarray:
        """Reactions of joints on their second bodies, as returned by `reaction` but without its
        warning.

        Args:
            joints: their names.

        Returns:
            (time, joint, component), N.
        """
        if self._live is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RedundantReactionWarning)
                arrays = [self.reaction(j).transpose("time", "component") for j in joints]
            return np.stack([a.to_numpy() for a in arrays], axis=1)
        values = self._live.evaluate_named("reaction", joints)
        return values.reshape(len(values), len(joints), -1)

    def acting(self, given: Sequence[tuple[str, str]]) -> np.ndarray:
        """Forces of springs, dampers, contacts and other elements on bodies.

        Args:
            given: pairs of an element and the name of a point at which it acts.

        Returns:
            (time, pair, component), N.

        Raises:
            ModelError: if the run was read from a file.
        """
        live = self.live
        e = live.equations

        def build() -> SX:
            forces = [
                e.reactions.acting(e.model.forces[name], e.model.find_point(point))
                for name, point in given
            ]
            return ca.vertcat(*forces)

        values = live.evaluate_kept(("acting", *given), build)
        return values.reshape(len(values), len(given), -1)

    def directions(self, given: Sequence[tuple[str | None, Sequence[float]]]) -> np.ndarray:
        """Directions fixed in bodies, in global components.

        Args:
            given: pairs of a body (None for the ground) and a direction in its frame.

        Returns:
            (time, direction, component).
        """
        bodies = list(dict.fromkeys(body for body, _ in given if body is not None))
        R = dict(zip(bodies, self._rotations(bodies), strict=True))
        d, count = int(self.info["dimension"]), self.time.size
        turned = [
            np.broadcast_to(
                (np.eye(d)[None] if body is None else R[body]) @ np.asarray(to), (count, d)
            )
            for body, to in given
        ]
        return np.stack(turned, axis=1)

    def _rotations(self, bodies: list[str]) -> list[np.ndarray]:
        """Rotation matrices of bodies, (time, row, column) each."""
        if self._live is None or not bodies:
            arrays = [self.rotation(body).transpose("time", "row", "column") for body in bodies]
            return [array.to_numpy() for array in arrays]
        d = int(self.info["dimension"])
        values = self._live.evaluate_named("rotation", bodies)
        each = values.reshape(len(values), len(bodies), d, d)  # stored column by column
        return [each[:, k].transpose(0, 2, 1) for k in range(len(bodies))]

    def _kind_of(self, kind: str, name: str) -> str:
        """Kind of an output by name: bodies in space have vectors where joints have scalar rates of
        an angle.
        """
        return f"body_{kind}" if kind in TURNING and self._turns_in_space(name) else kind

    def _of_points(self, kind: str, points: list[str]) -> dict[str, np.ndarray]:
        if self._live is None:
            return {
                p: self._output(kind, p, None).transpose("time", "component").to_numpy()
                for p in points
            }
        values = self._live.evaluate_named(kind, points)
        return dict(zip(points, np.split(values, len(points), axis=1), strict=True))
