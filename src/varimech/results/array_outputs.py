"""Outputs of many things of a run at once, as plain arrays: faster than one by one. For drawings
and animations.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..core.symbols import SX
from .catalog import OUTPUTS
from .live_run import LiveRun
from .named_outputs import NamedOutputs


class ArrayOutputs(NamedOutputs):
    """Paths of points, and curves of all that turns or slides."""

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
        derivatives = self._live.derivative(_column(self._live, "position", points))
        return dict(zip(points, np.split(derivatives, len(points), axis=1), strict=True))

    def curves(self, kind: str) -> dict[str, np.ndarray]:
        """An output of all things that have it.

        Args:
            kind: "angle" or "displacement".

        Returns:
            Name → (time), rad or m.
        """
        names, live = self.names_of(OUTPUTS[kind].of), self._live
        if live is None or not names:
            return {n: self._output(kind, n, None).to_numpy() for n in names}
        values = (
            live.angles(names) if kind == "angle" else live.evaluate(_column(live, kind, names))
        )
        return dict(zip(names, values.T, strict=True))

    def directions(self, given: Sequence[tuple[str | None, Sequence[float]]]) -> np.ndarray:
        """Directions fixed in bodies, in global components.

        Args:
            given: pairs of a body (None for the ground) and a direction in its frame.

        Returns:
            (time, direction, component).
        """
        turned = []
        for body, direction in given:
            R = (
                np.eye(len(direction))[None]
                if body is None
                else self.rotation(body).transpose("time", "row", "column").to_numpy()
            )
            turned.append(
                np.broadcast_to(R @ np.asarray(direction), (self.time.size, len(direction)))
            )
        return np.stack(turned, axis=1)

    def _of_points(self, kind: str, points: list[str]) -> dict[str, np.ndarray]:
        if self._live is None:
            return {
                p: self._output(kind, p, None).transpose("time", "component").to_numpy()
                for p in points
            }
        values = self._live.evaluate(_column(self._live, kind, points))
        return dict(zip(points, np.split(values, len(points), axis=1), strict=True))


def _column(live: LiveRun, kind: str, names: Sequence[str]) -> SX:
    """Outputs of a kind below each other."""
    return ca.vertcat(*[OUTPUTS[kind].get(live.equations.state, name) for name in names])
